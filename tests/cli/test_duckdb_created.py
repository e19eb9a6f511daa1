"""`?create=yes`: a file that a refused command made and left empty does not stay."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Dbatk
from toolkit.app.targets import find_target
from toolkit.model.words import Role
from toolkit.targets.base import SessionTag

NEW = "duckdb:///new.duckdb?create=yes"


@pytest.mark.parametrize("more", ["", "?create=yes"])
@pytest.mark.parametrize("what", ["pipe", "folder", "device"])
def test_what_is_no_file_is_refused_at_once(dbatk: Dbatk, what: str, more: str) -> None:
    path = Path("/dev/zero") if what == "device" else Path(what)
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    answer = dbatk("stats", "gather", "-t", f"duckdb:///{path}{more}", "--table", "x")
    assert answer.status == 1, answer.err
    assert f"error: `{path}` is a pipe, a device or a folder, not a DuckDB file [TK-0201]" in answer.err


def test_a_new_file_is_its_owners_only_whatever_the_umask(dbatk: Dbatk) -> None:
    Path("q.sql").write_text("select 1 as a")
    before = os.umask(0)
    try:
        assert dbatk("ctas", "-t", NEW, "--query", "q.sql", "--table", "made").status == 0
        assert Path("new.duckdb").stat().st_mode & 0o777 == 0o600
        Path("new.duckdb").chmod(0o640)
        assert dbatk("ctas", "-t", NEW, "--query", "q.sql", "--table", "more").status == 0
    finally:
        os.umask(before)
    assert Path("new.duckdb").stat().st_mode & 0o777 == 0o640


def test_a_refused_command_leaves_no_file(dbatk: Dbatk) -> None:
    answer = dbatk("ctas", "-t", NEW, "--source", "none_such", "--table", "made")
    assert (answer.status != 0, list(Path().glob("new.duckdb*"))) == (True, [])


def test_a_file_with_what_was_asked_for_stays(dbatk: Dbatk) -> None:
    Path("q.sql").write_text("select 1 as a")
    assert dbatk("ctas", "-t", NEW, "--query", "q.sql", "--table", "made").status == 0
    with duckdb.connect("new.duckdb") as connection:
        assert connection.execute("select * from made").fetchall() == [(1,)]


def test_a_dry_run_shows_the_script_and_makes_no_file(dbatk: Dbatk) -> None:
    Path("q.sql").write_text("select 1 as a")
    answer = dbatk("ctas", "-t", NEW, "--query", "q.sql", "--table", "made", "--dry-run")
    assert (answer.status, list(Path().glob("new.duckdb*"))) == (0, [])
    assert "select 1 as a" in answer.out
    elsewhere = "duckdb:///none_such/new.duckdb?create=yes"
    answer = dbatk("ctas", "-t", elsewhere, "--query", "q.sql", "--table", "made", "--dry-run")
    assert (answer.status, Path("none_such").exists()) == (1, False)


def test_who_wrote_after_he_only_read_has_written_the_file() -> None:
    made = find_target(NEW).target
    reads = made.connect(Role.CONTROL, SessionTag("r"), read_only=True)
    assert reads.execute("select count(*) as n from duckdb_tables()").rows == ({"n": 0},)
    made.connect(Role.CONTROL, SessionTag("w")).execute("create table kept as select 1 as a")
    made.close()
    with duckdb.connect("new.duckdb") as connection:
        assert connection.execute("select * from kept").fetchall() == [(1,)]


def test_an_empty_file_of_the_user_stays(dbatk: Dbatk) -> None:
    duckdb.connect("new.duckdb").close()
    assert dbatk("ctas", "-t", NEW, "--source", "none_such", "--table", "made").status != 0
    assert Path("new.duckdb").is_file()


@pytest.mark.thin(5)
@pytest.mark.parametrize(
    "what", ["schema s", "sequence s", "type t as enum ('a')", "macro m(a) as a", "view v as select 1"]
)
def test_any_object_keeps_the_file(dbatk: Dbatk, what: str) -> None:
    made = find_target(NEW).target
    made.connect(Role.CONTROL, SessionTag("r")).execute(f"create {what}")
    made.close()
    assert Path("new.duckdb").is_file()


def test_a_file_that_another_target_of_this_process_has_open_stays(dbatk: Dbatk) -> None:
    made, other = (find_target(NEW).target for _ in range(2))
    made.connect(Role.CONTROL, SessionTag("r"))
    working = other.connect(Role.CONTROL, SessionTag("s"))
    made.close()
    working.execute("create table kept as select 1 as a")
    other.close()
    with duckdb.connect("new.duckdb") as connection:
        assert connection.execute("select * from kept").fetchall() == [(1,)]
