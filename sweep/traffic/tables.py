"""Request classes as the `[[class]]` tables of a grid file, with comments that say where every figure came from."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from sweep.records.wording import CLAIM_IN_SHORT
from sweep.traffic.classes import TrafficClass
from sweep.traffic.facts import MEAN, SECOND_NS, TraceFacts
from sweep.traffic.formats import FORMATS
from sweep.units import grouped, printable


def class_tables(facts: TraceFacts, classes: Sequence[TrafficClass], level: str) -> str:
    """TOML that a grid file takes as it is: one `[[class]]` table each, peak concurrency from the SLO.

    Args:
        facts: the trace.
        classes: what `traffic_classes` made of it.
        level: whose rate it took.
    """
    lines = [f"# {line}" for line in _origin(facts, classes, level)]
    for class_ in classes:
        lines += ["", *_table(facts, class_, level)]
    return "".join(f"{line}\n" for line in lines)


def _origin(facts: TraceFacts, classes: Sequence[TrafficClass], level: str) -> Iterator[str]:
    yield f"Traffic of {printable(Path(facts.trace).name, 60)}"  # no folder: a grid's text goes into its results
    yield f"({FORMATS[facts.format].title}), by sweep traffic."
    yield f"{grouped(facts.requests)} requests in {seconds_text(facts.span_ns)} s."
    if facts.failed_requests:
        yield f"Left out: {grouped(facts.failed_requests)} failed rows (0 output tokens)."
    yield f"Arrivals: {level_words(facts, level)},"
    yield "spread over the classes as the requests of the whole trace are."
    yield "Lengths: the mean of each class. All figures are rounded up, so no"
    yield "token and no arrival is lost. TTFT is judged at a class' mean prompt;"
    yield f"the longest prompt has {grouped(facts.prompt.max_tokens)} tokens."
    yield "Not in a trace, so set them: priority, burst_permille, peak_concurrency."
    yield from (f"Note: {note}." for note in notes(facts, classes, level))
    yield f"For a {CLAIM_IN_SHORT}."


def _table(facts: TraceFacts, class_: TrafficClass, level: str) -> Iterator[str]:
    requests = grouped(class_.requests)
    prompts, outputs = grouped(class_.total_prompt_tokens), grouped(class_.total_output_tokens)
    spans = f"{span_text(class_.prompt_span)} prompt, {span_text(class_.output_span)} output tokens"
    rate = f"{_rate_text(facts, level)} · {requests} of {grouped(facts.requests)}"
    yield "[[class]]"
    yield f"# {requests} {'request' if class_.requests == 1 else 'requests'}: {spans}"
    yield f'class_id = "{class_.class_id}"'
    yield "priority = 1"
    yield f"arrival_millirps = {class_.arrival_millirps}  # {rate}"
    yield f"prompt_tokens = {class_.prompt_tokens}  # {prompts} / {requests}"
    yield f"output_tokens = {class_.output_tokens}  # {outputs} / {requests}"
    yield 'peak_concurrency = "from-slo"'


def _rate_text(facts: TraceFacts, level: str) -> str:
    if level == MEAN:
        return f"{grouped(facts.requests)} in {seconds_text(facts.span_ns)} s"
    return f"{grouped(facts.busiest[level].requests)} in {facts.busiest[level].seconds} s"


def notes(facts: TraceFacts, classes: Sequence[TrafficClass], level: str) -> list[str]:
    """What was lifted to a bound, no further classes, a level below the mean: sentences without a full stop."""
    found = []
    lifted = [class_.class_id for class_ in classes if class_.arrival_rps * 1_000 < 1]
    if lifted:
        found.append(f"less than 1 millirps, rounded up to 1: {', '.join(lifted)}")
    empty = [class_.class_id for class_ in classes if not class_.total_prompt_tokens]
    if empty:
        found.append(f"prompts of 0 tokens, taken as 1: {', '.join(empty)}")
    if len(classes) == len(facts.cells):
        found.append("each class is one joint bucket of lengths, and the trace has no more")
    mean = facts.mean_millirps
    if level != MEAN and mean is not None and facts.rate(level) < facts.rate(MEAN):
        found.append(f"the busiest {level_name(level)} has a lower rate than the mean; the trace is short")
    return found


def level_words(facts: TraceFacts, level: str) -> str:
    """The rate of a level with where it came from."""
    if level == MEAN:
        return f"the mean, {_rate_text(facts, level)}"
    return f"the busiest {level_name(level)}, {_rate_text(facts, level)}"


def level_name(level: str) -> str:
    """A level as people say it."""
    return {"ten-seconds": "ten seconds"}.get(level, level)


def span_text(span: tuple[int, int]) -> str:
    """Both ends of a span of lengths."""
    return grouped(span[0]) if span[0] == span[1] else f"{grouped(span[0])} to {grouped(span[1])}"


def seconds_text(span_ns: int) -> str:
    """Nanoseconds as seconds, exactly."""
    whole, rest = divmod(span_ns, SECOND_NS)
    return f"{grouped(whole)}.{rest:09}".rstrip("0").rstrip(".")
