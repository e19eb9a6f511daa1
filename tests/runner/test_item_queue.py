"""Which item is handed out next: what others need first, and nothing that needs what will not be done."""

from __future__ import annotations

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
