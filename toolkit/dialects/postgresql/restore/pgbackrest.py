"""One of pgBackRest's backups: it copies by several processes, and compares each file with its checksum.

Sources: pgBackRest command and configuration reference, `restore`; its `--archive-mode=off` and `--type`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from toolkit.dialects import restores
from toolkit.dialects.answers import Granted
from toolkit.dialects.implementations import Kept
from toolkit.dialects.postgresql.backup.pgbackrest import check_stanza
from toolkit.dialects.postgresql.backup.programs import PGBACKREST, path_to, too_old
from toolkit.dialects.postgresql.restore import server
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.steps import content_of, path_of
from toolkit.model.words import Effect

PROGRAMS = (PGBACKREST,)
PROGRAM = PGBACKREST
_LABEL = re.compile(r"\d{8}-\d{6}F(?:_\d{8}-\d{6}[DI])?", re.ASCII)
_FILE = re.compile(r" P(\d+) .*: restore file ")


def label(work: Work) -> str:
    """Name it by stanza and label."""
    which = work.option("backup_set") or "newest"
    return f"stanza {work.option('stanza')}, {which}"


def refuse(work: Work, facts: Facts) -> None:
    """Refuse a stanza or label that cannot be one, and a destination that cannot take a copy.

    Raises:
        ToolkitError: TK-0104 or TK-0107, and as `refuse_place`.
    """
    stanza, label_given = work.option("stanza"), work.option("backup_set")
    if work.option("backup") is not None:
        raise ToolkitError(
            "`--backup` is a folder, and pgBackRest's backups have labels",
            code="TK-0107",
            hint="give `--backup-set LABEL`",
        )
    check_stanza(stanza, "a restore of pgBackRest's")
    if label_given is not None and _LABEL.fullmatch(str(label_given)) is None:
        raise ToolkitError(
            f"`{label_given}` is not the label of a backup of pgBackRest's",
            code="TK-0104",
            hint="`pgbackrest info` lists them, such as `20260101-010203F`; without --backup-set it is the newest",
        )
    restores.refuse_place(work, facts)


def refusal(work: Work, facts: Facts) -> str | None:
    """Say why this cannot be had; None when it can."""
    del work
    return too_old(PGBACKREST, facts)


def size(work: Work, facts: Facts) -> float | None:
    """Estimate how big the copy is: about the size of the target."""
    del work
    found = facts.value("backup_server", "byte_count")
    return float(found) if isinstance(found, int | float) else None


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Restore into the folder, with every tablespace below it, and recover."""
    folder, data = path_of(work.object), content_of(work.object)
    backup, config = work.option("backup_set"), work.option("backup_config")
    argv = (
        path_to(PGBACKREST, facts),
        f"--stanza={work.option('stanza')}",
        *(() if config is None else (f"--config={config}",)),
        f"--pg1-path={data}",
        f"--tablespace-map-all={folder}/tablespaces",
        f"--process-max={work.degree}",
        "--archive-mode=off",
        f"--lock-path={folder}/lock",
        "--log-level-file=off",
        "--log-level-console=detail",
        *(() if backup is None else (f"--set={backup}",)),
        "restore",
    )
    folders = ("mkdir", "-m", "700", "--", data, f"{folder}/tablespaces", f"{folder}/lock")
    return (
        server.command("folders", folders, work, facts, Effect.CHANGES),
        server.command(PGBACKREST, argv, work, facts, Effect.CHANGES),
        server.configure(work, facts),
        server.start(work, facts),
    )


def phases(work: Work, kept: Kept) -> Mapping[str, int]:
    """Count the steps of each phase."""
    del work, kept
    return {"copy": 2, "start": server.STEPS}


def granted(work: Work, kept: Kept) -> Granted:
    """Count the processes that restored files, each of which names itself in the log."""
    busy = {m[1] for row in kept.get("log", ()) if (m := _FILE.search(str(row.get("line") or "")))}
    if not busy:
        return Granted(None, "pgBackRest's log", "the log shows no process")
    if len(busy) >= work.degree:
        return Granted(work.degree, "pgBackRest's log")
    return Granted(len(busy), "pgBackRest's log", f"{len(busy)} of {work.degree} processes restored files")


def proof(kept: Kept) -> str:
    """Name what compared the content with checksums: it does so for each file that it restores."""
    del kept
    return PGBACKREST
