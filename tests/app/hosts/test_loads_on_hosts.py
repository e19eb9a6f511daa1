"""A load whose sessions are on two hosts of a cluster: every row is there once, whatever is lost meanwhile."""

from __future__ import annotations

import csv
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.app.hosts.conftest import AHEAD_SECONDS, Begin, of_runs, other_clock, scratch, until
from tests.servers.dask import TIMEOUT_SECONDS, DaskCluster
from tests.servers.forks import Forked
from tests.servers.postgresql import Server
from toolkit.app.clusters import check_workers, connect, leave
from toolkit.app.hosts import files
from toolkit.app.hosts.agent import look
from toolkit.app.hosts.joining import one_of_each_host
from toolkit.errors import ExitCode, ToolkitError

pytestmark = pytest.mark.postgresql
ROWS = 40_000
WHOLE = (ROWS, ROWS, ROWS * (ROWS - 1) // 2)
MANY = ("--commit-every", "64K", "--degree", "4")


@pytest.fixture
def server(postgresql_server: Server) -> Iterator[psycopg.Connection]:
    table = "CREATE TABLE spread.lines (id int PRIMARY KEY, name text)"
    with postgresql_server.schema("spread", table), postgresql_server.connect() as session:
        yield session


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "lines.csv")


def written(path: Path, bad: int | None = None) -> Path:
    with path.open("w", newline="") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(("id", "name"))
        write.writerows((n if n != bad else "none", f'text "of" {n}') for n in range(ROWS))
    return path


def line(cluster: DaskCluster, file: Path, *more: str) -> tuple[str, ...]:
    return ("load", "-t", "crm", str(file), "--table", "spread.lines", "--on", cluster.url, *more)


def there(server: psycopg.Connection) -> tuple[object, ...] | None:
    return server.execute("SELECT count(*), count(DISTINCT id), coalesce(sum(id), 0) FROM spread.lines").fetchone()


def report(begin: Begin) -> dict[str, object]:
    shown, err = begin("report", "last", "--json").communicate(timeout=TIMEOUT_SECONDS)
    (trial, *_) = json.loads(shown)["trials"]
    assert isinstance(trial, dict), err
    return trial


def metrics(trial: dict[str, object]) -> dict[str, float]:
    found = trial["metrics"]
    assert isinstance(found, list)
    return {each["name"]: each["value"] for each in found}


def test_the_chunks_of_a_job_are_loaded_by_both_hosts_and_each_row_is_there_once(
    begin: Begin, cluster: DaskCluster, server: psycopg.Connection, file: Path
) -> None:
    run = begin(*line(cluster, file, *MANY))
    _, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == 0, err
    assert "the sessions are on 2 hosts of dask://" in err and ": alpha, beta" in err
    assert there(server) == WHOLE
    found = metrics(report(begin))
    assert found["host.alpha.loaded_rows"] > 0 < found["host.beta.loaded_rows"]
    assert found["host.alpha.loaded_rows"] + found["host.beta.loaded_rows"] == ROWS
    assert other_clock() == () or found["host.beta.clock_uncertainty_seconds"] < AHEAD_SECONDS / 10
    assert 0 <= found["host.alpha.begun_late_seconds"] < 60 > found["host.beta.begun_late_seconds"] >= 0
    assert (of_runs(server), scratch(server)) == (0, 0)


def test_a_measurement_compares_numbers_of_hosts_and_leaves_nothing(
    begin: Begin, cluster: DaskCluster, server: psycopg.Connection, file: Path
) -> None:
    run = begin(*line(cluster, file, *MANY, "--hosts", "1,2", "--repeat", "2", "--warmup", "0", "--json"))
    out, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == 0, err
    for trial in json.loads(out)["trials"]:
        found = metrics(trial)
        hosts = {name for name in ("alpha", "beta") if f"host.{name}.loaded_rows" in found}
        assert hosts == ({"alpha"} if trial["factors"]["hosts"] == 1 else {"alpha", "beta"})
        assert trial["rows"] == ROWS
    assert there(server) == (0, 0, 0)
    assert (of_runs(server), scratch(server)) == (0, 0)


def test_bad_rows_of_all_hosts_are_kept_here_with_their_lines(
    begin: Begin, cluster: DaskCluster, server: psycopg.Connection, tmp_path: Path
) -> None:
    file, kept = written(tmp_path / "bad.csv", bad=30_000), tmp_path / "rejects.csv"
    run = begin(*line(cluster, file, *MANY, "--max-rejects", "3", "--rejects", str(kept)))
    _, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == 0, err
    assert there(server) == (ROWS - 1, ROWS - 1, WHOLE[2] - 30_000)
    with kept.open(newline="") as text:
        _, row = csv.reader(text)
    assert row[:3] == [str(file), "30002", "id"] and row[4].startswith("none,"), row


def test_a_bad_row_beyond_those_allowed_fails_the_load_with_its_line_and_its_chunk_is_not_there(
    begin: Begin, cluster: DaskCluster, server: psycopg.Connection, tmp_path: Path
) -> None:
    file = written(tmp_path / "bad.csv", bad=30_000)
    run = begin(*line(cluster, file, *MANY))
    _, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == ExitCode.INCOMPLETE
    assert "`bad.csv`, line 30002, column id" in err, err
    row = server.execute("SELECT count(*) FROM spread.lines WHERE id BETWEEN 29990 AND 30010").fetchone()
    assert row == (0,)


# -- what is lost -------------------------------------------------------------------------------------------------
SLOW = """
CREATE FUNCTION spread.slow() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN IF new.id % 1000 = 0 THEN PERFORM pg_sleep(0.1); END IF; RETURN new; END $$;
CREATE TRIGGER slow BEFORE INSERT ON spread.lines FOR EACH ROW EXECUTE FUNCTION spread.slow()
"""


def at_work(begin: Begin, cluster: DaskCluster, server: psycopg.Connection, file: Path) -> Forked:
    """Begin a load that takes seconds, and wait until chunks of it are committed."""
    server.execute(SLOW)
    run = begin(*line(cluster, file, *MANY, "--json"))
    until(lambda: run.poll() is not None or (there(server) or (0,))[0] != 0)
    assert run.poll() is None, run.communicate()
    return run


def resumed(begin: Begin, server: psycopg.Connection) -> None:
    """Resume to the end; every row is there once."""
    server.execute("DROP TRIGGER slow ON spread.lines")
    again = begin("runs", "resume", "last")
    _, err = again.communicate(timeout=TIMEOUT_SECONDS)
    assert again.returncode == 0, err
    assert there(server) == WHOLE
    assert (of_runs(server), scratch(server)) == (0, 0)


def test_a_host_that_is_killed_fails_the_job_and_resume_loads_the_rest_once(
    begin: Begin, cluster: DaskCluster, server: psycopg.Connection, file: Path
) -> None:
    run = at_work(begin, cluster, server, file)
    cluster.kill("beta")
    out, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == ExitCode.INCOMPLETE, err
    (trial,) = json.loads(out)["trials"]
    assert trial["outcome"] == "interrupted" and "host `beta` was lost: its worker" in trial["reason"]
    assert there(server) != WHOLE
    cluster.begin_worker("beta")
    cluster.wait_for_workers(2)
    resumed(begin, server)


def test_a_host_that_is_killed_fails_the_trial_of_a_measurement_and_leaves_nothing(
    begin: Begin, cluster: DaskCluster, server: psycopg.Connection, file: Path
) -> None:
    server.execute(f"INSERT INTO spread.lines SELECT g, 'in the way' FROM generate_series({ROWS}, {ROWS}) g")
    run = begin(*line(cluster, file, *MANY, "--repeat", "30", "--json"))
    until(lambda: run.poll() is not None or (scratch(server) > 0 and of_runs(server) > 4))
    cluster.kill("beta")
    out, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == ExitCode.INCOMPLETE, err
    trials = json.loads(out)["trials"]
    failed = [trial for trial in trials if trial["outcome"] == "failed"]
    assert failed and {trial["error_code"] for trial in failed} <= {"host-lost", "TK-0201"}
    assert all("host `beta` was lost" in trial["reason"] for trial in failed), [one["reason"] for one in failed]
    assert trials[-1]["outcome"] == "failed", "no trial is run on fewer hosts than it is for"
    until(lambda: of_runs(server) == 0)
    assert scratch(server) == 0 and there(server) == (1, 1, ROWS)


@pytest.mark.full
def test_a_host_that_is_frozen_is_lost_and_commits_nothing_when_it_goes_on(
    begin: Begin, cluster: DaskCluster, server: psycopg.Connection, file: Path
) -> None:
    run = at_work(begin, cluster, server, file)
    frozen = cluster.workers["beta"]
    frozen.send_signal(signal.SIGSTOP)
    try:
        out, err = run.communicate(timeout=TIMEOUT_SECONDS)
        assert run.returncode == ExitCode.INCOMPLETE, err
        (trial,) = json.loads(out)["trials"]
        assert "host `beta` was lost: it has not answered" in trial["reason"]
        assert of_runs(server) == 0, "the sessions of the frozen host were ended"
        before = there(server)
    finally:
        frozen.send_signal(signal.SIGCONT)
    cluster.wait_for_workers(2)
    assert there(server) == before
    resumed(begin, server)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_session_and_is_resumed(
    begin: Begin, cluster: DaskCluster, server: psycopg.Connection, file: Path, number: signal.Signals
) -> None:
    run = at_work(begin, cluster, server, file)
    run.send_signal(number)
    _, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert number == signal.SIGKILL or (run.returncode == ExitCode.INTERRUPTED and "Traceback" not in err), err
    resumed(begin, server)


# -- what is refused before anything begins -----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("gone", "cannot be read there: No such file or directory"),
        ("longer", "is another file there: "),
        ("other", "of the same size, but not the same in it"),
    ],
)
def test_a_host_without_the_same_file_is_refused_before_the_first_row(
    begin: Begin,
    cluster: DaskCluster,
    server: psycopg.Connection,
    file: Path,
    tmp_path: Path,
    change: str,
    said: str,
) -> None:
    """The host that differs has another folder in place of the one of the file: a mount of its own."""
    own = tmp_path / "own"
    own.mkdir()
    if change != "gone":
        text = file.read_bytes()
        (own / file.name).write_bytes(text + b"1,x\n" if change == "longer" else text[:-2] + b"x\n")
    mounts = f'mount --bind {own} {tmp_path} && exec "$@"'
    within = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mounts, "sh")
    cluster.begin_worker("gamma", within=within)
    cluster.wait_for_workers(3)
    try:
        run = begin(*line(cluster, file, *MANY))
        _, err = run.communicate(timeout=TIMEOUT_SECONDS)
    finally:
        cluster.kill("gamma")
        cluster.wait_for_as_many_workers(2)
    assert run.returncode == ExitCode.REFUSED, err
    assert "host `gamma` cannot load" in err and said in err, err
    assert there(server) == (0, 0, 0)


def test_a_host_that_freezes_as_it_reads_the_files_is_named_and_not_waited_for(
    cluster: DaskCluster, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LOST_SECONDS", 1.0)
    frozen, client = cluster.workers["beta"], connect(cluster.url)
    try:
        hosts = one_of_each_host(check_workers(client, cluster.url, "take part", look))
        frozen.send_signal(signal.SIGSTOP)
        with pytest.raises(ToolkitError, match=r"host `beta` has not answered for 1\.00 s") as caught:
            files.check_files(client, hosts, [str(file)])
        assert caught.value.code == "TK-0201"
    finally:
        frozen.send_signal(signal.SIGCONT)
        leave(client)


def test_duckdb_is_one_process_and_refuses_hosts(begin: Begin, cluster: DaskCluster, file: Path) -> None:
    run = begin("load", "-t", "duckdb:///own.duckdb", str(file), "--table", "lines", "--on", cluster.url)
    _, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == ExitCode.REFUSED
    assert "--on" in err and "one process" in err, err


def test_a_dry_run_says_where_the_sessions_are_and_asks_no_cluster(
    begin: Begin, server: psycopg.Connection, file: Path
) -> None:
    given = ("--table", "spread.lines", "--on", "dask://nowhere.example:8786", "--degree", "4", "--hosts", "2")
    run = begin("load", "-t", "crm", str(file), *given, "--dry-run")
    out, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == 0, err
    assert "the sessions are on 2 hosts of the cluster dask://nowhere.example:8786" in out
