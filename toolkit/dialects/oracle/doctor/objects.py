"""What would make a statement on the tables named silently run serially or conventionally.

The restrictions are those of the VLDB and Partitioning Guide (parallel DML, parallel DDL), of the SQL Language
Reference (INSERT, direct path; CREATE TABLE and CREATE INDEX, parallel_clause) and of DBMS_STATS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from toolkit.dialects.answers import Check
from toolkit.dialects.oracle.places import service_of
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.model.facts import Facts
from toolkit.model.values import Row
from toolkit.model.words import OperationName
from toolkit.units import counted

_INSERT = "insert"
_BUILDS = frozenset({"index-build", "index-rebuild"})
_SERIAL_LOAD = "the load silently falls back to a serial, conventional insert"

# what stands on the table: state, consequence for an insert, what to do.
_GUARDS: dict[str, tuple[str, str, str]] = {
    "trigger": ("warning", _SERIAL_LOAD, "disable it for the load, or load another table and exchange"),
    "self reference": ("warning", _SERIAL_LOAD, "disable the constraint for the load"),
    "cascade": ("warning", _SERIAL_LOAD, "disable the constraint for the load"),
    "foreign key": ("warning", _SERIAL_LOAD, "disable the constraint for the load, then ENABLE NOVALIDATE"),
    "deferred constraint": ("warning", _SERIAL_LOAD, "make it immediate for the load"),
    "policy": (
        "warning",
        "row-level security silently filters rows, and its update check keeps a load from direct path",
        "load as a user with EXEMPT ACCESS POLICY",
    ),
    "log group": (
        "note",
        "supplemental logging makes every row larger in the redo",
        "find out who reads the redo",
    ),
    "view log": ("warning", _SERIAL_LOAD + ", and fills a materialized view log", "refresh completely afterwards"),
}


def _target(facts: Facts, key: str) -> Iterator[Row]:
    work = facts.first("doctor_work")
    yield from (row for row in facts.rows(key) if _is(row, work.get("schema"), work.get("table")))


def _is(row: Row, schema: object, table: object) -> bool:
    return row.get("on_table") == table and row.get("on_schema") in (schema, "PUBLIC")


def _source(facts: Facts, key: str) -> Iterator[Row]:
    work = facts.first("doctor_work")
    yield from (row for row in facts.rows(key) if _is(row, work.get("source_schema"), work.get("source")))


def _switch(facts: Facts, operation: OperationName) -> Iterator[Check]:
    if operation != _INSERT:
        return
    status = facts.value("doctor_session", "pdml_status")
    hint = " or the hint ENABLE_PARALLEL_DML" if has(facts.release, Feature.PARALLEL_DML_HINT) else ""
    if status == "DISABLED":
        yield Check(
            "parallel-dml",
            "note",
            "PDML_STATUS is DISABLED (the default)",
            "your own INSERT loads serially while its SELECT runs in parallel; dbatk's statements enable it",
            f"ALTER SESSION ENABLE PARALLEL DML{hint}",
        )


def _kind(facts: Facts, operation: OperationName) -> Iterator[Check]:
    for row in _target(facts, "doctor_object_table"):
        if row.get("cluster_name") is not None:
            yield _warn("clustered-table", f"in cluster {row['cluster_name']}", _SERIAL_LOAD, "use a heap table")
        if row.get("iot_type") is not None and row.get("partitioned") != "YES" and operation == _INSERT:
            yield _warn("index-organized", f"{row['iot_type']}, not partitioned", _SERIAL_LOAD, "partition it")
        if row.get("temporary") == "Y":
            yield Check(
                "temporary-table", "note", "a temporary table", "updates, deletes and merges on it are serial"
            )
        if row.get("partitioned") == "YES" and row.get("partition_count") is not None:
            yield Check(
                "partitions",
                "note",
                counted(int(str(row["partition_count"])), "partition"),
                "DDL on whole partitions uses at most that many servers",
                "a higher degree gains nothing there",
            )
        if row.get("partition_interval") is not None:
            yield Check(
                "interval",
                "note",
                "interval partitioned",
                "the first load creates partitions, a second reuses them",
            )


def _columns(facts: Facts, operation: OperationName) -> Iterator[Check]:
    for row in (*_target(facts, "doctor_object_columns"), *_copied(facts, operation)):
        item, kind = row.get("item"), str(row.get("data_type"))
        if row.get("type_owner") is not None:
            yield _warn(
                "object-type",
                f"{item} is of type {row['type_owner']}.{kind}",
                "loads and DDL on it are serial",
                "",
            )
        elif kind.startswith("LONG"):
            yield _warn(
                "long",
                f"{item} is {kind}",
                "it cannot be read or copied in parallel (ORA-00997)",
                "TO_LOB in the query",
            )
        elif row.get("securefile") == "NO":
            yield _warn("basicfile-lob", f"{item} is a BasicFile LOB", _SERIAL_LOAD, "store it as SECUREFILE")
        elif (
            row.get("securefile") == "YES"
            and row.get("partitioned") != "YES"
            and not has(facts.release, Feature.PARALLEL_LOB_DDL)
        ):
            yield _warn(
                "lob", f"{item} is a LOB, the table not partitioned", "DDL on it is serial in this release", ""
            )


def _copied(facts: Facts, operation: OperationName) -> Iterator[Row]:
    """Columns of the source that a CTAS makes anew; where they lay does not matter then, only their types."""
    if operation == "ctas":
        for row in _source(facts, "doctor_object_columns"):
            yield {**row, "securefile": None}


def _guards(facts: Facts, operation: OperationName) -> Iterator[Check]:
    for row in _target(facts, "doctor_object_guards"):
        what = str(row.get("what"))
        state, consequence, action = _GUARDS[what]
        if operation != _INSERT:
            if what not in ("log group", "view log"):
                continue
            state, consequence, action = "note", "every change to the table is logged for replication", ""
        if what == "trigger" and "INSERT" not in str(row.get("detail")):
            continue
        if what == "policy" and row.get("detail") != "YES":
            state, consequence = "note", "row-level security: a query may silently see fewer rows"
        yield Check(
            what.replace(" ", "-"), state, f"{row.get('item')} on {row.get('on_table')}", consequence, action
        )
    for row in _source(facts, "doctor_object_guards"):
        if row.get("what") == "policy":
            yield Check(
                "policy",
                "warning",
                f"{row.get('item')} on {row.get('on_table')}",
                "row-level security: only the rows that this session may see are copied, silently",
                "compare COUNT(*), or read with EXEMPT ACCESS POLICY",
            )


def _indexes(facts: Facts, operation: OperationName) -> Iterator[Check]:
    whole = any(row.get("partitioned") == "YES" for row in _target(facts, "doctor_object_table"))
    for row in _target(facts, "doctor_object_indexes"):
        kind, item = str(row.get("index_kind")), row.get("item")
        if kind == "DOMAIN":
            yield _warn(
                "domain-index", f"{item}", "loads of the table and building it are serial", "drop it for the load"
            )
        elif "BITMAP" in kind and operation == _INSERT and not whole:
            yield _warn(
                "bitmap-index", f"{item}, the table is not partitioned", _SERIAL_LOAD, "make it unusable first"
            )
        elif whole and row.get("index_partitioned") == "NO":
            yield Check(
                "global-index",
                "note",
                f"{item} spans all partitions",
                "it serialises loads of partitions, and partition maintenance makes it unusable",
                "local indexes, or UPDATE INDEXES",
            )
        if operation in _BUILDS and row.get("partition_count") is not None:
            yield Check(
                "index-partitions",
                "note",
                f"{item} has {counted(int(str(row['partition_count'])), 'partition')}",
                "a partitioned index is created with at most that many servers",
                "rebuild partitions individually, several at once",
            )


def _degree(facts: Facts, operation: OperationName) -> Iterator[Check]:
    for row in (*_target(facts, "doctor_object_table"), *_source(facts, "doctor_object_table")):
        degree = str(row.get("degree") or "1").strip()
        if degree != "1":
            yield Check(
                "table-degree",
                "note",
                f"{row.get('on_table')} has DEGREE {degree}",
                "other statements run in parallel by it; a serial baseline needs NO_PARALLEL (dbatk adds it)",
            )
        elif operation == _INSERT and row in tuple(_target(facts, "doctor_object_table")):
            yield Check(
                "no-degree",
                "note",
                f"{row.get('on_table')} has DEGREE 1",
                "without a hint the load is serial: the table has no parallel clause (dbatk adds the hint)",
                "INSERT /*+ APPEND PARALLEL(t n) */",
            )


def _alias(facts: Facts, _: OperationName) -> Iterator[Check]:
    for row in facts.rows("doctor_object_alias"):
        if row.get("what") == "database link":
            yield _warn(
                "database-link",
                f"{row.get('on_table')} is {row.get('item')}@{row.get('detail')}",
                "a distributed statement loads serially; a remote table is read by one session",
                "copy the rows here first",
            )
        else:
            yield _warn(
                "editioning-view",
                f"{row.get('on_table')} is a view on {row.get('item')}",
                "tables and indexes are created on its table, not on the view",
                f"name {row.get('item')}",
            )


def _query(facts: Facts, operation: OperationName) -> Iterator[Check]:
    for row in facts.rows("doctor_object_functions"):
        names = (row.get("owner_name"), row.get("object_name"), row.get("procedure_name"))
        yield _warn(
            "function",
            f"{'.'.join(str(name) for name in names if name is not None)} is not PARALLEL_ENABLE",
            "the query or the build that calls it runs serially",
            "declare it PARALLEL_ENABLE if it keeps no state",
        )
    if facts.value("doctor_work", "remote") == "yes" and operation != "stats-gather":
        yield _warn(
            "database-link",
            "the query uses a database link",
            "a distributed statement loads serially; a remote table is read by one session",
            "copy the rows here first",
        )


def _archive(facts: Facts, _: OperationName) -> Iterator[Check]:
    for row in _target(facts, "doctor_object_archive"):
        yield Check(
            "flashback-archive",
            "note",
            f"{row.get('item')} follows {row.get('on_table')}",
            "every change is kept, and some DDL is refused (ORA-55610)",
        )


def _statistics(facts: Facts, operation: OperationName) -> Iterator[Check]:
    if operation != "stats-gather":
        return
    for row in _target(facts, "doctor_object_statistics"):
        what, item = row.get("what"), row.get("item")
        if what == "locked":
            yield _warn("locked", f"{item}", "gathering rejects it (ORA-20005)", "DBMS_STATS.UNLOCK_TABLE_STATS")
        elif what == "pending":
            yield _warn(
                "pending",
                f"gathered {item}",
                "another user's pending statistics; dbatk never deletes them",
                "publish them first",
            )
        else:
            yield Check(
                "preference", "note", f"{item} = {row.get('detail')}", "it applies unless the option is given"
            )


def _hints(facts: Facts, operation: OperationName) -> Iterator[Check]:
    names = {name for name, _, _ in service_of(facts).session}
    if names and operation == _INSERT:
        yield Check("service-session", "ok", f"dbatk's sessions first set {', '.join(sorted(names)).lower()}")


def _warn(name: str, evidence: str, consequence: str, action: str) -> Check:
    return Check(name, "warning", evidence, consequence, action)


CHECKS: tuple[Callable[[Facts, OperationName], Iterator[Check]], ...] = (
    _switch,
    _degree,
    _kind,
    _columns,
    _guards,
    _indexes,
    _alias,
    _query,
    _archive,
    _statistics,
    _hints,
)
