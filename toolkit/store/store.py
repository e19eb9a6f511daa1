"""The results store as a whole."""

from __future__ import annotations

import shlex
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import func, select

from toolkit.errors import ToolkitError
from toolkit.store.audit import AuditFile, AuditLog
from toolkit.store.audit_table import AuditMarks, AuditTable
from toolkit.store.database import BUSY_SECONDS
from toolkit.store.exchange import Exchange
from toolkit.store.history import History
from toolkit.store.journal import Journals
from toolkit.store.leases import Leases
from toolkit.store.location import address_to_send, audit_path, default_path, find_place, name_to_type
from toolkit.store.opening import open_database
from toolkit.store.plans import Plans
from toolkit.store.reading import Names, RunReader
from toolkit.store.rows import instant_text
from toolkit.store.runs import Deleting, Runs
from toolkit.store.schema import schema_version
from toolkit.store.snapshots import Snapshots
from toolkit.store.trials import Trials


class Store(
    Runs, Plans, Trials, Journals, Leases, RunReader, Exchange, History, Names, Deleting, Snapshots, AuditMarks
):
    """Keeps runs. Safe to use from several threads and several processes at once.

    Every method is one short transaction. What is written is durable when the method returns; leases, what
    explains a run, that it was created, and how far the audit log was seen are with the next such write.
    Methods raise `ToolkitError` with TK-0401 (cannot be written), TK-0402 (damaged) or TK-0404 (locked) besides
    what they say.
    """

    @property
    def place(self) -> str:
        """Where it is, without secrets."""
        return self._database.place.shown

    def resume_command(self, run: str) -> str:
        """Return the command that goes on with a run of this store, from a shell that knows no other store."""
        store = name_to_type(self._database.place)
        return shlex.join(("dbatk", "runs", "resume", run, *(("--store", store) if store else ())))

    @cached_property
    def audit(self) -> AuditLog:
        """The audit log that belongs to this store: beside a file, in a database."""
        path = audit_path(self._database.place)
        return AuditTable(self._database, self) if path is None else AuditFile(path, self)

    @property
    def exposure(self) -> str | None:
        """What is at stake on the way to it, as a sentence; None where nothing is."""
        return self._database.exposure

    @property
    def address(self) -> str | None:
        """How another host finds this store, without any secret; None where it is a file of this host."""
        return address_to_send(self._database.place)

    @cached_property
    def origin(self) -> str:
        """What tells this store from any other, however it is reached: when its tables were made."""
        with self._database.read() as connection:
            return instant_text(connection.execute(select(func.min(schema_version.c.applied_at))).scalar_one())

    def undo_script(self, run: str) -> Path:
        """Return where the undo script of a run is kept while something is left to undo: beside the store.

        A store in a database has its undo scripts in the user's data folder.
        """
        path = self._database.place.path or default_path()
        return path.parent / "undo" / f"{run}.sql"

    @property
    def is_gone(self) -> bool:
        """Whether its file was deleted or replaced since it was opened; it is saved when it is closed."""
        return self._database.is_gone

    def close(self) -> None:
        """Close its connections; the store must not be used any more.

        Raises:
            ToolkitError: TK-0401 when its file was deleted or replaced meanwhile; says where its runs are now.
        """
        try:
            if self._database.is_gone:
                raise ToolkitError(
                    f"the store `{self.place}` was deleted or replaced while it was in use",
                    code="TK-0401",
                    hint=f"its runs and the journal were saved: add `--store {self._database.save_beside()}`",
                )
        finally:
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except ToolkitError as gone:
            if not isinstance(error, ToolkitError):
                raise
            error.hint = "; ".join(filter(None, (error.hint, gone.message, gone.hint)))

    def __repr__(self) -> str:
        return f"Store({self.place!r})"


def open_at(location: str | Path | None, busy_seconds: float | None, *, at_once: bool) -> Store:
    """Open the store at a location; see `toolkit.store.open_store`."""
    wait = BUSY_SECONDS if busy_seconds is None else busy_seconds
    database = open_database(find_place(location), wait, at_once=at_once)
    database.remember_file()
    return Store(database)
