"""The state of a stored run: one for the list and for the run itself."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.report.make import cell, run_of
from tests.report.make import trial as measured
from tests.store.make import BEGAN, RUN, experiment, head, trial
from toolkit.app.recent_runs import refuse_older
from toolkit.app.results import ended_well, failures, find_run, listed_runs
from toolkit.errors import ToolkitError
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


def test_a_run_that_ended_long_ago_is_not_what_failed_just_now(tmp_path: Path) -> None:
    """The report of a scheduled experiment that failed before its run began showed the run of last week."""
    with open_store(tmp_path / "store.sqlite") as store:
        now = store.now()
        store.create_run(head(experiment=experiment(), began_at=now - timedelta(days=7)))
        store.end_run(RUN, RunState.DONE, now - timedelta(minutes=16))
        with pytest.raises(
            ToolkitError, match=f"no run of `last:ctas` ended within 15m; the last one, {RUN}"
        ) as old:
            refuse_older(store, find_run(store, "last:ctas"), "last:ctas", "15m")
        assert old.value.code == "TK-0109" and "journalctl" in old.value.hint
        refuse_older(store, find_run(store, "last:ctas"), "last:ctas", "17m")


def test_a_long_run_that_was_killed_is_what_failed_though_none_of_its_trials_ended(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.sqlite") as store:
        store.create_run(head(experiment=experiment(), began_at=store.now() - timedelta(hours=5)))
        with pytest.raises(ToolkitError):
            refuse_older(store, find_run(store, RUN), RUN, "15m")
        store.acquire_lease("x", RUN)  # its heartbeat is of now, and stays when the process is killed
        refuse_older(store, find_run(store, RUN), RUN, "15m")
