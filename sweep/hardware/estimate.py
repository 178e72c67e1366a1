"""A step time from data sheets alone, for where nobody has measured one: an estimate, and called one wherever it is.

Prefill is taken as bound by arithmetic, two floating point operations per parameter and token at half of the dense
peak; decoding as bound by memory, the weights once per step and the cache of each sequence once, at the peak bandwidth.
Real engines differ from this in both directions. All divisions are exact and rounded up to whole ns.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sweep.hardware.checks import ceil_of
from sweep.hardware.gpus import Gpu

FLOP_PER_PARAMETER: Final = 2
"""A multiplication and an addition for each weight that a token passes."""

PEAK_SHARE: Final = Fraction(1, 2)
"""What large matrix products reach of a dense peak, about."""

_NS: Final = 10**9


@dataclass(frozen=True)
class StepEstimate:
    """An estimated step time, in ns rounded up.

    Attributes:
        base_ns: reading the weights once.
        per_sequence_ns: reading the cache of a sequence of the typical length.
        per_prefill_token_ns: the arithmetic of a token.
        peak_flops: of one GPU, dense, in the width of the weights.
        bandwidth_bytes_per_second: of one GPU.
    """

    base_ns: int
    per_sequence_ns: int
    per_prefill_token_ns: int
    peak_flops: int
    bandwidth_bytes_per_second: int


def peak_of(gpu: Gpu, fp8: bool) -> int | None:
    """The dense peak for weights of a width, in floating point operations per second; None where no source has it.

    Args:
        gpu: of the catalogue.
        fp8: whether the weights are in fp8; a GPU without it computes in bf16.
    """
    return gpu.dense_fp8_flops if fp8 and gpu.dense_fp8_flops is not None else gpu.dense_bf16_flops


def step_estimate(
    gpu: Gpu,
    gpus: int,
    weight_bytes: int,
    parameters: int,
    kv_bytes_per_token: int,
    typical_tokens: int,
    fp8: bool = False,
) -> StepEstimate | None:
    """The estimated step time of a replica; None where the catalogue has no peak or no bandwidth of its GPU.

    Args:
        gpu: of the catalogue.
        gpus: that share every layer; their peaks and bandwidths add up, which real ones do not quite reach.
        weight_bytes: of the whole model.
        parameters: that one token passes.
        kv_bytes_per_token: of the replica.
        typical_tokens: of a sequence, prompt and output.
        fp8: whether the weights are in fp8.
    """
    peak, bandwidth = peak_of(gpu, fp8), gpu.bandwidth_bytes_per_second
    if peak is None or bandwidth is None:
        return None

    def reading(size: int) -> int:
        return ceil_of(Fraction(size * _NS, gpus * bandwidth))

    over, under = PEAK_SHARE.as_integer_ratio()
    prefill = ceil_of(Fraction(FLOP_PER_PARAMETER * parameters * _NS * under, gpus * peak * over))
    return StepEstimate(reading(weight_bytes), reading(kv_bytes_per_token * typical_tokens), prefill, peak, bandwidth)
