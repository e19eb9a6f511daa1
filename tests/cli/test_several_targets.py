"""`-t a,b`: one measurement on several targets."""

from __future__ import annotations

import json
import os
import select
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Dbatk
from tests.servers.forks import Forked
from tests.servers.postgresql import Server

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
    assert "`target` stands for all in which the environments differ: setting temp_" in document["warnings"][0]
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


@pytest.mark.full
def test_a_file_may_name_several_targets(dbatk: Dbatk, both: None) -> None:
    assert dbatk(*LINE, "--repeat", "1", "--save-as", "exp.toml").status == 0
    assert BOTH in Path("exp.toml").read_text()
    answer = dbatk("run", "exp.toml", "--json")
    assert len(json.loads(answer.out)["trials"]) == 4


PROGRAM = """
echo x >> count
[ -e killed ] || [ $(wc -l < count) -lt 4 ] || { echo x > begun; exec sleep 600; }
"""


@pytest.fixture
def two_databases(postgresql_server: Server) -> Iterator[str]:
    """Two databases of one server, as `-t` takes them."""
    names = ("turns_a", "turns_b")
    with postgresql_server.connect() as session:
        for name in names:
            session.execute(f"CREATE DATABASE {name}")
    yield ",".join(replace(postgresql_server, database=name).url for name in names)
    with postgresql_server.connect() as session:
        for name in names:
            session.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.thin(2)
@pytest.mark.postgresql
@pytest.mark.parametrize("resumed", ["last", "last~1"])
def test_a_killed_measurement_is_resumed_on_all_targets_in_turns_and_becomes_one_run(
    dbatk: Dbatk, home: Path, two_databases: str, resumed: str
) -> None:
    line = (
        "command", "-t", two_databases, "--not-production", "--repeat", "4", "--warmup", "0", "--label", "mine",
        "--", "sh", "-c", PROGRAM,
    )  # fmt: skip
    os.mkfifo("begun")
    reading = os.open("begun", os.O_RDONLY | os.O_NONBLOCK)
    process = Forked("toolkit", *line)
    assert select.select([reading], [], [], 300)[0], process.communicate(timeout=300)
    process.kill()
    process.communicate(timeout=300)
    os.close(reading)
    assert process.returncode == -signal.SIGKILL
    Path("killed").touch()
    one, other = two_databases.split(",")
    refused = dbatk("runs", "resume", resumed, "-t", one)
    assert (refused.status, "several targets, which are resumed together" in refused.err) == (2, True)
    answer = dbatk("runs", "resume", resumed, "--json", "--not-production", "--allow-commands")
    assert answer.status == 0, answer.err
    document = json.loads(answer.out)
    assert (document["state"], document["label"]) == ("done", "mine")
    ran = [trial["factors"]["target"] for trial in document["trials"]]
    assert sorted(ran) == [one] * 4 + [other] * 4
    assert {trial["outcome"] for trial in document["trials"]} == {"ok"}
    assert "".join("ab"[target == other] for target in ran[3:7]) in {"abba", "baab", "abab", "baba"}
    assert len(Path("count").read_text().split()) == 9  # the one that was cut off ran again, no other
    assert len(json.loads(dbatk("runs", "list", "--json").out)["runs"]) == 3
    again = dbatk("runs", "resume", "mine")
    assert (again.status, "is a measurement on several targets" in again.err) == (2, True), again.err


SETTING = """
[experiment]
name = "both"
target = "{both}"
operation = "ctas"
source = "small"
table = "made"
repeat = 2
warmup = 0
[[factor]]
name = "here"
levels = [1, 2]
read = ["cat", "here"]
apply = ["sh", "-c", "{apply}"]
undo = ["sh", "-c", "echo {{before}} > here; echo undo >> log"]
"""
SETS = "echo {level} > here; echo apply >> log"
DIES = SETS + "; [ -e died ] || [ $(wc -l < log) -lt 7 ] || { touch died; kill -9 $PPID; }"
"""Kills dbatk, whose child it is, when it sets the fourth of eight levels."""


@pytest.mark.thin(2)
@pytest.mark.parametrize("dies", [False, True])
def test_a_factor_that_changes_this_host_is_put_back_before_the_turn_passes_to_another_target(
    dbatk: Dbatk, both: None, dies: bool
) -> None:
    Path("here").write_text("7\n")
    Path("exp.toml").write_text(SETTING.format(both=BOTH, apply=DIES if dies else SETS))
    if dies:
        process = Forked("toolkit", "run", "exp.toml", "--allow-commands")
        process.communicate(timeout=300)
        assert (process.returncode, Path("here").read_text() in {"1\n", "2\n"}) == (-signal.SIGKILL, True)
        answer = dbatk("runs", "resume", "last", "--allow-commands", "--json")
    else:
        answer = dbatk("run", "exp.toml", "--allow-commands", "--json")
    assert answer.status == 0, answer.err
    trials = json.loads(answer.out)["trials"]
    ran = [(each["factors"]["target"], each["factors"]["here"]) for each in trials if each["outcome"] == "ok"]
    assert sorted(ran) == [(target, level) for target in sorted(BOTH.split(",")) for level in (1, 1, 2, 2)]
    assert Path("here").read_text() == "7\n"
    assert Path("log").read_text().split() == ["apply", "undo"] * (9 if dies else 8)
