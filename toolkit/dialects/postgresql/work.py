"""How PostgreSQL spells each operation: the worker's session, the timed statements, evidence, the finish.

Our degree d is d - 1 workers beside the leader: `max_parallel_workers_per_gather` for queries,
`max_parallel_maintenance_workers` for index builds.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolkit.dialects.indexes import IndexKey
from toolkit.dialects.postgresql.names import clipped, parse_name, quote
from toolkit.dialects.postgresql.objects import comment, marked, name_binds
from toolkit.dialects.postgresql.release import major
from toolkit.dialects.rows import rows_of
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Scalar
from toolkit.model.words import Effect, Mode, ObjectKind, Role

QUERY_DEGREE = "max_parallel_workers_per_gather"
INDEX_DEGREE = "max_parallel_maintenance_workers"
Values = Mapping[str, ContextValue]
_INDEX_WORK = ("index-build", "index-rebuild")


def _set(name: str, value: Scalar) -> Call:
    return Call("set", {"name": name, "value": value}, session=Role.WORKER)


def _settings(work: Work) -> dict[str, Scalar]:
    """Return the session's settings of a work."""
    workers = work.degree - 1
    if work.operation == "ctas":
        settings: dict[str, Scalar] = {QUERY_DEGREE: workers}
        if work.option("compression") is not None:
            settings["default_toast_compression"] = str(work.option("compression"))
        return settings
    if work.operation == "insert":
        return {QUERY_DEGREE: workers}
    if work.operation in _INDEX_WORK:
        # the server says at DEBUG1, and nowhere else, how many workers a build asks for
        return {INDEX_DEGREE: workers, "client_min_messages": "debug1"}
    target = work.option("statistics_target")
    return {} if target is None else {"default_statistics_target": int(str(target))}


def begin(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Set the worker's session up and keep, under `plan`, what decides on its workers."""
    settings = tuple(_set(name, value) for name, value in _settings(work).items())
    return (*settings, *_plan(work), *_counted(work, facts, "degree_before"))


def end(work: Work) -> tuple[Call, ...]:
    """Put the worker's session back."""
    return tuple(Call("reset", {"name": name}, session=Role.WORKER) for name in _settings(work))


def _plan(work: Work) -> tuple[Call, ...]:
    """Ask, before the clock and under the same settings, what the statement will ask for."""
    if work.degree < 2:
        return ()
    if work.operation == "ctas":
        values: Values = {"query": work.query, "source": work.source, **rows_of(work)}
        return (Call("explain_query", values, session=Role.WORKER, keep_as="plan"),)
    if work.operation in _INDEX_WORK:
        binds = name_binds(indexed_table(work))
        return (Call("maintenance_plan", session=Role.WORKER, file=True, binds=binds, keep_as="plan"),)
    return ()


def _counted(work: Work, facts: Facts, key: str) -> tuple[Call, ...]:
    """Read the database's own count of workers launched, which exists from 18 on, for queries only."""
    if work.degree < 2 or work.operation != "ctas" or major(facts.release) < 18:
        return ()
    return (Call("workers_launched", session=Role.WORKER, file=True, keep_as=key),)


def indexed_table(work: Work) -> QualifiedName:
    """Return the table of an index work.

    Raises:
        ToolkitError: TK-0901 when the operation named none.
    """
    table = work.object.table or (work.index.table if work.index else None)
    if table is None:
        raise ToolkitError(f"the table of index `{work.object.name}` was not given", code="TK-0901")
    return table


def prepare(work: Work) -> tuple[Call, ...]:
    """Turn our own, still empty table UNLOGGED where the level says nologging."""
    if work.operation == "insert" and work.option("logging") == "nologging" and work.object.scratch:
        values: Values = {"table": work.object.name}
        return (Call("set_unlogged", values, effect=Effect.CHANGES, object=work.object),)
    return ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the work itself."""
    if work.operation == "ctas":
        return marked(_ctas(work), work.mark)
    if work.operation == "insert":
        return (_insert(work, facts),)
    if work.operation == "index-build":
        build = _index_build(work)
        if work.option("online"):  # CONCURRENTLY refuses to run in a transaction
            return (build, *comment(work.object, work.mark, Role.WORKER))
        return marked(build, work.mark)
    if work.operation == "index-rebuild":
        return (_index_rebuild(work),)
    return (_change("analyze", {"table": work.object.name}, work),)


def _change(template: str, values: Values, work: Work, undo: tuple[Call, ...] = ()) -> Call:
    return Call(template, values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object, undo=undo)


def _fillfactor(work: Work) -> int | None:
    free = work.option("pctfree")
    return None if free is None else 100 - int(str(free))


def _tablespace(work: Work) -> str | None:
    name = work.option("tablespace")
    return None if name is None else parse_name(str(name)).name


def _ctas(work: Work) -> Call:
    values: Values = {
        "table": work.object.name,
        "source": work.source,
        "query": work.query,
        **rows_of(work),
        "unlogged": work.mode is Mode.MEASUREMENT and work.option("logging") == "nologging",
        "fillfactor": _fillfactor(work),
        "tablespace": _tablespace(work),
    }
    return Call("ctas", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object)


def _insert(work: Work, facts: Facts) -> Call:
    values: Values = {
        "table": work.object.name,
        "source": work.source,
        "query": work.query,
        **rows_of(work),
        "overriding": _overriding(work, facts),
    }
    return _change("insert", values, work)


def _overriding(work: Work, facts: Facts) -> bool:
    """Say OVERRIDING SYSTEM VALUE where a column named is GENERATED ALWAYS AS IDENTITY.

    It changes nothing for tables without such a column, so it is said too where the columns were not read.
    """
    read = [row for key, rows in facts.answers.items() for row in rows if key.endswith("columns")]
    if not read:
        return bool(work.columns)
    always = {row.get("column_name") for row in read if row.get("identity") == "always"}
    return not always.isdisjoint(work.columns)


def _index_build(work: Work) -> Call:
    values: Values = {
        "index": QualifiedName(work.object.name.name),
        "table": indexed_table(work),
        "keys": ", ".join(_key(key) for key in work.keys) or ", ".join(map(quote, work.columns)),
        "unique": bool(work.option("unique")),
        "online": bool(work.option("online")),
        "fillfactor": _fillfactor(work),
        "tablespace": _tablespace(work),
    }
    return Call("index_build", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object)


def _key(key: IndexKey) -> str:
    """Spell a part of a key: an expression stands in brackets, a direction after them."""
    text = key.text if key.column is not None else f"({key.text})"
    return f"{text} DESC" if key.descending else text


def _index_rebuild(work: Work) -> Call:
    values: Values = {
        "index": work.object.name,
        "online": bool(work.option("online")),
        "tablespace": _tablespace(work),
    }
    return _change("index_rebuild", values, work, undo=_leftovers(work))


def _leftovers(work: Work) -> tuple[Call, ...]:
    """Drop the invalid index that a REINDEX CONCURRENTLY leaves when it fails or is cancelled.

    It builds under the name `<index>_ccnew`, and calls the former index `<index>_ccold` until that is dropped.
    When the table has such an index already, ours has a number after its name, and nothing is dropped.
    Source: PostgreSQL manual, REINDEX, "Rebuilding Indexes Concurrently".
    """
    if not work.option("online") or work.index is None or work.index.leftover:
        return ()
    name = work.object.name
    twins = (QualifiedName(clipped(name.name, suffix), name.schema) for suffix in ("_ccnew", "_ccold"))
    return tuple(_drop_invalid(ObjectRef(ObjectKind.INDEX, twin)) for twin in twins)


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Ask right after the clock: workers launched, rows, bytes.

    The session's statistics are flushed first (15 and later): the counters read around a trial would otherwise
    miss what this session did, up to a second long.
    """
    flush = (Call("force_stats_flush", session=Role.WORKER, file=True),) if major(facts.release) >= 15 else ()
    binds = name_binds(work.object.name)
    rows = () if work.operation in ("ctas", "insert") else ("object_rows",)
    asked = tuple(
        Call(file, session=Role.WORKER, file=True, binds=binds, keep_as=file.removeprefix("object_"))
        for file in (*rows, "object_bytes")
    )
    return (*flush, *_counted(work, facts, "degree"), *asked)


def settle(work: Work) -> tuple[Call, ...]:
    """Leave no invalid index of ours behind: a CONCURRENTLY build that failed does."""
    if work.operation != "index-build" or not work.option("online"):
        return ()
    if work.object.kind is not ObjectKind.INDEX:
        return ()
    return (_drop_invalid(work.object),)


def _drop_invalid(index: ObjectRef) -> Call:
    text = ".".join(quote(part) for part in (index.name.schema, index.name.name) if part)
    values: Values = {"name_text": text, "drop_text": f"DROP INDEX {text}"}
    return Call("drop_invalid_index", values, effect=Effect.DROPS, object=index)
