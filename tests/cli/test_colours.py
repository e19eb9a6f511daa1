"""Colour stands where people look for it, only on a terminal, and is turned off in each of the usual ways."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.cli.test_help import commands
from tests.cli.test_progress import Terminal
from tests.for_each import for_each
from toolkit.cli.colours import choose_color, has_color, painted
from toolkit.cli.listening import Progress
from toolkit.cli.main import main
from toolkit.cli.output import out, out_table, say
from toolkit.model.protocols import Event
from toolkit.store import open_store

RED, YELLOW, GREEN = "\x1b[31m", "\x1b[33m", "\x1b[32m"


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    choose_color([])
    yield
    choose_color([])


@pytest.mark.parametrize(
    ("typed", "variables", "terminal", "colored"),
    [
        ([], {}, True, True),
        ([], {}, False, False),
        ([], {"NO_COLOR": "1"}, True, False),
        ([], {"NO_COLOR": ""}, True, True),
        ([], {"TERM": "dumb"}, True, False),
        (["--color", "never"], {}, True, False),
        (["--color=never"], {}, True, False),
        (["--color", "auto"], {"NO_COLOR": "1"}, True, False),
        (["--color", "always"], {"NO_COLOR": "1"}, False, True),
        (["--", "--color", "always"], {}, False, False),
    ],
)
def test_when_a_stream_has_color(
    typed: list[str], variables: dict[str, str], terminal: bool, colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    choose_color(typed)
    assert has_color(Terminal() if terminal else io.StringIO()) is colored


@for_each(
    ("line", "word", "color"),
    [
        ("warning: the host is busy", "warning", "\x1b[1;33m"),
        ("error: no such table [TK-0204]", "error", "\x1b[1;31m"),
        ("hint: see `dbatk --help`", "hint", "\x1b[1;36m"),
        ("ok (1.76 s, 800,000 rows)", "ok", GREEN),
        ("    3       1  1        failed   120 ms", "failed", RED),
        ("[3/12] degree=1: downgraded (ORA-12827) in 2 s", "downgraded", YELLOW),
        ("state       interrupted, 3 of 12 trials ended", "interrupted", YELLOW),
        ("degree=1 -> degree=4  1.72 s  1.15 s  0.668x  faster", "faster", GREEN),
        ("`degree=1 -> degree=4`: inconclusive (71 % less)", "inconclusive", YELLOW),
        ("! degree 4 exceeds the 2 CPUs", "!", YELLOW),
    ],
)
def test_verdicts_outcomes_and_warnings_are_colored(line: str, word: str, color: str) -> None:
    shown = painted(line, Terminal())
    assert f"{color}{word}\x1b[0m" in shown
    assert shown.count("\x1b[") == 2


@for_each(
    "line",
    [
        "a trial counts if it ended ok, is not a warm-up and was not failed",
        "the planner chose a serial plan, which is slower",
        "a warning: of something",
        "failed_logins  8 rows",
        "this is better than nothing",
    ],
)
def test_words_within_a_sentence_or_a_name_are_not_colored(line: str) -> None:
    assert painted(line, Terminal()) == line


def test_text_from_a_database_brings_no_color_of_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_color(["--color", "always"])
    say("warning: \x1b[31mtable\x1b[0m")
    out("\x1b[2Jname  ok")
    shown = capsys.readouterr()
    assert shown.err == "\x1b[1;33mwarning\x1b[0m: [31mtable[0m\n"
    assert shown.out == f"[2Jname  {GREEN}ok\x1b[0m\n"


def test_lines_above_the_live_line_are_colored(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress() as progress:
        progress.emit(Event("warning", "the host is busy"))
    assert "\x1b[1;33mwarning\x1b[0m: the host is busy" in screen.getvalue()


def test_every_command_has_the_option(dbatk: Dbatk) -> None:
    lacking = [" ".join(path) for path, _ in commands() if "--color WHEN" not in dbatk(*path, "--help").out]
    assert not lacking


def test_a_pipe_is_colored_only_when_asked(dbatk: Dbatk) -> None:
    assert "\x1b" not in dbatk("runs", "show", "none").err
    assert "\x1b[1;31merror\x1b[0m: " in dbatk("runs", "show", "none", "--color", "always").err


@pytest.mark.parametrize("how", ["always", "never"])
def test_a_table_on_a_terminal_is_as_the_option_says(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    choose_color(["--color", how])
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    out_table(("step", "ended"), [("copy", "ok"), ("index", "failed")])
    found = [part in screen.getvalue() for part in (f"{GREEN}ok\x1b[0m", f"{RED}failed\x1b[0m", "\x1b")]
    assert found == [how == "always"] * 3


def test_json_has_no_color(dbatk: Dbatk) -> None:
    answer = dbatk("runs", "show", "none", "--json", "--color", "always")
    assert json.loads(answer.out)["error"]["code"] == "TK-0109"


def test_an_unknown_choice_is_refused(dbatk: Dbatk) -> None:
    answer = dbatk("runs", "list", "--color", "alway")
    assert answer.status == 2
    assert "did you mean `always`?" in answer.err


@pytest.mark.parametrize("line", [["--color", "always", "runs", "list"], ["runs", "list", "--color=always"]])
def test_color_is_chosen_before_and_after_the_command(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `git --color` users type it; a word that is no choice is refused in both places."""
    with open_store(str(tmp_path / "store.db")):
        pass
    assert main([*line, "--store", str(tmp_path / "store.db")]) == 0, capsys.readouterr()
    wrong = [word.replace("always", "pink") for word in line]
    assert main([*wrong, "--store", str(tmp_path / "store.db")]) == 2
    assert "`--color` cannot be `pink`" in capsys.readouterr().err
