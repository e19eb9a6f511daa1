"""How the process of a command ends: at once, with all that was written and all that was to be done at the end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

_PROGRAM = """
import atexit, sys
import duckdb

class Circle:
    def __init__(self):
        self.itself = self
    def __del__(self):
        sys.stderr.write("memory was gone through")

kept, atexit_kept = Circle(), atexit.register(print, "at the end")
duckdb.connect().execute("SELECT 1")
sys.argv = ["dbatk", *sys.argv[1:]]
from toolkit.cli.main import run
run()
"""


def _ended(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return _begun(tmp_path, *arguments, stdout=subprocess.PIPE)


def _begun(
    tmp_path: Path, *arguments: str, stdout: int | IO[str], stderr: int | IO[str] = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM, *arguments], cwd=tmp_path, stdout=stdout, stderr=stderr, text=True,
        check=False, env={"DBATK_CONFIG": str(tmp_path), "DBATK_STORE": str(tmp_path / "s.sqlite")},
    )  # fmt: skip


def test_a_command_ends_at_once_with_all_that_was_written_and_is_to_be_done_at_the_end(tmp_path: Path) -> None:
    ended = _ended(tmp_path, "--version")
    first, *rest = ended.stdout.splitlines()
    assert first.startswith("dbatk ") and rest == ["at the end"]
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.full
def test_a_command_that_fails_ends_with_its_status_and_its_sentence(tmp_path: Path) -> None:
    ended = _ended(tmp_path, "runs", "show", "none")
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith("error: ") and ended.stderr.count("\n\nhint: ") == 1
    assert "memory was gone through" not in ended.stderr and ended.stdout == "at the end\n"


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("--version",), 1, ["standard output cannot be written: no space left on device [TK-0405]"]),
        (("runs", "list", "--json"), 1, ["standard output cannot be written: no space left on device [TK-0405]"]),
        (("runs", "show", "none", "--json"), 2, ["standard output cannot be written", "no run is named `none`"]),
    ],
)
def test_a_result_that_a_full_disk_does_not_take_is_an_error_without_a_traceback(
    tmp_path: Path, arguments: tuple[str, ...], status: int, says: list[str]
) -> None:
    with Path("/dev/full").open("w") as full:
        ended = _begun(tmp_path, *arguments, stdout=full)
    assert ended.returncode == status
    assert [line for line in ended.stderr.splitlines() if line.startswith("error: ")] == [
        line for line in ended.stderr.splitlines() if any(words in line for words in says)
    ]
    assert len(says) == ended.stderr.count("error: ") and "Traceback" not in ended.stderr


def test_work_goes_on_when_its_messages_cannot_be_written(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = _begun(tmp_path, "runs", "list", stdout=subprocess.PIPE, stderr=full)
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (0, "at the end")


_INTERRUPTED_AT = """
import os, signal, sys

module = sys.argv[1]

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from toolkit.__main__ import run
sys.argv = ["dbatk", "--version"]
run()
"""


@pytest.mark.parametrize("module", ["typer", "toolkit.cli.help", "toolkit.errors"])
def test_ctrl_c_while_modules_are_loaded_is_no_traceback(tmp_path: Path, module: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED_AT, module], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")
