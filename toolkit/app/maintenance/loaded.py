"""Whether a load copied what it read: its own number beside counts of the source and of what it made.

While it ran, others may have changed both. So a session is opened before the load that sees the database as it
then was (a read-only transaction: Oracle by undo, PostgreSQL by its snapshot, DuckDB alike), and counts
afterwards, with one that sees it as it is now. If neither count agrees and the source was changed, that is
reported, not guessed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from toolkit.app.maintenance.asking import ASKING
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.executors import open_session
from toolkit.model.facts import facts_from_text
from toolkit.model.operations import declaration
from toolkit.model.plan import RowCount
from toolkit.model.protocols import Connection, DatabaseError
from toolkit.model.words import Role
from toolkit.rendering import step_of
from toolkit.runner import PlanningContext, Stop
from toolkit.store import Store
from toolkit.units import counted, number

_LOOK_SECONDS = 0.2
_CANCEL_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Verification:
    """What is wrong, what was verified and how, and what could not be verified and why; sentences."""

    fault: str | None = None
    verified: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()

    def __add__(self, other: Verification) -> Verification:
        """Put two looks together; the first fault counts."""
        return Verification(
            self.fault or other.fault, self.verified + other.verified, self.unverified + other.unverified
        )


@dataclass(frozen=True, slots=True)
class Reader:
    """A session that counts; `Stop` cuts a count off."""

    session: Connection
    dialect: Dialect

    def count(self, call: Call, stop: Stop) -> int:
        """Return a number of rows.

        Raises:
            ToolkitError: TK-0203 with the database's message, or why the count was cancelled.
        """
        with _cut_off(self.session, stop):
            try:
                rows = self.session.execute(step_of(self.dialect, call).text).rows
            except DatabaseError as error:
                because = stop.because.sentence if stop.requested and stop.because else error.sentence
                raise ToolkitError(because, code="TK-0203", hint="count it by hand") from None
        return int(str(rows[0]["row_count"]))


@contextmanager
def _cut_off(session: Connection, stop: Stop) -> Iterator[None]:
    """Cancel what the session does when somebody asks to stop."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_LOOK_SECONDS):
            if stop.requested:
                session.cancel()

    watching = threading.Thread(target=watch, name="count", daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join(_CANCEL_SECONDS)


@contextmanager
def as_before(job: TargetStep, plan_target: PlanTarget, stop: Stop) -> Iterator[Reader | ToolkitError | None]:
    """Hold a session that sees the database as it is now; None where a step has no rows to count."""
    if not declaration(job.step.operation).makes_rows or job.step.count_rows is RowCount.NONE:
        yield None
        return
    try:
        reader = _reader(plan_target, stop)
    except ToolkitError as error:
        yield error
        return
    try:
        yield _begun(reader)
    finally:
        reader.session.close()


def _begun(reader: Reader) -> Reader | ToolkitError:
    try:
        for call in reader.dialect.reading_begin():
            reader.session.execute(step_of(reader.dialect, call).text)
    except DatabaseError as error:
        return ToolkitError(error.sentence, code="TK-0203", hint="count by hand")
    return reader


def _reader(plan_target: PlanTarget, stop: Stop) -> Reader:
    target = plan_target.resolved.target
    session = open_session(target, Role.CONTROL, ASKING, read_only=True, timeouts=stop.timeouts)
    return Reader(session, dialect_of(target.engine))


def look_at_load(
    job: TargetStep,
    plan_target: PlanTarget,
    run: str,
    store: Store,
    before: Reader | ToolkitError | None,
    stop: Stop,
) -> Verification:
    """Return what is known of the rows of a load that succeeded.

    Raises:
        ToolkitError: TK-0201 when nobody answers.
    """
    expected = _told(store, run)
    if job.step.count_rows is RowCount.NONE:
        return _expected(job, expected.rows, expected.how) + Verification(
            unverified=("its rows were not counted again: `count_rows` is `none`",)
        )
    recorded = store.load_facts(run)
    if recorded is None:
        return Verification(unverified=("its rows were not counted again: the run stored no facts of the table",))
    now = _reader(plan_target, stop)
    try:
        planning = PlanningContext(job.experiment, now.dialect, facts_from_text(recorded))
        piece = planning.pieces(planning.cells[0])[0]  # of a load in parts, all have the source and the table
        return _Counts(job, piece.work, expected.rows, expected.how, before, now, stop).looked()
    finally:
        now.session.close()


@dataclass(frozen=True, slots=True)
class LoadedRows:
    """The rows of a load as its run knows them, and how: None where nobody lived to hear it."""

    rows: int | None = None
    how: str = "by count"


def _told(store: Store, run: str) -> LoadedRows:
    """Return the rows that the engine reported for the load, or that were counted right after it."""
    good = [trial for trial in store.load_run(run, samples=False).trials if trial.done]
    if not good:
        return LoadedRows()
    heard = [item.rows for item in good[-1].items if item.rows is not None]
    # Oracle may tell no rows of a CREATE TABLE AS SELECT: they are counted in the session that made it.
    return LoadedRows(good[-1].rows, "as reported by the engine" if sum(heard) == good[-1].rows else "by count")


def _expected(job: TargetStep, rows: int | None, how: str) -> Verification:
    """Compare with what the plan expects; an unknown number is reported."""
    wish = job.step.expect_rows
    if rows is None:
        return Verification(unverified=("the number of loaded rows is unknown",))
    if wish.hold(rows):
        return Verification(verified=(f"{counted(rows, 'row')} loaded, {how}",))
    if wish.at_most is None:
        return Verification('0 rows where rows were expected (`expect_rows = "any"` allows none)')
    return Verification(f"{_loaded(rows)}, {number(wish.at_least)} were expected")


def _loaded(rows: float) -> str:
    return f"{counted(rows, 'row')} {'was' if rows == 1 else 'were'} loaded"


@dataclass(frozen=True, slots=True)
class _Counts:
    """Compares the numbers of one load."""

    job: TargetStep
    work: Work
    told: int | None
    how: str
    before: Reader | ToolkitError | None
    now: Reader
    stop: Stop

    def looked(self) -> Verification:
        loaded, looked = self._of_target()
        return _expected(self.job, loaded, self.how) + (looked + self._of_source(loaded))

    # -- what was made ------------------------------------------------------------------------------------------
    def _of_target(self) -> tuple[int | None, Verification]:
        """Return how many rows were loaded, as far as that is known, and what the count of the target says."""
        made = declaration(self.work.operation).makes_table
        try:
            after = self.now.count(self.now.dialect.count_target(self.work), self.stop)
            if made:
                return self._made(after)
            if self.told is None:
                return None, Verification()
            before = self._before().count(self.now.dialect.count_target(self.work), self.stop)
            return self.told, self._added(before, after)
        except ToolkitError as error:
            return self.told, Verification(unverified=(f"the target was not counted: {error.sentence}",))

    def _made(self, after: int) -> tuple[int, Verification]:
        if self.told is None or self.told == after:
            return after, Verification(verified=(f"the new table has {number(after)}",))
        return self.told, Verification(f"{_loaded(self.told)}, but the new table has {number(after)}")

    def _added(self, before: int, after: int) -> Verification:
        assert self.told is not None
        sentence = f"the target had {number(before)} and has {number(after)}"
        if after - before == self.told:
            return Verification(verified=(sentence,))
        return Verification(unverified=(f"{sentence}: other sessions changed it meanwhile",))

    # -- what was read ------------------------------------------------------------------------------------------
    def _of_source(self, loaded: int | None) -> Verification:
        why = self._not_counted()
        if why is None and loaded is None:
            why = "there is no row count to compare it with"
        if why is None and self.told is None:
            why = "it was loaded in an earlier run, and the source of then cannot be counted any more"
        if why is not None:
            return Verification(unverified=(f"the source was not counted: {why}",))
        assert loaded is not None
        try:
            return self._compared(loaded)
        except ToolkitError as error:
            return Verification(unverified=(f"the source was not counted: {error.sentence}",))

    def _not_counted(self) -> str | None:
        if self.job.step.count_rows is RowCount.TARGET:
            return "`count_rows` is `target`"
        if self.work.option("sample") is not None:
            return "another sample has different rows"
        if self.work.query is not None and self.job.step.count_rows is None:
            return '`count_rows = "source"` runs its query again'
        return None

    def _compared(self, loaded: int) -> Verification:
        """Count the source as it was before the load; if that does not fit, as it is now."""
        call = self.now.dialect.count_source(self.work)
        source = f"the source {self._condition()}has"
        first = self._maybe(lambda: self._before().count(call, self.stop))
        if first == loaded:
            return Verification(verified=(f"{source} {number(loaded)}, counted as of before the load",))
        second = self.now.count(call, self.stop)
        if second == loaded:
            return Verification(verified=(f"{source} {number(loaded)}, counted after the load",))
        if isinstance(first, ToolkitError):
            sentence = f"{source} {number(second)} now, and {number(loaded)} were loaded"
            return Verification(
                unverified=(f"{sentence}; the count before the load is unknown: {first.sentence}",)
            )
        if first == second:
            return Verification(f"{source} {number(first)}, before and after, but {_loaded(loaded)}")
        return Verification(
            unverified=(
                f"the source changed while it was read: {number(first)} before, {number(second)} after, "
                f"{number(loaded)} loaded",
            )
        )

    def _condition(self) -> str:
        return "" if self.work.option("where") is None else "under the same condition "

    def _before(self) -> Reader:
        if self.before is None or isinstance(self.before, ToolkitError):
            raise self.before or ToolkitError(
                "it was not checked before the load", code="TK-0203", hint="count by hand"
            )
        return self.before

    def _maybe(self, count: Callable[[], int]) -> int | ToolkitError:
        try:
            return count()
        except ToolkitError as error:
            if self.stop.requested:
                raise
            return error
