"""The whole program against the stand-in: what a DBA types, what the database gets, what comes out."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from seerdb.server.backend import SessionInfo

from tests.oracle import wreck
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.server import Backend
from tests.servers import forks


def dbatk(
    standin: Standin, folder: Path, *arguments: str, told: list[str] | None = None
) -> tuple[int, dict[str, object]]:
    """Run a command; return its exit status and its JSON document; what it says beside goes to `told`."""
    environment = {
        **os.environ,
        "DBATK_STORE": str(folder / "store.db"),
        "DBATK_CONFIG": str(folder / "config"),
        "DBATK_PASSWORD": standin.password,
    }
    sure = () if arguments[0] in ("doctor", "clean") else ("--not-production",)
    done = forks.run("toolkit", *arguments, "-t", standin.url, *sure, "--json", env=environment)
    assert standin.password not in done.stdout + done.stderr
    if told is not None:
        told.append(done.stderr)
    return done.returncode, json.loads(done.stdout)


_ONCE = ("--repeat", "1", "--warmup", "0")


@pytest.mark.full
@pytest.mark.parametrize(
    "arguments",
    [
        ("ctas", "--source", "GTEST", "--table", "GTEST_COPY"),
        ("insert", "--source", "GTEST", "--table", "GTEST"),
        ("index", "build", "--table", "GTEST", "--columns", "ID,AMOUNT"),
        ("index", "rebuild", "--table", "GTEST"),
        ("stats", "gather", "--table", "GTEST"),
    ],
    ids=lambda arguments: "-".join(arguments[:2]),
)
def test_a_sweep_of_each_operation_ends_well_and_leaves_nothing(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    with running_standin() as standin:
        status, run = dbatk(standin, tmp_path, *arguments, "--degree", "1,4", *_ONCE)
        assert status == 0
        assert [trial["outcome"] for trial in run["trials"]] == ["ok", "ok"]  # type: ignore[index, attr-defined]
        assert standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}
        assert {made.name[1] for made in standin.engine.state.indexes()} == {"GTEST_IX", "ORDERS_IX"}


def test_the_granted_degree_reaches_the_record(tmp_path: Path) -> None:
    with running_standin() as standin:
        _, run = dbatk(standin, tmp_path, "ctas", "--source", "GTEST", "--table", "C", "--degree", "1,4", *_ONCE)
    degrees = {trial["requested_degree"]: trial["granted_degree"] for trial in run["trials"]}  # type: ignore[index, attr-defined]
    assert degrees == {1: 1, 4: 4}


def test_too_few_servers_are_a_downgrade_and_no_time(tmp_path: Path) -> None:
    with running_standin(Scenario(max_servers=4)) as standin:
        status, run = dbatk(
            standin, tmp_path, "ctas", "--source", "GTEST", "--table", "C", "--degree", "1,8", *_ONCE
        )
    told = {trial["requested_degree"]: trial for trial in run["trials"]}  # type: ignore[index, attr-defined]
    assert status == 3
    assert (told[1]["outcome"], told[8]["outcome"]) == ("ok", "downgraded")
    assert "ORA-12827" in told[8]["reason"] and told[8]["elapsed_seconds"] is None


def test_a_job_leaves_its_table_serial(tmp_path: Path) -> None:
    with running_standin() as standin:
        status, _ = dbatk(standin, tmp_path, "ctas", "--source", "GTEST", "--table", "NEW_TABLE", "--degree", "4")
        assert status == 0
        assert standin.engine.state.objects["TABLE", ("DBATK", "NEW_TABLE")].degree == "1"


@pytest.mark.parametrize(("later", "expected"), [(1, 3), (2, 0)], ids=["worker", "monitor"])
def test_a_session_in_another_database_than_the_first_is_refused(
    later: int, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, sessions = Backend.session_info, count()

    def led_away(backend: Backend) -> SessionInfo:
        info = real(backend)
        return replace(info, db_name="CLONE") if next(sessions) >= later else info

    with running_standin() as standin:
        before = wreck.look(standin)
        monkeypatch.setattr(Backend, "session_info", led_away)
        status, answer = dbatk(standin, tmp_path, "ctas", "--source", "GTEST", "--table", "MADE")
        made = wreck.look(standin).keys() - before.keys()
    assert status == expected, answer
    assert made == (set() if expected else {"TABLE DBATK.MADE"})
    assert "leads to another database than before: `CLONE`, not `FREEPDB1`" in json.dumps(answer)
