"""Whether an object of a step, such as an index, would still be done when the window closes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from toolkit.app.maintenance.choice import slow_items
from toolkit.errors import ToolkitError
from toolkit.model.plan import StepRecord
from toolkit.model.records import ItemRecord
from toolkit.store import Store

_RUNS = 5
"""Runs whose objects tell how long each takes."""


def fits_until(
    end: datetime, history: Sequence[StepRecord], store: Store, now: Callable[[], datetime]
) -> Callable[[str], bool]:
    """Return what tells of an object, by its label, whether it still fits, from its own earlier times.

    Args:
        end: when the window closes.
        history: of the step, newest first.
        store: where its runs are.
        now: the clock.
    """
    runs = [step.run for step in history if step.run is not None][:_RUNS]
    slow = slow_items([_items(store, run) for run in dict.fromkeys(runs)])

    def fits(label: str) -> bool:
        return slow.get(label, 0.0) <= (end - now()).total_seconds()

    return fits


def _items(store: Store, run: str) -> list[ItemRecord]:
    """Return the items of a run; of one that was deleted meanwhile none."""
    try:
        return [item for trial in store.load_run(run, samples=False).trials for item in trial.items]
    except ToolkitError:
        return []
