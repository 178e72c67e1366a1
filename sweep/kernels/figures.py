"""The quantities of the audit's report (`audit.md`, "Quantities").

A quantity is −1 where a divisor of its formula is 0, where a derived input is outside its record's bounds, and where
it uses an undefined quantity; every kernel therefore takes the flag that its derived inputs are inside.
"""

from sweep.exact.ops import Flag, Number, ceil_div, clamp, maximum, minimum, select
from sweep.kernels import domain


def work(*arrivals_and_tokens: Number) -> Number:
    """Σ arrival·tokens in millirequests·tokens per second; arguments are arrival, tokens, arrival, tokens, ….

    Arrivals are clamped to their bounds: outside them every quantity that uses this is undefined.
    """
    pairs = zip(arrivals_and_tokens[::2], arrivals_and_tokens[1::2], strict=True)
    terms = [clamp(arrival, *domain.ARRIVAL_MILLIRPS) * tokens for arrival, tokens in pairs]
    return total(*terms)


def total(*terms: Number) -> Number:
    """The sum of the terms."""
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def utilization_permille(work_done: Number, rate: Number, defined: Flag) -> Number:
    """⌈work / rate⌉: millirequests·tokens over tokens/s is already ‰. Undefined where the rate is 0."""
    return select(defined & (rate >= 1), ceil_div(work_done, maximum(rate, 1)), domain.UNDEFINED)


def queue_delay_ms(utilization: Number, iteration: Number, iteration_in_range: Flag) -> Number:
    """86 400 000 where utilisation ≥ 1000, else ⌈iteration·u/(1000 − u)⌉; the divisor is in 1…1000 after the clamp."""
    below = clamp(utilization, 0, 999)
    delay = ceil_div(clamp(iteration, *domain.ITERATION_MS) * below, 1000 - below)
    saturated = select(utilization >= 1000, domain.SATURATED_DELAY_MS, delay)
    return select(iteration_in_range & (utilization >= 0), saturated, domain.UNDEFINED)


def prefill_service_ms(prefill: Number, iteration: Number, chunk: Number, defined: Flag, *prompts: Number) -> Number:
    """The TTFT of an empty queue: the worst class' max(⌈prompt/chunk⌉·iteration, ⌈prompt·1000/P⌉)."""
    step = clamp(iteration, *domain.ITERATION_MS)
    rate = maximum(prefill, 1)
    worst = None
    for prompt in prompts:
        served = maximum(ceil_div(prompt, chunk) * step, ceil_div(prompt * 1000, rate))
        worst = served if worst is None else maximum(worst, served)
    return select(defined & (prefill >= 1), worst, domain.UNDEFINED)


def ttft_ms(queue_delay: Number, prefill_service: Number) -> Number:
    """Queue delay and prefill service, one after the other."""
    defined = (queue_delay >= 0) & (prefill_service >= 0)
    return select(defined, queue_delay + prefill_service, domain.UNDEFINED)


def active_sequences(defined: Flag, *peaks: Number) -> Number:
    """Σ peak_concurrency."""
    return select(defined, total(*[clamp(peak, *domain.PEAK_CONCURRENCY) for peak in peaks]), domain.UNDEFINED)


def tpot_ms(active: Number, decode: Number, iteration: Number, defined: Flag) -> Number:
    """max(iteration, ⌈1000·Σ peak_concurrency / D⌉)."""
    shared = ceil_div(1000 * maximum(active, 0), decode)
    slowest = maximum(clamp(iteration, *domain.ITERATION_MS), shared)
    return select(defined & (active >= 0), slowest, domain.UNDEFINED)


def starvation_ms(priority_iterations: Number, iteration: Number, iteration_in_range: Flag) -> Number:
    """(max_consecutive_priority_iterations + 1)·iteration."""
    bound = (priority_iterations + 1) * clamp(iteration, *domain.ITERATION_MS)
    return select(iteration_in_range, bound, domain.UNDEFINED)


def kv_tokens(*peaks_and_tokens: Number) -> Number:
    """Σ peak_concurrency·(prompt + output), tokens held at the peak."""
    pairs = zip(peaks_and_tokens[::2], peaks_and_tokens[1::2], strict=True)
    return total(*[clamp(peak, *domain.PEAK_CONCURRENCY) * tokens for peak, tokens in pairs])


def kv_bytes(tokens: Number, bytes_per_token: Number, defined: Flag) -> Number:
    """Bytes held at the peak."""
    held = tokens * minimum(maximum(bytes_per_token, 1), domain.KV_BYTES_PER_TOKEN[1])
    return select(defined, held, domain.UNDEFINED)
