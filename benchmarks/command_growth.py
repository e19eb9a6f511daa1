"""How the commands grow with the store, and the process with its trials.

    PYTHONPATH=. python benchmarks/command_growth.py [--largest 100000]

A store of so many trials holds runs of 10, 100 and 1,000 trials. `runs list`, `compare` and `report` are timed as
whole processes (limit: 2 s each, at a run of 1,000 trials). Then one process runs sweeps of 100 and 600 tiny
trials on DuckDB and tells its memory after each: it must not grow with the number of trials.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.store_growth import fill
from toolkit.store import open_store

LIMIT_SECONDS = 2.0
LIMIT_GROWTH_BYTES = 8 * 1024 * 1024
CALLS = 3

_SWEEP = """
import json, sys, duckdb, psutil
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.config.urls import parse_url
from toolkit.model.experiment import Experiment
from toolkit.model.values import Factor
from toolkit.model.words import Mode, OperationName
from toolkit.store import open_store
from toolkit.targets.base import Access
from toolkit.targets.duckdb import DuckdbTarget
class Silent:
    def emit(self, event): pass
folder = sys.argv[1]
with duckdb.connect(folder + "/m.duckdb") as made:
    made.execute("CREATE OR REPLACE TABLE g AS SELECT range AS i FROM range(2000)")
told = []
for repeat in (100, 100, 600):
    target = DuckdbTarget(Access(parse_url("duckdb:///" + folder + "/m.duckdb")))
    work = Experiment(target.display, "ctas", {"source": "main.g", "table": "main.x"},
                      (Factor("degree", (1,)),), Mode.MEASUREMENT, repeat, 0, seed=1)
    with open_store(folder + "/memory.sqlite") as store:
        start(work, target, store=store, approvals=Approvals(), events=Silent())
    target.close()
    told.append(psutil.Process().memory_info().rss)
print(json.dumps(told))
"""


def command_seconds(store: Path, *args: str) -> float:
    """Return the median wall time of a command as a process of its own."""
    times = []
    for _ in range(CALLS):
        begun = time.perf_counter()
        command = [sys.executable, "-m", "toolkit", *args, "--store", str(store)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        times.append(time.perf_counter() - begun)
        if done.returncode not in {0, 3}:
            raise RuntimeError(done.stderr)
    return statistics.median(times)


def commands(folder: Path, largest: int) -> bool:
    """Time the commands at runs of three sizes in the full store; return whether all hold the limit."""
    path = folder / "store.sqlite"
    with open_store(path) as store:
        many = max(2, largest // 1000)
        fill(store, 1, many, 1000)
        fill(store, many + 1, 2, 100)
        fill(store, many + 3, 2, 10)
        by_size = {head.trials_planned: head.run for head in store.list_runs()}
        others = {
            size: [head.run for head in store.list_runs() if head.trials_planned == size][:2] for size in by_size
        }
    good = True
    listed = command_seconds(path, "runs", "list", "--json")
    print(f"runs list, {largest:,} trials stored: {listed:.2f} s")
    good = good and listed < LIMIT_SECONDS
    for size in sorted(by_size):
        a, b = others[size]
        compared = command_seconds(path, "compare", a, b)
        reported = command_seconds(path, "report", a, "--out", str(folder / "report.html"))
        print(f"runs of {size:>5,} trials: compare {compared:.2f} s, report {reported:.2f} s")
        good = good and compared < LIMIT_SECONDS and reported < LIMIT_SECONDS
    return good


def memory(folder: Path) -> bool:
    """Return whether memory stays where it was when six times the trials have run."""
    done = subprocess.run(
        [sys.executable, "-c", _SWEEP, str(folder)], capture_output=True, text=True, check=True, env=os.environ
    )
    first, second, third = json.loads(done.stdout)
    print(
        f"memory after 100, 100 and 600 trials: {first / 2**20:.0f}, {second / 2**20:.0f}, {third / 2**20:.0f} MiB"
    )
    return third - second < LIMIT_GROWTH_BYTES


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--largest", type=int, default=100_000)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        good = commands(Path(name), told.largest)
        return 0 if memory(Path(name)) and good else 1


if __name__ == "__main__":
    sys.exit(main())
