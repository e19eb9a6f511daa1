"""What the evidence of a trial tells besides the degree, and the plan of each cell."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping

from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.work import Work
from toolkit.model.experiment import PlannedTrial
from toolkit.model.records import Artifact
from toolkit.model.steps import Stages
from toolkit.model.values import Row
from toolkit.model.words import StepKind
from toolkit.runner.context import RunContext
from toolkit.snapshots import CounterProvider, Provider


def ask_for_plan(context: RunContext, planned: PlannedTrial, stages: Stages) -> None:
    """Ask once for each cell how its one statement was run; a warm-up has no numbers beside it."""
    first = stages.timed.items[0].steps[0]
    if planned.warmup or planned.cell in context.plans_kept or len(stages.timed.items) > 1:
        return
    statement = context.dialect.statement_id(first.text) if first.kind is StepKind.SQL else None
    asked = next((one for one in context.providers if isinstance(one, CounterProvider) and one.explains), None)
    if statement is not None and asked is not None:
        asked.explain(statement)


def plan_of(provider: Provider) -> Mapping[str, tuple[Row, ...]]:
    """Return the plan that a provider read, as rows that are kept."""
    lines = provider.plan if isinstance(provider, CounterProvider) else ()
    return {"plan": tuple({"line": line} for line in lines)} if lines else {}


def keep_plan(context: RunContext, planned: PlannedTrial, kept: Mapping[str, tuple[Row, ...]]) -> None:
    """Keep the plan as it was printed, with the first trial of its cell that has a time."""
    # Another engine's plan is evidence of its dialect alone, in columns of its own.
    lines = [str(row["line"]) for row in kept.get("plan", ()) if "line" in row]
    if lines and context.dialect.watching(context.facts).plan:
        name = f"plan-{planned.cell}.txt"
        text = "\n".join(lines) + "\n"
        context.store.keep_artifact(context.run, Artifact(name, "text/plain", text.encode(), planned.number))
        context.plans_kept.add(planned.cell)


def tell(
    context: RunContext,
    planned: PlannedTrial,
    work: Work,
    kept: MutableMapping[str, tuple[Row, ...]],
    peaks: MutableMapping[str, float],
    seconds: float,
) -> TrialFindings:
    """Say the doubts, put size and CPU seconds where the record is made from, and return all that was told."""
    told = context.dialect.work.tell(work, kept, peaks, seconds)
    for sentence in told.sentences:
        context.warn(f"{planned.cell}: {sentence}")
    if told.bytes is not None:
        kept.setdefault("bytes", ({"byte_count": told.bytes},))
    if told.cpu_seconds is not None:
        peaks.setdefault("cpu_seconds", told.cpu_seconds)
    return told
