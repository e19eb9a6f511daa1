"""Whatever goes wrong is a sentence, a hint and a status; a traceback only for who asks."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.for_each import for_each
from tests.servers.forks import Forked
from tests.tiers import thinned
from toolkit.errors import CATALOGUE, ToolkitError

ORACLE = "oracle://u@127.0.0.1:1/x"


def fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def broken(*_: object, **__: object) -> object:
        raise error

    monkeypatch.setattr("toolkit.config.profiles.load_profiles", broken)


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_every_code_gives_its_status_in_words_and_in_json(
    code: str, dbatk: Dbatk, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_with(monkeypatch, ToolkitError("it broke", code=code, hint="mend it", database_code="ORA-00942"))
    words = dbatk("target", "list")
    assert words.status == CATALOGUE[code].exit_code
    assert words.out == ""
    assert words.err == f"error: ORA-00942: it broke [{code}]\n\nhint: mend it\n"
    document = dbatk("target", "list", "--json")
    assert document.status == CATALOGUE[code].exit_code
    assert document.err == ""
    assert json.loads(document.out) == {
        "error": {"code": code, "message": "ORA-00942: it broke", "hint": "mend it"}
    }


def test_an_unexpected_exception_shows_its_kind_but_not_its_text(
    dbatk: Dbatk, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_with(monkeypatch, ZeroDivisionError("s3cr3tXcanary"))
    answer = dbatk("target", "list")
    assert answer.status == 1
    assert "ZeroDivisionError [TK-0901]" in answer.err
    assert "Traceback" not in answer.err
    assert "s3cr3tXcanary" not in answer.err
    debugged = dbatk("target", "list", "--debug").err
    assert "Traceback" in debugged
    assert "s3cr3tXcanary" in debugged


def test_an_interruption_ends_with_130(dbatk: Dbatk, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, KeyboardInterrupt())
    answer = dbatk("target", "list")
    assert answer.status == 130
    assert "Traceback" not in answer.err


def test_control_characters_of_a_database_do_not_reach_the_terminal(
    dbatk: Dbatk, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_with(monkeypatch, ToolkitError("a\x1b[2Jb\u202ec\x07\x9bd", code="TK-0203", hint="x\x1b]0;y"))
    answer = dbatk("target", "list")
    assert "a[2Jbcd" in answer.err
    assert not set(answer.err) & set("\x1b\x07\x9b\u202e")


@for_each(
    ("line", "near"),
    [
        (["ctsa"], "`ctas`"),
        (["indx", "build"], "`index`"),
        (["index", "rebiuld"], "`rebuild`"),
        (["ctas", "--sorce", "x"], "`--source`"),
        (["runs", "list", "--limt", "3"], "`--limit`"),
        (["ctas", "--estimate-percent", "3"], "see `dbatk ctas --help`"),
    ],
)
def test_unknown_words_suggest_the_nearest(line: list[str], near: str, dbatk: Dbatk) -> None:
    answer = dbatk(*line)
    assert answer.status == 2
    assert near in answer.err
    assert answer.out == ""
    assert json.loads(dbatk(*line, "--json").out)["error"]["code"] == "TK-0101"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (["ctas", "--source", "a", "--table", "b"], "TK-0107"),
        (["ctas", "-t", "duckdb:///x", "--source", "a"], "TK-0107"),
        (["ctas", "-t", "duckdb:///x", "--source", "a", "--table", "b", "--degree", "0"], "TK-0102"),
        (["ctas", "-t", "duckdb:///x", "--source", "a", "--table", "b", "--degree", "-1"], "TK-0102"),
        (["ctas", "-t", "duckdb:///x", "--source", "a", "--table", "b", "--degree", "1000000000"], "TK-0102"),
        (["ctas", "-t", "duckdb:///x", "--source", "a", "--table", "b", "--degree", "x"], "TK-0102"),
        (["ctas", "-t", "duckdb:///x", "--source", "a", "--table", "b", "--degree", ""], "TK-0103"),
        (["ctas", "-t", "duckdb:///x", "--source", "a", "--table", "b", "--degree"], "TK-0102"),
        (["ctas", "-t", "duckdb:///x", "--source", "a", "--table", "b", "--repeat", "x"], "TK-0102"),
        (["ctas", "-t", "duckdb:///x", "--source", "a", "--table", "b", "--repeat", "0"], "TK-0102"),
        (["ctas", "-t", "duckdb:///x", "--source", "a", "--table", "b", "--budget", "5"], "TK-0102"),
        (["ctas", "-t", "duckdb:///x", "--source", "a", "--table", "b", "--keep", "bst"], "TK-0102"),
        (["ctas", "-t", "duckdb:///x", "--source", "a", "--table", "b", "--assume", "2.0"], "TK-0107"),
        (["ctas", "-t", "duckdb:///x", "--source", "a", "--table", "b", "--dry-run", "--assume=1.4"], "TK-0102"),
        (["ctas", "--source", "a", "--table", "b", "--dry-run", "--assume=19-se1"], "TK-0102"),
        (["ctas", "-t", "duckdb:///x", "--query", "none.sql", "--table", "b"], "TK-0106"),
        (["ctas", "-t", "nowhere", "--source", "a", "--table", "b"], "TK-0111"),
        (["ctas", "-t", "mysql://h/x", "--source", "a", "--table", "b"], "TK-0111"),
        (["run", "none.toml"], "TK-0106"),
        (["run"], "TK-0102"),
        (["runs", "show", "none"], "TK-0109"),
        (["runs", "list", "--limit", "0"], "TK-0102"),
        (["report", "last", "--format", "pdf"], "TK-0102"),
        (["compare", "a", "b"], "TK-0109"),
        (["compare", "a", "b", "--fail-if", "slower"], "TK-0102"),
        (["error", "XX-1"], "TK-0101"),
        (["doctor"], "TK-0107"),
        (["target", "add", "a b", "duckdb:///x"], "TK-0104"),
        (["target", "add", "a", "duckdb:///x", "--license", "awr", "--licensed-by", "me"], "TK-0101"),
        (["target", "add", "a", "duckdb:///x", "--password-env", "A", "--wallet", "w"], "TK-0107"),
        (["target", "remove", "none"], "TK-0111"),
    ],
)
def test_bad_input_exits_2_and_changes_nothing(line: list[str], code: str, dbatk: Dbatk, home: Path) -> None:
    answer = dbatk(*line)
    assert answer.status == 2
    assert f"[{code}]" in answer.err, answer.err
    assert "\n\nhint: " in answer.err
    assert not (home / "x").exists()
    assert not (home / "config" / "targets.toml").exists()
    assert json.loads(dbatk(*line, "--json").out)["error"]["code"] == code


def test_a_server_that_is_not_there_exits_1(dbatk: Dbatk) -> None:
    answer = dbatk("doctor", "-t", "oracle://dba@127.0.0.1:1/x", "--json")
    assert answer.status == 1
    assert json.loads(answer.out)["error"]["code"] == "TK-0201"


def test_a_foreign_store_exits_2(dbatk: Dbatk, home: Path) -> None:
    (home / "notes.txt").write_text("these are notes, no store\n" * 50)
    answer = dbatk("runs", "list", "--store", str(home / "notes.txt"))
    assert answer.status == 2
    assert "[TK-0402]" in answer.err


def test_an_output_that_cannot_be_written_exits_1(dbatk: Dbatk, url: str) -> None:
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "s2").status == 0
    answer = dbatk("report", "last", "--out", "none/report.html")
    assert (answer.status, "[TK-0405]" in answer.err) == (1, True)


def test_a_reader_that_goes_away_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "toolkit", "ctas", "--help"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert done.stderr == ""


@pytest.mark.parametrize("number", thinned([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], 3))
def test_a_signal_while_a_password_command_runs_ends_with_130(home: Path, number: signal.Signals) -> None:
    script = "import os, time; print('', file=open('begun', 'w')); time.sleep(60)"
    config = home / "config"
    config.mkdir()
    command = json.dumps([sys.executable, "-c", script])
    (config / "targets.toml").write_text(f'[targets.x]\nurl = "{ORACLE}"\npassword = {{command = {command}}}\n')
    process = Forked("toolkit", "target", "test", "x")
    while not (home / "begun").exists():
        assert process.poll() is None
    process.send_signal(number)
    _, shown = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in shown


@pytest.mark.parametrize("line", [("report", "last", "--out"), ("runs", "export", "last", "--out")])
def test_a_database_is_not_replaced_by_a_page(dbatk: Dbatk, url: str, home: Path, line: tuple[str, ...]) -> None:
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "s2").status == 0
    before = (home / "small.duckdb").read_bytes()
    (home / "small.html").write_bytes(before)  # under a name that a page may have
    answer = dbatk(*line, "small.html")
    assert (answer.status, "exists and is not a text file" in answer.err) == (1, True)
    assert dbatk(*line, "small.duckdb").status in (1, 2)
    assert {(home / name).read_bytes() for name in ("small.html", "small.duckdb")} == {before}


def test_a_report_is_written_again_over_the_last_one(dbatk: Dbatk, url: str) -> None:
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "s2").status == 0
    assert [dbatk("report", "last", "--out", "r.html").status for _ in range(2)] == [0, 0]


@pytest.mark.parametrize("store", [f"postgresql://u:{'geheim'}@h/d", "postgresql://u@h/d?password=geheim"])
def test_a_password_in_the_url_of_the_store_is_refused(dbatk: Dbatk, store: str) -> None:
    answer = dbatk("runs", "list", "--store", store)
    assert (answer.status, "[TK-0108]" in answer.err, "geheim" in answer.err) == (2, True, False)


def test_a_query_may_begin_with_a_byte_order_mark(dbatk: Dbatk, url: str, home: Path) -> None:
    (home / "query.sql").write_bytes(b"\xef\xbb\xbfselect 1 as a")
    assert dbatk("ctas", "-t", url, "--query", "query.sql", "--table", "s2").status == 0


@pytest.mark.parametrize("more", [(), ("--repeat", "2", "--work-schema", "nowhere")])
@pytest.mark.parametrize("shown", [(), ("--dry-run",)])
def test_a_schema_that_is_not_there_is_refused_before_anything_runs(
    dbatk: Dbatk, url: str, more: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    table = "s2" if more else "nowhere.s2"
    answer = dbatk("ctas", "-t", url, "--source", "small", "--table", table, *more, *shown)
    assert (answer.status, "there is no schema `nowhere`" in answer.err) == (2, True)
    assert json.loads(dbatk("runs", "list", "--json").out)["runs"] == []


def test_the_hint_for_an_odd_name_can_be_pasted(dbatk: Dbatk, url: str) -> None:
    answer = dbatk("ctas", "-t", url, "--source", "small", "--table", "a;b")
    assert answer.status == 2
    (told,) = re.findall(r"write (\S+)", answer.err)
    (name,) = shlex.split(told)
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", name).status == 0
