"""The suite for a real database is held in working order here: it runs against the stand-in, page and all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from tests.live.page import Finding, told, write_findings
from tests.oracle.make import target
from tests.oracle.standin import Scenario, running_standin
from tests.project.tree import ROOT
from toolkit.app.doctor import doctor


@pytest.mark.full
def test_the_live_suite_holds_against_the_stand_in_and_writes_its_page(tmp_path: Path) -> None:
    page = tmp_path / "verified.md"
    shutil.copy(ROOT / "docs/verified.md", page)
    with running_standin(Scenario(delay_seconds=60, delay_text="b.id > c.id")) as standin:
        environment = {
            **os.environ, "DBATK_TEST_ORACLE_URL": standin.url, "DBATK_PASSWORD": standin.password,
            "DBATK_TEST_ORACLE_ROWS": "2000", "DBATK_VERIFIED_PAGE": str(page), "DBATK_TESTS": "full",
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-m", "oracle_live", "-p", "no:cacheprovider", "tests/live"],
            env=environment, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-6000:]
        assert standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}
    text = page.read_text(encoding="utf-8")
    assert "#### Oracle Database 19c Enterprise Edition" in text
    assert "| ctrl c ends the run in order and it can be resumed | held |" in text
    assert "did not hold" not in text
    assert "ctas degree 2: ok, granted 2" in text


def test_the_page_has_no_names_and_needs_no_page_before_it(tmp_path: Path) -> None:
    page = tmp_path / "found.md"
    standbys = ({"DEST_ID": 2, "STATUS": "ERROR", "TARGET": "STANDBY", "DB_UNIQUE_NAME": "SECRET_DR"},)
    with running_standin(Scenario(views={"V$ARCHIVE_DEST": standbys})) as standin:
        checks = doctor(target(standin)).checks
    assert any("SECRET_DR" in check.evidence for check in checks)
    seen = tuple(filter(None, (told({"name": each.name, "state": each.state}) for each in checks)))
    assert seen
    write_findings(page, "Oracle 19c", date(2026, 11, 21), [Finding("test_a_thing", "passed", seen)])
    text = page.read_text(encoding="utf-8")
    assert "| a thing | held |" in text and all(f"- {sentence}" in text for sentence in seen)
    assert not any(
        name in text for name in ("SECRET_DR", "FREEPDB1", "DBATK", "USERS", standin.host, standin.password)
    )


def test_the_page_keeps_what_was_found_on_other_releases(tmp_path: Path) -> None:
    page = tmp_path / "verified.md"
    shutil.copy(ROOT / "docs/verified.md", page)
    day = date(2026, 11, 21)
    write_findings(page, "Oracle 19c", day, [Finding("test_a_thing", "passed", ("seen",))])
    write_findings(page, "Oracle 26ai", day, [Finding("test_a_thing", "failed")])
    write_findings(page, "Oracle 19c", day, [Finding("test_a_thing", "skipped")])
    text = page.read_text(encoding="utf-8")
    assert text.count("#### Oracle") == 2
    assert "| a thing | **did not hold** |" in text
    assert "| a thing | not tried |" in text and "| a thing | held |" not in text
    assert "No Oracle database yet." not in text
