"""Pairs of runs of identical work under a load that comes and goes: how often `compare` reports a difference.

    PYTHONPATH=. python benchmarks/changing_load.py [duckdb|postgresql] [PAIRS] [--seed N] [--repeat N]
    PYTHONPATH=. python benchmarks/changing_load.py ... --interleave

Runs a sweep of dbatk (CREATE TABLE AS SELECT at degree 1 and 2) again and again while a seeded load of other
processes comes and goes. Each run is compared with the one before it; those before are the stored runs that show
how much such runs differ. Prints how often anything differs, also by the noise of the two runs alone, and how
often planted slow-downs are found. Exits 1 where more than 5 % of the pairs and two standard errors differ.

With `--interleave` identical work is measured in two runs one after the other, and in one run that alternates,
with as many trials: how much the ratio of both varies from pair to pair says what can be detected in equal time.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean, median

from toolkit.analysis.compare import compare, compare_levels
from toolkit.analysis.fit import Noise, fit
from toolkit.analysis.judged import judged_of
from toolkit.analysis.noise import FEWEST_RUN_DEGREES
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.app.targets import find_target
from toolkit.model.experiment import Experiment
from toolkit.model.protocols import Event
from toolkit.model.records import RunRecord
from toolkit.model.values import Factor
from toolkit.model.words import Mode, Verdict
from toolkit.store import open_store
from toolkit.targets.base import Target

ROWS = {"duckdb": 50_000, "postgresql": 20_000}
SLOWER = (1.1, 1.2, 1.3, 1.5, 2.0)
SOURCE = "SELECT i AS id, md5(CAST(i AS varchar)) AS idname, i % 1000 AS amount FROM"


class Silent:
    """Takes the events of a run and shows none."""

    def emit(self, event: Event) -> None:
        pass


# -- the load ---------------------------------------------------------------------------------------------------
@contextlib.contextmanager
def changing_load(seed: int, processes: int = 2, quiet: float = 4.0, busy: float = 4.0) -> Iterator[None]:
    """Let other processes work for a while, rest for a while, and so on; both lengths are drawn from the seed."""
    source, ended = random.Random(seed), threading.Event()

    def come_and_go() -> None:
        while not ended.wait(source.expovariate(1 / quiet)):
            workers = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
            ended.wait(source.expovariate(1 / busy))
            for worker in workers:
                worker.kill()
                worker.wait()

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


# -- the work ---------------------------------------------------------------------------------------------------
@contextlib.contextmanager
def database(engine: str) -> Iterator[Target]:
    """Give a database with a table `gtest`."""
    with contextlib.ExitStack() as stack:
        if engine == "duckdb":
            import duckdb

            folder = stack.enter_context(tempfile.TemporaryDirectory())
            with duckdb.connect(f"{folder}/load.duckdb") as connection:
                connection.execute(f"CREATE TABLE gtest AS {SOURCE} range({ROWS[engine]}) AS r(i)")
            url = f"duckdb:///{folder}/load.duckdb"
        else:
            from tests.servers.postgresql import begun_from, installed

            server = stack.enter_context(begun_from(next(iter(installed().values())), {"fsync": "off"}))
            with server.connect() as session:
                session.execute(f"CREATE TABLE gtest AS {SOURCE} generate_series(1, {ROWS[engine]}) AS r(i)")  # type: ignore[arg-type]
            url = server.url
        target = find_target(url).target
        stack.callback(target.close)
        yield target


SWEEP = (Factor("degree", (1, 2)),)
ALONE = (Factor("degree", (1,)),)
ALTERNATING = (Factor("variant", ("a", "b")), *ALONE)


def runs_of(engine: str, series: Sequence[tuple[Factor, ...]], seed: int, repeat: int) -> list[RunRecord]:
    """Measure one sweep after the other, under the load."""
    experiment = Experiment(
        "load",
        "ctas",
        {"source": "gtest", "table": "gtest_copy"},
        (),
        Mode.MEASUREMENT,
        repeat,
        1,
        snapshot="none",
    )
    found = []
    approvals = Approvals(not_production=True)
    with tempfile.TemporaryDirectory() as folder, database(engine) as target, changing_load(seed):  # noqa: SIM117
        with open_store(f"{folder}/store.sqlite") as store:
            for number, factors in enumerate(series, 1):
                planned = replace(experiment, factors=factors, seed=number)
                run = start(planned, target, store=store, approvals=approvals, events=Silent())
                found.append(store.load_run(run, samples=False))
                print(f"\rrun {number} of {len(series)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


# -- what is reported of it -------------------------------------------------------------------------------------
def slowed(run: RunRecord, factor: float) -> RunRecord:
    """Return a run whose times are so many times as long."""
    trials = (
        replace(one, elapsed_seconds=one.elapsed_seconds and one.elapsed_seconds * factor) for one in run.trials
    )
    return replace(run, trials=tuple(trials))


def alone(a: RunRecord, b: RunRecord) -> bool:
    """Whether two runs differ by the noise that they themselves show, sweeps included: the rule of other tools."""
    judged = judged_of(a)
    fits = [fit(judged.observed(run.trials)) for run in (a, b)]
    single = fits[0].components.pooled_with(fits[1].components).single()
    for cell, mean in fits[0].means.items():
        share = 1 / fits[0].counts[cell] + 1 / fits[1].counts[cell]
        noise = Noise(single.variance * share, single.degrees, pairs=len(fits[0].means))
        interval = noise.interval(fits[1].means[cell] - mean)
        if interval is not None and not interval.holds(1.0):
            return True
    return False


def differ(a: RunRecord, b: RunRecord, history: Sequence[RunRecord]) -> bool:
    return any(pair.verdict is not Verdict.INCONCLUSIVE for pair in compare(a, b, history=history).pairs)


def interleaving(engine: str, pairs: int, seed: int, repeat: int) -> int:
    """Print how much the ratio of identical work varies, in two runs and in one that alternates."""
    runs = runs_of(engine, (ALONE, ALONE, ALTERNATING) * pairs, seed, repeat)
    apart, within, reported, detectable = [], [], 0, []
    for a, b, both in zip(runs[::3], runs[1::3], runs[2::3], strict=True):
        (of_a,), (of_b,) = (fit(judged_of(run).observed(run.trials)).means.values() for run in (a, b))
        apart.append(of_b - of_a)
        (pair,) = compare_levels(both, "variant", "a", "b").pairs
        seen = fit(judged_of(both).observed(both.trials))
        within.append(seen.ratio(pair.cell_b, pair.cell_a)[0])
        reported += pair.verdict is not Verdict.INCONCLUSIVE
        detectable += [pair.minimum_detectable_pct or math.inf]
    # 2.8 standard deviations of the ratio: what is found with a power of 80 % at 5 %
    shown = [100 * math.expm1(2.8 * math.sqrt(fmean(x * x for x in found))) for found in (apart, within)]
    print(f"{engine}, identical work {pairs} times in two runs and in one, {repeat} repeats each, seed {seed}:")
    print(f"  detectable by two runs: {shown[0]:.0f} %; by one run that alternates: {shown[1]:.0f} %")
    print(
        f"  the runs that alternate say {median(detectable):.0f} % (median), and report a difference in {reported}"
    )
    return 0 if shown[1] <= shown[0] / 2 else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", nargs="?", choices=("duckdb", "postgresql"), default="duckdb")
    parser.add_argument("pairs", nargs="?", type=int, default=20)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--interleave", action="store_true")
    chosen = parser.parse_args()
    if chosen.interleave:
        return interleaving(chosen.engine, chosen.pairs, chosen.seed, chosen.repeat)
    needed = FEWEST_RUN_DEGREES + 1
    runs = runs_of(chosen.engine, (SWEEP,) * (needed + chosen.pairs + 1), chosen.seed, chosen.repeat)
    pairs = [(runs[at - 1], runs[at], runs[: at - 1]) for at in range(needed + 1, len(runs))]
    wrong = sum(differ(*pair) for pair in pairs)
    naive = sum(alone(a, b) for a, b, _ in pairs)
    of = len(pairs)
    print(
        f"{chosen.engine}, {of} pairs of runs of identical work, {chosen.repeat} repeats, load seed {chosen.seed}:"
    )
    print(f"  a difference was reported in {wrong} ({wrong / of:.1%})")
    print(f"  by the noise of the two runs alone in {naive} ({naive / of:.1%})")
    for factor in SLOWER:
        found = sum(differ(a, slowed(b, factor), history) for a, b, history in pairs)
        print(f"  slower by {factor - 1:.0%}: found in {found} ({found / of:.0%})")
    return 0 if wrong / of <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / of) else 1


if __name__ == "__main__":
    sys.exit(main())
