"""DBMS_REDEFINITION as a chain of scripts for SQL*Plus, with a script that aborts it: dbatk runs none of them.

The interim table is made from the columns of the table, whose defaults and comments are copied when the script
runs; indexes, constraints, triggers and grants are made by COPY_TABLE_DEPENDENTS. A script does nothing where the
table has another OBJECT_ID than when it was written: FINISH_REDEF_TABLE exchanges the names of the tables.
Sources: PL/SQL Packages and Types Reference 11.2 and 19, DBMS_REDEFINITION; Administrator's Guide, "Redefining
Tables Online" (what cannot be redefined, parallel execution of the session, what is locked); Database Reference,
DBA_REDEFINITION_ERRORS and DBA_REDEFINITION_OBJECTS; Licensing Information: a feature of Enterprise Edition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from toolkit.dialects.oracle import redefinition_heads as heads
from toolkit.dialects.oracle import spelling, storage
from toolkit.dialects.oracle.catalog import fact_about
from toolkit.dialects.oracle.names import parse_name, quote
from toolkit.dialects.oracle.releases import Feature, has, name_limit
from toolkit.dialects.oracle.spelling import is_plain
from toolkit.dialects.oracle.work.base import former_degree
from toolkit.dialects.redefinitions import GuidedScript, RedefinitionRequest, RowIdentity
from toolkit.dialects.work import Call, ContextValue
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.values import QualifiedName
from toolkit.model.words import StepKind
from toolkit.units import counted

TABLE, KINDS, OWN, MADE = "redefinition", "movable", "target", "redefinition_columns"
ATTRIBUTES, TAKEN = "attributes", "name_in_use"
_ENDING = "_REDEF"
_SYSTEM = ("SYS", "SYSTEM")
_UNREAD = 0
"""OBJECT_ID of no table."""


class OracleRedefinition:
    """The scripts of a redefinition, and what stands in its way."""

    def reads(self, request: RedefinitionRequest, release: Release) -> tuple[Query, ...]:
        binds = {"schema": request.table.schema, "name": request.table.name}
        interim = {**binds, "name": _interim(request, release).name}
        files = [KINDS, TABLE, "constraints", "columns"]
        files += [MADE] if has(release, Feature.INVISIBLE_COLUMNS) else []
        attributes = Query(ATTRIBUTES, ATTRIBUTES, {**binds, "kind": "TABLE"})
        asked = [Query(OWN, "relation", binds), attributes, Query(TAKEN, TAKEN, interim)]
        if request.compression in spelling.HYBRID_COLUMNAR:
            asked.append(Query(storage.TABLESPACES, storage.TABLESPACES, optional=True))
        return (*asked, *(Query(file, file, binds) for file in files))

    def assumed(self, request: RedefinitionRequest, facts: Facts) -> Facts:
        if request.table.schema is None:
            raise ToolkitError(
                "without a connection nobody knows the schema of the table",
                code="TK-0107",
                hint=f"give it as in `--table SHOP.{request.table.name}`",
            )
        key = () if request.by is RowIdentity.ROWID else ({"constraint_type": "P", "column_list": '"<key>"'},)
        columns = ({"column_name": "<key>"}, {"column_name": "<each other column>"})
        answers = {KINDS: ({},), TABLE: ({"object_id": _UNREAD},), "constraints": key, "columns": columns}
        return replace(facts, answers={**facts.answers, **answers})

    def check(self, request: RedefinitionRequest, facts: Facts) -> None:
        if not facts.rows(KINDS):
            raise ToolkitError(
                f"there is no table `{request.table}`, or it cannot be seen",
                code="TK-0204",
                hint="check the name and the grants",
            )
        why = next(_hindrances(request, facts), None)
        if why is not None:
            raise ToolkitError(
                f"`{request.table}` is not redefined by these scripts: {why}",
                code="TK-0305",
                hint="`dbatk table move` rewrites tables, too; Oracle's own examples show what is done by hand",
            )
        _check_wishes(request, facts)

    def scripts(self, request: RedefinitionRequest, facts: Facts) -> tuple[GuidedScript, ...]:
        values, said = _values(request, facts), _heads(request, facts)
        compared: dict[str, ContextValue] = {
            "table": request.table,
            "interim": _interim(request, facts.release),
            "keys": _keys(request, facts),
        }
        compare = Call("redefine_compare", compared)
        gather = _block("statistics", values | {"degree": request.degree})
        start = (
            _create(request, facts),
            _degree(request, facts),
            _block("columns", values),
            *_parallel(request.degree),
            _block("start", values),
        )
        end = (
            _block("comment", values),
            *_attributes(request, facts),
            Call("redefine_unvalidated", values),
            compare,
        )
        return (
            GuidedScript("1_check.sql", said.check(), (_block("check", values),)),
            GuidedScript("2_start.sql", said.start(), start),
            GuidedScript("3_dependents.sql", said.dependents(), (_block("dependents", values),)),
            GuidedScript("4_sync.sql", said.sync(), (_block("sync", values), gather, compare)),
            GuidedScript("5_finish.sql", said.finish(), (_block("finish", values),)),
            GuidedScript("6_compare.sql", said.compare(), end),
            GuidedScript("abort.sql", said.abort(), (_block("abort", values),)),
        )

    def steps(self, request: RedefinitionRequest, facts: Facts) -> tuple[str, ...]:
        interim = _interim(request, facts.release)
        run = f"sqlplus USER@{heads.DATABASE}"
        ran = tuple(f"{run} @{script.file}" for script in self.scripts(request, facts)[:-1])
        drop = f"the old table is {interim} now: DROP TABLE {_text(interim)} CASCADE CONSTRAINTS"
        unused = (
            f"the hidden column M_ROW$$ is unused now: ALTER TABLE {_text(request.table)} DROP UNUSED COLUMNS, "
            "when nobody works on the table"
        )
        by_key = _by(request, facts) is RowIdentity.KEY
        back = f"at any time before 5_finish.sql has ended {run} @abort.sql undoes it all"
        return (*ran, drop, *(() if by_key else (unused,)), back)

    def remarks(self, request: RedefinitionRequest, facts: Facts) -> tuple[str, ...]:
        return tuple(_remarks(request, facts))


REDEFINITION: Final = OracleRedefinition()


# -- what stands in the way ---------------------------------------------------------------------------------------
def _hindrances(request: RedefinitionRequest, facts: Facts) -> Iterator[str]:
    row = {**facts.first(KINDS), **facts.first(TABLE)}

    def said(column: str) -> str:
        return str(row.get(column) or "").strip().upper()

    def some(column: str) -> bool:
        return said(column) not in ("", "0", "0.0")

    if request.table.schema in _SYSTEM:
        yield f"nothing of {request.table.schema} can be"
    for column, value, words in (
        ("temporary", "Y", "it is temporary"),
        ("nested", "YES", "it is the storage of a nested table"),
    ):
        if said(column) == value:
            yield words
    for column, words in (
        ("iot_type", "it is index-organized"),
        ("cluster_name", "it is in a cluster"),
        ("external_count", "it is external: its rows are in files"),
        ("container_count", "it holds the rows of a materialized view"),
        ("long_count", "it has a LONG column, which has to become a LOB by a mapping of columns"),
        ("object_count", "it has columns of object types, XML or collections"),
        ("domain_index_count", "it has a domain index"),
        ("join_index_count", "a bitmap join index is on it"),
        ("virtual_count", "it has virtual columns, which an interim table has to define itself"),
        ("encrypted_count", "it has encrypted columns, which an interim table has to define itself"),
    ):
        if some(column):
            yield words
    for made in facts.rows(MADE):
        name, kind = made["column_name"], made["of_kind"]
        yield f'its column "{name}" is of the kind {kind}, which an interim table has to define itself'
    if some("policy_count") and not has(facts.release, Feature.REDEFINITION_WAIT):
        yield "it has row policies (VPD), which are taken along from 12.1"


def _check_wishes(request: RedefinitionRequest, facts: Facts) -> None:
    if _is_partitioned(request, facts) and request.partitioning is None:
        raise ToolkitError(
            f"`{request.table}` is partitioned: what it is to be afterwards has to be said",
            code="TK-0107",
            hint="give `--partition-by 'PARTITION BY ...'`, or `--partition-by none`",
        )
    if request.by is RowIdentity.KEY and not _primary_key(facts):
        raise ToolkitError(
            f"`{request.table}` has no primary key that is enabled",
            code="TK-0107",
            hint="give `--by rowid`",
        )
    if not isinstance(facts.first(TABLE).get("object_id"), int | float):
        raise ToolkitError(
            f"ALL_OBJECTS does not show `{request.table}`", code="TK-0204", hint="check the grants of this user"
        )
    interim = _interim(request, facts.release)
    if facts.rows(TAKEN):
        raise ToolkitError(
            f"`{interim}`, the name of the interim table, is taken",
            code="TK-0305",
            hint="give another `--interim`; one that earlier scripts left is removed by their `abort.sql`",
        )


# -- what the statements are given --------------------------------------------------------------------------------
def _block(name: str, values: dict[str, ContextValue]) -> Call:
    return Call(f"redefine_{name}", values, kind=StepKind.BLOCK)


def _values(request: RedefinitionRequest, facts: Facts) -> dict[str, ContextValue]:
    table, interim, by = request.table, _interim(request, facts.release), _by(request, facts)
    counts = facts.first(TABLE)
    return {
        "schema": str(table.schema),
        "name": table.name,
        "interim": interim.name,
        "table": table,
        "interim_table": interim,
        "object_id": int(float(str(counts["object_id"]))),
        "uname": _argument(str(table.schema)),
        "orig_table": _argument(table.name),
        "int_table": _argument(interim.name),
        "by": "CONS_USE_PK" if by is RowIdentity.KEY else "CONS_USE_ROWID",
        "policies": bool(counts.get("policy_count")),
        "view_log": bool(counts.get("view_log_count")),
        "tablespace": _tablespace(request, facts),
        "lock_wait": request.lock_wait_seconds if has(facts.release, Feature.REDEFINITION_WAIT) else None,
    }


def _argument(name: str) -> str:
    """Spell a name for an argument of the package: one that is not plain stands in its quotes."""
    return name if is_plain(name) else quote(name)


def _text(name: QualifiedName) -> str:
    return f"{quote(str(name.schema))}.{quote(name.name)}"


def _interim(request: RedefinitionRequest, release: Release) -> QualifiedName:
    if request.interim is not None:
        given = parse_name(request.interim, release)
        if given.schema not in (None, request.table.schema):
            raise ToolkitError(
                f"the interim table `{request.interim}` is in another schema than the table",
                code="TK-0102",
                hint="give its name alone",
            )
        return QualifiedName(given.name, request.table.schema)
    room = name_limit(release) - len(_ENDING)
    short = request.table.name.encode()[:room].decode(errors="ignore")
    return QualifiedName(f"{short}{_ENDING}", request.table.schema)


def _by(request: RedefinitionRequest, facts: Facts) -> RowIdentity:
    return request.by or (RowIdentity.KEY if _primary_key(facts) else RowIdentity.ROWID)


def _primary_key(facts: Facts) -> tuple[str, ...]:
    rows = (row for row in facts.rows("constraints") if row.get("constraint_type") == "P")
    return tuple(re.findall(r'"([^"]+)"', str(next(rows, {}).get("column_list") or "")))


def _keys(request: RedefinitionRequest, facts: Facts) -> tuple[str, ...]:
    return _primary_key(facts) if _by(request, facts) is RowIdentity.KEY else ()


def _is_partitioned(request: RedefinitionRequest, facts: Facts) -> bool:
    return str(fact_about(facts, request.table, "partitioned") or "NO").strip().upper() == "YES"


def _tablespace(request: RedefinitionRequest, facts: Facts) -> str | None:
    if request.tablespace is not None:
        return parse_name(request.tablespace, facts.release).name
    own = fact_about(facts, request.table, "tablespace_name")
    return None if own is None else str(own)


def _create(request: RedefinitionRequest, facts: Facts) -> Call:
    interim = _interim(request, facts.release)
    kept = storage.values(request.table, interim, facts, None)
    asked = request.compression
    values: dict[str, ContextValue] = {
        "interim": interim,
        "table": request.table,
        "columns": tuple(str(row["column_name"]) for row in facts.rows("columns")),
        "pctfree": kept["pctfree"],
        "tablespace": _tablespace(request, facts),
        "compression": spelling.table_compression(asked, facts.release) if asked else kept["compression"],
        "partitioning": request.partitioning or None,
    }
    return Call("redefine_interim", values)


def _parallel(degree: int) -> tuple[Call, ...]:
    """Force the degree on the session, as the Administrator's Guide does before START_REDEF_TABLE."""
    if degree <= 1:
        return ()
    return tuple(
        Call("session_parallel", {"verb": "FORCE", "what": what, "degree": degree}) for what in ("DML", "QUERY")
    )


def _set(table: QualifiedName, word: str) -> Call:
    return Call("table_attribute", {"table": table, "part": None, "attribute": word})


def _degree(request: RedefinitionRequest, facts: Facts) -> Call:
    """Give the interim table the degree of the table."""
    return _set(_interim(request, facts.release), former_degree(fact_about(facts, request.table, "degree")))


def _attributes(request: RedefinitionRequest, facts: Facts) -> Iterator[Call]:
    """Give the table back what CREATE TABLE does not take along."""
    whole = [row for row in facts.rows(ATTRIBUTES) if not row.get("part")]
    known = {str(row.get("name")): str(row.get("value") or "") for row in whole}
    if known.get("logging") == "NO":
        yield _set(request.table, "NOLOGGING")
    if known.get("row_movement") == "ENABLED":
        yield Call("row_movement", {"table": request.table, "enabled": True})


def _heads(request: RedefinitionRequest, facts: Facts) -> heads.Said:
    return heads.Said(str(request.table), str(_interim(request, facts.release)), _waits(request, facts))


# -- what is said -------------------------------------------------------------------------------------------------
def _waits(request: RedefinitionRequest, facts: Facts) -> str:
    if has(facts.release, Feature.REDEFINITION_WAIT):
        return f"it waits {request.lock_wait_seconds} s for open transactions of others, then fails; run it again"
    return "before 12.1 it waits for open transactions of others without a limit (Ctrl-C ends it)"


def _remarks(request: RedefinitionRequest, facts: Facts) -> Iterator[str]:
    counts = facts.first(TABLE)

    def many(column: str) -> int:
        return int(float(str(counts.get(column) or 0)))

    yield "these scripts were never run on a real server: try them on a copy of the table first"
    if counts.get("object_id") == _UNREAD:
        yield (
            "nothing was read: `<key>` and `<each other column>` stand for the columns, the OBJECT_ID is 0, and "
            "the table counts as one without partitions; without --assume scripts are written that run"
        )
        return
    yield from storage.of_disks(request.compression, request.tablespace, facts)
    if many("view_log_count"):
        yield "it has a materialized view log: its materialized views need a complete refresh afterwards"
    if many("policy_count"):
        yield "it has row policies (VPD): they are taken along (CONS_VPD_AUTO)"
    if many("referring_count"):
        keys = counted(many("referring_count"), "foreign key")
        yield f"{keys} of tables refer to it: 6_compare.sql lists those that are not validated afterwards"
    if many("trigger_count"):
        triggers = counted(many("trigger_count"), "trigger")
        yield f"{triggers} of it: 3_dependents.sql makes them anew, and they fire from 5_finish.sql on"
    if many("expression_index_count"):
        indexes = counted(many("expression_index_count"), "index", "indexes")
        yield f"{indexes} on expressions: compare them afterwards"
    if many("log_group_count"):
        groups = counted(many("log_group_count"), "supplemental log group")
        yield f"{groups}: see that the new table has them"
    if int(float(str(facts.first(KINDS).get("lob_count") or 0))):
        yield "its LOBs get the default storage of the tablespace: change `2_start.sql` where they need another"
    if _tablespace(request, facts) is None:
        yield "its partitions have each their own tablespace: without --tablespace room is not checked"
    yield (
        "not taken along: audit and redaction policies, preferences and locks of statistics, extended statistics; "
        "a table followed by a flashback archive cannot be redefined"
    )
