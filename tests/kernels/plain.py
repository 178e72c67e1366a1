"""The plain formulas, one point at a time, from the definition; a threshold is a search over the rule it replaces."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil

DAY = 86_400_000
MAX_ARRIVAL, MAX_PEAK, MAX_CAPACITY, MAX_WIDTH = 10**12, 10**6, 10**12, 10**12


def up(a: int, b: int) -> int:
    """⌈a/b⌉ through exact fractions."""
    return ceil(Fraction(a, b))


def clip(value: int, lower: int, upper: int) -> int:
    return lower if value < lower else upper if value > upper else value


def largest(holds: Callable[[int], bool], lower: int, upper: int) -> int:
    """The largest x of [lower, upper] with `holds`, which is true up to there and false above; lower − 1 if none."""
    low, high = lower - 1, upper
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def per_replica(declared: int, scale: int, replicas: int) -> int:
    return up(up(declared * scale, 1000), replicas)


def queue_ms(u: int, iteration: int) -> int:
    return DAY if u >= 1000 else up(iteration * u, 1000 - u)


def little(arrival: int, stay: int) -> int:
    return up(arrival * stay, 10**9)


def plain_kv_width(layers: int, heads: int, dim: int, over: int, under: int, gpus: int) -> int:
    held = gpus * max(1, up(heads, gpus))
    return ceil(2 * layers * held * dim * Fraction(over, under))


def plain_memory(memory: int, use: int, act: int, over: int, kept: int, weights: int, gpus: int) -> int:
    return gpus * (memory * use // 1000 - act - over - kept) - weights


def plain_little(arrival: int, inside: bool, ttft: int, tpot: int, output: int, burst: int) -> int:
    if not inside:
        return -1
    return little(clip(arrival, 1, MAX_ARRIVAL), (ttft + output * tpot) * burst)


def plain_service(prefill: int, iteration: int, chunk: int, inside: bool, *prompts: int) -> int:
    if not inside or prefill < 1:
        return -1
    step = clip(iteration, 1, DAY)
    return max(max(up(prompt, chunk) * step, up(prompt * 1000, prefill)) for prompt in prompts)


def plain_queue(u: int, iteration: int, inside: bool) -> int:
    return queue_ms(u, clip(iteration, 1, DAY)) if inside and u >= 0 else -1


def plain_queue_over(work: int, limit: int, saturation: int, bound: int) -> bool:
    return bound < DAY if work > saturation else work > limit


def plain_tpot(active: int, decode: int, iteration: int, inside: bool) -> int:
    return max(clip(iteration, 1, DAY), up(1000 * active, decode)) if inside and active >= 0 else -1


def plain_waiting_limit(wait: int, iteration: int) -> int:
    return largest(lambda u: queue_ms(u, clip(iteration, 1, DAY)) <= wait, 0, 999)


def plain_ttft_limit(most: int, service: int, iteration: int) -> int:
    return largest(lambda u: queue_ms(u, clip(iteration, 1, DAY)) + service <= most, 0, 999)


def plain_scale_for_work(limit: int, cap: int, replicas: int, *pairs: int) -> int:
    loads = list(zip(pairs[::2], pairs[1::2], strict=True))

    def holds(x: int) -> bool:
        return sum(per_replica(a, x, replicas) * w for a, w in loads) <= limit

    return largest(holds, 1, cap)


def plain_scale_for_peaks(left: int, cap: int, replicas: int, *terms: int) -> int:
    """Two classes that grow with the scale, one by Little's law."""
    v, n, w, m, z, a, g = terms

    def holds(x: int) -> bool:
        held = v * per_replica(n, x, replicas) + w * per_replica(m, x, replicas)
        return held + z * little(per_replica(a, x, replicas), g) <= left

    return largest(holds, 1, cap)


def plain_grown(left: int, cap: int, replicas: int, v: int, n: int) -> int:
    return largest(lambda x: v * per_replica(n, x, replicas) <= left, 1, cap)


def plain_little_only(left: int, cap: int, replicas: int, v: int, a: int, g: int) -> int:
    return largest(lambda x: v * little(per_replica(a, x, replicas), g) <= left, 1, cap)


def plain_work_limit(u: int, rate: int) -> int:
    return largest(lambda work: up(work, rate) <= u, 0, 10**16) if rate else 0


def plain_kv_limit(bound: int, width: int) -> int:
    held = clip(width, 1, MAX_WIDTH)
    return largest(lambda s: s * held <= clip(bound, 0, 10**18), 0, 10**18)


def plain_tpot_limit(tpot: int, decode: int, over: bool) -> int:
    return -1 if over else largest(lambda s: up(1000 * s, decode) <= tpot, 0, 10**18)
