"""`dbatk noise` shows how much identical work varies, and measures it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk

FILE = """
[experiment]
target = "duckdb:///small.duckdb"
operation = "ctas"
source = "small"
table = "copied"
repeat = 2
warmup = 0

[factors]
degree = [1, 2]
"""


@pytest.fixture
def file(home: Path) -> str:
    (home / "sweep.toml").write_text(FILE)
    return "sweep.toml"


def test_measured_runs_are_what_it_shows(dbatk: Dbatk, url: str, file: str) -> None:
    none = dbatk("noise", "-t", url)
    assert (none.status, "no run on" in none.err) == (2, True)
    measured = dbatk("noise", "-t", url, "--measure", file, "--runs", "3", "--json")
    assert measured.status == 0, measured.err
    (row,) = json.loads(measured.out)["noise"]
    assert (row["operation"], row["size"], row["runs"], row["identical_runs"]) == ("ctas", "10 to 100 rows", 3, 3)
    assert row["degrees_of_freedom"] == 2
    assert row["widest_pct"] >= 0 and row["between_runs_pct"] >= 0 and row["within_sweep_pct"] >= 0
    assert (row["between_days_pct"], row["detectable_pct"]) == (None, None)
    shown = " ".join(dbatk("noise", "-t", url).out.split())
    assert "two runs cannot carry a verdict yet; 3 of 13 runs of identical work are stored" in shown


@pytest.mark.full
def test_two_runs_of_which_none_else_is_stored_say_what_would_settle_it(dbatk: Dbatk, url: str, file: str) -> None:
    assert dbatk("noise", "-t", url, "--measure", file, "--runs", "2").status == 0
    answer = dbatk("compare", "last~1", "last", "--fail-if", "elapsed_seconds > +0%")
    assert answer.status == 3
    assert "no interval; not judged by `elapsed_seconds > +0%`" in " ".join(answer.err.split())
    shown = " ".join(answer.out.split())
    assert "two runs made at different times cannot carry a verdict" in shown
    assert "none is stored" in shown and "dbatk noise" in shown
    assert dbatk("compare", "last~1", "last", "--strict").status == 3
    document = json.loads(dbatk("compare", "last~1", "last", "--json").out)
    assert document["between_runs"]["runs"] == 0 and "cannot" not in document["between_runs"]["reason"]
    assert {pair["verdict"] for pair in document["pairs"]} == {"inconclusive"}


@pytest.mark.parametrize(
    ("options", "code"),
    [(("--runs", "3"), "TK-0107"), (("--measure", "sweep.toml", "--runs", "0"), "TK-0102"),
     (("--measure", "job.toml"), "TK-0107"), (("--measure", "none.toml"), "TK-0106")],
)  # fmt: skip
def test_what_cannot_be_measured_is_refused(
    dbatk: Dbatk, url: str, file: str, home: Path, options: tuple[str, ...], code: str
) -> None:
    (home / "job.toml").write_text(FILE.replace("repeat = 2\nwarmup = 0\n", "").replace("[1, 2]", "[1]"))
    answer = dbatk("noise", "-t", url, *options)
    assert (answer.status, code in answer.err) == (2, True), answer.err


@pytest.mark.full
# -- alternately in one run ---------------------------------------------------------------------------------------
def test_two_files_run_alternately_in_one_run_and_are_compared(dbatk: Dbatk, url: str, home: Path) -> None:
    for name, degrees in (("one", "[1]"), ("two", "[2]")):
        (home / f"{name}.toml").write_text(FILE.replace("[1, 2]", degrees).replace("repeat = 2", "repeat = 4"))
    answer = dbatk("compare", "--interleave", "one.toml", "two.toml", "--label", "duel", "--json")
    assert answer.status == 0, answer.err
    document = json.loads(answer.out)
    (pair,) = document["pairs"]
    assert pair["factors"] == {"variant": "one", "degree": 1}
    assert pair["factors_b"] == {"variant": "two", "degree": 2}
    assert (pair["n_a"], pair["n_b"], document["between_runs"]) == (4, 4, None)
    (run,) = json.loads(dbatk("runs", "list", "--json").out)["runs"]
    assert (run["label"], run["trials_planned"], run["trials_ended"]) == ("duel", 8, 8)
    trials = json.loads(dbatk("runs", "show", "duel", "--json").out)["trials"]
    order = [trial["factors"]["variant"] for trial in trials]
    sweeps = [tuple(order[at : at + 2]) for at in range(0, 8, 2)]
    assert sorted(sweeps) == [("one", "two")] * 2 + [("two", "one")] * 2
    assert not [name for name in _tables(home) if name != "small"]
    named = dbatk("compare", "duel/variant=one", "duel/variant=two", "--json")
    assert json.loads(named.out)["pairs"][0]["ratio"] == pair["ratio"]


def _tables(home: Path) -> list[str]:
    import duckdb

    with duckdb.connect(str(home / "small.duckdb")) as connection:
        return [name for (name,) in connection.execute("SHOW TABLES").fetchall()]


@pytest.mark.parametrize(
    ("other", "code", "says"),
    [
        (FILE, "TK-0107", "the same experiment"),
        (FILE.replace('source = "small"', 'source = "large"'), "TK-0110", "differ in `source`"),
        (FILE.replace('"ctas"', '"insert"'), "TK-0110", "differ in `operation`"),
        (FILE + '\n[[factor]]\nname = "x"\nlevels = [1]\nread_sql = "SELECT 1"\napply_sql = "SELECT {level}"\n'
         'undo_sql = "SELECT {before}"\n', "TK-0107", "`x` stands in one of the two files only"),
    ],
)  # fmt: skip
def test_what_is_no_variant_of_the_other_is_refused(
    dbatk: Dbatk, url: str, file: str, home: Path, other: str, code: str, says: str
) -> None:
    (home / "other.toml").write_text(other)
    answer = dbatk("compare", "--interleave", file, "other.toml")
    assert (answer.status, code in answer.err, says in answer.err) == (2, True, True), answer.err
    assert dbatk("compare", "a", "b", "--label", "x").status == 2
