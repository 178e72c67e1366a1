"""A slice over two axes as a map for people, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from sweep.engine.largest import CAPACITY, LIMITING
from sweep.query.cell import codes_of
from sweep.query.region import LIMIT, MASK, SLACK, VERDICT, VERDICTS, RegionAnswer
from sweep.records.codes import INVALID_MASK, INVALID_REASONS, VIOLATION_CODES
from sweep.records.wording import CLAIM as CLAIM_CODE
from sweep.records.wording import INVALID_MEANINGS, VIOLATION_MEANINGS
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, Tone, table
from sweep.report.chart import Chart, Side, chart
from sweep.report.words import coordinates, label, listed, short_name
from sweep.units import grouped

LETTERS = "ASUPDQTOVK"
"""One per violation code, in their order; lower case where it only stops the next permille."""

NEXT_INVALID = "+"
"""A feasible cell whose next permille is invalid instead of over a bound."""

_SIGNS = {"within": "+", "rejected": "-", "invalid": "."}
_TONES: dict[str, Tone] = {"within": "good", "rejected": "bad", "invalid": "note"}
_MARK = "*"
_TRAFFIC = "traffic_scale_permille"
_UNITS = {"1e-3": "‰", "s-1": "per second", "1": "a number", "byte": "bytes"}


def region_page(answer: RegionAnswer, width: int, lines: int) -> list[Section]:
    """The page of `region`.

    Args:
        answer: the slice.
        width: columns that the map may take.
        lines: lines that the map may take; other text comes on top.
    """
    drawn = _drawn(answer, width, lines)
    notes = [*_axes(answer), *_largest(answer), *_thinned(answer, drawn)]
    return [
        Section(_title(answer), (drawn.picture,)),
        Section("", (_legend(answer),)),
        Section("", tuple(notes)),
        CLAIM,
    ]


def region_csv(answer: RegionAnswer, axes: Sequence[str]) -> str:
    """The slice as CSV, one line per cell: its axes, the value, its verdict and invalid reason, and the claim.

    Args:
        answer: the slice; an undefined value is left empty, a mask has its codes beside it.
        axes: the names of the axes, in the order of the grid.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    shown = [] if answer.show == VERDICT else [answer.show]
    codes = ["codes"] if answer.show in (LIMIT, MASK, LIMITING) else []
    names = [name for name in axes if name in (answer.x.name, answer.y.name) or name in answer.at]
    writer.writerow([*names, *shown, *codes, VERDICT, "invalid_reason", "claim"])
    undefined = answer.undefined
    for row, y in enumerate(answer.y.labels):
        for column, x in enumerate(answer.x.labels):
            point = {**answer.at, answer.x.name: x, answer.y.name: y}
            value = int(answer.values[row, column])
            empty = undefined is not None and undefined[row, column]
            reason = int(answer.reason[row, column])
            writer.writerow(
                [
                    *(point[name] for name in names),
                    *(["" if empty else value] if shown else []),
                    *([" ".join(codes_of(value))] if codes else []),
                    VERDICTS[answer.verdict[row, column]],
                    INVALID_REASONS[reason] if reason else "",
                    CLAIM_CODE,
                ]
            )
    return text.getvalue()


def _title(answer: RegionAnswer) -> str:
    what = {VERDICT: "Within, rejected or invalid", LIMIT: "What limits", "capacity": "Largest feasible traffic"}.get(
        answer.show, answer.show.replace(f"{SLACK}:", "Slack of ")
    )
    unit = "" if answer.show in (VERDICT, LIMIT, MASK, LIMITING) else f" in {_UNITS.get(answer.units, answer.units)}"
    return f"{what}{unit}: {short_name(answer.x.name)} across, {short_name(answer.y.name)} down"


def _drawn(answer: RegionAnswer, width: int, lines: int) -> Chart:
    row, column = (None, None) if answer.mark is None else answer.mark
    return chart(
        Side(len(answer.x), lambda index: label(answer.x.label(index)), column),
        Side(len(answer.y), lambda index: label(answer.y.label(index)), row),
        lambda row, column: (_text(answer, row, column), _tone(answer, row, column)),
        1 if answer.show in (VERDICT, LIMIT) else _longest(answer),
        width,
        lines,
    )


def _tone(answer: RegionAnswer, row: int, column: int) -> Tone:
    return "mark" if (row, column) == answer.mark else _TONES[VERDICTS[answer.verdict[row, column]]]


def _text(answer: RegionAnswer, row: int, column: int) -> str:
    """A cell of the map: one character, or a number with a star on the largest point."""
    marked = (row, column) == answer.mark
    verdict = VERDICTS[answer.verdict[row, column]]
    if answer.show == VERDICT:
        return _MARK if marked else _SIGNS[verdict]
    value = int(answer.values[row, column])
    if answer.show == LIMIT:
        return _MARK if marked else _letter(value, verdict, int(answer.reason[row, column]))
    if verdict == "invalid" and (answer.undefined is not None or answer.show == "capacity"):
        return _SIGNS[verdict]
    return f"{grouped(value)}{_MARK if marked else ''}"


def _letter(mask: int, verdict: str, reason: int) -> str:
    """Upper case: the first bound that the cell breaks; lower case: the first one that stops its next permille."""
    if verdict == "invalid":
        return str(reason)
    if mask == INVALID_MASK:
        return NEXT_INVALID
    letter = LETTERS[(mask & -mask).bit_length() - 1]
    return letter.lower() if verdict == "within" else letter


def _longest(answer: RegionAnswer) -> int:
    """Columns of the widest number of the slice, with room for the star."""
    values = answer.values if answer.undefined is None else answer.values[~answer.undefined]
    ends = [int(values.min()), int(values.max())] if values.size else [0]
    return max(len(grouped(end)) for end in ends) + (answer.mark is not None)


def _legend(answer: RegionAnswer) -> Table:
    """What each sign of the map means, and how many cells of the whole slice have it."""
    star = [(_MARK, "the largest feasible point", "")] if answer.mark is not None else []
    if answer.show == LIMIT:
        return table(("", "cells of the slice", ""), [*star, *_limits(answer)], right=(2,))
    counts = np.bincount(answer.verdict.reshape(-1), minlength=len(VERDICTS))
    words = ("within all bounds", "rejected: over a bound", "invalid: without a verdict")
    if answer.show in ("capacity", CAPACITY, LIMITING):
        words = ("carries traffic", "no traffic is feasible", "invalid at any traffic")
    signs = _SIGNS if answer.show == VERDICT else {"within": "", "rejected": "", "invalid": _SIGNS["invalid"]}
    rows = [(signs[one], text, grouped(int(n))) for one, text, n in zip(VERDICTS, words, counts, strict=True) if n]
    return table(("", "cells of the slice", ""), [*star, *rows], right=(2,))


def _limits(answer: RegionAnswer) -> list[tuple[str, str, str]]:
    """Each sign of a map of limits that occurs in the slice."""
    keys = (answer.values.astype(np.int64) << 8) | (answer.verdict.astype(np.int64) << 4) | answer.reason
    found: dict[str, list[int | str]] = {}
    for key, n in zip(*np.unique(keys, return_counts=True), strict=True):
        mask, verdict, reason = int(key) >> 8, VERDICTS[int(key) >> 4 & 15], int(key) & 15
        sign = _letter(mask, verdict, reason)
        if sign not in found:
            found[sign] = [_meaning(sign, mask, reason), 0]
        found[sign][1] = int(found[sign][1]) + int(n)
    order = [*LETTERS.lower(), NEXT_INVALID, *LETTERS, *"123456789"]
    return [(sign, str(found[sign][0]), grouped(int(found[sign][1]))) for sign in order if sign in found]


def _meaning(sign: str, mask: int, reason: int) -> str:
    if sign.isdigit():
        return f"invalid, {INVALID_REASONS[reason]}: {INVALID_MEANINGS[INVALID_REASONS[reason]]}"
    if sign == NEXT_INVALID:
        return "within; one permille more traffic is invalid"
    code = VIOLATION_CODES[(mask & -mask).bit_length() - 1]
    if sign.islower():
        return f"within; one permille more traffic breaks {code}"
    return f"breaks {code}: {VIOLATION_MEANINGS[code]}"


def _axes(answer: RegionAnswer) -> list[Paragraph]:
    """The values of the other axes, and where those that were left open come from."""
    if not answer.at:
        return []
    found = [Paragraph(f"The slice: {coordinates(answer.at)}")]
    if not answer.filled_axes:
        return found
    source = {
        "largest-point": "from the largest feasible point; fix others with --at",
        "largest-capacity": "from the configuration that carries most, since none carries this traffic",
        "first-values": "the first value of each, since no configuration carries any traffic",
    }[answer.filled]
    names = listed([short_name(name) for name in answer.filled_axes])
    found.append(Paragraph(f"Left open and filled in: {names}, {source}.", "note"))
    if _TRAFFIC in answer.filled_axes and answer.filled == "largest-point":
        text = "At its exact traffic little else is feasible: --at traffic=1000 asks about the declared traffic."
        found.append(Paragraph(text, "note"))
    return found


def _largest(answer: RegionAnswer) -> list[Paragraph]:
    if answer.largest is None:
        return [Paragraph("Nothing is feasible here, at any value of the other axes that were left open.", "bad")]
    return [Paragraph(f"Largest feasible point: {coordinates(answer.largest.point)}", "good")]


def _thinned(answer: RegionAnswer, drawn: Chart) -> list[Paragraph]:
    steps = [(drawn.column_step, answer.x), (drawn.row_step, answer.y)]
    parts = [
        f"every {_nth(step)} of {grouped(len(axis))} values of {short_name(axis.name)}"
        for step, axis in steps
        if step > 1
    ]
    if not parts:
        return []
    text = f"Shown: {' and '.join(parts)}, with the first, the last and the largest point's; --json and --csv have all."
    return [Paragraph(text, "note")]


def _nth(number: int) -> str:
    """`2nd`, `3rd`, `11th`."""
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{grouped(number)}{ending}"
