"""A load that was cut off: a person who counted its rows answers, and the run and its plan go on from there.

Nobody is asked on DuckDB, where the transaction notes itself; without its notes it stands for a database that
cannot tell how a transaction ended, such as an Oracle service without Transaction Guard.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Dbatk
from tests.tiers import thinned
from toolkit.app.maintenance.target_run import TargetRun
from toolkit.dialects.duckdb import work
from toolkit.model.plan import StepRecord, StepState
from toolkit.runner import trial
from toolkit.store import Store

PLAN = """
[plan]
name = "nightly"
target = "duckdb:///small.duckdb"

[[step]]
name = "load"
operation = "insert"
source = "small"
table = "big"

[[step]]
name = "stats"
operation = "stats-gather"
table = "big"
needs = ["load"]
"""


class Killed(BaseException):
    """What ends a process without anything being told."""


@pytest.fixture(autouse=True)
def _untold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work._Insert, "keeps_notes", False)
    monkeypatch.setattr(work._Insert, "ends_by_commit", False)


@pytest.fixture
def killed(home: Path, url: str, dbatk: Dbatk, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A single load whose process ended after its COMMIT, before that was told."""
    with duckdb.connect(str(home / "small.duckdb")) as made:
        made.execute("CREATE TABLE big (i BIGINT, k BIGINT)")

    def dies(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(trial, "_read_evidence", dies)
        broken.setattr(Store, "add_items", lambda *_: None)
        with pytest.raises(Killed):
            dbatk("insert", "-t", url, "--source", "small", "--table", "big")
    (head,) = json.loads(dbatk("runs", "list", "--json").out)["runs"]
    yield head["run"]


def rows(home: Path) -> int:
    with duckdb.connect(str(home / "small.duckdb")) as looked:
        (count,) = looked.execute("SELECT count(*) FROM big").fetchone() or (0,)
    return int(count)


def test_a_load_in_doubt_names_both_answers(dbatk: Dbatk, killed: str, home: Path) -> None:
    refused = dbatk("runs", "resume", killed)
    assert refused.status == 5 and "the load was interrupted" in refused.err, refused.err
    hint = " ".join(refused.err.split())
    assert f"`dbatk runs resume {killed} --rows there`" in hint and "`--rows missing` loads them again" in hint
    assert "will be run again" not in refused.err and rows(home) == 10


@pytest.mark.full
def test_rows_that_are_there_end_the_run_without_a_time(dbatk: Dbatk, killed: str, home: Path) -> None:
    ended = dbatk("runs", "resume", killed, "--rows", "there", "--json")
    assert ended.status == 0, ended.err
    run = json.loads(ended.out)
    last = run["trials"][-1]
    assert (run["state"], last["outcome"], last["elapsed_seconds"], last["rows"]) == ("done", "ok", None, None)
    assert last["reason"] == "a person confirmed that its rows are there; its time is unknown"
    assert rows(home) == 10
    assert "a person answered: its rows are there" in " ".join(dbatk("audit", "--kind", "run-begin").out.split())
    shown = " ".join(dbatk("runs", "show", killed).out.split())
    assert "it was done, but its end was not recorded: there is no time to judge by" in shown
    again = dbatk("runs", "resume", killed, "--rows", "there")
    assert again.status == 2 and "is known, so `--rows` is not needed" in again.err


@pytest.mark.full
def test_rows_that_are_missing_are_loaded_in_the_same_run(dbatk: Dbatk, killed: str, home: Path) -> None:
    with duckdb.connect(str(home / "small.duckdb")) as emptied:
        emptied.execute("DELETE FROM big")
    ended = dbatk("runs", "resume", killed, "--rows", "missing", "--json")
    assert ended.status == 0, ended.err
    run = json.loads(ended.out)
    assert (run["run"], run["trials"][-1]["rows"]) == (killed, 10)
    assert rows(home) == 10


def test_only_there_and_missing_are_answers(dbatk: Dbatk, killed: str) -> None:
    refused = dbatk("runs", "resume", killed, "--rows", "ten")
    assert refused.status == 2 and "`--rows` cannot be `ten`" in refused.err and "there, missing" in refused.err


def test_a_run_whose_end_is_known_takes_no_answer(dbatk: Dbatk, url: str) -> None:
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "c", "-q").status == 0
    refused = dbatk("runs", "resume", "last", "--rows", "missing")
    assert refused.status == 2 and "omit it" in refused.err


@pytest.mark.full
@pytest.mark.parametrize("seen", thinned(["killed and never told", "failed, and told by the night after"], 2))
def test_the_night_after_the_answer_takes_the_step_as_done(
    seen: str, dbatk: Dbatk, home: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert url
    (home / "nightly.toml").write_text(PLAN)
    with duckdb.connect(str(home / "small.duckdb")) as made:
        made.execute("CREATE TABLE big (i BIGINT, k BIGINT)")
    run = cut_off_night(dbatk, monkeypatch)
    if seen.startswith("failed"):
        second = json.loads(dbatk("run", "nightly.toml", "--json").out)["steps"]
        assert [(step["state"], step["run"]) for step in second] == [("failed", run), ("stopped", None)]
        assert "the load was interrupted" in second[0]["reason"]
    assert dbatk("runs", "resume", run, "--rows", "there").status == 0
    third = dbatk("run", "nightly.toml", "--json")
    steps = json.loads(third.out)["steps"]
    assert [step["state"] for step in steps] == ["done", "done"], third.err
    assert steps[0]["run"] == run and "a person confirmed" in steps[0]["reason"]
    assert rows(home) == 10
    fourth = json.loads(dbatk("run", "nightly.toml", "--json").out)["steps"]
    assert fourth[0]["run"] != run and rows(home) == 20, "the night after that loads its own rows"


def cut_off_night(dbatk: Dbatk, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a night of which nothing is told once its load has begun; return the load's run."""
    real = TargetRun._note

    def until_it_runs(self: TargetRun, record: StepRecord) -> None:
        self._records[record.step] = record
        if record.state is StepState.RUNNING:
            real(self, record)

    with monkeypatch.context() as cut:
        for told in ("add_items", "end_trial", "end_run", "end_plan_run"):
            cut.setattr(Store, told, lambda *_: None)
        cut.setattr(TargetRun, "_note", until_it_runs)
        dbatk("run", "nightly.toml", "-q")
    (run,) = (
        run for run in json.loads(dbatk("runs", "list", "--json").out)["runs"] if run["operation"] == "insert"
    )
    return str(run["run"])
