"""How reading and writing grow with the size of the results store.

Three stores of 100, 1,000 and 100,000 trials (1x, 10x, 1000x) stand side by side. The same is measured in each:
listing the 20 newest runs and all of them, finding a run, loading a run, and writing one more trial. Loading is
also measured at runs of 10, 100 and 1,000 trials. Times are medians of several calls, taken in turns, so that the
load of others hits all sizes alike; ratios are to the smallest.

    python benchmarks/store_growth.py [--largest 100000] [--calls 7] [--folder DIR]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import perf_counter

from sqlalchemy import insert

from toolkit.model.experiment import Experiment
from toolkit.model.records import ItemRecord, Metric, RunHead, Sample, TrialRecord
from toolkit.model.values import Cell, Factor
from toolkit.model.words import Mode, Outcome, RunState
from toolkit.store import open_store, rows, schema
from toolkit.store.runs import run_row
from toolkit.store.store import Store

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
SIZES = (1, 10, 1000)
RUN_SIZES = (10, 100, 1000)
TRIALS_OF_A_RUN = 100
METRICS, SAMPLES = 30, 20


def head(number: int, trials: int) -> RunHead:
    began = BEGAN + timedelta(minutes=number)
    experiment = Experiment(
        target="dwh",
        operation="ctas",
        options={"source": "GLENNF.GTEST", "table": "GLENNF.GTEST_COPY"},
        factors=(Factor("degree", (1, 2, 4, 8)), Factor("compression", ("none", "basic"))),
        mode=Mode.MEASUREMENT,
        repeat=3,
        label=f"label {number}",
    )
    run = f"{began:%Y%m%d-%H%M%S}-{number % 65536:04x}"
    return RunHead(run, experiment, "oracle", RunState.DONE, began, trials_planned=trials)


def trial(number: int) -> TrialRecord:
    """A trial as a sweep of minutes leaves it: 2 factors, 3 phases, 1 item, 30 metrics, 20 samples."""
    return TrialRecord(
        trial=number,
        attempt=1,
        cell=Cell((("degree", 2 ** (number % 4)), ("compression", "basic" if number % 2 else "none"))),
        repeat=number % 4,
        outcome=Outcome.OK,
        began_at=BEGAN,
        ended_at=BEGAN,
        elapsed_seconds=1.0 + number / 1000,
        phases={"prepare": 0.1, "evidence": 0.01, "conclude": 0.2},
        items=(ItemRecord("GTEST_COPY", Outcome.OK, 1.0, 0.0),),
        metrics=tuple(Metric(f"metric_{each}", each * 1.5, "bytes", "vstat") for each in range(METRICS)),
        samples=tuple(Sample(float(each), "cpu_pct", float(each)) for each in range(SAMPLES)),
    )


def fill(store: Store, first: int, runs: int, trials: int) -> None:
    """Put runs of so many trials into a store, all in one transaction: a sweep would take days."""
    with store._database.write("a benchmark") as connection:
        trial_id = first * 1_000_000
        for number in range(first, first + runs):
            run = head(number, trials)
            connection.execute(insert(schema.run), run_row(run))
            batches: dict[str, list[dict[str, object]]] = {}
            for each in range(1, trials + 1):
                trial_id += 1
                for name, new in rows_of(run.run, trial_id, trial(each)).items():
                    batches.setdefault(name, []).extend(new)
            for name, batch in batches.items():
                connection.execute(insert(schema.metadata.tables[name]), batch)


def rows_of(run: str, trial_id: int, record: TrialRecord) -> Mapping[str, rows.Rows]:
    return {
        "trial": [rows.trial_row(run, record) | {"trial_id": trial_id}],
        "trial_factor": rows.factor_rows(trial_id, record.cell),
        "phase": rows.phase_rows(trial_id, record.phases),
        "item": rows.item_rows(trial_id, record.items),
        "metric": rows.metric_rows(trial_id, record.metrics),
        "sample": rows.sample_rows(trial_id, record.samples),
    }


def medians(works: Mapping[str, Callable[[], object]], calls: int) -> dict[str, float]:
    """Return the median milliseconds of each work, taken in turns after one call unmeasured."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for call in range(calls + 1):
        for name, work in works.items():
            began = perf_counter()
            work()
            if call:
                times[name].append(1000 * (perf_counter() - began))
    return {name: statistics.median(taken) for name, taken in times.items()}


def show(title: str, names: tuple[str, ...], found: Mapping[str, float]) -> None:
    first = found[names[0]]
    cells = "".join(f"{found[name]:>11.2f} ms{found[name] / first:>7.1f}x" for name in names)
    print(f"{title:<34}{cells}")


def grow(stores: Mapping[str, Store], calls: int) -> None:
    """Measure the same reads and writes in stores of different sizes."""
    names = tuple(stores)
    last = {name: store.resolve("last") for name, store in stores.items()}
    counter = iter(range(10_000, 10**9))

    def write(name: str) -> None:
        number = next(counter)
        stores[name].begin_trial(last[name], number, 1, trial(1).cell, 1, BEGAN)
        stores[name].end_trial(last[name], replace(trial(1), trial=number))

    works: Mapping[str, Callable[[str], object]] = {
        "list the 20 newest runs": lambda name: stores[name].list_runs(20),
        "list all runs": lambda name: stores[name].list_runs(),
        "find a run by its label": lambda name: stores[name].resolve("label 0"),
        f"load a run of {TRIALS_OF_A_RUN} trials": lambda name: stores[name].load_run(head(0, 0).run),
        "begin and end one trial": write,
    }
    print(f"{'trials in the store':<34}" + "".join(f"{name:>21}" for name in names))
    for title, work in works.items():
        show(title, names, medians({name: partial(work, name) for name in names}, calls))


def load(store: Store, calls: int) -> None:
    """Measure loading runs of different sizes out of the largest store."""
    runs = {f"{size:,}": head(1_000_000 + size, size).run for size in RUN_SIZES}
    for number in RUN_SIZES:
        fill(store, 1_000_000 + number, 1, number)
    print(f"\n{'trials of the run':<34}" + "".join(f"{name:>21}" for name in runs))
    for title, samples in (("load it with its samples", True), ("load it without samples", False)):
        works = {name: partial(store.load_run, run, samples=samples) for name, run in runs.items()}
        show(title, tuple(runs), medians(works, calls))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--largest", type=int, default=100_000, help="trials in the largest store")
    parser.add_argument("--calls", type=int, default=7, help="calls of each work that are measured")
    parser.add_argument("--folder", type=Path, help="where the stores are made; a temporary folder if not given")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        stores: dict[str, Store] = {}
        for size in SIZES:
            trials = max(TRIALS_OF_A_RUN, given.largest * size // SIZES[-1])
            stores[f"{trials:,}"] = store = open_store(Path(folder) / f"{trials}.sqlite")
            fill(store, 0, trials // TRIALS_OF_A_RUN, TRIALS_OF_A_RUN)
        grow(stores, given.calls)
        load(store, given.calls)
        for store in stores.values():
            store.close()


if __name__ == "__main__":
    main()
