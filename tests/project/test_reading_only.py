"""An install without DuckDB and numpy reads and compares reports; what needs them says which package to add."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_awr_intervals import report
from tests.project.tree import ROOT
from tests.readers.awr_samples import STATSPACK, TEXT
from tests.readers.rman_samples import whole_log
from tests.store.make import head, trial
from toolkit.analysis.shifts import FEWEST
from toolkit.model.words import Outcome
from toolkit.store import open_store

_COMMANDS = """
import contextlib, io, json, sys
for name in ("duckdb", "_duckdb", "numpy"):
    sys.modules[name] = None
from toolkit.cli.main import main
answers = []
for line in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(line)
    answers.append([status, out.getvalue(), err.getvalue()])
json.dump(answers, sys.stdout)
"""


def without_them(folder: Path, *lines: list[str]) -> list[tuple[int, str, str]]:
    """Run commands in one process where neither package can be imported."""
    environment = {
        "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "COLUMNS": "100", "DBATK_CONFIG": str(folder / "config"),
        "DBATK_STORE": str(folder / "store.sqlite"),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", _COMMANDS], input=json.dumps(lines), env=environment, cwd=folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [(status, out, err) for status, out, err in json.loads(done.stdout)]


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    for name, text in (("a.html", report(0)), ("b.html", report(1, sync="15K")), ("c.txt", TEXT),
                       ("d.lst", STATSPACK), ("backup.log", "\n".join(whole_log()))):  # fmt: skip
        (tmp_path / name).write_text(text)
    return tmp_path


def test_reports_are_read_and_compared(reports: Path) -> None:
    answers = without_them(
        reports,
        ["--help"],
        ["awr", "show", "a.html", "c.txt", "d.lst", "--json"],
        ["compare", "a.html", "b.html"],
        ["compare", "a.html", "b.html", "--out", "diff.html"],
        ["awr", "trend", "a.html", "b.html"],
        ["backup", "read", "backup.log"],
        ["runs", "list"],
        ["error", "TK-0206"],
    )
    assert [(status, err) for status, _, err in answers if status != 0] == []
    shown = [out for _, out, _ in answers]
    assert "backup" in shown[0]
    assert [one["format"] for one in json.loads(shown[1])["reports"]] == ["html", "text", "text"]
    assert "log file sync" in shown[2]
    assert (reports / "diff.html").read_text().startswith("<!doctype html>")
    assert "c3" in shown[5]


def test_a_series_long_enough_for_changes_of_level_says_that_they_are_not_computed(tmp_path: Path) -> None:
    names = [f"{day}.html" for day in range(FEWEST)]
    for day, name in enumerate(names):
        (tmp_path / name).write_text(report(day))
    ((status, out, _),) = without_them(tmp_path, ["awr", "trend", *names])
    assert status == 0
    assert "the Python package numpy is not installed" in " ".join(out.split())


@pytest.mark.full
def test_runs_are_compared_without_them(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.sqlite") as store:
        for run in ("20261121-051342-aaaa", "20261121-051342-bbbb"):
            store.create_run(head(run, label=None))
            store.end_trial(run, trial(outcome=Outcome.OK, disturbed=False))
    ((status, out, _),) = without_them(tmp_path, ["compare", "20261121-051342-a", "20261121-051342-b", "--json"])
    assert status == 0
    assert json.loads(out)["a"].startswith("20261121-051342-aaaa")


@pytest.mark.full
def test_what_needs_them_names_the_package(reports: Path) -> None:
    (reports / "x.duckdb").touch()
    answers = without_them(
        reports,
        ["doctor", "-t", "duckdb:///x.duckdb", "--json"],
        ["ctas", "-t", "duckdb:///x.duckdb", "--source", "a", "--table", "b", "--json"],
        ["demo", "--out", "demo", "--json"],
    )
    for status, out, _ in answers:
        error = json.loads(out)["error"]
        assert (status, error["code"], error["hint"]) == (1, "TK-0206", "pip install duckdb")
