"""The verdict of a run in one line."""

from __future__ import annotations

import pytest

from tests.report.make import sweep
from toolkit.analysis.verdict import verdict_line


@pytest.mark.parametrize(
    ("times", "line"),
    [
        ({1: [8.0, 8.2, 8.1], 2: [4.1, 4.0, 4.05], 4: [4.0, 4.05, 4.1]},
         "ctas: degree 2 is 2.00 times as fast as degree 1 (1.9"),
        ({1: [4.0, 4.01, 4.02], 2: [4.0, 4.02, 4.01], 4: [4.01, 4.0, 4.02]},
         "ctas: degree 1, none is faster by more than 5 %, 3 repeats"),
        ({1: [8.0, 6.0, 9.0], 2: [6.0, 9.0, 7.0], 4: [9.0, 7.0, 7.0]}, "ctas: inconclusive, only "),
        ({1: [8.0], 2: [None]}, "ctas: inconclusive, 1 repeat"),
        ({1: [None], 2: [None]}, "ctas: inconclusive, 0 repeats"),
    ],
)  # fmt: skip
def test_a_verdict_fits_a_line(times: dict[int, list[float | None]], line: str) -> None:
    told = verdict_line(sweep(dict(times)))
    assert told.startswith(line)
    assert len(told) <= 100 and "\n" not in told
