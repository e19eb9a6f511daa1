"""A store that is deleted or replaced while a run goes on is noticed, and what it holds is saved."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from tests.engines.arena import Heard
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.config.urls import parse_url
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.values import Factor
from toolkit.model.words import Mode, RunState
from toolkit.store import open_store
from toolkit.targets.base import Access
from toolkit.targets.duckdb import DuckdbTarget


def replace(store: Path) -> None:
    with open_store(store.with_name("another.sqlite")):
        pass
    store.with_name("another.sqlite").replace(store)


def delete(store: Path) -> None:
    for each in store.parent.glob("store.sqlite*"):
        each.unlink()


def sweep(store: Path, harm: Callable[[Path], object], heard: Heard) -> None:
    """Run two trials, and harm the store in the first one."""
    data = store.parent.with_name("data.duckdb")
    with duckdb.connect(str(data)) as made:
        made.execute("CREATE TABLE source AS SELECT range AS id FROM range(10)")
    url = f"duckdb:///{data}"
    target = DuckdbTarget(Access(parse_url(url)))
    harms = [harm]

    def observe(text: str) -> None:
        if text.startswith("CREATE TABLE") and harms:
            harms.pop()(store)

    target.observer = observe
    experiment = Experiment(
        url, "ctas", {"source": "source", "table": "made"}, (Factor("degree", (1,)),), Mode.MEASUREMENT, repeat=2,
        warmup=0,
    )  # fmt: skip
    with closing(target), open_store(store) as opened:
        start(experiment, target, store=opened, approvals=Approvals(not_production=True), events=heard)


@pytest.mark.thin(2)
@pytest.mark.parametrize("harm", [delete, replace])
def test_a_store_that_is_gone_is_said_and_its_runs_are_saved(
    tmp_path: Path, harm: Callable[[Path], object]
) -> None:
    folder, heard = tmp_path / "kept", Heard()
    folder.mkdir()
    with pytest.raises(ToolkitError) as caught:
        sweep(folder / "store.sqlite", harm, heard)
    assert caught.value.code == "TK-0401"
    assert caught.value.exit_code is not ExitCode.DONE
    assert "deleted or replaced" in caught.value.message
    assert any("store was deleted or replaced" in text for text in heard.texts("warning"))
    (saved,) = folder.glob("store.sqlite.saved-*")
    assert str(saved) in str(caught.value.hint)
    with open_store(saved) as store:
        (head,) = store.list_runs()
        assert head.state is RunState.DONE
        assert len(store.load_run(head.run).trials) == 2
        assert store.journal(head.run).open_entries() == ()


def test_a_store_whose_folder_is_gone_is_saved_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The undo scripts make the folder again; where they do not, it is the working folder."""
    folder, here = tmp_path / "kept", tmp_path / "here"
    folder.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    with pytest.raises(ToolkitError) as caught:
        sweep(folder / "store.sqlite", lambda store: shutil.rmtree(store.parent), Heard())
    (saved,) = tmp_path.glob("*/store.sqlite.saved-*")
    assert str(saved) in str(caught.value.hint)
    with open_store(saved) as store:
        assert len(store.list_runs()) == 1


def test_a_store_is_saved_in_the_working_folder_where_its_own_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept").mkdir()
    monkeypatch.chdir(tmp_path)

    def use() -> None:
        with open_store(tmp_path / "kept" / "store.sqlite"):
            shutil.rmtree(tmp_path / "kept")

    with pytest.raises(ToolkitError, match="deleted or replaced"):
        use()
    assert len(list(tmp_path.glob("store.sqlite.saved-*"))) == 1
