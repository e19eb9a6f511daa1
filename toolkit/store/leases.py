"""Leases: one run at a time works on a target.

A lease is taken in one transaction, so that of two processes one gets it. It lives as long as its process does, or
as its heartbeat where the process cannot be seen.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import psutil
from sqlalchemy import ColumnElement, Connection, or_, select, update

from toolkit.errors import ToolkitError
from toolkit.model.records import Holder, Lease
from toolkit.store import schema
from toolkit.store.database import StorePart
from toolkit.store.rows import AnyRow

# -- is the holder still at work? ---------------------------------------------------------------------------------
LEASE_SECONDS = 20.0
_FIRST_PID_NAMESPACE = "pid:[4026531836]"
_BEGIN_TOLERANCE_SECONDS = 2.0

ProcessCheck = Callable[[Lease], bool | None]


def lease_is_live(lease: Lease, now: datetime, is_process_alive: ProcessCheck | None = None) -> bool:
    """Tell whether the holder of a lease is still at work.

    Args:
        lease: what the store says.
        now: an aware instant of the clock that wrote the heartbeat.
        is_process_alive: True or False where the process can be seen, None where it cannot;
            then a heartbeat younger than 20 s decides. `process_alive` if not given.
    """
    alive = (is_process_alive or process_alive)(lease)
    if alive is not None:
        return alive
    return now - lease.heartbeat_at < timedelta(seconds=LEASE_SECONDS)


def process_alive(lease: Lease) -> bool | None:
    """Look for the process of a lease on this host; None when only its heartbeat can tell.

    A process of the same number that began at another time is another one, or the same after the clock was set:
    the heartbeat tells these two apart.
    """
    if lease.host != this_host() or lease.boot not in (None, this_boot()):
        return None
    try:
        process = psutil.Process(lease.pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        same = abs(process.create_time() - lease.process_began) < _BEGIN_TOLERANCE_SECONDS
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return None
    return True if same else None


@cache
def this_host() -> str:
    """Name this host, and the process name space inside it: two containers may share a host name."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        space = _FIRST_PID_NAMESPACE
    name = socket.gethostname()
    return name if space == _FIRST_PID_NAMESPACE else f"{name} ({space})"


@cache
def this_boot() -> str:
    """Return what marks this start of this machine; names of hosts may be equal, as clones and containers show.

    Source: https://man7.org/linux/man-pages/man4/random.4.html (`boot_id`).
    """
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return f"{psutil.boot_time():.0f}"


@cache
def process_began(pid: int) -> float:
    """Return when a process began, in seconds of the host's clock."""
    return float(psutil.Process(pid).create_time())


# -- leases -------------------------------------------------------------------------------------------------------
_table = schema.lease
_PART = 500


class Leases(StorePart):
    """Takes, keeps and gives back leases."""

    def acquire_lease(self, target: str, run: str) -> Lease:
        """Take the lease of a target for a run of this process; taking it again refreshes it.

        Args:
            target: what identifies the database.
            run: the run, or another word for who is at work (`clean`).

        Raises:
            ToolkitError: TK-0302 when another live process or run holds it: who, where, since when.
        """
        with self._database.write(f"the lease of `{target}`", durable=False) as connection:
            self._database.serialize(connection)
            now = self._database.now(connection)
            wanted = own_lease(target, run, now)
            found = _select(connection, _table.c.target == target, now)
            if found is not None and not _same_holder(found.lease, wanted) and found.alive:
                raise refused(found)
            connection.execute(_table.delete().where(_table.c.target == target))
            connection.execute(_table.insert().values(_row(wanted, now)))
        return wanted

    def acquire_leases(self, targets: Sequence[str], run: str) -> dict[str, ToolkitError]:
        """Take the leases of many targets at once, and return why some cannot be had (TK-0302), by target."""
        with self._database.write("the leases of a plan", durable=False) as connection:
            self._database.serialize(connection)
            now = self._database.now(connection)
            holders = _holders(connection, targets, now)
            held = {
                name: refused(holder)
                for name, holder in holders.items()
                if holder.alive and not _same_holder(holder.lease, own_lease(name, run, now))
            }
            free = [name for name in targets if name not in held]
            for some in _in_parts(free):
                connection.execute(_table.delete().where(_table.c.target.in_(some)))
                connection.execute(_table.insert(), [_row(own_lease(name, run, now), now) for name in some])
        return held

    def now(self) -> datetime:
        """Return the instant by the clock that all who use this store share."""
        with self._database.read() as connection:
            return self._database.now(connection)

    def heartbeat_all(self, run: str) -> frozenset[str]:
        """Say that this process is at work for a run; return the targets whose leases are still its own."""
        with self._database.write(f"the leases of run `{run}`", durable=False) as connection:
            now = self._database.now(connection)
            own = _own(own_lease("", run, now))[1:]
            connection.execute(update(_table).where(*own).values(heartbeat_at=now))
            return frozenset(connection.execute(select(_table.c.target).where(*own)).scalars())

    def heartbeat(self, lease: Lease) -> bool:
        """Say that the holder of a lease is at work; False when the lease is no longer its own."""
        with self._database.write(f"the lease of `{lease.target}`", durable=False) as connection:
            now = self._database.now(connection)
            done = connection.execute(update(_table).where(*_own(lease)).values(heartbeat_at=now))
            return done.rowcount == 1

    def release(self, lease: Lease) -> None:
        """Give a lease back; one that is no longer its holder's is left alone."""
        with self._database.write(f"the lease of `{lease.target}`", durable=False) as connection:
            connection.execute(_table.delete().where(*_own(lease)))

    def holder_of(self, target: str) -> Holder | None:
        """Return who holds the lease of a target, and whether that process is alive; None when nobody does."""
        with self._database.read() as connection:
            return _select(connection, _table.c.target == target, self._database.now(connection))

    def lease_of(self, target: str) -> Lease | None:
        """Return the lease of a target, live or not, or None."""
        return self._lease(_table.c.target == target)

    def lease_of_run(self, run: str) -> Lease | None:
        """Return a lease that a run holds, live or not, or None."""
        return self._lease(_table.c.run == run)

    def holder_for(self, run: str) -> Holder | None:
        """Return who holds a lease for a run and was heard of last, and whether that process is alive, or None."""
        with self._database.read() as connection:
            return _select(connection, _table.c.run == run, self._database.now(connection))

    def refuse_live_run(self, run: str) -> None:
        """Refuse a run that a live process is working on.

        Raises:
            ToolkitError: TK-0302 saying who, where, since when.
        """
        with self._database.read() as connection:
            refuse_live(connection, run, self._database.now(connection))

    def _lease(self, which: ColumnElement[bool]) -> Lease | None:
        with self._database.read() as connection:
            found = _select(connection, which, self._database.now(connection))
        return found.lease if found else None


def own_lease(target: str, run: str, now: datetime) -> Lease:
    """Return the lease that this process would hold."""
    pid = os.getpid()
    return Lease(target, run, this_host(), pid, process_began(pid), now, this_boot())


def refuse_live(connection: Connection, run: str, now: datetime) -> None:
    """Refuse a run that a live process is working on, by itself or as part of a plan, within a transaction.

    Raises:
        ToolkitError: TK-0302.
    """
    parent = select(schema.run.c.parent_run).where(schema.run.c.run == run).scalar_subquery()
    found = _select(connection, or_(_table.c.run == run, _table.c.run == parent), now)
    if found is not None and found.alive:
        raise refused(found)


def refused(holder: Holder) -> ToolkitError:
    """Say who holds a lease, where, since when, and when it last sent a heartbeat."""
    lease = holder.lease
    return ToolkitError(
        f"run `{lease.run}` is working on `{lease.target}`:"
        f" process {lease.pid} on `{lease.host}`, since {holder.since:%Y-%m-%d %H:%M:%S} UTC,"
        f" last heartbeat {max(0, holder.silent_seconds):.0f} s ago",
        code="TK-0302",
        hint=f"wait for it, or stop it: kill -INT {lease.pid} on that host",
    )


def _select(connection: Connection, which: ColumnElement[bool], now: datetime) -> Holder | None:
    row = connection.execute(select(_table).where(which).order_by(_table.c.heartbeat_at.desc())).first()
    return None if row is None else _holder(row, now)


def _holder(row: AnyRow, now: datetime) -> Holder:
    lease = Lease(row.target, row.run, row.host, row.pid, row.process_began, row.heartbeat_at, row.boot)
    silent = (now - lease.heartbeat_at).total_seconds()
    seen = process_alive(lease)
    return Holder(lease, row.acquired_at, silent, lease_is_live(lease, now, lambda _: seen), seen is not None)


def _row(lease: Lease, now: datetime) -> dict[str, object]:
    return {
        "target": lease.target,
        "run": lease.run,
        "host": lease.host,
        "pid": lease.pid,
        "process_began": lease.process_began,
        "acquired_at": now,
        "heartbeat_at": now,
        "boot": lease.boot,
    }


def _holders(connection: Connection, targets: Sequence[str], now: datetime) -> dict[str, Holder]:
    found: dict[str, Holder] = {}
    for some in _in_parts(targets):
        for row in connection.execute(select(_table).where(_table.c.target.in_(some))):
            found[row.target] = _holder(row, now)
    return found


def _in_parts(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield some of the names after the other: a statement takes only so many values."""
    for at in range(0, len(names), _PART):
        yield names[at : at + _PART]


def _same_holder(one: Lease, other: Lease) -> bool:
    return replace(one, heartbeat_at=other.heartbeat_at) == other


def _own(lease: Lease) -> tuple[ColumnElement[bool], ...]:
    return (
        _table.c.target == lease.target,
        _table.c.run == lease.run,
        _table.c.host == lease.host,
        _table.c.pid == lease.pid,
        _table.c.process_began == lease.process_began,
    )
