"""A killed run is resumed to exactly what was asked: no trial or item lost or doubled, nothing left behind."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.engines.arena import ROWS, Arena
from tests.engines.torn import mend_torn
from tests.servers import forks
from tests.tiers import thinned
from toolkit.app.results import listed_runs
from toolkit.model.records import RunRecord
from toolkit.model.words import Outcome, RunState
from toolkit.store import open_store


def drive(**told: Any) -> subprocess.CompletedProcess[str]:
    """Run `tests.runner.driver`; a DuckDB file that it was killed in the middle of writing can be opened again."""
    ended = forks.run("tests.runner.driver", json.dumps(told))
    if ended.returncode == -signal.SIGKILL and told["url"].startswith("duckdb:///"):
        mend_torn(Path(told["url"].removeprefix("duckdb:///")))
    return ended


def sweep(arena: Arena, store: Path, **more: Any) -> dict[str, Any]:
    return {
        "url": arena.url,
        "store": str(store),
        "operation": "ctas",
        "options": {"source": f"{arena.schema}.gtest", "table": f"{arena.schema}.made"},
        "factors": {"degree": [1]},
        "mode": "measurement",
        "repeat": 2,
        "warmup": 1,
    } | more


def kill_and_resume(arena: Arena, store: Path, told: dict[str, Any]) -> RunRecord | None:
    """Run, let it die, resume; None when it died before a run existed."""
    killed = drive(**told)
    assert killed.returncode == -signal.SIGKILL, (killed.stdout, killed.stderr)
    with open_store(store) as opened:
        heads = opened.list_runs()
    if not heads:
        return None
    (head,) = heads
    with open_store(store) as opened:
        assert listed_runs(opened, 5)[0].state is RunState.INTERRUPTED
    resumed = drive(url=told["url"], store=told["store"], resume=head.run)
    assert resumed.returncode == 0, (resumed.stdout, resumed.stderr)
    with open_store(store) as opened:
        assert opened.journal(head.run).open_entries() == ()
        assert opened.unended_trials(head.run) == ()
        return opened.load_run(head.run)


def check_nothing_is_left(arena: Arena) -> None:
    assert arena.leftovers() == []
    if arena.engine == "postgresql":
        scratch = "SELECT count(*) FROM pg_stat_activity WHERE application_name ~ '^\\d{8}-\\d{6}-'"
        limit = monotonic() + 120
        while arena.ask(scratch) != [(0,)]:  # the server ends a session a moment after its client is gone
            assert monotonic() < limit


@pytest.mark.parametrize("die_at", thinned([14, 9, 4, 11, 17, 20, 24, 28, 33], 3))
def test_a_sweep_killed_at_any_statement_is_resumed_without_loss(
    arena: Arena, tmp_path: Path, die_at: int
) -> None:
    store = tmp_path / "store.sqlite"
    record = kill_and_resume(arena, store, sweep(arena, store, die_at=die_at))
    check_nothing_is_left(arena)
    if record is None:
        return
    good = [trial for trial in record.trials if trial.outcome is Outcome.OK]
    assert sorted((trial.trial, trial.repeat) for trial in good) == [(1, 0), (2, 1), (3, 2)]
    assert {trial.rows for trial in good} == {ROWS}
    broken = [trial for trial in record.trials if trial.outcome is not Outcome.OK]
    assert [trial.outcome for trial in broken] in ([], [Outcome.INTERRUPTED])
    assert all(trial.elapsed_seconds is None for trial in broken)
    assert record.head.state is RunState.DONE


@pytest.mark.parametrize("die_in", thinned([0.01, 0.0, 0.002, 0.03], 4))
def test_a_sweep_killed_in_the_middle_of_the_timed_statement_is_resumed(
    arena: Arena, tmp_path: Path, die_in: float
) -> None:
    store = tmp_path / "store.sqlite"
    table = f"{arena.schema}.gtest"
    query = f"SELECT a.id, a.idname FROM {table} a, {table} b WHERE a.k = b.id AND b.id < 40"
    told = sweep(arena, store, options={"query": query, "table": f"{arena.schema}.made"})
    at = 14 if arena.engine == "postgresql" else 15
    record = kill_and_resume(arena, store, told | {"die_at": at, "die_in": die_in})
    check_nothing_is_left(arena)
    assert record is not None
    assert [t.trial for t in record.trials if t.outcome is Outcome.OK] == [1, 2, 3]


@pytest.mark.parametrize(
    ("operation", "items", "die_at"),
    thinned(
        [
            *(("index-rebuild", {"gtest_idname", "gtest_k"}, at) for at in (12, 8, 10, 14)),
            *(("stats-gather", {"gtest", "nothing"}, at) for at in (12, 9, 15)),
            ("index-rebuild", {"gtest_idname", "gtest_k"}, 16),
        ],
        every=4,
    ),
)
def test_a_job_killed_anywhere_does_each_item_exactly_once(
    arena: Arena, tmp_path: Path, operation: str, items: set[str], die_at: int
) -> None:
    store = tmp_path / "store.sqlite"
    told = sweep(
        arena, store, operation=operation, options={"schema": [arena.schema]}, mode="job",
        repeat=1, warmup=0, die_at=die_at,
    )  # fmt: skip
    killed = drive(**told)
    if killed.returncode == 0:
        pytest.skip("the whole job sends fewer statements on this engine")
    with open_store(store) as opened:
        (head,) = opened.list_runs()
        before = {item.label for item in opened.items_of(head.run, 1) if item.outcome is Outcome.OK}
    resumed = drive(url=arena.url, store=str(store), resume=head.run)
    assert resumed.returncode == 0, (resumed.stdout, resumed.stderr)
    again = {
        line.removeprefix("progress: ") for line in resumed.stdout.splitlines() if line.startswith("progress")
    }
    assert before.isdisjoint(again)
    assert {f"{arena.schema}.{item}" for item in items} <= before | again
    check_nothing_is_left(arena)


@pytest.mark.thin(2)
def test_a_job_killed_after_its_create_is_found_complete(arena: Arena, tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    told = sweep(arena, store, mode="job", repeat=1, warmup=0)
    for die_at in range(8, 30):
        arena.ask(f"DROP TABLE IF EXISTS {arena.schema}.made")
        place = tmp_path / f"store{die_at}.sqlite"
        killed = drive(**(told | {"die_at": die_at, "store": str(place)}))
        if killed.returncode == 0:
            break
        with open_store(place) as opened:
            heads = opened.list_runs()
        if not heads or not arena.ask(TABLE_EXISTS[arena.engine].format(arena.schema)):
            continue
        resumed = drive(url=arena.url, store=str(place), resume=heads[0].run)
        assert resumed.returncode == 0, resumed.stdout
        assert arena.ask(f"SELECT count(*) FROM {arena.schema}.made") == [(ROWS,)]
        with open_store(place) as opened:
            record = opened.load_run(heads[0].run)
            assert opened.journal(heads[0].run).open_entries() == ()
        assert [t.outcome for t in record.trials][-1] is Outcome.OK
        return
    pytest.fail("no kill fell between the CREATE and the end")


TABLE_EXISTS = {
    "duckdb": "SELECT 1 FROM duckdb_tables() WHERE schema_name = '{}' AND table_name = 'made'",
    "postgresql": (
        "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "
        "WHERE nspname = '{}' AND relname = 'made'"
    ),
}


def test_a_run_that_is_alive_is_not_resumed(arena: Arena, tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    table = f"{arena.schema}.gtest"
    query = f"SELECT count(*) AS n FROM {table} a, {table} b WHERE a.id + b.id > 1 AND a.idname < b.idname"
    told = sweep(arena, store, options={"query": query, "table": f"{arena.schema}.made"})
    with forks.Forked("tests.runner.driver", json.dumps(told)) as alive:
        for line in alive.stdout:
            if line.startswith("trial-begun"):
                break
        with open_store(store) as opened:
            (head,) = opened.list_runs()
        refused = drive(url=arena.url, store=str(store), resume=head.run)
        alive.send_signal(signal.SIGINT)
        said, _ = alive.communicate(timeout=300)
    assert refused.returncode == 5, refused.stdout
    assert "TK-0302" in refused.stdout
    assert alive.returncode == 130, said
    assert "TK-0130" in said
    check_nothing_is_left(arena)
    with open_store(store) as opened:
        record = opened.load_run(head.run)
    assert record.head.state is RunState.INTERRUPTED
    assert [trial.outcome for trial in record.trials] == [Outcome.INTERRUPTED]


def test_a_time_limit_ends_the_statement_and_the_trial_fails(arena: Arena, tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    table = f"{arena.schema}.gtest"
    query = f"SELECT count(*) AS n FROM {table} a, {table} b WHERE a.id + b.id > 1 AND a.idname < b.idname"
    options = {"query": query, "table": f"{arena.schema}.made"}
    told = sweep(arena, store, options=options, repeat=1, warmup=0, time_limit=0.3)
    ended = drive(**told)
    assert ended.returncode == 0, (ended.stdout, ended.stderr)
    with open_store(store) as opened:
        (trial,) = opened.load_run(opened.resolve("last")).trials
    assert (trial.outcome, trial.error_code) == (Outcome.FAILED, "TK-0207")
    assert trial.elapsed_seconds is None
    check_nothing_is_left(arena)
