"""The state of a stored run: one for the list and for the run itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.make import BEGAN, RUN, experiment, head, trial
from toolkit.app.results import find_run, listed_runs
from toolkit.model.words import Mode, Outcome, RunState
from toolkit.store import open_store


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Outcome.OK, RunState.DONE),
        (Outcome.DOWNGRADED, RunState.DONE),
        (Outcome.SKIPPED, RunState.DONE),
        (Outcome.FAILED, RunState.FAILED),
        (Outcome.INTERRUPTED, RunState.FAILED),
    ],
)
def test_a_job_is_failed_where_its_work_was_not_done_in_the_list_as_in_itself(
    outcome: Outcome, state: RunState, tmp_path: Path
) -> None:
    with open_store(tmp_path / "store.sqlite") as store:
        store.create_run(head(experiment=experiment(mode=Mode.JOB)))
        store.end_trial(RUN, trial(1, outcome=outcome))
        store.end_run(RUN, RunState.DONE, BEGAN)
        assert listed_runs(store, 5)[0].state is state
        assert find_run(store, RUN).head.state is state
