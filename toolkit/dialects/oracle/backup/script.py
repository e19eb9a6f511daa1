"""RMAN scripts as calls: a template and its values. Only RUN, ALLOCATE, RELEASE and SET surround the work."""

from __future__ import annotations

from collections.abc import Mapping

from toolkit.dialects.oracle.backup.order import BackupAction, BackupOrder, BackupScope
from toolkit.dialects.work import Call, ContextValue
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import Effect, Role, StepKind

_CHANNEL = "dbatk"
_COMMAND_ID_LENGTH = 32
"""V$RMAN_STATUS.COMMAND_ID is VARCHAR2(33) (Database Reference)."""

_TEMPLATES = {
    BackupAction.JOB: "backup_job",
    BackupAction.READ: "backup_validate",
    BackupAction.WRITE: "backup_trial",
    BackupAction.VALIDATE: "validate",
    BackupAction.RESTORE: "restore_validate",
}


def command_id(name: str) -> str:
    """Return what V$RMAN_STATUS and the channels' CLIENT_INFO will call the work."""
    return name[:_COMMAND_ID_LENGTH]


def channel_names(count: int) -> tuple[str, ...]:
    """Name the channels; `rman channel=` in V$SESSION.CLIENT_INFO tells them from a site's own."""
    return tuple(f"{_CHANNEL}{number}" for number in range(1, count + 1))


def spell(order: BackupOrder, ref: ObjectRef, template: BackupAction | None = None) -> Call:
    """Spell an order as the script that is on the clock.

    Args:
        order: what is asked.
        ref: the backup; its name is the command id, and of a written trial the tag and the pieces' name.
        template: another act's form for the same work (VALIDATE where BACKUP VALIDATE may be refused).
    """
    act = template or order.act
    name = ref.name.name
    values: dict[str, ContextValue] = {
        **_channels(order, formats_of(order, name)),
        **_what(order),
        "catalog": order.catalog,
        "command_id": command_id(name),
        "section_size": order.section_size,
        "files_per_set": order.files_per_set,
        "ending": _ending(order, act),
        "level": _level(order),
        **_forms(order),
        "type": "BACKUPSET" if order.compression == "none" else "COMPRESSED BACKUPSET",
        "algorithm": None if order.compression == "none" else order.compression.upper(),
        "tag": name if act is BackupAction.WRITE else order.tag,
    }
    return Call(
        _TEMPLATES[act],
        values,
        kind=StepKind.RMAN,
        session=Role.WORKER,
        effect=Effect.CREATES if order.writes else Effect.READS,
        object=ref if order.writes else None,
    )


def delete(ref: ObjectRef) -> Call:
    """Spell the deletion of one backup written by dbatk, by its tag."""
    values = {**_bare_channel(), "tag": ref.name.name}
    return Call("backup_delete", values, kind=StepKind.RMAN, effect=Effect.DROPS, object=ref)


def formats_of(order: BackupOrder, name: str) -> tuple[str, ...]:
    """Return the format of each channel's pieces: the user's, or folders in turn with a name in it.

    `%U` makes each name unique, whichever channel writes it (Backup and Recovery Reference, formatSpec).
    """
    if not order.writes:
        return ()
    places, formats = order.spread(order.places), order.spread(order.formats)
    if order.act is BackupAction.WRITE:
        return tuple(_join(folder_in(place, name), f"{name}_%U") for place in places)
    if places and formats:
        return tuple(_join(place, form) for place, form in zip(places, formats, strict=True))
    return tuple(_join(place, "%U") for place in places) or formats


def folder_in(place: str, name: str) -> str:
    """Return the folder of one trial in a place: its own, so that a piece half written goes with it."""
    return place if is_asm(place) else f"{place.rstrip('/')}/{name.lower()}"


def folders_of(ref: ObjectRef) -> tuple[ObjectRef, ...]:
    """Return the folders of a trial's backup, whose schema lists the places they are in."""
    places = (ref.name.schema or "").split(",")
    name = ref.name.name.lower()
    return tuple(ObjectRef(ref.kind, QualifiedName(name, place), scratch=True) for place in places if place)


def is_folder(ref: ObjectRef) -> bool:
    """Tell whether a reference is to a folder of a trial, not to its backup: tags are upper case."""
    return ref.name.schema is not None and ref.name.name == ref.name.name.lower()


def is_asm(place: str) -> bool:
    """Tell whether a place is a disk group of ASM, in which dbatk makes no folders."""
    return place.startswith("+")


def _join(place: str, name: str) -> str:
    """Put a name into a folder; a disk group of ASM makes its own names, and takes none."""
    if is_asm(place):
        return place
    return f"{place.rstrip('/')}/{name}"


def _channels(order: BackupOrder, formats: tuple[str, ...]) -> Mapping[str, ContextValue]:
    return {
        "channels": channel_names(order.channels),
        "device": order.device,
        "formats": formats,
        "connects": order.spread(order.connects),
        "parms": order.parms,
        "max_piece_size": order.max_piece_size,
        "rate": order.rate,
        "max_open_files": order.forms.max_open_files,
    }


def _level(order: BackupOrder) -> str | None:
    if order.of_logs:
        return None
    if order.level is None:
        return "FULL"
    return f"INCREMENTAL LEVEL {order.level}" + (" CUMULATIVE" if order.forms.cumulative else "")


def _forms(order: BackupOrder) -> Mapping[str, ContextValue]:
    forms = order.forms
    return {
        "encryption": forms.encryption,
        "merge_copy": forms.merge_copy,
        "check_logical": forms.check_logical,
        "keep_days": forms.keep_days,
        "duration": forms.duration,
        "minimize": forms.minimize,
        "skip": forms.skip,
        "logs_since": forms.since,
        "logs_until": forms.until,
        "not_backed_up": forms.not_backed_up,
        "delete_input": forms.delete_input,
    }


def _bare_channel() -> dict[str, ContextValue]:
    return dict(_channels(BackupOrder(BackupAction.JOB), ()))


def _what(order: BackupOrder) -> Mapping[str, ContextValue]:
    files = order.what is BackupScope.DATAFILE
    bare = order.what is BackupScope.PDB or any(":" in name for name in order.names)
    return {
        "what": "ARCHIVELOG" if order.forms.since or order.forms.until else order.what.value,
        "names": () if files or bare else order.names,
        "pluggable": order.names if bare and not files else (),
        "numbers": order.names if files else (),
    }


def _ending(order: BackupOrder, act: BackupAction) -> str | None:
    if act is BackupAction.RESTORE:
        return "VALIDATE"
    return "PLUS ARCHIVELOG" if order.plus_archivelog else None
