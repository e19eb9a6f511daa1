"""Files that are read and written: never waited for, never followed elsewhere, never open to others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk, dbatk, home, url
from toolkit.app.bundles.reading import open_folder
from toolkit.app.files import write_file
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError

__all__ = ["dbatk", "home", "url"]


@pytest.mark.parametrize("command", [("plan",), ("run",), ("backup", "read"), ("ingest",), ("plan", "approve")])
def test_a_named_pipe_is_refused_and_not_waited_for(dbatk: Dbatk, home: Path, command: tuple[str, ...]) -> None:
    os.mkfifo(home / "pipe.toml")
    answer = dbatk(*command, "pipe.toml")
    assert answer.status == 2, answer.err
    assert "pipe" in answer.err


def test_a_device_is_no_plan(dbatk: Dbatk, home: Path) -> None:
    assert home
    answer = dbatk("plan", "/dev/zero")
    assert answer.status == 2
    assert "not a file" in answer.err


def test_a_query_file_that_is_a_pipe_is_refused(dbatk: Dbatk, home: Path, url: str) -> None:
    os.mkfifo(home / "q.sql")
    (home / "e.toml").write_text(
        f'[experiment]\ntarget = "{url}"\noperation = "ctas"\nquery_file = "q.sql"\ntable = "x"\n'
    )
    answer = dbatk("run", "e.toml", "--dry-run")
    assert answer.status == 2
    assert "not a file" in answer.err


@pytest.mark.parametrize(
    "text", ["a." * 100_000 + "b = 1", f"[{'a.' * 100_000}b]", "x = {" + '"a" . ' * 60_000 + "b = 1}"]
)
def test_a_name_of_endless_parts_is_refused_before_it_is_parsed(text: str) -> None:
    with pytest.raises(ToolkitError, match=r"e.toml:2: a name of more than 50 parts"):
        parse_document(f"# deep\n{text}\n", "e.toml")


def test_a_text_of_one_endless_word_is_searched_once() -> None:
    """From each letter of it to its end, it would take hours."""
    assert parse_document(f'x = "{"a" * 3_000_000}"', "e.toml").data


def test_a_new_file_is_its_owners_only_and_one_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_file(tmp_path / "new.html", "text")
        (tmp_path / "served.html").write_text("old")
        (tmp_path / "served.html").chmod(0o644)
        write_file(tmp_path / "served.html", "text")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"new.html": 0o600, "served.html": 0o644}


@pytest.mark.parametrize("name", ["spool/t0001-a1.lst", "spool", "sql/more.sql"])
def test_a_bundle_whose_files_are_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    bundle = tmp_path / "bundle"
    (bundle / name).parent.mkdir(parents=True, exist_ok=True)
    (bundle / "MANIFEST.json").write_text("{}")
    (bundle / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ToolkitError, match="symbolic link"):
        open_folder(bundle)
