"""Where there is no store yet: who reads finds none of anything and makes nothing, and the first run makes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from toolkit.report.layout import wrapped
from toolkit.terminal import runnable, use_store, usual_width


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("runs list", 0), ("runs show last", 2), ("runs resume last", 2), ("runs delete last", 2),
        ("report last --out r.html", 2), ("compare a b", 2), ("advise last", 2), ("verify last", 2),
        ("plan report", 2), ("plan history copy", 2), ("audit", 0), ("audit verify", 0), ("noise -t {url}", 2),
        ("clean -t {url}", 0), ("snapshot list", 0), ("ctas -t {url} --source none_such --table made", 2),
        ("load none_such.csv -t {url} --table small", 2), ("import none_such.csv", 2), ("ingest none_such", 2),
    ],
)  # fmt: skip
def test_reading_and_refused_commands_make_no_store(
    line: str, status: int, dbatk: Dbatk, url: str, home: Path
) -> None:
    before = sorted(home.iterdir())
    answer = dbatk(*line.format(url=url).split())
    assert answer.status == status, answer.err
    assert "Traceback" not in answer.err
    assert sorted(home.iterdir()) == before


def test_the_first_run_makes_the_store_and_is_found_there(dbatk: Dbatk, url: str, home: Path) -> None:
    assert "no runs yet" in dbatk("runs", "list").err
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "made", "--label", "first").status == 0
    assert (home / "store.sqlite").stat().st_mode & 0o777 == 0o600
    assert "first" in dbatk("runs", "list").out


def test_a_site_that_was_begun_before_the_first_run_gets_its_pages(dbatk: Dbatk, url: str) -> None:
    assert dbatk("report", "--all", "--out", "site").status == 0
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "made").status == 0
    assert "1 page" in dbatk("report", "--all", "--out", "site").err


def test_hints_name_the_store_that_was_named_and_no_other(dbatk: Dbatk, url: str, home: Path) -> None:
    there = str(home / "other.sqlite")
    assert f"`dbatk runs list --store {there}`" in dbatk("runs", "show", "nix", "--store", there).err
    made = dbatk("ctas", "-t", url, "--source", "small", "--table", "made", "--store", there)
    assert f"`dbatk report last --out report.html --store {there}`" in made.err
    assert "--store" not in dbatk("runs", "show", "nix").err
    assert "--store" not in dbatk("runs", "show", "nix", "--store", str(home / "store.sqlite")).err


def test_a_reason_that_was_stored_is_shown_with_the_store() -> None:
    said = "the connection broke: check the server's log, then `dbatk runs resume`"
    with usual_width():
        use_store("my store.sqlite")
        assert runnable(said).endswith("`dbatk runs resume --store 'my store.sqlite'`")
        assert wrapped(said, columns=200) == [runnable(said)]
        named = "`dbatk runs resume 1 --store x`, `dbatk ctas --help`"
        assert runnable(named) == named
        with usual_width():  # in files, whose reader has another shell
            assert runnable(said) == said


def test_commands_are_spelled_by_the_path_that_was_typed_where_a_shell_would_find_none(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = home / "bin" / "dbatk"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setattr("sys.argv", ["bin/dbatk"])
    assert "hint: `bin/dbatk runs list`" in dbatk("runs", "show", "nix").err
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr("sys.argv", [str(program)])
    assert "hint: `dbatk runs list`" in dbatk("runs", "show", "nix").err
