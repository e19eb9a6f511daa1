"""The history of a step: a change of level is named with what else changed that night, as the store has it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.report.make import put, sweep
from toolkit.app.environments import ARTIFACT
from toolkit.app.maintenance.run_reports import trends
from toolkit.model.environment import Environment, EnvironmentValue, environment_document
from toolkit.model.plan import PlanRunRecord, StepRecord, StepState
from toolkit.model.records import Artifact
from toolkit.model.values import Scalar
from toolkit.model.words import RunState
from toolkit.store import open_store

BEGAN = datetime(2026, 3, 1, 22, tzinfo=UTC)
CHANGED = 14
NIGHTS = 20


def told(
    folder: Path,
    before: Mapping[str, Scalar],
    after: Mapping[str, Scalar],
    *,
    kept: bool = True,
    settings: Mapping[str, Environment] = {},
) -> str:
    """Return the sentence on a step that took 60 s and then 90 s."""
    with open_store(str(folder / "store.sqlite")) as store:
        for night in range(NIGHTS):
            name, began = f"20260301-2200{night:02}-aaaa", BEGAN + timedelta(days=night)
            step = StepRecord(0, "dwh", "load")
            store.begin_plan_run(
                PlanRunRecord(name, "nightly", "h", RunState.RUNNING, began, "db1", "[plan]", steps=(step,))
            )
            if kept:
                run = sweep({1: [60.0]}, run=name, environment=after if night >= CHANGED else before)
                put(store, run)
                if environment := settings.get("after" if night >= CHANGED else "before"):
                    content = zlib.compress(json.dumps(environment_document(environment)).encode())
                    store.keep_artifact(name, Artifact(ARTIFACT, "application/zlib", content))
                store.set_environment(name, run.environment)
            took = (90 if night >= CHANGED else 60) + night % 3
            ended = began + timedelta(seconds=took)
            done = replace(step, state=StepState.DONE, run=name, tries=1, began_at=began, ended_at=ended)
            store.note_step(name, done)
        (found,) = trends(store, "load")
    (sentence,) = found.sentences
    return sentence


LEVEL = "slower since 2026-03-15: it takes 91.0 s, before 61.0 s"


def test_what_else_changed_that_night_is_named_with_the_change(tmp_path: Path) -> None:
    before: dict[str, Scalar] = {"server_version": "17.4", "work_mem": "64MB", "host_load_1min": 0.5}
    after: dict[str, Scalar] = {"server_version": "17.5", "work_mem": "64MB", "host_load_1min": 0.7}
    assert told(tmp_path, before, after) == f"{LEVEL}; with it changed `server_version` (17.4 to 17.5)"


def test_of_a_setting_that_was_the_default_the_default_is_named(tmp_path: Path) -> None:
    settings = {
        "before": Environment((EnvironmentValue("setting.random_page_cost", "4", default="4"),)),
        "after": Environment((EnvironmentValue("setting.random_page_cost", "1.1", default="4", origin="file"),)),
    }
    sentence = told(tmp_path, {}, {"setting.random_page_cost": "1.1"}, settings=settings)
    assert sentence == f"{LEVEL}; with it changed `setting.random_page_cost` (4 to 1.1)"


def test_that_nothing_else_changed_is_a_result(tmp_path: Path) -> None:
    same: dict[str, Scalar] = {"server_version": "17.4"}
    assert told(tmp_path, same, same) == f"{LEVEL}; nothing else that is recorded changed with it"


def test_of_runs_that_are_not_kept_nothing_is_claimed(tmp_path: Path) -> None:
    assert told(tmp_path, {}, {}, kept=False) == LEVEL


def test_many_differences_are_counted(tmp_path: Path) -> None:
    before: dict[str, Scalar] = {f"setting{at}": 1 for at in range(9)}
    after: dict[str, Scalar] = {f"setting{at}": 2 for at in range(9)}
    assert told(tmp_path, before, after).endswith("`setting5` (1 to 2) and 3 more")
