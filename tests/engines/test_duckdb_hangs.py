"""DuckDB may wait for itself without end where a statement is interrupted: such a one is given up."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import duckdb
import psutil
import pytest

from tests.cli.conftest import Dbatk, dbatk, home, url
from toolkit.config.urls import parse_url
from toolkit.executors import reaching
from toolkit.executors.reaching import may_still_end, silent_seconds
from toolkit.model.protocols import Answer
from toolkit.model.values import Scalar
from toolkit.targets.base import Access
from toolkit.targets.duckdb import DuckdbConnection, DuckdbTarget

__all__ = ["dbatk", "home", "url"]


@dataclass
class Watched:
    """This process as it is seen: each look puts it forward by what stands for it, and by nothing afterwards."""

    seconds: float = 10.0
    read: int = 10 << 20
    used: list[float] = field(default_factory=list)
    moved: list[int] = field(default_factory=list)
    looks: int = 0
    slept: float = 0.0

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.looks += 1
        self.slept += seconds
        self.seconds += self.used.pop(0) if self.used else 0.0
        self.read += self.moved.pop(0) if self.moved else 0

    def io_counters(self) -> SimpleNamespace:
        return SimpleNamespace(read_chars=self.read, write_chars=5, read_bytes=0, write_bytes=0)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Watched:
    process = Watched()
    monkeypatch.setattr(time, "process_time", lambda: process.seconds)
    monkeypatch.setattr(time, "sleep", process.sleep)
    monkeypatch.setattr(psutil, "Process", lambda: process)
    monkeypatch.setattr(reaching, "_TASKS", tmp_path / "task")
    shown(tmp_path, "S")
    return process


def shown(folder: Path, state: str) -> None:
    """Show the threads of this process, one of a misleading name in a state."""
    for number, line in ((7, "7 (python) S 1 7 7"), (8, f"8 (a) D (b c) {state} 1 7 7"), (9, "")):
        (folder / "task" / str(number)).mkdir(parents=True, exist_ok=True)
        (folder / "task" / str(number) / "stat").write_text(line)


def may_end() -> bool:
    return may_still_end(DuckdbTarget(Access(parse_url("duckdb:///:memory:"))))


MB = 1 << 20


@pytest.mark.parametrize(
    ("used", "moved", "may", "looks"),
    [
        ([], [], False, 5),
        ([0.5], [], True, 1),
        ([0.0, 0.0, 0.0, 0.5], [], True, 4),
        ([0.004] * 9, [100_000] * 9, False, 5),
        ([], [0, MB], True, 2),
        ([], [MB // 4] * 9, True, 4),
    ],
    ids=["hangs", "works", "works again", "only the heartbeats", "reads", "reads slowly"],
)
def test_what_was_cancelled_may_end_while_this_process_works(
    watched: Watched, used: list[float], moved: list[int], may: bool, looks: int
) -> None:
    watched.used, watched.moved = used, moved
    assert (may_end(), watched.looks) == (may, looks)


def test_what_hangs_is_given_up_in_time_for_a_window_that_closes(watched: Watched) -> None:
    assert not may_end()
    assert silent_seconds("duckdb") + watched.slept <= 4, "docs/safety.md: about 4 s"


@pytest.mark.parametrize(("state", "may"), [("D", True), ("S", False), ("R", False)])
def test_what_waits_in_the_kernel_for_a_disk_may_end(
    watched: Watched, tmp_path: Path, state: str, may: bool
) -> None:
    shown(tmp_path, state)
    assert may_end() is may


def test_a_system_that_counts_no_bytes_is_judged_by_its_cpu(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delattr(Watched, "io_counters")
    monkeypatch.setattr(reaching, "_TASKS", tmp_path / "none")
    assert not may_end()
    watched.used = [0.5]
    assert may_end()


def test_a_backup_that_hears_no_cancel_does_not_hold_its_run(
    dbatk: Dbatk, home: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging, execute = threading.Event(), DuckdbConnection.execute

    def hangs(self: DuckdbConnection, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        if text.lstrip().startswith("EXPORT"):
            hanging.wait(300)
            raise AssertionError("it was waited for")
        return execute(self, text, binds)

    monkeypatch.setattr(DuckdbConnection, "execute", hangs)
    monkeypatch.setattr(reaching, "EMBEDDED_SILENT_SECONDS", 0.01)
    monkeypatch.setattr(reaching, "_WATCHED_SECONDS", 0.01)
    monkeypatch.setattr(reaching, "_LEAST_CPU_SECONDS", 60.0)
    (home / "b").mkdir()
    try:
        answer = dbatk("backup", "run", "-t", url, "--destination", "b", "--time-limit", "0.1s")
    finally:
        hanging.set()
    assert answer.status in (1, 3), (answer.out, answer.err)
    assert "the statement may still be running" in " ".join((answer.out + answer.err).split())
    assert list((home / "b").iterdir()) == []
    with duckdb.connect("small.duckdb") as session:
        assert session.execute("SELECT count(*) FROM small").fetchone() == (10,)
