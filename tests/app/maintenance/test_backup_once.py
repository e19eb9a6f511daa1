"""A backup that has its name is the step's, whatever fails after that: no later plan run makes it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from tests.app.maintenance.test_lost_after_all import FULL, ONCE, night, refused
from tests.store.make import head
from toolkit.app.maintenance import attempt, closing
from toolkit.app.maintenance.closing import child_of
from toolkit.app.runs import execute
from toolkit.errors import ToolkitError
from toolkit.model.plan import StepState
from toolkit.model.words import RunState
from toolkit.store import Store, schema
from toolkit.store.database import Database

NIGHTS = 4
WRITES = 8
"""What is stored from the moment on in which a backup has its name until its step is done."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(attempt, "_FIRST_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(closing, "_LOOK_SECONDS", 0.0)
    folder = tmp_path / "backups"
    folder.mkdir()
    return folder


def step(place: Path) -> str:
    return f'[[step]]\nname = "load"\noperation = "backup"\ndestination = "{place}"\nretries = 1\n{ONCE}'


def backups(place: Path) -> list[Path]:
    return sorted(place.glob("backup_*"))


@pytest.mark.thin(6)
@pytest.mark.parametrize("lasts", [1, 1000])
@pytest.mark.parametrize("at", range(1, WRITES + 1))
def test_a_store_that_is_full_once_a_backup_has_its_name_costs_no_second_one(
    store: Store, tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch, at: int, lasts: int
) -> None:
    monkeypatch.setattr(closing, "TIMEOUT_SECONDS", 0.2)
    real, tried = Database.write, list[str]()

    @contextmanager
    def write(self: Database, what: str, **more: Any) -> Iterator[Connection]:
        if backups(place):
            tried.append(what)
            if at <= len(tried) < at + lasts:
                raise FULL
        with real(self, what, **more) as connection:
            yield connection

    with monkeypatch.context() as full, suppress(ToolkitError):
        full.setattr(Database, "write", write)
        night(store, tmp_path, step(place))
    assert len(tried) >= at, tried
    with store._database.write("the process is gone") as connection:
        connection.execute(schema.lease.delete())
    (made,) = backups(place)
    states = [night(store, tmp_path, step(place)).state for _ in range(NIGHTS)]
    assert list(place.iterdir()) == [made], states
    assert states[-1] is StepState.SKIPPED and not store.open_entries_all(), states


@pytest.mark.parametrize("where", [(execute, "say_what_needs_a_backup"), (attempt, "load_in_doubt")])
def test_what_fails_after_a_run_has_ended_well_makes_nobody_do_it_again(
    store: Store, tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch, where: tuple[Any, str]
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(*where, refused(FULL))
        done = night(store, tmp_path, step(place))
    assert (done.state.value, "disk is full" in str(done.reason)) == ("done", True), done.reason
    assert night(store, tmp_path, step(place)).state is StepState.SKIPPED
    assert len(list(place.iterdir())) == 1


def test_a_stopped_step_whose_run_was_gone_on_with_is_done_though_the_clock_was_put_back(
    store: Store, tmp_path: Path, place: Path
) -> None:
    done = night(store, tmp_path, step(place))
    (last,) = store.plan_runs("n", 1)
    assert done.ended_at is not None
    store.note_step(last.plan_run, replace(done, state=StepState.STOPPED, reason="the window closed"))
    store.end_run(str(done.run), RunState.DONE, done.ended_at - timedelta(hours=12))
    again = night(store, tmp_path, step(place))
    assert again.state is StepState.SKIPPED and "it was done" in str(again.reason), again.reason
    assert len(list(place.iterdir())) == 1


def test_the_run_that_is_at_work_is_the_newest_of_its_step_though_the_clock_was_put_back(store: Store) -> None:
    for run, later, ended in (("20261121-051342-aaaa", 0, True), ("20261120-171342-bbbb", -43200, False)):
        made = head(run, later=later, parent="p")
        store.create_run(replace(made, experiment=replace(made.experiment, name="load")))
        if ended:
            store.end_run(run, RunState.DONE, made.began_at)
    assert child_of(store, "p", "load", "dwh") == "20261120-171342-bbbb"
