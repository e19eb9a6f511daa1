"""Published tables: each imports, its ratios come out as published, and the report says what does not follow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk

PUBLISHED = Path(__file__).parents[2] / "examples/published"
ONCE = "too few repeats to tell which is better"
"""Each number was published once, so that none of the published conclusions is more than a ratio of two values."""

# file: configurations A and B, the published ratio B / A, and what else the report must say
TABLES: dict[str, list[tuple[str, str, float, str]]] = {
    "datastage-input-buffer": [("input_buffer=off", "input_buffer=on", 1.07, "an upper bound")],
    "datastage-sort-memory": [
        ("sort_memory_mb=10", "sort_memory_mb=30,read_ahead_kb=128", 1 / 1.36, "36 % more throughput"),
        ("sort_memory_mb=30,read_ahead_kb=128", "read_ahead_kb=512", 2.72 / 2.97, "2 min 43 s (one trial)"),
    ],
    "datastage-varchar": [("real_length=off", "real_length=on", 0.79, "space_ratio_to_first 1.00x 0.750x")],
    "rman-channels": [("channels=1", "channels=20", 16, "16.0x 80 %")],
    "sas-ethernet": [
        ("nodes=1,ethernet_gbit=40", "nodes=1,ethernet_gbit=56", 0.95, "20-test gained nothing"),
        ("nodes=4,ethernet_gbit=40", "nodes=4,ethernet_gbit=56", 0.92, "mean 11 to 12.15 GB/s"),
    ],
    "sas-gpfsperf": [("ethernet_gbit=40", "ethernet_gbit=56", 1.08, "8 to 10 % more")],
    "sas-one-node": [],
    "sun-builds": [
        ("packages_at_once=1,jobs=1", "packages_at_once=1,jobs=32", 0.21, "gain: 4.76x; eff.: 15 %"),
        ("packages_at_once=1,jobs=1", "packages_at_once=5,jobs=32", 0.12, "88 % less"),
        ("packages_at_once=1,jobs=32", "packages_at_once=5,jobs=32", 1 - 0.42, "42 % less"),
    ],
    "sun-ctas-degree": [("degree=1", "degree=8", 160 / 1500, "no time above 8 was published")],
    "sun-index-degree": [("degree=1", "degree=64", 225 / 2040, "9.07x 14 %")],
    "sybase-recordsize": [
        ("record_over_block=1 to 8", "record_over_block=8 or more", 1.04 / 0.913, "ranges of gains were"),
    ],
    "systemz-fcp-eckd": [("cpus=4", "cpus=6", 1.5, "`protocol` and `cpus` are confounded")],
    "systemz-fcp-eckd-cpu": [("protocol=ECKD", "protocol=FCP", 1.14, "14 % more CPU")],
    "systemz-hyperpav": [("hyperpav_aliases=0", "hyperpav_aliases=20", 1.4, "does not follow from these numbers")],
    "systemz-multipath": [
        ("multipath=multibus 100", "multipath=failover", 0.79, "throughput of the disks"),
        ("multipath=multibus 100", "multipath=multibus 10", 0.96, "cost 7 % more CPU"),
    ],
    "systemz-redo-logs": [("redo_logs=with data files", "redo_logs=own disk group", 0.02, "80 % less")],
    "systemz-release": [("release=10g", "release=11g", 4, "throughput is a lower bound")],
    "systemz-sga": [("sga_gib=6", "sga_gib=4", 0.87, "user_io_wait_ratio_to_first 1.00x 1.08x")],
    "systemz-users": [("users=80", "users=120", 1.18, "18 % more throughput")],
}  # fmt: skip
ROUNDED = 0.01
"""Published ratios are of two digits; 0.12 / 0.21 is 0.571, published as 42 % less."""


def test_every_published_file_is_held_here() -> None:
    assert {path.name for path in PUBLISHED.iterdir()} == {f"{name}.csv" for name in TABLES}


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", TABLES)
def test_a_published_table_comes_out_as_published_and_with_its_doubt(dbatk: Dbatk, name: str) -> None:
    taken = dbatk("import", str(PUBLISHED / f"{name}.csv"), "--label", name)
    assert taken.status == 0, taken.err
    said = " ".join(dbatk("report", name, "--format", "text").out.split())
    assert "source the " in said and " of the published experiments" in said
    advice = json.loads(dbatk("advise", name, "--json").out)
    assert advice["recommended"] is None
    if not TABLES[name]:
        assert "a single trial does not show the spread" in said
    for one, other, ratio, words in TABLES[name]:
        (pair,) = json.loads(dbatk("compare", f"{name}/{one}", f"{name}/{other}", "--json").out)["pairs"]
        assert (pair["ratio"], pair["verdict"]) == (pytest.approx(ratio, abs=ROUNDED), "inconclusive")
        assert (ONCE in said, words in said) == (True, True), words


def test_what_is_confounded_is_said_by_a_comparison_too(dbatk: Dbatk) -> None:
    assert dbatk("import", str(PUBLISHED / "systemz-fcp-eckd.csv"), "--label", "disks").status == 0
    said = " ".join(dbatk("compare", "disks/cpus=4", "disks/cpus=6").out.split())
    assert "differ in `protocol` and `cpus` at once (confounded)" in said
