"""The objects of trials that work on several: which took how long, slowest first."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from toolkit.model.records import ItemRecord, RunRecord
from toolkit.model.words import Outcome
from toolkit.report.tables import Table, left, right, table
from toolkit.units import percent, seconds

_MOST = 200


def object_table(run: RunRecord, most: int = _MOST) -> Table:
    """Return each object with its median time over all trials, its share, and how often it did not end ok.

    Empty when no trial works on several objects. `attempts` of a resumed job count as one: an object done before
    the interruption is in the earlier attempt.
    """
    seen: dict[str, list[ItemRecord]] = {}
    if any(len(trial.items) > 1 for trial in run.trials):
        for trial in run.trials:
            for item in trial.items:
                if not trial.warmup:
                    seen.setdefault(item.label, []).append(item)
    seen = _without_wholes(seen)
    times = {label: _median(items) for label, items in seen.items()}
    total = sum(time for time in times.values() if time is not None)
    order = sorted(seen, key=lambda label: (not _bad(seen[label]), -(times[label] or 0.0), label))
    columns = [*left("object"), *right("time", "share"), *left("outcome")]
    caption = "Objects, those not ok first, then slowest first"
    if len(order) > most:
        caption += f"; the first {most} of {len(order):,}"
    rows = (
        [label, seconds(times[label]), _share(times[label], total), _outcome(seen[label])]
        for label in order[:most]
    )
    marks = ("not-ok" if _bad(seen[label]) else "" for label in order[:most])
    return table(caption, columns, rows, marks)


def _without_wholes(seen: dict[str, list[ItemRecord]]) -> dict[str, list[ItemRecord]]:
    """Leave out a schema whose objects the database timed one by one: it would count them twice."""
    owners = {label.partition(".")[0] for label in seen if "." in label}
    return {label: items for label, items in seen.items() if label not in owners or _bad(items)}


def _median(items: Iterable[ItemRecord]) -> float | None:
    found = [item.elapsed_seconds for item in items if item.elapsed_seconds is not None]
    return median(found) if found else None


def _share(time: float | None, total: float) -> str:
    return percent(100 * time / total) if time is not None and total else ""


def _bad(items: Iterable[ItemRecord]) -> bool:
    """An object is not ok when its last word was not."""
    return list(items)[-1].outcome is not Outcome.OK


def _outcome(items: list[ItemRecord]) -> str:
    last = items[-1]
    reason = f": {last.reason}" if last.reason else ""
    return f"{last.outcome.value}{reason}"
