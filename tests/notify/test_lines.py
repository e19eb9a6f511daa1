"""Lines of a log: whose they are, how bad, and that rotation and a full disk disturb nobody."""

from __future__ import annotations

import json
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from tests.for_each import for_each
from toolkit.errors import ToolkitError
from toolkit.model.protocols import Event, TaggedEvents
from toolkit.notify.lines import LogLines, appending


def logged(*events: Event) -> list[dict[str, object]]:
    lines: list[str] = []
    log = LogLines(lines.append)
    for event in events:
        log.emit(event)
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
    return [json.loads(line) for line in lines]


def test_a_line_says_when_in_utc_what_and_how_bad() -> None:
    lines: list[str] = []
    berlin = timezone(timedelta(hours=1))
    LogLines(lines.append, now=lambda: datetime(2026, 11, 22, 1, 30, tzinfo=berlin)).emit(Event("warning", "full"))
    assert json.loads(lines[0]) == {
        "time": "2026-11-22T00:30:00.000Z", "level": "warning", "event": "warning", "message": "full",
    }  # fmt: skip


@for_each(
    ("event", "level"),
    [
        (Event("trial-ended", "", {"outcome": "ok"}), "info"),
        (Event("trial-ended", "", {"outcome": "failed"}), "error"),
        (Event("trial-ended", "", {"outcome": "downgraded"}), "warning"),
        (Event("step", "", {"state": "skipped"}), "warning"),
        (Event("run-ended", "", {"state": "interrupted"}), "error"),
        (Event("setup", ""), "info"),
    ],
)
def test_levels_follow_what_became_of_it(event: Event, level: str) -> None:
    assert logged(event)[0]["level"] == level


def test_lines_of_runs_that_work_at_once_keep_their_ids() -> None:
    lines: list[str] = []
    log = LogLines(lines.append)
    log.emit(Event("plan-begun", "", {"plan_run": "P"}))
    both = [TaggedEvents(log, {"run": run, "step": f"step {run}"}) for run in ("A", "B")]
    for kind in ("mode", "warning", "run-ended"):
        for run, events in zip(("A", "B"), both, strict=True):
            events.emit(Event(kind, run, {"trial": 1}))
    log.emit(Event("warning", "nobody's"))
    found = [json.loads(line) for line in lines]
    assert all(line["run"] == line["message"] for line in found if line["message"] in ("A", "B"))
    assert all(line["step"] == f"step {line['run']}" for line in found if "run" in line)
    assert {line["plan_run"] for line in found} == {"P"}
    assert "run" not in found[-1]


def test_an_error_belongs_to_the_only_run_at_work() -> None:
    lines: list[str] = []
    log = LogLines(lines.append)
    for run in ("A", "B"):
        log.emit(Event("mode", "", {"run": run}))
    log.emit(Event("run-ended", "", {"run": "A"}))
    log.error(ToolkitError("no space", code="TK-0204"))
    assert json.loads(lines[-1])["run"] == "B"


def test_a_bar_for_eyes_makes_no_lines() -> None:
    assert logged(Event("statement-progress", "sorting", {"percent": 3})) == []


def test_strange_values_and_texts_stay_one_line_of_json() -> None:
    (line,) = logged(
        Event("warning", "a\nb\u2028\x1b[31m", {"eta_seconds": float("nan"), "path": Path("/x"), "n": 1})
    )
    assert line["message"] == "a\nb\u2028\x1b[31m"
    assert line["data"] == {"eta_seconds": None, "path": "/x", "n": 1}


def test_a_rotated_file_is_written_anew_and_a_truncated_one_from_its_begin(tmp_path: Path) -> None:
    file = tmp_path / "log"
    log = LogLines(appending(file))
    log.emit(Event("setup", "one"))
    file.rename(tmp_path / "log.1")
    log.emit(Event("setup", "two"))
    assert "one" in (tmp_path / "log.1").read_text() and "two" in file.read_text()
    file.write_text("")
    log.emit(Event("setup", "three"))
    assert json.loads(file.read_text())["message"] == "three"
    assert file.stat().st_mode & 0o777 == 0o600


def test_two_writers_share_a_file(tmp_path: Path) -> None:
    file = tmp_path / "log"
    logs = [LogLines(appending(file)) for _ in range(4)]

    def work(log: LogLines) -> None:
        for at in range(50):
            log.emit(Event("setup", "x" * at))

    threads = [threading.Thread(target=work, args=(log,)) for log in logs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([json.loads(line) for line in file.read_text().splitlines()]) == 200


def test_a_log_that_cannot_be_written_disturbs_nobody_and_is_remembered() -> None:
    def full(_: str) -> None:
        raise OSError(28, "No space left on device")

    log = LogLines(full)
    log.emit(Event("setup", "one"))
    assert log.trouble == "No space left on device"


def test_a_file_that_cannot_be_opened_is_refused_before_anything_begins(tmp_path: Path) -> None:
    with pytest.raises(ToolkitError) as caught:
        appending(tmp_path / "missing" / "log")
    assert caught.value.code == "TK-0405"
