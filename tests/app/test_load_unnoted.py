"""A load on DuckDB whose rows the store could not note: its own table of notes tells of them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import duckdb
import pytest

from tests.engines.arena import Heard
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import resume, start
from toolkit.app.targets import find_target
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.words import Mode
from toolkit.store import Store


def rows(path: Path) -> int:
    with duckdb.connect(str(path)) as session:
        (count,) = session.execute("SELECT count(*) FROM b").fetchone() or (0,)
    return int(count)


@pytest.mark.parametrize("operation", ["insert", "load"])
def test_rows_that_the_store_could_not_note_are_not_loaded_again(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    path, file = tmp_path / "x.duckdb", tmp_path / "a.csv"
    with duckdb.connect(str(path)) as session:
        session.execute("CREATE TABLE a AS SELECT i AS id FROM range(100) t(i)")
        session.execute("CREATE TABLE b (id BIGINT)")
        session.execute(f"COPY a TO '{file}' (HEADER)")
    given: dict[str, OptionValue] = {"source": "a"} if operation == "insert" else {"files": (str(file),)}
    url = f"duckdb:///{path}"

    def full(*_: object) -> None:
        raise ToolkitError("the store cannot be written: database or disk is full", code="TK-0401")

    with monkeypatch.context() as broken, suppress(ToolkitError):
        broken.setattr(Store, "add_items", full)
        job = Experiment(url, operation, {**given, "table": "b"}, (), Mode.JOB)
        start(job, find_target(url).target, store=store, approvals=Approvals(), events=Heard())
    assert rows(path) == 100
    resume(store.list_runs()[0].run, find_target(url).target, store=store, approvals=Approvals(), events=Heard())
    assert rows(path) == 100
    assert [trial.outcome.value for trial in store.load_run(store.list_runs()[0].run).trials] == ["failed", "ok"]
