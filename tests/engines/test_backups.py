"""What every engine that backs up into a folder must do: sweep, keep, resume, and leave nothing half made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.arena import Arena, Heard
from tests.engines.test_operations import experiment, run
from tests.servers.postgresql import installed
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import resume
from toolkit.app.runs.preview import script
from toolkit.app.runs.repair import clean
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.words import Keep, Mode, Outcome
from toolkit.runner import trial as trials
from toolkit.store.store import Store

B = "backup"
APPROVED = Approvals(not_production=True)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "backups"
    folder.mkdir()
    return folder


def options(arena: Arena, place: Path, **more: str) -> dict[str, OptionValue]:
    own: dict[str, OptionValue] = {"destination": (str(place),), **more}
    if arena.engine == "postgresql":
        if os.environ.get("DBATK_TEST_POSTGRESQL_URL"):
            pytest.skip("the programs of a server of yours are not known")
        own["bin_dir"] = str(next(iter(installed().values())))
    return own


@pytest.mark.thin(2)
def test_a_sweep_of_compressions_tells_bytes_in_and_out_and_leaves_nothing(
    arena: Arena, store: Store, place: Path
) -> None:
    work = experiment(arena, B, options(arena, place), compression=("none", "zstd"))
    record = run(arena, store, work)
    assert [trial.outcome for trial in record.trials] == [Outcome.OK] * 2, [t.reason for t in record.trials]
    for trial in record.trials:
        told = {metric.name: metric.value for metric in trial.metrics}
        assert told["bytes_written"] == trial.bytes
        assert told["bytes_written"] > 0
        assert told["write_rate"] == pytest.approx(told["bytes_written"] / (trial.elapsed_seconds or 0))
    sizes = {trial.cell["compression"]: trial.bytes or 0 for trial in record.trials}
    assert sizes["zstd"] < sizes["none"]
    assert list(place.iterdir()) == []


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def of_others(folder: Path) -> list[Path]:
    """What somebody else than the owner could open."""
    return [path for path in (folder, *folder.rglob("*")) if path.stat().st_mode & 0o077]


@pytest.mark.full_on("postgresql")
def test_a_job_stays_under_its_tag_for_its_owner_only(
    arena: Arena, store: Store, place: Path, open_umask: None
) -> None:
    more = {} if arena.engine == "duckdb" else {"checkpoint": "fast"}
    work = experiment(arena, B, options(arena, place, tag="full", **more), mode=Mode.JOB)
    (trial,) = run(arena, store, work).trials
    assert (trial.outcome, trial.items[0].label) == (Outcome.OK, f"{place}/full"), trial.reason
    assert [each.name for each in place.iterdir()] == ["full"]
    assert of_others(place / "full") == []
    with pytest.raises(ToolkitError) as caught:
        run(arena, store, work)
    assert caught.value.code == "TK-0205"


@pytest.mark.full_on("postgresql")
def test_a_backup_whose_end_was_not_reached_is_not_taken_for_done(
    arena: Arena, store: Store, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its program had ended, and the server froze before its folder got its name: what there was is removed."""

    def unreached(context: object, state: trials.TrialState, stages: object) -> None:
        state.failed(ToolkitError("cannot connect: no response", code="TK-0201"))

    more = {} if arena.engine == "duckdb" else {"checkpoint": "fast"}
    work = experiment(arena, B, options(arena, place, tag="full", **more), mode=Mode.JOB)
    with monkeypatch.context() as frozen:
        frozen.setattr(trials, "_read_evidence", unreached)
        record = run(arena, store, work)
    assert record.trials[-1].outcome is Outcome.FAILED and list(place.iterdir()) == []
    resume(record.head.run, arena.target(), store=store, approvals=APPROVED, events=Heard())
    assert [each.name for each in place.iterdir()] == ["full"]
    assert store.load_run(record.head.run).trials[-1].outcome is Outcome.OK


@pytest.mark.full
def test_kept_trials_stay_with_their_mark_and_are_no_longer_ours_to_remove(
    arena: Arena, store: Store, place: Path
) -> None:
    work = experiment(arena, B, options(arena, place), keep=Keep.ALL)
    record = run(arena, store, work)
    (kept,) = place.iterdir()
    assert record.head.run[2:].replace("-", "") in kept.name
    assert "dbatk run" in (kept / ".dbatk").read_text()
    target = arena.target()
    try:
        clean(target, run=record.head.run, store=store, events=_Silent())
    finally:
        target.close()
    assert list(place.iterdir()) == [kept]


def test_the_script_names_folder_and_work_and_changes_nothing(arena: Arena, place: Path) -> None:
    target = arena.target()
    try:
        shown, _ = script(experiment(arena, B, options(arena, place)), target)
    finally:
        target.close()
    assert f"{place}/dbatk_run_1" in shown
    assert list(place.iterdir()) == []


def test_a_folder_too_small_is_refused_beforehand(
    arena: Arena, store: Store, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 1000

    monkeypatch.setattr("toolkit.executors.host.shutil.disk_usage", lambda _: Usage)
    if arena.engine == "duckdb":
        assert arena.ask("CHECKPOINT") is not None
    with pytest.raises(ToolkitError) as caught:
        run(arena, store, experiment(arena, B, options(arena, place)))
    assert caught.value.code == "TK-0305"
    assert store.list_runs() == []


class _Silent:
    def emit(self, event: object) -> None:
        pass
