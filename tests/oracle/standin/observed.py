"""What a session counts while it works, and what is shown of its statements: V$SESSTAT, V$SQL, V$PQ_TQSTAT, plans.

A name stands for text; `:n` marks a number, `:d` a DATE, as in `catalogue`. Counters are made up but consistent:
the instance's are never less than the sum of the sessions'.
"""

from __future__ import annotations

import datetime
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.oracle.standin.parallel import downgrade
from toolkit.dialects.oracle.dialect import sql_id

if TYPE_CHECKING:
    from tests.oracle.standin.state import CatalogueRow, Session, State

VIEWS = {
    "V$STATNAME": "STATISTIC#:n NAME CLASS:n STAT_ID:n DISPLAY_NAME CON_ID:n",
    "V$SESSTAT": "SID:n STATISTIC#:n VALUE:n CON_ID:n",
    "V$SESS_TIME_MODEL": "SID:n STAT_ID:n STAT_NAME VALUE:n CON_ID:n",
    "V$SESSION_EVENT": "SID:n EVENT TOTAL_WAITS:n TIME_WAITED:n TIME_WAITED_MICRO:n WAIT_CLASS CON_ID:n",
    "V$IOSTAT_FUNCTION": "FUNCTION_ID:n FUNCTION_NAME SMALL_READ_MEGABYTES:n SMALL_WRITE_MEGABYTES:n "
    "LARGE_READ_MEGABYTES:n LARGE_WRITE_MEGABYTES:n SMALL_READ_REQS:n SMALL_WRITE_REQS:n LARGE_READ_REQS:n "
    "LARGE_WRITE_REQS:n NUMBER_OF_WAITS:n WAIT_TIME:n CON_ID:n",
    "V$TEMPSEG_USAGE": "USERNAME SESSION_ADDR SESSION_NUM:n SQL_ID TABLESPACE SEGTYPE BLOCKS:n CON_ID:n",
    "V$SESSION_LONGOPS": "SID:n SERIAL#:n OPNAME TARGET TARGET_DESC SOFAR:n TOTALWORK:n UNITS START_TIME:d "
    "LAST_UPDATE_TIME:d TIME_REMAINING:n ELAPSED_SECONDS:n SQL_ID SQL_EXEC_ID:n QCSID:n CON_ID:n",
    "V$PQ_TQSTAT": "DFO_NUMBER:n TQ_ID:n SERVER_TYPE NUM_ROWS:n BYTES:n WAITS:n TIMEOUTS:n PROCESS INSTANCE:n "
    "CON_ID:n",
    "V$SQL": "SQL_ID EXECUTIONS:n PX_SERVERS_EXECUTIONS:n CPU_TIME:n ELAPSED_TIME:n PHYSICAL_READ_BYTES:n "
    "PHYSICAL_WRITE_BYTES:n COMMAND_TYPE:n MODULE ACTION CON_ID:n",
}
SUSPENDED = "statement suspended, wait error to be cleared"
PLANS = "DBMS_XPLAN_OUTPUT"
"""The table that stands for DBMS_XPLAN.DISPLAY_CURSOR: columns SQL_ID and PLAN_TABLE_OUTPUT."""

_DISPLAY = re.compile(
    r"TABLE\s*\(\s*DBMS_XPLAN\.DISPLAY_CURSOR\s*\(\s*(:\w+)\s*,\s*NULL\s*,\s*'[^']*'\s*\)\s*\)", re.I
)
_NAMES = (
    "redo size", "physical write total bytes", "execute count", "user commits", "CPU used by this session",
    "workarea executions - optimal", "Parallel operations not downgraded",
    "Parallel operations downgraded to serial", "Parallel operations downgraded 75 to 99 pct",
    "Parallel operations downgraded 50 to 75 pct", "Parallel operations downgraded 25 to 50 pct",
    "Parallel operations downgraded 1 to 25 pct",
    "physical reads direct", "physical reads cache", "consistent gets from cache",
)  # fmt: skip
COUNTED = _NAMES
_EACH = {"redo size": 4096, "physical write total bytes": 81920, "execute count": 1, "user commits": 1,
         "CPU used by this session": 3, "workarea executions - optimal": 1}  # fmt: skip
TIMED = frozenset(
    {
        "ctas",
        "insert",
        "index_build",
        "index_rebuild",
        "table_move",
        "table_shrink",
        "partition_drop",
        "partition_exchange",
        "partition_split",
        "partition_merge",
        "partition_coalesce",
        "stats",
        "mview_refresh",
    }
)


@dataclass
class Observed:
    """What one session did so far."""

    commands: int = 0
    text: str = ""
    execution: int = 0
    begun: float = 0.0
    dealt: list[CatalogueRow] = field(default_factory=list)
    operations: Counter[str] = field(default_factory=Counter)
    """Parallel operations, by the counter each moved."""
    read: dict[str, int] = field(default_factory=dict)
    """Blocks, by the counter that tells how they were come by."""
    suspended_seconds: int = 0
    """How long its statements were suspended because there was no room for them."""


@dataclass
class Cursor:
    """A statement that was run: what V$SQL and DBMS_XPLAN tell of it."""

    kind: str
    degree: int
    rows: int
    executions: int = 0
    asked: int = 1
    """The degree it was compiled for: its plan tells of that one, whatever the pool gave."""


def with_plans(text: str) -> str:
    """Let a query of DBMS_XPLAN read the table that stands for it."""
    return _DISPLAY.sub(rf"(SELECT x.plan_table_output FROM {PLANS} x WHERE x.sql_id = \1)", text)


def begin(session: Session, kind: str, text: str) -> None:
    """Note what a session runs from now on."""
    seen = session.observed
    seen.commands += 1
    if kind in TIMED:
        seen.text, seen.begun = text, time.monotonic()
        seen.execution += 1
        session.asked = 0


def end(state: State, session: Session, kind: str, text: str, rows: int) -> None:
    """Note what a statement left behind: its cursor, and how rows were dealt to the servers."""
    if kind not in TIMED:
        return
    degree = int(
        session.last.get("DOP") or session.last.get("Servers", 0) / max(session.last.get("Server Sets", 1), 1)
    )
    cursor = state.cursors.setdefault(sql_id(text), Cursor(kind, degree, rows))
    cursor.executions, cursor.asked = cursor.executions + 1, max(session.asked, degree, 1)
    session.observed.text = ""
    session.observed.dealt = list(_dealt(degree, rows))
    moved = downgrade(max(session.asked, degree), max(degree, 1))
    if moved is not None:
        session.observed.operations[moved] += 1
    _read(state, session, degree)


def _read(state: State, session: Session, degree: int) -> None:
    """Count a scan: parallel servers read past the buffer cache, a serial one through it, from disk once."""
    read = session.observed.read
    names = ["physical reads direct"] if degree > 1 else ["consistent gets from cache"]
    if degree <= 1 and not state.cached:
        names.append("physical reads cache")
    for name in names:
        read[name] = read.get(name, 0) + 1000
    state.cached = state.cached or degree <= 1


def _dealt(degree: int, rows: int) -> list[CatalogueRow]:
    """Deal rows to the servers of one table queue, the first getting twice as many; names are padded with NUL."""
    share = rows // (degree + 1) if degree > 1 else 0
    parts = [share * 2, *([share] * (degree - 1))] if degree > 1 else []
    return [
        {"DFO_NUMBER": 1, "TQ_ID": 0, "SERVER_TYPE": kind + "\0\0", "NUM_ROWS": part, "BYTES": part * 40,
         "PROCESS": f"P{number:03d} ", "INSTANCE": 1}
        for kind in ("Producer", "Consumer")
        for number, part in enumerate(parts)
    ]  # fmt: skip


def rows_of(state: State, view: str, session: Session) -> list[CatalogueRow]:
    """Return the rows of a view of this module."""
    return _ROWS[view](state, session)


def system(state: State, name: str) -> int:
    """Return a counter of the instance: what sessions counted, those that ended included."""
    return _EACH.get(name, 0) * state.statements_run + sum(
        _count(each, name) for each in list(state.sessions.values())
    )


def _count(session: Session, name: str) -> int:
    seen = session.observed
    if name.startswith("Parallel"):
        return seen.operations[name]
    return seen.read.get(name, _EACH.get(name, 0) * seen.commands)


def _statname(_: State, __: Session) -> list[CatalogueRow]:
    return [{"STATISTIC#": number, "NAME": name} for number, name in enumerate(_NAMES)]


def _sesstat(state: State, _: Session) -> list[CatalogueRow]:
    return [
        {"SID": each.sid, "STATISTIC#": number, "VALUE": _count(each, name)}
        for each in list(state.sessions.values())
        for number, name in enumerate(_NAMES)
    ]


def _time_model(state: State, _: Session) -> list[CatalogueRow]:
    return [
        {"SID": each.sid, "STAT_NAME": name, "VALUE": 5000 * each.observed.commands}
        for each in list(state.sessions.values())
        for name in ("DB time", "DB CPU")
    ]


def _session_event(state: State, _: Session) -> list[CatalogueRow]:
    return [
        {"SID": each.sid, "EVENT": event, "WAIT_CLASS": kind, "TIME_WAITED_MICRO": 700 * each.observed.commands}
        for each in list(state.sessions.values())
        for event, kind in (("direct path write", "User I/O"), ("SQL*Net message from client", "Idle"))
    ] + [
        {"SID": each.sid, "EVENT": SUSPENDED, "WAIT_CLASS": "Configuration",
         "TIME_WAITED_MICRO": 1_000_000 * each.observed.suspended_seconds}
        for each in list(state.sessions.values())
        if each.observed.suspended_seconds
    ]  # fmt: skip


def _iostat(state: State, _: Session) -> list[CatalogueRow]:
    return [
        {"FUNCTION_ID": number, "FUNCTION_NAME": name, "SMALL_READ_MEGABYTES": 0, "SMALL_WRITE_MEGABYTES": 0,
         "LARGE_READ_MEGABYTES": 0, "LARGE_WRITE_MEGABYTES": state.statements_run, "SMALL_READ_REQS": 0,
         "SMALL_WRITE_REQS": 0, "LARGE_READ_REQS": 0, "LARGE_WRITE_REQS": state.statements_run}
        for number, name in enumerate(("Direct Writes", "LGWR"))
    ]  # fmt: skip


def _tempseg(state: State, _: Session) -> list[CatalogueRow]:
    return [
        {"SESSION_ADDR": address(each), "SESSION_NUM": each.serial, "TABLESPACE": "TEMP", "BLOCKS": 128}
        for each in list(state.sessions.values())
        if each.observed.text
    ]


def _longops(state: State, _: Session) -> list[CatalogueRow]:
    """Show a statement that the scenario delays as one scan by two servers, one of them further than the other."""
    now = datetime.datetime.now().replace(microsecond=0)
    found: list[CatalogueRow] = []
    for each in list(state.sessions.values()):
        seen = each.observed
        if not seen.text or not state.scenario.delay_seconds:
            continue
        spent = time.monotonic() - seen.begun
        part = min(1.0, spent / state.scenario.delay_seconds)
        for server, total in ((901, 400), (902, 600)):
            found.append(
                {"SID": server, "SERIAL#": 1, "OPNAME": "Rowid Range Scan", "TARGET": "DBATK.GTEST",
                 "SOFAR": int(part * total), "TOTALWORK": total, "UNITS": "Blocks", "START_TIME": now,
                 "LAST_UPDATE_TIME": now, "TIME_REMAINING": int(state.scenario.delay_seconds - spent) + 1,
                 "ELAPSED_SECONDS": int(spent), "SQL_EXEC_ID": 2**24 + seen.execution, "QCSID": each.sid}
            )  # fmt: skip
    return found


def _sql(state: State, _: Session) -> list[CatalogueRow]:
    return [
        {"SQL_ID": name, "EXECUTIONS": cursor.executions,
         "PX_SERVERS_EXECUTIONS": cursor.degree * cursor.executions if cursor.degree > 1 else 0,
         "CPU_TIME": 9000 * max(1, cursor.degree), "ELAPSED_TIME": 12000 * max(1, cursor.degree),
         "PHYSICAL_READ_BYTES": 8192 * cursor.rows, "PHYSICAL_WRITE_BYTES": 4096 * cursor.rows}
        for name, cursor in list(state.cursors.items())
    ]  # fmt: skip


def _plans(state: State, _: Session) -> list[CatalogueRow]:
    return [
        {"SQL_ID": name, "PLAN_TABLE_OUTPUT": line}
        for name, cursor in list(state.cursors.items())
        for line in _plan(cursor)
    ]


def _plan(cursor: Cursor) -> list[str]:
    load = "INDEX BUILD NON UNIQUE" if cursor.kind.startswith("index") else "LOAD AS SELECT (HYBRID TSM/HWMB)"
    steps = [load, " TABLE ACCESS FULL"]
    if cursor.asked > 1:
        steps = [
            "PX COORDINATOR",
            " PX SEND QC (RANDOM)",
            f"  {load}",
            "   PX BLOCK ITERATOR",
            "    TABLE ACCESS FULL",
        ]
    rows = [f"|{number:4d} | {' ' + step:44s}|" for number, step in enumerate(steps, 1)]
    note = [f"   - Degree of Parallelism is {cursor.asked} because of table property"] if cursor.asked > 1 else []
    return ["SQL_ID  of the stand-in, child number 0", "-" * 53, "| Id  | Operation" + " " * 34 + "|", "-" * 53,
            f"|   0 | {'CREATE STATEMENT':44s}|", *rows, "-" * 53, "", "Note", "-----", *note]  # fmt: skip


def address(session: Session) -> str:
    """Return what stands for SADDR."""
    return f"{session.sid:016X}"


def waiting(session: Session) -> CatalogueRow:
    """Return what V$SESSION shows of a wait for a transaction (Database Reference, V$SESSION)."""
    if session.waits_behind is None:
        return {}
    session.waited_looks += 1
    return {"STATE": "WAITING", "EVENT": session.waits_for, "WAIT_CLASS": "Application",
            "WAIT_TIME_MICRO": 30_000_000 * session.waited_looks, "BLOCKING_SESSION_STATUS": "VALID",
            "BLOCKING_INSTANCE": 1, "BLOCKING_SESSION": session.waits_behind}  # fmt: skip


def running(session: Session) -> CatalogueRow:
    """Return what V$SESSION shows of a statement that runs now."""
    seen = session.observed
    if not seen.text:
        return {"SADDR": address(session)}
    return {"SADDR": address(session), "SQL_ID": sql_id(seen.text), "SQL_EXEC_ID": 2**24 + seen.execution}


_ROWS: dict[str, Callable[[State, Session], list[CatalogueRow]]] = {
    "V$STATNAME": _statname,
    "V$SESSTAT": _sesstat,
    "V$SESS_TIME_MODEL": _time_model,
    "V$SESSION_EVENT": _session_event,
    "V$IOSTAT_FUNCTION": _iostat,
    "V$TEMPSEG_USAGE": _tempseg,
    "V$SESSION_LONGOPS": _longops,
    "V$PQ_TQSTAT": lambda _, session: session.observed.dealt,
    "V$SQL": _sql,
    PLANS: _plans,
}
VIEWS = {**VIEWS, PLANS: "SQL_ID PLAN_TABLE_OUTPUT"}
