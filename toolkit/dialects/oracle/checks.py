"""What `doctor` says of an Oracle target, judged from the facts it read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolkit.dialects.base import Check
from toolkit.dialects.oracle.releases import FEATURES, Feature, edition_of, has
from toolkit.model.facts import Facts

FILES = (
    "doctor_instance",
    "doctor_database",
    "doctor_container",
    "doctor_options",
    "doctor_parameters",
    "doctor_space",
    "doctor_evidence",
    "doctor_sessions",
    "snapshot_vstat",
)

# What each optional read needs; the objects behind the V$ synonyms are the ones that can be granted (ORA-02030).
_GRANTS: dict[str, tuple[tuple[str, ...], str]] = {
    "doctor_instance": (("V_$INSTANCE",), "the instance and its start are not known"),
    "doctor_database": (("V_$DATABASE",), "role, archiving and forced logging are not known"),
    "doctor_options": (("V_$OPTION",), "what the installation can do is guessed from its edition"),
    "doctor_parameters": (("V_$PARAMETER",), "the limits of parallel work are not known"),
    "settings": (("V_$PARAMETER",), "settings are not recorded with a run"),
    "doctor_space": (("DBA_TABLESPACES", "DBA_FREE_SPACE", "DBA_DATA_FILES"), "free space is not checked"),
    "doctor_evidence": (("V_$PQ_SESSTAT",), "the degree that was granted cannot be told"),
    "doctor_sessions": (
        ("V_$PX_SESSION", "V_$SESSION"),
        "parallel servers are not sampled, sessions left by a crash not found",
    ),
    "snapshot_vstat": (
        ("V_$SYSSTAT", "V_$SYSTEM_EVENT", "V_$SYS_TIME_MODEL", "V_$OSSTAT"),
        "no counters are kept around the trials",
    ),
}
_PLAIN_USER = re.compile(r"[A-Z][A-Z0-9_$#]*")


def checks(facts: Facts) -> tuple[Check, ...]:
    """Judge release, container, role, parallelism, packs, space and grants."""
    parts = (
        _release(facts),
        _place(facts),
        _parallel(facts),
        _packs(facts),
        _space(facts),
        _missing_grants(facts),
    )
    return tuple(check for part in parts for check in part)


def _release(facts: Facts) -> Iterator[Check]:
    edition = edition_of(facts)
    yield Check("release", "ok", f"{facts.release}")
    if not has(facts.release, Feature.THIN_DRIVER):
        since = ".".join(map(str, FEATURES[Feature.THIN_DRIVER].number))
        yield Check(
            "driver",
            "problem",
            f"thin mode needs {since}",
            "no connection in thin mode",
            "set `thick = yes` with Client 19",
        )
    if not edition.code:
        yield Check("edition", "warning", "the banner names none", "support is judged as if all were there")
    elif not edition.parallel:
        yield Check(
            "edition",
            "warning",
            f"{edition.words} has no parallel execution",
            "every statement runs serially; a degree above 1 is refused",
            "measure compression, sample or concurrency instead",
        )
    else:
        yield Check("edition", "ok", edition.words)


def _place(facts: Facts) -> Iterator[Check]:
    container = facts.value("doctor_container", "container_name")
    if container in ("CDB$ROOT", "PDB$SEED"):
        yield Check(
            "container",
            "problem",
            f"this is {container}",
            "tables do not belong here",
            "connect to the service of a pluggable database",
        )
    elif container is not None:
        yield Check("container", "ok", str(container))
    row = facts.first("doctor_database")
    if not row:
        return
    writable = row.get("open_mode") == "READ WRITE" and row.get("database_role") == "PRIMARY"
    evidence = f"{row.get('database_role')}, {row.get('open_mode')}, {row.get('log_mode')}"
    yield Check(
        "role", "ok" if writable else "problem", evidence, "" if writable else "nothing can be created here"
    )
    if row.get("force_logging") not in (None, "NO"):
        yield Check(
            "force-logging",
            "note",
            f"FORCE_LOGGING is {row['force_logging']}",
            "NOLOGGING saves no redo",
            "measure with LOGGING",
        )
    if row.get("supplemental_log_data") not in (None, "NO"):
        yield Check(
            "supplemental-logging",
            "warning",
            f"SUPPLEMENTAL_LOG_DATA_MIN is {row['supplemental_log_data']}",
            "a replication may ship every trial downstream",
            "ask who reads the redo before measuring",
        )


def _parallel(facts: Facts) -> Iterator[Check]:
    for row in facts.rows("doctor_options"):
        if row.get("parameter") == "Parallel execution":
            there = str(row.get("value")).upper() == "TRUE"
            consequence = "" if there else "every statement runs serially"
            yield Check(
                "parallel-option", "ok" if there else "warning", f"V$OPTION says {row.get('value')}", consequence
            )
    values = _parameters(facts)
    if not values:
        return
    ceiling = _number(values, "parallel_max_servers")
    if ceiling is not None:
        most = ceiling // 2
        yield Check(
            "parallel-servers",
            "problem" if ceiling == 0 else "ok",
            f"parallel_max_servers is {ceiling}, cpu_count {values.get('cpu_count')}",
            f"with two sets of servers a statement gets degree {most} at most",
        )
    yield from _hidden_brakes(values)


def _hidden_brakes(values: dict[str, str]) -> Iterator[Check]:
    brakes = (
        (
            "parallel_adaptive_multi_user",
            "TRUE",
            "the degree is lowered by load without a word",
            "FALSE for a sweep (ALTER SYSTEM)",
        ),
        ("optimizer_ignore_hints", "TRUE", "hints are ignored", "a service that honours hints"),
        ("parallel_degree_policy", "AUTO", "statements may queue; our sessions set MANUAL", ""),
        ("recyclebin", "ON", "a table dropped by others keeps its space", "ours are dropped with PURGE"),
    )
    for name, bad, consequence, action in brakes:
        if values.get(name, "").upper() == bad:
            yield Check(name.replace("_", "-"), "note", f"{name} is {values[name]}", consequence, action)
    if values.get("resource_manager_plan"):
        yield Check(
            "resource-plan",
            "note",
            f"resource_manager_plan is {values['resource_manager_plan']}",
            "a directive may limit the degree",
            "look at the plan's PARALLEL_DEGREE_LIMIT_P1",
        )
    if (_number(values, "resumable_timeout") or 0) > 0:
        yield Check(
            "resumable",
            "warning",
            f"resumable_timeout is {values['resumable_timeout']}",
            "out of space suspends instead of failing",
        )


def _packs(facts: Facts) -> Iterator[Check]:
    value = _parameters(facts).get("control_management_pack_access")
    if value is not None:
        yield Check(
            "packs",
            "note",
            f"control_management_pack_access is {value}",
            "a switch, no proof of a licence: AWR, ASH and SQL Monitor are read only if the profile declares it",
        )


def _space(facts: Facts) -> Iterator[Check]:
    for row in facts.rows("doctor_space"):
        free, growth = (int(row.get(name) or 0) for name in ("free_byte_count", "growth_byte_count"))
        state = "warning" if free + growth < 1024**3 else "ok"
        evidence = f"{free // 1024**2} MiB free, {growth // 1024**2} MiB to grow"
        yield Check(f"tablespace {row.get('tablespace_name')}", state, evidence)


def _missing_grants(facts: Facts) -> Iterator[Check]:
    user = str(facts.value("server", "user_name") or "the_user")
    grantee = user if _PLAIN_USER.fullmatch(user) else f'"{user}"'
    for key, (objects, consequence) in _GRANTS.items():
        message = facts.refused.get(key)
        if message is None or not re.search(r"ORA-(00942|01031)\b", message):
            continue
        statements = "; ".join(f"GRANT SELECT ON SYS.{name} TO {grantee}" for name in objects)
        yield Check(f"grant {key}", "warning", message.splitlines()[0], consequence, statements)


def _parameters(facts: Facts) -> dict[str, str]:
    rows = facts.rows("settings") + facts.rows("doctor_parameters")
    return {
        str(row["name"]): str(row["value"]) for row in rows if row.get("name") and row.get("value") is not None
    }


def _number(values: dict[str, str], name: str) -> int | None:
    text = values.get(name, "")
    return int(text) if text.isdecimal() else None
