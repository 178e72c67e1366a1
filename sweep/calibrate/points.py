"""What a load test's summary says of the engine's steps: which batch and prefill its mean step had, and what it took.

A decoding sequence gets one token per step, so its mean time between tokens (ITL) is the time of the steps that *it*
saw: itself in each of them, beside it the others that decode, and the prompts of others that are read meanwhile.

* Sequences that decode at one time, on average over the run: Little's law, requests/s · time that one decodes.
* Which of them a given one sees beside itself: with m requests kept in flight, (m − 1)/m of that mean (the arrival
  theorem of closed systems); with arrivals that wait for nothing, all of it (Poisson arrivals see time averages).
* Prompt tokens beside it in a step: prompt tokens/s · ITL, of others in the same proportion.

So one request at a time has a batch of exactly 1 and no prefill beside it; its time to first token is that of a prefill
without decoding, in as many steps as the engine's token budget cuts the prompt into.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sweep.calibrate.measured import Kind, Run, StepPoint, rounded
from sweep.units import grouped


@dataclass(frozen=True)
class RunSteps:
    """The points of a run, and what is doubtful about them, as clauses."""

    points: tuple[StepPoint, ...] = ()
    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def decoding(run: Run) -> Fraction:
    """Sequences of a run that decode at one time, its mean; the run has an ITL."""
    assert run.itl_ns is not None
    if run.decode_ns_per_request is not None:
        return run.requests_per_s * run.decode_ns_per_request / 10**9
    gaps_per_s = max(run.output_tokens_per_s - run.requests_per_s, Fraction(0))  # the first token ends the prefill
    return gaps_per_s * run.itl_ns / 10**9


def in_flight(run: Run) -> Fraction | None:
    """Requests of a run that the engine has at one time, its mean; None where TTFT or ITL were not measured."""
    if run.ttft_ns is None or run.itl_ns is None:
        return None
    return run.requests_per_s * run.ttft_ns / 10**9 + decoding(run)


def steps_of(run: Run, chunk_tokens: int | None) -> RunSteps:
    """The mean steps of a run.

    Args:
        run: the run.
        chunk_tokens: how many tokens the engine put in a step at most; None where not known.
    """
    if run.itl_ns is None:
        return RunSteps()
    flags, notes = _doubts(run), list[str]()
    limit = run.max_concurrency
    if limit is None and run.all_at_once and run.completed is not None:
        limit = run.completed + (run.failed or 0)
    share = Fraction(1) if limit is None else Fraction(limit - 1, limit)
    batch = 1 + share * decoding(run)
    if limit is not None:
        batch = min(batch, Fraction(limit))
    chunk = share * run.prompt_tokens_per_s * run.itl_ns / 10**9
    kind: Kind = "stream" if limit == 1 else "run"
    points = [StepPoint(run.where, kind, batch, chunk, run.itl_ns)]
    if limit == 1 and run.ttft_ns is not None:
        point, note = _prefill(run, run.ttft_ns, chunk_tokens)
        points += point
        notes += note
    return RunSteps(tuple(point for point in points if point.step), tuple(flags), tuple(notes))


def _prefill(run: Run, ttft_ns: Fraction, chunk_tokens: int | None) -> tuple[list[StepPoint], list[str]]:
    """The prefill step of a run with one request at a time; a client's TTFT has its network and tokenizer in it too."""
    prompt = run.prompt_tokens_per_s / run.requests_per_s
    if prompt == 0:
        return [], []
    if chunk_tokens is None:
        steps = Fraction(1)
        note = (
            f"{run.where}: its prompts of {grouped(rounded(prompt))} tokens are taken to be read in one step each; if "
            f"the engine's token budget is smaller, state it with --chunk-tokens"
        )
        return [_prefill_point(run, prompt, steps, ttft_ns)], [note]
    if run.lengths is not None:
        steps = Fraction(sum(-(-one // chunk_tokens) for one, _ in run.lengths), len(run.lengths))
    else:
        steps = Fraction(-(-prompt // chunk_tokens))
    return [_prefill_point(run, prompt, max(steps, Fraction(1)), ttft_ns)], []


def _prefill_point(run: Run, prompt: Fraction, steps: Fraction, ttft_ns: Fraction) -> StepPoint:
    return StepPoint(run.where, "prefill", Fraction(0), prompt / steps, ttft_ns / steps)


def _doubts(run: Run) -> list[str]:
    """What makes the mean step of a run doubtful."""
    assert run.itl_ns is not None
    flags: list[str] = []
    limit, flight = run.max_concurrency, in_flight(run)
    most = decoding(run) if flight is None else flight
    if limit is not None and most > limit * Fraction(102, 100):  # a mean is printed with its last digit rounded
        flags.append(
            f"{run.where}: by its rates and latencies {_tenths(most)} requests are in flight, but its max_concurrency "
            f"is {grouped(limit)}; the figures contradict each other, the batch is taken as {grouped(limit)} at most"
        )
    elif limit is not None and run.all_at_once and flight is not None and 2 * flight < limit:
        flags.append(
            f"{run.where}: on average only {_tenths(flight)} of {grouped(limit)} requests were in flight, so the run "
            f"was short or its client slow; its batch is that average"
        )
    elif limit is None and run.all_at_once:
        flags.append(
            f"{run.where}: all requests came at once, so the batch fell during the run; its mean is taken, a run with "
            f"max_concurrency says more"
        )
    gaps = max(run.output_tokens_per_s - run.requests_per_s, Fraction(0)) * run.itl_ns / 10**9
    if run.decode_ns_per_request is not None and gaps > decoding(run) * Fraction(105, 100):
        flags.append(
            f"{run.where}: {_tenths(gaps / decoding(run))} tokens come per gap (speculative decoding, or a stream that "
            f"bundles tokens); its time between tokens is that of the gaps"
        )
    return flags


def _tenths(number: Fraction) -> str:
    tenths = rounded(number * 10)
    return f"{grouped(tenths // 10)}.{tenths % 10}"
