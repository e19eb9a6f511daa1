"""A backup's stages in RMAN's words: what is read around the clock, and what is on it."""

from __future__ import annotations

from toolkit.dialects import backups
from toolkit.dialects.oracle.backup import client, rds
from toolkit.dialects.oracle.backup import facts as known
from toolkit.dialects.oracle.backup import judge as judging
from toolkit.dialects.oracle.backup.order import BackupAction, BackupOrder, order_of
from toolkit.dialects.oracle.backup.script import command_id, delete, folders_of, is_folder, spell
from toolkit.dialects.oracle.places import service_of
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Support
from toolkit.model.words import Role

CHANNELS_LEFT = "channels_left"
BEFORE, AFTER = "configuration_before", "configuration_after"
_READ_AFTER = ("backup_job", "backup_status", "backup_sets", "backup_async_io", "backup_sync_io")


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Make the folders of a trial; read what RMAN is configured to, for afterwards it must be the same."""
    ours = folders_of(work.object) if order_of(work).act is BackupAction.WRITE else ()
    folders = tuple(backups.make(folder, str(work.mark)) for folder in ours)
    if known.CONFIGURATION in facts.refused:
        return folders
    return (*folders, Call(known.CONFIGURATION, file=True, keep_as=BEFORE))


def perishable(work: Work) -> tuple[str, ...]:
    """Return what tells whether a written trial could cost a real backup: policy, recovery area, backups."""
    return (known.CONFIGURATION, known.AREA, known.FULL) if order_of(work).act is BackupAction.WRITE else ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the one script that is on the clock; on RDS the procedure that stands for it."""
    order = order_of(work)
    if service_of(facts).code == "rds":
        return (rds.spell(order, work),)
    return (client.called(spell(order, work.object, form_of(order, facts))),)


def form_of(order: BackupOrder, facts: Facts) -> BackupAction:
    """Return the form that can be had: of an open database without archived redo it is VALIDATE."""
    return (
        BackupAction.VALIDATE
        if order.act is BackupAction.READ and known.tells_open_without_archive(facts)
        else order.act
    )


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Ask what the database recorded of the work; each view that is refused is left out and reported."""
    order, name = order_of(work), work.object.name.name
    reads = [_read(file, command_id=command_id(name)) for file in _READ_AFTER if file not in facts.refused]
    if order.writes:
        tag = name if order.act is BackupAction.WRITE else order.tag or order.forms.merge_copy
        reads += [_read("backup_pieces", tag=tag.upper())] if tag is not None else []
    if known.CONFIGURATION not in facts.refused:
        reads.append(Call(known.CONFIGURATION, file=True, session=Role.WORKER, keep_as=AFTER))
    return tuple(reads)


def _read(file: str, **binds: str) -> Call:
    return Call(file, file=True, session=Role.WORKER, keep_as=file, binds=binds)


def after(work: Work) -> tuple[Call, ...]:
    """Look whether a channel outlived its client, however the work ended."""
    binds = {"command_id": command_id(work.object.name.name)}
    return (
        Call(
            "backup_channels",
            file=True,
            session=Role.WORKER,
            keep_as=CHANNELS_LEFT,
            binds=binds,
            tolerates=frozenset({"ORA-00942", "ORA-01031"}),
        ),
    )


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Leave the backup of a job as it is."""
    del work, facts
    return ()


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge one cell; folders of a trial among it. On RDS its procedures come first: they can do less.

    Raises:
        ToolkitError: as `judging.judge` and `judging.refuse_places`.
    """
    order, on_rds = order_of(work), service_of(facts).code == "rds"
    found = (rds.judge(order) if on_rds else None) or judging.judge(work, facts)
    if found is None and order.writes and not on_rds:
        judging.refuse_places(order, facts)
    return found


def drop(ref: ObjectRef) -> tuple[Call, ...]:
    """Delete the pieces that bear the tag of one trial, then its folders, with what was half written there."""
    if is_folder(ref):
        return backups.remove(ref)
    away = (call for folder in folders_of(ref) for call in backups.remove(folder))
    return (client.called(delete(ref)), *away)


def identity(ref: ObjectRef) -> Call:
    """Ask whether pieces under a tag are there, all of them with generated names; or for a folder."""
    if is_folder(ref):
        return backups.look(ref)
    return Call("backup_identity", file=True, binds={"tag": ref.name.name.upper()})
