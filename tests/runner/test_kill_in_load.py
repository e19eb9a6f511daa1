"""A load of data files that was killed goes on with what is missing: no row is lost, none is there twice."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from tests.engines.arena import Arena
from tests.runner.test_kill_and_resume import check_nothing_is_left, drive
from tests.tiers import thinned
from toolkit.store import open_store

_MILLIONS = (7.35, 7.60, 8.22, 8.69, 9.15, 9.43, 10.03, 10.53)
"""Of rows in the eight files of a published load, scaled down here."""
_ROWS = 100.0
_MOMENTS = tuple(range(8, 60, 2))
_OF_AN_INSERT = tuple(range(8, 34))
"""Its statements, all but those before a run exists."""


def written(folder: Path) -> list[str]:
    first, files = 0, []
    for number, millions in enumerate(_MILLIONS, 1):
        path, end = folder / f"lines_{number}.csv", first + round(millions * _ROWS)
        text = "".join(
            f'{n},"line\n{n}",{n % 7}\n' if n % 50 == 0 else f"{n},line {n},{n % 7}\n" for n in range(first, end)
        )
        path.write_text("id,name,k\n" + text)
        files.append(str(path))
        first = end
    return files


def total() -> int:
    return sum(round(millions * _ROWS) for millions in _MILLIONS)


def loaded(arena: Arena, tmp_path: Path, **dies: float) -> bool:
    """Load, die, resume (perhaps die again, resume): whether it died at all, and all is there once in any case."""
    if arena.engine not in ("duckdb", "postgresql"):
        pytest.skip("the outcome of a commit on this engine is told by its own suites")
    arena.ask(f"DROP TABLE IF EXISTS {arena.schema}.lines")
    arena.ask(f"CREATE TABLE {arena.schema}.lines (id INTEGER, name VARCHAR, k INTEGER)")
    store, files = tmp_path / "store.sqlite", written(tmp_path)
    options = {"files": files, "table": f"{arena.schema}.lines"}
    factors: dict[str, list[object]] = {"degree": [2]}
    if arena.engine == "postgresql":
        factors["commit_every"] = ["4K"]
    told = {"url": arena.url, "store": str(store), "operation": "load", "options": options, "factors": factors,
            "mode": "job"}  # fmt: skip
    return _survives(arena, store, told, **dies)


def inserted(arena: Arena, tmp_path: Path, degree: int = 1, **dies: float) -> bool:
    """As `loaded`, from a table, in one transaction or in parts."""
    if arena.engine not in ("duckdb", "postgresql"):
        pytest.skip("the outcome of a commit on this engine is told by its own suites")
    for name in ("source", "lines"):
        arena.ask(f"DROP TABLE IF EXISTS {arena.schema}.{name}")
    series = f"SELECT CAST(i AS INTEGER) AS id FROM generate_series(0, {total() - 1}) s (i)"
    arena.ask(f"CREATE TABLE {arena.schema}.source AS {series}")
    arena.ask(f"CREATE TABLE {arena.schema}.lines (id INTEGER)")
    options = {"source": f"{arena.schema}.source", "table": f"{arena.schema}.lines"}
    store = tmp_path / "store.sqlite"
    told = {"url": arena.url, "store": str(store), "operation": "insert", "options": options,
            "factors": {"degree": [degree]}, "mode": "job"}  # fmt: skip
    try:
        return _survives(arena, store, told, **dies)
    finally:
        arena.ask(f"DROP TABLE {arena.schema}.source")


def _survives(arena: Arena, store: Path, told: dict[str, object], **dies: float) -> bool:
    killed = drive(**told, **dies)
    with open_store(store) as opened:
        heads = opened.list_runs()
    if killed.returncode == -signal.SIGKILL and not heads:
        assert arena.ask(f"SELECT count(*) FROM {arena.schema}.lines") == [(0,)]
        return True
    (head,) = heads
    # The last of them ends by itself: one that is killed after its commit has recorded all and tidied nothing.
    for resumes in range(5):
        again = dies if resumes == 0 and "die_in" in dies else {}
        done = drive(url=arena.url, store=str(store), resume=head.run, **again)
        assert done.returncode in (0, -signal.SIGKILL), (done.stdout, done.stderr)
        if done.returncode == 0:
            break
    assert done.returncode == 0
    rows = total()
    found = arena.ask(f"SELECT count(*), count(DISTINCT id), sum(id), min(id), max(id) FROM {arena.schema}.lines")
    assert [tuple(map(int, row)) for row in found] == [(rows, rows, sum(range(rows)), 0, rows - 1)]  # type: ignore[call-overload]
    with open_store(store) as opened:
        record = opened.load_run(head.run)
        assert record.trials[-1].rows == rows
        assert not [each for each in record.warnings if "has changed" in each]  # its own rows are no change
        assert opened.journal(head.run).open_entries() == ()
    check_nothing_is_left(arena)
    return killed.returncode == -signal.SIGKILL


@pytest.mark.thin(3)
@pytest.mark.parametrize("die_at", thinned(_MOMENTS, 6))
def test_a_load_killed_before_any_statement_is_resumed_without_losing_or_doubling_a_row(
    arena: Arena, tmp_path: Path, die_at: int
) -> None:
    loaded(arena, tmp_path, die_at=die_at)


@pytest.mark.parametrize("die_at", thinned(_OF_AN_INSERT, 6))
def test_an_insert_killed_before_any_statement_is_resumed_and_nobody_is_asked(
    arena: Arena, tmp_path: Path, die_at: int
) -> None:
    inserted(arena, tmp_path, die_at=die_at)


@pytest.mark.full
def test_an_insert_has_no_statement_that_it_is_not_killed_at(arena: Arena, tmp_path: Path) -> None:
    assert not inserted(arena, tmp_path, die_at=_OF_AN_INSERT[-1] + 1)


@pytest.mark.full
@pytest.mark.parametrize("die_at", _OF_AN_INSERT)
def test_an_insert_killed_in_the_middle_of_any_statement_is_resumed_and_nobody_is_asked(
    arena: Arena, tmp_path: Path, die_at: int
) -> None:
    inserted(arena, tmp_path, die_at=die_at, die_in=random.Random(die_at).uniform(0.0, 0.03))


@pytest.mark.full
@pytest.mark.parametrize("die_at", range(9, 71, 2))
def test_a_load_killed_in_the_middle_of_any_statement_is_resumed_without_losing_or_doubling_a_row(
    arena: Arena, tmp_path: Path, die_at: int
) -> None:
    loaded(arena, tmp_path, die_at=die_at, die_in=random.Random(die_at).uniform(0.0, 0.03))
