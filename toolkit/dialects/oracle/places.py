"""Where a session can be: services, roles, open modes and containers, as data with their source.

A managed service takes work away from its users: parameters it does not let them set, tablespaces they cannot
make, tools that are not there. A new service is one more `Service` here; session, support and doctor read it.

Sources: Autonomous Database documentation (ADB: `autonomous-initialization-parameters`,
`experienced-database-users`, predefined service names), RDS for Oracle user guide (RDS: common DBA tasks),
Database Reference (REFRN: V$DATABASE, V$PDBS, V$INSTANCE).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from toolkit.model.facts import Facts


class ServiceLimit(StrEnum):
    """What a service may keep from its users."""

    RMAN = "rman"
    ALTER_SYSTEM = "alter-system"
    TABLESPACES = "tablespaces"
    STATSPACK = "statspack"
    TRACE_FILES = "trace-files"


@dataclass(frozen=True, slots=True)
class Service:
    """What is particular to a place where Oracle runs.

    Attributes:
        cloud: whether USERENV CLOUD_SERVICE has a value there.
        schema: a schema whose presence tells the service.
        barred: what cannot be done there, each with the sentence a DBA would want.
        tablespaces: the only ones there are; empty when the user may have any.
        packs_included: the Diagnostics and the Tuning Pack come with the service.
        unsettable: session parameters that are refused or silently ignored.
        session: what every working session sets: parameter, value, and the default to go back to.
        serial_names: endings of service names whose sessions run serially.
        end_session: how a session is ended by hand; `{sid}` and `{serial}` stand in it.
    """

    code: str
    words: str
    source: str
    cloud: bool = False
    schema: str = ""
    barred: Mapping[ServiceLimit, str] = field(default_factory=dict)
    tablespaces: frozenset[str] = frozenset()
    packs_included: bool = False
    unsettable: frozenset[str] = frozenset()
    session: tuple[tuple[str, str, str], ...] = ()
    serial_names: tuple[str, ...] = ()
    end_session: str = "ALTER SYSTEM KILL SESSION '{sid},{serial}' IMMEDIATE"


OWN = Service("", "your own server", "REFRN")

SERVICES: tuple[Service, ...] = (
    Service(
        "autonomous",
        "Autonomous Database",
        "ADB: initialization parameters; notes for experienced database users; predefined service names",
        cloud=True,
        barred={
            ServiceLimit.RMAN: "RMAN is not available on Autonomous Database; the service makes its own backups",
            ServiceLimit.ALTER_SYSTEM: "ALTER SYSTEM is limited to what Autonomous Database lists",
            ServiceLimit.TABLESPACES: "Autonomous Database has the tablespace DATA, and no other can be added",
            ServiceLimit.TRACE_FILES: "Autonomous Database lets nobody read the trace files of its server",
            ServiceLimit.STATSPACK: "Statspack cannot be installed on Autonomous Database; AWR is included",
        },
        tablespaces=frozenset({"DATA"}),
        packs_included=True,
        unsettable=frozenset({"PARALLEL_MIN_PERCENT"}),
        # A warehouse ignores hints unless its session says otherwise; elsewhere FALSE is the default.
        session=(("OPTIMIZER_IGNORE_HINTS", "FALSE", "FALSE"),),
        serial_names=("_LOW", "_TP"),
    ),
    Service(
        "rds",
        "Amazon RDS",
        "RDS: performing common system and RMAN tasks for Oracle DB instances",
        schema="RDSADMIN",
        barred={
            ServiceLimit.RMAN: "RMAN runs through rdsadmin.rdsadmin_rman_util on RDS; there is no shell",
            ServiceLimit.ALTER_SYSTEM: "parameters belong to the DB parameter group on RDS, not to ALTER SYSTEM",
        },
        end_session=(
            "BEGIN rdsadmin.rdsadmin_util.kill(sid => {sid}, serial => {serial}, method => 'IMMEDIATE'); END;"
        ),
    ),
)

# Containers where no table of a user belongs (Multitenant Administrator's Guide).
_NO_HOME = {"CDB$ROOT": "the root container", "PDB$SEED": "the seed"}

# A snapshot standby is opened for changes, which are thrown away when it follows its primary again (Data Guard
# Concepts and Administration); the other standbys take their changes from the primary alone.
WRITABLE_ROLES = frozenset({"PRIMARY", "SNAPSHOT STANDBY"})

_ADMIN_ONLY = "only sessions with RESTRICTED SESSION can connect; maintenance is going on"


def service_of(facts: Facts) -> Service:
    """Return the service a target runs on: known by USERENV CLOUD_SERVICE, or by a schema only it has."""
    clouded = facts.value("cloud_service", "cloud_service") is not None
    schemas = {row.get("schema_mark") for row in facts.rows("doctor_marks")}
    for service in SERVICES:
        if (clouded and service.cloud) or (service.schema and service.schema in schemas):
            return service
    return OWN


def serial_by_service(facts: Facts) -> str | None:
    """Return the service name whose sessions run serially, when this session came by one."""
    name = str(facts.value("server", "service_name") or "").upper().partition(".")[0]
    return name if name.endswith(service_of(facts).serial_names or ("\0",)) else None


def counted_here(facts: Facts) -> str | None:
    """Say which instance of a cluster the counters of a trial are of; None where there is one instance."""
    many = len(facts.rows("doctor_instances")) > 1
    if not many and facts.value("doctor_instance", "cluster_database") != "YES":
        return None
    name = facts.value("doctor_instance", "instance_name") or facts.value("server", "instance_name")
    where = f"instance `{name}`" if name else "one instance"
    return (
        f"counters and sampled parallel servers are of {where} alone: what a statement does on other instances of "
        "the cluster is not counted (PARALLEL_FORCE_LOCAL = TRUE keeps its servers here)"
    )


def refusal_of(facts: Facts) -> str | None:
    """Say why nothing may be made here: a standby, a read-only or restricted database, the root, the seed."""
    return _by_role(facts) or _by_container(facts) or _by_restriction(facts)


def _by_role(facts: Facts) -> str | None:
    role = facts.value("doctor_database", "database_role")
    if role is not None and role not in WRITABLE_ROLES:
        return f"this database is a {role}: nothing can be created here; connect to the primary"
    mode = facts.value("doctor_pdb", "open_mode") or facts.value("doctor_database", "open_mode")
    if mode not in (None, "READ WRITE"):
        return f"this database is open {mode}: nothing can be created here"
    return None


def _by_container(facts: Facts) -> str | None:
    name = facts.value("doctor_container", "container_name")
    if name not in _NO_HOME:
        return None
    return f"this is {name}, {_NO_HOME[str(name)]}; connect to the service of a pluggable database"


def _by_restriction(facts: Facts) -> str | None:
    if facts.value("doctor_pdb", "restricted") == "YES":
        return f"the pluggable database is open RESTRICTED: {_ADMIN_ONLY}"
    if facts.value("doctor_instance", "logins") == "RESTRICTED":
        return f"the instance is in restricted mode: {_ADMIN_ONLY}"
    return None
