"""Users at work: what they draw, what is counted of them, and what a process of theirs is told."""

from __future__ import annotations

import json
import math
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest

from toolkit.dialects.registry import dialect_of
from toolkit.executors.users.crew import Crew, _Window
from toolkit.executors.users.hosts import Act, Order, ThisHost
from toolkit.executors.users.orders import measured_of, workload_of
from toolkit.executors.users.users import refuse_what_is_outside
from toolkit.executors.users.values import Zipf, choice_of, drawing
from toolkit.model.protocols import DatabaseError
from toolkit.model.workload import (
    CALL_SECONDS,
    CALL_TRANSACTIONS,
    Draw,
    Drawn,
    Measured,
    Told,
    Transaction,
    Workload,
    bucket_of,
    percentile,
    seconds_of,
)
from toolkit.targets.base import Chosen, Looped


# -- what they draw -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("skew", [0.5, 1.0, 1.3])
def test_zipf_draws_each_number_as_often_as_its_exponent_says(skew: float) -> None:
    draw = Zipf(1000, skew, random.Random(1).random)
    drawn = [draw() for _ in range(60_000)]
    whole = sum(n**-skew for n in range(1, 1001))
    assert (min(drawn), max(drawn) <= 1000) == (1, True)
    for number in (1, 2, 5):
        expected = len(drawn) * number**-skew / whole
        assert abs(drawn.count(number) - expected) < 5 * math.sqrt(expected)
    upper = sum(n > 500 for n in drawn)
    assert abs(upper - len(drawn) * sum(n**-skew for n in range(501, 1001)) / whole) < 5 * math.sqrt(upper)


def test_a_number_of_a_sequence_is_drawn_by_one_user_once() -> None:
    one = Transaction("t", ("SELECT :n",), 1, (Drawn("n", Draw.SEQUENCE, low=10),))
    drawn = []
    for user in range(3):
        draw = drawing(one, random.Random(user), (user, 3), {})
        drawn += [draw()["n"] for _ in range(4)]
    assert sorted(drawn) == list(range(10, 22))


def test_a_sequence_goes_on_after_what_the_table_has() -> None:
    one = Transaction("t", ("SELECT :n",), 1, (Drawn("n", Draw.SEQUENCE, read="SELECT max"),))
    draw = drawing(one, random.Random(1), (1, 2), {"SELECT max": ["41"]})
    assert [draw()["n"] for _ in range(3)] == [43, 45, 47]


def test_transactions_are_chosen_by_weight() -> None:
    choose = choice_of([Transaction("a", (), 1), Transaction("b", (), 3)], random.Random(7))
    chosen = [choose() for _ in range(10_000)]
    assert abs(chosen.count(1) - 7500) < 5 * math.sqrt(7500 * 0.25)


def test_uniform_reaches_both_ends_and_nothing_beyond() -> None:
    draw = drawing(Transaction("t", (), 1, (Drawn("n", low=-2, high=2),)), random.Random(1), (0, 1), {})
    assert {draw()["n"] for _ in range(500)} == {-2, -1, 0, 1, 2}


# -- what is counted ----------------------------------------------------------------------------------------------
def test_a_latency_is_known_to_a_quarter_of_a_per_cent() -> None:
    own = random.Random(3)
    for seconds in (10 ** own.uniform(-6, 3) for _ in range(500)):
        assert abs(seconds_of(bucket_of(seconds)) / seconds - 1) < 0.0025


def test_percentiles_are_those_of_the_latencies_themselves() -> None:
    own = random.Random(5)
    latencies = sorted(own.lognormvariate(-5, 1) for _ in range(999))
    counts: dict[int, int] = {}
    for one in latencies:
        counts[bucket_of(one)] = counts.get(bucket_of(one), 0) + 1
    for percent in (1, 50, 95, 99.9, 100):
        found = percentile(counts, percent)
        assert found == pytest.approx(latencies[math.ceil(999 * percent / 100) - 1], rel=0.005)
    assert percentile({}, 50) is None


def test_what_two_processes_counted_is_added() -> None:
    one = Measured({"a": Told({1: 2}, {"x": 1})}, [1, 2], 0.5, 0.4, 1)
    one.add(Measured({"a": Told({1: 1, 2: 1}, {"x": 2, "y": 1}), "b": Told({3: 1})}, [1, 1, 7], 0.25, 0.9, 2))
    assert one.transactions["a"].latencies == {1: 3, 2: 1}
    assert one.transactions["a"].errors == {"x": 3, "y": 1}
    assert (one.seconds, one.driver_seconds, one.busiest_part, one.behind) == ([2, 3, 7], 0.75, 0.9, 3)


@dataclass
class Driving:
    """A process of users that drove them for so many seconds of CPU time, half of one processor."""

    seconds: float

    def ask(self, order: Mapping[str, object]) -> None:
        """Nothing."""

    def answer(self, seconds: float, look: Callable[[], None]) -> dict[str, object]:
        return asdict(Measured(driver_seconds=self.seconds, busiest_part=0.5))


@pytest.mark.parametrize(("processors", "part"), [(2, 1.0), (16, 0.5)])
def test_processes_that_fill_a_host_together_are_told_though_none_fills_a_processor(
    monkeypatch: pytest.MonkeyPatch, processors: int, part: float
) -> None:
    nowhere: Any = None
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    host = ThisHost(nowhere, "run", {})
    host._processes = [Driving(2.0) for _ in range(4)]  # type: ignore[misc]
    host.ask(Order(Act.MEASURE, at=(10.0, 14.0)))
    assert host.answer(lambda: None).busiest_part == part


# -- what a process is told ---------------------------------------------------------------------------------------
def test_a_workload_comes_through_the_socket_as_it_is() -> None:
    drawn = (Drawn("n", Draw.ZIPF, 1, 9, 1.2), Drawn("c", Draw.CHOICE, values=("é", "b"), column="t.c"))
    one = Workload(
        (Transaction("t", ("SELECT :n", "SELECT :c"), 2.5, drawn),), 7, 3.0, settings=("SET x",), loop=("CALL",)
    )
    assert workload_of(json.loads(json.dumps(asdict(one)))) == one


def test_what_was_measured_comes_back_as_it_is() -> None:
    found = Measured({"a": Told({-3: 2}, {"40001": 1}, {"40P01": 4}, {"40001": "no"})}, [3], 0.1, 0.2, 5)
    assert measured_of(json.loads(json.dumps(asdict(found)))) == found


# -- how they work ------------------------------------------------------------------------------------------------
@dataclass
class Session:
    """A session that does what it is told to: it fails with these codes in turn, then waits."""

    fails: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    retried: frozenset[str] = frozenset({"40001"})
    ran: int = 0
    closed: bool = False

    def prepare(self, workload: Workload) -> None:
        """Nothing."""

    def read(self, query: str) -> list[str | int]:
        return [query]

    def bind(self, which: int, values: Mapping[str, str | int]) -> Callable[[], None]:
        return self.run

    def run(self) -> None:
        self.ran += 1
        if self.fails:
            code = self.fails.pop(0)
            raise DatabaseError(f"it failed with {code}", code=code, lost=code == "08006")
        threading.Event().wait(self.waits.pop(0) if self.waits else 0.001)

    def cancel(self) -> None:
        """Nothing."""

    def close(self) -> None:
        self.closed = True


def worked(session: Session, seconds: float = 0.25, **more: float) -> tuple[Crew, Measured]:
    """Let one user work, and measure from the beginning on."""
    work = Workload((Transaction("t", ("SELECT 1",)),), **more)  # type: ignore[arg-type]
    return measured(Crew(work, [0], lambda: session), seconds)


def measured(crew: Crew, seconds: float) -> tuple[Crew, Measured]:
    crew.connect()
    begin = time.monotonic() + 0.01

    def wait(until: float) -> None:
        if not crew._threads:  # by now all that the user does is noted, however late that is
            crew.begin(begin)
        threading.Event().wait(max(0.0, until - time.monotonic()))

    found = crew.measure(begin, begin + seconds, wait)
    crew.end()
    return crew, found


def test_what_was_given_up_for_others_is_tried_again_and_counted() -> None:
    session = Session(fails=["40001", "40001"])
    _, found = worked(session, tries=5)
    told = found.transactions["t"]
    assert (told.retries, told.errors) == ({"40001": 2}, {})
    assert told.done > 0
    assert sum(found.seconds) == told.done
    assert session.closed


def test_what_fails_is_counted_by_its_code_and_the_user_goes_on() -> None:
    _, found = worked(Session(fails=["22012", "40001", "40001"]), tries=2)
    told = found.transactions["t"]
    assert told.errors == {"22012": 1, "40001": 1}
    assert told.messages == {"22012": "it failed with 22012", "40001": "it failed with 40001"}
    assert told.done > 0


def test_a_lost_session_ends_the_crew_with_its_error() -> None:
    crew, _ = worked(Session(fails=["08006"]))
    assert crew.error is not None
    assert crew.error.lost


@dataclass
class Looping(Session):
    """A session with a loop in the server, which ends each call with what it is told, in turn."""

    calls: list[Looped] = field(default_factory=list)
    given: list[list[Chosen]] = field(default_factory=list)

    def loop(self, chosen: Sequence[Chosen], seconds: float) -> Looped:
        assert len(chosen) == CALL_TRANSACTIONS and seconds <= CALL_SECONDS
        self.given.append(list(chosen))
        threading.Event().wait(0.02)
        return self.calls.pop(0) if self.calls else Looped([0.001, 0.002])


def error(code: str) -> DatabaseError:
    return DatabaseError(f"it failed with {code}", code=code, lost=code == "08006")


def called(*calls: Looped, **more: float) -> tuple[Crew, Looping, Told]:
    """Let a user make these calls and two more, in a longer interval where a busy machine gave it no time."""
    for seconds in (0.25, 1.0, 4.0, 16.0, 64.0):
        session, drawn = Looping(calls=list(calls)), (Drawn("n", Draw.SEQUENCE),)
        work = Workload((Transaction("t", ("SELECT :n",), 1, drawn),), loop=("CALL",), **more)  # type: ignore[arg-type]
        crew, found = measured(Crew(work, [0], lambda session=session: session), seconds)  # type: ignore[misc]
        if len(session.given) >= len(calls) + 2:
            break
    return crew, session, found.transactions["t"]


def test_what_a_call_did_not_come_to_is_given_to_the_next_one() -> None:
    _, session, told = called(Looped([0.001]), Looped([0.001, 0.003]))
    first = [[one.values["n"] for one in given[:3]] for given in session.given[:3]]
    assert first == [[1, 2, 3], [2, 3, 4], [4, 5, 6]]
    assert 3 < told.done <= 3 + 2 * (len(session.given) - 2)


def test_latencies_of_a_loop_go_from_one_end_to_the_next() -> None:
    _, _, told = called(Looped([0.001, 0.003, 0.007]))
    assert sorted(round(seconds_of(bucket), 4) for bucket in told.latencies) == [0.001, 0.002, 0.004]


def test_what_a_loop_gave_up_is_tried_again_with_its_whole_latency_and_counted_once() -> None:
    again = Looped([], error("40001"))
    _, session, told = called(Looped([0.001], error("40001")), again, Looped([0.001]), tries=5)
    assert [given[0].values["n"] for given in session.given[:4]] == [1, 2, 2, 3]
    assert (told.retries, told.errors) == ({"40001": 2}, {})
    assert max(seconds_of(bucket) for bucket in told.latencies) > 0.04


def test_what_fails_in_a_loop_is_counted_by_its_code_and_left_behind() -> None:
    lost = Looped([0.001], error("22012")), Looped([], error("40001")), Looped([], error("40001"))
    _, session, told = called(*lost, tries=2)
    assert told.errors == {"22012": 1, "40001": 1}
    assert [given[0].values["n"] for given in session.given[:4]] == [1, 3, 3, 4]


@dataclass
class Slow(Looping):
    """A session whose first call ends long after the interval, in which its transactions ended."""

    def loop(self, chosen: Sequence[Chosen], seconds: float) -> Looped:
        threading.Event().wait(0.6)
        return super().loop(chosen, seconds)


def test_an_interval_waits_for_the_call_that_tells_what_ended_in_it() -> None:
    work = Workload((Transaction("t", ("SELECT 1",)),), loop=("CALL",))
    _, found = measured(Crew(work, [0], lambda: Slow(calls=[Looped([0.001, 0.002, 0.003])])), 0.25)
    assert found.transactions["t"].done == 3


@dataclass
class Broken(Session):
    """A session with a fault of its own."""

    def run(self) -> None:
        raise ValueError("it cannot read its answer")


def test_a_fault_that_is_none_of_the_database_ends_the_crew_with_its_error() -> None:
    crew, _ = worked(Broken())
    assert crew.error is not None and (crew.error.code, crew.error.lost) == ("ValueError", True)


class Late(list[float]):
    """What a user noted, who notes one more whenever somebody looks at a part of it."""

    def __getitem__(self, part: object) -> list[float]:  # type: ignore[override]
        assert isinstance(part, slice)
        found = list(self)[part]
        self.extend((0.5, 0.001))
        return found


def test_what_a_user_notes_late_does_not_end_the_measurement() -> None:
    work = Workload((Transaction("t", ("SELECT 1",)),))
    window = _Window(0.0, 1.0, [Told()], [0, 0], [Late([0.1, 0.001, 0.2, 0.001])])
    assert window.measured(work).transactions["t"].done == 2


def test_a_stall_delays_all_that_was_to_begin_meanwhile() -> None:
    """In an open loop the latency counts from the planned begin: one stall is not one slow transaction."""
    _, open_loop = worked(Session(waits=[0.2]), seconds=0.5, rate=200.0)
    slow = sum(n for bucket, n in open_loop.transactions["t"].latencies.items() if seconds_of(bucket) > 0.05)
    assert slow > 10
    _, closed_loop = worked(Session(waits=[0.2]), seconds=0.5)
    slow = sum(n for bucket, n in closed_loop.transactions["t"].latencies.items() if seconds_of(bucket) > 0.15)
    assert slow < 5


def test_what_could_not_begin_in_time_is_told() -> None:
    _, found = worked(Session(waits=[0.3] * 5), seconds=0.3, rate=1000.0)
    assert found.behind > 100


# -- what a trial fails of ----------------------------------------------------------------------------------------
def test_a_trial_whose_disk_was_full_meanwhile_fails_however_much_ended_well() -> None:
    told = Told(
        {bucket_of(0.01): 740}, {"53100": 16_000, "23505": 3}, {}, {"53100": "No space left", "23505": "twice"}
    )
    with pytest.raises(
        DatabaseError, match="16,000 of 16,743 transactions failed of what no configuration"
    ) as failed:
        refuse_what_is_outside(Measured({"pay": told}), dialect_of("postgresql").explain)
    assert failed.value.code == "53100" and "No space left" in failed.value.message


def test_what_fails_by_itself_or_by_others_at_work_fails_no_trial() -> None:
    codes = ("23505", "40001", "40P01", "55P03", "P0001")
    told = Told({bucket_of(0.01): 5}, dict.fromkeys(codes, 100), {}, dict.fromkeys(codes, "no"))
    refuse_what_is_outside(Measured({"pay": told}), dialect_of("postgresql").explain)
