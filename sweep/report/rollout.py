"""A rollout as a page."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sweep.operate.rollout import ADVANCE, COMPLETED, RUNNING, Observation, Rollout
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.diagnose import short
from sweep.report.words import safe
from sweep.units import decimal_text, grouped

_HEADS = ("stage", "traffic", "requests", "failed", "error rate", "p99 ms", "decision")


def rollout_page(rollout: Rollout, stage: int | None = None) -> list[Section]:
    """The page of `rollout`.

    Args:
        rollout: so far.
        stage: whose decision the title tells; default: where the rollout is.
    """
    plan, status = rollout.plan, rollout.status
    where = f"stage {rollout.stage} of {len(plan.stages)}"
    title = f"Rollout: {status.replace('_', ' ')}" + (f", {where}" if status != COMPLETED else "")
    blocks: list[Paragraph | Table] = []
    if stage is not None:
        decision = rollout.decisions[stage - 1]
        title = f"Rollout, stage {stage} of {len(plan.stages)}: {decision.action.replace('_', ' ')}"
        tone = "good" if decision.action == ADVANCE else "bad"
        blocks += [Paragraph(safe(f"- {reason}."), tone) for reason in decision.reasons]  # type: ignore[arg-type]
        state = "completed" if status == COMPLETED else f"{status.replace('_', ' ')}, at {where}"
        blocks.append(Paragraph(f"The rollout is {state}."))
    blocks.append(_stages(rollout))
    rules = (
        f"A stage needs {grouped(plan.min_samples)} requests. It halts over an error rate of "
        f"{decimal_text(plan.error_guardrail)} or a p99 of {decimal_text(plan.latency_guardrail_ms)} ms, and rolls "
        f"back over a p99 of {decimal_text(plan.old_p99_ms)} · (1 + {decimal_text(plan.regression_tolerance)}) ms."
    )
    found = [Section(title, tuple(blocks)), Section("", (Paragraph(rules, "note"), *_manifests(rollout)))]
    return [*found, CLAIM]


def _stages(rollout: Rollout) -> Table:
    rows: list[Sequence[str]] = []
    alerts = []
    for at, share in enumerate(rollout.plan.stages):
        part = f"{decimal_text(share * 100)} %"
        if at >= len(rollout.observations):
            now = "now" if rollout.status == RUNNING and at + 1 == rollout.stage else ""
            rows.append((grouped(at + 1), part, "", "", "", "", now))
            continue
        action = rollout.decisions[at].action
        rows.append((grouped(at + 1), part, *_numbers(rollout.observations[at]), action.replace("_", " ")))
        alerts += [at] if action != ADVANCE else []
    return table(_HEADS, rows, right=range(6), alerts=alerts)


def _numbers(seen: Observation) -> tuple[str, str, str, str]:
    rate: Fraction = seen.error_rate
    return grouped(seen.requests), grouped(seen.errors), short(rate), decimal_text(seen.p99_latency_ms)


def _manifests(rollout: Rollout) -> list[Table]:
    given = [("new", rollout.plan.manifest), ("old", rollout.plan.old_manifest)]
    rows = [(name, digest) for name, digest in given if digest is not None]
    return [table(("manifest", "SHA-256"), rows)] if rows else []
