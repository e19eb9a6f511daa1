"""The options that several operations take; an operation declares its own ones in its package."""

from __future__ import annotations

from dataclasses import replace

from toolkit.model.options import Option, OptionKind, Topic
from toolkit.model.words import Restored

ORACLE = frozenset({"oracle"})
POSTGRESQL = frozenset({"postgresql"})
NOT_DUCKDB = frozenset({"oracle", "postgresql"})
NOT_ORACLE = frozenset({"postgresql", "duckdb"})

DEGREE = Option("degree", OptionKind.DEGREE,
                "parallel degree: 4 (default 1); to compare several: 1,2,4 or 1..64x2", factor=True,
                low=1, high=4096, unit="processes", words=("default", "auto"), words_on=ORACLE)  # fmt: skip
CONCURRENCY = Option("concurrency", OptionKind.INTEGER, "sessions at once, each of that degree (default 1)",
                     factor=True, low=1, high=512, unit="sessions")  # fmt: skip
TABLE = Option("table", OptionKind.NAME, "table to work on")
SCHEMA = Option("schema", OptionKind.NAMES, "all objects in these schemas")
COLUMNS = Option("columns", OptionKind.NAMES, "columns to copy")

SOURCE = Option("source", OptionKind.NAME, "table to read")
QUERY = Option(
    "query",
    OptionKind.QUERY,
    "file with the SELECT to read from; - for standard input; several to compare them: a.sql,b.sql",
)
DIFFERENT_ROWS = Option("different_rows", OptionKind.FLAG,
                        "compare several queries of --query though they give different rows")  # fmt: skip
ROWS = (
    Option("where", OptionKind.PREDICATE, "filter on the rows of --source (- or @FILE to read it)"),
    Option("sample", OptionKind.NUMBER, "percentage of the rows of --source, the same in every trial",
           factor=True, low=0.000001, high=99.999999, unit="%"),
    Option("sample_by", OptionKind.CHOICE, "sample rows (default) or whole blocks", choices=("rows", "blocks")),
    Option("sample_seed", OptionKind.INTEGER, "seed of the sample (default 1)", low=0, high=4294967295),
)  # fmt: skip
"""Which rows of the source a load takes."""

PCTFREE = Option("pctfree", OptionKind.INTEGER, "percentage of each block left free", engines=NOT_DUCKDB,
                 factor=True, low=0, high=90, unit="%")  # fmt: skip
TABLESPACE = Option("tablespace", OptionKind.NAME, "tablespace of the new object", engines=NOT_DUCKDB,
                    factor=True)  # fmt: skip
TABLE_COMPRESSION = Option(
    "compression", OptionKind.CHOICE, "compression of the new table", factor=True,
    choices=("none", "basic", "oltp", "advanced", "query_low", "query_high", "archive_low", "archive_high",
             "auto", "pglz", "lz4"),
    choices_on={
        "oracle": ("none", "basic", "oltp", "advanced", "query_low", "query_high", "archive_low", "archive_high"),
        "postgresql": ("pglz", "lz4"), "duckdb": ("none", "auto"),
    },
)  # fmt: skip
INDEX_COMPRESSION = Option(
    "compression", OptionKind.CHOICE, "compression of the index", engines=NOT_DUCKDB, factor=True,
    choices=("none", "basic", "low", "high"),
    choices_on={"oracle": ("none", "basic", "low", "high"), "postgresql": ("none",)},
)  # fmt: skip
LOGGING = Option("logging", OptionKind.CHOICE, "whether to write redo for the new object", engines=NOT_DUCKDB,
                 factor=True, choices=("logging", "nologging"))  # fmt: skip
PQ_DISTRIBUTE = Option("pq_distribute", OptionKind.CHOICE, "how rows are distributed to the loading servers",
                       engines=ORACLE, factor=True,
                       choices=("none", "random", "random_local", "partition"))  # fmt: skip
ONLINE_STATISTICS = Option("online_statistics", OptionKind.CHOICE,
                           "gather statistics during the load (default: yes in jobs, no in measurements)",
                           engines=ORACLE, factor=True, choices=("yes", "no"))  # fmt: skip
ONLINE = Option("online", OptionKind.FLAG, "allow changes to the table during the build (ONLINE, CONCURRENTLY)",
                engines=NOT_DUCKDB, factor=True)  # fmt: skip
SORT_AREA = Option("sort_area_mb", OptionKind.INTEGER,
                   "memory for each sort process, in MB; auto leaves it to the database", engines=ORACLE,
                   factor=True, low=1, high=2047, unit="MB", words=("auto",),
                   merge_buffer=2**20)  # fmt: skip
WORK_MEM = Option("work_mem", OptionKind.SIZE, "memory of each sort and hash of a process: 64M, 1G",
                  engines=POSTGRESQL, factor=True, merge_buffer=2**18)  # fmt: skip
MAINTENANCE_WORK_MEM = Option("maintenance_work_mem", OptionKind.SIZE,
                              "memory of an index build, in total over its processes: 256M, 2G",
                              engines=POSTGRESQL, factor=True, merge_buffer=2**18, shared=True)  # fmt: skip
PARALLEL_WORKERS = Option("parallel_workers", OptionKind.INTEGER,
                          "workers that read the table, whatever its size (storage parameter, for the run only)",
                          engines=POSTGRESQL, low=0, high=1024, unit="workers")  # fmt: skip
CACHE = Option("cache", OptionKind.CHOICE,
               "buffer cache at the start of a trial: unchanged, flushed (never on production), or read before",
               engines=ORACLE, factor=True, choices=("as_is", "cold", "warm"))  # fmt: skip
ON_LIVE_OBJECTS = Option("on_live_objects", OptionKind.FLAG, "measure on the live object, not on a copy",
                         topic=Topic.SAFETY)  # fmt: skip

RESTORE = Option(
    "restore", OptionKind.CHOICE,
    "what to restore where degree is above 1 or LOGGING off before: found (as it was), default (1, LOGGING)",
    engines=ORACLE, choices=tuple(Restored), topic=Topic.SAFETY,
)  # fmt: skip
"""Of operations that set degree or logging of the user's objects."""
RESTORE_WORKERS = replace(
    RESTORE, help="what to restore where parallel_workers was set before: found (as it was), default (unset)",
    engines=POSTGRESQL,
)  # fmt: skip
RESTORE_ALL = replace(
    RESTORE, help="what to restore where degree, parallel_workers or NOLOGGING was set: found or default",
    engines=NOT_DUCKDB,
)  # fmt: skip

PARTITION = Option(
    "partition", OptionKind.NAME, "only this partition or subpartition of the table", engines=ORACLE,
    elsewhere="where partitions are tables (postgresql), name one with --table, and its index with --index",
)  # fmt: skip

STAT_TABLE = Option("stat_table", OptionKind.NAME, "table of statistics (DBMS_STATS.CREATE_STAT_TABLE)",
                    engines=ORACLE)  # fmt: skip
STAT_ID = Option("stat_id", OptionKind.NAME, "name of the set of statistics in that table, which may hold several",
                 engines=ORACLE)  # fmt: skip

SESSION = (
    Option("consumer_group", OptionKind.NAME, "resource consumer group that the working sessions switch to",
           engines=ORACLE, factor=True),
    Option("sql_trace", OptionKind.FLAG, "trace the working sessions and their waits, and name the file (slower)",
           engines=ORACLE, factor=True),
)  # fmt: skip
"""What the working sessions are, and what they leave to read."""

FILE_TEXT = (
    Option("header", OptionKind.CHOICE, "whether the first line of each file names its columns (default yes)",
           choices=("yes", "no")),
    Option("delimiter", OptionKind.TEXT, "character between fields (default a comma); tab for a tab"),
    Option("quote", OptionKind.TEXT, 'character around fields (default "), doubled within them; none for none'),
    Option("null", OptionKind.TEXT, "unquoted text that stands for NULL (default: nothing at all)"),
    Option("encoding", OptionKind.TEXT, "encoding of the text (default utf-8): latin-1, windows-1252, ..."),
)  # fmt: skip
"""How the text of data files is to be read."""
MAX_REJECTS = Option("max_rejects", OptionKind.INTEGER,
                     "bad rows that may be left out (default 0: one fails the load)", low=0, high=1_000_000,
                     unit="rows", topic=Topic.SAFETY)  # fmt: skip

SERVER_LOG = (
    Option("server_log", OptionKind.PATH,
           "log of the server on this host, or a pattern of files, for --log-phase: '/var/log/postgresql/*.log'",
           topic=Topic.MEASUREMENT),
    Option("log_phase", OptionKind.TEXTS,
           "time between two lines of that log, by its own clock and their patterns: "
           "'pass1=Insert Started..Insert Pass 1' (several)", topic=Topic.MEASUREMENT),
)  # fmt: skip
"""Phases that the server tells of."""

LOCKS = (
    Option("lock_wait", OptionKind.DURATION,
           "how long a statement waits for locks of others, each time it is tried (default 60s)",
           engines=NOT_DUCKDB, topic=Topic.SAFETY),
    Option("lock_tries", OptionKind.INTEGER,
           "how often a statement that waits for locks of others is tried (default 3)",
           engines=NOT_DUCKDB, low=1, high=100, topic=Topic.SAFETY),
)  # fmt: skip
"""What is done about locks of others."""
