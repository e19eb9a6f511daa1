"""What a run still has to do, and how long that will take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from toolkit.dialects.answers import Continuation
from toolkit.dialects.base import Dialect
from toolkit.errors import UNREACHED
from toolkit.executors.users.hosts import HOST_LOST, ORDER_LATE
from toolkit.model.experiment import PlannedTrial
from toolkit.model.records import ItemRecord, TrialRecord
from toolkit.model.values import Cell
from toolkit.model.words import Mode, Outcome
from toolkit.runner.evidence import NOT_DONE
from toolkit.store import CANNOT_BE_WRITTEN, Store

OUT_OF_REACH = CANNOT_BE_WRITTEN | UNREACHED | {HOST_LOST, ORDER_LATE}
"""Our own codes for what lies outside of a trial and may pass: a store that cannot be written, a database out of
reach, a host of users that was lost."""


@dataclass(slots=True)
class SweepProgress:
    """How far the sweep is; an estimate comes from the cells' own times."""

    total: int
    ended: int = 0
    begun: float = field(default_factory=time.monotonic)
    seconds: dict[Cell, list[float]] = field(default_factory=dict)

    def note(self, cell: Cell, seconds: float) -> None:
        self.ended += 1
        self.seconds.setdefault(cell, []).append(seconds)

    @property
    def spent(self) -> float:
        return time.monotonic() - self.begun

    def expect(self, cells: Iterable[Cell]) -> float | None:
        """Return the seconds these trials will take, or None while a cell has not been seen."""
        total = 0.0
        for cell in cells:
            seen = self.seconds.get(cell)
            if not seen:
                return None
            total += sorted(seen)[len(seen) // 2]
        return total

    def expect_like(self, cells: Iterable[Cell]) -> float:
        """Return the seconds these trials will take; one of a cell that was not seen counts as the longest."""
        known = [self.expect([cell]) for cell in cells]
        longest = max((self.expect([cell]) or 0.0 for cell in self.seconds), default=0.0)
        return sum(longest if seconds is None else seconds for seconds in known)


def done_before(store: Store, run: str, trial: int) -> dict[str, ItemRecord]:
    """Return the items of a job that earlier attempts have done, by their labels.

    Where all items of an attempt ended well and its evidence refuted the whole, none of those counts, nor any
    before: which of them is not done is not known.
    """
    done: dict[str, ItemRecord] = {}
    for because, items in store.items_by_attempt(run, trial):
        good = {item.label: item for item in items if item.outcome is Outcome.OK}
        done = {} if because == NOT_DONE and len(good) == len(items) else done | good
    return done


def failed_in_vain(dialect: Dialect, record: TrialRecord) -> bool:
    """Tell whether a trial failed for a cause outside of what was tried: it says nothing of its configuration."""
    if record.outcome is not Outcome.FAILED or record.error_code is None:
        return False
    advice = dialect.explain(record.error_code, record.reason or "")
    return record.error_code in OUT_OF_REACH or (advice is not None and advice.outside)


def worth_repeating(dialect: Dialect, record: TrialRecord, *, every: bool) -> bool:
    """Tell whether a resume repeats a trial: it failed in vain, of what no configuration can help, or `every`.

    What no configuration can help (a grant, a name) was mended by whoever resumes.
    """
    if record.outcome is not Outcome.FAILED or every or failed_in_vain(dialect, record):
        return record.outcome is Outcome.FAILED
    advice = dialect.explain(record.error_code or "", record.reason or "")
    return advice is not None and advice.goes_on is Continuation.NOTHING


def missing(
    planned: Sequence[PlannedTrial],
    done: Sequence[TrialRecord],
    mode: Mode,
    again: Callable[[TrialRecord], bool] = lambda _: False,
) -> tuple[PlannedTrial, ...]:
    """Return the trials still to be run: those without an end, and those that were interrupted.

    In a measurement a failed trial is a result, unless `again` says that it tells nothing. In a job it is work
    that is still to be done: of its items those that did not end ok.
    """
    undone = {Outcome.INTERRUPTED, Outcome.FAILED} if mode is Mode.JOB else {Outcome.INTERRUPTED}
    final = {record.trial for record in done if record.outcome not in undone and not again(record)}
    return tuple(each for each in planned if each.number not in final)
