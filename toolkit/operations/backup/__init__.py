"""Backing a database up."""

from dataclasses import replace

from toolkit.model.operations import OperationDeclaration, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind, Topic
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_OF_ALL = (
    replace(
        shared.COMPRESSION, help="compression of the backup",
        choices=("none", "basic", "low", "medium", "high", "gzip", "lz4", "zstd", "bzip2", "snappy", "brotli"),
    ),
    Option("channels", OptionKind.DEGREE,
           "parallel channels: 4; to compare several: 1,2,4 (RMAN channels, process-max of pgBackRest, workers "
           "that compress for pg_basebackup, sessions of pg_dump, threads of DuckDB)", factor=True, low=1,
           high=255, unit="channels"),
    Option("destination", OptionKind.PATHS,
           "folder for the backup, which gets its own subfolder (several on oracle)",
           topic=Topic.WHERE),
    Option("tag", OptionKind.NAME, "name of a backup to keep"),
    Option("keep_for", OptionKind.DURATION,
           "after the backup, remove older ones (14d) that dbatk made of this database in the destination, but "
           "never the last one that was verified", engines=shared.NOT_ORACLE,
           elsewhere="RMAN keeps backups by its retention policy (CONFIGURE RETENTION POLICY); dbatk never runs "
           "DELETE OBSOLETE"),
    Option("scope", OptionKind.CHOICE,
           "what to back up (default database): RMAN has tablespace, pdb, datafile and archivelog, pg_dump has "
           "schema and table", engines=shared.NOT_DUCKDB,
           choices=("database", "tablespace", "pdb", "datafile", "archivelog", "schema", "table")),
    Option("of", OptionKind.NAMES,
           "names for --scope: tablespaces, PDBs, data file names or numbers, schemas, tables",
           engines=shared.NOT_DUCKDB),
    Option("window", OptionKind.DURATION, "report whether the backup fits into this time",
           topic=Topic.MEASUREMENT),
)  # fmt: skip
_OF_PROGRAMS = (
    Option("compression_level", OptionKind.INTEGER, "compression level, on the scale of its program",
           engines=shared.NOT_ORACLE, factor=True, low=-7, high=22),
    Option("file_format", OptionKind.CHOICE, "pg_basebackup: plain or tar; duckdb: parquet or csv",
           engines=shared.NOT_ORACLE, factor=True, choices=("plain", "tar", "parquet", "csv")),
    Option("method", OptionKind.CHOICE, "backup program (default pg_basebackup)",
           engines=shared.POSTGRESQL, factor=True, choices=("pg_basebackup", "pgbackrest", "pg_dump")),
    Option("compress_at", OptionKind.CHOICE, "where pg_basebackup compresses (default server)",
           engines=shared.POSTGRESQL, factor=True, choices=("server", "client")),
    Option("checkpoint", OptionKind.CHOICE,
           "checkpoint at the start (default: spread in jobs, fast in measurements)",
           engines=shared.POSTGRESQL, factor=True, choices=("fast", "spread")),
    Option("manifest_checksums", OptionKind.CHOICE, "checksum algorithm of pg_basebackup's manifest",
           engines=shared.POSTGRESQL, factor=True,
           choices=("none", "crc32c", "sha224", "sha256", "sha384", "sha512")),
    Option("stanza", OptionKind.TEXT, "pgBackRest stanza, for a job", engines=shared.POSTGRESQL),
    Option("backup_config", OptionKind.TEXT, "pgBackRest configuration file, for a job",
           engines=shared.POSTGRESQL),
    Option("bin_dir", OptionKind.TEXT, "folder of the backup programs, if they are not found automatically",
           engines=shared.NOT_DUCKDB),
)  # fmt: skip
_OF_RMAN = (
    Option("action", OptionKind.CHOICE, "what RMAN does (default backup)", engines=shared.ORACLE,
           choices=("backup", "validate", "restore_validate")),
    Option("incremental", OptionKind.INTEGER, "level of an incremental backup, for a job", engines=shared.ORACLE,
           low=0, high=1),
    Option("plus_archivelog", OptionKind.FLAG, "also back up the archived logs", engines=shared.ORACLE),
    Option("write", OptionKind.FLAG, "measure written backups; otherwise files are only read (VALIDATE)",
           engines=shared.ORACLE),
    Option("section_size", OptionKind.SIZE,
           "split big files into sections of this size, shared by several channels",
           engines=shared.ORACLE, factor=True),
    Option("files_per_set", OptionKind.INTEGER, "maximum number of files per backup set", engines=shared.ORACLE,
           factor=True, low=1, high=64, unit="files"),
    Option("max_piece_size", OptionKind.SIZE, "maximum size of a backup piece", engines=shared.ORACLE,
           factor=True),
    Option("rate", OptionKind.SIZE, "maximum bytes read per second by each channel", engines=shared.ORACLE,
           factor=True),
    Option("device", OptionKind.CHOICE, "device type of the channels (default disk)", engines=shared.ORACLE,
           choices=("disk", "sbt")),
    Option("format", OptionKind.TEXT, "format of the piece names; comma-separated, one per channel",
           engines=shared.ORACLE),
    Option("parms", OptionKind.TEXT, "PARMS of the channels", engines=shared.ORACLE),
    Option("connects", OptionKind.NAMES, "connect identifiers used by the channels in turn (/@alias)",
           engines=shared.ORACLE),
)  # fmt: skip

DECLARATION = OperationDeclaration(
    name="backup",
    command=("backup", "run"),
    help="Back up the database, once or as a measurement.",
    group="Run backups and read backup logs.",
    options=(*_OF_ALL, *_OF_PROGRAMS, *_OF_RMAN),
    examples=(
        "dbatk backup run -t crm --channels 4 --compression zstd --destination /backup",
        "dbatk backup run -t orcl --channels 1,2,4,8 --section-size 32G --dry-run",
    ),
    planned_by="toolkit.operations.backup.plan",
    common=("destination", "compression"),
    object=ObjectKind.BACKUP,
    degree="channels",
    verified_by=VerifiedBy.BACKUP,
    sizes=SizeReads(database=True),
    writes_files=True,
    complete_when_timed=False,
    cookbook="how-many-channels-for-this-backup.md",
    order=6,
)
