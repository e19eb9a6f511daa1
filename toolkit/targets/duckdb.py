"""DuckDB in this process: one database file, one cursor a session."""

from __future__ import annotations

import contextlib
import re
import threading
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.values import Scalar
from toolkit.model.words import Role
from toolkit.targets.base import Access, ProgramAccess, SessionTag, names_in, plain_rows, translate

if TYPE_CHECKING:
    import duckdb

_COUNTS = re.compile(r"\s*(create|insert|update|delete|copy)\b", re.IGNORECASE)
_HOLDER = re.compile(r"\(PID (\d+)\)")


class DuckdbTarget:
    """A DuckDB file, or a database in memory that lives as long as this object.

    A file that does not exist is an error unless the URL says `?create=yes`: a misspelt path must not become an
    empty database.
    """

    engine = "duckdb"

    def __init__(self, access: Access) -> None:
        self._address = access.address
        self._create = ("create", "yes") in (*access.address.parameters, *access.options)
        self._root: duckdb.DuckDBPyConnection | None = None
        self._lock = threading.Lock()
        self._sessions: weakref.WeakSet[DuckdbConnection] = weakref.WeakSet()
        self.observer: Callable[[str], None] | None = None

    @property
    def display(self) -> str:
        return self._address.display

    @property
    def local(self) -> bool:
        return True

    @property
    def lease_key(self) -> str:
        path = self._address.database
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
                    raise _cannot_open(self._address.database, str(error)) from None
            self._sessions.add(session)
            return session

    def _session(self, role: Role, *, read_only: bool) -> DuckdbConnection:
        opened = self._root is not None
        if self._root is None:
            self._root = self._open(read_only)
        cursor = self._root.cursor()
        if opened:
            # One process opens a file in one way only: the session cannot write, though others can.
            cursor.execute("BEGIN TRANSACTION READ ONLY" if read_only else "SELECT 1")
        return DuckdbConnection(cursor, role, self)

    def _open(self, read_only: bool) -> duckdb.DuckDBPyConnection:
        import duckdb

        path = self._address.database
        if path and not self._create and not Path(path).is_file():
            raise ToolkitError(
                f"DuckDB file `{path}` does not exist",
                code="TK-0201",
                hint=f"check the path, or create a new database with `duckdb:///{path}?create=yes`",
            )
        try:
            return duckdb.connect(path or ":memory:", read_only=read_only and bool(path))
        except duckdb.Error as error:
            raise _cannot_open(path, str(error)) from None

    @property
    def programs_folder(self) -> str | None:
        return None

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

            # One that gave itself up cannot write its last words.
            with contextlib.suppress(duckdb.Error):
                self._root.close()
            self._root = None


def _require_driver() -> None:
    try:
        import duckdb  # noqa: F401
    except ImportError:
        raise ToolkitError("DuckDB is not installed", code="TK-0206", hint="pip install duckdb") from None


def _cannot_open(path: str, message: str) -> ToolkitError:
    holder = _HOLDER.search(message)
    if "lock" in message.lower():
        who = f"process {holder[1]}" if holder else "another process"
        hint = f"a DuckDB file can be open in only one process: end {who}, or use a copy of the file"
        return ToolkitError(f"cannot open `{path}`: {_first_line(message)}", code="TK-0302", hint=hint)
    if "not a valid DuckDB database" in message:
        hint = "it is not a DuckDB file"
    else:
        hint = "check the path, its folder and its permissions"
    return ToolkitError(f"cannot open `{path}`: {_first_line(message)}", code="TK-0201", hint=hint)


def _first_line(message: str) -> str:
    return message.strip().splitlines()[0] if message.strip() else "no reason given"


class DuckdbConnection:
    """One cursor; transactions are the caller's, but an error never leaves one open."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, role: Role, target: DuckdbTarget) -> None:
        self._cursor = cursor
        self._role = role
        self._target = target
        self._closed = False

    @property
    def identity(self) -> str:
        return f"{self._role.value} cursor of this process"

    def execute(self, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        import duckdb

        if self._target.observer is not None:
            self._target.observer(text)
        given = {name: binds[name] for name in names_in(text)} if binds else None
        try:
            result = self._cursor.execute(translate(text, "${}".format) if given else text, given)
            return _answer(text, result)
        except duckdb.Error as error:
            with contextlib.suppress(duckdb.Error):
                self._cursor.rollback()
            raise _translated(error) from None

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


def _translated(error: duckdb.Error) -> DatabaseError:
    code = type(error).__name__
    lost = code in {"FatalException", "ConnectionException", "InternalException"}
    return DatabaseError(str(error).strip(), code=code, lost=lost, cancelled=code == "InterruptException")


def open_target(access: Access) -> DuckdbTarget:
    """Return the target of an access."""
    return DuckdbTarget(access)
