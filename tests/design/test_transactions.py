"""Transactions as users write them: what is read, and what is refused with its place and a hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.for_each import for_each
from toolkit.design.statements import split
from toolkit.design.transactions import (
    ReadFrom,
    WrittenTransaction,
    gives_rows,
    only_reads,
    parse_transactions,
    read_transactions,
    statements_of,
    with_variables,
)
from toolkit.errors import ToolkitError
from toolkit.model.workload import Draw

WHOLE = """
[[transaction]]
name = "pay"
weight = 3
sql = '''
UPDATE a SET b = b + :delta WHERE id = :id; -- a comment; with a quote '
INSERT INTO h VALUES (:id, 'x;y', :n, :city::text);
'''
[transaction.parameters]
delta = {uniform = [-5, 5]}
id = {zipf = [1, 100], skew = 1.2}
n = {after = "no", of = "s.h"}
city = {choice = ["Rome", "Oslo"]}
"""


def only(text: str) -> WrittenTransaction:
    (one,) = parse_transactions(text)
    return one


def test_a_transaction_has_its_statements_weight_and_parameters() -> None:
    one = only(WHOLE)
    first, second = statements_of(one, "postgresql")
    assert (first, second[-2:]) == ("UPDATE a SET b = b + :delta WHERE id = :id", "t)")
    assert (one.name, one.weight) == ("pay", 3.0)
    drawn = {each.name: each for each in one.parameters}
    assert (drawn["delta"].draw, drawn["delta"].low, drawn["delta"].high) == (Draw.UNIFORM, -5, 5)
    assert (drawn["id"].draw, drawn["id"].skew) == (Draw.ZIPF, 1.2)
    assert drawn["city"].values == ("Rome", "Oslo")
    assert one.columns == {"n": ReadFrom("no", "s.h", last=True)}


def test_files_that_it_names_are_read_into_the_text_once(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELECT 1")
    (tmp_path / "t.toml").write_text('[[transaction]]\nname = "a"\nfile = "a.sql"\n')
    text = read_transactions(tmp_path / "t.toml")
    (tmp_path / "a.sql").write_text("SELECT 2")
    assert only(text).sql == "SELECT 1"
    assert read_again(text, tmp_path) == text


def read_again(text: str, folder: Path) -> str:
    (folder / "again.toml").write_text(text)
    return read_transactions(folder / "again.toml")


BAD = {
    "": "there is no transaction",
    "[transaction]": "there is no transaction",
    "[[other]]": "unknown table `other`",
    "[[transaction]]\nname = 'P'\nsql = 'x'": "small letters",
    "[[transaction]]\nname = 'p'": "`p` has no SQL",
    "[[transaction]]\nname = 'p'\nsql = ' '": "`p` has no SQL",
    "[[transaction]]\nname = 'p'\nsql = ['SELECT 1']": "the SQL of `p` must be a string",
    "[[transaction]]\nname = 'p'\nsql = 'x'\nweight = 0": "above 0",
    "[[transaction]]\nname = 'p'\nsql = 'x'\nweight = -1": "above 0",
    "[[transaction]]\nname = 'p'\nsql = 'x'\nweight = nan": "above 0",
    "[[transaction]]\nname = 'p'\nsql = 'x'\nwait = 1": "unknown key `wait`",
    "[[transaction]]\nname = 'p'\nsql = 'x'\n[[transaction]]\nname = 'p'\nsql = 'x'": "two transactions",
    "[[transaction]]\nname = 'p'\nsql = 'x'\nparameters = {a = 1}": "say how it is drawn",
    "[[transaction]]\nname = 'p'\nsql = 'x'\nparameters = {a = {}}": "say how it is drawn",
    "[[transaction]]\nname = 'p'\nsql = 'x'\nparameters = {a = {uniform = [5, 1]}}": "5 to 1 is not a range",
    "[[transaction]]\nname = 'p'\nsql = 'x'\nparameters = {a = {uniform = [1]}}": "two whole numbers",
    "[[transaction]]\nname = 'p'\nsql = 'x'\nparameters = {a = {uniform = [1, 2], skew = 1}}": "key `skew`",
    "[[transaction]]\nname = 'p'\nsql = 'x'\nparameters = {a = {zipf = [1, 2], skew = 0}}": "above 0",
    "[[transaction]]\nname = 'p'\nsql = 'x'\nparameters = {a = {choice = []}}": "takes a list",
    "[[transaction]]\nname = 'p'\nsql = 'x'\nparameters = {a = {column = 'c'}}": "of = ",
    "[[transaction]]\nname = 'p'\nsql = 'x'\nparameters = {a = {sequence = 1.5}}": "whole number",
}


@for_each(("text", "said"), BAD.items())
def test_what_cannot_be_right_is_refused(text: str, said: str) -> None:
    with pytest.raises(ToolkitError, match=said) as caught:
        parse_transactions(text)
    assert caught.value.code == "TK-0106"


WRONG = {
    "BEGIN; SELECT 1": "has `BEGIN`",
    "SELECT 1; COMMIT": "has `COMMIT`",
    "SET search_path = x": "has `SET`",
    "SELECT 1; DROP TABLE t": "has `DROP`, which users do not do",
    "/* :a */ TRUNCATE TABLE t": "has `TRUNCATE`",
    "-- nothing": "holds no statement",
    "SELECT 'open": "not closed",
    "SELECT :b": "uses `:b`",
    "SELECT 1": "parameter `a` that its SQL does not use",
}


@for_each(("sql", "said"), WRONG.items())
def test_what_its_sql_may_not_be(sql: str, said: str) -> None:
    one = only(f'[[transaction]]\nname = "p"\nsql = """{sql}"""\nparameters = {{a = {{uniform = [1, 2]}}}}')
    with pytest.raises(ToolkitError, match=said) as caught:
        statements_of(one, "postgresql")
    assert caught.value.code == "TK-0105"


def test_statements_are_divided_where_the_engine_would_divide_them() -> None:
    assert split("a ';' b; /* ; */ c;;", "postgresql") == ("a ';' b", "c")
    assert split("a $$;$$ b; c", "postgresql") == ("a $$;$$ b", "c")
    assert split("a q'[;']' b; c", "oracle") == ("a q'[;']' b", "c")
    assert split(" -- only this", "duckdb") == ()


@for_each(
    ("sql", "reads"),
    [
        ("SELECT x FROM t WHERE a = :a", True),
        ("WITH q AS (SELECT :a) SELECT * FROM q", True),
        ("SELECT x FROM t WHERE a = :a FOR UPDATE", False),
        ("WITH q AS (DELETE FROM t RETURNING *) SELECT * FROM q", False),
        ("UPDATE t SET a = 1", False),
        ("CALL p()", False),
    ],
)
def test_what_only_reads_is_told_from_what_may_change_something(sql: str, reads: bool) -> None:
    assert only_reads((sql,), "postgresql") is reads


# -- for a loop in the server -------------------------------------------------------------------------------------
@for_each(
    ("text", "spelled"),
    [
        ("SELECT :n", "SELECT v1"),
        ("UPDATE t SET a = a + :n WHERE b = :name AND c = :n", "UPDATE t SET a = a + v1 WHERE b = v2 AND c = v1"),
        ("SELECT ':n', \":n\" FROM t -- :n\n WHERE a=:n", "SELECT ':n', \":n\" FROM t -- :n\n WHERE a=v1"),
        (
            "SELECT CAST(:n AS int) /* :name */ FROM t WHERE d<:name",
            "SELECT CAST(v1 AS int) /* :name */ FROM t WHERE d<v2",
        ),
    ],
)
@for_each("engine", ["postgresql", "oracle"])
def test_variables_stand_where_parameters_stood_and_nowhere_else(engine: str, text: str, spelled: str) -> None:
    assert with_variables(text, engine, {"n": "v1", "name": "v2"}) == spelled


def test_a_cast_of_postgresql_is_no_parameter() -> None:
    assert (
        with_variables("SELECT :n::text, now()::date", "postgresql", {"n": "v"}) == "SELECT v::text, now()::date"
    )


@for_each(
    ("text", "gives"),
    [
        ("SELECT 1", True),
        ("/* INSERT */ select 1", True),
        ("(SELECT 1) UNION (SELECT 2)", True),
        ("WITH a AS (SELECT 1) SELECT * FROM a", True),
        ("WITH a AS (DELETE FROM t RETURNING n) SELECT n FROM a", True),
        ("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", False),
        ("WITH a AS (INSERT INTO t VALUES (1) RETURNING n) UPDATE u SET m = 1", False),
        ("INSERT INTO t SELECT n FROM u", False),
        ("INSERT INTO t VALUES (1) RETURNING n", True),
        ("UPDATE t SET a = 'RETURNING'", False),
        ("DELETE FROM t WHERE n IN (SELECT 1)", False),
        ("VALUES (1)", True),
        ("TABLE t", True),
        ("LOCK TABLE t", False),
        ("CALL p()", False),
    ],
)
def test_what_gives_rows_is_told_from_its_outermost_words(text: str, gives: bool) -> None:
    assert gives_rows(text, "postgresql") is gives
