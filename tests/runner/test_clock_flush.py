"""Items whose commits reach the disk together: none is told to have ended before they are there."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from tests.runner.test_clock import Told, items, run
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.steps import Step, Timed
from toolkit.model.words import Effect, Role
from toolkit.runner.clock import run_timed
from toolkit.runner.item_result import ItemResult
from toolkit.runner.stop import Stop

FLUSH = Step("flush", "flush", session=Role.WORKER, effect=Effect.CHANGES)


def timed(*names: str, workers: int = 1) -> Timed:
    return Timed(items(*names), workers=workers, flush=FLUSH)


def test_each_item_is_told_after_a_flush_by_the_worker_that_did_it() -> None:
    sessions, told = Told(), dict[str, list[tuple[int, str]]]()

    def tell(ended: Sequence[ItemResult]) -> None:
        told.update({each.item.label: [*sessions.ran] for each in ended})

    names = [f"i{number}" for number in range(40)]
    result = run_timed(timed(*names, workers=3), sessions, Stop(), on_items=tell)  # type: ignore[arg-type]
    assert {each.item.label for each in result.items if each.error is None} == set(names) == set(told)
    for each in result.items:
        ran = told[each.item.label]
        assert (each.worker, "flush") in ran[ran.index((each.worker, each.item.label)) :]


def test_the_wait_for_the_disk_counts_with_the_last_item_and_its_warnings_are_told() -> None:
    class Warns(Told):
        def run(self, step: Step, number: int = 0) -> Answer:
            answer = super().run(step, number)
            return replace(answer, warnings=("no standby has it",)) if step is FLUSH else answer

    result = run(Warns(), timed("a", "b"))
    first, last = sorted(result.items, key=lambda each: each.begin_seconds)
    assert (first.warnings, last.warnings) == ((), ("no standby has it",))
    assert result.elapsed_seconds == last.begin_seconds + last.elapsed_seconds


def test_items_whose_flush_fails_have_failed_with_it() -> None:
    sessions = Told(say={"flush": DatabaseError("No space left on device", code="53100")})
    result = run(sessions, timed("a", "b"))
    assert [each.error.code for each in result.items if each.error] == ["53100", "53100"]
    assert len(result.items) == 2 and not result.not_begun


def test_a_session_that_is_lost_loses_what_it_had_not_flushed() -> None:
    lost = DatabaseError("gone", code="57P01", lost=True)
    for broken in ("b", "flush"):
        result = run(Told(say={broken: lost, "flush": lost}), timed("a", "b", "c"))
        assert {each.item.label for each in result.items if each.error and each.error.lost} >= {"a", "b"}
        assert all(each.error for each in result.items)


def test_an_item_that_fails_is_told_with_its_own_error_and_the_others_are_flushed() -> None:
    result = run(Told(say={"b": DatabaseError("no", code="X1")}), timed("a", "b", "c"))
    assert {each.item.label: each.error and each.error.code for each in result.items} == {
        "a": None,
        "b": "X1",
        "c": None,
    }


def test_a_stop_cancels_a_flush_that_waits() -> None:
    stop = Stop()
    sessions = Told(waits_for_cancel=frozenset({"flush"}), waiting=stop.request)
    result = run(sessions, timed("a", "b"), stop)
    assert [each.error and each.error.cancelled for each in result.items] == [True, True]


def test_a_flush_that_is_never_answered_is_given_up_with_all_that_waited_for_it() -> None:
    released = threading.Event()

    class Silent(Told):
        def run(self, step: Step, number: int = 0) -> Answer:
            if step is FLUSH:
                stop.request()
                released.wait(300)
            return super().run(step, number)

        def abandon(self, role: Role, number: int = 0) -> None:
            pass

    stop = Stop()
    try:
        result = run_timed(
            timed("a", "b"),
            Silent(),
            stop,
            may_end=lambda: False,
            timeout_seconds=0,  # type: ignore[arg-type]
        )
    finally:
        released.set()
    assert sorted(each.item.label for each in result.items) == ["a", "b"]
    assert all(each.error is not None and each.error.lost for each in result.items)
