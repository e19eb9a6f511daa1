"""One condition on rows: nothing that closes our parentheses, ends the statement or opens a query gets through."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.design.user_sql import check_predicate
from toolkit.errors import ToolkitError
from toolkit.model.engines import engines
from toolkit.model.words import EngineName

ORACLE, POSTGRESQL = "oracle", "postgresql"


@for_each(
    "text",
    [
        "id > 10",
        "id between 1 and 5 or not (code like 'A%' and \"order\" is null)",
        "extract(year from dt) = 2024",
        "a is distinct from b",
        "note = 'x; -- /* drop' and note <> 'it''s'",
        "start > 3 and regexp_like(code, '^[a-z]+$')",
        "trim(leading 'x' from code) = 'y'",
    ],
)
@for_each("engine", [None, *engines()])
def test_a_condition_is_taken_as_it_is(text: str, engine: EngineName | None) -> None:
    assert check_predicate(f"  {text}\n", engine) == text


@for_each(
    ("text", "said"),
    [
        ("  ", "is empty"),
        ("id = 1; DROP TABLE x", "semicolon"),
        ("1 = 1) OR (1 = 1", "closes a parenthesis that is not open"),
        ("(id = 1", "has an unclosed parenthesis"),
        ("id = 1 -- and so on", "comment"),
        ("id /*+ PARALLEL(8) */ = 1", "comment"),
        ("id in (SELECT 1 FROM dual)", "subquery"),
        ("id in ((values (1)))", "subquery"),
        ("exists (table x)", "subquery"),
        ("id = 1 UNION ALL SELECT 1", "UNION"),
        ("id = 1 order by id", "ORDER"),
        ("id = 1order by id", "ORDER"),
        ("id = 1 for update", "FOR"),
        ("id = 1 fetch first 3 rows only", "FETCH"),
        ("id = 1 connect by level < 9", "CONNECT"),
        ("where id = 1", "give only what comes after WHERE"),
        ("and id = 1", "begins with AND"),
        ("id = 1 or", "ends with OR"),
        ("note = 'open", "unclosed quote"),
        ("id = :x", "values cannot be bound"),
        ("id = $1", "values cannot be bound"),
        ("id = 1 \\", "backslash"),
        ("42", "is a value, not a condition"),
        ("'yes'", "is a value, not a condition"),
        ("id = 1 \x00", "NUL"),
        ("x" * 100_001, "longer than"),
    ],
)
def test_what_is_more_or_less_than_a_condition_is_refused(text: str, said: str) -> None:
    with pytest.raises(ToolkitError, match=re.escape(said)) as caught:
        check_predicate(text)
    assert caught.value.code == "TK-0105"


def test_each_engine_reads_its_own_quotes() -> None:
    assert check_predicate("note = q'[it's]'", ORACLE)
    assert check_predicate("note = E'it\\'s'", POSTGRESQL)
    assert check_predicate("id::text = '1'", POSTGRESQL)
    with pytest.raises(ToolkitError):
        check_predicate("note = q'[it's]'", POSTGRESQL)
    with pytest.raises(ToolkitError):
        check_predicate("id::text = '1'", ORACLE)


@given(st.text(alphabet="ab1 '\"();-/*:$\\=<>,.qQ[]\n", max_size=40))
def test_whatever_is_taken_stays_inside_our_parentheses(text: str) -> None:
    try:
        taken = check_predicate(text, ORACLE)
    except ToolkitError:
        return
    bare = re.sub(
        r"[qQ]'\[.*?\]'|[qQ]'\(.*?\)'|[qQ]'<.*?>'|[qQ]'(\S).*?\1'|'(?:[^']|'')*'|\"[^\"]*\"",
        "",
        taken,
        flags=re.DOTALL,
    )
    assert ";" not in bare and "--" not in bare and "/*" not in bare
    depth = 0
    for sign in bare:
        depth += (sign == "(") - (sign == ")")
        assert depth >= 0
    assert depth == 0
