"""Active session history in a text report: entries of several lines, statements' texts, what is left out."""

from __future__ import annotations

from typing import Any

from tests.for_each import for_each
from tests.readers.awr_samples import TEXT
from toolkit.readers.awr.report import read_report

END = f"{'':26}{'-' * 54}\n\n"
STATEMENTS = """Top SQL with Top Events                    DB/Inst: ACME/acme1  Snaps: 7-8
-> Top SQL statements by DB Time along with the top events by DB Time
   for those SQLs.

                 SQL ID            Plan Hash           Executions     % Activity
----------------------- -------------------- -------------------- --------------
                                                                           % Row
Event                          % Event Top Row Source                     Source
------------------------------ ------- --------------------------------- -------
                              Container Name
 -------------------------------------------
          aa1bb2cc3dd4f           3410170971                   12          61.25
enq: TX - row lock contention    40.00 UPDATE                              39.50
update orders set total = 888 where order_id in (select order_id from lines wher
e status = 2)
                                       SALES


CPU + Wait for CPU               21.25 TABLE ACCESS - FULL                 20.00

          ff5gg6hh7jj8k                  N/A                    3          10.50
db file sequential read          10.50 ** Row Source Not Available **      10.50
select one from lines
                                       SALES

"""
SESSIONS = """Top Sessions                               DB/Inst: ACME/acme1  Snaps: 7-8
-> '# Samples Active' shows the number of ASH samples in which the session
      was found waiting for that particular event.

   Sid, Serial# % Activity Event                             % Event
--------------- ---------- ------------------------------ ----------
User                 Program                          # Samples Active     XIDs
-------------------- ------------------------------ ------------------ --------
       67,56163      60.00 enq: TX - row lock contention       55.00
APP                  java@host1 (TNS V1-V3)              55/360 [ 15%]        4

                           CPU + Wait for CPU                   5.00
                                                          5/360 [  1%]        2

      401,    3       9.00 log file parallel write              9.00
SYS                  oracle@host1 (LGWR)                  9/360 [  3%]      N/A

"""
OBJECTS = """Top DB Objects                             DB/Inst: ACME/acme1  Snaps: 7-8
-> Top DB Objects by DB Time with respect to Application, Cluster,
   User I/O,  buffer busy waits and In-Memory DB events only.

      Object ID % Activity Event                             % Event
--------------- ---------- ------------------------------ ----------
Object Name (Type)                                    Tablespace
----------------------------------------------------- --------------------------
                             Container Name
-------------------------------------------
          73139      12.00 enq: TX - row lock contention       12.00
APP.ORDERS (TABLE)                                    USERS
                                      SALES
          73140       3.00 db file sequential read              3.00
APP.ORDERS_PK (INDEX)                                 USERS
                                      SALES
"""
PROCEDURES = """Top PL/SQL Procedures                      DB/Inst: ACME/acme1  Snaps: 7-8

PL/SQL Entry Subprogram                                           % Activity
----------------------------------------------------------------- ----------
PL/SQL Current Subprogram                                          % Current
----------------------------------------------------------------- ----------
APP.ORDERS.PLACE                                                       46.41
   SQL                                                                 40.65
   APP.ORDERS.CHECK                                                     5.76
APP.ORDERS.BROWSE                                                      12.13
   SQL                                                                 11.59
"""
SLOTS = """Activity Over Time                         DB/Inst: ACME/acme1  Snaps: 7-8
-> Top 3 events are reported in each of those slots

                         Slot                                   Event
Slot Time (Duration)    Count Event                             Count % Event
-------------------- -------- ------------------------------ -------- -------
10:20:00   (5.0 min)    1,178 enq: TX - row lock contention       833   18.18
                              log file sync                       134    2.92
10:25:00   (5.0 min)        4 enq: TX - row lock contention         4   66.67
"""
LISTS = {
    "ash_sql_by_event": STATEMENTS, "ash_sessions": SESSIONS, "ash_objects": OBJECTS, "ash_plsql": PROCEDURES,
    "ash_over_time": SLOTS,
}  # fmt: skip


def read(*lists: str) -> dict[str, Any]:
    text = TEXT.replace("End of Report", "".join(one + END for one in lists) + "End of Report")
    return read_report(text.encode(), "r").document()


def values(document: dict[str, Any], name: str) -> list[list[Any]]:
    return [list(row.values()) for row in document[name]]


FOUND = {
    "ash_sql_by_event": [
        ["aa1bb2cc3dd4f", "3410170971", 12, 61.25, "enq: TX - row lock contention", 40.0, "UPDATE", 39.5,
         "update orders set total = 888 where order_id in (select order_id from lines where status = 2)", "SALES"],
        ["aa1bb2cc3dd4f", "3410170971", 12, 61.25, "CPU + Wait for CPU", 21.25, "TABLE ACCESS - FULL", 20.0, None,
         "SALES"],
        ["ff5gg6hh7jj8k", None, 3, 10.5, "db file sequential read", 10.5, "** Row Source Not Available **", 10.5,
         "select one from lines", "SALES"],
    ],
    "ash_sessions": [
        ["67,56163", 60, "enq: TX - row lock contention", 55, "APP", "java@host1 (TNS V1-V3)", "55/360 [ 15%]", 4],
        ["67,56163", 60, "CPU + Wait for CPU", 5, "APP", "java@host1 (TNS V1-V3)", "5/360 [  1%]", 2],
        ["401,    3", 9, "log file parallel write", 9, "SYS", "oracle@host1 (LGWR)", "9/360 [  3%]", None],
    ],
    "ash_objects": [
        ["73139", 12, "enq: TX - row lock contention", 12, "APP.ORDERS (TABLE)", "USERS", "SALES"],
        ["73140", 3, "db file sequential read", 3, "APP.ORDERS_PK (INDEX)", "USERS", "SALES"],
    ],
    "ash_plsql": [
        ["APP.ORDERS.PLACE", 46.41, "SQL", 40.65],
        ["APP.ORDERS.PLACE", 46.41, "APP.ORDERS.CHECK", 5.76],
        ["APP.ORDERS.BROWSE", 12.13, "SQL", 11.59],
    ],
    "ash_over_time": [
        ["10:20:00   (5.0 min)", 1178, "enq: TX - row lock contention", 833, 18.18],
        ["10:20:00   (5.0 min)", 1178, "log file sync", 134, 2.92],
        ["10:25:00   (5.0 min)", 4, "enq: TX - row lock contention", 4, 66.67],
    ],
}  # fmt: skip


@for_each("name", LISTS)
def test_each_line_of_an_entry_is_read_below_its_ruler(name: str) -> None:
    document = read(LISTS[name])
    assert values(document, name) == FOUND[name]
    assert not [one for one in document["warnings"] if "lines of figures" in one]


def test_without_containers_the_same_list_has_a_ruler_less() -> None:
    head, _, rest = STATEMENTS.partition(f"{'':30}Container Name\n")
    plain = head + rest.split("\n", 1)[1].replace(f"{'':39}SALES\n", "")
    assert values(read(plain), "ash_sql_by_event") == [row[:-1] for row in FOUND["ash_sql_by_event"]]


@for_each(("name", "before"), [
    ("ash_sql_by_event", "update orders"), ("ash_sql_by_event", "CPU + Wait"),
    ("ash_sql_by_event", "          ff5gg"),
    ("ash_sessions", "APP   "), ("ash_sessions", "      401"), ("ash_objects", "APP.ORDERS_PK"),
    ("ash_over_time", "              "),
])  # fmt: skip
@for_each("end", ["", "\f"])
def test_a_page_break_within_an_entry_parts_nothing(name: str, before: str, end: str) -> None:
    whole = LISTS[name]
    begin = whole.index("\n", whole.rindex("---")) + 1
    at = whole.index(f"\n{before}", begin) + 1
    assert values(read(f"{whole[:at]}\n{end}{whole[:begin]}{whole[at:]}"), name) == FOUND[name]


def test_a_line_below_no_heading_is_counted() -> None:
    odd = SESSIONS.replace("      401,    3       9.00", "401, 3 9.00")
    document = read(odd)
    assert any("lines of figures" in one or "line of figures" in one for one in document["warnings"])
    assert all(row["session"] != "401, 3 9.00" for row in document["ash_sessions"])
