"""IDLE_TIME and CONNECT_TIME end sessions that wait while another one works: nothing measured is lost by it."""

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


@pytest.mark.parametrize(
    ("limit", "codes"),
    [(2396, (("ORA-02396", True), ("DPY-1001", True))), (2399, (("ORA-02399", True), ("DPY-4011", False)))],
)
def test_a_session_past_its_limit_is_told_so_and_then_gone(
    limit: int, codes: tuple[tuple[str, bool], ...]
) -> None:
    with running_standin(Scenario(idle_time=True, limit=limit)) as standin:
        idle, working = connect(standin), connect(standin)
        idle.execute("SELECT 1 AS one FROM dual")
        working.execute("CREATE TABLE t AS SELECT 1 AS a FROM dual")
        for code, unsent in codes:
            with pytest.raises(DatabaseError) as caught:
                idle.execute("SELECT 1 AS one FROM dual")
            assert (caught.value.code, caught.value.lost, caught.value.unsent) == (code, True, unsent)
        working.close()


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("operation", "mode", "limit"),
    thinned([
        ("ctas", Mode.JOB, 2396), ("ctas", Mode.MEASUREMENT, 2396), ("insert", Mode.JOB, 2396),
        ("index-build", Mode.JOB, 2396), ("index-rebuild", Mode.JOB, 2396),
        ("index-rebuild", Mode.MEASUREMENT, 2396), ("ctas", Mode.MEASUREMENT, 2399),
        ("index-rebuild", Mode.JOB, 2399),
    ], 3),
)  # fmt: skip
def test_a_trial_keeps_its_time_when_the_sessions_beside_it_were_idle_too_long(
    operation: OperationName, mode: Mode, limit: int, tmp_path: Path
) -> None:
    scenario = Scenario(idle_time=True, limit=limit)
    with running_standin(scenario) as standin, open_store(tmp_path / "store.db") as store:
        wreck.prepare(standin)
        before = wreck.look(standin)
        heard = run(standin, store, experiment(standin, operation, mode))
        record = store.load_run(store.resolve("last"))
        (trial,) = record.trials
        assert (record.head.state, trial.outcome) == (RunState.DONE, Outcome.OK), trial.reason
        assert trial.elapsed_seconds is not None
        assert not [said for said in heard.texts("warning") if f"ORA-0{limit}" in said]
        assert store.open_entries_all() == ()
        after = wreck.look(standin)
        for made in (TABLE, "INDEX DBATK.NEW_IX"):
            after.pop(made, None)
        assert after == before
