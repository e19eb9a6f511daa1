"""Nothing waits without end for a session that does not answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.runner.context import context_of, warnings_of
from tests.runner.world import RUN, World
from tests.store.make import head
from toolkit.dialects.work import Work
from toolkit.executors import Sessions
from toolkit.model.protocols import Answer
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import QualifiedName
from toolkit.model.words import Mode, ObjectKind, Role
from toolkit.runner import context, monitor, waits
from toolkit.runner.monitor import Sampler, within
from toolkit.snapshots import CounterProvider
from toolkit.store import Store, open_store
from toolkit.targets.base import Target


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        opened.create_run(head(RUN))
        yield opened


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """What a hung session waits for: it comes when the test is over."""
    event = threading.Event()
    yield event
    event.set()


def test_work_that_ends_gives_its_result_and_raises_what_it_raised() -> None:
    assert within(5.0, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(5.0, lambda: 1 // 0)


def test_work_that_does_not_end_is_given_up(never: threading.Event) -> None:
    with pytest.raises(TimeoutError):
        within(0.01, never.wait)


class Silent:
    """A provider whose first sample never comes."""

    name = "silent"
    after_evidence = True

    def __init__(self, never: threading.Event) -> None:
        self.never = never
        self.asked = threading.Event()

    def sample(self, at_seconds: float) -> tuple[()]:
        self.asked.set()
        self.never.wait()
        return ()


def test_a_sampler_that_waits_for_an_answer_is_not_waited_for(never: threading.Event) -> None:
    provider = Silent(never)
    sampler = Sampler([provider])  # type: ignore[list-item]
    sampler.begin()
    assert provider.asked.wait(300)
    assert not sampler.end(0.01)
    assert sampler.samples() == ()


class Mute(World):
    """A world whose monitor session never answers; notes that it was given up."""

    abandoned: tuple[Role, ...] = ()

    def abandon(self, role: Role, number: int = 0) -> None:
        del number
        self.abandoned += (role,)


def test_counters_that_do_not_come_are_said_and_the_trial_goes_on(
    kept: Store, never: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(step: Step) -> Answer:
        del step
        never.wait()
        return Answer()

    monkeypatch.setattr(monitor, "TIMEOUT_SECONDS", 0.01)
    world = Mute()
    context = context_of(world, kept)
    provider = CounterProvider("vstat", "oracle", ask, RUN, snapshot="snapshot_vstat")
    assert monitor.in_time(context, provider, provider.end, ()) == ()
    assert world.abandoned == (Role.MONITOR,)
    assert warnings_of(context) == [
        "the monitor session did not respond and was abandoned; vstat: counters are missing"
    ]


def test_a_control_session_that_does_not_tell_who_waits_is_given_up_within_seconds(
    kept: Store, never: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Silenced(Mute):
        def run(self, step: Step, number: int = 0) -> Answer:
            del step, number
            never.wait()
            return Answer()

    assert waits._ANSWER_SECONDS <= 5, "the clock's thread waits here"
    monkeypatch.setattr(waits, "_ANSWER_SECONDS", 0.01)
    world = Silenced()
    context = context_of(world, kept, operation="index-build")
    ref = ObjectRef(ObjectKind.INDEX, QualifiedName("IX", "APP"), table=QualifiedName("T", "APP"))
    online = Work("index-build", Mode.JOB, ref, {"online": True})
    watch = waits.TransactionWaits(context, [online])
    assert watch.overdue({}) == {} and world.abandoned == (Role.CONTROL,)
    assert "not bounded: the control session does not respond" in warnings_of(context)[0]


class Hung:
    """A connection whose farewell never comes back."""

    def __init__(self, never: threading.Event) -> None:
        self.never = never
        self.closing = threading.Event()

    def close(self) -> None:
        self.closing.set()
        self.never.wait()


def test_an_abandoned_session_is_replaced_at_once(never: threading.Event) -> None:
    made: list[Hung] = []

    class Here(Target):
        engine = "postgresql"

        def connect(self, *parts: object, **more: Mapping[str, object]) -> Hung:  # type: ignore[override]
            del parts, more
            made.append(Hung(never))
            return made[-1]

    sessions = Sessions(Here.__new__(Here), RUN)
    first = sessions.get(Role.MONITOR)
    assert sessions.get(Role.MONITOR) is first
    sessions.abandon(Role.MONITOR)
    assert sessions.get(Role.MONITOR) is not first
    assert len(made) == 2
    assert made[0].closing.wait(300)


@pytest.mark.parametrize("answers", [True, False])
def test_a_cancel_that_is_waited_for_is_said_once(
    answers: bool, monkeypatch: pytest.MonkeyPatch, kept: Store
) -> None:
    monkeypatch.setattr(context, "may_still_end", lambda _: answers)
    of_run = context_of(World(), kept)
    assert [of_run.may_still_end() for _ in range(2)] == [answers] * 2
    said = warnings_of(of_run)
    assert len(said) == int(answers)
    assert not said or ("has not ended yet" in said[0] and "`dbatk clean`" in said[0])
