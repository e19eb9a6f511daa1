"""What a restore that was tried showed, in a few lines: how long, until when, and what was compared."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.model.records import TrialRecord
from toolkit.model.words import Outcome
from toolkit.units import byte_size, count, counted, seconds

_PHASES = ("copy", "start")
_MOST_ITEMS = 8


def restored(trial: TrialRecord) -> Iterator[str]:
    """Yield a sentence for each finding of a restore that ended well; nothing for other work."""
    told = {metric.name: metric for metric in trial.metrics}
    recovery = told.get("recovery_seconds")
    if recovery is None or trial.outcome not in (Outcome.OK, Outcome.DOWNGRADED):
        return
    phases = {name: told.get(f"{name}_seconds") for name in _PHASES}
    parts = [f"{name} {seconds(each.value)}" for name, each in phases.items() if each is not None]
    yield f"recovery time {seconds(recovery.value)} ({', '.join(parts)})"
    age, behind = told.get("recovery_point_age_seconds"), told.get("log_behind_bytes")
    if age is not None:
        log = f"; the target has written {byte_size(behind.value)} of log since" if behind is not None else ""
        yield f"recovery point {age.source}, {seconds(age.value)} before it was checked{log}"
    proved = told.get("proved")
    if proved is not None and proved.value:
        took = told.get("verify_seconds")
        time = f" in {seconds(took.value)}" if took is not None else ""
        yield f"every file verified by {proved.source}{time}"
    elif proved is not None:
        yield "not proved: the backup has no checksums of its files"
    items = [item for item in trial.items if item.label.startswith(("table ", "check "))]
    for item in items[:_MOST_ITEMS]:
        yield item.label + (f" ({counted(item.rows, 'row')})" if item.rows is not None else "")
    if len(items) > _MOST_ITEMS:
        yield f"and {count(len(items) - _MOST_ITEMS)} more tables and checks, all passed"
