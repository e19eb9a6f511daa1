"""Retention: which backups of a job's database that dbatk made are past their time, and how they are removed.

What counts as a backup of dbatk is in the journal of this store, with its identity and what was in it when it got
its name, and has a trial that made it. One that is another folder by now, or has other files in it, is left. Only
what is older than the newest proved backup is ever removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from toolkit.app.approvals import seal_for
from toolkit.dialects import backups
from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import run_folder
from toolkit.model.engines import engine
from toolkit.model.experiment import Experiment, mark_of
from toolkit.model.facts import Facts, facts_from_text
from toolkit.model.protocols import DatabaseError, Event
from toolkit.model.records import JournalEntry, RunHead, run_key
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import QualifiedName
from toolkit.model.words import Effect, Mode, ObjectKind
from toolkit.rendering import step_of
from toolkit.runner import RunContext
from toolkit.runner.leftovers import HAD_VERIFIED
from toolkit.runner.ownership import UNSEALED, host_elsewhere, host_of, is_the_one, label_of, ref_of
from toolkit.store import Store
from toolkit.store.seals import Seal
from toolkit.units import parse_duration

_VERIFIED = "verified"
"""The metric of a trial whose backup a program read again."""


@dataclass(frozen=True, slots=True)
class OldBackup:
    """A backup that a job of this store made and that is there.

    Attributes:
        entry: of the journal.
        made_at: when its trial ended.
        proof: `verified` by a program that read it again; `complete` where the engine has none; None if unproved.
        stranger: why it is not taken for the one that was made.
        identity: of its folder when it was last looked at, as this host sees it.
    """

    entry: JournalEntry
    made_at: datetime
    proof: str | None
    stranger: str | None = None
    identity: str | None = None

    @property
    def path(self) -> str:
        return label_of(ref_of(self.entry))

    @property
    def sentence(self) -> str:
        return f"`{self.path}` of {self.made_at:%Y-%m-%d %H:%M} UTC ({self.proof or 'not verified'})"


@dataclass(frozen=True, slots=True)
class Retention:
    """What a job removes after its backup, and what it leaves although it is older; both oldest first.

    `newest` is the newest proved backup, which makes the others needless; None while it is still to be made.
    """

    keep_for: str
    proof: str
    removes: tuple[OldBackup, ...] = ()
    leaves: tuple[str, ...] = ()
    newest: OldBackup | None = None


# -- which backups ------------------------------------------------------------------------------------------------
def retention_of(
    experiment: Experiment, database: str, facts: Facts, dialect: Dialect, store: Store, *, coming: bool = False,
    seal: Seal | None = None,
) -> Retention | None:  # fmt: skip
    """Return what a job removes; None where it is not asked to remove anything.

    Args:
        experiment: the job.
        database: what identifies the database that it backs up.
        facts: of it, as it is now.
        dialect: of its engine.
        store: whose backups count.
        coming: whether the job has not made its backup yet: what is removed then is what it proves unneeded.
        seal: which the entry of a backup must have to be removed; None where none is asked for.
    """
    text, place = experiment.options.get("keep_for"), backups.destination(experiment.options)
    if text is None or place is None or experiment.mode is not Mode.JOB:
        return None
    ways = backups.backups_of(dialect.work, experiment.operation)
    proof = "verified" if ways.reads_back else "complete"
    entries = store.given_backups(seal)
    made = _made(experiment.target, database, dialect, place, store, entries, None if ways.reads_back else proof)
    told_apart = [_told_apart(each, ways, facts, store) for each in made]
    return _chosen(Retention(str(text), proof), [_as_it_is(each, dialect) for each in told_apart], coming=coming)


def _now() -> datetime:
    return datetime.now(UTC)


def _chosen(asked: Retention, found: Sequence[OldBackup], *, coming: bool) -> Retention:
    now = _now()
    proved = [each for each in found if each.stranger is None and each.proof]
    last = None if coming else max(proved, key=lambda each: each.made_at, default=None)
    newest = now if coming else last.made_at if last is not None else datetime.min.replace(tzinfo=UTC)
    limit = now - timedelta(seconds=parse_duration(asked.keep_for))
    past = sorted((each for each in found if each.made_at < limit), key=lambda each: each.made_at)
    removes = [each for each in past if each.stranger is None and each.made_at < newest]
    leaves = [f"{each.sentence} is left: {_why(each, newest)}" for each in past if each not in removes]
    return replace(asked, removes=tuple(removes), leaves=tuple(leaves), newest=last)


def _why(old: OldBackup, newest: datetime) -> str:
    """Say why a backup stays that is past its time."""
    if old.stranger is not None:
        return old.stranger
    if old.made_at == newest:
        return f"it is the newest that is {old.proof}"
    return "no verified backup was made after it"


def _made(
    target: str, database: str, dialect: Dialect, place: str, store: Store, entries: Iterable[JournalEntry],
    otherwise: str | None,
) -> Iterable[OldBackup]:  # fmt: skip
    """Yield the backups of a database that jobs of this store completed in a folder, where they still are.

    One made of another target is left: a clone has the identity of the database that it was copied from. So is
    one of an embedded engine that another host made, where a file of the same path may be another database.
    """
    real = Path(place).resolve()
    for entry in entries:
        if entry.schema is None or Path(entry.schema).resolve() != real or not (real / entry.name).exists():
            continue
        record = store.load_run(entry.run, samples=False)
        if (record.head.engine, record.head.target_name) != (dialect.engine, database):
            continue
        good = [each for each in record.trials if each.trial == entry.trial and each.done]
        if not good:
            continue
        told = {metric.name: metric.value for metric in good[-1].metrics}.get(_VERIFIED)
        items = (*good[-1].items, *store.items_of(entry.run, good[-1].trial))
        before = any((item.reason or "").endswith(HAD_VERIFIED) for item in items)
        stranger = _of_another(entry, record.head, target)
        yield OldBackup(entry, good[-1].ended_at, "verified" if before or told else otherwise, stranger)


def _of_another(entry: JournalEntry, head: RunHead, target: str) -> str | None:
    """Say why what bears the identity of a database may be of another one."""
    if not entry.sealed:
        return UNSEALED
    asked, host = head.experiment.target, host_elsewhere(entry)
    if asked != target:
        return f"it was made of the target `{asked}`, which may be a clone"
    if host is not None and engine(head.engine).embedded:
        return f"it was made on host `{host}`, of a file there"
    return None


def _told_apart(old: OldBackup, ways: backups.Backups, now: Facts, store: Store) -> OldBackup:
    """Leave what was made where a clone of this database, or its original, is: a host name may lead there now."""
    recorded = store.load_facts(old.entry.run)
    if old.stranger is not None or recorded is None:
        return old
    then = facts_from_text(recorded)
    for title, file, column in ways.clone_differs_in:
        before, here = (facts.value(file, column) for facts in (then, now))
        if before is not None and here is not None and before != here:
            why = f"it was made of a server whose {title} is `{before}` and not `{here}`: one is a clone"
            return replace(old, stranger=why)
    return old


def _as_it_is(old: OldBackup, dialect: Dialect) -> OldBackup:
    """Look whether the folder is the one that was made, with what was in it then."""
    if old.stranger is not None:
        return old
    entry, ref = old.entry, ref_of(old.entry)
    why, identity = None, None
    try:
        found = run_folder(step_of(dialect, backups.look(ref))).rows
        inside = run_folder(step_of(dialect, backups.listing(ref))).rows
    except DatabaseError as error:
        why = error.sentence
    else:
        if not found or not is_the_one(entry, found[0]):
            why = "it is another folder by now"
        elif not inside or inside[0]["listing"] != entry.proof.get("listing"):
            why = "its files are not those that were backed up"
        identity = str(found[0]["identity"]) if found else None
    return replace(old, stranger=why, identity=identity)


def foreseen(
    experiment: Experiment, database: str, facts: Facts, dialect: Dialect, store: Store, *, approved: bool
) -> tuple[str, ...]:
    """Say before a job what it would remove; nothing where it removes nothing by itself.

    Args:
        experiment, database, facts, dialect, store: as in `retention_of`.
        approved: whether only approved work may run there, which removes only what has a seal.
    """
    if experiment.options.get("keep_for") is None:
        return ()
    try:
        seal = seal_for(approved=approved)
    except ToolkitError as error:
        return (f"which older backups would be removed is unknown: {error.sentence}",)
    retention = retention_of(experiment, database, facts, dialect, store, coming=True, seal=seal)
    if retention is None:
        return ()
    head = f"older backups ({retention.keep_for}) are removed afterwards, if this one is {retention.proof}"
    removes = [f"it would remove {each.sentence}" for each in retention.removes]
    return (head, *(removes or ["none is older now"]), *retention.leaves)


# -- after the job ------------------------------------------------------------------------------------------------
def remove_old(context: RunContext, seal: Seal | None) -> None:
    """Remove what is past its time, each journalled; what cannot be removed is said, and stays in the journal.

    Args:
        context: of the job.
        seal: which the entry of a backup must have; None where none is asked for.
    """
    if context.experiment.options.get("keep_for") is None:
        return
    head = context.store.load_head(context.run)
    retention = retention_of(
        context.experiment, head.target_name, context.facts, context.dialect, context.store, seal=seal
    )
    if retention is None:
        return
    for sentence in retention.leaves:
        context.events.emit(Event("cleanup", sentence))
    for number, each in enumerate(retention.removes, 1):
        # those before it may have taken minutes to remove
        newest = None if retention.newest is None else _as_it_is(retention.newest, context.dialect)
        if newest is None or newest.stranger is not None:
            why = "" if newest is None else f": {newest.stranger}"
            context.warn(f"older backups are left, as the newest can no longer be relied on{why}")
            return
        old = _as_it_is(each, context.dialect)
        if old.stranger is not None:
            context.warn(f"backup {old.sentence} is left: {old.stranger}")
            continue
        try:
            _remove(context, old, number)
        except (DatabaseError, ToolkitError) as error:
            context.warn(f"backup {old.sentence} could not be removed: {error.sentence}")
        else:
            context.events.emit(
                Event("cleanup", f"removed backup {old.sentence}: older than {retention.keep_for}")
            )


def _remove(context: RunContext, old: OldBackup, number: int) -> None:
    """Move it into a folder of the run, which `dbatk clean` would remove, and remove that."""
    ref = ref_of(old.entry)
    planner = context.planner(number)
    name = QualifiedName(planner.naming.trial_object(f"r{context.attempt}"), ref.name.schema)
    emptied = ObjectRef(ObjectKind.BACKUP, name, scratch=True)
    intention = Step("retention", "", effect=Effect.DROPS, object=ref)
    entry = context.changes.note(intention, None, host_of(ref))
    made = backups.make(emptied, mark_of(run_key(context.run)))
    drops = planner.steps(backups.remove(emptied))
    context.changes.run(planner.steps((made,)))
    try:
        context.changes.run(planner.steps((backups.take_back(emptied, old.path, str(old.identity)),)))
    except DatabaseError:
        with suppress(DatabaseError, ToolkitError):
            context.changes.run(drops)
        raise
    context.changes.run(drops)
    context.store.journal(context.run).abandon(entry)
