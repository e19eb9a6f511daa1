"""CALIBRATE_IO: run only when asked and allowed, by SYSDBA of the same instance; what it measured bounds runs."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import running_standin
from tests.oracle.standin.administrator import Administrator, administered
from tests.oracle.standin.scenario import Scenario
from tests.report.make import cell as cell_of
from tests.report.make import metric, put, run_of, trial
from toolkit.app.ceilings import ceilings_of
from toolkit.store import open_store

ASKED = ("--calibrate-io", "--disks", "8")
MEASURED = {
    "END_TIME": datetime.datetime(2026, 11, 20, 2, 13), "MAX_IOPS": 2133, "MAX_MBPS": 127, "NUM_PHYSICAL_DISKS": 8
}  # fmt: skip


@pytest.fixture
def dba() -> Iterator[Administrator]:
    with running_standin(Scenario()) as standin, administered(standin) as administrator:
        yield administrator


def ceiling(dba: Administrator, folder: Path, *typed: str, **profile: str) -> tuple[int, dict[str, object], str]:
    dba.write_profile(folder / "config", **profile)
    status, document = wreck.run(dba.standin, folder, "ceiling", "-t", "ora", "--seconds", "0.1", *typed)
    return status, document, " ".join(json.dumps(document).split())


def calibrations(dba: Administrator) -> int:
    return sum("CALIBRATE_IO(" in said for said in dba.said)


def of_the_database(document: dict[str, object]) -> list[dict[str, object]]:
    found = document["ceilings"]
    assert isinstance(found, list)
    return [one for one in found if one["name"] == "database read"]


def test_the_server_measures_itself_once_it_is_asked_to(dba: Administrator, tmp_path: Path) -> None:
    status, document, said = ceiling(dba, tmp_path)
    assert (status, of_the_database(document), calibrations(dba)) == (0, [], 0), said
    status, document, said = ceiling(dba, tmp_path, *ASKED)
    assert (status, calibrations(dba), dba.standin.engine.state.calibrated) == (0, 1, 8), said
    (found,) = of_the_database(document)
    assert found["value"] == 127 * 2**20
    assert "disks: 8; 2,133 small reads a second" in str(found["how"])


def test_what_was_measured_before_is_read_and_bounds_the_runs_of_that_database_alone(tmp_path: Path) -> None:
    scenario = Scenario(views={"DBA_RSRC_IO_CALIBRATE": [MEASURED]})
    with running_standin(scenario) as standin, administered(standin) as dba:
        status, document, said = ceiling(dba, tmp_path)
        assert (status, len(of_the_database(document)), calibrations(dba)) == (0, 1, 0), said
        assert "CALIBRATE_IO of 2026-11-20 02:13" in said
        line = ("ctas", "-t", "ora", "--source", "GTEST", "--table", "MADE", "--repeat", "1", "--warmup", "0")
        status, run = wreck.run(standin, tmp_path, *line)
        assert status == 0, run
        environment = run["environment"]
        assert isinstance(environment, dict)
    with open_store(str(tmp_path / "store.db")) as store:
        assert [one.name for one in ceilings_of(store, environment)].count("database read") == 1
        elsewhere = ceilings_of(store, {**environment, "database_id": "OTHER:OTHER"})
        assert "database read" not in [one.name for one in elsewhere]


def test_a_run_at_that_ceiling_is_told_so(tmp_path: Path) -> None:
    scenario = Scenario(views={"DBA_RSRC_IO_CALIBRATE": [MEASURED]})
    with running_standin(scenario) as standin, administered(standin) as dba:
        ceiling(dba, tmp_path)
    read = (metric("physical read total bytes", 127 * 2**20 * 10, source="vstat"),)
    trials = [trial(at, cell_of(degree=8), at, 10.0, metrics=read) for at in (1, 2)]
    with open_store(str(tmp_path / "store.db")) as store:
        (head,) = [
            head
            for head in store.snapshots("ceiling")
            if "database_id" in store.load_snapshot(head.number).state.identity
        ]
        identity = store.load_snapshot(head.number).state.identity["database_id"]
        run = run_of(trials, environment={"cpu_count": 64, "database_id": identity}, label="big")
        put(store, run)
        store.set_environment(run.head.run, run.environment)
    status, document = wreck.run(standin, tmp_path, "advise", "big")
    limits = document["limits"]
    assert isinstance(limits, list)
    assert (status, limits[0]["reason"]) == (0, "I/O"), document
    assert "127 MiB/s of the 127 MiB/s that reading of the database's files can do" in limits[0]["evidence"]


@pytest.mark.parametrize(
    ("profile", "typed", "status", "says"),
    [
        ({"production": "true"}, ASKED, 5, "is a production database"),
        ({"production": ""}, ASKED, 5, "not known whether"),
        ({"approved_only": "true"}, ASKED, 5, "only approved work"),
        ({"sysdba": ""}, ASKED, 2, "needs a client that connects as SYSDBA"),
        ({}, ("--calibrate-io",), 2, "needs `--disks`"),
        ({}, ("--calibrate-io", "--disks", "0"), 2, "needs `--disks`"),
        ({}, (*ASKED, "--max-latency", "0"), 2, "cannot be 0"),
        ({}, ("--disks", "8"), 2, "`--disks` needs `--calibrate-io`"),
        ({}, ("--max-latency", "8"), 2, "`--max-latency` needs `--calibrate-io`"),
    ],
)
def test_it_is_not_run_unasked_or_where_it_may_not(
    dba: Administrator, tmp_path: Path, profile: dict[str, str], typed: tuple[str, ...], status: int, says: str
) -> None:
    found, _, said = ceiling(dba, tmp_path, *typed, **profile)
    assert (found, says in said, calibrations(dba)) == (status, True, 0), said


def test_production_is_calibrated_where_its_name_is_given(dba: Administrator, tmp_path: Path) -> None:
    status, _, said = ceiling(dba, tmp_path, *ASKED, "--allow-production", "ora", production="true")
    assert (status, calibrations(dba)) == (0, 1), said


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ({"host": "elsewhere"}, "this client is on elsewhere"),
        ({"asynchronous": False}, "FILESYSTEMIO_OPTIONS"),
        ({"deaf": True}, "ORA-01017"),
    ],
)
def test_what_the_server_refuses_is_told(
    dba: Administrator, tmp_path: Path, fault: dict[str, object], says: str
) -> None:
    for name, value in fault.items():
        setattr(dba, name, value)
    status, document, said = ceiling(dba, tmp_path, *ASKED)
    assert (status != 0, says in said) == (True, True), document
    assert dba.standin.engine.state.calibrated == 0


def test_a_view_that_may_not_be_read_is_a_warning(tmp_path: Path) -> None:
    denied = Scenario(denied=frozenset({"DBA_RSRC_IO_CALIBRATE"}))
    with running_standin(denied) as standin, administered(standin) as dba:
        status, document, said = ceiling(dba, tmp_path)
    assert (status, of_the_database(document)) == (0, []), said
    assert "`io_calibration` could not be read" in said
