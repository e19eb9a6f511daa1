"""Counters: differences, later values, resets that are no negative work, and reads that fail."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.steps import Step
from toolkit.model.values import Row
from toolkit.model.words import Role
from toolkit.snapshots.counters import CounterProvider, Reading, difference, readings
from toolkit.snapshots.threads import busy_threads


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


def test_a_counter_that_was_reset_is_left_out_and_said() -> None:
    one = provider(Scripted((row("read", 100), row("kept", 1)), (row("read", 4), row("kept", 2))))
    one.begin()
    assert [each.name for each in one.end()] == ["kept"]
    assert one.warnings() == ("counters were reset meanwhile and are left out: read",)


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


@given(before=_VALUES, after=_VALUES)
def test_no_difference_is_negative_and_none_is_invented(before: dict[str, int], after: dict[str, int]) -> None:
    early = {name: Reading(value, "", counter=True) for name, value in before.items()}
    late = {name: Reading(value, "", counter=True) for name, value in after.items()}
    metrics, reset = difference(early, late, "x")
    assert {each.name for each in metrics} | set(reset) == before.keys() & after.keys()
    assert all(each.value == after[each.name] - before[each.name] >= 0 for each in metrics)
    assert all(after[name] < before[name] for name in reset)


def test_readings_take_numbers_as_they_come() -> None:
    assert readings((row("a", 1), row("b", 2.5, "gauge"))) == {
        "a": Reading(1.0, "bytes", counter=True), "b": Reading(2.5, "bytes", counter=False),
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
