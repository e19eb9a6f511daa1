"""Seals of what a store says a run changed: what somebody wrote into the store himself has none.

The key of approvals makes them: one over the run, which says what it did and on which database, and one over each
entry of its journal. An entry is sealed when both hold.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterable

from sqlalchemy import Connection, Row, select, update

from toolkit.store import schema

Seal = Callable[[str], str]
"""Returns the seal of a text."""
RUN_SEAL = "approval.seal"
"""The artifact that a run has which was approved where approvals are signed."""
_SEAL = "seal"
"""Where the seal of an entry is kept, in what is kept as its proof."""
_journal = schema.journal
_OF_RUN = (schema.run.c.run, schema.run.c.engine, schema.run.c.target_name, schema.run.c.experiment)
_OF_ENTRY = (
    "run", "entry", "effect", "object_kind", "schema_name", "name", "scratch", "table_schema", "table_name",
    "undo", "identity",
)  # fmt: skip


def seal_of_run(connection: Connection, run: str, seal: Seal) -> str:
    """Return the seal that a stored run must have."""
    row = connection.execute(select(*_OF_RUN).where(schema.run.c.run == run)).one()
    return seal(json.dumps(list(row)))


def is_run_sealed(connection: Connection, run: str, seal: Seal) -> bool:
    """Tell whether a stored run has the seal that it must have."""
    table = schema.artifact
    query = select(table.c.content).where(table.c.run == run, table.c.trial == 0, table.c.name == RUN_SEAL)
    found = connection.execute(query).scalar()
    return found is not None and hmac.compare_digest(bytes(found), seal_of_run(connection, run, seal).encode())


def seal_entries(connection: Connection, run: str, entries: Iterable[int], seal: Seal) -> None:
    """Seal entries of a journal as they are stored now."""
    for entry in entries:
        here = (_journal.c.run == run, _journal.c.entry == entry)
        row = connection.execute(select(_journal).where(*here)).one()
        sealed = without_seal(row.proof) | {_SEAL: seal(_text(row))}
        connection.execute(update(_journal).where(*here).values(proof=json.dumps(sealed)))


def is_entry_sealed(row: Row[*tuple[object, ...]], seal: Seal) -> bool:
    """Tell whether an entry has the seal that it must have."""
    found = json.loads(row.proof).get(_SEAL)
    return isinstance(found, str) and hmac.compare_digest(found.encode(), seal(_text(row)).encode())


def without_seal(proof: str) -> dict[str, object]:
    """Return what is kept as the proof of an entry."""
    return {name: value for name, value in json.loads(proof).items() if name != _SEAL}


def _text(row: Row[*tuple[object, ...]]) -> str:
    return json.dumps([*(row._mapping[name] for name in _OF_ENTRY), without_seal(row.proof)])
