"""CREATE STATISTICS of columns and expressions and the ANALYZE that fills it, in one transaction; DROP STATISTICS.

Manual, CREATE STATISTICS: the object is empty until an ANALYZE, and whoever creates it owns the table; it locks
the table with SHARE UPDATE EXCLUSIVE, as ANALYZE does. The catalogue keeps an expression parsed, and shows it with
parentheses and casts of its own: statistics with expressions are therefore found by their name.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from toolkit.design.user_sql import expressions_of
from toolkit.dialects.column_groups import (
    GROUPS,
    columns_in,
    columns_of,
    ended_before,
    existing,
    named,
    were_read,
)
from toolkit.dialects.postgresql import support
from toolkit.dialects.postgresql.names import parse_name
from toolkit.dialects.postgresql.work.base import InSession, Values, change
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Role

_NO_WORD = re.compile(r"\W+")
_LONGEST = 63
"""Bytes of a name (NAMEDATALEN - 1)."""
_MOST = 8
"""Columns and expressions of one statistics object (STATS_MAX_DIMENSIONS)."""


class ExtendStatistics(InSession):
    """Statistics of columns and expressions."""

    table_files = (GROUPS,)
    serial = "on PostgreSQL, ANALYZE of one table uses one process"

    def judge(self, work: Work, facts: Facts) -> Support | None:
        group, table = _group(work), work.source or work.object.name
        if len(group) + len(expressions_of(work.options)) > _MOST:
            return support.refused(f"extended statistics have {_MOST} columns and expressions at most")
        if facts.assumed or not were_read(facts):
            return None
        found, said = existing(work, facts, _matching(work)), named(work, group)
        if found is None and work.option("drop"):
            return support.refused(f"`{table}` has no extended statistics of {said}{_by_its_name(work)}")
        if found is None:
            return None
        if not work.option("drop"):
            return support.refused(
                f"`{table}` has extended statistics of {said} already (`{found.get('group_name')}`)",
                "`dbatk stats gather` fills them anew; `--drop` removes them",
            )
        return support.refused("this user does not own these statistics") if found.get("owned") == "no" else None

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        if work.option("drop"):
            return (change("statistics_drop", {"name": _dropped(work, facts)}, work),)
        values: Values = {
            "name": _name(work), "kinds": _kinds(work), "columns": _group(work),
            "expressions": expressions_of(work.options), "table": work.object.name,
        }  # fmt: skip
        begin, commit = (Call(name, session=Role.WORKER) for name in ("begin", "commit"))
        return (
            begin,
            change("statistics_create", values, work),
            change("analyze", {"table": work.object.name}, work),
            commit,
        )

    def ended_before(self, work: Work, begun: Facts, now: Facts) -> bool:
        return ended_before(work, begun, now, _matching(work))

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        table = work.object.name
        if work.option("drop"):
            return (
                f"locks: SHARE UPDATE EXCLUSIVE on `{table}` for a moment; there is no undo but to create the "
                "statistics again",
            )
        return (
            f"locks: SHARE UPDATE EXCLUSIVE on `{table}` until ANALYZE has ended: rows are read and changed "
            "meanwhile, other DDL and VACUUM of the table wait",
            "create and ANALYZE are one transaction: a failure or a kill leaves nothing; afterwards `--drop` "
            "with the same columns, expressions and name takes it back",
        )


def _group(work: Work) -> tuple[str, ...]:
    return columns_of(work, parse_name)


def _matching(work: Work) -> Callable[[Row], bool]:
    """Return what tells whether statistics are those that are asked for."""
    columns, name = frozenset(_group(work)), _name(work)

    def is_it(row: Row) -> bool:
        if columns_in(row) != columns or bool(row.get("expressions")) != bool(expressions_of(work.options)):
            return False
        full_name = (name.name, name.schema or row.get("schema_name"))
        return not row.get("expressions") or (row.get("group_name"), row.get("group_schema")) == full_name

    return is_it


def _by_its_name(work: Work) -> str:
    return f" with the name `{_name(work)}`" if expressions_of(work.options) else ""


def _kinds(work: Work) -> tuple[str, ...]:
    given = work.option("kinds")
    texts = given if isinstance(given, tuple) else () if given is None else (given,)
    return tuple(dict.fromkeys(str(text).upper() for text in texts))


def _name(work: Work) -> QualifiedName:
    """Name the statistics: as asked, else after table and columns; of a trial after its copy."""
    table, given = work.object.name, work.option("name")
    if given is not None and not work.object.scratch:
        asked = parse_name(str(given))
        return asked if asked.schema is not None else QualifiedName(asked.name, table.schema)
    expressions = expressions_of(work.options)
    words = (_NO_WORD.sub("_", text).strip("_").lower() for text in expressions)
    text = "_".join((table.name, *_group(work), *words))
    # other expressions may be of the same words
    ending = f"_{hashlib.sha256(repr(expressions).encode()).hexdigest()[:6]}_stat" if expressions else "_stat"
    shown = text.encode()[: _LONGEST - len(ending)].decode(errors="ignore")
    return QualifiedName(f"{shown}{ending}", table.schema)


def _dropped(work: Work, facts: Facts) -> QualifiedName:
    found = existing(work, facts, _matching(work))
    if found is None:
        return _name(work)
    return QualifiedName(str(found["group_name"]), str(found["group_schema"]))
