"""pg_dump in directory format: n sessions copy tables into files of their own, of a database, schemas or tables.

A table is copied by one session: no more sessions work than there are tables, and a dump takes at least as long as
its largest table. What was written is read back by pg_restore, and its checksums are written beside it.
Sources: PostgreSQL manual 14 to 18, pg_dump (--jobs, --lock-wait-timeout, --strict-names; --compress with a method
and --table-and-children since 16), pg_restore.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolkit.dialects import backups
from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import Kept, Options
from toolkit.dialects.postgresql.backup.basebackup import ACCESS, SHRINKS_TO
from toolkit.dialects.postgresql.backup.programs import DUMP, RESTORE, path_to, release_of
from toolkit.dialects.postgresql.names import parse_name, quote
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Query
from toolkit.model.records import Metric
from toolkit.model.steps import Takes, content_of
from toolkit.model.values import QualifiedName, Support
from toolkit.model.words import Effect, Mode, Role, StepKind, SupportState

PROGRAMS = (DUMP, RESTORE)
_SIZE = "dump_size"
_SCOPES = ("database", "schema", "table")
_LEVELS = {"gzip": (1, 9), "lz4": (1, 12), "zstd": (-7, 22)}
_WITH_METHODS = 16
_LOCK_SECONDS = 60
_BEGINS = re.compile(r'(?:^|: |"|\bitem \d+ [A-Z][^":]*)dumping contents of table ')
_ENDS = re.compile(r'(?:^|: |"|\bitem \d+ [A-Z][^":]*)finished item \d+ TABLE DATA ')
"""In the log of several processes, each of which writes program, message and line end one by one: those of others
may come between, so that a line holds two messages or none. Those about items end without a quote."""
_READ_BACK = re.compile(r'^pg_restore: processing data for table "')


def scope(options: Options) -> str:
    """Return what is dumped: the database, schemas or tables."""
    return str(options.get("scope") or "database")


def _names(options: Options) -> tuple[QualifiedName, ...]:
    given = options.get("of")
    return tuple(map(parse_name, given)) if isinstance(given, tuple) else ()


def reads(options: Options) -> tuple[Query, ...]:
    """Ask for the size of what is dumped, unless it is the whole database."""
    of_schemas = scope(options) == "schema"
    asked = [(name.name, None) if of_schemas else (name.schema, name.name) for name in _names(options)]
    return tuple(
        Query(f"{_SIZE}:{schema}.{table}", _SIZE, {"schema": schema, "name": table}) for schema, table in asked
    )


def _bytes(options: Options, answers: Kept) -> float | None:
    """Return the bytes of what is dumped, in the database."""
    asked = [(query.key, "byte_count") for query in reads(options)] or [("backup_server", "database_bytes")]
    sizes = [row.get(column) for key, column in asked for row in answers.get(key, ({},))]
    known = [float(size) for size in sizes if isinstance(size, int | float)]
    return sum(known) if len(known) == len(sizes) else None


def refuse(work: Work, facts: Facts) -> None:
    """Refuse a scope without its names, names without a scope, and what is not there.

    Raises:
        ToolkitError: TK-0104, TK-0107 or TK-0204.
    """
    what, names = scope(work.options), _names(work.options)
    if what not in _SCOPES:
        raise ToolkitError(
            f"pg_dump has no `--scope {what}`", code="TK-0107", hint=f"give one of {', '.join(_SCOPES)}"
        )
    if (what == "database") != (not names):
        sentence = "`--of` needs a scope" if names else f"`--scope {what}` needs names"
        hint = "add `--scope schema` or `--scope table`" if names else "add `--of A,B`"
        raise ToolkitError(sentence, code="TK-0107", hint=hint)
    if what == "schema" and any(name.schema for name in names):
        raise ToolkitError(
            "the name of a schema has one part", code="TK-0104", hint="for tables give `--scope table`"
        )
    for name, query in zip(names, reads(work.options), strict=True):
        if query.key in facts.answers and not facts.value(query.key, "object_count"):
            raise ToolkitError(
                f"the {what} `{name}` does not exist or is not visible to this user",
                code="TK-0204",
                hint="check `--of` (names in double quotes keep their case)",
            )


def refusal(work: Work, facts: Facts) -> str | None:
    """Say why this cannot be had; None when it can."""
    method, level = str(work.option("compression") or "none"), work.option("compression_level")
    if method == "none":
        return None if level is None else "a level of compression needs --compression gzip, lz4 or zstd"
    if method not in _LEVELS:
        return f"pg_dump compresses with {', '.join(_LEVELS)}, not `{method}`"
    own = release_of(DUMP, facts)
    if method != "gzip" and own and own[0] < _WITH_METHODS:
        return f"pg_dump compresses with {method} from PostgreSQL 16 on, and this one is of {own[0]}"
    low, high = _LEVELS[method]
    if level is not None and not low <= int(str(level)) <= high:
        return f"the levels of {method} are {low} to {high}"
    return None


def of_server(work: Work, facts: Facts) -> Support:
    """Leave it to the server, which says of which table a privilege is missing."""
    del work, facts
    return Support(SupportState.SUPPORTED)


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Say how big it gets: text without indexes, about as big as the tables."""
    size = _bytes(work.options, facts.answers)
    times = 1.0 if work.option("compression") in (None, "none") else SHRINKS_TO
    return backups.takes_of_folder(None if size is None else size * times, work)


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Make the place of the dump."""
    del facts
    return (backups.make(work.object, str(work.mark)),)


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the command line; the dump holds its time as a clock shows it, without a zone: that of UTC here."""
    argv = (
        path_to(DUMP, facts), "--format=directory", f"--jobs={work.degree}",
        f"--compress={_compress(work, facts)}", f"--file={content_of(work.object)}",
        f"--lock-wait-timeout={_LOCK_SECONDS * 1000}", "--no-password", "--verbose", *_of(work, facts),
    )  # fmt: skip
    name = facts.value("server", "database_name")
    return (
        Call(
            DUMP, kind=StepKind.COMMAND, session=Role.WORKER, effect=Effect.CHANGES, object=work.object, argv=argv,
            environment={"TZ": "UTC"} if name is None else {"TZ": "UTC", "PGDATABASE": str(name)}, access=ACCESS,
        ),
    )  # fmt: skip


def _compress(work: Work, facts: Facts) -> str:
    method, level = str(work.option("compression") or "none"), work.option("compression_level")
    if method == "none":
        return "0"
    own = release_of(DUMP, facts)
    if own and own[0] < _WITH_METHODS:
        return str(level if level is not None else 6)
    return method if level is None else f"{method}:{level}"


def _of(work: Work, facts: Facts) -> Iterable[str]:
    """Spell names as patterns that match nothing else: in double quotes a pattern is a name."""
    own = release_of(DUMP, facts)
    flag = "--table-and-children" if not own or own[0] >= _WITH_METHODS else "--table"
    if _names(work.options):
        yield "--strict-names"
    for name in _names(work.options):
        parts = [quote(part) for part in (name.schema, name.name) if part is not None]
        yield f"--schema={parts[0]}" if scope(work.options) == "schema" else f"{flag}={'.'.join(parts)}"


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Read everything back, measure it; the dump of a job gets checksums and goes where it stays."""
    argv = (path_to(RESTORE, facts), "--verbose", "--file=/dev/null", content_of(work.object))
    read = Call(
        RESTORE, kind=StepKind.COMMAND, session=Role.WORKER, effect=Effect.READS, object=work.object, argv=argv,
        keep_as="verified",
    )  # fmt: skip
    asked = [Call(query.file, file=True, binds=query.binds, keep_as=query.key) for query in reads(work.options)]
    sizes = asked or [Call("backup_server", file=True, keep_as="backup_server")]
    found = (*sizes, read, backups.measure(work.object))
    if work.mode is not Mode.JOB:
        return found
    return (*found, backups.seal(work.object), backups.publish(work, verified_by=RESTORE))


def granted(work: Work, kept: Kept) -> Granted:
    """Count the sessions that copied tables at once."""
    return at_once(DUMP, work.degree, kept, _BEGINS, _ENDS)


def at_once(
    program: str, sessions: int, kept: Kept, begins: re.Pattern[str], ends: re.Pattern[str], what: str = "a table"
) -> Granted:
    """Count how many tables, or what else, were worked on at once, by the lines of the log in their order.

    Of one session the log does not say when a table ends.
    """
    if sessions == 1:
        return Granted(1, program)
    busy = most = 0
    for row in kept.get("log", ()):
        line = str(row.get("line") or "")
        found = [(one.end(), by) for pattern, by in ((begins, 1), (ends, -1)) for one in pattern.finditer(line)]
        for _, by in sorted(found):
            busy = max(0, busy + by)  # the begin of one that ends may have been written into another line
            most = max(most, busy)
    if most >= sessions:
        return Granted(sessions, f"{program}'s log")
    return Granted(most, f"{program}'s log", f"at most {most} of {sessions} sessions had {what} at once")


def tell(work: Work, kept: Kept, seconds: float) -> TrialFindings:
    """Tell bytes in and out, how many tables were copied, and that the dump was read back."""
    read = _bytes(work.options, kept)
    written = kept.get("bytes", ({},))[0].get("byte_count")
    # of one process, whose lines nobody writes into: in the log of several a message may be cut in two
    tables = sum(bool(_READ_BACK.search(str(row.get("line") or ""))) for row in kept.get("verified", ()))
    return TrialFindings(
        (
            *backups.volume(read, written, seconds, DUMP),
            Metric("tables", float(tables), "tables", DUMP),
            Metric("verified", 1.0 if "verified" in kept else 0.0, "yes/no", RESTORE),
        )
    )
