"""Keys of an index as typed: what is understood is spelled anew, and nothing else gets through."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.dialects.duckdb.dialect import DIALECT as DUCKDB
from toolkit.dialects.indexes import names_in, read_key
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.postgresql.dialect import DIALECT as POSTGRESQL
from toolkit.errors import ToolkitError

KNOWN = ("NAME", "CREATED", "A", "B", "odd col")


@for_each(
    ("text", "spelled"),
    [
        ("NAME", '"NAME"'),
        ("created desc", '"CREATED" DESC'),
        ('"odd col" ASC', '"odd col"'),
        ("UPPER(name)", 'UPPER("NAME")'),
        ("a||'-'||b desc", '"A" || \'-\' || "B" DESC'),
        ("CASE WHEN a=1 THEN b END", 'CASE WHEN "A" = 1 THEN "B" END'),
        ("extract(year from created)", 'extract(YEAR FROM "CREATED")'),
        ("trim(both ' ' from name)", "trim(BOTH ' ' FROM \"NAME\")"),
        ("CAST(a AS VARCHAR2(10))", 'CAST("A" AS VARCHAR2 (10))'),
        ("app.pkg.f(a, 'it''s , ( here')", "app.pkg.f(\"A\", 'it''s , ( here')"),
        ("DATE '2026-01-31' - created", "DATE '2026-01-31' - \"CREATED\""),
        ("0", "0"),
        ("name nulls last", '"NAME" NULLS LAST'),
        ("UPPER(name) ops DESC NULLS FIRST", 'UPPER("NAME") "OPS" DESC NULLS FIRST'),
        ('name collate "C" "Odd ops"', '"NAME" COLLATE "C" "Odd ops"'),
        ("a || b", '"A" || "B"'),
        ("a ->> 'x'", "\"A\" ->> 'x'"),
        ("CASE WHEN a=1 THEN b END ops", 'CASE WHEN "A" = 1 THEN "B" END "OPS"'),
    ],
)
def test_a_key_is_read_and_spelled_anew(text: str, spelled: str) -> None:
    assert read_key(text, KNOWN, DIALECT).spelled == spelled


@for_each(
    "text",
    [
        "A;DROP TABLE T", "(select 1 from dual)", "UPPER(a", "a)", "a--x", "a/**/", "a /* b", "a:b", "x(a@l)",
        "t.a",
        "select(a)", "a b'", "'", "&a", "CAST(a AS (SELECT(x)))", "a,b", "", "a from b", "f(a from b)", "x'y\0z'",
        "exists(a)", "(((", "a\\", "1a", "q'[a]'[", "a" * 3000,
    ],
)  # fmt: skip
def test_what_is_no_key_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        read_key(text, KNOWN, DIALECT)
    assert caught.value.code in {"TK-0104", "TK-0204"} and str(caught.value).isprintable()


@for_each("text", ["NOPE", "UPPER(nope)", '"name"', "q'[a]'"])
def test_a_column_that_is_not_there_is_not_taken_for_one(text: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        read_key(text, KNOWN, DIALECT)
    assert caught.value.code in {"TK-0204", "TK-0104"}


_PIECES = st.sampled_from(
    ["a", "name", "NOPE", "(", ")", ",", "'x'", "''", "'", '"A"', '"', "||", "-", "--", "/*", "*/", ";", "select",
     "from", "table",
     "case", "when", "end", "cast", "as", "desc", " ", ".", ":b", "@", "&", "\n", "1", "0x", "é", "union"]
)  # fmt: skip
_LITERAL = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"")


@given(
    st.one_of(st.lists(_PIECES, max_size=12).map(" ".join), st.lists(_PIECES, max_size=12).map("".join), st.text())
)
@example("a'';--")
@example("cast(a as x) -- ")
def test_whatever_is_typed_no_statement_ends_and_no_query_begins_in_a_key(text: str) -> None:
    for dialect in (DIALECT, POSTGRESQL, DUCKDB):
        try:
            key = read_key(text, (), dialect)
        except ToolkitError as error:
            assert error.code in {"TK-0104", "TK-0204"}
            continue
        bare = _LITERAL.sub("?", key.spelled)
        assert not re.search(r"--|/\*|\*/|[;:@&'\"\0?]{2,}|;|\b(SELECT|WITH|UNION|TABLE)\b", bare, re.IGNORECASE)
        assert bare.count("(") == bare.count(")")


def test_the_words_of_a_key_name_the_index_that_is_made_of_it() -> None:
    assert names_in('UPPER("odd col")') == ("UPPER", "odd col")
    assert names_in("CREATED DESC") == ("CREATED",)
    assert names_in("lower(x) text_pattern_ops DESC NULLS LAST") == ("lower", "x")
