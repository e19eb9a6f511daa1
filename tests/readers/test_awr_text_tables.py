"""What text reports do to tables: names in lines of their own, sums, groups, page breaks, broken words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.readers.awr_samples import STATSPACK, TEXT
from toolkit.readers.awr.report import read_report
from toolkit.readers.awr.sections import records, section_of
from toolkit.readers.awr.tables import AwrTable, Numbers


def document(section: str, report: str = TEXT) -> dict[str, Any]:
    whole = report.replace("End of Report", f"{section}\n          {'-' * 61}\n\nEnd of Report")
    return read_report(whole.encode(), "r").document()


def rows(section: str, heading: str) -> list[list[str]]:
    tables = [table for table in document(section)["tables"] if heading in table["columns"]]
    assert len(tables) == 1, [table["columns"] for table in tables]
    return [list(row) for row in tables[0]["rows"]]


def test_things_with_an_empty_line_between_them_are_one_table() -> None:
    found = rows(FILES, "Filename")
    assert found == [
        ["TOOLS", "/a/tools01.dbf", "1", "0.5"], ["TOOLS", "/a/tools02.dbf", "22", ""],
        ["USERS", "/a/users01.dbf", "3", "1.5"],
    ]  # fmt: skip


FILES = """File IO Stats  DB/Inst: ACME/acme1  Snaps: 7-8
->ordered by Tablespace, File

Tablespace               Filename
------------------------ ----------------------------------------------------
                 Av
         Reads  Rds
-------------- ----
TOOLS                    /a/tools01.dbf
             1  0.5
                         /a/tools02.dbf
            22

USERS                    /a/users01.dbf
             3  1.5
"""


def test_a_name_may_begin_as_the_letters_for_no_number_do() -> None:
    found = rows(FILES.replace("USERS ", "NUSERS"), "Filename")
    assert found[2] == ["NUSERS", "/a/users01.dbf", "3", "1.5"]
    spaces = """Space  DB/Inst: ACME/acme1  Snaps: 7-8

Tablespace
------------------------------
                 Av
         Reads  Rds
-------------- ----
N_DATA
             1  0.5
"""
    assert rows(spaces, "Tablespace") == [["N_DATA", "1", "0.5"]]


@pytest.mark.parametrize("end", ["", "\f"])
def test_a_page_break_between_a_name_and_its_figures_parts_nothing(end: str) -> None:
    head, body = FILES.split("USERS                    /a/users01.dbf\n")
    again = FILES[: FILES.index("TOOLS")]
    broken = f"{head}USERS                    /a/users01.dbf\n{end}{again}{body}"
    assert rows(broken, "Filename") == rows(FILES, "Filename")


def test_a_sum_belongs_to_its_table() -> None:
    found = rows(
        """Sums  DB/Inst: ACME/acme1  Snaps: 7-8

Region                                 Bytes
------------------------------ -------------
Left                                   1,000
Right                                    500
                               -------------
sum                                    1,500
""",
        "Region",
    )
    assert found == [["Left", "1,000"], ["Right", "500"], ["sum", "1,500"]]


def test_a_column_may_be_one_character_wide() -> None:
    found = rows(
        """Marks  DB/Inst: ACME/acme1  Snaps: 7-8

   Size
    (M)    Used
- ----- -------
B    10     5.5
E    20    15.5
""",
        "Used",
    )
    assert found == [["B", "10", "5.5"], ["E", "20", "15.5"]]


def test_headings_between_dashes_belong_to_the_columns_below_them() -> None:
    columns = document(
        """Things  DB/Inst: ACME/acme1  Snaps: 7-8

            ------ Read ------- ------ Write ------
Thing          Data  Requests      Data  Requests
---------- -------- ---------- -------- ----------
one               1          2        3          4
"""
    )["tables"][-1]["columns"]
    assert list(columns) == ["Thing", "Read Data", "Read Requests", "Write Data", "Write Requests"]


def test_figures_too_wide_for_their_columns_do_not_run_together() -> None:
    found = rows(
        """Pools  DB/Inst: ACME/acme1  Snaps: 7-8

P      Buffers Hit %        Gets
--- ---------- ----- -----------
D      352,636  97.3############
E      352,636  97.3123,456,7890
""",
        "Gets",
    )
    assert found == [["D", "352,636", "97.3", "############"], ["E", "352,636", "", "97.3123,456,7890"]]


def test_a_value_broken_at_the_end_of_the_last_column_is_put_together() -> None:
    found = rows(
        """Sleeps  DB/Inst: ACME/acme1  Snaps: 7-8

Latch        Sleeps 1->3+
------------ ------------
left         0/3090/1168/
             1185
right        0/393/1/0
""",
        "Sleeps 1->3+",
    )
    assert found == [["left", "0/3090/1168/1185"], ["right", "0/393/1/0"]]


def test_a_word_broken_between_lines_is_whole_where_it_is_known_elsewhere() -> None:
    head = TEXT[TEXT.index("        Elapsed   ") : TEXT.index("            12.5  ")]
    long = "select order_mode, order_total, c.name, c.street, c.town, c.country from orders or"
    head = head.replace("Elapsed", "    CPU", 1)
    text = f"""SQL ordered by CPU Time              DB/Inst: ACME/acme1  Snaps: 7-8

{head}            12.5              5          2.50    1.0    2.0    3.0 cbcdfghjkmn12
select name, or
der_mode, product_
line from orders where
order_mode = 1

             2.5              5          2.50    1.0    2.0    3.0 dbcdfghjkmn12
{long[:80]}
"""
    (first, _) = document(text)["sql_by_cpu"]
    assert first["text"] == "select name, order_mode, product_line from orders where order_mode = 1"


def test_the_figures_of_the_host_in_statspack_are_no_activity_of_the_instance() -> None:
    found = document(
        """OS Statistics  DB/Inst: ACME/acme1  Snaps: 7-8

Statistic                                  Total         per Second
------------------------- ---------------------- ------------------
IN_BYTES                               1,114,112                492
BUSY_TICKS                               226,129
""",
        STATSPACK,
    )
    assert [(one["name"], one["value"]) for one in found["os_stats"]] == [
        ("IN_BYTES", 1_114_112),
        ("BUSY_TICKS", 226_129),
    ]
    assert "instance_activity" not in found


def test_a_parameter_with_several_values_keeps_them_all() -> None:
    found = document(
        """init.ora Multi-Valued Parameters  DB/Inst: ACME/acme1  Snaps: 7-8

                                                                End value
Parameter Name                Begin value                       (if different)
----------------------------- --------------------------------- --------------
control_files                 /a/one.ctl
                              /a/two.ctl
"""
    )
    assert found["init_parameters"] == {"control_files": "/a/one.ctl, /a/two.ctl"}


VALUES = """init.ora Parameters  DB/Inst: ACME/acme1  Snaps: 7-8

                                                                End value
Parameter Name                Begin value                       (if different)
----------------------------- --------------------------------- --------------
"""


@pytest.mark.parametrize("end", ["", "\n", "\f"])
@pytest.mark.parametrize(
    ("before", "after", "name", "value"),
    [
        pytest.param("audit_file_dest               /u01/app/oracle/admin/ora11g10/ad", "ump",
                     "audit_file_dest", "/u01/app/oracle/admin/ora11g10/adump", id="within a word"),
        pytest.param("control_files                 /u01/app/oradata/o11/control01.ct\n"
                     "                              l, /u01/app/oradata/o11/control02", ".ctl",
                     "control_files", "/u01/app/oradata/o11/control01.ctl, /u01/app/oradata/o11/control02.ctl",
                     id="in the third line"),
        pytest.param("control_files                 /u01/app/oradata/o11/control1.ctl", ", /u02/c2.ctl",
                     "control_files", "/u01/app/oradata/o11/control1.ctl, /u02/c2.ctl", id="before a comma"),
        pytest.param("control_files                 /u01/app/oradata/o11/contro1.ctl,", " /u02/c2.ctl",
                     "control_files", "/u01/app/oradata/o11/contro1.ctl, /u02/c2.ctl", id="before a blank"),
    ],
)  # fmt: skip
def test_a_page_break_within_a_value_parts_nothing(
    before: str, after: str, name: str, value: str, end: str
) -> None:
    rest = f"{' ' * 30}{after}\ncompatible                    11.2.0\n"
    expected = {name: value, "compatible": "11.2.0"}
    assert document(f"{VALUES}{before}\n{rest}")["init_parameters"] == expected
    assert document(f"{VALUES}{before}\n{end}\n{VALUES}{rest}")["init_parameters"] == expected


CONTAINERS = """Segments by CR Blocks Received             DB/Inst: ACME/acme1  Snaps: 7-8

                     Tablespace
Owner                   Name
-------------------- ----------
                                                                   CR
                     Subobject  Obj.                             Blocks
Object Name            Name     Type        Obj#   Dataobj#     Received  %Total
-------------------- ---------- ----- ---------- ---------- ------------ -------
SHOP                 USERS
ORDERS_TODAY                    TABLE        423        421           13  325.00
   PDB: PDB1
SHOP                 INDEXES
I_ORDERS$_TODAY                 INDEX        676        676            2   50.00
   PDB: PDB2
          -------------------------------------------------------------

Parameters modified by this container      DB/Inst: ACME/acme1  Snaps: 7-8

                                                                End value
Parameter Name                Begin value                       (if different)
----------------------------- --------------------------------- --------------
db_cache_size                 0
   PDB: PDB1
          -------------------------------------------------------------

Multi-Valued Parameters modified by other containersDB/Inst: ACME/acme1  Snaps

                                                                End value
Parameter Name                Begin value                       (if different)
----------------------------- --------------------------------- --------------
control_files                 +DATA/SHOPDB/CONTROLFILE/current.
                              /FRA/SHOPDB/CONTROLFILE/current.25
          -------------------------------------------------------------

Top Events                                 DB/Inst: ACME/acme1  Snaps: 7-8

Event                               Event Class     Session Type
----------------------------------- --------------- ---------------
           Avg Active
% Activity   Sessions
---------- ----------
enq: TX - row lock contention       Application     FOREGROUND
    100.00       0.02
"""


def test_the_container_below_a_row_is_no_row() -> None:
    """So 19c writes the text of a pluggable database's report."""
    found = document(CONTAINERS)
    segments = found["segments"]["CR Blocks Received"]
    assert [(row["owner"], row["tablespace"], row["object"], row["value"], row["pdb"]) for row in segments] == [
        ("SHOP", "USERS", "ORDERS_TODAY", 13, "PDB1"), ("SHOP", "INDEXES", "I_ORDERS$_TODAY", 2, "PDB2"),
    ]  # fmt: skip
    assert found["init_parameters_by_container"] == {"PDB1": {"db_cache_size": "0"}}
    assert found["init_parameters"]["control_files"] == (
        "+DATA/SHOPDB/CONTROLFILE/current., /FRA/SHOPDB/CONTROLFILE/current.25"
    )
    (event,) = found["ash_events"]
    assert (event["event"], event["pct_activity"]) == ("enq: TX - row lock contention", 100.0)


def settings(*rows: tuple[str, str, str, str]) -> str:
    """Return a list of parameters: name, value, value at the end, container."""
    below = {pdb: f"   PDB: {pdb}\n" if pdb else "" for *_, pdb in rows}
    found = [f"{name:29} {begin:33} {end}\n{below[pdb]}" for name, begin, end, pdb in rows]
    title = "Parameters modified by this container      DB/Inst: ACME/acme1  Snaps: 7-8\n\n"
    return f"{title}{VALUES}{''.join(found)}          {'-' * 61}\n"


def test_what_another_container_sets_does_not_hold_in_the_one_of_the_report() -> None:
    found = document(settings(
        ("open_cursors", "300", "400", ""), ("session_cached_cursors", "100", "200", "PDB1"),
        ("open_cursors", "900", "1000", "PDB2"),
    ))  # fmt: skip
    assert found["init_parameters"] == {"open_cursors": "300"}
    assert found["init_parameters_changed"] == {"open_cursors": {"begin": "300", "end": "400"}}
    assert found["init_parameters_by_container"] == {
        "PDB1": {"session_cached_cursors": "100"}, "PDB2": {"open_cursors": "900"},
    }  # fmt: skip
    assert found["init_parameters_changed_by_container"] == {
        "PDB1": {"session_cached_cursors": {"begin": "100", "end": "200"}},
        "PDB2": {"open_cursors": {"begin": "900", "end": "1000"}},
    }  # fmt: skip


def test_of_several_containers_none_is_taken_for_the_one_of_the_report() -> None:
    one, other = ("open_cursors", "300", "", "PDB1"), ("open_cursors", "900", "", "PDB2")
    assert document(settings(one))["init_parameters"] == {"open_cursors": "300"}
    assert document(settings(one, other))["init_parameters"] == {}


FUNCTIONS = """IOStat by Function/Filetype summary DB/Inst: ACME/acme1  Snaps: 7-8

 Reads:   Reqs   Data    Waits:    Avg
 Data    per sec per sec Count    Tm(ms)
 ------- ------- ------- ------- -------
Buffer Reads
      4G   578.7 4.52997  521.7K     8.3
 Buffer Reads (Data File)
      4G   578.7 4.52997  521.7K     8.3
Streams AQ
      1M     0.0 .001109       8     N/A
 Streams AQ (Data File)
      1M     0.0 .001109       8     N/A
TOTAL:
      4G   581.8 4.57878  524.4K     8.3
"""


def test_a_name_whose_words_stand_under_the_columns_is_a_name() -> None:
    found = document(FUNCTIONS)
    (table,) = [one for one in found["tables"] if one["section"].startswith("IOStat by Function/Filetype")]
    assert [row[0] for row in table["rows"]] == [
        "Buffer Reads", "Buffer Reads (Data File)", "Streams AQ", "Streams AQ (Data File)", "TOTAL:",
    ]  # fmt: skip
    assert table["rows"][3] == ("Streams AQ (Data File)", "1M", "0.0", ".001109", "8", "N/A")
    assert not [one for one in found["warnings"] if "Streams" in one]


def test_a_page_break_before_a_total_makes_no_label_of_it() -> None:
    head, total = FUNCTIONS.split("TOTAL:\n")
    found = document(f"{head}\n\n{FUNCTIONS[: FUNCTIONS.index('Buffer Reads')]}TOTAL:\n{total}")
    assert found["tables"] == document(FUNCTIONS)["tables"]


def test_a_remark_above_a_list_that_goes_on_for_lines_is_no_row() -> None:
    remark = """Wait Histogram  DB/Inst: ACME/acme1  Snaps: 7-8
-> Units for % of Total Waits:
   ms is milliseconds
  s is 1024 milliseconds (approximately 1 second)
"""
    assert not [one for one in document(remark)["warnings"] if "1024" in one]
    lost = document(remark + "\nsome lost row 12 13\n")["warnings"]
    assert [one for one in lost if "some lost row 12 13" in one]


@pytest.mark.parametrize("last", ["Exe", "Exec"])
def test_a_heading_that_a_text_cuts_names_the_same_value(last: str) -> None:
    heads = ("UnOptimized Read Reqs", "Physical Read Reqs", "Executions", f"UnOptimized Reqs per {last}", "SQL Id")
    table = AwrTable("SQL ordered by Physical Reads (UnOptimized)", "", heads, [("9", "9", "6", "1.5", "0" * 13)])
    section = section_of(table)
    assert section is not None
    assert records(section, table, Numbers()).rows[0]["unoptimized_reqs_per_exec"] == 1.5


def test_statspack_of_11g_names_reads_and_shares_in_its_own_words() -> None:
    sections = """SQL ordered by Reads  DB/Inst: ACME/acme1  Snaps: 7-8

                                                     CPU      Elapsd
  Physical Rds   Executions  Rds per Exec   %Total Time (s)  Time (s) Hash Value
--------------- ------------ -------------- ------ -------- --------- ----------
        271,664      176,000            1.5   34.9    52.24   3641.24 3739063178
select one from lines

          -------------------------------------------------------------
Segments by Logical Reads  DB/Inst: ACME/acme1  Snaps: 7-8

                                           Subobject    Obj.       Logical   Pct
Owner      Tablespace Object Name          Name         Type         Reads Total
---------- ---------- -------------------- ------------ ----- ------------ -----
APP        USERS      ORDERS                            TABLE  189,287,216  32.3
"""
    found = document(sections, STATSPACK)
    assert [row["reads"] for row in found["sql_by_reads"]] == [271_664]
    (segment,) = found["segments"]["Logical Reads"]
    assert (segment["value"], segment["pct"]) == (189_287_216, 32.3)
