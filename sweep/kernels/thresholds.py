"""The largest feasible traffic scale of a configuration, from thresholds instead of a walk along the axis.

Why one number per configuration says everything along traffic. Let x be the scale. Arrivals and peak concurrencies
are ceilings of nondecreasing functions of x, so every load (work, active sequences, KV tokens) and every range rule
is monotone in x: once broken it stays broken. The queue delay is the exception, since it is 86 400 000 ms from
u = 1000 ‰ on, whatever it was just below; but u ≥ 1000 always breaks the utilisation bound (≤ 999), and for
u ≤ 999 the delay grows with u. Hence feasibility is a prefix 1…T of the scales, and T is the least of the
thresholds below. With it the iteration time, with 0 ≤ X the time left for queueing, u ≤ 999:

    ⌈it·u/(1000 − u)⌉ ≤ X  ⇔  it·u ≤ X·(1000 − u)  ⇔  u ≤ ⌊1000·X/(it + X)⌋     (which is ≤ 999 as it ≥ 1)
    ⌈W/C⌉ ≤ u              ⇔  W ≤ u·C
    ⌈1000·S/D⌉ ≤ X         ⇔  S ≤ ⌊X·D/1000⌋
    S·b ≤ K                ⇔  S ≤ ⌊K/b⌋

A threshold of 0 means that not even scale 1 is feasible.
"""

from sweep.exact.ops import (
    Flag,
    Number,
    ceil_div,
    clamp,
    floor_div,
    largest_within,
    least,
    maximum,
    minimum,
    select,
)
from sweep.kernels import domain
from sweep.kernels.figures import total


def arrival_cap(declared: Number, replicas: Number) -> Number:
    """The largest scale (≤ 10^15) at which a class' arrivals stay in range."""
    cap = floor_div(domain.ARRIVAL_MILLIRPS[1] * 1000 * replicas, declared)
    return minimum(cap, domain.SCALE_MAX_PERMILLE)


def peak_cap_scaled(declared: Number, replicas: Number) -> Number:
    """The largest scale at which a scaled peak concurrency stays in range."""
    return floor_div(domain.PEAK_CONCURRENCY[1] * 1000 * replicas, declared)


def stay_permille_ms(max_ttft: Number, max_tpot: Number, output_tokens: Number, burst: Number) -> Number:
    """G: the longest stay that the SLO allows, times the burst factor; peak = ⌈arrival·G/10^9⌉."""
    return (max_ttft + output_tokens * max_tpot) * burst


def peak_cap_from_slo(declared: Number, replicas: Number, stay: Number) -> Number:
    """The largest scale at which a concurrency from Little's law stays in range: ⌈a·G/10^9⌉ ≤ 10^6 ⇔ a ≤ ⌊10^15/G⌋."""
    arrival = minimum(floor_div(domain.PEAK_CONCURRENCY[1] * domain.BURST_UNIT, stay), domain.ARRIVAL_MILLIRPS[1])
    return floor_div(arrival * (1000 * replicas), declared)


def smallest(*caps: Number) -> Number:
    """The smallest of the caps."""
    return least(caps)


def waiting_limit(wait: Number, iteration: Number) -> Number:
    """The largest total utilisation in ‰ (≤ 999) whose queue delay is within `wait` ms; −1 for a negative wait."""
    time = maximum(wait, 0)
    queued = floor_div(1000 * time, clamp(iteration, *domain.ITERATION_MS) + time)
    return select(wait >= 0, queued, -1)


def ttft_limit(max_ttft: Number, prefill_service: Number, iteration: Number) -> Number:
    """The largest total utilisation whose queue delay leaves room for the prefill service within the TTFT bound."""
    return waiting_limit(max_ttft - prefill_service, iteration)


def work_limit(utilization: Number, rate: Number) -> Number:
    """Work that a rate serves within a utilisation: ⌈W/rate⌉ ≤ u ⇔ W ≤ u·rate."""
    return utilization * rate


def capacity_work_limit(utilization: Number, capacity: Number) -> Number:
    """The same for the whole token capacity, clamped to its bounds (cells outside are invalid)."""
    return utilization * clamp(capacity, *domain.CAPACITY)


def saturation_work(capacity: Number) -> Number:
    """The largest work with a utilisation below 1000 ‰: ⌈W/C⌉ ≤ 999 ⇔ W ≤ 999·C."""
    return 999 * clamp(capacity, *domain.CAPACITY)


def scale_for_work(limit: Number, cap: Number, replicas: Number, *arrivals_and_tokens: Number) -> Number:
    """The largest scale x ≤ cap with Σ ⌈A·x/M⌉·w ≤ limit, M = 1000·replicas.

    From A·x/M ≤ ⌈A·x/M⌉ ≤ (A·x + M − 1)/M, with s = Σ A·w and e = (M − 1)·Σ w: x ≤ h = ⌊limit·M/s⌋ is necessary, and
    x ≤ ⌊(limit·M − e)/s⌋ is sufficient, of which h − ⌈e/s⌉ is no more. That bracket is what the search starts from; its
    width does not depend on the limit.
    """
    declared, weights = arrivals_and_tokens[::2], arrivals_and_tokens[1::2]
    unit = 1000 * replicas
    slope = total(*[a * w for a, w in zip(declared, weights, strict=True)])
    hi = minimum(cap, floor_div(maximum(limit * unit, 0), slope))
    lo = maximum(hi - ceil_div((unit - 1) * total(*weights), slope), 0)

    def load(x: Number) -> Number:
        return total(*[ceil_div(a * x, unit) * w for a, w in zip(declared, weights, strict=True)])

    return largest_within(load, limit, lo, hi)


def tpot_sequences_limit(max_tpot: Number, decode: Number, iteration_over: Flag) -> Number:
    """How many active sequences the TPOT bound allows; −1 where the iteration alone is longer."""
    return select(iteration_over, -1, floor_div(max_tpot * decode, 1000))


def kv_tokens_limit(max_kv_bytes: Number, bytes_per_token: Number) -> Number:
    """How many tokens the KV bound holds."""
    width = clamp(bytes_per_token, *domain.KV_BYTES_PER_TOKEN)
    return floor_div(clamp(max_kv_bytes, 0, domain.KV_BYTES[1]), width)


def limit_left(limit: Number, *fixed: Number) -> Number:
    """What a limit leaves after the loads that do not grow with traffic; arguments: weight, load, weight, load, …."""
    pairs = zip(fixed[::2], fixed[1::2], strict=True)
    return limit - total(*[weight * load for weight, load in pairs])


def scale_if_fits(left: Number, cap: Number) -> Number:
    """The cap where fixed loads are within their limit, else 0."""
    return select(left >= 0, cap, 0)


def scale_for_peaks(left: Number, cap: Number, replicas: Number, scaled: int, *terms: Number) -> Number:
    """The largest scale x ≤ cap with Σ v·peak(x) ≤ left over the classes whose concurrency grows with x; 0 if none.

    `terms` holds v, N for each of the first `scaled` classes (peak = ⌈N·x/M⌉, M = 1000·replicas), then v, A, G for
    each class whose peak is Little's law (⌈⌈A·x/M⌉·G/B⌉, B = 10^9). With N·x/M ≤ peak ≤ (N·x + M − 1)/M and
    A·G·x/(MB) ≤ peak ≤ (A·G·x + (M − 1)·G + M·(B − 1))/(MB) the bracket follows as in `scale_for_work`.
    """
    grown = [(terms[2 * i], terms[2 * i + 1]) for i in range(scaled)]
    rest = terms[2 * scaled :]
    little = [(rest[i], rest[i + 1], rest[i + 2]) for i in range(0, len(rest), 3)]
    unit = 1000 * replicas
    base = domain.BURST_UNIT if little else 1
    slope = total(*[v * n * base for v, n in grown], *[v * (a * g) for v, a, g in little])
    excess = total(
        *[v * ((unit - 1) * base) for v, _ in grown],
        *[v * ((unit - 1) * g + unit * (base - 1)) for v, _, g in little],
    )
    hi = minimum(cap, floor_div(maximum(left * (unit * base), 0), slope))
    lo = maximum(hi - ceil_div(excess, slope), 0)

    def load(x: Number) -> Number:
        return total(
            *[v * ceil_div(n * x, unit) for v, n in grown],
            *[v * ceil_div(ceil_div(a * x, unit) * g, domain.BURST_UNIT) for v, a, g in little],
        )

    # Where even x = 0 is over (left < 0, from the fixed loads) the bracket collapses to 0, which means none.
    return largest_within(load, left, lo, hi)


def largest_scale(feasible_at_all: Flag, cap: Number, *scales: Number) -> Number:
    """The least threshold where nothing that the traffic does not touch stands in the way, else 0.

    No threshold is negative or over the cap, so closing the cap closes the configuration.
    """
    return smallest(select(feasible_at_all, cap, 0), *scales)
