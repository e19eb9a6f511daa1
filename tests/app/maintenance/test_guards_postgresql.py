"""Guards on a real PostgreSQL, provoked by a second session: sessions, locks, space, lag, what is hidden."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import psycopg
import pytest

from tests.servers.postgresql import SETTINGS, Server, as_user, begun_from, free_port, unprivileged
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import guard_reader, plan_targets_of, run_plan
from toolkit.app.maintenance.asking import ASKING
from toolkit.app.maintenance.guard_reader import GuardReader
from toolkit.app.maintenance.guards import guard_rows
from toolkit.app.maintenance.run_guards import guarding
from toolkit.app.runs.execute import start
from toolkit.app.targets import find_target
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.plan import Guard, MaintenancePlan, PlanRunRecord, StepRecord
from toolkit.model.protocols import Event
from toolkit.model.values import Factor
from toolkit.model.words import Mode, Outcome
from toolkit.store import Store

pytestmark = pytest.mark.postgresql
COPY = '[[step]]\nname = "copy"\noperation = "ctas"\nsource = "guarded.a"\ntable = "guarded.b"\n'
FILL = (
    '[[step]]\nname = "fill"\noperation = "insert"\ntable = "guarded.a"\n'
    'query = "SELECT 1 AS id FROM pg_sleep(30)"\non_failure = "continue"\n'
)
APPROVALS = Approvals(not_production=True)


@dataclass
class Told:
    """Does something when an event with some words comes."""

    does: dict[str, Callable[[], None]] = field(default_factory=dict)

    def emit(self, event: Event) -> None:
        for words in [words for words in self.does if words in event.text]:
            self.does.pop(words)()


@pytest.fixture
def server(postgresql_server: Server) -> Iterator[Server]:
    postgresql_server.end_others()
    with postgresql_server.schema(
        "guarded",
        "CREATE TABLE guarded.a AS SELECT i AS id FROM generate_series(1, 1000) i",
    ):
        yield postgresql_server


def quick(plan: MaintenancePlan, **limits: float) -> MaintenancePlan:
    """Look often, and take limits that no file would have."""

    def of(guards: dict[Guard, float]) -> dict[Guard, float]:
        return guards | {Guard(name): limit for name, limit in limits.items()}

    steps = tuple(
        replace(step, guards=replace(step.guards, every_seconds=0.05, limits=of(dict(step.guards.limits))))
        for step in plan.steps
    )
    return replace(plan, steps=steps)


def run(
    server: Server, store: Store, guards: str, *steps: str, events: Told | None = None, **limits: float
) -> PlanRunRecord:
    text = f'[plan]\nname = "n"\ntarget = "{server.url}"\n[plan.guards]\n{guards}\n' + "\n".join(steps)
    plan = quick(read_plan(parse_document(text, "n.toml"), Path()), **limits)
    places = plan_targets_of(plan, store, APPROVALS)
    return run_plan(plan, places, store=store, approvals=APPROVALS, events=events or Told())


@contextmanager
def busy(server: Server, name: str = "the nightly batch") -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Let a session of somebody else be at work until the block ends."""
    with server.connect(application_name=name) as session:

        def work() -> None:
            try:
                session.execute("SELECT pg_sleep(120)")
            except psycopg.errors.QueryCanceled:
                return

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield session
        finally:
            session.cancel_safe()
            thread.join()


def only(record: PlanRunRecord) -> StepRecord:
    (step,) = record.steps
    return step


def test_a_step_waits_until_others_are_done_and_the_night_says_how_long(server: Server, store: Store) -> None:
    with busy(server) as session:
        record = run(server, store, "max_active_sessions = 0", COPY, events=Told({"waits": session.cancel_safe}))
    assert only(record).state == "done", only(record).reason
    waits, waited = (note.text for note in record.notes)
    assert waits == "`copy` waits: 1 session active, the limit is 0"
    assert waited.startswith("`copy` waited ") and waited.endswith(": 1 session active, the limit is 0")


def test_a_step_that_has_waited_long_enough_is_left_to_the_next_night(server: Server, store: Store) -> None:
    with busy(server):
        record = run(server, store, "max_active_sessions = 0\nwait_at_most = 0", COPY)
        assert only(record).state == "stopped"
        assert only(record).reason == "not started: 1 session active, the limit is 0"
    following = only(run(server, store, "max_active_sessions = 0", COPY))
    assert following.state == "done", following.reason


def test_what_a_plan_asks_meanwhile_is_no_work_of_others(server: Server, store: Store) -> None:
    """It asks how large a step is while the guards look: on a busy machine that was a session of others."""
    with busy(server, ASKING.run):
        record = run(server, store, "max_active_sessions = 0\nwait_at_most = 0", COPY)
    assert only(record).state == "done", only(record).reason


def test_a_running_step_is_stopped_when_others_come_and_its_work_is_not_left_behind(
    server: Server, store: Store
) -> None:
    came = threading.Event()
    others: list[psycopg.Connection[tuple[object, ...]]] = []

    def come() -> None:
        def work() -> None:
            with busy(server) as session:
                others.append(session)
                came.wait(300)

        threading.Thread(target=work).start()

    guards = 'max_active_sessions = 0\non_breach = "stop"\nlooks = 2'
    record = run(server, store, guards, FILL, events=Told({"fill on": come}))
    came.set()
    assert only(record).state == "stopped"
    assert only(record).reason == ("stopped by the guard `max_active_sessions`: 1 session active, the limit is 0")
    with server.connect() as session:
        assert session.execute("SELECT count(*) FROM guarded.a").fetchone() == (1000,)


def _until_ours_holds_the_table(session: psycopg.Connection[tuple[object, ...]]) -> None:
    held = (
        "SELECT count(*) > 0 FROM pg_locks WHERE relation = 'guarded.a'::regclass"
        " AND mode = 'RowExclusiveLock' AND granted"
    )
    ended = threading.Event()
    for _ in range(300):
        if session.execute(held).fetchone() == (True,):
            return
        ended.wait(0.05)


def waiter(server: Server, got: threading.Event) -> None:
    """Ask for a table that ours holds, as an application's DDL would, from a thread of its own."""

    def work() -> None:
        # one that comes late finds the table of no test any more
        with server.connect(application_name="an application") as session, suppress(psycopg.Error):
            _until_ours_holds_the_table(session)
            session.execute("ALTER TABLE guarded.a ALTER COLUMN id SET DEFAULT 0")
            got.set()

    threading.Thread(target=work).start()


def test_a_statement_that_blocks_others_for_too_long_is_cancelled_and_they_go_on(
    server: Server, store: Store
) -> None:
    got = threading.Event()

    def come() -> None:
        threading.Timer(0.5, waiter, (server, got)).start()

    record = run(
        server, store, 'max_blocking = "20s"', FILL, COPY, events=Told({"fill on": come}), max_blocking=0.3
    )
    assert got.wait(300), "the session behind it went on"
    fill, copy = record.steps
    assert fill.state == "stopped" and copy.state == "done"
    assert str(fill.reason).startswith("stopped by the guard `max_blocking`: a session has waited ")


def test_too_many_behind_a_statement_stop_it(server: Server, store: Store) -> None:
    got = threading.Event()

    def come() -> None:
        threading.Timer(0.5, waiter, (server, got)).start()

    guards = 'max_lock_waiters = 0\non_breach = "stop"\nlooks = 2'
    record = run(server, store, guards, FILL, events=Told({"fill on": come}))
    assert got.wait(300)
    assert only(record).state == "stopped"
    assert "`max_lock_waiters`: 1 session waits for locks behind it, the limit is 0" in str(only(record).reason)


@pytest.mark.full
def test_free_space_is_that_of_the_disks_that_its_folders_lie_on(server: Server, store: Store) -> None:
    record = run(server, store, 'min_free = {tablespace = "1000PiB"}\nwait_at_most = 0', COPY)
    assert only(record).state == "stopped"
    assert "free in `" in str(only(record).reason) and "the limit is" in str(only(record).reason)
    assert only(run(server, store, 'min_free = "1MiB"', COPY)).state == "done"


def test_what_can_be_read_is_told_before(server: Server, store: Store) -> None:
    guards = (
        '[plan.guards]\nmax_active_sessions = 40\nmax_lag = "30s"\nmin_free = "1MiB"\nmax_load = 1000\n'
        'max_lock_waiters = 5\nmax_blocking = "20s"\n'
    )
    text = f'[plan]\nname = "n"\ntarget = "{server.url}"\n{guards}{COPY}'
    (place,) = plan_targets_of(read_plan(parse_document(text, "n.toml"), Path()), store, APPROVALS)
    rows = {row.guard: row for row in guard_rows([place])}
    assert list(rows) == [guard.value for guard in Guard]
    assert {row.verdict for row in rows.values()} == {"ok"}, rows
    assert rows["max_lag"].now == "no standby" and rows["max_lag"].limit == "at most 30.0 s"
    assert rows["min_free.recovery_area"].now.endswith("pg_wal`")


def test_a_guard_that_is_not_granted_is_said_once_and_stops_only_on_demand(server: Server, store: Store) -> None:
    with server.connect() as owner:
        owner.execute("DROP ROLE IF EXISTS poor")
        owner.execute("CREATE ROLE poor LOGIN")
        owner.execute("GRANT ALL ON SCHEMA guarded TO poor; GRANT ALL ON guarded.a TO poor")
    poor = replace(server, user="poor")
    try:
        with busy(server):
            gone_on = run(poor, store, 'max_active_sessions = 40\nmin_free = "1MiB"', COPY)
            stopped = run(poor, store, 'max_active_sessions = 40\nunreadable = "stop"', COPY)
    finally:
        with server.connect() as owner:
            owner.execute("DROP OWNED BY poor; DROP ROLE poor")
    assert only(gone_on).state == "done"
    said = [note.text for note in gone_on.notes]
    assert said[0].startswith("the guard `max_active_sessions` cannot be read: ") and "hidden" in said[0]
    assert sum("min_free.temp" in text for text in said) == 1, "once, not at every look"
    assert only(stopped).state == "stopped" and "cannot be read" in str(only(stopped).reason)


def test_a_session_of_the_guards_that_hangs_holds_up_nothing(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard_reader, "TIMEOUT_SECONDS", 0.3)
    monkeypatch.setattr(guard_reader, "sql_file", lambda engine, name: "SELECT pg_sleep(120), :ours::text")
    record = run(server, store, "max_active_sessions = 40", COPY)
    assert only(record).state == "done"
    assert [note.text for note in record.notes] == [
        "the guard `max_active_sessions` cannot be read: the guards' session did not respond within 300 ms"
    ]


@contextmanager
def standby_of(server: Server, folder: Path) -> Iterator[Server]:
    """Begin a standby of a server, made by pg_basebackup."""
    assert server.bin_dir is not None
    run_as, data, port = as_user(unprivileged()), folder / "standby", free_port()
    program = [server.bin_dir / "pg_basebackup", "-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync"]
    there = ["-h", server.host, "-p", str(server.port), "-U", server.user]
    subprocess.run([*program, *there], check=True, capture_output=True, cwd=folder, **run_as)  # type: ignore[call-overload]
    options = {**SETTINGS, "port": str(port), "wal_receiver_status_interval": "1s", "hot_standby": "on"}
    arguments = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    process = subprocess.Popen(  # type: ignore[call-overload]
        [server.bin_dir / "postgres", "-D", data, *arguments], cwd=folder, **run_as
    )
    standby = replace(server, port=port, process=process, data=data)
    try:
        _until_it_answers(standby)
        yield standby
    finally:
        process.terminate()
        process.wait(30)


def _until_it_answers(server: Server) -> None:
    ended = threading.Event()
    for _ in range(300):
        try:
            with server.connect():
                return
        except psycopg.OperationalError:
            ended.wait(0.1)
    raise AssertionError("the standby did not begin")


def _until_it_replayed(session: psycopg.Connection[tuple[object, ...]]) -> None:
    """Wait until a standby has replayed a transaction of its primary's."""
    ended = threading.Event()
    for _ in range(300):
        if session.execute("SELECT to_regclass('guarded.seen') IS NOT NULL").fetchone() == (True,):
            return
        ended.wait(0.1)
    raise AssertionError("the standby replays nothing")


@pytest.mark.full
def test_a_standby_that_stays_behind_holds_the_plan_up(store: Store, tmp_path: Path) -> None:
    from tests.servers.postgresql import installed

    folder = next(iter(installed().values()), None)
    if folder is None:
        pytest.skip("no server binaries here")
    with begun_from(folder) as server, server.connect() as session:
        home = server.data.parent if server.data else tmp_path
        session.execute("CREATE SCHEMA guarded; CREATE TABLE guarded.a AS SELECT 1 AS id")
        with standby_of(server, home) as standby, standby.connect() as other:
            session.execute("CREATE TABLE guarded.seen AS SELECT 1 AS id")
            _until_it_replayed(other)
            other.execute("SELECT pg_wal_replay_pause()")
            session.execute("CREATE TABLE guarded.c AS SELECT 2 AS id")
            waited = run(server, store, 'max_lag = "30s"\nwait_at_most = "1s"\n', COPY, max_lag=0.0)
            assert only(waited).state == "stopped"
            assert "`walreceiver` is" in str(only(waited).reason) and "behind" in str(only(waited).reason)
            behind = lag_of(standby)
            other.execute("SELECT pg_wal_replay_resume()")
            assert behind > 0.0
            assert only(run(server, store, 'max_lag = "30s"', COPY)).state == "done"
        # a standby that went away leaves its slot, if it had one
        session.execute("SELECT pg_create_physical_replication_slot('gone', true)")
        record = run(server, store, 'max_lag = "30s"', COPY.replace("guarded.b", "guarded.d"))
        assert [note.text for note in record.notes] == [
            "the guard `max_lag` cannot be read: the lag of `gone` is unknown: nobody reads its replication slot"
        ]


def lag_of(standby: Server) -> float:
    """Return what a standby says of itself."""
    from toolkit.app.targets import find_target

    reading = GuardReader(find_target(standby.url).target, "lag", (), [Guard.LAG], {})
    look = reading.read(())
    reading.close()
    return look.readings[Guard.LAG].value or 0.0


def guarded_run(server: Server, store: Store, events: Told, query: str, *guards: str) -> str:
    """Run a job under guards, the way the command line does."""
    resolved = find_target(server.url)
    job = Experiment(
        server.url, "ctas", {"query": query, "table": "guarded.made"}, (Factor("degree", (1,)),), Mode.JOB,
        guards=("every=1s", *guards),
    )  # fmt: skip
    return start(
        job, resolved.target, store=store, approvals=APPROVALS, events=events, guarding=guarding(resolved, events)
    )


def test_a_job_from_the_command_line_waits_for_its_guards(server: Server, store: Store) -> None:
    with server.connect() as other, server.connect() as ends:
        asleep = threading.Thread(target=swallowing, args=(other, "SELECT pg_sleep(60)"))
        asleep.start()
        waited: list[str] = []

        def end() -> None:
            waited.append("waited")
            ends.execute("SELECT pg_cancel_backend(%s)", [other.info.backend_pid])

        run = guarded_run(server, store, Told({"waits:": end}), "SELECT 1 AS one", "max_active_sessions=0")
        asleep.join()
    assert waited and store.load_run(run).trials[-1].outcome is Outcome.OK


def test_a_trial_that_runs_is_stopped_by_a_guard_and_gone_on_with(server: Server, store: Store) -> None:
    with server.connect() as other, server.connect() as ends:
        asleep = threading.Thread(target=swallowing, args=(other, "SELECT pg_sleep(60)"))
        events = Told({"degree=1": asleep.start})  # the trial was begun
        with pytest.raises(ToolkitError) as stopped:
            guarded_run(
                server, store, events, "SELECT 1 AS one FROM pg_sleep(60)", "max_active_sessions=0",
                "on_breach=stop", "looks=1",
            )  # fmt: skip
        ends.execute("SELECT pg_cancel_backend(%s)", [other.info.backend_pid])
        asleep.join()
    assert stopped.value.code == "TK-0311" and "max_active_sessions" in stopped.value.message
    (head,) = store.list_runs()
    command = store.resume_command(head.run)
    assert (head.state, "--store" in command) == ("interrupted", True)
    assert f"`{command}` continues it" in str(stopped.value.hint)
    assert head.experiment.guards[1] == "max_active_sessions=0"


def test_a_trial_that_is_to_be_stopped_is_not_waited_for_without_end_either(server: Server, store: Store) -> None:
    with server.connect() as other, server.connect() as ends:
        asleep = threading.Thread(target=swallowing, args=(other, "SELECT pg_sleep(30)"))
        asleep.start()
        with pytest.raises(ToolkitError) as stopped:
            guarded_run(
                server, store, Told({}), "SELECT 1 AS one", "max_active_sessions=0", "on_breach=stop", "looks=2"
            )
        ends.execute("SELECT pg_cancel_backend(%s)", [other.info.backend_pid])
        asleep.join()
    assert stopped.value.code == "TK-0311" and "not started after waiting" in stopped.value.message
    (head,) = store.list_runs()
    assert head.state == "interrupted" and f"resume {head.run}" in str(stopped.value.hint)


def swallowing(session: psycopg.Connection[tuple[object, ...]], query: str) -> None:
    with suppress(psycopg.errors.QueryCanceled):
        session.execute(query.encode())


def test_the_chunks_of_a_purge_wait_for_the_guards_between_them(server: Server, store: Store) -> None:
    with server.connect() as session:
        session.execute("CREATE TABLE guarded.old AS SELECT g AS id, g % 2 AS k FROM generate_series(1, 900) g")
        session.execute("ALTER TABLE guarded.old ADD PRIMARY KEY (id)")
        session.execute("CREATE FUNCTION guarded.slowly() RETURNS trigger LANGUAGE plpgsql AS "
                        "$$BEGIN PERFORM pg_sleep(0.4); RETURN NULL; END$$")  # fmt: skip
        session.execute("CREATE TRIGGER slowly AFTER DELETE ON guarded.old EXECUTE FUNCTION guarded.slowly()")
    resolved = find_target(server.url)
    job = Experiment(
        server.url, "purge", {"table": "guarded.old", "where": "k = 0"},
        (Factor("degree", (1,)), Factor("chunk", (50,))), Mode.JOB, guards=("every=1s", "max_active_sessions=0"),
    )  # fmt: skip
    with server.connect() as other, server.connect() as ends:
        left: list[object] = []
        asleep = threading.Thread(target=swallowing, args=(other, "SELECT pg_sleep(60)"))

        def observe(text: str) -> None:
            if text.startswith("DELETE") and asleep.ident is None:
                asleep.start()  # from the first chunk on others are at work

        def end() -> None:
            left.append(ends.execute("SELECT count(*) FROM guarded.old WHERE k = 0").fetchone())
            ends.execute("SELECT pg_cancel_backend(%s)", [other.info.backend_pid])

        events = Told({"waits:": end})
        resolved.target.observer = observe
        run = start(
            job, resolved.target, store=store, approvals=APPROVALS, events=events,
            guarding=guarding(resolved, events),
        )  # fmt: skip
        asleep.join()
    (trial,) = store.load_run(run).trials
    assert (trial.outcome, trial.rows) == (Outcome.OK, 450), trial.reason
    assert left and 0 < left[0][0] < 450, left  # type: ignore[index]
