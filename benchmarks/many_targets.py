"""How plans grow with their targets: 10, 100 and 1,000 databases side by side.

    PYTHONPATH=. python benchmarks/many_targets.py [--most 1000] [--nights 10] [--works account telling]

The targets are profiles of DuckDB files, the plan has three steps for each, and a store has nights before. A
process of its own measures for each number of targets:

- planning: what `dbatk plan` does, from the file to the document;
- a night in which no step is due (`only_if = {older_than = ...}`): locks, leases, histories, conditions;
- the account of that night, and what is told to monitoring;
- the memory that Python holds at the most during each (tracemalloc), and that the process grew by.

Planning is timed in a second go, without the tracer of memory. Planning 1,000 targets below 5 s, and at most
20 KiB for each target, are the limits; the exit status says whether they hold.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter

import duckdb

from toolkit.model.plan import PlanRunRecord, StepRecord, StepState
from toolkit.model.words import RunState

LIMIT_SECONDS = 5.0
LIMIT_BYTES_A_TARGET = 20 * 1024
BEGAN = datetime.now(UTC) - timedelta(days=1)
PLAN = """
[plan]
name = "many"
targets = ["db*"]
at_once = 16
max_degree = 8
"""
STEP = """
[[step]]
name = "{name}"
operation = "stats-gather"
table = "t"
degree = 2
only_if = {{older_than = "365d"}}
"""
WORKS = ("planning", "night", "account", "telling")
STEPS = ("first", "second", "third")


class Silent:
    def emit(self, event: object) -> None:
        del event


def make(folder: Path, targets: int, nights: int) -> None:
    """Make profiles, a plan and a store with nights in which everything was done."""
    from toolkit.store import open_store

    config = folder / "config"
    config.mkdir(mode=0o700)
    template = folder / "db.duckdb"
    with duckdb.connect(str(template)) as made:
        made.execute("CREATE TABLE t AS SELECT range AS i FROM range(10)")
    names = [f"db{number:04}" for number in range(targets)]
    for name in names:
        (folder / f"{name}.duckdb").write_bytes(template.read_bytes())
    profiles = "".join(f'[targets.{name}]\nurl = "duckdb:///{folder}/{name}.duckdb"\n' for name in names)
    (config / "targets.toml").write_text(profiles)
    (config / "targets.toml").chmod(0o600)
    (folder / "many.toml").write_text(PLAN + "".join(STEP.format(name=name) for name in STEPS))
    with open_store(folder / "store.sqlite") as store:
        for night in range(nights):
            store.begin_plan_run(record(night, names))


def record(night: int, names: list[str]) -> PlanRunRecord:
    began = BEGAN - timedelta(days=night)
    places = [(name, step) for name in names for step in STEPS]
    steps = (
        StepRecord(
            at, name, step, StepState.DONE, began_at=began, ended_at=began + timedelta(seconds=5 + night), tries=1
        )
        for at, (name, step) in enumerate(places)
    )
    plan_run = f"{began:%Y%m%d-%H%M%S}-{night:04x}"
    ended = began + timedelta(hours=1)
    return PlanRunRecord(
        plan_run, "many", "0", RunState.DONE, began, "host", PLAN, ended_at=ended, steps=tuple(steps)
    )


def measured(work: Callable[[], object]) -> dict[str, float]:
    """Return the seconds of a work, and the memory that Python held for it at the most."""
    tracemalloc.start()
    began = perf_counter()
    work()
    seconds = perf_counter() - began
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"seconds": seconds, "peak_bytes": peak, "process_bytes": grown}


def measure(folder: Path, chosen: list[str]) -> dict[str, dict[str, float]]:
    """Measure in this process, which has done nothing else."""
    from toolkit.app.approvals import Approvals
    from toolkit.app.maintenance import plan_targets_of, run_plan
    from toolkit.app.maintenance.outlook import outlook_document, outlook_of
    from toolkit.app.maintenance.run_reports import find_plan_run, report_of
    from toolkit.app.notices import tell
    from toolkit.config.notices import Notices
    from toolkit.design.plan_file import load_plan
    from toolkit.report.run_report import run_report_text
    from toolkit.store import open_store

    with open_store(folder / "store.sqlite") as store:
        approvals = Approvals()
        plan = load_plan(folder / "many.toml")

        def planning() -> object:
            places = plan_targets_of(load_plan(folder / "many.toml"), store, approvals)
            return json.dumps(outlook_document(outlook_of(plan, places, store, datetime.now(UTC))))

        def night() -> object:
            places = plan_targets_of(plan, store, approvals)
            return run_plan(plan, places, store=store, approvals=approvals, events=Silent())

        def account() -> object:
            return run_report_text(report_of(store, find_plan_run(store, "last", "many")))

        def telling() -> object:
            return tell(store.plan_runs_to_tell("many"), Notices(metrics_folder=folder))

        works = [work for work in (planning, night, account, telling) if work.__name__ in chosen]
        found = {work.__name__: measured(work) for work in works}
        began = perf_counter()
        planning()
        return {**found, "planning": {**found["planning"], "seconds": perf_counter() - began}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=int, default=1000, help="targets of the largest plan")
    parser.add_argument("--nights", type=int, default=10, help="nights that the store has")
    parser.add_argument(
        "--works", nargs="*", default=WORKS[1:], choices=WORKS[1:], help="what is measured beside planning"
    )
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.measure, [WORKS[0], *given.works])))
        return 0
    sizes = sorted({max(1, given.most // 100), max(1, given.most // 10), given.most})
    found = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder), size, given.nights)
            environment = {**os.environ, "DBATK_CONFIG": f"{folder}/config"}
            command = [sys.executable, __file__, "--measure", folder, "--works", *given.works]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            found[size] = json.loads(done.stdout)
    return show(found)


def show(found: dict[int, dict[str, dict[str, float]]]) -> int:
    """Print the figures beside each other, and say whether the limits hold."""
    sizes = sorted(found)
    print(f"{'':<12}" + "".join(f"{size:>12,} targets     " for size in sizes))
    for name in found[sizes[0]]:
        figures = [found[size][name] for size in sizes]
        print(
            f"{name:<12}"
            + "".join(f"{one['seconds']:>10.2f} s{one['peak_bytes'] / 2**20:>8.1f} MiB " for one in figures)
        )
    least, most = found[sizes[0]], found[sizes[-1]]
    process = [max(one["process_bytes"] for one in found[size].values()) / 2**20 for size in sizes]
    print(f"{'process':<12}" + "".join(f"{each:>18.1f} MiB " for each in process))
    between = max(1, sizes[-1] - sizes[0])
    a_target = (most["planning"]["peak_bytes"] - least["planning"]["peak_bytes"]) / between
    seconds = most["planning"]["seconds"]
    print(f"planning {sizes[-1]:,} targets: {seconds:.2f} s, {a_target / 1024:.1f} KiB for each target more")
    return 0 if seconds < LIMIT_SECONDS and a_target < LIMIT_BYTES_A_TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
