"""A session that outlives its client goes on and commits: no entry of the journal is closed while one may live."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.arena import Heard
from tests.oracle import wreck
from tests.oracle.make import RUN, connect, target
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.faults import Act, Fault, Struck, break_connection, orphan
from tests.oracle.standin.state import State
from tests.oracle.test_undo import experiment
from tests.tiers import thinned
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.app.runs.preview import script
from toolkit.app.runs.repair import clean
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.words import Mode, OperationName
from toolkit.rendering import sql_file
from toolkit.runner import leftovers, sweep
from toolkit.store import Store, open_store

CTAS, SWEPT = 'CREATE TABLE "DBATK"."MADE"', 'CREATE TABLE "DBATK"."DBATK_'
NO_KILL = 1031


@pytest.fixture(autouse=True)
def in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "_RECONNECT_SECONDS", (0.0, 0.0))
    monkeypatch.setattr(leftovers, "_LOOK_SECONDS", 0.01)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def refused(standin: Standin, store: Store, operation: OperationName, mode: Mode) -> ToolkitError:
    """Run what ends with a refusal, and return that."""
    resolved = target(standin)
    try:
        with pytest.raises(ToolkitError) as caught:
            start(
                experiment(standin, operation, mode), resolved, store=store,
                approvals=Approvals(not_production=True), events=Heard(),
            )  # fmt: skip
    finally:
        resolved.close()
    return caught.value


def cleaned(standin: Standin, store: Store) -> tuple[tuple[str, ...], tuple[str, ...]]:
    resolved = target(standin)
    try:
        report = clean(resolved, run=None, store=store, events=Heard())
    finally:
        resolved.close()
    return report.done, report.left


def await_end_of(standin: Standin, count: int) -> None:
    """Wait until only so many sessions are left."""
    for _ in range(6000):
        if len(standin.sessions()) <= count:
            return
        threading.Event().wait(0.01)
    pytest.fail("the orphaned session did not end")


@pytest.mark.parametrize(
    ("operation", "mode", "words"), thinned([("ctas", Mode.JOB, CTAS), ("ctas", Mode.MEASUREMENT, SWEPT)], 2)
)
def test_what_an_orphaned_session_makes_after_the_end_of_the_run_is_found_by_clean(
    operation: OperationName, mode: Mode, words: str, store: Store
) -> None:
    done = threading.Event()
    with running_standin(Scenario(fail={"kill": NO_KILL})) as standin:
        before = wreck.look(standin)
        standin.engine.faults.append(Fault(orphan(done), words=words))
        error = refused(standin, store, operation, mode)
        assert (error.code, error.exit_code) == ("TK-0308", ExitCode.REFUSED)
        assert "KILL SESSION" in (error.hint or "")
        assert store.open_entries_all(), "the table was not there yet, and its entry was given up"
        with pytest.raises(ToolkitError, match="no privilege to end a session"):
            cleaned(standin, store)
        done.set()
        await_end_of(standin, 0)
        assert len(wreck.look(standin)) == len(before) + 1
        found, left = cleaned(standin, store)
        assert left == ()
        after = wreck.look(standin)
        if mode is Mode.JOB:
            assert after.pop("TABLE DBATK.MADE")[1:3] == ("1", "YES")
        else:
            assert any("dropped table" in sentence for sentence in found)
        assert after == before


@pytest.mark.full
def test_an_orphaned_session_of_the_setup_keeps_its_entry_open_too(store: Store) -> None:
    done = threading.Event()
    with running_standin(Scenario(fail={"kill": NO_KILL})) as standin:
        before = wreck.look(standin)
        standin.engine.faults.append(Fault(orphan(done), words=SWEPT))
        error = refused(standin, store, "index-rebuild", Mode.MEASUREMENT)
        assert error.code == "TK-0308"
        done.set()
        await_end_of(standin, 0)
        assert len(wreck.look(standin)) > len(before)
        assert cleaned(standin, store)[1] == ()
        assert wreck.look(standin) == before


def kills(standin: Standin) -> list[str]:
    return [text for text in standin.statements if text.startswith("ALTER SYSTEM KILL SESSION")]


def gone_before(backend: Struck, state: State) -> None:
    """Let every orphan end between the look at it and its kill."""
    for session in list(state.sessions.values()):
        if backend.session is not None and session.client_identifier != backend.session.client_identifier:
            state.sessions.pop(session.sid)


@pytest.mark.full
@pytest.mark.parametrize(
    ("deaf", "more"),
    thinned([(False, ()), (True, ()), (False, (Fault(gone_before, words="KILL SESSION '1"),))], 3),
    ids=["killed", "marked-for-kill", "gone-by-itself"],
)  # fmt: skip
def test_a_sweep_goes_on_once_its_orphaned_session_is_gone(
    deaf: bool, more: tuple[Fault, ...], store: Store
) -> None:
    with running_standin() as standin:
        before = wreck.look(standin)
        struck: Act = orphan(threading.Event(), deaf=deaf)
        standin.engine.faults += [
            Fault(struck, words=SWEPT), *(Fault(one.act, words=one.words) for one in more),
        ]  # fmt: skip
        resolved = target(standin)
        run = start(
            experiment(standin, "ctas", Mode.MEASUREMENT), resolved, store=store,
            approvals=Approvals(not_production=True), events=Heard(),
        )  # fmt: skip
        resolved.close()
        assert len(kills(standin)) == 1
        assert any("was lost in trial" in said for said in store.load_run(run).warnings)
        assert store.open_entries_all() == ()
        assert wreck.look(standin) == before


# -- a cluster ----------------------------------------------------------------------------------------------------
def test_a_session_on_another_instance_is_found_and_ended_there(store: Store, tmp_path: Path) -> None:
    with running_standin(Scenario(instances=2)) as standin:
        before = wreck.look(standin)
        never = threading.Event()
        arguments = wreck.OPERATIONS["ctas-sweep"]
        assert wreck.kill(standin, tmp_path, Fault(orphan(never), words=SWEPT), *arguments, after=orphan(never))
        standin.engine.state.lands_on = 2
        status, _ = wreck.clean(standin, tmp_path)
        assert status == 0
        (kill,) = kills(standin)
        assert ",@1' IMMEDIATE" in kill
        await_end_of(standin, 0)
        assert wreck.look(standin) == before


@pytest.mark.parametrize("denied", thinned([{"GV$SESSION"}, {"GV$SESSION", "V$INSTANCE"}], 2))
def test_where_other_instances_cannot_be_seen_nothing_is_given_up(denied: set[str], tmp_path: Path) -> None:
    done = threading.Event()
    with running_standin(Scenario(instances=2, denied=frozenset(denied))) as standin:
        before = wreck.look(standin)
        arguments = wreck.OPERATIONS["ctas-sweep"]
        assert wreck.kill(standin, tmp_path, Fault(orphan(done), words=SWEPT), *arguments, after=orphan(done))
        standin.engine.state.lands_on = 2
        status, said = wreck.clean(standin, tmp_path)
        assert status == ExitCode.REFUSED
        assert "other instances" in str(said) and "GV_$SESSION" in str(said)
        with open_store(tmp_path / "store.db") as kept:
            assert kept.open_entries_all()
        done.set()
        await_end_of(standin, 0)
        standin.engine.scenario = Scenario(instances=2)
        status, said = wreck.clean(standin, tmp_path)
        assert (status, said["left"]) == (0, [])
        assert wreck.look(standin) == before


def test_where_no_session_can_be_seen_clean_says_so_and_keeps_every_entry(tmp_path: Path) -> None:
    with running_standin() as standin:
        before = wreck.look(standin)
        arguments = wreck.OPERATIONS["ctas-sweep"]
        assert wreck.kill(standin, tmp_path, Fault(break_connection, words=SWEPT, when=wreck.AFTER), *arguments)
        standin.engine.scenario = Scenario(denied=frozenset({"V$SESSION", "GV$SESSION"}))
        status, said = wreck.clean(standin, tmp_path)
        assert status == ExitCode.REFUSED, said
        assert "cannot be seen" in str(said) and "ORA-00942" in str(said) and "doctor --grants" in str(said)
        with open_store(tmp_path / "store.db") as kept:
            assert kept.open_entries_all()
        standin.engine.scenario = Scenario()
        assert wreck.clean(standin, tmp_path)[0] == 0
        assert wreck.look(standin) == before


def test_on_a_single_instance_its_own_view_is_enough(tmp_path: Path) -> None:
    with running_standin(Scenario(denied=frozenset({"GV$SESSION"}))) as standin:
        before = wreck.look(standin)
        never = threading.Event()
        arguments = wreck.OPERATIONS["ctas-sweep"]
        assert wreck.kill(standin, tmp_path, Fault(orphan(never), words=SWEPT), *arguments, after=orphan(never))
        assert wreck.clean(standin, tmp_path)[0] == 0
        assert wreck.look(standin) == before


def test_servers_of_a_coordinator_elsewhere_with_the_same_number_are_not_counted() -> None:
    stranger = {"SID": 950, "QCSID": 101, "QCINST_ID": 2, "DEGREE": 16, "REQ_DEGREE": 16}
    with running_standin(Scenario(instances=2, beside={"V$PX_SESSION": [stranger] * 16})) as standin:
        worker, monitor = connect(standin), connect(standin)
        worker.execute("SELECT 1 AS one FROM dual")
        assert standin.sessions()[0].sid == stranger["QCSID"]
        with standin.engine._working(standin.sessions()[0], 4, 4):
            rows = monitor.execute(sql_file("oracle", "sample_parallel"), {"run": RUN}).rows
        assert {row["metric_name"]: row["metric_value"] for row in rows}["parallel_workers"] == 4
        worker.close()
        monitor.close()


@pytest.mark.parametrize(("instances", "said"), [(1, False), (2, True)])
def test_a_dry_run_on_a_cluster_says_of_which_instance_the_counters_are(instances: int, said: bool) -> None:
    with running_standin(Scenario(instances=instances)) as standin:
        resolved = target(standin)
        shown, _ = script(experiment(standin, "ctas", Mode.MEASUREMENT), resolved)
        resolved.close()
    assert ("are of instance `FREE` alone" in shown) is said
