"""The audit log of a store in a database, and how far the log of any store was seen.

Several hosts write to one store, so they write one log. A line is added in a transaction of its own, one writer
at a time; rights to SELECT and INSERT are enough, and a trigger keeps a mistaken UPDATE, DELETE or TRUNCATE out.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select

from toolkit.errors import ToolkitError
from toolkit.model.audit import AuditEvent, AuditMark, AuditSeal
from toolkit.store import schema
from toolkit.store.audit import SEEN, AuditLog
from toolkit.store.audit_lines import LogEnd, continues, mark_after, new_lines
from toolkit.store.database import Database, StorePart

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

    from toolkit.store.audit import Marks

_AT_ONCE = 1000
_lines, _marks = schema.audit_line, schema.audit_mark


class AuditTable(AuditLog):
    """A log that is a table of its store.

    Args:
        database: of the store.
        marks: the store.
    """

    def __init__(self, database: Database, marks: Marks) -> None:
        super().__init__(f"{_lines.name} of {database.place.shown}", marks)
        self._database = database

    def write(self, event: AuditEvent) -> str:
        try:
            with self._database.write("a line of the audit log") as connection:
                self._database.serialize(connection)
                known = _mark(connection, SEEN)
                end = _end(connection, known)
                lines = list(new_lines(end, event, known))
                rows = [{"number": end.number + at, "line": line.decode()} for at, line in enumerate(lines, 1)]
                connection.execute(_lines.insert(), rows)
                mark = mark_after(end, lines)
                if continues(end.first or lines[0], known):
                    _set_mark(connection, SEEN, mark)
        except ToolkitError as error:
            raise self._refused("written", error) from None
        return mark.last

    def lines(self, after: AuditSeal | None = None) -> Iterator[bytes]:
        yield from self._read(0 if after is None else after.lines)

    def lines_back(self) -> Iterator[bytes]:
        yield from self._read(None)

    def hashed(self, seal: AuditSeal) -> Hash | None:
        digest, size = sha256(), 0
        for line in islice(self._read(0), seal.lines):
            digest.update(line + b"\n")
            size += len(line) + 1
        return digest if size == seal.size else None

    def _read(self, behind: int | None) -> Iterator[bytes]:
        """Yield the lines behind a number, or all from the last to the first; by pages, for one may be enough."""
        number = _lines.c.number
        order = number if behind is not None else number.desc()
        page, rest = select(number, _lines.c.line).order_by(order).limit(_AT_ONCE), number > (behind or 0)
        while True:
            try:
                with self._database.read() as connection:
                    found = connection.execute(page.where(rest)).all()
            except ToolkitError as error:
                raise self._refused("read", error) from None
            yield from (one.line.encode() for one in found)
            if len(found) < _AT_ONCE:
                return
            rest = number < found[-1].number if behind is None else number > found[-1].number

    def _refused(self, what: str, error: ToolkitError) -> ToolkitError:
        return ToolkitError(
            f"the audit log cannot be {what}: {error.message}", code="TK-0314", database_code=error.database_code
        )


def _end(connection: Connection, known: AuditMark | None) -> LogEnd:
    number = connection.execute(select(func.max(_lines.c.number))).scalar()
    if number is None:
        return LogEnd()
    seen = None if known is None else known.lines
    wanted = select(_lines.c.number, _lines.c.line).where(_lines.c.number.in_([1, number, seen or number]))
    found = {one.number: one.line.encode() for one in connection.execute(wanted)}
    return LogEnd(found.get(1, b"\0"), number, found[number], seen=found.get(seen or 0))


# -- how far the log was seen -------------------------------------------------------------------------------------
class AuditMarks(StorePart):
    """Writes and reads marks."""

    def audit_mark(self, what: str) -> AuditMark | None:
        """Return how far the log was seen, or was found whole; None for a log that never was."""
        with self._database.read() as connection:
            return _mark(connection, what)

    def set_audit_mark(self, what: str, mark: AuditMark, *, durable: bool = True) -> None:
        """Store how far the log was seen; of two processes the one that has seen more is right.

        Args:
            what: which mark.
            mark: how far.
            durable: as in `Database.write`.
        """
        with self._database.write("the mark of the audit log", durable=durable) as connection:
            self._database.serialize(connection)
            _set_mark(connection, what, mark)


def _mark(connection: Connection, what: str) -> AuditMark | None:
    row = connection.execute(select(_marks).where(_marks.c.what == what)).first()
    return None if row is None else AuditMark(row.log, row.line_count, row.last_hash)


def _set_mark(connection: Connection, what: str, mark: AuditMark) -> None:
    known = _mark(connection, what)
    if known is not None and known.log == mark.log and known.lines >= mark.lines:
        return
    connection.execute(_marks.delete().where(_marks.c.what == what))
    values = {"log": mark.log, "line_count": mark.lines, "last_hash": mark.last}
    connection.execute(_marks.insert().values(what=what, marked_at=datetime.now(UTC), **values))
