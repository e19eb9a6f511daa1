"""How long ago a restore last proved a backup of each target of a plan."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from toolkit.errors import ToolkitError
from toolkit.model.operations import VerifiedBy, operations
from toolkit.model.plan import PlanRunRecord
from toolkit.store import Store
from toolkit.units import seconds

_PROVED = "proved"
"""The metric of a restore: whether checksums confirmed every file of the backup."""


def proved_sentences(store: Store, run: PlanRunRecord, now: datetime) -> Iterator[str]:
    """Yield a sentence for each target of a plan run that a restore was tried of, in this plan or by hand."""
    names = [one.name for one in operations().values() if one.verified_by is VerifiedBy.RESTORE]
    for target, child in {step.target: step.run for step in run.steps if step.run is not None}.items():
        try:
            head = store.load_head(child)
        except ToolkitError:  # deleted meanwhile
            continue
        tried = [
            trial
            for name in names
            for one in store.earlier_runs(head.engine, head.target_name, name, (_PROVED,))
            for trial in one.trials
        ]
        proved = [one.ended_at for one in tried if any(m.name == _PROVED and m.value for m in one.metrics)]
        if proved:
            last = max(proved)
            age = seconds(max(0.0, (now - last).total_seconds()))
            yield f"a restore last proved a backup of `{target}` on {last:%Y-%m-%d %H:%M} UTC, {age} ago"
        elif tried:
            yield f"no restore has proved a backup of `{target}` yet: none had checksums"
