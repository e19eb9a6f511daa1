"""A load that was cut off: the database tells whether its rows are there; where it cannot, a person answers.

What the database is asked is in the journal since before the COMMIT was sent (`toolkit.runner.commits`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from toolkit.app.approvals import Approvals, TargetPolicy, not_approved
from toolkit.app.results import ended_well, find_run
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.facts import facts_from_text
from toolkit.model.operations import Options
from toolkit.model.protocols import Event, Events
from toolkit.model.records import ItemRecord, RunRecord, TrialRecord
from toolkit.model.words import CountedRows, Outcome, RunState
from toolkit.runner import PlanningContext, RunContext, parts, trials_of
from toolkit.runner.commits import Ended, EndedItem, commits_of, done_items, how_ended, item_of
from toolkit.runner.judging import END_UNKNOWN, may_load_twice
from toolkit.store import Store
from toolkit.units import counted

THERE = "a person confirmed that its rows are there; its time is unknown"
MISSING = "a person confirmed that its rows are missing"


@dataclass(frozen=True, slots=True)
class Asked:
    """The trials that were cut off, and what the database answered about their items."""

    trials: tuple[int, ...] = ()
    items: tuple[EndedItem, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadInDoubt:
    """What is asked of the database, or else of a person, before a run goes on; a person's answer, if any."""

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

    def ask(self, sessions: Sessions) -> Asked:
        """Ask the database how every item that is not known to be done ended, and record what is committed.

        That comes before anything is put back: what the database knows it by may be the run's own.

        Raises:
            DatabaseError: the connection was lost.
        """
        trials = _unended(self.run, self.store)
        dialect = dialect_of(self.store.load_head(self.run).engine)
        told: list[EndedItem] = []
        for trial in trials:
            ended = how_ended(self.run, trial, sessions, dialect, self.store)
            parts.note_committed(self.run, trial, ended, self.store)
            told += ended
        return Asked(trials, tuple(told))

    def settle(self, attempt: int, sessions_ended: int, asked: Asked, events: Events) -> bool:
        """Tell whether nothing is left to be done: the rows are there, which is recorded.

        A client that was killed, or lost its connection, cannot tell a COMMIT that arrived from one that did not:
        the database is asked. Where it cannot tell, the user's table is not loaded again unasked. What a person
        counted while a session of the run was still at work answers nothing.

        Args:
            attempt: the number of the one that begins.
            sessions_ended: how many sessions of the run were still at work, and were ended.
            asked: what the database answered.
            events: receives what the database told.

        Raises:
            ToolkitError: TK-0209 naming the table.
        """
        told = asked.items
        if not asked.trials:
            return False
        if told and not any(each.ended is Ended.UNKNOWN for each in told):
            return self._take(asked, attempt, events)
        if not told and self._nothing_was_sent():
            return False
        if self.rows is None or sessions_ended:
            raise self._unknown(sessions_ended)
        if self.rows is CountedRows.THERE and len(told) > 1:
            there = [each for each in told if each.ended is Ended.UNKNOWN]
            self._note(
                [ItemRecord(each.label, Outcome.OK, rows=each.rows, reason=THERE) for each in there], attempt
            )
            return False
        if self.rows is CountedRows.MISSING:
            return False
        item = ItemRecord(self._table, Outcome.OK, reason=THERE, error_code=END_UNKNOWN)
        self._record_done(attempt, (item,), THERE)
        return True

    def refuse_unapproved(self, attempt: int, policy: TargetPolicy, approvals: Approvals) -> None:
        """Go no further than to record a person's answer where nothing may run that nobody approved.

        Raises:
            ToolkitError: TK-0313.
        """
        if self.rows is None or not policy.approved_only or approvals.approval is not None:
            return
        head, now = self.store.load_head(self.run), datetime.now(UTC)
        for each in trials_of(head.experiment) if self.rows is CountedRows.MISSING else ():
            answered = TrialRecord(
                each.number, attempt, each.cell, each.repeat, Outcome.INTERRUPTED, now, now, reason=MISSING
            )
            self.store.end_trial(self.run, answered)
        on = f": the next approved run of its plan goes on with run {self.run}" if head.parent else ""
        raise not_approved(policy, f"the answer is recorded{on}")

    def _nothing_was_sent(self) -> bool:
        """Tell whether work whose commits are in the journal was cut off before its clock: there are none."""
        head = self.store.load_head(self.run)
        if not dialect_of(head.engine).work.of(head.experiment.operation).ends_by_commit:
            return False
        entries = self.store.journal(self.run).entries()
        return not any(commits_of(entries, trial) for trial in _unended(self.run, self.store))

    def _note(self, items: Sequence[ItemRecord], attempt: int) -> None:
        for trial in _unended(self.run, self.store) if items else ():
            self.store.add_items(self.run, trial, attempt - 1, items)

    def _take(self, asked: Asked, attempt: int, events: Events) -> bool:
        """Record the load as done if all of it was committed; tell whether it was."""
        there = [each for each in asked.items if each.ended is Ended.COMMITTED]
        missing = len(asked.items) - len(there)
        words = self._words
        of = f"of the interrupted {words.work} `{self._table}`"
        committed = f"{counted(len(there), 'transaction')} {of} committed" if there else ""
        aborted = f"{counted(missing, 'transaction')} {of} not committed: {words.rest}" if missing else ""
        events.emit(Event("warning", "; ".join(each for each in (committed, aborted) if each)))
        if missing == 0:
            (trial,) = asked.trials
            self._record_done(attempt, tuple(done_items(self.run, trial, self.store).values()), parts.COMMITTED)
        return missing == 0

    def _unknown(self, sessions_ended: int) -> ToolkitError:
        table = self._table
        words = self._words
        message = f"it is unknown whether {words.unknown.format(run=self.run, table=table)}"
        if self.rows is not None and sessions_ended:
            message = (
                f"run {self.run} was still active in the database and has been ended: its rows may have changed"
            )
        return ToolkitError(
            message,
            code=END_UNKNOWN,
            hint=f"count the rows of `{table}`; `{self.store.resume_command(self.run)} --rows there` counts it as "
            f"done, `--rows missing` {words.does} them again",
        )

    def _record_done(self, attempt: int, items: tuple[ItemRecord, ...], reason: str) -> None:
        """Record the load as done without a time; a person's answer stands beside the code of the doubt."""
        now = datetime.now(UTC)
        known = [item.rows for item in items if item.rows is not None]
        rows = sum(known) if len(known) == len(items) else None
        for each in trials_of(self.store.load_head(self.run).experiment):
            done = TrialRecord(
                each.number, attempt, each.cell, each.repeat, Outcome.OK, now, now, reason=reason, rows=rows,
                items=items,
            )  # fmt: skip
            self.store.end_trial(self.run, done)
        self.store.end_run(self.run, RunState.DONE, now)

    @property
    def _words(self) -> parts.Wording:
        return parts.wording_of(self.store.load_head(self.run).experiment)

    @property
    def _table(self) -> str:
        return _filled(self.store.load_head(self.run).experiment.options)


def _filled(options: Options) -> str:
    """Name the table that is filled, or the schemas whose tables are."""
    table = options.get("into_table") or options.get("table")
    schemas, into = options.get("schema"), options.get("into_schema")
    if table is not None:
        return str(table) if into is None else f"{into}.{str(table).rpartition('.')[2]}"
    return str(into) if into is not None or not isinstance(schemas, tuple) else ", ".join(schemas)


def load_in_doubt(run: str, store: Store) -> bool:
    """Tell whether a run was cut off while it loaded: it is not known here if its rows are in the user's table."""
    return bool(_unended(run, store))


def _unended(run: str, store: Store) -> tuple[int, ...]:
    """Return the trials of a load that were cut off before all of their items were done."""
    if not may_load_twice(store.load_head(run).experiment):
        return ()
    record = store.load_run(run, samples=False)
    marks = [mark.trial for mark in store.unended_trials(run)]
    last = record.trials[-1] if record.trials else None
    if last is not None and (last.error_code == END_UNKNOWN or _was_sent(record, last, store)):
        marks.append(last.trial)
    return tuple(trial for trial in dict.fromkeys(marks) if not _is_done(run, trial, store))


def _was_sent(record: RunRecord, last: TrialRecord, store: Store) -> bool:
    """Tell whether the COMMIT of an item of a trial that ended badly was about to be sent: it may have arrived.

    Unless a person said that it did not. How the trial ended does not tell: the store may have been full.
    """
    if last.outcome is Outcome.OK or last.reason == MISSING:
        return False
    run = record.head.run
    done = done_items(run, last.trial, store)
    entries = commits_of(store.journal(run).entries(), last.trial)
    return any(entry.identity and item_of(entry) not in done for entry in entries)


def _is_done(run: str, trial: int, store: Store) -> bool:
    done = done_items(run, trial, store)
    labels = {item_of(entry) for entry in commits_of(store.journal(run).entries(), trial)}
    return bool(done) and labels <= done.keys()


def taken_as_done(run: str, store: Store) -> bool:
    """Tell whether a run ended well because a person answered that its rows are there."""
    record = find_run(store, run)
    items = (item for trial in record.trials for item in trial.items)
    answered = any(item.outcome is Outcome.OK and item.error_code == END_UNKNOWN for item in items)
    return answered and ended_well(record)


# -- a load in parts ----------------------------------------------------------------------------------------------
def loaded_in_part(run: str, store: Store) -> bool:
    """Tell whether parts of a load are committed and others are not: then only to go on with it is right."""
    head = store.load_head(run)
    return bool(parts.loaded_in_part(run, head.experiment, dialect_of(head.engine), store))


def going_on_with_parts(
    planning: PlanningContext, run: str, sessions: Sessions, store: Store, warn: Callable[[str], None]
) -> PlanningContext:
    """Return what a load in parts goes on with: divided as it was begun; `warn` takes what could not be seen.

    Raises:
        ToolkitError: TK-0211 when the source was changed since parts of it were loaded, or the table was emptied.
    """
    how = planning.dialect.work.of(planning.experiment.operation).parts
    recorded = store.load_facts(run)
    if how is None or recorded is None:
        return planning
    begun = replace(planning, facts=how.as_begun(planning.facts, facts_from_text(recorded)))
    source = begun.pieces(begun.cells[0])[0].work.source
    if source is not None:
        parts.refuse_changed_source(run, begun.experiment, source, sessions, begun.dialect, store)
    parts.refuse_emptied_table(run, begun.experiment, sessions, begun.dialect, store, warn)
    return begun


def refuse_loaded_in_part(context: RunContext) -> None:
    """Refuse to keep the best configuration of a load once more, where an earlier attempt committed parts of it.

    Raises:
        ToolkitError: TK-0211; the hint is the statement that takes them back, where it is known.
    """
    load = (context.run, context.experiment, context.dialect, context.store)
    if parts.loaded_in_part(*load):
        raise ToolkitError(
            f"`{context.experiment.options.get('table')}` holds parts that keeping the best configuration loaded",
            code="TK-0211",
            hint=f"take them back, and load it by a job: {parts.taking_back(*load)}",
        )
