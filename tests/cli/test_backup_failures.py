"""What `backup read` says of channels that failed, of excerpts and of causes, on the screen and in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolkit.cli.main import main

BEGIN = """Recovery Manager: Release 19.0.0.0.0 - Production on Sun Mar 2 10:00:00 2025

connected to target database: ACME (DBID=12345, not open)

allocated channel: c1
channel c1: SID=12 device type=DISK
allocated channel: c2
channel c2: SID=13 device type=DISK

"""
READING = """channel {0}: starting datafile backup set restore
channel {0}: specifying datafile(s) to restore from backup set
channel {0}: restoring datafile 0000{1} to /d/{1}.dbf
channel {0}: reading from backup piece /b/{1}.bkp
"""
READ = """channel {0}: piece handle=/b/{1}.bkp tag=T
channel {0}: restored backup piece 1
channel {0}: restore complete, elapsed time: 00:05:00
"""
STACK = """RMAN-00571: ===========================================================
RMAN-00569: =============== ERROR MESSAGE STACK FOLLOWS ===============
RMAN-00571: ===========================================================
"""
END = "\nRecovery Manager complete.\n"
WRITING = """Starting backup at 02-MAR-2025 10:00:00
channel c1: starting full datafile backup set
channel c1: specifying datafile(s) in backup set
input datafile file number=00001 name=/d/1.dbf
channel c1: starting piece 1 at 02-MAR-2025 10:00:05
"""


def read(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, Any]:
    log = folder / "a.log"
    log.write_text(text)
    main(["backup", "read", str(log)])
    screen = capsys.readouterr().out
    main(["backup", "read", str(log), "--json"])
    return screen, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("began", [READING.format("c2", 2), ""])
def test_a_channel_that_failed_in_a_restore_shows_its_time_until_then(
    began: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        f"{BEGIN}Starting restore at 02-MAR-2025 10:00:00\n{READING.format('c1', 1)}{began}{READ.format('c1', 1)}"
        f"{STACK}RMAN-03009: failure of restore command on c2 channel at 03/02/2025 10:10:00\n"
        f'ORA-19505: failed to identify file "/b/2.bkp"\n{END}'
    )
    screen, document = read(text, tmp_path, capsys)
    work = {one["channel"]: (one["pieces"], one["busy_seconds"]) for one in document["channel_work"]}
    # of a channel that is in no line but that of its failure it is not known that it began a piece
    assert work == {"c1": (1, 300.0), "c2": (1 if began else 0, 600.0)}
    assert [(one["channel"], one["set_type"]) for one in document["unfinished"]] == [("c2", "restore")]
    assert "channel `c2` did not end its part of restore" in screen


@pytest.mark.parametrize("timed", [False, True])
def test_the_time_of_a_failure_is_shown_where_dates_have_none(
    timed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = WRITING if timed else WRITING.replace(" 10:00:00", "").replace(" 10:00:05", "")
    text = (
        f"{BEGIN}{began}{STACK}RMAN-03009: failure of backup command on c1 channel at 03/02/2025 10:10:05\n"
        f'ORA-19504: failed to create file "/b/1.bkp"\n{END}'
    )
    screen, _ = read(text, tmp_path, capsys)
    assert "channel `c1` left 1 piece unfinished; it failed on 2025-03-02 at 10:10:05" in screen
    assert ("have no time of day" in screen) is not timed
    assert ("10 min" in screen) is timed


def test_a_restore_that_another_channel_took_over_is_made_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        f"{BEGIN}Starting restore at 02-MAR-2025 10:00:00\n{READING.format('c2', 2)}"
        "RMAN-03009: failure of restore command on c2 channel at 03/02/2025 10:02:00\n"
        "ORA-19505: failed to identify file\n"
        f"channel c2 disabled, job failed on it will be run on another channel\n{READING.format('c1', 2)}"
        f"{READ.format('c1', 2)}Finished restore at 02-MAR-2025 10:10:00\n{END}"
    )
    _, document = read(text, tmp_path, capsys)
    assert document["outcome"] == "completed_with_warnings"
    assert {one["channel"]: one["busy_seconds"] for one in document["channel_work"]} == {"c1": 300.0, "c2": 120.0}


def test_a_failure_that_names_no_channel_ends_those_at_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        f"{BEGIN}{WRITING}{STACK}RMAN-03002: failure of backup command at 03/02/2025 10:12:05\n"
        f"RMAN-10038: database session for channel c1 terminated unexpectedly\n{END}"
    )
    _, document = read(text, tmp_path, capsys)
    assert document["channel_work"][0]["busy_seconds"] == 720.0


def test_a_log_that_is_cut_off_says_so_of_its_channels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    screen, document = read(BEGIN + WRITING, tmp_path, capsys)
    assert document["outcome"] == "incomplete"
    assert "cut off" in screen and "unknown" not in screen


def test_notes_of_a_command_and_its_answer_are_called_an_excerpt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        f"RMAN> restore datafile 1;\n\nStarting restore at 02-MAR-2025 10:00:00\n{READING.format('c1', 1)}"
        f"{READ.format('c1', 1)}Finished restore at 02-MAR-2025 10:05:00\n"
    )
    screen, document = read(text, tmp_path, capsys)
    assert document["outcome"] == "completed" and document["missing"] == []
    assert document["excerpt"] == ["neither the start nor the end of the session is in the log"]
    assert "this is an excerpt" in screen
    notes = tmp_path / "notes.log"
    notes.write_text(text, encoding="utf-8")
    assert main(["backup", "read", "--whole", str(notes)]) == 3
    assert "INCOMPLETE" in capsys.readouterr().out


def test_objects_whose_state_is_not_shown_are_none_of_which_none_expired(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"{BEGIN}Starting restore at 02-MAR-2025 10:00:00\nCrosschecked 11 objects\n{READING.format('c1', 1)}"
    text += f"{READ.format('c1', 1)}Finished restore at 02-MAR-2025 10:05:00\n{END}"
    screen, _ = read(text, tmp_path, capsys)
    assert "crosschecked: 11 objects; the log shows the state of none" in screen


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        (["RMAN-03002: failure of recover command at 03/02/2025 10:12:05",
          "RMAN-06054: media recovery requesting unknown archived log for thread 1 with sequence 7"], "RESETLOGS"),
        (["RMAN-03009: failure of restore command on c1 channel at 03/02/2025 10:10:00",
          "ORA-27072: File I/O error"], "reading or writing a file"),
        (["RMAN-00558: error encountered while parsing input commands",
          'RMAN-01009: syntax error: found "identifier": expecting one of: "backup"',
          "RMAN-01007: at line 1 column 1 file: standard input"], "correct it at the line and column"),
    ],
)  # fmt: skip
def test_causes_have_the_advice_that_fits_them(
    messages: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    screen, _ = read(BEGIN + STACK + "\n".join(messages) + END, tmp_path, capsys)
    assert words in " ".join(screen.split())
    assert "cannot create or write a backup piece" not in screen and "RESTORE VALIDATE" not in screen
