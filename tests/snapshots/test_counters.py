"""Counters: differences, later values, resets that are no negative work, and reads that fail."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.steps import Step
from toolkit.model.values import Row
from toolkit.model.words import Role
from toolkit.snapshots.counters import CounterProvider, CounterReading, difference, readings
from toolkit.snapshots.host import busy_threads


def row(name: str, value: float | None, kind: str = "counter") -> Row:
    return {"metric_name": name, "metric_value": value, "metric_unit": "bytes", "metric_kind": kind}


class Scripted:
    """Answers one after the other."""

    def __init__(self, *answers: tuple[Row, ...] | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[Step] = []

    def __call__(self, step: Step) -> Answer:
        self.asked.append(step)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Answer(answer)


def provider(ask: Scripted, *, sample: bool = False) -> CounterProvider:
    if sample:
        return CounterProvider("pgstat", "postgresql", ask, "run 1", sample="sample_pgstat")
    return CounterProvider("pgstat", "postgresql", ask, "run 1", snapshot="snapshot_pgstat")


def test_a_counter_gives_its_difference_and_a_gauge_its_later_value() -> None:
    ask = Scripted((row("read", 10), row("size", 5, "gauge")), (row("read", 25), row("size", 3, "gauge")))
    one = provider(ask)
    one.begin()
    assert [(each.name, each.value) for each in one.end()] == [("read", 15), ("size", 3)]
    assert {step.session for step in ask.asked} == {Role.MONITOR}
    assert one.warnings() == ()


def test_files_of_gauges_are_read_after_only_and_in_the_same_statement() -> None:
    ask = Scripted((row("read", 10),), (row("read", 25), row("size", 3, "gauge")))
    one = CounterProvider(
        "pgstat", "postgresql", ask, "run 1", snapshot="snapshot_pgstat", gauges=("snapshot_pgstat_size",)
    )
    one.begin()
    found = [(each.name, each.value, each.source) for each in one.end()]
    assert found == [("read", 15, "pgstat"), ("size", 3, "pgstat")]
    before, after = ["pg_database_size" in step.text for step in ask.asked]
    assert not before and after


def test_a_counter_that_was_reset_is_left_out_and_said() -> None:
    one = provider(Scripted((row("read", 100), row("kept", 1)), (row("read", 4), row("kept", 2))))
    one.begin()
    assert [each.name for each in one.end()] == ["kept"]
    assert one.warnings() == ("counters were reset meanwhile and are omitted: read",)


def test_what_is_null_or_was_not_there_before_is_no_zero() -> None:
    one = provider(Scripted((row("a", None),), (row("a", 5), row("b", 7), row("c", None))))
    one.begin()
    assert one.end() == ()
    assert one.warnings() == ()


def test_a_read_that_is_refused_costs_its_metrics_and_nothing_else() -> None:
    for error in (DatabaseError("no grant\nat", code="42501"), ToolkitError("cannot connect", code="TK-0201")):
        one = provider(Scripted(error, (row("read", 5),)))
        one.begin()
        assert one.end() == ()
        assert one.warnings() == (f"`snapshot_pgstat` could not be read: {error.sentence}",)


def test_a_refused_sample_is_said_once() -> None:
    lost = DatabaseError("", code="08006", lost=True)
    one = provider(Scripted(lost, lost), sample=True)
    one.begin()
    assert one.sample(0.1) == one.sample(0.2) == ()
    assert one.warnings() == ("`sample_pgstat` could not be read: 08006",)


def test_samples_keep_their_peak_and_the_next_trial_forgets_it() -> None:
    ask = Scripted((row("parallel_workers", 3),), (row("parallel_workers", 1),), (row("parallel_workers", None),))
    one = provider(ask, sample=True)
    one.begin()
    for at in (0.1, 0.2, 0.3):
        one.sample(at)
    assert one.peaks() == {"parallel_workers": 3}
    assert ask.asked[0].binds == {"run": "run 1"}
    one.begin()
    assert one.peaks() == {}


_VALUES = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 100))


def test_a_wait_of_a_new_kind_counts_from_nothing_where_waits_were_listed_before() -> None:
    early = readings((row("event a (session)", 1, "ranked"), row("event a", 5, "ranked")))
    late = readings((row("event a (session)", 1, "ranked"), row("event b (session)", 30, "ranked")))
    assert {each.name: each.value for each in difference(early, late, "x")[0]} == {"event b (session)": 30}
    of_the_instance = readings((row("event a", 5, "ranked"),))
    assert difference(of_the_instance, late, "x")[0] == (), "those of the sessions were not read before"


@given(before=_VALUES, after=_VALUES)
def test_no_difference_is_negative_and_none_is_invented(before: dict[str, int], after: dict[str, int]) -> None:
    early = {name: CounterReading(value, "", counter=True) for name, value in before.items()}
    late = {name: CounterReading(value, "", counter=True) for name, value in after.items()}
    metrics, reset = difference(early, late, "x")
    assert {each.name for each in metrics} | set(reset) == before.keys() & after.keys()
    assert all(each.value == after[each.name] - before[each.name] >= 0 for each in metrics)
    assert all(after[name] < before[name] for name in reset)


def test_readings_take_numbers_as_they_come() -> None:
    assert readings((row("a", 1), row("b", 2.5, "gauge"))) == {
        "a": CounterReading(1.0, "bytes", counter=True), "b": CounterReading(2.5, "bytes", counter=False),
    }  # fmt: skip


def test_threads_that_worked_are_counted_by_what_they_used() -> None:
    before = {1: 5.0, 2: 1.0, 3: 2.0}
    after = {1: 5.5, 2: 1.5, 3: 2.001, 9: 0.3}
    count, seconds = busy_threads(before, after)
    assert count == 3
    assert abs(seconds - 1.301) < 1e-9


def test_too_little_cpu_tells_no_degree() -> None:
    assert busy_threads({1: 1.0}, {1: 1.01})[0] is None


@given(st.dictionaries(st.integers(1, 9), st.floats(0, 10), min_size=1))
def test_no_more_threads_worked_than_there_are(used: dict[int, float]) -> None:
    count, total = busy_threads({}, used)
    assert count is None or 1 <= count <= len(used)
    assert total == sum(used.values())


def identity(name: str, value: float, guards: str = "all") -> Row:
    return {"metric_name": name, "metric_value": value, "metric_unit": guards, "metric_kind": "identity"}


def test_after_a_restart_nothing_is_subtracted_and_it_is_said() -> None:
    before = (identity("begin of the instance", 5), row("read", 10))
    one = provider(Scripted(before, (identity("begin of the instance", 9), row("read", 25))))
    one.begin()
    assert one.end() == ()
    assert one.warnings() == ("counters were restarted and are omitted: another begin of the instance",)


def test_other_sessions_than_before_cost_the_sessions_counters_only() -> None:
    before = (identity("sessions", 5, "(session)"), row("read", 10), row("read (session)", 1))
    after = (identity("sessions", 6, "(session)"), row("read", 25), row("read (session)", 9))
    one = provider(Scripted(before, after))
    one.begin()
    assert [(each.name, each.value) for each in one.end()] == [("read", 15)]
    assert "omitted: other sessions" in one.warnings()[0]


def test_an_instance_that_counts_less_than_our_own_sessions_is_not_the_whole_one() -> None:
    before = (row("redo", 0), row("redo (session)", 0), row("calls", 0), row("calls (session)", 0))
    after = (row("redo", 0), row("redo (session)", 500), row("calls", 9), row("calls (session)", 4))
    one = provider(Scripted(before, after))
    one.begin()
    assert {each.name for each in one.end()} == {"redo (session)", "calls", "calls (session)"}
    assert one.warnings()[0].endswith("and are omitted: redo")


def test_of_ranked_differences_only_the_largest_are_kept() -> None:
    before = tuple(row(f"event {number}", 0, "ranked") for number in range(15))
    after = tuple(row(f"event {number}", number, "ranked") for number in range(15))
    one = provider(Scripted(before, after))
    one.begin()
    assert [each.value for each in one.end()] == [14, 13, 12, 11, 10, 9, 8, 7, 6, 5]


def test_two_executions_of_a_statement_are_counted_and_not_drawn() -> None:
    ask = Scripted((row("execution abc", 7),), (row("execution abc", 7),), (row("execution abc", 8),))
    one = provider(ask, sample=True)
    one.begin()
    assert [one.sample(at) for at in (0.1, 0.2, 0.3)] == [(), (), ()]
    assert one.peaks() == {"execution abc": 2}


def test_a_plan_is_read_with_the_counters_in_the_order_of_its_lines_and_is_no_metric() -> None:
    def line(text: str, place: int) -> Row:
        return {"metric_name": text, "metric_value": place, "metric_unit": "text", "metric_kind": "plan"}

    ask = Scripted((row("read", 1),), (line("second", 2), row("read", 3), line("first", 1)))
    one = CounterProvider("vstat", "oracle", ask, "run 1", snapshot="snapshot_vstat", plan="plan")
    one.begin()
    one.explain("abc")
    assert [each.name for each in one.end()] == ["read"]
    assert one.plan == ("first", "second")
    assert len(ask.asked) == 2
    assert ask.asked[1].binds["statement_id"] == "abc"
    one.plan = ()


def test_of_files_read_together_a_refused_one_is_left_out_from_then_on() -> None:
    denied = DatabaseError("ORA-00942: no such view", code="ORA-00942")
    files = ("snapshot_vstat", "snapshot_vstat_time")
    ask = Scripted(denied, (row("redo", 1),), denied, (row("redo", 4),))
    one = CounterProvider("vstat", "oracle", ask, "run 1", snapshot=files)
    one.begin()
    assert [(each.name, each.value) for each in one.end()] == [("redo", 3)]
    assert len(ask.asked) == 4, "all at once, each by itself, and then what is left in one statement"
    assert one.warnings() == ("`snapshot_vstat_time` could not be read: ORA-00942: no such view",)
