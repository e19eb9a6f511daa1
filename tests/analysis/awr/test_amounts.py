"""The amounts that sentences tell are those a reader works out from the two reports himself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analysis.awr.made import HOUR, interval, origin
from toolkit.analysis.awr.diff import IntervalDiff, compare_intervals
from toolkit.analysis.awr.from_report import interval_of
from toolkit.analysis.awr.load import load_factor
from toolkit.analysis.awr.sentences import cause_sentence
from toolkit.model.interval import Listing, Statement, Wait
from toolkit.readers.awr.averages import with_averages
from toolkit.report.interval.view import diff_text

TENTH = {"transactions": 1.0, "user_calls": 5.0, "executes": 10.0}
HALF = {"transactions": 5.0, "user_calls": 25.0, "executes": 50.0}
DOUBLE = {"transactions": 20.0, "user_calls": 100.0, "executes": 200.0}
MORE = {"transactions": 15.0, "user_calls": 70.0, "executes": 130.0}
FEWER = {"transactions": 7.0, "user_calls": 36.0, "executes": 75.0}
TENFOLD = {"transactions": 100.0, "user_calls": 500.0, "executes": 1000.0}


def told(diff: IntervalDiff) -> list[str]:
    return [cause_sentence(one, diff) for one in diff.causes]


def test_what_fell_by_more_than_the_load_is_told_at_the_load_afterwards() -> None:
    """Two sessions on CPU and half of the load are one session; there is half a session."""
    diff = compare_intervals(interval(cpu=2 * HOUR), interval(day=1, cpu=0.5 * HOUR, load=HALF))
    assert {one.kind: pytest.approx(one.impact) for one in diff.causes} == {"load": -1.0, "cpu": -0.5}
    assert any("0.500 fewer active sessions than the load explains" in one for one in told(diff))


def test_what_others_work_against_is_more_than_the_whole_change() -> None:
    """Waits grew by two sessions, CPU fell by one: of a change of one session the waits are twice as much."""
    waits = {"library cache lock": (0.0, 1.0)}
    more = {"library cache lock": (2 * HOUR, 1e5)}
    diff = compare_intervals(interval(cpu=2 * HOUR, waits=waits), interval(day=1, cpu=HOUR, waits=more))
    sentences = [cause_sentence(one, diff) for one in diff.causes]
    assert sentences[0].endswith("2.00 more active sessions, more than the whole change (200 % of it)")
    assert sentences[1].endswith("1.00 fewer active sessions, in the opposite direction")
    assert "more than the whole" not in sentences[1]


def test_what_rose_by_less_than_the_load_accounts_for_the_whole_of_what_it_spared() -> None:
    """Five sessions and twice the load would be ten; there are six."""
    diff = compare_intervals(interval(cpu=5 * HOUR), interval(day=1, cpu=6 * HOUR, load=DOUBLE))
    first = diff.causes[0]
    assert (first.kind, first.impact) == ("cpu", pytest.approx(-4.0))
    assert diff.whole == pytest.approx(-4.0)
    assert "100 % of the change" in cause_sentence(first, diff)


@pytest.mark.parametrize(
    ("cpu", "load", "whole", "first"),
    [
        pytest.param((5, 6), MORE, 1.0, "load", id="grew"),
        pytest.param((5, 4), FEWER, -1.0, "load", id="fell"),
        pytest.param((5, 6), DOUBLE, -4.0, "cpu", id="much cheaper"),
        pytest.param((5, 4), HALF, 1.5, "cpu", id="much dearer"),
        pytest.param((5, 6), HALF, 3.5, "cpu", id="dearer and more"),
        pytest.param((5, 12), DOUBLE, 7.0, "load", id="both grew"),
    ],
)
def test_of_a_load_and_its_cost_that_moved_apart_the_larger_change_is_accounted_for(
    cpu: tuple[float, float], load: dict[str, float], whole: float, first: str
) -> None:
    """A fifth more DB time for three tenths more work: who asks why is told of the work, not of what it spared."""
    before, after = (one * HOUR for one in cpu)
    diff = compare_intervals(interval(cpu=before), interval(day=1, cpu=after, load=load))
    assert (diff.whole, diff.causes[0].kind) == (pytest.approx(whole), first)


def test_the_change_that_the_shares_are_of_stands_above_the_causes() -> None:
    more, less = ({"transactions": by * 10, "user_calls": by * 50, "executes": by * 100} for by in (1.3, 0.5))
    for load, cpu, stands in (
        (more, 6 * HOUR, "CAUSES of 1.00 more active sessions\n"),
        (less, 6 * HOUR, "CAUSES of 3.50 more active sessions than the load explains\n"),
        (less, 2.5 * HOUR, "CAUSES of 2.50 fewer active sessions\n"),
    ):
        diff = compare_intervals(interval(cpu=5 * HOUR), interval(day=1, cpu=cpu, load=load))
        assert stands in diff_text(diff)


READS = "db file sequential read"


def test_of_other_work_the_change_itself_is_told_and_not_what_the_load_would_have_made_of_it() -> None:
    """Ten times the load takes as much CPU again, and reads that it did not have: no CPU was spared."""
    before = interval(cpu=HOUR)
    after = interval(day=1, cpu=2 * HOUR, waits={READS: (3 * HOUR, 1e6)}, load=TENFOLD)
    diff = compare_intervals(before, after)
    assert {one.key: pytest.approx(one.impact, abs=1e-3) for one in diff.causes} == {READS: 3.0, "DB CPU": 1.0}
    assert diff.causes[0].key == READS
    assert (diff.whole, diff.factor) == (pytest.approx(4.0), pytest.approx(10.0))
    assert not any("load" in one or "opposite" in one for one in told(diff))
    back = compare_intervals(after, replace(before, origin=origin(day=2)))
    assert {one.key: pytest.approx(one.impact, abs=1e-3) for one in back.causes} == {READS: -3.0, "DB CPU": -1.0}
    assert back.causes[0].key == READS


def test_a_load_that_all_parts_of_db_time_went_with_explains_it_however_large_it_is() -> None:
    once, tenfold = ({READS: (seconds, waits)} for seconds, waits in ((HOUR, 1e6), (10.5 * HOUR, 1e7)))
    before = interval(cpu=HOUR, waits=once)
    after = interval(day=1, cpu=10 * HOUR, waits=tenfold, load=TENFOLD)
    diff = compare_intervals(before, after)
    assert (diff.causes[0].kind, diff.causes[0].impact) == ("load", pytest.approx(18.0))
    back = compare_intervals(after, replace(before, origin=origin(day=2)))
    assert (back.causes[0].kind, back.causes[0].impact) == ("load", pytest.approx(-0.9 * 20.5))


def test_a_statement_of_other_work_takes_waits_for_its_own_only_where_it_is_most_of_the_change() -> None:
    waits = {READS: (3 * HOUR, 1e6)}
    small, large = (Statement("s", 100, hours * HOUR, None, 1e7) for hours in (1, 2.9))
    few = compare_intervals(interval(), interval(day=1, waits=waits, statements=(small,), load=TENFOLD))
    assert [one.key for one in few.causes[:2]] == [READS, "s"]
    most = compare_intervals(interval(), interval(day=1, waits=waits, statements=(large,), load=TENFOLD))
    assert most.causes[0].key == "s"


def test_waits_that_there_were_hardly_any_of_are_told_by_their_number() -> None:
    """A thousand times the reads, each three times as long, are not a slow storage."""
    few, many = ({READS: (seconds, waits)} for seconds, waits in ((1.0, 1000), (3000.0, 1e6)))
    diff = compare_intervals(interval(waits=few, floor=0.1), interval(day=1, waits=many, load=TENFOLD))
    said = told(diff)[0]
    assert said.startswith(f"more time in `{READS}`: average wait 1.00 ms -> 3.00 ms")
    assert "storage" not in said


@pytest.mark.parametrize("load", [TENTH, TENFOLD, {"transactions": 11.0, "user_calls": 56.0, "executes": 112.0}])
def test_the_load_has_changed_by_as_much_whichever_side_it_is_seen_from(load: dict[str, float]) -> None:
    before, after = interval(), interval(day=1, load=load)
    assert load_factor(before, after) * load_factor(after, before) == pytest.approx(1.0)


def test_a_statement_that_waits_and_so_is_executed_less_often_is_no_cause() -> None:
    """Three sessions run one statement in a loop: after, a lock lets it through a fiftieth as often."""
    quick, held = (Statement("a", number, 3 * HOUR, None, 4.0 * number) for number in (3.6e6, 7.2e4))
    loop = {"transactions": 1000.0, "user_calls": 1000.0, "executes": 1000.0}
    diff = compare_intervals(
        interval(cpu=3 * HOUR, statements=(quick,), load=loop),
        interval(
            day=1, cpu=0.06 * HOUR, statements=(held,), load=dict.fromkeys(loop, 20.0),
            waits={"Lock:relation": (2.9 * HOUR, 100)},
        ),
    )  # fmt: skip
    assert (diff.causes[0].key, diff.causes[0].impact > 0) == ("Lock:relation", True)


def test_a_slower_statement_that_may_be_a_victim_is_told_with_all_that_it_took_longer() -> None:
    quick, slow = (Statement("v", 100, seconds, None, None) for seconds in (HOUR, 5 * HOUR))
    other = {"latch free": (3.5 * HOUR, 100)}
    diff = compare_intervals(
        interval(cpu=2 * HOUR, statements=(quick,)),
        interval(day=1, cpu=2 * HOUR, statements=(slow,), waits=other),
    )
    assert [one.key for one in diff.causes[:2]] == ["latch free", "v"]
    assert "up to 4.00 more active sessions" in cause_sentence(diff.causes[1], diff)


def test_a_statement_is_called_by_its_text_and_one_that_never_ended_is_told_as_such() -> None:
    running = Statement("r", 0, 2 * HOUR, None, 1e7, text='ALTER INDEX "S"."I"\n  COALESCE ' + "x" * 90)
    diff = compare_intervals(interval(), interval(day=1, cpu=3 * HOUR, statements=(running,)))
    said = told(diff)[0]
    assert 'statement `r` (ALTER INDEX "S"."I" COALESCE xxxx' in said
    assert "none of its executions ended in the interval after" in said
    assert len(said) < 400


def test_of_a_statement_without_a_count_of_executions_nothing_is_said_of_each() -> None:
    few, many = (Statement("u", None, seconds, None, None) for seconds in (HOUR, 4 * HOUR))
    diff = compare_intervals(interval(statements=(few,)), interval(day=1, cpu=4 * HOUR, statements=(many,)))
    said = next(one for one in told(diff) if "`u`" in one)
    assert "takes more time, its executions are not known: active sessions 1.00 -> 4.00" in said
    assert "per execution" not in said


def test_a_row_that_a_whole_list_lacks_is_zero_and_its_change_exact() -> None:
    before = replace(interval(), classes=Listing({"Scheduler": Wait("Scheduler", 50.0, 1)}, whole=True))
    after = replace(interval(day=1), classes=Listing({"Commit": Wait("Commit", 70.0, 1)}, whole=True))
    assert not any(one.seconds.bounded for one in compare_intervals(before, after).classes)


def event(name: str, waits: float, seconds: float) -> dict[str, object]:
    return {"event": name, "waits": waits, "time_s": seconds}


def test_where_a_report_lists_all_processes_together_the_servers_own_waits_are_taken_off() -> None:
    """As Statspack of 10g lists them: DB time holds no wait of a background process."""
    report = {
        "kind": "statspack", "elapsed_min": 60.0, "time_model": [{"name": "DB CPU", "time_s": 100.0}],
        "top_events": [event("job scheduler coordinator slave wait", 115, 1832.0)],
        "wait_events": [
            event("job scheduler coordinator sl", 115, 1832.0), event("library cache pin", 608, 1755.0),
            event("control file parallel write", 675, 1312.0), event("latch: library cache", 20217, 6020.0),
        ],
        "background_events": [
            event("job scheduler coordinator sl", 115, 1832.0), event("library cache pin", 490, 1427.0),
            event("control file parallel write", 676, 1312.0),
        ],
    }  # fmt: skip
    rows = interval_of(report).waits.rows
    assert rows.keys() == {"DB CPU", "library cache pin", "latch: library cache"}
    assert (rows["library cache pin"].seconds, rows["library cache pin"].waits) == (328.0, 118.0)
    assert rows["library cache pin"].latency_seconds == pytest.approx(328 / 118)


def test_a_list_of_sessions_alone_is_left_as_it_is() -> None:
    report = {
        "elapsed_min": 60.0, "foreground_events": [event("library cache pin", 608, 1755.0)],
        "background_events": [event("library cache pin", 490, 1427.0)],
    }  # fmt: skip
    assert interval_of(report).waits.rows["library cache pin"].seconds == 1755.0


def test_two_databases_of_one_name_are_told_apart_and_keep_the_order_given() -> None:
    late = interval(day=1)
    diff = compare_intervals(late, interval(who=origin(dbid=8)))
    assert not diff.swapped
    assert {"database", "order"} <= {one.kind for one in diff.doubts}


def test_idle_events_of_the_servers_are_left_out_and_taken_off_all_the_same() -> None:
    idle = "job scheduler coordinator slave wait"
    report = {
        "elapsed_min": 60.0, "top_events": [event(idle, 115, 1832.0)],
        "wait_events": [event("latch: library cache", 20217, 6020.0)],
        "background_events": [
            event(idle, 115, 1832.0), event("log file parallel write", 9, 60.0),
            {**event("ges remote message", 9, 99.0), "wait_class": "Idle"},
        ],
    }  # fmt: skip
    read = interval_of(report)
    assert read.waits.rows.keys() == {"latch: library cache"}
    assert read.background.rows.keys() == {"log file parallel write"}


@pytest.mark.parametrize(
    ("seconds", "waits", "printed", "latency", "time"),
    [
        pytest.param(1_234, 2_345_678, 1, 1_234 / 2_345_678, 1_234, id="11g prints whole milliseconds"),
        pytest.param(3, 57_102, 0.05, 0.05e-3, 57_102 * 0.05e-3, id="a short time is rougher than the average"),
        pytest.param(1_500, 57_000, 26.32, 26.32e-3, 57_000 * 26.32e-3, id="57K and 1.5K are rougher than both"),
        pytest.param(0, 40, 2, 2e-3, 0.08, id="a printed zero"),
        pytest.param(12, 40, 0, 0.3, 12, id="an average of zero"),
    ],
)
def test_an_average_wait_is_what_was_printed_most_exactly(
    seconds: float, waits: float, printed: float, latency: float, time: float
) -> None:
    row = {"event": "log file sync", "waits": waits, "time_s": seconds, "avg_wait_ms": printed}
    report = {"foreground_events": [row], "elapsed_min": 60, "kind": "awr"}
    found = interval_of(with_averages(report)).waits.rows["log file sync"]
    assert found.latency_seconds == pytest.approx(latency)
    assert found.seconds == pytest.approx(time)


def test_hard_parses_account_for_no_more_than_the_time_spent_in_them() -> None:
    """Sessions parse for half a session more and wait three times as much in the library cache."""
    times = {"hard parse elapsed time": 0.2 * HOUR}, {"hard parse elapsed time": 0.7 * HOUR}
    before, after = (
        replace(one, time_model={**one.time_model, **model})
        for one, model in zip(
            (
                interval(cpu=HOUR, load={"hard_parses": 5.0}),
                interval(
                    day=1, cpu=HOUR, load={"hard_parses": 50.0},
                    waits={"library cache lock": (HOUR, 1e5), "cursor: pin S wait on X": (0.5 * HOUR, 1e4)},
                ),
            ),
            times, strict=True,
        )
    )  # fmt: skip
    found = {one.kind: pytest.approx(one.impact, rel=1e-3) for one in compare_intervals(before, after).causes}
    assert found == {"event": 1.0, "parsing": 0.5}


def test_waits_that_rose_by_less_than_the_load_are_not_told_by_a_shorter_average() -> None:
    """Half as much load again, a fifth more reads, each of them 2 % shorter: the number is what was spared."""
    before = interval(cpu=HOUR, waits={READS: (4 * HOUR, 1e7)})
    after = interval(day=1, cpu=HOUR, waits={READS: (4 * 1.2 * 0.98 * HOUR, 1.2e7)}, load=MORE)
    (said,) = (one for one in told(compare_intervals(before, after)) if READS in one)
    assert said.startswith(f"time in `{READS}` rose by less than the load")
