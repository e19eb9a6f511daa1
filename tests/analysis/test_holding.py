"""Whether a gain lasts: by the intervals of both runs, never by their medians alone."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from tests.report.make import sweep
from toolkit.analysis.holding import Lasting, verification_experiment, verified
from toolkit.analysis.recommendation import recommend
from toolkit.errors import ToolkitError
from toolkit.model.values import Level
from toolkit.model.words import Mode

THEN: dict[Level, list[float | None]] = {
    1: [10.0, 10.1, 9.9, 10.0, 10.1], 2: [5.0, 5.02, 4.98, 5.01, 5.0],
}  # fmt: skip


@for_each(
    ("again", "verdict"),
    [
        ({1: [20.0, 20.1, 19.9, 20.2, 20], 2: [10.0, 10.1, 9.9, 10, 10.1]}, Lasting.HELD),
        ({1: [10.0, 10.1, 9.9, 10.2, 10], 2: [8.0, 8.1, 7.9, 8, 8.1]}, Lasting.SMALLER),
        ({1: [10.0, 10.1, 9.9, 10.2, 10], 2: [10.1, 10.0, 10.2, 10, 9.9]}, Lasting.LOST),
        ({1: [10.0, 10.1, 9.9, 10.2, 10], 2: [12.1, 12.0, 12.2, 12, 11.9]}, Lasting.REVERSED),
        ({1: [10.0, 20.1, 5.9, 10.2, 30], 2: [10.1, 5.0, 16.2, 4, 9.9]}, Lasting.INCONCLUSIVE),
        ({1: [10.0, 10.1], 2: [None, None]}, Lasting.INCONCLUSIVE),
        ({1: [10.0], 2: [5.0]}, Lasting.INCONCLUSIVE),
    ],
)
def test_what_became_of_a_gain(again: dict[Level, list[float | None]], verdict: Lasting) -> None:
    found = recommend(sweep(THEN))
    result = verified(found, sweep(again, run="20261201-052307-ab12"))
    assert result.verdict is verdict
    assert "and was 2.00x as fast as `degree=1` (" in result.sentence


def test_both_are_measured_in_every_sweep() -> None:
    experiment = verification_experiment(
        recommend(sweep({**THEN, 4: [4.9, 4.95, 4.92, 4.9, 4.96], 8: [6.0, 6.1, 6.2, 6.1, 6.0]}))
    )
    assert [factor.levels for factor in experiment.factors] == [(1, 2)]
    assert (experiment.mode, experiment.repeat, experiment.warmup) == (Mode.MEASUREMENT, 5, 1)


@pytest.mark.parametrize("times", [{1: [10.0], 2: [5.0]}, {1: [5.0, 5.1, 4.9], 2: [5.1, 5.0, 4.9]}, {1: [None]}])
def test_a_run_without_a_gain_has_nothing_to_verify(times: dict[Level, list[float | None]]) -> None:
    with pytest.raises(ToolkitError, match="shows no gain") as refused:
        verification_experiment(recommend(sweep(times)))
    assert refused.value.code == "TK-0110"
