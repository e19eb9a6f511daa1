"""I/O by function and by type of file, out of the tables of one instance and of a cluster."""

from __future__ import annotations

import pytest

from toolkit.analysis.awr.diff import compare_intervals
from toolkit.analysis.awr.from_report import interval_of
from toolkit.readers.awr.sections import records, section_of
from toolkit.readers.awr.tables import AwrTable, Numbers

MIB = 2**20
FUNCTIONS = [
    "I#", "Function Name", "Requests Total", "Requests IOs/s", "Requests Reads/s", "Requests Writes/s", "MB Total",
    "MB IO MB/s", "MB Read MB/s", "MB Write MB/s", "Waits: Count", "Avg Time",
]  # fmt: skip
TYPES = [*FUNCTIONS[:1], "Filetype Name", *FUNCTIONS[2:10], "Service Time Small Read", "Service Time Large Read"]


def typed(columns: list[str], rows: list[list[str]]) -> dict[str, object]:
    """Return a section as the reader of reports has it."""
    table = AwrTable("IOStat", "", tuple(columns), [tuple(cells) for cells in rows])
    section = section_of(table)
    assert section is not None
    return {section.name: records(section, table, Numbers()).rows}


def row(instance: str, name: str, write: str, *ends: str) -> list[str]:
    return [instance, name, "9", "9", "2.00", "1,898.94", "9", "9", "0.50", write, *ends]


def cluster(day: int, first: str, second: str) -> dict[str, object]:
    logs = [("*", "24.00"), ("1", first), ("2", second)]
    functions = [row(one, "LGWR", rate, "862.2K", "426.88us") for one, rate in logs]
    types = [row(one, "Log File", rate, "2.61ms", "") for one, rate in logs]
    total = row("*", "Total", "99.00", "9", "9ms")
    return {
        "scope": "rac_global", "db_name": "ACME", "dbid": 7, "elapsed_min": 10.0,
        "begin_snap_time": f"2025-03-0{day}T10:00:00",
        **typed(FUNCTIONS, [total, *functions]), **typed(TYPES, types),
        "instances": [{"inst_num": n, "instance": f"acme{n}", "elapsed_min": 10.0} for n in (1, 2)],
    }  # fmt: skip


def test_the_whole_cluster_and_each_instance_have_their_own_rows_of_the_one_table() -> None:
    whole = interval_of(cluster(3, "16.00", "8.00"))
    assert whole.functions.rows.keys() == {"LGWR"}
    writer = whole.functions.rows["LGWR"]
    assert writer.write_bytes == pytest.approx(24 * 600 * MIB)
    assert (writer.read_bytes, writer.waits) == (pytest.approx(0.5 * 600 * MIB), 862_200)
    assert (writer.read_requests, writer.write_requests) == (1200, pytest.approx(1898.94 * 600))
    assert writer.latency_seconds == pytest.approx(426.88e-6)
    assert whole.file_types.rows["Log File"].latency_seconds == pytest.approx(2.61e-3)
    written = [one.functions.rows["LGWR"].write_bytes for one in whole.instances]
    assert written == [pytest.approx(16 * 600 * MIB), pytest.approx(8 * 600 * MIB)]


def test_the_io_of_a_cluster_is_compared_whole_and_by_instance() -> None:
    diff = compare_intervals(interval_of(cluster(3, "16.00", "8.00")), interval_of(cluster(4, "4.00", "20.00")))
    assert [one.write_bytes.ratio for one in diff.functions] == [1.0]
    assert [one.functions[0].write_bytes.ratio for one in diff.instances] == [0.25, 2.5]
    assert [one.file_types[0].write_bytes.ratio for one in diff.instances] == [0.25, 2.5]


def test_the_table_of_one_instance_is_read_as_before() -> None:
    columns = ["Function Name", "Reads: Data", "Reqs per sec", "Data per sec", "Writes: Data", "Reqs per sec",
               "Data per sec", "Waits: Count", "Avg Tm(ms)"]  # fmt: skip
    cells = ["LGWR", "1M", "0.50", "0M", "2G", "10.00", "1M", "5.5M", "1.50"]
    read = interval_of({"elapsed_min": 10.0, **typed(columns, [cells])})
    found = read.functions.rows["LGWR"]
    assert (found.read_bytes, found.write_bytes, found.write_requests) == (MIB, 2 * 2**30, 6000)
    assert (found.waits, found.latency_seconds) == (5_500_000, pytest.approx(1.5e-3))
