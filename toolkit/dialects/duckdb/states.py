"""What is read of DuckDB: it counts nothing, so that sizes, rows and settings are all a snapshot tells.

It has no server, so guards of a plan watch only disk and load of this host.
"""

from __future__ import annotations

from toolkit.dialects.states import GuardFiles, StateRead, States, identity_read, plain_read
from toolkit.dialects.work import Call
from toolkit.model.facts import Facts
from toolkit.model.plan import Guard


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


_ALONE = "a DuckDB file belongs to a single process"
GUARDS = GuardFiles(
    lacks={
        Guard.ACTIVE_SESSIONS: _ALONE,
        Guard.LAG: "DuckDB has no standby",
        Guard.RECOVERY_AREA: "DuckDB has no recovery area",
        Guard.LOCK_WAITERS: _ALONE,
        Guard.BLOCKING: _ALONE,
    }
)
