"""What a cluster of dask costs on one host: CPU seconds for each target, beside threads of one process.

    PYTHONPATH=. python benchmarks/cluster_cost.py [--targets 24] [--workers 2] [--rounds 3]

Targets are DuckDB files on this host, the store is a PostgreSQL server begun for it. A plan of one small step
each target is run by threads of this process and by the workers of a scheduler, turn by turn. CPU seconds are
those of all processes that work for the plan: this one, scheduler and workers, which have run the plan once
before; those of the PostgreSQL server are not counted. The exit status says whether what the cluster costs more
is at most 0.15 s for each target. Dask's profiler, which looks at every worker 100 times a second, is off
unless it is asked for.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter

import duckdb
import psutil

from tests.servers.dask import DaskCluster
from tests.servers.postgresql import running_postgresql
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import plan_targets_of, run_plan
from toolkit.app.maintenance.cluster import cluster_at
from toolkit.design.plan_file import load_plan
from toolkit.model.plan import ENDED_WELL
from toolkit.store import open_store

LIMIT_SECONDS = 0.15
_PROFILER = "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"
PLAN = """
[plan]
name = "cost"
targets = ["db*"]
at_once = {at_once}

[[step]]
name = "gather"
operation = "stats-gather"
table = "t"
"""


class Silent:
    def emit(self, event: object) -> None:
        del event


def cpu_seconds(pids: list[int]) -> float:
    """Return the CPU seconds of processes and of their children that have ended."""
    return sum(sum(psutil.Process(pid).cpu_times()[:4]) for pid in pids)


def make(folder: Path, targets: int) -> None:
    """Make the databases, their profiles and the plan's file."""
    config = folder / "config"
    config.mkdir(mode=0o700)
    names = [f"db{number:03}" for number in range(targets)]
    for name in names:
        with duckdb.connect(str(folder / f"{name}.duckdb")) as made:
            made.execute("CREATE TABLE t AS SELECT range AS i FROM range(1000)")
    profiles = "".join(f'[targets.{name}]\nurl = "duckdb:///{folder}/{name}.duckdb"\n' for name in names)
    (config / "targets.toml").write_text(profiles)
    (config / "targets.toml").chmod(0o600)
    os.environ |= {"DBATK_CONFIG": str(config), "XDG_DATA_HOME": str(folder)}


def measured(work: Callable[[], None], pids: list[int], targets: int) -> tuple[float, float]:
    """Return the CPU seconds for each target, and the seconds of all."""
    cpu, began = cpu_seconds(pids), perf_counter()
    work()
    return (cpu_seconds(pids) - cpu) / targets, perf_counter() - began


def play(folder: Path, address: str, given: argparse.Namespace) -> dict[str, list[tuple[float, float]]]:
    """Run the plan by threads and by the cluster, turn by turn; the first turn of each warms it up."""
    found: dict[str, list[tuple[float, float]]] = {"threads": [], "cluster": []}
    environment = {"DBATK_STORE": "", _PROFILER: str(given.with_profiler)}
    with open_store(address) as store, DaskCluster(folder, environment) as cluster:
        for number in range(given.workers):
            cluster.begin_worker(f"host{number}")
        cluster.wait_for_workers(given.workers)
        pids = [os.getpid(), *cluster.pids]

        def night(*, on_cluster: bool) -> None:
            plan = load_plan(folder / "cost.toml")
            places = plan_targets_of(plan, store, Approvals())
            names = [place.name for place in places]
            with cluster_at(cluster.url, plan, store, names) if on_cluster else nullcontext() as dispatcher:
                record = run_plan(
                    plan, places, store=store, approvals=Approvals(), events=Silent(), dispatcher=dispatcher
                )
            assert all(step.state in ENDED_WELL for step in record.steps), record.steps

        for turn in range(given.rounds + 1):
            for name in found:
                one = measured(lambda on=name == "cluster": night(on_cluster=on), pids, given.targets)
                found[name] += [one] if turn else []
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--targets", type=int, default=24)
    parser.add_argument("--workers", type=int, default=2, help="each with 2 threads")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--with-profiler", action="store_true", help="leave dask's own profiler on, as it is by default"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, running_postgresql() as server:
        folder = Path(name)
        make(folder, given.targets)
        (folder / "cost.toml").write_text(PLAN.format(at_once=2 * given.workers))
        found = play(folder, server.url, given)
    costs = {}
    for name, turns in found.items():
        costs[name] = statistics.median(cpu for cpu, _ in turns)
        seconds = statistics.median(took for _, took in turns)
        print(f"{name:<8} {costs[name]:.3f} CPU s for each target, {seconds:.2f} s for {given.targets}")
    more = costs["cluster"] - costs["threads"]
    print(f"the cluster costs {more:.3f} CPU s more for each target (at most {LIMIT_SECONDS})")
    return 0 if more <= LIMIT_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
