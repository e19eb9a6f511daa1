"""Programs of this host on every engine: beside a database, or without one; where there are none, it is said."""

from __future__ import annotations

import pytest

from tests.engines.arena import Arena, Heard
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.values import Factor
from toolkit.model.words import Mode, Outcome, RunState
from toolkit.store.store import Store

ALLOWED = Approvals(not_production=True, allow_commands=True)


@pytest.mark.thin(2)
def test_programs_are_swept_on_every_engine_that_has_them(any_arena: Arena, store: Store) -> None:
    options = {"command": ("sh", "-c", "exit {n}"), "allow_exit": "0", "prepare": ("true",), "conclude": ("true",)}
    factors = (Factor("n", (0, 3)),)
    work = Experiment(any_arena.url, "command", options, factors, Mode.MEASUREMENT, repeat=2, seed=7)
    target = any_arena.target()
    try:
        if "command" not in dialect_of(any_arena.engine).work:
            with pytest.raises(ToolkitError, match="does not support `command`"):
                start(work, target, store=store, approvals=ALLOWED, events=Heard())
            return
        run = start(work, target, store=store, approvals=ALLOWED, events=Heard())
    finally:
        target.close()
    record = store.load_run(run)
    assert record.head.state is RunState.DONE
    ended = {(trial.cell["n"], trial.outcome) for trial in record.trials}
    assert ended == {(0, Outcome.OK), (3, Outcome.FAILED)}
    assert all(trial.granted_degree is None for trial in record.trials)
    assert store.journal(run).open_entries() == ()
