"""Backups by RMAN with further words: kept, in a window, archived logs that are shown before they are deleted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import assumed, texts, work
from tests.oracle.test_rman_runs import _FAST, Dbatk, Site, _dbatk, _site  # noqa: F401 (fixtures)
from toolkit.cli.main import main
from toolkit.dialects.oracle.backup import rds
from toolkit.dialects.oracle.backup.order import order_of
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.oracle.places import service_of
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Row
from toolkit.model.values import Support
from toolkit.model.words import Mode, SupportState


def _logs(site: Site, count: int, **told: object) -> list[Path]:
    found = [site.folder / f"log_{number}.arc" for number in range(1, count + 1)]
    for path in found:
        path.write_bytes(b"redo")
    site.home.tell(**{**_FAST, "logs": [str(path) for path in found], **told})
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


@pytest.mark.full
def test_a_log_in_two_destinations_is_counted_once(site: Site, dbatk: Dbatk) -> None:
    _logs(site, 3, log_destinations=2)
    _, run = _job(dbatk, site, "--scope", "archivelog")
    said = "\n".join(map(str, run["warnings"]))  # type: ignore[call-overload]
    assert "chosen now: 3 archived logs (3.00 MiB: thread 1 101 to 103)" in said


@pytest.mark.full
def test_of_logs_that_are_left_out_no_promise_is_made(site: Site, dbatk: Dbatk) -> None:
    _logs(site, 2)
    site.home.configure(ARCHIVELOG_DELETION_POLICY="TO BACKED UP 2 TIMES TO DISK")
    _, run = _job(dbatk, site, "--scope", "archivelog", "--not-backed-up", "2", "--delete-input")
    said = "\n".join(map(str, run["warnings"]))  # type: ignore[call-overload]
    assert "2 archived logs (2.00 MiB: thread 1 101 to 102); those that have 2 backups are left out" in said
    assert "it is unknown whether RMAN also deletes those that it leaves out" in said
    assert "nothing else is" not in said and "`TO BACKED UP 2 TIMES TO DISK`" in said


@pytest.mark.full
def test_a_deletion_policy_that_cannot_be_read_is_not_given(site: Site, dbatk: Dbatk) -> None:
    _logs(site, 1)
    engine = site.standin.engine
    engine.scenario = replace(engine.scenario, denied=frozenset({"V$RMAN_CONFIGURATION"}))
    _, run = _job(dbatk, site, "--scope", "archivelog", "--delete-input")
    said = "\n".join(map(str, run["warnings"]))  # type: ignore[call-overload]
    assert "your ARCHIVELOG DELETION POLICY, which could not be read" in said and "TO NONE" not in said


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("configured", "told", "words"),
    [
        ({"ENCRYPTION_FOR_DATABASE": "ON"}, {}, "CONFIGURE ENCRYPTION FOR DATABASE is ON"),
        ({}, {"encrypt_in_backup": "ON"}, "CONFIGURE ENCRYPTION FOR TABLESPACE is ON for `USERS`"),
    ],
)
def test_no_encryption_is_not_measured_where_every_backup_is_encrypted(
    site: Site, dbatk: Dbatk, configured: dict[str, str], told: dict[str, str], words: str
) -> None:
    site.home.tell(**_FAST, **told)
    site.home.configure(RETENTION_POLICY="TO NONE", **configured)
    status, run = _job(dbatk, site, "--encryption", "none")
    assert status == 5 and words in json.dumps(run)
    swept = ("--write", "--repeat", "1", "--warmup", "0", "--encryption", "none,aes256")
    status, run = _job(dbatk, site, *swept)
    assert status == 5 and words in json.dumps(run), run
    site.nothing_is_left()
    assert _job(dbatk, site)[0] == 0, "as it is configured"


def test_no_encryption_needs_to_know_what_is_configured() -> None:
    known = assumed()
    unread = replace(known, assumed=False, refused=frozenset({"backup_configuration"}))
    how = {"encryption": "none", "destination": ("/b",)}
    found = DIALECT.work.support(work("backup", 1, Mode.JOB, **how), unread)
    assert found.state is SupportState.NEEDS_PRIVILEGE and "SYS.V_$RMAN_CONFIGURATION" in found.sentence
    assert DIALECT.work.support(work("backup", 1, Mode.JOB, **how), known).ok
    assert "ENCRYPTION" not in DIALECT.work.support(work("backup", 1, encryption="none"), unread).sentence


def _on_rds(mode: Mode = Mode.JOB, **options: OptionValue) -> Support:
    mark: Row = {"schema_mark": "RDSADMIN"}
    facts = replace(assumed("19-ee", doctor_marks=(mark,)), assumed=False)
    assert service_of(facts).code == "rds"
    return DIALECT.work.support(work("backup", 1, mode, **options), facts)


def test_on_rds_the_reason_is_what_its_procedures_lack() -> None:
    found = _on_rds(scope="archivelog", delete_input=True, destination=("DIR",))
    assert "RDS has no procedure for a backup of archivelog" in found.sentence
    found = _on_rds(check_logical=True, destination=("DIR",))
    assert "only a validation" in found.sentence and "--action validate" in found.hint


@pytest.mark.parametrize(("logical", "sent"), [(True, "'PHYSICAL+LOGICAL'"), (False, "'PHYSICAL'")])
def test_on_rds_a_validation_may_check_rows_too(logical: bool, sent: str) -> None:
    assert _on_rds(action="validate", check_logical=logical).ok
    assert _on_rds(Mode.MEASUREMENT, check_logical=logical).ok
    asked = work("backup", 2, check_logical=logical)
    [text] = texts([rds.spell(order_of(asked), asked)])
    assert f"p_validation_type => {sent}," in text


@pytest.mark.full
def test_without_the_word_no_archived_log_is_deleted(site: Site, dbatk: Dbatk) -> None:
    logs = _logs(site, 2)
    assert _job(dbatk, site, "--scope", "archivelog", "--not-backed-up", "1")[0] == 0
    assert all(path.exists() for path in logs)


@pytest.mark.full
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


@pytest.mark.full
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


@pytest.mark.full
def test_copies_are_made_once_then_each_run_merges_and_makes_the_next(site: Site, dbatk: Dbatk) -> None:
    site.home.tell(**_FAST)
    told = []
    for _ in range(3):
        status, run = _job(dbatk, site, "--merge-copy", "nightly_copy", "--channels", "2")
        assert status == 0, run
        told.append(run["trials"][0])  # type: ignore[index]
    state = site.home.state
    assert list(state["merge_copies"]) == ["NIGHTLY_COPY"] and state["merged"] == 2
    assert [piece["tag"] for piece in state["pieces"]] == ["NIGHTLY_COPY"] * 4
    assert all(trial["outcome"] == "ok" for trial in told), told
    said = "\n".join(map(str, run["warnings"]))  # type: ignore[call-overload]
    assert "restore no earlier time any more" in said and "NIGHTLY_COPY" in said


def test_the_merge_comes_before_the_next_incremental_backup() -> None:
    job = work("backup", 1, Mode.JOB, merge_copy="nightly", scope="tablespace", of=("USERS", "TOOLS"))
    (script,) = texts(DIALECT.work.timed(job, assumed()))
    merge, backup = "RECOVER COPY OF TABLESPACE", "BACKUP INCREMENTAL LEVEL 1 FOR RECOVER OF COPY WITH TAG"
    assert script.index(merge) < script.index(backup)
    assert script.count("'NIGHTLY'") + script.count("'nightly'") == 2, script


@for_each(
    ("more", "words"),
    [
        ({"compression": "basic"}, "is of backup sets"),
        ({"incremental": 1}, "decides level, tag"),
        ({"tag": "OTHER"}, "decides level, tag"),
        ({"scope": "pdb", "of": ("P1",)}, "image copies are of the database"),
        ({"scope": "archivelog"}, "image copies are of the database"),
        ({"device": "sbt"}, "image copies are written to disk only"),
    ],
)
def test_what_copies_have_no_place_for_is_refused(more: dict[str, OptionValue], words: str) -> None:
    with pytest.raises(ToolkitError, match=words):
        order_of(work("backup", 1, Mode.JOB, merge_copy="nightly", **more))


def test_copies_are_not_measured() -> None:
    with pytest.raises(ToolkitError, match="`--merge-copy` is for a job"):
        order_of(work("backup", 1, Mode.MEASUREMENT, merge_copy="nightly"))
