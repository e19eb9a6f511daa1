"""Jobs of DBMS_SCHEDULER: judged, and made, listed and dropped on the stand-in by the real driver."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.judging import judge
from tests.oracle.make import documented_parameters
from tests.oracle.standin import Scenario, Standin, running_standin, scenarios, scheduler
from tests.schedule.make import NIGHT, job, write_plan
from tests.servers import forks
from tests.tiers import thinned
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.errors import ToolkitError
from toolkit.rendering import render_call
from toolkit.schedule import Opening, read_at
from toolkit.schedule.oracle import check_credential, drop, first, job_name, jobs, repeat

NOW = datetime(2026, 11, 21, 21, 0, tzinfo=UTC)
GRANTED = {
    "SESSION_PRIVS": [{"PRIVILEGE": name} for name in ("CREATE SESSION", "CREATE JOB", "CREATE EXTERNAL JOB")]
}


def blocks(**changes: object) -> list[str]:
    return [render_call(DIALECT, call) for call in jobs(job(**changes), "DBATK_OS", NOW)]


@pytest.mark.full
def test_every_job_stands_before_two_grammars() -> None:
    odd = job(command=("/opt/it's/dbatk", "run", 'it\'s a "plan" & 100%.toml'), environment=())
    made = [
        *blocks(openings=(NIGHT, Opening(75, "UTC"))),
        *(render_call(DIALECT, call) for call in jobs(odd, "A.B", NOW)),
        render_call(DIALECT, drop("DBATK_NIGHTLY")),
    ]
    assert judge({text: f"job {at}" for at, text in enumerate(made)}) == {}


def test_only_documented_arguments_are_named() -> None:
    documented = documented_parameters()
    for text in (*blocks(), render_call(DIALECT, drop("X"))):
        calls = re.findall(r"(DBMS_SCHEDULER\.\w+)\((.*?)\);", text, re.DOTALL)
        assert calls
        for name, inside in calls:
            assert set(scheduler.named(inside)) <= documented[name], name


def test_a_job_is_enabled_only_when_it_is_complete() -> None:
    text = blocks()[0]
    assert "enabled => FALSE" in text
    assert text.index("SET_JOB_ARGUMENT_VALUE") < text.index(".ENABLE(") < text.index("EXCEPTION")


@pytest.mark.parametrize(
    ("said", "calendar"),
    [
        ("22:00 Europe/Berlin", "FREQ=DAILY;BYHOUR=22;BYMINUTE=0;BYSECOND=0"),
        ("wed,sun 22:05 UTC", "FREQ=WEEKLY;BYDAY=WED,SUN;BYHOUR=22;BYMINUTE=5;BYSECOND=0"),
    ],
)
def test_a_calendar_says_days_and_time(said: str, calendar: str) -> None:
    assert repeat(read_at(said, "UTC")) == calendar


def test_the_begin_carries_the_zone_whose_clocks_change() -> None:
    assert first(NIGHT, NOW) == "2026-11-21 22:00:00 Europe/Berlin"


def test_names_fit_every_release_and_never_meet() -> None:
    plans = ["nightly", "nightly-2", "nightly_2", "nightly.2", "n" * 60, "n" * 59 + "m"]
    names = [job_name(plan, number) for plan in plans for number in (1, 2, 12)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"DBATK_[A-Z0-9_]{1,24}", name) for name in names)


@for_each("name", ["x y", '"x"', "x'; DROP", "", "1x", "a.b.c"])
def test_a_credential_that_needs_quotes_is_refused(name: str) -> None:
    with pytest.raises(ToolkitError):
        check_credential(name)


# -- against the stand-in -----------------------------------------------------------------------------------------
def dbatk(standin: Standin, folder: Path, *arguments: str) -> tuple[int, dict[str, object]]:
    environment = {
        **os.environ,
        "DBATK_STORE": str(folder / "store.db"),
        "DBATK_CONFIG": str(folder / "config"),
        "DBATK_PASSWORD": standin.password,
    }
    done = forks.run("toolkit", "schedule", *arguments, "-t", standin.url, "--json", env=environment)
    assert standin.password not in done.stdout + done.stderr
    return done.returncode, json.loads(done.stdout)


def error(document: dict[str, object]) -> dict[str, str]:
    return document["error"]  # type: ignore[return-value]


def test_a_job_is_made_listed_and_dropped(tmp_path: Path) -> None:
    plan = write_plan(tmp_path)
    adding = (str(plan), "--credential", "dbatk_os", "--install", "--not-production")
    with running_standin(Scenario(views=GRANTED)) as standin:
        assert dbatk(standin, tmp_path, *adding)[0] == 0
        status, document = dbatk(standin, tmp_path, *adding)
        assert (status, document["installed"]) == (0, True)
        made = standin.engine.state.jobs.known["DBATK_NIGHTLY"]
        assert made.enabled and made.attributes["credential_name"] == "DBATK_OS"
        assert [made.arguments[at] for at in sorted(made.arguments)][-4:] == [
            "run", str(plan), "--quiet", "--not-production",
        ]  # fmt: skip
        _, listed = dbatk(standin, tmp_path, "list")
        (one,) = [each for each in listed["schedules"] if each["kind"] == "oracle"]  # type: ignore[attr-defined]
        assert (one["name"], one["plan"], one["next"]) == ("nightly", str(plan), "2026-11-22 21:00:00 UTC")
        assert dbatk(standin, tmp_path, "remove", "nightly", "--kind", "oracle")[0] == 0
        assert standin.engine.state.jobs.known == {}
        status, document = dbatk(standin, tmp_path, "remove", "nightly", "--kind", "oracle")
        assert (status, error(document)["code"]) == (2, "TK-0204")


def test_a_job_of_somebody_else_is_neither_listed_nor_dropped(tmp_path: Path) -> None:
    theirs = scheduler.Job({"job_name": "DBATK_NIGHTLY", "job_type": "EXECUTABLE", "job_action": "/bin/true",
                            "number_of_arguments": "0", "repeat_interval": "FREQ=DAILY", "auto_drop": "FALSE",
                            "comments": "mine"})  # fmt: skip
    with running_standin(Scenario(views=GRANTED)) as standin:
        standin.engine.state.jobs.known["DBATK_NIGHTLY"] = theirs
        adding = (str(write_plan(tmp_path)), "--credential", "dbatk_os", "--install", "--not-production")
        status, document = dbatk(standin, tmp_path, *adding)
        assert (status, error(document)["code"]) == (1, "TK-0203")
        assert "27477" in error(document)["message"]
        assert dbatk(standin, tmp_path, "remove", "nightly", "--kind", "oracle")[0] == 2
        assert standin.engine.state.jobs.known == {"DBATK_NIGHTLY": theirs}


def test_missing_privileges_are_named_with_their_grant(tmp_path: Path) -> None:
    with running_standin() as standin:
        status, document = dbatk(standin, tmp_path, str(write_plan(tmp_path)), "--credential", "dbatk_os")
    assert (status, error(document)["code"]) == (5, "TK-0306")
    assert error(document)["hint"] == "GRANT CREATE JOB, CREATE EXTERNAL JOB TO DBATK;"


@pytest.mark.parametrize("place", thinned(["autonomous", "rds"], 2))
def test_services_without_a_host_refuse_with_the_alternative(place: str, tmp_path: Path) -> None:
    with running_standin(getattr(scenarios, place)()) as standin:
        status, document = dbatk(standin, tmp_path, str(write_plan(tmp_path)), "--credential", "dbatk_os")
    assert (status, error(document)["code"]) == (5, "TK-0304")
    assert "--kind systemd" in error(document)["hint"]


def test_nobody_makes_a_job_on_production_unasked(tmp_path: Path) -> None:
    with running_standin(Scenario(views=GRANTED)) as standin:
        adding = (str(write_plan(tmp_path)), "--credential", "dbatk_os", "--install")
        status, document = dbatk(standin, tmp_path, *adding)
        assert (status, error(document)["code"]) == (5, "TK-0301")
        assert standin.engine.state.jobs.known == {}
