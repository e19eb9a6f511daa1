"""Search beside whole sweeps on simulated machines: the time it takes, what it finds, and what it claims falsely.

    PYTHONPATH=. python benchmarks/search_curves.py [CURVES] [--grids N] [--seed N]

Each machine has a curve (a peak by the Universal Scalability Law, Amdahl's law, monotone, flat, a step) of 16 to
64 degrees, or a grid of 16 degrees and 8 sizes of memory, and a noise of 2 to 10 %. It is measured by `--search`
and by a sweep of all configurations, both by the rules of real runs. The best that a search found is held against
the best that the sweep found, by their true times; what either recommends against the true best. Exits 1 where the
search takes more than 25 % of the sweep's time in the median, is more than 3 % from its best in more than 5 %, or
claims a difference that is not there in more than 5 %.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from tests.analysis.curves import (
    Machine,
    best_of_run,
    claims_falsely,
    drawn_grid,
    drawn_machine,
    recommended,
    searched,
    swept,
)


@dataclass(frozen=True)
class Result:
    kind: str
    noise: float
    share: float
    share_of_three: float
    loss: float
    recommended_loss: float | None
    swept_loss: float | None
    false: bool
    ran: int


def result_of(machine: Machine, seed: int) -> Result:
    """Measure a machine both ways."""
    found, all_of_them = searched(machine, seed), swept(machine, seed + 10**6)
    least = min(machine.seconds.values())

    def loss(cells: Sequence[object]) -> float | None:
        return max(machine.seconds[cell] for cell in cells) / least - 1 if cells else None  # type: ignore[index]

    return Result(
        machine.kind,
        machine.noise,
        found.spent / all_of_them.spent,
        found.spent / all_of_them.spent_after_three,
        machine.seconds[best_of_run(found)] / machine.seconds[best_of_run(all_of_them)] - 1,
        loss(recommended(found)[:1]),
        loss(recommended(all_of_them)[:1]),
        claims_falsely(machine, found),
        len({trial.cell for trial in found.run.trials}),
    )


def shown(name: str, results: Sequence[Result]) -> None:
    """Print a line about some of the machines."""
    near = fmean(one.loss <= 0.03 for one in results)
    told = [one.recommended_loss for one in results if one.recommended_loss is not None]
    told_by_sweep = [one.swept_loss for one in results if one.swept_loss is not None]
    spent, of_three = median(one.share for one in results), median(one.share_of_three for one in results)
    print(
        f"{name:12} {len(results):4}  {spent:6.1%} {of_three:7.1%} "
        f"{near:7.1%} {fmean(one.false for one in results):7.1%} {median(one.ran for one in results):6.0f} "
        f"{len(told) / len(results):7.1%} {fmean(told or [0]):7.1%} "
        f"{len(told_by_sweep) / len(results):7.1%} {fmean(told_by_sweep or [0]):7.1%}",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("curves", nargs="?", type=int, default=200)
    parser.add_argument("--grids", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("machines           time of   time of  within  falsely   ran  search: names, its loss; sweep: the same")
    print("                 the sweep  3 sweeps     3 %  claimed")
    ended = 0
    for draw, count in ((drawn_machine, given.curves), (drawn_grid, given.grids)):
        ended |= _series(draw, count, given.seed)
    return ended


def _series(draw: Callable[[int], Machine], count: int, seed: int) -> int:
    results = [result_of(draw(seed * 10_000 + number), number) for number in range(count)]
    if not results:
        return 0
    for kind in sorted({one.kind for one in results}):
        shown(kind, [one for one in results if one.kind == kind])
    for low, high in ((0.02, 0.04), (0.04, 0.07), (0.07, 0.10)):
        within = [one for one in results if low <= one.noise < high]
        if within:
            shown(f"{low:.0%} to {high:.0%}", within)
    shown("all", results)
    good = median(one.share for one in results) <= 0.25 and fmean(one.loss <= 0.03 for one in results) >= 0.95
    return 0 if good and fmean(one.false for one in results) <= 0.05 else 1


if __name__ == "__main__":
    sys.exit(main())
