"""What a snapshot reads of PostgreSQL, by release and by what is installed; and what guards of a plan read.

Free space and load only its host tells.
"""

from __future__ import annotations

from dataclasses import replace

from toolkit.dialects.postgresql.release import GAUGES, snapshot_files
from toolkit.dialects.states import GuardFiles, StateRead, States, identity_read, plain_read
from toolkit.dialects.work import Call
from toolkit.model.facts import Facts
from toolkit.model.plan import Guard
from toolkit.model.values import QualifiedName

_EXTENSION = "pg_stat_statements"
_DATABASE, _SERVER, _WAL, _STATEMENTS = (
    "database_counts_since",
    "server_counts_since",
    "wal_counts_since",
    "statements_count_since",
)
_COUNT = "count"


def reads(facts: Facts) -> tuple[StateRead, ...]:
    """Return the reads in their order: who it is first."""
    counters = [plain_read(file, _since(file)) for file in snapshot_files(facts.release)]
    return (
        identity_read(),
        *_statements(facts),
        *counters,
        *(replace(counters[0], call=Call(file, file=True)) for file in GAUGES),
        _TABLES,
        _INDEXES,
        _SETTINGS,
        _ACTIVITY,
    )


def hints(facts: Facts) -> tuple[str, ...]:
    """Say what a snapshot of this database cannot tell, and what would mend it."""
    if _statements(facts):
        return ()
    return (
        "there is no data per statement: pg_stat_statements is not installed in this database "
        "(shared_preload_libraries, a restart, then CREATE EXTENSION pg_stat_statements)",
    )


def _since(file: str) -> tuple[str, ...]:
    if "_wal" in file:
        return (_WAL,)
    return (_SERVER,) if "_checkpoint" in file or "_io" in file else (_DATABASE, _SERVER)


def _statements(facts: Facts) -> tuple[StateRead, ...]:
    schema = next(
        (row["schema_name"] for row in facts.rows("extensions") if row["extension_name"] == _EXTENSION), None
    )
    if schema is None:
        return ()
    info = Call("state_statements_info", {"view": QualifiedName(f"{_EXTENSION}_info", str(schema))})
    statements = Call("state_statements", {"view": QualifiedName(_EXTENSION, str(schema))})
    return (StateRead("identity", info, identity=True), _statements_read(statements))


def _statements_read(call: Call) -> StateRead:
    return StateRead(
        "statements",
        call,
        keys=("statement_id",),
        counters={
            "calls": _COUNT, "elapsed_seconds": "s", "plan_seconds": "s", "row_count": "rows",
            "blocks_hit": "blocks", "blocks_read": "blocks", "blocks_dirtied": "blocks",
            "temp_blocks_read": "blocks",
            "temp_blocks_written": "blocks", "read_seconds": "s", "write_seconds": "s", "wal_bytes": "bytes",
        },
        words=("statement_text",),
        since=(_STATEMENTS, _SERVER),
        most=2000,
    )  # fmt: skip


_TABLES = StateRead(
    "tables",
    Call("state_tables", file=True),
    keys=("schema_name", "table_name"),
    counters={
        "full_scans": _COUNT, "full_scan_rows": "rows", "index_scans": _COUNT, "index_rows": "rows",
        "rows_inserted": "rows", "rows_updated": "rows", "rows_deleted": "rows", "rows_updated_in_place": "rows",
        "vacuums": _COUNT, "analyzes": _COUNT, "blocks_read": "blocks", "blocks_hit": "blocks",
    },
    gauges={"live_rows": "rows", "dead_rows": "rows", "table_bytes": "bytes"},
    since=(_DATABASE, _SERVER),
    most=2000,
)  # fmt: skip
_INDEXES = StateRead(
    "indexes",
    Call("state_indexes", file=True),
    keys=("schema_name", "index_name"),
    counters={"index_scans": _COUNT, "index_rows": "rows", "blocks_read": "blocks", "blocks_hit": "blocks"},
    gauges={"index_bytes": "bytes"},
    words=("table_name", "state"),
    since=(_DATABASE, _SERVER),
    most=4000,
)
_SETTINGS = StateRead("settings", Call("state_settings", file=True), keys=("name",), words=("value",))
_ACTIVITY = StateRead(
    "activity",
    Call("state_activity", file=True),
    keys=("event",),
    gauges={"sessions": _COUNT},
    words=("wait_class",),
)


STATES = States("pgstat", ("extensions",), reads, hints, "state_activity")


GUARDS = GuardFiles(
    {
        Guard.ACTIVE_SESSIONS: ("guard_sessions",),
        Guard.LAG: ("guard_lag",),
        Guard.LOCK_WAITERS: ("guard_locks",),
        Guard.BLOCKING: ("guard_locks",),
    }
)
