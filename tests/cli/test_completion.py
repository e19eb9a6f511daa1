"""Completion: values that the shell can be offered, never an error, a prompt or a wait."""

from __future__ import annotations

import os
import pty
import re
import shlex
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import TWO_STEPS, Dbatk
from tests.for_each import for_each
from tests.servers.forks import Forked
from toolkit.app import completing
from toolkit.cli.completing import completed_words
from toolkit.store import open_store

PROGRAM = "import sys; from toolkit.cli.main import main; sys.exit(main([]))"

PIECE = re.compile(r"""[:=@]+|(?:"(?:[^"\\]|\\.)*(?:"|$)|'[^']*(?:'|$)|[^\s:=@"'])+""")
"""A piece that bash cuts of a line: see COMP_WORDBREAKS, and quotes, which it leaves as they are."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(completing, "LIMIT_SECONDS", 60.0)
    with duckdb.connect("x.duckdb") as database:
        database.execute('CREATE TABLE orders (id INTEGER, "Order ID" INTEGER); CREATE TABLE others (a INTEGER)')
        database.execute("CREATE SCHEMA shop; CREATE TABLE shop.sales (b INTEGER); CREATE INDEX ix ON others (a)")
        database.execute('CREATE TABLE shop."A.b" (c INTEGER)')
    return tmp_path


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a fork ask the database, which has imported all, in place of a new process."""

    def ask(question: str) -> None:
        with Forked("toolkit.app.completing", stdin=subprocess.PIPE) as asking:
            asking.communicate(question)

    monkeypatch.setattr(completing, "_ask", ask)


def completed(line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what bash is offered for the last word of a line; a blank at its end begins a new one."""
    from toolkit.cli.main import main

    pieces = [*PIECE.findall(line), *([""] if line.endswith(" ") else [])]
    monkeypatch.setenv("_DBATK_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "\n".join(pieces))
    monkeypatch.setenv("COMP_CWORD", str(len(pieces) - 1))
    with pytest.raises(SystemExit):
        main([])
    answer = capsys.readouterr()
    assert answer.err == ""
    return answer.out.split("\n")[:-1] if answer.out.strip() else []


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("dbatk ctas --compression n", ["none"]),
        ("dbatk ctas --compression none,query", ["none,query_low", "none,query_high"]),
        ("dbatk ctas -t duckdb:///x.duckdb --compression ", ["none", "auto"]),
        ("dbatk ctas --keep ", ["none", "best", "all"]),
        ("dbatk ctas --degree d", ["default"]),
        ("dbatk ctas -t ", ["crm", "shop"]),
        ("dbatk ctas -t duckdb:///x.duckdb --source o", ["orders", "others"]),
        ("dbatk ctas -t duckdb:///x.duckdb --source shop.s", ["shop.sales"]),
        ("dbatk ctas -t duckdb:///x.d", ["///x.duckdb"]),
        ("dbatk ctas -t duckdb:///./x.d", ["///./x.duckdb"]),
        ("dbatk ctas -t duckdb:///nowhere/x.d", []),
        ("dbatk index rebuild -t duckdb:///x.duckdb --index ", ["ix"]),
        ("dbatk index build -t duckdb:///x.duckdb --table orders --columns id,O", ["'id,\"Order ID\"'"]),
        ("dbatk index build -t duckdb:///x.duckdb --table orders --columns o", ["'\"Order ID\"'"]),
        ("dbatk index build -t duckdb:///x.duckdb --table orders --columns 'id,O", ['id,"Order ID"']),
        ('dbatk index build -t duckdb:///x.duckdb --table orders --columns "O', ['\\"Order ID\\""']),
        ('dbatk index build -t duckdb:///x.duckdb --table orders --columns id,"O', ['\\"Order ID\\""']),
        ("dbatk index build -t duckdb:///x.duckdb --table shop.sales --columns ", ["b"]),
        ("dbatk ctas -t duckdb:///x.duckdb --source shop.A", ["'shop.\"A.b\"'"]),
        ("dbatk ctas -t=duckdb:///x.duckdb --source=o", []),
        ("dbatk ctas --target=duckdb:///x.duckdb --source=or", ["orders"]),
        ("dbatk ctas --compression=none,query", ["none,query_low", "none,query_high"]),
        ("dbatk ctas -t duckdb:///x.duckdb --source '\"Unreadable", []),
        ("dbatk ctas --source o", []),
        ("dbatk ctas -t duckdb:///nothere.duckdb --source o", []),
        ("dbatk ctas -t nosuchprofile --source o", []),
        ("dbatk runs show ", []),
        ("dbatk plan report ", []),
        ("dbatk target remove c", ["crm"]),
        ("dbatk target test ", ["crm", "shop"]),
        ("dbatk target add x duckdb:///x.duckdb --license tun", ["tuning_pack"]),
        ("dbatk report --format m", ["markdown"]),
        ("dbatk plan report --format ", ["text", "html", "json"]),
        ("dbatk plan schedule add x --kind ", ["systemd", "cron", "oracle"]),
        ("dbatk run x --log-format j", ["json"]),
        ("dbatk runs resume x --rows ", ["there", "missing"]),
        ("dbatk doctor --operation ct", ["ctas"]),
        ("dbatk snapshot take x --provider pg", ["pgstat"]),
        ("dbatk ctas --snapshot o", ["osstat"]),
        ("dbatk audit list --kind app", ["approve"]),
        ("dbatk error TK-013", ["TK-0130"]),
        ("dbatk restore try -t duckdb:///x.duckdb --tables orders,ot", ["orders,others"]),
        ("dbatk stats gather -t duckdb:///x.duckdb --schema main,s", ["main,shop"]),
        ("dbatk ctas -t duckdb:///x.duckdb --work-schema s", ["shop"]),
        ("dbatk ctas -t duckdb:///x.duckdb --setting threads", ["threads="]),
        ("dbatk ctas --setting thr", []),
        ("dbatk ctas --guard min_free", ["min_free.tablespace=", "min_free.temp=", "min_free.recovery_area="]),
        ("dbatk ctas --judge t", ["throughput"]),
        ("dbatk ctas --allow-production c", ["crm"]),
    ],
)
@pytest.mark.usefixtures("forked")
def test_values_are_completed(
    line: str, offered: list[str], home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config").mkdir(mode=0o700)
    (home / "config" / "targets.toml").write_text(
        '[targets.crm]\nurl = "duckdb:///x.duckdb"\n[targets.shop]\nurl = "duckdb:///x.duckdb"\n', encoding="utf-8"
    )
    before = sorted(path.name for path in home.iterdir())
    assert completed(line, capsys, monkeypatch) == offered
    assert [name for name in sorted(path.name for path in home.iterdir()) if name not in before] in (
        [], ["home"], ["xdg_cache_home"],
    )  # fmt: skip


def test_runs_labels_and_configurations_are_completed(
    dbatk: Dbatk, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = (
        "ctas -t duckdb:///x.duckdb --source others --table copy --degree 1,2 --repeat 1 --warmup 0 --label weekly"
    )
    made = dbatk(*line.split(), "--store", str(home / "store.sqlite"))
    assert made.status == 0, made.err
    assert completed("dbatk runs show w", capsys, monkeypatch) == ["weekly"]
    offered = completed("dbatk report ", capsys, monkeypatch)
    assert offered[:2] == ["last", "weekly"] and len(offered) == 3
    assert sorted(completed("dbatk compare last/", capsys, monkeypatch)) == ["last/degree=1", "last/degree=2"]
    assert sorted(completed("dbatk compare last/degree=", capsys, monkeypatch)) == ["1", "2"]
    assert completed("dbatk compare last weekly/degree=2", capsys, monkeypatch) == ["2"]


def test_labels_of_runs_and_snapshots_and_metrics_are_completed(
    dbatk: Dbatk, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, store = "duckdb:///x.duckdb", str(home / "store.sqlite")
    job = f"ctas -t {url} --source others --table copy --label weekly --store {store}"
    assert dbatk(*job.split()).status == 0
    assert dbatk("snapshot", "take", "hourly", "-t", url, "--store", store).status == 0
    assert completed("dbatk ctas --label ", capsys, monkeypatch) == ["weekly"]
    assert completed("dbatk ctas --judge e", capsys, monkeypatch)[0] == "elapsed"
    assert completed("dbatk compare h", capsys, monkeypatch) == ["hourly"]
    assert completed("dbatk snapshot take h", capsys, monkeypatch) == ["hourly"]
    offered = completed("dbatk compare ", capsys, monkeypatch)
    assert (offered[:2], offered[-1], len(offered)) == (["last", "weekly"], "hourly", 4)


def test_plan_runs_and_their_steps_are_completed(
    dbatk: Dbatk, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with duckdb.connect("small.duckdb") as database:
        database.execute("CREATE TABLE small AS SELECT 1 AS i")
    (home / "p.toml").write_text(TWO_STEPS, encoding="utf-8")
    made = dbatk("run", "p.toml", "--store", str(home / "store.sqlite"))
    assert made.status == 0, made.err
    offered = completed("dbatk plan report ", capsys, monkeypatch)
    assert offered[:2] == ["last", "nightly"] and len(offered) == 3
    assert completed("dbatk plan history ", capsys, monkeypatch) == ["copy", "index"]
    assert completed("dbatk plan report last --plan ", capsys, monkeypatch) == ["nightly"]
    assert completed("dbatk audit list --plan n", capsys, monkeypatch) == ["nightly"]
    monkeypatch.delenv("_DBATK_COMPLETE")
    assert dbatk("plan", "report", offered[2], "--store", str(home / "store.sqlite")).status == 0


@pytest.mark.full
@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("--source or", ["--source", "orders"]),
        ("--source=or", ["--source=orders"]),
        ('--source \'"shop".A', ["--source", '"shop"."A.b"']),
        ("--table orders --columns id,O", ["--table", "orders", "--columns", 'id,"Order ID"']),
        ('--table orders --columns "id,o', ["--table", "orders", "--columns", 'id,"Order ID"']),
    ],
)
def test_bash_completes_a_line_to_what_the_database_takes_for_the_name(
    typed: str, read: list[str], home: Path
) -> None:
    url = "duckdb:///x.duckdb"
    assert completing.names(url, "tables") and completing.names(url, "columns", table="orders")
    assert completing.names(url, "tables", schema='"shop"')
    script = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True,
        env={**os.environ, "_DBATK_COMPLETE": "source_bash"},
    ).stdout  # fmt: skip
    asked = " $1 ) )"
    assert asked in script, "what it asks is asked of this program here"
    (home / "rc").write_text(
        f"{script.replace(asked, ' ./completing ) )')}\ndbatk() {{ printf '%s\\n' \"$@\" > read; }}\n",
        encoding="utf-8",
    )
    (home / "completing").write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, '-c', PROGRAM])}\n")
    (home / "completing").chmod(0o755)
    ours, theirs = pty.openpty()
    os.write(ours, f"dbatk ctas -t {url} {typed}\t\nexit\n".encode())
    bash = ["bash", "--noprofile", "--rcfile", "rc", "-i"]
    subprocess.run(
        bash, stdin=theirs, stdout=theirs, stderr=theirs, check=True, start_new_session=True, timeout=60
    )
    os.close(theirs)
    os.close(ours)
    assert (home / "read").read_text(encoding="utf-8").splitlines()[3:] == read


@pytest.mark.full
def test_names_are_kept_for_nobody_else_and_asked_again_when_old(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert completing.names("duckdb:///x.duckdb", "tables") == ["orders", "others"]
    (kept,) = home.rglob("completion.json")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    (home / "x.duckdb").unlink()
    assert completing.names("duckdb:///x.duckdb", "tables") == ["orders", "others"]
    later = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: later)
    assert completing.names("duckdb:///x.duckdb", "tables") == []
    kept.write_text("no json", encoding="utf-8")
    assert completing.names("duckdb:///x.duckdb", "tables") == []


def test_a_database_that_does_not_answer_holds_up_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    class Endless(subprocess.Popen[bytes]):
        def __init__(self, arguments: list[str], **given: object) -> None:
            asked.append(arguments)
            super().__init__([sys.executable, "-c", "import signal; signal.pause()"], **given)  # type: ignore[call-overload]

    monkeypatch.setattr(completing, "LIMIT_SECONDS", 0.05)
    began: list[Endless] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: began.append(Endless(*a, **k)) or began[-1])
    assert completing.names("duckdb:///x.duckdb", "tables") == []
    assert len(asked) == 1
    os.kill(began[0].pid, 9)
    os.waitpid(began[0].pid, 0)


def test_completion_needs_no_home(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completing, "_file", lambda: (_ for _ in ()).throw(OSError("no home")))
    assert completed("dbatk ctas -t duckdb:///x.duckdb --source o", capsys, monkeypatch) == []
    assert completed("dbatk ctas --compression n", capsys, monkeypatch) == ["none"]


@pytest.mark.parametrize("given", [("--install-completion", "zsh"), ("--install-completion=zsh",)])
def test_completion_for_a_shell_that_is_named_is_refused_with_what_to_call_there(
    home: Path, dbatk: Dbatk, given: tuple[str, ...]
) -> None:
    refused = dbatk(*given)
    assert refused.status == 2
    assert "hint: `zsh -c 'dbatk --install-completion'`" in refused.err
    assert not Path(os.environ["HOME"]).exists()


@pytest.mark.full
def test_completion_runs_nothing_from_the_folder_that_is_worked_in(home: Path) -> None:
    (home / "toolkit").mkdir()
    (home / "toolkit" / "__init__.py").write_text("open('taken', 'w').close()", encoding="utf-8")
    assert completing.names("duckdb:///x.duckdb", "tables") == ["orders", "others"]
    assert not (home / "taken").exists()


def test_a_key_press_neither_makes_a_store_nor_changes_one(home: Path) -> None:
    store = home / "store.sqlite"
    assert completing.runs(None) == [] and completing.cells(None, "last") == []
    assert not store.exists()
    with open_store(store):
        pass
    with closing(sqlite3.connect(store)) as opened:
        opened.execute("UPDATE schema_version SET version = 8")
        opened.commit()
    before = store.read_bytes()
    assert completing.runs(None) == []
    assert store.read_bytes() == before and list(home.glob("*.version*")) == []


@pytest.mark.full
def test_a_server_that_refused_is_not_asked_again_for_anything(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "postgresql://nobody@127.0.0.1:1/none"
    assert completing.names(url, "tables") == []
    asked: list[str] = []
    monkeypatch.setattr(completing, "_ask", asked.append)
    assert completing.names(url, "columns", table="t") == [] and asked == []
    assert completing.names("duckdb:///x.duckdb", "tables") == [] and len(asked) == 1


def test_nothing_is_asked_where_no_note_can_be_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(completing, "_ask", asked.append)
    (home / "xdg_cache_home").write_text("a file where the folder would be", encoding="utf-8")
    assert completing.names("duckdb:///x.duckdb", "tables") == [] and asked == []


def test_what_is_installed_is_completed_where_it_is_removed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolkit.app.scheduling import Crontab, Scheduled, SchedulerKind, Units

    def one(name: str, kind: SchedulerKind) -> Scheduled:
        return Scheduled(name, kind, "", "p.toml", ())

    monkeypatch.setattr(Units, "list", lambda _: iter([one("nightly", SchedulerKind.SYSTEMD)]))
    monkeypatch.setattr(Crontab, "list", lambda _: iter([one("weekly", SchedulerKind.CRON)]))
    assert completed("dbatk plan schedule remove ", capsys, monkeypatch) == ["nightly", "weekly"]


LINES = ("dbatk c", "dbatk --", "dbatk backup ", "dbatk ctas -", "dbatk runs ", "dbatk compare --")


@pytest.mark.parametrize("line", LINES)
def test_a_program_that_builds_what_the_line_needs_offers_as_much_as_the_whole(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = completed(line, capsys, monkeypatch)  # tests share the whole command line
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (sorted(ran.stdout.split("\n")[:-1]), ran.stderr) == (sorted(whole), "")


@for_each(
    ("environ", "words"),
    [
        ({}, None),
        ({"_DBATK_COMPLETE": "source_bash"}, None),
        ({"_DBATK_COMPLETE": "complete_bash", "COMP_WORDS": "dbatk ctas --so", "COMP_CWORD": "2"}, ("ctas",)),
        ({"_DBATK_COMPLETE": "complete_bash", "COMP_WORDS": "dbatk", "COMP_CWORD": "1"}, ()),
        ({"_DBATK_COMPLETE": "complete_bash", "COMP_WORDS": "dbatk ctas 'a b", "COMP_CWORD": "2"}, ("ctas",)),
        ({"_DBATK_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "dbatk runs sh"}, ("runs",)),
        ({"_DBATK_COMPLETE": "complete_fish", "_TYPER_COMPLETE_ARGS": "dbatk runs "}, ("runs",)),
        ({"_DBATK_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "dbatk "}, ()),
        ({"_DBATK_COMPLETE": "complete_zsh"}, ()),
    ],
)
def test_the_words_before_the_one_that_is_completed_are_read_from_every_shell(
    environ: dict[str, str], words: tuple[str, ...] | None
) -> None:
    assert completed_words(environ) == words
