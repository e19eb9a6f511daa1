"""How parallel a statement of this session can be now, and what silently lowers its degree."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.answers import Check
from toolkit.dialects.oracle.degrees import consumer_group, degree_limit, directive_of, number, parameters
from toolkit.model.facts import Facts

# parameter, value that hurts, consequence, what to do. Sources: Database Reference of each parameter.
_BRAKES = (
    (
        "parallel_adaptive_multi_user",
        "TRUE",
        "the degree is silently lowered under load",
        "set it to FALSE for a sweep (ALTER SYSTEM)",
    ),
    (
        "optimizer_ignore_hints",
        "TRUE",
        "hints are ignored, also those for a degree; dbatk's sessions set FALSE",
        "ALTER SESSION SET optimizer_ignore_hints = FALSE",
    ),
    (
        "optimizer_ignore_parallel_hints",
        "TRUE",
        "PARALLEL hints are ignored; dbatk's sessions set FALSE",
        "ALTER SESSION SET optimizer_ignore_parallel_hints = FALSE",
    ),
    (
        "parallel_degree_policy",
        "AUTO",
        "statements may queue, and those estimated as short run serially; dbatk's sessions set MANUAL",
        "ALTER SESSION SET parallel_degree_policy = MANUAL",
    ),
    (
        "parallel_degree_policy",
        "ADAPTIVE",
        "as AUTO, and degrees change from one execution to the next; dbatk's sessions set MANUAL",
        "ALTER SESSION SET parallel_degree_policy = MANUAL",
    ),
    (
        "parallel_force_local",
        "TRUE",
        "servers come from this instance only",
        "set it to FALSE if a statement may use the whole cluster",
    ),
)


_UNREAD = {
    "doctor_options": "whether parallel execution is installed (V$OPTION)",
    "doctor_servers": "how many servers are busy (V$PX_PROCESS)",
    "doctor_directives": "the limits of the resource plan",
}
"""Reads that were refused, and what is not known without them."""


def _option(facts: Facts) -> Iterator[Check]:
    for row in facts.rows("doctor_options"):
        if row.get("parameter") == "Parallel execution":
            there = str(row.get("value")).upper() == "TRUE"
            consequence = "" if there else "every statement runs serially"
            state = "ok" if there else "warning"
            yield Check("parallel-option", state, f"V$OPTION reports {row.get('value')}", consequence)


def _highest(facts: Facts) -> Iterator[Check]:
    values = parameters(facts)
    if number(values, "parallel_max_servers") is None:
        return
    found, plain = degree_limit(facts), degree_limit(facts, sets=1)
    unread = [words for key, words in _UNREAD.items() if key in facts.refused]
    cpus = number(values, "cpu_count")
    reasons = [f"{limit}: {why}" for limit, why in found.reasons[:2]]
    crowd = f"2 x cpu_count is {2 * cpus}: above it servers wait for CPUs" if cpus else "cpu_count is not known"
    crowd += f"; not known: {', '.join(unread)}" if unread else ""
    none = number(values, "parallel_max_servers") == 0
    yield Check(
        "parallel-servers",
        "problem" if none else "warning" if found.degree == 1 else "note" if unread else "ok",
        f"degree {found.degree} at most now ({'; '.join(reasons)})",
        f"a plain copy, with one set of servers, {plain.degree}; {crowd}",
        "raise PARALLEL_MAX_SERVERS" if none else "",
    )


def _brakes(facts: Facts) -> Iterator[Check]:
    values = parameters(facts)
    for name, bad, consequence, action in _BRAKES:
        if values.get(name, "").upper() == bad:
            yield Check(name.replace("_", "-"), "note", f"{name} is {values[name]}", consequence, action)
    group = values.get("parallel_instance_group")
    if group:
        yield Check(
            "parallel-instance-group",
            "note",
            f"parallel_instance_group is {group}",
            "servers come only from the instances of that service",
        )


def _plan(facts: Facts) -> Iterator[Check]:
    plan = parameters(facts).get("resource_manager_plan")
    if not plan:
        return
    row, group = directive_of(facts), consumer_group(facts)
    limits = {
        "degree": row.get("degree_limit"),
        "% of the servers before queueing": row.get("target_percentage"),
        "% of the CPU": row.get("utilization_limit"),
        "s until a switch of group": row.get("switch_seconds"),
    }
    given = ", ".join(f"{value} {words}" for words, value in limits.items() if value not in (None, 100))
    yield Check(
        "resource-plan",
        "note",
        f"resource_manager_plan is {plan}, group {group or 'not known'}",
        f"the group gets {given}" if given else "no limit was found for this session's group",
        "ask for another consumer group" if given else "",
    )


def _session(facts: Facts) -> Iterator[Check]:
    row = facts.first("doctor_session")
    if not row:
        return
    dml, query = row.get("pdml_status"), row.get("pq_status")
    evidence = f"PDML {dml}, PDDL {row.get('pddl_status')}, PQ {query}"
    if query == "DISABLED" or row.get("pddl_status") == "DISABLED":
        yield Check(
            "session-switches",
            "warning",
            evidence,
            "a logon trigger or the service switched off parallelism",
            "ALTER SESSION ENABLE PARALLEL QUERY (or DDL)",
        )
    else:
        hint = "" if dml != "DISABLED" else "DML is off by default: an INSERT loads serially without ENABLE"
        yield Check("session-switches", "ok", evidence, hint)


CHECKS = (_option, _highest, _brakes, _plan, _session)
