"""What is read about the tables of a load, and what a DBA should know of it before the load is run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from toolkit.dialects.oracle import archiving, index_facts, partitions, redo, space, spelling
from toolkit.dialects.oracle.catalog import indexes_of
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.oracle.work import ctas
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.values import QualifiedName, Scalar
from toolkit.model.words import Mode
from toolkit.units import counted

_HINTS = re.compile(r"/\*\+(.*?)\*/|--\+([^\n]*)", re.DOTALL)
_DEGREE_HINTS = ("PARALLEL", "NO_PARALLEL", "NOPARALLEL", "SHARED", "PARALLEL_INDEX")
_LOADS = ("ctas", "insert")
_READ = ("virtual_columns", "policies", "redactions")
_READ_SINCE_12 = ("invisible_columns", "row_archival")
_FILLED = ("virtual_columns", "column_defaults", "constraints", "triggers")
_FILLED_SINCE_12 = ("invisible_columns", "identity_columns")
_SHOWN = {
    "virtual_columns": "has_unlisted",
    "invisible_columns": "has_unlisted",
    "column_defaults": "has_default",
}
"""Files that have nothing to say where no row of the table's columns has YES in a column."""


def place_files(facts: Facts, owners: Collection[str | None]) -> tuple[str, ...]:
    """Name what is read before a run whose objects need room, and redo."""
    return (*space.files_for(facts, owners), archiving.FILE, *redo.place_files(facts.release))


def table_reads(table: QualifiedName, release: Release, prefix: str = "") -> tuple[Query, ...]:
    """Return what is asked about a table that is read, where the release has it."""
    newer = _READ_SINCE_12 if has(release, Feature.INVISIBLE_COLUMNS) else ()
    return tuple(_read(table, file, prefix) for file in (*_READ, *newer))


def _read(table: QualifiedName, file: str, prefix: str = "") -> Query:
    binds: dict[str, Scalar] = {"schema": table.schema, "name": table.name}
    only_if = {f"{prefix}columns": _SHOWN[file]} if file in _SHOWN else {}
    return Query(f"{prefix}{file}", file, binds, optional=True, only_if=only_if)


def filled_reads(table: QualifiedName, release: Release) -> tuple[Query, ...]:
    """Return what is asked about a table that is filled; of its partitions only where it has some."""
    newer = _FILLED_SINCE_12 if has(release, Feature.INVISIBLE_COLUMNS) else ()
    automatic = ("automatic_list",) if has(release, Feature.AUTOMATIC_LIST) else ()
    binds: dict[str, Scalar] = {"schema": table.schema, "name": table.name}
    plain = (_read(table, file) for file in (*_FILLED, *newer))
    of_parts = (*index_facts.TABLE_FILES, *automatic)
    return (*plain, *(Query(file, file, binds, optional=True, only_if=partitions.ONLY_IF) for file in of_parts))


def remarks(work: Work, facts: Facts) -> tuple[str, ...]:
    """Say what a load leaves out, which target it is measured on, and what of it will not help."""
    if work.operation not in _LOADS:
        return ()
    parts = [*_own_hints(work), *_source(work, facts), *_statistics(work, facts)]
    parts += _made(work, facts) if work.operation == "ctas" else _target(work, facts)
    return tuple(dict.fromkeys(parts))


def _names(facts: Facts, key: str, column: str = "column_name") -> list[str]:
    return [str(row[column]) for row in facts.rows(key)]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def _own_hints(work: Work) -> Iterator[str]:
    """Say that a hint in the user's own query decides the degree of its statement (SQLRF, PARALLEL hint)."""
    hints = " ".join(part for found in _HINTS.findall(work.query or "") for part in found)
    named = [name for name in _DEGREE_HINTS if re.search(rf"(?<![\w$#]){name}(?![\w$#])", hints, re.IGNORECASE)]
    if named:
        yield (
            f"the query has its own hint {' and '.join(named)}, which may override the degree asked for: "
            "remove it, or trust the granted degree only"
        )


# -- the rows that are read -------------------------------------------------------------------------------------
def _source(work: Work, facts: Facts) -> Iterator[str]:
    if work.source is None:
        return
    unseen = [name for name in _names(facts, "source_invisible_columns") if name not in work.columns]
    if unseen:
        yield (
            f"`{work.source}` has invisible columns that are not copied: {_listed(unseen)}; list them in "
            "--columns to copy them"
        )
    virtual = [
        name for name in _names(facts, "source_virtual_columns") if not work.columns or name in work.columns
    ]
    if virtual and work.operation == "ctas":
        yield f"virtual columns become ordinary columns with their values: {_listed(virtual)}"
    longs = [row for row in facts.rows("source_columns") if row.get("data_type") in ("LONG", "LONG RAW")]
    if longs:
        yield f"`{longs[0]['column_name']}` is a {longs[0]['data_type']} and is converted to a LOB (TO_LOB)"
    if work.option("sample") is not None:
        yield (
            "SAMPLE with SEED attempts to return the same rows each time (SQL Reference): compare the row "
            "counts of the trials"
        )
    yield from _hidden_rows(work.source, facts)


def _hidden_rows(source: QualifiedName, facts: Facts) -> Iterator[str]:
    policies = _names(facts, "source_policies", "policy_name")
    if policies:
        yield (
            f"row policies filter the rows of `{source}` for this session: {_listed(policies)}; only EXEMPT "
            "ACCESS POLICY sees every row"
        )
    redacted = _names(facts, "source_redactions", "redacted_column")
    if redacted:
        yield (
            f"`{source}` has redacted columns: {_listed(redacted)}; loading them is refused (ORA-28081) without "
            "EXEMPT REDACTION POLICY"
        )
    if facts.rows("source_row_archival"):
        yield (f"`{source}` archives rows (ORA_ARCHIVE_STATE): archived rows are neither visible nor copied")


def _statistics(work: Work, facts: Facts) -> Iterator[str]:
    in_query = work.query is not None and work.operation == "ctas" and work.mode is Mode.MEASUREMENT
    if in_query and has(facts.release, Feature.ONLINE_STATISTICS):
        yield (
            "a CTAS from your own query gathers statistics during the load, which counts in its time; "
            "NO_GATHER_OPTIMIZER_STATISTICS in the query disables it"
        )
    if work.option("online_statistics") == "yes" and work.option("load") == "conventional":
        yield "a conventional insert never gathers statistics during the load"


# -- the table that is made -------------------------------------------------------------------------------------
def _made(work: Work, facts: Facts) -> Iterator[str]:
    made = ctas.partitioning(work, facts)
    if made is None:
        return
    count = made.count if made.count is not None else None if made.interval or made.automatic else len(made.bounds)
    if count is not None and not spelling.is_serial(work) and work.degree > count:
        yield f"a CTAS into {count} partitions has at most degree {count}; {work.degree} was requested"
    if made.count is not None and made.count & (made.count - 1):
        yield f"{made.count} hash partitions have uneven sizes; use a power of two"
    if made.interval is not None:
        yield f"values below {made.bounds[0]} share the first partition; write `from` to begin elsewhere"


# -- the table that is filled -----------------------------------------------------------------------------------
def _target(work: Work, facts: Facts) -> Iterator[str]:
    identities = _names(facts, "identity_columns")
    if identities:
        yield f"GENERATED ALWAYS columns get new values, not those of the source: {_listed(identities)}"
    unfilled = [name for name in _names(facts, "invisible_columns") if name not in work.columns]
    if unfilled:
        yield f"invisible columns of the target stay empty: {_listed(unfilled)}; list them in --columns"
    yield from _copied(work, facts) if work.mode is Mode.MEASUREMENT else _live(work, facts)


def _copied(work: Work, facts: Facts) -> Iterator[str]:
    """Say which target is measured: what the copy has, and what it lacks."""
    if facts.assumed:
        return
    if work.option("bare"):
        yield "measured into a bare copy without partitions, indexes, constraints, defaults or compression"
        return
    made, left_out = partitions.of_table(facts)
    if left_out:
        yield left_out
    row = facts.first("target")
    table = QualifiedName(str(row.get("table_name")), str(row.get("schema_name")))
    kinds = _names(facts, "constraints", "constraint_type")
    keys, checks = kinds.count("P") + kinds.count("U"), kinds.count("C")
    shape = f"{made.method.lower()} partitions, " if made else ""
    indexes = counted(len(indexes_of(facts, table)), "index", "indexes")
    yield (
        f"measured into a copy with {shape}{indexes}, {counted(keys, 'key')} and {counted(checks, 'check')} "
        "(NOT NULL among them)"
    )
    missing = [counted(kinds.count("R"), "foreign key")] if "R" in kinds else []
    missing += [f"trigger {name}" for name in _names(facts, "triggers", "trigger_name")]
    if missing:
        yield f"the copy lacks {_listed(missing)}, which make loads into the real table slower and serial"


def _live(work: Work, facts: Facts) -> Iterator[str]:
    """Say what makes a load into the real table silently serial or conventional (VLDBG; SQLRF, INSERT)."""
    if work.option("partition") is not None:
        spread = [str(row["index_name"]) for row in facts.rows("table_indexes") if row.get("locality") != "LOCAL"]
        yield "every row must belong to the named partition: one that does not ends the load (ORA-14401)"
        if spread:
            yield f"global indexes span all partitions and are maintained by this load, too: {_listed(spread)}"
    causes = [f"trigger {name}" for name in _names(facts, "triggers", "trigger_name")]
    if "R" in _names(facts, "constraints", "constraint_type"):
        causes.append("a foreign key")
    direct = work.option("load") != "conventional"
    if causes and (direct or not spelling.is_serial(work)):
        yield f"loads into `{work.object.name}` are serial and conventional because of {_listed(causes)}"
