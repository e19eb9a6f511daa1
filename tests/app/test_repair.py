"""What an interrupted run left: put back on its own database, never looked for on another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from tests.engines.arena import Heard
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import resume, start
from toolkit.app.runs.repair import clean
from toolkit.cli.main import main
from toolkit.config.urls import parse_url
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.records import run_key
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import Factor, QualifiedName
from toolkit.model.words import Effect, Keep, Mode, ObjectKind, Outcome, RunState
from toolkit.snapshots import ThreadProvider
from toolkit.store import Store, open_store
from toolkit.targets.base import Access
from toolkit.targets.duckdb import DuckdbTarget


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


def database(folder: Path, name: str) -> DuckdbTarget:
    path = folder / f"{name}.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE g AS SELECT range AS id FROM range(1000)")
    return DuckdbTarget(Access(parse_url(f"duckdb:///{path}")))


WORK = Experiment(
    "t", "ctas", {"source": "g", "table": "made"}, (Factor("degree", (1,)),), Mode.MEASUREMENT,
    repeat=1, seed=1,
)  # fmt: skip


def begin(target: DuckdbTarget, store: Store, **fields: object) -> str:
    written = replace(WORK, **fields)  # type: ignore[arg-type]
    return start(written, target, store=store, approvals=Approvals(), events=Heard())


def leave(target: DuckdbTarget, store: Store, run: str) -> str:
    """Leave a marked object of the run behind, as a kill would."""
    name = f"dbatk_{run_key(run).lower()}_77"
    ref = ObjectRef(ObjectKind.TABLE, QualifiedName(name, "main"), scratch=True)
    step = Step("ctas", "", effect=Effect.CREATES, object=ref)
    store.journal(run).intend(step, trial=1, proof={"free": True, "born": None})
    target.close()
    with duckdb.connect(target.display.removeprefix("duckdb:///")) as beside:
        beside.execute(f"CREATE TABLE {name} (id INTEGER)")
        beside.execute(f"COMMENT ON TABLE {name} IS 'made by dbatk run {run_key(run)}, may be dropped'")
    return name


def tables(target: DuckdbTarget) -> set[str]:
    target.close()
    with duckdb.connect(target.display.removeprefix("duckdb:///")) as beside:
        return {str(row[0]) for row in beside.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def test_clean_of_one_database_leaves_the_entries_of_another_open(kept: Store, tmp_path: Path) -> None:
    here, there = database(tmp_path, "here"), database(tmp_path, "there")
    run = begin(here, kept)
    name = leave(here, kept, run)
    assert clean(there, run=None, store=kept, events=Heard()).done == ()
    assert len(kept.journal(run).open_entries()) == 1
    with pytest.raises(ToolkitError, match="worked on") as caught:
        clean(there, run=run, store=kept, events=Heard())
    assert caught.value.code == "TK-0107"
    assert clean(here, run=None, store=kept, events=Heard()).done == (f"{run}: dropped table `main.{name}`",)
    assert tables(here) == {"g"}


def test_what_is_left_is_dropped_where_the_profile_of_another_database_has_limits(
    kept: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To compare the two, the file is opened for reading first."""
    here, there = database(tmp_path, "here"), database(tmp_path, "there")
    run = begin(here, kept)
    name = leave(here, kept, run)
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    assert main(["target", "add", "there", there.address.display, "--approved-only"]) == 0
    found = clean(here, run=None, store=kept, events=Heard())
    assert (found.done, found.left) == ((f"{run}: dropped table `main.{name}`",), ())


def test_a_run_is_not_resumed_on_another_database(kept: Store, tmp_path: Path) -> None:
    run = begin(database(tmp_path, "here"), kept)
    with pytest.raises(ToolkitError, match="worked on"):
        resume(run, database(tmp_path, "there"), store=kept, approvals=Approvals(), events=Heard())


def test_a_run_that_is_refused_by_a_lease_does_not_stay_running(kept: Store, tmp_path: Path) -> None:
    target = database(tmp_path, "here")
    other = begin(target, kept)
    kept.acquire_lease(target.lease_key, other)
    with pytest.raises(ToolkitError) as caught:
        begin(target, kept)
    assert caught.value.code == "TK-0302"
    assert {head.state for head in kept.list_runs()} == {RunState.DONE, RunState.REFUSED}


@pytest.mark.full
def test_the_best_cell_is_kept_once_however_often_the_run_is_resumed(kept: Store, tmp_path: Path) -> None:
    target = database(tmp_path, "here")
    run = begin(target, kept, keep=Keep.BEST)
    assert tables(target) == {"g", "made"}
    before = len(kept.load_run(run).trials)
    assert resume(run, target, store=kept, approvals=Approvals(), events=Heard()) == run
    assert len(kept.load_run(run).trials) == before


@pytest.mark.full
def test_a_best_cell_that_was_made_when_the_kill_came_is_found_complete(kept: Store, tmp_path: Path) -> None:
    target = database(tmp_path, "here")
    run = begin(target, kept, keep=Keep.BEST)
    (job,) = [trial for trial in kept.load_run(run).trials if trial.trial == 2]
    kept.begin_trial(run, 3, 1, job.cell, 0, job.began_at)
    made = ObjectRef(ObjectKind.TABLE, QualifiedName("made", "main"))
    step = Step("ctas", "", effect=Effect.CREATES, object=made)
    kept.journal(run).intend(step, trial=3, proof={"free": True, "born": None})
    heard = Heard()
    resume(run, target, store=kept, approvals=Approvals(), events=heard)
    assert "`main.made` was created before the interruption; its time is unknown" in heard.texts("warning")
    assert kept.journal(run).open_entries() == ()
    assert [trial.outcome for trial in kept.load_run(run).trials if trial.trial == 3] == [Outcome.INTERRUPTED]
    assert "made" in tables(target)


def test_the_text_of_an_unexpected_exception_is_not_stored(
    tmp_path: Path, kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(self: ThreadProvider) -> None:
        raise RuntimeError("password=s3cr3tXcanary")

    monkeypatch.setattr(ThreadProvider, "begin", fault)
    with pytest.raises(RuntimeError):
        begin(database(tmp_path, "here"), kept)
    kept.close()
    stored = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert stored
    assert not any(b"s3cr3tXcanary" in content for content in stored)
