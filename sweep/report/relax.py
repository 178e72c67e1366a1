"""What would help: the table of loosened bounds and that of the axes, and the certificate of `best` in words."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from sweep.query.declared import COUNTED_CONFIGURATIONS
from sweep.query.relax import Reached, RelaxAnswer, Relief
from sweep.query.replay import Replay
from sweep.records import wording
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.point import place, traffic_in_words
from sweep.report.words import coordinates, counted, listed, safe, short_name, signed
from sweep.units import grouped

_CAUSES_SHOWN = 6
_LESS = "A looser latency bound may carry less: concurrency from the SLO grows with the stay that it allows."


def relax_page(answer: RelaxAnswer) -> list[Section]:
    """The page of `relax`."""
    if answer.cell is None:
        head = Section("", (Paragraph("Nothing is feasible: gains count from no traffic at all.", "bad"),))
    else:
        title = f"Largest SLO-feasible operating point: {traffic_in_words(answer.cell)}"
        head = Section(title, (place(answer.cell),))
    page = [head, _bounds(answer)]
    if any(_moves(relief) for relief in answer.axes):
        page.append(_axes(answer.axes))
    return [*page, CLAIM]


def relax_csv(answer: RelaxAnswer, axes: Sequence[str]) -> str:
    """Every step as CSV: what is changed and to what, the gain in permille, the largest point then, and the claim.

    Args:
        answer: the answer.
        axes: the names of the axes, in the order of the grid; they are empty where nothing is feasible.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["kind", "changed", "now", "step", "to", "gain_permille", *axes, "claim"])
    for kind, reliefs in (("bound", answer.bounds), ("axis", answer.axes)):
        for relief in reliefs:
            for step, reached in relief.steps.items():
                if reached is not None:
                    point: Mapping[str, int | str] = {} if reached.cell is None else reached.cell.point
                    values = [point.get(axis, "") for axis in axes]
                    start = [kind, relief.name, "" if relief.now is None else relief.now, step, reached.to]
                    writer.writerow([*start, reached.gain_permille, *values, wording.CLAIM])
    return text.getvalue()


def _bounds(answer: RelaxAnswer) -> Section:
    rows = [
        (
            relief.name,
            "-" if relief.now is None else grouped(relief.now),
            *(_gain(relief.steps[step]) for step in ("one_unit", "ten_percent", "without")),
            _value(relief.steps["smallest"]),
        )
        for relief in answer.bounds
        if any(relief.steps.values())
    ]
    heads = ("bound", "now", "+1 unit", "+10 %", "without", "smallest step")
    title = "A bound loosened alone: how much more traffic, in ‰ of the declared"
    shown: list[Paragraph | Table] = [table(heads, rows, right=range(1, 6))]
    shown.append(Paragraph(_smallest(answer), "note"))
    if any(reached is not None and reached.gain_permille < 0 for r in answer.bounds for reached in r.steps.values()):
        shown.append(Paragraph(_LESS, "note"))
    shown += [Paragraph(f"{relief.name} {safe(relief.note)}.", "note") for relief in answer.bounds if relief.note]
    return Section(title, tuple(shown))


def _smallest(answer: RelaxAnswer) -> str:
    """What the last column is."""
    if answer.next_scale_permille is None:
        if not answer.counted:
            return f"A smallest step is looked for up to {grouped(COUNTED_CONFIGURATIONS)} configurations: narrow --at."
        return "The traffic is fixed and carried already: no step is left."
    target = grouped(answer.next_scale_permille)
    helps = [relief.name for relief in answer.bounds if relief.steps["smallest"] is not None]
    if not helps:
        return f"No bound loosened alone, as far as its record allows, lets the traffic reach {target}."
    return f"Smallest step: the least value with which the traffic reaches {target} (by how much more)."


def _moves(relief: Relief) -> bool:
    return relief.steps["up"] is not None or relief.steps["down"] is not None


def _axes(axes: Sequence[Relief]) -> Section:
    rows = [
        (
            short_name(relief.name),
            _place(relief.steps["down"]),
            _gain(relief.steps["down"]),
            "-" if relief.now is None else grouped(relief.now),
            _place(relief.steps["up"]),
            _gain(relief.steps["up"]),
        )
        for relief in axes
        if _moves(relief)
    ]
    heads = ("axis", "a step down", "gain", "now", "a step up", "gain")
    title = "An axis fixed a step further, the others free: how much more traffic, in ‰"
    return Section(title, (table(heads, rows, right=range(1, 6)),))


def _gain(reached: Reached | None) -> str:
    return "-" if reached is None else signed(reached.gain_permille)


def _place(reached: Reached | None) -> str:
    return "-" if reached is None else grouped(reached.to)


def _value(reached: Reached | None) -> str:
    if reached is None:
        return "-"
    return grouped(reached.to) if reached.change is None else f"{grouped(reached.to)} ({signed(reached.change)})"


def decided_by(causes: Mapping[str, Mapping[str, int]] | None) -> list[Paragraph]:
    """What decided the configurations of `best`, the commonest causes first; nothing where it was not counted."""
    if causes is None:
        return []
    parts = [
        text
        for kind, start in (
            ("invalid", "invalid by"),
            ("blocked", "out at any traffic by"),
            ("limited", "with their capacity set by"),
        )
        for text in _counts(causes[kind], start)
    ]
    return [Paragraph(f"Of the configurations {'; '.join(parts)}.", "note")]


def _counts(counts: Mapping[str, int], start: str) -> Iterator[str]:
    found = sorted(((count, code) for code, count in counts.items() if count), key=lambda pair: (-pair[0], pair[1]))
    if found:
        yield f"{start} {listed([f'{code} {grouped(count)}' for count, code in found], _CAUSES_SHOWN)}"


def replay_page(path: str, answer: Replay) -> list[Section]:
    """The page of `verify --best`."""
    judged = f"{grouped(answer.judged)} of {counted(answer.configurations, 'configuration')}"
    if answer.judged == answer.configurations:
        judged = f"all {judged}"
    cells = f"the scalar reference judged {counted(answer.checked, 'cell')}"
    if not answer.differences:
        text = f"{safe(path)}: the largest point holds; {cells} and agrees; {judged} judged, none beats the point."
        return [Section("", (Paragraph(text, "good"),)), CLAIM]
    head = Section("", (Paragraph(f"{safe(path)}: {cells} and differs ({judged} judged).", "bad"),))
    shown = [
        Section(
            "",
            (
                Paragraph(coordinates(found["point"])),
                Paragraph(f"{safe(found['variable'])}: claimed {found['stored']}; the reference: {found['reference']}"),
            ),
        )
        for found in answer.differences
    ]
    return [head, *shown, CLAIM]


def replay_sentences(path: str, answer: Replay) -> list[str]:
    """The first difference as a sentence, and how many more there are."""
    first = answer.differences[0]
    sentence = (
        f"{path}: {first['variable']}: claimed {first['stored']}, the reference says {first['reference']}, at "
        f"{coordinates(first['point'])}; make the file anew with `sweep run`"
    )
    more = len(answer.differences) - 1
    return [sentence] if not more else [sentence, f"{path}: {counted(more, 'more difference')}, see the answer"]
