"""A plan on several production databases: each is named, or its approval names them; a scheduler hears by day."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import Dbatk
from tests.schedule.test_cron import crontab
from tests.servers.postgresql import Server

__all__ = ["crontab"]

pytestmark = pytest.mark.postgresql
PLAN = """
[plan]
name = "nightly"
targets = ["shop", "crm"]
[[step]]
name = "gather"
operation = "stats-gather"
schema = "public"
"""


@pytest.fixture
def shops(postgresql_server: Server, home: Path, dbatk: Dbatk) -> Iterator[str]:
    """Two production databases of one server, each with a profile, and a plan for both."""
    server = postgresql_server
    for name in ("shop", "crm"):
        with server.connect() as session:
            session.execute(f"CREATE DATABASE {name}")
        at = f"host={server.host} port={server.port} dbname={name} user={server.user}"
        with psycopg.connect(at, autocommit=True) as session:
            session.execute("CREATE TABLE t AS SELECT 1 AS i")
        url = f"postgresql://{server.user}@{server.host}:{server.port}/{name}"
        assert dbatk("target", "add", name, url, "--production").status == 0
    (home / "nightly.toml").write_text(PLAN)
    yield "nightly.toml"
    for name in ("shop", "crm"):
        with server.connect() as session:
            session.execute(f"DROP DATABASE {name} WITH (FORCE)")


def states(answer: str) -> dict[str, str]:
    return {step["target"]: step["state"] for step in json.loads(answer)["steps"]}


BOTH = ("--allow-production", "shop", "--allow-production", "crm")


def test_each_production_target_of_a_plan_is_named(dbatk: Dbatk, shops: str) -> None:
    one = dbatk("run", shops, *BOTH[:2], "--json")
    assert (one.status, states(one.out)["shop"]) == (3, "done") and states(one.out)["crm"] != "done"
    (reason,) = [step["reason"] for step in json.loads(one.out)["steps"] if step["target"] == "crm"]
    assert "use --allow-production crm" in reason
    both = dbatk("run", shops, *BOTH, "--json")
    assert states(both.out)["crm"] == "done", both.out
    alone = dbatk("plan", shops, *BOTH[:2])
    told = " ".join(alone.out.split())
    assert told.count("crm would be refused: `crm` is a production database; use --allow-production crm") == 1
    assert "shop would be refused" not in told and told.count("no: refused") == 1
    assert "refused" not in dbatk("plan", shops, *BOTH).out


@pytest.mark.parametrize("consent", [(), BOTH], ids=["the targets", "the consents"])
def test_an_approved_plan_needs_no_consent_for_the_targets_it_names(
    dbatk: Dbatk, shops: str, consent: tuple[str, ...]
) -> None:
    assert dbatk("plan", "approve", shops, *consent).status == 0
    answer = dbatk("run", shops, "--approved-only", "--json")
    assert (answer.status, set(states(answer.out).values())) == (0, {"done"}), answer.out + answer.err


def test_what_an_approval_allows_is_said_where_it_would_be_refused_without_it(dbatk: Dbatk, shops: str) -> None:
    allowed = "its approval, if it still holds, allows it: add --approved-only"
    assert allowed not in " ".join(dbatk("plan", shops).out.split())
    assert dbatk("plan", "approve", shops, *BOTH).status == 0
    told = " ".join(dbatk("plan", shops).out.split())
    assert told.count(allowed) == 2, told
    assert "refused" not in dbatk("plan", shops, "--approved-only").out


def test_an_approval_that_expired_allows_nothing_that_is_told_or_installed(
    dbatk: Dbatk, shops: str, crontab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Later(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Later:
            return super().now(tz) + timedelta(91)

    assert dbatk("plan", "approve", shops, *BOTH).status == 0
    line = ("plan", "schedule", shops, "--kind", "cron", "--at", "22:00 UTC", "--approved-only")
    assert dbatk(*line).status == 0
    monkeypatch.setattr("toolkit.app.unattended.datetime", Later)
    told = " ".join(dbatk("plan", shops).out.split())
    assert "crm would be refused: `crm` is a production database" in told and "its approval" not in told
    told = " ".join(dbatk("plan", shops, "--approved-only").out.split())
    assert told.count("would be refused: the approval of `nightly` expired: it was valid until") == 2, told
    refused = dbatk(*line, "--install")
    assert refused.status == 5 and "expired: it was valid until" in refused.err and not crontab.exists()


def test_an_approval_is_no_consent_to_a_run_that_is_not_held_against_it(dbatk: Dbatk, shops: str) -> None:
    assert dbatk("plan", "approve", shops, *BOTH).status == 0
    answer = dbatk("run", shops, "--json")
    assert "done" not in states(answer.out).values(), answer.out


def test_what_would_be_refused_tonight_is_not_installed(dbatk: Dbatk, shops: str, crontab: Path) -> None:
    line = ("plan", "schedule", shops, "--kind", "cron", "--at", "22:00 UTC")
    printed = dbatk(*line, *BOTH[:2])
    assert printed.status == 0 and "crm` is a production database" in " ".join(printed.err.split())
    refused = dbatk(*line, *BOTH[:2], "--install")
    assert refused.status == 5 and "`crm` is a production database" in refused.err and not crontab.exists()
    assert dbatk(*line, *BOTH, "--install").status == 0
    before = crontab.read_text()
    assert " ".join(BOTH) in before
    assert dbatk(*line, "--install").status == 5
    assert crontab.read_text() == before, "a line that works is not replaced by one that is refused"


@pytest.mark.parametrize("names", ["shop,crm", "*"])
def test_who_allows_a_list_is_told_how_several_are_allowed(dbatk: Dbatk, shops: str, names: str) -> None:
    refused = dbatk("plan", "schedule", shops, "--at", "22:00 UTC", "--install", "--allow-production", names)
    assert refused.status == 5 and f"`{names}` names none: give the option once for each" in refused.err


def test_what_changes_in_an_installed_line_is_shown_before_it_is_replaced(
    dbatk: Dbatk, shops: str, crontab: Path
) -> None:
    line = ("plan", "schedule", shops, "--kind", "cron", *BOTH)
    assert "installed already" not in dbatk(*line, "--at", "22:00 UTC", "--install").err
    assert "installed already" not in dbatk(*line, "--at", "22:00 UTC", "--install").err, "nothing changes"
    again = dbatk(*line, "--at", "23:30 UTC", "--install").err
    assert "this changes" in again and "-0 22 * * *" in again and "+30 23 * * *" in again, again
    document = json.loads(dbatk(*line, "--at", "01:00 UTC", "--install", "--json").out)
    assert [change[:3] for change in document["changes"]] == ["-30", "+0 "]


def test_two_profiles_of_one_database_in_a_plan_are_named(
    dbatk: Dbatk, shops: str, postgresql_server: Server, home: Path
) -> None:
    server = postgresql_server
    url = f"postgresql://{server.user}@{server.host}:{server.port}/shop"
    assert dbatk("target", "add", "again", url, "--production").status == 0
    (home / shops).write_text(PLAN.replace('"crm"', '"crm", "again"'))
    for words in (
        ("run",),
        ("plan",),
        ("plan", "approve"),
        ("plan", "schedule", "--at", "22:00 UTC", "--kind", "cron", "--install"),
    ):
        answer = dbatk(*words, shops, *(BOTH if "schedule" in words else ()))
        assert answer.status == 2, answer.err
        assert "`shop` and `again` are the same database" in answer.err


def test_an_approval_consents_to_a_database_that_is_named_by_its_url(
    dbatk: Dbatk, home: Path, postgresql_server: Server
) -> None:
    server = postgresql_server
    url = f"postgresql://{server.user}@{server.host}:{server.port}/{server.database}"
    text = f'[experiment]\noperation = "stats-gather"\ntarget = "{url}"\ntable = "night.a"\n'
    (home / "x.toml").write_text(text)
    with server.schema("night", "CREATE TABLE night.a AS SELECT generate_series(1, 9) AS i"):
        assert dbatk("plan", "approve", "x.toml", "--reason", "night", "--not-production").status == 0
        assert dbatk("run", "x.toml").status == 5
        assert dbatk("run", "x.toml", "--approved-only").status == 0


@pytest.mark.parametrize("url", ["oracle://u@h:2484/x?protocoll=tcps", "postgresql://u@h/d?sslmode=verfy-full"])
def test_a_target_with_a_misspelt_parameter_is_not_saved(url: str, dbatk: Dbatk) -> None:
    assert dbatk("target", "add", "far", url).status == 2
    assert "far" not in dbatk("target", "list").out
