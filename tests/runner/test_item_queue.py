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
