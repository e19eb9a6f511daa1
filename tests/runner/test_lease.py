"""A lease that another process took stops the run; a run that another process goes on with is left to it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engines.arena import Arena
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.protocols import Event
from toolkit.model.values import Factor
from toolkit.model.words import Mode, RunState
from toolkit.runner import Stop, holding_lease
from toolkit.store import Store, open_store

OTHER = "20261121-000000-0000"


class Thief:
    """Takes the lease when an event of a kind comes the second time."""

    def __init__(self, kind: str, steal: Callable[[], None]) -> None:
        self._left = 2
        self._kind = kind
        self._steal = steal

    def emit(self, event: Event) -> None:
        self._left -= event.kind == self._kind
        if event.kind == self._kind and self._left == 0:
            self._steal()


def steal(store: Path, run: str | None = None) -> None:
    """Make another process the holder of the only lease; None: for the run that holds it."""
    with sqlite3.connect(store) as beside:
        beside.execute("UPDATE lease SET pid = 1, host = 'elsewhere', run = COALESCE(?, run)", (run,))


def sweep(arena: Arena, store: Store, events: Thief) -> None:
    options = {"source": f"{arena.schema}.gtest", "table": f"{arena.schema}.made"}
    experiment = Experiment(
        arena.url, "ctas", options, (Factor("degree", (1,)),), Mode.MEASUREMENT, repeat=4, warmup=0
    )
    start(experiment, arena.target(), store=store, approvals=Approvals(not_production=True), events=events)


def refused(arena: Arena, store: Store, events: Thief) -> ToolkitError:
    with pytest.raises(ToolkitError) as caught:
        sweep(arena, store, events)
    return caught.value


def test_a_lease_that_another_run_took_stops_the_run_before_its_next_trial(arena: Arena, tmp_path: Path) -> None:
    place = tmp_path / "store.sqlite"
    with open_store(place) as store:
        error = refused(arena, store, Thief("trial-ended", lambda: steal(place, OTHER)))
        record = store.load_run(store.resolve("last"))
        assert store.journal(record.head.run).open_entries() == ()
    assert (error.code, error.exit_code) == ("TK-0302", ExitCode.REFUSED)
    assert "process 1 on `elsewhere`" in error.message and OTHER in error.message
    assert f"runs resume {record.head.run}" in error.hint
    assert record.head.state is RunState.INTERRUPTED
    assert len(record.trials) == 2
    assert arena.leftovers() == []


def test_a_run_that_another_process_took_over_is_left_to_it(arena: Arena, tmp_path: Path) -> None:
    place = tmp_path / "store.sqlite"
    with open_store(place) as store:
        error = refused(arena, store, Thief("trial-begun", lambda: steal(place)))
        run = store.resolve("last")
        record = store.load_run(run)
        entries = store.journal(run).entries()
    assert error.code == "TK-0302"
    assert "leaves the run to it" in error.hint
    # neither its end nor the end of its second trial was written: that is the other one's to say
    assert record.head.state is RunState.RUNNING
    assert [trial.trial for trial in record.trials] == [1]
    assert [entry.trial for entry in entries if entry.state.value in ("intended", "made")] in ([], [2])


def test_a_heartbeat_that_cannot_begin_says_what_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with open_store(tmp_path / "store.sqlite") as store:
        monkeypatch.setattr(threading.Thread, "start", start)
        with pytest.raises(ToolkitError) as caught, holding_lease(store, "a target", OTHER, Stop()):
            pytest.fail("nothing kept the lease alive")
    assert caught.value.code == "TK-0203" and "ulimit -u" in str(caught.value.hint)
