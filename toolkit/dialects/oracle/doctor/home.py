"""Where the session is: release, edition, service, container, cluster, role, archiving, forced logging."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.answers import Check
from toolkit.dialects.oracle import places
from toolkit.dialects.oracle.releases import FEATURES, Feature, edition_of, has
from toolkit.dialects.oracle.space import tablespaces
from toolkit.model.facts import Facts


def _release(facts: Facts) -> Iterator[Check]:
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


def _edition(facts: Facts) -> Iterator[Check]:
    edition = edition_of(facts)
    if not edition.code:
        yield Check(
            "edition",
            "warning",
            "the banner does not name one",
            "support is judged as if every feature were available",
        )
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
    there = [str(row["parameter"]) for row in facts.rows("doctor_options") if str(row["value"]).upper() == "TRUE"]
    if facts.rows("doctor_options"):
        missing = [str(row["parameter"]) for row in facts.rows("doctor_options") if row["parameter"] not in there]
        yield Check("options", "ok", f"has {', '.join(there) or 'none'}; lacks {', '.join(missing) or 'none'}")


def _service(facts: Facts) -> Iterator[Check]:
    service = places.service_of(facts)
    if not service.code:
        yield Check("service", "ok", f"no managed service; service name {facts.value('server', 'service_name')}")
        return
    barred = "; ".join(service.barred.values())
    yield Check("service", "note", service.words, barred, "options that it lacks are refused before a run")
    serial = places.serial_by_service(facts)
    if serial is not None:
        yield Check(
            "service-degree",
            "warning",
            f"connected by {serial}",
            "statements of this service run serially",
            "use the service ending in _HIGH, _MEDIUM or _TPURGENT",
        )


def _container(facts: Facts) -> Iterator[Check]:
    name = facts.value("doctor_container", "container_name")
    refusal = places.refusal_of(facts)
    about_container = name in ("CDB$ROOT", "PDB$SEED") or facts.value("doctor_pdb", "restricted") == "YES"
    if name is None:
        yield Check("container", "ok", "not a container database, or not known")
    elif about_container and refusal:
        yield Check("container", "problem", f"this is {name}", refusal, "connect to an open pluggable database")
    else:
        yield Check("container", "ok", str(name))
    if facts.value("doctor_instance", "logins") == "RESTRICTED":
        yield Check(
            "restricted",
            "problem",
            "V$INSTANCE.LOGINS is RESTRICTED",
            "work is refused",
            "wait until the restriction is lifted",
        )


def _cluster(facts: Facts) -> Iterator[Check]:
    nodes = facts.rows("doctor_instances")
    clustered = facts.value("doctor_instance", "cluster_database") == "YES"
    if len(nodes) > 1 or clustered:
        here = facts.value("doctor_instance", "instance_name") or facts.value("server", "instance_name")
        yield Check(
            "cluster",
            "note",
            f"RAC, {len(nodes) or 'several'} instances; this session is on {here}",
            "counters cover one instance",
            "pin trials to an instance: a service on one instance, or host:port/service/instance",
        )
    elif nodes or facts.rows("doctor_instance"):
        yield Check("cluster", "ok", "one instance")


def _role(facts: Facts) -> Iterator[Check]:
    row = facts.first("doctor_database")
    if not row:
        return
    evidence = f"{row.get('database_role')}, {row.get('open_mode')}, {row.get('log_mode')}"
    writable = row.get("open_mode") == "READ WRITE" and row.get("database_role") in places.WRITABLE_ROLES
    if writable and row.get("database_role") != "PRIMARY":
        yield Check(
            "role", "note", evidence, "what is created here is lost when the database follows its primary again"
        )
    elif writable:
        yield Check("role", "ok", evidence)
    else:
        yield Check(
            "role",
            "problem",
            evidence,
            "nothing can be created here; work is refused",
            "connect to the primary, opened READ WRITE",
        )


def _logging(facts: Facts) -> Iterator[Check]:
    forced = [
        *_forced_database(facts),
        *(["the PDB"] if facts.value("doctor_pdb_logging", "force_logging") == "YES" else []),
        *(
            f"tablespace {row['tablespace_name']}"
            for row in tablespaces(facts)
            if row.get("force_logging") == "YES"
        ),
    ]
    if forced:
        yield Check(
            "force-logging",
            "note",
            f"forced by {', '.join(forced)}",
            "NOLOGGING saves no redo there",
            "measure with LOGGING",
        )
    elif facts.first("doctor_database"):
        yield Check("force-logging", "ok", "not forced by database, PDB or tablespace")
    supplemental = facts.value("doctor_database", "supplemental_log_data")
    if supplemental not in (None, "NO"):
        yield Check(
            "supplemental-logging",
            "warning",
            f"SUPPLEMENTAL_LOG_DATA_MIN is {supplemental}",
            "replication may ship every trial downstream",
            "find out who reads the redo before measuring",
        )


def _forced_database(facts: Facts) -> list[str]:
    """FORCE_LOGGING is text since 18c: YES, NO, or one of the STANDBY NOLOGGING modes."""
    value = facts.value("doctor_database", "force_logging")
    if value in (None, "NO"):
        return []
    return [f"the database (FORCE_LOGGING is {value})"]


def _followers(facts: Facts) -> Iterator[Check]:
    rows = facts.rows("doctor_standbys")
    if rows:
        names = ", ".join(
            f"{row.get('db_unique_name')}"
            + ("" if row.get("status") in (None, "VALID") else f" ({row['status']})")
            for row in rows
        )
        yield Check(
            "standby",
            "warning",
            f"redo goes to {names}",
            "NOLOGGING leaves blocks that a standby cannot recover (ORA-26040); every trial is shipped",
            "keep LOGGING, or measure elsewhere",
        )


CHECKS = (_release, _edition, _service, _container, _cluster, _role, _logging, _followers)
