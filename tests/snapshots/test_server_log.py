"""Phases of a trial in a server's log: what was added meanwhile is read, wherever it is, and its clock judged."""

from __future__ import annotations

import os
import time
import tracemalloc
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from toolkit.design.output_metrics import read_phase
from toolkit.errors import ToolkitError
from toolkit.snapshots import server_log
from toolkit.snapshots.server_log import SOURCE, ServerLogProvider


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_log, "_LATE_SECONDS", (0.0,))


def line(text: str, seconds: float = 0.0) -> str:
    return f"{datetime.now(UTC) + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S.%f} UTC [1] LOG:  {text}\n"


def provider(pattern: Path | str, *phases: str) -> ServerLogProvider:
    return ServerLogProvider(str(pattern), [read_phase(text) for text in phases or ("load=begins..ends",)])


def append(path: Path, *lines: str) -> None:
    with path.open("a") as file:
        file.writelines(lines)


def seconds(watching: ServerLogProvider) -> dict[str, float]:
    found = watching.end()
    assert {metric.source for metric in found} <= {SOURCE}
    return {metric.name: round(metric.value, 3) for metric in found}


def test_only_what_was_added_meanwhile_counts_by_the_clock_of_the_log(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    append(log, line("begins", -9), line("ends", -8))
    watching = provider(log)
    watching.begin()
    at = datetime.now(UTC)
    append(log, *(f"{at + timedelta(seconds=part):%Y-%m-%d %H:%M:%S.%f} UTC {text}\n"
                  for part, text in ((0.0, "it begins"), (0.25, "ends"), (0.5, "ends"))))  # fmt: skip
    assert seconds(watching) == {"load_seconds": 0.25}
    assert watching.warnings() == ()
    watching.begin()
    assert seconds(watching) == {}
    assert watching.warnings() == (
        "the begin of the phase `load` is not in the server's log",
        "nothing with a time was added to the log meanwhile",
    )


def test_a_log_that_is_rotated_or_emptied_meanwhile_is_read_on(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    append(log, line("before"))
    watching = provider(tmp_path / "*.log")
    watching.begin()
    append(log, line("begins"))
    log.rename(tmp_path / "a.log.1")
    append(log, line("ends", 0.1))
    assert list(seconds(watching)) == ["load_seconds"]
    watching.begin()
    log.write_text(line("begins") + line("ends", 0.1))  # as copytruncate does
    append(tmp_path / "b.log", line("begins", 0.2))
    assert list(seconds(watching)) == ["load_seconds"]


def test_lines_without_a_time_have_that_of_a_line_before_the_beginning(tmp_path: Path) -> None:
    log = tmp_path / "alert.log"
    append(log, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}+00:00\n", "Starting\n")
    watching = provider(log)
    watching.begin()
    append(
        log, "it begins\n", f"{datetime.now(UTC) + timedelta(seconds=0.5):%Y-%m-%dT%H:%M:%S.%f}+00:00\n", "ends\n"
    )
    (found,) = watching.end()
    assert 0.5 <= found.value < 300


def test_a_line_that_is_still_being_written_is_none_yet(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    append(log)
    watching = provider(log)
    watching.begin()
    append(log, line("begins"), line("ends")[:-1])
    assert seconds(watching) == {}
    assert watching.warnings() == ("the end of the phase `load` is not in the server's log",)


@pytest.mark.parametrize(
    ("ahead", "around", "differs"),
    [
        (3600.0, 1.0, "3599.0 to 3601.0 s ahead of"),
        (-3600.0, 1.0, "3599.0 to 3601.0 s behind"),
        (3600.0, 0.0, "3600.0 s ahead of"),
    ],
)
def test_a_clock_that_differs_is_named_and_does_not_touch_the_phases(
    ahead: float, around: float, differs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, now = tmp_path / "server.log", [time.time()]
    append(log)
    monkeypatch.setattr(time, "time", lambda: now[0])
    watching = provider(log)
    watching.begin()
    at = datetime.fromtimestamp(now[0] + ahead, UTC)
    append(log, *(f"{at + timedelta(seconds=part):%Y-%m-%dT%H:%M:%S.%f}Z {text}\n"
                  for part, text in ((around, "begins"), (around + 2.0, "ends"))))  # fmt: skip
    now[0] += 2.0 + 2 * around
    assert seconds(watching) == {"load_seconds": 2.0}
    assert watching.warnings() == (
        f"its clock, or its time zone, is {differs} this host's; phases are by the log's clock alone",
    )


def test_how_coarse_its_times_are_is_said_of_short_phases(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    append(log)
    watching = provider(log, "one=a begins..a ends")
    watching.begin()
    append(log, *(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC {text}\n" for text in ("a begins", "a ends")))
    assert list(seconds(watching)) == ["one_seconds"]
    assert watching.warnings() == ("times in it are in steps of 1 s: `one` is known to that only",)


def test_a_name_with_signs_of_a_pattern_is_a_name(tmp_path: Path) -> None:
    log = tmp_path / "pg[1].log"
    append(log)
    watching = provider(log)
    watching.begin()
    append(log, line("begins"), line("ends"))
    assert list(seconds(watching)) == ["load_seconds"]


@pytest.mark.parametrize("name", ["none.log", "*.log", "."])
def test_a_log_that_cannot_be_read_is_refused_before_anything_runs(name: str, tmp_path: Path) -> None:
    with pytest.raises(ToolkitError, match="cannot be read") as caught:
        provider(tmp_path / name)
    assert caught.value.exit_code == 2


def test_a_pipe_is_refused_at_once_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "server.log")
    with pytest.raises(ToolkitError, match="a pipe"):
        provider(tmp_path / "server.log")


def test_a_line_without_an_end_takes_no_more_memory_than_is_looked_at(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    append(log, "")
    watching = provider(log)
    watching.begin()
    append(log, "x" * 20_000_000, "\n", line("begins"), line("ends"))
    tracemalloc.start()
    try:
        assert set(seconds(watching)) == {"load_seconds"}
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()
