"""The outlook asks a target that does not answer nothing more, and says what it cannot know."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

import duckdb
import pytest

from tests.for_each import for_each
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import outlook, plan_targets_of
from toolkit.app.maintenance.conditions import what_must_hold
from toolkit.app.maintenance.outlook import full_outlook
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.executors.reaching import Reach, Reached
from toolkit.model.facts import Facts
from toolkit.model.plan import Condition, ConditionKind, PlanRunRecord, PlanStep, StepRecord, StepState
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import RunState
from toolkit.store import Store
from toolkit.targets.base import Target

STEPS = """
[[step]]
name = "backup"
operation = "backup"
destination = "{folder}/b"
keep_for = "14 days"
"""


def sentences(store: Store, folder: Path, *files: str) -> list[str]:
    """Return what the outlook of a plan for files says, with the folder left out."""
    (folder / "b").mkdir(exist_ok=True)
    for name in files:
        duckdb.connect(str(folder / name)).close()
    targets = [f"duckdb:///{folder}/{name}" for name in files]
    text = f'[plan]\nname = "n"\ntargets = {targets}\n' + STEPS.format(folder=folder)
    plan = read_plan(parse_document(text, "n.toml"), folder)
    shown, _ = full_outlook(plan, plan_targets_of(plan, store, Approvals()), store)
    return [each.replace(f"duckdb:///{folder}/", "") for each in shown.sentences]


def test_what_would_be_removed_is_shown_for_each_target(store: Store, tmp_path: Path) -> None:
    shown = sentences(store, tmp_path, "a.duckdb", "b.duckdb")
    for name in ("a.duckdb", "b.duckdb"):
        assert any(f"backup on {name}: older backups (14 days) are removed" in each for each in shown), shown


@pytest.mark.parametrize(
    ("reach", "words"),
    [
        (Reach.SILENT, "does not answer"),
        (Reach.ANSWERS, "refuses sessions"),
        (Reach.NOT_ASKED, "could not be asked"),
    ],
)
def test_a_target_that_opens_no_session_is_asked_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reach: Reach, words: str
) -> None:
    def asked(target: Target, seconds: float) -> Reached:
        del seconds
        return Reached(reach, "why") if "a.duckdb" in target.display else Reached(Reach.ANSWERS)

    read, scheduled, real = list[str](), list[str](), outlook.scheduler_sentences

    def read_server(target: Target, dialect: object, **more: object) -> Facts:
        del dialect
        read.append(target.display)
        return Facts("duckdb", (1,))

    monkeypatch.setattr(outlook, "reach", asked)
    monkeypatch.setattr(outlook, "read_server", read_server)
    monkeypatch.setattr(
        outlook,
        "scheduler_sentences",
        lambda p, t, n: (scheduled.extend(each.name for each in t), real(p, t, n))[1],
    )
    shown = sentences(store, tmp_path, "a.duckdb", "b.duckdb")
    assert f"a.duckdb {words} now: why" in shown
    assert [each.rpartition("/")[2] for each in read] == ["b.duckdb"], read
    assert [each.rpartition("/")[2] for each in scheduled] == ["b.duckdb"]
    assert any("backup on b.duckdb: older backups" in each for each in shown)


@pytest.mark.parametrize("kind", [ToolkitError, DatabaseError])
def test_what_cannot_be_read_is_no_reason_for_silence(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[ToolkitError] | type[DatabaseError]
) -> None:
    def refused(target: Target, dialect: object, **more: object) -> NoReturn:
        del target, dialect
        raise kind("permission denied for view `v`", code="TK-0205")

    monkeypatch.setattr(outlook, "read_server", refused)
    shown = sentences(store, tmp_path, "a.duckdb")
    unknown = "a.duckdb: which older backups would be removed is unknown: permission denied for view `v`"
    assert unknown in shown


def test_a_target_that_says_nothing_any_more_is_not_waited_for(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = threading.Event()

    def hangs(target: Target, dialect: object, **more: object) -> Facts:
        del target, dialect
        assert end.wait(300)
        return Facts("duckdb", (1,))

    monkeypatch.setattr(outlook, "read_server", hangs)
    monkeypatch.setattr(outlook, "reach", lambda target, seconds: Reached(Reach.ANSWERS))
    monkeypatch.setattr(outlook, "_ANSWER_SECONDS", 0.05)
    try:
        shown = sentences(store, tmp_path, "a.duckdb")
    finally:
        end.set()
    assert any("which older backups would be removed is unknown: no response within" in each for each in shown), (
        shown
    )


@pytest.mark.parametrize(
    ("windows", "said"),
    [
        ('["00:00-24:00 UTC"]', "open now, and all week"),
        ('["22:00-06:00 UTC", "06:00-22:00 UTC"]', "open now, and all week"),
        (
            '[{time = "00:00-24:00", zone = "UTC", days = ["fri", "sat", "sun", "mon", "tue"]}]',
            "open now, at least until Tue 2026-01-13 00:00 (UTC)",
        ),
        ('["00:00-06:00 UTC"]', "open now, closes Fri 2026-01-09 06:00 (UTC)"),
        ('[{time = "00:00-24:00", zone = "UTC", days = ["fri", "sat"]}]', "open now, closes Sun 2026-01-11 00:00"),
        ('["22:00-06:00 UTC"]', "open now, closes Fri 2026-01-09 06:00 (UTC)"),
        ('["05:00-06:00 UTC"]', "opens Fri 2026-01-09 05:00, closes Fri 2026-01-09 06:00 (UTC)"),
    ],
)
def test_a_window_that_does_not_close_names_no_day_of_closing(
    store: Store, tmp_path: Path, windows: str, said: str
) -> None:
    text = f'[plan]\nname = "n"\ntarget = "duckdb:///x.duckdb"\nwindow = {windows}\n' + STEPS.format(folder=".")
    plan = read_plan(parse_document(text, "n.toml"), tmp_path)
    at = datetime(2026, 1, 9, 3, 0, tzinfo=UTC)
    _, told, *_ = outlook.outlook_of(plan, (), store, at).sentences
    assert told.startswith(said)


def test_a_step_that_would_not_fit_may_still_be_skipped_by_its_condition(store: Store, tmp_path: Path) -> None:
    duckdb.connect(str(tmp_path / "a.duckdb")).close()
    text = f"""
        [plan]
        name = "n"
        target = "duckdb:///{tmp_path}/a.duckdb"
        window = "00:00-23:59 UTC"
        [[step]]
        name = "always"
        operation = "ctas"
        source = "t"
        table = "t2"
        [[step]]
        name = "grown"
        operation = "ctas"
        source = "t"
        table = "t2"
        only_if = {{sql = "SELECT 1", at_least = 1}}
        """
    plan = read_plan(parse_document(text, "n.toml"), tmp_path)
    began = datetime(2026, 11, 1, tzinfo=UTC)
    steps = [
        StepRecord(at, "n", name, StepState.DONE, tries=1, began_at=began, ended_at=began + timedelta(days=2))
        for at, name in enumerate(("always", "grown"))
    ]
    targets = plan_targets_of(plan, store, Approvals())
    known = tuple(replace(each, target=targets[0].name) for each in steps)
    done = PlanRunRecord(
        "r1", "n", "h", RunState.DONE, began, "host", text, began + timedelta(days=4), steps=known
    )
    store.begin_plan_run(done)
    always, grown = outlook.outlook_of(plan, targets, store, began + timedelta(days=9, hours=1)).rows
    assert "takes up to" in always.verdict and "condition" not in always.verdict
    assert grown.verdict.endswith("; its condition, asked only when it would begin, may skip it")


@for_each(
    ("condition", "says"),
    [
        (Condition(ConditionKind.SQL, "SELECT 1", at_least=1, at_most=5), "its query returns between 1 and 5"),
        (Condition(ConditionKind.STALE, at_least=3), "tables with stale statistics are at least 3"),
        (Condition(ConditionKind.INDEX_BYTES, at_least=2**30), "its indexes have at least 1.00 GiB"),
        (Condition(ConditionKind.GROWTH, at_least=0.2), "its indexes have grown by at least 20 %"),
        (
            Condition(ConditionKind.TRANSACTION_AGE, at_least=150_000_000),
            "the age of its oldest rows in transactions is at least 150,000,000",
        ),
        (Condition(ConditionKind.SQL, "SELECT 1", at_most=0), "its query returns at most 0"),
        (Condition(ConditionKind.AGE, at_least=86_400), ""),
    ],
)
def test_what_a_step_will_be_asked_for_is_said(condition: Condition, says: str) -> None:
    assert what_must_hold(PlanStep("load", "insert", only_if=(condition,))) == says
