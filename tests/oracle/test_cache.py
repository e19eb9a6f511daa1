"""How a trial came by its blocks: past the buffer cache, through it, or out of it; and that this is said."""

from __future__ import annotations

import json
from pathlib import Path

from tests.oracle.standin import running_standin
from tests.oracle.test_command_line import dbatk
from tests.servers import forks
from toolkit.model.records import FOUND_IN_CACHE, READ_DIRECT, READ_INTO_CACHE

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


def test_configurations_that_read_alike_are_not_doubted(tmp_path: Path) -> None:
    with running_standin() as standin:
        _, run = dbatk(standin, tmp_path, *CTAS, "--degree", "2,4")
    reported = report_of(tmp_path, run)
    assert "Limitations" in reported or "degree=2" in reported
    assert "read in different ways" not in reported


def test_two_runs_that_read_in_different_ways_differ_in_that(tmp_path: Path) -> None:
    with running_standin() as standin:
        runs = [f"{dbatk(standin, tmp_path, *CTAS, '--degree', one)[1]['run']}/degree={one}" for one in ("1", "4")]
    env = {"DBATK_STORE": str(tmp_path / "store.db"), "DBATK_CONFIG": str(tmp_path / "config")}
    done = forks.run("toolkit", "compare", *runs, "--json", env=env)
    (found,) = [one for one in json.loads(done.stdout)["differences"] if one["name"] == "most blocks"]
    assert (found["a"], found["b"]) == ("read from disk into the buffer cache", "read directly from disk")
