"""Why nothing is feasible, and what would help."""

from __future__ import annotations

from sweep.query.advice import invalid_numbers
from sweep.query.best import BestAnswer
from sweep.query.obstacles import Obstacles
from sweep.records.wording import INVALID_MEANINGS
from sweep.report.blocks import Paragraph, Section, Table, table
from sweep.report.point import change_text, rates, traffic_in_words
from sweep.report.words import coordinates, counted, permille_as_factor, sentence
from sweep.units import grouped


def nothing_sentence(answer: BestAnswer) -> str:
    """That nothing is feasible, in one sentence; where only the traffic axis' own values are not, that."""
    why = answer.obstacles
    if answer.selection.scale_permille is None and why is not None and why.carried is not None:
        configurations = counted(answer.configurations, "configuration")
        return (
            f"none of the traffic axis' own values is feasible in any of {configurations} "
            f"({counted(answer.cells, 'cell')}); the exact largest scale is {traffic_in_words(why.carried)}"
        )
    return (
        f"nothing is feasible: none of {counted(answer.configurations, 'configuration')} "
        f"({counted(answer.cells, 'cell')}) is within all bounds"
    )


def nothing(answer: BestAnswer) -> list[Section]:
    """The sections of an answer without an operating point."""
    why = answer.obstacles
    head = Paragraph(sentence(nothing_sentence(answer)), "bad")
    if why is None:
        return [Section("", (head,))]
    first = Section("", (head, *_other_traffic(answer, why)))
    if why.all_invalid:
        return [first, Section("", tuple(_all_invalid(why)))]
    return [first, _blocking(why), *_changes(answer)]


def _other_traffic(answer: BestAnswer, why: Obstacles) -> list[Paragraph]:
    """What is carried at another traffic than was asked for."""
    scale = answer.selection.scale_permille
    if scale is None:
        if why.carried is None:
            return []
        text = f"Between or below the axis' own values the largest is at {coordinates(why.carried.point)}."
        return [Paragraph(text, "good"), rates(why.carried)]
    if why.carried is None:
        return [Paragraph("No lower traffic is feasible either.")]
    most = traffic_in_words(why.carried)
    return [
        Paragraph(f"Without the fixed traffic the most is {most}, at {coordinates(why.carried.point)}.", "good"),
        rates(why.carried),
    ]


def _all_invalid(why: Obstacles) -> list[Paragraph]:
    found = list(why.invalid_reasons.items())
    reason, count = found[0]
    meaning = why.inequality or INVALID_MEANINGS[reason]
    lines = [Paragraph(f"Every configuration is invalid, {grouped(count)} by {reason}: {meaning}.")]
    if why.nearest_invalid is not None:
        numbers = invalid_numbers(why.nearest_invalid)
        lines.append(Paragraph(f"The nearest to valid: {numbers}, at {coordinates(why.nearest_invalid.point)}."))
    rest = ", ".join(f"{grouped(count)} by {code}" for code, count in found[1:])
    return [*lines, Paragraph(f"The others: {rest}.", "note")] if rest else lines


def _blocking(why: Obstacles) -> Section:
    """Per violation how many configurations it hits and blocks, and what its bound would have to be at the least."""
    rows = [
        (
            obstacle.violation,
            grouped(obstacle.hit),
            grouped(obstacle.alone),
            "-" if obstacle.least is None else grouped(obstacle.least),
            "-" if obstacle.loosest is None else grouped(obstacle.loosest),
        )
        for obstacle in why.violations
    ]
    invalid = sum(why.invalid_reasons.values())
    rest = f", {grouped(invalid)} more are invalid" if invalid else ""
    valid = counted(why.configurations - invalid, "valid configuration")
    title = f"What blocks {valid} at {permille_as_factor(why.scale_permille)} times the declared traffic{rest}"
    heads = ("violation", "hit", "alone", "least figure", "largest bound")
    return Section(title, (table(heads, rows, right=range(1, 5)),))


def _changes(answer: BestAnswer) -> list[Section]:
    if not answer.smallest_changes:
        text = (
            "No single bound, raised as far as its record allows, admits a point. No configuration needs less than the "
            "least figure of each bound; what several bounds need together may be more."
        )
        return [Section("", (Paragraph(text),))]
    first = answer.smallest_changes[0]
    rows = [change_text(change.bound, change.from_value, change.to_value) for change in answer.smallest_changes]
    blocks: tuple[Paragraph | Table, ...] = (
        Paragraph(
            f"{first.bound}: {grouped(first.from_value)} to {grouped(first.to_value)}, which admits "
            f"{coordinates(first.cell.point)}",
            "good",
        ),
        table(("bound", "now", "needed", "change"), rows, right=(1, 2, 3)),
    )
    return [Section("The smallest change of a single bound that admits a point", blocks)]
