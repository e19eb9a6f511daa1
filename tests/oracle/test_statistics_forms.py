"""Jobs that gather statistics in other ways: with synopses, in jobs, chosen tables, locked ones, left pending."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import SCHEMA, assumed, texts, work
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.standin.statistics import Statistics
from tests.oracle.test_live_statistics import ANALYZE_ANY, MINE, Bench, _when, nothing, played
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts
from toolkit.model.words import Mode, SupportState

STATS = "stats-gather"
JOB = ("stats", "gather", "--schema", "DBATK")
_PARTS = {"ALL_PART_TABLES": [{"OWNER": "DBATK", "TABLE_NAME": "GTEST"}]}
_RIGHTS = [
    {"PRIVILEGE": name}
    for name in ("ANALYZE ANY", "ANALYZE ANY DICTIONARY", "CREATE JOB", "MANAGE SCHEDULER", "MANAGE ANY QUEUE")
]


def facts(release: str = "19-ee", **preferences: str) -> Facts:
    """Return facts about a schema with two partitioned tables, one of which has its own INCREMENTAL."""
    rows = (
        {"partitioned_table": "ORDERS", "incremental": None},
        {"partitioned_table": "Old", "incremental": "FALSE"},
    )
    named = {"CONCURRENT": preferences} if preferences else {}
    known = {f"stats_preference:{name}": ({"name": name, "preference_value": value[name]},)
             for name, value in named.items()}  # fmt: skip
    return assumed(release, **{"stats_partitioned:APP": rows, **known})


def setup(release: str = "19-ee", preferences: dict[str, str] | None = None, **options: OptionValue) -> list[str]:
    """Return what a job sets first."""
    item = work(STATS, 1, Mode.JOB, ref=SCHEMA, **options)
    return list(texts(DIALECT.work.of(STATS).setup(item, facts(release, **(preferences or {})))))


# -- what is sent -----------------------------------------------------------------------------------------------
def test_synopses_are_asked_for_by_a_preference_of_each_partitioned_table() -> None:
    found = setup(incremental="yes")
    assert len(found) == 2 and all("'INCREMENTAL'" in text and "'TRUE'" in text for text in found)
    assert "'ORDERS'" in found[0] and "'\"Old\"'" in found[1]
    assert setup(incremental="no") == []


@pytest.mark.parametrize(
    ("release", "former", "value"),
    [("11.2-ee", "FALSE", "TRUE"), ("12.1-ee", "OFF", "MANUAL"), ("19-ee", "AUTOMATIC", "ALL")],
)
def test_concurrent_takes_the_word_of_its_release_and_leaves_automatic_gatherings_as_they_were(
    release: str, former: str, value: str
) -> None:
    (text,) = setup(release, {"CONCURRENT": former}, concurrent=True)
    assert "SET_GLOBAL_PREFS" in text and f"'{value}'" in text


def test_what_is_set_already_is_not_set_again() -> None:
    assert setup("19-ee", {"CONCURRENT": "ALL"}, concurrent=True) == []


def sent(**options: OptionValue) -> str:
    """Return the call that gathers."""
    (text,) = texts(DIALECT.work.timed(work(STATS, 1, Mode.JOB, ref=SCHEMA, **options), assumed()))
    return text


def test_locked_statistics_are_forced_only_where_a_job_says_so() -> None:
    assert "force => TRUE" in sent(force_locked=True) and "force" not in sent()


def test_tables_are_chosen_by_a_list_of_filters() -> None:
    text = sent(only_tables=("orders", "ITEM%", '"it\'s"'))
    assert "chosen.EXTEND(3)" in text and "obj_filter_list => chosen" in text
    assert "chosen(2).objname := 'ITEM%'" in text and "chosen(3).objname := '\"it''s\"'" in text
    with pytest.raises(ToolkitError, match="is not a name or pattern"):
        sent(only_tables=("APP.ORDERS",))


@for_each(
    ("options", "reason"),
    [
        ({"incremental": "yes", "estimate_percent": 10}, "need `--estimate-percent auto`"),
        ({"incremental": "yes", "granularity": "global"}, "need `--granularity auto`"),
        ({"incremental": "yes", "publish": "later"}, "need PUBLISH TRUE"),
        ({"incremental": "yes", "max_difference": 5}, "need PUBLISH TRUE"),
        ({"concurrent": True, "publish": "later"}, "could go on after PUBLISH is restored"),
    ],
)
def test_what_would_not_do_what_was_asked_is_refused(options: dict[str, OptionValue], reason: str) -> None:
    found = DIALECT.work.support(work(STATS, 1, Mode.JOB, ref=SCHEMA, **options), facts())
    assert not found.ok and reason in found.sentence


def test_a_measurement_has_none_of_it() -> None:
    found = DIALECT.work.support(work(STATS, 1, force_locked=True), assumed())
    assert "`--force-locked` is for a job" in found.sentence


def test_gathering_in_jobs_names_the_grants_it_needs() -> None:
    rows = ({"privilege": "ANALYZE ANY"}, {"privilege": "CREATE JOB"})
    known = assumed(stats_rights=rows, server=({**assumed().first("server"), "user_name": "DBATK"},))
    found = DIALECT.work.support(work(STATS, 1, Mode.JOB, ref=SCHEMA, concurrent=True), known)
    assert found.state is SupportState.NEEDS_PRIVILEGE
    assert "GRANT ANALYZE ANY DICTIONARY, MANAGE SCHEDULER, MANAGE ANY QUEUE TO DBATK" in found.sentence


# -- on the stand-in --------------------------------------------------------------------------------------------
def test_incremental_and_concurrent_are_set_for_the_run_and_restored(tmp_path: Path) -> None:
    with running_standin(Scenario(views={**_PARTS, "SESSION_PRIVS": _RIGHTS})) as standin:
        context = Bench(standin, tmp_path)
        answer = context.run(*JOB, "--incremental", "yes", "--concurrent")
        assert answer.status == 0, answer.said
        assert (
            context.statistics.preferences.get(MINE, {}) == {}
            and context.statistics.defaults["CONCURRENT"] == "OFF"
        )
        sent = [text for text in standin.statements if "_PREFS(" in text and "SELECT" not in text[:6]]
    order = ["SET_TABLE_PREFS", "SET_GLOBAL_PREFS", "SET_GLOBAL_PREFS", "DELETE_TABLE_PREFS"]
    assert [next(word for word in order if word in text) for text in sent] == order
    assert "INCREMENTAL of GTEST is restored afterwards" in answer.warnings


def test_a_preference_is_kept_where_the_user_says_so(tmp_path: Path) -> None:
    with running_standin(Scenario(views=_PARTS)) as standin:
        context = Bench(standin, tmp_path)
        answer = context.run(*JOB, "--incremental", "yes", "--keep-preferences")
        assert answer.status == 0, answer.said
        assert context.statistics.preferences[MINE] == {"INCREMENTAL": "TRUE"}


def _colleague(context: Bench, sets: Callable[[Statistics], None]) -> None:
    """Let somebody set preferences while statistics are gathered."""
    gather = context.statistics.gather

    def meanwhile(*given: object) -> object:
        sets(context.statistics)
        return gather(*given)  # type: ignore[arg-type]

    context.statistics.gather = meanwhile  # type: ignore[method-assign,assignment]


def test_a_preference_that_a_colleague_set_meanwhile_stays_and_is_said(tmp_path: Path) -> None:
    views = {**_PARTS, "SESSION_PRIVS": _RIGHTS}
    with running_standin(Scenario(views=views)) as standin:
        context = Bench(standin, tmp_path)

        def sets(state: Statistics) -> None:
            state.defaults["CONCURRENT"] = "ALL"
            state.defaults["INCREMENTAL"] = "TRUE"
            state.preferences[MINE]["INCREMENTAL"] = "FALSE"

        _colleague(context, sets)
        answer = context.run(*JOB, "--concurrent", "--incremental", "yes")
        assert answer.status == 3
        assert context.statistics.defaults["CONCURRENT"] == "ALL"
        assert context.statistics.preferences[MINE] == {"INCREMENTAL": "FALSE"}
        context.more = ()
        cleaned, again = context.run("clean"), context.run("clean")
    said = (
        "preference `CONCURRENT of the database`: CONCURRENT is `ALL`, which somebody else set meanwhile (it was "
        "`OFF`, the run set `MANUAL`); it is left as it is; to restore it, run: "
        "BEGIN DBMS_STATS.SET_GLOBAL_PREFS('CONCURRENT', 'OFF'); END;"
    )
    assert said in answer.warnings and said in str(cleaned.document["left"])
    table = (
        "INCREMENTAL is `FALSE`, which somebody else set meanwhile (it was `none of its own`, the run set `TRUE`)"
    )
    assert table in answer.warnings
    assert "run: BEGIN DBMS_STATS.DELETE_TABLE_PREFS('DBATK', 'GTEST', 'INCREMENTAL'); END;" in answer.warnings
    assert (cleaned.status, again.status) == (3, 0) and not again.document["left"]


def test_a_preference_that_a_colleague_restored_meanwhile_is_no_trouble(tmp_path: Path) -> None:
    views = {**_PARTS, "SESSION_PRIVS": _RIGHTS}
    with running_standin(Scenario(views=views)) as standin:
        context = Bench(standin, tmp_path)

        def sets(state: Statistics) -> None:
            state.defaults["CONCURRENT"] = "OFF"
            state.preferences[MINE].clear()

        _colleague(context, sets)
        answer = context.run(*JOB, "--concurrent", "--incremental", "yes")
    assert answer.status == 0, answer.said


def test_what_is_found_without_a_grant_on_the_dictionary_is_restored_without_it(tmp_path: Path) -> None:
    with running_standin(Scenario(views=_PARTS, denied=frozenset({"DBA_TABLES"}))) as standin:
        context = Bench(standin, tmp_path)
        answer = context.run(*JOB, "--incremental", "yes")
        assert answer.status == 0, answer.said
        assert not context.statistics.preferences.get(MINE)


def test_a_table_that_is_not_shown_any_more_is_not_taken_for_dropped(tmp_path: Path) -> None:
    parts = {"ALL_PART_TABLES": [{"OWNER": "APP", "TABLE_NAME": "ORDERS"}]}
    with running_standin(Scenario(views={**parts, **ANALYZE_ANY})) as standin:
        context = Bench(standin, tmp_path)

        def hide(_: Statistics) -> None:
            standin.engine.scenario = replace(standin.engine.scenario, grants={})
            standin.engine.state.scenario = standin.engine.scenario

        _colleague(context, hide)
        answer = context.run("stats", "gather", "--schema", "APP", "--incremental", "yes")
        assert answer.status == 3
        assert context.statistics.preferences["APP", "ORDERS"] == {"INCREMENTAL": "TRUE"}
    assert "the table is not shown to this user; if it is still there, run: BEGIN" in answer.warnings


def test_without_a_partitioned_table_there_is_nothing_incremental(tmp_path: Path) -> None:
    answer = played(tmp_path, Scenario(), nothing, *JOB, "--incremental", "yes")
    assert answer.status != 0 and "no partitioned table of DBATK is visible" in answer.error


def _locked(state: Statistics) -> None:
    state.lock(*MINE)


def test_locked_statistics_are_gathered_by_force_and_stay_locked(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        _locked(context.statistics)
        answer = context.run(*JOB, "--force-locked")
        assert answer.status == 0, answer.said
        assert context.statistics.locked == {MINE: "ALL"} and ("TABLE", MINE) in context.statistics.published
    assert "replaced too (--force-locked); they stay locked" in answer.warnings


def test_only_the_chosen_tables_are_gathered(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        answer = context.run("stats", "gather", "--schema", "APP", "--only-tables", "ORD%")
        assert answer.status == 0, answer.said
        assert ("TABLE", ("APP", "ORDERS")) in context.statistics.published
        context.statistics.published.clear()
        context.run("stats", "gather", "--schema", "APP", "--only-tables", "ITEM%")
        assert not context.statistics.published


def test_statistics_left_pending_do_not_move_the_published_ones(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        answer = context.run(*JOB, "--publish", "later")
        assert answer.status == 0, answer.said
        assert list(context.statistics.pending) == [MINE] and not context.statistics.published
        assert not context.statistics.preferences.get(MINE)
        again = context.run(*JOB, "--publish", "later")
    assert answer.environment["published_statistics"].startswith(
        "verified: pending statistics of 1 table are newer"
    )
    assert answer.metrics("tables_gathered") == [1.0]
    assert again.status != 0 and "pending statistics of DBATK.GTEST exist" in again.error


def test_statistics_are_compared_before_they_are_published(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        answer = context.run(*JOB, "--max-difference", "50")
        assert answer.status == 0, answer.said
        assert not context.statistics.pending and ("TABLE", MINE) in context.statistics.published
        assert "none differed by more than 50 %" in answer.environment["published_statistics"]
        context.statistics.differences["APP", "ORDERS"] = 73.0
        answer = context.run("stats", "gather", "--schema", "APP", "--max-difference", "50")
        assert list(context.statistics.pending) == [("APP", "ORDERS")]
        assert ("TABLE", ("APP", "ORDERS")) not in context.statistics.published
        assert not context.statistics.preferences.get(("APP", "ORDERS"))
    assert (
        "1 table differ from the present ones by more than 50 % (or it is not known by how much)"
        in answer.warnings
    )
    assert "DIFF_TABLE_STATS_IN_PENDING('APP', 'ORDERS', NULL, 10)" in answer.warnings


def test_a_killed_job_is_put_right_by_clean(tmp_path: Path) -> None:
    views = {**_PARTS, "SESSION_PRIVS": _RIGHTS}
    with running_standin(Scenario(views=views, delay_seconds=30)) as standin:
        context = Bench(standin, tmp_path)
        gathering = _when(standin, "GATHER_SCHEMA_STATS", lambda: None)
        process = context.start(*JOB, "--incremental", "yes", "--concurrent", "--not-production")
        assert gathering.wait(300)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=300)
        standin.engine.released.set()
        assert context.statistics.preferences[MINE] == {"INCREMENTAL": "TRUE"}
        assert context.statistics.defaults["CONCURRENT"] == "MANUAL"
        context.more = ()
        answer = context.run("clean")
        assert answer.status == 0, answer.said
        assert not context.statistics.preferences.get(MINE)
        assert context.statistics.defaults["CONCURRENT"] == "OFF"


# -- the server itself ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("what", ["dictionary", "fixed_objects", "system"])
def test_statistics_of_the_server_are_one_call_each(tmp_path: Path, what: str) -> None:
    with running_standin(Scenario(views={"SESSION_PRIVS": _RIGHTS})) as standin:
        context = Bench(standin, tmp_path)
        answer = context.run("stats", "gather", "--server", what)
        assert answer.status == 0, answer.said
        done = [each.operation for each in context.statistics.operations]
        assert not context.statistics.published
    assert done == [f"gather_{what}_stats"]
    assert f"to go back by hand: DBMS_STATS.RESTORE_{what.upper()}_STATS" in answer.warnings
    assert "not verified further" in answer.environment["published_statistics"]


@pytest.mark.parametrize(
    ("options", "degree", "reason"),
    [
        ({"server": "system", "estimate_percent": 5}, 1, "`--estimate-percent` does not apply"),
        ({"server": "fixed_objects"}, 4, "takes no degree"),
        ({"server": "dictionary", "force_locked": True}, 1, "`--force-locked` does not apply"),
    ],
)
def test_what_a_call_does_not_take_is_refused(options: dict[str, OptionValue], degree: int, reason: str) -> None:
    assert reason in DIALECT.work.support(work(STATS, degree, Mode.JOB, ref=SCHEMA, **options), assumed()).sentence


def test_statistics_of_the_dictionary_name_the_grants_they_need(tmp_path: Path) -> None:
    answer = played(tmp_path, Scenario(views=ANALYZE_ANY), nothing, "stats", "gather", "--server", "dictionary")
    assert answer.status != 0 and "GRANT ANALYZE ANY DICTIONARY TO DBATK" in answer.error


def test_statistics_of_the_server_are_not_measured(tmp_path: Path) -> None:
    answer = played(
        tmp_path,
        Scenario(),
        nothing,
        "stats",
        "gather",
        "--server",
        "dictionary",
        "--degree",
        "1,2",
        "--repeat",
        "1",
    )
    assert answer.status == 2 and "gathered once" in answer.error
