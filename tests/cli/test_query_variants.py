"""`--query a.sql,b.sql`: the texts of a query compared, if they give the same rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk

A = "SELECT i, k FROM small WHERE i > 0"
B = "SELECT s.i, s.k FROM small s WHERE s.i >= 1 ORDER BY s.k DESC"


@pytest.fixture
def files(home: Path) -> str:
    (home / "a.sql").write_text(A)
    (home / "b.sql").write_text(B)
    return "a.sql,b.sql"


def rows_of(home: Path) -> None:
    """Write queries that give other rows than `a.sql`: fewer, and as many of others."""
    (home / "fewer.sql").write_text("SELECT i, k FROM small WHERE i > 1")
    (home / "others.sql").write_text("SELECT i + 1 AS i, k FROM small WHERE i > 0")


@pytest.mark.full
def test_the_texts_of_a_query_are_compared(dbatk: Dbatk, home: Path, url: str, files: str) -> None:
    line = ("ctas", "-t", url, "--query", files, "--table", "X", "--repeat", "2", "--warmup", "0")
    run = json.loads(dbatk(*line, "--json").out)
    assert [cell["factors"] for cell in run["cells"]] == [{"degree": 1, "query": "a"}, {"degree": 1, "query": "b"}]
    assert {trial["outcome"] for trial in run["trials"]} == {"ok"}
    pair = json.loads(dbatk("compare", "last/query=a", "last/query=b", "--json").out)
    assert len(pair["pairs"]) == 1


def test_the_script_shows_each_text_and_how_the_rows_are_seen_to_be_the_same(
    dbatk: Dbatk, url: str, files: str
) -> None:
    script = dbatk("ctas", "-t", url, "--query", files, "--table", "X", "--dry-run").out
    assert script.count(A) > 1
    assert script.count(B) > 1
    assert "hash(dbatk_row)" in script
    assert "hash(" not in dbatk(
        "ctas", "-t", url, "--query", files, "--table", "X", "--dry-run", "--different-rows"
    ).out  # fmt: skip


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("other", "says"),
    [("fewer.sql", "`fewer` gives"), ("others.sql", "`others` gives as many rows as `a`")],
)
def test_queries_that_give_other_rows_are_refused_unless_that_is_meant(
    dbatk: Dbatk, home: Path, url: str, files: str, other: str, says: str
) -> None:
    rows_of(home)
    line = ("ctas", "-t", url, "--query", f"a.sql,{other}", "--table", "X", "--repeat", "2", "--warmup", "0")
    refused = dbatk(*line)
    assert (refused.status, says in " ".join(refused.err.split()), "--different-rows" in refused.err) == (
        2, True, True,
    )  # fmt: skip
    assert dbatk(*line, "--different-rows").status == 0


@pytest.mark.full
def test_a_file_holds_the_queries_and_gives_the_same_experiment(
    dbatk: Dbatk, home: Path, url: str, files: str
) -> None:
    line = ("ctas", "-t", url, "--query", files, "--table", "X", "--repeat", "2", "--seed", "7")
    assert dbatk(*line, "--save-as", "saved.toml").status == 0
    (home / "e.toml").write_text(
        f'[experiment]\ntarget = "{url}"\noperation = "ctas"\nquery_file = ["a.sql", "b.sql"]\ntable = "X"\n'
        "repeat = 2\nseed = 7\n"
    )
    scripts = [dbatk("run", name, "--dry-run").out for name in ("saved.toml", "e.toml")]
    assert scripts[0] == scripts[1]
    assert A in scripts[0]
    assert dbatk("run", "e.toml").status == 0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("a.sql,none.sql", "none.sql"),
        ("a.sql,a.sql", "called the same"),
        ("a.sql,bad.sql", "SELECT"),
    ],
)
def test_what_is_no_query_or_has_no_name_is_refused(
    dbatk: Dbatk, home: Path, url: str, files: str, given: str, says: str
) -> None:
    (home / "bad.sql").write_text("DELETE FROM small")
    refused = dbatk("ctas", "-t", url, "--query", given, "--table", "X", "--dry-run")
    assert (refused.status, says in refused.err, "hint:" in refused.err) == (2, True, True), refused


def test_different_rows_belongs_to_a_query(dbatk: Dbatk, url: str) -> None:
    refused = dbatk("ctas", "-t", url, "--source", "small", "--table", "X", "--different-rows", "--dry-run")
    assert (refused.status, "`--query`" in refused.err) == (2, True)
