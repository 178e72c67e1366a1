"""A calibration as the table `[step_time]` of a grid file, with where it comes from and how far it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sweep.calibrate.calibration import Calibration
from sweep.calibrate.fit import NAMES
from sweep.calibrate.pool import KvPool
from sweep.calibrate.step_time import StepTime, milliseconds, why_not
from sweep.errors import InputFault
from sweep.units import grouped, printable

_WIDTH: Final = 74
_FILES_SHOWN: Final = 8


def step_time_table(calibration: Calibration) -> str:
    """The table `[step_time]` as TOML text that ends in a line break.

    A coefficient that is not known stands there as a comment: the grid reader then says that it is missing.

    Raises:
        InputFault: no coefficient is known, so there is no table.
    """
    step_time = calibration.step_time
    if step_time is None or not any(value is not None for value in step_time.coefficients):
        raise InputFault(
            ["the files give no coefficient of the step time, so there is no table to write.", *_reasons(calibration)]
        )
    lines = [*_origin(calibration, step_time), "[step_time]"]
    for name, value in zip(NAMES, step_time.coefficients, strict=True):
        lines.append(f"# {name} = not learnt from these files" if value is None else f"{name} = {_toml(value)}")
    for name, (low, high) in (
        ("measured_slots", step_time.measured_slots),
        ("measured_chunk_tokens", step_time.measured_chunk_tokens),
    ):
        lines.append(f"{name} = [{_toml(low)}, {_toml(high)}]")
    lines.append(f'source = "{_quoted(calibration.source)}"')
    return "".join(f"{line}\n" for line in lines)


def _origin(calibration: Calibration, step_time: StepTime) -> list[str]:
    used = step_time.fit.used
    residuals = [residual for point in used if (residual := step_time.residual_ns(point)) is not None]
    lines = [f"# Fitted by `sweep calibrate` to {grouped(len(used))} points of"]
    files = calibration.measured
    lines += [f"#   {printable(f'{Path(file.name).name}: {file.format}', _WIDTH)}" for file in files[:_FILES_SHOWN]]
    if len(files) > _FILES_SHOWN:
        lines.append(f"#   and {grouped(len(files) - _FILES_SHOWN)} more files")
    lines.append("# by non-negative least squares; each coefficient is rounded up to whole ns.")
    if residuals:
        worst = max(residuals, key=abs)
        lines.append(f"# The largest residual (measured - modelled) is {milliseconds(worst)} ms.")
    if step_time.stated:
        lines.append("# per_prefill_token_ns was stated, not measured.")
    if step_time.fit.left_out:
        lines.append(f"# {grouped(len(step_time.fit.left_out))} points of a stalled engine were left out.")
    if calibration.tokens_per_s is not None:
        lines.append(f"# Seen: {grouped(calibration.tokens_per_s[0])} prompt and output tokens per second.")
    pool = calibration.pool
    if pool is not None and pool.tokens is not None:
        lines.append(f"# Seen: a KV pool of {grouped(pool.tokens)} tokens{_pool_bytes(pool)}.")
    return lines


def _pool_bytes(pool: KvPool) -> str:
    if pool.bytes_low is None or pool.bytes_high is None:
        return ""
    ends = dict.fromkeys((grouped(pool.bytes_low), grouped(pool.bytes_high)))
    return f", {' to '.join(ends)} bytes of a GPU"


def _reasons(calibration: Calibration) -> list[str]:
    """Why there is no step time, without what else the files do not teach."""
    if calibration.step_time is not None:
        return [f"{clause}." for clause in why_not(calibration.step_time)]
    others = ("token capacity:", "KV pool:", "request classes:", "classes by length:")
    return [f"{clause}." for clause in calibration.missing if not clause.startswith(others)]


def _toml(number: int) -> str:
    return f"{number:_}"


def _quoted(text: str) -> str:
    """A text for a TOML string: it is printable already, and quotes and backslashes are escaped."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
