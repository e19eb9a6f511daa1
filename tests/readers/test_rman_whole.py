"""Logs read whole: all that a session says in one comparison, however its lines come."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.readers.rman_samples import ENGLISH, NUMBERED, TENG, whole_log
from tests.readers.test_rman_forms import failover
from toolkit.readers.rman import decode
from toolkit.readers.rman import log as reader
from toolkit.readers.rman.log import read_file, read_log
from toolkit.readers.rman.model import log_document

HERE = Path(__file__).parent
SESSION = (HERE / "rman_session.txt").read_text(encoding="utf-8").split("\n")
LOGS = {
    "session": SESSION, "english": whole_log(ENGLISH), "10g": whole_log(TENG), "numbered": whole_log(NUMBERED),
    "failover": failover(),
}  # fmt: skip


def test_all_that_a_session_says_is_read() -> None:
    """Two sets of one piece or more, a section, copies, logs, an image copy, lists, a restore, a validation."""
    wanted = json.loads((HERE / "rman_session.json").read_text(encoding="utf-8"))
    assert log_document(read_log(SESSION), "log") == wanted


@pytest.mark.parametrize("name", LOGS)
def test_whole_messages_and_single_lines_say_the_same(name: str) -> None:
    """What is indented is no whole message, and is read line by line."""
    assert read_log([f" {line}" if line else line for line in LOGS[name]]) == read_log(LOGS[name])


@pytest.mark.parametrize(("step", "tail"), [(1, 0), (7, 40), (64, 700), (1000, 1)])
def test_where_the_blocks_of_a_file_end_does_not_matter(
    step: int, tail: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = "\r\n".join(SESSION).encode()
    whole = read_file(io.BytesIO(raw))
    monkeypatch.setattr(decode, "_STEP", step)
    monkeypatch.setattr(decode, "_SNIFFED", step)
    monkeypatch.setattr(reader, "_TAIL", tail)
    assert read_file(io.BytesIO(raw)) == whole
