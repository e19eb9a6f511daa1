"""Two intervals compared: what is known, what is only bounded, and what may not be compared at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from tests.analysis.awr.made import HOUR, interval, origin, segments
from tests.for_each import for_each
from toolkit.analysis.awr.diff import IntervalDiff, compare_intervals
from toolkit.analysis.awr.findings import headline, measures
from toolkit.analysis.awr.from_report import interval_of
from toolkit.analysis.awr.load import load_factor
from toolkit.analysis.awr.sentences import cause_sentence, evidence, worth_telling
from toolkit.errors import ToolkitError
from toolkit.model.interval import Interval, Listing, Statement, Wait


def sql(
    key: str, executions: float | None, elapsed: float, gets: float | None, plan: str | None = None
) -> Statement:
    return Statement(key, executions=executions, elapsed_s=elapsed, gets=gets, plan=plan, text=f"select {key}")


def kinds(diff: IntervalDiff) -> set[str]:
    return {one.kind for one in diff.doubts}


def test_an_event_that_one_list_lacks_is_bounded_by_its_last_row_and_not_zero() -> None:
    before = interval(waits={"a": (500, 10), "b": (40, 10)}, floor=40.0)
    after = interval(day=1, waits={"a": (500, 10), "c": (400, 10)}, floor=400.0)
    found = {one.key: one.seconds for one in compare_intervals(before, after).waits}
    assert found["c"].presence == "new"
    assert found["c"].before.rate is None
    assert found["c"].before.most_rate == pytest.approx(40 / HOUR)
    assert found["c"].delta == pytest.approx(360 / HOUR)
    # what had 40 s may have up to 400 s now: no fall is proved
    assert found["b"].presence == "gone"
    assert found["b"].delta == 0


def test_in_a_list_that_is_whole_what_is_not_there_is_zero() -> None:
    before = replace(interval(), waits=Listing({"a": Wait("a", 50.0, 1)}, whole=True))
    after = replace(interval(day=1), waits=Listing({"b": Wait("b", 70.0, 1)}, whole=True))
    found = {one.key: one.seconds.delta for one in compare_intervals(before, after).waits}
    assert found == {"a": pytest.approx(-50 / HOUR), "b": pytest.approx(70 / HOUR)}


def test_of_a_list_whose_end_is_not_known_nothing_is_made_up() -> None:
    before = replace(interval(), waits=Listing({"a": Wait("a", 50.0, 1)}))
    after = replace(interval(day=1), waits=Listing({"b": Wait("b", 70.0, 1)}))
    assert {one.key: one.seconds.delta for one in compare_intervals(before, after).waits} == {"a": None, "b": None}


def test_unequal_lengths_are_compared_per_second() -> None:
    after = interval(day=1, waits={"a": (1000, 20)}, cpu=2000, who=origin(day=1, elapsed_seconds=2 * HOUR))
    diff = compare_intervals(interval(waits={"a": (500, 10)}), after)
    assert diff.db_time.ratio == pytest.approx(1)
    assert "length" in kinds(diff)
    assert diff.causes == ()
    assert "about as fast" in headline(diff)


def test_the_wrong_order_is_swapped_and_said() -> None:
    early, late = interval(cpu=1000), interval(day=1, cpu=3000)
    diff = compare_intervals(late, early)
    assert diff.swapped
    assert diff.before is early
    assert "slower" in headline(diff)


@for_each(
    ("change", "words"),
    [
        ({"snapshot_source": "statspack"}, "count differently"),
        ({"scope": "rac_global"}, "whole cluster"),
        ({"database": "OTHER", "dbid": 8}, "different databases"),
        ({"elapsed_seconds": None}, "does not contain the length"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_sentence(change: dict[str, object], words: str) -> None:
    with pytest.raises(ToolkitError, match=words) as refused:
        compare_intervals(interval(), interval(day=1, who=origin(day=1, **change)))
    assert refused.value.code == "TK-0115"
    assert refused.value.hint


def test_the_same_interval_twice_is_refused() -> None:
    with pytest.raises(ToolkitError, match="same interval"):
        compare_intervals(interval(), interval(who=origin("copy")), force=True)


def test_two_databases_are_compared_where_that_is_meant() -> None:
    other = interval(day=1, who=origin(day=1, database="OTHER", dbid=8))
    assert "database" in kinds(compare_intervals(interval(), other, force=True))


@for_each(
    ("change", "kind"),
    [
        ({"host": "other"}, "host"),
        ({"cpus": 4.0}, "cpus"),
        ({"version": "23.0.0.0.0"}, "version"),
        ({"container": "PDB1"}, None),
        ({"startup": datetime(2025, 3, 4)}, "restart"),
        ({"startup": datetime(2025, 1, 1, 0, 29)}, "startup"),
        ({"begin": datetime(2025, 3, 8, 10)}, "weekday"),
        ({"begin_sessions": 40.0, "end_sessions": 400.0}, "sessions"),
    ],
)
def test_what_else_differs_is_said(change: dict[str, object], kind: str | None) -> None:
    found = kinds(compare_intervals(interval(), interval(day=1, who=origin(day=1, **change))))
    assert found == ({kind} if kind else set())


def test_parameters_that_one_side_lists_alone_or_otherwise_are_told() -> None:
    before = interval(parameters={"sga_target": "4G", "cursor_sharing": "EXACT", "processes": "300"})
    after = interval(day=1, parameters={"sga_target": "2G", "cursor_sharing": "exact"})
    diff = compare_intervals(before, after)
    assert diff.parameters == {"sga_target": ("4G", "2G"), "processes": ("300", None)}
    assert "parameters" in kinds(diff)


def test_load_is_what_all_its_measures_agree_on() -> None:
    doubled = {"transactions": 20.0, "user_calls": 110.0, "executes": 210.0}
    assert load_factor(interval(), interval(load=doubled)) == pytest.approx(2.0)
    assert load_factor(interval(), interval(load={"executes": 300.0})) == 1.0


@pytest.mark.parametrize(
    ("after", "factor"),
    [
        pytest.param({"transactions": 16, "user_calls": 70, "executes": 79, "logical_reads": 1.38e4}, 1.38,
                     id="transactions, calls and reads rose: fewer executions did more each"),
        pytest.param({"transactions": 6, "user_calls": 35, "executes": 130, "logical_reads": 7e3}, 0.7,
                     id="the same the other way round"),
        pytest.param({"transactions": 16, "user_calls": 70, "executes": 79}, 1, id="the same blocks are read"),
        pytest.param({"transactions": 10, "user_calls": 70, "executes": 79, "logical_reads": 1.4e4}, 1,
                     id="smaller fetches"),
        pytest.param({"transactions": 16, "user_calls": 45, "executes": 79, "logical_reads": 1.4e4}, 1,
                     id="more commits, worse plans"),
    ],
)  # fmt: skip
def test_executions_that_moved_alone_do_not_hide_a_load(after: dict[str, float], factor: float) -> None:
    assert load_factor(interval(), interval(day=1, load=after)) == pytest.approx(factor)
    assert load_factor(interval(load=after), interval(day=1)) == pytest.approx(1 / factor)


def test_a_load_that_executions_do_not_show_is_told_with_the_reads_that_do() -> None:
    load = {"transactions": 16.0, "user_calls": 70.0, "executes": 79.0, "logical_reads": 1.38e4}
    diff = compare_intervals(interval(cpu=1000), interval(day=1, cpu=1380, load=load))
    (cause,) = diff.causes
    assert cause.kind == "load"
    said = cause_sentence(cause, diff)
    assert said.startswith("the database did more work: transactions per second 10.0 -> 16.0")
    assert (
        "logical reads per second 10,000 -> 13,800 (+38 %), though executions per second 100 -> 79.0 (-21 %)"
        in said
    )


def test_a_load_many_times_as_large_is_told_as_a_multiple_in_its_caveat_too() -> None:
    load = {"transactions": 1794.0, "user_calls": 52_311.0, "executes": 29_467.0}
    diff = compare_intervals(interval(), interval(day=1, load=load))
    (told,) = (one.sentence for one in diff.doubts if one.kind == "load")
    assert told.endswith("10.0 transactions per second before, 1,794 after (179 times)")


def test_more_load_is_a_cause_of_its_own_and_hides_nothing() -> None:
    doubled = {"transactions": 20.0, "user_calls": 100.0, "executes": 200.0}
    before = interval(waits={"log file sync": (1000, 1e5)})
    diff = compare_intervals(before, interval(day=1, cpu=2000, waits={"log file sync": (2000, 2e5)}, load=doubled))
    assert [one.kind for one in diff.causes] == ["load"]
    assert diff.per_transaction is not None
    assert diff.per_transaction.ratio == pytest.approx(1.0)
    assert "about as fast" in headline(diff)


def test_a_victim_is_no_cause() -> None:
    """The statement takes longer for the same gets because its commits wait."""
    before = interval(waits={"log file sync": (500, 1e5)}, statements=(sql("a", 1e5, 700, 1e6),))
    after = interval(day=1, waits={"log file sync": (5000, 1e5)}, statements=(sql("a", 1e5, 5200, 1e6),))
    first, *others = compare_intervals(before, after).causes
    assert (first.kind, first.key, first.part) == ("event", "log file sync", "latency")
    assert not [one for one in others if one.kind == "statement"]


def test_a_statement_that_does_more_comes_before_the_waits_it_makes() -> None:
    before = interval(waits={"db file sequential read": (500, 1e5)}, statements=(sql("a", 1e4, 600, 1e6, "11"),))
    after = interval(
        day=1, waits={"db file sequential read": (5000, 1e6)}, statements=(sql("a", 1e4, 5100, 2e7, "22"),)
    )
    diff = compare_intervals(before, after)
    assert (diff.causes[0].kind, diff.causes[0].key) == ("statement", "a")
    assert "plan 11 -> 22" in cause_sentence(diff.causes[0], diff)
    assert diff.statements[0].plan_changed


def test_a_new_statement_is_told_as_new_to_the_list_only() -> None:
    diff = compare_intervals(interval(), interval(day=1, cpu=5000, statements=(sql("n", 4e4, 4000, 9e6),)))
    assert diff.causes[0].part == "new"
    assert "before below" in cause_sentence(diff.causes[0], diff)
    assert diff.statements[0].elapsed.bounded


def test_a_statement_that_may_not_have_been_captured_is_not_told_to_be_below_the_list() -> None:
    lost = interval(day=1, cpu=5000)
    lost = replace(lost, statements=replace(lost.statements, captured=0.6))
    diff = compare_intervals(interval(cpu=5000, statements=(sql("n", 4e4, 1500, 9e6),)), lost)
    (gone,) = [one for one in diff.causes if one.part == "new"]
    assert "unless the report after did not capture it (captured: 60 % of DB time)" in cause_sentence(gone, diff)
    assert "up to" in cause_sentence(gone, diff)
    assert evidence(gone)[-1].endswith("or one that the report does not list")


def test_a_statement_larger_than_all_that_was_not_captured_is_new() -> None:
    before = interval()
    before = replace(before, statements=replace(before.statements, captured=0.5))
    diff = compare_intervals(before, interval(day=1, cpu=5000, statements=(sql("n", 4e4, 4000, 9e6),)))
    assert diff.causes[0].certainty == 1
    assert "unless the report before did not capture it" in cause_sentence(diff.causes[0], diff)


def test_a_block_of_plsql_does_not_stand_before_the_statement_it_calls() -> None:
    external = Statement("outer", 10, 5000.0, None, 2e7, text="BEGIN shop.run; END;")
    quick = Statement("outer", 10, 500.0, None, 1e6, text="BEGIN shop.run; END;")
    before = interval(statements=(quick, sql("inner", 1e4, 480, 1e6)))
    after = interval(day=1, cpu=5500, statements=(external, sql("inner", 1e4, 4900, 2e7)))
    assert compare_intervals(before, after).causes[0].key == "inner"


def test_segments_statistics_and_memory_stand_side_by_side() -> None:
    before = interval(segments=segments(ORDERS=100, ITEMS=50), memory={"Buffer Cache": (2e9, 2e9)})
    after = interval(day=1, segments=segments(ORDERS=900, CARTS=200), memory={"Buffer Cache": (1e9, 1e9)})
    diff = compare_intervals(before, after)
    assert [(one.key, one.presence) for one in diff.segments["Logical Reads"]] == [
        ("SHOP.ORDERS", "both"), ("SHOP.CARTS", "new"), ("SHOP.ITEMS", "gone"),
    ]  # fmt: skip
    assert diff.memory[0].ratio == pytest.approx(0.5)


def test_a_cluster_is_compared_by_instance_and_whole() -> None:
    def cluster(day: int, first: float, name: str = "acme2") -> Interval:
        parts = tuple(
            interval(day=day, cpu=cpu, who=origin(day=day, instance=instance))
            for instance, cpu in (("acme1", first), (name, 500.0))
        )
        who = origin(day=day, scope="rac_global", instance=None)
        return interval(day=day, cpu=first + 500, who=who, instances=parts)

    diff = compare_intervals(cluster(0, 500), cluster(1, 5000))
    assert [one.db_time.ratio for one in diff.instances] == [pytest.approx(10), pytest.approx(1)]
    moved = compare_intervals(cluster(0, 500), cluster(1, 500, "acme3"))
    assert moved.unmatched_instances == ("acme2", "acme3")


def test_nothing_is_divided_by_few_transactions() -> None:
    few = {"transactions": 0.001}
    diff = compare_intervals(interval(load=few), interval(day=1, cpu=2000, load=few))
    assert diff.per_transaction is None
    assert "one execution takes" in headline(diff)
    assert any("fewer than 10" in one for one in measures(diff))


def test_without_db_time_nothing_is_claimed() -> None:
    bare = replace(interval(), time_model={}, load={})
    diff = compare_intervals(bare, replace(bare, origin=origin(day=1)))
    assert "inconclusive" in headline(diff)


def test_sessions_that_wait_as_many_as_they_worked_are_told_by_what_they_get_done() -> None:
    """Three sessions, always busy: after, they wait for a lock and do half."""
    before = interval(cpu=3 * HOUR, waits={"Lock:relation": (0.0, 1)})
    half = {"transactions": 5.0, "user_calls": 25.0, "executes": 50.0}
    after = interval(day=1, cpu=0.3 * HOUR, waits={"Lock:relation": (2.6 * HOUR, 1e4)}, load=half)
    diff = compare_intervals(before, after)
    assert "slower" in headline(diff)
    assert (diff.causes[0].key, diff.causes[0].impact > 0) == ("Lock:relation", True)


def test_one_statement_that_makes_for_all_executions_is_the_cause_and_not_the_load() -> None:
    before = interval(statements=(sql("a", 1e5, 900, 1e6),))
    many = {"transactions": 90.0, "user_calls": 450.0, "executes": 350.0}
    after = interval(day=1, cpu=9000, statements=(sql("a", 1e6, 8900, 1e7),), load=many)
    assert [(one.kind, one.part) for one in compare_intervals(before, after).causes][:1] == [
        ("statement", "executions")
    ]


def test_where_gets_are_not_told_more_cpu_time_proves_more_work() -> None:
    slow, quick = (replace(sql("a", 1e4, seconds, None), cpu_s=0.9 * seconds) for seconds in (9000.0, 900.0))
    diff = compare_intervals(interval(statements=(quick,)), interval(day=1, cpu=9100, statements=(slow,)))
    assert (diff.causes[0].key, diff.causes[0].part) == ("a", "work")


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (
            {"transactions": 40.0, "user_calls": 200.0, "executes": 400.0},
            "4.00 times the transactions (10.0 -> 40.0",
        ),
        ({"executes": 20.0}, "0.200 times the executions (100 -> 20.0"),
        ({"transactions": 28.0, "executes": 280.0}, ""),
    ],
)
def test_loads_that_are_far_apart_get_no_verdict_but_what_each_side_waited_for(
    load: dict[str, float], words: str
) -> None:
    waits = {"log file sync": (500.0, 1e5)}
    diff = compare_intervals(interval(waits=waits), interval(day=1, cpu=4000, waits=waits, load=load))
    times = [one for one in measures(diff) if one.startswith("time ")]
    if words:
        assert headline(diff).startswith(f"inconclusive: not the same work: {words}")
        assert times == [
            "time before: DB CPU 67 %, log file sync 33 % of DB time",
            "time after: DB CPU 89 %, log file sync 11 % of DB time",
        ]
    else:
        assert "inconclusive" not in headline(diff)
        assert times == []


def test_as_many_executions_in_fewer_transactions_are_the_same_work() -> None:
    after = interval(day=1, cpu=4000, load={"transactions": 1.0})
    assert "slower: one execution takes" in headline(compare_intervals(interval(), after))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({}, "1 parameter changed: `instance_number` 1 -> 2"),
        ({"instance": "acme2"}, "1 parameter differs: `instance_number` 1 -> 2"),
        ({"container": "PDB1"}, "1 parameter differs: `instance_number` 1 -> 2"),
    ],
)
def test_parameters_changed_only_where_one_instance_is_compared_with_itself(
    other: dict[str, object], said: str
) -> None:
    before = interval(parameters={"instance_number": "1"})
    after = interval(day=1, parameters={"instance_number": "2"}, who=origin(day=1, **other))
    diff = compare_intervals(before, after)
    assert [one.sentence for one in diff.doubts if one.kind == "parameters"] == [said]
    assert ("different instances: `acme1` and `acme2`" in [one.sentence for one in diff.doubts]) == (
        "instance" in other
    )


def test_parameters_of_other_containers_are_told_with_their_container() -> None:
    def made(day: int, own: str, theirs: str) -> Interval:
        return interval_of({
            "init_parameters": {"open_cursors": own},
            "init_parameters_changed": {"open_cursors": {"begin": own, "end": "9"}},
            "init_parameters_by_container": {"CDB$ROOT": {"open_cursors": own}, "PDB1": {"open_cursors": theirs}},
            "init_parameters_changed_by_container": {
                "CDB$ROOT": {"open_cursors": {"begin": own, "end": "9"}},
                "PDB1": {"open_cursors": {"begin": theirs, "end": "9"}},
            },
            "elapsed_min": 60, "dbid": 7, "db_name": "ACME", "begin_snap_time": f"2025-03-0{3 + day}T10:00:00",
        })  # fmt: skip

    diff = compare_intervals(made(0, "300", "100"), made(1, "300", "200"))
    assert diff.parameters == {"open_cursors (PDB1)": ("100", "200")}
    within = [one.sentence for one in diff.doubts if one.kind == "parameters_within"]
    assert within == [
        f"parameters changed during the interval {side}: `open_cursors`, `open_cursors (PDB1)`"
        for side in ("before", "after")
    ]
    # of a report that names one container alone they are its own, told once
    sole = {"elapsed_min": 60, "dbid": 7, "db_name": "ACME", "init_parameters": {"open_cursors": "100"},
            "init_parameters_by_container": {"PDB1": {"open_cursors": "100"}}}  # fmt: skip
    assert interval_of(sole).all_parameters == {"open_cursors": "100"}


def test_of_all_that_is_known_db_time_alone_tells_loads_apart() -> None:
    bare = {"transactions": 0.0, "executes": 0.0}
    diff = compare_intervals(interval(load=bare), interval(day=1, cpu=7000, load=bare))
    assert "7.00 times the DB time" in headline(diff)


def test_parameters_and_plans_that_changed_are_named_with_both_values() -> None:
    before = interval(parameters={"sga_target": "4G"}, statements=(sql("a", 1e4, 600, 1e6, "11"),))
    after = interval(
        day=1, parameters={"sga_target": "2G", "x": "y" * 60}, statements=(sql("a", 1e4, 600, 1e6, "22"),)
    )
    found = {one.kind: one.sentence for one in compare_intervals(before, after).doubts}
    assert found["parameters"] == f"2 parameters changed: `sga_target` 4G -> 2G, `x` (not listed) -> {'y' * 40}..."
    assert found["plans"] == "other plans than before: `a` 11 -> 22"


def test_log_file_sync_from_nothing_to_half_of_db_time_stands_first() -> None:
    before = interval(cpu=1000, waits={"db file sequential read": (200, 1e5)})
    after = interval(
        day=1, cpu=1100, waits={"db file sequential read": (300, 1.2e5), "log file sync": (1400, 2e4)}
    )
    diff = compare_intervals(before, after)
    assert diff.causes[0].key == "log file sync"
    assert cause_sentence(diff.causes[0], diff).startswith("commits: more time in `log file sync`")


LOCKED = "enq: TX - row lock contention"


def update(key: str, elapsed: float, text: str | None = None) -> Statement:
    return Statement(key, executions=100, elapsed_s=elapsed, text=text or f"update {key} set a = 1")


def test_a_statement_and_the_row_locks_it_may_wait_for_are_one_cause() -> None:
    """Report lists say of neither statement what work it did; together they are as long as the wait is longer."""
    before = interval(waits={LOCKED: (9000, 100)}, statements=(update("big", 8000), update("small", 900)))
    after = interval(day=1, waits={LOCKED: (3000, 100)}, statements=(update("big", 2500), update("small", 300)))
    diff = compare_intervals(before, after)
    (cause,) = diff.causes
    assert (cause.kind, cause.key) == ("event", LOCKED)
    assert [one.key for one in cause.statements] == ["big", "small"]
    said = cause_sentence(cause, diff)
    assert "wait for it: `big` (update big set a = 1) up to 1.53 fewer active sessions, `small`" in said
    assert said.endswith("1.67 fewer active sessions, 100 % of the change")
    assert "SQL lists: `big` elapsed seconds per second 2.22 -> 0.694" in evidence(cause)


@pytest.mark.parametrize(
    ("rise", "text"),
    [
        pytest.param(20_000, None, id="longer by more than sessions waited for locks"),
        pytest.param(2000, "select a from big", id="a query waits for no row lock"),
        pytest.param(2000, "/* report */ select a from big", id="nor behind a comment"),
    ],
)
def test_a_statement_that_row_locks_do_not_explain_stays_a_cause(rise: float, text: str | None) -> None:
    before = interval(waits={LOCKED: (100, 100)}, statements=(update("big", 500, text),), db_time=30_000)
    after = interval(
        day=1, waits={LOCKED: (3100, 100)}, statements=(update("big", 500 + rise, text),), db_time=33_000 + rise
    )
    diff = compare_intervals(before, after)
    assert {"big", LOCKED} <= {one.key for one in diff.causes}
    assert not any(one.statements for one in diff.causes)


def test_a_statement_shown_to_do_more_stays_a_cause_beside_row_locks() -> None:
    before = interval(waits={LOCKED: (100, 100)}, statements=(replace(update("big", 500), gets=1e4),))
    after = interval(day=1, waits={LOCKED: (3100, 100)}, statements=(replace(update("big", 2500), gets=1e6),))
    assert {"big", LOCKED} <= {one.key for one in compare_intervals(before, after).causes}


def test_more_and_longer_waits_for_an_event_are_one_cause() -> None:
    before = interval(waits={"db file sequential read": (200, 1e5), "direct path read": (100, 1e4)})
    after = interval(day=1, waits={"db file sequential read": (4000, 4e5), "direct path read": (900, 4e4)})
    found = [one.key for one in compare_intervals(before, after).causes]
    assert len(found) == len(set(found))
    assert not {"direct path read"} & {one.key for one in compare_intervals(before, after).causes[1:]}


def test_every_cause_of_a_twentieth_of_the_change_is_told_and_none_below() -> None:
    shares = (800.0, 600.0, 500.0, 400.0, 300.0, 40.0)
    names = [f"enq: E{place} - contention" for place in range(len(shares))]
    before = interval(waits=dict.fromkeys(names, (1.0, 10.0)))
    after = interval(day=1, waits={name: (1 + share, 10.0) for name, share in zip(names, shares, strict=True)})
    diff = compare_intervals(before, after)
    assert [one.key for one in worth_telling(diff.causes, diff)] == names[:5]


@pytest.mark.parametrize(
    ("busy", "words"),
    [
        (None, "whether sessions queued for it is unknown"),
        (30.0, "with CPU left on the host"),
        (97.0, "on a host with hardly any CPU left"),
    ],
)
def test_a_queue_for_cpu_is_only_claimed_of_a_host_that_is_full(busy: float | None, words: str) -> None:
    host = {} if busy is None else {"busy_pct": busy}
    before, after = interval(host_cpu=host), interval(day=1, db_time=9000, host_cpu=host)
    diff = compare_intervals(before, after)
    assert diff.causes[0].kind == "queue"
    assert words in cause_sentence(diff.causes[0], diff)
    assert any(one.startswith("DB time less CPU and waits") for one in evidence(diff.causes[0]))


def test_a_statement_longer_than_the_interval_carries_its_caveat() -> None:
    before = interval(statements=(sql("a", 1, 3000, 1e6),))
    after = interval(day=1, cpu=1000, db_time=9000, statements=(sql("a", 1, 8000, 1e7),))
    diff = compare_intervals(before, after)
    (one,) = [each for each in diff.causes if each.kind == "statement"]
    assert "an execution takes longer than the interval" in cause_sentence(one, diff)


def spent(wait: float, cpu: float, idle: float | None, *, whole: bool = True) -> Interval:
    """An hour of 6,000 s of DB time, with what its wait classes and its CPU add to."""
    rows = {"User I/O": Wait("User I/O", wait, 1e4), "DB CPU": Wait("DB CPU", cpu)}
    host = {} if idle is None else {"idle_pct": idle}
    return interval(
        day=1, cpu=cpu, waits={"db file sequential read": (wait, 1e4)}, db_time=6000, host_cpu=host,
        classes=Listing(rows, whole=whole),
    )  # fmt: skip


@for_each(
    ("after", "sentence"),
    [
        (spent(1800, 900, 92.0), "waits and CPU account for 0.750 of 1.67 active sessions, on a host 92 % idle"),
        (spent(3000, 900, 92.0), None),  # most of it was seen
        (spent(1800, 900, 20.0), None),  # a queue for CPU is neither
        (spent(1800, 900, None), None),
        (spent(1800, 900, 92.0, whole=False), None),  # not all classes are known
    ],
)
def test_of_db_time_that_was_not_spent_in_its_interval_no_verdict_is_given(
    after: Interval, sentence: str | None
) -> None:
    """A job that began hours before counts all its time where its call ends: that is not slower."""
    diff = compare_intervals(interval(waits={"db file sequential read": (900, 1e4)}), after)
    found = [one.sentence for one in diff.doubts if one.kind == "unaccounted"]
    if sentence is None:
        assert not found and headline(diff).startswith("it got slower")
    else:
        assert found[0].startswith(f"after: {sentence}")
        assert headline(diff).startswith("inconclusive: much of the DB time after is neither a wait nor CPU")


def redo(waits: dict[str, tuple[float, float]], written: float, **load: float) -> Interval:
    day = 0 if written == 1e6 else 1
    return interval(day=day, waits=waits, load={"redo_size_bytes": written, **load})


def test_commits_are_explained_by_redo_only_where_each_writes_more() -> None:
    few, many = {"log file sync": (100.0, 2e4)}, {"log file sync": (4000.0, 6e5)}
    first = compare_intervals(redo(few, 1e6), redo(many, 1.5e6)).causes[0]
    assert first.key == "log file sync"
    assert cause_sentence(first, compare_intervals(redo(few, 1e6), redo(many, 1.5e6))).startswith("commits: ")
    assert compare_intervals(redo(few, 1e6), redo(many, 2e7)).causes[0].key == "log file sync"
    # from none at all their number is what grew
    assert compare_intervals(redo({}, 1e6), redo(many, 1.5e6)).causes[0].key == "log file sync"
    none = {"log file sync": (0.0, 0.0)}
    assert compare_intervals(redo(none, 1e6), redo(many, 1.5e6)).causes[0].key == "log file sync"
    # more redo in each commit: it is what they write
    assert compare_intervals(redo(few, 1e6), redo(many, 4e7)).causes[0].kind == "redo"
    # and what waits for room in the log waits for what is written, however often
    switches = {"log buffer space": (4000.0, 6e5)}
    full = compare_intervals(redo({"log buffer space": (100.0, 2e4)}, 1e6), redo(switches, 1.5e6))
    assert full.causes[0].kind == "redo"


def test_executions_that_are_many_times_as_many_are_other_work_though_transactions_are_not() -> None:
    more = interval(day=1, cpu=4000, load={"transactions": 25.0, "executes": 450.0})
    assert headline(compare_intervals(interval(), more)).startswith(
        "inconclusive: not the same work: 4.50 times the executions"
    )
    as_many = interval(day=1, cpu=4000, load={"transactions": 2.5})
    assert headline(compare_intervals(interval(), as_many)).startswith("it got slower: one execution")


@for_each(("transactions", "executes", "one"), [
    (13.2, 100.0, "execution"), (10.0, 132.0, "transaction"), (10.5, 100.0, "transaction"),
    (4.0, 100.0, "execution"), (8.0, 130.0, "transaction"),
])  # fmt: skip
def test_the_verdict_is_taken_by_what_the_load_changed_least_in(
    transactions: float, executes: float, one: str
) -> None:
    """As many executions in a third more transactions: that each of these holds less makes nothing faster."""
    after = interval(day=1, cpu=1900, load={"transactions": transactions, "executes": executes})
    assert headline(compare_intervals(interval(), after)).startswith(f"it got slower: one {one} takes")


def test_transactions_that_are_many_times_as_many_are_other_work_unless_executions_are_about_as_many() -> None:
    other = interval(day=1, cpu=4000, load={"transactions": 50.0, "executes": 155.0})
    assert headline(compare_intervals(interval(), other)).startswith(
        "inconclusive: not the same work: 5.00 times the transactions"
    )
    alike = interval(day=1, cpu=4000, load={"transactions": 50.0, "executes": 140.0})
    assert headline(compare_intervals(interval(), alike)).startswith("it got slower: one execution")


@for_each(
    ("load", "cpu", "verdict"),
    [
        ({"executes": 450.0}, 1200.0, "it got slower: one transaction"),
        ({"executes": 20.0}, 1020.0, "it is about as fast as before: one transaction"),
        ({"executes": 450.0}, 1600.0, "inconclusive: not the same work: 4.50 times the executions"),
        ({"executes": 450.0, "transactions": 16.0}, 1200.0, "inconclusive: not the same work: 4.50 times"),
    ],
)
def test_as_many_transactions_in_as_much_time_are_judged_with_their_executions_beside(
    load: dict[str, float], cpu: float, verdict: str
) -> None:
    diff = compare_intervals(interval(), interval(day=1, cpu=cpu, load=load))
    assert headline(diff).startswith(verdict)
    beside = [one for one in measures(diff) if one.startswith("executions in each transaction: 10.0 before, ")]
    assert len(beside) == (0 if "inconclusive" in verdict else 1)


@for_each(
    ("executes", "cpu", "ends"),
    [
        (106.0, 1060.0, "(+6.0 %), with 10.6 executions in each instead of 10.0"),
        (80.0, 800.0, "(-20 %), with 8.00 executions in each instead of 10.0"),
        (101.0, 1200.0, "(+20 %)"),
        (80.0, 1200.0, "(+20 %)"),
        (80.0, 0.0, "(-100 %)"),
    ],
)
def test_a_transaction_that_costs_more_because_it_holds_more_executions_says_so(
    executes: float, cpu: float, ends: str
) -> None:
    diff = compare_intervals(interval(), interval(day=1, cpu=cpu, load={"executes": executes}))
    assert headline(diff).endswith(ends)
    beside = [one for one in measures(diff) if one.startswith("executions in each transaction: 10.0 before, ")]
    assert len(beside) == (abs(executes - 100) > 5)


def test_a_statement_that_is_no_longer_run_is_no_part_of_a_load_that_fell() -> None:
    report = sql("report", 2, 3000.0, 5e7)
    before = interval(cpu=4000.0, statements=(report,))
    fewer = {"transactions": 8.0, "user_calls": 40.0, "executes": 80.0, "logical_reads": 8e3}
    after = interval(day=1, cpu=800.0, load=fewer)
    diff = compare_intervals(before, after)
    first, second = diff.causes[:2]
    assert (first.key, second.kind) == ("report", "load")
    assert first.impact == pytest.approx(-(3000.0 - 10.0) / HOUR)
    assert second.impact == pytest.approx(-0.2 * (1000.0 + 10.0) / HOUR)
    assert "than the load explains" not in cause_sentence(first, diff)


def test_two_idle_intervals_get_no_verdict() -> None:
    diff = compare_intervals(interval(cpu=2.0), interval(day=1, cpu=3.0))
    assert headline(diff).startswith("inconclusive: hardly any work in either: 0.000556 active sessions before")
    assert headline(compare_intervals(interval(cpu=2.0), interval(day=1, cpu=300.0))).startswith("it got slower")


def test_reads_of_a_job_that_ended_are_not_the_buffer_cache_s() -> None:
    """A job that read past every block twice leaves the hit ratio better behind it: the cache did nothing."""
    waits, rest = {"db file sequential read": (3000.0, 2.4e6)}, {"db file sequential read": (1500.0, 1.2e6)}
    job = Statement("job", executions=2, elapsed_s=1600.0, gets=3e6, reads=1.2e6, text="call clean_up()")
    reads = {"physical_reads": 700.0}
    before = interval(waits=waits, statements=(job,), load=reads)
    after = interval(day=1, waits=rest, load={"physical_reads": 350.0})
    diff = compare_intervals(before, after)
    assert diff.causes[0].key == "job"
    assert "cache" not in {one.kind for one in worth_telling(diff.causes, diff)}
    without = interval(waits=waits, load=reads)
    assert compare_intervals(without, after).causes[0].kind == "cache"
    sizes = [replace(side, memory={"Buffer Cache": (None, size)}) for side, size in ((without, 4e9), (after, 4e9))]
    assert compare_intervals(*sizes).causes[0].key == "db file sequential read"
    sizes[0] = replace(without, memory={"Buffer Cache": (None, 2e9)})
    assert compare_intervals(*sizes).causes[0].kind == "cache"


def test_a_few_long_executions_are_not_judged_by_the_transactions_that_ran_beside_them() -> None:
    """Another report took other time: the hundreds of short transactions of each interval are not what changed."""
    one, other = sql("a6", 1.0, 3500.0, 1e6), sql("b7", 2.0, 2600.0, 1e6)
    diff = compare_intervals(
        interval(db_time=4000.0, statements=(one, sql("x", 1e4, 300.0, 1e5))),
        interval(day=1, db_time=2900.0, statements=(other,)),
    )
    assert headline(diff) == (
        "inconclusive: a few long executions took most of the DB time (`a6` 88 % before, `b7` 90 % after), and "
        "the time of one transaction or execution says nothing of them"
    )
    assert any(one.startswith("time before: ") for one in measures(diff))


def test_one_long_execution_that_was_not_there_before_made_no_transaction_slower() -> None:
    job = sql("job", 1.0, 5000.0, 1e6)
    diff = compare_intervals(interval(), interval(day=1, db_time=6000.0, statements=(job,)))
    assert "a few long executions took most of the DB time (`job` 83 % after)" in headline(diff)
    assert diff.causes[0].key == "job"


@pytest.mark.parametrize("executions", [10.0, 5e4])
def test_a_long_call_of_what_ran_often_and_a_statement_that_ran_often_are_judged(executions: float) -> None:
    """A procedure called once contains the time of the statements it calls: those are many of something."""
    call, inner = sql("call", 1.0, 5500.0, 1e6), sql("inner", executions, 5000.0, 1e6)
    for statements in ((call, inner), (inner,)):
        after = interval(day=1, db_time=6000.0, statements=statements)
        assert headline(compare_intervals(interval(), after)).startswith("it got slower: one transaction")


def test_one_execution_in_a_shorter_interval_is_not_executed_more_often() -> None:
    one = sql("report", 1.0, 1190.0, 4e6)
    shorter = origin(day=1, elapsed_seconds=HOUR / 2)
    after = interval(day=1, who=shorter, cpu=600, db_time=1250.0, statements=(one,))
    diff = compare_intervals(interval(cpu=600, db_time=1250.0, statements=(one,)), after)
    told = cause_sentence(diff.causes[0], diff)
    assert told.startswith("statement `report` (select report) is executed as often, in a shorter interval: ")
