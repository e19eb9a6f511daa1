"""A load in parts: several sessions fill one table of the user's, each in a transaction of its own.

Their commits are in the journal (`toolkit.runner.commits`), with the snapshot that all parts read: resume loads
the parts that are not committed, as long as the source is still the one that the others read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from toolkit.dialects.base import Dialect
from toolkit.dialects.implementations import Parts
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.operations import RowSemantics, declaration, degree_factor
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import ItemRecord, JournalEntry, TrialRecord
from toolkit.model.steps import AWAITED, ObjectRef, Stages, Step
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Effect, Keep, Mode, Outcome, Role
from toolkit.rendering import step_of
from toolkit.runner.commits import Ended, EndedItem, commits_of, done_items, how_ended, item_of
from toolkit.runner.ownership import ref_of
from toolkit.store import Store
from toolkit.units import counted


@dataclass(frozen=True, slots=True)
class Wording:
    """What sentences call the work on one table in several transactions.

    Attributes:
        work: the work itself, before the table's name.
        done: what the table is, in part.
        does: what a resume does with the rest.
        again: what a new run would do.
        rest: what becomes now of what was not committed.
        unknown: what is unknown after an interruption, with `{run}` and `{table}`.
    """

    work: str
    done: str
    does: str
    again: str
    rest: str
    unknown: str


_WORDING = {
    RowSemantics.CHANGES: Wording(
        "work on",
        "done",
        "does",
        "a new run begins with the rows that match then",
        "its chunks are done now",
        "chunks of run {run} are committed in `{table}`: the work was interrupted",
    ),
}
_OF_LOADS = Wording(
    "load of",
    "loaded",
    "loads",
    "a new run would load everything again",
    "its rows are loaded now",
    "the rows of run {run} are in `{table}`: the load was interrupted",
)


def wording_of(experiment: Experiment) -> Wording:
    """Return the words for an operation's work."""
    return _WORDING.get(declaration(experiment.operation).rows, _OF_LOADS)


SHARED = "snapshot"
"""Key of what `prepare` keeps of the snapshot that all parts read."""
_AWAITED = re.compile(r"[0-9A-Za-z-]{1,80}")
"""What may stand in a text for `AWAITED`: the name of a snapshot, say."""


def in_parts(dialect: Dialect, experiment: Experiment) -> Parts | None:
    """Return how a job (also that of `--keep best`) loads in parts, or None where it has one transaction."""
    how = dialect.work.of(experiment.operation).parts
    if how is None or not (experiment.mode is Mode.JOB or experiment.keep is Keep.BEST):
        return None
    factor = next((each for each in experiment.factors if each.name == degree_factor(experiment.operation)), None)
    levels = factor.levels if factor is not None else ()
    several = any(isinstance(level, int | float) and level > 1 for level in levels)
    return how if several or how.even_alone else None


def keeps_notes(dialect: Dialect, experiment: Experiment) -> bool:
    """Tell whether a job notes its transactions in a table of its own."""
    how = dialect.work.of(experiment.operation)
    return experiment.mode is Mode.JOB and how.notes_transactions(experiment.options)


def filled_in(stages: Stages, kept: Mapping[str, tuple[Row, ...]]) -> Stages:
    """Put what `prepare` kept into the texts that await it.

    Raises:
        ToolkitError: TK-0901 where there is no such value, or it is none that a text may hold.
    """
    if not any(step.awaits for item in stages.timed.items for step in item.steps):
        return stages
    items = tuple(
        replace(item, steps=tuple(_filled(step, kept) for step in item.steps)) for item in stages.timed.items
    )
    return replace(stages, timed=replace(stages.timed, items=items))


def _filled(step: Step, kept: Mapping[str, tuple[Row, ...]]) -> Step:
    if step.awaits is None:
        return step
    rows = kept.get(step.awaits, ())
    value = str(next(iter(rows[0].values()))) if rows else ""
    if _AWAITED.fullmatch(value) is None:
        raise ToolkitError(f"`{step.name}` awaits a value, and `{value}` is none", code="TK-0901")
    return replace(step, text=step.text.replace(AWAITED, value))


def shared(kept: Mapping[str, tuple[Row, ...]]) -> Row:
    """Return what `prepare` kept of the snapshot that all parts read; empty without one."""
    return next(iter(kept.get(SHARED, ())), {})


def let_go(sessions: Sessions, stages: Stages) -> None:
    """Close the session that held what the workers shared."""
    if any(step.session is Role.HOLDER for step in stages.prepare):
        sessions.forget(Role.HOLDER)


def named_later(stages: Stages) -> frozenset[ObjectRef]:
    """Return what gets its name after the clock, as a backup that is moved out: it is nothing before."""
    made = (step.object for step in stages.evidence if step.effect is Effect.CREATES)
    return frozenset(ref for ref in made if ref is not None)


def nothing_named(record: TrialRecord) -> TrialRecord:
    """Return a trial that ended badly without items that ended well: what they made did not get its name.

    Where it did, and something failed after that, whoever resumes the run finds it under that name.
    """
    if record.outcome not in (Outcome.FAILED, Outcome.INTERRUPTED):
        return record
    items = (
        replace(each, outcome=record.outcome) if each.outcome is Outcome.OK else each for each in record.items
    )
    return replace(record, items=tuple(items))


def with_earlier(record: TrialRecord, earlier: Sequence[ItemRecord]) -> TrialRecord:
    """Add the rows of items that an earlier attempt has done; unknown with one of them."""
    rows = [record.rows, *(item.rows for item in earlier)]
    known = [count for count in rows if count is not None]
    return replace(record, rows=sum(known) if len(known) == len(rows) else None) if earlier else record


# -- afterwards ---------------------------------------------------------------------------------------------------
def loaded_in_part(run: str, experiment: Experiment, dialect: Dialect, store: Store) -> list[ItemRecord]:
    """Return the parts that are known to be there of a load that did not end well."""
    if in_parts(dialect, experiment) is None:
        return []
    return [item for trial in _unfinished(run, store) for item in done_items(run, trial, store).values()]


def _unfinished(run: str, store: Store) -> list[int]:
    """Return the trials with commits in the journal that did not end well, or not at all."""
    noted = {each.trial for each in store.journal(run).entries() if each.effect == Effect.COMMITS}
    last = {each.trial: each.outcome for each in store.load_run(run, samples=False).trials}
    good = {trial for trial, outcome in last.items() if outcome in (Outcome.OK, Outcome.DOWNGRADED)}
    return sorted(trial for trial in noted - good if trial is not None)


def may_be_loaded_in_part(run: str, experiment: Experiment, dialect: Dialect, store: Store) -> bool:
    """Tell whether parts may be there of a load that did not end well, whatever is open in its journal."""
    if in_parts(dialect, experiment) is None:
        return False
    entries = store.journal(run).entries()
    return any(entry.identity for trial in _unfinished(run, store) for entry in commits_of(entries, trial))


def partly_loaded(
    run: str, experiment: Experiment, sessions: Sessions, dialect: Dialect, store: Store, *, removing: bool = False
) -> Iterator[str]:
    """Say which parts are there of a load that did not end well; no session of the run may be at work any more.

    What the database knows to be committed is recorded: what it knows that by may be dropped afterwards.

    Args:
        run: that loaded.
        experiment: of the run.
        sessions: of who asks.
        dialect: of its engine.
        store: where the run is.
        removing: whether to say how the parts are removed, too.

    Raises:
        DatabaseError: the connection was lost.
    """
    parts = in_parts(dialect, experiment)
    if parts is None and not keeps_notes(dialect, experiment):
        return
    for trial in _unfinished(run, store):
        told = how_ended(run, trial, sessions, dialect, store)
        note_committed(run, trial, told, store)
        if parts is None:
            continue
        there = {label: item.rows for label, item in done_items(run, trial, store).items()}
        there |= {each.label: each.rows for each in told if each.ended is Ended.COMMITTED}
        unknown = sorted(each.label for each in told if each.ended is Ended.UNKNOWN)
        if there or unknown:
            seen = _look_for(there, (trial,), run, experiment, sessions, dialect, store)
            table = experiment.options.get("table")
            if seen.emptied and not unknown:
                yield f"{_EMPTIED.format(rows=_rows(there), table=table)}; {_anew(run)}"
                continue
            words = wording_of(experiment)
            rest = f"`{store.resume_command(run)}` {words.does} the rest, " if experiment.mode is Mode.JOB else ""
            yield (
                f"`{table}` is {words.done} in part, with {_rows(there)}: committed are "
                f"{_listed(sorted(there)) or 'none'}; "
                + (f"the database does not know the outcome of {_listed(unknown)}; " if unknown else "")
                + (f"whether they are still there could not be seen ({seen.unseen}); " if seen.unseen else "")
                + f"{rest}{words.again}"
                + (_to_remove(run, trial, there, parts, dialect, store) if removing and there else "")
            )


COMMITTED = "the database confirmed that its transaction was committed; its time is unknown"


def note_committed(run: str, trial: int, told: Sequence[EndedItem], store: Store) -> None:
    """Record the items of a trial that are known to be committed, with the attempt that began last."""
    there = [
        ItemRecord(each.label, Outcome.OK, rows=each.rows, reason=COMMITTED)
        for each in told
        if each.ended is Ended.COMMITTED
    ]
    if there:
        trials = store.load_run(run, samples=False).trials
        begun = [each.attempt for each in trials if each.trial == trial]
        begun += [each.attempt for each in store.unended_trials(run) if each.trial == trial]
        store.add_items(run, trial, max(begun), there)


def _listed(labels: Sequence[str]) -> str:
    if len(labels) <= _MOST_LISTED:
        return ", ".join(labels)
    return f"{', '.join(labels[:_SOME_LISTED])} and {len(labels) - _SOME_LISTED} more"


_MOST_LISTED, _SOME_LISTED = 8, 3


def _to_remove(run: str, trial: int, there: Collection[str], parts: Parts, dialect: Dialect, store: Store) -> str:
    entries = [each for each in commits_of(store.journal(run).entries(), trial) if item_of(each) in there]
    statement = _deleting(entries, parts, dialect)
    return "" if statement is None else f"; to remove it: {statement} then `dbatk runs delete {run}`"


def refuse_changed_source(
    run: str, experiment: Experiment, source: QualifiedName, sessions: Sessions, dialect: Dialect, store: Store
) -> None:
    """Refuse to load the rest of a source that was written since: its rows may have moved between parts.

    Raises:
        ToolkitError: TK-0211; the hint is the statement that takes the loaded parts back.
    """
    parts, entries = in_parts(dialect, experiment), _committed(run, experiment, dialect, store)
    if parts is None or not entries:
        return
    call = parts.source_changed(source, entries[0].proof)
    if call is None or sessions.run(step_of(dialect, call)).rows[0]["changed"] == "no":
        return
    raise ToolkitError(
        f"`{source}` was changed since {counted(len(entries), 'part')} of it were loaded into "
        f"`{ref_of(entries[0]).name}`: the rest would not fit",
        code="TK-0211",
        hint=f"to begin again, take them back first: {taking_back(run, experiment, dialect, store)}",
    )


def refuse_emptied_table(
    run: str, experiment: Experiment, sessions: Sessions, dialect: Dialect, store: Store,
    warn: Callable[[str], None],
) -> None:  # fmt: skip
    """Refuse to load the rest into a table that lost what is committed: nobody would miss the first parts.

    Raises:
        DatabaseError: the connection was lost.
        ToolkitError: TK-0211.
    """
    there = {item.label: item.rows for item in loaded_in_part(run, experiment, dialect, store)}
    seen = _look_for(there, _unfinished(run, store), run, experiment, sessions, dialect, store)
    table = experiment.options.get("table")
    if seen.emptied:
        raise ToolkitError(_EMPTIED.format(rows=_rows(there), table=table), code="TK-0211", hint=_anew(run))
    if seen.unseen is not None:
        warn(f"{_UNSEEN.format(rows=_rows(there), table=table, why=seen.unseen)}: the rest is loaded all the same")


_EMPTIED = (
    "none of the {rows} that this run has committed in `{table}` is there: "
    "it was emptied, or is another table by now, and the rest would be taken for the whole"
)
_UNSEEN = "whether the {rows} that this run has committed in `{table}` are still there could not be seen ({why})"


def _anew(run: str) -> str:
    return f"`dbatk runs delete {run}`, then begin anew"


def _rows(there: Mapping[str, int | None]) -> str:
    return counted(sum(count or 0 for count in there.values()), "row")


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a look at a table showed of the rows that were committed there.

    Attributes:
        emptied: none of them is there any more.
        unseen: why nobody could look.
    """

    emptied: bool = False
    unseen: str | None = None


def _look_for(
    there: Mapping[str, int | None], trials: Sequence[int], run: str, experiment: Experiment, sessions: Sessions,
    dialect: Dialect, store: Store,
) -> _Seen:  # fmt: skip
    """Look whether rows of the parts that are committed are there, by label with their rows; if there were any."""
    parts, journal = in_parts(dialect, experiment), store.journal(run).entries()
    entries = [each for trial in trials for each in commits_of(journal, trial) if there.get(item_of(each))]
    noted = [each.identity for each in entries if each.identity]
    call = parts.still_there(ref_of(entries[0]).name, noted) if parts is not None and noted else None
    if call is None:
        return _Seen()
    try:
        found = sessions.run(step_of(dialect, call)).rows
    except DatabaseError as error:
        if error.lost:
            raise
        return _Seen(unseen=error.sentence)  # who may only insert cannot look
    return _Seen(emptied=bool(found) and not found[0]["has_rows"])


def taking_back(run: str, experiment: Experiment, dialect: Dialect, store: Store) -> str:
    """Return the statement that deletes the parts that are there, or say that nobody knows which rows they are."""
    parts, there = in_parts(dialect, experiment), _committed(run, experiment, dialect, store)
    statement = None if parts is None else _deleting(there, parts, dialect)
    return statement or "the database does not tell which rows they are: look at the table, restore or empty it"


def _deleting(entries: Sequence[JournalEntry], parts: Parts, dialect: Dialect) -> str | None:
    """Return the statement that deletes what transactions loaded; None where nobody noted any."""
    noted = [entry.identity for entry in entries if entry.identity]
    if not noted:
        return None
    call = parts.delete_by_hand(ref_of(entries[0]).name, noted)
    return None if call is None else f"{step_of(dialect, call).text}{dialect.terminator}"


def _committed(run: str, experiment: Experiment, dialect: Dialect, store: Store) -> list[JournalEntry]:
    """Return the entries of the parts that are there; of each the one whose transaction was committed."""
    done = {item.label for item in loaded_in_part(run, experiment, dialect, store)}
    entries = store.journal(run).entries()
    found = [each for trial in _unfinished(run, store) for each in commits_of(entries, trial)]
    return [each for each in found if item_of(each) in done]


def without_work(planned: PlannedTrial, attempt: int, left_out: Sequence[tuple[str, str]]) -> TrialRecord:
    """Return the record of a job that found nothing to do."""
    now = datetime.now(UTC)
    return TrialRecord(
        planned.number, attempt, planned.cell, planned.repeat, Outcome.OK, now, now,
        reason="there was nothing to do",
        items=tuple(ItemRecord(label, Outcome.SKIPPED, reason=why) for label, why in left_out),
    )  # fmt: skip


def from_items(planned: PlannedTrial, attempt: int, items: Sequence[ItemRecord]) -> TrialRecord:
    """Return the record of a job whose items were all done by an earlier attempt."""
    now = datetime.now(UTC)
    rows = [item.rows for item in items if item.rows is not None]
    return TrialRecord(
        planned.number, attempt, planned.cell, planned.repeat, Outcome.OK, now, now,
        reason=f"{'it' if len(items) == 1 else f'all {len(items)} items'} had been done before the interruption",
        elapsed_seconds=items[0].elapsed_seconds if len(items) == 1 else None,
        rows=sum(rows) if rows else None,
    )  # fmt: skip
