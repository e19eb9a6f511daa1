"""Reports and intervals that can be sent out: every name of hosts, databases, users, objects and modules replaced.

What may stay is declared (events, statistics, times, numbers, hashes of statements and plans); all other text is
taken for a name. So what a later release adds is masked, not shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from toolkit.analysis.awr.pseudonyms import Pseudonyms
from toolkit.model.interval import Interval, Listing, Origin, Segment, Statement

_KINDS = {
    "db_name": "db", "unique_name": "db", "dbid": "id", "instance": "instance", "host": "host", "file": "report",
    "container_name": "container", "pdb": "container", "pdb_name": "container", "owner": "schema",
    "object": "object", "object_name": "object", "subobject": "part", "tablespace": "tablespace",
    "module": "module", "sql_module": "module", "service_name": "service", "user_name": "user",
}  # fmt: skip
_IDS = ("dbid", "container_dbid", "obj_number", "dataobj_number", "con_dbid")
_SQL = ("text", "sql_text")
_STAYS = frozenset({
    "kind", "format", "scope", "role", "edition", "version", "platform", "startup_time", "begin_snap_time",
    "end_snap_time", "sql_id", "old_hash_value", "event", "wait_class", "name", "type", "obj_type", "plan_hash",
    "plan_hash_value",
})  # fmt: skip
_PLAIN = re.compile(
    r"[-+]?[\d.,]+\s*[KMGTP]?B?|true|false|none|all|auto|manual|enable[d]?|disable[d]?|typical|basic|exact|force|similar"
    r"|on|off|yes|no|setall|asynch|directio|default|defer|immediate|once|text|binary|os|db|xml|extended|dedicated|shared"
    r"|all_rows|first_rows(_\d+)?|choose|adaptive|\d+(\.\d+)+|\d+\s?(kB|MB|GB|TB|ms|s|min|h|d)",
    re.IGNORECASE,
)
"""Values of parameters that are no names: numbers, sizes, releases, switches."""
_PARAMETER = re.compile(r"[a-z_][a-z0-9_$#.]*", re.IGNORECASE)
_TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:.+-]+|[\d.,]+\s*(%|[kmgtp]?b?|[mun]?s|min)?", re.IGNORECASE)


def mask_report(report: Mapping[str, object], names: Pseudonyms) -> dict[str, object]:
    """Return the document of a report without names; tables that are no known section are left out."""
    known = [key for key in report if key in _KINDS or key in {"instances", "segments"}]
    # names are learnt before the statements are read, in which they may look like words of SQL
    order = [*known, *(key for key in report if key not in known and key != "tables")]
    found = {key: _section(key, report[key], names) for key in order}
    masked = {key: found[key] for key in report if key in found}
    left_out = report.get("tables")
    masked["tables"] = []
    warnings = report.get("warnings")
    said = [_warning(str(one), names) for one in warnings] if isinstance(warnings, list) else []
    if isinstance(left_out, list) and left_out:
        said.append(f"{len(left_out)} tables that are no known section are left out: they may hold names")
    masked["warnings"] = said
    return masked


def _section(key: str, value: object, names: Pseudonyms) -> object:
    if key in {"init_parameters", "init_parameters_changed"} and isinstance(value, Mapping):
        return {_parameter(str(name), names): _setting(one, names) for name, one in value.items()}
    if key == "init_parameters_by_container" and isinstance(value, Mapping):
        return {
            names.name(str(container), "container"): _section("init_parameters", settings, names)
            for container, settings in value.items()
        }
    if key == "sql_text" and isinstance(value, Mapping):
        return {str(name): names.sql(str(one)) if one is not None else None for name, one in value.items()}
    return _value(key, value, names)


def _value(key: str, value: object, names: Pseudonyms) -> object:
    if isinstance(value, Mapping):
        return {str(name): _value(str(name), one, names) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_value(key, one, names) for one in value]
    if isinstance(value, int) and not isinstance(value, bool) and key in _IDS:
        return names.number(value)
    return _text(key, value, names) if isinstance(value, str) else value


def _text(key: str, value: str, names: Pseudonyms) -> str:
    if key in _SQL:
        return names.sql(value)
    if key in _STAYS or (key not in _KINDS and _TIMES.fullmatch(value)):
        return value
    return names.name(value, _KINDS.get(key, "name"))


def _parameter(name: str, names: Pseudonyms) -> str:
    return name if _PARAMETER.fullmatch(name) else names.name(name, "parameter")


def _setting(value: object, names: Pseudonyms) -> object:
    if isinstance(value, Mapping):
        return {str(side): _setting(one, names) for side, one in value.items()}
    return _spelled(value, names) if isinstance(value, str) else value


def _spelled(value: str | None, names: Pseudonyms) -> str | None:
    if value is None or not value.strip() or _PLAIN.fullmatch(value.strip()):
        return value
    return names.name(value, "value")


_OWN = re.compile(r"^(the report is cut off|the report has no|the header is not whole)\b[\w ,:;]*")


def _warning(text: str, names: Pseudonyms) -> str:
    """Return what is ours of a warning: it may quote a section or a value of the report."""
    return text if _OWN.fullmatch(text) else names.sentence(_QUOTED.sub(r"`\1`", text))


_QUOTED = re.compile(r"[\"“]([^\"”]+)[\"”]")


def mask_interval(interval: Interval, names: Pseudonyms) -> Interval:
    """Return an interval without names."""
    statements = interval.statements
    # names are learnt before the statements are read, in which they may look like words of SQL
    origin = mask_origin(interval.origin, names)
    segments = {measure: _segments(listing, names) for measure, listing in interval.segments.items()}
    parameters = {_parameter(name, names): _spelled(value, names) for name, value in interval.parameters.items()}
    changed = {
        _parameter(name, names): (_spelled(begin, names), _spelled(end, names))
        for name, (begin, end) in interval.changed_parameters.items()
    }
    return replace(
        interval,
        origin=origin,
        statements=replace(statements, rows={key: _statement(one, names) for key, one in statements.rows.items()}),
        segments=segments,
        parameters=parameters,
        changed_parameters=changed,
        instances=tuple(mask_interval(one, names) for one in interval.instances),
        warnings=tuple(_warning(one, names) for one in interval.warnings),
    )


def mask_origin(origin: Origin, names: Pseudonyms) -> Origin:
    """Return who was watched, without names."""

    def masked(value: str | None, kind: str) -> str | None:
        return None if value is None else names.name(value, kind)

    dbid = origin.dbid
    return replace(
        origin,
        name=names.name(origin.name, "report"),
        database=masked(origin.database, "db"),
        dbid=None if dbid is None else names.number(dbid) if isinstance(dbid, int) else names.name(dbid, "id"),
        instance=masked(origin.instance, "instance"),
        host=masked(origin.host, "host"),
        container=masked(origin.container, "container"),
    )


def _statement(one: Statement, names: Pseudonyms) -> Statement:
    return replace(
        one,
        text=None if one.text is None else names.sql(one.text),
        module=None if one.module is None else names.name(one.module, "module"),
    )


def _segments(listing: Listing[Segment], names: Pseudonyms) -> Listing[Segment]:
    rows = {}
    for one in listing.rows.values():
        made = replace(
            one,
            owner=None if one.owner is None else names.name(one.owner, "schema"),
            name=None if one.name is None else names.name(one.name, "object"),
            part=None if one.part is None else names.name(one.part, "part"),
        )
        rows[made.key] = made
    return replace(listing, rows=rows)
