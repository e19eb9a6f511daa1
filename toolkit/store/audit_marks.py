"""Keeps how far an audit log was seen, so that one that was cut or removed is missed."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import select

from toolkit.model.audit import AuditMark
from toolkit.store import schema
from toolkit.store.part import StorePart

_table = schema.audit_mark


class AuditMarks(StorePart):
    """Writes and reads marks."""

    def audit_mark(self, path: str) -> AuditMark | None:
        """Return how far a log was seen; None for one that never was."""
        with self._database.read() as connection:
            row = connection.execute(select(_table).where(_table.c.path == path)).first()
        return None if row is None else AuditMark(row.log, row.line_count, row.last_hash)

    def set_audit_mark(self, path: str, mark: AuditMark) -> None:
        """Store how far a log was seen; of two processes the one that has seen more is right."""
        with self._database.write("the mark of the audit log") as connection:
            self._database.serialize(connection)
            known = connection.execute(select(_table).where(_table.c.path == path)).first()
            if known is not None and known.log == mark.log and known.line_count >= mark.lines:
                return
            connection.execute(_table.delete().where(_table.c.path == path))
            values = {"log": mark.log, "line_count": mark.lines, "last_hash": mark.last}
            connection.execute(_table.insert().values(path=path, marked_at=datetime.now(UTC), **values))
