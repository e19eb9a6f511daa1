"""A dump of pg_dump in directory format, restored by n sessions of pg_restore into a new, empty cluster.

The cluster has the encoding and locale of the target's database, and the default settings of its release: what the
target would take is not measured. Owners, privileges, tablespaces and subscriptions are left out, since the roles
and places that they name are in no dump.

What a dump holds runs while it is restored: functions that checks, indexes and materialized views call. So a role
restores it that is no superuser. Schemas and extensions are made by the superuser before, in a database in which
nothing of the dump is; then it can never connect again. What else only a superuser may make fails, but for event
triggers and publications, which are left out.
Sources: PostgreSQL manual 14 to 18, pg_restore, initdb (--locale-provider from 15, builtin from 17).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from toolkit import resources
from toolkit.dialects import backups, restores
from toolkit.dialects.answers import Granted
from toolkit.dialects.implementations import Kept
from toolkit.dialects.postgresql.backup.dump import at_once
from toolkit.dialects.postgresql.backup.programs import RESTORE, path_to, release_of
from toolkit.dialects.postgresql.release import major
from toolkit.dialects.postgresql.restore import server
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.records import Metric
from toolkit.model.steps import SUMS, content_of, path_of
from toolkit.model.words import Effect, Role, StepKind

INITDB, CREATEDB = "initdb", "createdb"
PROGRAMS = (RESTORE, INITDB, CREATEDB)
SIGNS = ("toc.dat",)
PROGRAM = RESTORE
_LIST = "dump_list"
_LEFT_OUT = re.compile(r"\d+; (?:3466|6104) \d+ (EVENT TRIGGER|PUBLICATION) - (.*) \S+$")
"""How pg_restore lists an event trigger and a publication: their catalogues, then kind, name and owner."""
_SHOWN = 5
_GROWS_TO = 4.0
"""How much bigger than a compressed dump its tables and indexes are, as a rule of thumb."""
_MADE_BY_INITDB = frozenset({"postgres", "template1"})
_WITH_PROVIDERS = 15
_RESTRICTS_SINCE = {14: (14, 19), 15: (15, 14), 16: (16, 10), 17: (17, 6)}
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
    own = server.trusted(work)
    return (
        *prove,
        made,
        server.configure(work, facts, new=True),
        server.start(work, facts),
        *(() if own else (_divide(work, facts),)),
        *_create(work, facts),
        *(() if own else (_make_login(work, facts),)),
        _restore(work, facts),
    )


def _divide(work: Work, facts: Facts) -> Call:
    """Divide what is in the dump between the superuser and the role that restores it."""
    argv = (sys.executable, "-I", "-S", resources.program("executors", _LIST), "--pg-restore",
            path_to(RESTORE, facts), "--into", path_of(work.object),
            *(("--restrict",) if restricts(facts) else ()), label(work))  # fmt: skip
    return _client(_LIST, argv, work)


def restricts(facts: Facts) -> bool:
    r"""Tell whether psql knows `\restrict`: since the releases of 14 August 2025 (CVE-2025-8714)."""
    known = release_of(server.PSQL, facts)
    return known >= (_RESTRICTS_SINCE[known[0]] if known and known[0] in _RESTRICTS_SINCE else (18,))


def _make_login(work: Work, facts: Facts) -> Call:
    """Make what only a superuser may, then the role; the superuser cannot connect again."""
    values: dict[str, ContextValue] = {"login": server.asker(work, facts)}
    return server.run_as_superuser("restore_login", values, work, facts, f"{path_of(work.object)}/before.sql")


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
    where = _where(server.superuser(facts), work, facts)
    argv = (path_to(CREATEDB, facts), *where, "--template=template0", "--", name)
    return (_client(CREATEDB, argv, work),)


def _where(name: str, work: Work, facts: Facts) -> tuple[str, ...]:
    return (
        f"--host={server.socket_folder(work)}", f"--port={server.port(facts)}", f"--username={name}",
        "--no-password",
    )  # fmt: skip


def _restore(work: Work, facts: Facts) -> Call:
    name = str(facts.value("server", "database_name") or "postgres").replace("\\", "\\\\").replace("'", "\\'")
    chosen = () if server.trusted(work) else (f"--use-list={path_of(work.object)}/dump.list",)
    argv = (
        path_to(RESTORE, facts), *_where(server.asker(work, facts), work, facts), f"--dbname=dbname='{name}'",
        f"--jobs={work.degree}", "--exit-on-error", "--no-owner", "--no-privileges", "--no-tablespaces",
        "--no-subscriptions", "--verbose", *chosen, label(work),
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


def phases(work: Work, kept: Kept) -> Mapping[str, int]:
    """Count the steps of each phase: of the recovery time is only what a server that is there would need."""
    rows = kept.get("program", ())
    proved = sum("verified" in row for row in rows)
    made = 1 + server.STEPS + (0 if server.trusted(work) else 1)
    return {"verify": proved, "make": made, "copy": len(rows) - proved - made}


def left_out(work: Work, kept: Kept) -> tuple[str, ...]:
    """Tell what is in the dump and was not restored, since only a superuser may make it, or most of it."""
    lines = () if server.trusted(work) else (str(row.get("line") or "") for row in kept.get(_LIST, ()))
    found = [f"{match[1].lower()} {match[2]}" for line in lines if (match := _LEFT_OUT.match(line))]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return (f"left out without --as-superuser: {', '.join(found[:_SHOWN])}{more}",) if found else ()


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
