"""How long ago a restore last proved a backup of each target of a plan."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from toolkit.errors import ToolkitError
from toolkit.model.operations import VerifiedBy, operations
from toolkit.model.plan import PlanNote, PlanRunRecord
from toolkit.model.records import RunHead
from toolkit.model.words import EngineName
from toolkit.store import Store
from toolkit.units import seconds

_PROVED = "proved"
"""The metric of a restore: whether checksums confirmed every file of the backup."""


def proved_sentences(store: Store, run: PlanRunRecord, now: datetime) -> Iterator[str]:
    """Yield a sentence for each target of a plan run that a restore was tried of, in this plan or by hand."""
    for target, child in {step.target: step.run for step in run.steps if step.run is not None}.items():
        head = _head(store, child)
        if head is None:
            continue
        tried, last = _last_proof(store, head.engine, head.target_name)
        if last is not None:
            age = seconds(max(0.0, (now - last).total_seconds()))
            yield f"a restore last proved a backup of `{target}` on {last:%Y-%m-%d %H:%M} UTC, {age} ago"
        elif tried:
            yield f"no restore has proved a backup of `{target}` yet: none had checksums"


def overdue(store: Store, run: PlanRunRecord, limit: float, now: datetime) -> Iterator[PlanNote]:
    """Yield a note for each target of which no restore has proved a backup within so many seconds."""
    steps, targets = {step.step for step in run.steps}, {step.target for step in run.steps}
    histories = store.step_histories(run.plan, sorted(steps), sorted(targets))
    for target in sorted(targets):
        # A run knows which database it was, whatever the target is called.
        runs = [one.run for (name, _), history in histories.items() if name == target for one in history]
        heads = {(head.engine, head.target_name) for head in filter(None, (_head(store, run) for run in runs))}
        last = max(filter(None, (_last_proof(store, *one)[1] for one in heads)), default=None)
        if last is None or (now - last).total_seconds() > limit:
            since = "ever" if last is None else f"since {last:%Y-%m-%d %H:%M} UTC"
            text = f"no restore has proved a backup {since}: longer than `proved_within` allows"
            yield PlanNote(target, text, now)


def _head(store: Store, run: str | None) -> RunHead | None:
    """Return the head of a run; None of one that was deleted meanwhile."""
    try:
        return None if run is None else store.load_head(run)
    except ToolkitError:
        return None


def _last_proof(store: Store, engine: EngineName, target: str) -> tuple[bool, datetime | None]:
    """Return whether a restore was tried of a target, and when one last proved a backup."""
    names = [one.name for one in operations().values() if one.verified_by is VerifiedBy.RESTORE]
    tried = [
        trial
        for name in names
        for one in store.earlier_runs(engine, target, name, (_PROVED,))
        for trial in one.trials
    ]
    proved = [one.ended_at for one in tried if any(m.name == _PROVED and m.value for m in one.metrics)]
    return bool(tried), max(proved, default=None)
