"""The sections that every report is judged by: load, waits, time model, statements, segments and parameters.

They are read at once. What a report details besides is declared in `details` and read when it is asked for.
"""

from __future__ import annotations

from toolkit.readers.awr.fields import Field, SectionSpec
from toolkit.readers.awr.forms import FieldKind

_T, _S, _MS = FieldKind.TEXT, FieldKind.SECONDS, FieldKind.MILLISECONDS
_N, _C = FieldKind.NAME, FieldKind.COUNT
_EVENT = (
    Field("event", r"(wait )?event( name)?", _N),
    Field("waits", r"(event )?waits|wait count", _C),
    Field(
        "time_s", r"(total |elapsed )?(wait )?time( total| waited)?( ?(s|sec|secs|seconds|ms|cs|us))?|total s", _S
    ),
    Field("avg_wait_ms", r"(wait time )?(avg( wait)?( time)?|average wait|wait avg)( (ms|us|cs|s))?", _MS),
    Field("pct_db_time", r"(wait time )?% ?(of )?(total )?(db|call|ela|elapsed)( time)?|pct (db|call|ela) time"),
    Field("wait_class", r"(wait )?class", _N),
)
_SPREAD = (
    Field("avg_wait_of_instances_ms", "summary avg wait time avg", _MS),
    Field("least_wait_of_instances_ms", "summary avg wait time min", _MS),
    Field("most_wait_of_instances_ms", "summary avg wait time max", _MS),
    Field("std_dev_of_instances_ms", "summary avg wait time std dev", _MS),
)
"""How the average wait for an event differs between the instances of a cluster."""
_EVENTS = (
    *_EVENT,
    *_SPREAD,
    Field("waits_per_txn", r"waits ?(per )?tx(n)?"),
    Field("pct_timeouts", r"(event )?% ?tim(e ?)?outs?|(event )?% ?tim out"),
    Field("pct_bg_time", r"(wait time )?% ?bg time"),
)
_SQL = (
    Field("sql_id", r"sql id", FieldKind.SQL_ID),
    Field("elapsed_s", r"(elapsed|elapsd|elap) time( s)?", _S),
    Field("cpu_s", r"cpu time( s)?|cpu s", _S),
    Field("io_s", r"user i o time( s)?", _S),
    Field("cluster_s", r"cluster wait time( s)?", _S),
    Field("executions", r"executions|execs", _C),
    Field("gets", r"buffer gets|gets", _C),
    Field("reads", r"(physical|phys) (reads|rds)", _C),
    Field("pct_total", r"% ?total( db time)?|% total parses|% of total"),
    Field("module", r"(sql )?module", _T),
    Field("pdb", r"pdb name", _T),
    Field("old_hash_value", r"(old )?hash value", FieldKind.HASH_VALUE),
    Field("text", r"sql text", _T),
)

CORE = (
    SectionSpec(
        "rac_events",
        (
            Field("inst_num", r"i#", FieldKind.INSTANCE),
            *_EVENT,
            Field("pct_timeouts", "event %timeouts"),
            *_SPREAD,
            Field("instances", "summary avg wait time cnt"),
        ),
        ("inst_num", "event", "time_s", "pct_db_time"),
    ),
    SectionSpec("background_events", _EVENTS, ("event", "waits", "time_s"), words=r"background|% bg"),
    SectionSpec(
        "background_events",
        _EVENTS,
        ("event", "waits", "time_s", "pct_bg_time"),
    ),
    SectionSpec("foreground_events", _EVENTS, ("event", "waits", "time_s"), words=r"foreground wait events"),
    SectionSpec("wait_events", _EVENTS, ("event", "waits", "time_s"), words=r"^wait events( fg and bg)? \|"),
    SectionSpec(
        "top_events",
        _EVENT,
        ("event", "time_s", "pct_db_time"),
        forbids=r"txn|time ?outs|% ?bg|activity|row source",
    ),
    SectionSpec(
        "foreground_events",
        _EVENTS,
        ("event", "waits", "time_s", "waits_per_txn", "pct_db_time"),
    ),
    SectionSpec(
        "foreground_events",
        _EVENTS,
        ("event", "waits", "time_s", "pct_timeouts", "pct_db_time"),
        forbids=r"i#|activity",
    ),
    SectionSpec(
        "wait_classes",
        (*_EVENT[1:], Field("avg_active_sessions", r"avg active sessions")),
        ("wait_class", "time_s", "avg_active_sessions"),
    ),
    SectionSpec(
        "foreground_wait_classes",
        (*_EVENT[1:], _EVENTS[-2]),
        ("wait_class", "waits", "time_s", "pct_db_time"),
        forbids=r"event|inst|i#",
    ),
    SectionSpec(
        "time_model",
        (
            Field("name", r"statistic( name)?", _N),
            Field("time_s", r"time s(ec)?", _S),
            Field("pct_db_time", r"% ?(of )?db time"),
            Field("pct_total_cpu", r"% ?(of )?total cpu time"),
        ),
        ("name", "time_s", "pct_db_time"),
    ),
    SectionSpec(
        "host_cpu",
        (
            Field("cpus", r"cpus"),
            Field("cores", r"cores"),
            Field("sockets", r"sockets"),
            Field("load_begin", r"(load )?(average )?begin"),
            Field("load_end", r"(load )?(average )?end"),
            Field("user_pct", r"% ?user|user"),
            Field("sys_pct", r"% ?sys(tem)?|sys(tem)?"),
            Field("wio_pct", r"% ?wio|wio"),
            Field("idle_pct", r"% ?idle|idle"),
        ),
        ("load_begin", "user_pct", "idle_pct"),
        forbids=r"i#|snap time",
    ),
    SectionSpec(
        "instance_cpu",
        (
            Field("pct_total_cpu", r"% ?total cpu"),
            Field("pct_busy_cpu", r"% ?busy cpu"),
            Field("pct_db_time_waiting_for_cpu", r"% ?db time waiting for cpu.*"),
        ),
        ("pct_total_cpu", "pct_busy_cpu"),
    ),
    SectionSpec("sql", _SQL, ("sql_id", "executions"), forbids=r"plan hash|activity"),
    SectionSpec("sql", _SQL, ("old_hash_value", "executions"), forbids=r"activity"),
    SectionSpec("sql", _SQL, ("sql_id", "pct_total"), forbids=r"plan hash|activity"),
    SectionSpec("sql_text", (_SQL[0], _SQL[-1]), ("sql_id", "text"), forbids=r"%|executions|plan|activity|event"),
    SectionSpec(
        "segments",
        (
            Field("owner", r"owner", _T),
            Field("tablespace", r"tablespace( name)?", _T),
            Field("object", r"object( name)?", _T),
            Field("subobject", r"subobject( name)?", _T),
            Field("type", r"obj(ect)? type", _T),
            Field("pct", r"% ?(of )?(total|capture)|%total|pct total"),
            Field("pdb", r"pdb name", _T),
        ),
        ("owner", "object", "type"),
        forbids=r"activity|event",
    ),
    SectionSpec(
        "init_parameters",
        (
            Field("name", r"parameter name|parameter", _N),
            Field("inst_num", r"i#", FieldKind.INSTANCE),
            Field("begin", r"begin value|value", _T),
            Field("end", r"end value( if different)?", _T),
            Field("pdb", r"pdb name", _T),
        ),
        ("name", "begin"),
        forbids=r"statistic|activity",
    ),
    SectionSpec(
        "os_stats",
        (
            Field("name", r"statistic|name", _N),
            Field("value", r"value|total"),
            Field("end_value", r"end value"),
        ),
        ("name", "value"),
        words=r"operating system stat|os stat",
        forbids=r"per (trans|hour)",
    ),
    SectionSpec(
        "instance_activity",
        (
            Field("name", r"statistic", _N),
            Field("total", r"total"),
            Field("per_second", r"per (second|sec)"),
            Field("per_txn", r"per (trans|transaction)"),
        ),
        ("name", "total", "per_second"),
        forbids=r"i#|%",
    ),
)
"""Declared from the narrow to the wide: the first that fits has it."""
