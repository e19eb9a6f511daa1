"""What goes wrong at a statement: each fault strikes, lasts a while, and heals."""

from __future__ import annotations

import contextlib
import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

import psycopg

from tests.series.place import Place
from tests.servers.postgresql import PASSWORD_USER

_SESSIONS = (
    "SELECT pid FROM pg_stat_activity WHERE usename = %s AND pid <> pg_backend_pid() ORDER BY backend_start"
)
Strike = Callable[[Place, int, random.Random], AbstractContextManager[str]]
"""Strikes when it is entered and says what it did, heals when it is left: of a place, and a process in it."""


@contextmanager
def _kill_client(place: Place, process: int, chance: random.Random) -> Iterator[str]:
    del place, chance
    _kill(process)
    yield "dbatk killed"


@contextmanager
def _kill_backend(place: Place, process: int, chance: random.Random) -> Iterator[str]:
    del process
    yield _end_backends(place, chance, every=chance.random() < 0.3)


@contextmanager
def _kill_both(place: Place, process: int, chance: random.Random) -> Iterator[str]:
    _kill(process)
    yield f"dbatk killed, {_end_backends(place, chance, every=True)}"


def _kill(process: int) -> None:
    """Kill a process; one that has ended meanwhile was not struck, which its status tells."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _end_backends(place: Place, chance: random.Random, *, every: bool) -> str:
    with place.server.connect() as session:
        found = [row[0] for row in session.execute(_SESSIONS, [PASSWORD_USER]).fetchall()]
        for pid in found if every or not found else [chance.choice(found)]:
            session.execute("SELECT pg_terminate_backend(%s)", [pid])
    return f"{len(found) if every else min(1, len(found))} of {len(found)} sessions ended"


@contextmanager
def _restart(place: Place, process: int, chance: random.Random) -> Iterator[str]:
    at_once, with_client = chance.random() < 0.5, chance.random() < 0.25
    place.postgresql.kill(at_once=at_once)
    if with_client:
        _kill(process)
    yield f"server {'killed' if at_once else 'stopped at once'}{', and dbatk killed' if with_client else ''}"
    place.postgresql.begin()


@contextmanager
def _cut_network(place: Place, process: int, chance: random.Random) -> Iterator[str]:
    del process
    replies_only, whole = chance.random() < 0.5, chance.random() < 0.7
    if whole:
        place.proxy.hang()
    count = place.proxy.freeze(replies_only=replies_only)
    what = "the replies" if replies_only else "both directions"
    yield f"{what} of {count} connection(s) cut{', and new ones get no answer' if whole else ''}"
    place.proxy.give_up()
    place.proxy.flow()


@contextmanager
def _fill_data(place: Place, process: int, chance: random.Random) -> Iterator[str]:
    del chance
    with place.data_disk.full(process):
        yield "disk of the tables full"


@contextmanager
def _fill_store(place: Place, process: int, chance: random.Random) -> Iterator[str]:
    del chance
    with place.store_disk.full(process):
        yield "disk of the store full"


@contextmanager
def _fill_backups(place: Place, process: int, chance: random.Random) -> Iterator[str]:
    del chance
    with place.backup_disk.full(process):
        yield "disk of the backups full"


@contextmanager
def _fill_log(place: Place, process: int, chance: random.Random) -> Iterator[str]:
    """Leave no room for the write-ahead log, and use up what there is: the server gives up."""
    del chance
    with ExitStack() as healing:
        healing.callback(place.postgresql.begin)
        with place.log_disk.full(process):
            with contextlib.suppress(psycopg.Error), place.server.connect() as session:
                for _ in range(20):
                    session.execute("SELECT pg_logical_emit_message(false, 'series', 'x'), pg_switch_wal()")
            yield "disk of the write-ahead log full"


KINDS: dict[str, tuple[Strike, ...]] = {
    "kill": (_kill_client, _kill_client, _kill_backend, _kill_both),
    "restart": (_restart,),
    "cut": (_cut_network,),
    "full": (_fill_data, _fill_data, _fill_log, _fill_store),
    "full of backups": (_fill_backups, _fill_backups, _fill_log, _fill_store),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault, and when it comes.

    Attributes:
        kind: of `KINDS`; a disk of backups is full where a work writes some.
        strike: what it does.
        after_seconds: how long after the statement was sent; None before it is sent.
        lasts_seconds: how long until it heals; None until the process has ended.
        seed: of what it does.
    """

    kind: str
    strike: Strike
    after_seconds: float | None
    lasts_seconds: float | None
    seed: str

    def done(self, place: Place, process: int) -> AbstractContextManager[str]:
        return self.strike(place, process, random.Random(self.seed))


def drawn(kind: str, chance: random.Random) -> Fault:
    """Draw a fault of a kind."""
    # most statements take less than a tenth of a second, few more
    after = None if chance.random() < 0.4 else chance.uniform(0.0, chance.choice((0.02, 0.08, 0.25)))
    strike = chance.choice(KINDS[kind])
    lasts = chance.choice((0.0, 0.7, 2.5, None))
    return Fault(kind, strike, after, lasts, f"{chance.random()}")
