"""Statistics of whole schemas and of the server itself, in an approved plan on the Oracle stand-in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.oracle.standin import Scenario, running_standin

RIGHTS = [{"PRIVILEGE": name} for name in ("ANALYZE ANY", "ANALYZE ANY DICTIONARY")]
PLAN = """
[plan]
name = "night"
target = "{url}"

[[step]]
name = "stats"
operation = "stats-gather"
{what}
"""


@pytest.mark.parametrize(
    ("what", "sent"),
    [
        ('schema = ["DBATK"]', "DBMS_STATS.GATHER_SCHEMA_STATS"),
        ('server = "dictionary"', "DBMS_STATS.GATHER_DICTIONARY_STATS"),
    ],
)
def test_what_an_approved_plan_names_is_gathered(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch, what: str, sent: str
) -> None:
    with running_standin(Scenario(views={"SESSION_PRIVS": RIGHTS})) as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        (home / "night.toml").write_text(PLAN.format(url=standin.url, what=what))
        approved = dbatk("plan", "approve", "night.toml", "--not-production")
        assert approved.status == 0, approved.err
        ran = dbatk("run", "night.toml", "--approved-only", "--not-production")
        assert ran.status == 0, ran.err + ran.out
        assert any(sent in text.upper() for text in standin.statements)
