"""A session that is lost after the work was done: the next try, or the next night, does it no second time."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.engines.arena import Heard
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import places_of, run_plan
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.model.plan_records import StepRecord
from toolkit.model.protocols import DatabaseError
from toolkit.runner import trial
from toolkit.store import Store

LOAD = '[[step]]\nname = "load"\noperation = "insert"\nsource = "more"\ntable = "g"\n'
COPY = '[[step]]\nname = "load"\noperation = "ctas"\nsource = "more"\ntable = "copied"\n'


def night(store: Store, folder: Path, step: str) -> StepRecord:
    file = folder / "x.duckdb"
    if not file.exists():
        with duckdb.connect(str(file)) as made:
            made.execute("CREATE TABLE g AS SELECT range AS id FROM range(1000)")
            made.execute("CREATE TABLE more AS SELECT range AS id FROM range(10)")
    plan = read_plan(parse_document(f'[plan]\nname = "n"\ntarget = "duckdb:///{file}"\n{step}', "n.toml"), folder)
    places = places_of(plan, store, Approvals())
    return run_plan(plan, places, store=store, approvals=Approvals(), events=Heard()).steps[0]


@pytest.mark.parametrize(("step", "table", "rows"), [(LOAD, "g", 1010), (COPY, "copied", 10)])
def test_the_next_night_finds_out_that_it_was_done(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, table: str, rows: int
) -> None:
    def lost(bench: object, course: trial.Course, stages: object) -> None:
        course.failed(DatabaseError("server closed the connection unexpectedly", code="57P01", lost=True))

    with monkeypatch.context() as broken:
        broken.setattr(trial, "_read_evidence", lost)
        failed = night(store, tmp_path, step)
    assert failed.state.value == "failed", failed.reason
    done = night(store, tmp_path, step)
    assert (done.state.value, done.run) == ("done", failed.run), done.reason
    with duckdb.connect(str(tmp_path / "x.duckdb")) as looked:
        assert looked.execute(f"SELECT count(*) FROM {table}").fetchone() == (rows,)
