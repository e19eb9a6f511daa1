"""Views that are read, never changed, by what runs here: instance, services, plans, windows, privileges.

A name stands for text; `:n` marks a number, `:d` a DATE, `:i` an INTERVAL, as in `catalogue`. Rows are those of a
healthy database; a scenario's `views` replaces them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.oracle.standin.scenario import Scenario, ViewRow

VIEWS = {
    "V$ACTIVE_INSTANCES": "INST_NUMBER:n INST_NAME CON_ID:n",
    "V$PDBS": "CON_ID:n NAME OPEN_MODE RESTRICTED",
    "DBA_PDBS": "PDB_ID:n PDB_NAME STATUS LOGGING FORCE_LOGGING FORCE_NOLOGGING CON_ID:n",
    "V$PX_PROCESS": "SERVER_NAME STATUS PID:n SPID SID:n SERIAL#:n CON_ID:n",
    "V$PX_PROCESS_SYSSTAT": "STATISTIC VALUE:n CON_ID:n",
    "V$RSRC_PLAN": "ID:n NAME IS_TOP_PLAN CPU_MANAGED PARALLEL_SERVERS_ACTIVE:n PARALLEL_SERVERS_TOTAL:n "
    "PARALLEL_EXECUTION_MANAGED CON_ID:n",
    "V$RESOURCE_LIMIT": "RESOURCE_NAME CURRENT_UTILIZATION:n MAX_UTILIZATION:n INITIAL_ALLOCATION LIMIT_VALUE",
    "V$ARCHIVE_DEST": "DEST_ID:n DEST_NAME STATUS TARGET DESTINATION ERROR DB_UNIQUE_NAME APPLIED_SCN:n CON_ID:n",
    "DBA_RSRC_PLAN_DIRECTIVES": "PLAN GROUP_OR_SUBPLAN TYPE PARALLEL_TARGET_PERCENTAGE:n "
    "PARALLEL_DEGREE_LIMIT_P1:n SWITCH_GROUP SWITCH_TIME:n MAX_UTILIZATION_LIMIT:n PARALLEL_SERVER_LIMIT:n "
    "UTILIZATION_LIMIT:n STATUS",
    "SESSION_PRIVS": "PRIVILEGE",
    "DBA_TEMP_FREE_SPACE": "TABLESPACE_NAME TABLESPACE_SIZE:n ALLOCATED_SPACE:n FREE_SPACE:n",
    "DBA_TABLESPACE_GROUPS": "GROUP_NAME TABLESPACE_NAME",
    "DBA_SCHEDULER_WINDOWS": "OWNER WINDOW_NAME RESOURCE_PLAN ENABLED ACTIVE COMMENTS",
    "ALL_SCHEDULER_WINDOWS": "OWNER WINDOW_NAME RESOURCE_PLAN ENABLED ACTIVE NEXT_START_DATE:d "
    "LAST_START_DATE:d DURATION:i MANUAL_OPEN_TIME:d MANUAL_DURATION:i",
    "DBA_AUTOTASK_WINDOW_CLIENTS": "WINDOW_NAME WINDOW_NEXT_TIME:d WINDOW_ACTIVE AUTOTASK_STATUS OPTIMIZER_STATS",
    "DBA_AUTOTASK_CLIENT": "CLIENT_NAME STATUS CONSUMER_GROUP WINDOW_GROUP",
    "DBA_TRIGGERS": "OWNER TRIGGER_NAME TRIGGER_TYPE TRIGGERING_EVENT TABLE_OWNER BASE_OBJECT_TYPE TABLE_NAME "
    "STATUS",
    "ALL_TRIGGERS": "OWNER TRIGGER_NAME TRIGGER_TYPE TRIGGERING_EVENT TABLE_OWNER BASE_OBJECT_TYPE TABLE_NAME "
    "STATUS",
    "ALL_TAB_PENDING_STATS": "OWNER TABLE_NAME PARTITION_NAME SUBPARTITION_NAME NUM_ROWS:n BLOCKS:n "
    "LAST_ANALYZED:d",
    "ALL_TAB_STAT_PREFS": "OWNER TABLE_NAME PREFERENCE_NAME PREFERENCE_VALUE",
    "ALL_CONSTRAINTS": "OWNER CONSTRAINT_NAME CONSTRAINT_TYPE TABLE_NAME R_OWNER R_CONSTRAINT_NAME "
    "DELETE_RULE STATUS DEFERRABLE DEFERRED VALIDATED",
    "ALL_LOBS": "OWNER TABLE_NAME COLUMN_NAME SEGMENT_NAME TABLESPACE_NAME PARTITIONED SECUREFILE",
    "ALL_ENCRYPTED_COLUMNS": "OWNER TABLE_NAME COLUMN_NAME ENCRYPTION_ALG SALT INTEGRITY_ALG",
    "ALL_POLICIES": "OBJECT_OWNER OBJECT_NAME POLICY_NAME SEL INS UPD DEL IDX ENABLE",
    "ALL_LOG_GROUPS": "OWNER LOG_GROUP_NAME TABLE_NAME LOG_GROUP_TYPE ALWAYS",
    "ALL_MVIEWS": "OWNER MVIEW_NAME REFRESH_MODE",
    "ALL_MVIEW_DETAIL_RELATIONS": "OWNER MVIEW_NAME DETAILOBJ_OWNER DETAILOBJ_NAME",
    "ALL_MVIEW_LOGS": "LOG_OWNER MASTER LOG_TABLE",
    "ALL_VIEWS": "OWNER VIEW_NAME TEXT_LENGTH:n TEXT",
    "ALL_SOURCE": "OWNER NAME TYPE LINE:n TEXT ORIGIN_CON_ID:n",
    "ALL_SYNONYMS": "OWNER SYNONYM_NAME TABLE_OWNER TABLE_NAME DB_LINK",
    "ALL_PART_TABLES": "OWNER TABLE_NAME PARTITIONING_TYPE SUBPARTITIONING_TYPE PARTITION_COUNT:n INTERVAL",
    "ALL_PART_INDEXES": "OWNER INDEX_NAME TABLE_NAME PARTITIONING_TYPE PARTITION_COUNT:n LOCALITY",
    "ALL_PROCEDURES": "OWNER OBJECT_NAME PROCEDURE_NAME OBJECT_TYPE PIPELINED PARALLEL DETERMINISTIC",
    "ALL_EDITIONING_VIEWS": "OWNER VIEW_NAME TABLE_NAME",
    "DBA_FLASHBACK_ARCHIVE_TABLES": "TABLE_NAME OWNER_NAME FLASHBACK_ARCHIVE_NAME ARCHIVE_TABLE_NAME STATUS",
}  # fmt: skip


def rows_of(view: str, scenario: Scenario) -> Sequence[ViewRow]:
    """Return a view's rows in a healthy database; most are empty there."""
    rows = _ROWS.get(view)
    return rows(scenario) if rows else ()


def servers(busy: int, idle: int) -> list[ViewRow]:
    """Return rows of V$PX_PROCESS; the real ones pad STATUS with blanks too."""
    states = ["IN USE   "] * busy + ["AVAILABLE"] * idle
    return [{"SERVER_NAME": f"P{number:03X}", "STATUS": state} for number, state in enumerate(states)]


def _limits(scenario: Scenario) -> list[ViewRow]:
    return [
        {"RESOURCE_NAME": "processes", "CURRENT_UTILIZATION": 60, "LIMIT_VALUE": "       300"},
        {"RESOURCE_NAME": "sessions", "CURRENT_UTILIZATION": 70, "LIMIT_VALUE": "       472"},
        {"RESOURCE_NAME": "parallel_max_servers", "CURRENT_UTILIZATION": 4,
         "LIMIT_VALUE": str(scenario.max_servers)},
    ]  # fmt: skip


def _statistics(scenario: Scenario) -> list[ViewRow]:
    busy = 4 if scenario.max_servers else 0
    values = {
        "Servers In Use": scenario.busy_servers,
        "Servers Available": busy,
        "Servers Started": busy,
        "Server Sessions": busy,
    }
    return [{"STATISTIC": name.ljust(30), "VALUE": value} for name, value in values.items()]


_ROWS: dict[str, Callable[[Scenario], Sequence[ViewRow]]] = {
    "V$ACTIVE_INSTANCES": lambda _: [{"INST_NUMBER": 1, "INST_NAME": "standin:FREE"}],
    "V$PDBS": lambda _: [{"CON_ID": 3, "NAME": "FREEPDB1", "OPEN_MODE": "READ WRITE", "RESTRICTED": "NO"}],
    "V$ARCHIVE_DEST": lambda _: [
        {"DEST_ID": 1, "STATUS": "VALID", "TARGET": "PRIMARY", "DESTINATION": "USE_DB_RECOVERY_FILE_DEST"}
    ],
    "DBA_PDBS": lambda _: [
        {"PDB_ID": 3, "PDB_NAME": "FREEPDB1", "STATUS": "NORMAL", "LOGGING": "LOGGING", "FORCE_LOGGING": "NO",
         "FORCE_NOLOGGING": "NO", "CON_ID": 3}
    ],
    "V$PX_PROCESS": lambda scenario: servers(scenario.busy_servers, min(4, scenario.max_servers)),
    "V$PX_PROCESS_SYSSTAT": _statistics,
    "V$RESOURCE_LIMIT": _limits,
    "USER_RSRC_CONSUMER_GROUP_PRIVS": lambda scenario: [
        {"GRANTEE": scenario.user, "GRANTED_GROUP": name, "GRANT_OPTION": "NO", "INITIAL_GROUP": "NO"}
        for name in scenario.groups if name != "DEFAULT_CONSUMER_GROUP"
    ],
    "SESSION_PRIVS": lambda scenario: [{"PRIVILEGE": name} for name in scenario.privileges],
    "DBA_TEMP_FREE_SPACE": lambda _: [
        {"TABLESPACE_NAME": "TEMP", "TABLESPACE_SIZE": 8 * 2**30, "ALLOCATED_SPACE": 2**30,
         "FREE_SPACE": 8 * 2**30}
    ],
    "DBA_SCHEDULER_WINDOWS": lambda _: [
        {"OWNER": "SYS", "WINDOW_NAME": "MONDAY_WINDOW", "RESOURCE_PLAN": "DEFAULT_MAINTENANCE_PLAN",
         "ENABLED": "TRUE", "ACTIVE": "FALSE"}
    ],
    "DBA_AUTOTASK_CLIENT": lambda _: [
        {"CLIENT_NAME": "auto optimizer stats collection", "STATUS": "ENABLED",
         "CONSUMER_GROUP": "ORA$AUTOTASK", "WINDOW_GROUP": "ORA$AT_WGRP_OS"}
    ],
}  # fmt: skip
