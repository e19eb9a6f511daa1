"""Progress: lines that matter on a pipe, a live line on a terminal, nothing when quiet."""

from __future__ import annotations

import io
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tests.for_each import for_each
from toolkit.cli import output
from toolkit.cli.listening import _SHOWING, Progress, _Line, paused
from toolkit.cli.output import out_table, plain, say
from toolkit.model.protocols import Event


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def ended(number: int, outcome: str = "ok") -> Event:
    data = {"ended": number, "total": 100, "eta_seconds": 60.0, "outcome": outcome, "elapsed_seconds": 1.5}
    return Event("trial-ended", f"degree=1: {outcome}", data)


def test_a_pipe_gets_few_lines_of_good_trials_and_every_bad_one(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as progress:
        for number in range(1, 51):
            progress.emit(ended(number))
        progress.emit(ended(51, "downgraded"))
        progress.emit(Event("warning", "the host is busy"))
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "[1/100] degree=1: ok in 1.50 s", "[51/100] degree=1: downgraded in 1.50 s", "warning: the host is busy",
    ]  # fmt: skip


def test_of_an_object_that_was_worked_on_it_is_said_how_that_ended(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as progress:
        progress.emit(Event("progress", "public.orders", {"outcome": "ok"}))
    assert capsys.readouterr().err == "public.orders: ok\n"


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(quiet=True) as progress:
        progress.emit(Event("warning", "the host is busy"))
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_how_far_and_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with Progress() as progress:
        progress.emit(ended(7))
        progress.emit(Event("trial-begun", "degree=2 repeat 1", {"ended": 7, "total": 100}))
        assert progress._live is not None
        progress._live.refresh()
    shown = screen.getvalue()
    assert re.search(r"\[-{10}\]  7/100 trials  about (1:00|0:59) left  0:0\d so far  degree=2 repeat 1", shown)


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_the_bar_and_the_time_left_are_of_the_whole_and_fit_every_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr("toolkit.cli.listening.time.monotonic", lambda: clock[0])
    line = _Line()

    def at(seconds: float, *events: Event) -> str:
        clock[0] = 1000.0 + seconds
        for event in events:
            line.take(event)
        console = Console(width=columns, file=io.StringIO())
        shown = line.__rich_console__(console, None)[0].plain
        assert len(shown) < columns
        return shown

    def ends(number: int, left: float) -> Event:
        return Event("trial-ended", "degree=1: ok", {"ended": number, "total": 4, "eta_seconds": left})

    def part(number: int) -> Event:
        return Event("part", f"sweep {number} of 4: ctas", {"part": number, "parts": 4})

    assert at(0, part(1)).startswith("1/4  0:00 so far  sweep 1 of 4: ctas")
    # 10 s of 20 s of the first of four parts
    assert at(10, ends(2, 10.0)).startswith("[#---------]  1/4  2/4 trials  about 1:10 left")
    assert at(20, ends(4, 0.0)).startswith("[##--------]  1/4  4/4 trials  about 1:00 left")
    assert at(20, part(2)).startswith("[##--------]  2/4  about 1:00 left")
    assert at(60, part(3), part(4), ends(3, 20.0)).startswith("[#######---]  4/4  3/4 trials  about 0:20 left")
    # late: what was expected is over, and it is not at its end
    assert at(100).startswith("[#########-]  4/4  3/4 trials  about 0:00 left")
    assert at(101, ends(4, 0.0)).startswith("[##########]  4/4  4/4 trials")


def test_text_from_a_database_cannot_drive_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with Progress() as progress:
        progress.emit(Event("warning", "\x1b]0;owned\x07 [red]x[/red]"))
    assert "\x1b]0;owned" not in screen.getvalue()
    assert "[red]x[/red]" in screen.getvalue()


def test_a_terminal_that_goes_away_does_not_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with Progress() as progress:
        monkeypatch.setattr(sys, "stderr", Gone())
        progress.emit(Event("warning", "one"))
        progress.emit(Event("warning", "two"))
        monkeypatch.undo()


@for_each(
    ("text", "kept"),
    [("a\x1b[31mb", "a[31mb"),
     ("a\u202eb\u2066c", "abc"), ("tab\tline\nend", "tab\tline\nend"), ("\x9bx\x00", "x"),
     ("Größe 12 µs", "Größe 12 µs"), ("a\rb", "ab")],
)  # fmt: skip
def test_only_characters_to_read_are_kept(text: str, kept: str) -> None:
    assert plain(text) == kept


def test_tables_fit_80_columns_and_take_no_markup(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolkit.cli.output.columns_of", lambda _: 80)
    out_table(("name", "text"), [("[bold]x[/bold]", "word " * 60), ("y", "z" * 200)])
    shown = capsys.readouterr().out
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "[bold]x[/bold]" in shown
    assert shown.count("z") == 200


@given(st.lists(st.tuples(*[st.text("ab. -[/]", max_size=9)] * 3), max_size=4), st.integers(12, 40))
def test_a_table_that_fits_is_the_same_as_one_that_could_fold(rows: list[tuple[str, str, str]], room: int) -> None:
    columns = ("run", "state", "c")
    aligned = output._aligned(columns, rows, room)
    if aligned is not None:
        folded = output._folded(columns, rows, room, frozenset())
        assert [line.rstrip() for line in aligned.splitlines()] == [line.rstrip() for line in folded.splitlines()]
    long = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    assert (aligned is None) == (sum(long) + 2 * 2 > room)


def test_a_long_cell_pads_no_other_line_of_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    out_table(("what", "value", "default"), [("a", "x" * 300, "1"), ("b", "2", "3"), ("ü", "two\nlines", "4")])
    head, rule, *lines = capsys.readouterr().out.splitlines()
    assert lines == ["a     " + "x" * 300 + "  1", "b     2          3", "ü     two lines  4"]
    assert (head, len(rule)) == ("what  value      default", len(head))


def test_a_terminal_shows_a_bar_of_the_statement_that_runs_and_a_pipe_does_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    halfway = Event(
        "statement-progress",
        "Sort Output APP.T",
        {"operation": "Sort Output", "percent": 61.0, "seconds_left": 31.0},
    )
    with Progress() as piped:
        piped.emit(halfway)
    assert capsys.readouterr().err == ""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with Progress() as progress:
        progress.emit(halfway)
        assert progress._live is not None
        progress._live.refresh()
        shown = screen.getvalue()
        progress.emit(Event("statement-progress", "", {}))
        screen.truncate(0)
        progress._live.refresh()
    assert "[######----] 61 % Sort Output, 0:31 left" in shown
    assert "%" not in screen.getvalue()


def test_no_live_line_is_drawn_while_a_person_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with Progress() as progress:
        progress.emit(ended(1))
        (live,) = _SHOWING
        with paused():
            assert not live.is_started
            progress.emit(ended(2))
            drawn = terminal.tell()
            live.refresh()
            assert terminal.tell() == drawn
        assert live.is_started
    assert not _SHOWING
    with paused():
        pass


def test_a_live_line_and_the_lines_above_it_end_with_whole_words(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    sentence = "undo script, in case this process dies: a folder of many words and one more, and another"
    with Progress() as progress:
        progress.emit(Event("trial-begun", "degree=16 compression=basic repeat 12", {"ended": 7, "total": 100}))
        progress.emit(Event("statement-progress", "", {"operation": "Sort Output", "percent": 61.0}))
        assert progress._live is not None
        progress._live.refresh()
        progress.emit(Event("undo", sentence))
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "\n", screen.getvalue()).replace("\r", "\n")
    lines = [line.strip() for line in shown.splitlines() if line.strip()]
    assert max(map(len, lines)) < 60
    known = {*sentence.split(), "…"}
    assert any(line.endswith("degree=16 …") for line in lines), lines
    assert " ".join(line for line in lines if set(line.split()) <= known).count(sentence) == 1, lines


def test_on_one_screen_a_doubt_of_the_result_is_shown_with_it_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not so where the result goes elsewhere: then standard error alone is seen."""
    doubt = Event("warning", "others used 33 % of the CPU", {"in_result": True})
    for redirected in (False, True):
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr(sys, "stdout", io.StringIO() if redirected else Terminal())
        monkeypatch.setenv("TERM", "xterm")
        with Progress() as progress:
            progress.emit(doubt)
        assert ("others used" in screen.getvalue()) is redirected


def test_of_several_runs_only_what_differs_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as progress:
        for number in (1, 2):
            progress.emit(Event("part", f"sweep {number} of 2: ctas", {"part": number, "parts": 2}))
            for kind in ("mode", "estimate", "setup", "undo"):
                progress.emit(Event(kind, f"{kind} of a run"))
            progress.emit(Event("warning", f"warning {number}"))
    assert capsys.readouterr().err.splitlines() == [
        "sweep 1 of 2: ctas", "warning: warning 1", "sweep 2 of 2: ctas", "warning: warning 2",
    ]  # fmt: skip


def test_an_error_of_several_trials_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as progress:
        for number in (1, 2, 3):
            data = {"ended": number, "total": 3, "outcome": "failed", "reason": "ORA-01652: no room"}
            progress.emit(Event("trial-ended", f"degree={number}: failed (ORA-01652: no room)", data))
    assert capsys.readouterr().err.splitlines() == [
        "[1/3] degree=1: failed (ORA-01652: no room)",
    ]


def test_a_message_is_broken_between_words_and_never_within_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    say("warning: degree=2: downgraded, 6 trials (the planner chose a serial plan)")
    say("error: it\n\nhint: to go on with what is left, type `dbatk runs resume 20260103-0215`")
    assert screen.getvalue().splitlines() == [
        "warning: degree=2: downgraded, 6 trials (the planner chose a",
        "serial plan)",
        "error: it",
        "",
        "hint: to go on with what is left, type",
        "`dbatk runs resume 20260103-0215`",
    ]
