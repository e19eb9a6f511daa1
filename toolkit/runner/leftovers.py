"""What an interrupted or ended run leaves: sessions at work, objects of a job."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import UNDOES, Sessions, Timeouts, end_orphans, refused, runs_with_programs
from toolkit.executors.orphans import OrphansEnded
from toolkit.model.experiment import Experiment
from toolkit.model.operations import declaration
from toolkit.model.protocols import DatabaseError, Journal
from toolkit.model.records import ItemRecord, JournalEntry, run_of_object
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Effect, Keep, Mode, ObjectKind, Outcome
from toolkit.rendering import step_of
from toolkit.runner.changes import Changes
from toolkit.runner.ownership import name_of, named
from toolkit.store import Store
from toolkit.targets.base import Target
from toolkit.units import counted, seconds

# -- sessions and programs ----------------------------------------------------------------------------------------
STILL_ACTIVE = "TK-0308"
_TIMEOUT_SECONDS = 30.0
_LOOK_SECONDS = 0.2
_ENDING = "each was killed and is rolling back; run `dbatk clean` again later"


@dataclass(frozen=True, slots=True)
class Orphans:
    """How many sessions of a dead run went on and were ended, and what became of its programs."""

    sessions: int
    programs: OrphansEnded

    @property
    def of_programs(self) -> tuple[str, ...]:
        """A sentence where programs were ended, which nobody else would tell of."""
        ended = self.programs.ended
        return (f"{counted(ended, 'process', 'processes')} that went on without dbatk: ended",) if ended else ()

    @property
    def going_on(self) -> tuple[str, ...]:
        """A sentence for each program that is left, with who can end it."""
        hint = "goes on without dbatk, and this user may not end it: end it as its owner or as root"
        return tuple(f"{name} {hint}" for name in self.programs.left)


def end_orphaned_sessions(
    target: Target, dialect: Dialect, run: str, journal: Journal, timeouts: Timeouts | None = None, *,
    may_end: bool = True,
) -> Orphans:  # fmt: skip
    """End programs of a run on this host, and sessions that still work in the database; wait until they are gone.

    Where they may not be ended, as of a run that only its store knows, they are refused as long as they are there.

    Raises:
        ToolkitError: TK-0308 when they may not be ended or do not go; the hint is the statement to ask for, and
            the sentence names what nobody has undone by then.
    """
    programs = end_orphans(run) if may_end else OrphansEnded()
    sessions = Sessions(target, f"{run}{UNDOES}", timeouts=timeouts)
    try:
        return Orphans(_end_all(sessions, _Look(sessions, dialect, run), may_end=may_end), programs)
    except ToolkitError as error:
        names = ", ".join(dict.fromkeys(map(named, journal.open_entries())))
        if error.code != STILL_ACTIVE or not names:
            raise
        sentence = f"{error.message}; until then this run has not undone: {names}"
        raise ToolkitError(
            sentence, code=STILL_ACTIVE, hint=error.hint, database_code=error.database_code
        ) from None
    finally:
        sessions.close()


def end_sessions_of_others(target: Target, dialect: Dialect, run: str, ours: Container[str]) -> int:
    """End the sessions of a run that others opened for it, on hosts that are lost.

    Args:
        target: where.
        dialect: of its engine.
        run: whose.
        ours: ids of the sessions of this process, which stay.

    Returns:
        How many there were.

    Raises:
        ToolkitError: as `end_orphaned_sessions`.
    """
    sessions = Sessions(target, f"{run}{UNDOES}")
    try:
        return _end_all(sessions, _Look(sessions, dialect, run, ours))
    finally:
        sessions.close()


def with_sessions(
    target: Target, dialect: Dialect, broken: Iterable[str], ended: Container[str], timeouts: Timeouts | None
) -> frozenset[str]:
    """Return those of which a session or program is seen: TCP ends that of a client that is cut off late.

    Args:
        target: where to look.
        dialect: of its engine.
        broken: runs that may have sessions at work; each is asked for.
        ended: all that may have ended: of those a network that was cut at the end leaves sessions that wait.
        timeouts: how long a session waits.

    Raises:
        ToolkitError: TK-0202 when the connection is lost.
    """
    sessions = Sessions(target, "dbatk repair", timeouts=timeouts)
    try:
        waiting = {str(row["run"]) for row in _waiting(sessions, dialect)}
        programs = runs_with_programs()
        at_work = {run for run in broken if run in programs or _has_sessions(sessions, dialect, run)}
        return frozenset(at_work | {run for run in waiting if run in ended})
    except DatabaseError as error:
        raise refused(dialect, error) from None
    finally:
        sessions.close()


def _end_all(sessions: Sessions, look: _Look, *, may_end: bool = True) -> int:
    found = look.list()
    for row in found if may_end else ():
        _end(sessions, row)
    begun = time.monotonic()
    left = found
    while left and may_end and time.monotonic() - begun < _TIMEOUT_SECONDS:
        left = look.list()
        if left:
            time.sleep(_LOOK_SECONDS)
    if left:
        ask = next((f"ask for: {row['kill_text']};" for row in left if row["kill_text"]), _ENDING)
        sentence = f"{len(left)} session(s) of run {look.run} are still active in the database"
        raise ToolkitError(sentence, code=STILL_ACTIVE, hint=ask)
    look.refuse_blindness()
    return len(found)


_GONE, _MARKED = "ORA-00030", "ORA-00031"
"""Answers to KILL SESSION: there is no such session any more; it will end, and is waited for."""


class _Look:
    """Lists the sessions of a run: on every instance, or where that may not be read, on the only one."""

    def __init__(self, sessions: Sessions, dialect: Dialect, run: str, ours: Container[str] = ()) -> None:
        self._sessions, self.run, self._dialect, self._ours = sessions, run, dialect, ours
        self._everywhere = dialect.sessions_everywhere(run)
        self._whole = self._everywhere is None

    def list(self) -> tuple[Row, ...]:
        """Return the sessions but those of this process.

        Raises:
            DatabaseError: as `_all`.
            ToolkitError: as `_all`.
        """
        return tuple(row for row in self._all() if str(row["session_id"]).partition(",@")[0] not in self._ours)

    def _all(self) -> tuple[Row, ...]:
        """Return the sessions.

        Raises:
            DatabaseError: the connection was lost.
            ToolkitError: TK-0308 when they may not be looked at: what cannot be seen may still be at work.
        """
        if self._everywhere is not None:
            try:
                return self._sessions.run(step_of(self._dialect, self._everywhere)).rows
            except DatabaseError as error:
                if error.lost:
                    raise
                self._everywhere = None
        try:
            return self._sessions.run(step_of(self._dialect, self._dialect.sessions_of(self.run))).rows
        except DatabaseError as error:
            if error.lost:
                raise
            raise ToolkitError(
                f"sessions of run {self.run} cannot be seen, and may still be at work: {error.sentence}",
                code=STILL_ACTIVE,
                hint="get the grant (see `dbatk doctor --grants`), then run `dbatk clean`; nothing was given up",
                database_code=error.code,
            ) from None

    def refuse_blindness(self) -> None:
        """Refuse to take for gone what may live on an instance that was not seen.

        Raises:
            ToolkitError: TK-0308 with the grant that is missing.
        """
        call = self._dialect.other_instances()
        if self._whole or self._everywhere is not None or call is None:
            return
        try:
            rows = self._sessions.run(step_of(self._dialect, call)).rows
        except DatabaseError as error:
            if error.lost:
                raise
            rows = ()
        if not rows or rows[0].get("others") != "NO":
            raise ToolkitError(
                f"sessions of run {self.run} on other instances cannot be seen, and may still be at work",
                code=STILL_ACTIVE,
                hint="grant SELECT on SYS.GV_$SESSION, then run `dbatk clean`; nothing was given up",
            )


def _end(sessions: Sessions, row: Row) -> None:
    text = row["kill_text"]
    if text is None:
        return
    try:
        sessions.run(Step("end-session", str(text), effect=Effect.CHANGES))
    except DatabaseError as error:
        if error.code in (_GONE, _MARKED):
            return
        raise ToolkitError(
            f"no privilege to end a session of the earlier attempt: {error.sentence}",
            code=STILL_ACTIVE,
            hint=f"ask for: {text};",
            database_code=error.code,
        ) from None


# -- runs of other stores -----------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Others:
    """Sentences on scratch objects and sessions of runs that are in no journal here."""

    left: tuple[str, ...] = ()
    at_work: tuple[str, ...] = ()


def of_other_stores(target: Target, dialect: Dialect, store: Store) -> Others:
    """Look for scratch objects of runs that this store does not know; say so where that cannot be looked for.

    Raises:
        ToolkitError: as `refused` does, when the session is lost.
    """

    def is_known(run: str) -> bool:
        with suppress(ToolkitError):
            return bool(store.load_head(run))
        return False

    try:
        return _unknown(target, dialect, is_known)
    except DatabaseError as error:
        if error.lost:
            raise refused(dialect, error) from None
        return Others((f"what runs of other stores left could not be looked for: {error.sentence}",))


def _unknown(target: Target, dialect: Dialect, is_known: Callable[[str], bool]) -> Others:
    """Name scratch objects of runs that a store does not know, and sessions, whose process may be gone or not.

    Args:
        target: where to look.
        dialect: of its engine.
        is_known: tells whether a run is in this store.

    Raises:
        DatabaseError: of the database.
    """
    sessions = Sessions(target, "dbatk repair")
    left: list[str] = []
    at_work: list[str] = []
    try:
        for run, refs in _generated(sessions, dialect).items():
            if is_known(run):
                continue
            if _has_sessions(sessions, dialect, run):
                at_work.append(f"run {run} of another store is at work: {', '.join(map(name_of, refs))}")
                continue
            for ref in refs:
                drops = " ".join(step_of(dialect, call).text + dialect.terminator for call in dialect.drop(ref))
                left.append(
                    f"{name_of(ref)} is of run {run}, which is not in this store and has no session that is seen: "
                    f"clean it with its store; if that is lost, run: {drops}"
                )
        at_work += _of_unknown_runs(_waiting(sessions, dialect), dialect, is_known)
    finally:
        sessions.close()
    return Others(tuple(left), tuple(at_work))


def _waiting(sessions: Sessions, dialect: Dialect) -> tuple[Row, ...]:
    """List the sessions of runs that wait for their client."""
    call = dialect.sessions_waiting()
    return () if call is None else sessions.run(step_of(dialect, call)).rows


def _of_unknown_runs(waiting: Iterable[Row], dialect: Dialect, is_known: Callable[[str], bool]) -> Iterator[str]:
    """Name the sessions of runs that this store does not have."""
    for row in waiting:
        if not is_known(str(row["run"])):
            yield (
                f"pid {row['session_id']} has waited {seconds(float(row['waited_seconds'] or 0))} for run "
                f"{row['run']}, which is not in this store; if the process of that run is gone, run: "
                f"{row['kill_text']}{dialect.terminator}"
            )


def _generated(sessions: Sessions, dialect: Dialect) -> dict[str, list[ObjectRef]]:
    """Return what bears a generated name by run, without the indexes that go with their table."""
    found: dict[str, list[ObjectRef]] = {}
    for row in _not_refused(sessions, dialect):
        name = str(row["object_name"])
        run = run_of_object(name)
        if run is None or run_of_object(str(row["table_name"] or "")) is not None:
            continue
        whole = QualifiedName(name, str(row["schema_name"]))
        ref = ObjectRef(ObjectKind(str(row["object_kind"])), whole, scratch=True)
        found.setdefault(run, []).append(ref)
    return found


def _not_refused(sessions: Sessions, dialect: Dialect) -> tuple[Row, ...]:
    calls = dialect.scratch_objects()
    for place, call in enumerate(calls, 1):
        try:
            return sessions.run(step_of(dialect, call)).rows
        except DatabaseError as error:
            if error.lost or place == len(calls):
                raise
    return ()


def _has_sessions(sessions: Sessions, dialect: Dialect, run: str) -> bool:
    """Tell whether a session of a run is seen."""
    try:
        return bool(_Look(sessions, dialect, run).list())
    except ToolkitError:
        return False


# -- objects of a job ---------------------------------------------------------------------------------------------
FOUND_COMPLETE = "found complete after the interruption"
HAD_VERIFIED = "had verified it"


def note_completed(
    run: str, experiment: Experiment, changes: Changes, store: Store, warn: Callable[[str], None]
) -> bool:
    """Record the object of a job (or of `--keep best`) that was made before client or connection were lost.

    When the object exists and lacks nothing (an index built online is there before it is complete), its name was
    free before, and it was born after we meant to make it (on DuckDB, whose objects carry no birth: the file was
    our process's alone), the work was done. To be asked before the journal is undone, which gives the object to
    its user.

    Returns:
        Whether there is such an object.
    """
    if experiment.mode is not Mode.JOB and experiment.keep is not Keep.BEST:
        return False
    found = changes.completed_job_objects()
    for entry, label in found:
        trial = entry.trial or 0
        items = store.items_of(run, trial)
        if any(item.label == label and item.outcome is Outcome.OK for item in items):
            continue
        ended = [each.attempt for each in store.load_run(run).trials if each.trial == trial]
        begun = [each.attempt for each in store.unended_trials(run) if each.trial == trial]
        attempt = max(ended + begun)
        found_complete = ItemRecord(label, Outcome.OK, reason=_found_complete(entry))
        store.add_items(run, trial, attempt, [found_complete])
        warn(f"`{label}` was created before the interruption; its time is unknown")
    return bool(found)


def _found_complete(entry: JournalEntry) -> str:
    """Say that an object was found, and which program had verified it before it got its name."""
    verified = dict(json.loads(str(entry.proof.get("definition") or "[]"))).get("verified by")
    return FOUND_COMPLETE + (f"; {verified} {HAD_VERIFIED}" if verified else "")


def noted_before(run: str, experiment: Experiment, store: Store) -> bool:
    """Tell whether an earlier look found the object of a job: its entry in the journal is closed since."""
    declared = declaration(experiment.operation)
    single = declared.one_object or not declared.complete_when_timed  # a backup is found or made anew
    if experiment.mode is not Mode.JOB or not single:
        return False
    trials = {each.trial for each in store.load_run(run, samples=False).trials}
    return any(item.outcome is Outcome.OK for trial in trials for item in store.items_of(run, trial))
