"""Random draws from a seed, the same on every machine and with every version of every library.

The source is SHAKE-256 (FIPS 202) of the seed and a counter. Whatever follows is integer arithmetic, or `decimal`,
whose `ln` and `exp` are correctly rounded by definition; no platform's float functions take part.

*Exponential*: von Neumann's method, which only compares uniform numbers: of u1 > u2 > … take the first that does not
fall. If the falling run has an odd length, u1 is the fraction (its density is Σ (−u)^k/k! = e^−u); else one more unit
goes to the integer part, and it begins anew. With words of 64 bits it differs from the exact method, rounded down to
2^−64, only where two compared words are equal: a probability of 2^−64 for each of at most 4.4 comparisons on average,
so the total variation distance is below 2^−61.

*Gamma* of a shape: a sum of exponentials for its whole part, and for its fraction a the method of Ahrens and Dieter
(GS): below 1 the proposal has the density a·x^(a−1), so it is U^(1/a), and is taken with the probability e^−x; above 1
it is 1 plus an exponential, and is taken with the probability x^(a−1). Below has the share e/(e + a) of the proposals.
To take x with the probability e^−y is to ask whether an exponential is at least y, so no more than U^(1/a) and ln x are
computed. Rounded are: that share, ln and exp at 28 digits, x down to 2^−64, and U to an odd multiple of 2^−65. The last
weighs most: at a shape of 1/1000 it changes a draw by less than 1000·2^−65. So a draw is off by less than 2^−54, and a
decision with a probability below 2^−52; at most 1.4 proposals are made on average.
"""

from collections.abc import Iterator
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from hashlib import shake_256
from struct import unpack
from typing import Final

UNIT: Final = 2**64
"""Draws are whole multiples of 1/UNIT."""

_WORDS = 512
_CONTEXT = Context(prec=28, Emin=-(10**9), Emax=10**9)
_E = _CONTEXT.exp(Decimal(1))
_MOST_POWER = 16
"""Whole powers up to this are taken of integers, exactly; beyond it ln and exp are faster."""


def words(seed: int, stream: str) -> Iterator[int]:
    """Uniform integers below 2^64, without end; another stream of the same seed is independent."""
    key = f"sweep.simulate {stream} {seed} ".encode()
    counter = 0
    while True:
        yield from unpack(f"<{_WORDS}Q", shake_256(key + counter.to_bytes(8, "little")).digest(8 * _WORDS))
        counter += 1


def below(source: Iterator[int], bound: int) -> int:
    """A uniform integer from 0 to bound − 1, exactly: what falls beyond the last whole multiple is drawn anew."""
    count = (bound.bit_length() + 63) // 64
    reach = UNIT**count
    while True:
        drawn = 0
        for _ in range(count):
            drawn = drawn * UNIT + next(source)
        if drawn < reach - reach % bound:
            return drawn % bound


def exponential(source: Iterator[int]) -> int:
    """An exponential of mean 1, in 1/UNIT."""
    whole = 0
    while True:
        first = last = next(source)
        odd = True
        while (word := next(source)) < last:
            last, odd = word, not odd
        if odd:
            return whole + first
        whole += UNIT


def gamma(source: Iterator[int], shape: Fraction) -> int:
    """A Gamma of this shape (> 0) and scale 1, so of mean `shape`, in 1/UNIT."""
    whole, part = divmod(shape, 1)
    total = sum([exponential(source) for _ in range(whole)])
    return total + _gamma_below_one(source, part) if part else total


def _gamma_below_one(source: Iterator[int], shape: Fraction) -> int:
    numerator, denominator = Decimal(shape.numerator), Decimal(shape.denominator)
    share = _CONTEXT.divide(_E, _CONTEXT.add(_E, _CONTEXT.divide(numerator, denominator)))
    small = _floor(_CONTEXT.multiply(Decimal(UNIT), share))
    while True:
        if next(source) < small:
            found = _power(next(source), 1 / shape)
            if exponential(source) >= found:
                return found
        else:
            found = UNIT + exponential(source)
            logarithm = _CONTEXT.ln(_CONTEXT.divide(Decimal(found), Decimal(UNIT)))
            bound = _CONTEXT.divide(_CONTEXT.multiply(logarithm, denominator - numerator), denominator)
            if exponential(source) >= _floor(_CONTEXT.multiply(bound, Decimal(UNIT))):
                return found


def _power(word: int, exponent: Fraction) -> int:
    """((2·word + 1) / 2^65)^exponent in 1/UNIT, rounded down."""
    if exponent.denominator == 1 and exponent <= _MOST_POWER:
        power = exponent.numerator
        return int((2 * word + 1) ** power >> (65 * power - 64))
    uniform = _CONTEXT.divide(Decimal(2 * word + 1), Decimal(2 * UNIT))
    logarithm = _CONTEXT.multiply(_CONTEXT.ln(uniform), Decimal(exponent.numerator))
    found = _CONTEXT.exp(_CONTEXT.divide(logarithm, Decimal(exponent.denominator)))
    return _floor(_CONTEXT.multiply(found, Decimal(UNIT)))


def _floor(number: Decimal) -> int:
    return int(number.to_integral_value(ROUND_FLOOR))
