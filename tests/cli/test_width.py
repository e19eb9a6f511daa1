"""Text fits the terminal that shows it, whatever its width; a pipe gets whole lines, a file 80 columns."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import termios
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.readers.rman_samples import whole_log
from tests.report.make import sweep
from tests.servers import forks
from tests.tiers import thinned
from toolkit import terminal
from toolkit.analysis.compare import compare
from toolkit.report.render import Format, render
from toolkit.report.summary import summary_text

_LONG = "a_label_of_a_run_that_is_as_long_as_people_make_them_when_they_put_the_whole_story_into_it"


@pytest.fixture(params=[60, 72, 80, 132, 200])
def columns(request: pytest.FixtureRequest) -> Iterator[int]:
    with terminal.usual_width():
        terminal.use_width(request.param)
        yield request.param


def words(text: str) -> list[str]:
    return sorted(re.findall(r"[A-Za-z]{3,}", text))


def test_reports_and_summaries_fit_and_break_no_word(columns: int) -> None:
    run = sweep({1: [8.0, 8.1, 8.2], 2: [3.0, 3.1, 3.05], 4: [2.0, 2.1, 2.2]})
    later = sweep({1: [8.0, 8.1, 8.2], 2: [3.0, 3.1, 3.05]}, run="20261122-052307-cd34")
    texts = [
        lambda: render(run, Format.TEXT),
        lambda: summary_text([run, later]),
        lambda: render([run, later], Format.TEXT, comparisons=[compare(run, later)]),
    ]
    for text in texts:
        lines = text().splitlines()
        assert max(map(len, lines)) <= columns
        with terminal.usual_width():
            usual = text()
        if columns >= terminal.USUAL:
            assert set(words(usual)) <= set(words("\n".join(lines)))


def on_terminal(columns: int, *arguments: str, cwd: Path) -> str:
    """Run dbatk on a terminal of that many columns, and return what it shows."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    known = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    running = forks.begin("toolkit", arguments, [theirs] * 3, {**known, "TERM": "xterm"}, str(cwd))
    os.close(theirs)
    shown = b""
    with suppress(OSError):
        while piece := os.read(ours, 65536):
            shown += piece
    running.join()
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode()).replace("\r", "")


@pytest.fixture
def store(tmp_path: Path, url: str, dbatk: Dbatk) -> Path:
    done = dbatk("ctas", "-t", url, "--source", "small", "--table", "copied", "--label", _LONG)
    assert done.status == 0, done.err
    return tmp_path / "store.sqlite"


def test_a_pipe_gets_one_record_a_line(store: Path, dbatk: Dbatk) -> None:
    listed = dbatk("runs", "list", "--store", str(store)).out
    assert any(_LONG in line and "ctas" in line for line in listed.splitlines())


@pytest.mark.parametrize("columns", thinned([60, 80, 200], 3))
def test_a_list_of_runs_leaves_nothing_out_whatever_the_width(
    columns: int, store: Path, tmp_path: Path, dbatk: Dbatk
) -> None:
    lines = on_terminal(columns, "runs", "list", "--store", str(store), cwd=tmp_path).splitlines()
    assert max(len(line) for line in lines if _LONG not in line) <= columns
    (run,) = json.loads(dbatk("runs", "list", "--store", str(store), "--json").out)["runs"]
    shown = " ".join(" ".join(lines).split())
    for known in (run["run"], _LONG, "ctas", "ok", "duckdb:small.duckdb", run["began_at"][:10], "1/1"):
        assert known in shown
    assert ("trials" in lines[0].split()) is (columns == 200), "the head of a table"


def test_a_list_has_lines_of_a_run_rather_than_a_broken_name(tmp_path: Path, url: str, dbatk: Dbatk) -> None:
    label = "stats-of-weekend-2"
    assert dbatk("stats", "gather", "-t", url, "--schema", "main", "--label", label).status == 0
    for columns, count in ((60, 4), (80, 2), (132, 3)):
        lines = on_terminal(columns, "runs", "list", "--store", str(tmp_path / "store.sqlite"), cwd=tmp_path)
        assert label in lines, lines
        assert len([line for line in lines.splitlines() if line.strip()]) == count, lines
    piped = dbatk("runs", "list", "--store", str(tmp_path / "store.sqlite")).out
    assert f"  {label}  " in piped


def test_a_dry_run_of_a_sweep_is_short_on_a_terminal(tmp_path: Path, url: str) -> None:
    line = ("ctas", "-t", url, "--source", "small", "--table", "s2", "--degree", "1,2,4", "--dry-run")
    short, whole = (on_terminal(200, *line, *more, cwd=tmp_path) for more in ((), ("--full",)))
    assert (short.count("CREATE TABLE"), whole.count("CREATE TABLE")) == (1, 3)
    assert [line for line in short.splitlines() if line.startswith("SET ")] == [
        line for line in whole.splitlines() if line.startswith("SET ")
    ]


@pytest.mark.full
def test_a_file_is_laid_out_for_80_columns(store: Path, tmp_path: Path) -> None:
    on_terminal(200, "report", "last", "--out", "wide.txt", "--store", str(store), cwd=tmp_path)
    text = (tmp_path / "wide.txt").read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.usefixtures("pipe")
def test_a_pipe_gets_whole_lines_and_a_narrow_terminal_none_that_is_wider(
    store: Path, tmp_path: Path, dbatk: Dbatk
) -> None:
    line = ("runs", "show", "last", "--store", str(store))
    piped = dbatk(*line).out.splitlines()
    assert any(one.startswith("run ") and _LONG in one for one in piped)
    assert "- Only the statement itself is timed, including its commit; setup and cleanup are not." in piped
    for columns in (60, 200):
        shown = on_terminal(columns, *line, cwd=tmp_path).splitlines()
        assert max(len(one) for one in shown if _LONG not in one) <= columns
    written = tmp_path / "piped.txt"
    assert dbatk("report", "last", "--out", str(written), "--store", str(store)).status == 0
    assert max(map(len, written.read_text(encoding="utf-8").splitlines())) <= 100


@pytest.mark.thin(4)
@pytest.mark.parametrize(
    "line",
    ["error ORA-01652", "audit verify --store {store}", "noise -t {url} --store {store}", "backup read rman.log"],
)
def test_a_sentence_of_a_result_is_broken_between_words(
    line: str, store: Path, url: str, tmp_path: Path, dbatk: Dbatk
) -> None:
    (tmp_path / "rman.log").write_text("\n".join(whole_log()), encoding="utf-8")
    typed = line.format(store=store, url=url).split()
    shown = on_terminal(60, *typed, cwd=tmp_path)
    assert max(len(one) for one in shown.splitlines() if "`" not in one and str(store) not in one) <= 60
    assert set(words(dbatk(*typed).out)) <= set(words(shown))
