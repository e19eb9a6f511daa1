"""Average waits as the document of a report has them: of what the report printed most exactly."""

from __future__ import annotations

import pytest

from toolkit.readers.awr.averages import average_wait, with_averages


@pytest.mark.parametrize(
    ("printed", "seconds", "waits", "average"),
    [
        pytest.param(1, 57, 55_000, 57 / 55, id="whole milliseconds of 11g"),
        pytest.param(1, 28, 55_000, 28 / 55, id="the same milliseconds for half of the time"),
        pytest.param(0.05, 3, 57_102, 0.05, id="seconds that are rougher"),
        pytest.param(0, 12, 40, 300, id="an average that was cut to zero"),
        pytest.param(2, 0, 40, 2, id="a time that was cut to zero"),
        pytest.param(2, 60, 200, 2, id="three values that contradict each other"),
        pytest.param(2, 5, None, 2, id="no number of waits"),
        pytest.param(None, 1832, 115, 1832 / 0.115, id="crosses: too wide for its column"),
        pytest.param(None, 5, 40, None, id="a release that prints none, and a rough time"),
    ],
)
def test_an_average_is_worked_out_where_that_is_nearer(
    printed: float | None, seconds: float, waits: float | None, average: float | None
) -> None:
    row = {"avg_wait_ms": printed, "time_s": seconds, "waits": waits}
    assert average_wait(row) == (average if average is None else pytest.approx(average))


def test_every_list_has_the_nearer_average_those_of_an_instance_too() -> None:
    row = {"enqueue": "TX-Transaction", "avg_wait_ms": 1, "time_s": 57, "waits": 55_000}
    other = {"file": "system01.dbf", "avg_wait_ms": 2}
    found = with_averages({"enqueues": [row], "instances": [{"top_events": [row]}], "files": [other], "cpus": 4})
    nearer = {**row, "avg_wait_ms": pytest.approx(57 / 55)}
    assert found == {
        "enqueues": [nearer], "instances": [{"top_events": [nearer]}], "files": [other], "cpus": 4,
    }  # fmt: skip
    assert with_averages(found) == found
    assert row["avg_wait_ms"] == 1


def test_a_list_prints_each_average_with_as_many_digits() -> None:
    rows = [{"avg_wait_ms": 0.9, "time_s": 9, "waits": 10_575}, {"avg_wait_ms": 1.14, "time_s": 1, "waits": 560}]
    whole = [{**row, "avg_wait_ms": float(round(row["avg_wait_ms"]))} for row in rows]
    assert [row["avg_wait_ms"] for row in with_averages({"enqueues": rows})["enqueues"]] == [0.9, 1.14]  # type: ignore[attr-defined]
    of_milliseconds = [row["avg_wait_ms"] for row in with_averages({"enqueues": whole})["enqueues"]]  # type: ignore[attr-defined]
    assert of_milliseconds[0] == pytest.approx(9 / 10.575)
