"""A run that is interrupted between its first record and its first trial can be resumed; it has not failed."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.engines.arena import Heard
from toolkit.app.approvals import Approvals
from toolkit.app.runs import execute
from toolkit.app.targets import find_target
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.words import Mode, RunState
from toolkit.store import Store

MAY = Approvals(not_production=True)


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (KeyboardInterrupt(), RunState.INTERRUPTED),
        (ToolkitError("interrupted", code="TK-0130"), RunState.INTERRUPTED),
        (ToolkitError("refused", code="TK-0302"), RunState.REFUSED),
        (RuntimeError("a fault"), RunState.FAILED),
    ],
)
def test_what_ends_a_run_before_its_first_trial_is_told(
    error: BaseException, state: RunState, tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x.duckdb"
    with duckdb.connect(str(file)) as session:
        session.execute("CREATE TABLE a AS SELECT range AS i FROM range(100)")
    target, url = find_target(f"duckdb:///{file}").target, f"duckdb:///{file}"
    job = Experiment(url, "ctas", {"source": "a", "table": "b"}, (), Mode.JOB)

    def ends(*_: object) -> None:
        raise error

    with monkeypatch.context() as broken, pytest.raises(type(error)):
        broken.setattr(execute, "keep_explanation", ends)
        execute.start(job, target, store=store, approvals=MAY, events=Heard())
    (head,) = store.list_runs()
    assert head.state is state
    if state is RunState.INTERRUPTED:
        execute.resume(head.run, target, store=store, approvals=MAY, events=Heard())
        assert store.load_head(head.run).state is RunState.DONE
