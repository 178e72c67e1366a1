"""Traffic as `[[class]]` tables: of a trace, or of a rate and two lengths that somebody states."""

from __future__ import annotations

from pathlib import Path

from sweep.draft.parts import Requests, Traffic
from sweep.draft.text import comment, entry
from sweep.traffic.classes import traffic_classes
from sweep.traffic.facts import TraceFacts
from sweep.traffic.tables import class_tables, level_words
from sweep.units import grouped, printable


def traced(facts: TraceFacts, classes: int, level: str) -> Traffic:
    """The classes of a trace, the tables of `sweep traffic --toml`.

    Args:
        facts: what `trace_facts` found.
        classes: how many, 1 to 64.
        level: whose rate arrives.

    Raises:
        UsageFault: see `traffic_classes`.
    """
    found = traffic_classes(facts, classes, level)
    count = f"{grouped(len(found))} {'class' if len(found) == 1 else 'classes'}"
    return Traffic(
        class_tables(facts, found, level).rstrip("\n").split("\n"),
        f"{printable(Path(facts.trace).name, 60)}: {level_words(facts, level)}; {count}",
        classes=tuple(Requests(one.arrival_millirps, one.prompt_tokens, one.output_tokens) for one in found),
        longest_prompt_tokens=facts.prompt.max_tokens,
        longest_output_tokens=facts.output.max_tokens,
    )


def stated(rate: str, millirps: int, prompt_tokens: int, output_tokens: int) -> Traffic:
    """One class of a stated rate and stated lengths.

    Args:
        rate: requests per second, as it was written.
        millirps: the same in 1/1000 requests per second.
        prompt_tokens, output_tokens: of every request.
    """
    lines = [
        *comment("Traffic as stated: every request alike. TTFT is judged at its prompt; `sweep traffic` makes classes"),
        *comment("of a trace, which have longer and shorter ones."),
        "[[class]]",
        'class_id = "traffic"',
        "priority = 1",
        *entry("arrival_millirps", f"{millirps:_}", f"--rate {rate}: requests per 1000 seconds"),
        *entry("prompt_tokens", f"{prompt_tokens:_}", f"--prompt {prompt_tokens}"),
        *entry("output_tokens", f"{output_tokens:_}", f"--output {output_tokens}"),
        *entry("peak_concurrency", '"from-slo"', "Little's law at the SLO's own limits"),
    ]
    says = f"as stated: {rate} requests/s of {grouped(prompt_tokens)} prompt and {grouped(output_tokens)} output tokens"
    return Traffic(lines, says, classes=(Requests(millirps, prompt_tokens, output_tokens),))
