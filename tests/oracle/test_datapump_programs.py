"""Jobs of Data Pump that expdp and impdp do: measured, as jobs, refused, cut off; no password in sight."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import assumed, steps, work
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.test_datapump import EXPORT, struck
from tests.oracle.test_datapump_import import COPY, ROWS, TABLE, rows
from tests.oracle.test_live_statistics import ANALYZE_ANY, Bench
from tests.servers.programs import program
from toolkit.dialects.oracle.datapump import client
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.errors import ToolkitError
from toolkit.model.address import Address
from toolkit.model.values import QualifiedName
from toolkit.model.words import Mode, SupportState
from toolkit.targets.base import Access
from toolkit.targets.oracle_programs import logon_of

BY_PROGRAM = ("--method", "program")
CANARY = "cAnArY.4711"


@pytest.fixture(name="home")
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make an ORACLE_HOME with both programs."""
    for name in ("expdp", "impdp"):
        program(tmp_path / "home" / "bin" / name, f"tests.oracle.standin.{name}")
    monkeypatch.setenv("ORACLE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("STUB_LOG", str(tmp_path / "calls"))
    yield tmp_path


def calls(home: Path) -> list[str]:
    return (home / "calls").read_text().splitlines() if (home / "calls").exists() else []


def test_a_sweep_compares_package_and_program_and_leaves_no_file(home: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, home)
        pump = standin.engine.state.datapump
        levels = ("--method", "package,program", "--degree", "1,2", "--repeat", "1", "--warmup", "0")
        answer = context.run(*EXPORT, *levels)
        assert not pump.files and not pump.jobs, answer.said
    assert answer.status == 0, answer.said
    trials = answer.document["trials"]
    assert {(each["factors"]["method"], each["outcome"], each["granted_degree"]) for each in trials} == {
        ("package", "ok", 1), ("package", "ok", 2), ("program", "ok", 1), ("program", "ok", 2),
    }  # fmt: skip
    assert len(calls(home)) == 2
    one = next(line for line in calls(home) if "'PARALLEL=2'" in line)
    host = f"{standin.host}:{standin.port}/FREEPDB1"
    assert one.startswith(f"expdp dbatk@//{host} 600 AMERICAN_AMERICA.AL32UTF8 ['DIRECTORY=DUMPS', "), one
    assert "'SCHEMAS=DBATK,APP'" in one and "'METRICS=YES'" in one
    labels = {item["label"] for each in trials for item in each["items"]}
    assert {"DBATK.GTEST", "APP.ORDERS"} <= labels


def test_a_dump_by_expdp_stays_and_one_that_ends_with_errors_fails(home: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, home)
        pump = standin.engine.state.datapump
        asked = ("datapump", "export", "--table", "GTEST", "--directory", "DUMPS", *BY_PROGRAM)
        answer = context.run(*asked)
        assert answer.status == 0, answer.said
        assert sorted(name.rpartition("_")[2] for _, name in pump.files) == ["01.dmp", "1.log"]
        pump.errors = ('ORA-31693: Table data object "DBATK"."GTEST" failed to load/unload',)
        failed = context.run(*asked)
        assert len(pump.files) == 2, "the files of the failed job are removed"
    (trial,) = failed.document["trials"]
    assert failed.status == 3 and "completed with 1 error, the first ORA-31693" in trial["reason"]


def test_impdp_fills_a_table_that_is_counted(home: Path) -> None:
    with running_standin() as standin:
        context, pump = Bench(standin, home), standin.engine.state.datapump
        pump.files["DUMPS", "SHOP_01.dmp"] = "x" * 4096
        pump.dumped = {("APP", "ORDERS"): ROWS}
        answer = context.run(*COPY, "--bare", *BY_PROGRAM)
        assert answer.status == 0, answer.said
        assert rows(standin, "DBATK.ORDERS_2") == 500
        (call,) = calls(home)
        assert "'TABLES=APP.ORDERS'" in call and "'REMAP_TABLE=APP.ORDERS:ORDERS_2'" in call
        assert "'REMAP_SCHEMA=APP:DBATK'" in call and "'EXCLUDE=INDEX'" in call
        pump.loses = 20
        trial = context.run(*TABLE, "--if-exists", "replace", *BY_PROGRAM)
    assert trial.status == 3 and "480 rows" in trial.document["trials"][0]["reason"], trial.document


@pytest.mark.parametrize(
    ("variables", "code", "reason"),
    [({"STUB_STATUS": "1"}, "exit 1", "it ended with 1: Export: Release"), ({}, "ORA-39002", "ORA-39087")],
)
def test_a_program_that_fails_is_a_failed_trial_with_its_words(
    variables: dict[str, str], code: str, reason: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with running_standin() as standin:
        pump = standin.engine.state.datapump
        if not variables:
            standin.engine.state.datapump.refuses = True
        answer = Bench(standin, home).run(
            "datapump", "export", "--table", "GTEST", "--directory", "DUMPS", *BY_PROGRAM
        )
        assert not pump.files and not pump.jobs
    (trial,) = answer.document["trials"]
    assert answer.status == 3 and reason in trial["reason"], trial
    assert trial["error_code"] == code


def test_a_job_of_a_killed_program_goes_on_until_clean_ends_it(home: Path) -> None:
    with running_standin() as standin:
        context, pump = Bench(standin, home), standin.engine.state.datapump
        pump.ends = "forever"
        struck(context, pump.begun, signal.SIGKILL, *BY_PROGRAM)
        assert pump.jobs, "the server goes on"
        context.more = ()
        answer = context.run("clean")
        assert answer.status == 0, answer.document
        assert not pump.jobs and not pump.files


def test_a_stopped_program_ends_its_job_and_resume_does_it_again(home: Path) -> None:
    with running_standin() as standin:
        context, pump = Bench(standin, home), standin.engine.state.datapump
        pump.ends = "forever"
        assert struck(context, pump.begun, signal.SIGINT, *BY_PROGRAM) == 130
        assert not pump.jobs and not pump.files
        pump.ends = "COMPLETED"
        answer = context.run("runs", "resume", "last")
        assert answer.status == 0 and len(pump.files) == 2, answer.said


def test_a_password_is_typed_and_shown_nowhere(home: Path) -> None:
    with running_standin(Scenario(password=CANARY)) as standin:
        context = Bench(standin, home)
        pump = standin.engine.state.datapump
        pump.ends = "forever"
        process = context.start(
            "datapump", "export", "--table", "GTEST", "--directory", "DUMPS", *BY_PROGRAM, "--not-production"
        )
        assert pump.begun.wait(300)
        seen = b"".join(_bytes(each) for each in Path("/proc").glob("[0-9]*/cmdline"))
        assert b"PARFILE=/proc/" in seen
        pump.ends = "COMPLETED"
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    kept = b"".join(_bytes(each) for each in home.rglob("*") if each.is_file())
    assert CANARY.encode() not in seen + kept + out.encode() + err.encode()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_a_missing_program_is_refused_before_anything_is_sent_and_shown_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("ORACLE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        asked = ("datapump", "export", "--table", "GTEST", "--directory", "DUMPS", *BY_PROGRAM)
        answer = context.run(*asked)
        assert answer.status == 1 and "`expdp` was not found on this host" in answer.error
        context.more = ("--dry-run",)
        shown = context.run(*asked)
        assert not [text for text in standin.statements if "DATAPUMP." in text]
    assert "expdp USERID PARFILE=FILE, where FILE has:" in json.dumps(shown.document)


# -- how it gets in -----------------------------------------------------------------------------------------------
def entered(password: str | None, user: str | None = "hr", host: str | None = "db1", **options: str) -> str:
    address = Address("oracle", "DWH", user, host, 1522 if host else None)
    return logon_of(Access(address, lambda: password, options=tuple(options.items()))).argument


def test_the_user_of_the_target_logs_on_or_what_the_profile_says() -> None:
    assert entered("s3cret!") == "hr@//db1:1522/DWH"
    assert entered("s3cret!", protocol="tcps") == "hr@tcps://db1:1522/DWH"
    assert entered(None, None, None) == "/@DWH"
    assert entered("s3cret!", datapump_connect="/@dumps") == "/@dumps"
    assert entered(None, datapump_connect="/") == "/"


@for_each(
    ("password", "options"),
    [
        ("a b", {}), ('a"b', {}), ("a@b", {}), ("a\nb", {}), (None, {}), ("good1", {"mode": "sysdba"}),
        ("good1", {"proxy_user": "app"}), ("good1", {"datapump_connect": "hr/good1"}),
        ("good1", {"datapump_connect": "/ as sysdba"}),
    ],
)  # fmt: skip
def test_what_would_be_misread_or_is_not_known_is_refused(password: str | None, options: dict[str, str]) -> None:
    with pytest.raises(ToolkitError) as caught:
        entered(password, **options)
    assert caught.value.code == "TK-0201" and (password is None or password not in str(caught.value))
    assert "datapump_connect" in (caught.value.hint or "")


# -- the parameter file -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "line"),
    [
        (QualifiedName("ORDERS", "SHOP"), "TABLES=SHOP.ORDERS"),
        (QualifiedName("Orders", "SHOP"), 'TABLES=\'"SHOP"."Orders"\''),
        (QualifiedName("A#1", "SHOP"), 'TABLES=\'"SHOP"."A#1"\''),
    ],
)
def test_names_stand_in_the_file_as_the_manual_writes_them(name: QualifiedName, line: str) -> None:
    asked = replace(work("datapump-export", 1, method="program", schema=None), source=name)
    [step] = steps(DIALECT.work.timed(asked, assumed()))
    assert line in step.text.splitlines() and step.argv == ("expdp",)


@for_each(
    ("operation", "options", "table", "sentence"),
    [
        ("datapump-export", {}, "50%", "cannot name `50%` for sure"),
        ("datapump-export", {}, "it's", "cannot name `it's` for sure"),
        ("datapump-export", {"schema": ("APP", '"Odd one"')}, None, "`Odd one` in a list"),
        ("datapump-import", {"dump_files": ("B and C.dmp",)}, "T", "cannot name `B and C.dmp` for sure"),
        ("datapump-import", {"dump_files": ("A.dmp",), "into_schema": '"Odd one"'}, None, "`Odd one` in a list"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_with_the_package_as_the_way(
    operation: str, options: dict[str, object], table: str | None, sentence: str
) -> None:
    asked = work(operation, 1, Mode.JOB, method="program", **({"schema": ("APP",)} | options))
    asked = replace(asked, source=None if table is None else QualifiedName(table, "APP"), tables=())
    found = DIALECT.work.support(asked, assumed())
    assert found.state is SupportState.UNSUPPORTED and sentence in found.sentence, found
    other = replace(asked, options={**asked.options, "method": "package"})
    assert DIALECT.work.support(other, assumed()).ok


def test_exit_status_and_words_tell_how_it_ended() -> None:
    assert client.error(0, ()) is None and client.error(5, ("ORA-39151: exists",)) is None
    found = client.error(1, ("UDE-00008: operation generated ORACLE error 31626", "ORA-31626: job does not exist"))
    assert found is not None and found.code == "ORA-31626"
    silent = client.error(137, ("Export: Release 19", ""))
    assert silent is not None and silent.code == "exit 137" and "Export: Release 19" in silent.sentence
    kept = {"program": ({"exit_status": 5},), "log": ({"line": "Job ended"},)}
    refuted = DIALECT.work.of("datapump-export").refuted(work("datapump-export", 1, method="program"), kept)
    assert refuted is not None and "completed with 1 error" in refuted
