"""The state of a stored run: one for the list and for the run itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.make import cell, run_of
from tests.report.make import trial as measured
from tests.store.make import BEGAN, RUN, experiment, head, trial
from toolkit.app.results import ended_well, failures, find_run, listed_runs
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


def test_a_configuration_whose_trials_were_all_disturbed_is_named_since_it_ends_a_run_with_3() -> None:
    one, two = cell(degree=1), cell(degree=2)
    run = run_of([measured(1, one, 1, 8.0), measured(2, two, 1, 4.0, disturbed=True)])
    assert not ended_well(run)
    (sentence,) = failures(run)
    assert sentence.startswith("warning: degree=2: other load disturbed all trials")
    calm = run_of([measured(1, one, 1, 8.0), measured(2, two, 1, 4.0)])
    assert ended_well(calm) and not list(failures(calm))
