"""The backup that `--keep best` makes is there once, and noted, whatever of it could not be stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from tests.app.maintenance.test_lost_after_all import FULL
from tests.app.test_repair import database
from tests.engines.arena import Heard
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import resume, start
from toolkit.app.runs.repair import clean
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.values import Factor
from toolkit.model.words import Keep, Mode, Outcome
from toolkit.store import Store, open_store, schema
from toolkit.store.database import Database

WRITES = (4, 5, 6, 1, 2, 3, 7, 8, 9, 10)
"""What is stored from the begin of the trial that is kept on; the backup gets its name after the fourth."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


@pytest.mark.thin(4)
@pytest.mark.parametrize("cleaned", [False, True])
@pytest.mark.parametrize("lasts", [1, 1000])
@pytest.mark.parametrize("at", WRITES)
def test_the_best_backup_is_made_once_and_noted_whatever_could_not_be_stored(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, lasts: int, cleaned: bool
) -> None:
    place, target = tmp_path / "backups", database(tmp_path, "x")
    place.mkdir()
    real, tried = Database.write, list[str]()

    @contextmanager
    def write(self: Database, what: str, **more: Any) -> Iterator[Connection]:
        if tried or "trial `2`" in what:
            tried.append(what)
            if at <= len(tried) < at + lasts:
                raise FULL
        with real(self, what, **more) as connection:
            yield connection

    best = Experiment(
        "t", "backup", {"destination": (str(place),)}, (Factor("channels", (1,)),), Mode.MEASUREMENT,
        repeat=1, warmup=0, keep=Keep.BEST,
    )  # fmt: skip
    with monkeypatch.context() as full, suppress(ToolkitError):
        full.setattr(Database, "write", write)
        start(best, target, store=store, approvals=Approvals(), events=Heard())
    assert len(tried) >= at, tried
    with store._database.write("the process is gone") as connection:
        connection.execute(schema.lease.delete())
    made = list(place.glob("backup_*"))
    run = store.list_runs()[0].run
    if cleaned:
        clean(target, run=run, store=store, events=Heard())
    for _ in range(2):
        resume(run, target, store=store, approvals=Approvals(), events=Heard())
    (whole,) = place.iterdir()
    assert whole.name.startswith("backup_") and made in ([], [whole])
    items = [item for trial in store.load_run(run).trials if trial.repeat == 0 for item in trial.items]
    assert any(item.outcome is Outcome.OK for item in items), items
    assert not store.open_entries_all()
