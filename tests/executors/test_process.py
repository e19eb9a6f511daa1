"""Commands of this host: argument lists, never a shell, and every failure in a sentence."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from toolkit.errors import ToolkitError
from toolkit.executors import run_command


def test_arguments_arrive_as_they_are() -> None:
    odd = "a b; $(x) `y` 'z' \" *"
    assert run_command([sys.executable, "-c", "import sys; print(sys.argv[1])", odd]) == odd


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["no-such-command-here"], "command `no-such-command-here` not found"),
        ([sys.executable, "-c", "import sys; sys.exit('first\\nlast')"], "ended with 1: last"),
        ([sys.executable, "-c", "raise SystemExit(4)"], "ended with 4: no output"),
    ],
)
def test_a_command_that_fails_says_how(argv: list[str], message: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        run_command(argv)
    assert message in caught.value.message
    assert caught.value.code == "TK-0203"


def test_a_file_that_is_no_program_is_told(tmp_path: Path) -> None:
    file = tmp_path / "plain"
    file.write_text("")
    with pytest.raises(ToolkitError, match="no permission to run"):
        run_command([str(file)])


def test_a_command_that_does_not_end_is_ended() -> None:
    with pytest.raises(ToolkitError, match=r"within 0.2 s") as caught:
        run_command([sys.executable, "-c", "import time; time.sleep(60)"], limit_seconds=0.2)
    assert caught.value.code == "TK-0207"
