"""Reports made up for tests, in the shapes Oracle prints; no number in them is anybody's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def _table(heads: Sequence[str], *rows: Sequence[str]) -> str:
    head = f"<tr>{''.join(f'<th>{cell}</th>' for cell in heads)}</tr>" if heads else ""
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table border=1>{head}{body}</table>\n"


def html(*, title: str = "WORKLOAD REPOSITORY report for", extra: str = "", end: str = "End of Report") -> str:
    """Return a small page with a header, a load profile, events, a time model and one list of SQL."""
    return "".join((
        "<html><head><title>AWR Report for DB: ACME, Inst: acme1, Snaps: 7-8</title></head><body>",
        f"<h1>{title}</h1>\n",
        _table(["DB Name", "DB Id", "Unique Name", "Role", "Edition", "Release", "RAC", "CDB"],
               ["ACME", "12345", "acme_x", "PRIMARY", "EE", "23.9.0.0.0", "NO", "YES"]),
        _table(["Instance", "Inst Num", "Startup Time"], ["acme1", "1", "01-Mar-25 03:04"]),
        _table(["Host Name", "Platform", "CPUs", "Cores", "Sockets", "Memory (GB)"],
               ["box", "Linux x86 64-bit", "4", "2", "", "15.50"]),
        _table(["", "Snap Id", "Snap Time", "Sessions", "Cursors/Session"],
               ["Begin Snap:", "7", "02-Mar-25 10:00:00", "50", "1.5"],
               ["End Snap:", "8", "02-Mar-25 11:00:00", "51", "1.6"],
               ["Elapsed:", "", "60.00 (mins)", "", ""], ["DB Time:", "", "1,030.50 (mins)", "", ""]),
        "<h3>Load Profile</h3>",
        _table(["", "Per Second", "Per Transaction", "Per Exec", "Per Call"],
               ["DB Time(s):", "17.2", "0.3", "0.01", "0.02"],
               ["Redo size (bytes):", "1,234,567.8", "321.0", "", ""],
               ["Logical read (blocks):", "57K", "9.5", "", ""], ["Block changes:", "1.2E+06", "7.0", "", ""]),
        "<h3>Top 10 Foreground Events by Total Wait Time</h3>",
        _table(["Event", "Waits", "Total Wait Time (sec)", "Avg Wait", "% DB time", "Wait Class"],
               ["log file sync", "57K", "1.5K", "26.32ms", "2.4", "Commit"], ["DB CPU", "", "900", "", "1.5", ""],
               ["enq: TX - row lock contention", "3", ".6", "200us", ".1", "Application"]),
        "<h3>Time Model Statistics</h3>",
        _table(["Statistic Name", "Time (s)", "% of DB Time", "% of Total CPU Time"],
               ["sql execute elapsed time", "60,000.00", "97.0", ""], ["DB CPU", "900.00", "1.5", "88.0"]),
        "<h3>SQL ordered by Elapsed Time</h3>",
        _table(["Elapsed Time (s)", "Executions", "Elapsed Time per Exec (s)", "%Total", "%CPU", "%IO", "SQL Id",
                "SQL Module", "PDB Name", "SQL Text"],
               ["12.50", "", "", "1.0", "2.0", "3.0", "abcdfghjkmn12", "shop", "P1", "select 1 from dual"]),
        "<h3>Some Section of a Later Release</h3>",
        _table(["Widget", "Turns"], ["left", "12"]), extra, f"{end}</body></html>\n" if end else "",
    ))  # fmt: skip


TEXT = """
WORKLOAD REPOSITORY report for

DB Name         DB Id    Instance     Inst Num Startup Time    Release     RAC
------------ ----------- ------------ -------- --------------- ----------- ---
ACME               12345 acme1               1 01-Mar-25 03:04 11.2.0.4.0  NO

Host Name        Platform                         CPUs Cores Sockets Memory(GB)
---------------- -------------------------------- ---- ----- ------- ----------
box              Linux x86 64-bit                    4     2              15.50

              Snap Id      Snap Time      Sessions Curs/Sess
            --------- ------------------- -------- ---------
Begin Snap:         7 02-Mar-25 10:00:00        50       1.5
  End Snap:         8 02-Mar-25 11:00:00        51       1.6
   Elapsed:               60.00 (mins)
   DB Time:            1,030.50 (mins)

Load Profile              Per Second    Per Transaction   Per Exec   Per Call
~~~~~~~~~~~~         ---------------    --------------- ---------- ----------
      DB Time(s):               17.2                0.3       0.01       0.02
       Redo size:        1,234,567.8              321.0
   Block changes:                                   7.0

Instance Efficiency Percentages (Target 100%)
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
            Buffer Nowait %:   99.10       Redo NoWait %:   99.20
            Buffer  Hit   %:   98.70    In-memory Sort %:  100.00
Parse CPU to Parse Elapsd %:  101.30     % Non-Parse CPU:   97.00

Top 5 Timed Foreground Events
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
                                                           Avg
                                                          wait   % DB
Event                                 Waits     Time(s)   (ms)   time Wait Class
------------------------------ ------------ ----------- ------ ------ ----------
log file sync                        57,000       1,500     26    2.4 Commit
DB CPU                                              900           1.5
enq: TX - row lock contention             3           1 ######     .1 Applicatio

Host CPU (CPUs:    4 Cores:    2 Sockets:     )
~~~~~~~~         Load Average
               Begin       End     %User   %System      %WIO     %Idle
           --------- --------- --------- --------- --------- ---------
                1.00      2.00      10.0       5.0       1.5      85.0

SQL ordered by Elapsed Time          DB/Inst: ACME/acme1  Snaps: 7-8
-> %Total - Elapsed Time  as a percentage of Total DB time

        Elapsed                  Elapsed Time
        Time (s)    Executions  per Exec (s)  %Total   %CPU    %IO    SQL Id
---------------- -------------- ------------- ------ ------ ------ -------------
            12.5              5          2.50    1.0    2.0    3.0 abcdfghjkmn12
Module: shop
select 1
 from dual

             4.0              0                   .5    2.0    3.0 bbcdfghjkmn12
begin null; end;

          -------------------------------------------------------------

Widget Activity                      DB/Inst: ACME/acme1  Snaps: 7-8

Widget                                     Turns
------------------------------ -----------------
left                                          12
          -------------------------------------------------------------

End of Report
"""

STATSPACK = """
STATSPACK report for

DB Name         DB Id    Instance     Inst Num Release     RAC Host
------------ ----------- ------------ -------- ----------- --- ----------------
ACME               12345 acme1               1 10.2.0.5.0  NO  averyveryverylon
                                                               ghost

              Snap Id     Snap Time      Sessions Curs/Sess Comment
            --------- ------------------ -------- --------- -------------------
Begin Snap:         7 02-Mar-05 10:00:00       50       1.5
  End Snap:         8 02-Mar-05 11:00:00       51       1.6
   Elapsed:               60.00 (mins)

Load Profile
~~~~~~~~~~~~                            Per Second       Per Transaction
                                   ---------------       ---------------
                  Redo size:              1,234.50                321.00
              Block changes:                                        7.00

Top 5 Timed Events
~~~~~~~~~~~~~~~~~~                                                      % Total
Event                                               Waits    Time (s) Call Time
-------------------------------------------- ------------ ----------- ---------
CPU time                                                          900     60.10
log file sync                                      57,000         400     22.90
          -------------------------------------------------------------
SQL ordered by Gets  DB/Inst: ACME/acme1  Snaps: 7-8

                                                     CPU      Elapsd     Old
  Buffer Gets    Executions  Gets per Exec  %Total Time (s)  Time (s) Hash Value
--------------- ------------ -------------- ------ -------- --------- ----------
          7,943        1,599            5.0    9.0     0.09      0.48 2482976222
select 1 from dual where dummy in ('aaaaaaaaaaaaaaaaaaaaaaaaaaaa
aaaa')

          -------------------------------------------------------------

End of Report
"""
CLUSTER = (Path(__file__).parent / "awr_cluster.txt").read_text()
