"""A manifest as launch lines of three engines: the same ideas under their own names, quoted for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from sweep.hardware.checks import floor_of
from sweep.hardware.share import ENGINES
from sweep.operate.manifest import Manifest
from sweep.operate.manifest_check import Launch, check_manifest, facts_of, judge_launch, launch_of
from sweep.units import decimal_text


@dataclass(frozen=True)
class Names:
    """How an engine calls things on its command line.

    Attributes:
        start: the words before everything.
        model: the flag of the model; "" where it is the first word.
        flags: idea -> flag; an idea that is not here has none.
        step_has_slots: whether its tokens per step hold the decoding sequences too.
        kv_dtypes: bytes of a value in the KV cache -> name.
        notes: what the line does not say.
    """

    start: tuple[str, ...]
    model: str
    flags: Mapping[str, str]
    step_has_slots: bool
    kv_dtypes: Mapping[int, str]
    notes: tuple[str, ...] = ()


NAMES: Final[Mapping[str, Names]] = {
    "vllm": Names(
        ("vllm", "serve"),
        "",
        {
            "revision": "--revision",
            "tensor_parallel": "--tensor-parallel-size",
            "batch_slots": "--max-num-seqs",
            "tokens_per_step": "--max-num-batched-tokens",
            "longest_sequence_tokens": "--max-model-len",
            "share": "--gpu-memory-utilization",
            "kv_dtype": "--kv-cache-dtype",
        },
        True,
        {1: "fp8", 2: "auto"},
    ),
    "sglang": Names(
        ("python", "-m", "sglang.launch_server"),
        "--model-path",
        {
            "revision": "--revision",
            "tensor_parallel": "--tp-size",
            "batch_slots": "--max-running-requests",
            "tokens_per_step": "--chunked-prefill-size",
            "longest_sequence_tokens": "--context-length",
            "share": "--mem-fraction-static",
            "kv_dtype": "--kv-cache-dtype",
        },
        False,
        {1: "fp8_e4m3", 2: "auto"},
    ),
    "tensorrt-llm": Names(
        ("trtllm-serve",),
        "",
        {
            "tensor_parallel": "--tp_size",
            "batch_slots": "--max_batch_size",
            "tokens_per_step": "--max_num_tokens",
            "longest_sequence_tokens": "--max_seq_len",
            "share": "--kv_cache_free_gpu_memory_fraction",
        },
        True,
        {1: "fp8", 2: "auto"},
        ("the line has no revision: load the model's files at that revision first",),
    ),
}
"""Engine -> its names (`data/README.md`, "Engine flags")."""

_PLACES = (4, 6, 8, 10, 12)
"""Decimals of a share; the shorter ones are tried first."""


@dataclass(frozen=True)
class LaunchLine:
    """What starts a manifest in one engine.

    Attributes:
        engine: a key of `ENGINES`.
        words: the command, unquoted.
        notes: what it does not say, in clauses.
    """

    engine: str
    words: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def line(self) -> str:
        """The command as a shell takes it: each word quoted that needs it."""
        return shlex.join(self.words)

    def lines(self, width: int = 80) -> list[str]:
        """The command over several lines, a backslash at the end of each but the last; words are never cut."""
        found, line = [], ""
        for word in map(shlex.quote, self.words):
            longer = f"{line} {word}" if line else word
            if line and len(longer) + 2 > width:
                found.append(f"{line} \\")
                longer = f"  {word}"
            line = longer
        return [*found, line]

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {"line": self.line, "words": list(self.words), "notes": list(self.notes)}


def launch_flags(manifest: Manifest, engine: str | None = None) -> LaunchLine:
    """The command that starts a manifest in an engine.

    Args:
        manifest: one that starts.
        engine: a key of `sweep.hardware.ENGINES`; default: that of its pin.

    Raises:
        KeyError: no such engine.
    """
    engine = manifest.engine if engine is None else engine
    names = NAMES[engine]
    notes = list(names.notes)
    share = engine_share(manifest, engine)
    if share is None:
        why = "memory is not in the manifest" if manifest.memory is None else "no share of it gives this pool"
        notes.append(f"{ENGINES[engine].flag} is left out: {why}")
    step = manifest.tokens_per_step if names.step_has_slots else manifest.prefill_chunk_tokens
    values = {
        "revision": manifest.model_revision,
        "tensor_parallel": str(manifest.tensor_parallel),
        "batch_slots": str(manifest.batch_slots),
        "tokens_per_step": str(step),
        "longest_sequence_tokens": str(manifest.longest_sequence_tokens),
        "share": None if share is None else decimal_text(share),
        "kv_dtype": _kv_dtype(manifest, names, notes),
    }
    words = [*names.start, *([names.model] if names.model else []), manifest.model_id]
    for idea, flag in names.flags.items():
        value = values[idea]
        if value is not None:
            words += [flag, value]
    return LaunchLine(engine, tuple(words), tuple(notes))


def _kv_dtype(manifest: Manifest, names: Names, notes: list[str]) -> str | None:
    width = manifest.kv_bytes_per_value
    if width is None:
        return None
    found = names.kv_dtypes.get(width) if isinstance(width, int) else None
    if found is None:
        notes.append(f"no name is known for {width} bytes per value of the KV cache: set the dtype by hand")
    elif "kv_dtype" not in names.flags and found != "auto":
        notes.append(f"kv_cache_dtype {found} goes into the engine's configuration file")
    return found


def engine_share(manifest: Manifest, engine: str) -> Fraction | None:
    """The share of memory by which an engine comes to the manifest's pool, an exact decimal; None where none does.

    vLLM's is the manifest's own. Another engine's is converted through bytes: the shortest decimal that gives the same
    pool to the byte, else rounded down, to the fewest decimals with which the replica still starts.
    """
    facts, launch = facts_of(manifest), launch_of(manifest)
    stage = facts.stage
    if stage is None or launch.share is None or engine == "vllm":
        return launch.share
    pool = check_manifest(manifest).pool_bytes
    exact = stage.share_for(engine, pool or 0)
    if exact is None:
        return None
    for places in _PLACES:
        share = Fraction(floor_of(exact * 10**places), 10**places)
        if share and judge_launch(_with(launch, engine, share), facts).starts is not False:
            return share
    return None


def _with(launch: Launch, engine: str, share: Fraction) -> Launch:
    return replace(launch, engine=engine, share=share)
