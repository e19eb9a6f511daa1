"""The target `host://`: programs need no session; SQLite in memory answers the few reads of a server."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.values import Scalar
from toolkit.model.words import Role
from toolkit.targets.base import Access, Exposure, ProgramAccess, SessionTag


class HostTarget:
    """The host on which dbatk runs."""

    engine = "host"
    display = "host://"
    local = True
    exposure: Exposure | None = None
    programs_folder: str | None = None

    def __init__(self, access: Access) -> None:
        self.address = access.address
        self.observer: Callable[[str], None] | None = None

    @property
    def lease_key(self) -> str:
        """Measurements on one host would disturb each other, so that one runs at a time."""
        return f"host:{platform.node()}"

    def connect(self, role: Role, tag: SessionTag, *, read_only: bool = False) -> HostConnection:
        del tag, read_only
        return HostConnection(role, self)

    def allow_folder(self, path: str) -> None:
        """Nothing: a host keeps nobody from its folders but by their permissions."""

    def allow_file(self, path: str) -> None:
        """Nothing: a host keeps nobody from its files but by their permissions."""

    def keep_to(self, schema: str) -> None:
        """Nothing: a host has no schemas."""

    def programs_access(self, run: str) -> ProgramAccess:
        """Nothing: programs need no way in."""
        del run
        return ProgramAccess()

    def close(self) -> None:
        """Nothing is open."""


class HostConnection:
    """A session of nobody."""

    transaction_id: str | None = None

    def __init__(self, role: Role, target: HostTarget) -> None:
        self.identity = f"{role.value} of this process"
        self._target = target
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.create_function("host_name", 0, platform.node)
        self._connection.create_function("host_release", 0, lambda: f"{platform.system()} {platform.release()}")
        self._connection.create_function("host_cpus", 0, _cpus)

    def execute(self, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        if self._target.observer is not None:
            self._target.observer(text)
        try:
            done = self._connection.execute(text, dict(binds or {}))
        except sqlite3.Error as error:
            raise DatabaseError(str(error), code=type(error).__name__) from None
        names = [column[0] for column in done.description or ()]
        return Answer(rows=tuple(dict(zip(names, row, strict=True)) for row in done))

    def tag(self, action: str) -> None:
        """Nothing: nobody lists sessions of a host."""

    def cancel(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()


def _cpus() -> str | None:
    """Return the numbers of the CPUs that programs begun here may run on; None where the system binds none."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    return ",".join(map(str, sorted(os.sched_getaffinity(0), key=_place)))


def _place(cpu: int) -> tuple[int, int, int]:
    """Return package, core and number of a CPU, so that the threads of a core stand beside each other."""
    folder = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
    try:
        package, core = (int((folder / name).read_text()) for name in ("physical_package_id", "core_id"))
    except (OSError, ValueError):
        package = core = 0
    return package, core, cpu


def open_target(access: Access) -> HostTarget:
    """Return the target of an access."""
    return HostTarget(access)
