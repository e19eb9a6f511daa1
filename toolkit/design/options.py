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


class Kind(StrEnum):
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
    kind: Kind
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
    Option("degree", Kind.DEGREE, "parallel degree of the statement: 4, 1,2,4 or 1..64x2", _ALL, factor=True,
           low=1, high=4096, unit="processes", words=("default", "auto")),
    Option("concurrency", Kind.INTEGER, "sessions working at once, each with its degree", _ALL,
           factor=True, low=1, high=512, unit="sessions"),
    Option("source", Kind.NAME, "table to read", _ops(_CTAS, _INSERT)),
    Option("query", Kind.QUERY, "file with one SELECT to read from, - for standard input", _ops(_CTAS, _INSERT)),
    Option("table", Kind.NAME, "table to create, fill, index, rebuild or gather", _ALL),
    Option("index", Kind.NAME, "index to rebuild", _ops(_REBUILD)),
    Option("schema", Kind.NAMES, "every table (or index) of these schemas", _ops(_REBUILD, _STATS)),
    Option("columns", Kind.NAMES, "columns of the index, in order; of a load: those that are copied",
           _ops(_CTAS, _INSERT, _BUILD)),
    Option("where", Kind.PREDICATE, "one condition on the rows of --source (- or @FILE reads it)",
           _ops(_CTAS, _INSERT)),
    Option("sample", Kind.NUMBER, "per cent of the rows of --source, the same ones in every trial",
           _ops(_CTAS, _INSERT), low=0.000001, high=99.999999, unit="%"),
    Option("sample_by", Kind.CHOICE, "sample rows or whole blocks", _ops(_CTAS, _INSERT),
           choices=("rows", "blocks")),
    Option("sample_seed", Kind.INTEGER, "which sample: 1 if not given", _ops(_CTAS, _INSERT), low=0,
           high=4294967295),
    Option("partition_by", Kind.TEXT,
           "'hash(ID) 16', 'range(DT) interval 1 month', 'range(ID) below 10,20,max' or 'list(C) automatic'",
           _ops(_CTAS), engines=_ORACLE),
    Option("partitions", Kind.INTEGER, "number of partitions of --partition-by 'hash(...)'", _ops(_CTAS),
           engines=_ORACLE, factor=True, low=1, high=1048575),
    Option("name", Kind.NAME, "name of the new index", _ops(_BUILD), file_key="index_name"),
    Option("unique", Kind.FLAG, "build a unique index", _ops(_BUILD)),
    Option("bitmap", Kind.FLAG, "build a bitmap index", _ops(_BUILD), engines=_ORACLE),
    Option("reverse", Kind.FLAG, "store the bytes of the key reversed", _ops(_BUILD), engines=_ORACLE),
    Option("prefix", Kind.INTEGER, "leading columns whose equal values are stored once (COMPRESS n)",
           _ops(_BUILD), engines=_ORACLE, factor=True, low=1, high=31, unit="columns"),
    Option("local", Kind.FLAG, "partition the index as its table is", _ops(_BUILD), engines=_ORACLE, factor=True),
    Option("global_hash", Kind.INTEGER, "partition the index by a hash of its first column, into so many",
           _ops(_BUILD), engines=_ORACLE, factor=True, low=2, high=1024, unit="partitions"),
    Option("global_range", Kind.TEXT, "partition the index by these bounds of its first column: 10,20 or 'K','T'",
           _ops(_BUILD), engines=_ORACLE),
    Option("invisible", Kind.FLAG, "build it out of the optimizer's sight", _ops(_BUILD), engines=_ORACLE),
    Option("pctfree", Kind.INTEGER, "per cent of each block left free", _ops(_CTAS, _BUILD, _REBUILD),
           engines=_NOT_DUCKDB, factor=True, low=0, high=90, unit="%"),
    Option("tablespace", Kind.NAME, "tablespace of the new object", _ops(_CTAS, _BUILD, _REBUILD),
           engines=_NOT_DUCKDB),
    Option("compression", Kind.CHOICE, "compression of the new object", _ops(_CTAS, _BUILD, _REBUILD, _BACKUP),
           factor=True, choices=_COMPRESSION, choices_in={_BACKUP: _COMPRESSION_OF_BACKUPS},
           help_in={_BACKUP: "compression of the backup"}),
    Option("logging", Kind.CHOICE, "write redo for the new object or not", _ops(_CTAS, _INSERT, _BUILD, _REBUILD),
           engines=_NOT_DUCKDB, factor=True, choices=("logging", "nologging")),
    Option("load", Kind.CHOICE, "direct path or conventional insert", _ops(_INSERT), engines=_ORACLE,
           factor=True, choices=("direct", "conventional")),
    Option("parallel_dml", Kind.CHOICE, "enable parallel DML by ALTER SESSION or by hint", _ops(_INSERT),
           engines=_ORACLE, factor=True, choices=("session", "hint")),
    Option("pq_distribute", Kind.CHOICE, "how rows reach the servers that load them", _ops(_CTAS, _INSERT),
           engines=_ORACLE, factor=True, choices=("none", "random", "random_local", "partition")),
    Option("into", Kind.CHOICE, "measure into an empty copy, or into one that holds the table's rows",
           _ops(_INSERT), factor=True, choices=("empty", "filled")),
    Option("bare", Kind.FLAG, "measure into a copy without indexes, constraints and partitions", _ops(_INSERT)),
    Option("online", Kind.FLAG, "allow changes of the table meanwhile (ONLINE, CONCURRENTLY)",
           _ops(_BUILD, _REBUILD), engines=_NOT_DUCKDB, factor=True),
    Option("sort_area_mb", Kind.INTEGER, "memory of each sorting process, in MB; auto leaves it to the database",
           _ops(_BUILD, _REBUILD), engines=_ORACLE, factor=True, low=1, high=2047, unit="MB", words=("auto",)),
    Option("unusable_only", Kind.FLAG, "only indexes that are unusable or invalid", _ops(_REBUILD),
           engines=_NOT_DUCKDB),
    Option("online_statistics", Kind.CHOICE, "gather statistics while loading: jobs do, measurements do not",
           _ops(_CTAS, _INSERT), engines=_ORACLE, factor=True, choices=("yes", "no")),
    Option("estimate_percent", Kind.NUMBER, "sample in per cent of the rows", _ops(_STATS), engines=_ORACLE,
           factor=True, low=0.000001, high=100, unit="%", words=("auto", "compute")),
    Option("block_sample", Kind.CHOICE, "sample blocks, not rows, for a percentage", _ops(_STATS), engines=_ORACLE,
           factor=True, choices=("yes", "no")),
    Option("method_opt", Kind.TEXT, "columns and histograms, as in DBMS_STATS", _ops(_STATS), engines=_ORACLE,
           factor=True, level_begins="FOR"),
    Option("partition", Kind.NAME, "only this partition of the table", _ops(_STATS), engines=_ORACLE),
    Option("cascade", Kind.CHOICE, "gather the indexes too", _ops(_STATS), engines=_ORACLE, factor=True,
           choices=("yes", "no", "auto")),
    Option("granularity", Kind.CHOICE, "which levels of a partitioned table", _ops(_STATS), engines=_ORACLE,
           factor=True, choices=("auto", "all", "global", "global_and_partition", "partition", "subpartition")),
    Option("gather", Kind.CHOICE, "which objects: all, stale, empty or Oracle's choice", _ops(_STATS),
           engines=_ORACLE, factor=True, choices=("gather", "stale", "empty", "auto")),
    Option("no_invalidate", Kind.CHOICE, "leave dependent cursors alone", _ops(_STATS), engines=_ORACLE,
           factor=True, choices=("yes", "no", "auto")),
    Option("statistics_target", Kind.INTEGER, "default_statistics_target of the session", _ops(_STATS),
           engines=frozenset({EngineName.POSTGRESQL}), factor=True, low=1, high=10000),
    Option("on_live_objects", Kind.FLAG, "measure on the live object, not on a copy",
           _ops(_BUILD, _REBUILD, _STATS)),
    # -- backups
    Option("channels", Kind.DEGREE, "channels that work at once: RMAN channels, pgBackRest's process-max, the "
           "workers that compress for pg_basebackup, DuckDB's threads", _ops(_BACKUP), factor=True, low=1,
           high=255, unit="channels"),
    Option("destination", Kind.PATHS, "folder (several on oracle) where the backup goes, in a folder of its own",
           _ops(_BACKUP)),
    Option("tag", Kind.NAME, "name of a backup that stays", _ops(_BACKUP)),
    Option("window", Kind.DURATION, "say whether the backup fits into this time", _ops(_BACKUP)),
    Option("compression_level", Kind.INTEGER, "level of the compression, as its program counts", _ops(_BACKUP),
           engines=_NOT_ORACLE, factor=True, low=-7, high=22),
    Option("file_format", Kind.CHOICE, "pg_basebackup: plain or tar; duckdb: parquet or csv", _ops(_BACKUP),
           engines=_NOT_ORACLE, factor=True, choices=("plain", "tar", "parquet", "csv")),
    Option("method", Kind.CHOICE, "program that makes the backup: pg_basebackup if not given", _ops(_BACKUP),
           engines=_POSTGRESQL, factor=True, choices=("pg_basebackup", "pgbackrest")),
    Option("compress_at", Kind.CHOICE, "where pg_basebackup compresses: server if not given", _ops(_BACKUP),
           engines=_POSTGRESQL, factor=True, choices=("server", "client")),
    Option("checkpoint", Kind.CHOICE, "how the backup begins: jobs spread, measurements fast", _ops(_BACKUP),
           engines=_POSTGRESQL, factor=True, choices=("fast", "spread")),
    Option("manifest_checksums", Kind.CHOICE, "checksums of files that pg_basebackup writes down", _ops(_BACKUP),
           engines=_POSTGRESQL, factor=True,
           choices=("none", "crc32c", "sha224", "sha256", "sha384", "sha512")),
    Option("stanza", Kind.TEXT, "pgBackRest's stanza, for a job", _ops(_BACKUP), engines=_POSTGRESQL),
    Option("backup_config", Kind.TEXT, "pgBackRest's configuration file, for a job", _ops(_BACKUP),
           engines=_POSTGRESQL),
    Option("bin_dir", Kind.TEXT, "folder of the programs, where they are not found by themselves", _ops(_BACKUP),
           engines=_NOT_DUCKDB),
    Option("action", Kind.CHOICE, "what RMAN does: backup if not given", _ops(_BACKUP), engines=_ORACLE,
           choices=("backup", "validate", "restore_validate")),
    Option("scope", Kind.CHOICE, "what is backed up: the database if not given", _ops(_BACKUP), engines=_ORACLE,
           choices=("database", "tablespace", "pdb", "datafile", "archivelog")),
    Option("of", Kind.NAMES, "names of --scope: tablespaces, PDBs, numbers or names of data files", _ops(_BACKUP),
           engines=_ORACLE),
    Option("incremental", Kind.INTEGER, "level of an incremental backup, for a job", _ops(_BACKUP),
           engines=_ORACLE, low=0, high=1),
    Option("plus_archivelog", Kind.FLAG, "back up the archived logs too", _ops(_BACKUP), engines=_ORACLE),
    Option("write", Kind.FLAG, "measure written backups; without it the files are only read (VALIDATE)",
           _ops(_BACKUP), engines=_ORACLE),
    Option("section_size", Kind.SIZE, "read big files in sections of this size, several channels a file",
           _ops(_BACKUP), engines=_ORACLE, factor=True),
    Option("files_per_set", Kind.INTEGER, "files in each backup set at most", _ops(_BACKUP), engines=_ORACLE,
           factor=True, low=1, high=64, unit="files"),
    Option("max_piece_size", Kind.SIZE, "size of a backup piece at most", _ops(_BACKUP), engines=_ORACLE,
           factor=True),
    Option("rate", Kind.SIZE, "bytes that each channel reads a second at most", _ops(_BACKUP), engines=_ORACLE,
           factor=True),
    Option("device", Kind.CHOICE, "device of the channels: disk if not given", _ops(_BACKUP), engines=_ORACLE,
           choices=("disk", "sbt")),
    Option("format", Kind.TEXT, "name of the pieces, one for each channel with commas between them", _ops(_BACKUP),
           engines=_ORACLE),
    Option("parms", Kind.TEXT, "PARMS of the channels", _ops(_BACKUP), engines=_ORACLE),
    Option("connects", Kind.NAMES, "connect identifiers of the channels in turn (/@alias)", _ops(_BACKUP),
           engines=_ORACLE),
)  # fmt: skip

BY_NAME: dict[str, Option] = {option.name: option for option in OPTIONS}


def options_of(operation: OperationName) -> tuple[Option, ...]:
    """Return the options an operation takes, in the order of help."""
    return tuple(option.of(operation) for option in OPTIONS if operation in option.operations)
