"""A load that was cut off: whether its rows are there nobody knows until a person has counted and answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from toolkit.app.results import ended_well, find_run
from toolkit.errors import ToolkitError
from toolkit.model.records import ItemRecord, TrialRecord
from toolkit.model.words import CountedRows, Outcome, RunState
from toolkit.runner import trials_of
from toolkit.runner.judging import END_UNKNOWN, may_load_twice
from toolkit.store import Store

THERE = "a person confirmed that its rows are there; its time is unknown"


@dataclass(frozen=True, slots=True)
class LoadInDoubt:
    """What is asked of a person before a run goes on, and the answer, if there is one."""

    run: str
    store: Store
    rows: CountedRows | None = None

    @property
    def sentence(self) -> str | None:
        """What the audit log says of the answer."""
        return None if self.rows is None else f"a person answered: its rows are {self.rows}"

    def refuse_needless(self) -> None:
        """Refuse an answer that nobody asked for.

        Raises:
            ToolkitError: TK-0107.
        """
        if self.rows is None or load_in_doubt(self.run, self.store):
            return
        raise ToolkitError(
            f"the outcome of run {self.run} is known, so `--rows` is not needed",
            code="TK-0107",
            hint="it is for an interrupted load; omit it",
        )

    def settle(self, attempt: int, sessions_ended: int) -> bool:
        """Tell whether nothing is left to be done: a person answered that the rows are there, which is recorded.

        A client that was killed, or lost its connection, cannot tell a COMMIT that arrived from one that did not:
        the user's table is not loaded again unasked. What was counted while a session of the run was still at
        work answers nothing.

        Raises:
            ToolkitError: TK-0209 naming the table.
        """
        if not load_in_doubt(self.run, self.store):
            return False
        if self.rows is None or sessions_ended:
            raise self._unknown(sessions_ended)
        if self.rows is CountedRows.MISSING:
            return False
        self._record_done(attempt)
        return True

    def _unknown(self, sessions_ended: int) -> ToolkitError:
        table = self._table
        message = f"it is unknown whether the rows of run {self.run} are in `{table}`: the load was interrupted"
        if self.rows is not None and sessions_ended:
            message = (
                f"run {self.run} was still active in the database and has been ended: its rows may have changed"
            )
        return ToolkitError(
            message,
            code=END_UNKNOWN,
            hint=f"count the rows of `{table}`; `dbatk runs resume {self.run} --rows there` counts it as done, "
            "`--rows missing` loads them again",
        )

    def _record_done(self, attempt: int) -> None:
        """Record the load as done without a time; its item keeps the code of the doubt beside the answer."""
        now = datetime.now(UTC)
        item = ItemRecord(self._table, Outcome.OK, reason=THERE, error_code=END_UNKNOWN)
        for each in trials_of(self.store.load_head(self.run).experiment):
            done = TrialRecord(
                each.number, attempt, each.cell, each.repeat, Outcome.OK, now, now, reason=THERE, items=(item,)
            )
            self.store.end_trial(self.run, done)
        self.store.end_run(self.run, RunState.DONE, now)

    @property
    def _table(self) -> str:
        return str(self.store.load_head(self.run).experiment.options.get("table"))


def load_in_doubt(run: str, store: Store) -> bool:
    """Tell whether nobody knows if a run's rows are in the user's table: it was cut off while it loaded."""
    if not may_load_twice(store.load_head(run).experiment):
        return False
    record = store.load_run(run, samples=False)
    marks = [mark.trial for mark in store.unended_trials(run)]
    last = record.trials[-1] if record.trials else None
    if last is not None and last.error_code == END_UNKNOWN:
        marks.append(last.trial)
    return any(all(item.outcome is not Outcome.OK for item in store.items_of(run, trial)) for trial in marks)


def taken_as_done(run: str, store: Store) -> bool:
    """Tell whether a run ended well because a person answered that its rows are there."""
    record = find_run(store, run)
    items = (item for trial in record.trials for item in trial.items)
    answered = any(item.outcome is Outcome.OK and item.error_code == END_UNKNOWN for item in items)
    return answered and ended_well(record)
