"""Sweeps of identical work: how often a difference is told, how often a planted one, and the same by other rules.

    PYTHONPATH=. python benchmarks/equal_levels.py [duckdb|postgresql] [SWEEPS] [--seed N] [--levels N]
    PYTHONPATH=. python benchmarks/equal_levels.py ... --detect 10

Runs sweeps of CREATE TABLE AS SELECT whose configurations do the same: 200 in parts, with another seed each. Then
the times of the last configuration are made longer by 3, 5, 10 and 20 %. Beside dbatk's rule stand those of other
tools, each pair of configurations by itself: a gate of 2.5 % and of 10 % on medians, Welch's t test, the
Mann-Whitney test and a bootstrap of the ratio of medians, at 5 %. Last, how well the repeats, the time of a sweep
and the difference that it detects were predicted by those before it, and the times of a trial. Exits 1 where dbatk
tells a difference in more than 5 % of the equal sweeps and two standard errors.

With `--detect` a sweep is repeated until such a difference is told or excluded, as without `--repeat`.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from statistics import fmean, median, variance

from benchmarks.changing_load import ALONE, Silent, database, slowed
from tests.analysis.predictions import Tally, predictions
from toolkit.analysis.cells import RunAnalysis, analyse
from toolkit.analysis.noise import NEWEST_RUNS
from toolkit.analysis.quantiles import t_cdf
from toolkit.analysis.sequential import decide
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.design.build import MOST_SWEEPS
from toolkit.model.experiment import Experiment
from toolkit.model.records import RunRecord
from toolkit.model.values import Factor
from toolkit.model.words import Mode
from toolkit.store import open_store

PLANTED = (1.0, 1.03, 1.05, 1.1, 1.2)
_DRAWS = 1000
Values = Sequence[float]


def gate(limit: float) -> Callable[[Values, Values], bool]:
    """Tell two medians apart that differ by more than a limit."""
    return lambda a, b: abs(median(b) / median(a) - 1) > limit


def welch(a: Values, b: Values) -> bool:
    """Tell two means apart by Welch's t test."""
    one, other = variance(a) / len(a), variance(b) / len(b)
    if not one + other:
        return fmean(a) != fmean(b)
    degrees = (one + other) ** 2 / (one**2 / (len(a) - 1) + other**2 / (len(b) - 1))
    t = abs(fmean(a) - fmean(b)) / math.sqrt(one + other)
    return 2 * (1 - t_cdf(t, degrees)) < 0.05


def mann_whitney(a: Values, b: Values) -> bool:
    """Tell two samples apart by their ranks, exactly: by all ways to choose one of both together."""
    together = [*a, *b]

    def wins(chosen: Sequence[int]) -> float:
        own = set(chosen)
        return sum(together[x] > together[y] for x in own for y in range(len(together)) if y not in own)

    middle = len(a) * len(b) / 2
    seen = abs(wins(range(len(a))) - middle)
    every = [abs(wins(chosen) - middle) >= seen for chosen in combinations(range(len(together)), len(a))]
    return fmean(every) < 0.05


def bootstrap(a: Values, b: Values) -> bool:
    """Tell two medians apart by the percentiles of their ratio in samples drawn anew."""
    import numpy as np

    random = np.random.default_rng(1)
    ratios = np.median(random.choice(b, (_DRAWS, len(b))), axis=1) / np.median(
        random.choice(a, (_DRAWS, len(a))), axis=1
    )
    low, high = np.quantile(ratios, (0.025, 0.975))
    return not low <= 1 <= high


RULES: Mapping[str, Callable[[Values, Values], bool]] = {
    "gate 2.5 %": gate(0.025),
    "gate 10 %": gate(0.1),
    "Welch": welch,
    "Mann-Whitney": mann_whitney,
    "bootstrap": bootstrap,
}


def told(found: RunAnalysis) -> bool:
    """Whether any interval of a run excludes that two configurations are alike."""
    pairs = combinations([summary.cell for summary in found.cells if summary.n], 2)
    return any(
        interval is not None and not interval.holds(1.0) for _, interval in (found.ratio(*p) for p in pairs)
    )


def by_rule(found: RunAnalysis, rule: Callable[[Values, Values], bool]) -> bool:
    """Whether a rule tells any two configurations apart."""
    values = [summary.values for summary in found.cells if summary.n > 1]
    return any(rule(a, b) for a, b in combinations(values, 2))


def planted(run: RunRecord, factor: float) -> RunRecord:
    """Return a run whose last configuration takes so many times as long."""
    last = max((trial.cell for trial in run.trials), key=str)
    slow = {trial.trial: trial for trial in slowed(run, factor).trials if trial.cell == last}
    return RunRecord(run.head, tuple(slow.get(trial.trial, trial) for trial in run.trials), run.environment)


def sweeps(
    engine: str, count: int, seed: int, levels: int, repeat: int, detect_pct: float | None = None
) -> list[RunRecord]:
    """Measure sweeps of identical work."""
    factors = (Factor("variant", tuple("abcdefghijklmnop"[:levels])), *ALONE)
    options = {"source": "gtest", "table": "gtest_copy"}
    found, folder = [], tempfile.TemporaryDirectory()
    with folder, database(engine) as target, open_store(f"{folder.name}/store.sqlite") as store:
        for number in range(count):
            experiment = Experiment(
                "equal", "ctas", options, factors, Mode.MEASUREMENT, repeat, 1, seed=seed + number,
                snapshot="none", detect_pct=detect_pct,
            )  # fmt: skip
            approvals = Approvals(not_production=True)
            run = start(experiment, target, store=store, approvals=approvals, events=Silent())
            found.append(store.load_run(run, samples=False))
            print(f"\rsweep {number + 1} of {count}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def predicted(runs: Sequence[RunRecord], fewest: int = 3) -> str:
    """Say how often a number was said of a run by those before it, how often it was right, and the range held."""
    tallies: dict[str, Tally] = {}
    for number, run in enumerate(runs[fewest:], fewest):
        cells = list(dict.fromkeys(trial.cell for trial in run.trials))
        earlier = runs[max(0, number - NEWEST_RUNS) : number][::-1]
        took = math.fsum((one.ended_at - one.began_at).total_seconds() for one in run.trials)
        for quantity, told, came in predictions(run, cells, earlier, took):
            tallies.setdefault(quantity, Tally()).add(told, came)
    return "\n".join(
        f"{quantity}: a number was said of {len(tally.right)} of {len(tally.held)} sweeps, right within 25 % of "
        f"{sum(tally.right)}; within the range were {sum(tally.held)}"
        for quantity, tally in tallies.items()
    )


def ends(runs: Sequence[RunRecord]) -> str:
    """Say how the runs ended that went on until they knew enough."""
    known = sum(bool(decide(run).reason) for run in runs)
    repeats = [max(trial.repeat for trial in run.trials) for run in runs]
    return (
        f"{known} of {len(runs)} ended by what was known, after {min(repeats)} to {max(repeats)} repeats, "
        f"{median(repeats):g} in the median"
    )


def times(runs: Sequence[RunRecord]) -> str:
    """Say how long the timed statements took, and how much they vary within a sweep."""
    values = sorted(
        one.elapsed_seconds for run in runs for one in run.trials if one.counts and one.elapsed_seconds
    )
    noise = median(math.sqrt(analyse(run).fit.noise.variance) for run in runs)
    low, middle, high = (values[len(values) * part // 20] for part in (1, 10, 19))
    return f"a statement took {middle:.3f} s (nine of ten: {low:.3f} to {high:.3f}); noise in a sweep {noise:.0%}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", nargs="?", choices=("duckdb", "postgresql"), default="duckdb")
    parser.add_argument("sweeps", nargs="?", type=int, default=20)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--levels", type=int, choices=range(2, 17), default=3, metavar="2..16")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--detect", type=float, metavar="PCT")
    given = parser.parse_args()
    repeat = given.repeat if given.detect is None else MOST_SWEEPS
    runs = sweeps(given.engine, given.sweeps, given.seed, given.levels, repeat, given.detect)
    print(f"{given.engine}, {len(runs)} sweeps of {given.levels} equal configurations, {repeat} repeats at most:")
    rules = RULES if given.detect is None else {}  # ranks of twenty repeats cannot be counted one by one
    print("told in", *(f"{name:>13}" for name in ("dbatk", *rules)))
    wrong = 0.0
    for factor in PLANTED:
        found = [analyse(planted(run, factor)) for run in runs]
        shares = [
            fmean(map(told, found)),
            *(fmean(by_rule(one, rule) for one in found) for rule in rules.values()),
        ]
        wrong = shares[0] if factor == 1 else wrong
        print(f"{factor - 1:+7.0%}", *(f"{share:13.1%}" for share in shares))
    if given.detect is not None:
        print(ends(runs))
    print(predicted(runs))
    print(times(runs))
    print("load average of this host:", *(f"{load:.1f}" for load in os.getloadavg()))
    return 0 if wrong <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / len(runs)) else 1


if __name__ == "__main__":
    sys.exit(main())
