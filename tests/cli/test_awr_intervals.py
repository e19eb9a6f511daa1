"""`compare` of two reports and `awr trend` as a user types them: a screen, a page, a document, a sentence."""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from tests.readers.awr_samples import STATSPACK, html
from toolkit.cli.main import main


def report(day: int, *, sync: str = "1.5K", average: str = "26.32ms", db_time: str = "1,030.50") -> str:
    made = html().replace("02-Mar-25", f"{2 + day:02}-Mar-25").replace(">8<", f">{8 + day}<")
    made = made.replace(">7<", f">{7 + day}<").replace("1,030.50 (mins)", f"{db_time} (mins)")
    return made.replace("1.5K", sync).replace("26.32ms", average)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    before, after = tmp_path / "before.html", tmp_path / "after.html"
    before.write_text(report(0))
    after.write_text(report(1, sync="15K", average="263.2ms", db_time="1,255.50"))
    return str(before), str(after)


def test_two_reports_are_told_on_one_screen(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *pair]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "1. commits: each wait for `log file sync` takes longer" in shown
    assert "26.3 ms -> 263 ms" in " ".join(shown.split())


def test_the_page_and_the_document_are_written_together(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "diff.html"
    assert main(["compare", *pair, "--out", str(page), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["causes"][0]["name"] == "log file sync"
    assert document["db_time"]["ratio"] == pytest.approx(1255.5 / 1030.5)
    assert page.read_text().startswith("<!doctype html>")


def test_a_wrong_order_is_swapped_and_said(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *reversed(pair)]) == 0
    shown = capsys.readouterr().out
    assert "have been swapped" in " ".join(shown.split())
    assert "slower" in shown


@pytest.mark.thin(2)
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"abcd", "4 bytes"),
        (bytes(range(256)) * 400, "binary"),
        (b"<html><body><p>WORKLOAD REPOSITORY report for</p></body></html>", "not an AWR or Statspack report"),
        (b"nothing of the kind\n" * 500_000, "it contains no AWR or Statspack data"),
        (report(1)[: report(1).index("Time Model")].encode(), "cut off"),
        (STATSPACK.encode(), "count differently"),
        (report(1).replace("ACME", "OTHER").replace("12345", "54321").encode(), "different databases"),
        (report(0).encode("utf-16"), "same interval"),
        (None, "cannot be read: no such file"),
    ],
)
def test_what_cannot_be_compared_is_told_in_a_sentence(
    pair: tuple[str, str], tmp_path: Path, content: bytes | None, words: str, order: int,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    other = tmp_path / "other"
    if content is not None:
        other.write_bytes(content)
    assert main(["compare", *[pair[0], str(other)][::order]]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert "hint:" in captured.err
    assert captured.out == ""


@contextmanager
def _piped(text: str) -> Iterator[str]:
    """Give the name of a pipe that holds a text, as a shell spells `<(command)`."""
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "w") as end:
            end.write(text)

    writer = Thread(target=write)
    writer.start()
    try:
        yield f"/dev/fd/{reading}"
    finally:
        os.close(reading)
        writer.join()


def test_what_a_command_gives_is_read_from_its_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with _piped(report(0)) as one, _piped(report(1)) as other:
        assert main(["compare", one, other]) == 0
    assert "2025-03-03 10:00 against 2025-03-02 10:00" in capsys.readouterr().out
    with _piped(report(1)) as one:
        assert main(["awr", "show", one, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["end_snap_id"] is not None


@pytest.mark.parametrize("command", [("awr", "show"), ("awr", "trend"), ("compare", "{}-other")])
def test_a_named_pipe_is_called_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    name = tmp_path / "reports"
    os.mkfifo(name)
    os.mkfifo(f"{name}-other")
    assert main([*(word.format(name) for word in command), str(name)]) == 2
    assert "is a pipe or a device" in capsys.readouterr().err


def test_a_report_that_pours_without_end_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("toolkit.app.intervals.show._LARGEST_PIPED", 1000)
    with _piped(report(0)[:20_000]) as one:
        assert main(["awr", "show", one]) == 2
    assert "larger than" in capsys.readouterr().err


def test_the_same_file_twice_is_refused(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    linked = tmp_path / "link.html"
    linked.symlink_to(pair[0])
    assert main(["compare", pair[0], str(linked), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "TK-0115"


def test_an_archive_of_two_is_compared_by_number(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = tmp_path / "reports.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("readme.txt", "two reports of one day " * 10)
        archive.write(pair[0], "a.html")
        archive.write(pair[1], "b.html")
    assert main(["compare", str(packed), pair[1]]) == 2
    assert f"`{packed}#2`, `{packed}#3`" in capsys.readouterr().err
    assert main(["compare", f"{packed}#2", f"{packed}#3", "--json"]) == 0
    packed_says = json.loads(capsys.readouterr().out)
    assert main(["compare", *pair, "--json"]) == 0
    assert packed_says["causes"] == json.loads(capsys.readouterr().out)["causes"]
    assert main(["compare", f"{packed}#2", f"{packed}#4"]) == 2
    assert "holds 3 texts" in capsys.readouterr().err
    assert main(["awr", "trend", str(packed), "--json"]) == 0
    captured = capsys.readouterr()
    assert "skipped: " in captured.err


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_other_encodings_are_read(
    pair: tuple[str, str], tmp_path: Path, encoding: str, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.html"
    other.write_bytes(Path(pair[1]).read_text().encode(encoding))
    assert main(["compare", pair[0], str(other)]) == 0
    assert "log file sync" in capsys.readouterr().out


def test_two_databases_are_compared_on_purpose(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "clone.html"
    other.write_text(report(1).replace("ACME", "CLONE").replace("12345", "54321"))
    assert main(["compare", pair[0], str(other), "--allow-unlike"]) == 0
    told = capsys.readouterr().out
    assert "of different databases, whose work need not be the same: " in told
    assert "it got" not in told


def test_masked_output_has_no_name_and_the_same_salt_gives_the_same_names(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "sent.html"
    shown = []
    for _ in range(2):
        assert main(["compare", *pair, "--mask", "--salt", "pepper", "--out", str(page)]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert main(["awr", "show", pair[0], "--mask", "--json"]) == 0
    shown.append(capsys.readouterr().out)
    assert main(["awr", "trend", *pair, "--mask", "--csv"]) == 0
    shown.append(capsys.readouterr().out)
    for text in (*shown, page.read_text()):
        for name in ("acme", "shop", ">box<", '"box"', "before.html", "after.html", str(tmp_path)):
            assert name not in text.lower()
    assert main(["compare", *pair, "--salt", "x"]) == 2


@pytest.fixture
def many(tmp_path: Path) -> Path:
    folder = tmp_path / "many"
    folder.mkdir()
    for day in range(24):
        slow = {"sync": "15K", "average": "263.2ms", "db_time": f"1,2{day}.50"} if day >= 14 else {}
        folder.joinpath(f"r{day:02}.html").write_text(
            report(day, db_time=slow.pop("db_time", f"1,0{day:02}.00"), **slow)
        )
    folder.joinpath("notes.txt").write_text("reports of March")
    return folder


def test_a_folder_becomes_a_series_that_says_when_it_changed(
    many: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = many.parent / "trend.html"
    assert main(["awr", "trend", str(many), "--sql", "abcdfghjkmn12", "--out", str(page)]) == 0
    captured = capsys.readouterr()
    assert "from 2025-03-16 10:00 on" in captured.out
    changed = " ".join(captured.out.split())
    assert "`DB time` 16.8 -> 20.3, `log file sync` 0.417 -> 4.17" in changed, "a fifth is no floor"
    assert "skipped" in captured.err
    assert max(map(len, captured.out.splitlines())) <= 80
    assert "change of level" in page.read_text()


def test_files_that_are_no_reports_are_counted_and_named_where_that_is_asked(
    many: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    many.joinpath("list.csv").write_text("a,b\n1,2\n" * 20)
    for line, flag in ((("awr", "trend"), "--full"), (("awr", "show"), "--all")):
        assert main([*line, str(many)]) == 0
        (said,) = (one for one in capsys.readouterr().err.splitlines() if one.startswith("skipped"))
        assert said == f"skipped: 2 files that are not complete AWR or Statspack reports (`{flag}` names them)"
        assert main([*line, str(many), flag]) == 0
        told = capsys.readouterr().err
        assert told.count("skipped: ") == 2 and "notes.txt" in told and "list.csv" in told
    page = many.parent / "trend.html"
    assert main(["awr", "trend", str(many), "--out", str(page)]) == 0
    assert "notes.txt" in page.read_text() and "list.csv" in page.read_text()


def test_a_series_is_a_sheet_and_a_document(many: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["awr", "trend", str(many), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 24
    assert [row["begin"] for row in rows if "log file sync" in row["changed"]] == ["2025-03-16T10:00:00"]
    assert main(["awr", "trend", str(many), "--json"]) == 0
    series = json.loads(capsys.readouterr().out)["series"]
    assert [len(one["points"]) for one in series] == [24]


def test_three_points_are_too_few_and_it_says_so(many: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(many / f"r{day:02}.html") for day in (0, 1, 20)]
    assert main(["awr", "trend", *files]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "there are 3 points: at least 10 are needed" in shown
    assert "CHANGES" not in shown


def test_a_named_file_that_is_no_report_does_not_hide_the_others(
    many: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["awr", "trend", str(many / "r00.html"), str(many / "notes.txt")]) == 2
    captured = capsys.readouterr()
    assert "ACME" in captured.out
    assert "not an AWR or Statspack report" in captured.err


def test_an_empty_folder_and_two_documents_at_once_are_refused(tmp_path: Path) -> None:
    assert main(["awr", "trend", str(tmp_path)]) == 2
    assert main(["awr", "trend", str(tmp_path), "--csv", "--json"]) == 2


def test_a_report_without_its_times_is_named_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for line in STATSPACK.splitlines() if not line.strip().startswith(("Begin Snap:", "End Snap:"))]
    (tmp_path / "timeless.lst").write_text("\n".join(lines))
    assert main(["awr", "trend", str(tmp_path / "timeless.lst")]) == 2
    told = capsys.readouterr().err
    assert told.count("timeless.lst") == 1
    assert "cannot be found" in told


def test_of_one_interval_told_twice_the_whole_report_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = report(1)
    cut = whole[: whole.index("End of Report")] if "End of Report" in whole else whole[: len(whole) * 9 // 10]
    for name, text in (("a.html", cut), ("b.html", whole)):
        (tmp_path / name).write_text(text)
    assert main(["awr", "trend", str(tmp_path), "--json"]) == 2
    told = capsys.readouterr()
    assert "a.html" in told.err and "b.html" not in told.err
    (series,) = json.loads(told.out)["series"]
    assert [Path(one["source"]).name for one in series["points"]] == ["b.html"]
