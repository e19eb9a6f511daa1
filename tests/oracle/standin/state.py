"""What the stand-in knows: its tables and indexes, its sessions, and the catalogue rows that tell of them."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from tests.oracle.standin import (
    datapump,
    guarded,
    indexes,
    mviews,
    observed,
    privileges,
    readings,
    repository,
    rooms,
    scheduler,
)
from tests.oracle.standin.catalogue import VIEWS
from tests.oracle.standin.external import External
from tests.oracle.standin.grammar import Name
from tests.oracle.standin.scenario import Scenario
from tests.oracle.standin.scheduler import Jobs
from tests.oracle.standin.statistics import Statistics

BLOCK = 8192
BEGAN = datetime.datetime(2026, 11, 1, 6, 30, 0)
CatalogueRow = dict[str, object]


@dataclass
class Made:
    """A table or an index."""

    kind: str
    name: Name
    object_id: int
    created: datetime.datetime
    data_object_id: int = 0
    """Its segment, where it is a table."""
    table: Name = ("", "")
    columns: list[tuple[str, str, str]] = field(default_factory=list)
    rows: int = 0
    analyzed: bool = False
    comment: str | None = None
    degree: str = "1"
    instances: str = "1"
    logging: str = "YES"
    compression: str = "DISABLED"
    compress_for: str | None = None
    tablespace: str = "USERS"
    pct_free: int = 10
    unique: bool = False
    status: str = "VALID"
    visibility: str = "VISIBLE"
    dropped: bool = False
    """Whether it is in the recycle bin."""
    read_only: bool = False
    row_movement: str = "DISABLED"
    altered: datetime.datetime | None = None
    """When DDL last changed it, where that was not its creation."""
    wasted: int = 0
    """Bytes of blocks that hold no rows any more, which a shrink gives back."""
    external: External | None = None
    constraints: list[dict[str, object]] = field(default_factory=list)
    """Of a table, beside those of the scenario: rows of ALL_CONSTRAINTS, and whether rows violate them."""
    view: mviews.Refreshed | None = None
    """Of a materialized view, whose rows are those of the table."""
    building: bool = False
    """Of an index whose ONLINE build or rebuild was cut off: STATUS does not show it (IND$.FLAGS does)."""
    shape: indexes.Shape = field(default_factory=indexes.Shape)
    bounds: list[str] = field(default_factory=list)
    """Of the partitions of a table."""
    parts: list[indexes.Part] = field(default_factory=list)
    """The partitions of a table, by `indexes.table_parts`."""
    keyed_by: str = ""
    method: str = "RANGE"
    sub_method: str = "NONE"

    @property
    def bytes(self) -> int:
        return 65536 * (1 + self.rows // 1000) + self.wasted


@dataclass
class Session:
    """One session: its parameters, its switches, and what parallel execution did for it."""

    sid: int
    serial: int
    user: str
    logon: datetime.datetime
    service: str
    module: str | None = None
    action: str | None = None
    client_identifier: str | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    dml: bool = False
    query: str = "ENABLED"
    forced: int | None = None
    forced_dml: int | None = None
    in_transaction: bool = False
    commits: int = 0
    """How many of its transactions were committed."""
    client_info: str | None = None
    loaded: set[Name] = field(default_factory=set)
    last: dict[str, int] = field(default_factory=dict)
    total: dict[str, int] = field(default_factory=dict)
    running: int = 0
    asked: int = 0
    """The degree that its last timed statement asked the pool for."""
    group: str = "OTHER_GROUPS"
    traced: bool = False
    requested: int = 0
    instance: int = 1
    calls: int = 0
    in_call: bool = False
    waits_behind: int | None = None
    """The session whose transaction it waits for."""
    waits_for: str = "enq: TX - row lock contention"
    """The event of that wait."""
    waited_looks: int = 0
    """How often V$SESSION has shown that wait; half a minute of it is over at each look."""
    sniped: bool = False
    """Its IDLE_TIME is over: its next call is told so (ORA-02396), and there is none after that."""
    deaf: bool = False
    """At work where a kill is not seen at once: it is marked, and gone some looks at V$SESSION later."""
    marked: bool = False
    observed: observed.Observed = field(default_factory=observed.Observed)


PARAMETERS = {
    "cpu_count": "8", "parallel_min_servers": "0", "parallel_degree_policy": "MANUAL", "parallel_min_percent": "0",
    "parallel_degree_limit": "CPU", "parallel_servers_target": "64", "parallel_force_local": "FALSE",
    "parallel_threads_per_cpu": "2", "parallel_adaptive_multi_user": "FALSE", "pga_aggregate_target": "1073741824",
    "ddl_lock_timeout": "0", "control_management_pack_access": "DIAGNOSTIC+TUNING", "recyclebin": "on",
    "optimizer_ignore_hints": "FALSE", "optimizer_ignore_parallel_hints": "FALSE", "resumable_timeout": "0",
    "compatible": "19.0.0", "db_block_size": str(BLOCK),
}  # fmt: skip


SPFILE = "/u01/dbs/spfileFREE.ora"
MODIFIABLE = {
    "optimizer_features_enable": ("TRUE", "IMMEDIATE"), "workarea_size_policy": ("TRUE", "IMMEDIATE"),
    "sort_area_size": ("TRUE", "DEFERRED"), "pga_aggregate_target": ("FALSE", "IMMEDIATE"),
    "audit_file_dest": ("FALSE", "DEFERRED"),
}  # fmt: skip
"""ISSES_MODIFIABLE and ISSYS_MODIFIABLE; what is not named is set in the parameter file only."""


@dataclass
class State:
    """Everything the catalogue tells."""

    scenario: Scenario
    objects: dict[tuple[str, Name], Made] = field(default_factory=dict)
    sessions: dict[int, Session] = field(default_factory=dict)
    cursors: dict[str, observed.Cursor] = field(default_factory=dict)
    next_object: int = 70001
    first_made: int = 70001
    """The number of the first object that was not there when the stand-in began."""
    next_segment: int = 900001
    """The number of the next segment of a partition."""
    next_session: int = 101
    statements_run: int = 0
    known_ids: set[bytes] = field(default_factory=set)
    """Logical ids of transactions that sessions were given (`outcomes`), those committed, those ended."""
    committed_ids: set[bytes] = field(default_factory=set)
    ended_ids: set[bytes] = field(default_factory=set)
    statistics: Statistics = field(default_factory=Statistics)
    lands_on: int = 1
    """The instance that the next session is given."""
    looks_left: int = 2
    """How often V$SESSION still shows a session that is marked for kill."""
    locks: dict[Name, float] = field(default_factory=dict)
    """Seconds for which transactions of others still hold each table; they pass while DDL waits."""
    transactions: dict[Name, int] = field(default_factory=dict)
    """Tables with an open transaction, and its session: an ONLINE build waits for it without a limit."""
    late_transactions: dict[Name, int] = field(default_factory=dict)
    """The same for its last wait, when the index is built; 0 while it is still at work."""
    unlogged_at: datetime.datetime | None = None
    cached: bool = False
    """Whether the blocks of what was read are in the buffer cache."""
    parameters: dict[str, str] = field(default_factory=dict)
    """What ALTER SYSTEM has set in memory."""
    down: bool = False
    """Whether the instance is shut down, or did not come up."""
    spfile: dict[str, str] | None = field(default_factory=dict)
    """The parameters that the SPFILE has; None for an instance that was started without one."""
    spfile_of_one: dict[str, str] = field(default_factory=dict)
    """Those that it has for this instance alone."""
    pfiles: dict[str, dict[str, str]] = field(default_factory=dict)
    """The text files that were made of it, by path."""
    started_with: dict[str, str] = field(default_factory=dict)
    """What the SPFILE had when the instance was started."""
    calibrated: int = 0
    """On how many disks CALIBRATE_IO was told that the database is; 0 where it never ran."""
    clock: datetime.timedelta = datetime.timedelta()
    """How far SYSDATE is from where it was: the end of summer time puts it back by an hour."""
    wrong_logins: int = 0
    """How often in a row a password was wrong."""
    stuck_until: int = 0
    """Nothing is changed and no break is seen before the session of this number: the archiver waits for room."""
    archived: int = 0
    """Bytes of redo that the statements so far have put into the recovery area."""
    jobs: Jobs = field(default_factory=Jobs)
    datapump: datapump.DataPump = field(default_factory=datapump.DataPump)
    awr: repository.Repository = field(default_factory=repository.Repository)
    statspack: repository.Repository = field(default_factory=repository.Repository)

    def add(self, kind: str, name: Name, **attributes: object) -> Made:
        """Enter a new object."""
        now = (datetime.datetime.now() + self.clock).replace(microsecond=0)
        made = Made(kind, name, self.next_object, now, **attributes)  # type: ignore[arg-type]
        made.data_object_id = self.next_object
        self.next_object += 1
        made.tablespace = rooms.default(self, name[0])
        self.objects[kind, name] = made
        return made

    def tables(self) -> list[Made]:
        return [made for (kind, _), made in list(self.objects.items()) if kind == "TABLE"]

    def indexes(self) -> list[Made]:
        return [made for (kind, _), made in list(self.objects.items()) if kind == "INDEX"]

    def rows_of(self, view: str, session: Session) -> list[CatalogueRow]:
        """Return the rows of a catalogue view, as this session sees them."""
        found = self.statistics.rows_of(view, self, BEGAN)
        if found is not None:
            return found
        if view in repository.VIEWS:
            return repository.rows_of(self, view, session)
        if view in datapump.VIEWS:
            return self.datapump.rows()
        if view in scheduler.VIEWS:
            return [job.row() for job in self.jobs.known.values()]
        if view in _ROWS:
            return _ROWS[view](self, session)
        if view in indexes.VIEWS:
            return indexes.rows_of(self, view)
        if view in observed.VIEWS:
            return observed.rows_of(self, view, session)
        own = [
            {column: value for column, value in row.items() if column != "VIOLATED"}
            for made in self.tables() if view == "ALL_CONSTRAINTS"
            for row in made.constraints
        ]  # fmt: skip
        return [*own, *(dict(row) for row in readings.rows_of(view, self.scenario))]


def _version(state: State, _: Session) -> list[CatalogueRow]:
    return [{"BANNER": state.scenario.banner}]


def _instance(state: State, session: Session) -> list[CatalogueRow]:
    version = state.scenario.number_text or ".".join(map(str, state.scenario.number)) + ".0.0.0"
    return [
        {"INSTANCE_NUMBER": session.instance, "INSTANCE_NAME": instance_name(session.instance),
         "HOST_NAME": "standin", "VERSION": version, "STARTUP_TIME": BEGAN, "STATUS": "OPEN",
         "PARALLEL": "YES" if state.scenario.instances > 1 else "NO", "LOGINS": "ALLOWED"}
    ]  # fmt: skip


def _database(_: State, __: Session) -> list[CatalogueRow]:
    return [
        {"DBID": 1405, "NAME": "FREE", "DB_UNIQUE_NAME": "FREE", "LOG_MODE": "ARCHIVELOG",
         "OPEN_MODE": "READ WRITE",
         "DATABASE_ROLE": "PRIMARY", "FORCE_LOGGING": "NO", "SUPPLEMENTAL_LOG_DATA_MIN": "NO", "CDB": "YES",
         "CURRENT_SCN": 1_000_000, "FLASHBACK_ON": "NO"}
    ]  # fmt: skip


def _option(state: State, _: Session) -> list[CatalogueRow]:
    value = "TRUE" if state.scenario.parallel else "FALSE"
    names = ("Parallel execution", "Parallel backup and recovery", "Online Index Build", "Basic Compression",
             "Advanced Compression", "Bit-mapped indexes", "Partitioning", "Parallel load")  # fmt: skip
    values = {**dict.fromkeys(names, value), **state.scenario.options}
    return [{"PARAMETER": name, "VALUE": value} for name, value in values.items()]


_SIZES = frozenset({"sga_target", "pga_aggregate_target", "pga_aggregate_limit", "memory_target"})
_INTEGERS = frozenset({"sort_area_size", "processes", "open_cursors"})


def _parameter(state: State, session: Session) -> list[CatalogueRow]:
    limits = {"parallel_max_servers": str(state.scenario.max_servers)}
    values = {**PARAMETERS, **limits, **state.scenario.parameters, **state.started_with,
              **state.parameters, **session.parameters}  # fmt: skip
    values["spfile"] = SPFILE if state.spfile is not None else ""
    return [
        {
            "NUM": number,
            "NAME": name,
            "VALUE": value,
            "ISDEFAULT": "FALSE" if name == "compatible" else "TRUE",
            "TYPE": 6 if name in _SIZES else 3 if name in _INTEGERS else 2,
            "ISSES_MODIFIABLE": MODIFIABLE.get(name, ("FALSE", "FALSE"))[0],
            "ISSYS_MODIFIABLE": MODIFIABLE.get(name, ("FALSE", "FALSE"))[1],
        }
        for number, (name, value) in enumerate(sorted(values.items()), 1)
    ]


def _spparameter(state: State, _: Session) -> list[CatalogueRow]:
    own = [(name, value, instance_name(1)) for name, value in state.spfile_of_one.items()]
    written = [*((name, value, "*") for name, value in (state.spfile or {}).items()), *own]
    there = {name for name, _, _ in written}
    rows = [{"SID": sid, "NAME": name, "VALUE": value, "ISSPECIFIED": "TRUE"} for name, value, sid in written]
    absent = [name for name in PARAMETERS if name not in there]
    return [*rows, *({"SID": "*", "NAME": name, "ISSPECIFIED": "FALSE"} for name in absent)]


def _calibration(state: State, session: Session) -> list[CatalogueRow]:
    """Return what CALIBRATE_IO measured: in the root, which a session of a pluggable database does not see."""
    if not state.calibrated or session.user != privileges.DBA:
        return []
    return [
        {"START_TIME": BEGAN, "END_TIME": BEGAN, "MAX_IOPS": 2133, "MAX_MBPS": 127, "MAX_PMBPS": 64, "LATENCY": 9,
         "NUM_PHYSICAL_DISKS": state.calibrated}
    ]  # fmt: skip


def instance_name(number: int) -> str:
    """Return the name of an instance; the first one's is the database's."""
    return "FREE" if number == 1 else f"FREE{number}"


def _sessions(state: State, session: Session) -> list[CatalogueRow]:
    """Return the sessions of every instance; one that is marked for kill is gone after a few looks."""
    for each in list(state.sessions.values()):
        if each.marked:
            state.looks_left -= 1
            if state.looks_left <= 0:
                state.sessions.pop(each.sid, None)
    del session
    return [
        {"INST_ID": each.instance, "TADDR": "01" if each.in_transaction or each.deaf else None,
         "SID": each.sid, "SERIAL#": each.serial, "USERNAME": each.user,
         "STATUS": "KILLED" if each.marked else "ACTIVE" if each.in_call or each.deaf else "INACTIVE",
         "MODULE": each.module, "ACTION": each.action, "CLIENT_IDENTIFIER": each.client_identifier,
         "LOGON_TIME": each.logon,
         "PROGRAM": "python@standin", "TYPE": "USER", "PDML_STATUS": "ENABLED" if each.dml else "DISABLED",
         "PDDL_STATUS": "ENABLED", "PQ_STATUS": each.query,
         "PADDR": f"{each.sid:016X}", "SQL_TRACE": "ENABLED" if each.traced else "DISABLED",
         "RESOURCE_CONSUMER_GROUP": each.group, "SERVICE_NAME": each.service, **observed.running(each),
         **observed.waiting(each)}
        for each in list(state.sessions.values())
    ]  # fmt: skip


def _session(state: State, session: Session) -> list[CatalogueRow]:
    """Return the sessions of the instance that is asked: a V$ view knows no other."""
    return [
        {name: value for name, value in row.items() if name != "INST_ID"}
        for row in _sessions(state, session)
        if row["INST_ID"] == session.instance
    ]


def _px_session(state: State, _: Session) -> list[CatalogueRow]:
    return [
        {"SID": 900 + number, "SERIAL#": 1, "QCSID": each.sid, "QCSERIAL#": each.serial,
         "QCINST_ID": each.instance, "SERVER_SET": 1,
         "SERVER#": number, "DEGREE": each.running, "REQ_DEGREE": each.requested}
        for each in list(state.sessions.values())
        if each.running > 1
        for number in range(1, each.running + 1)
    ]  # fmt: skip


_TRACES = "/u01/app/oracle/diag/rdbms/free/FREE/trace"


def _trace_file(session: Session) -> str:
    mark = session.parameters.get("tracefile_identifier", "")
    return f"{_TRACES}/{'_'.join(part for part in (f'FREE_ora_{40000 + session.sid}', mark) if part)}.trc"


def _diag_info(_: State, session: Session) -> list[CatalogueRow]:
    return [{"INST_ID": 1, "NAME": "Diag Trace", "VALUE": _TRACES},
            {"INST_ID": 1, "NAME": "Default Trace File", "VALUE": _trace_file(session)}]  # fmt: skip


def _process(state: State, session: Session) -> list[CatalogueRow]:
    here = [each for each in list(state.sessions.values()) if each.instance == session.instance]
    return [{"ADDR": f"{each.sid:016X}", "TRACEFILE": _trace_file(each)} for each in here]


def _pq_sesstat(state: State, session: Session) -> list[CatalogueRow]:
    number = state.scenario.number
    names = ["Queries Parallelized", "DML Parallelized", "DDL Parallelized", "DFO Trees", "Allocation Height",
             "Allocation Width", "Local Msgs Sent"]  # fmt: skip
    names += ["Servers", "Server Sets"] if number >= (23, 26) else ["Server Threads", "DOP", "Slave Sets"]
    return [
        {"STATISTIC": name, "LAST_QUERY": session.last.get(name, 0), "SESSION_TOTAL": session.total.get(name, 0)}
        for name in names
    ]


def _sysstat(state: State, _: Session) -> list[CatalogueRow]:
    names = [str(row["NAME"]) for row in observed.rows_of(state, "V$STATNAME", _)]
    return [
        {"STATISTIC#": number, "NAME": name, "VALUE": observed.system(state, name)}
        for number, name in enumerate(names)
    ]


def _system_event(state: State, _: Session) -> list[CatalogueRow]:
    waits = (
        ("direct path write", "User I/O"),
        ("SQL*Net message from client", "Idle"),
        ("log file sync", "Commit"),
    )
    return [
        {"EVENT": event, "WAIT_CLASS": kind, "TIME_WAITED_MICRO": 1000 * state.statements_run,
         "TIME_WAITED_MICRO_FG": 600 * state.statements_run, "TOTAL_WAITS": 2 * state.statements_run,
         "TOTAL_WAITS_FG": state.statements_run}
        for event, kind in waits
    ]  # fmt: skip


def _time_model(state: State, _: Session) -> list[CatalogueRow]:
    return [{"STAT_NAME": name, "VALUE": 5000 * state.statements_run} for name in ("DB time", "DB CPU")]


def _osstat(state: State, _: Session) -> list[CatalogueRow]:
    return [
        {"STAT_NAME": "NUM_CPUS", "VALUE": 8, "CUMULATIVE": "NO"},
        {"STAT_NAME": "LOAD", "VALUE": 0.5, "CUMULATIVE": "NO"},
        {"STAT_NAME": "BUSY_TIME", "VALUE": state.statements_run, "CUMULATIVE": "YES"},
    ]


def _objects(state: State, _: Session) -> list[CatalogueRow]:
    return _dictionary(state.scenario) + [
        {"OWNER": made.name[0], "OBJECT_NAME": made.name[1], "OBJECT_ID": made.object_id, "OBJECT_TYPE": made.kind,
         "CREATED": made.created, "LAST_DDL_TIME": made.altered or made.created, "STATUS": "VALID",
         "DATA_OBJECT_ID": None if made.bounds else made.data_object_id}
        for made in list(state.objects.values())
    ] + [row for made in state.tables() if made.bounds for row in _partitions(state, made)]  # fmt: skip


def _partitions(state: State, made: Made) -> list[CatalogueRow]:
    for part in indexes.table_parts(made):
        if not part.data_object_id:
            state.next_segment += 1
            part.data_object_id = state.next_segment
    return [
        {"OWNER": made.name[0], "OBJECT_NAME": made.name[1], "SUBOBJECT_NAME": part.name,
         "OBJECT_ID": made.object_id, "OBJECT_TYPE": "TABLE PARTITION", "CREATED": made.created,
         "LAST_DDL_TIME": made.created, "STATUS": "VALID",
         "DATA_OBJECT_ID": part.data_object_id}
        for part in made.parts
    ]  # fmt: skip


def _dictionary(scenario: Scenario) -> list[CatalogueRow]:
    """The views of SYS that the session may read, under the names that can be granted on."""
    closed = scenario.denied | scenario.lacking
    return [
        {"OWNER": "SYS", "OBJECT_NAME": view.replace("V$", "V_$", 1) if view.startswith("V$") else view,
         "OBJECT_TYPE": "VIEW", "CREATED": BEGAN, "LAST_DDL_TIME": BEGAN, "STATUS": "VALID"}
        for view in VIEWS
        if view.startswith(("V$", "DBA_")) and view not in closed
    ]  # fmt: skip


def _tables(state: State, _: Session) -> list[CatalogueRow]:
    return [
        {"OWNER": made.name[0], "TABLE_NAME": made.name[1], "STATUS": "VALID", "DEGREE": made.degree.rjust(10),
         "INSTANCES": made.instances.rjust(10),
         "PARTITIONED": "YES" if _is_partitioned(state, made) else "NO", "SECONDARY": "N",
         "TEMPORARY": "Y" if made.name in state.statistics.temporary else "N",
         "NESTED": "NO", "DROPPED": "YES" if made.dropped else "NO",
         "READ_ONLY": "YES" if made.read_only else "NO", "ROW_MOVEMENT": made.row_movement,
         **({} if made.bounds else _storage(made))}
        for made in state.tables()
    ]  # fmt: skip


def _is_partitioned(state: State, made: Made) -> bool:
    given = state.scenario.views.get("ALL_PART_TABLES", ())
    return bool(made.bounds) or any((row.get("OWNER"), row.get("TABLE_NAME")) == made.name for row in given)


def _storage(made: Made) -> CatalogueRow:
    """Null of a partitioned table (Database Reference, ALL_TABLES): its partitions have their own."""
    return {"TABLESPACE_NAME": made.tablespace, "PCT_FREE": made.pct_free, "LOGGING": made.logging,
            "COMPRESSION": made.compression, "COMPRESS_FOR": made.compress_for}  # fmt: skip


def _tab_cols(state: State, _: Session) -> list[CatalogueRow]:
    return [
        {"OWNER": made.name[0], "TABLE_NAME": made.name[1], "COLUMN_NAME": column, "DATA_TYPE": kind,
         "NULLABLE": nullable, "COLUMN_ID": number, "INTERNAL_COLUMN_ID": number,
         "HIDDEN_COLUMN": "NO", "VIRTUAL_COLUMN": "NO",
         "AVG_COL_LEN": 8 if made.analyzed else None, **_size_of(kind)}
        for made in state.tables()
        for number, (column, kind, nullable) in enumerate(made.columns, 1)
    ]  # fmt: skip


def _size_of(kind: str) -> CatalogueRow:
    if kind == "VARCHAR2":
        return {"DATA_LENGTH": 400, "CHAR_LENGTH": 100, "CHAR_USED": "C"}
    return {"DATA_LENGTH": 22 if kind == "NUMBER" else 7, "CHAR_LENGTH": 0}


def _tab_comments(state: State, _: Session) -> list[CatalogueRow]:
    return [
        {"OWNER": made.name[0], "TABLE_NAME": made.name[1], "TABLE_TYPE": "TABLE", "COMMENTS": made.comment}
        for made in state.tables()
    ]


def _ind_statistics(state: State, _: Session) -> list[CatalogueRow]:
    return [
        {
            "OWNER": made.name[0],
            "INDEX_NAME": made.name[1],
            "OBJECT_TYPE": "INDEX",
            "LEAF_BLOCKS": made.bytes // BLOCK,
        }
        for made in state.indexes()
    ]


def _all_users(state: State, _: Session) -> list[CatalogueRow]:
    owners = dict.fromkeys(made.name[0] for made in state.tables())
    users = (("SYS", "Y"), *((name, "N") for name in dict.fromkeys(("APP", state.scenario.user, *owners))))
    return [{"USERNAME": name, "CREATED": BEGAN, "ORACLE_MAINTAINED": scratch} for name, scratch in users]


def _user_users(state: State, session: Session) -> list[CatalogueRow]:
    return [
        {
            "USERNAME": session.user,
            "DEFAULT_TABLESPACE": rooms.default(state, session.user),
            "TEMPORARY_TABLESPACE": "TEMP",
            "CREATED": BEGAN,
        }
    ]


_ROOMS = (*rooms.VIEWS, "DBA_USERS", "DBA_TABLESPACES", "USER_TABLESPACES", "DBA_FREE_SPACE")


def _of_rooms(view: str, state: State, session: Session) -> list[CatalogueRow]:
    return rooms.rows_of(state, view, session)


def _segments(state: State, session: Session | None) -> list[CatalogueRow]:
    return [
        {"OWNER": made.name[0], "SEGMENT_NAME": made.name[1], "PARTITION_NAME": part, "SEGMENT_TYPE": kind,
         "BYTES": size, "EXTENTS": size // 65536}
        for made in list(state.objects.values())
        for part, kind, size in indexes.segments(made)
        if session is None or made.name[0] == session.user
    ]  # fmt: skip


def _without_owner(rows: list[CatalogueRow]) -> list[CatalogueRow]:
    return [{name: value for name, value in row.items() if name != "OWNER"} for row in rows]


def _recovery_area(state: State, _: Session) -> list[CatalogueRow]:
    return [
        {"NAME": "/fra", "SPACE_LIMIT": state.scenario.recovery_area, "SPACE_USED": state.archived,
         "SPACE_RECLAIMABLE": 0, "NUMBER_OF_FILES": 3}
    ]  # fmt: skip


_ROWS: dict[str, Callable[[State, Session], list[CatalogueRow]]] = {
    "V$RECOVERY_FILE_DEST": _recovery_area,
    "V$VERSION": _version,
    "V$INSTANCE": _instance,
    "V$DATABASE": _database,
    "V$DATAFILE": lambda state, _: [
        {
            "FILE#": 7,
            "NAME": "/u01/oradata/FREE/users01.dbf",
            "UNRECOVERABLE_CHANGE#": 1 if state.unlogged_at else 0,
            "UNRECOVERABLE_TIME": state.unlogged_at,
        }
    ],
    "V$OPTION": _option,
    "V$PARAMETER": _parameter,
    "V$SPPARAMETER": _spparameter,
    "DBA_RSRC_IO_CALIBRATE": _calibration,
    "V$SESSION": _session,
    "GV$SESSION": _sessions,
    "DBA_TABLESPACE_USAGE_METRICS": lambda _, __: guarded.usage(),
    "V$PX_SESSION": _px_session,
    "V$DIAG_INFO": _diag_info,
    "V$PROCESS": _process,
    "V$PQ_SESSTAT": _pq_sesstat,
    "V$SYSSTAT": _sysstat,
    "V$SYSTEM_EVENT": _system_event,
    "V$SYS_TIME_MODEL": _time_model,
    "V$OSSTAT": _osstat,
    "ALL_OBJECTS": _objects,
    "ALL_TABLES": _tables,
    "ALL_TAB_COLS": _tab_cols,
    "ALL_TAB_COMMENTS": _tab_comments,
    "ALL_MVIEWS": lambda state, _: mviews.rows_of(state),
    "ALL_IND_COLUMNS": lambda state, _: indexes.ind_columns(state),
    "ALL_IND_STATISTICS": _ind_statistics,
    "ALL_USERS": _all_users,
    "USER_USERS": _user_users,
    **{view: partial(_of_rooms, view) for view in _ROOMS},
    "USER_SEGMENTS": lambda state, session: _without_owner(_segments(state, session)),
    "DBA_SEGMENTS": lambda state, _: _segments(state, None),
    "DBA_DATA_FILES": lambda _, __: [
        {"TABLESPACE_NAME": "USERS", "BYTES": 2**30, "AUTOEXTENSIBLE": "YES", "MAXBYTES": 2**35}
    ],
    "DUAL": lambda _, __: [{"DUMMY": "X"}],
}
