"""Puts the report of a plan run together from what the store keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from toolkit.analysis.run_report import RunReport, StepStory, Trend, run_report_of, trend_of
from toolkit.app.maintenance.proved import proved_sentences
from toolkit.errors import ToolkitError
from toolkit.model.bill import bill_among
from toolkit.model.plan import PlanRunRecord, StepRecord
from toolkit.model.words import Effect, EntryState
from toolkit.store import Store

_LAST = "last"
_FORMAT = 1


def find_plan_run(store: Store, ref: str, plan: str | None = None) -> PlanRunRecord:
    """Return the plan run of an id or its beginning, the newest one of a plan by the plan's name, or `last`.

    Raises:
        ToolkitError: TK-0109 when there is none, or several.
    """
    runs = store.plan_runs(plan, limit=1000, with_steps=False)
    of_plan = [run for run in runs if ref in (_LAST, run.plan)]
    found = of_plan[:1] or [run for run in runs if run.plan_run.startswith(ref)]
    if len(found) == 1:
        return store.load_plan_run(found[0].plan_run)
    if not runs:
        which = f"plan `{plan}` has" if plan else "there is"
        raise ToolkitError(
            f"{which} no plan run in this store", code="TK-0109", hint="`dbatk run PLAN.toml` makes one"
        )
    shown = ", ".join(f"`{run.plan_run}`" for run in (found or runs)[:5])
    what = "several runs begin with" if found else "no plan run is called"
    raise ToolkitError(
        f"{what} `{ref}`", code="TK-0109", hint=f"there are {shown}; `last` and a plan's name mean the newest"
    )


def report_of(store: Store, run: PlanRunRecord) -> RunReport:
    """Return the report of a plan run, with what the next one would do."""
    names, targets = {step.step for step in run.steps}, {step.target for step in run.steps}
    histories = store.step_histories(run.plan, sorted(names), sorted(targets))
    stories = {step.run: _story(store, step.run) for step in run.steps if step.run is not None}
    report = run_report_of(run, histories, stories, _following(store, run))
    return replace(report, sentences=(*report.sentences, *proved_sentences(store, run, datetime.now(UTC))))


def _story(store: Store, run: str) -> StepStory:
    """Return what a run left; a run that was deleted meanwhile left nothing to tell."""
    try:
        record = store.load_run(run, samples=False)
    except ToolkitError:
        return StepStory()
    entries = store.journal(run).entries()
    changed = dict.fromkeys(
        f"{entry.effect} {entry.object_kind} `{f'{entry.schema}.' if entry.schema else ''}{entry.name}`"
        for entry in entries
        # what was made and stays is let go of: it is nobody's to undo any more
        if entry.effect != Effect.COMMITS
        and (entry.state is EntryState.MADE or (entry.state is EntryState.ABANDONED and entry.identity))
    )
    bill = bill_among(record.artifacts)
    return StepStory(tuple(changed), tuple(bill.sentences()) if bill else (), record.warnings)


def _following(store: Store, run: PlanRunRecord) -> tuple[str, ...]:
    """Say what the next run would do; a plan that cannot be read any more says only that."""
    from toolkit.design.plan_file import read_plan
    from toolkit.documents import parse_document

    try:
        plan = read_plan(parse_document(run.text, f"plan {run.plan}"), Path())
        from toolkit.app.approvals import Approvals
        from toolkit.app.maintenance.outlook import outlook_of
        from toolkit.app.maintenance.plan_targets import plan_targets_of

        targets = plan_targets_of(plan, store, Approvals())
        outlook = outlook_of(plan, targets, store, datetime.now(UTC))
    except ToolkitError as error:
        return (f"the next run is unknown: {error.sentence}",)
    return (*outlook.sentences, *(f"`{row.step}` on `{row.target}`: {row.verdict}" for row in outlook.rows))


def trends(store: Store, step: str, plan: str | None = None) -> Sequence[Trend]:
    """Return the trend of a step on each of its targets.

    Raises:
        ToolkitError: TK-0109 when no plan run knows such a step.
    """
    targets = store.targets_of(step, plan)
    if not targets:
        known = ", ".join(store.step_names(plan)) or "no runs"
        raise ToolkitError(f"no plan run has a step `{step}`", code="TK-0109", hint=f"there are {known}")
    return [
        trend_of(step, target, store.step_history(name, step, target, limit=1000), partial(_differing, store))
        for name, target in targets
    ]


_ALWAYS_DIFFERENT = frozenset({"host_load_1min"})


def _differing(store: Store, before: str, after: str) -> list[str] | None:
    """Name what the store has of two runs and differs: options, versions, parameters, plans; None without them."""
    from toolkit.analysis.compare import differences_of
    from toolkit.app.environments import differences_kept

    try:
        runs = [store.load_run(run, samples=False) for run in (before, after)]
        differences = differences_kept(store, (before, after), differences_of(*runs))
    except ToolkitError:
        return None
    found = [
        f"`{one.name}` ({'-' if one.a is None else one.a} to {'-' if one.b is None else one.b})"
        for one in differences
        if one.name not in _ALWAYS_DIFFERENT
    ]
    plans = [{one.name: one.content for one in run.artifacts if one.name.startswith("plan-")} for run in runs]
    return [
        *found,
        *(["the plan"] if any(plans[1].get(name, text) != text for name, text in plans[0].items()) else []),
    ]


def plan_run_document(record: PlanRunRecord) -> dict[str, object]:
    """Return what became of a plan as JSON; instants in UTC, times in seconds."""
    return {
        "format": _FORMAT,
        "plan_run": record.plan_run,
        "plan": record.plan,
        "plan_hash": record.plan_hash,
        "state": record.state.value,
        "host": record.host,
        "began_at": _instant(record.began_at),
        "ended_at": _instant(record.ended_at),
        "window": {"begin": _instant(record.window_begin), "end": _instant(record.window_end)},
        "stopped_by": record.stopped_by,
        "steps": [_step(step) for step in record.steps],
        "notes": [asdict(note) | {"noted_at": _instant(note.noted_at)} for note in record.notes],
    }


def _step(step: StepRecord) -> dict[str, object]:
    instants = {"began_at": _instant(step.began_at), "ended_at": _instant(step.ended_at)}
    return asdict(step) | instants | {"state": step.state.value, "elapsed_seconds": step.elapsed_seconds}


def _instant(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat(timespec="milliseconds")
