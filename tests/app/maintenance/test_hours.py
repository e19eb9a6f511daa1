"""Windows of a database's own scheduler: warned of, kept out of, or worked in; on the Oracle stand-in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.engines.arena import Heard
from tests.for_each import for_each
from tests.oracle.standin import Scenario, Standin, running_standin
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import PlanTarget, plan_targets_of, run_plan
from toolkit.app.maintenance.beginning import PlanRun
from toolkit.app.maintenance.hours import Closed, Hours, hours_of, scheduler_sentences
from toolkit.design.plan_file import read_plan
from toolkit.design.window import read_windows
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.plan import MaintenancePlan, PlanRunRecord, SchedulerWindows
from toolkit.model.window import DatabaseWindow, TimeSpan
from toolkit.store import Store

WARN, AVOID, INSIDE = SchedulerWindows
EVENING = datetime(2026, 11, 23, 20, tzinfo=UTC)
SPAN = TimeSpan(EVENING, EVENING + timedelta(hours=8))
MONDAY = DatabaseWindow(
    "MONDAY_WINDOW",
    TimeSpan(EVENING + timedelta(hours=2), EVENING + timedelta(hours=6)),
    "DEFAULT_MAINTENANCE_PLAN",
    True,
)
STATS = '[[step]]\nname = "stats"\noperation = "stats-gather"\ntable = "GTEST"\n'
APPROVALS = Approvals(not_production=True)


def at(hours: float) -> datetime:
    return EVENING + timedelta(hours=hours)


def test_without_a_wish_nothing_is_closed_and_the_overlap_is_said() -> None:
    hours = Hours(SPAN, WARN, (MONDAY,))
    assert (hours.closed(at(3)), hours.end(at(3))) == (None, SPAN.end)
    assert hours.sentences(["stats-gather"], at(0)) == [
        "the database's window `MONDAY_WINDOW` is open from 2026-11-23 22:00 to 02:00 UTC; automatic tasks "
        "gather statistics in it, as this plan does; its resource plan `DEFAULT_MAINTENANCE_PLAN` may limit CPU "
        'and parallel degree; `scheduler_windows = "avoid"` avoids it'
    ]
    assert Hours(TimeSpan(at(6), at(8)), WARN, (MONDAY,)).sentences([], at(6)) == []


def test_a_plan_that_avoids_ends_when_the_window_opens_and_goes_on_when_it_closes() -> None:
    hours = Hours(SPAN, AVOID, (MONDAY,))
    assert (hours.closed(at(1)), hours.left_seconds(at(1))) == (None, 3600)
    assert hours.closed(at(3)) == Closed("the database's window `MONDAY_WINDOW` is open until 02:00 UTC", at(6))
    assert (hours.closed(at(6)), hours.end(at(6))) == (None, SPAN.end)
    closing_before = Hours(TimeSpan(at(0), at(5)), AVOID, (MONDAY,)).closed(at(3))
    assert closing_before is not None and closing_before.until is None
    assert Hours(None, AVOID, (MONDAY,)).end(at(7)) is None


def test_a_plan_that_works_inside_waits_for_the_window_and_ends_with_it() -> None:
    hours = Hours(SPAN, INSIDE, (MONDAY,))
    assert hours.closed(at(0)) == Closed(
        "no database window is open: `MONDAY_WINDOW` opens at 2026-11-23 22:00 UTC", at(2)
    )
    assert (hours.closed(at(3)), hours.end(at(3))) == (None, at(6))
    late = hours.closed(at(7))
    assert late == Closed("no database window is open or known to open")


def test_windows_that_are_not_known_keep_a_plan_that_must_know_them_from_beginning() -> None:
    for wish in (AVOID, INSIDE):
        closed = Hours(SPAN, wish, unknown="they are hidden").closed(at(1))
        assert closed == Closed(f"`scheduler_windows` is `{wish}`, but they are hidden")
    assert Hours(SPAN, WARN, unknown="they are hidden").closed(at(1)) is None
    assert Hours(SPAN, WARN, unknown="they are hidden").sentences([], at(1)) == ["they are hidden"]


# -- on the stand-in --------------------------------------------------------------------------------------------
def windows(open_now: bool, *, lasts: timedelta = timedelta(hours=4)) -> Mapping[str, list[dict[str, object]]]:
    now = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
    last = now - timedelta(hours=1) if open_now else now - timedelta(days=6)
    row = {
        "OWNER": "SYS", "WINDOW_NAME": "SUNDAY_WINDOW", "RESOURCE_PLAN": "DEFAULT_MAINTENANCE_PLAN",
        "ENABLED": "TRUE", "ACTIVE": "TRUE" if open_now else "FALSE", "LAST_START_DATE": last,
        "NEXT_START_DATE": last + timedelta(days=7), "DURATION": lasts,
    }  # fmt: skip
    client = {"WINDOW_NAME": "SUNDAY_WINDOW", "AUTOTASK_STATUS": "ENABLED", "OPTIMIZER_STATS": "ENABLED"}
    return {"ALL_SCHEDULER_WINDOWS": [row], "DBA_AUTOTASK_WINDOW_CLIENTS": [client]}


@contextmanager
def planned(
    scenario: Scenario, store: Store, monkeypatch: pytest.MonkeyPatch, wish: str
) -> Iterator[tuple[Standin, MaintenancePlan, tuple[PlanTarget, ...]]]:
    with running_standin(scenario) as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        text = f'[plan]\nname = "n"\ntarget = "{standin.url}"\nscheduler_windows = "{wish}"\n{STATS}'
        plan = read_plan(parse_document(text, "n.toml"), Path())
        yield standin, plan, plan_targets_of(plan, store, APPROVALS)


def run(plan: MaintenancePlan, places: tuple[PlanTarget, ...], store: Store) -> PlanRunRecord:
    return run_plan(plan, places, store=store, approvals=APPROVALS, events=Heard())


@pytest.mark.full
def test_an_open_window_is_read_with_its_tasks_and_its_end(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with planned(Scenario(views=windows(open_now=True)), store, monkeypatch, "warn") as (_, plan, places):
        now = datetime.now(UTC)
        opened = [each for each in hours_of(places[0], WARN, None).windows if each.span.holds(now)]
        assert [(each.name, each.gathers, each.span.seconds) for each in opened] == [
            ("SUNDAY_WINDOW", True, 14400)
        ]
        (said,) = scheduler_sentences(plan, places, now)
        assert "automatic tasks gather statistics in it, as this plan does" in said
        assert run(plan, places, store).steps[0].state == "done"


def test_a_step_is_not_begun_in_a_window_that_the_plan_avoids(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = Scenario(views=windows(open_now=True))
    with planned(scenario, store, monkeypatch, "avoid") as (standin, plan, places):
        stopped = replace_window(plan, hours=2)
        (step,) = run(stopped, places, store).steps
        assert step.state == "stopped" and "the database's window `SUNDAY_WINDOW` is open until" in str(
            step.reason
        )
        assert not any("GATHER_TABLE_STATS" in text for text in standin.statements)


def test_a_step_waits_until_the_window_that_the_plan_avoids_has_closed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    closing = Scenario(views=windows(open_now=True, lasts=timedelta(hours=1, seconds=3)))
    with planned(closing, store, monkeypatch, "avoid") as (_, plan, places):
        closes = max(
            each.span.end
            for each in hours_of(places[0], AVOID, None).windows
            if each.span.begin < datetime.now(UTC)
        )
        (step,) = run(plan, places, store).steps
        assert step.state == "done" and step.began_at is not None and step.began_at >= closes


def replace_window(plan: MaintenancePlan, hours: float) -> MaintenancePlan:
    """Give a plan a window that is open now and closes before the database's does."""
    from dataclasses import replace

    from toolkit.design.window import read_windows

    opens, closes = datetime.now(UTC) - timedelta(hours=1), datetime.now(UTC) + timedelta(hours=hours)
    return replace(plan, windows=read_windows(f"{opens:%H:%M}-{closes:%H:%M} UTC"))


def test_a_plan_that_works_inside_is_done_while_the_window_is_open_and_not_else(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with planned(Scenario(views=windows(open_now=True)), store, monkeypatch, "inside") as (_, plan, places):
        assert run(plan, places, store).steps[0].state == "done"
    with planned(Scenario(views=windows(open_now=False)), store, monkeypatch, "inside") as (_, plan, places):
        (step,) = run(replace_window(plan, hours=2), places, store).steps
        assert step.state == "stopped" and "no database window is open: `SUNDAY_WINDOW` opens" in str(step.reason)


def test_views_that_are_not_granted_cost_a_sentence(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = Scenario(denied=frozenset({"DBA_AUTOTASK_WINDOW_CLIENTS"}), views=windows(open_now=True))
    with planned(hidden, store, monkeypatch, "warn") as (_, plan, places):
        (said,) = scheduler_sentences(plan, places, datetime.now(UTC))
        assert "it is unknown whether automatic tasks gather statistics in it" in said
    nothing = Scenario(denied=frozenset({"ALL_SCHEDULER_WINDOWS"}))
    with planned(nothing, store, monkeypatch, "avoid") as (_, plan, places):
        (step,) = run(plan, places, store).steps
        assert step.state == "stopped" and "the database windows are unknown: ORA-00942" in str(step.reason)


def test_an_unknown_wish_is_refused_with_its_line() -> None:
    text = f'[plan]\nname = "n"\ntarget = "a"\nscheduler_windows = "never"\n{STATS}'
    with pytest.raises(ToolkitError, match=r"n\.toml:4: `scheduler_windows` cannot be `never`"):
        read_plan(parse_document(text, "n.toml"), Path())


@for_each(
    ("now", "closed"),
    [
        (datetime(2027, 3, 9, 5, 59, tzinfo=UTC), None),
        (datetime(2027, 3, 9, 6, 0, tzinfo=UTC), datetime(2027, 3, 9, 6, 0, tzinfo=UTC)),
        (datetime(2027, 3, 8, 21, 59, tzinfo=UTC), None),
        (datetime(2027, 3, 6, 4, 23, tzinfo=UTC), None),
        (datetime(2027, 3, 6, 6, 1, tzinfo=UTC), datetime(2027, 3, 6, 6, 0, tzinfo=UTC)),
        (datetime(2027, 3, 8, 12, 0, tzinfo=UTC), datetime(2027, 3, 8, 6, 0, tzinfo=UTC)),
    ],
    ids=["open", "over", "put right", "another night", "its morning", "by day"],
)
def test_a_clock_that_is_set_back_by_days_does_not_leave_the_window_open_for_days(
    now: datetime, closed: datetime | None
) -> None:
    windows = read_windows("22:00-06:00 UTC")
    plan: Any = SimpleNamespace(windows=windows)
    span = windows.now(datetime(2027, 3, 8, 22, 0, tzinfo=UTC))
    nothing: Any = None
    run = PlanRun(plan, "x", nothing, nothing, nothing, nothing, span, lambda: now)
    assert run.closed_at() == closed
    assert PlanRun(plan, "x", nothing, nothing, nothing, nothing, None, lambda: now).closed_at() is None
