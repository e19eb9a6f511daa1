"""What a snapshot reads of DuckDB: it counts nothing, so that sizes, rows and settings are all there is."""

from __future__ import annotations

from toolkit.dialects.states import StateRead, States, identity_read, plain_read
from toolkit.dialects.work import Call
from toolkit.model.facts import Facts


def reads(facts: Facts) -> tuple[StateRead, ...]:
    """Return the reads in their order: who it is first."""
    del facts
    return (
        identity_read(),
        plain_read("snapshot_duckstat"),
        plain_read("state_file"),
        StateRead(
            "tables",
            Call("state_tables", file=True),
            keys=("schema_name", "table_name"),
            gauges={"row_count": "rows", "index_count": "count", "column_count": "count"},
            most=2000,
        ),
        StateRead(
            "indexes",
            Call("state_indexes", file=True),
            keys=("schema_name", "index_name"),
            words=("table_name", "definition"),
            most=2000,
        ),
        StateRead(
            "memory",
            Call("state_memory", file=True),
            keys=("use",),
            gauges={"memory_bytes": "bytes", "temp_bytes": "bytes"},
        ),
        StateRead("settings", Call("state_settings", file=True), keys=("name",), words=("value",)),
    )


STATES = States("duckstat", (), reads)
