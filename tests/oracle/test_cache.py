"""How a trial came by its blocks: past the buffer cache, through it, or out of it; and that this is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import assumed, work
from tests.oracle.standin import Scenario, privileges, running_standin
from tests.oracle.test_command_line import dbatk
from tests.servers import forks
from tests.tiers import thinned
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.work import Work
from toolkit.model.records import FOUND_IN_CACHE, READ_DIRECT, READ_INTO_CACHE
from toolkit.model.words import Mode

MAY_FLUSH = (*privileges.PRIVILEGES, "ALTER SYSTEM")
CTAS = ("ctas", "--source", "GTEST", "--table", "C", "--repeat", "2", "--warmup", "0")


def told(run: dict[str, object], name: str) -> list[float]:
    """Return a metric of the trials, in the order of their degree and repetition."""
    trials = sorted(run["trials"], key=lambda one: (one["requested_degree"], one["repeat"]))  # type: ignore
    return [metric["value"] for one in trials for metric in one["metrics"] if metric["name"] == name]


def report_of(folder: Path, run: dict[str, object]) -> str:
    """Return the report of a run as one line."""
    env = {"DBATK_STORE": str(folder / "store.db"), "DBATK_CONFIG": str(folder / "config"), "COLUMNS": "400"}
    done = forks.run("toolkit", "report", str(run["run"]), "--format", "text", env=env)
    return " ".join(done.stdout.split())


def test_a_trial_records_how_it_read_and_the_report_says_when_configurations_differ(tmp_path: Path) -> None:
    with running_standin() as standin:
        status, run = dbatk(standin, tmp_path, *CTAS, "--degree", "1,4", "--seed", "1")
        assert status == 0
        assert told(run, READ_DIRECT) == [0, 0, 1000, 1000]
        assert told(run, READ_INTO_CACHE) == [1000, 0, 0, 0]
        assert told(run, FOUND_IN_CACHE) == [0, 1000, 0, 0]
    reported = report_of(tmp_path, run)
    assert "read in different ways" in reported
    assert "`degree=4` read directly from disk (100 %)" in reported


@pytest.mark.full
def test_configurations_that_read_alike_are_not_doubted(tmp_path: Path) -> None:
    with running_standin() as standin:
        _, run = dbatk(standin, tmp_path, *CTAS, "--degree", "2,4")
    reported = report_of(tmp_path, run)
    assert "Limitations" in reported or "degree=2" in reported
    assert "read in different ways" not in reported


@pytest.mark.full
def test_two_runs_that_read_in_different_ways_differ_in_that(tmp_path: Path) -> None:
    with running_standin() as standin:
        runs = [f"{dbatk(standin, tmp_path, *CTAS, '--degree', one)[1]['run']}/degree={one}" for one in ("1", "4")]
    env = {"DBATK_STORE": str(tmp_path / "store.db"), "DBATK_CONFIG": str(tmp_path / "config")}
    done = forks.run("toolkit", "compare", *runs, "--json", env=env)
    (found,) = [one for one in json.loads(done.stdout)["differences"] if one["name"] == "most blocks"]
    assert (found["a"], found["b"]) == ("read from disk into the buffer cache", "read directly from disk")


@pytest.mark.full
@pytest.mark.parametrize(
    ("level", "found"), thinned([("cold", [0, 0]), ("warm", [1000, 1000]), ("as-is", [0, 1000])], 3)
)
def test_each_trial_begins_with_the_cache_that_was_asked_for(
    level: str, found: list[float], tmp_path: Path
) -> None:
    with running_standin(Scenario(privileges=MAY_FLUSH)) as standin:
        status, run = dbatk(standin, tmp_path, *CTAS, "--degree", "1", "--cache", level)
        assert status == 0, run
        assert told(run, FOUND_IN_CACHE) == found
        flushes = [text for text in standin.statements if "FLUSH" in text]
    assert len(flushes) == (2 if level == "cold" else 0)


def test_a_cache_is_never_flushed_where_production_is_not_ruled_out(tmp_path: Path) -> None:
    with running_standin(Scenario(privileges=MAY_FLUSH)) as standin:
        env = {"DBATK_STORE": str(tmp_path / "s.db"), "DBATK_CONFIG": str(tmp_path), "DBATK_PASSWORD": "tiger"}
        sure = ("--allow-production", "FREEPDB1")
        done = forks.run("toolkit", *CTAS, "-t", standin.url, "--cache", "cold,warm", *sure, "--json", env=env)
        assert not any("FLUSH" in text for text in standin.statements)
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["code"]) == (5, "TK-0301") and "--cache warm" in error["hint"]


def test_without_the_privilege_nothing_is_begun_and_the_grant_is_named(tmp_path: Path) -> None:
    with running_standin() as standin:
        status, said = dbatk(standin, tmp_path, *CTAS, "--degree", "1", "--cache", "cold")
        assert not any(text.startswith(("CREATE", "ALTER SYSTEM")) for text in standin.statements)
    assert status == 5
    assert "GRANT ALTER SYSTEM TO DBATK" in said["error"]["hint"]  # type: ignore[index]


@for_each(
    ("item", "words"),
    [
        (work("ctas", 2, Mode.JOB, cache="warm"), "a job leaves"),
        (work("ctas", 2, query="SELECT 1 AS a FROM dual", cache="warm"), "no query"),
        (work("insert", 2, cache="cold"), None),
        (work("ctas", 2, Mode.JOB, cache="as_is"), None),
    ],
)
def test_a_state_that_cannot_be_had_is_unsupported_with_its_reason(item: Work, words: str | None) -> None:
    support = DIALECT.work.support(item, assumed())
    assert support.ok if words is None else words in support.sentence
