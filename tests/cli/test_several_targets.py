"""`-t a,b`: one measurement on several targets."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Dbatk

BOTH = "duckdb:///small.duckdb,duckdb:///other.duckdb"
LINE = ("ctas", "-t", BOTH, "--source", "small", "--table", "made")


@pytest.fixture
def both(url: str) -> None:
    with duckdb.connect("other.duckdb") as connection:
        connection.execute("create table small as select i, i % 3 as k from range(10) t(i)")


def tables(file: str) -> list[str]:
    with duckdb.connect(file) as connection:
        return [str(row[0]) for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]


def test_the_target_is_a_factor_and_the_trials_alternate(dbatk: Dbatk, both: None) -> None:
    answer = dbatk(*LINE, "--degree", "1,2", "--repeat", "2", "--json")
    document = json.loads(answer.out)
    assert (answer.status, document["state"]) == (0, "done")
    one, other = BOTH.split(",")
    sides = ["ab"[trial["factors"]["target"] == other] for trial in document["trials"]]
    assert "".join(sides) in {"abbaabbaabba", "baabbaabbaab"}
    assert [trial["factors"]["degree"] for trial in document["trials"]][::2] == [
        trial["factors"]["degree"] for trial in document["trials"]
    ][1::2]
    assert {cell["factors"]["target"] for cell in document["cells"]} == {one, other}
    assert "`target` stands for all in which the environments differ" in document["warnings"][0]
    assert tables("small.duckdb") == tables("other.duckdb") == ["small"]
    assert dbatk("compare", f"last/target={one},degree=1", f"last/target={other},degree=1").status == 0
    assert dbatk("report", "last", "--out", "r.html").status == 0


def test_a_target_that_fails_stops_the_other_and_leaves_nothing(dbatk: Dbatk, url: str) -> None:
    answer = dbatk(*LINE, "--repeat", "2")
    assert (answer.status, "does not exist" in answer.err) == (1, True)
    assert tables("small.duckdb") == ["small"]
    assert json.loads(dbatk("runs", "list", "--json").out)["runs"] == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [((), "compared by a measurement"), (("--repeat", "2", "--dry-run"), "a script is that of one target"),
     (("--repeat", "2", "-t", "duckdb:///small.duckdb,duckdb:///small.duckdb"), "same database")],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(
    dbatk: Dbatk, both: None, options: tuple[str, ...], sentence: str
) -> None:
    line = LINE if "-t" not in options else (LINE[0], *LINE[3:])
    answer = dbatk(*line, *options)
    assert (answer.status, sentence in answer.err) == (2, True), answer.err


def test_a_file_may_name_several_targets(dbatk: Dbatk, both: None) -> None:
    assert dbatk(*LINE, "--repeat", "1", "--save-as", "exp.toml").status == 0
    assert BOTH in Path("exp.toml").read_text()
    answer = dbatk("run", "exp.toml", "--json")
    assert len(json.loads(answer.out)["trials"]) == 4
