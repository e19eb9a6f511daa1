"""How often `compare` says faster or slower of two runs that did the very same; seeded, so it never varies."""

from __future__ import annotations

import math
import random

import pytest

from tests.report.make import sweep
from toolkit.analysis.compare import compare
from toolkit.model.records import RunRecord
from toolkit.model.words import Verdict

PAIRS = 300


def simulated(
    source: random.Random, name: str, cells: int, noise: float, drift: float, slower: float = 1.0
) -> RunRecord:
    blocks = [source.gauss(0, drift) for _ in range(3)]
    return sweep(
        {
            2**index: [slower * 8 / 1.8**index * math.exp(block + source.gauss(0, noise)) for block in blocks]
            for index in range(cells)
        },
        run=name,
    )


def alarms(cells: int, drift: float, slower: float = 1.0, seed: int = 11) -> float:
    """Share of pairs of cells with a verdict."""
    source = random.Random(seed)
    told = [
        pair.verdict is not Verdict.INCONCLUSIVE
        for _ in range(PAIRS)
        for pair in compare(
            simulated(source, "a", cells, 0.03, drift), simulated(source, "b", cells, 0.03, drift, slower)
        ).pairs
    ]
    return sum(told) / len(told)


@pytest.mark.parametrize("cells", [1, 3])
@pytest.mark.parametrize("drift", [0.0, 0.03, 0.1])
def test_identical_runs_of_three_repeats_raise_about_one_alarm_in_twenty(cells: int, drift: float) -> None:
    # 5 % expected; two and a half standard errors of so many pairs allow for 8 %
    assert alarms(cells, drift) <= 0.08


def test_a_difference_of_the_smallest_tellable_size_is_told_most_of_the_time() -> None:
    # 3 cells, 3 repeats and 3 % noise can tell about 9.5 %
    assert alarms(3, 0.0, slower=1.095) >= 0.75


def test_cells_of_one_run_raise_no_more_alarms_when_whole_sweeps_drift() -> None:
    source = random.Random(5)
    told = []
    for _ in range(PAIRS):
        blocks = [source.gauss(0, 0.2) for _ in range(3)]
        run = sweep(
            {level: [4 * math.exp(block + source.gauss(0, 0.03)) for block in blocks] for level in (1, 2, 4)}
        )
        first, second = (summary.cell for summary in _two(run))
        told.append(compare(run, run, cell_a=first, cell_b=second).pairs[0].verdict is not Verdict.INCONCLUSIVE)
    assert sum(told) / PAIRS <= 0.09


def _two(run: RunRecord) -> list[object]:
    from toolkit.analysis.cells import cells

    return list(cells(run)[:2])
