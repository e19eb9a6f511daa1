"""Puts the account of a night together from what the store keeps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from toolkit.analysis.run_report import RunReport, StepStory, Trend, run_report_of, trend_of
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance.documents import outlook_of
from toolkit.app.maintenance.plan_targets import places_of
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.bill import bill_among
from toolkit.model.plan import PlanRunRecord
from toolkit.model.words import EntryState
from toolkit.store import Store

_LAST = "last"


def find_night(store: Store, ref: str, plan: str | None = None) -> PlanRunRecord:
    """Return the night of an id, its beginning, or `last`.

    Raises:
        ToolkitError: TK-0109 when there is none, or several.
    """
    nights = store.plan_runs(plan, limit=1000, with_steps=False)
    found = nights[:1] if ref == _LAST else [night for night in nights if night.plan_run.startswith(ref)]
    if len(found) == 1:
        return store.load_plan_run(found[0].plan_run)
    if not nights:
        which = f"plan `{plan}` has" if plan else "there is"
        raise ToolkitError(
            f"{which} no night in this store", code="TK-0109", hint="`dbatk run PLAN.toml` makes one"
        )
    shown = ", ".join(f"`{night.plan_run}`" for night in (found or nights)[:5])
    what = "several nights begin with" if found else "no night is called"
    raise ToolkitError(f"{what} `{ref}`", code="TK-0109", hint=f"there are {shown}, and `last`")


def report_of(store: Store, night: PlanRunRecord) -> RunReport:
    """Return the account of a night, with what the next one would do."""
    names, targets = {step.step for step in night.steps}, {step.target for step in night.steps}
    histories = store.step_histories(night.plan, sorted(names), sorted(targets))
    stories = {step.run: _story(store, step.run) for step in night.steps if step.run is not None}
    return run_report_of(night, histories, stories, _following(store, night))


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
        if entry.state is EntryState.MADE or (entry.state is EntryState.ABANDONED and entry.identity)
    )
    bill = bill_among(record.artifacts)
    return StepStory(tuple(changed), tuple(bill.sentences()) if bill else (), record.warnings)


def _following(store: Store, night: PlanRunRecord) -> tuple[str, ...]:
    """Say what the next night would do; a plan that cannot be read any more says only that."""
    try:
        plan = read_plan(parse_document(night.text, f"plan {night.plan}"), Path())
        places = places_of(plan, store, Approvals())
        outlook = outlook_of(plan, places, store, datetime.now(UTC))
    except ToolkitError as error:
        return (f"what comes next cannot be told: {error.sentence}",)
    return (*outlook.sentences, *(f"`{row.step}` on `{row.target}`: {row.verdict}" for row in outlook.rows))


def trends(store: Store, step: str, plan: str | None = None) -> Sequence[Trend]:
    """Return the trend of a step on each of its targets.

    Raises:
        ToolkitError: TK-0109 when no night knows such a step.
    """
    places = store.targets_of(step, plan)
    if not places:
        known = ", ".join(store.step_names(plan)) or "no nights"
        raise ToolkitError(f"no night has a step `{step}`", code="TK-0109", hint=f"there are {known}")
    return [trend_of(step, target, store.step_history(name, step, target, limit=1000)) for name, target in places]
