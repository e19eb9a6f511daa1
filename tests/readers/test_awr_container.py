"""The report of one container as text, as SQL*Plus prints it in a session, with a heading on each of its pages.

Its shape is that of a real one of 19c; the numbers are made up.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toolkit.readers.awr.report import read_report

SESSION = (Path(__file__).parent / "awr_pdb_19c.txt").read_text()


def document(text: str = SESSION) -> dict[str, Any]:
    return read_report(text.encode(), "r").document()


def test_the_container_and_its_interval_are_read() -> None:
    found = document()
    assert [found[name] for name in ("scope", "container_name", "container_dbid", "version", "rac", "cdb")] == [
        "pdb", "PDB1", 1123456789, "19.0.0.0.0", True, True
    ]  # fmt: skip
    assert [found[name] for name in ("begin_snap_id", "end_snap_id", "elapsed_min", "db_time_min")] == [
        37, 38, 60.0, 0.89
    ]  # fmt: skip
    assert found["host"] == "box1" and found["memory_gb"] == 7.31


def test_lists_go_on_below_the_headings_of_pages() -> None:
    found = document()
    assert found["load_profile_per_txn"]["executes"] == 1062.5 and found["load_profile_per_txn"]["db_cpu_s"] == 0.2
    assert [row["wait_class"] for row in found["wait_classes"]][-2:] == ["Configuration", "Network"]
    assert [row["event"] for row in found["foreground_events"]][-2:] == [
        "library cache pin", "SQL*Net message from clien"
    ]  # fmt: skip
    assert found["io_profile"]["Direct (blocks)"] == {
        "read_write_per_s": 0.5,
        "read_per_s": 0.3,
        "write_per_s": 0.2,
    }
    assert found["io_profile"]["Redo Requests"]["read_per_s"] is None
    assert [row["total"] for row in found["instance_activity"] if row["name"] == "user calls"] == [163]
    assert [len(rows) for rows in found["segments"].values()] == [2, 2, 1]


def test_statements_have_the_container_that_stands_below_them() -> None:
    found = document()
    for name in ("sql_by_elapsed", "sql_by_cpu", "sql_by_gets", "sql_by_parse_calls", "sql_by_unoptimized_reads"):
        assert {row["pdb"] for row in found[name]} == {"PDB1"}, name
    assert [row["executions"] for row in found["sql_by_cpu"]] == [277, 0]
    assert found["sql_by_cpu"][1]["cpu_per_exec_s"] is None
    assert found["sql_by_elapsed"][0]["plan_hash"] == "3123456789"
    assert found["sql_by_elapsed"][2]["text"].endswith("wrapped_here; END;")


def test_a_key_statistic_is_there_once() -> None:
    names = [row["name"] for row in document()["instance_activity"]]
    assert len(names) == len(set(names)) == 10


def test_samples_have_the_container_below_their_text() -> None:
    found = document()
    for name in ("ash_sql_by_event", "ash_sql_by_row_source", "ash_objects"):
        assert [row["pdb"] for row in found[name]] == ["PDB1"], name
    assert found["ash_sql_by_event"][0]["text"] == "update orders set amount = 8 where order_id = 10"
    assert found["ash_blocking_sessions"][0]["user"] == "** NOT FOUND **"
    assert found["ash_over_time"][1]["event_samples"] == 4


def test_what_its_container_sets_holds_for_it() -> None:
    found = document()
    assert found["init_parameters"]["pga_aggregate_target"] == "1073741824"
    assert found["init_parameters"]["open_cursors"] == "300"
    assert found["init_parameters"]["control_files"].count("CONTROLFILE") == 2


def test_a_report_may_be_indented() -> None:
    assert document("".join(f"    {line}\n" for line in SESSION.split("\n"))) == document()


def test_what_stands_around_a_report_in_a_session_is_none_of_it() -> None:
    (warning,) = document()["warnings"]
    assert warning == "the report has no SQL by reads"  # the sample leaves the list out
    more = f"{SESSION}\nSQL> SELECT 1, 2, 3 FROM dual;\n         1          2          3\n"
    assert document(more) == document()
