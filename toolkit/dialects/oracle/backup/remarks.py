"""What a DBA should know before a backup begins: what it leaves, what it may push out, what will not help."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolkit.dialects.oracle.backup import facts as known
from toolkit.dialects.oracle.backup.order import BackupAction, BackupOrder, BackupScope, order_of
from toolkit.dialects.oracle.backup.script import is_asm
from toolkit.dialects.oracle.places import service_of
from toolkit.dialects.oracle.releases import edition_of
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts
from toolkit.units import byte_size, counted

_READS = frozenset({BackupAction.READ, BackupAction.VALIDATE, BackupAction.RESTORE})
_KEPT = ("RETENTION POLICY", "CONTROLFILE AUTOBACKUP")


def remarks(work: Work, facts: Facts) -> tuple[str, ...]:
    """Say it, from what was read."""
    order = order_of(work)
    return (
        *_place(order, facts),
        *_stays(order, facts),
        *_forms(order, facts),
        *_reads_more(order),
        *_retention(order, facts),
        *_channels(order, facts),
        *_layout(order, facts),
        *_unread(facts),
        *_catalog(order),
    )


def _catalog(order: BackupOrder) -> Iterator[str]:
    if order.catalog is not None:
        yield (
            f"the recovery catalog `{order.catalog}` is brought up to date with the control file, and what is "
            "done is recorded there, too"
        )


def _place(order: BackupOrder, facts: Facts) -> Iterator[str]:
    """Say where pieces go whose place nobody named, where it could not be asked (RMAN Reference, formatSpec)."""
    named = order.places or order.formats or order.device != "DISK" or service_of(facts).code == "rds"
    if order.writes and not named and (facts.assumed or known.AREA not in facts.answers):
        yield (
            "no destination is named: RMAN writes into the fast recovery area, and where there is none into "
            "ORACLE_HOME/dbs; whether there is one is not known"
        )
    if order.act is BackupAction.WRITE and order.connects and not all(map(is_asm, order.places)):
        yield (
            "channels that connect to other nodes write into the same folder, which is made on this host alone: "
            "put it on storage that all nodes share, or their pieces fail; a channel of this node deletes them"
        )


def _stays(order: BackupOrder, facts: Facts) -> Iterator[str]:
    """List what no clean-up takes back."""
    if order.act in {BackupAction.READ, BackupAction.VALIDATE}:
        entries = facts.value("backup_corruption", "entry_count")
        now = "" if entries is None else f" ({int(float(entries))} entries now)"
        yield (
            "what remains: a record of each validation in V$RMAN_STATUS, and corrupt blocks found in "
            f"V$DATABASE_BLOCK_CORRUPTION{now}"
        )
    if order.act is BackupAction.WRITE:
        yield f"what remains of each trial: records of its deleted pieces in the control file{_records(facts)}"
        auto = known.configured(facts, "CONTROLFILE AUTOBACKUP")
        if auto != "OFF":
            yield (
                "a control file autobackup may follow each trial, in the site's own location, and is kept: it "
                "does not have dbatk's tag"
            )
        yield "a trial's pieces are a readable copy of your data (encrypted tablespaces apart) until deleted"


def _forms(order: BackupOrder, facts: Facts) -> Iterator[str]:
    """Say what further words of the command keep, delete and leave out."""
    forms = order.forms
    if order.of_logs and known.LOGS in facts.answers:
        less = f"; those that have {forms.not_backed_up} backups are left out" if forms.not_backed_up else ""
        yield f"chosen now: {known.logs(facts)}{less}; logs that are archived meanwhile count too"
    if forms.merge_copy:
        yield (
            f"the copies with tag {forms.merge_copy.upper()} are brought to the time of the last run before the "
            "next incremental backup is made, and restore no earlier time any more; there is no undo. The first "
            "run makes the copies, as big as the data files, and the second has nothing to merge yet"
        )
    if forms.delete_input:
        policy = f" `{known.configured(facts, 'ARCHIVELOG DELETION POLICY') or 'TO NONE'}`"
        if known.CONFIGURATION not in facts.answers:
            policy = ", which could not be read"
        rest = "nothing else is, and"
        if forms.not_backed_up:
            rest = "it is unknown whether RMAN also deletes those that it leaves out because of their backups;"
        yield (
            "logs that were backed up are deleted by RMAN (DELETE INPUT), within your ARCHIVELOG DELETION POLICY"
            f"{policy}; {rest} there is no undo but a restore"
        )
    if forms.keep_days is not None:
        yield (
            f"kept for {counted(forms.keep_days, 'day')}: the retention policy and DELETE OBSOLETE leave it alone"
        )
    if forms.encryption is not None:
        yield "encrypted with the keystore of the database, which must be open, and be there for a restore"
    if forms.duration is not None:
        yield f"ended after {forms.duration} (h:mm): sets that are complete by then stay, and the job has failed"
    if "INACCESSIBLE" in forms.skip or "OFFLINE" in forms.skip:
        yield f"skipped files ({', '.join(forms.skip).lower()}) are not in this backup; keep an older one"


def _records(facts: Facts) -> str:
    rows = [row for row in facts.rows("backup_records") if row.get("record_type") == "BACKUP PIECE"]
    if not rows:
        return ""
    used, limit = (int(float(rows[0].get(key) or 0)) for key in ("record_count", "record_limit"))
    return f" ({used} of {limit} records of pieces are in use; then the oldest are reused)"


def _retention(order: BackupOrder, facts: Facts) -> Iterator[str]:
    """Explain how a full backup of a trial affects the policy while it exists (Backup and Recovery Reference)."""
    if order.act is not BackupAction.WRITE:
        return
    policy = known.retention(facts)
    if known.CONFIGURATION not in facts.answers:
        policy = f"{policy}, unless the default was changed"
    if re.search(r"\bNONE\b", policy):
        return
    yield (
        f"the retention policy is `{policy}`: while a trial's full backup exists, an older one of yours may "
        "look obsolete, and a concurrent DELETE OBSOLETE would delete it; hold such jobs back"
    )


def _reads_more(order: BackupOrder) -> Iterator[str]:
    """Say how a validation differs from a backup (User's Guide: unused block compression)."""
    if order.act in {BackupAction.READ, BackupAction.VALIDATE}:
        yield (
            "a validation only reads: it writes nothing, and may read unused blocks that a full backup to disk "
            "skips; so its time is not that of a backup"
        )


def _channels(order: BackupOrder, facts: Facts) -> Iterator[str]:
    """Say what the site configured and channels that are allocated by hand leave out."""
    if service_of(facts).code == "rds":
        return
    words = known.site_channels(facts, order.device)
    if words:
        yield (
            f"your CONFIGURE CHANNEL settings ({', '.join(words)}) do not apply: dbatk allocates its own "
            "channels; give them as options where they matter"
        )
    if order.act is not BackupAction.RESTORE and known.default_device(facts) != order.device:
        yield (
            f"your default device type is {known.default_device(facts)}, but this uses {order.device} (`--device`)"
        )


def _layout(order: BackupOrder, facts: Facts) -> Iterator[str]:
    files = known.chosen(order, facts)
    if files and order.channels > 1 and order.section_size is None and order.what is not BackupScope.ARCHIVELOG:
        biggest = max(files, key=lambda file: file.bytes)
        total = sum(file.bytes for file in files)
        if order.channels > len(files):
            yield (
                f"{order.channels} channels for {counted(len(files), 'data file')}: without a section size each "
                "file uses one channel, and the others are idle"
            )
        elif total and biggest.bytes > 2 * total / order.channels:
            yield (
                f"data file {biggest.number} has {byte_size(biggest.bytes)} of {byte_size(total)}: one channel "
                "reads it alone; --section-size divides it"
            )
    if order.act is BackupAction.READ and known.tells_open_without_archive(facts):
        yield "the database is open in NOARCHIVELOG: VALIDATE is measured, which reads like BACKUP VALIDATE"
    if float(facts.value("backup_mode", "file_count") or 0) > 0:
        yield "data files are in backup mode (BEGIN BACKUP): RMAN does not need it, and it generates more redo"
    if known.optimization_is_on(facts) and order.act is BackupAction.JOB:
        yield "BACKUP OPTIMIZATION is ON: files that are already backed up may be skipped"
    if order.level == 1 and not edition_of(facts).parallel and not facts.rows("doctor_options"):
        yield "it is unknown whether this edition makes backups of level 1 (RMAN-06180): V$OPTION was not read"
    if order.level == 1 and str(facts.value("backup_change_tracking", "status") or "") == "DISABLED":
        yield "changed blocks are not tracked: level 1 reads every block of every file"


def _unread(facts: Facts) -> Iterator[str]:
    refused = sorted(file for file in facts.refused if file.startswith("backup_"))
    if refused:
        yield f"not granted, so unknown: {', '.join(refused)} (see sql/oracle for the views)"
