"""Backups by RMAN with further words: kept, in a window, archived logs that are shown before they are deleted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.oracle.test_rman_runs import _FAST, Dbatk, Site, _dbatk, _site  # noqa: F401 (fixtures)
from toolkit.cli.main import main


def _logs(site: Site, count: int) -> list[Path]:
    found = [site.folder / f"log_{number}.arc" for number in range(1, count + 1)]
    for path in found:
        path.write_bytes(b"redo")
    site.home.tell(**{**_FAST, "logs": [str(path) for path in found]})
    return found


def _job(dbatk: Dbatk, site: Site, *extra: str) -> tuple[int, dict[str, object]]:
    place = ("--destination", str(site.context))
    return dbatk("backup", "run", *place, *extra, "--not-production")


def test_archived_logs_are_named_before_they_are_deleted_and_nothing_else_is(site: Site, dbatk: Dbatk) -> None:
    logs = _logs(site, 3)
    theirs = site.folder / "theirs.bkp"
    site.home.foreign_piece(theirs, "THEIRS")
    status, run = _job(dbatk, site, "--scope", "archivelog", "--delete-input", "--tag", "logs")
    assert status == 0, run
    said = "\n".join(map(str, run["warnings"]))  # type: ignore[call-overload]
    assert "chosen now: 3 archived logs (3.00 MiB: thread 1 101 to 103)" in said
    assert "within your ARCHIVELOG DELETION POLICY `TO NONE`" in said
    assert not any(path.exists() for path in logs) and theirs.exists()


def test_without_the_word_no_archived_log_is_deleted(site: Site, dbatk: Dbatk) -> None:
    logs = _logs(site, 2)
    assert _job(dbatk, site, "--scope", "archivelog", "--not-backed-up", "1")[0] == 0
    assert all(path.exists() for path in logs)


def test_logs_outside_of_the_range_are_not_shown(site: Site, dbatk: Dbatk) -> None:
    _logs(site, 2)
    _, run = _job(dbatk, site, "--scope", "archivelog", "--logs-since", "1h")
    assert "chosen now: no archived log;" in "\n".join(map(str, run["warnings"]))  # type: ignore[call-overload]


def test_a_backup_is_kept_and_ends_in_its_time(site: Site, dbatk: Dbatk) -> None:
    status, run = _job(
        dbatk, site, "--keep-days", "365", "--duration", "4h", "--minimize", "load", "--tag", "year"
    )
    assert status == 0, run
    assert all(piece["keep"] for piece in site.home.pieces()) and site.home.pieces()
    assert "kept for 365 days" in "\n".join(map(str, run["warnings"]))  # type: ignore[call-overload]


def test_a_logical_check_is_measured_without_writing(site: Site, dbatk: Dbatk) -> None:
    how = ("--check-logical", "--max-open-files", "2,4", "--repeat", "1", "--warmup", "0")
    status, run = dbatk("backup", "run", *how, "--not-production")
    assert status == 0, run
    assert {trial["factors"]["max_open_files"] for trial in run["trials"]} == {2, 4}
    site.nothing_is_left()


def test_a_dry_run_shows_the_words(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--scope", "archivelog", "--logs-until", "1h", "--delete-input", "--destination", "/b")
    assert main(["backup", "run", "--assume", "19-ee", *options, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "ARCHIVELOG UNTIL TIME 'SYSDATE-60/1440' DELETE INPUT" in out
    assert json.dumps("DELETE NOPROMPT")[1:-1] not in out
