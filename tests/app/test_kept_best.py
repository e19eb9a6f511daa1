"""`--keep best`: what is recommended is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.make import put, sweep
from tests.runner.context import context_of
from tests.runner.world import RUN, World
from toolkit.app.runs import keeping
from toolkit.app.runs.keeping import keep_best
from toolkit.model.experiment import Experiment
from toolkit.model.values import Cell
from toolkit.store import open_store


class _Chosen(Exception):
    """Ends it where the configuration is known."""


@pytest.mark.parametrize(
    ("times", "level"),
    [
        ({1: [10.0, 10.1, 10.2], 2: [5.0, 5.1, 5.2], 4: [4.99, 5.09, 5.19]}, 2),
        ({1: [10.0, 4.0, 16.2], 2: [5.0, 15.1, 9.1], 4: [9.2, 5.0, 11.0]}, 2),
    ],
)
def test_what_is_recommended_is_kept_and_else_the_best_median(
    times: dict[int, list[float]], level: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[Cell] = []

    def job_of(experiment: Experiment, cell: Cell) -> Experiment:
        chosen.append(cell)
        raise _Chosen

    monkeypatch.setattr(keeping, "job_of", job_of)
    monkeypatch.setattr(keeping, "refuse_loaded_in_part", lambda context: None)
    with open_store(tmp_path / "store.sqlite") as store:
        put(store, sweep(dict(times), run=RUN))
        with pytest.raises(_Chosen):
            keep_best(context_of(World(), store))
    assert [each["degree"] for each in chosen] == [level]
