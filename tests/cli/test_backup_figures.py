"""`backup read`: one log says the same on the screen, as a document and on a page, and no word is cut."""

from __future__ import annotations

import html
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.readers.rman_samples import LANGUAGES, whole_log
from tests.readers.test_rman_forms import HEAD, SET, STACK
from toolkit.cli.main import main
from toolkit.units import byte_size, quantity, seconds

REAL = sorted((Path(os.environ.get("DBATK_REALDATA", "/nowhere")) / "rman").glob("*"))
LISTED = """
Starting backup at 2026-03-02 01:00:00
using channel c1
channel c1: starting full datafile backup set
channel c1: specifying datafile(s) in backup set
input datafile file number=00003 name=/u01/oradata/ACME/undotbs01.dbf
channel c1: starting piece 1 at 2026-03-02 01:00:00
channel c1: finished piece 1 at 2026-03-02 01:01:40
piece handle=/backup/2026/ACME_1_1 tag=T1 comment=NONE
channel c1: backup set complete, elapsed time: 00:01:40
Finished backup at 2026-03-02 01:01:40

Starting backup at 2026-03-02 01:11:40
using channel c1
using channel c2
channel c2: starting full datafile backup set
channel c2: specifying datafile(s) in backup set
input datafile file number=00004 name=/u01/oradata/ACME/users01.dbf
channel c2: starting piece 1 at 2026-03-02 01:11:40
channel c2: finished piece 1 at 2026-03-02 01:13:20
piece handle=/backup/2026/ACME_2_1 tag=T1 comment=NONE
channel c2: backup set complete, elapsed time: 00:01:40
Finished backup at 2026-03-02 01:13:20

List of Backup Sets
===================

BS Key  Type LV Size       Device Type Elapsed Time Completion Time
------- ---- -- ---------- ----------- ------------ -------------------
1       Full    1.00G      DISK        00:01:40     2026-03-02 01:01:40
        BP Key: 1   Status: AVAILABLE  Compressed: NO  Tag: T1
        Piece Name: /backup/2026/ACME_1_1
2       Full    500.00M    DISK        00:01:40     2026-03-02 01:13:20
        BP Key: 2   Status: AVAILABLE  Compressed: NO  Tag: T1
        Piece Name: /backup/2026/ACME_2_1
""".splitlines()
END = ["", "Recovery Manager complete."]


def read(lines: list[str], folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[str, Any, str]:
    """Return screen, document and page of a log."""
    log, page = folder / "a.log", folder / "a.html"
    log.write_text("\n".join(lines))
    main(["backup", "read", str(log), "--out", str(page), *more])
    screen = capsys.readouterr().out
    main(["backup", "read", str(log), "--json", *more])
    return screen, json.loads(capsys.readouterr().out), page.read_text()


def squeezed(text: str) -> str:
    return "".join(text.split()).lower()


def check_same(screen: str, document: dict[str, Any], page: str) -> None:
    tree = LexborHTMLParser(page)
    words = squeezed(html.unescape(tree.body.text() if tree.body is not None else "")).replace("`", "")
    rows = [[squeezed(cell.text()) for cell in row.css("th,td")] for row in tree.css("tr")]
    lines = [squeezed(line) for line in screen.splitlines()]
    for one in document["channel_work"]:
        unknown = one["busy_seconds"] is None
        figures = [
            one["channel"].lower(), str(one["pieces"]),
            "unknown" if unknown else seconds(one["busy_seconds"]),
            "unknown" if unknown else seconds(one["idle_seconds"]),
        ]  # fmt: skip
        figures = [squeezed(figure) for figure in figures]
        assert "".join(figures) in "".join(lines)
        assert any(row[:4] == figures for row in rows)
        if one["bytes"] is not None:
            amounts = [
                squeezed(byte_size(one["bytes"])),
                squeezed(quantity(one["bytes_per_second"], "bytes_per_second")),
            ]
            assert any("".join(figures[1:]) in line and line.endswith("".join(amounts)) for line in lines)
            assert any(row[:4] == figures and row[5:7] == amounts for row in rows)
    for sentence in document["sentences"][:8]:
        assert squeezed(sentence) in "".join(lines).replace("-\0", "")
        assert squeezed(sentence).replace("`", "") in words
    for one in document["operations"][:12]:
        ended = one["finish"] or "never, in this log"
        for part in (one["op"], one["start"] or "?", ended):
            assert squeezed(part) in "".join(lines)
        assert any(row[0] == squeezed(one["op"]) and row[2] == squeezed(ended) for row in rows if len(row) == 3)
    for handle in sorted(document["pieces"], key=lambda one: -(one["elapsed_seconds"] or 0))[:8]:
        assert handle["elapsed_seconds"] is None or squeezed(handle["handle"] or "") in "".join(lines)
    assert max(map(len, screen.splitlines())) <= 80


@pytest.mark.skipif(not REAL, reason="set DBATK_REALDATA to the folder of real logs")
@pytest.mark.parametrize("file", REAL, ids=lambda file: file.name[:30])
def test_a_real_log_says_the_same_three_times(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_same(*read(file.read_text(errors="replace").splitlines(), tmp_path, capsys))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_log_of_any_language_says_the_same_three_times(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_same(*read(whole_log(LANGUAGES[language]), tmp_path, capsys))


def test_sizes_that_list_printed_give_bytes_and_rates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    screen, document, page = read([*LISTED, *END], tmp_path, capsys)
    check_same(screen, document, page)
    assert [piece["bytes"] for piece in document["pieces"]] == [2**30, 500 * 2**20]
    assert [one["bytes_per_second"] for one in document["channel_work"]] == [2**30 / 100, 500 * 2**20 / 100]
    assert "backed up: 2 data files in 2 pieces, 1.49 GiB at " in " ".join(screen.split())


def test_a_piece_whose_stamps_differ_from_its_time_by_a_second_has_one_time_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The chart said 99.0 s beside 100 s in the table of the same page."""
    late = [line.replace("finished piece 1 at 2026-03-02 01:01:40", "finished piece 1 at 2026-03-02 01:01:39")
            for line in LISTED]  # fmt: skip
    _, document, page = read([*late, *END], tmp_path, capsys)
    assert document["pieces"][0]["elapsed_seconds"] == 100
    assert f"file 3, {seconds(100)} from" in page
    assert f"file 3, {seconds(99)}" not in page


def test_the_time_between_two_operations_is_nobodys_idle_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    screen, document, _ = read([*LISTED, *END], tmp_path, capsys)
    assert document["work_seconds"] == 200
    assert [one["idle_seconds"] for one in document["channel_work"]] == [100, 100]
    assert f"idle does not count {seconds(600)} between operations" in screen


def test_a_legend_explains_the_marks_of_the_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    screen, _, _ = read([*LISTED, *END], tmp_path, capsys)
    assert "a row of `=` or `#` is one piece" in screen


def test_sizes_come_from_the_files_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "pieces" / "2026_03_02"
    folder.mkdir(parents=True)
    (folder / "ACME_1_1").write_bytes(b"x" * 300_000)
    screen, document, page = read([*LISTED[:22], *END], tmp_path, capsys, "--pieces-from", str(folder.parent))
    check_same(screen, document, page)
    assert [piece["bytes"] for piece in document["pieces"]] == [300_000, None]
    told = " ".join(document["sentences"])
    assert "1 piece of 2 measured" in told
    assert f"no file in `{folder.parent}` for `ACME_2_1`" in told
    assert "the sizes of 1 of them are known" in told


def test_links_devices_and_namesakes_are_not_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "pieces"
    for name, size in (("a", 10), ("b", 20)):
        (folder / name).mkdir(parents=True)
        (folder / name / "ACME_1_1").write_bytes(b"x" * size)
    (folder / "ACME_2_1").symlink_to("/dev/zero")
    _, document, _ = read([*LISTED[:22], *END], tmp_path, capsys, "--pieces-from", str(folder))
    assert [piece["bytes"] for piece in document["pieces"]] == [None, None]
    told = " ".join(document["sentences"])
    assert "not a regular file, and not measured: `ACME_2_1`" in told
    assert "several files of different sizes, and not measured: `ACME_1_1`" in told


def test_a_file_that_is_not_as_large_as_was_listed_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "ACME_1_1").write_bytes(b"x" * 1000)
    _, document, _ = read([*LISTED, *END], tmp_path, capsys, "--pieces-from", str(tmp_path / "p"))
    assert any("`ACME_1_1` has 1,000 B, where LIST printed 1.00 GiB" in one for one in document["sentences"])


@pytest.mark.parametrize("what", ["nothing", "file", "link"])
def test_what_is_no_folder_of_pieces_is_refused(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "there"
    if what == "file":
        place.write_text("x")
    elif what == "link":
        place.symlink_to(tmp_path)
    log = tmp_path / "a.log"
    log.write_text("\n".join(LISTED))
    assert main(["backup", "read", str(log), "--pieces-from", str(place)]) == 2
    assert "[TK-0102]" in capsys.readouterr().err


OPERATIONS = {
    "restore": (
        ["Starting restore at 02-MAR-26", "using channel c1",
         "channel c1: starting datafile backup set restore",
         "channel c1: specifying datafile(s) to restore from backup set",
         "channel c1: restoring datafile 00003 to /u01/a.dbf",
         "channel c1: reading from backup piece /b/1", "channel c1: piece handle=/b/1 tag=T",
         "channel c1: restored backup piece 1", "channel c1: restore complete, elapsed time: 00:00:50",
         "Finished restore at 02-MAR-26"],
        "restored: 1 data file from 1 backup set in 50.0 s of the channels"),
    "restore of known size": (
        ["Report of database schema for database with db_unique_name ACME", "",
         "List of Permanent Datafiles", "===========================",
         "File Size(MB) Tablespace           RB segs Datafile Name",
         "---- -------- -------------------- ------- ------------------------",
         "3    500      UNDOTBS1             YES     /u01/a.dbf", "",
         "Starting restore at 02-MAR-26", "using channel c1",
         "channel c1: starting datafile backup set restore",
         "channel c1: restoring datafile 00003 to /u01/a.dbf",
         "channel c1: restore complete, elapsed time: 00:00:50", "Finished restore at 02-MAR-26"],
        "restored: 1 data file from 1 backup set in 50.0 s of the channels, 500 MiB at"),
    "recover": (
        ["Starting recover at 02-MAR-26", "using channel c1", "starting media recovery",
         "media recovery complete, elapsed time: 00:00:03", "Finished recover at 02-MAR-26"],
        "recovery ended without reading a backup set"),
    "recover table": (
        ["Starting recover at 02-MAR-26", "using channel c1", "Creating automatic instance, with SID='abcd'",
         "Performing import of tables...", "   IMPDP> . . imported \"S\".\"EMP\"   8.7 KB   14 rows",
         "Import completed", "Finished recover at 02-MAR-26"],
        "1 table recovered from a copy of the database"),
    "crosscheck": (
        ["using channel c1", "crosschecked backup piece: found to be 'AVAILABLE'",
         "backup piece handle=/b/1 RECID=1 STAMP=1",
         "crosschecked backup piece: found to be 'EXPIRED'", "backup piece handle=/b/2 RECID=2 STAMP=2",
         "Crosschecked 2 objects"],
        "crosschecked: 2 objects, 1 expired"),
    "crosscheck of archived logs": (
        ["using channel c1", "validation succeeded for archived log",
         "archived log file name=/a/1 RECID=1 STAMP=1", "validation failed for archived log",
         "archived log file name=/a/2 RECID=2 STAMP=2", "Crosschecked 2 objects"],
        "crosschecked: 2 objects, 1 expired"),
    "delete": (
        ["using channel c1", "deleted backup piece", "backup piece handle=/b/1 RECID=1 STAMP=1",
         "deleted archived log", "archived log file name=/a/1 RECID=1 STAMP=1", "Deleted 2 objects"],
        "deleted: 1 backup piece, 1 archived log"),
    "delete in a log that was shortened": (
        ["using channel c1", "deleted backup piece", "backup piece handle=/b/1 RECID=1 STAMP=1",
         "Deleted 13 EXPIRED objects", "Deleted 2 objects"],
        "deleted: 15 objects, of which the log names 1 backup piece"),
    "catalog": (
        ["cataloging files...", "cataloging done", "", "List of Cataloged Files", "=======================",
         "File Name: /b/1", "File Name: /b/2"],
        "cataloged: 2 files"),
    "validate": (
        ["Starting validate at 02-MAR-26", "using channel c1",
         "channel c1: starting validation of datafile backup set",
         "channel c1: validation complete, elapsed time: 00:00:05", "Finished validate at 02-MAR-26"],
        "validated: 1 backup set in 5.00 s of the channels, no corrupt block is reported"),
    "duplicate": (
        ["Starting Duplicate Db at 02-MAR-26", "using channel c1", "Finished Duplicate Db at 02-MAR-26"],
        "the database was duplicated"),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_kind_of_operation_has_a_sentence_of_its_own(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, told = OPERATIONS[name]
    screen, document, page = read([*HEAD[:4], *lines, *END], tmp_path, capsys)
    check_same(screen, document, page)
    assert any(sentence.startswith(told) for sentence in document["sentences"]), document["sentences"]


def test_the_advice_for_a_failed_duplicate_does_not_speak_of_opening_the_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stack = [*STACK, "RMAN-03002: failure of Duplicate Db command at 03/02/2026 01:02:03",
             "ORA-01113: file 1 needs media recovery"]  # fmt: skip
    within, _, _ = read([*HEAD[:4], "Starting Duplicate Db at 02-MAR-26", *stack, *END], tmp_path, capsys)
    alone, _, _ = read([*HEAD, *SET[:1], *stack, *END], tmp_path, capsys)
    advice = re.sub(r"\s+", " ", within.partition("do: ")[2].partition("notes")[0])
    assert "open" not in advice
    assert "duplicate again" in advice
    assert "then open it" in re.sub(r"\s+", " ", alone)


def test_a_session_whose_command_was_corrected_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["RMAN> recover database;", "", "Starting recover at 02-MAR-26", "using channel c1", *STACK,
             "RMAN-03002: failure of recover command at 03/02/2026 01:02:03",
             "ORA-19573: cannot obtain exclusive enqueue for datafile 1", "",
             "RMAN> recover database noredo;", "", "Starting recover at 02-MAR-26", "using channel c1",
             "Finished recover at 02-MAR-26", "", "RMAN> exit"]  # fmt: skip
    _, document, _ = read([*HEAD[:4], *lines, *END], tmp_path, capsys)
    assert document["outcome"] == "completed_with_warnings"
    assert any("was corrected" in sentence for sentence in document["sentences"])
