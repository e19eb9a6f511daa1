"""Which item is handed out next: what others need first, and nothing that needs what will not be done."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import pytest

from toolkit.model.steps import TimedItem
from toolkit.runner.item_queue import ItemQueue
from toolkit.runner.stop import Stop


def item(label: str, *needs: str) -> TimedItem:
    return TimedItem(label, (), needs=needs)


def test_what_needs_an_item_that_no_longer_fits_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Stop()
    monkeypatch.setattr(stop, "fits", lambda label: label != "long")
    queue = ItemQueue((item("long"), item("after", "long"), item("last", "after"), item("short")), stop)
    assert queue.take() == item("short")
    assert queue.take() is None
    assert [each.label for each in queue.left()] == ["long", "after", "last"]


def test_what_needs_an_item_that_failed_is_not_done() -> None:
    queue = ItemQueue((item("first"), item("after", "first"), item("other")), Stop())
    first = queue.take()
    assert first == item("first")
    queue.done(first, well=False)
    assert queue.take() == item("other")
    assert queue.take() is None


def test_a_long_queue_is_not_looked_through_for_every_item(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, asked = Stop(), list[str]()
    monkeypatch.setattr(stop, "fits", lambda label: not asked.append(label))
    queue = ItemQueue([item(str(number)) for number in range(200)], stop)
    taken = [queue.take() for _ in range(200)]
    assert [each.label for each in taken if each is not None] == [str(number) for number in range(200)]
    assert len(asked) == 200


def test_of_items_that_do_not_fit_all_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, asked = Stop(), list[str]()
    monkeypatch.setattr(stop, "fits", lambda label: bool(asked.append(label)) or label == "fits")
    queue = ItemQueue((item("long"), item("fits"), item("longer")), stop)
    assert queue.take() == item("fits")
    assert queue.take() is None
    assert set(asked) == {"long", "fits", "longer"}


def test_of_many_workers_that_wait_one_looks_for_what_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [item("first"), *(item(f"after {number}", "first") for number in range(20))]
    queue, looked, often, taken = ItemQueue(items, Stop()), list[int](), threading.Event(), list[TimedItem]()
    first, look = queue.take(), queue._possible

    def possible() -> Iterable[TimedItem]:
        looked.append(threading.get_ident())
        if len(looked) == 3:
            often.set()
        return look()

    monkeypatch.setattr(queue, "_possible", possible)
    ready = threading.Barrier(21)

    def work() -> None:
        ready.wait()
        while (found := queue.take()) is not None:
            taken.append(found)

    workers = [threading.Thread(target=work) for _ in range(20)]
    for each in workers:
        each.start()
    ready.wait()
    assert often.wait(300)
    assert len(set(looked[:3])) == 1
    assert first is not None
    queue.done(first)
    for each in workers:
        each.join(300)
    assert sorted(each.label for each in taken) == sorted(each.label for each in items[1:])
