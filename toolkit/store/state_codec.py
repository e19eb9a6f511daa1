"""The state of a snapshot as compressed JSON; what is not ours, or damaged, is refused."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping

from toolkit.errors import ToolkitError
from toolkit.model.state import ColumnRole, State, StateColumn, StateSection

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
