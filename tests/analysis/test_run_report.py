"""The account of a run: what it says first, how times stand to history, and where a level changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from toolkit.analysis.run_report import StepStory, run_report_of, trend_of
from toolkit.model.plan import PlanRunRecord, StepRecord, StepState
from toolkit.model.words import RunState

BEGAN = datetime(2026, 11, 21, 22, tzinfo=UTC)


def step(name: str, took: float | None = 60, days_ago: float = 0, **fields: object) -> StepRecord:
    began = BEGAN - timedelta(days=days_ago)
    ended = None if took is None else began + timedelta(seconds=took)
    whole = StepRecord(0, "dwh", name, StepState.DONE, run=f"run-{name}", began_at=began, ended_at=ended)
    return replace(whole, **fields)  # type: ignore[arg-type]


def run(*steps: StepRecord, stopped_by: str | None = None) -> PlanRunRecord:
    ended = BEGAN + timedelta(hours=1)
    return PlanRunRecord(
        "20261121-220000-aaaa", "nightly", "h", RunState.DONE, BEGAN, "db1", "", ended, stopped_by=stopped_by,
        steps=steps,
    )  # fmt: skip


def against(took: float, earlier: list[float]) -> str | None:
    history = {("dwh", "a"): [step("a", seconds, days) for days, seconds in enumerate(earlier, 1)]}
    return run_report_of(run(step("a", took)), history, {}).steps[0].against_history


def test_it_opens_with_what_went_wrong_and_with_nothing_else() -> None:
    failed = step("b", None, state=StepState.FAILED, reason="ORA-01652")
    told = run_report_of(run(step("a"), failed, stopped_by="step `b` failed"), {}, {})
    assert told.headline == "plan `nightly`: 1 ok, 1 failed"
    assert told.sentences == ("stopped: step `b` failed", "`b` on `dwh` failed: ORA-01652")
    well = run_report_of(run(step("a"), step("c", None, state=StepState.SKIPPED)), {}, {})
    assert well.sentences == ("all due steps were done",)


def test_a_time_is_held_against_the_runs_before_it_where_they_are_enough() -> None:
    usual = [60.0, 61, 59, 62, 58]
    assert against(100, usual) == "slower than each of 5 earlier runs"
    assert against(70, usual) == "as usual"
    assert "faster than each" in str(against(30, usual))
    few = "4 earlier runs took 59.0 s to 62.0 s: too few to say what is usual"
    assert against(100, usual[:4]) == few
    assert against(100, []) == "done for the first time"


def test_a_step_that_became_slower_is_named_at_the_top() -> None:
    history = {("dwh", "a"): [step("a", 60, days) for days in range(1, 7)]}
    told = run_report_of(run(step("a", 600)), history, {})
    assert len(told.sentences) == 1 and "slower than each of 6 earlier runs" in told.sentences[0]


def test_what_a_step_changed_and_its_licences_come_from_its_run() -> None:
    story = StepStory(("creates table `S.T`",), ("Partitioning: you declared it",), ("noise",))
    told = run_report_of(run(step("a")), {}, {"run-a": story})
    assert told.steps[0].story == story


def test_steps_lie_on_the_clock_in_a_lane_for_each_target() -> None:
    other = step("b", 30, target="erp")
    lanes = run_report_of(run(step("a"), other), {}, {}).lanes
    assert [(lane.name, lane.busy_seconds) for lane in lanes.lanes] == [("dwh", 60.0), ("erp", 30.0)]


def test_a_change_of_level_is_told_with_enough_runs_only() -> None:
    few = trend_of("a", "dwh", [step("a", 60, days) for days in range(5)])
    assert few.sentences == ("5 runs with a time: fewer than 10 are too few to find a change of level",)
    level = [step("a", 600 if days < 10 else 60 + days % 3, days) for days in range(20)]
    (said,) = trend_of("a", "dwh", level).sentences
    assert said == "slower since 2026-11-12: it takes 10 min 00 s, before 61.0 s"
    flat = trend_of("a", "dwh", [step("a", 60 + days % 3, days) for days in range(20)])
    assert flat.sentences == ("no change of level was found",)
    broken = trend_of("a", "dwh", [replace(one, state=StepState.FAILED) for one in level[:3]])
    assert "it failed in 3 of 3 runs" in broken.sentences


def test_a_step_that_became_slower_is_told_with_the_growth_of_what_it_works_on() -> None:
    def runs(small: float, large: float) -> list[StepRecord]:
        return [
            replace(step("a", 600 if days < 10 else 60 + days % 3, days), size_bytes=large if days < 10 else small)
            for days in range(20)
        ]

    (grown,) = trend_of("a", "dwh", runs(1e9, 1e10)).sentences
    assert grown.endswith("; its data grew from 954 MiB to 9.31 GiB")
    (same,) = trend_of("a", "dwh", runs(1e9, 1.1e9)).sentences
    assert same.endswith("; the size of its data has hardly changed")


def test_what_could_not_be_verified_stands_at_the_top() -> None:
    told = run_report_of(run(replace(step("a"), unverified="the source was not counted")), {}, {}).sentences
    assert told == (
        "all due steps were done", "1 step could not be fully verified: `a`",
    )  # fmt: skip


def test_a_level_that_changed_lately_is_told_of_the_step_with_its_day() -> None:
    def slow(days: int, since: int) -> float:
        return (66.0 if days <= since else 60.0) + (days % 3) / 2

    history = [step("a", slow(days, 3), days) for days in range(1, 30)]
    told = run_report_of(run(step("a", 66.5)), {("dwh", "a"): history}, {})
    assert told.sentences == ("`a` on `dwh` was slower since 2026-11-18: it takes 66.5 s, before 60.5 s",)
    old = [step("a", slow(days, 12), days) for days in range(1, 30)]
    assert run_report_of(run(step("a", 66.5)), {("dwh", "a"): old}, {}).steps[0].against_history == "as usual"


def test_a_growth_is_told_in_rows_where_no_bytes_are_known() -> None:
    level = [
        replace(step("a", 600 if days < 10 else 60 + days % 3, days), size_rows=5000 if days < 10 else 40000)
        for days in range(20)
    ]
    (shrunk,) = trend_of("a", "dwh", level).sentences
    assert shrunk.endswith("; its data shrank from 40,000 rows to 5,000 rows")
