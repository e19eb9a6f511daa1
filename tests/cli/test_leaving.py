"""How the process of a command ends: at once, with all that was written and all that was to be done at the end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"DBATK_CONFIG": str(tmp_path), "DBATK_STORE": str(tmp_path / "s.sqlite")},
    )  # fmt: skip


def test_a_command_ends_at_once_with_all_that_was_written_and_is_to_be_done_at_the_end(tmp_path: Path) -> None:
    ended = _ended(tmp_path, "--version")
    first, *rest = ended.stdout.splitlines()
    assert first.startswith("dbatk ") and rest == ["at the end"]
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_command_that_fails_ends_with_its_status_and_its_sentence(tmp_path: Path) -> None:
    ended = _ended(tmp_path, "runs", "show", "none")
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith("error: ") and ended.stderr.count("\n\nhint: ") == 1
    assert "memory was gone through" not in ended.stderr and ended.stdout == "at the end\n"
