"""What a report details beyond its load and its waits: advice, samples of sessions, input and output, memory.

Each section is declared by the headings of its table, as those of `catalogue`, and is read when it is asked for.
The same section has the same names whatever release, format or scope (`inst_num` where a report is of a whole
cluster) prints it. A column that no field has keeps its heading as its name.
"""

from __future__ import annotations

import re

from toolkit.readers.awr.addm_advice import ADDM_ADVICE
from toolkit.readers.awr.fields import Field, SectionSpec
from toolkit.readers.awr.forms import FieldKind
from toolkit.readers.awr.global_cache import GLOBAL_CACHE
from toolkit.readers.awr.tables import snake

_T, _N, _ID, _ANY = FieldKind.TEXT, FieldKind.IDENTIFIER, FieldKind.SQL_ID, FieldKind.ANY
_S, _MS, _TIME, _BYTES = FieldKind.SECONDS, FieldKind.MILLISECONDS, FieldKind.TIME, FieldKind.BYTES
_K, _SHARE, _LABEL = FieldKind.THOUSANDS, FieldKind.SHARE, FieldKind.LABEL
_DIGITS, _HASH = FieldKind.DIGITS, FieldKind.HASH_VALUE
_INST = Field("inst_num", "i#|inst no", FieldKind.ANY)
_PDB = Field("pdb", "pdb name|container name", _N)
_TABLESPACE = Field("tablespace", "tablespace|tablespace name", _N)
_FILE = Field("filename", "filename|file name", _N)


def _named(heading: str) -> tuple[str, FieldKind]:
    return snake(heading), _ANY


# -- findings and samples ---------------------------------------------------------------------------------------
_EVENT, _PCT_EVENT = Field("event", "event", _T), Field("pct_event", "% event")
_ACTIVITY, _TEXT = Field("pct_activity", "% activity"), Field("text", "sql text", _N)


def _top_sql(name: str, event: str, source: str) -> SectionSpec:
    """Declare a list of statements by what they waited for, or by what they were doing."""
    fields = (
        Field("sql_id", "sql id", _ID), Field("plan_hash", "plan hash|planhash|plan hash value", _HASH),
        Field("sampled_executions", "executions|sampled # of executions"), _ACTIVITY, Field("event", event, _T),
        _PCT_EVENT, Field("row_source", source, _T), Field("pct_row_source", "% row source|% rwsrc"), _TEXT, _PDB,
    )  # fmt: skip
    return SectionSpec(name, fields, ("sql_id", "pct_activity", "event", "row_source"))


def _sessions(name: str, session: str, event: str) -> SectionSpec:
    fields = (
        Field("session", session, _N), _ACTIVITY, Field("event", event, _T), _PCT_EVENT, Field("user", "user", _N),
        Field("program", "program", _N), Field("samples_active", "# samples active", _T), Field("xids", "xids"),
    )  # fmt: skip
    return SectionSpec(name, fields, ("session", "pct_activity", "event"))


_FINDINGS = (
    SectionSpec(
        "addm_findings",
        (
            Field("finding", "finding name", _T),
            Field("task_avg_active_sessions", "avg active sessions of the task"),
            Field("pct_active_sessions", "percent active sessions of finding"),
            Field("task", "task name", _N),
            Field("begin_snap_time", "begin snap time", _TIME),
            Field("end_snap_time", "end snap time", _TIME),
        ),
        ("finding", "pct_active_sessions"),
    ),
    _top_sql("ash_sql_by_event", "event", "top row source"),
    _top_sql("ash_sql_by_row_source", "top event", "row source"),
    _sessions("ash_sessions", "sid serial#", "event"),
    _sessions("ash_blocking_sessions", "blocking sid inst|blocking sid", "event caused"),
    SectionSpec(
        "ash_event_parameters",
        (
            _EVENT, _PCT_EVENT, Field("values", "p1 p2 p3 values", _N), _ACTIVITY,
            *(Field(f"parameter_{number}", f"parameter {number}", _T) for number in (1, 2, 3)),
        ),
        ("event", "values"),
    ),
    SectionSpec(
        "ash_events",
        (
            _EVENT, Field("wait_class", "event class", _T), Field("session_type", "session type", _T), _ACTIVITY,
            Field("avg_active_sessions", "avg active sessions"),
        ),
        ("event", "pct_activity", "avg_active_sessions"),
    ),
    SectionSpec(
        "ash_objects",
        (
            Field("object_id", "object id", _DIGITS), _ACTIVITY, _EVENT, _PCT_EVENT,
            Field("object", "object name type", _N), _TABLESPACE, _PDB,
        ),
        ("object_id", "pct_activity", "event"),
    ),
    SectionSpec(
        "ash_plsql",
        (
            Field("entry_subprogram", "pl sql entry subprogram|plsql entry subprogram", _N), _ACTIVITY,
            Field("current_subprogram", "pl sql current subprogram|plsql current subprogram", _N),
            Field("pct_current", "% current"),
        ),
        ("entry_subprogram", "pct_activity"),
    ),
    SectionSpec(
        "ash_over_time",
        (
            Field("slot", "slot time duration", _T), Field("slot_samples", "slot count"), _EVENT,
            Field("event_samples", "event count"), _PCT_EVENT,
        ),
        ("slot", "slot_samples", "event"),
    ),
)  # fmt: skip

# -- input and output -------------------------------------------------------------------------------------------
_IO = (
    Field("read_bytes", "reads data|read data volume", _BYTES),
    Field("read_requests_per_s", "reqs per sec|read requests sec|requests reads s"),
    Field("read_bytes_per_s", "data per sec|read data vol sec|mb read mb s", _BYTES),
    Field("write_bytes", "writes data|write data volume", _BYTES),
    Field("write_requests_per_s", "reqs per sec|write requests sec|requests writes s"),
    Field("write_bytes_per_s", "data per sec|write data vol sec|mb write mb s", _BYTES),
    Field("waits", "waits count|wait count"),
    Field("avg_wait_ms", "avg time|avg tm ms|wait avg tm ms", _MS),
    Field("small_read_ms", "small read|service time small read", _MS, "ms"),
    Field("large_read_ms", "large read|service time large read", _MS, "ms"),
)
_FUNCTION = Field("function", "function name|function", _T)
_FILE_TYPE = Field("file_type", "filetype name", _T)
_FILE_IO = (
    Field("reads", "reads"), Field("reads_per_s", "av reads s|av rds s"), Field("avg_read_ms", "av rd ms", _MS),
    Field("blocks_per_read", "av blks rd"), Field("single_block_reads_per_s", "1 bk rds s"),
    Field("avg_single_block_read_ms", "av 1 bk rd ms", _MS), Field("pct_optimized_reads", "% opt reads"),
    Field("writes", "writes"), Field("writes_per_s", "av writes s|writes avg s"),
    Field("avg_write_ms", "av writes ms", _MS), Field("buffer_waits", "buffer waits"),
    Field("avg_buffer_wait_ms", "av buf wt ms|av bufwt ms", _MS), Field("max_read_bucket_ms", "mx rd bkt"), _PDB,
)  # fmt: skip


def _bucket(heading: str) -> tuple[str, FieldKind]:
    """Name a column of a histogram: `<1/8s` is `pct_below_128ms`, `32+ ms` counts the waits `waits_from_32ms`.

    A second of a histogram is 1024 milliseconds, a minute 64 of these, an hour 64 of those, as its notes say.
    """
    if match := re.search(r"(<=|>=|<|>)\s*(1/)?(\d+)\s*(us|ms|s|m|h)$", heading):
        sign, part, digits, unit = match.groups()
        if part:
            digits, unit = str((1024 if unit == "s" else 64) // int(digits)), "ms" if unit == "s" else "m"
        return f"pct_{_SIGNS[sign]}_{digits}{'min' if unit == 'm' else unit}", _SHARE
    if match := re.fullmatch(r"Waits (\d+\w+) (?:to|-) (\d+\w+)", heading):
        return f"waits_{match[1]}_to_{match[2]}", FieldKind.NUMBER
    if match := re.fullmatch(r"(\d+) ?(?:- ?(\d+)|\+) ?(us|ms|s)", heading):
        begin, end, unit = match.groups()
        return f"waits_{begin}_to_{end}{unit}" if end else f"waits_from_{begin}{unit}", FieldKind.NUMBER
    return _named(heading)


_SIGNS = {"<": "below", "<=": "up_to", ">": "above", ">=": "from"}
_INPUT_OUTPUT = (
    SectionSpec(
        "io_by_function_and_file_type",
        (Field("function_and_file_type", "function file name|", _T), *_IO),
        ("read_bytes", "write_bytes"),
        words=r"function filetype",
    ),
    SectionSpec("io_by_function", (_INST, _FUNCTION, *_IO), ("function", "read_bytes_per_s")),
    SectionSpec("io_by_file_type", (_INST, _FILE_TYPE, *_IO), ("file_type", "read_bytes_per_s")),
    SectionSpec(
        "io_by_function_and_size",
        (
            _FUNCTION,
            *(
                Field(f"{size}_{way}_{what}", f"{way} {size} {printed}", kind)
                for way, data in (("read", "data read"), ("write", "data writn"))
                for what, printed, kind in (
                    ("requests", f"{way} reqs", FieldKind.NUMBER),
                    ("bytes", data, _BYTES),
                )
                for size in ("small", "large")
            ),
        ),
        ("function", "small_read_requests"),
    ),
    SectionSpec("file_read_histogram", (_TABLESPACE, _FILE), ("tablespace", "filename"),
                words="file read histogram", rest=_bucket),
    SectionSpec("file_io", (_TABLESPACE, _FILE, *_FILE_IO), ("tablespace", "filename", "reads", "writes")),
    SectionSpec("tablespace_io", (_TABLESPACE, *_FILE_IO), ("tablespace", "reads", "avg_read_ms", "writes")),
    SectionSpec(
        "wait_event_histogram", (Field("event", "event", _T), Field("waits", "total waits|waits")),
        ("event", "waits"), words=r"wait event histogram", rest=_bucket,
    ),
    SectionSpec("wait_event_histogram", (Field("event", "event", _T),), ("event",), forbids=r"^waits \d|time s",
                words=r"wait event histogram", rest=_bucket),
    SectionSpec("wait_event_histogram_detail", (Field("event", "event", _T),), ("event",), forbids=r"time s",
                words=r"wait event histogram", rest=_bucket),
)  # fmt: skip

# -- memory -----------------------------------------------------------------------------------------------------
_LIBRARY = (
    Field("library_cache_mb", "est lc size m|estd lib cache size m"),
    Field("library_cache_objects", "est lc mem obj|estd lib cache mem obj"),
    Field("time_saved_s", "est lc time saved s|estd lib cache time saved s", _S),
    Field("time_saved_factor", "est lc time saved factr|estd lc time saved factr"),
    Field("load_time_s", "est lc load time s", _S), Field("load_time_factor", "est lc load time factr"),
    Field("object_hits", "est lc mem obj hits|estd lib cache mem obj hits"),
    Field("object_hits", "est lc mem obj hits k", _K),
)  # fmt: skip
_ADVICE = (
    SectionSpec(
        "buffer_cache_advice",
        (
            Field("pool", "p", _T),
            Field("size_mb", "size for est m|size for estimate m"),
            Field("size_factor", "size factor|size factr"),
            Field("buffers", "buffers for estimate"),
            Field("buffers", "buffers thousands", _K),
            Field("read_factor", "est phys read factor|est phys read factr|est physical read factor"),
            Field("physical_reads", "estimated physical reads"),
            Field("physical_reads", "estimated phys reads thousands", _K),
            Field("read_time", "est phys read time"),
            Field("pct_db_time", "est %dbtime for rds|est % dbtime for rds"),
        ),
        ("pool", "size_mb", "size_factor"),
    ),
    SectionSpec(
        "pga_advice",
        (
            Field("size_mb", "pga target est mb|pga aggr target est mb"),
            Field("size_factor", "size factr"),
            Field("processed_mb", "w a mb processed"),
            Field("extra_read_written_mb", "estd extra w a mb read written to disk"),
            Field("time_s", "estd time to process bytes s", _S),
            Field("time", "estd time"),
            Field("cache_hit_pct", "estd pga cache hit %|estd p cache hit %"),
            Field("overallocations", "estd pga overalloc count|estd pga overallo count"),
        ),
        ("size_mb", "size_factor"),
    ),
    SectionSpec(
        "sga_advice",
        (
            Field("size_mb", "sga target size m"), Field("size_factor", "sga size factor"),
            Field("db_time_s", "est db time s", _S), Field("db_time_factor", "est db time factor"),
            Field("physical_reads", "est physical reads"),
        ),
        ("size_mb", "size_factor", "db_time_s"),
    ),
    SectionSpec(
        "shared_pool_advice",
        (Field("size_mb", "shared pool size m|shared pool size for estim m"),
         Field("size_factor", "sp size factr"), *_LIBRARY),
        ("size_mb", "size_factor"),
    ),
    SectionSpec(
        "java_pool_advice",
        (Field("size_mb", "java pool size m"), Field("size_factor", "jp size factr"), *_LIBRARY),
        ("size_mb", "size_factor"),
    ),
    SectionSpec(
        "streams_pool_advice",
        (
            Field("size_mb", "size for est mb|streams pool size m"),
            Field("size_factor", "size factor|streams pool size factor"),
            Field("spills", "est spill count"), Field("spill_time_s", "est spill time s", _S),
            Field("unspills", "est unspill count"), Field("unspill_time_s", "est unspill time s", _S),
        ),
        ("size_mb", "size_factor", "spills"),
    ),
    SectionSpec(
        "mttr_advice",
        (
            Field("recovery_s", "size for est s", _S), Field("dirty_limit", "dirty limit"),
            Field("cache_writes", "est cache writes"), Field("cache_write_factor", "est cache write fctr"),
            Field("total_writes", "est total writes"), Field("total_write_factor", "est total write fctr"),
            Field("total_ios", "est total ios"), Field("total_io_factor", "est total io fctr"),
        ),
        ("recovery_s", "dirty_limit"),
    ),
)  # fmt: skip

_REQUESTS = (Field("gets", "get requests"), Field("pct_get_misses", "pct miss"))
_NAMESPACE, _CACHE = Field("namespace", "namespace", _T), Field("cache", "cache", _T)
_GES = tuple(
    Field(f"ges_{name}", f"ges {heading}")
    for name, heading in (
        ("requests", "requests"), ("conflicts", "conflicts"), ("releases", "releases"),
        ("lock_requests", "lock requests"), ("pin_requests", "pin requests"), ("pin_releases", "pin releases"),
        ("invalidation_requests", "inval requests"), ("invalidations", "invali dations"),
    )
)  # fmt: skip
_CACHES = (
    SectionSpec(
        "library_cache",
        (
            _NAMESPACE, *_REQUESTS, Field("pins", "pin requests"), Field("pct_pin_misses", "pct miss"),
            Field("reloads", "reloads"), Field("invalidations", "invali dations|invalidations"), *_GES, _PDB,
        ),
        ("namespace", "gets", "pins"),
    ),
    SectionSpec("library_cache_ges", (_NAMESPACE, *_GES), ("namespace", "ges_lock_requests")),
    SectionSpec(
        "dictionary_cache",
        (
            _CACHE, *_REQUESTS, Field("scans", "scan reqs"), Field("pct_scan_misses", "pct miss"),
            Field("modifications", "mod reqs"), Field("final_usage", "final usage"), *_GES, _PDB,
        ),
        ("cache", "gets", "scans"),
    ),
    SectionSpec("dictionary_cache_ges", (_CACHE, *_GES), ("cache", "ges_requests")),
    SectionSpec(
        "buffer_pools",
        (
            Field("pool", "p", _T), Field("buffers", "number of buffers"), Field("pct_hits", "pool hit%"),
            Field("gets", "buffer gets"), Field("reads", "physical reads"), Field("writes", "physical writes"),
            Field("free_buffer_waits", "free buff wait"), Field("write_complete_waits", "writ comp wait"),
            Field("buffer_busy_waits", "buffer busy waits"),
        ),
        ("pool", "buffers", "pct_hits"),
    ),
)  # fmt: skip

# -- locks and undo ---------------------------------------------------------------------------------------------
_LATCH = Field("latch", "latch name|latch", _T)
_UNDO = (
    Field("undo_blocks", "undo blocks|num undo blocks"), Field("undo_blocks", "num undo blocks k", _K),
    Field("transactions", "number of transactions|num trans"),
    Field("longest_query_s", "max qry len s", _S),
    Field("most_concurrent_transactions", "max tx concurcy|max tx concy"),
    Field("tuned_retention_min", "tun ret mins"), Field("least_and_most_retention_min", "min max tr mins", _T),
    Field("snapshot_too_old", "snap tooold|snapshot too old|snap too old"),
    Field("out_of_space", "outof space|out of space"),
    Field("snapshot_too_old_and_out_of_space", "sto oos", _T),
    Field("extents_stolen_released_reused", "us ur uu es er eu", _T),
)  # fmt: skip
_CONCURRENCY = (
    SectionSpec(
        "enqueues",
        (
            Field("enqueue", "enqueue type request reason|eq|enqueue", _T), Field("requests", "requests"),
            Field("successes", "succ gets"), Field("failures", "failed gets"), Field("waits", "waits"),
            Field("time_s", "wt time s|wait time s", _S),
            Field("avg_wait_ms", "av wt time ms|avg wt time ms|av wt time", _MS), _PDB,
        ),
        ("enqueue", "requests", "waits"),
    ),
    SectionSpec(
        "latches",
        (
            _LATCH, Field("gets", "get requests"), Field("pct_misses", "pct get miss"),
            Field("sleeps_per_miss", "avg slps miss"), Field("time_s", "wait time s", _S),
            Field("no_wait_gets", "nowait requests"), Field("pct_no_wait_misses", "pct nowait miss"), _PDB,
        ),
        ("latch", "gets", "pct_misses"),
    ),
    SectionSpec(
        "latch_sleeps",
        (
            _LATCH, Field("gets", "get requests"), Field("misses", "misses"), Field("sleeps", "sleeps"),
            Field("spin_gets", "spin gets"),
            Field("spins_and_sleeps", "spin sleeps 1 3|spin sleeps 1 4", _T), _PDB,
        ),
        ("latch", "gets", "misses", "sleeps"),
        words=r"latch sleep",
    ),
    SectionSpec(
        "latch_misses",
        (
            _LATCH, Field("where", "where", _T), Field("no_wait_misses", "nowait misses"),
            Field("sleeps", "sleeps"), Field("waiter_sleeps", "waiter sleeps"), _PDB,
        ),
        ("latch", "where", "sleeps"),
    ),
    SectionSpec(
        "mutex_sleeps",
        (
            Field("mutex", "mutex type", _T), Field("location", "location", _T), Field("sleeps", "sleeps"),
            Field("time_ms", "wait time ms|wait time s", _MS), _PDB,
        ),
        ("mutex", "location", "sleeps"),
    ),
    SectionSpec("undo", (Field("undo_tablespace", "undo ts#", _DIGITS), *_UNDO), ("undo_tablespace",)),
    SectionSpec("undo_over_time", (Field("end_time", "end time", _T), *_UNDO), ("end_time", "transactions")),
)  # fmt: skip

DETAILS = (*_FINDINGS, *_INPUT_OUTPUT, *_ADVICE, *ADDM_ADVICE, *_CACHES, *_CONCURRENCY, *GLOBAL_CACHE)
WORDS_OF_ORACLE = frozenset(
    one.name for section in DETAILS for one in section.fields if one.kind in {_T, _LABEL, FieldKind.MEASURE}
)
"""The values that are nobody's names, whatever a report holds."""
