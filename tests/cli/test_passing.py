"""Whoever stops reading what dbatk writes halts no run, and no end of a command."""

from __future__ import annotations

import io
import json
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.conftest import TWO_STEPS, Dbatk
from toolkit.cli import listening, passing
from toolkit.cli.main import main
from toolkit.cli.passing import PassedOn, written
from toolkit.model.protocols import Event
from toolkit.notify.lines import LogLines


class Heard:
    """Keeps what it is told; waits before it takes anything until it is let."""

    def __init__(self, *, halted: bool = False) -> None:
        self.texts: list[str] = []
        self.let = threading.Event()
        if not halted:
            self.let.set()

    def emit(self, event: Event) -> None:
        self.let.wait()
        self.texts.append(event.text)


class Halted(io.TextIOWrapper):
    """A pipe that is full and that nobody reads, until it is let."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")
        self.let = threading.Event()

    def write(self, text: str) -> int:
        self.let.wait()
        return super().write(text)


@pytest.fixture(autouse=True)
def own_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    monkeypatch.setattr(passing, "_LONGEST_SECONDS", 0.05)


def event(number: int) -> Event:
    return Event("warning", str(number))


def test_events_are_written_in_their_order_and_all_of_them_before_the_end() -> None:
    heard = Heard()
    with PassedOn(heard) as events:
        for number in range(1000):
            events.emit(event(number))
    assert heard.texts == [str(number) for number in range(1000)]


def test_a_question_comes_after_what_happened_before() -> None:
    heard = Heard()
    with PassedOn(heard) as events:
        events.emit(event(1))
        written()
        assert heard.texts == ["1"]
    written()


def test_where_nobody_takes_what_is_written_nobody_waits_and_the_memory_does_not_fill(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passing, "_MOST_WAITING", 10)
    heard, screen = Heard(halted=True), sys.stderr
    with PassedOn(heard) as events:
        for number in range(1000):
            events.emit(event(number))
    assert heard.texts == [] and sys.stderr is not screen
    heard.let.set()


def test_a_host_that_starts_no_more_threads_writes_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    heard = Heard()
    monkeypatch.setattr(threading.Thread, "start", refuses)
    with PassedOn(heard) as events:
        events.emit(event(1))
        assert heard.texts == ["1"]


def test_a_run_ends_well_though_nobody_reads_what_it_says(
    dbatk: Dbatk, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    halted = Halted()
    with monkeypatch.context() as unread:
        unread.setattr(sys, "stderr", halted)
        assert main(["ctas", "-t", url, "--source", "small", "--table", "made"]) == 0
    halted.let.set()
    assert " ok " in dbatk("runs", "list").out


def test_a_thread_that_died_as_it_began_leaves_nothing_unwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Heard()
    monkeypatch.setattr(threading.Thread, "run", lambda self: None)
    with PassedOn(heard) as passing_on:
        passing_on.emit(Event("warning", "one"))
        passing_on.emit(Event("warning", "two"))
        written()
        assert heard.texts == ["one", "two"]
    assert not passing._PASSING


@pytest.mark.usefixtures("url")
def test_a_terminal_that_is_halted_halts_no_log_file_and_what_a_file_lost_is_told(
    dbatk: Dbatk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    halted, log = Halted(), tmp_path / "run.log"
    Path("plan.toml").write_text(TWO_STEPS)
    with monkeypatch.context() as unread:
        unread.setattr(sys, "stderr", halted)
        assert main(["run", "plan.toml", "--log-file", str(log)]) == 0
    halted.let.set()
    texts = [json.loads(line)["message"] for line in log.read_text().splitlines()]
    assert any("index" in text and " ok" in text for text in texts), texts

    monkeypatch.setattr(LogLines, "emit", lambda self, event: threading.Event().wait(1))
    told = dbatk("run", "plan.toml", "--log-file", str(log)).err
    assert "warning: log lines were lost" in told and "were not taken in time" in told


def test_the_end_of_a_live_line_is_not_waited_for_where_the_terminal_takes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listening, "_STOP_SECONDS", 0.05)
    let, screen = threading.Event(), sys.stderr
    listening._stopped(SimpleNamespace(stop=let.wait))  # type: ignore[arg-type]
    assert sys.stderr is not screen, "nobody writes there any more"
    let.set()
