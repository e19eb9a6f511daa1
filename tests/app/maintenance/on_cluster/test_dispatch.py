"""Who works on a plan's targets: the same promises kept by threads of this process and by workers of a cluster.

The store is a real PostgreSQL, the cluster real processes, the targets databases of that server and a DuckDB file.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import update

from tests.app.maintenance.on_cluster.conftest import TARGETS, environment
from tests.engines.arena import Heard
from tests.servers.dask import TIMEOUT_SECONDS, DaskCluster
from tests.servers.postgresql import Server
from tests.tiers import thinned
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import plan_targets_of, run_plan
from toolkit.app.maintenance.cluster import cluster_at
from toolkit.app.maintenance.plan_run import Dispatcher, Threads
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.model.plan import MaintenancePlan, PlanRunRecord
from toolkit.model.protocols import Event
from toolkit.runner import Stop
from toolkit.store import Store, open_store, schema

pytestmark = pytest.mark.postgresql
COPY = '[[step]]\nname = "copy"\noperation = "ctas"\ntable = "public.copied"\nquery = "{query}"\n'
QUICK = "SELECT i FROM generate_series(1, 500) i"
SLOW = "SELECT i, pg_sleep(0.02)::text AS p FROM generate_series(1, {rows}) i"
STATS = '[[step]]\nname = "stats"\noperation = "stats-gather"\ntable = "public.copied"\nneeds = ["copy"]\n'


@pytest.fixture
def store(databases: Server) -> Iterator[Store]:
    with open_store(databases.url) as opened:
        yield opened


def plan_of(*steps: str, head: str = "", targets: str = '["pg*"]') -> MaintenancePlan:
    text = f'[plan]\nname = "many"\ntargets = {targets}\n{head}\n' + "\n".join(steps)
    return read_plan(parse_document(text, "many.toml"), Path())


BOTH_IN_FULL = pytest.mark.parametrize("means", thinned(["threads", "cluster"], 2), indirect=True)
"""For tests of what has its own test on a cluster, or follows from one that has."""
Means = Callable[[MaintenancePlan, Store], AbstractContextManager[Dispatcher]]


@pytest.fixture(params=["threads", "cluster"])
def means(request: pytest.FixtureRequest, databases: Server) -> Means:
    """The two ways; what follows holds for both."""
    if request.param == "threads":
        return lambda plan, store: nullcontext(Threads())
    url = request.getfixturevalue("cluster").url
    return lambda plan, store: cluster_at(url, plan, store, TARGETS)


def run(means: Means, plan: MaintenancePlan, store: Store, **options: object) -> PlanRunRecord:
    places = plan_targets_of(plan, store, Approvals())
    heard = options.pop("events", Heard())
    with means(plan, store) as dispatcher:
        return run_plan(
            plan, places, store=store, approvals=Approvals(), events=heard, dispatcher=dispatcher, **options,  # type: ignore[arg-type]
        )  # fmt: skip


def states(record: PlanRunRecord) -> dict[str, str]:
    return {f"{step.target} {step.step}": step.state.value for step in record.steps}


def rows(server: Server, target: str) -> int:
    with psycopg.connect(host=server.host, port=server.port, dbname=target, user=server.user) as there:
        found = there.execute("SELECT count(*) FROM public.copied").fetchone()
    assert found is not None
    return int(found[0])


def no_lease_is_left(store: Store) -> bool:
    return all(store.lease_of(f"plan many on {each.resolved.target.lease_key}") is None for each in
               plan_targets_of(plan_of(COPY.format(query=QUICK)), store, Approvals()))  # fmt: skip


def test_every_target_is_done_and_a_failing_one_stops_no_other(
    means: Means, store: Store, databases: Server
) -> None:
    with psycopg.connect(host=databases.host, port=databases.port, dbname="pg1", user=databases.user) as there:
        there.execute("CREATE TABLE public.copied (i int)")
    heard = Heard()
    record = run(means, plan_of(COPY.format(query=QUICK), STATS, head="at_once = 2"), store, events=heard)
    expected = {f"{name} {step}": "done" for name in TARGETS for step in ("copy", "stats")}
    assert states(record) == expected | {"pg1 copy": "failed", "pg1 stats": "stopped"}
    assert {name: rows(databases, name) for name in TARGETS} == {"pg0": 500, "pg1": 0, "pg2": 500, "pg3": 500}
    assert any("already exists" in str(step.reason) for step in record.steps)
    told = {(event.data.get("target"), event.data.get("state")) for event in heard.events if event.kind == "step"}
    assert {("pg0", "done"), ("pg1", "failed"), ("pg3", "done")} <= told
    assert no_lease_is_left(store) and not store.open_entries_all()


@pytest.mark.full
@BOTH_IN_FULL
def test_no_more_targets_are_at_work_at_once_than_the_plan_says(means: Means, store: Store) -> None:
    record = run(means, plan_of(COPY.format(query=SLOW.format(rows=20)), head="at_once = 2"), store)
    assert set(states(record).values()) == {"done"}
    spans = [(step.began_at, step.ended_at) for step in record.steps if step.began_at and step.ended_at]
    most = max(sum(begin <= instant < end for begin, end in spans) for instant, _ in spans)
    assert most == 2


@BOTH_IN_FULL
def test_a_stop_ends_what_runs_in_order_and_begins_nothing_more(means: Means, store: Store) -> None:
    stop = Stop()

    class Stopping(Heard):
        def emit(self, event: Event) -> None:
            super().emit(event)
            if event.kind == "step" and event.data.get("state") == "running":
                stop.request()

    record = run(
        means, plan_of(COPY.format(query=SLOW.format(rows=3000)), head="at_once = 1"), store,
        stop=stop, events=Stopping(),
    )  # fmt: skip
    assert set(states(record).values()) == {"stopped"} and record.stopped_by == "the plan was stopped"
    assert [step.began_at is not None for step in record.steps] == [True, False, False, False]
    assert no_lease_is_left(store) and not store.open_entries_all()


@pytest.mark.full
def test_what_worker_after_worker_leaves_behind_is_done_exactly_once_by_the_others(
    folder: Path, store: Store, databases: Server, cluster: DaskCluster
) -> None:
    del cluster  # its workers are not to take part
    home = folder / "killed"
    home.mkdir()
    with DaskCluster(home, environment(folder)) as own:
        for host in ("one", "two", "three"):
            own.begin_worker(host)
        own.wait_for_workers(3)
        plan = plan_of(COPY.format(query=SLOW.format(rows=250)), STATS, head="at_once = 4")
        ended: list[PlanRunRecord] = []
        working = threading.Thread(
            target=lambda: ended.append(run(lambda p, s: cluster_at(own.url, p, s, TARGETS), plan, store))
        )
        working.start()
        for _ in range(2):
            host = _host_at_work(store, own)
            own.kill(host)
            _let_leases_of_end(store, host)
        working.join(TIMEOUT_SECONDS)
    assert ended, "the night does not end"
    assert set(states(ended[0]).values()) == {"done"}, "; ".join(
        f"{step.target} {step.step}: {step.reason}" for step in ended[0].steps if step.state.value != "done"
    )
    assert {rows(databases, name) for name in TARGETS} == {250}
    assert any("continued" in str(step.reason) for step in ended[0].steps), "a run is gone on with"
    assert no_lease_is_left(store) and not store.open_entries_all()
    runs = store.children_of(ended[0].plan_run)
    assert len(runs) == 2 * len(TARGETS), "no step was begun anew"


def _host_at_work(store: Store, cluster: DaskCluster) -> str:
    """Return a living worker's host that holds a target with a trial on the clock, when there is one."""
    places = plan_targets_of(plan_of(COPY.format(query=QUICK)), store, Approvals())
    alive = [host for host, process in cluster.workers.items() if process.poll() is None]
    until = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < until:
        for place in places:
            lease = store.lease_of(place.resolved.target.lease_key)
            at = next((host for host in alive if lease and lease.host.startswith(host)), None)
            heads = store.children_of(lease.run, place.name) if lease and at else []
            if at and any(store.unended_trials(head.run) for head in heads):
                return at
        time.sleep(0.05)
    raise AssertionError("nothing is at work")


def _let_leases_of_end(store: Store, host: str) -> None:
    """Let the time of a dead host's leases pass: nobody sees its processes, so only silence tells."""
    old = store.now() - timedelta(seconds=60)
    with store._database.write("a test") as connection:
        leases = update(schema.lease).where(schema.lease.c.host.startswith(host))
        connection.execute(leases.values(heartbeat_at=old))
