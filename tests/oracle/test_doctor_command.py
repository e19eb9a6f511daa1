"""`dbatk doctor` as a DBA types it: one screen, a document, a script of grants; what is refused before a run."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.test_width import on_terminal
from tests.oracle.standin import Scenario, running_standin, scenarios
from tests.servers import forks
from tests.tiers import thinned

SCREEN, WIDTH = 40, 80


def dbatk(scenario: Scenario, folder: Path, *arguments: str) -> tuple[int, str, str, list[str]]:
    """Run a command on a stand-in; return its exit status, both outputs and the statements it sent."""
    with running_standin(scenario) as standin:
        environment = {
            **os.environ,
            "DBATK_STORE": str(folder / "store.db"),
            "DBATK_CONFIG": str(folder / "config"),
            "DBATK_PASSWORD": standin.password,
        }
        done = forks.run("toolkit", *arguments, "-t", standin.url, env=environment)
        return done.returncode, done.stdout, done.stderr, list(standin.statements)


@pytest.mark.parametrize("name", thinned(["ee-19c", "se2", "11g", "autonomous", "standby"], 4))
def test_the_answer_fits_one_screen_of_eighty_columns(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_standin(scenarios.EVERY[name]()) as standin:
        monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.db"))
        monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        lines = on_terminal(WIDTH, "doctor", "-t", standin.url, cwd=tmp_path).splitlines()
    assert len(lines) <= SCREEN
    assert all(len(line) <= WIDTH for line in lines), [line for line in lines if len(line) > WIDTH]


@pytest.mark.parametrize("name", ["ee-19c", "11g", "standby"])
def test_a_problem_is_exit_3_and_all_that_is_done_is_reading(name: str, tmp_path: Path) -> None:
    status, shown, _, sent = dbatk(scenarios.EVERY[name](), tmp_path, "doctor")
    assert ("failed" in shown) is (name in ("11g", "standby"))
    assert status == (3 if "failed" in shown else 0)
    assert all(re.match(r"\s*(SELECT|WITH)\b", text) for text in sent), "doctor reads only"


def test_what_matters_most_comes_first(tmp_path: Path) -> None:
    poor = scenarios.standby(
        denied=frozenset({"V$PX_PROCESS", "DBA_SCHEDULER_WINDOWS"}), parameters={"resumable_timeout": "7200"}
    )
    _, shown, _, _ = dbatk(poor, tmp_path, "doctor")
    states = re.findall(r"^(failed|warning|note|ok) ", shown, re.MULTILINE)
    assert states == sorted(states, key=["failed", "warning", "note", "ok"].index)
    assert states[0] == "failed"
    assert "not read: servers, windows" in shown


def test_verbose_shows_every_check_and_every_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_standin(Scenario()) as standin:
        monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.db"))
        monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        shown = on_terminal(WIDTH, "doctor", "--verbose", "-t", standin.url, cwd=tmp_path)
    assert "session-switches" in shown
    assert "2 servers for each degree" in " ".join(shown.split())
    assert all(len(line) <= WIDTH for line in shown.splitlines())


def test_the_document_holds_checks_work_degree_and_grants(tmp_path: Path) -> None:
    scenario = Scenario(denied=frozenset({"V$PX_PROCESS"}), max_servers=10)
    status, shown, _, _ = dbatk(scenario, tmp_path, "doctor", "--json")
    document = json.loads(shown)
    assert status == 0
    assert document["degree"]["highest"] == 5
    assert document["degree"]["reasons"][0]["limit"] == 5
    assert {"name", "state", "evidence", "consequence", "action"} == set(document["checks"][0])
    assert {check["state"] for check in document["checks"]} <= {"ok", "note", "warning", "problem"}
    grant = {"statement": "GRANT SELECT ON SYS.V_$PX_PROCESS TO DBATK",
             "purpose": "parallel servers of this instance: started and busy"}  # fmt: skip
    assert grant in document["grants"]


def test_the_grants_are_a_script_for_somebody_else_to_run(tmp_path: Path) -> None:
    scenario = Scenario(denied=frozenset({"V$PQ_SESSTAT", "DBA_SCHEDULER_WINDOWS"}))
    status, shown, _, _ = dbatk(scenario, tmp_path, "doctor", "--grants")
    assert status == 0
    assert "GRANT SELECT ON SYS.V_$PQ_SESSTAT TO DBATK;" in shown
    assert "GRANT SELECT ON SYS.DBA_SCHEDULER_WINDOWS TO DBATK;" in shown
    statements = [line for line in shown.splitlines() if line and not line.startswith("--")]
    assert statements
    assert all(re.fullmatch(r"GRANT [A-Z ]+( ON [A-Z$_.]+)? TO DBATK;", line) for line in statements)


def test_grants_of_one_operation_leave_out_those_of_others(tmp_path: Path) -> None:
    scenario = Scenario(denied=frozenset({"V$PQ_SESSTAT", "DBA_OPTSTAT_OPERATIONS"}))
    _, of_all, _, _ = dbatk(scenario, tmp_path, "doctor", "--grants")
    _, of_insert, _, _ = dbatk(scenario, tmp_path, "doctor", "--grants", "--operation", "insert")
    assert "DBA_OPTSTAT_OPERATIONS" in of_all
    assert "DBA_OPTSTAT_OPERATIONS" not in of_insert
    assert "V_$PQ_SESSTAT" in of_insert


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--operation", "insret"), "`insert`"),
        (("--operation", "insert"), "--source"),
        (("--operation", "insert", "--source", "NOWHERE", "--table", "GTEST"), "does not exist"),
    ],
)
def test_bad_input_gets_a_sentence_and_exit_2(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    status, _, said, _ = dbatk(Scenario(), tmp_path, "doctor", *arguments)
    assert status == 2
    assert words in said


def test_a_degree_above_what_can_be_had_is_not_said_to_be_had(tmp_path: Path) -> None:
    asked = ("--operation", "ctas", "--source", "GTEST", "--table", "NEW_TABLE", "--degree", "1,1000")
    _, shown, _, _ = dbatk(Scenario(), tmp_path, "doctor", "--json", *asked)
    states = {check["name"]: (check["state"], check["evidence"]) for check in json.loads(shown)["work"]}
    assert states["ctas degree=1"] == ("ok", "available")
    state, evidence = states["ctas degree=1000"]
    assert state == "warning"
    assert "degree 1000 is above 80" in evidence


def test_a_query_that_a_run_would_refuse_is_told_by_the_doctor(tmp_path: Path) -> None:
    query = tmp_path / "paid.sql"
    query.write_text("SELECT * FROM dba_hist_sysstat", "utf-8")
    asked = ("--operation", "ctas", "--query", str(query), "--table", "NEW_TABLE")
    _, shown, _, _ = dbatk(Scenario(), tmp_path, "doctor", "--json", *asked)
    told = [check for check in json.loads(shown)["work"] if check["name"] == "licence"]
    assert len(told) == 1
    assert told[0]["state"] == "warning"
    assert "`DBA_HIST_SYSSTAT` belongs to Oracle Diagnostics Pack" in told[0]["evidence"]


def test_a_highest_degree_that_nobody_may_read_is_said_to_be_unknown(tmp_path: Path) -> None:
    blind = Scenario(denied=frozenset({"V$PARAMETER", "V$PX_PROCESS", "V$PX_PROCESS_SYSSTAT"}))
    _, shown, _, _ = dbatk(blind, tmp_path, "doctor")
    assert "highest degree now: unknown" in shown


# -- before a run -----------------------------------------------------------------------------------------------
_RUN = ("--source", "GTEST", "--table", "NEW_TABLE", "--not-production")


@pytest.mark.parametrize("scenario", [scenarios.standby(), scenarios.container()], ids=["standby", "root"])
def test_work_is_refused_before_its_first_statement(scenario: Scenario, tmp_path: Path) -> None:
    status, _, said, sent = dbatk(scenario, tmp_path, "ctas", *_RUN)
    assert status == 5
    assert "connect to" in said
    assert all(re.match(r"\s*(SELECT|WITH)\b", text) for text in sent)


@pytest.mark.full
def test_a_degree_above_what_can_be_had_is_explained_before_the_run(tmp_path: Path) -> None:
    scenario, sentence = Scenario(max_servers=4), "degree 64 is above 4, the highest available now"
    _, _, said, _ = dbatk(scenario, tmp_path, "ctas", *_RUN, "--degree", "1,64", "--repeat", "1", "--warmup", "0")
    assert said.index(sentence) < said.index("[1/2]")
    _, script, _, _ = dbatk(scenario, tmp_path, "ctas", *_RUN, "--degree", "64", "--dry-run")
    assert f"-- {sentence}" in script
    file = tmp_path / "sweep.toml"
    file.write_text(
        '[experiment]\ntarget = "t"\noperation = "ctas"\nsource = "GTEST"\ntable = "N"\n'
        "[factors]\ndegree = [1, 64]\n"
    )
    _, plan, _, _ = dbatk(scenario, tmp_path, "plan", str(file))
    assert sentence in plan


def test_nothing_is_said_of_a_degree_that_can_be_had(tmp_path: Path) -> None:
    _, script, _, _ = dbatk(Scenario(), tmp_path, "ctas", *_RUN, "--degree", "8", "--dry-run")
    assert "is above" not in script


def test_no_degree_is_promised_where_options_and_parameters_cannot_be_read(tmp_path: Path) -> None:
    blind = Scenario(denied=frozenset({"V$OPTION", "V$PARAMETER"}))
    status, shown, _, _ = dbatk(blind, tmp_path, "doctor")
    said = " ".join(shown.split())
    assert status == 0
    assert "uncertain: parameters and installed options could not be read" in said
    assert "in parallel can be had" not in said


def test_grants_that_were_asked_for_are_no_failure(tmp_path: Path) -> None:
    status, shown, _, _ = dbatk(scenarios.standby(), tmp_path, "doctor", "--grants")
    assert status == 0 and shown.startswith("--")
