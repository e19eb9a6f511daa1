"""The target `elsewhere://`: SQLite in memory answers the few reads that a run makes of a server."""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Callable, Mapping

from toolkit.model.protocols import Answer
from toolkit.model.values import Scalar
from toolkit.model.words import Role
from toolkit.targets.base import Access, ProgramAccess, SessionTag


class ElsewhereTarget:
    """The place."""

    engine = "elsewhere"
    display = "elsewhere://"
    local = True
    lease_key = "elsewhere"
    programs_folder: str | None = None

    def __init__(self, access: Access) -> None:
        del access
        self.observer: Callable[[str], None] | None = None

    def connect(self, role: Role, tag: SessionTag, *, read_only: bool = False) -> ElsewhereConnection:
        del role, tag, read_only
        return ElsewhereConnection()

    def allow_folder(self, path: str) -> None:
        """A host keeps nobody from its folders but by their permissions."""

    def allow_file(self, path: str) -> None:
        """Nor from its files."""

    def keep_to(self, schema: str) -> None:
        """A host has no schemas."""

    def programs_access(self, run: str) -> ProgramAccess:
        del run
        return ProgramAccess()

    def close(self) -> None:
        """Nothing is open."""


class ElsewhereConnection:
    """A session of nobody."""

    identity = "this process"

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.create_function("host_name", 0, platform.node)
        self._connection.create_function("host_release", 0, platform.release)

    def execute(self, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        done = self._connection.execute(text, dict(binds or {}))
        names = [column[0] for column in done.description or ()]
        return Answer(rows=tuple(dict(zip(names, row, strict=True)) for row in done))

    def tag(self, action: str) -> None:
        del action

    def cancel(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()


def open_target(access: Access) -> ElsewhereTarget:
    """Return the target of an access."""
    return ElsewhereTarget(access)
