"""What is read of a database before it is backed up, and what the answers mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from toolkit.dialects.oracle.backup.order import BackupOrder, BackupScope
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.model.facts import Facts, Query
from toolkit.model.values import Row
from toolkit.units import byte_size, counted

CONFIGURATION = "backup_configuration"
RUNNING = "backup_running"
AREA = "backup_recovery_area"
FULL = "backup_full"
LOGS = "backup_logs"
FILES = "backup_files"
_FILES_11 = "backup_files_11"
_OTHERS = (
    CONFIGURATION,
    "backup_algorithms",
    RUNNING,
    AREA,
    FULL,
    "backup_used",
    "backup_change_tracking",
    "backup_mode",
    "backup_privileges",
    "backup_corruption",
    "backup_records",
    "cloud_service",
    "doctor_options",
    "doctor_database",
    "doctor_container",
    "doctor_instance",
)

_ON = "ON"
_DEFAULT_REDUNDANCY = "TO REDUNDANCY 1"
"""What holds without a row in V$RMAN_CONFIGURATION (Backup and Recovery Reference, CONFIGURE)."""
_ROOT = "CDB$ROOT"
_CHANNEL_WORDS = ("FORMAT", "PARMS", "CONNECT", "MAXPIECESIZE", "MAXOPENFILES", "RATE")


@dataclass(frozen=True, slots=True)
class File:
    """A data file: its number, bytes, tablespace and pluggable database.

    Attributes:
        encrypted: whether RMAN is configured to encrypt each backup of its tablespace.
    """

    number: int
    name: str
    bytes: float
    tablespace: str
    pdb: str | None = None
    encrypted: bool = False


def reads(facts: Facts) -> tuple[Query, ...]:
    """Say what is read; a view that is not granted costs a remark, not the backup."""
    files = FILES if has(facts.release, Feature.PLUGGABLE) else _FILES_11
    known = facts.answers
    return (
        Query(FILES, files, optional=True),
        *(Query(file, file, optional=True) for file in _OTHERS if file not in known),
    )


def read_logs(since: int | None, until: int | None) -> Query:
    """Ask for the archived logs of a range of times, in minutes ago."""
    return Query(LOGS, LOGS, {"since": since, "until": until}, optional=True)


def logs(facts: Facts) -> str:
    """Name the archived logs that were found, in words."""
    rows = facts.rows(LOGS)
    count = sum(int(float(row.get("log_count") or 0)) for row in rows)
    size = sum(float(row.get("byte_count") or 0) for row in rows)
    each = ", ".join(
        f"thread {_whole(row, 'thread_number')} {_whole(row, 'first_sequence')} to {_whole(row, 'last_sequence')}"
        for row in rows
    )
    return f"{counted(count, 'archived log')} ({byte_size(size)}: {each})" if count else "no archived log"


def _whole(row: Row, name: str) -> int:
    return int(float(row.get(name) or 0))


def files(facts: Facts) -> tuple[File, ...]:
    """Return the data files that were read."""
    return tuple(_file(row) for row in facts.rows(FILES))


def _file(row: Row) -> File:
    pdb = row.get("pdb_name")
    return File(
        int(float(row.get("file_number") or 0)),
        str(row.get("file_name") or ""),
        float(row.get("byte_count") or 0),
        str(row.get("tablespace_name") or ""),
        None if pdb is None else str(pdb),
        row.get("encrypt_in_backup") == _ON,
    )


def chosen(order: BackupOrder, facts: Facts) -> tuple[File, ...]:
    """Return the files an order speaks of, as far as they are known."""
    return tuple(file for file in files(facts) if _is_meant(order, file, facts))


def _is_meant(order: BackupOrder, file: File, facts: Facts) -> bool:
    if order.what is BackupScope.DATAFILE:
        return str(file.number) in order.names
    if order.what is BackupScope.PDB:
        return file.pdb in order.names
    if order.what is BackupScope.TABLESPACE:
        at_home = facts.value("doctor_container", "container_name") != _ROOT or file.pdb is None
        return f"{file.pdb}:{file.tablespace}" in order.names or (at_home and file.tablespace in order.names)
    return order.what is BackupScope.DATABASE


def unknown(order: BackupOrder, facts: Facts) -> tuple[str, ...]:
    """Return the names of an order that no data file belongs to; none where the files were not read."""
    known = files(facts)
    if not known or order.what not in {BackupScope.TABLESPACE, BackupScope.PDB, BackupScope.DATAFILE}:
        return ()
    there = {str(file.number) for file in known} if order.what is BackupScope.DATAFILE else set()
    if order.what is BackupScope.PDB:
        there = {str(file.pdb) for file in known}
    if order.what is BackupScope.TABLESPACE:
        there = {file.tablespace for file in known} | {f"{file.pdb}:{file.tablespace}" for file in known}
    return tuple(name for name in order.names if name not in there)


def needed_bytes(order: BackupOrder, facts: Facts) -> float | None:
    """Estimate what a backup set takes: what is in use where that is known, else whole files, and a tenth more.

    Blocks that were never used are left out of a backup set (Backup and Recovery Reference, BACKUP).
    """
    meant = chosen(order, facts)
    if not meant:
        return None
    whole = sum(file.bytes for file in meant)
    used = {
        str(row.get("tablespace_name")): float(row.get("used_bytes") or 0) for row in facts.rows("backup_used")
    }
    tablespaces = {file.tablespace for file in meant}
    if not used or not tablespaces <= set(used) or facts.value("doctor_container", "container_name") == _ROOT:
        return whole * 1.1
    return min(whole, sum(used[name] for name in tablespaces)) * 1.1


def configured(facts: Facts, name: str) -> str | None:
    """Return what RMAN is configured to; None for a default, which has no row."""
    rows = (row for row in facts.rows(CONFIGURATION) if str(row.get("name") or "").upper() == name)
    return next((str(row.get("value") or "") for row in rows), None)


def unread(facts: Facts) -> tuple[str, ...]:
    """Return the views that would say what RMAN is configured to encrypt, and could not be read."""
    views = {CONFIGURATION: "V_$RMAN_CONFIGURATION", FILES: "V_$TABLESPACE", _FILES_11: "V_$TABLESPACE"}
    return tuple(f"SYS.{view}" for file, view in views.items() if file in facts.refused)


def retention(facts: Facts) -> str:
    """Return the retention policy in RMAN's words; without a row its default."""
    return configured(facts, "RETENTION POLICY") or _DEFAULT_REDUNDANCY


def redundancy(facts: Facts) -> int | None:
    """Return how many backups the retention policy asks for; None where it does not count them."""
    found = re.search(r"\bREDUNDANCY\s+(\d+)", retention(facts))
    return int(found[1]) if found else None


def has_full_backup(facts: Facts) -> bool | None:
    """Tell whether anything of a full backup is there, without trials of dbatk; None where it is unknown.

    How many there are is not told: one backup is many sets and one image copy for each data file.
    """
    found = facts.value(FULL, "full_backup")
    return None if found is None else found == "yes"


def site_channels(facts: Facts, device: str) -> tuple[str, ...]:
    """Return the words of CONFIGURE CHANNEL for a device that an ALLOCATE CHANNEL makes idle.

    Their values are left out: PARMS may hold a password (Backup and Recovery Reference, ALLOCATE CHANNEL: manual
    channels override the configured ones; V$RMAN_CONFIGURATION names them CHANNEL).
    """
    values = [
        str(row.get("value") or "").upper()
        for row in facts.rows(CONFIGURATION)
        if str(row.get("name") or "").upper() == "CHANNEL"
    ]
    of_device = [value for value in values if re.search(rf"DEVICE TYPE '?{device}", value)]
    words = (word for word in _CHANNEL_WORDS if any(re.search(rf"\b{word}\b", value) for value in of_device))
    return tuple(words)


def default_device(facts: Facts) -> str:
    """Return where RMAN writes unless told otherwise: DISK or SBT."""
    found = (configured(facts, "DEFAULT DEVICE TYPE") or "DISK").upper()
    return "SBT" if "SBT" in found else "DISK"


def optimization_is_on(facts: Facts) -> bool:
    """Tell whether RMAN leaves out files that are backed up already."""
    return configured(facts, "BACKUP OPTIMIZATION") == _ON


def place_key(number: int) -> str:
    """Return the key under which the answer about a folder is kept."""
    return "destination" if number == 0 else f"destination:{number}"


def log_mode(facts: Facts) -> str | None:
    """Return whether the redo is archived, as V$DATABASE says it."""
    value = facts.value("doctor_database", "log_mode")
    return None if value is None else str(value)


def is_open(facts: Facts) -> bool:
    """Tell whether the database is open, and not only mounted."""
    return str(facts.value("doctor_database", "open_mode") or "").startswith("READ")


def tells_open_without_archive(facts: Facts) -> bool:
    """Tell whether the database is open and writes over its redo: RMAN-06149 then refuses to back it up."""
    return log_mode(facts) == "NOARCHIVELOG" and is_open(facts)


def same_configuration(before: Iterable[Row], after: Iterable[Row]) -> tuple[str, ...]:
    """Return the differences between two readings of V$RMAN_CONFIGURATION, in words."""
    was, now = ({_spelled(row) for row in rows} for rows in (before, after))
    gone = (f"`{each}` was removed" for each in sorted(was - now))
    new = (f"`{each}` was added" for each in sorted(now - was))
    return (*gone, *new)


def _spelled(row: Row) -> str:
    return f"{row.get('name')} {row.get('value')}"
