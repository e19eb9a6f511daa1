"""What `doctor` says of a PostgreSQL server: parallelism, memory, logging, state, space, grants.

Every line gives evidence, consequence and action. What was not read (a grant is missing) is reported as unknown.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from toolkit.dialects.answers import Check, Grant
from toolkit.dialects.postgresql import reclaim
from toolkit.dialects.postgresql.granted import workers_by_memory, workers_by_size
from toolkit.dialects.postgresql.release import NEWEST, OLDEST, major
from toolkit.model.facts import Facts
from toolkit.model.values import Row
from toolkit.model.words import OperationName
from toolkit.units import byte_size, counted

FILES = (
    "doctor_settings", "doctor_state", "doctor_grants", "doctor_unmaintained", "doctor_invalid_indexes",
    "doctor_unvalidated",
    reclaim.FILE, reclaim.WASTED, reclaim.HORIZON,
)  # fmt: skip
_BLOCK = 8192
_OLD_TRANSACTION_SECONDS = 600.0
_LATE_REPLICA_SECONDS = 60.0
_GIGABYTE = 1024**3


class _Settings:
    """The settings that were read, by name."""

    def __init__(self, facts: Facts) -> None:
        self._values = {str(row["name"]): row["value"] for row in facts.rows("doctor_settings")}

    def text(self, name: str) -> str:
        return str(self._values.get(name, ""))

    def number(self, name: str, default: float) -> float:
        try:
            return float(str(self._values[name]))
        except (KeyError, ValueError):
            return default

    def __bool__(self) -> bool:
        return bool(self._values)


def _float(row: Row, column: str) -> float | None:
    value = row.get(column)
    return float(value) if isinstance(value, int | float) else None


def checks(facts: Facts) -> tuple[Check, ...]:
    """Judge what was read."""
    settings = _Settings(facts)
    lines = [*_release(facts)]
    if settings:
        lines += [
            *_workers(settings),
            *_free_workers(facts, settings),
            *_planner(settings),
            *_index_builds(settings),
            *_memory(settings),
        ]
        lines += [*_logging(settings), *_others(settings)]
    else:
        lines.append(_unread(facts, "settings", "doctor_settings"))
    lines += [*_source(facts, settings), *_always_serial()]
    lines += [
        *_state(facts),
        *_invalid_indexes(facts),
        *_unvalidated(facts),
        *reclaim.checks(facts),
        *_space(facts),
        *_grants(facts),
    ]
    return tuple(lines)


def _unread(facts: Facts, name: str, key: str) -> Check:
    why = facts.refused.get(key, "it was not read")
    return Check(name, "note", f"unknown: {why}", "it is unknown")


def _release(facts: Facts) -> Iterator[Check]:
    number, evidence = major(facts.release), f"PostgreSQL {facts.release}"
    if not facts.release.number:
        yield Check("release", "warning", "unknown", "release differences are unknown")
    elif number < OLDEST:
        yield Check(
            "release", "problem", evidence, f"releases before {OLDEST} are not supported", "upgrade the server"
        )
    elif number > NEWEST:
        yield Check("release", "note", evidence, f"it is newer than {NEWEST}, the newest that was tested",
                    "interpret the counters with care")  # fmt: skip
    else:
        yield Check("release", "ok", evidence)
    if facts.value("server", "in_recovery") == "yes":
        yield Check("replica", "problem", "pg_is_in_recovery() is true", "a replica accepts no writes",
                    "connect to the primary")  # fmt: skip


def _workers(settings: _Settings) -> Iterator[Check]:
    pool = settings.number("max_worker_processes", 8)
    most = settings.number("max_parallel_workers", 8)
    gather = settings.number("max_parallel_workers_per_gather", 2)
    usable = int(min(pool, most))
    evidence = f"max_worker_processes {pool:.0f}, max_parallel_workers {most:.0f}"
    if usable == 0:
        yield Check("parallel workers", "problem", evidence, "every statement runs serially",
                    "ALTER SYSTEM SET max_parallel_workers = 8 (its pool needs a restart)")  # fmt: skip
        return
    yield Check("parallel workers", "ok" if usable >= 2 else "warning", evidence,
                f"all sessions together get {usable} workers: a degree above {usable + 1} is never granted",
                "raise both for larger degrees (max_worker_processes needs a restart)")  # fmt: skip
    yield Check("default degree", "ok" if gather > 0 else "note", f"max_parallel_workers_per_gather {gather:.0f}",
                f"queries of other sessions have degree {gather + 1:.0f} at most; dbatk sets its own")  # fmt: skip
    if most > pool:
        yield Check("worker pool", "warning", evidence,
                    "max_parallel_workers beyond max_worker_processes has no effect",
                    f"raise max_worker_processes to {most:.0f} and more (restart)")  # fmt: skip


def _free_workers(facts: Facts, settings: _Settings) -> Iterator[Check]:
    """Say how many workers are free now; those of other users are seen with pg_read_all_stats alone."""
    busy = _float(facts.first("doctor_state"), "worker_count")
    usable = int(min(settings.number("max_worker_processes", 8), settings.number("max_parallel_workers", 8)))
    if busy is None or usable == 0:
        return
    free = max(0, usable - int(busy))
    evidence = f"{free} of {usable} workers are free now"
    if free == usable:
        yield Check("free workers", "ok", evidence)
        return
    yield Check("free workers", "note" if free else "warning", evidence,
                f"a degree above {free + 1} would not be granted now",
                "wait for the other statements, or raise max_parallel_workers")  # fmt: skip


def _planner(settings: _Settings) -> Iterator[Check]:
    setup, by_row = settings.number("parallel_setup_cost", 1000), settings.number("parallel_tuple_cost", 0.1)
    threshold = settings.number("min_parallel_table_scan_size", 1024)
    yield Check(
        "serial by cost", "note", f"parallel_setup_cost {setup:g}, parallel_tuple_cost {by_row:g}",
        "a plan that passes on most of its rows (such as SELECT *) stays serial, because each row costs extra",
        "let the query compute or aggregate; SET parallel_tuple_cost = 0 forces workers, and is seldom faster",
    )  # fmt: skip
    yield Check(
        "serial by size", "note", f"min_parallel_table_scan_size {byte_size(threshold * _BLOCK)}",
        "smaller tables are scanned and indexed serially; each threefold size allows one more worker",
        "ALTER TABLE ... SET (parallel_workers = n) overrides the rule for one table",
    )  # fmt: skip
    if settings.text("parallel_leader_participation") == "off":
        yield Check("leader", "warning", "parallel_leader_participation off",
                    "the leader does not work: degree d has d - 1 working processes",
                    "SET parallel_leader_participation = on")  # fmt: skip
    if settings.text("default_transaction_isolation") == "serializable":
        yield Check("isolation", "note", "default_transaction_isolation serializable",
                    "serializable transactions run in parallel, at the cost of predicate locks")  # fmt: skip


def _index_builds(settings: _Settings) -> Iterator[Check]:
    workers = int(settings.number("max_parallel_maintenance_workers", 2))
    kilobytes = int(settings.number("maintenance_work_mem", 65536))
    kept = workers_by_memory(kilobytes, 1024)
    evidence = f"maintenance_work_mem {byte_size(kilobytes * 1024)}, max_parallel_maintenance_workers {workers}"
    yield Check(
        "index builds", "warning" if kept == 0 else "note", evidence,
        f"32 MB per process allow at most degree {kept + 1}, whatever is requested",
        f"--maintenance-work-mem {max(4, workers + 1) * 32}M for degree {max(4, workers + 1)}",
    )  # fmt: skip
    if kilobytes * 1024 >= 2 * _GIGABYTE:
        yield Check("index build memory", "note", evidence,
                    "more is not better: above a few hundred MB the sort often becomes slower",
                    "compare sizes with --maintenance-work-mem 256M,2G")  # fmt: skip


def _memory(settings: _Settings) -> Iterator[Check]:
    buffers = settings.number("shared_buffers", 16384) * _BLOCK
    work = settings.number("work_mem", 4096) * 1024
    small = buffers < 256 * 1024**2
    yield Check("shared buffers", "note" if small else "ok", f"shared_buffers {byte_size(buffers)}",
                "small: most reads go to the operating system's cache" if small else "",
                "a quarter of memory is the usual setting (restart)" if small else "")  # fmt: skip
    yield Check("work memory", "note", f"work_mem {byte_size(work)}",
                "each sort or hash of each process uses this much (hashes a multiple), so a degree multiplies it",
                "watch temp_bytes; compare sizes with --work-mem 4M,64M")  # fmt: skip


def _logging(settings: _Settings) -> Iterator[Check]:
    level, archive = settings.text("wal_level"), settings.text("archive_mode")
    evidence = f"wal_level {level}, archive_mode {archive}"
    if level == "minimal":
        yield Check(
            "write-ahead log", "ok", evidence, "a table created and loaded in one transaction is not logged"
        )
    else:
        yield Check("write-ahead log", "note", evidence,
                    "every CREATE TABLE AS and index build is logged in full"
                    + (" and archived" if archive not in ("off", "") else ""),
                    "measurements may use --logging nologging (UNLOGGED tables)")  # fmt: skip
    wal = settings.number("max_wal_size", 1024) * 1024**2
    if wal < 2 * _GIGABYTE:
        yield Check("checkpoints", "note", f"max_wal_size {byte_size(wal)}",
                    "a heavy load forces checkpoints while it runs, which makes times vary",
                    "ALTER SYSTEM SET max_wal_size = '8GB'; see checkpoints_requested of each trial")  # fmt: skip
    for name in ("fsync", "full_page_writes"):
        if settings.text(name) == "off":
            yield Check(name, "problem", f"{name} off",
                        "a crash destroys data, and times differ from production",
                        f"ALTER SYSTEM SET {name} = on")  # fmt: skip


def _others(settings: _Settings) -> Iterator[Check]:
    if settings.text("track_io_timing") == "off":
        yield Check("I/O timing", "note", "track_io_timing off", "seconds spent in reads and writes remain zero",
                    "ALTER SYSTEM SET track_io_timing = on; SELECT pg_reload_conf()")  # fmt: skip
    if settings.number("temp_file_limit", -1) >= 0:
        limit = byte_size(settings.number("temp_file_limit", 0) * 1024)
        yield Check("temporary files", "warning", f"temp_file_limit {limit}", "larger sorts end with 53400",
                    "raise it for this user: ALTER ROLE ... SET temp_file_limit")  # fmt: skip
    for name in ("force_parallel_mode", "debug_parallel_query"):
        if settings.text(name) not in ("", "off"):
            yield Check(name, "warning", f"{name} {settings.text(name)}",
                        "plans are distorted for tests; times are misleading",
                        f"ALTER SYSTEM RESET {name}")  # fmt: skip
    if settings.text("jit") == "on":
        yield Check("jit", "note", "jit on", "compilation costs up to seconds in long queries, in every worker",
                    "sweep SET jit = off as a factor")  # fmt: skip


def _source(facts: Facts, settings: _Settings) -> Iterator[Check]:
    """Say what the size of the table named allows."""
    for key in ("source", "relation", "table"):
        row = facts.first(key)
        size = _float(row, "byte_count")
        if size is None:
            continue
        threshold = int(settings.number("min_parallel_table_scan_size", 1024))
        workers = workers_by_size(int(size) // _BLOCK, threshold)
        name = f"{row.get('schema_name')}.{row.get('table_name')}"
        yield Check(f"degree by size of {name}", "ok" if workers else "warning", byte_size(size),
                    f"a scan requests at most {workers} workers: degree {workers + 1}",
                    "" if workers else "a degree gains nothing on such a small table")  # fmt: skip
        return


def _always_serial() -> Iterator[Check]:
    yield Check("always serial", "note", "one INSERT ... SELECT, ANALYZE of one table, GiST and hash builds",
                "they never run in parallel on PostgreSQL; several sessions can work on several objects",
                "--concurrency for whole schemas")  # fmt: skip


def _state(facts: Facts) -> Iterator[Check]:
    row = facts.first("doctor_state")
    if not row:
        yield _unread(facts, "state", "doctor_state")
        return
    active = _float(row, "active_count") or 0
    yield Check("other load", "ok" if active == 0 else "note", f"{active:.0f} other sessions are active now",
                "" if active == 0 else "they take workers, CPU and I/O from a measurement",
                "" if active == 0 else "use --quiet-wait, or measure when the server is idle")  # fmt: skip
    oldest = _float(row, "oldest_transaction_seconds") or 0.0
    if oldest > _OLD_TRANSACTION_SECONDS:
        yield Check("old transaction", "warning", f"open since {oldest:.0f} s",
                    "CREATE INDEX and REINDEX CONCURRENTLY wait for it, and fail after 60 s",
                    "SELECT pid, xact_start, query FROM pg_stat_activity ORDER BY xact_start")  # fmt: skip
    delay = _float(row, "replica_delay_seconds") or 0.0
    if (_float(row, "replica_count") or 0) > 0:
        yield Check("replicas", "warning" if delay > _LATE_REPLICA_SECONDS else "note",
                    f"{_float(row, 'replica_count'):.0f} replicas, the last {delay:.0f} s behind",
                    "they receive the log of every heavy job; a synchronous one slows each COMMIT")  # fmt: skip
    if (_float(row, "idle_slot_count") or 0) > 0:
        kept = byte_size(_float(row, "slot_wal_byte_count"))
        yield Check("replication slots", "warning", f"inactive slots keep {kept} of log",
                    "heavy jobs fill the log's disk, because nothing is removed",
                    "SELECT pg_drop_replication_slot(slot_name), when its reader is gone for good")  # fmt: skip
    if row.get("archiver_fails") == "yes":
        yield Check("archiver", "problem", "the last archive_command failed",
                    "pg_wal grows until the disk is full",
                    "see pg_stat_archiver and the server's log")  # fmt: skip


def _invalid_indexes(facts: Facts) -> Iterator[Check]:
    for row in facts.rows("doctor_invalid_indexes"):
        yield Check("invalid index", "warning", f"{row['schema_name']}.{row['index_name']} on {row['table_name']}",
                    "no query uses it, every write maintains it",
                    " or ".join(str(row[key]) for key in ("rebuild_text", "drop_text") if row[key]))  # fmt: skip


def _unvalidated(facts: Facts) -> Iterator[Check]:
    for row in facts.rows("doctor_unvalidated"):
        table = str(row["table_name"])
        yield Check("unvalidated constraint", "note",
                    f"{row['constraint_names']} on {table} (NOT VALID in pg_constraint)",
                    "new rows are checked, the planner cannot rely on those of before",
                    f"dbatk constraint validate --table {shlex.quote(table)}")  # fmt: skip


def _space(facts: Facts) -> Iterator[Check]:
    size = byte_size(_float(facts.first("doctor_state"), "database_byte_count"))
    yield Check("free space", "note", f"unknown from SQL (the database has {size})",
                "a full disk ends the work with 53100, a full pg_wal stops the server",
                "check df for the data directory, pg_wal and tablespaces")  # fmt: skip


def _grants(facts: Facts) -> Iterator[Check]:
    row = facts.first("doctor_grants")
    if not row:
        yield _unread(facts, "grants", "doctor_grants")
        return
    user = _ident(row.get("user_name"))
    if row.get("schema_name") is None:
        yield Check("search_path", "warning", "no schema of search_path exists", "names without a schema fail",
                    f"CREATE SCHEMA AUTHORIZATION {user};")  # fmt: skip
    elif row.get("may_create") != "yes":
        yield Check("CREATE", "problem", f"not granted on schema {row['schema_name']}",
                    "no table can be created there",
                    f"GRANT CREATE ON SCHEMA {_ident(row['schema_name'])} TO {user};")  # fmt: skip
    else:
        yield Check("CREATE", "ok", f"granted on schema {row['schema_name']}")
    if row.get("reads_all_stats") != "yes":
        yield Check("statistics of others", "note", "pg_read_all_stats is not granted",
                    "the load of other users' sessions cannot be seen",
                    f"GRANT pg_read_all_stats TO {user};")  # fmt: skip
    if row.get("may_signal") != "yes":
        yield Check("ending sessions", "note", "pg_signal_backend is not granted",
                    "only sessions of the same user can be ended",
                    f"GRANT pg_signal_backend TO {user};")  # fmt: skip
    if row.get("reads_control") != "yes":
        yield Check("system identifier", "note", "no privilege to call pg_control_system()",
                    "objects are identified only by oid and database",
                    f"GRANT EXECUTE ON FUNCTION pg_catalog.pg_control_system() TO {user};")  # fmt: skip
    for row in facts.rows("doctor_unmaintained"):
        text = row["grant_text"]
        tables = f"{counted(int(str(row['table_count'])), 'table')} of {row['owner_name']} in {row['schema_name']}"
        yield Check("ANALYZE", "note", tables,
                    "ANALYZE skips them: this user neither owns nor maintains them",
                    f"{text};" if text else "let their owner, who is a superuser, gather them")  # fmt: skip


def grants(facts: Facts, operation: OperationName | None) -> tuple[Grant, ...]:
    """List the grants that are missing: only statistics need one that their reader may not have anyway."""
    if operation not in (None, "stats-gather"):
        return ()
    purpose = "gather statistics of tables of other owners (ANALYZE skips them)"
    texts = (row["grant_text"] or _without_grant(row) for row in facts.rows("doctor_unmaintained"))
    return tuple(Grant(str(text), purpose) for text in dict.fromkeys(texts))


def _without_grant(row: Row) -> str:
    """Say what to do about tables of a superuser before 17, when no GRANT gave the right to analyze them."""
    return (
        f"-- no GRANT gives it before PostgreSQL 17: let {_ident(row['owner_name'])} gather the tables of schema "
        f"{_ident(row['schema_name'])}, or give them another owner"
    )


def _ident(name: object) -> str:
    return '"' + str(name).replace('"', '""') + '"'
