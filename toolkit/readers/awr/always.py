"""What every report has: lists, and names in them. A list that lacks such names lost rows."""

from __future__ import annotations

from collections.abc import Mapping

COUNTED = (
    "CPU used by this session", "CPU used when call started", "CR blocks created",
    "DBWR checkpoint buffers written", "DBWR checkpoints", "DBWR transaction table writes",
    "DBWR undo block writes", "active txn count during cleanout", "background timeouts",
    "buffer is not pinned count", "buffer is pinned count", "calls to kcmgas", "calls to kcmgcs",
    "cluster key scan block gets", "cluster key scans", "commit cleanouts", "commit txn count during cleanout",
    "consistent changes", "consistent gets", "db block changes", "db block gets", "enqueue conversions",
    "enqueue releases", "enqueue requests", "enqueue waits", "execute count", "free buffer requested",
    "index fetch by key", "leaf node splits", "logons cumulative", "messages received", "messages sent",
    "no work - consistent read gets", "opened cursors cumulative", "parse count (hard)", "parse count (total)",
    "parse time cpu", "parse time elapsed", "physical reads", "physical reads direct", "physical writes",
    "physical writes direct", "recursive calls", "recursive cpu usage", "redo blocks written", "redo entries",
    "redo size", "redo synch writes", "redo wastage", "redo writes", "rows fetched via callback",
    "session logical reads", "sorts (memory)", "sorts (rows)", "switch current to new buffer",
    "table fetch by rowid", "table fetch continued row", "table scan blocks gotten", "table scan rows gotten",
    "table scans (long tables)", "table scans (short tables)", "user calls", "user commits",
    "workarea executions - optimal",
)  # fmt: skip
LATCHES = (
    "In memory undo latch", "JS queue state obj latch", "JS slv state obj latch", "MQL Tracking Latch",
    "Memory Management Latch", "PL/SQL warning settings", "SQL memory manager latch", "active service list",
    "cache buffer handles", "cache buffers chains", "cache buffers lru chain", "checkpoint queue latch",
    "dml lock allocation", "dummy allocation", "enqueue hash chains", "file cache latch",
    "job workq parent latch", "ktm global data", "lgwr LWN SCN", "list of block allocation", "messages",
    "ncodef allocation latch", "post/wait queue", "process allocation", "process group creation",
    "redo allocation", "redo copy", "redo writing", "row cache objects", "sequence cache", "session allocation",
    "session idle bit", "session switching", "session timer", "shared pool", "simulator hash latch",
    "simulator lru latch", "sort extent pool", "transaction allocation", "undo global data",
)  # fmt: skip
"""Names that each of 31 real reports of instances of 9.2 to 19c has (latches: of 10.1 to 19c), in their order."""
FIXED = {
    "time_model": ("time model", "name", ("DB CPU", "DB time", "background cpu time", "background elapsed time",
                                          "parse time elapsed", "sql execute elapsed time")),
    "dictionary_cache": ("dictionary cache", "cache", ("dc_histogram_defs", "dc_objects", "dc_rollback_segments",
                                                       "dc_segments", "dc_tablespaces", "dc_users")),
    "library_cache": ("library cache", "namespace", ("BODY", "SQL AREA", "TABLE/PROCEDURE")),
    "os_stats": ("operating system", "name", ("BUSY_TIME", "IDLE_TIME", "NUM_CPUS", "SYS_TIME", "USER_TIME")),
    "io_by_function": ("I/O by function", "function", ("LGWR", "Others")),
    "init_parameters": ("initialization parameters", "name",
                        ("control_files", "db_block_size", "db_name", "processes", "undo_tablespace")),
}  # fmt: skip
"""What short lists have in each of these reports: what the list is of, the key of its names, and names."""
TABLES = {
    r"memory dynamic": ("memory components", 0, ("java pool", "large pool", "shared pool")),
    r"sga memory": ("regions of the SGA", 0, ("Database Buffers", "Fixed Size", "Redo Buffers", "Variable Size")),
    r"sga breakdown": ("parts of the SGA", 1, ("buffer_cache", "fixed_sga", "log_buffer")),
    r"(key )?instance activity": ("absolute statistics", 0, ("logons current", "opened cursors current")),
}  # fmt: skip
"""The same of lists that are not read as values: heading, what the list is of, column of its names, names."""
LISTS = {
    "instance activity": r"(other )?instance activity", "background events": r"background wait",
    "I/O of tablespaces": r"tablespace io", "buffer pools": r"buffer pool stat",
    "instance recovery": r"instance recovery", "PGA": r"pga (aggr|memory)",
    "shared pool advice": r"shared pool advi", "undo segments": r"undo segment",
    "latches": r"latch activity", "latch sleeps": r"latch sleep", "latch misses": r"latch miss",
    "dictionary cache": r"dictionary cache", "library cache": r"library cache",
    "memory of the SGA": r"sga (memory|breakdown)", "initialization parameters": r"init\.ora param",
    "events": r"(foreground )?wait events", "buffer cache advice": r"buffer pool adv",
}  # fmt: skip
"""What every report of an instance has, by its heading; in a text no table of contents says so."""
TOGETHER: tuple[Mapping[str, str], ...] = (
    {"statistics with absolute values": r"statistics with absolute|instance activity stats - absolute",
     "derived statistics": r"statistics identified by '\(derived|instance activity stats - thread"},
    {"the time model": r"time model", "the operating system": r"(os|operating system) statistics"},
    {"I/O of tablespaces": r"tablespace io", "I/O of files": r"file io"},
    {"PGA": r"pga aggr (summary|target stats)", "work areas": r"pga aggr target hist",
     "PGA advice": r"pga memory adv"},
    {"the SGA": r"sga memory", "parts of the SGA": r"sga breakdown"},
    {"undo": r"undo segment summary", "times of undo": r"undo segment stats"},
    {"rollback segments": r"rollback segment stats", "storage of rollback segments": r"rollback segment storage"},
    {"buffer cache advice": r"buffer pool adv", "shared pool advice": r"shared pool adv"},
    {"services": r"service statistics", "waits of services": r"service wait class"},
)  # fmt: skip
"""Lists of which a text has all or none; Statspack names the first below a heading that all have."""
OF_AWR: tuple[Mapping[str, str], ...] = (
    {f"statements by {words}": rf"sql ordered by {words}"
     for words in ("elapsed time", "cpu time", "gets", "reads", "executions", "parse calls")},
    {f"segments by {words}": rf"segments by {words}"
     for words in ("logical reads", "physical reads", "row lock waits", "itl waits", "buffer busy waits")},
)  # fmt: skip
"""The same of AWR, which prints a list of which there are no data, too."""
