"""The catalogue of GPUs as a page, and a replica's memory as the text of a grid file's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sweep.hardware import GPUS
from sweep.hardware.gridtables import GridRow
from sweep.report.blocks import CLAIM, Paragraph, Section, table
from sweep.report.words import safe
from sweep.units import grouped


def catalogue_page() -> list[Section]:
    """The catalogue of GPUs, with the source of every figure."""
    rows = [
        (
            gpu.name,
            grouped(gpu.memory_bytes),
            _tera(gpu.dense_bf16_flops),
            _tera(gpu.dense_fp8_flops),
            _giga(gpu.bandwidth_bytes_per_second),
        )
        for gpu in GPUS.values()
    ]
    heads = ("GPU", "memory, bytes", "bf16 TFLOP/s", "fp8 TFLOP/s", "GB/s")
    sources = [(gpu.name, f"{gpu.title}: {gpu.memory_source}; peaks: {gpu.peak_source}.") for gpu in GPUS.values()]
    peaks = Paragraph("Peaks are dense, of the data sheet, and no measurement.", "note")
    return [
        Section("", (table(heads, rows, right=range(1, 5)), peaks)),
        Section("", (table(("GPU", "from"), sources),)),
        CLAIM,
    ]


def _tera(flops: int | None) -> str:
    if flops is None:
        return "-"
    whole, rest = divmod(flops, 10**12)
    return grouped(whole) + (f".{rest * 100 // 10**12:02}".rstrip("0") if rest else "")


def _giga(bandwidth: int | None) -> str:
    return "-" if bandwidth is None else grouped(bandwidth // 10**9)


def grid_text(rows: Sequence[GridRow], sources: Mapping[str, str]) -> str:
    """The rows of a grid file as TOML, each with a comment that says where it came from."""
    lines: list[str] = []
    for at, row in enumerate(rows):
        if at == 0 or rows[at - 1].table != row.table:
            lines += [*([""] if lines else []), f"[{row.table}]"]
        said = "; ".join(text for text in (sources.get(row.figure, ""), row.note) if text)
        lines.append(f"{row.key} = {row.toml}" + (f"  # {safe(said)}" if said else ""))
    return "\n".join(lines) + "\n"
