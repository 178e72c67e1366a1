"""A small catalogue of GPUs: memory as the driver reports it, dense peaks and bandwidth, each with its source."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sweep.errors import UsageFault
from sweep.units import shown

_MIB = 2**20
_TERA = 10**12
_GIGA = 10**9


@dataclass(frozen=True)
class Gpu:
    """One GPU of the catalogue. What no source states is None.

    Attributes:
        name: as an option takes it.
        title: the vendor's name.
        memory_bytes: of one GPU, as the vendor's management tool reports it. The runtime, and so an engine, sees up
            to 2 % less: `torch.cuda.mem_get_info()` says how much.
        memory_source: which tool reports which figure.
        dense_bf16_flops: peak of dense bf16 matrix products, floating point operations per second.
        dense_fp8_flops: the same in fp8; None where the GPU has no fp8.
        bandwidth_bytes_per_second: peak of its memory.
        peak_source: the document of the peaks and the bandwidth.
    """

    name: str
    title: str
    memory_bytes: int
    memory_source: str
    dense_bf16_flops: int | None
    dense_fp8_flops: int | None
    bandwidth_bytes_per_second: int | None
    peak_source: str


def _nvidia(
    name: str, title: str, mib: int, centi_teraflops: tuple[int | None, int | None], gigabytes: int, source: str
) -> Gpu:
    """A row in the units of the sources: MiB, 1/100 TFLOP/s in bf16 and fp8, GB/s."""
    bf16, fp8 = (None if peak is None else peak * _TERA // 100 for peak in centi_teraflops)
    memory = f"nvidia-smi memory.total {mib} MiB"
    return Gpu(name, title, mib * _MIB, memory, bf16, fp8, gigabytes * _GIGA, source)


_HALVED = "half of the figures with sparsity"
_H100 = f"NVIDIA H100 Tensor Core GPU data sheet, {_HALVED}"
_A100 = "NVIDIA A100 Tensor Core GPU data sheet"

GPUS: Final[Mapping[str, Gpu]] = {
    gpu.name: gpu
    for gpu in (
        _nvidia(
            "h100-sxm",
            "NVIDIA H100 80GB HBM3 (SXM)",
            81_559,
            (98_940, 197_890),
            3_350,
            "NVIDIA H100 Tensor Core GPU Architecture white paper; bandwidth: its data sheet",
        ),
        _nvidia("h100-pcie", "NVIDIA H100 PCIe", 81_559, (75_650, 151_300), 2_000, _H100),
        _nvidia("h100-nvl", "NVIDIA H100 NVL", 95_830, (83_550, 167_050), 3_900, _H100),
        _nvidia(
            "h200-sxm",
            "NVIDIA H200 (SXM)",
            143_771,
            (98_950, 197_900),
            4_800,
            f"NVIDIA H200 Tensor Core GPU data sheet, {_HALVED}",
        ),
        _nvidia(
            "b200",
            "NVIDIA B200 (HGX, 180 GB)",
            183_359,
            (225_000, 450_000),
            7_700,
            f"NVIDIA Blackwell data sheet, HGX B200 per GPU, {_HALVED}",
        ),
        _nvidia("a100-40gb", "NVIDIA A100 40GB", 40_960, (31_200, None), 1_555, _A100),
        _nvidia("a100-80gb-sxm", "NVIDIA A100 80GB (SXM)", 81_920, (31_200, None), 2_039, _A100),
        _nvidia("a100-80gb-pcie", "NVIDIA A100 80GB PCIe", 81_920, (31_200, None), 1_935, _A100),
        _nvidia("l40s", "NVIDIA L40S", 46_068, (36_205, 73_300), 864, "NVIDIA L40S data sheet"),
        _nvidia("l4", "NVIDIA L4", 23_034, (12_100, 24_250), 300, f"NVIDIA L4 data sheet, {_HALVED}"),
        _nvidia("a10", "NVIDIA A10", 23_028, (12_500, None), 600, "NVIDIA A10 data sheet"),
        _nvidia(
            "a10g", "NVIDIA A10G", 23_028, (None, None), 600, "no data sheet found; bandwidth: that of the NVIDIA A10"
        ),
        _nvidia(
            "rtx-4090",
            "NVIDIA GeForce RTX 4090",
            24_564,
            (16_520, 33_030),
            1_008,
            "NVIDIA Ada GPU Architecture white paper, FP32 accumulate",
        ),
        _nvidia(
            "rtx-3090",
            "NVIDIA GeForce RTX 3090",
            24_576,
            (7_100, None),
            936,
            "NVIDIA Ampere GA102 GPU Architecture white paper, FP32 accumulate",
        ),
        Gpu(
            "mi300x",
            "AMD Instinct MI300X",
            206_141_652_992,
            "rocm-smi VRAM Total Memory 206141652992 B",
            13_074 * _TERA // 10,
            26_149 * _TERA // 10,
            5_300 * _GIGA,
            "AMD Instinct MI300X data sheet",
        ),
    )
}
"""Name -> GPU, the largest of a family first."""

_ALIASES = {
    "h100": "h100-sxm",
    "h200": "h200-sxm",
    "4090": "rtx-4090",
    "3090": "rtx-3090",
    "a100-80gb": "a100-80gb-sxm",
}
"""Names that mean one GPU: where two forms differ in speed only, the SXM form."""


def gpu_of(name: str) -> Gpu:
    """The GPU of a name, in any case, with spaces or underscores for dashes.

    Raises:
        UsageFault: the catalogue has no such GPU, or several; the message lists them.

    >>> gpu_of("H100").memory_bytes, gpu_of("RTX 4090").name
    (85520809984, 'rtx-4090')
    """
    plain = "-".join(name.lower().replace("_", " ").replace("-", " ").split())
    for brand in ("nvidia-", "amd-", "geforce-", "instinct-"):
        plain = plain.removeprefix(brand)
    found = GPUS.get(_ALIASES.get(plain, plain))
    if found is not None:
        return found
    near = [known for known in GPUS if plain and known.startswith(plain)]
    which = f"which of {', '.join(near)}?" if near else f"wanted one of {', '.join(GPUS)}"
    raise UsageFault(f"GPU {shown(name)}: {which}; or give the bytes of its memory with --memory.")
