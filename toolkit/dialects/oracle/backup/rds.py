"""Amazon RDS: no shell and no rman, but procedures of RDSADMIN that call it on the host.

Source: RDS for Oracle User Guide, "Performing common RMAN tasks" (validate_database, backup_database_full,
backup_database_incremental, backup_tablespace) and "Common parameters for RMAN procedures". The pieces stay in a
directory of the database, which nobody but UTL_FILE.FREMOVE empties; so a measurement only validates.
"""

from __future__ import annotations

import re
from dataclasses import replace

from toolkit.dialects.oracle.backup.forms import Forms
from toolkit.dialects.oracle.backup.order import BackupAction, BackupOrder, BackupScope
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.values import Support
from toolkit.model.words import Effect, Role, StepKind, SupportState

_MEGABYTES = {"K": 1 / 1024, "M": 1, "G": 1024}
_OWNER = "SYS"
"""Owner of the directories that rdsadmin_util.create_directory makes (RDS: Common DBA tasks)."""


def judge(order: BackupOrder) -> Support | None:
    """Say what the procedures of RDS do not take."""
    refusals: tuple[tuple[bool, str, str], ...] = (
        (
            order.act is BackupAction.WRITE,
            "on RDS the pieces of a trial cannot be deleted by tag: they are in a database directory",
            "measure without `--write`",
        ),
        (order.act is BackupAction.RESTORE, "RDS has no procedure for RESTORE VALIDATE", "`--action validate`"),
        (
            order.what not in {BackupScope.DATABASE, BackupScope.TABLESPACE},
            f"RDS has no procedure for a backup of {order.what.value.lower()}",
            "the database, or one tablespace",
        ),
        (len(order.names) > 1, "on RDS, tablespaces are backed up one at a time", "give one"),
        (
            any(
                (order.rate, order.files_per_set, order.max_piece_size, order.connects, order.parms, order.formats)
            ),
            "the RDS procedures do not support rate, files per set, piece size, format or connect identifiers",
            "they support channels, section size, compression basic, tag and archived logs",
        ),
        (
            order.act is BackupAction.JOB and order.forms.check_logical,
            "on RDS only a validation checks the rows in the blocks",
            "`--action validate --check-logical`",
        ),
        (
            replace(order.forms, check_logical=False) != Forms(),
            "the RDS procedures take no KEEP, SKIP, DURATION, encryption, open files or ranges of archived logs",
            "omit them",
        ),
        (
            order.compression not in {"none", "basic"},
            "the RDS procedures compress with BASIC or not at all",
            "`--compression basic`",
        ),
        (
            order.act is BackupAction.JOB and len(order.places) != 1,
            "a backup on RDS goes to one directory object of the database",
            "`--destination NAME`, created with rdsadmin.rdsadmin_util.create_directory",
        ),
    )
    for refused, sentence, hint in refusals:
        if refused:
            return Support(SupportState.UNSUPPORTED, sentence, hint)
    if order.act is BackupAction.JOB and not re.fullmatch(r"[A-Z][A-Z0-9_$#]{0,29}", order.places[0].upper()):
        sentence = f"`{order.places[0]}` is not a directory object of the database"
        return Support(SupportState.UNSUPPORTED, sentence, "as in ALL_DIRECTORIES.DIRECTORY_NAME")
    return None


def spell(order: BackupOrder, work: Work) -> Call:
    """Spell an order as a call of RDSADMIN_RMAN_UTIL."""
    values: dict[str, ContextValue] = {
        "parallel": order.channels,
        "section_size_mb": megabytes(order.section_size),
        "tablespace": order.names[0] if order.names else None,
    }
    if order.act is not BackupAction.JOB:
        values["validation"] = "PHYSICAL+LOGICAL" if order.forms.check_logical else "PHYSICAL"
        return Call("rds_validate", values, kind=StepKind.BLOCK, session=Role.WORKER)
    values |= {
        "owner": _OWNER,
        "directory": order.places[0].upper(),
        "level": order.level,
        "compress": "FALSE" if order.compression == "none" else "TRUE",
        "archivelogs": "TRUE" if order.plus_archivelog else "FALSE",
        "tag": work.object.name.name,
    }
    return Call(
        "rds_backup", values, kind=StepKind.BLOCK, session=Role.WORKER, effect=Effect.CREATES, object=work.object
    )


def megabytes(size: str | None) -> int | None:
    """Return a size as RMAN writes it in whole megabytes, at least one."""
    if size is None:
        return None
    unit = size[-1] if size[-1] in _MEGABYTES else ""
    number = int(size.removesuffix(unit))
    return max(1, round(number * _MEGABYTES[unit]) if unit else number // 2**20)
