"""Search beside a whole sweep on real jobs of DuckDB and PostgreSQL: the time of both, and what they find.

    PYTHONPATH=. python benchmarks/search_jobs.py [duckdb|postgresql ...] [--pairs N] [--levels N]
        [--seed N] [--budget 150] [--again 100]

The job is a sort into a new table (CREATE TABLE AS SELECT ... ORDER BY) with 16 sizes of memory, or so many as are
asked for between the same ends: of more levels a search can leave out more. Each pair is a
sweep and a search, in turn first, which end after so many seconds at the latest. The sweep's best is partly so by
chance, as the least of many medians is: where the search found another one, both run again in turns (`--again`,
times each), and the difference is that of these trials. Exits 1 where a search took more than 25 % of the time
of its sweep in the median, or more than one in twenty found what is then shown to be worse by more than 3 %. On a
busy machine the budget ends the sweep before it is through, so that the share of its time means nothing.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median

from benchmarks.changing_load import Silent, database
from toolkit.analysis.cells import analyse
from toolkit.analysis.choice import best_of, granted_cells, shown_worse
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.design.build import DETECT_PCT, MOST_SWEEPS
from toolkit.model.experiment import Experiment
from toolkit.model.records import RunRecord
from toolkit.model.values import Factor
from toolkit.model.words import Mode
from toolkit.store import Store, open_store
from toolkit.targets.base import Target

MEMORY = {"duckdb": ("memory_limit", 24, "MB", 1.35**15), "postgresql": ("work_mem", 128, "kB", 1.6**15)}
"""The setting of each engine, its least size, its unit, and how many times as large the largest is."""
QUERY = "SELECT a.*, b.amount AS other FROM gtest a JOIN gtest b ON a.id = b.id ORDER BY a.idname, b.idname"


@dataclass(frozen=True)
class Pair:
    """What a search took of the time of a sweep, how its best does in the sweep, and beside the sweep's own."""

    share: float
    worse: float
    again: str
    shown_worse: bool
    ran: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engines", nargs="*", metavar="duckdb|postgresql", default=list(MEMORY))
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--levels", type=int, default=16)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--budget", type=float, default=150.0)
    parser.add_argument("--again", type=int, default=100)
    given = parser.parse_args()
    if strange := set(given.engines) - set(MEMORY):
        parser.error(f"no such engine: {', '.join(sorted(strange))}")
    pairs = [pair for engine in given.engines for pair in pairs_of(engine, given, memory(engine, given.levels))]
    wrong = sum(pair.shown_worse for pair in pairs)
    print(
        f"all: {median(pair.share for pair in pairs):.0%} of the time; {wrong} of {len(pairs)} shown to be worse"
    )
    return 0 if median(pair.share for pair in pairs) <= 0.25 and wrong <= len(pairs) / 20 else 1


def memory(engine: str, levels: int) -> Factor:
    """Return sizes of memory, each so many times as large as the one before."""
    name, least, unit, times = MEMORY[engine]
    sizes = (round(least * times ** (n / (levels - 1))) for n in range(levels))
    return Factor(name, tuple(f"{size}{unit}" for size in sizes), setting=True)


def pairs_of(engine: str, given: argparse.Namespace, sizes: Factor) -> list[Pair]:
    """Measure pairs of a sweep and a search on one engine."""
    found = []
    with (
        tempfile.TemporaryDirectory() as folder,
        database(engine) as target,
        open_store(f"{folder}/s.db") as store,
    ):
        for number in range(given.pairs):
            measured = partial(_run, target, store, given.seed + number)
            order = (False, True) if number % 2 else (True, False)
            runs = {search: measured(sizes, MOST_SWEEPS, given.budget, search=search) for search in order}
            pair = _pair(runs[False], runs[True], sizes, partial(measured, most=given.again, search=False))
            found.append(pair)
            print(
                f"{engine} {number + 1}: {pair.ran} of {len(sizes.levels)} run in {pair.share:.0%} of the time; "
                f"its best is {pair.worse:+.1%} of the sweep's best by medians{pair.again}",
                flush=True,
            )
    return found


def _run(
    target: Target, store: Store, seed: int, sizes: Factor, most: int, budget: float | None = None, *, search: bool
) -> RunRecord:
    experiment = Experiment(
        "search",
        "ctas",
        {"query": QUERY, "table": "gtest_copy"},
        (Factor("degree", (1,)), sizes),
        Mode.MEASUREMENT,
        repeat=most,
        detect_pct=None if budget is None else DETECT_PCT,
        search=search,
        warmup=1,
        seed=seed,
        budget_seconds=budget,
        snapshot="none",
    )
    approvals = Approvals(not_production=True)
    return store.load_run(
        start(experiment, target, store=store, approvals=approvals, events=Silent()), samples=False
    )


def _pair(swept: RunRecord, searched: RunRecord, sizes: Factor, again: Callable[..., RunRecord]) -> Pair:
    sweep, search = analyse(swept), analyse(searched)
    best, found = best_of(sweep, granted_cells(sweep)), best_of(search, granted_cells(search))
    spent = [
        math.fsum((one.ended_at - one.began_at).total_seconds() for one in run.trials) for run in (searched, swept)
    ]
    ran = len({one.cell for one in searched.trials})
    if found == best:
        return Pair(spent[0] / spent[1], 0.0, "", shown_worse=False, ran=ran)
    both = Factor(sizes.name, tuple(cell[sizes.name] for cell in (best, found)), setting=True)
    ratio, interval = analyse(again(both)).ratio(found, best)
    told = "" if interval is None else f" ({interval.low - 1:+.1%} to {interval.high - 1:+.1%})"
    worse = sweep.ratio(found, best)[0] - 1
    return Pair(spent[0] / spent[1], worse, f", {ratio - 1:+.1%}{told} again", shown_worse(interval, 1.03), ran)


if __name__ == "__main__":
    sys.exit(main())
