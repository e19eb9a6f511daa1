"""The databases everybody needs: releases, editions, services and roles, each as one function.

Sources: Database Reference and Licensing Information of the release named; for managed services the Autonomous
Database and RDS for Oracle documentation. Every function takes changes to its `Scenario`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tests.oracle.standin.scenario import Scenario, ViewRow

Changes = object

# What 11.2 does not know of what we read: containers came with 12.1, CLOUD_SERVICE with 18c or later.
LACKING_11G = frozenset(
    {"V$PDBS", "DBA_PDBS", "USERENV.CON_NAME", "USERENV.CON_ID", "USERENV.CLOUD_SERVICE", "V$DATABASE.CDB",
     "V$DATABASE.CON_DBID", "V$VERSION.BANNER_FULL", "ALL_USERS.ORACLE_MAINTAINED",
     "ALL_OBJECTS.ORACLE_MAINTAINED", "ALL_TAB_COLS.USER_GENERATED",
     "DBA_RSRC_PLAN_DIRECTIVES.PARALLEL_SERVER_LIMIT",
     "DBA_RSRC_PLAN_DIRECTIVES.UTILIZATION_LIMIT", "DBA_OPTSTAT_OPERATION_TASKS", "ALL_TAB_IDENTITY_COLS"}
)  # fmt: skip
# 12.1 has containers, and neither of these.
LACKING_12C = frozenset({"USERENV.CLOUD_SERVICE", "V$VERSION.BANNER_FULL"})


def enterprise_19c_rac(**changes: Changes) -> Scenario:
    """Two instances of 19c Enterprise Edition; parallel servers may be on either."""
    return _made(
        Scenario(
            options={"Real Application Clusters": "TRUE"},
            views={
                "V$INSTANCE": [instance(parallel="YES", name="DWH1")],
                "V$ACTIVE_INSTANCES": [
                    {"INST_NUMBER": 1, "INST_NAME": "node1:DWH1"},
                    {"INST_NUMBER": 2, "INST_NAME": "node2:DWH2"},
                ],
            },
        ),
        changes,
    )


def standard_2(**changes: Changes) -> Scenario:
    """19c Standard Edition 2: serial, and no pack can be licensed."""
    return _made(
        Scenario(edition="se2", parameters={"control_management_pack_access": "NONE", "cpu_count": "16"}), changes
    )


def free_23ai(**changes: Changes) -> Scenario:
    """23ai Free: two CPUs' worth, and every statement serial whatever V$OPTION says."""
    return _made(Scenario(edition="free", parameters={"cpu_count": "2"}), changes)


def old_11g(**changes: Changes) -> Scenario:
    """11.2 Enterprise Edition: no containers, no 12c views or columns, adaptive degrees on.

    No thin driver reaches a real one; here it does, to try the catalogue queries.
    """
    return _made(
        Scenario(
            banner_text="Oracle Database 11g Enterprise Edition Release 11.2.0.4.0 - 64bit Production",
            number_text="11.2.0.4.0",
            service="ORCL",
            parameters={"parallel_adaptive_multi_user": "TRUE", "compatible": "11.2.0.4.0"},
            lacking=LACKING_11G,
        ),
        changes,
    )


def pluggable_12c(**changes: Changes) -> Scenario:
    """A pluggable database of 12.1, whose administrator sees his own container only."""
    return _made(
        Scenario(
            banner_text="Oracle Database 12c Enterprise Edition Release 12.1.0.2.0 - 64bit Production",
            number_text="12.1.0.2.0",
            service="SALES",
            lacking=LACKING_12C,
            context={"CON_NAME": "SALES", "CON_ID": "4"},
            parameters_refused=frozenset({"parallel_min_percent"}),
            views={"V$PDBS": [{"CON_ID": 4, "NAME": "SALES", "OPEN_MODE": "READ WRITE", "RESTRICTED": "NO"}]},
        ),
        changes,
    )


def autonomous(workload: str = "DWCS", service: str = "ADW_HIGH", **changes: Changes) -> Scenario:
    """Autonomous Database (`DWCS`, or `OLTP`): tablespace DATA only, hints ignored in a warehouse."""
    ignored = "TRUE" if workload == "DWCS" else "FALSE"
    return _made(
        Scenario(
            banner_text="Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production",
            service=service,
            context={"CLOUD_SERVICE": workload, "CON_NAME": "XYZ_ADW", "CON_ID": "77"},
            parameters={
                "optimizer_ignore_hints": ignored,
                "optimizer_ignore_parallel_hints": ignored,
                "parallel_degree_policy": "AUTO",
                "resource_manager_plan": "DWCS_PLAN",
            },
            parameters_refused=frozenset({"parallel_min_percent"}),
            denied=frozenset({"V$ARCHIVE_DEST", "DBA_PDBS"}),
            views={"DBA_DATA_FILES": []},
            tablespaces={"DATA": 100 * 2**30},
            quotas={("DBATK", "DATA"): -1},
            defaults={"DBATK": "DATA", "APP": "DATA"},
        ),
        changes,
    )


def rds(**changes: Changes) -> Scenario:
    """Amazon RDS: Enterprise Edition without SYS; RDSADMIN's procedures instead of ALTER SYSTEM."""
    return _made(
        Scenario(
            service="ORCL",
            views={"ALL_USERS": [_known(name) for name in ("SYS", "RDSADMIN", "APP", "DBATK")]},
        ),
        changes,
    )


def standby(**changes: Changes) -> Scenario:
    """A physical standby opened to read (Active Data Guard)."""
    return _made(
        Scenario(
            views={
                "V$DATABASE": [database(open_mode="READ ONLY WITH APPLY", role="PHYSICAL STANDBY")],
                "V$PDBS": [{"CON_ID": 3, "NAME": "FREEPDB1", "OPEN_MODE": "READ ONLY", "RESTRICTED": "NO"}],
            }
        ),
        changes,
    )


def container(name: str = "CDB$ROOT", **changes: Changes) -> Scenario:
    """A session in the root or the seed instead of a pluggable database."""
    return _made(Scenario(context={"CON_NAME": name, "CON_ID": "1" if name == "CDB$ROOT" else "2"}), changes)


EVERY: dict[str, Callable[..., Scenario]] = {
    "ee-19c": Scenario,
    "ee-19c-rac": enterprise_19c_rac,
    "se2": standard_2,
    "free": free_23ai,
    "11g": old_11g,
    "pdb-12c": pluggable_12c,
    "autonomous": autonomous,
    "rds": rds,
    "standby": standby,
}


def instance(parallel: str = "NO", name: str = "FREE", logins: str = "ALLOWED") -> ViewRow:
    """Return a row of V$INSTANCE."""
    return {
        "INSTANCE_NUMBER": 1, "INSTANCE_NAME": name, "HOST_NAME": "standin", "VERSION": "19.0.0.0.0",
        "STATUS": "OPEN", "PARALLEL": parallel, "LOGINS": logins,
    }  # fmt: skip


def database(
    *, open_mode: str = "READ WRITE", role: str = "PRIMARY", logging: str = "NO", log_mode: str = "ARCHIVELOG"
) -> ViewRow:
    """Return a row of V$DATABASE."""
    return {
        "DBID": 1405, "NAME": "FREE", "DB_UNIQUE_NAME": "FREE", "LOG_MODE": log_mode, "OPEN_MODE": open_mode,
        "DATABASE_ROLE": role, "FORCE_LOGGING": logging, "SUPPLEMENTAL_LOG_DATA_MIN": "NO", "CDB": "YES",
        "FLASHBACK_ON": "NO",
    }  # fmt: skip


def _made(scenario: Scenario, changes: Mapping[str, object]) -> Scenario:
    """Lay changes over a scenario; mappings and sets are joined, not replaced."""
    joined: dict[str, object] = {}
    for name, value in changes.items():
        old = getattr(scenario, name)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            joined[name] = {**old, **value}
        else:
            joined[name] = old | value if isinstance(old, frozenset) and isinstance(value, frozenset) else value
    return replace(scenario, **joined)  # type: ignore[arg-type]


def _known(name: str) -> ViewRow:
    return {"USERNAME": name, "ORACLE_MAINTAINED": "Y" if name == "SYS" else "N"}
