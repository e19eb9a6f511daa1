"""Jobs of Data Pump that a bundle lets expdp and impdp do: measured, as a job, failed, cut off."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.bundle.conftest import Maker, Workshop
from tests.bundle.test_run import CANARY, wait_for
from tests.oracle.standin import Scenario
from toolkit.model.words import Outcome, RunState

_ONCE = ("repeat = 1", "warmup = 0")
_DUMP = ('table = "GTEST"', 'directory = "DUMPS"', 'snapshot = "none"')
_IMPORT = ('table = "APP.ORDERS"', 'directory = "DUMPS"', 'dump_files = ["SHOP_%U.dmp"]', 'into_schema = "DBATK"',
           'into_table = "ORDERS_2"', "bare = true", 'snapshot = "none"', 'mode = "job"')  # fmt: skip
PROGRAM = 'method = ["program"]'


def exported(shop: Workshop, *options: str, operation: str = "datapump-export", factors: str = PROGRAM) -> None:
    shop.extra["STUB_LOG"] = str(shop.folder / "log")
    shop.export(operation=operation, options="\n".join(options), factors=factors)


@pytest.mark.full
def test_package_and_program_are_measured_in_one_bundle(workshop: Maker) -> None:
    shop = workshop()
    factors = 'degree = [1, 2]\nmethod = ["package", "program"]'
    exported(shop, 'schema = ["DBATK", "APP"]', *_DUMP[1:], *_ONCE, factors=factors)
    status, said = shop.run()
    assert status == 0, said
    assert shop.ingest().returncode == 0
    record = shop.record()
    assert record.head.state is RunState.DONE
    assert {(each.cell["method"], each.outcome, each.granted_degree) for each in record.trials} == {
        ("package", Outcome.OK, 1), ("package", Outcome.OK, 2), ("program", Outcome.OK, 1),
        ("program", Outcome.OK, 2),
    }  # fmt: skip
    assert all("DBATK.GTEST" in {item.label for item in each.items} for each in record.trials)
    assert not shop.standin.engine.state.datapump.files
    calls = [line for line in (shop.folder / "log").read_text().splitlines() if line.startswith("expdp ")]
    assert len(calls) == 2 and all(f" {shop.where} " in f"{line} " for line in calls)
    assert not list(shop.spools.glob("word-*")) and not list(shop.spools.glob("load-*"))


def test_a_dump_stays_and_its_log_is_read_on_the_way_back(workshop: Maker) -> None:
    shop = workshop()
    exported(shop, *_DUMP, 'mode = "job"')
    parameters = (shop.bundle / "sql" / "t0001-i1.par").read_text().splitlines()
    assert {"DIRECTORY=DUMPS", "TABLES=DBATK.GTEST", "METRICS=YES"} <= set(parameters)
    status, said = shop.run()
    assert status == 0, said
    assert len(shop.standin.engine.state.datapump.files) == 2
    assert shop.ingest().returncode == 0
    (trial,) = shop.record().trials
    assert trial.outcome is Outcome.OK, trial.reason
    assert {"dump_bytes", "dumped_rows"} <= {metric.name for metric in trial.metrics}


def test_a_dump_that_completes_with_errors_is_failed_though_its_log_cannot_be_read(workshop: Maker) -> None:
    shop = workshop()
    exported(shop, *_DUMP, *_ONCE)
    pump = shop.standin.engine.state.datapump
    pump.errors = ('ORA-31693: Table data object "DBATK"."GTEST" failed to load/unload',)
    pump.language = "GERMAN"
    shop.run()
    shop.ingest()
    (trial,) = shop.record().trials
    assert trial.outcome is Outcome.FAILED and "ORA-31693" in str(trial.reason), trial


def test_impdp_of_a_bundle_fills_a_table(workshop: Maker) -> None:
    shop = workshop()
    pump = shop.standin.engine.state.datapump
    pump.files["DUMPS", "SHOP_01.dmp"] = "x" * 4096
    pump.dumped = {("APP", "ORDERS"): "SELECT range AS ID FROM range(500)"}
    exported(shop, *_IMPORT, operation="datapump-import")
    status, said = shop.run()
    assert status == 0, said
    assert shop.ingest().returncode == 0
    (trial,) = shop.record().trials
    assert trial.outcome is Outcome.OK, trial.reason
    assert shop.standin.engine.state.objects["TABLE", ("DBATK", "ORDERS_2")].rows == 500


@pytest.mark.thin(3)
@pytest.mark.parametrize(("ends", "sentence"), [
    ("exit 1", "ended with exit status 1 and names no error"),
    ("echo 'ORA-39087: directory name DUMPS is invalid'; exit 1", "ORA-39087"),
    ("kill -9 $PPID", "how expdp ended is not known"),
], ids=["silent", "said", "its caller killed"])  # fmt: skip
def test_a_program_that_fails_is_a_failed_trial(workshop: Maker, ends: str, sentence: str) -> None:
    shop = workshop()
    own = shop.folder / "expdp"
    own.write_text(f"#!/bin/sh\n{ends}\n")
    own.chmod(0o700)
    shop.extra["EXPDP"] = str(own)
    exported(shop, *_DUMP, *_ONCE)
    status, said = shop.run()
    shop.ingest()
    (trial,) = shop.record().trials
    assert trial.outcome is Outcome.FAILED and sentence in f"{trial.error_code} {trial.reason}", (trial, said)
    assert status == 3, said


def test_a_job_of_an_interrupted_script_is_ended_and_its_files_go(workshop: Maker) -> None:
    shop = workshop()
    shop.client_of_its_own()
    exported(shop, *_DUMP, 'mode = "job"')
    pump = shop.standin.engine.state.datapump
    pump.ends = "forever"
    running = shop.begin()
    assert pump.begun.wait(300)
    pump.files["DUMPS", f"{next(iter(pump.jobs))}_01.dmp"] = "so far"
    running.send_signal(signal.SIGTERM)
    said = running.communicate(timeout=120)[0]
    assert running.returncode == 130, said
    assert not pump.jobs and not pump.files, said
    pump.ends = "COMPLETED"
    status, said = shop.run()
    assert status == 0 and len(pump.files) == 2, said


def test_a_missing_program_stops_the_script_before_anything_is_sent(workshop: Maker) -> None:
    shop = workshop()
    exported(shop, *_DUMP, *_ONCE)
    shop.extra |= {"EXPDP": "", "PATH": "/usr/bin:/bin"}
    status, said = shop.run()
    assert status == 2 and "expdp is not here" in said, said
    assert not any("DATAPUMP." in text for text in shop.standin.statements)


def test_the_password_is_in_no_file_argument_or_environment_of_a_dump(workshop: Maker) -> None:
    shop = workshop(Scenario(password=CANARY))
    exported(shop, *_DUMP, *_ONCE)
    pump = shop.standin.engine.state.datapump
    pump.ends = "forever"
    running = shop.begin()
    assert pump.begun.wait(300)
    wait_for(lambda: list(shop.spools.glob("load-1.pid")))
    seen = b"".join(_read(each) for each in Path("/proc").glob("[0-9]*/cmdline"))
    seen += b"".join(
        _read(each) for each in Path("/proc").glob("[0-9]*/environ") if b"DBATK_EXPDP=" in _read(each)
    )
    assert b"PARFILE=sql/t0001-i1.par" in seen
    pump.ends = "COMPLETED"
    said = running.communicate(timeout=120)[0]
    assert running.returncode == 0, said
    kept = b"".join(each.read_bytes() for each in shop.bundle.rglob("*") if each.is_file())
    assert CANARY.encode() not in seen + kept + said.encode()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
