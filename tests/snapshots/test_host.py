"""The load of others: what the host spends besides this process and the database server."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from tests.for_each import for_each
from toolkit.snapshots import host
from toolkit.snapshots.host import HostProvider, HostState, host_state, others_part

BEFORE = HostState(
    at=100.0, user=50.0, system=20.0, iowait=5.0, idle=900.0, ours=10.0, server=30.0,
    read_bytes=1e6, write_bytes=2e6, read_count=10.0, write_count=20.0,
)  # fmt: skip


@pytest.fixture(autouse=True)
def four_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "cpu_count", lambda: 4)


def after(seconds: float = 10.0, **spent: float) -> HostState:
    grown = {name: getattr(BEFORE, name) + value for name, value in spent.items()}
    return replace(BEFORE, at=BEFORE.at + seconds, **grown)


@for_each(
    ("spent", "others"),
    [
        ({"user": 20.0}, 0.5),
        ({"user": 12.0, "system": 8.0}, 0.5),
        ({"user": 20.0, "ours": 8.0}, 0.3),
        ({"user": 20.0, "server": 8.0}, 0.3),
        ({"user": 20.0, "ours": 4.0, "server": 16.0}, 0.0),
        ({"user": 20.0, "iowait": 20.0, "idle": 20.0}, 0.5),
        ({"user": 5.0, "server": 6.0}, 0.0),
        ({"user": 50.0}, 1.0),
    ],
)
def test_others_take_what_neither_this_process_nor_the_server_does(spent: dict[str, float], others: float) -> None:
    assert others_part(BEFORE, after(**spent)) == pytest.approx(others)


def test_an_interval_too_short_to_judge_has_no_load_of_others() -> None:
    assert others_part(BEFORE, after(0.29, user=1.0)) is None
    assert others_part(BEFORE, after(0.31, user=0.62)) == pytest.approx(0.5)


def test_the_seconds_of_a_server_are_those_of_its_processes_and_of_those_they_have_reaped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Spent:
        def __init__(self, pid: int | None = None) -> None:
            self.pid = pid

        def cpu_times(self) -> SimpleNamespace:
            reaped = {} if self.pid == 9 else {"children_user": 10.0, "children_system": 20.0}
            return SimpleNamespace(user=1.0, system=2.0, **reaped)

    monkeypatch.setattr(psutil, "Process", Spent)
    monkeypatch.setattr(host, "_children", {7: [8, 6], 8: [9], 6: [], 9: []}.__getitem__)
    seen = host_state(7, 9)
    assert (seen.server, seen.ours) == (33.0 + 33.0 + 33.0 + 3.0, 3.0)
    assert (host_state(None).server, host_state(7).ours) == (0.0, 0.0)


_PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(); input()'])"


@pytest.mark.parametrize("listed", [True, False])
def test_all_processes_below_one_are_found_and_others_are_looked_at_only_without_a_list(
    monkeypatch: pytest.MonkeyPatch, *, listed: bool
) -> None:
    if listed and not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        pytest.skip("this kernel does not list the children of a process")
    asked, children = list[int](), psutil.Process.children

    def looked_through(self: psutil.Process, *, recursive: bool) -> list[psutil.Process]:
        asked.append(self.pid)
        return children(self, recursive=recursive)

    def not_listed(process: int) -> list[int]:
        raise FileNotFoundError(process)

    monkeypatch.setattr(psutil.Process, "children", looked_through)
    if not listed:
        monkeypatch.setattr(host, "_children", not_listed)
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdin is not None and parent.stdout is not None
        parent.stdout.readline()
        below = host._below(parent.pid)
        assert [psutil.Process(pid).ppid() for pid in below] == [parent.pid]
        assert set(below) | {parent.pid} <= set(host._below(os.getpid()))
        assert asked == ([] if listed else [parent.pid, os.getpid()])
        parent.communicate(b"\n")


@pytest.mark.parametrize(
    ("looks", "found", "left"),
    [([[], [5], [5], []], [5], 1), ([[], [], [5]], [], 1), ([[5], [], [5], [], [5]], [], 1)],
)
def test_children_are_told_when_two_looks_agree(
    monkeypatch: pytest.MonkeyPatch, looks: list[list[int]], found: list[int], left: int
) -> None:
    monkeypatch.setattr(host, "_threads", lambda parent: [parent])
    monkeypatch.setattr(host, "_begotten", lambda _: looks.pop(0))
    assert host._children(7) == found
    assert len(looks) == left


def test_a_server_that_is_gone_has_spent_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        pass
    assert host_state(child.pid).server == 0.0


def provider(
    monkeypatch: pytest.MonkeyPatch, *states: HostState, server: int | None = None, embedded: bool = False
) -> HostProvider:
    given = iter((BEFORE, *states))
    monkeypatch.setattr(host, "host_state", lambda *_: next(given))
    return HostProvider(server, in_process=embedded)


@pytest.mark.parametrize(
    ("server", "embedded", "cpu_seconds"), [(7, False, 6.0), (None, True, 3.0), (None, False, None)]
)
def test_the_cpu_of_the_database_is_its_servers_or_that_of_this_process(
    monkeypatch: pytest.MonkeyPatch, server: int | None, embedded: bool, cpu_seconds: float | None
) -> None:
    end = after(user=20.0, system=4.0, iowait=1.0, ours=3.0, server=6.0, read_bytes=5e6, read_count=9.0)
    own = provider(monkeypatch, BEFORE, end, server=server, embedded=embedded)
    own.begin()
    found = {metric.name: (metric.value, metric.unit, metric.source) for metric in own.end()}
    assert own.peaks().get("cpu_seconds") == cpu_seconds
    assert own.peaks()["others_part"] == pytest.approx(15 / 40)
    assert found["host_others_pct"] == (pytest.approx(37.5), "%", "osstat")
    assert found["host_cpu_user_seconds"] == (20.0, "s", "osstat")
    assert found["host_cpu_system_seconds"] == (4.0, "s", "osstat")
    assert found["host_cpu_iowait_seconds"] == (1.0, "s", "osstat")
    assert found["host_disk_read_bytes"] == (5e6, "bytes", "osstat")
    assert found["host_disk_reads"] == (9.0, "operations", "osstat")
    assert found["host_disk_write_bytes"] == (0.0, "bytes", "osstat")


def test_what_others_use_now_is_looked_at_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    own = provider(monkeypatch, BEFORE, after(1.0, user=2.0))
    assert own.others_now(1.0, waited.append) == pytest.approx(0.5)
    assert waited == [1.0]
