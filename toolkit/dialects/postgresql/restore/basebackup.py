"""A base backup in a folder: plain files or tar files, verified against its manifest once it is unpacked."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from toolkit import resources
from toolkit.dialects import restores
from toolkit.dialects.answers import Granted
from toolkit.dialects.implementations import Kept
from toolkit.dialects.postgresql.backup.programs import VERIFY, path_to
from toolkit.dialects.postgresql.restore import server
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.steps import content_of
from toolkit.model.words import Effect, Role, StepKind

PROGRAMS = (VERIFY,)
PROGRAM = "unpack"
SIGNS = ("PG_VERSION", "base.tar")
_GROWS_TO = 4.0
"""How much bigger than compressed tar files the cluster is, as a rule of thumb where its size is not known."""
_DONE = re.compile(r"unpack: (\d+) files by (\d+) channels, (with|without) checksums")
_TAR = re.compile(r"(?:base|pg_wal|\d+)\.tar(\.gz|\.lz4|\.zst)?")


def label(work: Work) -> str:
    """Name it by its folder."""
    return str(restores.backup_of(work.options))


def refuse(work: Work, facts: Facts) -> None:
    """Refuse a folder that holds no base backup.

    Raises:
        ToolkitError: TK-0107 or TK-0204, and as `refuse_folders`.
    """
    restores.refuse_folders(work, facts)
    names = restores.names_in(work, facts)
    if not restores.content(work, facts):
        return
    if "PG_VERSION" not in names and not any(_TAR.fullmatch(name) for name in names):
        if "toc.dat" in names:
            raise ToolkitError(
                f"`{label(work)}` holds a dump, no base backup", code="TK-0204", hint="add `--method pg_dump`"
            )
        raise ToolkitError(
            f"`{label(work)}` holds no base backup: neither PG_VERSION nor base.tar is in it",
            code="TK-0204",
            hint="give the folder that pg_basebackup wrote, or one of `dbatk backup run`",
        )
    if "backup_manifest" not in names:
        raise ToolkitError(
            f"`{label(work)}` has no backup_manifest, so that nothing tells whether its files are whole",
            code="TK-0204",
            hint="make backups with a manifest (the default of pg_basebackup)",
        )


def refusal(work: Work, facts: Facts) -> str | None:
    """Say why this cannot be had; None when it can."""
    archives = [name for name in restores.names_in(work, facts) if _TAR.fullmatch(name)]
    if archives and work.degree > len(archives):
        return (
            f"a tar file is unpacked by one channel, and this backup has {len(archives)}; plain files are copied "
            "by several"
        )
    return None


def size(work: Work, facts: Facts) -> float | None:
    """Estimate how big the copy is."""
    found = restores.content(work, facts).get("byte_count")
    if not isinstance(found, int | float):
        return None
    packed = any((match := _TAR.fullmatch(name)) and match[1] for name in restores.names_in(work, facts))
    if not packed:
        return float(found)
    cluster = facts.value("backup_server", "byte_count")
    return max(float(found), float(cluster)) if isinstance(cluster, int | float) else found * _GROWS_TO


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Unpack, verify what was unpacked (files, checksums, and the log that the backup needs), and recover."""
    who = server.user(work, facts)
    owner = () if who is None else ("--owner", who)
    argv = (sys.executable, "-I", "-S", resources.program("executors", "unpack"), "--channels", str(work.degree),
            *owner, label(work), content_of(work.object))  # fmt: skip
    copy = Call(
        "unpack", kind=StepKind.COMMAND, session=Role.WORKER, effect=Effect.CHANGES, object=work.object, argv=argv
    )
    verify = (path_to(VERIFY, facts), "--exit-on-error", content_of(work.object))
    return (
        copy,
        server.command("verify", verify, work, facts, Effect.READS),
        server.configure(work, facts),
        server.start(work, facts),
    )


def phases(work: Work, kept: Kept) -> Mapping[str, int]:
    """Count the steps of each phase."""
    del work, kept
    return {"copy": 1, "verify": 1, "start": server.STEPS}


def granted(work: Work, kept: Kept) -> Granted:
    """Return how many channels there was work for."""
    found = _done(kept)
    if found is None:
        return Granted(None, PROGRAM, "it did not say how many channels it used")
    used = int(found[2])
    if used >= work.degree:
        return Granted(work.degree, PROGRAM)
    return Granted(used, PROGRAM, f"there were files for {used} of {work.degree} channels")


def proof(kept: Kept) -> str:
    """Name what compared the content with checksums; empty where the manifest has none."""
    found = _done(kept)
    return VERIFY if found is not None and found[3] == "with" else ""


def _done(kept: Kept) -> re.Match[str] | None:
    return next((m for row in kept.get("log", ()) if (m := _DONE.match(str(row.get("line"))))), None)
