"""Users of a workload on two hosts of a cluster: what they measure, how one is lost, what one is refused for."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.app.hosts.conftest import (
    AHEAD_SECONDS,
    Begin,
    of_runs,
    other_clock,
    processes_of,
    profile,
    scratch,
    until,
)
from tests.servers.dask import TIMEOUT_SECONDS, DaskCluster
from tests.servers.forks import Forked
from tests.servers.postgresql import Server
from toolkit.app import clusters
from toolkit.cli.main import main
from toolkit.errors import ExitCode
from toolkit.store import open_store

pytestmark = pytest.mark.postgresql
LINE = ("workload", "-t", "crm", "--builtin", "tpcb", "--ramp-up", "0", "--warmup", "0", "--repeat", "1")
CALM = ("--think-time", "0.02")
"""For users that need not hurry, or go on for long after something was lost: else each uses a processor."""
SHORT = (*LINE, *CALM, "--users", "4", "--measure-for", "2s")
LONG = (*LINE, "--users", "4", "--measure-for", "5m")


@pytest.fixture
def server(postgresql_server: Server) -> Iterator[psycopg.Connection]:
    with postgresql_server.connect() as session:
        yield session


def transactions(server: psycopg.Connection) -> int:
    """Return about how many transactions have updated a scratch table."""
    asked = "SELECT coalesce(max(n_tup_upd), 0) FROM pg_stat_user_tables WHERE relname LIKE 'dbatk%'"
    row = server.execute(asked).fetchone()
    return 0 if row is None else int(row[0])


def at_work(begin: Begin, cluster: DaskCluster, server: psycopg.Connection, *more: str) -> Forked:
    """Begin a long workload, and wait until the users of both hosts commit."""
    run = begin(*LONG, "--on", cluster.url, "--json", *more)
    until(lambda: run.poll() is not None or transactions(server) > 200)
    assert run.poll() is None, run.communicate()
    return run


def test_two_hosts_begin_together_though_their_clocks_are_apart_and_what_they_did_is_added_up(
    begin: Begin, cluster: DaskCluster, server: psycopg.Connection
) -> None:
    assert other_clock() or sys.platform != "linux", "no time namespaces here: both hosts have the same clock"
    run = begin(*SHORT, "--on", cluster.url)
    _, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == 0, err
    assert "the users live on 2 hosts of dask://" in err and ": alpha, beta" in err
    shown, _ = begin("report", "last", "--json").communicate(timeout=TIMEOUT_SECONDS)
    (trial,) = json.loads(shown)["trials"]
    found = {each["name"]: each["value"] for each in trial["metrics"]}
    assert found["host.alpha.users"] == found["host.beta.users"] == 2
    assert found["host.alpha.tps"] > 0 < found["host.beta.tps"]
    assert found["host.alpha.tps"] + found["host.beta.tps"] == pytest.approx(found["tps"])
    for host in ("alpha", "beta"):
        assert 0 < found[f"host.{host}.clock_uncertainty_seconds"] < AHEAD_SECONDS / 10
        assert found[f"host.{host}.cpu_pct_peak"] > 0 < found[f"host.{host}.memory_used_bytes_mean"]
        assert f"host.{host}.network_sent_bytes_per_s_mean" in found
    assert (of_runs(server), scratch(server)) == (0, 0)
    until(lambda: not processes_of(cluster, "alpha") and not processes_of(cluster, "beta"))


@pytest.mark.full
@pytest.mark.parametrize("loop", ["client", "server"])
def test_samples_of_a_host_are_drawn_at_their_time_within_the_interval(
    begin: Begin, cluster: DaskCluster, tmp_path: Path, loop: str
) -> None:
    calm = CALM if loop == "client" else ()
    run = begin(*LINE, *calm, "--users", "2", "--measure-for", "4s", "--on", cluster.url, "--loop", loop)
    _, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == 0, err
    with open_store(tmp_path / "store.sqlite") as store:
        (trial,) = store.load_run(store.resolve("last"), samples=True).trials
    for host in ("alpha", "beta"):
        at = [one.at_seconds for one in trial.samples if one.name == f"host.{host}.cpu_pct"]
        assert at and at == sorted(at) and all(0 <= each <= 4 for each in at)
        assert next(one.value for one in trial.metrics if one.name == f"host.{host}.tps") > 0


@pytest.mark.full
def test_a_host_that_is_killed_in_the_interval_fails_the_trial_and_leaves_nothing(
    begin: Begin, cluster: DaskCluster, server: psycopg.Connection
) -> None:
    run = at_work(begin, cluster, server)
    cluster.kill("beta")
    out, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == ExitCode.INCOMPLETE, err
    trials = json.loads(out)["trials"]
    assert {(trial["outcome"], trial["error_code"]) for trial in trials} == {("failed", "host-lost")}
    assert all("host `beta` was lost" in trial["reason"] for trial in trials)
    metrics = {each["name"] for trial in trials for each in trial["metrics"]}
    assert "tps" not in metrics, "what the other host did is no result"
    assert "`dbatk runs resume" in err
    until(lambda: of_runs(server) == 0)
    assert scratch(server) == 0
    until(lambda: not processes_of(cluster, "alpha"))


@pytest.mark.full
def test_a_host_that_is_frozen_is_lost_its_sessions_are_ended_and_it_ends_its_users_when_it_goes_on(
    begin: Begin, cluster: DaskCluster, server: psycopg.Connection
) -> None:
    run = at_work(begin, cluster, server, *CALM)
    users, frozen = processes_of(cluster, "beta"), cluster.workers["beta"]
    assert users
    frozen.send_signal(signal.SIGSTOP)
    try:
        out, err = run.communicate(timeout=TIMEOUT_SECONDS)
        assert run.returncode == ExitCode.INCOMPLETE, err
        (trial, *_) = json.loads(out)["trials"]
        assert (
            trial["error_code"] == "host-lost" and "host `beta` was lost: it has not answered" in trial["reason"]
        )
        assert of_runs(server) == 0, "the processes of the frozen host were not heard, their sessions were ended"
    finally:
        frozen.send_signal(signal.SIGCONT)
    until(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in users))


@pytest.mark.full
def test_a_scheduler_that_is_gone_fails_the_trial(
    begin: Begin, folder: Path, tmp_path: Path, server: psycopg.Connection
) -> None:
    own = {"DBATK_CONFIG": str(folder / "config"), "DBATK_STORE": ""}
    with DaskCluster(tmp_path, own) as gone:
        gone.begin_worker("gamma")
        gone.wait_for_workers(1)
        run = at_work(begin, gone, server, *CALM)
        gone.kill_scheduler()
        out, err = run.communicate(timeout=TIMEOUT_SECONDS)
        assert run.returncode == ExitCode.INCOMPLETE, err
        (trial, *_) = json.loads(out)["trials"]
        assert trial["error_code"] == "host-lost"
        until(lambda: of_runs(server) == 0)


def test_control_c_ends_the_users_of_all_hosts(
    begin: Begin, cluster: DaskCluster, server: psycopg.Connection
) -> None:
    run = at_work(begin, cluster, server)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == ExitCode.INTERRUPTED and "Traceback" not in err, err
    until(
        lambda: of_runs(server) == 0 and not processes_of(cluster, "alpha") and not processes_of(cluster, "beta")
    )
    assert scratch(server) == 0


@pytest.mark.full
def test_users_end_when_the_run_is_killed(begin: Begin, cluster: DaskCluster, server: psycopg.Connection) -> None:
    run = at_work(begin, cluster, server, *CALM)
    run.kill()
    run.communicate(timeout=TIMEOUT_SECONDS)
    until(
        lambda: of_runs(server) == 0 and not processes_of(cluster, "alpha") and not processes_of(cluster, "beta")
    )
    cleaned = begin("clean", "-t", "crm")
    _, err = cleaned.communicate(timeout=TIMEOUT_SECONDS)
    assert cleaned.returncode == 0, err
    assert scratch(server) == 0


# -- what is refused before anything begins -----------------------------------------------------------------------
Refused = Callable[..., str]


@pytest.fixture
def refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Refused:
    """Run a command in this process that is to be refused, and return what it says."""

    def run(*line: str, status: int = ExitCode.REFUSED) -> str:
        monkeypatch.setenv("DBATK_CONFIG", str(folder / "config"))
        monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
        assert main(line) == status
        err = capsys.readouterr().err
        with open_store(tmp_path / "store.sqlite") as store:
            assert not store.list_runs()
        return err

    return run


def test_a_host_with_another_version_is_refused(
    cluster: DaskCluster, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "__version__", "9.9")
    err = refused(*SHORT, "--on", cluster.url)
    assert "has dbatk 0." in err and "this host has 9.9" in err


def test_a_host_that_hangs_is_not_waited_for_without_end(
    cluster: DaskCluster, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "_LOOK_SECONDS", 0.5)
    frozen = cluster.workers["beta"]
    frozen.send_signal(signal.SIGSTOP)
    try:
        err = refused(*SHORT, "--on", cluster.url, status=ExitCode.FAILED)
    finally:
        frozen.send_signal(signal.SIGCONT)
    assert "did not respond: nothing was heard for" in err


@pytest.mark.parametrize(
    ("name", "database", "said"),
    [("other", "", "unknown target `crm`"), ("crm", "template1", "leads to the database")],
)
def test_a_host_that_does_not_know_the_target_or_knows_another_one_is_refused(
    cluster: DaskCluster, refused: Refused, tmp_path: Path, postgresql_server: Server, name: str, database: str,
    said: str,
) -> None:  # fmt: skip
    url = postgresql_server.url.rpartition("/")[0] + f"/{database or postgresql_server.database}"
    cluster.begin_worker("gamma", DBATK_CONFIG=str(profile(tmp_path / "there", url, name)))
    cluster.wait_for_workers(3)
    try:
        err = refused(*SHORT, "--on", cluster.url)
    finally:
        cluster.kill("gamma")
        cluster.wait_for_as_many_workers(2)
    assert "on `gamma` cannot take part" in err and said in err


@pytest.mark.full
def test_a_profile_of_a_host_that_says_production_counts_there(
    cluster: DaskCluster, refused: Refused, tmp_path: Path, postgresql_server: Server
) -> None:
    there = profile(tmp_path / "there", postgresql_server.url, more="production = true")
    cluster.begin_worker("gamma", DBATK_CONFIG=str(there))
    cluster.wait_for_workers(3)
    try:
        err = refused(*SHORT, "--on", cluster.url)
    finally:
        cluster.kill("gamma")
        cluster.wait_for_as_many_workers(2)
    assert "on `gamma` cannot take part" in err and "is a production database" in err


def test_more_hosts_than_there_are_are_refused(cluster: DaskCluster, refused: Refused) -> None:
    err = refused(*SHORT, "--on", cluster.url, "--hosts", "1,3")
    assert "has workers on 2 hosts, and 3 are asked for" in err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--on", "scheduler:8786"), "needs the address of a Dask scheduler"),
        (("--hosts", "2"), "`--hosts` is about the hosts of a cluster, and none is named"),
    ],
)
def test_a_word_about_hosts_that_cannot_be_meant_is_refused(
    refused: Refused, more: tuple[str, ...], said: str
) -> None:
    assert said in refused(*SHORT, *more, status=ExitCode.USAGE)


def test_a_dry_run_says_where_the_users_live_and_asks_no_cluster(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DBATK_CONFIG", str(folder / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    assert main((*SHORT, "--on", "dask://nowhere.example:8786", "--hosts", "2", "--dry-run")) == 0
    assert "they live on 2 hosts of the cluster dask://nowhere.example:8786" in capsys.readouterr().out


# -- secrets ------------------------------------------------------------------------------------------------------
def locked(server: Server) -> str:
    """Return the address of a user who must give a password."""
    return f"postgresql://{server.password_user}@{server.host}:{server.port}/{server.database}"


def test_no_password_is_sent_so_that_a_host_without_it_is_refused(
    cluster: DaskCluster, refused: Refused, postgresql_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    if postgresql_server.password is None:
        pytest.skip("this server asks nobody for a password")
    monkeypatch.setenv("DBATK_PASSWORD", postgresql_server.password)
    line = ("-t", locked(postgresql_server), *SHORT[3:], "--not-production", "--on", cluster.url)
    err = refused("workload", *line)
    assert "cannot take part" in err and "password" in err
    assert postgresql_server.password not in err


@pytest.mark.full
def test_a_host_looks_its_password_up_by_itself(
    folder: Path, tmp_path: Path, postgresql_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    if postgresql_server.password is None:
        pytest.skip("this server asks nobody for a password")
    own = {"DBATK_CONFIG": str(folder / "config"), "DBATK_STORE": "", "DBATK_PASSWORD": postgresql_server.password}
    monkeypatch.setenv("DBATK_CONFIG", str(folder / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    monkeypatch.setenv("DBATK_PASSWORD", postgresql_server.password)
    with postgresql_server.connect() as session:
        session.execute("CREATE TABLE looked_at AS SELECT 1 AS one")
        session.execute("GRANT SELECT ON looked_at TO PUBLIC")
    (tmp_path / "t.toml").write_text('[[transaction]]\nname = "look"\nsql = "SELECT one FROM looked_at"\n')
    try:
        with DaskCluster(tmp_path, own) as with_it:
            with_it.begin_worker("gamma")
            with_it.wait_for_workers(1)
            given = ("--transactions", str(tmp_path / "t.toml"), "--users", "2", "--measure-for", "1s")
            line = ("-t", locked(postgresql_server), *given, "--ramp-up", "0", "--not-production")
            assert main(("workload", *line, "--on", with_it.url)) == 0
    finally:
        with postgresql_server.connect() as session:
            session.execute("DROP TABLE looked_at")
    sent = [path.read_bytes() for path in tmp_path.rglob("*.log")]
    assert sent and not any(postgresql_server.password.encode() in each for each in sent)
