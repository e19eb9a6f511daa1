"""AWR and Statspack: snapshots of what the stand-in counts, taken by their packages, and Oracle's own reports.

Columns of STATS$ tables are those of Statspack's `spctab.sql`, as public scripts read them; no documentation has
them. SNAP_FLAG as in the Database Reference: 1 by hand, 4 when the parameter of the packs was NONE; then no rows
are kept.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.oracle.standin import observed
from tests.oracle.standin.errors import ora

if TYPE_CHECKING:
    from tests.oracle.standin.state import Session, State

DBID, CON_DBID = 1405, 2810
Rows = list[dict[str, object]]
_KEYS = "SNAP_ID:n DBID:n INSTANCE_NUMBER:n"
STATSPACK = {
    "STATS$SNAPSHOT": f"{_KEYS} SNAP_TIME:d STARTUP_TIME:d SNAP_LEVEL:n UCOMMENT",
    "STATS$SYSSTAT": f"{_KEYS} STATISTIC#:n NAME VALUE:n",
    "STATS$SYSTEM_EVENT": f"{_KEYS} EVENT TOTAL_WAITS:n TIME_WAITED_MICRO:n TOTAL_WAITS_FG:n "
    "TIME_WAITED_MICRO_FG:n",
    "STATS$IDLE_EVENT": "EVENT",
    "STATS$SYS_TIME_MODEL": f"{_KEYS} STAT_ID:n VALUE:n",
    "STATS$TIME_MODEL_STATNAME": "STAT_ID:n STAT_NAME",
    "STATS$OSSTAT": f"{_KEYS} OSSTAT_ID:n VALUE:n",
    "STATS$OSSTATNAME": "OSSTAT_ID:n STAT_NAME CUMULATIVE",
    "STATS$PARAMETER": f"{_KEYS} NAME VALUE",
    "STATS$SQL_SUMMARY": f"{_KEYS} TEXT_SUBSET OLD_HASH_VALUE:n SQL_ID MODULE EXECUTIONS:n ELAPSED_TIME:n "
    "CPU_TIME:n BUFFER_GETS:n DISK_READS:n PARSE_CALLS:n",
    "STATS$SQLTEXT": "OLD_HASH_VALUE:n TEXT_SUBSET PIECE:n SQL_ID SQL_TEXT",
}
VIEWS = {
    "DBA_HIST_SNAPSHOT": f"{_KEYS} STARTUP_TIME:d BEGIN_INTERVAL_TIME:d END_INTERVAL_TIME:d SNAP_LEVEL:n "
    "ERROR_COUNT:n SNAP_FLAG:n",
    "DBA_HIST_SYSSTAT": f"{_KEYS} STAT_ID:n STAT_NAME VALUE:n",
    "DBA_HIST_SYS_TIME_MODEL": f"{_KEYS} STAT_NAME VALUE:n",
    "DBA_HIST_OSSTAT": f"{_KEYS} STAT_NAME VALUE:n",
    "DBA_HIST_SYSTEM_EVENT": f"{_KEYS} EVENT_NAME WAIT_CLASS TOTAL_WAITS:n TIME_WAITED_MICRO:n TOTAL_WAITS_FG:n "
    "TIME_WAITED_MICRO_FG:n",
    "DBA_HIST_SQLSTAT": f"{_KEYS} SQL_ID PLAN_HASH_VALUE:n MODULE EXECUTIONS_DELTA:n ELAPSED_TIME_DELTA:n "
    "CPU_TIME_DELTA:n BUFFER_GETS_DELTA:n DISK_READS_DELTA:n PARSE_CALLS_DELTA:n",
    "DBA_HIST_SQLTEXT": "DBID:n SQL_ID SQL_TEXT",
    "DBA_HIST_PARAMETER": f"{_KEYS} PARAMETER_NAME VALUE",
    "V$SQLSTATS": "SQL_ID PLAN_HASH_VALUE:n SQL_TEXT EXECUTIONS:n ELAPSED_TIME:n CPU_TIME:n USER_IO_WAIT_TIME:n "
    "BUFFER_GETS:n DISK_READS:n PARSE_CALLS:n ROWS_PROCESSED:n",
    "V$SEGMENT_STATISTICS": "OWNER OBJECT_NAME SUBOBJECT_NAME OBJECT_TYPE STATISTIC_NAME VALUE:n",
    "V$SYSTEM_PARAMETER": "NAME TYPE:n VALUE DEFAULT_VALUE ISDEFAULT ISMODIFIED",
    "DBA_REGISTRY_SQLPATCH": "PATCH_ID:n ACTION STATUS ACTION_TIME:d",
    **STATSPACK,
}
_TEXT = r"'(?:[^']|'')*'"
FORMS: tuple[tuple[str, str], ...] = (
    ("awr_snapshot", r"BEGIN\s+DBMS_WORKLOAD_REPOSITORY\.CREATE_SNAPSHOT\('TYPICAL'\);\s+END\s*;"),
    ("statspack_snapshot", rf"BEGIN\s+PERFSTAT\.STATSPACK\.SNAP\(i_ucomment => (?P<mark>{_TEXT})\);\s+END\s*;"),
)
_REPORT = re.compile(
    r"TABLE\(DBMS_WORKLOAD_REPOSITORY\.(\w+)\(((?:[^()]|\([^()]*(?:\([^()]*\))?[^()]*\))*)\)\)\s+r", re.DOTALL
)
_MODEL, _HOST = (
    ("DB time", "DB CPU", "background cpu time"),
    (("BUSY_TIME", "YES"), ("IDLE_TIME", "YES"), ("NUM_CPUS", "NO")),
)
_EVENTS = (("direct path write", "User I/O"), ("log file sync", "Commit"), ("SQL*Net message from client", "Idle"))


@dataclass
class Snap:
    """One snapshot: when it was taken, and what was counted then."""

    number: int
    taken: datetime.datetime
    begun: datetime.datetime
    dbid: int
    flag: int
    comment: str | None
    run: int
    counted: dict[str, int]


@dataclass
class Repository:
    """The snapshots of one kind.

    `strangers` others are taken before each of ours; `restarts` lets the instance begin anew before each; `silent`
    takes none without a word, as with an interval of 0. Of a cluster, every one of `instances` does the same, but
    for the pairs of instance and number that are `absent`.
    """

    dbid: int = CON_DBID
    snaps: list[Snap] = field(default_factory=list)
    strangers: int = 0
    restarts: bool = False
    silent: bool = False
    errors: int = 0
    """How many tables each snapshot could not be stored in."""
    instances: int = 1
    absent: set[tuple[int, int]] = field(default_factory=set)
    begun: datetime.datetime = datetime.datetime(2026, 11, 1, 6, 30, 0)

    def take(self, state: State, comment: str | None = None) -> None:
        """Take a snapshot, and those of others before it."""
        if self.silent:
            return
        for _ in range(self.strangers):
            self._add(state, None, 0)
        self._add(state, comment, 1)
        if self.restarts:
            self.begun += datetime.timedelta(hours=1)

    def _add(self, state: State, comment: str | None, flag: int) -> None:
        off = state.scenario.parameters.get("control_management_pack_access", "").upper() == "NONE"
        now = datetime.datetime.now().replace(microsecond=0)
        counted = {name: observed.system(state, name) for name in observed.COUNTED}
        number = self.snaps[-1].number + 1 if self.snaps else 101
        run = state.statements_run
        self.snaps.append(
            Snap(number, now, self.begun, self.dbid, flag | (4 if off else 0), comment, run, counted)
        )

    def kept(self) -> list[Snap]:
        """Return the snapshots that hold rows."""
        return [snap for snap in self.snaps if not snap.flag & 4]


def _keys(snap: Snap) -> dict[str, object]:
    return {"SNAP_ID": snap.number, "DBID": snap.dbid, "INSTANCE_NUMBER": 1}


def with_reports(text: str, state: State) -> str:
    """Let a query of a report function read the lines that stand for its report."""
    return _REPORT.sub(lambda match: f"({_lines(match[1], match[2], state)}) r", text)


def _lines(function: str, arguments: str, state: State) -> str:
    numbers = [int(number) for number in re.findall(r"(?<![\w(])\d+(?!\))", arguments)]
    known = {snap.number for snap in state.awr.kept()}
    asked = {number for number in numbers if 100 <= number < 1000}
    if not asked <= known:
        raise ora(20019, f"snap_id {sorted(asked - known)[0]} does not exist in the database/instance")
    lines = ["<html><head>" if function.endswith("HTML") else "WORKLOAD REPOSITORY report", None,
             f"{function} {' '.join(arguments.split())}"]  # fmt: skip
    return " UNION ALL ".join(
        "SELECT CAST(NULL AS VARCHAR(10)) AS output FROM dual" if line is None
        else f"SELECT '{line.replace(chr(39), chr(39) * 2)}' AS output FROM dual" for line in lines
    )  # fmt: skip


def rows_of(state: State, view: str, _: Session) -> Rows:
    """Return the rows of a view of this module."""
    rows = _ROWS[view](state)
    others = range(2, state.awr.instances + 1) if view.startswith("DBA_HIST") else ()
    return rows + [
        {**row, "INSTANCE_NUMBER": number}
        for number in others
        for row in rows
        if "INSTANCE_NUMBER" in row and (number, row.get("SNAP_ID")) not in state.awr.absent
    ]


def _awr_snapshots(state: State) -> Rows:
    return [
        {**_keys(snap), "STARTUP_TIME": snap.begun, "BEGIN_INTERVAL_TIME": snap.taken, "SNAP_LEVEL": 1,
         "END_INTERVAL_TIME": snap.taken, "ERROR_COUNT": state.awr.errors, "SNAP_FLAG": snap.flag}
        for snap in state.awr.snaps
    ]  # fmt: skip


def _statspack_snapshots(state: State) -> Rows:
    return [
        {
            **_keys(snap),
            "SNAP_TIME": snap.taken,
            "STARTUP_TIME": snap.begun,
            "SNAP_LEVEL": 5,
            "UCOMMENT": snap.comment,
        }
        for snap in state.statspack.snaps
    ]


def _counted(snaps: list[Snap], name: str) -> Rows:
    return [
        {**_keys(snap), name: counter, "VALUE": value} for snap in snaps for counter, value in snap.counted.items()
    ]


def _model(snaps: list[Snap]) -> Rows:
    return [{**_keys(snap), "STAT_NAME": name, "VALUE": 5000 * snap.run} for snap in snaps for name in _MODEL]


def _host(snaps: list[Snap]) -> Rows:
    return [
        {**_keys(snap), "STAT_NAME": name, "VALUE": 8 if kind == "NO" else 100 * snap.run}
        for snap in snaps
        for name, kind in _HOST
    ]


def _events(snaps: list[Snap], name: str, *, classes: bool) -> Rows:
    return [
        {**_keys(snap), name: event, **({"WAIT_CLASS": kind} if classes else {}), "TOTAL_WAITS": 2 * snap.run,
         "TIME_WAITED_MICRO": 1500 * snap.run, "TOTAL_WAITS_FG": snap.run, "TIME_WAITED_MICRO_FG": 1000 * snap.run}
        for snap in snaps
        for event, kind in _EVENTS
        if snap.run
    ]  # fmt: skip


def _sqlstat(state: State) -> Rows:
    snaps = state.awr.kept()
    return [
        {**_keys(snap), "SQL_ID": name, "PLAN_HASH_VALUE": 77, "MODULE": "dbatk",
         "EXECUTIONS_DELTA": cursor.executions, "ELAPSED_TIME_DELTA": 2_000_000,
         "CPU_TIME_DELTA": 1_500_000, "BUFFER_GETS_DELTA": 100,
         "DISK_READS_DELTA": 10, "PARSE_CALLS_DELTA": 1}
        for snap in snaps[-1:]
        for name, cursor in list(state.cursors.items())
    ]  # fmt: skip


def _summaries(state: State) -> Rows:
    """Return running totals at each snapshot, as if every statement ran once before each."""
    return [
        {**_keys(snap), "TEXT_SUBSET": f"statement {name}"[:31], "OLD_HASH_VALUE": 1000 + number, "SQL_ID": name,
         "MODULE": "dbatk", "EXECUTIONS": at, "ELAPSED_TIME": 2_000_000 * at, "CPU_TIME": 1_500_000 * at,
         "BUFFER_GETS": 100 * at, "DISK_READS": 10 * at, "PARSE_CALLS": at}
        for at, snap in enumerate(state.statspack.snaps, 1)
        for number, name in enumerate(state.cursors)
    ]  # fmt: skip


def _pieces(state: State) -> Rows:
    return [
        {"OLD_HASH_VALUE": 1000 + number, "TEXT_SUBSET": f"statement {name}"[:31], "PIECE": piece, "SQL_ID": name,
         "SQL_TEXT": text}
        for number, name in enumerate(state.cursors)
        for piece, text in enumerate(("statement ", name))
    ]  # fmt: skip


def _sqlstats(state: State) -> Rows:
    return [
        {"SQL_ID": name, "PLAN_HASH_VALUE": 77, "SQL_TEXT": f"statement {name}", "EXECUTIONS": cursor.executions,
         "ELAPSED_TIME": 12000 * cursor.executions, "CPU_TIME": 9000 * cursor.executions, "USER_IO_WAIT_TIME": 0,
         "BUFFER_GETS": 10 * cursor.rows, "DISK_READS": cursor.rows, "PARSE_CALLS": cursor.executions,
         "ROWS_PROCESSED": cursor.rows}
        for name, cursor in list(state.cursors.items())
    ]  # fmt: skip


def _parameters(state: State, name: str, snaps: list[Snap]) -> Rows:
    return [
        {**_keys(snap), name: parameter, "VALUE": value}
        for snap in snaps
        for parameter, value in state.scenario.parameters.items()
    ]


_ROWS: dict[str, Callable[[State], Rows]] = {
    "DBA_HIST_SNAPSHOT": _awr_snapshots,
    "DBA_HIST_SYSSTAT": lambda state: _counted(state.awr.kept(), "STAT_NAME"),
    "DBA_HIST_SYS_TIME_MODEL": lambda state: _model(state.awr.kept()),
    "DBA_HIST_OSSTAT": lambda state: _host(state.awr.kept()),
    "DBA_HIST_SYSTEM_EVENT": lambda state: _events(state.awr.kept(), "EVENT_NAME", classes=True),
    "DBA_HIST_SQLSTAT": _sqlstat,
    "DBA_HIST_SQLTEXT": lambda state: [
        {"DBID": state.awr.dbid, "SQL_ID": name, "SQL_TEXT": f"statement {name}"} for name in list(state.cursors)
    ],
    "DBA_HIST_PARAMETER": lambda state: _parameters(state, "PARAMETER_NAME", state.awr.kept()),
    "V$SQLSTATS": _sqlstats,
    "V$SEGMENT_STATISTICS": lambda state: [
        {"OWNER": made.name[0], "OBJECT_NAME": made.name[1], "OBJECT_TYPE": made.kind,
         "STATISTIC_NAME": "logical reads", "VALUE": made.rows + state.statements_run}
        for made in state.tables()
    ],
    "V$SYSTEM_PARAMETER": lambda state: [
        {"NAME": name, "VALUE": value, "ISDEFAULT": "FALSE", "ISMODIFIED": "FALSE"}
        for name, value in state.scenario.parameters.items()
    ],
    "DBA_REGISTRY_SQLPATCH": lambda _: [
        {"PATCH_ID": 37260974, "ACTION": action, "STATUS": "SUCCESS",
         "ACTION_TIME": datetime.datetime(2026, month, 1)}
        for month, action in enumerate(("APPLY", "ROLLBACK", "APPLY"), 1)
    ],
    "STATS$SNAPSHOT": _statspack_snapshots,
    "STATS$SYSSTAT": lambda state: _counted(state.statspack.snaps, "NAME"),
    "STATS$SYSTEM_EVENT": lambda state: _events(state.statspack.snaps, "EVENT", classes=False),
    "STATS$IDLE_EVENT": lambda _: [{"EVENT": name} for name, kind in _EVENTS if kind == "Idle"],
    "STATS$SYS_TIME_MODEL": lambda state: [
        {**_keys(snap), "STAT_ID": number, "VALUE": 5000 * snap.run}
        for snap in state.statspack.snaps
        for number, _ in enumerate(_MODEL)
    ],
    "STATS$TIME_MODEL_STATNAME": lambda _: [
        {"STAT_ID": number, "STAT_NAME": name} for number, name in enumerate(_MODEL)
    ],
    "STATS$OSSTAT": lambda state: [
        {**_keys(snap), "OSSTAT_ID": number, "VALUE": 8 if kind == "NO" else 100 * snap.run}
        for snap in state.statspack.snaps
        for number, (_, kind) in enumerate(_HOST)
    ],
    "STATS$OSSTATNAME": lambda _: [
        {"OSSTAT_ID": number, "STAT_NAME": name, "CUMULATIVE": kind} for number, (name, kind) in enumerate(_HOST)
    ],
    "STATS$PARAMETER": lambda state: _parameters(state, "NAME", state.statspack.snaps),
    "STATS$SQL_SUMMARY": _summaries,
    "STATS$SQLTEXT": _pieces,
}  # fmt: skip
