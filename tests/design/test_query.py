"""The guard on the user's own query: one SELECT passes, whatever it holds in quotes; nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.design.user_sql import check_query
from toolkit.errors import ToolkitError
from toolkit.model.engines import engines

POSTGRESQL, ORACLE, DUCKDB = "postgresql", "oracle", "duckdb"

GOOD = [
    "select 1",
    "SELECT a, b FROM t WHERE c = 'x;y' -- ; drop table t",
    "/* one; */ select 1",
    "select ';' as a, \"x;y\" from t",
    "with x as (select 1 as a) select * from x",
    "with recursive t(n) as (values (1) union all select n + 1 from t where n < 9) select n from t",
    "with x as materialized (select 1) (select * from x)",
    "(select 1) union all (select 2)",
    "values (1), (2)",
    "from range(3)",
    "select $$a;b'c$$",
    "select $tag$ $$ ; $tag$",
    r"select e'it\'s;'",
    "select q'[it's; fine]' from dual",
    "select nq'{a}b';c}' from dual",
    "select 1 as update, delete from t",
    "select replace(a, 'b') from t",
    "select case when a > 1 then 'INTO' end from t",
    "select /*+ parallel(t 8) */ * from t",
    "select a[1:2] from t",
    "select 1 /* a /* b */ ; */",
]

BAD = [
    ("", "is empty"),
    (" -- nothing\n/* here */ ", "is empty"),
    (";", "is empty"),
    ("select 1; select 2", "more than one statement"),
    ("select 1; -- x\n;", "more than one statement"),
    ("insert into t values (1)", "begins with `insert`"),
    ("update t set a = 1", "begins with `update`"),
    ("drop table t", "begins with `drop`"),
    ("begin null; end;", "more than one statement"),
    ("explain select 1", "begins with `explain`"),
    ("with x as (insert into t values (1) returning a) select * from x", "INSERT inside"),
    ("with x as (delete from t returning a) select * from x", "DELETE inside"),
    ("with x as (update t set a = 1 returning a) select * from x", "UPDATE inside"),
    ('with x as (update "t" set a = 1 returning a) select * from x', "UPDATE inside"),
    ("with x as (merge into t using s on (1=1) when matched then delete) select 1", "MERGE inside"),
    ("with x as (select 1) insert into t select * from x", "INSERT inside"),
    ("with x as (select 1) delete from t", "DELETE inside"),
    ("with x as (select 1)", "no SELECT after it"),
    ("select a into t2 from t", "SELECT ... INTO"),
    ("select 1into t2 from t", "SELECT ... INTO"),
    ("select * from t for update", "locks rows"),
    ("select * from t for no key update", "locks rows"),
    ("select 'a", "unclosed quote"),
    ('select "a', "unclosed quote"),
    ("select $$a", "unclosed quote"),
    ("select $1", "cannot be bound"),
    ("select 1 /* a", "unclosed comment"),
    ("select (1", "unclosed parenthesis"),
    ("select 1)", "not open"),
    ("select 1\x00", "NUL"),
    ("select 1 \\gexec", "backslash"),
    ("42", "begins with `42`"),
]


@for_each("query", GOOD)
def test_one_select_passes(query: str) -> None:
    kept = check_query(query)
    assert query.strip().startswith(kept)
    assert check_query(kept) == kept


@for_each(("query", "reason"), BAD)
def test_anything_else_is_refused(query: str, reason: str) -> None:
    with pytest.raises(ToolkitError, match=reason.replace("...", r"\.\.\.")) as caught:
        check_query(query)
    assert caught.value.code == "TK-0105"


def test_terminator_and_trailing_comments_are_cut_off() -> None:
    assert check_query("select 1 ; -- end\n/* of it */ ") == "select 1"
    assert check_query("select 1 -- end") == "select 1"


def test_each_engine_reads_quotes_its_own_way() -> None:
    hidden = "select q'[ ' ; drop table t; -- ]'"
    assert check_query(hidden, ORACLE)
    for engine in (POSTGRESQL, DUCKDB):
        with pytest.raises(ToolkitError):
            check_query(hidden, engine)
    dollars = "select $$ ; drop table t $$"
    assert check_query(dollars, POSTGRESQL)
    with pytest.raises(ToolkitError):
        check_query(dollars, ORACLE)
    backslash = r"select e'\' ; drop table t; --'"
    assert check_query(backslash, POSTGRESQL)
    with pytest.raises(ToolkitError):
        check_query(backslash, ORACLE)


@pytest.mark.parametrize("inside", ["/* a /* b */", "/* a /*/"])
def test_oracle_comments_do_not_nest(inside: str) -> None:
    with pytest.raises(ToolkitError, match="more than one statement"):
        check_query(f"select 1 {inside} ; drop table t -- */", ORACLE)


def test_from_first_is_not_oracle() -> None:
    with pytest.raises(ToolkitError, match="begins with `from`"):
        check_query("from t", ORACLE)


PIECES = st.sampled_from(
    ["select", "with", "into", "insert", "(", ")", ";", "'", "\"", "$$", "/*", "*/", "--", "\n", " ", "q'[", "]'",
     "e'",
     "\\",
     "a", "1", ",", "update", "for", "as", "é", "$x$", "values", "from"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=60))
def test_any_text_is_kept_or_refused_and_what_is_kept_is_stable(text: str) -> None:
    for engine in (None, *engines()):
        try:
            kept = check_query(text, engine)
        except ToolkitError as error:
            assert error.code == "TK-0105"
            continue
        assert kept
        assert kept in text
        assert check_query(kept, engine) == kept


@given(st.text(alphabet="abc'; \n-/*()\"", max_size=30))
def test_text_inside_a_literal_never_matters(text: str) -> None:
    query = "select '" + text.replace("'", "''") + "' as a"
    assert check_query(query) == query


def test_a_long_unclosed_quote_is_refused_quickly() -> None:
    with pytest.raises(ToolkitError):
        check_query("select '" + "x''" * 200_000)


@pytest.mark.parametrize("engine", [POSTGRESQL, DUCKDB])
def test_a_carriage_return_ends_a_comment(engine: str) -> None:
    with pytest.raises(ToolkitError, match="more than one statement"):
        check_query("select 1 --\r; drop table t --\n", engine)
