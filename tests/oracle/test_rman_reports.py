"""`dbatk backup report` against the stand-in and a program that answers as rman does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.test_rman_runs import _FAST, Dbatk, Site, _dbatk, _site, calls  # noqa: F401 (fixtures)
from toolkit.cli.main import main

_NEED = (
    "RMAN retention policy will be applied to the command",
    "RMAN retention policy is set to redundancy 1",
    "Report of files with less than 1 redundant backups",
    "File #bkps Name",
    "---- ----- -----------------------------------------------------",
    "3    0     /u01/oradata/FREE/d3.dbf",
)
_UNRECOVERABLE = (
    "Report of files that need backup due to unrecoverable operations",
    "File Type of Backup Required Name",
    "---- ----------------------- -----------------------------------",
    "5    full or incremental     /u01/oradata/FREE/d5.dbf",
)
_REPORTS = {
    "NEED BACKUP": _NEED,
    "OBSOLETE": ("no obsolete backups found",),
    "UNRECOVERABLE": _UNRECOVERABLE,
}


def _report(dbatk: Dbatk, *extra: str) -> tuple[int, dict[str, Any]]:
    return dbatk("backup", "report", *extra, "--not-production")


def _metrics(run: dict[str, Any]) -> dict[str, float]:
    return {one["name"]: one["value"] for trial in run["trials"] for one in trial["metrics"]}


def _said(run: dict[str, Any]) -> str:
    return "\n".join(map(str, run["warnings"]))


@pytest.fixture(name="told")
def _told(site: Site) -> Site:
    site.home.tell(**_FAST, reports=_REPORTS)
    return site


def test_what_rman_reports_is_counted_and_named(told: Site, dbatk: Dbatk) -> None:
    status, run = _report(dbatk)
    assert status == 0, run
    found = _metrics(run)
    assert (found["files_needing_backup"], found["obsolete_backups"], found["unrecoverable_files"]) == (1, 0, 1)
    said = _said(run)
    assert "1 data file in need of a backup: /u01/oradata/FREE/d3.dbf" in said
    assert "no backup is obsolete" in said and "nothing is listed as expired" in said
    assert "judged by the retention policy" in said


def test_a_crosscheck_marks_what_is_gone_and_deletes_nothing(told: Site, dbatk: Dbatk) -> None:
    there, gone = told.folder / "there.bkp", told.folder / "gone.bkp"
    for path in (there, gone):
        told.home.foreign_piece(path, "THEIRS")
    gone.unlink()
    status, run = _report(dbatk, "--crosscheck", "--reports", "expired")
    assert status == 0, run
    said = _said(run)
    assert "crosschecked" in said and f"1 backup piece expired: not found by a crosscheck: {gone}" in said
    assert _metrics(run)["expired_backups"] == 1
    assert there.exists() and len(told.home.state["pieces"]) == 2
    assert "DELETE" not in json.dumps(told.home.state.get("calls"))


def test_a_catalog_is_connected_by_a_wallet_and_without_nocatalog(told: Site, dbatk: Dbatk) -> None:
    status, run = _report(dbatk, "--catalog", "/@rcat")
    assert status == 0, run
    assert told.home.state["catalogs"] == ["rcat"]
    assert [] in calls(told), "with neither nocatalog nor msgno"


def test_a_job_is_recorded_in_the_catalog_and_a_measurement_is_refused_one(told: Site, dbatk: Dbatk) -> None:
    place = ("--destination", str(told.context), "--not-production")
    status, run = dbatk("backup", "run", *place, "--catalog", "/@rcat", "--tag", "night")
    assert status == 0, run
    assert told.home.state["catalogs"] == ["rcat"]
    status, run = dbatk("backup", "run", *place, "--catalog", "/@rcat", "--write", "--repeat", "2")
    assert status == 2 and "recorded in the recovery catalog" in run["error"]["message"]


@pytest.mark.parametrize("given", ["rman/secret@rcat", "/@rcat;DELETE", "/@rcat' as sysdba"])
def test_a_catalog_with_a_password_is_refused_and_not_repeated(given: str, told: Site, dbatk: Dbatk) -> None:
    status, run = _report(dbatk, "--catalog", given)
    assert status == 2 and "secret" not in json.dumps(run) and "wallet" in run["error"]["hint"]


def test_a_catalog_that_is_not_reached_fails_the_report(told: Site, dbatk: Dbatk) -> None:
    told.home.tell(**_FAST, reports=_REPORTS, no_catalog=True)
    status, run = _report(dbatk, "--catalog", "/@rcat")
    assert status == 3 and run["trials"][0]["outcome"] == "failed"
    assert "ORA-12154" in json.dumps(run)


def test_without_a_retention_policy_one_must_be_given(told: Site, dbatk: Dbatk) -> None:
    told.home.configure(RETENTION_POLICY="TO NONE")
    status, run = _report(dbatk)
    assert status == 5 and "RMAN-06525" in run["error"]["message"]
    status, run = _report(dbatk, "--redundancy", "2")
    assert status == 0, run


def test_a_report_that_the_log_does_not_answer_is_named(told: Site, dbatk: Dbatk) -> None:
    told.home.tell(**_FAST, reports={"NEED BACKUP": _NEED})
    status, run = _report(dbatk, "--reports", "need_backup,unrecoverable")
    assert status == 0
    assert "the log has no answer to the report `unrecoverable`" in _said(run)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (("--reports", "everything"), "there is no report `everything`"),
        (("--redundancy", "1", "--recovery-days", "3"), "RMAN judges by one policy"),
        (("--repeat", "3"), "once"),
    ],
)
def test_what_cannot_be_right_is_refused(extra: tuple[str, ...], words: str, told: Site, dbatk: Dbatk) -> None:
    status, run = _report(dbatk, *extra)
    assert status == 2 and words in json.dumps(run), run


def test_a_plan_has_the_report_as_a_step(
    told: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DBATK_PASSWORD", told.standin.password)
    assert main(["target", "add", "dwh", told.standin.url, "--not-production"]) == 0
    plan = told.folder / "night.toml"
    plan.write_text(
        '[plan]\nname = "night"\ntargets = ["dwh"]\n[[step]]\noperation = "backup-report"\ncrosscheck = true\n'
    )
    status = main(["run", str(plan)])
    out, err = capsys.readouterr()
    assert status == 0, out + err
    assert "/u01/oradata/FREE/d3.dbf" in out + err


def test_a_bundle_asks_without_numbers_and_is_read_back(
    told: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, folder = tmp_path / "r.toml", tmp_path / "bundle"
    url = f"oracle://APP@127.0.0.1:{told.standin.port}/FREE"
    assert main(["backup", "report", "-t", url, "--catalog", "/@rcat", "--save-as", str(spec)]) == 0
    assert main(["export", str(spec), "--out", str(folder), "--assume", "19-ee"]) == 0
    capsys.readouterr()
    script = next((folder / "rman").glob("*.rman")).read_text()
    assert script.startswith("CONNECT CATALOG '/@rcat';\nREPORT NEED BACKUP;\n")
    assert "nothing" in (folder / "README.txt").read_text()
