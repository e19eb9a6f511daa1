"""What goes wrong: each fault as a function that does it to a night at work, and says what it did."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import psycopg

from tests.chaos.plan import chains
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
    world.closes_at = time.monotonic() + seconds
    return f"{seconds:.1f} s before the window closes"


def _lock_tables(world: World, process: int, chance: random.Random) -> str:
    seconds = chance.choice((1.0, 3.0, 8.0, 20.0))
    with _locked(world, chance) as what:
        time.sleep(seconds)
    return f"{what} for {seconds:g} s"


@contextlib.contextmanager
def _locked(world: World, chance: random.Random) -> Iterator[str]:
    """Hold a table as ALTER TABLE does; give which."""
    names = ["source", "more", *(chain.table for chain in chains())]
    with world.server.connect() as session:
        session.autocommit = False
        session.execute("SET lock_timeout = '2s'")
        for name in chance.sample(names, len(names)):
            try:
                session.execute(f"LOCK TABLE {world.schema}.{name} IN ACCESS EXCLUSIVE MODE")
            except psycopg.Error:
                session.rollback()
            else:
                yield f"table `{name}` locked"
                break
        else:
            yield "no table could be locked"


def _lock_and_close(world: World, process: int, chance: random.Random) -> str:
    with _locked(world, chance) as what:
        closing = _close_window(world, process, chance)
        time.sleep(12)
    return f"{what} for 12 s, {closing}"


def _freeze_and_close(world: World, process: int, chance: random.Random) -> str:
    processes = world.postgresql.processes()
    for each in processes:
        _signal(each, signal.SIGSTOP)
    closing = _close_window(world, process, chance)
    time.sleep(12)
    for each in reversed(processes):
        _signal(each, signal.SIGCONT)
    return f"server frozen for 12 s, {closing}"


def _break_threads(world: World, process: int, chance: random.Random) -> str:
    how, seconds = chance.choice(("none", "none", "stillborn")), chance.choice((0.3, 1.0, 3.0))
    file = world.folder / "threads"
    file.write_text(how)
    time.sleep(seconds)
    file.unlink()
    return f"threads: {how} for {seconds:g} s"


def _freeze(world: World, process: int, chance: random.Random) -> str:
    seconds = chance.choice((1.0, 4.0, 12.0, 30.0))
    if chance.random() < 0.5:
        processes, what = world.postgresql.processes(), "server"
    else:
        processes, what = [process], "dbatk"
    for each in processes:
        _signal(each, signal.SIGSTOP)
    # another host cannot see that the process is there
    if what == "dbatk" and seconds > 10:
        world.begin_twin("elsewhere")
    time.sleep(seconds)
    for each in reversed(processes):
        _signal(each, signal.SIGCONT)
    return f"{what} frozen for {seconds:g} s"


def _signal(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _cut_off(world: World, process: int, chance: random.Random) -> str:
    replies_only, until_told = chance.random() < 0.5, chance.choice((0.5, 3.0, 10.0))
    count = world.proxy.freeze(replies_only=replies_only)
    time.sleep(until_told)
    world.proxy.give_up()
    time.sleep(chance.choice((0.0, 2.0, 5.0)))
    world.proxy.cut(reset=True)
    return (
        f"{count} connection(s) cut off, {'replies only, ' if replies_only else ''}noticed after {until_told:g} s"
    )


def _kill_at_rename(world: World, process: int, chance: random.Random) -> str:
    when = chance.choice(("before", "after"))
    (world.folder / "rename").write_text(when)
    return f"to be killed {when} its next rename"


def _begin_twin(world: World, process: int, chance: random.Random) -> str:
    world.begin_twin(host := chance.choice((None, None, "elsewhere")))
    return f"the plan begun once more{'' if host is None else ' on another host'}"


def _fill_server(world: World, process: int, chance: random.Random) -> str:
    log = chance.random() < 0.3
    said = _fill(world.log_disk if log else world.server_disk, process, chance)
    world.postgresql.begin()
    return f"disk of the server's {'write-ahead log' if log else 'tables'} {said}"


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
    "locked-tables": _lock_tables,
    "locked-at-the-close": _lock_and_close,
    "frozen-at-the-close": _freeze_and_close,
    "threads": _break_threads,
    "frozen": _freeze,
    "cut-off": _cut_off,
    "rename": _kill_at_rename,
    "twin": _begin_twin,
    "full-server": _fill_server,
}
_LAST = frozenset({"kill-dbatk", "window", "locked-at-the-close", "frozen-at-the-close", "rename"})
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
    """Draw faults, each kind as often as any other; the same ones for the same seed.

    `DBATK_CHAOS_KINDS` names the only kinds that are drawn, with commas.
    """
    chance = random.Random(seed)
    wanted = os.environ.get("DBATK_CHAOS_KINDS", "")
    known = [kind for kind in KINDS if not wanted or kind in wanted.split(",")]
    kinds: list[str] = []
    while len(kinds) < count:
        once = list(known)
        chance.shuffle(once)
        kinds += once
    return [
        Fault(at, kind, chance.randrange(0, 30), chance.choice((0.0, 0.0, 0.05, 0.1, 0.2, 0.4)), f"{seed}:{at}")
        for at, kind in enumerate(kinds[:count], 1)
    ]
