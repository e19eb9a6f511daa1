"""What is interrupted: jobs that leave what they were asked for, and measurements that leave nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DATA_FILES = ("rows_0.csv", "rows_1.csv")
"""The rows of `source`, half of them each."""
MEASURED = ("--degree", "1,2", "--repeat", "2", "--warmup", "0")


@dataclass(frozen=True, slots=True)
class Work:
    """A command, and what is there once it is done.

    Attributes:
        name: by which it is reported.
        arguments: of `dbatk`; `{}` stands for the schema, `{folder}` for where `DATA_FILES` are, `{backups}` for
            where backups and copies of them go, `{programs}` for where PostgreSQL's programs are.
        makes_table: whether a job makes the table `made`, as a copy of `source`.
        loads: the table whose rows a job adds those of `source` to.
        in_parts: whether it does so in several transactions, of which some may be there until it is resumed.
        purges: which rows a job deletes from `source`, or moves into `archived`.
        archives: whether it moves them.
        changes: which rows of `source` a job changes, once each: `k` becomes larger by 1,000.
        makes_index: how the index `made` of a job is defined, from ` USING` on, by its table.
        rebuilds: tables whose indexes a job builds anew.
        rewrites: tables that a job writes into new files.
        gathers: tables whose statistics a job gathers.
        makes_statistics: how the statistics `made` of a job are defined, from ` ON` on to the table.
        drops_statistics: statistics that a job drops.
        drops: partitions of `aged` that a job drops or detaches.
        exchanges: the partition of `aged` and the table that a job lets change places.
        clusters: the index in whose order a job puts a table, which is marked so.
        validates: constraints that a job validates.
        refreshes: the materialized view that a job fills, and how many rows it has then.
        backs_up: the file without which the backup `made` of a job is none.
        measures: how many trials a measurement has.
        repacks: whether pg_repack does it, which works for a superuser only.
    """

    name: str
    arguments: tuple[str, ...]
    makes_table: bool = False
    loads: str | None = None
    in_parts: bool = False
    purges: str | None = None
    archives: bool = False
    changes: str | None = None
    makes_index: Mapping[str, str] = field(default_factory=dict)
    rebuilds: tuple[str, ...] = ()
    rewrites: tuple[str, ...] = ()
    gathers: tuple[str, ...] = ()
    makes_statistics: str | None = None
    drops_statistics: str | None = None
    drops: tuple[str, ...] = ()
    exchanges: tuple[str, ...] = ()
    clusters: str | None = None
    validates: tuple[str, ...] = ()
    refreshes: tuple[str, int] | None = None
    backs_up: str | None = None
    measures: int = 0
    repacks: bool = False

    @property
    def is_load(self) -> bool:
        return self.loads is not None

    @property
    def copies_all(self) -> bool:
        """Whether each trial works on all rows of `source`."""
        return self.arguments[0] in ("ctas", "insert", "load", "stats", "vacuum", "table")

    @property
    def is_mix(self) -> bool:
        """Whether its jobs are runs of their own, whose target stands in the file of the mix."""
        return self.arguments[0] == "mix"

    def command(self, url: str, schema: str, folders: Mapping[str, Path]) -> tuple[str, ...]:
        own = (each.format(schema, **folders) for each in self.arguments)
        return *own, *(() if self.is_mix else ("--target", url)), "--not-production", "--json"


_ALL = ("source", "filled", "parted_0", "parted_1")
_CTAS = ("ctas", "--source", "{}.source", "--table", "{}.made")
_INSERT = ("insert", "--source", "{}.source", "--table")
_LOAD = ("load", *(f"{{folder}}/{name}" for name in DATA_FILES), "--table", "{}.filled")
_PURGE = ("purge", "--table", "{}.source", "--where", "k < 40")
_MOVED = (*_PURGE, "--archive-to", "{}.archived")
_CHANGE = ("purge", "--table", "{}.source", "--where", "id % 2 = 0", "--set", "k = k + 1000")
_BUILD = ("index", "build", "--table")
_ON_SOURCE = (*_BUILD, "{}.source", "--name", "made", "--columns")
_BY_K = {"source": "btree (k, word)"}
_REBUILD = ("index", "rebuild")
_GATHER = ("stats", "gather")
_EXTEND = ("stats", "extend", "--table")
_VACUUM, _MOVE = ("vacuum",), ("table", "move")
_REPACK = ("--method", "pg_repack", "--bin-dir", "{programs}")
_DROP, _AGED = ("partition", "drop", "--table", "{}.aged", "--keep-rows", "2 years"), ("aged_0", "aged_1")
_PROGRAMS = ("--destination", "{backups}", "--bin-dir", "{programs}")
_BACKUP = ("backup", "run", *_PROGRAMS, "--method")
_DUMP = (*_BACKUP, "pg_dump", "--scope", "schema", "--of", "{}", "--channels", "2")
_RESTORE = ("restore", "try", *_PROGRAMS, "--method")

WORKS = (
    Work("ctas", (*_CTAS, "--degree", "2"), makes_table=True),
    Work("ctas, workers set", (*_CTAS, "--degree", "2", "--parallel-workers", "1"), makes_table=True),
    Work("insert", (*_INSERT, "{}.filled"), loads="filled"),
    Work("insert, new identities", (*_INSERT, "{}.filled", "--identity", "generate"), loads="filled"),
    Work("insert into partitions", (*_INSERT, "{}.parted"), loads="parted"),
    Work("insert in parts", (*_INSERT, "{}.filled", "--degree", "2"), loads="filled", in_parts=True),
    Work("load", _LOAD, loads="filled", in_parts=True),
    Work("load in chunks", (*_LOAD, "--degree", "2", "--commit-every", "200K"), loads="filled", in_parts=True),
    Work("purge", (*_PURGE, "--chunk", "1500"), purges="k < 40"),
    Work("purge by several sessions", (*_PURGE, "--chunk", "1000", "--commit-every", "3", "--degree", "2"),
         purges="k < 40"),
    Work("purge into an archive", (*_MOVED, "--chunk", "1500"), purges="k < 40", archives=True),
    Work("purge into an archive by several sessions",
         (*_MOVED, "--chunk", "1000", "--commit-every", "2", "--degree", "2"), purges="k < 40", archives=True),
    Work("change in chunks", (*_CHANGE, "--chunk", "1500"), changes="id % 2 = 0"),
    Work("change in chunks by several sessions",
         (*_CHANGE, "--chunk", "1000", "--commit-every", "2", "--degree", "2"), changes="id % 2 = 0"),
    Work("index build", (*_ON_SOURCE, "k,word", "--degree", "2"), makes_index=_BY_K),
    Work("index build online", (*_ON_SOURCE, "k,word", "--online"), makes_index=_BY_K),
    Work("unique index build online", (*_ON_SOURCE, "word", "--unique", "--online"),
         makes_index={"source": "btree (word)"}),
    Work("index build of partitions", (*_BUILD, "{}.parted", "--name", "made", "--columns", "k"),
         makes_index={"parted": "btree (k)"}),
    Work("index rebuild", (*_REBUILD, "--table", "{}.source", "--degree", "2"), rebuilds=("source",)),
    Work("index rebuild, workers set",
         (*_REBUILD, "--table", "{}.source", "--degree", "2", "--parallel-workers", "1"),
         rebuilds=("source",)),
    Work("index rebuild online", (*_REBUILD, "--table", "{}.source", "--online"), rebuilds=("source",)),
    Work("index rebuild of a schema", (*_REBUILD, "--schema", "{}", "--concurrency", "2"), rebuilds=_ALL),
    Work("index rebuild of a schema online", (*_REBUILD, "--schema", "{}", "--online"), rebuilds=_ALL),
    Work("stats gather", (*_GATHER, "--table", "{}.source"), gathers=("source",)),
    Work("stats gather of a schema", (*_GATHER, "--schema", "{}", "--concurrency", "2"),
         gathers=("source", "filled", "parted", "parted_0", "parted_1", "archived")),
    Work("stats extend", (*_EXTEND, "{}.source", "--columns", "k,word", "--name", "made"),
         makes_statistics="ON k, word FROM source"),
    Work("stats extend, drop", (*_EXTEND, "{}.checked", "--columns", "word,k", "--drop"),
         drops_statistics="checked_group"),
    Work("vacuum", (*_VACUUM, "--table", "{}.source", "--freeze", "--analyze", "--degree", "2")),
    Work("vacuum of a schema", (*_VACUUM, "--schema", "{}", "--concurrency", "2")),
    Work("table move", (*_MOVE, "--table", "{}.source", "--degree", "2"), rewrites=("source",)),
    Work("table move of a schema", (*_MOVE, "--schema", "{}", "--concurrency", "2"),
         rewrites=("source", "filled", "parted_0", "parted_1")),
    Work("table move by an index", (*_MOVE, "--table", "{}.source", "--order-by-index", "source_k"),
         rewrites=("source",), clusters="source_k"),
    Work("table move by pg_repack", (*_MOVE, "--table", "{}.source", "--degree", "2", *_REPACK),
         rewrites=("source",), repacks=True),
    Work("table move of a schema by pg_repack", (*_MOVE, "--schema", "{}", *_REPACK),
         rewrites=("source",), repacks=True),
    Work("constraint validate", ("constraint", "validate", "--table", "{}.checked"), validates=("named", "small")),
    Work("constraint validate of a schema", ("constraint", "validate", "--schema", "{}", "--concurrency", "2"),
         validates=("named", "small")),
    Work("mview refresh", ("mview", "refresh", "--table", "{}.seen", "--degree", "2"), refreshes=("seen", 97)),
    Work("partition drop", _DROP, drops=_AGED),
    Work("partition detach", (*_DROP, "--detach"), drops=_AGED),
    Work("partition exchange", ("partition", "exchange", "--table", "{}.aged", "--partition", "{}.aged_1",
                                "--with-table", "{}.fresh"), exchanges=("aged_1", "fresh")),
    Work("backup by pg_dump", (*_DUMP, "--tag", "made"), backs_up="toc.dat"),
    Work("backup by pg_basebackup", (*_BACKUP, "pg_basebackup", "--file-format", "tar", "--checkpoint", "fast",
                                     "--tag", "made"), backs_up="backup_manifest"),
    Work("restore of a dump", (*_RESTORE, "pg_dump", "--backup", "{folder}/given/dump", "--tables", "given.rows")),
    Work("restore of a base backup", (*_RESTORE, "pg_basebackup", "--backup", "{folder}/given/base",
                                      "--tables", "given.rows")),
    Work("mix", ("mix", "{folder}/mix.toml"), makes_table=True, gathers=("filled",)),
    Work("backup by pg_dump measured", (*_DUMP, "--repeat", "2", "--warmup", "0"), measures=2),
    Work("ctas measured", (*_CTAS, *MEASURED), measures=4),
    Work("ctas measured, best kept", (*_CTAS, *MEASURED, "--keep", "best"), measures=4, makes_table=True),
    Work("ctas measured, workers set", (*_CTAS, *MEASURED, "--parallel-workers", "2"), measures=4),
    Work("ctas measured, unlogged", (*_CTAS, *MEASURED, "--nologging"), measures=4),
    Work("insert measured", (*_INSERT, "{}.filled", "--repeat", "3", "--warmup", "0"), measures=3),
    Work("index build measured", (*_BUILD, "{}.source", "--columns", "word", *MEASURED), measures=4),
    Work("index build measured online",
         (*_BUILD, "{}.source", "--columns", "word", "--online", "--repeat", "3"), measures=4),
    Work("index rebuild measured", (*_REBUILD, "--table", "{}.source", *MEASURED), measures=4),
    Work("index rebuild measured, live",
         (*_REBUILD, "--table", "{}.source", "--online", "--on-live-objects", *MEASURED), measures=4),
    Work("vacuum measured", (*_VACUUM, "--table", "{}.source", *MEASURED), measures=4),
    Work("table move measured", (*_MOVE, "--table", "{}.source", *MEASURED), measures=4),
    Work("table move by pg_repack measured", (*_MOVE, "--table", "{}.source", *_REPACK, *MEASURED), measures=4,
         repacks=True),
    Work("load measured", (*_LOAD, *MEASURED), measures=4),
    Work("purge measured", (*_PURGE, *MEASURED), measures=4),
    Work("workload", ("workload", "--builtin", "tpcb", "--scale", "1", "--users", "1,2", "--measure-for", "1s",
                      "--ramp-up", "0", "--repeat", "1", "--warmup", "0", "--work-schema", "{}"), measures=2),
    Work("stats extend measured", (*_EXTEND, "{}.source", "--columns", "k,word", "--repeat", "3", "--warmup", "0"),
         measures=3),
    Work("stats gather measured", (*_GATHER, "--table", "{}.source", "--repeat", "2"), measures=3),
)  # fmt: skip
