"""Every option of an operation, declared once: flags, file keys, help, validation and labels derive from it.

An option with `factor` may take several levels (`--degree 1,2,4`, `degree = [1, 2, 4]`); several levels make a
measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from toolkit.model.words import EngineName, OperationName

_BACKUP = OperationName.BACKUP
_ALL = frozenset(OperationName) - {_BACKUP}
"""Operations on tables; a backup has channels instead of a degree, and takes no table."""
_ENGINES = frozenset(EngineName)
_CTAS, _INSERT = OperationName.CTAS, OperationName.INSERT
_BUILD, _REBUILD, _STATS = OperationName.INDEX_BUILD, OperationName.INDEX_REBUILD, OperationName.STATS_GATHER
_ORACLE = frozenset({EngineName.ORACLE})
_NOT_DUCKDB = frozenset({EngineName.ORACLE, EngineName.POSTGRESQL})
_NOT_ORACLE = frozenset({EngineName.POSTGRESQL, EngineName.DUCKDB})
_POSTGRESQL = frozenset({EngineName.POSTGRESQL})


class OptionKind(StrEnum):
    """Types of option values."""

    NAME = "name"
    NAMES = "names"
    TEXT = "text"
    QUERY = "query"
    PREDICATE = "predicate"
    INTEGER = "integer"
    NUMBER = "number"
    CHOICE = "choice"
    FLAG = "flag"
    DEGREE = "degree"
    SIZE = "size"
    DURATION = "duration"
    PATHS = "paths"


@dataclass(frozen=True, slots=True)
class Option:
    """One option: the flag is `--` and the name with dashes; `key` is what files call it."""

    name: str
    kind: OptionKind
    help: str
    operations: frozenset[OperationName]
    engines: frozenset[EngineName] = _ENGINES
    factor: bool = False
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    unit: str | None = None
    words: tuple[str, ...] = ()
    """Words allowed beside numbers (`default`, `auto`)."""
    file_key: str = ""
    """The key in files where it is not the name."""
    level_begins: str = ""
    """The word every level begins with, where a level itself may hold a comma."""
    choices_in: Mapping[OperationName, tuple[str, ...]] = field(default_factory=dict)
    """The choices of one operation, where they are not those of the others."""
    help_in: Mapping[OperationName, str] = field(default_factory=dict)
    """The help of one operation, likewise."""

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def key(self) -> str:
        """The key in an experiment file."""
        return self.file_key or self.name

    def of(self, operation: OperationName) -> Option:
        """Return the option as an operation takes it."""
        choices, text = self.choices_in.get(operation, self.choices), self.help_in.get(operation, self.help)
        return self if (choices, text) == (self.choices, self.help) else replace(self, choices=choices, help=text)


def _ops(*names: OperationName) -> frozenset[OperationName]:
    return frozenset(names)


_COMPRESSION = (
    "none", "basic", "oltp", "advanced", "query_low", "query_high", "archive_low", "archive_high",
    "auto", "pglz", "lz4", "low", "high",
)  # fmt: skip
_COMPRESSION_OF_BACKUPS = (
    "none", "basic", "low", "medium", "high", "gzip", "lz4", "zstd", "bzip2", "snappy", "brotli",
)  # fmt: skip

OPTIONS: tuple[Option, ...] = (
    Option("degree", OptionKind.DEGREE, "parallel degree of the statement: 4, 1,2,4 or 1..64x2", _ALL, factor=True,
           low=1, high=4096, unit="processes", words=("default", "auto")),
    Option("concurrency", OptionKind.INTEGER, "concurrent sessions, each with its own degree", _ALL,
           factor=True, low=1, high=512, unit="sessions"),
    Option("source", OptionKind.NAME, "table to read", _ops(_CTAS, _INSERT)),
    Option("query", OptionKind.QUERY, "file with the SELECT to read from; - for standard input", _ops(_CTAS,
           _INSERT)),
    Option("table", OptionKind.NAME, "table to create, load, index, rebuild or gather statistics on", _ALL),
    Option("index", OptionKind.NAME, "index to rebuild", _ops(_REBUILD)),
    Option("schema", OptionKind.NAMES, "all tables (or indexes) in these schemas", _ops(_REBUILD, _STATS)),
    Option("columns", OptionKind.NAMES, "index columns, in order; for a load: the columns to copy",
           _ops(_CTAS, _INSERT, _BUILD)),
    Option("where", OptionKind.PREDICATE, "filter on the rows of --source (- or @FILE to read it)",
           _ops(_CTAS, _INSERT)),
    Option("sample", OptionKind.NUMBER, "percentage of the rows of --source, the same in every trial",
           _ops(_CTAS, _INSERT), low=0.000001, high=99.999999, unit="%"),
    Option("sample_by", OptionKind.CHOICE, "sample rows or whole blocks", _ops(_CTAS, _INSERT),
           choices=("rows", "blocks")),
    Option("sample_seed", OptionKind.INTEGER, "seed of the sample (default 1)", _ops(_CTAS, _INSERT), low=0,
           high=4294967295),
    Option("partition_by", OptionKind.TEXT,
           "'hash(ID) 16', 'range(DT) interval 1 month', 'range(ID) below 10,20,max' or 'list(C) automatic'",
           _ops(_CTAS), engines=_ORACLE),
    Option("partitions", OptionKind.INTEGER, "number of partitions of --partition-by 'hash(...)'", _ops(_CTAS),
           engines=_ORACLE, factor=True, low=1, high=1048575),
    Option("name", OptionKind.NAME, "name of the new index", _ops(_BUILD), file_key="index_name"),
    Option("unique", OptionKind.FLAG, "build a unique index", _ops(_BUILD)),
    Option("bitmap", OptionKind.FLAG, "build a bitmap index", _ops(_BUILD), engines=_ORACLE),
    Option("reverse", OptionKind.FLAG, "build a reverse key index", _ops(_BUILD), engines=_ORACLE),
    Option("prefix", OptionKind.INTEGER, "number of leading columns to compress (COMPRESS n)",
           _ops(_BUILD), engines=_ORACLE, factor=True, low=1, high=31, unit="columns"),
    Option("local", OptionKind.FLAG, "partition the index like its table", _ops(_BUILD), engines=_ORACLE,
           factor=True),
    Option("global_hash", OptionKind.INTEGER, "number of hash partitions, on the index's first column",
           _ops(_BUILD), engines=_ORACLE, factor=True, low=2, high=1024, unit="partitions"),
    Option("global_range", OptionKind.TEXT,
           "range-partition the index on its first column: 10,20 or 'K','T'",
           _ops(_BUILD), engines=_ORACLE),
    Option("invisible", OptionKind.FLAG, "build the index invisible to the optimizer", _ops(_BUILD),
           engines=_ORACLE),
    Option("pctfree", OptionKind.INTEGER, "percentage of each block left free", _ops(_CTAS, _BUILD, _REBUILD),
           engines=_NOT_DUCKDB, factor=True, low=0, high=90, unit="%"),
    Option("tablespace", OptionKind.NAME, "tablespace of the new object", _ops(_CTAS, _BUILD, _REBUILD),
           engines=_NOT_DUCKDB),
    Option("compression", OptionKind.CHOICE, "compression of the new object", _ops(_CTAS, _BUILD, _REBUILD,
           _BACKUP),
           factor=True, choices=_COMPRESSION, choices_in={_BACKUP: _COMPRESSION_OF_BACKUPS},
           help_in={_BACKUP: "compression of the backup"}),
    Option("logging", OptionKind.CHOICE, "whether to write redo for the new object", _ops(_CTAS, _INSERT, _BUILD,
           _REBUILD),
           engines=_NOT_DUCKDB, factor=True, choices=("logging", "nologging")),
    Option("load", OptionKind.CHOICE, "direct-path or conventional insert", _ops(_INSERT), engines=_ORACLE,
           factor=True, choices=("direct", "conventional")),
    Option("parallel_dml", OptionKind.CHOICE, "enable parallel DML by ALTER SESSION or by hint", _ops(_INSERT),
           engines=_ORACLE, factor=True, choices=("session", "hint")),
    Option("pq_distribute", OptionKind.CHOICE, "how rows are distributed to the loading servers", _ops(_CTAS,
           _INSERT),
           engines=_ORACLE, factor=True, choices=("none", "random", "random_local", "partition")),
    Option("into", OptionKind.CHOICE, "load into an empty copy, or into one that holds the table's rows",
           _ops(_INSERT), factor=True, choices=("empty", "filled")),
    Option("bare", OptionKind.FLAG, "load into a copy without indexes, constraints or partitions",
           _ops(_INSERT)),
    Option("online", OptionKind.FLAG, "allow changes to the table during the build (ONLINE, CONCURRENTLY)",
           _ops(_BUILD, _REBUILD), engines=_NOT_DUCKDB, factor=True),
    Option("sort_area_mb", OptionKind.INTEGER,
           "memory for each sort process, in MB; auto leaves it to the database",
           _ops(_BUILD, _REBUILD), engines=_ORACLE, factor=True, low=1, high=2047, unit="MB", words=("auto",)),
    Option("unusable_only", OptionKind.FLAG, "only indexes that are unusable or invalid", _ops(_REBUILD),
           engines=_NOT_DUCKDB),
    Option("online_statistics", OptionKind.CHOICE,
           "gather statistics during the load (default: yes in jobs, no in measurements)",
           _ops(_CTAS, _INSERT), engines=_ORACLE, factor=True, choices=("yes", "no")),
    Option("estimate_percent", OptionKind.NUMBER, "sample size as a percentage of the rows", _ops(_STATS),
           engines=_ORACLE,
           factor=True, low=0.000001, high=100, unit="%", words=("auto", "compute")),
    Option("block_sample", OptionKind.CHOICE, "sample blocks instead of rows", _ops(_STATS),
           engines=_ORACLE,
           factor=True, choices=("yes", "no")),
    Option("method_opt", OptionKind.TEXT, "columns and histograms, as in DBMS_STATS", _ops(_STATS),
           engines=_ORACLE,
           factor=True, level_begins="FOR"),
    Option("partition", OptionKind.NAME, "only this partition of the table", _ops(_STATS), engines=_ORACLE),
    Option("cascade", OptionKind.CHOICE, "gather index statistics too", _ops(_STATS), engines=_ORACLE, factor=True,
           choices=("yes", "no", "auto")),
    Option("granularity", OptionKind.CHOICE, "levels of a partitioned table to gather", _ops(_STATS),
           engines=_ORACLE,
           factor=True, choices=("auto", "all", "global", "global_and_partition", "partition", "subpartition")),
    Option("gather", OptionKind.CHOICE, "which objects: all, stale, empty or Oracle's choice", _ops(_STATS),
           engines=_ORACLE, factor=True, choices=("gather", "stale", "empty", "auto")),
    Option("no_invalidate", OptionKind.CHOICE, "do not invalidate dependent cursors", _ops(_STATS),
           engines=_ORACLE,
           factor=True, choices=("yes", "no", "auto")),
    Option("statistics_target", OptionKind.INTEGER, "default_statistics_target of the session", _ops(_STATS),
           engines=frozenset({EngineName.POSTGRESQL}), factor=True, low=1, high=10000),
    Option("on_live_objects", OptionKind.FLAG, "measure on the live object, not on a copy",
           _ops(_BUILD, _REBUILD, _STATS)),
    # -- backups
    Option("channels", OptionKind.DEGREE,
           "parallel channels: RMAN channels, pgBackRest's process-max, pg_basebackup's compression workers, "
           "DuckDB's threads", _ops(_BACKUP), factor=True, low=1,
           high=255, unit="channels"),
    Option("destination", OptionKind.PATHS,
           "folder for the backup, which gets its own subfolder (several on oracle)",
           _ops(_BACKUP)),
    Option("tag", OptionKind.NAME, "name of a backup to keep", _ops(_BACKUP)),
    Option("window", OptionKind.DURATION, "report whether the backup fits into this time", _ops(_BACKUP)),
    Option("compression_level", OptionKind.INTEGER, "compression level, on the scale of its program",
           _ops(_BACKUP),
           engines=_NOT_ORACLE, factor=True, low=-7, high=22),
    Option("file_format", OptionKind.CHOICE, "pg_basebackup: plain or tar; duckdb: parquet or csv", _ops(_BACKUP),
           engines=_NOT_ORACLE, factor=True, choices=("plain", "tar", "parquet", "csv")),
    Option("method", OptionKind.CHOICE, "backup program (default pg_basebackup)", _ops(_BACKUP),
           engines=_POSTGRESQL, factor=True, choices=("pg_basebackup", "pgbackrest")),
    Option("compress_at", OptionKind.CHOICE, "where pg_basebackup compresses (default server)", _ops(_BACKUP),
           engines=_POSTGRESQL, factor=True, choices=("server", "client")),
    Option("checkpoint", OptionKind.CHOICE,
           "checkpoint at the start (default: spread in jobs, fast in measurements)", _ops(_BACKUP),
           engines=_POSTGRESQL, factor=True, choices=("fast", "spread")),
    Option("manifest_checksums", OptionKind.CHOICE, "checksum algorithm of pg_basebackup's manifest",
           _ops(_BACKUP),
           engines=_POSTGRESQL, factor=True,
           choices=("none", "crc32c", "sha224", "sha256", "sha384", "sha512")),
    Option("stanza", OptionKind.TEXT, "pgBackRest stanza, for a job", _ops(_BACKUP), engines=_POSTGRESQL),
    Option("backup_config", OptionKind.TEXT, "pgBackRest configuration file, for a job", _ops(_BACKUP),
           engines=_POSTGRESQL),
    Option("bin_dir", OptionKind.TEXT, "folder of the backup programs, if they are not found automatically",
           _ops(_BACKUP),
           engines=_NOT_DUCKDB),
    Option("action", OptionKind.CHOICE, "what RMAN does (default backup)", _ops(_BACKUP), engines=_ORACLE,
           choices=("backup", "validate", "restore_validate")),
    Option("scope", OptionKind.CHOICE, "what to back up (default database)", _ops(_BACKUP),
           engines=_ORACLE,
           choices=("database", "tablespace", "pdb", "datafile", "archivelog")),
    Option("of", OptionKind.NAMES, "names for --scope: tablespaces, PDBs, data file names or numbers",
           _ops(_BACKUP),
           engines=_ORACLE),
    Option("incremental", OptionKind.INTEGER, "level of an incremental backup, for a job", _ops(_BACKUP),
           engines=_ORACLE, low=0, high=1),
    Option("plus_archivelog", OptionKind.FLAG, "also back up the archived logs", _ops(_BACKUP), engines=_ORACLE),
    Option("write", OptionKind.FLAG, "measure written backups; otherwise files are only read (VALIDATE)",
           _ops(_BACKUP), engines=_ORACLE),
    Option("section_size", OptionKind.SIZE,
           "split big files into sections of this size, shared by several channels",
           _ops(_BACKUP), engines=_ORACLE, factor=True),
    Option("files_per_set", OptionKind.INTEGER, "maximum number of files per backup set", _ops(_BACKUP),
           engines=_ORACLE,
           factor=True, low=1, high=64, unit="files"),
    Option("max_piece_size", OptionKind.SIZE, "maximum size of a backup piece", _ops(_BACKUP), engines=_ORACLE,
           factor=True),
    Option("rate", OptionKind.SIZE, "maximum bytes read per second by each channel", _ops(_BACKUP),
           engines=_ORACLE,
           factor=True),
    Option("device", OptionKind.CHOICE, "device type of the channels (default disk)", _ops(_BACKUP),
           engines=_ORACLE,
           choices=("disk", "sbt")),
    Option("format", OptionKind.TEXT, "format of the piece names; comma-separated, one per channel",
           _ops(_BACKUP),
           engines=_ORACLE),
    Option("parms", OptionKind.TEXT, "PARMS of the channels", _ops(_BACKUP), engines=_ORACLE),
    Option("connects", OptionKind.NAMES, "connect identifiers used by the channels in turn (/@alias)",
           _ops(_BACKUP),
           engines=_ORACLE),
)  # fmt: skip

BY_NAME: dict[str, Option] = {option.name: option for option in OPTIONS}


def options_of(operation: OperationName) -> tuple[Option, ...]:
    """Return the options an operation takes, in the order of help."""
    return tuple(option.of(operation) for option in OPTIONS if operation in option.operations)
