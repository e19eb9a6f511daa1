"""How a trial ended is told from errors, rows and the degree that was granted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runner.context import Mode, context_of
from tests.runner.world import RUN, World, refused
from tests.store.make import head
from toolkit.errors import ToolkitError
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import TimedItem
from toolkit.model.values import Cell, Row
from toolkit.model.words import Outcome
from toolkit.runner.context import BackgroundLoad, RunContext
from toolkit.runner.item_result import ItemResult, TimedResult
from toolkit.runner.judging import JudgedTrial, _most_at_once, judge_trial
from toolkit.store import Store, open_store


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        opened.create_run(head(RUN))
        yield opened


def item(label: str = "it", error: DatabaseError | None = None, rows: int | None = None) -> ItemResult:
    return ItemResult(TimedItem(label, ()), 0, 0.0, 1.0, rows, error=error)


def timed(*items: ItemResult, not_begun: int = 0, timed_out: bool = False) -> TimedResult:
    return TimedResult(1.0, items or (item(),), tuple(TimedItem("left", ()) for _ in range(not_begun)), timed_out)


def servers(degree: int) -> tuple[Row, ...]:
    return (
        {"kind": "pq", "name": "Servers", "value": degree, "total": degree},
        {"kind": "pq", "name": "DOP", "value": degree, "total": degree},
        {"kind": "pq", "name": "DDL Parallelized", "value": 1, "total": 1},
    )


def judge(
    context: RunContext, clock: TimedResult | None, asked: int = 8, peaks: Mapping[str, float] | None = None,
    **kept: tuple[Row, ...],
) -> JudgedTrial:  # fmt: skip
    pieces = context.operation.pieces(context.planner(1), Cell((("degree", asked),)))
    error = clock.error if clock else refused()
    return judge_trial(context, clock, error, pieces, kept, peaks or {}, ())


def test_the_degree_asked_for_and_rows_make_a_good_trial(kept: Store) -> None:
    context = context_of(World(), kept)
    judged = judge(context, timed(), degree=servers(8), rows=({"row_count": 5},), bytes=({"byte_count": 10},))
    assert (judged.outcome, judged.rows, judged.bytes, judged.has_time) == (Outcome.OK, 5, 10, True)
    assert judged.granted is not None
    assert (judged.requested, judged.granted.degree) == (8, 8)


def judge_degree(context: RunContext, granted: int) -> JudgedTrial:
    pieces = context.operation.pieces(context.planner(1), Cell((("degree", 8),)))
    return judge_trial(context, timed(), None, pieces, {"degree": servers(granted)}, {}, ())


@pytest.mark.parametrize(("granted", "outcome"), [(7, Outcome.DOWNGRADED), (8, Outcome.OK), (9, Outcome.OK)])
def test_fewer_servers_than_asked_for_are_a_downgrade_with_a_time(
    kept: Store, granted: int, outcome: Outcome
) -> None:
    judged = judge_degree(context_of(World(), kept), granted)
    assert (judged.outcome, judged.has_time) == (outcome, True)
    assert (judged.reason is None) == (outcome is Outcome.OK)


def test_the_few_objects_that_a_resumed_job_had_left_tell_no_downgrade(kept: Store) -> None:
    context = context_of(World(), kept)
    pieces = context.operation.pieces(context.planner(1), Cell((("degree", 8),)))
    judged = judge_trial(context, timed(), None, (*pieces, *pieces), {"degree": servers(1)}, {}, ())
    assert judged.outcome is Outcome.OK
    assert judged.granted is not None
    assert judged.granted.degree == 1


def test_a_degree_that_is_not_known_is_no_downgrade(kept: Store) -> None:
    context = context_of(World(), kept)
    pieces = context.operation.pieces(context.planner(1), Cell((("degree", 8),)))
    judged = judge_trial(context, timed(), None, pieces, {}, {}, ())
    assert judged.outcome is Outcome.OK
    assert judged.granted is not None
    assert judged.granted.degree is None


def test_a_refused_degree_is_a_downgrade_without_a_time(kept: Store) -> None:
    judged = judge(context_of(World(), kept), timed(item(error=DatabaseError("x", code="ORA-12827"))))
    assert (judged.outcome, judged.error_code, judged.has_time) == (Outcome.DOWNGRADED, "ORA-12827", False)


def test_an_error_fails_with_the_first_line_and_the_databases_code(kept: Store) -> None:
    judged = judge(
        context_of(World(), kept), timed(item(error=DatabaseError("ORA-1: no\nmore", code="ORA-00001")))
    )
    assert (judged.outcome, judged.reason, judged.error_code) == (Outcome.FAILED, "ORA-1: no", "ORA-00001")


def test_an_error_without_a_message_is_told_by_its_code(kept: Store) -> None:
    judged = judge(context_of(World(), kept), timed(item(error=DatabaseError("", code="ORA-00600"))))
    assert judged.reason == "ORA-00600"


def test_of_several_objects_the_failed_are_counted(kept: Store) -> None:
    clock = timed(item("a"), item("b", refused()), item("c", refused()), not_begun=1)
    judged = judge(context_of(World(), kept), clock)
    assert judged.reason == "2 of 4 objects failed, the first: ORA-01031: insufficient privileges"


def test_a_stop_is_no_failure_and_a_time_limit_is_one(kept: Store) -> None:
    context = context_of(World(), kept, time_limit_seconds=5.0)
    late = judge(context, timed(item(error=DatabaseError("x", code="ORA-01013", cancelled=True)), timed_out=True))
    assert (late.outcome, late.error_code) == (Outcome.FAILED, "TK-0207")
    context.stop.request()
    assert judge(context, timed(not_begun=1)).outcome is Outcome.INTERRUPTED


@pytest.mark.parametrize(
    ("stopped", "timed_out", "reason"),
    [
        (False, False, "no answer"),
        (True, False, "the window closed"),
        (False, True, "the time limit of 5 s passed"),
    ],
)
def test_a_load_whose_session_was_lost_is_in_doubt_whatever_ended_it(
    kept: Store, stopped: bool, timed_out: bool, reason: str
) -> None:
    context = context_of(
        World(), kept, operation="insert", mode=Mode.JOB, time_limit_seconds=5.0,
        options={"source": "app.big", "table": "app.target"},
    )  # fmt: skip
    if stopped:
        context.stop.request(ToolkitError("the window closed", code="TK-0310"))
    lost = item(error=DatabaseError("no answer", code="TK-0202", lost=True))
    judged = judge(context, timed(lost, timed_out=timed_out))
    assert (judged.outcome, judged.error_code) == (Outcome.INTERRUPTED, "TK-0209")
    assert judged.reason == f"{reason}; it is unknown whether its rows were committed"


def test_a_stop_that_came_when_all_was_done_leaves_the_trial_good(kept: Store) -> None:
    context = context_of(World(), kept)
    context.stop.request()
    assert judge(context, timed()).outcome is Outcome.OK


def test_no_session_left_to_work_is_a_failure(kept: Store) -> None:
    assert judge(context_of(World(), kept), timed(not_begun=1)).reason == "no sessions were left"


@pytest.mark.parametrize(
    ("source_has_rows", "outcome"), [(True, Outcome.FAILED), (False, Outcome.OK)], ids=["full", "empty"]
)
def test_no_rows_from_a_source_that_has_some_are_a_failure(
    kept: Store, source_has_rows: bool, outcome: Outcome
) -> None:
    context = context_of(World(), kept)
    context.source_has_rows = source_has_rows
    judged = judge(context, timed(), rows=({"row_count": 0},))
    assert judged.outcome is outcome
    assert judged.error_code == ("TK-0208" if source_has_rows else None)


@pytest.mark.parametrize(("mode", "outcome"), [(Mode.MEASUREMENT, Outcome.FAILED), (Mode.JOB, Outcome.OK)])
def test_a_query_without_rows_is_a_result_for_a_job_only(kept: Store, mode: Mode, outcome: Outcome) -> None:
    options = {"query": "SELECT 1 FROM dual WHERE 1 = 0", "table": "MADE"}
    context = context_of(World(), kept, mode=mode, options=options)
    assert judge(context, timed(), rows=({"row_count": 0},)).outcome is outcome


@pytest.fixture
def quiet_host() -> None:
    """What others do counts here."""


def test_a_host_that_is_always_busy_disturbs_no_trial_but_a_burst_does() -> None:
    others = BackgroundLoad()
    assert [others.disturbs(part) for part in (0.6, 0.6, 0.6)] == [False, False, False]
    assert others.disturbs(0.95)
    assert others.disturbs(None) is False
    assert others.sentence is not None


def test_a_quiet_host_has_nothing_to_say() -> None:
    others = BackgroundLoad()
    assert [others.disturbs(part) for part in (0.01, 0.02, 0.9)] == [False, False, True]
    assert others.sentence is None


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), min_size=1, max_size=12))
def test_sessions_at_once_are_as_many_as_spans_cover_a_moment(spans: list[tuple[int, int]]) -> None:
    items = tuple(ItemResult(TimedItem("it", ()), 0, float(begun), float(took)) for begun, took in spans)
    covering = [sum(1 for a, took in spans if a <= begun < a + took) for begun, _ in spans]
    assert _most_at_once(TimedResult(1.0, items)) == max(covering)
