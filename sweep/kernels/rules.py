"""When a figure breaks its bound, and when a cell's records cannot be built.

A figure that is made from a low-dimensional load (work along traffic) and a rate of the configuration would span the
whole grid. Its violation does not need the figure: the equivalences at the head of `thresholds` turn ⌈load/rate⌉ >
bound into load > limit, one comparison per cell instead of a division.
"""

from sweep.exact.ops import Flag, Number
from sweep.kernels import domain


def over(figure: Number, bound: Number) -> Flag:
    """A violation: the figure is strictly over its bound (bounds are inclusive)."""
    return figure > bound


def queue_over(work: Number, limit: Number, saturation: Number, max_queue_delay: Number) -> Flag:
    """Bit 5: below 1000 ‰ the work is over its limit; from 1000 ‰ on the delay is the sentinel 86 400 000 ms."""
    saturated = work > saturation
    return (saturated & (max_queue_delay < domain.SATURATED_DELAY_MS)) | (~saturated & (work > limit))


def outside(value: Number, lower: int, upper: int) -> Flag:
    """An invalid derived field."""
    return (value < lower) | (value > upper)


def capacity_outside(capacity: Number) -> Flag:
    """`token-capacity-out-of-range`."""
    return outside(capacity, *domain.CAPACITY)


def iteration_outside(iteration: Number) -> Flag:
    """`iteration-time-out-of-range`."""
    return outside(iteration, *domain.ITERATION_MS)


def kv_width_outside(bytes_per_token: Number) -> Flag:
    """`kv-bytes-per-token-out-of-range`."""
    return outside(bytes_per_token, *domain.KV_BYTES_PER_TOKEN)


def weights_do_not_fit(remainder: Number) -> Flag:
    """`weights-do-not-fit`: nothing is left for the KV cache."""
    return remainder < 1


def kv_bound_outside(bound: Number) -> Flag:
    """`kv-bound-out-of-range`."""
    return outside(bound, *domain.KV_BYTES)


def no_prefill_token(service_tokens: Number) -> Flag:
    """`no-prefill-token-per-iteration`."""
    return service_tokens < 1


def chunk_exceeds_service(chunk: Number, service_tokens: Number) -> Flag:
    """`chunk-exceeds-iteration-service`."""
    return chunk > service_tokens


def arrivals_outside(arrivals_in_range: Flag, scale: Number) -> Flag:
    """`arrival-out-of-range`: a class' arrivals, or the scale that made them (only one permille past a capacity)."""
    return ~arrivals_in_range | (scale > domain.SCALE_MAX_PERMILLE)


def none_of(flag: Flag) -> Flag:
    """The opposite."""
    return ~flag
