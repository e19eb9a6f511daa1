"""Keeps snapshots: what was read, as one compressed JSON document, and the labels they are found by.

A document of another program, or a damaged one, is refused.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Row, Select, select

from toolkit.errors import ToolkitError
from toolkit.model.state import DATABASE, ColumnRole, Snapshot, SnapshotHead, State, StateColumn, StateSection
from toolkit.store import rows, schema
from toolkit.store.database import StorePart

FORMAT = 1
_LARGEST = 512 * 2**20


def state_to_bytes(state: State) -> bytes:
    """Return a state as it is stored."""
    document = {
        "format": FORMAT,
        "provider": state.provider,
        "engine": state.engine,
        "identity": dict(state.identity),
        "warnings": list(state.warnings),
        "sections": {name: _section_out(section) for name, section in state.sections.items()},
    }
    return zlib.compress(
        json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
    )


def state_from_bytes(content: bytes) -> State:
    """Read a state back.

    Raises:
        ToolkitError: TK-0402 when it is damaged.
    """
    try:
        packed = zlib.decompressobj()
        document = json.loads(packed.decompress(content, _LARGEST))
        if document["format"] != FORMAT:
            raise ValueError
        return State(
            document["provider"],
            document["engine"],
            document["identity"],
            {name: _section_in(section) for name, section in document["sections"].items()},
            tuple(document["warnings"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
        raise ToolkitError("a snapshot in the store is damaged", code="TK-0402", hint="take it again") from error


def _section_out(section: StateSection) -> dict[str, object]:
    return {
        "columns": [[column.name, column.role.value, column.unit] for column in section.columns],
        "rows": section.rows,
        "since": section.since,
        "cut": section.cut,
    }


def _section_in(document: Mapping[str, object]) -> StateSection:
    columns, rows, since = document["columns"], document["rows"], document["since"]
    assert isinstance(columns, list)
    assert isinstance(rows, list)
    assert isinstance(since, list)
    return StateSection(
        tuple(StateColumn(name, ColumnRole(role), unit) for name, role, unit in columns),
        tuple(map(tuple, rows)),
        tuple(since),
        document["cut"] is True,
    )


# -- in the store -------------------------------------------------------------------------------------------------
class Snapshots(StorePart):
    """Keeps snapshots under labels; of several with one label all are kept, and the newest is meant."""

    def add_snapshot(self, label: str, target: str, taken_at: datetime, state: State) -> SnapshotHead:
        """Keep a snapshot and return its head; `target` is what the user called it, without secrets."""
        content = state_to_bytes(state)
        database = str(state.identity.get(DATABASE) or "")
        with self._database.write(f"snapshot `{label}`") as connection:
            done = connection.execute(
                schema.snapshot.insert(),
                {
                    "label": label, "target_name": target, "provider": state.provider, "taken_at": taken_at,
                    "identity": database,
                },
            )  # fmt: skip
            number = rows.new_key(done)
            connection.execute(
                schema.snapshot_state.insert(),
                {"snapshot_id": number, "size_bytes": len(content), "content": content},
            )
        return SnapshotHead(number, label, target, database, state.provider, taken_at, len(content))

    def snapshots(self, label: str | None = None, limit: int = 1000) -> Sequence[SnapshotHead]:
        """Return snapshots, newest first; of one label, or all."""
        query = _heads().order_by(schema.snapshot.c.taken_at.desc(), schema.snapshot.c.snapshot_id.desc())
        if label is not None:
            query = query.where(schema.snapshot.c.label == label)
        with self._database.read() as connection:
            return [_head(row) for row in connection.execute(query.limit(limit))]

    def load_snapshot(self, number: int) -> Snapshot:
        """Return one snapshot with its state.

        Raises:
            ToolkitError: TK-0114 when it is not in this store, TK-0402 when it is damaged.
        """
        query = _heads(schema.snapshot_state.c.content).where(schema.snapshot.c.snapshot_id == number)
        with self._database.read() as connection:
            row = connection.execute(query).first()
        if row is None:
            raise ToolkitError(f"snapshot `{number}` is not in this store", code="TK-0114")
        return Snapshot(_head(row), state_from_bytes(row.content))


def _heads(*more: Column[Any]) -> Select[Any]:
    head, state = schema.snapshot, schema.snapshot_state
    columns = (*head.c, state.c.size_bytes, *more)
    return select(*columns).join(state, state.c.snapshot_id == head.c.snapshot_id)


def _head(row: Row[Any]) -> SnapshotHead:
    return SnapshotHead(
        row.snapshot_id, row.label, row.target_name, row.identity, row.provider, row.taken_at, row.size_bytes
    )
