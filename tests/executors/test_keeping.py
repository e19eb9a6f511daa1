"""When a program that is to end gets which signal."""

from __future__ import annotations

import signal
from typing import cast

import pytest

from toolkit.errors import ToolkitError
from toolkit.executors import keeping
from toolkit.runner import Stop

INT, TERM, KILL = int(signal.SIGINT), int(signal.SIGTERM), int(signal.SIGKILL)


@pytest.mark.parametrize(
    ("closed", "own", "expected"),
    [
        (False, False, {0: INT, 10: TERM, 15: KILL}),
        (True, False, {0: INT, 2: TERM, 3: KILL}),
        (True, True, {0: INT}),
        (False, True, {0: INT}),
    ],
    ids=["asked to end", "its window is closed", "one of dbatk's own", "one of dbatk's own, whose window is open"],
)
def test_a_program_gets_less_time_once_its_window_is_closed(
    monkeypatch: pytest.MonkeyPatch, closed: bool, own: bool, expected: dict[int, int]
) -> None:
    now, sent = 100.0, dict[int, int]()

    def send(link: object, order: dict[str, object]) -> None:
        sent[round(now - 100)] = cast("int", order["signal"])

    monkeypatch.setattr(keeping.keeper, "send", send)
    monkeypatch.setattr(keeping.time, "monotonic", lambda: now)
    kept = keeping._Keeper(cast("keeping.subprocess.Popen[bytes]", None), cast("keeping.socket.socket", None))
    kept.own = own
    for after in range(20):
        now = 100.0 + after
        kept.escalate(closed=closed)
    assert sent == expected


def test_a_stop_says_that_the_window_is_closed_only_where_it_is() -> None:
    for code, closed in (("TK-0310", True), ("TK-0302", False)):
        stop = Stop()
        assert not stop.closed
        stop.request(ToolkitError("it ends", code=code))
        assert stop.closed is closed
    asked = Stop()
    asked.request()
    assert asked.hurried and not asked.closed
