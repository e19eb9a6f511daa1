"""Dumps of Data Pump: swept and removed, kept as a job, its log read, and what is left when it is cut off."""

from __future__ import annotations

import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle.make import assumed, work
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.test_live_statistics import ANALYZE_ANY, Bench, _when
from toolkit.dialects.oracle.datapump.log import read
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.words import SupportState

EXPORT = ("datapump", "export", "--schema", "DBATK,APP", "--directory", "DUMPS")
LOG = """
Export: Release 19.0.0.0.0 - Production on Fri Sep 27 08:56:30 2019
Starting "SYS"."KMASTER":  /******** AS SYSDBA directory=dp_dir
27-SEP-19 08:57:01: W-1 . . exported "SH"."SALES":"SALES_Q1_1998"  1.412 MB   43687 rows in 3 seconds using direct
W-2      . . exported "SH"."odd name"                       0 KB       0 rows in 0 seconds using external_table
ORA-31693: Table data object "SH"."COSTS" failed to load/unload and is being skipped due to error:
ORA-01555: snapshot too old: rollback segment number 3
. . exported "TEST"."EMP"                                8.781 KB      14 rows
Job "SYS"."KMASTER" completed with 1 error(s) at Fri Sep 27 08:57:45 2019 elapsed 0 00:01:10
"""


def test_a_log_tells_rows_bytes_errors_workers_and_the_end() -> None:
    found = read(LOG)
    assert [(table.name, table.rows, table.seconds) for table in found.tables] == [
        ("SH.SALES:SALES_Q1_1998", 43687, 3.0), ("SH.odd name", 0, 0.0), ("TEST.EMP", 14, None),
    ]  # fmt: skip
    assert found.tables[0].bytes == round(1.412 * 2**20) and found.workers == 2
    assert found.error_count == 1 and [error[:9] for error in found.errors] == ["ORA-31693", "ORA-01555"]
    assert read(LOG.replace("completed with 1 error(s)", "successfully completed")).error_count == 0
    stopped = read(LOG.replace("completed with 1 error(s)", "stopped due to fatal error"))
    assert stopped.error_count == 2 and read(LOG.rpartition("Job")[0]).error_count is None


@pytest.mark.full
def test_a_sweep_of_workers_and_compression_leaves_no_file(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        pump = standin.engine.state.datapump
        pump.files["DUMPS", "theirs.dmp"] = "x"
        pump.workers = 2
        levels = ("--degree", "1,2,4", "--compression", "none,metadata_only", "--repeat", "1", "--warmup", "0")
        answer = context.run(*EXPORT, *levels)
        assert list(pump.files) == [("DUMPS", "theirs.dmp")] and not pump.jobs, answer.said
    outcomes = [(trial["factors"]["degree"], trial["outcome"]) for trial in answer.document["trials"]]
    assert dict(outcomes) == {1: "ok", 2: "ok", 4: "downgraded"}
    assert {trial["granted_degree"] for trial in answer.document["trials"]} == {1, 2}
    assert sorted(set(answer.metrics("dump_bytes"))) == [4096.0, 8192.0, 16384.0]
    labels = {item["label"] for trial in answer.document["trials"] for item in trial["items"]}
    assert {"DBATK.GTEST", "APP.ORDERS"} <= labels


def test_the_dump_of_a_job_stays_and_errors_in_its_log_fail_it(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        pump = standin.engine.state.datapump
        answer = context.run("datapump", "export", "--table", "GTEST", "--directory", "DUMPS")
        assert answer.status == 0, answer.said
        assert sorted(name.rpartition("_")[2] for _, name in pump.files) == ["01.dmp", "1.log"]
        said = "\n".join(map(str, answer.document["warnings"]))
        assert all(name in said for _, name in pump.files) and "DBATK_RUN" not in said
        assert ("METADATA_FILTER", "'GTEST'") in {(name, given.get("value")) for name, given in pump.calls}
        pump.errors = ('ORA-31693: Table data object "DBATK"."GTEST" failed to load/unload',)
        failed = context.run("datapump", "export", "--table", "GTEST", "--directory", "DUMPS")
        assert len(pump.files) == 2, "the files of the failed job are removed"
    (trial,) = failed.document["trials"]
    assert failed.status == 3 and "completed with 1 error, the first ORA-31693" in trial["reason"]


def test_what_begins_with_information_or_without_metrics_is_a_dump(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        pump = standin.engine.state.datapump
        pump.informs, pump.metrics, pump.language = True, False, "GERMAN"
        answer = context.run("datapump", "export", "--table", "GTEST", "--directory", "DUMPS", "--degree", "2")
        assert len(pump.files) == 3 and not pump.jobs
    assert answer.status == 0, answer.said
    (trial,) = answer.document["trials"]
    assert trial["granted_degree"] is None
    assert "whether tables failed is not known" in str(answer.document["warnings"])


@pytest.mark.thin(2)
@pytest.mark.parametrize(("ends", "reason"), [("STOPPED", "ended as STOPPED"), ("", "ORA-39087")])
def test_a_job_that_does_not_complete_leaves_nothing(ends: str, reason: str, tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        pump = standin.engine.state.datapump
        pump.ends = ends
        if not ends:
            _when(standin, "DBMS_DATAPUMP.OPEN", pump.directories.clear)
        answer = context.run("datapump", "export", "--table", "GTEST", "--directory", "DUMPS")
        assert not pump.files and not pump.jobs
    assert answer.status == 3 and reason in answer.document["trials"][0]["reason"]


def struck(context: Bench, begun: threading.Event, number: signal.Signals, *more: str) -> int:
    """Begin a dump, send a signal once it has begun, and return how the process ended."""
    asked = ("datapump", "export", "--table", "GTEST", "--directory", "DUMPS", *more)
    return struck_at(context, begun, number, *asked)


def struck_at(context: Bench, begun: threading.Event, number: signal.Signals, *line: str) -> int:
    """Begin a job, send a signal once it has begun, and return how the process ended."""
    process = context.start(*line, "--not-production")
    assert begun.wait(300)
    process.send_signal(number)
    process.communicate(timeout=300)
    return process.returncode


def test_a_job_of_a_killed_process_goes_on_until_clean_ends_it(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        pump = standin.engine.state.datapump
        pump.ends = "forever"
        began = _when(standin, "DBMS_DATAPUMP.OPEN", lambda: None)
        struck(context, began, signal.SIGKILL)
        assert pump.begun.wait(300)
        assert pump.jobs, "the server goes on"
        context.more = ()
        answer = context.run("clean")
        assert answer.status == 0, answer.document
        assert not pump.jobs and not pump.files


def test_files_of_a_job_that_another_instance_runs_are_left_and_it_is_named(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        pump = standin.engine.state.datapump
        pump.ends = "forever"
        struck(context, pump.begun, signal.SIGKILL)
        (job,) = pump.jobs
        pump.elsewhere, context.more = True, ()
        pump.files["DUMPS", f"{job}_01.dmp"] = "written so far"
        left = context.run("clean")
        assert pump.jobs == {job} and len(pump.files) == 1
        pump.elsewhere = False
        assert context.run("clean").status == 0 and not pump.jobs and not pump.files
    assert left.status == 3 and f"the Data Pump job {job} is still there" in str(left.document["left"])


def test_a_job_that_is_stopped_ends_on_the_server_and_is_done_again_by_resume(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        pump = standin.engine.state.datapump
        pump.ends = "forever"
        assert struck(context, pump.begun, signal.SIGINT) == 130 and not pump.jobs and not pump.files
        pump.ends = "COMPLETED"
        answer = context.run("runs", "resume", "last")
        assert answer.status == 0 and len(pump.files) == 2, answer.said


def test_what_cannot_be_had_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        nowhere = context.run("datapump", "export", "--table", "GTEST", "--directory", "NOWHERE")
        paid = context.run(
            "datapump", "export", "--table", "GTEST", "--directory", "DUMPS", "--compression", "all"
        )
        assert not any("DBMS_DATAPUMP" in text for text in standin.statements)
    assert nowhere.status == 5 and "directory `NOWHERE` does not exist in the database" in nowhere.error
    assert paid.status == 5 and "Advanced Compression" in paid.error
    plain = replace(work("datapump-export", 4), degree=4)
    assert DIALECT.work.support(plain, assumed("19-se2")).state is SupportState.UNSUPPORTED
