"""Bytes that one value takes, by the name of its type or as an exact ratio."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sweep.units import UnitError, printable

MAX_RATIO_PART: Final = 1_024
"""Largest numerator and denominator of a ratio, as in a grid file."""

_HALF = ("bf16", "bfloat16", "fp16", "f16", "float16", "half")
_WHOLE = ("fp32", "f32", "float32", "float")
_BYTE = ("fp8", "fp8_e4m3", "fp8_e5m2", "float8_e4m3fn", "float8_e5m2", "int8", "uint8")
_NIBBLE = ("int4", "uint4", "fp4")

_BLOCKS_OF_32 = {"q4_0": 18, "iq4_nl": 18, "q4_1": 20, "q5_0": 22, "q5_1": 24, "q8_0": 34, "mxfp4": 17, "mxfp8": 33}
"""Bytes of 32 values: ggml's formats with their 2 or 4 bytes of scale, and OCP microscaling with one byte of it."""

BYTES_PER_VALUE: Final[Mapping[str, Fraction]] = (
    dict.fromkeys(_WHOLE, Fraction(4))
    | dict.fromkeys(_HALF, Fraction(2))
    | dict.fromkeys(_BYTE, Fraction(1))
    | dict.fromkeys(_NIBBLE, Fraction(1, 2))
    | {"nvfp4": Fraction(9, 16)}  # 16 values in 8 bytes, and one byte of scale
    | {name: Fraction(size, 32) for name, size in _BLOCKS_OF_32.items()}
)
"""Name of a type -> bytes of one value, scales of fixed blocks included."""

_SCALED = {"int8_per_token_head": (Fraction(1), 4), "fp8_per_token_head": (Fraction(1), 4)}
"""vLLM's types with a 4-byte scale per token and head, for keys and for values each."""

_RATIO = re.compile(r"([0-9]{1,9})(?:/([0-9]{1,9}))?")


@dataclass(frozen=True)
class Width:
    """How wide the values of a cache are.

    Attributes:
        name: as it was given.
        bytes_per_value: exact, scales of fixed blocks included.
        scale_bytes: further bytes per token and head, such as a scale of its own.
    """

    name: str
    bytes_per_value: Fraction
    scale_bytes: int = 0

    def row_bytes(self, values: int) -> Fraction:
        """Bytes of the values that one head keeps of one token, exactly; 0 values take nothing."""
        return values * self.bytes_per_value + self.scale_bytes if values else Fraction(0)


def width_of(text: str) -> Width:
    """The width that a text says.

    Args:
        text: a name of `BYTES_PER_VALUE` (`bf16`, `q8_0`), bytes or a ratio of them (`2`, `17/32`), and optionally
            `+n` for n bytes of scale per token and head (`int8+4`).

    Raises:
        UnitError: none of these; the message is what to do.

    >>> width_of("q8_0").bytes_per_value, width_of("17/32").bytes_per_value, width_of("int8+4").row_bytes(128)
    (Fraction(17, 16), Fraction(17, 32), Fraction(132, 1))
    """
    plain = text.strip().lower().removeprefix("torch.")
    if plain in _SCALED:
        return Width(plain, *_SCALED[plain])
    base, plus, scale = plain.partition("+")
    if plus and not re.fullmatch(r"[0-9]{1,6}", scale):
        raise UnitError("write whole bytes of scale after +, such as int8+4")
    return Width(plain, _bytes_per_value(base), int(scale) if plus else 0)


def _bytes_per_value(name: str) -> Fraction:
    if name in BYTES_PER_VALUE:
        return BYTES_PER_VALUE[name]
    match = _RATIO.fullmatch(name)
    if match is None:
        raise UnitError(f"write bytes per value, a ratio such as 17/32, or one of {', '.join(BYTES_PER_VALUE)}")
    over, under = int(match[1]), int(match[2] or 1)
    if not (1 <= over <= MAX_RATIO_PART and 1 <= under <= MAX_RATIO_PART):
        raise UnitError(f"{printable(name)} has a part outside 1 to 1 024; reduce the ratio")
    return Fraction(over, under)
