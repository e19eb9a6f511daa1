"""The highest degree that can be had now, as a number with its reasons; doctor, plan and run ask the same.

Sources: VLDB and Partitioning Guide (a statement with two sets of servers takes twice its degree; downgrades),
Database Reference (PARALLEL_MAX_SERVERS is per instance, PARALLEL_FORCE_LOCAL, V$PX_PROCESS, V$RESOURCE_LIMIT),
Database Administrator's Guide (resource plan directives: PARALLEL_DEGREE_LIMIT_P1).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from toolkit.dialects.answers import DegreeLimit
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.oracle.options import option_is_off
from toolkit.dialects.oracle.places import serial_by_service
from toolkit.dialects.oracle.releases import edition_of
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts, SameFacts
from toolkit.model.values import Row, Scalar

Limit = tuple[int, str]


def degree_limit(facts: Facts, sets: int = 2, group: str | None = None) -> DegreeLimit:
    """Return the lowest of all limits, the tightest first.

    Args:
        facts: what was read; a view that was refused gives no limit.
        sets: sets of servers the statement takes: 1 for a plain copy, 2 with a sort, a join or an index build.
        group: the consumer group that the working session switches to; None for that of this session.
    """
    return _limit(SameFacts(facts), sets, group)


@lru_cache(maxsize=64)
def _limit(same: SameFacts, sets: int, group: str | None) -> DegreeLimit:
    limits = (*_of_software(same.facts), *_of_servers(same.facts, sets), *_of_plan(same.facts, group))
    found = sorted(limits, key=lambda one: one[0])
    return DegreeLimit(max(1, found[0][0]) if found else None, tuple(found))


def at_most(degree: int, facts: Facts) -> int:
    """Return a degree, or the highest that can be had now."""
    limit = degree_limit(facts).degree
    return max(1, degree if limit is None else min(degree, limit))


def degree_limit_of(work: Work, facts: Facts) -> DegreeLimit:
    """Return the limits of a work: a plain copy takes one set of servers, everything else up to two."""
    copies = work.operation in ("ctas", "insert") and work.query is None
    asked = work.option("consumer_group")
    group = None if asked is None else parse_name(str(asked)).name
    return degree_limit(facts, sets=1 if copies else 2, group=group)


def parameters(facts: Facts) -> dict[str, str]:
    """Return the parameters that were read, by name."""
    rows = facts.rows("settings")
    return {
        str(row["name"]): str(row["value"]) for row in rows if row.get("name") and row.get("value") is not None
    }


def number(values: dict[str, str], name: str) -> int | None:
    """Return a parameter that is a number."""
    text = values.get(name, "")
    return int(text) if text.isdecimal() else None


def consumer_group(facts: Facts) -> str | None:
    """Return the resource consumer group of this session."""
    name = facts.value("doctor_session", "consumer_group")
    return None if name is None else str(name)


def directive_of(facts: Facts, group: str | None = None) -> Row:
    """Return the directive of the active plan for a consumer group (this session's), or that of OTHER_GROUPS."""
    rows = facts.rows("doctor_directives")
    group = group or consumer_group(facts)
    for name in (group, "OTHER_GROUPS"):
        for row in rows:
            if name is not None and row.get("group_name") == name:
                return row
    return {}


def _of_software(facts: Facts) -> Iterator[Limit]:
    edition = edition_of(facts)
    if not edition.parallel:
        yield 1, f"{edition.words} runs every statement serially"
    elif option_is_off(facts, "Parallel execution"):
        yield 1, "V$OPTION: no parallel execution in this installation"
    name = serial_by_service(facts)
    if name is not None:
        yield 1, f"sessions of the service {name} run serially"


def _of_servers(facts: Facts, sets: int) -> Iterator[Limit]:
    most = number(parameters(facts), "parallel_max_servers")
    if most is None:
        return
    nodes = instances(facts)
    where = f" on each of {nodes} instances" if nodes > 1 else ""
    each = f", {sets} servers for each degree" if sets > 1 else ""
    yield most * nodes // sets, f"parallel_max_servers is {most}{where}{each}"
    busy = max(_whole(facts.value("doctor_servers", name)) or 0 for name in ("busy_count", "counted_busy"))
    if busy:
        free = max(0, most * nodes - busy)
        yield free // sets, f"{busy} servers are busy, {free} free now{each}"
    left = _processes_left(facts)
    started = int(facts.value("doctor_servers", "server_count") or 0)
    if left is not None and nodes == 1 and left + started < most:
        yield (left + started) // sets, f"PROCESSES allows {left} more processes{each}"


def instances(facts: Facts) -> int:
    """Return how many instances lend servers: all of a cluster unless PARALLEL_FORCE_LOCAL keeps them here."""
    if parameters(facts).get("parallel_force_local", "").upper() == "TRUE":
        return 1
    return max(1, len(facts.rows("doctor_instances")))


def _processes_left(facts: Facts) -> int | None:
    for row in facts.rows("doctor_limits"):
        if row.get("resource_name") == "processes":
            limit, used = _whole(row.get("limit_value")), _whole(row.get("used_count"))
            return None if limit is None or used is None else max(0, limit - used)
    return None


def _of_plan(facts: Facts, group: str | None) -> Iterator[Limit]:
    row = directive_of(facts, group)
    limit = _whole(row.get("degree_limit"))
    if limit is not None and limit > 0:
        yield limit, f"resource plan {row.get('plan_name')} allows {row.get('group_name')} degree {limit}"


def _whole(value: Scalar) -> int | None:
    text = str(value if value is not None else "").strip()
    return int(float(text)) if text.replace(".", "", 1).isdecimal() else None
