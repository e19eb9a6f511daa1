"""CREATE INDEX, on a copy of the table or INVISIBLE on the live one."""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

import re
from dataclasses import replace

from toolkit.dialects.oracle import index_facts, partitions, spelling, taking
from toolkit.dialects.oracle.catalog import fact_about, indexes_of
from toolkit.dialects.oracle.names import quote
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.oracle.work import indexes
from toolkit.dialects.oracle.work.base import asks_nologging, segment_bytes
from toolkit.dialects.oracle.work.indexes import needs_enterprise, no
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Effect, Mode, Role

_BOUND = re.compile(
    r"-?\d+(?:\.\d+)?|'(?:[^'\0]|'')*'"
    r"|DATE\s*(?P<day>'\d{4}-\d\d-\d\d')|TIMESTAMP\s*(?P<instant>'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d')",
    re.ASCII | re.IGNORECASE,
)
_COMMA = re.compile(r"\s*,\s*")


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing: the index does not exist yet."""
    return ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the build."""
    table = _table(work)
    keys = _keys(work)
    values: dict[str, ContextValue] = {
        "index": work.object.name,
        "table": table,
        "unique": bool(work.option("unique")),
        "bitmap": bool(work.option("bitmap")),
        "reverse": bool(work.option("reverse")),
        "keys": ", ".join(keys),
        "local": bool(work.option("local")),
        "hash": spelling.integer_option(work, "global_hash"),
        "bounds": bounds(spelling.text_option(work, "global_range")),
        "by": keys[0].removesuffix(" DESC"),
        "parallel": spelling.parallel_clause(work),
        "invisible": _unseen(work) or bool(work.option("invisible")),
        **indexes.storage(work),
    }
    call = Call("index_build", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object)
    if not work.object.scratch:
        call = replace(call, undo=settle(work, facts), definition=_definition(work))
    return (call,)


def _definition(work: Work) -> tuple[tuple[str, str], ...]:
    """Return what the dictionary says of the index (see definition_index.sql); LOCAL names no method."""
    kind = "BITMAP" if work.option("bitmap") else "REVERSE" if work.option("reverse") else "NORMAL"
    parts = [word for word in ("hash", "range") if work.option(f"global_{word}")]
    how = "LOCAL" if work.option("local") else f"GLOBAL {parts[0].upper()}" if parts else "NONE"
    columns = [None if key.descending else key.column for key in work.keys] or list(work.columns)
    return (
        ("table", str(_table(work))),
        ("kind", f"UNIQUE {kind}" if work.option("unique") else kind),
        ("partitioning", how),
        *(("key", f"{place} {column or '(expression)'}") for place, column in enumerate(columns, 1)),
    )


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Measure the index."""
    return (segment_bytes(work.object, facts),)


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Take the degree of the build off the index, and log it again."""
    degree = indexes.attribute(work.object, "NOPARALLEL", instead_of=spelling.parallel_clause(work))
    calls = () if spelling.is_serial(work) else (degree,)
    logged = indexes.attribute(work.object, "LOGGING", instead_of="NOLOGGING")
    return (*calls, logged) if asks_nologging(work) else calls


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Say what the index and its sorted keys take."""
    texts = tuple(key.text for key in work.keys) or tuple(quote(column) for column in work.columns)
    return taking.of_build(work, _worked_on(work, facts), texts, facts)


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge the kind of index, its partitions, its twin, compression, ONLINE and concurrency."""
    found = (
        _refined(work) or _kind(work, facts) or _prefix(work) or _partitions(work, facts)
        or indexes.judge(work, facts) or _twin(work, facts)
    )  # fmt: skip
    if found is None and work.concurrency > 1:
        return no("the same columns of one table cannot be indexed twice (ORA-01408); build with one session")
    return found


def _refined(work: Work) -> Support | None:
    said = next((key.refined for key in work.keys if key.refined), "")
    return no(f"Oracle's CREATE INDEX has no {said}") if said else None


def bounds(text: str | None) -> tuple[str, ...]:
    """Read the bounds of range partitions: numbers, 'texts', DATE '2026-01-31'; MAXVALUE comes by itself.

    Raises:
        ToolkitError: TK-0102 for anything else.
    """
    found: list[str] = []
    at = 0
    given = (text or "").strip()
    while at < len(given):
        match = _BOUND.match(given, at)
        comma = _COMMA.match(given, match.end()) if match else None
        if match is None or (comma is None and match.end() != len(given)) or (comma and comma.end() == len(given)):
            raise ToolkitError(
                f"`global_range` cannot be `{given[:80]}`",
                code="TK-0102",
                hint="give ascending, comma-separated bounds: 10,20 or 'K','T' or DATE '2026-01-31'",
            )
        found.append(_spelled(match))
        at = comma.end() if comma else match.end()
    return tuple(found)


def _spelled(bound: re.Match[str]) -> str:
    if bound["day"]:
        return f"TO_DATE({bound['day']}, 'YYYY-MM-DD')"
    return f"TIMESTAMP {bound['instant']}" if bound["instant"] else bound[0]


def _table(work: Work) -> QualifiedName:
    if work.object.table is None:
        raise ToolkitError(f"the index `{work.object.name}` has no table", code="TK-0901")
    return work.object.table


def _keys(work: Work) -> tuple[str, ...]:
    return tuple(key.spelled for key in work.keys) or tuple(quote(column) for column in work.columns)


def _unseen(work: Work) -> bool:
    """Tell whether a measurement on the live table keeps its index out of the optimizer's sight."""
    return work.mode is Mode.MEASUREMENT and bool(work.option("on_live_objects"))


def _kind(work: Work, facts: Facts) -> Support | None:
    if not work.option("bitmap"):
        return None
    for other in ("unique", "reverse"):
        if work.option(other):
            return no(f"a bitmap index cannot be {'unique' if other == 'unique' else 'a reverse key index'}")
    return needs_enterprise("a bitmap index", "Bit-mapped indexes", facts)


def _prefix(work: Work) -> Support | None:
    """Judge COMPRESS n: all columns at most, of a unique index all but one (SQLRF, prefix_compression)."""
    prefix = spelling.integer_option(work, "prefix")
    if not isinstance(prefix, int):
        return None
    level = spelling.text_option(work, "compression")
    if level not in (None, "basic"):
        return no(f"a prefix is compressed with `--compression basic`, not with `{level}`")
    if work.option("bitmap"):
        return no("a bitmap index is always compressed and accepts no other compression")
    most = len(_keys(work)) - bool(work.option("unique"))
    if prefix > most:
        return no(f"the prefix of this index can have at most {most} columns, not {prefix} (ORA-25193, ORA-25194)")
    return None


def _partitions(work: Work, facts: Facts) -> Support | None:
    asked = [name for name in ("local", "global_hash", "global_range") if work.option(name)]
    if len(asked) > 1:
        return no(f"`{asked[0]}` and `{asked[1]}` are mutually exclusive: an index is partitioned in only one way")
    if work.option("bitmap") and _on_partitions(work, facts) and asked != ["local"]:
        return no("a bitmap index of a partitioned table must be local (ORA-25122); give `--local`")
    if not asked:
        return None
    return _local(work, facts) if asked == ["local"] else _global(work, facts)


def _global(work: Work, facts: Facts) -> Support | None:
    if work.option("bitmap"):
        return no("a bitmap index cannot be partitioned globally (ORA-25113)")
    if work.keys and work.keys[0].column is None:
        return no("a global index is partitioned by its first column, and the first key is an expression")
    bounds(spelling.text_option(work, "global_range"))
    return needs_enterprise("a partitioned index", "Partitioning", facts)


def _local(work: Work, facts: Facts) -> Support | None:
    table = _worked_on(work, facts)
    known = fact_about(facts, table, "partitioned") is not None
    if known and not _on_partitions(work, facts):
        return no(f"`{table}` is not partitioned, so its index cannot be local (ORA-14016)")
    if known and _on_copy(work) and not index_facts.table_is_copied_alike(facts, table):
        why = partitions.of_table(facts)[1] or "its partitions were not read"
        return no(
            f"a local index of `{table}` cannot be measured on a copy: {why}; measure with --on-live-objects"
        )
    return needs_enterprise("a partitioned index", "Partitioning", facts)


def _on_copy(work: Work) -> bool:
    return work.object.scratch and not _unseen(work)


def _worked_on(work: Work, facts: Facts) -> QualifiedName:
    """Return the user's table, where the work is on its copy too."""
    row = facts.first("target")
    if _on_copy(work) and row:
        return QualifiedName(str(row["table_name"]), str(row["schema_name"]))
    return _table(work)


def _on_partitions(work: Work, facts: Facts) -> bool:
    return str(fact_about(facts, _worked_on(work, facts), "partitioned") or "NO") == "YES"


def _twin(work: Work, facts: Facts) -> Support | None:
    """Foresee ORA-01408 on a live table; a copy has no other index.

    From 12.1 a set of columns may have several indexes of different kinds of which one is visible (SQLRF,
    CREATE INDEX): an invisible one of another kind is let through.
    """
    if _on_copy(work):
        return None
    mine = [_plain(key) for key in _keys(work)]
    for row in indexes_of(facts, _table(work)):
        name = QualifiedName(str(row["index_name"]), str(row["schema_name"]))
        if [_plain(key) for key in index_facts.key_of(facts, name)] != mine:
            continue
        hidden = _unseen(work) or bool(work.option("invisible")) or row.get("visibility") == "INVISIBLE"
        if hidden and has(facts.release, Feature.TWIN_INDEXES) and _another_kind(work, row):
            continue
        return no(
            f"`{name}` already indexes these columns (ORA-01408); rebuild it, or measure on a copy without "
            "other indexes"
        )
    return None


def _plain(key: str) -> str:
    # The catalogue quotes every name of an expression and writes no blanks, where a user may.
    return re.sub(r"\s+(?=(?:[^']*'[^']*')*[^']*$)", "", key.replace('"', "")).upper()


def _another_kind(work: Work, row: Row) -> bool:
    differs = (
        bool(work.option("bitmap")) != ("BITMAP" in index_facts.kind(row)),
        bool(work.option("unique")) != (row.get("is_unique") == "yes"),
        bool(work.option("local")) != index_facts.is_local(row),
        bool(work.option("global_hash") or work.option("global_range"))
        != (index_facts.is_partitioned(row) and not index_facts.is_local(row)),
    )
    return any(differs)
