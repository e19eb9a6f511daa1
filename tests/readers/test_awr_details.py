"""The detailed sections of reports made up here: names, units, forms that are refused, columns nobody knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.readers.awr_samples import TEXT, html
from toolkit.analysis.awr.from_report import interval_of
from toolkit.analysis.awr.masking import Pseudonyms, mask_report
from toolkit.readers.awr.report import read_report


def section(title: str, heads: Sequence[str], *rows: Sequence[str]) -> str:
    head = "".join(f"<th>{cell}</th>" for cell in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f"<h3>{title}</h3><table><tr>{head}</tr>{body}</table>\n"
        if heads
        else f"<h3>{title}</h3><table>{body}</table>"
    )


def read(*sections: str) -> dict[str, Any]:
    return read_report(html(extra="".join(sections)).encode(), "r").document()


TOP_SQL = section(
    "Top SQL with Top Events",
    ["SQL ID", "Plan Hash", "Executions", "% Activity", "Event", "% Event", "Top Row Source", "% Row Source",
     "SQL Text"],
    ["abcdfghjkmn12", "4183169095", "443", "21.03", "log file sync", "13.20", "UPDATE", "13.20", "update t set"],
    ["abcdfghjkmn12", "77", "443", "21.0266264068075761734833928081251715619", "CPU", "1", "SORT", "1", ""],
    ["59.7", "x", "1", "2.00", "CPU", "1", "SORT", "1", "select 1"],
)  # fmt: skip


def test_a_statement_has_its_plans_beside_it_in_every_list() -> None:
    (statement,) = read(TOP_SQL)["sql_by_elapsed"]
    assert statement["plan_hash"] == "4183169095, 77"
    assert read()["sql_by_elapsed"][0]["plan_hash"] is None


def test_what_has_not_the_form_of_a_sql_id_or_a_hash_value_is_null_with_a_warning() -> None:
    found = read(TOP_SQL)
    first, second, third = found["ash_sql_by_event"]
    assert (first["sql_id"], first["sampled_executions"], first["pct_activity"]) == ("abcdfghjkmn12", 443, 21.03)
    assert second["pct_activity"] == pytest.approx(21.0266264068)
    assert (third["sql_id"], third["plan_hash"]) == (None, None)
    assert "in `Top SQL with Top Events`, column `SQL ID`, 1 value is no SQL_ID: `59.7`" in found["warnings"]
    assert "in `Top SQL with Top Events`, column `Plan Hash`, 1 value is no hash value: `x`" in found["warnings"]


def test_findings_have_shares_and_times() -> None:
    heads = ["Finding Name", "Avg active sessions of the task", "Percent active sessions of finding", "Task Name",
             "Begin Snap Time", "End Snap Time"]  # fmt: skip
    cells = ["Commits and Rollbacks", "16.62", "1.5E+02", "ADDM:1_1_8", "01-Oct-23 13:00", "01-Oct-23 13:30"]
    (finding,) = read(section("Top ADDM Findings by Average Active Sessions", heads, cells))["addm_findings"]
    assert finding == {
        "finding": "Commits and Rollbacks", "task_avg_active_sessions": 16.62, "pct_active_sessions": 150,
        "task": "ADDM:1_1_8", "begin_snap_time": "2023-10-01T13:00", "end_snap_time": "2023-10-01T13:30",
    }  # fmt: skip


def test_sizes_are_bytes_and_waits_milliseconds_whatever_is_printed() -> None:
    heads = ["Function Name", "Reads: Data", "Reqs per sec", "Data per sec", "Writes: Data", "Reqs per sec",
             "Data per sec", "Waits: Count", "Avg Time"]  # fmt: skip
    (found,) = read(
        section(
            "IOStat by Function summary", heads, ["LGWR", "2G", "0.5", "4.5", "1K", "7", "3M", "5.5M", "20.00us"]
        )
    )["io_by_function"]
    assert found == {
        "function": "LGWR", "read_bytes": 2 * 2**30, "read_requests_per_s": 0.5, "read_bytes_per_s": 4718592,
        "write_bytes": 1024, "write_requests_per_s": 7, "write_bytes_per_s": 3 * 2**20, "waits": 5_500_000,
        "avg_wait_ms": 0.02,
    }  # fmt: skip


def test_a_histogram_has_a_share_for_each_limit() -> None:
    heads = [
        "Event",
        "Waits 64ms to 2s",
        "% of Total Waits <32ms",
        "% of Total Waits <1/8s",
        "% of Total Waits >=2s",
    ]
    found = read(
        section("Wait Event Histogram (up to 2 sec)", heads, ["log file sync", "1.5K", "0.0(3)", "", "99.8"]),
        section("Wait Event Histogram", ["Event", "Total Waits", "% of Waits <=1s"], ["latch free", "7", "100.0"]),
    )
    assert found["wait_event_histogram_detail"] == [{
        "event": "log file sync", "waits_64ms_to_2s": 1500, "pct_below_32ms": 0.0, "pct_from_2s": 99.8,
    }]  # fmt: skip
    assert found["wait_event_histogram"] == [{"event": "latch free", "waits": 7, "pct_up_to_1s": 100.0}]


HISTOGRAM = """
Foreground Wait Events               DB/Inst: ACME/acme1  Snaps: 7-8

                                                             Avg
                                        %Time Total Wait    wait    Waits   % DB
Event                             Waits -outs   Time (s)    (ms)     /txn   time
-------------------------- ------------ ----- ---------- ------- -------- ------
db file sequential read         410,300     0      4,568       9      2.8   71.3
log file sync                 2,100,400     0         94       1      1.0    1.5
          -------------------------------------------------------------

Background Wait Events               DB/Inst: ACME/acme1  Snaps: 7-8

                                                             Avg
                                        %Time Total Wait    wait    Waits   % bg
Event                             Waits -outs   Time (s)    (ms)     /txn   time
-------------------------- ------------ ----- ---------- ------- -------- ------
db file sequential read          1,150     0          7       6      0.0    6.8
          -------------------------------------------------------------

Wait Event Histogram                 DB/Inst: ACME/acme1  Snaps: 7-8
-> Units for Total Waits column: K is 1000, M is 1000000, G is 1000000000

                                                    % of Waits
                                 -----------------------------------------------
                           Total
Event                      Waits  <1ms  <2ms  <4ms  <8ms <16ms <32ms  <=1s   >1s
-------------------------- ----- ----- ----- ----- ----- ----- ----- ----- -----
SQL*Net message to client  1419K 100.0          .0
db file parallel write     25.2K  95.4    .4    .3    .4   3.4    .0    .0
db file sequential read    411.4   2.1   2.9  19.8  49.1  18.3   4.4   3.4
enq: US - contention       107.2 100.0
latch free                    71 100.0
log file sync              2100.  96.3   1.2    .8    .4    .8    .3    .0
          -------------------------------------------------------------

End of Report
"""


def test_a_count_whose_unit_the_report_cut_off_is_taken_with_it_or_not_at_all() -> None:
    """A column of five characters holds `411.4` of `411.4K`; the lists of events tell that it was K."""
    found = read_report(TEXT.replace("End of Report\n", HISTOGRAM).encode(), "r").document()
    assert {row["event"]: row["waits"] for row in found["wait_event_histogram"]} == {
        "SQL*Net message to client": 1_419_000, "db file parallel write": 25_200,
        "db file sequential read": 411_400, "enq: US - contention": None, "latch free": 71,
        "log file sync": 2_100_000,
    }  # fmt: skip
    (sentence,) = (one for one in found["warnings"] if "without the unit" in one)
    assert sentence.startswith("in `wait_event_histogram` 1 count is printed without the unit")
    assert sentence.endswith("`107.2`")


PING = ["Target Instance", "500B Ping Count", "Avg Latency 500B msg", "Stddev 500B msg"]


@pytest.mark.parametrize(
    ("title", "taken"),
    [("Interconnect Ping Latency Stats", 0.25), ("Interconnect Ping Latency Statistics", 0.00025)],
)
def test_a_ping_is_of_milliseconds_in_11g_and_of_microseconds_from_12c_on(title: str, taken: float) -> None:
    (found,) = read(section(title, PING, ["2", "174", ".25", ".04"]))["interconnect_ping"]
    assert found == {"to_instance": 2, "pings_500b": 174, "avg_500b_ms": taken, "stddev_500b": 0.04}


def test_two_columns_of_one_heading_are_told_apart_by_what_stands_before_them() -> None:
    heads = ["Namespace", "Get Requests", "Pct Miss", "Pin Requests", "Pct Miss", "Reloads", "Invali- dations"]
    found = read(section("Library Cache Activity", heads, ["BODY", "1,217", "0.50", "266", "1.25", "3", "4"]))
    assert found["library_cache"] == [{
        "namespace": "BODY", "gets": 1217, "pct_get_misses": 0.5, "pins": 266, "pct_pin_misses": 1.25,
        "reloads": 3, "invalidations": 4,
    }]  # fmt: skip


def test_thousands_are_expanded_and_a_column_nobody_knows_keeps_its_heading() -> None:
    heads = ["Undo TS#", "Num Undo Blocks (K)", "Number of Transactions", "Address", "Things (new)"]
    (found,) = read(section("Undo Segment Summary", heads, ["2", "21.26", "5", "10.1.2.3", "7 of 9"]))["undo"]
    assert found == {
        "undo_tablespace": "2", "undo_blocks": 21_260, "transactions": 5, "address": "10.1.2.3",
        "things_new": "7 of 9",
    }  # fmt: skip


def test_a_table_of_labels_has_a_name_and_a_value_in_each_row() -> None:
    title = "Global Cache Efficiency Percentages (Target local+remote 100%)"
    found = read(section(title, [], ["Buffer access - local cache %:", "99.48"], ["Buffer access - disk %:", ""]))
    assert found["gc_efficiency"] == [
        {"name": "Buffer access - local cache", "pct": 99.48}, {"name": "Buffer access - disk", "pct": None},
    ]  # fmt: skip


def test_a_measure_that_is_a_percentage_says_so() -> None:
    title = "Global Cache and Enqueue Services - Workload Characteristics"
    found = read(
        section(title, [], ["Avg LMS process busy %:", "0.3"], ["Avg global enqueue get time (us):", "35"])
    )
    assert found["gc_workload"] == [
        {"name": "Avg LMS process busy %", "value": 0.3},
        {"name": "Avg global enqueue get time (us)", "value": 35},
    ]  # fmt: skip


def test_text_and_html_have_the_same_names() -> None:
    lines = """
Latch Activity                       DB/Inst: ACME/acme1  Snaps: 7-8

                                           Pct    Avg   Wait                 Pct
                                    Get    Get   Slps   Time       NoWait NoWait
Latch Name                     Requests   Miss  /Miss    (s)     Requests   Miss
------------------------ -------------- ------ ------ ------ ------------ ------
cache buffers chains         12,345,678    0.5    0.1      2           99    N/A
          -------------------------------------------------------------

End of Report
"""
    found = read_report(TEXT.replace("End of Report\n", lines).encode(), "r").document()
    heads = ["Latch Name", "Get Requests", "Pct Get Miss", "Avg Slps /Miss", "Wait Time (s)", "NoWait Requests",
             "Pct NoWait Miss"]  # fmt: skip
    page = read(
        section("Latch Activity", heads, ["cache buffers chains", "12,345,678", "0.5", "0.1", "2", "99", ""])
    )
    assert found["latches"] == page["latches"]
    assert found["latches"][0]["gets"] == 12_345_678


def test_only_the_details_that_are_asked_for_are_read() -> None:
    report = read_report(html(extra=TOP_SQL).encode(), "r")
    document = report.document(frozenset())
    assert "ash_sql_by_event" not in document
    assert not any("SQL_ID" in one for one in document["warnings"])


def test_names_in_the_details_are_masked_and_oracles_words_stay() -> None:
    heads = ["Tablespace", "Filename", "Reads", "Av Rds/s", "Av Rd(ms)", "Writes", "Writes avg/s", "Buffer Waits"]
    document = read(
        TOP_SQL, section("File IO Stats", heads, ["SALES", "/u01/sales01.dbf", "1", "2", "3", "4", "5", "6"])
    )
    masked = str(mask_report(document, Pseudonyms("salt")))
    assert "SALES" not in masked
    assert "sales01" not in masked
    assert "log file sync" in masked
    assert "'reads': 1" in masked


CLUSTER = section(
    "Database Instances Included In Report",
    ["I#", "Instance", "Host", "Startup", "Begin Snap Time", "End Snap Time", "Release", "Elapsed Time(min)"],
    ["1", "acme1", "a", "01-Mar-25 03:04", "02-Mar-25 10:00", "02-Mar-25 11:00", "19.0.0.0.0", "60"],
    ["2", "acme2", "b", "01-Mar-25 03:04", "02-Mar-25 10:00", "02-Mar-25 11:00", "19.0.0.0.0", "60"],
)
TIMED = ["I#", "Wait Class", "Wait Event", "Event Waits", "Wait Time Total(s)", "Wait Time Avg Wait",
         "Wait Time %DB time", "Summary Avg Wait Time Max"]  # fmt: skip


@pytest.mark.parametrize("named", [True, False])
def test_a_cluster_has_the_timed_events_of_each_instance_and_of_its_servers(*, named: bool) -> None:
    found = read(
        CLUSTER,
        section("Top Timed Events" if named else "", TIMED,
                ["*", "", "DB CPU", "", "30", "", "60", ""],
                ["", "Commit", "log file sync", "7", "3", "1.5ms", "6", "20us"],
                ["1", "", "DB CPU", "", "10", "", "50", ""], ["2", "", "DB CPU", "", "20", "", "70", ""]),
        section("Top Timed Foreground Events" if named else "", TIMED,
                ["*", "", "DB CPU", "", "29", "", "61", ""],
                ["1", "", "DB CPU", "", "9", "", "51", ""]),
        section("Top Timed Background Events" if named else "", TIMED,
                ["*", "", "background cpu time", "", "5", "", "84", ""],
                ["2", "System I/O", "log file parallel write", "70", "4", "2ms", "8", ""]),
        section("IO Profile (Global)", ["Statistic", "Read+Write/s", "Reads/s", "Writes/s"],
                ["Total Requests", "8,236.84", "5,030.50", "3,206.34"]),
    )  # fmt: skip
    assert found["scope"] == "rac_global"
    assert [(one["event"], one["most_wait_of_instances_ms"]) for one in found["top_timed_events"]] == [
        ("DB CPU", None), ("log file sync", 0.02),
    ]  # fmt: skip
    first, second = found["instances"]
    assert [(one["event"], one["time_s"]) for one in first["top_timed_events"]] == [("DB CPU", 10)]
    assert [one["time_s"] for one in first["top_events"]] == [9]
    (writer,) = second["background_events"]
    assert (writer["event"], writer["pct_bg_time"], writer["pct_db_time"]) == ("log file parallel write", 8, None)
    assert [one["event"] for one in found["top_background_events"]] == ["background cpu time"]
    assert found["io_profile"]["Total Requests"]["write_per_s"] == 3206.34
    background = [one.background.rows for one in interval_of(found).instances]
    assert [list(rows) for rows in background] == [[], ["log file parallel write"]]


def test_a_section_whose_anchor_was_taken_is_there_by_its_heading() -> None:
    contents = "<ul>" + "".join(
        f"<li><a href='#{number}'>{name}</a>"
        for number, name in enumerate(("Latch Activity", "Library Cache Statistics", "Segment Statistics"), 1)
    ) + "</ul>"  # fmt: skip
    found = read(
        contents, section("Latch Activity", ["A", "B"], ["1", "2"]),
        section("Library Cache Activity", ["A", "B"], ["1", "2"]),
    )  # fmt: skip
    missing = [one for one in found["warnings"] if "table of contents" in one]
    assert missing == ["the section `Segment Statistics` is in the table of contents but not in the report"]


def test_a_blank_header_is_filled_from_the_title_with_a_sentence() -> None:
    page = html().replace(">ACME<", "><").replace(">acme1<", "><").replace("<td>7</td>", "<td></td>")
    found = read_report(page.encode(), "r").document()
    assert (found["db_name"], found["instance"], found["begin_snap_id"]) == ("ACME", "acme1", 7)
    assert (
        "the header is blank where the title of the report has the database `ACME`, instance `acme1`, first "
        "snapshot `7`: taken from there" in found["warnings"]
    )
    assert not any("title" in one for one in read()["warnings"])


def test_instances_of_the_global_cache_are_numbers_and_what_is_of_all_is_named() -> None:
    from toolkit.readers.awr.sections import records, section_of
    from toolkit.readers.awr.tables import AwrTable, Numbers

    columns = ("I#", "Buffer Access Local %", "Buffer Access Remote %", "Buffer Access Disk %")
    rows = [("1", "99.1", "0.2", "0.7"), ("Sum", "1", "2", "3")]
    table = AwrTable("Global Cache Efficiency Percentages", "", columns, rows)
    section = section_of(table)
    assert section is not None
    assert section.name == "gc_efficiency_by_instance"
    assert [row["inst_num"] for row in records(section, table, Numbers()).rows] == [1, "Sum"]
