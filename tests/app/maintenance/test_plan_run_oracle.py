"""Nights on the Oracle stand-in: conditions from its catalogue, and what steps did is looked at afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.arena import Heard
from tests.oracle.standin import Scenario, Standin, running_standin
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import plan_targets_of, run_plan
from toolkit.app.maintenance.verify import look_at
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.model.plan import PlanRunRecord
from toolkit.runner import Stop
from toolkit.store import open_store

STATS = '[[step]]\nname = "stats"\noperation = "stats-gather"\ntable = "GTEST"\n'
REBUILD = '[[step]]\nname = "rebuild"\noperation = "index-rebuild"\ntable = "GTEST"\n'
APPROVALS = Approvals(not_production=True)


def run(standin: Standin, folder: Path, monkeypatch: pytest.MonkeyPatch, *steps: str) -> PlanRunRecord:
    monkeypatch.setenv("DBATK_PASSWORD", standin.password)
    text = f'[plan]\nname = "n"\ntarget = "{standin.url}"\n' + "\n".join(steps)
    plan = read_plan(parse_document(text, "n.toml"), folder)
    with open_store(folder / "store.sqlite") as store:
        places = plan_targets_of(plan, store, APPROVALS)
        return run_plan(plan, places, store=store, approvals=APPROVALS, events=Heard())


@pytest.mark.full
def test_indexes_and_statistics_are_renewed_and_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_standin() as standin:
        record = run(standin, tmp_path, monkeypatch, REBUILD, STATS)
        assert [(step.state, step.reason) for step in record.steps] == [("done", None), ("done", None)]
        # asked what they did, from its catalogue
        assert any("all_tab_statistics" in text.lower() and "age_seconds" in text for text in standin.statements)


@pytest.mark.full
def test_statistics_that_a_step_did_not_publish_are_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_standin() as standin:
        standin.engine.state.statistics.differences["DBATK", "GTEST"] = 73.0
        (step,) = run(standin, tmp_path, monkeypatch, STATS + "max_difference = 50\n").steps
    assert step.state == "failed"
    assert "were not published: DBATK.GTEST" in str(step.reason)


def test_pending_statistics_are_published_by_a_later_step_and_the_table_is_dumped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = '[[step]]\nname = "publish"\noperation = "stats-publish"\nschema = ["DBATK"]\nneeds = ["stats"]\n'
    dump = '[[step]]\nname = "dump"\noperation = "datapump-export"\ntable = "GTEST"\ndirectory = "DUMPS"\n'
    with running_standin() as standin:
        steps = run(standin, tmp_path, monkeypatch, STATS + 'publish = "later"\n', publish, dump).steps
        state = standin.engine.state
        assert [(step.state, step.reason) for step in steps] == [("done", None)] * 3
        assert ("TABLE", ("DBATK", "GTEST")) in state.statistics.published and not state.statistics.pending
        assert len(state.datapump.files) == 2


def test_statistics_from_before_a_step_are_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBATK_PASSWORD", "x")
    with running_standin() as standin, open_store(tmp_path / "store.sqlite") as store:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        text = f'[plan]\nname = "n"\ntarget = "{standin.url}"\n{STATS}'
        (place,) = plan_targets_of(read_plan(parse_document(text, "n.toml"), tmp_path), store, APPROVALS)
        said = look_at(place.jobs[0], place, -1e6, run="", store=store, before=None, stop=Stop()).fault
        place.resolved.target.close()
        assert said == "1 table with statistics older than its start: `GTEST`"


COPY = '[[step]]\nname = "copy"\noperation = "ctas"\nsource = "GTEST"\ntable = "G2"\ndegree = 2\n'
ADD = '[[step]]\nname = "add"\noperation = "insert"\nsource = "GTEST"\ntable = "G3"\n'


@pytest.mark.full
def test_loads_are_counted_in_a_read_only_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_standin(Scenario(rows=500)) as standin:
        rest = COPY.replace('"copy"', '"before"').replace("G2", "G3") + 'where = "ID < 100"\n'
        before, copy, add = run(standin, tmp_path, monkeypatch, rest, COPY, ADD).steps
        assert [step.state for step in (before, copy, add)] == ["done"] * 3, before.reason
        assert "the source under the same condition has 100, counted as of before" in str(before.verified)
        assert "the new table has 500; the source has 500, counted as of before" in str(copy.verified)
        assert "the target had 100 and has 600; the source has 500" in str(add.verified)
        assert [step.unverified for step in (before, copy, add)] == [None] * 3
        assert standin.statements.count("SET TRANSACTION READ ONLY") == 3


_NAMES = {
    "ALL_SYNONYMS": [
        {"OWNER": "PUBLIC", "SYNONYM_NAME": "LOADS", "TABLE_OWNER": "SYS", "TABLE_NAME": "V_$SQL_MONITOR"}
    ],
    "ALL_OBJECTS": [
        {"OWNER": "DBATK", "OBJECT_NAME": "RUNNER", "OBJECT_TYPE": "FUNCTION", "SUBOBJECT_NAME": None},
        {"OWNER": "DBATK", "OBJECT_NAME": "DBA_HIST_SYSSTAT", "OBJECT_TYPE": "TABLE", "SUBOBJECT_NAME": None},
    ],
    "ALL_SOURCE": [
        {"OWNER": "DBATK", "NAME": "RUNNER", "TYPE": "FUNCTION", "LINE": 1,
         "TEXT": "FUNCTION runner (t VARCHAR2) RETURN NUMBER IS BEGIN EXECUTE IMMEDIATE t; END;"}
    ],
}  # fmt: skip


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("query", "unseen_ok", "said"),
    [
        ("SELECT count(*) FROM loads", False, "`V_$SQL_MONITOR` (through PUBLIC.LOADS) belongs to Oracle Tuning"),
        ("SELECT count(*) FROM loads", True, "`V_$SQL_MONITOR` (through PUBLIC.LOADS) belongs to Oracle Tuning"),
        ("SELECT max(runner(g.idname)) FROM gtest g", False, "EXECUTE IMMEDIATE runs text built at run time"),
        ("SELECT count(*) FROM gtest", False, None),
        ("SELECT max(runner(g.idname)) FROM gtest g", True, "ORA-00904"),
        ("SELECT count(*) FROM dba_hist_sysstat", False, None),
    ],
)
def test_the_query_of_a_condition_is_read_by_what_its_names_lead_to(
    query: str, unseen_ok: bool, said: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = f'{STATS}only_if = {{sql = "{query}", at_least = 0}}\n'
    with running_standin(Scenario(beside=_NAMES)) as standin:
        monkeypatch.setattr(
            "tests.app.maintenance.test_plan_run_oracle.APPROVALS",
            Approvals(not_production=True, unseen_ok=unseen_ok),
        )
        (done,) = run(standin, tmp_path, monkeypatch, step).steps
        sent = query in standin.statements
    if said is None:
        assert (done.state, sent) == ("done", True), done.reason
    else:
        assert done.state == "failed" and said in str(done.reason), done.reason
        assert sent is said.startswith("ORA-")
