"""Snapshots that somebody took by hand: added, never changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Row, Select, select

from toolkit.errors import ToolkitError
from toolkit.model.state import DATABASE, Snapshot, SnapshotHead, State
from toolkit.store import rows, schema
from toolkit.store.part import StorePart
from toolkit.store.state_codec import state_from_bytes, state_to_bytes


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
