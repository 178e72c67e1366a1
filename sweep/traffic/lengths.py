"""Length distributions as weighted buckets: what they expand to, and the share of a total that each one has."""

from collections.abc import Iterable, Sequence
from typing import Final

from sweep.errors import InputFault, RefusedSize
from sweep.units import grouped, shown

MAX_WEIGHT: Final = 10**9
"""The largest weight of a bucket."""

MAX_EXPANDED: Final = 10**7
"""Most requests that a distribution is expanded to, one by one."""

LONG_TAILED: Final = ((50, 40), (200, 35), (500, 15), (1_500, 8), (4_000, 2))
"""(tokens, weight) of a distribution as chat services see it: short requests dominate, a few are very long.

Per 100 requests 36 500 tokens, of which the two longest requests hold more than a fifth (`models.md`, "Plan").
"""


def expand_to_workload(buckets: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """The lengths of one round of a distribution: each bucket's length as often as its weight says, in order.

    Args:
        buckets: (length in tokens from 1 to 10^7, weight from 1 to 10^9), at least one.

    Returns:
        Lengths in tokens; as many as the weights sum to.

    Raises:
        InputFault: a bucket that is no such pair, or none at all; every fault at once.
        RefusedSize: more than 10^7 requests.

    >>> lengths = expand_to_workload([(50, 40), (200, 35), (500, 15), (1_500, 8), (4_000, 2)])
    >>> len(lengths), sum(lengths)
    (100, 36500)
    """
    pairs = [tuple(bucket) for bucket in buckets]
    faults = [f"bucket {at}: {fault}" for at, pair in enumerate(pairs, start=1) if (fault := _fault(pair))]
    if not pairs:
        faults.append("buckets: got none, wanted at least one pair of length and weight; add one.")
    if faults:
        raise InputFault(faults)
    count = sum(weight for _, weight in pairs)
    if count > MAX_EXPANDED:
        most = grouped(MAX_EXPANDED)
        raise RefusedSize(f"buckets: got weights of {grouped(count)} in all, wanted at most {most}; scale them down.")
    return tuple(length for length, weight in pairs for _ in range(weight))


def _fault(pair: tuple[object, ...]) -> str:
    if len(pair) != 2:
        return f"got {shown(pair)}, wanted a pair of length and weight; write (length, weight)."
    for value, name, most in zip(pair, ("length", "weight"), (10**7, MAX_WEIGHT), strict=True):
        if type(value) is not int or not 1 <= value <= most:
            return f"got the {name} {shown(value)}, wanted a whole number from 1 to {grouped(most)}; correct it."
    return ""


def shares(total: int, weights: Sequence[int]) -> tuple[int, ...]:
    """What each weight has of a total, each rounded up, so that their sum is never below the total.

    Args:
        total: whole units of anything, ≥ 0.
        weights: ≥ 1 each, at least one.

    Returns:
        ⌈total · weight / Σ weights⌉ for each; together less than one unit per weight above the total.

    >>> shares(8_000, [40, 35, 15, 8, 2]), shares(1, [1, 1])
    ((3200, 2800, 1200, 640, 160), (1, 1))
    """
    whole = sum(weights)
    return tuple(-(-total * weight // whole) for weight in weights)
