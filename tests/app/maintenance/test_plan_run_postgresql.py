"""Nights on a real PostgreSQL: conditions from its catalogue, and what steps did is looked at afterwards."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from tests.engines.arena import Heard
from tests.servers.postgresql import Server
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import PlanTarget, conditions, plan_targets_of, run_plan
from toolkit.app.maintenance import attempt as attempting
from toolkit.app.maintenance.plan_targets import TargetStep
from toolkit.app.maintenance.verify import look_at
from toolkit.app.runs.execute import start
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.executors.waited import Waited
from toolkit.model.plan import MaintenancePlan, PlanRunRecord
from toolkit.model.protocols import Answer, Event
from toolkit.model.values import Scalar
from toolkit.runner import Stop
from toolkit.store import Store

pytestmark = pytest.mark.postgresql
STATS = '[[step]]\nname = "stats"\noperation = "stats-gather"\nschema = "night"\n'
REBUILD = '[[step]]\nname = "rebuild"\noperation = "index-rebuild"\nschema = "night"\n'
REBUILD_TABLE = REBUILD.replace('schema = "night"', 'table = "night.a"')
"""What is held alone is read without waiting for a schema, not for a table of its own."""


@pytest.fixture
def server(postgresql_server: Server) -> Iterator[Server]:
    with postgresql_server.schema(
        "night",
        "CREATE TABLE night.a AS SELECT i AS id FROM generate_series(1, 20000) i",
        "CREATE INDEX a_ix ON night.a (id)",
        "CREATE TABLE night.parts (id int) PARTITION BY RANGE (id)",
        "CREATE TABLE night.part PARTITION OF night.parts DEFAULT",
    ):
        yield postgresql_server


def made(server: Server, store: Store, *steps: str) -> tuple[MaintenancePlan, tuple[PlanTarget, ...]]:
    text = f'[plan]\nname = "n"\ntarget = "{server.url}"\n' + "\n".join(steps)
    plan = read_plan(parse_document(text, "n.toml"), Path())
    return plan, plan_targets_of(plan, store, Approvals(not_production=True))


def run(server: Server, store: Store, *steps: str) -> PlanRunRecord:
    plan, places = made(server, store, *steps)
    return run_plan(plan, places, store=store, approvals=Approvals(not_production=True), events=Heard())


def states(record: PlanRunRecord) -> dict[str, str]:
    return {step.step: step.state.value for step in record.steps}


def test_statistics_are_gathered_when_they_are_stale_and_not_again(server: Server, store: Store) -> None:
    stale = STATS + "only_if = {stale_tables = 1}\n"
    first = run(server, store, stale)
    assert states(first) == {"stats": "done"}, first.steps[0].reason
    assert (first.steps[0].size_bytes or 0) > 100_000
    again = run(server, store, stale)
    assert states(again) == {"stats": "skipped"} and "0 tables have stale statistics" in str(again.steps[0].reason)


def test_work_that_was_done_with_fewer_sessions_is_done_and_not_put_back(server: Server, store: Store) -> None:
    """One index for four sessions: what was built is what was asked for, and the night is no failure."""
    step = REBUILD_TABLE + 'degree = 4\non_failure = "undo"\n'
    record = run(server, store, step, STATS + 'needs = ["rebuild"]\n')
    assert states(record) == {"rebuild": "done", "stats": "done"}
    assert str(record.steps[0].reason).startswith("less parallelism than was asked for: ")
    assert "valid" in str(record.steps[0].verified)


def test_indexes_are_rebuilt_when_they_are_large_enough(server: Server, store: Store) -> None:
    assert states(run(server, store, REBUILD + 'only_if = {index_bytes = "1GiB"}\n')) == {"rebuild": "skipped"}
    done = run(server, store, REBUILD + 'only_if = {index_bytes = "100KiB"}\n')
    assert states(done) == {"rebuild": "done"}, done.steps[0].reason


def fault_of(job: TargetStep, place: PlanTarget, took_seconds: float, store: Store) -> str | None:
    return look_at(job, place, took_seconds, run="", store=store, before=None, stop=Stop()).fault


def test_statistics_older_than_the_step_and_invalid_indexes_are_faults(server: Server, store: Store) -> None:
    _, (place,) = made(server, store, STATS, REBUILD)
    stats, rebuild = place.jobs
    # Only ANALYZE of a partitioned table itself keeps statistics of the whole (PostgreSQL: ANALYZE).
    assert "3 tables with statistics older than its start: `a`, `part`, `parts`" in str(
        fault_of(stats, place, 60, store)
    )
    assert fault_of(rebuild, place, 60, store) is None
    with server.connect() as session:
        session.execute("ANALYZE night.a, night.parts")
        session.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'night.a_ix'::regclass")
    assert fault_of(stats, place, 60, store) is None
    assert fault_of(rebuild, place, 60, store) == "1 index invalid afterwards: `a_ix`"
    place.resolved.target.close()


def test_a_look_that_waits_for_a_lock_is_cut_off_by_a_stop(server: Server, store: Store) -> None:
    _, (place,) = made(server, store, REBUILD_TABLE)
    stop, looked = Stop(), list[tuple[str, ...]]()

    def look() -> None:
        found = look_at(place.jobs[0], place, 60, run="", store=store, before=None, stop=stop)
        looked.append(found.unverified)

    looking = threading.Thread(target=look, daemon=True)
    with server.connect() as holder, server.connect() as looker:
        holder.autocommit = False
        holder.execute("LOCK TABLE night.a IN ACCESS EXCLUSIVE MODE")
        try:
            looking.start()
            waits = "SELECT pg_sleep(0.01) FROM pg_locks WHERE relation = 'night.a'::regclass AND NOT granted"
            while not looker.execute(waits).fetchall():
                assert looking.is_alive(), looked
            stop.request(ToolkitError("the window closed", code="TK-0310"))
            looking.join(300)
            expected = ("could not verify whether it was done: the window closed",)
            assert looked == [expected], "while the lock is held"
        finally:
            holder.rollback()
            looking.join()
            place.resolved.target.close()


INDEX = """[[step]]
name = "build-{0}"
operation = "index-build"
table = "night.a"
columns = "id"
index_name = "b{0}"
"""


@pytest.mark.full
def test_two_steps_that_an_earlier_plan_run_began_are_gone_on_with_beside_each_other(
    server: Server, store: Store
) -> None:
    steps = [INDEX.format(n) for n in (1, 2)]
    plan, _ = made(server, store, *steps)
    plan = replace(plan, concurrency=2, at_once=2)
    found: list[PlanRunRecord] = []

    def run_it(stop: Stop) -> None:
        _, places = made(server, store, *steps)
        approvals = Approvals(not_production=True)
        found.append(run_plan(plan, places, store=store, approvals=approvals, events=Heard(), stop=stop))

    waits = "SELECT count(*) FROM pg_locks WHERE relation = 'night.a'::regclass AND NOT granted"
    with server.connect() as holder, server.connect() as looker:
        holder.autocommit = False
        for ends in ("stopped", "done"):
            holder.execute("LOCK TABLE night.a IN ROW EXCLUSIVE MODE")  # as an INSERT does
            stop = Stop()
            working = threading.Thread(target=run_it, args=(stop,), daemon=True)
            try:
                working.start()
                while looker.execute(waits).fetchall()[0][0] < 2 and working.is_alive():
                    looker.execute("SELECT pg_sleep(0.01)")
                if ends == "stopped":
                    stop.request()
                    working.join()
            finally:
                holder.rollback()
                working.join()
            assert states(found[-1]) == {"build-1": ends, "build-2": ends}, [
                each.reason for each in found[-1].steps
            ]
    assert {each.run for each in found[0].steps} == {each.run for each in found[1].steps}


COPY = '[[step]]\nname = "copy"\noperation = "ctas"\nsource = "night.a"\ntable = "night.b"\nwhere = "id <= 100"\n'
ADD = '[[step]]\nname = "add"\noperation = "insert"\nsource = "night.a"\ntable = "night.c"\n'


@pytest.mark.full
def test_loads_are_counted_as_the_database_was_before_them(server: Server, store: Store) -> None:
    with server.connect() as session:
        session.execute("CREATE TABLE night.c (id int)")
    copy, add = run(server, store, COPY, ADD).steps
    assert (copy.state, copy.unverified) == ("done", None), copy.reason
    assert "the source under the same condition has 100, counted as of before the load" in str(copy.verified)
    assert (add.state, add.unverified) == ("done", None)
    assert "the target had 0 and has 20,000" in str(add.verified)
    assert (add.size_bytes or 0) > 500_000, "times are scaled by the size of the source"


def test_a_load_of_which_parts_are_committed_is_gone_on_with_and_never_begun_anew(
    server: Server, store: Store
) -> None:
    with server.connect() as session:
        session.execute("CREATE TABLE night.c (id int PRIMARY KEY)")
        session.execute("INSERT INTO night.c VALUES (1)")
        (first,) = run(server, store, ADD + "degree = 3\n").steps
        assert first.state == "failed" and "duplicate key" in str(first.reason)
        session.execute("DELETE FROM night.c WHERE id = 1")
        (second,) = run(server, store, ADD + "degree = 3\n").steps
        assert (second.state, second.run) == ("done", first.run), second.reason
        rows = session.execute("SELECT count(*), sum(id) FROM night.c").fetchone()
    assert rows == (20_000, 200_010_000)


def test_rows_that_a_trigger_swallows_are_a_failure(server: Server, store: Store) -> None:
    with server.connect() as session:
        session.execute("CREATE TABLE night.c (id int)")
        session.execute(
            "CREATE FUNCTION night.swallow() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN IF new.id % 2 = 0 THEN RETURN NULL; END IF; RETURN new; END $$"
        )
        session.execute("CREATE TRIGGER s BEFORE INSERT ON night.c FOR EACH ROW EXECUTE FUNCTION night.swallow()")
    (step,) = run(server, store, ADD).steps
    assert (step.state, step.reason) == (
        "failed", "the source has 20,000, before and after, but 10,000 rows were loaded",
    )  # fmt: skip


def test_a_source_that_others_fill_meanwhile_is_seen_as_it_was(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def and_more(*given: object, **options: object) -> str:
        done = start(*given, **options)  # type: ignore[arg-type]
        with server.connect() as session:
            session.execute("INSERT INTO night.a SELECT 0 FROM generate_series(1, 50)")
        return done

    monkeypatch.setattr(attempting, "start", and_more)
    (step,) = run(server, store, COPY.replace('where = "id <= 100"\n', "")).steps
    assert (step.state, step.unverified) == ("done", None)
    assert "the source has 20,000, counted as of before the load" in str(step.verified)


class Releasing(Heard):
    """Ends the session that locks a table when a step is done."""

    def __init__(self, step: str, locker: psycopg.Connection[tuple[object, ...]]) -> None:
        super().__init__()
        self._step, self._locker = step, locker

    def emit(self, event: Event) -> None:
        super().emit(event)
        if event.kind == "step" and (event.data["step"], event.data["state"]) == (self._step, "done"):
            self._locker.close()


def test_a_locked_table_keeps_its_own_step_waiting_and_no_other(server: Server, store: Store) -> None:
    with server.connect() as session:
        session.execute("CREATE TABLE night.free AS SELECT 1 AS id")
    free = STATS.replace('"stats"', '"free"').replace('schema = "night"', 'table = "night.free"')
    plan, places = made(server, store, REBUILD_TABLE + "priority = 1\n", free)
    with server.connect() as locker:
        locker.execute("BEGIN")
        locker.execute("LOCK TABLE night.a IN ACCESS EXCLUSIVE MODE")
        heard = Releasing("free", locker)
        approved = Approvals(not_production=True)
        record = run_plan(plan, places, store=store, approvals=approved, events=heard)
    assert states(record) == {"rebuild": "done", "free": "done"}, record.steps
    ends = [e.data["step"] for e in heard.events if e.kind == "step" and e.data["state"] == "done"]
    assert ends == ["free", "rebuild"]


def test_the_size_of_a_locked_table_is_given_up_by_the_server_too_and_a_condition_on_it_says_why(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conditions, "SIZE_SECONDS", 0.2)
    with server.connect() as locker:
        locker.execute("BEGIN")
        locker.execute("LOCK TABLE night.a IN ACCESS EXCLUSIVE MODE")
        (step,) = run(server, store, REBUILD_TABLE + "only_if = {index_growth = 0.2}\n").steps
        left = "SELECT count(*) FROM pg_locks WHERE relation = 'night.a'::regclass AND NOT granted"
        assert locker.execute(left).fetchall() == [(0,)]
    assert (step.state, step.reason) == (
        "failed", "its condition could not be read: the database did not answer within 200 ms"
    )  # fmt: skip


@pytest.mark.full
def test_a_host_that_starts_no_more_threads_once_the_work_was_done_lets_nobody_do_it_again(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever fails then, the step keeps the name of its run, and the next night finds its table."""
    execute, begin, made = Waited.execute, threading.Thread.start, threading.Event()
    copy = '[[step]]\nname = "copy"\noperation = "ctas"\nsource = "night.a"\ntable = "night.copied"\n'

    def then(self: Waited, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        answer = execute(self, text, binds)
        if "CREATE TABLE" in text:
            made.set()
        return answer

    def refuse(self: threading.Thread) -> None:
        if made.is_set():
            raise RuntimeError("can't start new thread")
        begin(self)

    with monkeypatch.context() as broken:
        broken.setattr(Waited, "execute", then)
        broken.setattr(threading.Thread, "start", refuse)
        failed = run(server, store, copy).steps[0]
    assert made.is_set() and failed.state.value == "failed" and failed.run is not None, failed.reason
    done = run(server, store, copy).steps[0]
    assert (done.state.value, done.run) == ("done", failed.run), done.reason
    assert store.open_entries_all() == ()


def test_tables_are_vacuumed_when_they_are_old_enough_and_the_sizes_are_verified(
    server: Server, store: Store
) -> None:
    step = '[[step]]\nname = "v"\noperation = "vacuum"\nschema = "night"\nfreeze = true\n'
    young = run(server, store, step + "only_if = {transaction_age = 150_000_000}\n")
    assert states(young) == {"v": "skipped"} and "transactions old" in str(young.steps[0].reason)
    done = run(server, store, step + "only_if = {transaction_age = 1}\n")
    assert states(done) == {"v": "done"}, done.steps[0].reason
    assert "its tables had" in str(done.steps[0].verified)
    again = run(server, store, step + "only_if = {transaction_age = 1_000}\n")
    assert states(again) == {"v": "skipped"}
