"""Who our sessions are to the database: module, action, consumer group; and the trace of what they do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle.judging import judge
from tests.oracle.make import assumed, steps, texts, work
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.test_command_line import dbatk
from tests.oracle.test_licence_runs import Site
from tests.oracle.test_pool import trials
from toolkit.dialects.oracle.dialect import DIALECT

CTAS = ("ctas", "--source", "GTEST", "--table", "GTEST_COPY", "--snapshot", "none")
_DIRECTIVE = {"PLAN": "DAY", "GROUP_OR_SUBPLAN": "BATCH", "PARALLEL_DEGREE_LIMIT_P1": 2}
BATCH = Scenario(
    groups={"BATCH": 2, "DEFAULT_CONSUMER_GROUP": None},
    views={"DBA_RSRC_PLAN_DIRECTIVES": (_DIRECTIVE,), "V$RSRC_PLAN": ({"ID": 1, "NAME": "DAY"},)},
)


def warnings(run: dict[str, object]) -> str:
    """Return what a run warned of, as one text."""
    return "\n".join(map(str, run["warnings"]))  # type: ignore[call-overload]


def seen(standin: Standin, sort: Callable[[str], bool]) -> list[str]:
    """Return the statements of a sort, each on one line."""
    return [" ".join(text.split()) for text in standin.statements if sort(text)]


def test_the_working_session_switches_and_the_trial_says_in_which_group_it_was(tmp_path: Path) -> None:
    with running_standin(BATCH) as standin:
        status, run = dbatk(standin, tmp_path, *CTAS, "--degree", "8", "--consumer-group", "batch")
        (trial,) = trials(run)
        assert (status, trial["outcome"], trial["granted_degree"]) == (3, "downgraded", 2)
        assert str(trial["reason"]).endswith("(consumer group BATCH)")
        assert "in consumer group BATCH" in {metric["name"] for metric in trial["metrics"]}  # type: ignore[attr-defined]
        sent = seen(standin, lambda text: "SWITCH_CURRENT_CONSUMER_GROUP" in text)
        assert [text.split("'")[1] for text in sent] == ["BATCH", "DEFAULT_CONSUMER_GROUP"]


def test_the_profile_names_a_group_for_every_work_that_names_none(tmp_path: Path) -> None:
    with running_standin(BATCH) as standin:
        dwh = Site(standin, tmp_path, 'consumer_group = "batch"')
        for more, group in (
            ((), "BATCH"),
            (("--consumer-group", "default_consumer_group"), "DEFAULT_CONSUMER_GROUP"),
        ):
            status, said = dwh(*CTAS, "-t", "dwh", "--dry-run", *more)
            assert status == 0 and f"SWITCH_CURRENT_CONSUMER_GROUP('{group}'" in said
        assert "CONSUMER_GROUP" not in dwh("backup", "run", "-t", "dwh", "--dry-run")[1], "not in RMAN's sessions"


def test_the_limit_of_the_group_asked_for_is_known_before(tmp_path: Path) -> None:
    with running_standin(BATCH) as standin:
        _, asked = dbatk(standin, tmp_path, *CTAS, "--degree", "8", "--consumer-group", "BATCH", "--dry-run")
        _, plain = dbatk(standin, tmp_path, *CTAS, "--degree", "8", "--dry-run")
    sentence = "degree 8 is above 2, the highest available now: resource plan DAY allows BATCH degree 2"
    assert sentence in str(asked["script"]) and sentence not in str(plain["script"])


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("group", "code"), [("NOBODYS", "ORA-29368"), ("SYS_GROUP", "ORA-01031"), ("OTHER_GROUPS", "ORA-29396")]
)
def test_a_group_that_cannot_be_had_ends_the_work_before_it_begins(group: str, code: str, tmp_path: Path) -> None:
    with running_standin(BATCH) as standin:
        status, run = dbatk(standin, tmp_path, *CTAS, "--consumer-group", group)
        (trial,) = trials(run)
        assert (status != 0, trial["outcome"], trial["error_code"]) == (True, "failed", code)
        assert not seen(standin, lambda text: text.startswith("CREATE TABLE"))


def test_a_session_that_is_in_another_group_all_the_same_is_doubted() -> None:
    asked = work("ctas", 2, consumer_group="batch")
    rows = ({"kind": "switches", "name": "PQ ENABLED", "detail": "OTHER_GROUPS", "value": None, "total": None},)
    told = DIALECT.work.tell(asked, {"degree": rows}, {}, 1.0).sentences
    assert any("in consumer group OTHER_GROUPS, not in BATCH" in sentence for sentence in told)
    assert not DIALECT.work.tell(asked, {"degree": ({**rows[0], "detail": "BATCH"},)}, {}, 1.0).sentences


def test_time_in_the_queue_of_parallel_statements_is_told() -> None:
    told = DIALECT.work.tell(work("ctas", 2), {}, {"event resmgr:pq queued (session)": 12.34}, 20.0).sentences
    assert told == ("it waited 12.3 s in the queue of parallel statements, which counts in its time",)


def test_every_session_of_ours_has_module_action_and_run(tmp_path: Path) -> None:
    with running_standin() as standin:
        sessions = []
        begin = standin.engine.begin_session
        standin.engine.begin_session = lambda service: sessions.append(begin(service)) or sessions[-1]  # type: ignore[method-assign, func-returns-value]
        line = ("--degree", "1,2", "--repeat", "1", "--warmup", "0", "--snapshot", "vstat")
        status, run = dbatk(standin, tmp_path, *CTAS[:5], *line)
    assert status == 0 and len(sessions) >= 3
    assert {each.module for each in sessions} == {"dbatk"}
    actions = {str(each.action).partition(" ")[0] for each in sessions}
    assert {"control", "monitor", "trial"} <= actions
    assert {each.client_identifier for each in sessions} >= {str(run["run"])}
    assert all(each.client_identifier for each in sessions)


TRACING = Scenario(privileges=("CREATE SESSION", "CREATE TABLE", "ALTER SESSION"))


def test_a_trace_without_the_privilege_is_refused_with_the_grant(tmp_path: Path) -> None:
    with running_standin() as standin:
        status, run = dbatk(standin, tmp_path, *CTAS, "--sql-trace")
        assert (status, run["error"]["code"]) == (5, "TK-0304")
        assert "DBATK may not trace its sessions (ORA-01031): that needs ALTER SESSION" in run["error"]["message"]
        assert run["error"]["hint"] == "GRANT ALTER SESSION TO DBATK, or omit --sql-trace"
        assert not seen(standin, lambda text: text.startswith(("CREATE TABLE", "ALTER", "BEGIN")))
        _, offered = Site(standin, tmp_path)("doctor", "-t", "dwh", "--grants")
        assert "-- only for `--sql-trace`\nGRANT ALTER SESSION TO DBATK;" in offered
    with running_standin(TRACING) as standin:
        assert "ALTER SESSION" not in Site(standin, tmp_path)("doctor", "-t", "dwh", "--grants")[1]


def test_the_trace_file_of_each_session_is_named(tmp_path: Path) -> None:
    with running_standin(TRACING) as standin:
        status, run = dbatk(standin, tmp_path, *CTAS, "--sql-trace", "--concurrency", "3", "--repeat", "1")
    assert status == 0
    named = set(re.findall(r"/trace/FREE_ora_(\d+)_DBATK\.trc", warnings(run)))
    assert len(named) == 3, warnings(run)


def test_the_grant_of_a_consumer_group_is_a_block_for_the_dba(tmp_path: Path) -> None:
    with running_standin(BATCH) as standin:
        for group, wanted in (("night", True), ("batch", False)):
            site = Site(standin, tmp_path)
            _, shown = site("doctor", "-t", "dwh", "--grants", "--consumer-group", group)
            call = f"GRANT_SWITCH_CONSUMER_GROUP('DBATK', '{group.upper()}', FALSE); END;\n/"
            assert (call in shown) is wanted
        dwh = Site(standin, tmp_path, 'consumer_group = "night"')
        assert "'NIGHT', FALSE); END;\n/" in dwh("doctor", "-t", "dwh", "--grants")[1]


def test_a_traced_run_names_its_file_and_says_what_tracing_costs(tmp_path: Path) -> None:
    with running_standin(TRACING) as standin:
        status, run = dbatk(standin, tmp_path, *CTAS, "--sql-trace")
        assert status == 0
        assert "/trace/FREE_ora_" in warnings(run) and "_DBATK.trc" in warnings(run)
        assert "no measure of an untraced run" in warnings(run)
        sent = seen(standin, lambda text: "TRACE" in text)
        begun, ended = (
            next(number for number, text in enumerate(sent) if f"SESSION_TRACE_{verb}" in text)
            for verb in ("ENABLE", "DISABLE")
        )
        assert begun < ended
        assert not any(each.traced for each in standin.sessions())


def test_where_the_file_cannot_be_read_of_it_is_said_how_it_is_found(tmp_path: Path) -> None:
    with running_standin(replace(TRACING, denied=frozenset({"V$DIAG_INFO", "V$PROCESS"}))) as standin:
        status, run = dbatk(standin, tmp_path, *CTAS, "--sql-trace", "--degree", "2")
        (trial,) = trials(run)
    assert (status, trial["granted_degree"]) == (0, 2), "the other evidence is read all the same"
    assert "`*_DBATK.trc`" in warnings(run)


def test_nothing_of_it_is_sent_or_asked_for_unless_wanted(tmp_path: Path) -> None:
    with running_standin() as standin:
        assert dbatk(standin, tmp_path, *CTAS, "--degree", "2")[0] == 0
        words = ("DIAG_INFO", "SESSION_TRACE", "TRACEFILE", "CONSUMER_GROUP(")
        assert not seen(standin, lambda text: any(word in text.upper() for word in words))


def test_a_trace_is_refused_where_nobody_could_read_it() -> None:
    facts = assumed(cloud_service=({"cloud_service": "OLTP"},))
    found = DIALECT.work.support(work("ctas", 2, sql_trace=True), facts)
    assert not found.ok and "trace files" in found.sentence


def test_a_group_keeps_its_case_in_quotes_and_what_is_set_is_set_back() -> None:
    asked = work("ctas", 2, consumer_group='"Night Batch"', sql_trace=True)
    facts = assumed(doctor_session=({"consumer_group": "DAY'S"},))
    begun, ended = texts(DIALECT.work.worker_begin(asked, facts)), texts(DIALECT.work.worker_end(asked, facts))
    assert "SWITCH_CURRENT_CONSUMER_GROUP('Night Batch', former_group, FALSE)" in begun[0]
    assert "SWITCH_CURRENT_CONSUMER_GROUP('DAY''S', former_group, FALSE)" in ended[-1]
    assert begun[-2:] == [
        "ALTER SESSION SET TRACEFILE_IDENTIFIER = 'DBATK'",
        "BEGIN DBMS_SESSION.SESSION_TRACE_ENABLE(waits => TRUE, binds => FALSE); END;",
    ]
    assert ended[:2] == [
        "BEGIN DBMS_SESSION.SESSION_TRACE_DISABLE; END;",
        "ALTER SESSION SET TRACEFILE_IDENTIFIER = ''",
    ]


@pytest.mark.full
def test_what_is_sent_for_it_stands_before_two_grammars() -> None:
    asked = work("ctas", 2, consumer_group="batch", sql_trace=True)
    calls = (*DIALECT.work.worker_begin(asked, assumed()), *DIALECT.work.worker_end(asked, assumed()))
    assert judge({step.text: step.name for step in steps(calls)}) == {}
