"""Checks of numbers that a caller gives; every fault of a call is one sentence, and all come at once."""

from collections.abc import Iterable
from fractions import Fraction

from sweep.errors import RecordFault
from sweep.records.checks import integer_faults, shown

BYTES = (0, 10**18)
"""Bounds of an amount of memory, in bytes."""
TOKENS = (1, 10**12)
"""Bounds of the length of a sequence and of a prefill chunk, in tokens."""
COUNT = (1, 10**5)
"""Bounds of a number of layers, of heads, and of the values of a head."""
GPUS = (1, 10**4)
"""Bounds of a number of GPUs, and of pipeline stages."""
BLOCK_TOKENS = (1, 10**6)
"""Bounds of a block, in tokens."""


def raise_if_any(faults: Iterable[str]) -> None:
    """Raise all faults together.

    Raises:
        RecordFault: there is one.
    """
    found = tuple(dict.fromkeys(faults))
    if found:
        raise RecordFault(found)


def each_integer(where: str, values: object, bounds: tuple[int, int]) -> list[str]:
    """Faults of a tuple of integers, each within inclusive bounds."""
    if type(values) is not tuple:
        return [f"{where}: got {shown(values)}, want a tuple of integers, one per pipeline stage; pass one."]
    return [fault for at, value in enumerate(values) for fault in integer_faults(f"{where}[{at}]", value, bounds)]


def ceil_div(over: int, under: int) -> int:
    """⌈over/under⌉ for under > 0."""
    return -(-over // under)


def ceil_of(number: Fraction | int) -> int:
    """The smallest integer that is not below a number."""
    return ceil_div(number.numerator, number.denominator)


def floor_of(number: Fraction | int) -> int:
    """The largest integer that is not above a number."""
    return number.numerator // number.denominator
