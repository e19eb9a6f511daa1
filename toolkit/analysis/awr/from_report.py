"""An interval made of the document of one AWR or Statspack report (the JSON of `awr show`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from toolkit.analysis.awr import listings
from toolkit.analysis.awr.details import advice_of, details_of
from toolkit.analysis.awr.listings import Record, moment, number, numbers, record, records, size, text
from toolkit.model.interval import Interval, Origin
from toolkit.readers.awr.parameters import ROOT

_MIB = 2**20
_MINUTE = 60.0
_BLOCK = 8192
_TEMP = ("physical reads direct temporary tablespace", "physical writes direct temporary tablespace")
_TOTALS = (
    ("redo size", "redo_size_bytes"), ("session logical reads", "logical_reads"),
    ("db block changes", "block_changes"), ("physical reads", "physical_reads"),
    ("physical writes", "physical_writes"), ("user calls", "user_calls"), ("parse count (total)", "parses"),
    ("parse count (hard)", "hard_parses"), ("execute count", "executes"), ("logons cumulative", "logons"),
    ("user rollbacks", "rollbacks"), ("physical read total bytes", "read_io_bytes"),
    ("physical write total bytes", "write_io_bytes"),
    ("physical read total IO requests", "read_io_requests"),
    ("physical write total IO requests", "write_io_requests"),
)  # fmt: skip
"""Statistics that are the numerators of the load profile, whose rates are printed with one decimal only."""


def interval_of(report: Record) -> Interval:
    """Return the interval a report tells of.

    Rates are worked out again from the totals where the report has them: a load profile prints `0.0` for whatever
    is less than one in twenty seconds.
    """
    origin = _origin(report)
    counters = _counters(report)
    model = _model(report)
    first = Interval(
        origin=origin,
        counters=counters,
        time_model=model,
        load=_load(report, origin, counters, model),
        waits=listings.waits(report, model),
        background=listings.background(report),
        classes=listings.classes(report, model),
        statements=listings.statements(report),
        segments=listings.segments(report),
        host_cpu=_host_cpu(record(report.get("host_cpu"))),
        memory=_memory(report),
        ratios=numbers(report.get("instance_efficiency_pct")),
        parameters=_values(record(report.get("init_parameters"))),
        changed_parameters=_changed(record(report.get("init_parameters_changed"))),
        container_parameters={name: _values(one) for name, one in _others(report, "init_parameters").items()},
        container_changes={
            name: _changed(one) for name, one in _others(report, "init_parameters_changed").items()
        },
        warnings=tuple(str(one) for one in _list(report.get("warnings"))),
        completeness=text(record(report.get("completeness")).get("sentence")) or "",
    )
    return replace(
        first,
        details=details_of(report),
        advice=advice_of(report),
        functions=listings.functions(report, origin.elapsed_seconds),
        file_types=listings.file_types(report, origin.elapsed_seconds),
        instances=tuple(_instance(report, one) for one in records(report.get("instances"))),
    )


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _origin(report: Record) -> Origin:
    elapsed, memory = number(report.get("elapsed_min")), number(report.get("memory_gb"))
    rac = report.get("rac")
    dbid = report.get("dbid")
    return Origin(
        name=str(report.get("file") or ""),
        snapshot_source=str(report.get("kind") or "awr"),
        scope=str(report.get("scope") or "instance"),
        database=text(report.get("db_name")),
        dbid=dbid if isinstance(dbid, int | str) else None,
        instance=text(report.get("instance")),
        host=text(report.get("host")),
        platform=text(report.get("platform")),
        version=text(report.get("version")),
        container=text(report.get("container_name")),
        rac=rac if isinstance(rac, bool) else None,
        cpus=number(report.get("cpus")),
        memory_bytes=None if memory is None else memory * 2**30,
        startup=moment(report.get("startup_time")),
        begin=moment(report.get("begin_snap_time")),
        end=moment(report.get("end_snap_time")),
        begin_snapshot=_snapshot(report.get("begin_snap_id")),
        end_snapshot=_snapshot(report.get("end_snap_id")),
        elapsed_seconds=None if elapsed is None else elapsed * _MINUTE,
        begin_sessions=number(report.get("begin_sessions")),
        end_sessions=number(report.get("end_sessions")),
        cuts_names=report.get("format") == "text" or report.get("kind") == "statspack",
    )


def _snapshot(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _counters(report: Record) -> dict[str, float]:
    found: dict[str, float] = {}
    for row in records(report.get("instance_activity")):
        total = number(row.get("total"))
        if total is not None and row.get("name"):
            found.setdefault(str(row["name"]), total)
    return found


def _model(report: Record) -> dict[str, float]:
    found = {
        str(row.get("name")): seconds
        for row in records(report.get("time_model"))
        if (seconds := number(row.get("time_s"))) is not None
    }
    minutes = number(report.get("db_time_min"))
    if "DB time" not in found and minutes is not None:
        found["DB time"] = minutes * _MINUTE
    return found


def _load(
    report: Record, origin: Origin, counters: Mapping[str, float], model: Mapping[str, float]
) -> dict[str, float]:
    load = numbers(report.get("load_profile_per_sec"))
    for kind in ("read_io", "write_io"):
        if (megabytes := load.pop(f"{kind}_mb", None)) is not None:
            load[f"{kind}_bytes"] = megabytes * _MIB
    elapsed = origin.elapsed_seconds
    if not elapsed:
        return load
    load.update({ours: counters[name] / elapsed for name, ours in _TOTALS if name in counters})
    if "user commits" in counters and "user rollbacks" in counters:
        load["transactions"] = (counters["user commits"] + counters["user rollbacks"]) / elapsed
    for name, ours in (
        ("DB time", "db_time_s"),
        ("DB CPU", "db_cpu_s"),
        ("background cpu time", "background_cpu_s"),
    ):
        if name in model:
            load[ours] = model[name] / elapsed
    if all(name in counters for name in _TEMP):
        load["temp_io_bytes"] = sum(counters[name] for name in _TEMP) * _block_size(report) / elapsed
    return load


def _block_size(report: Record) -> float:
    printed = text(record(report.get("init_parameters")).get("db_block_size")) or ""
    return float(printed) if printed.isdigit() else _BLOCK


def _host_cpu(printed: Record) -> dict[str, float]:
    found = {name: value for name, value in numbers(printed).items() if name.endswith("_pct") or "load" in name}
    if "idle_pct" in found:
        found.setdefault("busy_pct", round(100 - found["idle_pct"], 2))
    return found


def _memory(report: Record) -> dict[str, tuple[float | None, float | None]]:
    found: dict[str, tuple[float | None, float | None]] = {}
    for name, both in record(report.get("cache_sizes")).items():
        begin, end = (text(record(both).get(side)) for side in ("begin", "end"))
        sizes = tuple(None if one is None else size(one) for one in (begin, end))
        found[name] = (sizes[0], sizes[1])
    for name, both in record(report.get("memory_mb")).items():
        if name.endswith("(MB)"):
            begin_mb, end_mb = (number(record(both).get(side)) for side in ("begin", "end"))
            found[name.removesuffix("(MB)").strip()] = (_bytes(begin_mb), _bytes(end_mb))
    return found


def _bytes(megabytes: float | None) -> float | None:
    return None if megabytes is None else megabytes * _MIB


def _values(parameters: Record) -> dict[str, str | None]:
    return {str(name): text(value) for name, value in parameters.items()}


def _changed(parameters: Record) -> dict[str, tuple[str | None, str | None]]:
    return {
        str(name): (text(record(both).get("begin")), text(record(both).get("end")))
        for name, both in parameters.items()
    }


def _others(report: Record, section: str) -> dict[str, Record]:
    """Return a section of parameters of the containers that the report is not of; the root's hold in all."""
    own = report.get("init_parameters")
    # where a report names no container but one, its parameters are taken for the report's own
    ours = {name for name, one in record(report.get("init_parameters_by_container")).items() if one == own}
    ours |= {text(report.get("container_name")) or ROOT, ROOT}
    by = record(report.get(f"{section}_by_container"))
    return {str(name): record(one) for name, one in by.items() if name not in ours}


def _instance(report: Record, one: Record) -> Interval:
    """Return an instance of a cluster report, with what the whole says of all of them."""
    whole = {
        key: report.get(key)
        for key in (
            "file", "kind", "format", "db_name", "dbid", "rac", "begin_snap_id", "end_snap_id", "io_by_function",
            "io_by_file_type",
        )
    }  # fmt: skip
    host = record(one.get("host_cpu"))
    inner = interval_of({**whole, **one, "instances": [], "scope": "instance", "cpus": host.get("cpus")})
    name = inner.origin.instance or f"instance {one.get('inst_num')}"
    return replace(inner, origin=replace(inner.origin, instance=name))
