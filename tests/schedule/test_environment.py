"""A scheduler's environment: no HOME, no terminal, a short PATH, nothing else. Everything is found, or said."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from tests.schedule.make import job
from toolkit.cli.main import main
from toolkit.schedule import SchedulerJob
from toolkit.schedule.cron import command
from toolkit.store import open_store

PROGRAM = (sys.executable, "-m", "toolkit")
ROOT = Path(__file__).resolve().parents[2]
EXPERIMENT = """
[experiment]
target = "duckdb:///{folder}/small.duckdb"
operation = "stats-gather"
schema = "main"
"""


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """A folder with a database and a file to run, its name not the easiest."""
    folder = tmp_path / "jobs 100%"
    folder.mkdir()
    with duckdb.connect(str(tmp_path / "small.duckdb")) as connection:
        connection.execute("create table small as select i from range(10) t(i)")
    (folder / "nightly.toml").write_text(EXPERIMENT.format(folder=tmp_path), encoding="utf-8")
    return folder


def made(jobs: Path, *arguments: str, **places: str) -> SchedulerJob:
    """Return a job as `schedule` makes it, of a file beside it."""
    known = {
        "DBATK_CONFIG": str(jobs / "config"),
        "DBATK_STORE": str(jobs / "store.sqlite"),
        "PYTHONPATH": str(ROOT),
    }
    words = (*PROGRAM, "run", str(jobs / "nightly.toml"), "--quiet", *arguments)
    return replace(job(), command=words, environment=tuple({**known, **places}.items()))


def as_cron(one: SchedulerJob) -> subprocess.CompletedProcess[str]:
    """Run a job as cron does: its line by `/bin/sh`, from another folder, with next to no environment."""
    line = command(one).replace("\\%", "%")
    return subprocess.run(
        ["/bin/sh", "-c", line], env={"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}, cwd="/",
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.mark.full
def test_a_job_runs_with_nothing_but_what_its_line_says(jobs: Path) -> None:
    done = as_cron(made(jobs))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), "cron mails whatever is written"
    with open_store(jobs / "store.sqlite") as store:
        assert [run.experiment.operation for run in store.list_runs()] == ["stats-gather"]


@pytest.mark.full
def test_the_exit_code_is_kept(jobs: Path) -> None:
    (jobs / "nightly.toml").write_text("[experiment]\noperation = 'nothing'\n", encoding="utf-8")
    assert as_cron(made(jobs)).returncode == 2
    (jobs / "nightly.toml").write_text(EXPERIMENT.format(folder="/nowhere"), encoding="utf-8")
    done = as_cron(made(jobs))
    assert done.returncode == 1 and "hint: " in done.stderr


@pytest.mark.full
def test_nobody_is_asked_about_production(jobs: Path) -> None:
    text = EXPERIMENT.format(folder="").replace("duckdb:////small.duckdb", "postgresql://dba@127.0.0.1:1/none")
    (jobs / "nightly.toml").write_text(text, encoding="utf-8")
    done = as_cron(made(jobs))
    assert done.returncode in (1, 5)
    assert "[y/N]" not in done.stdout + done.stderr


@pytest.mark.full
def test_a_log_file_has_a_line_for_each_event_and_the_error(jobs: Path) -> None:
    log = jobs / "nightly.jsonl"
    assert as_cron(made(jobs, "--log-file", str(log))).returncode == 0
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["event"] for line in lines][:2] == ["mode", "trial-begun"]
    assert {line["run"] for line in lines} == {lines[0]["run"]}
    assert {line["trial"] for line in lines if line["event"].startswith("trial")} == {1}
    assert log.stat().st_mode & 0o777 == 0o600
    (jobs / "nightly.toml").unlink()
    assert as_cron(made(jobs, "--log-file", str(log))).returncode == 2
    last = json.loads(log.read_text().splitlines()[-1])
    assert (last["level"], last["event"], last["data"]["code"]) == ("error", "error", "TK-0106")


@pytest.mark.full
def test_standard_error_is_lines_only_when_asked_for(jobs: Path) -> None:
    done = as_cron(made(jobs, "--log-format", "json"))
    assert [json.loads(line)["event"] for line in done.stderr.splitlines()][-1] == "run-ended"
    (jobs / "nightly.toml").unlink()
    (line,) = as_cron(made(jobs, "--log-format", "json")).stderr.splitlines()
    assert json.loads(line)["level"] == "error"


@pytest.mark.parametrize("arguments", [("run", "exp.toml"), ("target", "list"), ("runs", "list")])
def test_without_a_home_and_an_account_it_says_what_to_name(
    arguments: tuple[str, ...], jobs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nobody(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    for name in [name for name in os.environ if name == "HOME" or name.startswith(("DBATK_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.chdir(jobs)
    (jobs / "exp.toml").write_text((jobs / "nightly.toml").read_text(), encoding="utf-8")
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "no home directory" in said and "DBATK_STORE" in said
    assert sorted(path.name for path in jobs.iterdir()) == ["exp.toml", "nightly.toml"]


PLAN = """
[plan]
name = "nightly"
targets = ["duckdb:///{folder}/small.duckdb"]
[[step]]
name = "statistics"
operation = "stats-gather"
schema = "main"
"""


def test_what_schedule_prints_for_cron_runs_the_plan(
    jobs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DBATK_CONFIG", str(jobs / "config"))
    monkeypatch.setenv("DBATK_STORE", str(jobs / "store.sqlite"))
    plan = jobs / "nightly.toml"
    plan.write_text(PLAN.format(folder=tmp_path), encoding="utf-8")
    adding = ["schedule", str(plan), "--kind", "cron", "--at", "01:15 UTC", "--log-file", str(jobs / "log")]
    assert main([*adding, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (line,) = [text for text in document["text"].splitlines() if text.startswith("15 1 ")]
    shown = line.split(maxsplit=5)[5].replace("\\%", "%")
    done = subprocess.run(
        ["/bin/sh", "-c", shown], env={"PATH": "/usr/bin:/bin"}, cwd="/", stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads((jobs / "log").read_text().splitlines()[-1])["event"] == "plan-ended"
    # a second plan of the name, a time that is none, and a target beside the user are sentences beforehand
    assert main([*adding[:4], "--at", "25:00"]) == 2
    plan.write_text(PLAN.format(folder=tmp_path).replace("duckdb:////", "duckdb:///"), encoding="utf-8")
    assert main([*adding[:4], "--at", "01:15"]) == 2
    assert "duckdb:////" in capsys.readouterr().err
