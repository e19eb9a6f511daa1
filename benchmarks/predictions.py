"""How well is predicted what a measurement needs: how often one number is said, and how often it is right.

    PYTHONPATH=. python benchmarks/predictions.py [SWEEPS] [--only default|fixed|changing]

Sweeps are simulated by the rules of real runs, each on another machine, and predicted by earlier runs on the same
machine: the repeats, the time, and the difference that is detected. A number is right if it is within 25 % of what
came. Prints for each row how often a number was said, how often that was right (with its standard error), and how
often what came lay within the range that was said. Exits 1 where numbers or ranges are right in less than 90 % by
more than two standard errors; machines that change are printed, and not judged.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Sequence
from statistics import fmean

from tests.analysis.predictions import Scene, Tally, tallied

KNOWN = (
    ("one run of 3 repeats", 1, 3), ("three runs of 3", 3, 3), ("three runs of 5", 3, 5), ("8 runs of 3", 8, 3),
    ("13 runs of 3", 13, 3), ("three that ended by themselves", 3, None),
)  # fmt: skip
REPEATS = (4, 6, 9, 12, 20)


def by_default() -> Iterable[Scene]:
    """Return the scenes of runs without `--repeat`."""
    for name, runs, of in KNOWN:
        for noise in (0.06, 0.2):
            for is_equal in (True, False):
                kind = "equal" if is_equal else "others"
                yield Scene(f"{name}, up to {noise:.0%}, {kind}", runs, of, noise, is_equal)
    yield Scene("one run of 3 of other configurations, up to 6%", 1, 3, 0.06, is_equal=False, is_known=False)


def fixed() -> Iterable[Scene]:
    """Return those of runs with `--repeat`."""
    for name, runs, of in KNOWN[:-1]:
        for repeats in REPEATS:
            yield Scene(f"{name}, `--repeat {repeats}`", runs, of, 0.2, is_equal=True, repeats=repeats)


def changing() -> Iterable[Scene]:
    """Return those of machines whose noise, or whose speed, varies from run to run."""
    for runs, of in ((8, 3), (13, 5)):
        for varies in (0.3, 0.6):
            name = f"{runs} runs of {of}, noise varies by {varies:.0%}"
            yield Scene(f"{name}, `--repeat 5`", runs, of, 0.2, is_equal=True, repeats=5, varies=varies)
            yield Scene(name, runs, of, 0.2, is_equal=True, varies=varies)
    for runs, of in ((1, 3), (3, 3), (13, 3)):
        name = f"{runs} runs of {of}, speed varies by 15%"
        yield Scene(f"{name}, `--repeat 5`", runs, of, 0.06, is_equal=True, repeats=5, shifts=0.15)
        yield Scene(name, runs, of, 0.06, is_equal=False, shifts=0.15)


def spelled(tally: Tally | None) -> str:
    """Spell what was said, of it what was right, and how often the range held."""
    if tally is None:
        return " | | "
    right = "-"
    if tally.right:
        share = fmean(tally.right)
        error = math.sqrt(max(share * (1 - share), 0.25 / len(tally.right)) / len(tally.right))
        right = f"{share:.0%} ± {error:.0%} of {len(tally.right)}"
    return f"{tally.said:.0%} | {right} | {fmean(tally.held):.0%}"


def shown(title: str, scenes: Iterable[Scene], count: int, quantities: Sequence[str]) -> bool:
    """Print a table and return whether all of it holds."""
    names = [f"{quantity}: said | right | within the range" for quantity in quantities]
    print(f"\n| {title} |", " | ".join(names), "|")
    print("| --- |", " | ".join(["---: | ---: | ---:"] * len(quantities)), "|")
    holds = True
    for scene in scenes:
        found = tallied(scene, count)
        holds = all(tally.holds() for tally in found.values()) and holds
        print(
            f"| {scene.name} |",
            " | ".join(spelled(found.get(quantity)) for quantity in quantities),
            "|",
            flush=True,
        )
    return holds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweeps", nargs="?", type=int, default=120)
    parser.add_argument("--only", choices=("default", "fixed", "changing"))
    given = parser.parse_args()
    holds, both = True, ("time", "difference")
    if given.only in {None, "fixed"}:
        holds = shown("with `--repeat`", fixed(), 2 * given.sweeps, both)
    if given.only in {None, "changing"}:
        shown("machines that change", changing(), given.sweeps, ("repeats", *both))
    if given.only in {None, "default"}:
        holds = shown("by default", by_default(), given.sweeps, ("repeats", *both)) and holds
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
