"""What a cell of a map is, as one of a few classes: each with a colour, a hatch and a letter that tell it apart.

The colours are those of Okabe and Ito with two of Tol's, which colour-blind readers tell apart; the letters are those
of `sweep region --show limit`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sweep.engine.largest import LIMITING
from sweep.engine.opening import Array
from sweep.query.region import LIMIT, MASK, REASON, VERDICT, VERDICTS, RegionAnswer
from sweep.records.codes import INVALID_MASK, INVALID_REASONS, VIOLATION_CODES
from sweep.report.region import LETTERS, NEXT_INVALID


@dataclass(frozen=True)
class Look:
    """How a class is drawn."""

    letter: str
    """In the middle of its largest part, and in its swatch; "" where it needs none."""
    colour: str
    hatch: str = ""
    hatch_colour: str = "#000000"


@dataclass(frozen=True)
class Entry:
    """A class that occurs in a map."""

    look: Look
    text: str
    count: int
    """Cells of the slice."""


@dataclass(frozen=True)
class ClassMap:
    """A map of classes: a row per value of y and a column per value of x."""

    codes: Array
    """Per cell an index of `entries`, uint8."""
    entries: tuple[Entry, ...]
    within: Array
    """Which cells are within all bounds: a line is drawn around them."""


BOUND_COLOURS = (
    "#000000",
    "#56B4E9",
    "#E69F00",
    "#F0E442",
    "#332288",
    "#0072B2",
    "#CC79A7",
    "#D55E00",
    "#882255",
    "#009E73",
)
"""Per violation code, in their order."""

_HATCHES = ("xxxx", "////", "\\\\\\\\", "----", "||||", "", "xxx", "+++", "\\\\\\||", "---///")
"""Likewise; of lines only, since a tile of dots takes a quarter of a megabyte in SVG."""

WITHIN = Look("✓", "#FFFFFF")
REJECTED = Look("-", "#E69F00", "////", "#9C6C00")
NO_TRAFFIC = Look("", "#F3E3D3", "\\\\\\\\", "#C9A27E")
_INVALID_HATCHES = ("//", "\\\\", "||", "--", "|", "xx", "++", "/-", "\\|")
_GREY, _DARK_GREY = "#E4E4E4", "#B4B4B4"
_PALE = 0.72
_SHADOW = 0.55
LONGEST_KEY = 16
"""Bits below the mask in a key: the verdict and the reason."""

Kind = tuple[str, int]
"""`within`, `rejected`, `breaks`, `stops`, `next-invalid` or `invalid`, with the bit or the reason."""


def class_map(answer: RegionAnswer, feasible_apart: bool) -> ClassMap:
    """The classes of a slice of verdicts, masks, limits or reasons.

    Args:
        answer: the slice.
        feasible_apart: whether feasible cells are told apart by what stops their next permille.
    """
    keys = (answer.values.astype(np.int64) << LONGEST_KEY) | (answer.verdict.astype(np.int64) << 8) | answer.reason
    found, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    kinds = [_kind(answer.show, int(key), feasible_apart) for key in found]
    order = sorted(set(kinds), key=lambda kind: (_ORDER.index(kind[0]), kind[1]))
    code_of = np.array([order.index(kind) for kind in kinds], dtype=np.uint8)
    cells = np.bincount(code_of, weights=counts, minlength=len(order)).astype(np.int64)
    breaks_pale = any(kind == "stops" for kind, _ in order)
    entries = tuple(
        Entry(_look(kind, breaks_pale), _text(kind, answer.show), int(n)) for kind, n in zip(order, cells, strict=True)
    )
    return ClassMap(code_of[inverse].reshape(answer.verdict.shape), entries, answer.verdict == 0)


_ORDER = ("within", "stops", "next-invalid", "rejected", "breaks", "invalid")


def _kind(show: str, key: int, feasible_apart: bool) -> Kind:
    mask, verdict, reason = key >> LONGEST_KEY, VERDICTS[key >> 8 & 255], key & 255
    if verdict == "invalid":
        return ("invalid", 0 if show == VERDICT else reason)
    if show in (VERDICT, REASON):
        return (verdict, 0)
    if verdict == "within" and not feasible_apart:
        return ("within", 0)
    if mask == INVALID_MASK:
        return ("next-invalid", 0)
    return ("stops" if verdict == "within" else "breaks", first_bit(mask))


def first_bit(mask: int) -> int:
    """The first violation of a mask, which names the class of a cell that has several."""
    return (mask & -mask).bit_length() - 1


def _look(kind: Kind, breaks_pale: bool) -> Look:
    what, number = kind
    if what == "within":
        return WITHIN
    if what == "rejected":
        return REJECTED
    if what == "next-invalid":
        return Look(NEXT_INVALID, "#FFFFFF", "-", _DARK_GREY)
    if what == "invalid":
        hatch = _INVALID_HATCHES[max(0, number - 1)]
        return Look(str(number) if number else "", _GREY, hatch, _DARK_GREY)
    colour, hatch = BOUND_COLOURS[number], _HATCHES[number]
    if what == "stops":
        return Look(LETTERS[number].lower(), colour, hatch, _shadow(colour))
    if breaks_pale:
        return Look(LETTERS[number], _pale(colour), hatch, colour)
    return Look(LETTERS[number], colour, hatch, _shadow(colour))


def _text(kind: Kind, show: str) -> str:
    what, number = kind
    words = {
        "within": "valid, within all bounds" if show == REASON else "within all bounds",
        "rejected": "rejected: over a bound",
        "next-invalid": "within; the next permille is invalid",
    }
    if what in words:
        return words[what]
    if what == "invalid":
        return f"invalid: {INVALID_REASONS[number]}" if number else "invalid"
    code = VIOLATION_CODES[number]
    if what == "stops":
        return f"limited by {code}" if show == LIMITING else f"within, limited by {code}"
    return f"no traffic: {code}" if show == LIMITING else f"breaks {code}"


def _pale(colour: str) -> str:
    return _mixed(colour, lambda part: part + (255 - part) * _PALE)


def _shadow(colour: str) -> str:
    """A darker shade for the hatch; on black a lighter one."""
    if colour == "#000000":
        return "#777777"
    return _mixed(colour, lambda part: part * _SHADOW)


def _mixed(colour: str, change: Callable[[int], float]) -> str:
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(change(part)):02X}" for part in parts)


CLASSED = (VERDICT, LIMIT, MASK, REASON, LIMITING)
"""What is shown by classes; everything else is a number and shown by shades."""
