"""What a cluster is refused for before anything begins, and that nothing secret travels to it."""

from __future__ import annotations

import pickle
import re
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import dask
import pytest

from tests.app.maintenance.on_cluster.conftest import TARGETS, environment
from tests.app.maintenance.on_cluster.test_dispatch import COPY, QUICK, SLOW, plan_of, store
from tests.engines.arena import Heard
from tests.servers.dask import ROOT, TIMEOUT_SECONDS, DaskCluster
from tests.servers.forks import Forked, run
from tests.servers.postgresql import Server
from toolkit.app import clusters
from toolkit.app.approvals import Approvals, allowed_by
from toolkit.app.maintenance import plan_targets_of, worker
from toolkit.app.maintenance.cluster import Cluster, cluster_at
from toolkit.app.maintenance.worker import OrderResult, TargetOrder
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.plan import PlanRunRecord, StepRecord, StepState
from toolkit.model.words import RunState
from toolkit.store import Store, open_store
from toolkit.store.location import address_to_send, find_place

__all__ = ["store"]
pytestmark = pytest.mark.postgresql
ORDER = TargetOrder(
    worker.__version__, plan_of(COPY.format(query=QUICK)).text, "20261122-000000-0001", "pg0", ("copy",),
    "plan many on pg0", "postgresql://h/db", None, None, {},
)  # fmt: skip


def refused(address: str, store: Store, **how: object) -> ToolkitError:
    plan = how.pop("plan", plan_of(COPY.format(query=QUICK)))
    targets = how.pop("targets", TARGETS)
    with pytest.raises(ToolkitError) as caught, cluster_at(address, plan, store, targets):  # type: ignore[arg-type]
        raise AssertionError("nothing was refused")
    return caught.value


def test_a_store_in_a_file_is_refused(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.sqlite") as local:
        error = refused("dask://localhost:1", local)
    assert error.code == "TK-0107" and "it is a file on this host" in error.message
    assert "postgresql://" in str(error.hint)


@pytest.mark.parametrize("address", ["scheduler:8786", "spark://h:1", "dask://h", "dask://u:p@h:1"])
def test_an_address_that_is_none_is_refused(address: str, store: Store) -> None:
    error = refused(address, store)
    assert error.code == "TK-0102" and "--on dask://" in str(error.hint) and "p@" not in error.message


def test_a_query_in_a_file_of_this_host_is_refused(store: Store, tmp_path: Path) -> None:
    plan = plan_of(COPY.format(query=QUICK))
    of_file = replace(plan, text=plan.text.replace("query =", "query_file ="))
    assert "step `copy` reads its query from a file" in refused("dask://h:1", store, plan=of_file).message


def test_a_scheduler_that_does_not_answer_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "_CONNECT_SECONDS", 0.5)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    error = refused(f"dask://127.0.0.1:{port}", store)
    assert error.code == "TK-0201" and f"`dask://127.0.0.1:{port}`" in error.message


def test_a_worker_that_lacks_a_target_is_named_before_anything_begins(cluster: DaskCluster, store: Store) -> None:
    error = refused(cluster.url, store, targets=(*TARGETS, "nowhere"))
    assert error.code == "TK-0210" and error.exit_code is ExitCode.REFUSED
    assert re.search(r"on `(alpha|beta)`", error.message) and "unknown target `nowhere`" in error.message
    assert store.plan_runs() == []


def test_a_worker_of_another_version_is_refused(
    cluster: DaskCluster, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "__version__", "9.9")
    error = refused(cluster.url, store)
    assert error.code == "TK-0210" and "has dbatk 0." in error.message and "this host has 9.9" in error.message
    carried = worker.carry_out(replace(ORDER, version="9.9").to_text(), Heard())
    assert carried.error is not None and "the plan was sent by 9.9" in carried.error.message


def test_a_worker_without_dbatk_is_refused() -> None:
    class Asked:
        def run(self, *arguments: object, **options: object) -> dict[str, object]:
            return {"tcp://h:1": ModuleNotFoundError("No module named 'toolkit'")}

    with pytest.raises(ToolkitError, match="the worker tcp://h:1 has no dbatk"):
        Cluster(Asked(), "dask://h:1", "postgresql://h/db", "2026").check(TARGETS)


@pytest.mark.full
def test_a_scheduler_without_workers_is_refused(tmp_path: Path, store: Store) -> None:
    with DaskCluster(tmp_path, {}) as empty:
        assert "has no workers" in refused(empty.url, store).message


def test_the_configuration_of_dask_brings_no_code_into_this_process(
    tmp_path: Path, store: Store, cluster: DaskCluster
) -> None:
    (tmp_path / "planted.py").write_text("raise SystemExit('planted code ran')")
    planted = {
        "distributed.client.preload": [str(tmp_path / "planted.py")],
        "distributed.client.security-loader": "os.abort",
    }
    with dask.config.set(planted):
        assert "unknown target `nowhere`" in refused(cluster.url, store, targets=("nowhere",)).message


def test_a_worker_with_another_store_does_nothing(store: Store, databases: Server) -> None:
    order = replace(ORDER, store=str(store.address))
    carried = worker.carry_out(order.to_text(), Heard())
    assert carried.error is not None and carried.error.code == "TK-0210"
    assert "is not the plan's store" in carried.error.message
    assert OrderResult.from_text(carried.to_text()) == carried


def test_an_order_that_cannot_be_read_is_reported_and_not_raised() -> None:
    """An error that the cluster's library cannot send would be waited for without an end."""
    heard = Heard()
    assert worker.carry_out('{"allowed": {}, "steps": [], "unknown": 1}', heard).refused is not None
    assert heard.events == []


def test_orders_of_one_worker_share_a_store_that_the_last_one_closes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Store] = []

    def opening(address: str) -> Store:
        opened.append(open_store(address))
        return opened[-1]

    monkeypatch.setattr(worker, "open_store", opening)
    address = str(store.address)
    with worker.store_at(address) as first:
        with worker.store_at(address) as second:
            assert second is first
        assert list(first.steps_on("none", "pg0")) == []
    with pytest.raises(ToolkitError), worker.store_at("postgresql://nobody@127.0.0.1:1/none"):
        pass
    with worker.store_at(address) as later:
        assert later is not first and len(opened) == 2


def test_a_worker_with_another_store_is_refused_before_anything_begins(
    store: Store, databases: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert worker.look(TARGETS, str(store.address), store.origin).faults == ()
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "its_own.sqlite"))
    (fault,) = worker.look(TARGETS, str(store.address), store.origin).faults
    assert "its_own.sqlite` is not the plan's store; set DBATK_STORE there" in fault


def test_no_secret_travels(monkeypatch: pytest.MonkeyPatch) -> None:
    place = find_place("postgresql://u:s3cret@h:5432/db?sslmode=require&password=s3cret&sslpassword=s3cret")
    sent = address_to_send(place)
    assert sent == "postgresql://u@h:5432/db?sslmode=require"
    assert address_to_send(find_place("/tmp/x.sqlite")) is None
    monkeypatch.setenv("DBATK_PASSWORD", "s3cret")
    asking = Approvals(not_production=True, yes_production=("dwh", "crm"), ask=lambda question: True)
    order = replace(ORDER, store=sent, allowed=allowed_by(asking))
    assert b"s3cret" not in pickle.dumps(order.to_text())
    assert TargetOrder.from_text(order.to_text()) == order
    order = TargetOrder.from_text(order.to_text())
    assert order.approvals.yes_production == ("dwh", "crm") and order.approvals.ask is None


def test_a_worker_stops_when_the_conductor_is_gone(store: Store) -> None:
    places = plan_targets_of(plan_of(COPY.format(query=SLOW.format(rows=5000))), store, Approvals())
    began = datetime.now(UTC)
    plan = plan_of(COPY.format(query=SLOW.format(rows=5000)))
    steps = (StepRecord(0, "pg0", "copy"),)
    night = PlanRunRecord(ORDER.plan_run, "many", "0", RunState.RUNNING, began, "far", plan.text, steps=steps)
    store.begin_plan_run(night)
    lock = f"plan many on {places[0].resolved.target.lease_key}"
    order = replace(ORDER, plan_text=plan.text, store=str(store.address), lock=lock)
    carried = worker.carry_out(order.to_text(), Heard())
    assert carried.stopped_by == ("the plan was stopped",), "nobody holds the lock of the plan"
    (step,) = store.load_plan_run(ORDER.plan_run).steps
    assert step.state is StepState.STOPPED


@pytest.fixture
def at_work(cluster: DaskCluster, databases: Server, folder: Path, tmp_path: Path) -> Iterator[Forked]:
    """A plan that the command line runs on the cluster."""
    plan = plan_of(COPY.format(query=SLOW.format(rows=5000)), head="at_once = 2")
    (tmp_path / "many.toml").write_text(plan.text)
    where = ["--on", cluster.url, "--store", databases.url, "--json"]
    with Forked("toolkit", "run", "many.toml", *where, cwd=tmp_path, env=_given(folder)) as process:
        yield process
        process.kill()


def _given(folder: Path) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), **environment(folder)}


def _until_two_run(store: Store) -> None:
    until = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < until:
        nights = store.plan_runs("many")
        if nights and sum(step.state is StepState.RUNNING for step in nights[0].steps) == 2:
            return
        time.sleep(0.1)
    raise AssertionError("two targets are never at work")


def test_control_c_ends_a_plan_on_a_cluster_cleanly(at_work: Forked, store: Store) -> None:
    _until_two_run(store)
    at_work.send_signal(signal.SIGINT)
    out, err = at_work.communicate(timeout=TIMEOUT_SECONDS)
    assert at_work.returncode == ExitCode.INTERRUPTED, err
    assert out.count('"stopped"') == 4 and "Traceback" not in err
    (night,) = store.plan_runs("many")
    assert night.stopped_by == "the plan was stopped" and not store.open_entries_all()
    assert [store.lease_of(f"plan many on {each}") for each in TARGETS] == [None] * 4


def test_a_second_start_exits_5_and_says_who_is_at_work(
    at_work: Forked, store: Store, databases: Server, cluster: DaskCluster, folder: Path, tmp_path: Path
) -> None:
    _until_two_run(store)
    second = run(*at_work.args, cwd=tmp_path, env=_given(folder))
    assert second.returncode == ExitCode.REFUSED, second.stderr
    assert f"process {at_work.pid} on" in second.stdout and "since" in second.stdout
    at_work.send_signal(signal.SIGINT)
    at_work.communicate(timeout=TIMEOUT_SECONDS)
