"""DuckDB in this process: one database file, one cursor a session."""

from __future__ import annotations

import contextlib
import re
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit import resources
from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer, At, DatabaseError
from toolkit.model.transfers import RejectedRow, Stream
from toolkit.model.values import Scalar
from toolkit.model.words import Role
from toolkit.targets.base import (
    Access,
    Exposure,
    ProgramAccess,
    SessionTag,
    UserSession,
    names_in,
    plain_rows,
    translate,
)
from toolkit.targets.duckdb_errors import (
    BY_SIGNAL,
    CSV_REASON,
    cannot_open,
    interrupted_by_signals,
    place_of,
    refuse_read_only_folder,
    translated,
)
from toolkit.targets.duckdb_place import is_of_a_key, place_of_constraint, place_of_line_end

if TYPE_CHECKING:
    import duckdb

_OPEN: Counter[str] = Counter()
"""How many targets of this process have each file open: DuckDB gives them one database."""
_opening_lock = threading.Lock()
"""Held while a file is opened, or removed: nobody opens one that is about to go."""
_COUNTS = re.compile(r"\s*(create|insert|update|delete|copy)\b", re.IGNORECASE)


class DuckdbTarget:
    """A DuckDB file, or a database in memory that lives as long as this object.

    A file that does not exist is an error unless the URL says `?create=yes`: a misspelt path must not become an
    empty database. Who only reads such a file finds what would be there, an empty database in memory.

    SQL reaches no other file, no network and no extension, unless the URL says which (`?files=PATH`) or that it
    may (`?external=yes`): settings of the whole process, made before any statement.
    """

    engine = "duckdb"

    def __init__(self, access: Access) -> None:
        self.access = access
        self.address = access.address
        self._path = _resolved(access.address.database)
        self._file: tuple[int, int] | None = None
        self._create = ("create", "yes") in (*access.address.parameters, *access.options)
        self._confined = ("external", "yes") not in access.address.parameters
        self._allowed = [value for name, value in access.address.parameters if name == "files"]
        self._made = False
        self._for_reading = False
        self._root: duckdb.DuckDBPyConnection | None = None
        self._lock = threading.Lock()
        self._sessions: weakref.WeakSet[DuckdbConnection] = weakref.WeakSet()
        self.observer: Callable[[str], None] | None = None

    @property
    def display(self) -> str:
        return self.address.display

    @property
    def local(self) -> bool:
        return True

    @property
    def exposure(self) -> Exposure | None:
        """Nothing: there is no way to it."""
        return None

    @property
    def lease_key(self) -> str:
        path = self._path
        return f"duckdb:{Path(path).resolve()}" if path else f"duckdb:memory:{id(self)}"

    def connect(self, role: Role, tag: SessionTag, *, read_only: bool = False) -> DuckdbConnection:
        """Open a session; a database that gave itself up (its disk was full, say) is opened anew.

        DuckDB answers nothing more in this process after such an error until the last session of the file is
        closed, so those of this target are.
        """
        _require_driver()
        import duckdb

        del tag
        with self._lock:
            try:
                session = self._session(role, read_only=read_only)
            except duckdb.FatalException:
                self._close_all()
                try:
                    session = self._session(role, read_only=read_only)
                except duckdb.Error as error:
                    raise cannot_open(self._path, str(error)) from None
            self._sessions.add(session)
            return session

    def _session(self, role: Role, *, read_only: bool) -> DuckdbConnection:
        if self._for_reading and not read_only:
            self._close_all()
        opened = self._root is not None
        if self._root is None:
            with _opening_lock:
                self._root = self._open(read_only)
        cursor = self._root.cursor()
        if opened:
            # One process opens a file in one way only: the session cannot write, though others can.
            cursor.execute("BEGIN TRANSACTION READ ONLY" if read_only else "SELECT 1")
        return DuckdbConnection(cursor, role, self)

    def _open(self, read_only: bool) -> duckdb.DuckDBPyConnection:
        import duckdb

        path = self._path
        if path and Path(path).exists() and not Path(path).is_file():
            raise ToolkitError(  # to open a pipe would wait for who writes to it
                f"`{path}` is a pipe, a device or a folder, not a DuckDB file",
                code="TK-0201",
                hint="give the path of a file",
            )
        if path and not self._create and not Path(path).is_file():
            raise ToolkitError(
                f"DuckDB file `{path}` does not exist",
                code="TK-0201",
                hint=f"check the path, or create a new database with `duckdb:///{path}?create=yes`",
            )
        if path and not read_only:
            refuse_read_only_folder(path)
        self._refuse_another(path)
        new = self._create and bool(path) and not Path(path).exists()
        imagined = new and read_only and Path(path).parent.is_dir()
        self._made = self._made or (new and not read_only)
        try:
            there = bool(path) and not imagined
            root = duckdb.connect(path if there else ":memory:", read_only=read_only and there)
            self._for_reading = read_only and bool(path)
            if new and there:
                Path(path).chmod(0o600)
            if self._confined:
                _confine(root, self._allowed)
        except duckdb.Error as error:
            raise cannot_open(path, str(error)) from None
        try:
            self._file = self._file or (_file_id(path) if there else None)
            self._refuse_another(path)
        except ToolkitError:
            root.close()
            raise
        _OPEN[path] += 1
        return root

    def _refuse_another(self, path: str) -> None:
        """Refuse a file that took the place of the one that was opened first: what was looked at was that one."""
        if self._file is not None and self._file != _file_id(path):
            raise ToolkitError(
                f"`{path}` is not the file that was opened first: it was replaced meanwhile",
                code="TK-0302",
                hint="find out who replaced it, then begin again",
            )

    def allow_file(self, path: str) -> None:
        """Let sessions read a file of this host; once one is open it is too late."""
        self._allowed.append(path)

    def allow_folder(self, path: str) -> None:
        """Let sessions read and write a folder of this host; once one is open it is too late."""
        self._allowed.append(f"{path}/")

    def connect_user(self, tag: SessionTag) -> UserSession:
        from toolkit.targets.duckdb_user import DuckdbUser

        session = self.connect(Role.WORKER, tag)
        return DuckdbUser(session, session.cursor)

    @property
    def programs_folder(self) -> str | None:
        return None

    def keep_to(self, schema: str) -> None:
        """Nothing: each session begins in `main`."""

    def programs_access(self, run: str) -> ProgramAccess:
        """Nothing: no program but this one gets into the file."""
        del run
        return ProgramAccess()

    def close(self) -> None:
        """Close the database; sessions opened from it end."""
        with self._lock:
            self._close_all()

    def _close_all(self) -> None:
        for session in tuple(self._sessions):
            session.close()
        if self._root is not None:
            import duckdb

            with _opening_lock:
                _OPEN[self._path] -= 1
                # One that gave itself up cannot say what it has, nor write its last words.
                if self._made and not _OPEN[self._path]:
                    with contextlib.suppress(duckdb.Error):
                        self._remove_empty(self._root)
                with contextlib.suppress(duckdb.Error):
                    self._root.close()
            self._root, self._for_reading = None, False

    def _remove_empty(self, root: duckdb.DuckDBPyConnection) -> None:
        """Remove a file that was made here and has nothing in it: whatever was asked for was refused.

        It is still open, so that no other process has it; one that comes now makes a file of its own.
        """
        if root.execute(resources.sql_text("duckdb/objects.sql")).fetchone() != (0,):
            return
        if self._file is not None and self._file == _file_id(self._path):
            with contextlib.suppress(OSError):
                Path(self._path).unlink()
            self._file = None


def _confine(opened: duckdb.DuckDBPyConnection, allowed: list[str]) -> None:
    """Close what SQL could reach outside of the database, unless another session of this process has."""
    locked = opened.execute("SELECT current_setting('lock_configuration')").fetchone()
    if locked is not None and locked[0]:
        return
    folders = [one for one in allowed if one.endswith("/") or Path(one).is_dir()]
    opened.execute("SET allowed_directories = $folders", {"folders": folders})
    opened.execute("SET allowed_paths = $files", {"files": [one for one in allowed if one not in folders]})
    opened.execute(resources.sql_text("duckdb/confine.sql"))


def _resolved(path: str) -> str:
    """Return the path with its symbolic links followed, once: where they lead later does not matter.

    A path without any is kept as it was written.
    """
    real = Path(path).resolve()
    return str(real) if path and real != Path(path).absolute() else path


def _file_id(path: str) -> tuple[int, int] | None:
    """Return device and inode of a file; None where there is none. It is not opened: that would unlock it."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _require_driver() -> None:
    try:
        import duckdb  # noqa: F401
    except ImportError:
        raise ToolkitError("DuckDB is not installed", code="TK-0206", hint="pip install duckdb") from None


class DuckdbConnection:
    """One cursor; transactions are the caller's, but an error never leaves one open."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, role: Role, target: DuckdbTarget) -> None:
        self._cursor = cursor
        self._role = role
        self._target = target
        self._closed = False

    @property
    def cursor(self) -> duckdb.DuckDBPyConnection:
        """The driver's own session."""
        return self._cursor

    @property
    def identity(self) -> str:
        return f"{self._role.value} cursor of this process"

    @property
    def transaction_id(self) -> None:
        """Nothing: what a process did not commit is gone with it."""
        return

    def execute(self, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        import duckdb

        if self._target.observer is not None:
            self._target.observer(text)
        given = {name: binds[name] for name in names_in(text)} if binds else None
        try:
            with interrupted_by_signals(self._cursor):
                result = self._cursor.execute(translate(text, "${}".format) if given else text, given)
            return _answer(text, result)
        except duckdb.Error as error:
            with contextlib.suppress(duckdb.Error):
                self._cursor.rollback()
            raise translated(error) from None
        except RuntimeError as error:
            if str(error) != BY_SIGNAL:
                raise
            with contextlib.suppress(duckdb.Error):
                self._cursor.rollback()
            raise KeyboardInterrupt from None

    @staticmethod
    def translated(error: duckdb.Error) -> DatabaseError:
        """Return an error of the driver as ours."""
        return translated(error)

    def load(self, text: str, stream: Stream) -> Answer:
        """Run a statement that reads a data file itself, and hand on the rows that it left out."""
        import duckdb

        try:
            answer = self.execute(text)
        except DatabaseError as error:
            error.at = place_of(error.message, stream.transfer)
            why = CSV_REASON.search(error.message) if error.at else None
            error.headline = why[0] if why else None
            if error.at is None and (ended := place_of_line_end(error.message, stream)):
                error.at, error.headline = ended
            error.at = error.at or self._constraint(error.message, stream)
            raise
        if not stream.transfer.max_rejects or stream.transfer.sample_rows is not None:
            return answer
        try:
            for row in self.execute(resources.sql_text("duckdb/rejected_rows.sql")).rows:
                stream.reject(
                    RejectedRow(
                        int(str(row["line"])) - stream.transfer.style.header,
                        str(row["column_name"] or ""),
                        str(row["reason"]),
                        str(row["row_text"]).strip("\r\n"),
                        by_record=True,
                    )
                )
        except DatabaseError:
            with contextlib.suppress(duckdb.Error):
                self._cursor.rollback()
            raise
        return answer

    def _constraint(self, message: str, stream: Stream) -> At | None:
        """Find the row that broke a constraint."""
        table, keys = stream.transfer.table, list[tuple[str, ...]]()
        if is_of_a_key(message):
            binds = {"schema": table.schema, "name": table.name}
            found = self.execute(resources.sql_text("duckdb/unique_keys.sql"), binds)
            keys = [tuple(str(row["column_names"]).split("\n")) for row in found.rows]
        return place_of_constraint(message, stream, keys)

    def tag(self, action: str) -> None:
        """DuckDB shows no sessions, so there is nothing to tag."""

    def cancel(self) -> None:
        if not self._closed:
            self._cursor.interrupt()

    def close(self) -> None:
        import duckdb

        self._closed = True
        with contextlib.suppress(duckdb.Error):
            self._cursor.close()


def _answer(text: str, result: duckdb.DuckDBPyConnection) -> Answer:
    columns = [column[0] for column in result.description or ()]
    rows = plain_rows(columns, result.fetchall()) if columns else ()
    if columns == ["Count"] and _COUNTS.match(text) and rows:
        count = rows[0]["count"]
        return Answer(rowcount=count if isinstance(count, int) else None)
    return Answer(rows)


def open_target(access: Access) -> DuckdbTarget:
    """Return the target of an access."""
    return DuckdbTarget(access)
