"""What a plan does when a step has failed for good: begin nothing more, go on, or put back what it changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.arena import Heard
from tests.oracle.standin import Scenario, Standin, running_standin
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import plan_targets_of, run_plan
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.model.plan import PlanRunRecord
from toolkit.store import Store

APPROVALS = Approvals(not_production=True)
REBUILD = '[[step]]\nname = "rebuild"\noperation = "index-rebuild"\ntable = "GTEST"\ndegree = 4\n'
STATS = '[[step]]\nname = "stats"\noperation = "stats-gather"\ntable = "GTEST"\n'
NEEDY = STATS.replace('"stats"\n', '"needy"\n', 1) + 'needs = ["rebuild"]\n'
COPY = '[[step]]\nname = "copy"\noperation = "ctas"\nsource = "GTEST"\ntable = "G2"\nexpect_rows = 7\n'


def run(standin: Standin, store: Store, monkeypatch: pytest.MonkeyPatch, *steps: str) -> PlanRunRecord:
    monkeypatch.setenv("DBATK_PASSWORD", standin.password)
    text = f'[plan]\nname = "n"\ntarget = "{standin.url}"\n' + "\n".join(steps)
    plan = read_plan(parse_document(text, "n.toml"), Path())
    places = plan_targets_of(plan, store, APPROVALS)
    return run_plan(plan, places, store=store, approvals=APPROVALS, events=Heard())


def states(record: PlanRunRecord) -> dict[str, str]:
    return {step.step: step.state.value for step in record.steps}


FAILING = Scenario(fail={"index_rebuild": 1652})


def test_stop_begins_nothing_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_standin(FAILING) as standin:
        record = run(standin, store, monkeypatch, REBUILD, STATS)
        assert states(record) == {"rebuild": "failed", "stats": "stopped"}
        assert not any("GATHER_TABLE_STATS" in text for text in standin.statements)
        assert "step `rebuild` failed" in str(record.steps[1].reason)


@pytest.mark.full
def test_continue_does_what_does_not_need_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_standin(FAILING) as standin:
        record = run(standin, store, monkeypatch, REBUILD + 'on_failure = "continue"\n', NEEDY, STATS)
        assert states(record) == {"rebuild": "failed", "needy": "stopped", "stats": "done"}
        assert record.steps[1].reason == "it needs `rebuild`, which failed"


def test_undo_leaves_the_database_as_it_was_and_goes_on(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_standin(FAILING) as standin:
        record = run(standin, store, monkeypatch, REBUILD + 'on_failure = "undo"\n', STATS)
        assert states(record) == {"rebuild": "failed", "stats": "done"}
        assert not store.open_entries_all()
        assert record.steps[0].reason == (
            "ORA-01652: unable to extend temp segment by 128 in tablespace TEMP; there was nothing to undo"
        )


@pytest.mark.full
def test_what_cannot_be_put_back_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_standin(Scenario(rows=500)) as standin:
        record = run(standin, store, monkeypatch, COPY + 'on_failure = "undo"\n', STATS)
        assert states(record) == {"copy": "failed", "stats": "done"}
        assert record.steps[0].reason == "500 rows were loaded, 7 were expected; table `DBATK.G2` stays"
        more = COPY.replace("ctas", "insert").replace('"copy"', '"more"') + 'on_failure = "undo"\n'
        (step,) = run(standin, store, monkeypatch, more).steps
        assert step.reason == "500 rows were loaded, 7 were expected; what was committed remains: 500 rows"


@pytest.mark.full
def test_a_change_that_could_not_be_settled_is_put_back(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session is lost in the middle of a rebuild: what it had changed is undone on another one."""
    with running_standin(Scenario(lose="index_rebuild", fail_times=1)) as standin:
        record = run(standin, store, monkeypatch, REBUILD + 'on_failure = "undo"\n', STATS)
        assert states(record)["rebuild"] == "failed"
        assert not store.open_entries_all(), record.steps[0].reason
