"""What happened between two snapshots: subtracted where that is true, left out and said where it is not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from toolkit.analysis.awr.diff import compare_intervals
from toolkit.analysis.awr.families import COMMIT
from toolkit.analysis.awr.sentences import cause_sentence
from toolkit.analysis.snapshot_diff import SnapshotDiff, between, document
from toolkit.analysis.state_interval import interval_between
from toolkit.errors import ToolkitError
from toolkit.model.interval import Interval
from toolkit.model.state import ColumnRole, Snapshot, SnapshotHead, State, StateColumn, StateSection
from toolkit.model.values import Scalar
from toolkit.report.snapshot_diff import between_page, between_text, between_view

_AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
_KEY, _WORD = ColumnRole.KEY, ColumnRole.WORD
_STATEMENTS = (
    StateColumn("statement_id", _KEY),
    StateColumn("statement_text", _WORD),
    StateColumn("calls", ColumnRole.COUNTER, "count"),
    StateColumn("elapsed_seconds", ColumnRole.COUNTER, "s"),
)
_PLAIN = (
    StateColumn("name", _KEY),
    StateColumn("unit", _WORD),
    StateColumn("total", ColumnRole.COUNTER),
    StateColumn("value", ColumnRole.GAUGE),
)
_SETTINGS = (StateColumn("name", _KEY), StateColumn("value", _WORD))
_INDEXES = (
    StateColumn("schema_name", _KEY),
    StateColumn("index_name", _KEY),
    StateColumn("index_scans", ColumnRole.COUNTER),
)
Row = tuple[Scalar, ...]


def snapshot(
    number: int, minute: int, statements: tuple[Row, ...] = (), *, plain: tuple[Row, ...] = (),
    work_mem: str = "4MB", indexes: tuple[str, ...] = ("orders_pk",), cut: bool = False, provider: str = "pgstat",
    **identity: Scalar,
) -> Snapshot:  # fmt: skip
    taken = _AT + timedelta(minutes=minute)
    known: dict[str, Scalar] = {
        "database": "5@77", "begun": "2026-11-01", "server_counts_since": "2026-11-01",
        "statements_count_since": "2026-11-01", "instant_seconds": taken.timestamp(), **identity,
    }  # fmt: skip
    sections = {
        "statements": StateSection(_STATEMENTS, statements, ("statements_count_since",), cut),
        "pgstat": StateSection(_PLAIN, plain, ("server_counts_since",)),
        "settings": StateSection(_SETTINGS, (("work_mem", work_mem),)),
        "indexes": StateSection(_INDEXES, tuple(("app", name, 5) for name in indexes), ("server_counts_since",)),
    }
    head = SnapshotHead(number, f"s{number}", "dwh", "5@77", provider, taken)
    return Snapshot(head, State(provider, "postgresql", known, sections))


def rows(found: SnapshotDiff, section: str = "statements") -> dict[str, tuple[str, dict[str, float]]]:
    return {row.name: (row.fate, dict(row.counters)) for row in found.sections[section].rows}


def test_counters_are_subtracted_and_gauges_are_told_before_and_after() -> None:
    plain_a: tuple[Row, ...] = (("commits", "transactions", 100, None), ("size", "bytes", None, 10))
    plain_b: tuple[Row, ...] = (("commits", "transactions", 160, None), ("size", "bytes", None, 30))
    found = between(snapshot(1, 0, plain=plain_a), snapshot(2, 1, plain=plain_b))
    by_name = {row.name: row for row in found.sections["pgstat"].rows}
    assert found.seconds == 60
    assert by_name["commits"].counters == {"total": 60}
    assert by_name["size"].gauges == {"value": (10, 30)}
    assert by_name["size"].counters == {}


def test_a_new_statement_counts_from_zero_and_one_that_went_is_told() -> None:
    a = snapshot(1, 0, (("old", "select 1", 5, 1.0),))
    b = snapshot(2, 1, (("new", "select 2", 3, 2.0),))
    assert rows(between(a, b)) == {"new": ("new", {"calls": 3, "elapsed_seconds": 2.0}), "old": ("gone", {})}


def test_a_statement_not_seen_in_a_cut_list_is_no_new_one() -> None:
    a = snapshot(1, 0, (("old", "select 1", 5, 1.0),), cut=True)
    b = snapshot(2, 1, (("perhaps old", "select 2", 900, 800.0), ("old", "select 1", 6, 2.0)))
    assert rows(between(a, b)) == {"old": ("both", {"calls": 1, "elapsed_seconds": 1.0})}


def test_a_row_whose_counter_went_down_is_left_out_and_said_never_negative_or_zero() -> None:
    found = between(snapshot(1, 0, (("q", "select 1", 5, 9.0),)), snapshot(2, 1, (("q", "select 1", 2, 1.0),)))
    assert rows(found) == {}
    assert any("because reset or evicted in between: 1 row" in said for said in found.sentences)


def test_a_reset_leaves_out_what_it_guards_and_keeps_the_rest() -> None:
    a = snapshot(1, 0, (("q", "select 1", 5, 9.0),), plain=(("commits", "transactions", 1, None),))
    b = snapshot(
        2, 1, (("q", "select 1", 50, 90.0),), plain=(("commits", "transactions", 4, None),),
        statements_count_since="2026-11-21",
    )  # fmt: skip
    found = between(a, b)
    assert not found.sections["statements"].counted
    assert rows(found, "pgstat")["commits"][1] == {"total": 3}
    assert not found.whole
    assert "pg_stat_statements was reset (pg_stat_statements_reset) between the two" in found.sentences


def test_a_crash_leaves_out_the_counters_and_still_tells_the_settings() -> None:
    a = snapshot(1, 0, plain=(("commits", "transactions", 1, None),))
    b = snapshot(
        2, 1, plain=(("commits", "transactions", 400, None),), work_mem="1MB", server_counts_since="2026-11-21"
    )
    found = between(a, b)
    assert rows(found, "pgstat") == {"commits": ("both", {})}
    assert [(one.name, one.before, one.after) for one in found.changed] == [("work_mem", "4MB", "1MB")]


def test_a_restart_alone_is_said_and_counters_that_outlived_it_are_compared() -> None:
    a = snapshot(1, 0, plain=(("commits", "transactions", 1, None),))
    b = snapshot(2, 1, plain=(("commits", "transactions", 4, None),), begun="2026-11-21")
    found = between(a, b)
    assert rows(found, "pgstat")["commits"][1] == {"total": 3}
    assert "the instance was restarted between the two" in found.sentences


def test_a_dropped_index_is_told_as_gone() -> None:
    found = between(snapshot(1, 0, indexes=("orders_pk", "orders_day")), snapshot(2, 1))
    assert [(one.section, one.name, one.after) for one in found.changed] == [("indexes", "app.orders_day", None)]
    assert "app.orders_day" in between_text(found, ())


def test_the_wrong_order_is_swapped_and_said() -> None:
    early, late = snapshot(1, 0, (("q", "x", 1, 1.0),)), snapshot(2, 5, (("q", "x", 4, 3.0),))
    found = between(late, early)
    assert rows(found) == {"q": ("both", {"calls": 3, "elapsed_seconds": 2.0})}
    assert "`s1` was taken before `s2`: the two were swapped" in found.sentences


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (snapshot(1, 0), "the same snapshot twice"),
        (snapshot(2, 1, database="6@99"), "another database"),
        (snapshot(2, 1, provider="osstat"), "count differently"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(other: Snapshot, says: str) -> None:
    with pytest.raises(ToolkitError, match=says) as caught:
        between(snapshot(1, 0), other)
    assert int(caught.value.exit_code) == 2


def test_thrown_out_statements_are_said() -> None:
    a, b = snapshot(1, 0, statements_thrown_out=2.0), snapshot(2, 1, statements_thrown_out=5.0)
    assert any("evicted statements 3 times" in said for said in between(a, b).sentences)


def test_a_hostile_statement_is_harmless_on_the_page_and_in_the_text() -> None:
    hostile = "</td><script>alert(1)</script>\x1b[31m"
    a, b = snapshot(1, 0), snapshot(2, 1, (("q", hostile, 4, 3.0),))
    found = between(a, b)
    page, text = between_page(found, ()), between_text(found, ())
    assert "<script" not in page
    assert "\x1b" not in page + text
    assert "alert(1)" in text


def test_the_document_holds_what_moved_only() -> None:
    a, b = (
        snapshot(1, 0, (("still", "x", 1, 1.0),)),
        snapshot(2, 1, (("still", "x", 1, 1.0), ("new", "y", 1, 2.0))),
    )
    told = document(between(a, b))
    assert [row["key"] for row in told["sections"]["statements"]["rows"]] == [["new"]]  # type: ignore[index]


def test_an_interval_has_rates_by_the_servers_clock_and_lacks_what_is_not_counted() -> None:
    plain_a: tuple[Row, ...] = (
        ("commits", "", 100, None),
        ("rollbacks", "", 0, None),
        ("active_seconds", "s", 5, None),
    )
    plain_b: tuple[Row, ...] = (
        ("commits", "", 220, None),
        ("rollbacks", "", 0, None),
        ("active_seconds", "s", 65, None),
    )
    a, b = snapshot(1, 0, plain=plain_a), snapshot(2, 2, (("q", "select 1", 240, 60.0),), plain=plain_b)
    found = interval_between(a, replace(b), "before..after")
    assert found.load["transactions"] == 1.0
    assert found.load["db_time_s"] == 0.5
    assert found.load["executes"] == 2.0
    assert "redo_size_bytes" not in found.load
    assert found.statements.rows["q"].elapsed_s == 60.0
    assert found.statements.rows["q"].cpu_s is None
    assert found.origin.elapsed_seconds == 120


_WATCHED = (StateColumn("event", _KEY), StateColumn("wait_class", _WORD),
            StateColumn("seconds", ColumnRole.GAUGE, "s"))  # fmt: skip


def watched(one: Snapshot, seconds: float, **seen: float) -> Snapshot:
    """Return a snapshot before which sessions were watched; events are written with `__` for the colon."""
    rows = tuple(
        (name.replace("__", ":").replace("on_CPU", "on CPU"), "IO", spent) for name, spent in seen.items()
    )
    sections = {**one.state.sections, "watched": StateSection(_WATCHED, rows)}
    identity = {**one.state.identity, "watched_seconds": seconds}
    return replace(one, state=replace(one.state, sections=sections, identity=identity))


def pgbench() -> tuple[Snapshot, Snapshot]:
    """Return what plain pgbench leaves: one statement has most time of statements, COMMIT most of all."""
    active: tuple[tuple[Row, ...], ...] = tuple((("active_seconds", "s", total, None),) for total in (0, 300))
    a = snapshot(1, 0, (("u", "UPDATE branches", 0, 0.0), ("s", "SELECT 1", 0, 0.0)), plain=active[0])
    b = snapshot(2, 5, (("u", "UPDATE branches", 900, 78.0), ("s", "SELECT 1", 900, 22.0)), plain=active[1])
    return a, b


def verdicts(a: Snapshot, b: Snapshot) -> list[str]:
    view = between_view(between(a, b), (), 10)
    return [one for one in (view.headline, *view.verdicts) if "was spent" in one]


def test_the_share_of_a_statement_is_one_of_the_active_time() -> None:
    (said,) = verdicts(*pgbench())
    assert said == "26 % of the active time was spent in `UPDATE branches`: 78.0 s"


def test_where_no_active_time_is_counted_the_share_is_said_to_be_one_of_the_statements() -> None:
    a, b = (
        snapshot(1, 0, (("u", "UPDATE a", 0, 0.0), ("v", "b", 0, 0.0))),
        snapshot(2, 5, (("u", "UPDATE a", 9, 3.0), ("v", "b", 9, 1.0))),
    )
    assert verdicts(a, b) == ["75 % of the time of all statements was spent in `UPDATE a`: 3.00 s"]


@pytest.mark.parametrize("earlier", [True, False])
def test_waits_that_were_sampled_stand_first_where_they_have_most_of_the_time(earlier: bool) -> None:
    a, b = pgbench()
    a = watched(a, 8.0, on_CPU=9.0, IO__WalSync=1.0) if earlier else a
    b = watched(b, 9.1, LWLock__WALWrite=4.0, IO__WalSync=2.0, on_CPU=2.1, Lock__tuple=1.0)
    first, second = verdicts(a, b)
    assert first.startswith(
        "66 % of the active time was spent waiting for the write-ahead log, as COMMIT does (`LWLock:WALWrite`, "
        "`IO:WalSync`), as sampled in the last 9.10 s"
    )
    assert ("10 % in the 8.00 s before" in first) is earlier
    assert "26 %" in second
    assert not any("exists only in" in one for one in between(a, b).sentences)


@pytest.mark.parametrize("other", ["LWLock__WALInsert", "LWLock__WALBufMapping", "log file switch completion"])
def test_only_what_commit_waits_for_is_told_as_commit(other: str) -> None:
    a, b = pgbench()
    b = watched(b, 9.1, **{other: 6.0}, IO__WALSync=2.0, IPC__SyncRep=1.0, on_CPU=1.0)
    first = verdicts(a, b)[0]
    assert f"waiting for `{other.replace('__', ':')}`" in first and "COMMIT" not in first
    assert COMMIT.match(other.replace("__", ":")) is None


def test_one_wait_that_is_no_log_is_named_and_time_on_cpu_is_none() -> None:
    a, b = pgbench()
    assert "`Lock:tuple`" in verdicts(a, watched(b, 2.0, Lock__tuple=3.0, on_CPU=1.0))[0]
    assert len(verdicts(a, watched(b, 2.0, on_CPU=1.0))) == 1


def test_a_dropped_index_is_named_between_two_intervals_too() -> None:
    named = (*_INDEXES, StateColumn("table_name", _WORD))

    def at(number: int, minute: int, *names: str, cut: bool = False) -> Snapshot:
        one = snapshot(number, minute, plain=(("commits", "transactions", minute, None),))
        rows = tuple(("app", name, 5, "orders") for name in names)
        sections = {**one.state.sections, "indexes": StateSection(named, rows, (), cut)}
        return replace(one, state=replace(one.state, sections=sections))

    before = interval_between(at(1, 0, "a", "b"), at(2, 1, "a", "b"), "x")
    after = interval_between(at(3, 2, "a", "c"), at(4, 3, "a", "c"), "y")
    said = {one.kind: one.sentence for one in compare_intervals(before, after).doubts}
    assert said["indexes_gone"] == "no longer there: index `app.b` of `orders`"
    assert said["indexes_new"] == "new: index `app.c` of `orders`"
    unknown = interval_between(at(3, 2, "a"), at(4, 3, "a", cut=True), "y")
    assert not any(one.kind.startswith("indexes") for one in compare_intervals(before, unknown).doubts)


@pytest.mark.parametrize("logged", [{}, {"off": 2_430_000.0, "on": 2_590_000.0}], ids=["no redo", "redo"])
def test_what_a_commit_waits_for_is_one_cause_with_the_setting_that_changed(logged: dict[str, float]) -> None:
    """A log that was hardly more or less cannot explain that nobody waits for it any more."""

    def interval(number: int, level: str, **seen: float) -> Interval:
        end = {"active_seconds": 60.0, "commits": 7600.0 if level == "off" else 6000.0}
        end |= {"wal_bytes": logged[level], "rollbacks": 0.0} if logged else {}
        totals = (dict.fromkeys(end, 0.0), end)
        plain = [tuple((name, "", total, None) for name, total in each.items()) for each in totals]
        a, b = (snapshot(number + at, number + at, plain=plain[at]) for at in (0, 1))
        settings = StateSection(_SETTINGS, (("synchronous_commit", level),))
        a, b = (replace(one, state=replace(one.state, sections={**one.state.sections, "settings": settings}))
                for one in (a, b))  # fmt: skip
        return interval_between(a, watched(b, 10.0, **seen), level)

    off = interval(1, "off", on_CPU=10.0)
    on = interval(3, "on", on_CPU=2.0, LWLock__WALWrite=6.0, IO__WalSync=2.0)
    for before, after, word, change in ((off, on, "more", "off -> on"), (on, off, "less", "on -> off")):
        later = replace(after, origin=replace(after.origin, begin=None))
        diff = compare_intervals(before, later)
        named = [one for one in diff.causes if one.kind == "commit"]
        assert [one.key for one in named] == ["write-ahead log"]
        assert cause_sentence(named[0], diff).startswith(
            f"sessions wait {word} for the write-ahead log, as COMMIT does: seen in `LWLock:WALWrite`, "
            f"`IO:WalSync`, `synchronous_commit` {change}"
        )
