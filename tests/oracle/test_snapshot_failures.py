"""What becomes of the work when a snapshot around it fails: nothing."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tests.engines.arena import Heard
from tests.oracle.make import target
from tests.oracle.standin import Standin, running_standin
from tests.oracle.standin.faults import BEFORE, Act, Fault, break_connection, fail_with, kill_session
from tests.tiers import thinned
from toolkit.app.approvals import Approvals, TargetPolicy
from toolkit.app.runs.execute import start
from toolkit.config.licences import Licence
from toolkit.model.experiment import Experiment
from toolkit.model.records import RunRecord
from toolkit.model.values import Factor
from toolkit.model.words import Mode, Outcome, RunState
from toolkit.store import Store, open_store

_DECLARED = {"diagnostics_pack": Licence("J. Doe", date(2026, 1, 31), None)}


def loaded(standin: Standin, store: Store) -> RunRecord:
    """Load a table as a job, with snapshots of AWR around it."""
    resolved = target(standin, licences=frozenset({"diagnostics_pack"}))
    experiment = Experiment(
        standin.url, "insert", {"source": "GTEST", "table": "APP.ORDERS"}, (Factor("degree", (4,)),), Mode.JOB,
        snapshot="awr",
    )  # fmt: skip
    policy = TargetPolicy(licences=frozenset(_DECLARED), declarations=_DECLARED)
    try:
        run = start(
            experiment,
            resolved,
            store=store,
            approvals=Approvals(not_production=True),
            events=Heard(),
            policy=policy,
        )
    finally:
        resolved.close()
    return store.load_run(run)


@pytest.mark.parametrize(
    "act", thinned([break_connection, kill_session, fail_with(13516)], 3), ids=["cut", "killed", "refused"]
)
def test_a_closing_snapshot_that_fails_leaves_a_committed_load_as_it_is(act: Act, tmp_path: Path) -> None:
    with running_standin() as standin, open_store(tmp_path / "store.db") as store:
        rows = standin.engine.state.objects["TABLE", ("APP", "ORDERS")].rows
        closing = Fault(act, words="CREATE_SNAPSHOT", when=BEFORE, spared=1)
        standin.engine.faults.append(closing)
        record = loaded(standin, store)
        assert closing.struck is not None
        (trial,) = record.trials
        assert (record.head.state, trial.outcome) == (RunState.DONE, Outcome.OK)
        assert trial.elapsed_seconds is not None
        assert any("awr" in said and "snapshot" in said for said in record.warnings)
        assert standin.engine.state.objects["TABLE", ("APP", "ORDERS")].rows == rows + 2000
        assert store.open_entries_all() == ()


def test_a_snapshot_that_was_stored_with_errors_says_what_is_missing(tmp_path: Path) -> None:
    with running_standin() as standin, open_store(tmp_path / "store.db") as store:
        standin.engine.state.awr.errors = 3
        record = loaded(standin, store)
        said = [each for each in record.warnings if "with 3 errors" in each]
        assert len(said) == 2
        assert all("DBA_HIST_SNAP_ERROR" in each for each in said)


@pytest.mark.full
def test_where_the_first_snapshot_fails_the_load_is_done_once_and_says_so(tmp_path: Path) -> None:
    with running_standin() as standin, open_store(tmp_path / "store.db") as store:
        rows = standin.engine.state.objects["TABLE", ("APP", "ORDERS")].rows
        standin.engine.faults.append(Fault(fail_with(13516), words="CREATE_SNAPSHOT", when=BEFORE))
        record = loaded(standin, store)
        (trial,) = record.trials
        assert (record.head.state, trial.outcome) == (RunState.DONE, Outcome.OK)
        assert standin.engine.state.objects["TABLE", ("APP", "ORDERS")].rows == rows + 2000
        assert any("no awr snapshot could be taken: ORA-13516" in warning for warning in record.warnings)
