"""A dump of pg_dump in directory format, restored by n sessions of pg_restore into a new, empty cluster.

The cluster has the encoding and locale of the target's database, and the default settings of its release: what the
target would take is not measured. Owners, privileges, tablespaces and subscriptions are left out, since the roles
and places that they name are in no dump.
Sources: PostgreSQL manual 14 to 18, pg_restore, initdb (--locale-provider from 15, builtin from 17).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from toolkit.dialects import backups, restores
from toolkit.dialects.answers import Granted
from toolkit.dialects.implementations import Kept
from toolkit.dialects.postgresql.backup.dump import at_once
from toolkit.dialects.postgresql.backup.programs import RESTORE, path_to
from toolkit.dialects.postgresql.release import major
from toolkit.dialects.postgresql.restore import server
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.records import Metric
from toolkit.model.steps import SUMS, content_of
from toolkit.model.words import Effect, Role, StepKind

INITDB, CREATEDB = "initdb", "createdb"
PROGRAMS = (RESTORE, INITDB, CREATEDB)
SIGNS = ("toc.dat",)
PROGRAM = RESTORE
_LIST = "dump_list"
_GROWS_TO = 4.0
"""How much bigger than a compressed dump its tables and indexes are, as a rule of thumb."""
_MADE_BY_INITDB = frozenset({"postgres", "template1"})
_WITH_PROVIDERS = 15
_CREATED = re.compile(r"; Archive created at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC")
_BEGINS = re.compile(r'(?:^|: |")launching item \d+ TABLE DATA ')
_ENDS = re.compile(r'(?:^|: |")finished item \d+ TABLE DATA ')
_OPTIONS = "-c default_transaction_read_only=off"


def label(work: Work) -> str:
    """Name it by its folder."""
    return str(restores.backup_of(work.options))


def refuse(work: Work, facts: Facts) -> None:
    """Refuse a folder that holds no dump in directory format.

    Raises:
        ToolkitError: TK-0204, and as `refuse_folders`.
    """
    restores.refuse_folders(work, facts)
    if restores.content(work, facts) and "toc.dat" not in restores.names_in(work, facts):
        raise ToolkitError(
            f"`{label(work)}` holds no dump in directory format: toc.dat is not in it",
            code="TK-0204",
            hint="give the folder of `pg_dump --format=directory`, or one of `dbatk backup run --method pg_dump`",
        )


def refusal(work: Work, facts: Facts) -> str | None:
    """Say why this cannot be had; None when it can."""
    del facts
    return "channels must be a number here" if work.degree < 1 else None


def size(work: Work, facts: Facts) -> float | None:
    """Estimate how big the copy is."""
    found = restores.content(work, facts).get("byte_count")
    return found * _GROWS_TO if isinstance(found, int | float) else None


def _sealed(work: Work, facts: Facts) -> bool:
    return SUMS in restores.names_in(work, facts)


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Compare the files with their checksums where there are some, make a cluster, and restore into it."""
    prove = (backups.prove(work.object, label(work)),) if _sealed(work, facts) else ()
    made = server.command(INITDB, (path_to(INITDB, facts), *_like_the_target(facts)), work, facts, Effect.CHANGES)
    made = replace(made, argv=(*made.argv, f"--pgdata={content_of(work.object)}"))
    return (
        *prove,
        made,
        server.configure(work, facts, new=True),
        server.start(work, facts),
        *_create(work, facts),
        _restore(work, facts),
    )


def _like_the_target(facts: Facts) -> tuple[str, ...]:
    """Spell the options of initdb by which the copy compares and sorts text as the target does."""
    source = facts.first(server.SOURCE)
    given = [
        f"--username={server.superuser(facts)}", "--auth=trust", "--no-instructions",
        f"--encoding={source.get('encoding') or 'UTF8'}", f"--lc-collate={source.get('collate_name') or 'C'}",
        f"--lc-ctype={source.get('ctype_name') or 'C'}",
    ]  # fmt: skip
    provider, locale = source.get("provider"), source.get("locale_name")
    if provider in (None, "libc") or locale is None or major(facts.release) < _WITH_PROVIDERS:
        return tuple(given)
    return (*given, f"--locale-provider={provider}", f"--{provider}-locale={locale}")


def _create(work: Work, facts: Facts) -> tuple[Call, ...]:
    name = str(facts.value("server", "database_name") or "postgres")
    if name in _MADE_BY_INITDB:
        return ()
    argv = (path_to(CREATEDB, facts), *_where(work, facts), "--template=template0", "--", name)
    return (_client(CREATEDB, argv, work),)


def _where(work: Work, facts: Facts) -> tuple[str, ...]:
    return (
        f"--host={server.socket_folder(work)}", f"--port={server.port(facts)}",
        f"--username={server.superuser(facts)}", "--no-password",
    )  # fmt: skip


def _restore(work: Work, facts: Facts) -> Call:
    name = str(facts.value("server", "database_name") or "postgres").replace("\\", "\\\\").replace("'", "\\'")
    argv = (
        path_to(RESTORE, facts), *_where(work, facts), f"--dbname=dbname='{name}'", f"--jobs={work.degree}",
        "--exit-on-error", "--no-owner", "--no-privileges", "--no-tablespaces", "--no-subscriptions", "--verbose",
        label(work),
    )  # fmt: skip
    return replace(_client(RESTORE, argv, work), environment={"PGOPTIONS": _OPTIONS})


def _client(name: str, argv: tuple[str, ...], work: Work) -> Call:
    """Run a client of the scratch server: it needs to read the dump, not to be the server's user."""
    return Call(
        name, kind=StepKind.COMMAND, session=Role.WORKER, effect=Effect.CHANGES, object=work.object, argv=argv,
        environment={"PGOPTIONS": _OPTIONS}, without=("PG",),
    )  # fmt: skip


def calls(work: Work, facts: Facts) -> tuple[Call, ...]:
    """List what is in the dump, for when it was made."""
    argv = (path_to(RESTORE, facts), "--list", label(work))
    return (replace(_client(_LIST, argv, work), effect=Effect.READS, keep_as=_LIST, environment={"TZ": "UTC"}),)


def phases(kept: Kept) -> Mapping[str, int]:
    """Count the steps of each phase: of the recovery time is only what a server that is there would need."""
    rows = kept.get("program", ())
    proved = sum("verified" in row for row in rows)
    return {"verify": proved, "make": 1 + server.STEPS, "copy": len(rows) - proved - 1 - server.STEPS}


def point(kept: Kept) -> datetime | None:
    """Return when the dump began: it has all that was committed by then.

    A dump holds what the clock showed where it was made, without a zone (`WriteHead` of pg_backup_archiver.c): UTC
    where dbatk made it, which its checksums show; for any other the zone of this host is taken.
    """
    lines = (str(row.get("line") or "") for row in kept.get(_LIST, ()))
    found = next((match[1] for line in lines if (match := _CREATED.match(line))), None)
    if found is None:
        return None
    shown = datetime.fromisoformat(found)
    return shown.replace(tzinfo=UTC) if proof(kept) else shown.astimezone(UTC)


def another(kept: Kept) -> str | None:
    """Say nothing: a dump does not say of which cluster it is."""
    del kept
    return None


def behind(kept: Kept) -> tuple[Metric, ...]:
    """Tell nothing: a dump has no place in the log."""
    del kept
    return ()


def granted(work: Work, kept: Kept) -> Granted:
    """Count the sessions that restored tables at once."""
    return at_once(RESTORE, work.degree, kept, _BEGINS, _ENDS)


def proof(kept: Kept) -> str:
    """Name what compared the content with checksums; empty where the dump has none."""
    return SUMS if any("verified" in row for row in kept.get("program", ())) else ""
