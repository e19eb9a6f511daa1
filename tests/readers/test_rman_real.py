"""Real logs, where they are at hand: every value that a careful reader noted, and what each log is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.for_each import for_each
from toolkit.readers.rman.log import read_file, read_log
from toolkit.readers.rman.model import Log, log_document

FOLDER = Path(os.environ.get("DBATK_REALDATA", "/nowhere"))
TRUTH = sorted((FOLDER / "truth").glob("rman__*.json"))
NOTES = {"notes", "set", "file"}
pytestmark = pytest.mark.skipif(not (FOLDER / "rman").is_dir(), reason="no real logs at DBATK_REALDATA")

OUTCOMES = {
    "berkbenzer_01_recover_noredo_ORA19573.txt": ("completed_with_warnings", 2, "11.2.0.4.0"),
    "berkbenzer_02_validate_backupset.txt": ("completed", 1, None),
    "hiwylee_02_restore_database_sbt_then_disk.log": ("completed", 4, "19.0.0.0.0 (19.9.0.0.0)"),
    "hiwylee_03_restore_from_service_asm.log": ("completed", 4, "19.0.0.0.0 (19.7.0.0.0)"),
    "hiwylee_04_duplicate_standby.log": ("incomplete", 6, None),
    "idx_20203195960_3ch_restore_database_19c_asm.txt": ("completed", 1, None),
    "idx_42137949861_2ch_incr_level2_10g_doublespaced.log": ("completed", 6, None),
    "idx_48436451950_4ch_compressed_level0_cdb.log": ("completed", 6, None),
    "mohamedali_02_duplicate_fail_RMAN03009_ORA17627.log": ("failed", 2, "19.0.0.0.0 (19.3.0.0.0)"),
    "nabeelkhan_01_create_catalog_102.txt": ("completed", 0, "10.2.0.2.0"),
    "venkat_01_2ch_ORA19504_all_channels_fail.log": ("failed", 1, "19.0.0.0.0 (19.3.0.0.0)"),
    "venkat_02_RMAN06171_not_connected.log": ("failed", 0, "19.0.0.0.0 (19.3.0.0.0)"),
    "venkat_03_catalog_implicit_crosscheck.log": ("completed", 2, "19.0.0.0.0 (19.3.0.0.0)"),
    "venkat_04_switch_restore_fail_RMAN06571_06023.log": ("failed", 2, "19.0.0.0.0 (19.3.0.0.0)"),
    "webmakaka_01_list_backup_restore_ru.md": ("failed", 0, None),
    "webmakaka_02_restore_ru.md": ("completed_with_warnings", 1, None),
    "winstarboy_01_syntax_errors.txt": ("failed", 0, None),
}
BUSY = {
    "idx_42137949861_2ch_incr_level2_10g_doublespaced.log": {"c1": 41, "c2": 39, "ORA_MAINT_DISK_1": 0},
    "idx_20203195960_3ch_restore_database_19c_asm.txt": {"ORA_DISK_1": 5, "ORA_DISK_2": 4, "ORA_DISK_3": 4},
    "webmakaka_02_restore_ru.md": {"ORA_DISK_1": 165},
}
CAUSES = {
    "berkbenzer_01_recover_noredo_ORA19573.txt": ["ORA-19573"],
    "mohamedali_02_duplicate_fail_RMAN03009_ORA17627.log": ["ORA-17627"],
    "venkat_01_2ch_ORA19504_all_channels_fail.log": ["ORA-19504", "ORA-19504"],
    "venkat_04_switch_restore_fail_RMAN06571_06023.log": ["RMAN-06571", "RMAN-06571", "RMAN-06023", "RMAN-06571"],
    "webmakaka_01_list_backup_restore_ru.md": ["ORA-01113"],
    "winstarboy_01_syntax_errors.txt": ["RMAN-01009", "RMAN-01009", "RMAN-06171"],
}


def read(name: str) -> Log:
    with (FOLDER / "rman" / name).open("rb") as file:
        return read_file(file)


def test_every_log_at_hand_is_held() -> None:
    assert {path.name for path in (FOLDER / "rman").iterdir()} == set(OUTCOMES)


@for_each("name", OUTCOMES)
def test_a_real_log_ends_as_it_did(name: str) -> None:
    log = read(name)
    assert (log.outcome.value, len(log.operations), log.version) == OUTCOMES[name]
    assert log.recognised


@pytest.mark.parametrize("name", BUSY)
def test_channels_were_busy_for_as_long_as_their_sets_took(name: str) -> None:
    assert dict(read(name).channel_busy_seconds) == BUSY[name]


@for_each("name", CAUSES)
def test_the_cause_of_a_stack_is_found(name: str) -> None:
    assert [one.code for one in read(name).causes] == CAUSES[name]


@pytest.mark.parametrize("path", TRUTH, ids=lambda path: path.stem)
def test_every_value_a_careful_reader_noted_is_read(path: Path) -> None:
    truth = json.loads(path.read_text())
    name = truth["file"].partition("/")[2]
    found = log_document(read(name), name)
    for key, value in truth.items():
        if key in NOTES:
            continue
        if key in {"pieces", "unfinished"}:
            wanted = [_with_seconds(piece) for piece in value]
            pieces = found[key]
            assert isinstance(pieces, list)
            assert (
                [{part: piece[part] for part in wanted[0]} for piece in pieces] == wanted if value else not pieces
            )
        else:
            assert found[key] == value, key


def _with_seconds(piece: dict[str, object]) -> dict[str, object]:
    """Return a piece of a truth file in our names: there the time is still `hh:mm:ss`."""
    told = {key: value for key, value in piece.items() if key != "elapsed"}
    elapsed = piece["elapsed"]
    clock = [int(part) for part in str(elapsed).split(":")] if elapsed else []
    return told | {"elapsed_seconds": clock[0] * 3600 + clock[1] * 60 + clock[2] if clock else None}


def test_a_log_of_10g_names_its_pieces_and_its_autobackups() -> None:
    log = read("idx_42137949861_2ch_incr_level2_10g_doublespaced.log")
    told = [(one.channel, one.set_type, len(one.datafiles) + len(one.archivelogs)) for one in log.pieces]
    assert told == [
        ("c1", "incremental level 2 datafile", 2), ("c2", "incremental level 2 datafile", 2),
        ("c1", "archive log", 1), ("c2", "archive log", 1), ("c1", "full datafile", 0), ("c1", "full datafile", 0),
    ]  # fmt: skip
    assert (log.db_name, log.dbid, len(log.autobackup_handles)) == ("DAVE", 801102850, 2)


def test_a_real_log_cut_before_its_last_word_is_never_complete() -> None:
    for name in ("idx_48436451950_4ch_compressed_level0_cdb.log",
                 "idx_42137949861_2ch_incr_level2_10g_doublespaced.log"):  # fmt: skip
        lines = (FOLDER / "rman" / name).read_text().splitlines()
        last = max(n for n, line in enumerate(lines) if line.startswith("Recovery Manager complete"))
        for end in range(last):
            assert read_log(lines[:end]).outcome.value in {"incomplete", "failed", "nothing_done"}, (name, end)
