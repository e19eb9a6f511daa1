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
        (None, False, {0: INT, 10: TERM, 15: KILL}),
        (0, False, {0: INT, 2: TERM, 3: KILL}),
        (5, False, {0: INT, 7: TERM, 8: KILL}),
        (12, False, {0: INT, 10: TERM, 15: KILL}),
        (0, True, {0: INT}),
        (None, True, {0: INT}),
    ],
    ids=[
        "asked to end",
        "its window is closed",
        "its window closes as it ends",
        "and as it ends by force",
        "one of dbatk's own",
        "one of dbatk's own, whose window is open",
    ],
)
def test_a_program_gets_less_time_once_its_window_is_closed(
    monkeypatch: pytest.MonkeyPatch, closed: int | None, own: bool, expected: dict[int, int]
) -> None:
    now, sent = 100.0, dict[int, int]()

    def send(link: object, order: dict[str, object]) -> None:
        assert round(now - 100) not in sent, "one signal at a time"
        sent[round(now - 100)] = cast("int", order["signal"])

    monkeypatch.setattr(keeping.keeper, "send", send)
    monkeypatch.setattr(keeping.time, "monotonic", lambda: now)
    kept = keeping._Keeper(cast("keeping.subprocess.Popen[bytes]", None), cast("keeping.socket.socket", None))
    for _ in ("one program", "the next that it keeps"):
        kept.begin(own=own)
        sent.clear()
        for after in range(20):
            now = 100.0 + after
            kept.escalate(closed=closed is not None and after >= closed)
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
