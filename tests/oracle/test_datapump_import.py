"""Imports by Data Pump: swept into tables that are dropped, done as a job and counted, cut off."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import assumed, work
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.test_datapump import struck_at
from tests.oracle.test_live_statistics import Bench
from toolkit.cli.main import main
from toolkit.dialects.implementations import AFTER, BEFORE
from toolkit.dialects.oracle.datapump.job import LOG
from toolkit.dialects.oracle.datapump.log import read
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Mode, ObjectKind, SupportState

FILES = ("--directory", "DUMPS", "--dump-files", "SHOP_%U.dmp")
TABLE = ("datapump", "import", "--table", "APP.ORDERS", *FILES, "--into-schema", "DBATK")
COPY = (*TABLE, "--into-table", "ORDERS_2")
ROWS = "SELECT range AS ID FROM range(500)"


def bench(standin: Standin, folder: Path) -> Bench:
    """Return a database whose directory has a dump of two tables."""
    pump = standin.engine.state.datapump
    pump.files["DUMPS", "SHOP_01.dmp"] = "x" * 4096
    pump.dumped = {("APP", "ORDERS"): ROWS, ("APP", "LINES"): f"{ROWS} LIMIT 70"}
    return Bench(standin, folder)


def rows(standin: Standin, name: str) -> int:
    schema, _, table = name.partition(".")
    return standin.engine.state.objects["TABLE", (schema, table)].rows


def test_a_log_of_an_import_is_read_like_that_of_a_dump() -> None:
    text = """Import: Release 19.0.0.0.0 - Production on Tue Jul 14 10:33:01 2020
ORA-39151: Table "HR"."JOBS" exists. All dependent metadata and data will be skipped
W-2 . . imported "HR"."EMPLOYEES"                        17.08 KB     107 rows in 1 seconds using direct_path
Job "SYS"."IMP" completed with 1 error(s) at Tue Jul 14 10:33:09 2020 elapsed 0 00:00:07
"""
    found = read(text)
    assert [(table.name, table.rows, table.bytes) for table in found.tables] == [
        ("HR.EMPLOYEES", 107, round(17.08 * 1024))
    ]
    assert (found.error_count, found.workers, found.errors[0][:9]) == (1, 1, "ORA-39151")


def test_a_sweep_imports_into_tables_of_its_own_and_leaves_none(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        context = bench(standin, tmp_path)
        answer = context.run(*TABLE, "--degree", "1,2", "--repeat", "1", "--warmup", "0")
        assert standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}, answer.said
        assert list(standin.engine.state.datapump.files) == [("DUMPS", "SHOP_01.dmp")]
        texts = [text for text in standin.statements if "'IMPORT'" in text]
    assert len(texts) == 2 and all("EXCLUDE_PATH_EXPR" in text and "REMAP_TABLE" in text for text in texts)
    # one table, so that a second worker reads nothing
    assert {t["factors"]["degree"]: t["outcome"] for t in answer.document["trials"]} == {1: "ok", 2: "downgraded"}
    assert set(answer.metrics("imported_rows")) == {500.0}


def test_a_job_imports_a_table_under_another_name_and_counts_it(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = bench(standin, tmp_path)
        answer = context.run(*COPY)
        assert answer.status == 0, answer.document
        assert rows(standin, "DBATK.ORDERS_2") == 500
        assert {name.rpartition(".")[2] for _, name in standin.engine.state.datapump.files} == {"dmp", "log"}
        again = context.run(*COPY)
        assert (again.status, rows(standin, "DBATK.ORDERS_2")) == (2, 500)
    assert "`DBATK.ORDERS_2` already exists" in again.error and "--if-exists" in str(again.document)


def test_a_table_goes_into_the_schema_that_is_named_with_it(tmp_path: Path) -> None:
    line = ("datapump", "import", "--table", "APP.ORDERS", *FILES)
    with running_standin() as standin:
        context = bench(standin, tmp_path)
        answer = context.run(*line, "--into-table", "DBATK.ORDERS_2")
        assert (answer.status, rows(standin, "DBATK.ORDERS_2")) == (0, 500), answer.document
        other = context.run(*line, "--into-table", "DBATK.ORDERS_3", "--into-schema", "APP")
        dotted = context.run(*line, "--into-schema", "APP.DBATK")
        assert len(standin.tables()) == 3
    assert other.status != 0 and "names another schema than `--into-schema APP`" in other.error
    assert dotted.status != 0 and "`APP.DBATK` has two parts" in dotted.error


@pytest.mark.thin(3)
@pytest.mark.parametrize(("action", "expected"), [("append", 1000), ("truncate", 500), ("replace", 500)])
def test_a_table_that_is_there_is_treated_as_asked(action: str, expected: int, tmp_path: Path) -> None:
    with running_standin() as standin:
        context = bench(standin, tmp_path)
        assert context.run(*TABLE).status == 0
        answer = context.run(*TABLE, "--if-exists", action)
        assert answer.status == 0, answer.document
        assert rows(standin, "DBATK.ORDERS") == expected


def test_a_table_that_may_not_be_read_is_imported_and_said_not_to_be_counted(tmp_path: Path) -> None:
    with running_standin() as standin:
        line = (*TABLE[:-2], "--into-table", "ORDERS_2")
        answer = bench(standin, tmp_path).run(*line)
        assert (answer.status, rows(standin, "APP.ORDERS_2")) == (0, 500)
    assert "`APP.ORDERS_2` were not counted" in str(answer.document["warnings"])


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("action", "said"),
    [
        ((), "has 497 rows, and the log"),
        (("--if-exists", "truncate"), "has 497 rows, and the log"),
        (
            ("--if-exists", "append"),
            "has 497 rows more than before, and the log",
        ),
    ],
)
def test_rows_that_the_log_tells_of_and_the_table_lacks_fail_the_job(
    action: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    with running_standin() as standin:
        context = bench(standin, tmp_path)
        if action:
            assert context.run(*TABLE).status == 0
        standin.engine.state.datapump.loses = 3
        answer = context.run(*TABLE, *action)
    (trial,) = answer.document["trials"]
    assert answer.status == 3 and f"{said} of Data Pump tells of 500 imported" in trial["reason"]


def test_schemas_are_imported_into_another_and_a_table_that_is_there_fails_the_job(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = bench(standin, tmp_path)
        line = ("datapump", "import", "--schema", "APP", *FILES)
        answer = context.run(*line, "--into-schema", "DBATK", "--degree", "2")
        assert answer.status == 0, answer.document
        assert (rows(standin, "DBATK.ORDERS"), rows(standin, "DBATK.LINES")) == (500, 70)
        failed = context.run(*line)
        nowhere = context.run(*line, "--into-schema", "NOBODY")
        measured = context.run(*line, "--degree", "1,2")
    assert failed.status == 3 and "ORA-39151" in failed.document["trials"][0]["reason"]
    assert nowhere.status == 2 and "no schema `NOBODY`" in nowhere.error
    assert measured.status != 0 and "the import of schemas is not measured" in measured.error


def test_a_dump_that_is_not_there_fails_with_the_words_of_the_database(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = bench(standin, tmp_path)
        standin.engine.state.datapump.files.clear()
        answer = context.run(*COPY)
        assert not standin.engine.state.datapump.jobs
    assert answer.status == 3 and "ORA-31640" in answer.document["trials"][0]["reason"]


def test_after_a_kill_clean_ends_the_job_and_drops_the_table_of_a_trial(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = bench(standin, tmp_path)
        pump = standin.engine.state.datapump
        pump.ends = "forever"
        struck_at(context, pump.begun, signal.SIGKILL, *TABLE, "--repeat", "2", "--warmup", "0")
        assert pump.jobs and len(standin.tables()) == 3, "the server goes on"
        context.more = ()
        answer = context.run("clean")
        assert answer.status == 0, answer.document
        assert not pump.jobs and standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}
        assert list(pump.files) == [("DUMPS", "SHOP_01.dmp")]


def test_a_job_that_is_stopped_ends_on_the_server_and_keeps_what_it_imported(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = bench(standin, tmp_path)
        pump = standin.engine.state.datapump
        pump.ends = "forever"
        assert struck_at(context, pump.begun, signal.SIGINT, *COPY) == 130 and not pump.jobs
        assert rows(standin, "DBATK.ORDERS_2") == 500


def test_an_append_that_was_cut_off_is_not_repeated_before_somebody_counted(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = bench(standin, tmp_path)
        assert context.run(*TABLE).status == 0
        pump = standin.engine.state.datapump
        pump.ends = "forever"
        pump.begun.clear()
        struck_at(context, pump.begun, signal.SIGKILL, *TABLE, "--if-exists", "append")
        pump.ends, context.more, calls = "COMPLETED", ("--not-production",), pump.calls
        asked = context.run("runs", "resume", "last")
        assert asked.status != 0 and "it is unknown whether the rows" in asked.error
        assert "DBATK.ORDERS" in asked.error and "--rows missing" in str(asked.document)
        assert pump.calls is calls and not pump.jobs, "the server's job was ended, and none begun"
        answered = context.run("runs", "resume", "last", "--rows", "there")
        assert answered.status == 0 and pump.calls is calls, answered.document


@pytest.mark.parametrize("more", [(), ("--if-exists", "replace")])
def test_rows_alone_are_added_to_no_table_unless_that_was_said(more: tuple[str, ...], tmp_path: Path) -> None:
    with running_standin() as standin:
        answer = bench(standin, tmp_path).run(*TABLE, "--content", "data_only", *more)
        assert not standin.engine.state.datapump.calls
    assert answer.status == 2 and "to whose rows Data Pump would add its own" in answer.error


def test_what_data_pump_does_not_do_is_refused() -> None:
    source, dump = QualifiedName("ORDERS", "APP"), ObjectRef(ObjectKind.DUMP, QualifiedName("DBATK_1_1", "DUMPS"))
    made = work("datapump-import", 1, Mode.JOB, ref=dump, dump_files=("X.dmp",), if_exists="append")
    made = replace(made, source=source, tables=(QualifiedName("O2", "APP"),))
    found = DIALECT.work.support(made, assumed())
    assert found.state is SupportState.UNSUPPORTED and "does not rename into a table that exists" in found.sentence


def _kept(after: int, before: int = 0) -> dict[str, tuple[Row, ...]]:
    text = '. . imported "APP"."ORDERS"  4 KB     500 rows\nJob "A"."B" successfully completed at now\n'
    counts: dict[str, tuple[Row, ...]] = {BEFORE: ({"row_count": before},), AFTER: ({"row_count": after},)}
    return {LOG: ({"piece": 1, "log_text": f"<{text}>"},), **counts}


@for_each(
    ("mode", "after", "refuted"),
    [(Mode.JOB, 500, False), (Mode.JOB, 503, False), (Mode.JOB, 499, True), (Mode.MEASUREMENT, 503, True)],
)
def test_rows_that_others_inserted_meanwhile_do_not_fail_a_good_import(
    mode: Mode, after: int, *, refuted: bool
) -> None:
    how = DIALECT.work.of("datapump-import")
    asked = work("datapump-import", 1, mode, dump_files=("A.dmp",), if_exists="append")
    kept = _kept(after + 70, before=70)
    assert (how.refuted(asked, kept) is not None) is refuted
    said = " ".join(how.tell(asked, kept, {}, 1.0).sentences)
    assert ("3 rows more than the log tells of" in said) == (after == 503 and not refuted)


def test_a_job_may_leave_out_what_needs_names(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = bench(standin, tmp_path)
        answer = context.run(*COPY, "--bare")
        assert answer.status == 0, answer.said
        assert "EXCLUDE_PATH_EXPR" in next(text for text in standin.statements if "'IMPORT'" in text)


def test_a_bundle_lets_impdp_do_the_same_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, folder = tmp_path / "i.toml", tmp_path / "bundle"
    line = [*COPY, "--bare", "--degree", "2", "-t", "oracle://APP@h/s", "--method", "program"]
    assert main([*line, "--save-as", str(spec)]) == 0
    assert main(["export", str(spec), "--out", str(folder), "--assume", "19-ee"]) == 0
    capsys.readouterr()
    lines = (folder / "sql" / "t0001-i1.par").read_text().splitlines()
    assert {"DIRECTORY=DUMPS", "DUMPFILE=SHOP_%U.dmp", "PARALLEL=2", "TABLES=APP.ORDERS"} <= set(lines)
    assert {"REMAP_SCHEMA=APP:DBATK", "REMAP_TABLE=APP.ORDERS:ORDERS_2", "EXCLUDE=INDEX"} <= set(lines)
    assert not [line for line in lines if "USERID" in line.upper() or "'" in line]
    assert "HOST sh datapump.sh " in (folder / "sql" / "t0001.sql").read_text()


def test_a_log_of_many_pieces_is_put_together_as_it_was() -> None:
    how = DIALECT.work.of("datapump-import")
    text = '. . imported "APP"."ORDERS"  4 KB     500 rows\nJob "A"."B" completed with 1 error(s) at now\n'
    halves = text[:60].replace("\n", "<br>"), text[60:].replace("\n", "<br>")
    pieces = tuple({"piece": at, "log_text": f"<{half}> "} for at, half in reversed(tuple(enumerate(halves, 1))))
    told = how.tell(work("datapump-import", 1, Mode.JOB, dump_files=("A.dmp",)), {LOG: pieces}, {}, 1.0)
    assert [(item.label, item.rows) for item in told.items] == [("APP.ORDERS", 500)]
    assert "completed with 1 error" in str(how.refuted(work("datapump-import", 1), {LOG: pieces}))
