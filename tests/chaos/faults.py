"""What goes wrong: each fault as a function that does it to a night at work, and says what it did."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.chaos.world import Disk, World
from tests.servers.postgresql import PASSWORD_USER

_DAY = 86400.0
_TIMEOUT_SECONDS = 3.0
_SESSIONS = "SELECT pid, application_name FROM pg_stat_activity WHERE usename = %s ORDER BY pid"
Does = Callable[[World, int, random.Random], str]


def _kill_client(world: World, process: int, chance: random.Random) -> str:
    os.kill(process, signal.SIGKILL)
    return "dbatk killed"


def _kill_server(world: World, process: int, chance: random.Random) -> str:
    at_once = chance.random() < 0.5
    down = chance.choice((0.0, 0.5, 2.0, 4.0))
    world.postgresql.kill(at_once=at_once)
    time.sleep(down)
    world.postgresql.begin()
    return f"server {'killed' if at_once else 'stopped at once'}, back after {down:g} s"


def _kill_backend(world: World, process: int, chance: random.Random) -> str:
    until = time.monotonic() + _TIMEOUT_SECONDS
    with world.server.connect() as session:
        while not (found := session.execute(_SESSIONS, [PASSWORD_USER]).fetchall()):
            if time.monotonic() > until:
                return "no backend was there to be ended"
            time.sleep(0.02)
        pid, name = chance.choice(found)
        session.execute("SELECT pg_terminate_backend(%s)", [pid])
    return f"backend of `{name}` ended, one of {len(found)}"


def _fill(disk: Disk, process: int, chance: random.Random) -> str:
    seconds = chance.choice((0.5, 1.5, 3.0))
    with disk.full(process):
        time.sleep(seconds)
    return f"full for {seconds:g} s" + ("" if disk.is_small else " (by a limit of the process)")


def _fill_store(world: World, process: int, chance: random.Random) -> str:
    return f"disk of the store {_fill(world.store_disk, process, chance)}"


def _fill_file(world: World, process: int, chance: random.Random) -> str:
    return f"disk of the DuckDB file {_fill(world.file_disk, process, chance)}"


def _lock_store(world: World, process: int, chance: random.Random) -> str:
    # longer than a writer's patience of 30 s once in ten times
    seconds = chance.choice((0.5, 1, 2, 2, 3, 3, 4, 4, 5, 33))
    locker = sqlite3.connect(world.store, timeout=20, isolation_level=None)
    try:
        locker.execute("BEGIN IMMEDIATE")
        time.sleep(seconds)
        locker.execute("ROLLBACK")
    finally:
        locker.close()
    return f"store locked for {seconds:g} s"


def _move_clock(world: World, process: int, chance: random.Random) -> str:
    seconds = chance.choice((-3 * _DAY, -_DAY, -7200.0, -60.0, 60.0, 3600.0, 2 * _DAY)) * chance.uniform(0.5, 1.0)
    world.move_clock(seconds)
    return f"clock moved by {seconds:,.0f} s"


def _lose_network(world: World, process: int, chance: random.Random) -> str:
    how = chance.choice(("drop", "reset", "hang", "hang and reset", "refuse"))
    seconds = chance.choice((0.2, 1.0, 3.0, 6.0))
    if how in ("drop", "reset"):
        return f"network: {world.proxy.cut(reset=how == 'reset')} connection(s) ended by {how}"
    if how == "refuse":
        world.proxy.refuse(True)
        world.proxy.cut(reset=True)
        time.sleep(seconds)
        world.proxy.refuse(False)
        return f"network gone for {seconds:g} s"
    world.proxy.hang()
    time.sleep(seconds)
    if how == "hang and reset":
        world.proxy.cut(reset=True)
    world.proxy.flow()
    return f"network: {how} after {seconds:g} s"


def _close_window(world: World, process: int, chance: random.Random) -> str:
    seconds = chance.uniform(0.0, 3.0)
    world.set_clock(world.window_end())
    world.move_clock(-seconds)
    return f"{seconds:.1f} s before the window closes"


KINDS: dict[str, Does] = {
    "kill-dbatk": _kill_client,
    "kill-server": _kill_server,
    "kill-backend": _kill_backend,
    "full-store": _fill_store,
    "full-file": _fill_file,
    "locked-store": _lock_store,
    "clock": _move_clock,
    "network": _lose_network,
    "window": _close_window,
}
_LAST = frozenset({"kill-dbatk", "window"})
"""After these the night begins nothing more."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault, and when it comes: after so many lines of the night's log since the last one, and a moment."""

    number: int
    kind: str
    after_lines: int
    delay_seconds: float
    seed: str

    @property
    def ends_the_run(self) -> bool:
        return self.kind in _LAST

    def do(self, world: World, process: int) -> str:
        """Do it to a night at work.

        Raises:
            ProcessLookupError: it has ended already.
        """
        return KINDS[self.kind](world, process, random.Random(self.seed))


def drawn(seed: int, count: int) -> Sequence[Fault]:
    """Draw faults, each kind as often as any other; the same ones for the same seed."""
    chance = random.Random(seed)
    kinds: list[str] = []
    while len(kinds) < count:
        once = list(KINDS)
        chance.shuffle(once)
        kinds += once
    return [
        Fault(at, kind, chance.randrange(0, 30), chance.choice((0.0, 0.0, 0.05, 0.1, 0.2, 0.4)), f"{seed}:{at}")
        for at, kind in enumerate(kinds[:count], 1)
    ]
