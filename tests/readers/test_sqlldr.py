"""Logs of SQL*Loader: rows, rejects with their reasons, times; any text will do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.tiers import examples
from toolkit.readers.sqlldr import LoaderLog, RejectedRecord, read_log

_LOG = """
SQL*Loader: Release 19.0.0.0.0 - Production on Wed Mar 1 10:39:05 2023
Version 19.3.0.0.0

Number to load: ALL
Number to skip: 1
Errors allowed: 50
Bind array:     250 rows, maximum of 1048576 bytes
Path used:      Conventional

Table EMP, loaded from every logical record.
Insert option in effect for this table: APPEND

Record 3: Rejected - Error on table "SCOTT"."EMP", column "SAL".
ORA-01722: invalid number

Record 9: Rejected - Error on table EMP.
ORA-00001: unique constraint (SCOTT.EMP_PK) violated

Record 12: Discarded - all columns null.

Table EMP:
  14 Rows successfully loaded.
  2 Rows not loaded due to data errors.
  0 Rows not loaded because all WHEN clauses were failed.
  1 Row not loaded because all fields were null.


Space allocated for bind array:                 193500 bytes(250 rows)
Read   buffer bytes: 1048576

Total logical records skipped:          1
Total logical records read:            17
Total logical records rejected:         2
Total logical records discarded:        1

Run began on Mon Feb 27 00:15:41 2023
Run ended on Mon Feb 27 00:15:41 2023

Elapsed time was:     01:02:03.10
CPU time was:         00:00:00.03
"""


def test_a_log_tells_rows_times_and_why_rows_were_rejected() -> None:
    read = read_log(_LOG)
    assert (read.rows, read.rejected, read.discarded) == (14, 2, 1)
    assert (read.elapsed_seconds, read.cpu_seconds) == (3723.1, 0.03)
    assert read.records == (
        RejectedRecord(3, "SAL", "ORA-01722: invalid number"),
        RejectedRecord(9, "", "ORA-00001: unique constraint (SCOTT.EMP_PK) violated"),
        RejectedRecord(12, "", "all columns null."),
    )


def test_lines_may_end_as_on_windows_and_one_row_is_a_row() -> None:
    assert read_log(_LOG.replace("\n", "\r\n")) == read_log(_LOG)
    assert read_log("Table A:\n  1 Row successfully loaded.\n").rows == 1


def test_what_a_log_cut_off_does_not_say_is_not_known() -> None:
    assert read_log(_LOG[: _LOG.index("Table EMP:")]).rows is None
    assert read_log("") == LoaderLog()


@examples(200)
@given(st.text(alphabet=st.sampled_from("Record 1:Rjctd-, coumn\nORA0"), max_size=200) | st.binary().map(repr))
def test_any_text_will_do(text: str) -> None:
    read_log(text)
    read_log(_LOG[:600] + text)
