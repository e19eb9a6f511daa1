"""IDLE_TIME of a profile ends sessions that wait while another one works: nothing measured is lost by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.make import connect
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.test_undo import TABLE, experiment, run
from tests.tiers import thinned
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import Mode, OperationName, Outcome, RunState
from toolkit.store import open_store


def test_a_session_that_was_idle_too_long_is_told_so_and_then_gone() -> None:
    with running_standin(Scenario(idle_time=True)) as standin:
        idle, working = connect(standin), connect(standin)
        idle.execute("SELECT 1 AS one FROM dual")
        working.execute("CREATE TABLE t AS SELECT 1 AS a FROM dual")
        for code in ("ORA-02396", "DPY-1001"):
            with pytest.raises(DatabaseError) as caught:
                idle.execute("SELECT 1 AS one FROM dual")
            assert (caught.value.code, caught.value.lost, caught.value.unsent) == (code, True, True)
        working.close()


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("operation", "mode"),
    thinned([
        ("ctas", Mode.JOB), ("ctas", Mode.MEASUREMENT), ("insert", Mode.JOB), ("index-build", Mode.JOB),
        ("index-rebuild", Mode.JOB), ("index-rebuild", Mode.MEASUREMENT),
    ], 3),
)  # fmt: skip
def test_a_trial_keeps_its_time_when_the_sessions_beside_it_were_idle_too_long(
    operation: OperationName, mode: Mode, tmp_path: Path
) -> None:
    with running_standin(Scenario(idle_time=True)) as standin, open_store(tmp_path / "store.db") as store:
        wreck.prepare(standin)
        before = wreck.look(standin)
        heard = run(standin, store, experiment(standin, operation, mode))
        record = store.load_run(store.resolve("last"))
        (trial,) = record.trials
        assert (record.head.state, trial.outcome) == (RunState.DONE, Outcome.OK), trial.reason
        assert trial.elapsed_seconds is not None
        assert not [said for said in heard.texts("warning") if "ORA-02396" in said]
        assert store.open_entries_all() == ()
        after = wreck.look(standin)
        for made in (TABLE, "INDEX DBATK.NEW_IX"):
            after.pop(made, None)
        assert after == before
