"""What snapshots and the guards of a plan read of Oracle without a licence: V$ views of this instance."""

from __future__ import annotations

from toolkit.dialects.states import GuardFiles, StateRead, States, identity_read, plain_read
from toolkit.dialects.work import Call
from toolkit.model.facts import Facts
from toolkit.model.plan import Guard

_COUNT = "count"
_BEGUN = ("begun",)


def reads(facts: Facts) -> tuple[StateRead, ...]:
    """Return the reads in order: the identity first."""
    del facts
    return _READS


_READS = (
    identity_read(),
    StateRead(
        "statements",
        Call("state_statements", file=True),
        keys=("statement_id",),
        counters={
            "executions": _COUNT, "elapsed_seconds": "s", "cpu_seconds": "s", "io_wait_seconds": "s",
            "gets": "blocks", "disk_reads": "blocks", "parse_calls": _COUNT, "row_count": "rows",
        },
        words=("plan_id", "statement_text"),
        since=_BEGUN,
        most=2000,
    ),
    StateRead(
        "statistics",
        Call("state_sysstat", file=True),
        keys=("statistic_name",),
        counters={"total": ""},
        since=_BEGUN,
    ),
    StateRead(
        "events",
        Call("state_events", file=True),
        keys=("event",),
        counters={
            "waits": _COUNT, "wait_seconds": "s", "user_waits": _COUNT, "user_wait_seconds": "s",
        },
        words=("wait_class",),
        since=_BEGUN,
    ),
    StateRead(
        "time_model",
        Call("state_time_model", file=True),
        keys=("statistic_name",),
        counters={"total_seconds": "s"},
        since=_BEGUN,
    ),
    StateRead(
        "functions",
        Call("state_functions", file=True),
        keys=("function_name",),
        counters={
            "read_bytes": "bytes", "write_bytes": "bytes", "read_requests": _COUNT, "write_requests": _COUNT,
            "waits": _COUNT, "wait_seconds": "s",
        },
        since=_BEGUN,
    ),
    StateRead(
        "segments",
        Call("state_segments", file=True),
        keys=("owner", "object_name", "part_name", "object_type", "statistic_name"),
        counters={"total": ""},
        since=_BEGUN,
        most=2000,
    ),
    plain_read("state_host", _BEGUN),
    plain_read("state_sessions"),
    StateRead("settings", Call("state_settings", file=True), keys=("name",), words=("value",)),
)  # fmt: skip


STATES = States("vstat", (), reads)


_LOCKS = ("guard_locks", "guard_locks_instance")
GUARDS = GuardFiles(
    {
        Guard.ACTIVE_SESSIONS: ("guard_sessions",),
        Guard.LAG: ("guard_lag",),
        Guard.TABLESPACE: ("guard_tablespaces",),
        Guard.TEMP: ("guard_temp",),
        Guard.RECOVERY_AREA: ("guard_recovery_area",),
        Guard.LOAD: ("guard_load",),
        Guard.LOCK_WAITERS: _LOCKS,
        Guard.BLOCKING: _LOCKS,
    }
)
