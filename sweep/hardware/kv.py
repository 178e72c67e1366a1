"""The memory formulas in their plainest form: one kind of layer, one number each."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sweep.hardware.checks import BLOCK_TOKENS, COUNT, TOKENS, ceil_div, ceil_of, raise_if_any
from sweep.hardware.widths import width_of
from sweep.records.checks import integer_faults, shown
from sweep.units import UnitError

_BYTES = (0, 10**40)
"""More than any request that `kv_cache_bytes_per_request` can be asked for."""


@dataclass(frozen=True)
class MemoryBudget:
    """What the weights leave of a memory, and how many requests that carries.

    Attributes:
        remainder_for_cache_bytes: bytes left for the cache; negative where the rest does not fit.
        max_concurrency: whole requests that fit into the remainder, 0 where it is negative.
    """

    remainder_for_cache_bytes: int
    max_concurrency: int

    @property
    def fits(self) -> bool:
        """Whether the weights, activations and overhead fit at all."""
        return self.remainder_for_cache_bytes >= 0

    @property
    def short_by_bytes(self) -> int:
        """How many bytes are missing; 0 where it fits."""
        return max(0, -self.remainder_for_cache_bytes)


def kv_cache_bytes_per_request(
    num_layers: int, num_kv_heads: int, head_dim: int, seq_len: int, bytes_per_value: int | Fraction | str
) -> int:
    """Bytes of keys and values of one request: 2 · layers · kv_heads · head_dim · tokens · bytes_per_value.

    Args:
        num_layers: layers that keep keys and values of every token.
        num_kv_heads: key/value heads of a layer, never its attention heads.
        head_dim: values of a head.
        seq_len: tokens, 0 included.
        bytes_per_value: an integer, an exact ratio, or a text such as `17/32` or `q8_0`; rounded up at the end.

    Raises:
        RecordFault: an argument is no number of its kind; all faults at once.
    """
    counts = {"num_layers": num_layers, "num_kv_heads": num_kv_heads, "head_dim": head_dim}
    faults = [fault for name, value in counts.items() for fault in integer_faults(name, value, COUNT)]
    faults += integer_faults("seq_len", seq_len, (0, TOKENS[1]))
    width, wrong = _width(bytes_per_value)
    raise_if_any([*faults, *wrong])
    return ceil_of(2 * num_layers * num_kv_heads * head_dim * seq_len * width)


def gpu_memory_budget(
    total_gpu_bytes: int,
    weights_bytes: int,
    activations_bytes: int,
    framework_overhead_bytes: int,
    bytes_per_request: int,
) -> MemoryBudget:
    """What weights, activations and overhead leave of a memory, in bytes, and the whole requests that fit into it.

    A remainder below 0 is an answer: it does not fit, short by so many bytes, and the concurrency is 0.

    Raises:
        RecordFault: an argument is no number of bytes; all faults at once.
    """
    amounts: Mapping[str, int] = {
        "total_gpu_bytes": total_gpu_bytes,
        "weights_bytes": weights_bytes,
        "activations_bytes": activations_bytes,
        "framework_overhead_bytes": framework_overhead_bytes,
    }
    faults = [fault for name, value in amounts.items() for fault in integer_faults(name, value, _BYTES)]
    raise_if_any([*faults, *integer_faults("bytes_per_request", bytes_per_request, (1, _BYTES[1]))])
    remainder = total_gpu_bytes - weights_bytes - activations_bytes - framework_overhead_bytes
    return MemoryBudget(remainder, max(0, remainder) // bytes_per_request)


def blocks_needed(tokens: int, block_tokens: int = 16) -> int:
    """Blocks that a request of some tokens holds: ⌈tokens/block⌉, 0 for 0.

    Raises:
        RecordFault: an argument is no number of tokens.
    """
    faults = integer_faults("tokens", tokens, (0, TOKENS[1]))
    raise_if_any([*faults, *integer_faults("block_tokens", block_tokens, BLOCK_TOKENS)])
    return ceil_div(tokens, block_tokens)


def capacity_model(cache_budget_bytes: int, bytes_per_request: int) -> int:
    """Requests of the typical length that a cache carries: ⌊cache budget / bytes per request⌋, never below 0.

    Raises:
        RecordFault: an argument is no number of bytes; a negative budget is one, and carries nothing.
    """
    faults = integer_faults("cache_budget_bytes", cache_budget_bytes, (-_BYTES[1], _BYTES[1]))
    raise_if_any([*faults, *integer_faults("bytes_per_request", bytes_per_request, (1, _BYTES[1]))])
    return max(0, cache_budget_bytes) // bytes_per_request


def _width(given: int | Fraction | str) -> tuple[Fraction, list[str]]:
    """Bytes per value as an exact number, and what is wrong with it."""
    if type(given) is int or type(given) is Fraction:
        exact = Fraction(given)
        if 0 < exact <= 1_024:
            return exact, []
        return Fraction(1), [f"bytes_per_value: got {shown(given)}, want more than 0 and at most 1 024; correct it."]
    try:
        if isinstance(given, str):
            width = width_of(given)
            if width.scale_bytes == 0:
                return width.bytes_per_value, []
            raise UnitError("a scale per head needs the number of heads; use a ModelShape")
    except UnitError as error:
        return Fraction(1), [f"bytes_per_value: got {shown(given)}; {error}."]
    return Fraction(1), [
        f"bytes_per_value: got {shown(given)}, want an int, a Fraction or a text such as 17/32; a float is not exact."
    ]
