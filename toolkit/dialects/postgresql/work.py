"""How PostgreSQL does each operation: the worker's session, the timed statements, evidence, the finish.

Our degree d is d - 1 workers beside the leader: `max_parallel_workers_per_gather` for queries,
`max_parallel_maintenance_workers` for index builds.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Mapping

from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import Implementation, Implementations, Kept
from toolkit.dialects.indexes import IndexKey
from toolkit.dialects.postgresql import backup, granted, support
from toolkit.dialects.postgresql.names import clipped, parse_name, quote
from toolkit.dialects.postgresql.objects import comment, marked, name_binds
from toolkit.dialects.postgresql.release import major
from toolkit.dialects.rows import rows_of
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row, Scalar, Support
from toolkit.model.words import Effect, Mode, ObjectKind, Role

QUERY_DEGREE = "max_parallel_workers_per_gather"
INDEX_DEGREE = "max_parallel_maintenance_workers"
Values = Mapping[str, ContextValue]
_BEGAN = "began"
_SKIPPED = "skipping"
"""A word of all warnings of ANALYZE about what it leaves out (commands/vacuum.c, commands/analyze.c)."""


class _InSession(Implementation):
    """What all operations of a session share; each says which settings it takes."""

    def support(self, work: Work, facts: Facts) -> Support:
        found = support.server(facts) or support.degree(work, self.serial) or self.judge(work, facts)
        return found or support.SUPPORTED

    serial = ""
    """Why a degree above 1 cannot be had; empty where it can."""

    def judge(self, work: Work, facts: Facts) -> Support | None:
        """Say what of its own options stands in the way; None when nothing does."""
        return None

    def settings(self, work: Work) -> dict[str, Scalar]:
        """Return the session's settings of a work."""
        return {}

    def plan(self, work: Work) -> tuple[Call, ...]:
        """Ask, before the clock and under the same settings, what the statement will ask for."""
        return ()

    def counted(self, work: Work, facts: Facts, key: str) -> tuple[Call, ...]:
        """Read the database's own count of workers launched, where it counts them."""
        return ()

    def worker_begin(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Set the worker's session up and keep, under `plan`, what decides on its workers."""
        settings = (
            Call("set", {"name": name, "value": value}, session=Role.WORKER)
            for name, value in self.settings(work).items()
        )
        return (*settings, *self.plan(work), *self.counted(work, facts, "degree_before"))

    def worker_end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return tuple(Call("reset", {"name": name}, session=Role.WORKER) for name in self.settings(work))

    sizes: tuple[str, ...] = ("object_rows", "object_bytes")
    """What is asked of the object after the clock."""

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Ask right after the clock: workers launched, rows, bytes.

        The session's statistics are flushed first (15 and later): the counters read around a trial would otherwise
        miss what this session did, up to a second long.
        """
        flush = (Call("force_stats_flush", session=Role.WORKER, file=True),) if major(facts.release) >= 15 else ()
        binds = name_binds(work.object.name)
        asked = tuple(
            Call(file, session=Role.WORKER, file=True, binds=binds, keep_as=file.removeprefix("object_"))
            for file in self.sizes
        )
        return (*flush, *self.counted(work, facts, "degree"), *asked)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        return Granted(1, "one process", "" if work.degree <= 1 else "PostgreSQL does this in one process")


class _Ctas(_InSession):
    """CREATE TABLE AS: its query runs in parallel."""

    sizes = ("object_bytes",)

    def judge(self, work: Work, facts: Facts) -> Support | None:
        return support.table_logging(work) or support.sample(work, facts) or support.table_compression(work, facts)

    def settings(self, work: Work) -> dict[str, Scalar]:
        settings: dict[str, Scalar] = {QUERY_DEGREE: work.degree - 1}
        if work.option("compression") is not None:
            settings["default_toast_compression"] = str(work.option("compression"))
        return settings

    def plan(self, work: Work) -> tuple[Call, ...]:
        if work.degree < 2:
            return ()
        values: Values = {"query": work.query, "source": work.source, **rows_of(work)}
        return (Call("explain_query", values, session=Role.WORKER, keep_as="plan"),)

    def counted(self, work: Work, facts: Facts, key: str) -> tuple[Call, ...]:
        """Read the database's count of workers launched, which exists from 18 on, for queries only."""
        if work.degree < 2 or major(facts.release) < 18:
            return ()
        return (Call("workers_launched", session=Role.WORKER, file=True, keep_as=key),)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        values: Values = {
            "table": work.object.name,
            "source": work.source,
            "query": work.query,
            **rows_of(work),
            "unlogged": work.mode is Mode.MEASUREMENT and work.option("logging") == "nologging",
            "fillfactor": _fillfactor(work),
            "tablespace": _tablespace(work),
        }
        make = Call("ctas", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object)
        return marked(make, work.mark)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        return Granted(1, f"{QUERY_DEGREE} = 0") if work.degree <= 1 else granted.of_query(kept, peaks)


class _Insert(_InSession):
    """INSERT ... SELECT."""

    serial = "INSERT ... SELECT never writes in parallel on PostgreSQL"
    sizes = ("object_bytes",)

    def judge(self, work: Work, facts: Facts) -> Support | None:
        found = support.table_logging(work) or support.sample(work, facts)
        if found is None and work.option("logging") == "nologging" and not work.object.scratch:
            return support.refused("nologging would turn the user's table UNLOGGED; measure into a copy")
        if found is None and work.option("compression") is not None:
            return support.refused(
                "the compression of a column is set when its table is created, not by this operation"
            )
        return found

    def settings(self, work: Work) -> dict[str, Scalar]:
        return {QUERY_DEGREE: work.degree - 1}

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Turn our own, still empty table UNLOGGED where the level says nologging."""
        if work.option("logging") == "nologging" and work.object.scratch:
            values: Values = {"table": work.object.name}
            return (Call("set_unlogged", values, effect=Effect.CHANGES, object=work.object),)
        return ()

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        values: Values = {
            "table": work.object.name,
            "source": work.source,
            "query": work.query,
            **rows_of(work),
            "overriding": _overriding(work, facts),
        }
        return (_change("insert", values, work),)


class _OnIndex(_InSession):
    """An index that is built or rebuilt."""

    def judge(self, work: Work, facts: Facts) -> Support | None:
        return support.index_options(work)

    def settings(self, work: Work) -> dict[str, Scalar]:
        # the server says at DEBUG1, and nowhere else, how many workers a build asks for
        return {INDEX_DEGREE: work.degree - 1, "client_min_messages": "debug1"}

    def plan(self, work: Work) -> tuple[Call, ...]:
        if work.degree < 2:
            return ()
        binds = name_binds(indexed_table(work))
        return (Call("maintenance_plan", session=Role.WORKER, file=True, binds=binds, keep_as="plan"),)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        if work.degree <= 1:
            return Granted(1, f"{INDEX_DEGREE} = 0")
        return granted.of_build(work, kept, peaks, notices)


class _IndexBuild(_OnIndex):
    """CREATE INDEX, also CONCURRENTLY."""

    def judge(self, work: Work, facts: Facts) -> Support | None:
        live = work.mode is Mode.MEASUREMENT and bool(work.option("on_live_objects"))
        if live and not work.option("online"):
            return support.index_options(work) or support.refused(
                "PostgreSQL has no invisible index: a build on the live table blocks its writers; "
                "measure on the copy, or with --online"
            )
        return support.index_options(work)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        values: Values = {
            "index": QualifiedName(work.object.name.name),
            "table": indexed_table(work),
            "keys": ", ".join(_key(key) for key in work.keys) or ", ".join(map(quote, work.columns)),
            "unique": bool(work.option("unique")),
            "online": bool(work.option("online")),
            "fillfactor": _fillfactor(work),
            "tablespace": _tablespace(work),
        }
        build = Call("index_build", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object)
        if work.option("online"):  # CONCURRENTLY refuses to run in a transaction
            return (build, *comment(work.object, work.mark, Role.WORKER))
        return marked(build, work.mark)

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Drop the invalid index that a failed CONCURRENTLY build leaves behind."""
        if not work.option("online") or work.object.kind is not ObjectKind.INDEX:
            return ()
        return (_drop_invalid(work.object),)


class _IndexRebuild(_OnIndex):
    """REINDEX, also CONCURRENTLY."""

    def judge(self, work: Work, facts: Facts) -> Support | None:
        if work.option("pctfree") is not None:
            return support.refused("REINDEX has no fillfactor; run ALTER INDEX ... SET (fillfactor = ...) first")
        return support.index_options(work)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        values: Values = {
            "index": work.object.name,
            "online": bool(work.option("online")),
            "tablespace": _tablespace(work),
        }
        return (_change("index_rebuild", values, work, undo=_leftovers(work)),)


class _StatsGather(_InSession):
    """ANALYZE by n connections."""

    degree_by_sessions = True
    serial = (
        "on PostgreSQL, ANALYZE of one table uses one process; several connections can each gather a table "
        "(--schema)"
    )

    def judge(self, work: Work, facts: Facts) -> Support | None:
        if work.object.kind is ObjectKind.STATISTICS and work.object.name.schema is None:
            return support.refused("PostgreSQL has no statement for the statistics of a schema; give its tables")
        if facts.value("target", "kind") == "view":
            return support.refused("a view has no statistics; gather those of its tables")
        return None

    def settings(self, work: Work) -> dict[str, Scalar]:
        target = work.option("statistics_target")
        return {} if target is None else {"default_statistics_target": int(str(target))}

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (_change("analyze", {"table": work.object.name}, work),)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return () if work.object.scratch else (Call("clock", file=True, keep_as=_BEGAN),)

    def verification(self, work: Work, kept: Kept) -> Call | None:
        since = kept[_BEGAN][0]["now"]
        return Call("analyzed", file=True, binds={**name_binds(work.object.name), "since": since})

    def undone(self, rows: tuple[Row, ...], warnings: tuple[str, ...]) -> str | None:
        """Tell by the time of the last ANALYZE; where the server does not keep it, by the warning in English."""
        skipped = [warning for warning in warnings if _SKIPPED in warning]
        said = f"; the server warned: {(skipped or list(warnings))[0]}" if warnings else ""
        asked, done = (
            (int(str(rows[0][column] or 0)) for column in ("asked_count", "done_count")) if rows else (0, 0)
        )
        if done < asked:
            which = (
                "no statistics were gathered" if asked == 1 else f"{asked - done} of {asked} tables were skipped"
            )
            return which + said
        return f"no statistics were gathered{said}" if not asked and skipped else None


class _Backup(backup.PostgresqlBackups):
    """pg_basebackup or pgBackRest."""

    def support(self, work: Work, facts: Facts) -> Support:
        return backup.support(work, facts)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return backup.prepare(work, facts)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return backup.timed(work, facts)

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return backup.evidence(work, facts)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        return backup.granted(work, kept)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        return backup.tell(work, kept, seconds)


WORK = Implementations(
    "postgresql",
    {
        "ctas": _Ctas(),
        "insert": _Insert(),
        "index-build": _IndexBuild(),
        "index-rebuild": _IndexRebuild(),
        "stats-gather": _StatsGather(),
        "backup": _Backup(),
    },
)


def indexed_table(work: Work) -> QualifiedName:
    """Return the table of an index work.

    Raises:
        ToolkitError: TK-0901 when the operation named none.
    """
    table = work.object.table or (work.index.table if work.index else None)
    if table is None:
        raise ToolkitError(f"the table of index `{work.object.name}` was not given", code="TK-0901")
    return table


def _change(template: str, values: Values, work: Work, undo: tuple[Call, ...] = ()) -> Call:
    return Call(template, values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object, undo=undo)


def _fillfactor(work: Work) -> int | None:
    free = work.option("pctfree")
    return None if free is None else 100 - int(str(free))


def _tablespace(work: Work) -> str | None:
    name = work.option("tablespace")
    return None if name is None else parse_name(str(name)).name


def _overriding(work: Work, facts: Facts) -> bool:
    """Say OVERRIDING SYSTEM VALUE where a column named is GENERATED ALWAYS AS IDENTITY.

    It changes nothing for tables without such a column, so it is also used if the columns were not read.
    """
    read = [row for key, rows in facts.answers.items() for row in rows if key.endswith("columns")]
    if not read:
        return bool(work.columns)
    always = {row.get("column_name") for row in read if row.get("identity") == "always"}
    return not always.isdisjoint(work.columns)


def _key(key: IndexKey) -> str:
    """Spell a part of a key: an expression stands in brackets, a direction after them."""
    text = key.text if key.column is not None else f"({key.text})"
    return f"{text} DESC" if key.descending else text


def _leftovers(work: Work) -> tuple[Call, ...]:
    """Drop the invalid index that a REINDEX CONCURRENTLY leaves when it fails or is cancelled.

    It builds under the name `<index>_ccnew`, and calls the former index `<index>_ccold` until that is dropped.
    When the table has such an index already, the new one has a number after its name, and nothing is dropped.
    Source: PostgreSQL manual, REINDEX, "Rebuilding Indexes Concurrently".
    """
    if not work.option("online") or work.index is None or work.index.leftover:
        return ()
    name = work.object.name
    twins = (QualifiedName(clipped(name.name, suffix), name.schema) for suffix in ("_ccnew", "_ccold"))
    return tuple(_drop_invalid(ObjectRef(ObjectKind.INDEX, twin)) for twin in twins)


def _drop_invalid(index: ObjectRef) -> Call:
    text = ".".join(quote(part) for part in (index.name.schema, index.name.name) if part)
    values: Values = {"name_text": text, "drop_text": f"DROP INDEX {text}"}
    return Call("drop_invalid_index", values, effect=Effect.DROPS, object=index)
