"""Real reports say what a careful reader read off them; the files stay where they are."""

from __future__ import annotations

import csv
import json
import os
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from toolkit.readers.awr.averages import with_averages
from toolkit.readers.awr.report import read_report

REALDATA = Path(os.environ.get("DBATK_REALDATA", "/nowhere"))
pytestmark = pytest.mark.skipif(
    not (REALDATA / "truth").is_dir(), reason="set DBATK_REALDATA to the folder of real reports"
)
TRUTHS = sorted(path.stem for path in (REALDATA / "truth").glob("*.json") if not path.stem.startswith("rman"))
HERE = [
    name for name in TRUTHS
    if (REALDATA / json.loads((REALDATA / "truth" / f"{name}.json").read_text())["file"]).is_file()
]  # fmt: skip
WORD = {"YES": True, "NO": False, "": None, None: None}


@lru_cache(maxsize=64)
def report(file: str) -> dict[str, Any]:
    return read_report((REALDATA / file).read_bytes(), file).printed()


def iso(text: str | None) -> str | None:
    if text is None:
        return None
    form = "%d-%b-%y %H:%M:%S" if text.count(":") == 2 else "%d-%b-%y %H:%M"
    return datetime.strptime(text, form).isoformat(timespec="seconds" if text.count(":") == 2 else "minutes")


def milliseconds(text: str | None) -> float | None:
    if text is None:
        return None
    for unit, scale in (("ns", 1e-6), ("us", 1e-3), ("ms", 1.0), ("s", 1e3)):
        if text.endswith(unit):
            return pytest.approx(float(text.removesuffix(unit)) * scale)
    return float(text)


@pytest.mark.parametrize("name", HERE)
def test_every_fact_of_the_header_is_read_as_printed(name: str) -> None:
    truth = json.loads((REALDATA / "truth" / f"{name}.json").read_text())
    found = report(truth["file"])
    asked = {
        key: value for key, value in truth.items() if not isinstance(value, list | dict) and key not in _OTHERS
    }
    expected = {
        key: iso(value) if key.endswith("_time") else WORD[value] if key in {"rac", "cdb"} else value
        for key, value in asked.items()
    }
    assert {key: found[key] for key in expected} == expected
    assert len(expected) > 10


_OTHERS = {"file", "set", "notes", "instances_in_report", "buffer_hit_pct", "host_cpu", "top_sql_by_elapsed"}


@pytest.mark.parametrize("name", [name for name in HERE if "DBW" not in name])
def test_every_value_of_an_instance_report_is_read_as_printed(name: str) -> None:
    truth = json.loads((REALDATA / "truth" / f"{name}.json").read_text())
    found = report(truth["file"])
    rates = truth["load_profile_per_sec"]
    assert {key: found["load_profile_per_sec"][key] for key in rates} == rates
    assert found["instance_efficiency_pct"] == truth["instance_efficiency_pct"]
    assert found["buffer_hit_pct"] == truth["buffer_hit_pct"]
    if truth["host_cpu"] is None:
        assert found["host_cpu"] is None
    else:
        assert {key: found["host_cpu"][key] for key in truth["host_cpu"]} == truth["host_cpu"]
    events = [
        {
            **{key: event[key] for key in ("event", "waits", "time_s", "pct_db_time", "wait_class")},
            "avg_wait_ms": milliseconds(event["avg_wait_raw"]),
        }
        for event in truth["top_events"]
    ]
    assert found["top_events"] == events
    for statement, expected in zip(found["sql_by_elapsed"], truth["top_sql_by_elapsed"], strict=False):
        assert {key: statement[key] for key in expected if key != "elapsed_raw"} == {
            key: value for key, value in expected.items() if key != "elapsed_raw"
        }
        assert statement["text"]


@pytest.mark.parametrize("name", HERE)
def test_an_average_worked_out_is_within_what_rounding_makes_of_the_printed_one(name: str) -> None:
    printed = report(json.loads((REALDATA / "truth" / f"{name}.json").read_text())["file"])
    found = with_averages(printed)
    for section in ("top_events", "wait_classes", "foreground_events", "background_events", "enqueues"):
        for row, was in zip(found.get(section) or (), printed.get(section) or (), strict=True):  # type: ignore[call-overload]
            assert {**row, "avg_wait_ms": None} == {**was, "avg_wait_ms": None}
            if was["avg_wait_ms"]:
                rounding = 10.0 ** -len(str(was["avg_wait_ms"]).partition(".")[2])
                bound = max(1.02 * rounding, 0.005 * was["avg_wait_ms"])
                assert row["avg_wait_ms"] == pytest.approx(was["avg_wait_ms"], abs=bound)


def test_a_cluster_report_gives_the_whole_and_each_instance() -> None:
    truth = json.loads((REALDATA / "truth" / "Azure__AWR_DBW.json").read_text())
    found = report(truth["file"])
    for instance, expected in zip(found["instances"], truth["instances"], strict=True):
        wanted = {key: iso(value) if key.endswith("_time") else value for key, value in expected.items()}
        assert {key: instance[key] for key in wanted} == wanted
    records = {**{str(one["inst_num"]): one for one in found["instances"]}, "Sum": found}
    for number, rates in truth["per_second"].items():
        profile = records[number]["load_profile_per_sec"]
        assert profile["redo_size_bytes"] == pytest.approx(rates.pop("redo_size_kb") * 1024)
        assert {key: profile[key] for key in rates} == rates
    for number, model in truth["time_model"].items():
        times = {one["name"]: one["time_s"] for one in records[number]["time_model"]}
        assert {key: times[name] for key, name in _MODEL.items()} == model
    for number, cpu in truth["host_cpu"].items():
        assert {key: records[number]["host_cpu"][key] for key in cpu} == cpu
    for event, expected in zip(found["top_events"], truth["top_events_cluster"], strict=True):
        assert event["avg_wait_ms"] == milliseconds(expected.pop("avg_wait_raw"))
        assert {key: event[key] for key in expected} == expected
    assert found["sql_by_elapsed"] is None


_MODEL = {
    "db_time_s": "DB time", "db_cpu_s": "DB CPU", "sql_exec_elapsed_s": "sql execute elapsed time",
    "parse_elapsed_s": "parse time elapsed", "hard_parse_elapsed_s": "hard parse elapsed time",
}  # fmt: skip


def headers() -> list[dict[str, str]]:
    path = REALDATA / "truth" / "awr_header_index_share.tsv"
    if not path.is_file():
        return []
    with path.open(newline="") as lines:
        return [row for row in csv.DictReader(lines, delimiter="\t") if (REALDATA / row["file"]).is_file()]


@pytest.mark.parametrize("row", headers(), ids=lambda row: row["file"])
def test_every_header_of_the_index_is_read(row: dict[str, str]) -> None:
    found = report(row["file"])
    numbers = {"elapsed_min": "elapsed_min", "db_time_min": "db_time_min", "dbid": "dbid",
               "begin_snap": "begin_snap_id", "end_snap": "end_snap_id"}  # fmt: skip
    for column, key in numbers.items():
        assert found[key] == float(row[column].replace(",", ""))
    assert found["instance"] == (None if row["instance"] == "*" else row["instance"])
    assert (found["rac"], found["cdb"]) == (WORD[row["rac"]], WORD[row["cdb"]])
    assert (found["begin_snap_time"], found["end_snap_time"]) == (iso(row["begin_time"]), iso(row["end_time"]))
    assert [found[key] for key in ("format", "scope", "db_name", "version")] == [
        row[key] for key in ("format", "scope", "db_name", "version")
    ]


@pytest.mark.parametrize("row", headers(), ids=lambda row: row["file"])
def test_a_whole_report_is_not_doubted(row: dict[str, str]) -> None:
    assert read_report((REALDATA / row["file"]).read_bytes(), row["file"]).faults == []


@pytest.mark.parametrize("file", sorted(path.name for path in (REALDATA / "statspack").glob("*.lst")))
def test_a_statspack_report_is_read_and_the_one_over_a_restart_is_doubted(file: str) -> None:
    read = read_report((REALDATA / "statspack" / file).read_bytes(), file)
    found = read.document()
    assert len(found["top_events"]) == 5
    assert found["sql_by_gets"]
    assert found["load_profile_per_txn"]["redo_size_bytes"] > 0
    assert any("an instance shutdown lies within it" in one for one in read.faults) == ("sp_result" in file)
    assert (found["load_profile_per_sec"]["redo_size_bytes"] is None) == bool(read.faults) == ("sp_result" in file)
