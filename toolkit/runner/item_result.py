"""One item on the clock, as it went; and how all of them did."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolkit.errors import UNREACHED, ToolkitError
from toolkit.executors import Sessions
from toolkit.model.protocols import Answer, DatabaseError, OutputLine
from toolkit.model.steps import ObjectRef, TimedItem
from toolkit.model.values import Row
from toolkit.model.words import ON_HOST, Effect, Role
from toolkit.runner.counting import count_of, refuse_different_rows

LookAgain = Callable[[TimedItem, int], None] | None
BeforeCommit = Callable[[TimedItem, int | None, int], None]


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One item as it went: `begin_seconds` counts from the common begin."""

    item: TimedItem
    worker: int
    begin_seconds: float
    elapsed_seconds: float
    rows: int | None = None
    notices: tuple[str, ...] = ()
    error: DatabaseError | None = None
    lines: tuple[OutputLine, ...] = ()
    """What programs wrote."""
    programs: tuple[Row, ...] = ()
    """Exit status and CPU seconds of each program."""
    warnings: tuple[str, ...] = ()
    """Warnings of the server."""
    moved: tuple[Row, ...] = ()
    """What was taken from data files, and where the time of that went."""
    closely: bool = False
    """Whether its begin and end are those of its programs, without what is done here around them."""


LookAt = Callable[[Sequence[ItemResult]], list[ItemResult]]


@dataclass(frozen=True, slots=True)
class TimedResult:
    """What the clock saw."""

    elapsed_seconds: float
    items: tuple[ItemResult, ...]
    not_begun: tuple[TimedItem, ...] = ()
    timed_out: bool = False

    @property
    def error(self) -> DatabaseError | None:
        """The first error in time, a lost connection before others."""
        errors = [each.error for each in self.items if each.error is not None]
        return next((error for error in errors if error.lost), errors[0] if errors else None)

    @property
    def done(self) -> frozenset[ObjectRef]:
        """The objects of statements that ended well; of an item that failed, its last one did not."""
        ended = [step for each in self.items for step in each.item.steps[: -1 if each.error else None]]
        return frozenset(step.object for step in ended if step.object is not None)


def run_item(
    item: TimedItem, number: int, sessions: Sessions, origin: float, look: LookAgain, before_commit: BeforeCommit
) -> ItemResult:
    answers: list[Answer] = []
    error: DatabaseError | None = None
    commits = sent = False
    begun = max(origin, time.perf_counter())  # sessions of other hosts wait for the common begin
    try:
        if look is not None:
            look(item, number)
            begun = time.perf_counter()
        for step in item.steps:
            if step is item.steps[-1] and step.effect is Effect.COMMITS:
                commits = True
                refuse_different_rows(item, answers)
                before_commit(item, count_of(item, answers), number)
                sent = True
            answers.append(sessions.run(step, number))
    except DatabaseError as caught:
        error = caught
        if sent and caught.cancelled:  # it may be done all the same: as if unanswered
            error = DatabaseError(caught.message, code=caught.code, cancelled=True, lost=True)
        if commits and (caught.cancelled or caught.lost):  # in whichever session: its transaction may be open
            sessions.forget(Role.WORKER, number)
    except ToolkitError as caught:
        error = DatabaseError(caught.message, code=caught.code, lost=caught.code in UNREACHED)
        sessions.forget(Role.WORKER, number)  # its transaction may be open, too
    ended_at = time.perf_counter()
    spans = [answer.span for answer in answers if answer.span is not None]
    closely = bool(spans) and len(spans) == len(item.steps)
    if closely:
        begun, ended_at = spans[0][0], spans[-1][1]
    elapsed = max(0.0, ended_at - begun)
    notices = tuple([notice for answer in answers for notice in answer.notices])
    warnings = tuple([warning for answer in answers for warning in answer.warnings])
    lines = tuple([line for answer in answers for line in answer.lines]) + (() if error is None else error.lines)
    found = [(step, row) for step, answer in zip(item.steps, answers, strict=False) for row in answer.rows]
    programs = tuple([row for step, row in found if step.kind in ON_HOST])
    moved = tuple([row for step, row in found if step.transfer])
    return ItemResult(
        item, number, begun - origin, elapsed, count_of(item, answers), notices, error, lines, programs, warnings,
        moved, closely,
    )  # fmt: skip
