"""Turns a query of Oracle into one DuckDB executes, without looking at what it is for."""

from __future__ import annotations

import datetime
import functools
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from tests.oracle.standin.catalogue import VIEWS
from tests.oracle.standin.errors import ora
from tests.oracle.standin.statistics import STATEFUL, package_function
from tests.oracle.standin.tables import rewritten

logging.getLogger("sqlglot").setLevel(logging.ERROR)

_BIND = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|:(?P<name>[A-Za-z]\w*)", re.DOTALL)
_WORD = re.compile(r"[\w$#]+")
_HINT = re.compile(
    r"(?P<no>NO_)?PARALLEL\s*\(\s*(?:(?P<alias>[A-Za-z]\w*)[\s,]+)?(?P<degree>\w+)\s*\)", re.IGNORECASE
)

# stand in a kept translation where the time of each execution goes, and what its session is
_RIGHT = datetime.timedelta()
_SYSDATE, _SYSTIMESTAMP = "(the time here)", "(the time in UTC)"
_USERENV = re.compile(r"'\(USERENV (\w+)\)'")


@dataclass(frozen=True)
class Translated:
    """A query for DuckDB: its text, its parameters, the tables it reads, and the degree its hints ask for."""

    text: str
    parameters: list[object]
    tables: tuple[tuple[str, str], ...]
    degree: int | None
    words: frozenset[str] | None
    """Its words in capitals, among them every column that it names; None where it may read others, too."""


def translate(
    text: str, binds: Sequence[object], context: Mapping[str, str | None], clock: datetime.timedelta = _RIGHT
) -> Translated:
    """Translate one query.

    Args:
        text: the query, in Oracle's words.
        binds: values in the order in which the text names them.
        context: what SYS_CONTEXT('USERENV', ...) answers.
        clock: how far SYSDATE is from where it was.

    Raises:
        BackendError: ORA-00900 when it cannot be parsed, ORA-02003 for an unknown USERENV key.
    """
    known = _translated(text, context["CURRENT_SCHEMA"] or "")
    places = bind_names(text)
    # a statement that is only parsed has one value, which is no value, for each name
    values = dict(zip(places if len(places) == len(binds) else dict.fromkeys(places), binds, strict=True))
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    here = (datetime.datetime.now() + clock).isoformat(" ", "seconds")
    spelled = known.text.replace(_SYSDATE, here).replace(_SYSTIMESTAMP, now.isoformat(" "))
    spelled = _USERENV.sub(lambda mark: _context(mark[1], context), spelled)
    return Translated(spelled, [values[name] for name in known.names], known.tables, known.degree, known.words)


@dataclass(frozen=True)
class _Known:
    """A translation as it is kept: with the names of its parameters, and marks where the time belongs."""

    text: str
    names: tuple[str, ...]
    tables: tuple[tuple[str, str], ...]
    degree: int | None
    words: frozenset[str] | None


@functools.lru_cache(maxsize=4096)
def _translated(text: str, schema: str) -> _Known:
    """Translate a text once, for all sessions: to parse and spell it is most of what an answer costs."""
    try:
        tree = sqlglot.parse_one(text, read="oracle")
    except sqlglot.errors.ParseError as error:
        raise ora(900, str(error)[:120]) from error
    names: list[str] = []
    degree = hinted_degree(text)
    for hint in list(tree.find_all(exp.Hint)):
        hint.pop()
    for select in list(tree.find_all(exp.Select)):
        _count_up(select)
    # From the leaves up: what stands inside a rewritten node has been rewritten already.
    for node in reversed(list(tree.walk(bfs=False))):
        if isinstance(node, exp.Placeholder):
            names.append(str(node.this))
            node.replace(exp.Placeholder(this=str(len(names))))
            continue
        changed = _rewrite(node)
        if changed is not node:
            node.replace(changed)
    named = [table for table in tree.find_all(exp.Table) if table.name]
    for table in named:
        _qualify(table, schema)
    tables = tuple((table.db or "", table.name) for table in named)
    whole = any(not isinstance(star.parent, exp.Count) for star in tree.find_all(exp.Star))
    whole = whole or any(join.method for join in tree.find_all(exp.Join))
    spelled = tree.sql(dialect="duckdb", identify=True, copy=False)
    words = None if whole else frozenset(_WORD.findall(spelled.upper()))
    return _Known(spelled, tuple(names), tables, degree, words)


def bind_names(text: str) -> list[str]:
    """Return the names of the binds, one for each place."""
    return [match["name"] for match in _BIND.finditer(text) if match["name"]]


def hinted_degree(text: str) -> int | None:
    """Return the degree that the hints ask for: 1 for NO_PARALLEL, 0 for DEFAULT and AUTO, None without any."""
    for hint in re.findall(r"/\*\+(.*?)\*/", text, re.DOTALL):
        match = _HINT.search(hint)
        if match:
            return 1 if match["no"] else int(match["degree"]) if match["degree"].isdecimal() else 0
    return None


def _rewrite(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.Anonymous) and node.name.upper() == "SYS_CONTEXT":
        return exp.Literal.string(f"(USERENV {node.expressions[1].name.upper()})")
    if isinstance(node, exp.ToChar):
        arguments = [node.this, node.args["format"]] if node.args.get("format") else [node.this]
        return exp.Anonymous(
            this="oracle_to_char" if len(arguments) == 2 else "oracle_text", expressions=arguments
        )
    if isinstance(node, exp.ToNumber):
        return exp.cast(node.this, "DOUBLE", copy=False)
    if isinstance(node, exp.CurrentTimestamp):
        return exp.cast(exp.Literal.string(_SYSDATE), "TIMESTAMP")
    if isinstance(node, exp.DPipe):
        # Oracle joins a NULL as nothing.
        sides = (
            exp.func(
                "COALESCE",
                exp.cast(each, exp.DataType.Type.VARCHAR, copy=False),
                exp.Literal.string(""),
                copy=False,
            )
            for each in (node.this, node.expression)
        )
        return exp.DPipe(this=next(sides), expression=next(sides))
    if isinstance(node, exp.Systimestamp):
        return exp.cast(exp.Literal.string(_SYSTIMESTAMP), "TIMESTAMP")
    if isinstance(node, exp.Anonymous) and node.name.upper() == "SYS_EXTRACT_UTC":
        # the only zone of the stand-in
        return node.expressions[0]
    if isinstance(node, exp.Dot) and node.this.name.upper() == "DBMS_STATS":
        return package_function(node)
    if isinstance(node, exp.Column) and node.table.upper() == "DBMS_STATS":
        return sqlglot.parse_one("TIMESTAMP '2026-10-21 06:30:00'", read="duckdb")
    if isinstance(node, exp.Sub) and _is_date_literal(node.expression):
        # Oracle's difference of two dates is a number of days.
        return sqlglot.parse_one(
            f"((EPOCH(CAST({node.this.sql('duckdb')} AS TIMESTAMP)) "
            f"- EPOCH(CAST({node.expression.sql('duckdb')} AS TIMESTAMP))) / 86400)",
            read="duckdb",
        )
    if isinstance(node, exp.Sub) and _is_instant(node.this) and _is_instant(node.expression):
        first, last = (exp.func("EPOCH", each) for each in (node.expression, node.this))
        return exp.paren((exp.paren(last - first)) / exp.Literal.number(86400))
    if isinstance(node, exp.Sub) and _is_instant(node.this):
        # A number taken from a date of Oracle is one of days.
        days = node.expression.sql("duckdb")
        return exp.Sub(
            this=node.this,
            expression=sqlglot.parse_one(
                f"TO_MICROSECONDS(CAST(({days}) * 86400000000 AS BIGINT))", read="duckdb"
            ),
        )
    if isinstance(node, exp.Add) and _is_date_literal(node.this):
        day, days = (each.sql("duckdb") for each in (node.this, node.expression))
        moved = f"TO_MICROSECONDS(CAST(({days}) * 86400000000 AS BIGINT))"
        return sqlglot.parse_one(f"CAST({day} AS TIMESTAMP) + {moved}", read="duckdb")
    if isinstance(node, exp.DateTrunc):
        units = {"DD": "day", "MM": "month", "YYYY": "year"}
        return exp.func("DATE_TRUNC", exp.Literal.string(units[node.args["unit"].name.upper()]), node.this)
    if isinstance(node, exp.StrToDate):
        return exp.cast(exp.StrToTime(this=node.this, format=node.args["format"]), "TIMESTAMP")
    if isinstance(node, exp.Cast) and node.is_type("date") and not isinstance(node.this, exp.Literal):
        return exp.cast(node.this, "TIMESTAMP", copy=False)  # a date of Oracle has a time of day
    if isinstance(node, exp.Anonymous) and node.name.upper() == "TO_CLOB" and _is_file(node.expressions[0]):
        return exp.Anonymous(this=f"{STATEFUL}file_text", expressions=node.expressions[0].expressions)
    if isinstance(node, exp.Dot) and node.this.name.upper() == "DBMS_LOB":
        given = node.expression.expressions[0]
        if _is_file(given):
            what = {"GETLENGTH": "file_length", "FILEEXISTS": "file_exists"}[node.expression.name.upper()]
            return exp.Anonymous(this=f"{STATEFUL}{what}", expressions=given.expressions)
        if node.expression.name.upper() == "SUBSTR":
            _, amount, offset = node.expression.expressions
            return exp.Substring(this=given, start=offset, length=amount)
        if node.expression.name.upper() == "GETLENGTH":
            return exp.Length(this=given)
        return node.expression.expressions[0]
    if rewritten(node) is not node:
        return rewritten(node)
    if isinstance(node, exp.Pseudocolumn | exp.Column) and node.name.upper() == "ROWNUM":
        return exp.Literal.number(1)
    return node


def _is_file(node: exp.Expression) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.upper() == "BFILENAME"


def _is_instant(node: exp.Expression) -> bool:
    if not isinstance(node, exp.Cast):
        return isinstance(node, exp.CurrentTimestamp)
    return node.is_type("timestamp") or (node.is_type("date") and not isinstance(node.this, exp.Literal))


def _count_up(select: exp.Select) -> None:
    """Turn `FROM dual CONNECT BY LEVEL <= n`, which counts from 1 to n, into a range with the column LEVEL."""
    connect = select.args.get("connect")
    if connect is None or connect.args.get("start") is not None:
        return
    limit = connect.args["connect"]
    if not isinstance(limit, exp.LTE) or limit.this.name.upper() != "LEVEL":
        raise ora(900, "only CONNECT BY LEVEL <= n")
    last = int(limit.expression.name)
    select.set("connect", None)
    select.set("from_" if "from_" in select.args else "from", None)
    rows = f"SELECT 1 FROM (SELECT range AS level FROM range(1, {last + 1})) AS counted"
    counted = sqlglot.parse_one(rows, read="duckdb")
    select.from_(counted.find(exp.Subquery), copy=False)


def _context(key: str, context: Mapping[str, str | None]) -> str:
    """Spell what SYS_CONTEXT answers this session."""
    if key not in context:
        raise ora(2003, key)
    value = context[key]
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'"


def _qualify(table: exp.Table, schema: str) -> None:
    """Fold names that are not quoted and add the session's schema, as Oracle resolves a table."""
    for part in ("this", "db"):
        name = table.args.get(part)
        if name is not None and not name.args.get("quoted"):
            table.set(part, exp.to_identifier(name.name.upper(), quoted=True))
    if table.name in VIEWS:
        table.set("db", None)
    elif not table.db:
        table.set("db", exp.to_identifier(schema, quoted=True))


def _is_date_literal(node: exp.Expression) -> bool:
    return isinstance(node, exp.Cast | exp.DateStrToDate) and isinstance(node.this, exp.Literal)
