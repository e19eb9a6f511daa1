"""`awr show` as a user types it: a screen, a document, a sentence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.readers.awr_samples import STATSPACK, TEXT, html
from toolkit.cli.main import main


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "awr.html"
    path.write_text(html())
    return str(path)


@pytest.fixture
def junk(tmp_path: Path) -> str:
    path = tmp_path / "junk.html"
    path.write_text("<html><body>" + "<p>nothing of the kind</p>" * 20)
    return str(path)


def test_one_report_is_one_screen(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["awr", "show", good]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    for words in ("ACME", "2025-03-02 10:00:00", "60.0 min elapsed", "17.18 active sessions", "log file sync",
                  "sql execute elapsed time", "abcdfghjkmn12", "warnings"):  # fmt: skip
        assert words in shown


def test_an_average_wait_is_shown_as_exactly_as_its_report_tells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """11g prints whole milliseconds: screen and document have what time and waits make of them."""
    path = tmp_path / "awr.txt"
    path.write_text(TEXT.replace("57,000       1,500     26", "57,000       1,503     26"))
    assert main(["awr", "show", str(path)]) == 0
    (line,) = (each for each in capsys.readouterr().out.splitlines() if "log file sync" in each)
    assert line.split()[-4:-1] == ["57,000", "1,503", "26.368"]
    assert main(["awr", "show", str(path), "--json"]) == 0
    events = json.loads(capsys.readouterr().out)["top_events"]
    found = next(each["avg_wait_ms"] for each in events if each["event"] == "log file sync")
    assert found == pytest.approx(1503 / 57)


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_name_is_cut_however_narrow_the_terminal(columns: int) -> None:
    from toolkit.cli.awr_screen import screen
    from toolkit.readers.awr.report import read_report
    from toolkit.terminal import use_width, usual_width

    event = "log file switch (checkpoint incomplete)"
    report = read_report(html(extra=FINDING).encode(), "r").document()
    report["top_events"] = [{"event": event, "waits": 60_561, "time_s": 27_013, "avg_wait_ms": 446.046}]
    report["segments"] = {"Row Lock Waits": [{"owner": "SHOP", "object": "O" * 60, "value": 7, "pct": 1.0}]}
    with usual_width():
        use_width(columns)
        shown = screen(report, whole=True)
    assert max(map(len, shown.splitlines())) <= columns
    assert event in " ".join(shown.split()).replace(" 60,561 27,013 446.046 -", "")
    assert "60,561" in shown
    assert f"SHOP.{'O' * 60}" in "".join(shown.split()).replace("71.0", "")
    assert "active sessions" in " ".join(shown.split())


FINDING = """<h3>Top ADDM Findings by Average Active Sessions</h3><table><tr><th>Finding Name</th>
<th>Percent active sessions of finding</th></tr><tr><td>Commits and Rollbacks</td><td>26.91</td></tr></table>
<h3>Wait Classes by Total Wait Time</h3><table><tr><th>Wait Class</th><th>Waits</th><th>Total Wait Time (sec)</th>
<th>Avg Wait</th><th>% DB time</th><th>Avg Active Sessions</th></tr>
<tr><td>Commit</td><td>7</td><td>9</td><td>1ms</td><td>2</td><td>0.1</td></tr>
<tr><td>System I/O</td><td>875</td><td>0</td><td>398.37us</td><td>22.1</td><td>0.0</td></tr></table>
<h3>SQL ordered by Gets</h3><table><tr><th>Buffer Gets</th><th>Executions</th><th>SQL Id</th></tr>
<tr><td>123,456</td><td>7</td><td>bcdfghjkmn123</td></tr></table>
<h3>SGA Target Advisory</h3><table><tr><th>SGA Target Size (M)</th><th>SGA Size Factor</th><th>Est DB Time (s)</th>
</tr><tr><td>512</td><td>0.50</td><td>5,164,978</td></tr></table>"""


def test_findings_and_wait_classes_are_on_the_screen_and_it_names_the_flag_for_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "awr.html"
    path.write_text(html(extra=FINDING))
    assert main(["awr", "show", str(path)]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"System I/O +875 +0 +0\.398 +22\.1", shown)  # less than half a second, of hardly any DB time
    for words in ("ADDM findings", "Commits and Rollbacks", "wait classes", "add --all"):
        assert words in shown
    assert "5,164,978" not in shown
    assert main(["awr", "show", "--all", str(path)]) == 0
    whole = capsys.readouterr().out
    assert max(map(len, whole.splitlines())) <= 80
    for words in ("top SQL by gets", "bcdfghjkmn123", "SGA advice (MB)", "5,164,978", "Commits and Rollbacks"):
        assert words in whole
    assert "add --all" not in whole


@pytest.mark.parametrize("text", [TEXT, STATSPACK])
def test_a_text_report_has_its_screen_too(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.lst"
    path.write_text(text)
    assert main(["awr", "show", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "log file sync" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_one_file_gives_one_document_and_several_a_list(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["awr", "show", good, "--json"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert main(["awr", "show", good, good, "--json"]) == 0
    several = json.loads(capsys.readouterr().out)
    assert several == {"reports": [one, one]}
    assert one["file"] == good


def test_a_file_that_is_none_does_not_hide_the_others(
    good: str, junk: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["awr", "show", junk, good, "--json"]) == 2
    captured = capsys.readouterr()
    assert [one["file"] for one in json.loads(captured.out)["reports"]] == [good]
    assert f"`{junk}` is not an AWR or Statspack report" in captured.err


def test_a_single_file_that_is_none_is_an_error(junk: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["awr", "show", junk, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "TK-0113"


def test_a_report_cut_off_is_shown_and_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cut.html"
    path.write_text(html(end=""))
    assert main(["awr", "show", str(path), "--json"]) == 2
    captured = capsys.readouterr()
    assert json.loads(captured.out)["warnings"][0] == "the report is cut off: its end is not there"
    assert "cut off" in captured.err
    assert "hint: " in captured.err


@pytest.mark.parametrize("name", ["", "nothing.html"])
def test_a_folder_or_a_file_that_is_not_there_gives_a_sentence(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["awr", "show", str(tmp_path / name)]) == 2
    assert "error: " in capsys.readouterr().err


def test_hostile_text_does_not_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(html().replace("select 1", "\x1b[2J\x07\u202eselect").replace("ACME", "AC\x1b]0;x\x07ME"))
    assert main(["awr", "show", str(path)]) == 0
    assert main(["awr", "show", str(path), "--json"]) == 0
    captured = capsys.readouterr()
    assert not set("\x1b\x07\u202e") & set(captured.out + captured.err)


def test_db_time_that_stands_in_the_time_model_alone_is_told_too() -> None:
    from toolkit.cli.awr_screen import screen
    from toolkit.readers.awr.report import read_report

    report = read_report(STATSPACK.encode(), "sp.lst").document()
    assert "- min DB time" in screen(report)
    report["time_model"] = [{"name": "DB time", "time_s": 7200.0, "pct_db_time": None}]
    assert "60.0 min elapsed, 120.0 min DB time, 2.00 active sessions" in screen(report)


def test_all_of_a_cluster_has_its_bytes_its_global_cache_and_the_events_of_each_instance() -> None:
    from toolkit.cli.awr_screen import screen
    from toolkit.readers.awr.report import read_report

    report = read_report(html().encode(), "r").document()
    event = {"event": "gc buffer busy", "waits": 7, "time_s": 3, "avg_wait_ms": 428.571, "pct_db_time": 2.5}
    report.update(
        wait_classes=[{"wait_class": f"class {n}", "time_s": n} for n in range(1, 13)],
        io_by_function=[
            {"inst_num": "*", "function": "LGWR", "read_bytes_per_s": 512.0, "write_bytes_per_s": 4096.0},
            {"inst_num": 1, "function": "DBWR", "read_bytes_per_s": 1.0, "write_bytes_per_s": 1.0},
        ],
        gc_efficiency_by_instance=[{"inst_num": 2, "buffer_access_local_pct": 99.5}],
        instances=[{"inst_num": 1, "instance": "acme1", "top_events": [event]}],
        segments={"Physical Writes": [{"object": "I_SMALL", "value": 282, "pct": 28_200.0}]},
        addm_findings=[
            {"finding": "Soft Parse", "task_avg_active_sessions": 40.0, "pct_active_sessions": 25.0},
            {"finding": "Hard Parse", "begin_snap_time": "2023-02-21T14:00", "end_snap_time": "2023-02-21T15:00"},
            {
                "finding": "Row Lock Waits",
                "begin_snap_time": "2023-02-21T23:00",
                "end_snap_time": "2023-02-22T00:00",
            },
        ],
    )
    shown = screen(report, whole=True).splitlines()
    assert max(map(len, shown)) <= 80
    classes = [line.split()[1] for line in shown if line.startswith("  class ")]
    assert classes == [str(n) for n in range(12, 0, -1)]
    assert any(line.split() == ["LGWR", "512", "B", "4.00", "KiB"] for line in shown)
    assert not any(line.split()[:1] == ["DBWR"] for line in shown)
    assert any(line.split() == ["2", "99.5"] for line in shown)
    at = next(place for place, line in enumerate(shown) if line.startswith("top events of acme1"))
    assert shown[at + 1].split() == ["gc", "buffer", "busy", "7", "3", "428.571", "2.5"]
    (finding,) = [line.split() for line in shown if "Soft Parse" in line]
    assert finding[-3:] == ["25.0", "10.0", "unknown"]
    squeezed = [" ".join(line.split()) for line in shown]
    assert "Hard Parse - - 2023-02-21 14:00 to 15:00" in squeezed
    assert "Row Lock Waits - - 2023-02-21 23:00 to 2023-02-22 00:00" in squeezed
    assert any(line.split() == ["I_SMALL", "282", "28,200.0"] for line in shown)


def test_a_screen_shows_no_more_digits_than_a_report_and_tells_alike_rows_apart() -> None:
    from toolkit.cli.awr_screen import screen
    from toolkit.readers.awr.report import read_report

    waits = {
        "waits": 17_096_885,
        "time_s": 29.2,
        "avg_wait_ms": 0.001708,
        "pct_db_time": 0.5,
        "wait_class": "Network",
    }
    report = {
        **read_report(html().encode(), "r").document(),
        "top_events": [{"event": "SQL*Net message to client", **waits}],
        "ash_events": [{"event": "CPU + Wait for CPU", "session_type": kind, "pct_activity": share}
                       for kind, share in (("FOREGROUND", 51.09), ("BACKGROUND", 24.58))],
        "io_by_function": [{"function": "Others", "read_bytes": 1_395_864_371, "read_bytes_per_s": 375_390.208}],
    }  # fmt: skip
    shown = screen(report, whole=True)
    assert " 0.0017 " in shown
    assert "CPU + Wait for CPU                      BACKGROUND       24.58" in shown
    assert "1.30 GiB" in shown
    assert "367 KiB" in shown
    assert "1,395,864,371" not in shown


def test_what_contradicts_itself_is_on_the_screen_before_cells_without_a_number() -> None:
    from toolkit.cli.awr_screen import screen
    from toolkit.readers.awr.report import read_report

    report = read_report(html(extra=FINDING).encode(), "r").document()
    cells = [f"in `List {number}`, column `Time`, 1 value is no number: `####`" for number in range(9)]
    report["warnings"] = [*cells, "DB time is 7 s by the header, and 9 s by the time model"]
    shown = screen(report)
    assert "DB time is 7 s by the header, and 9 s by the time model" in shown
    assert "`List 0`" in shown
    assert f"and {10 - shown.count('  in `List') - 1} more: see --json" in shown
