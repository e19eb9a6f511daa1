"""Jobs of statistics that would not do what was asked: refused before they begin, or reported when they end."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import SCHEMA, SOURCE, assumed, texts, work
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.standin.statistics import Statistics
from tests.oracle.test_live_statistics import ANALYZE_ANY, MINE, Bench, played
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.oracle.statistics.isolation import publish_pending
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Mode, ObjectKind

STATS = "stats-gather"
JOB = ("stats", "gather", "--schema", "DBATK")
ORDERS = ("APP", "ORDERS")
SERVER = ObjectRef(ObjectKind.STATISTICS, QualifiedName("dictionary"))
_PARTS = (
    {"partitioned_table": "ORDERS", "incremental": None},
    {"partitioned_table": "SALES", "incremental": None},
)


def read(release: str = "19-ee", **answers: tuple[Row, ...]) -> Facts:
    """Return facts that were read, not assumed."""
    return replace(assumed(release, **answers), assumed=False)


def sentence(facts: Facts, **options: OptionValue) -> str:
    """Return why a job on a schema is refused, or nothing."""
    found = DIALECT.work.support(work(STATS, 1, Mode.JOB, ref=SCHEMA, **options), facts)
    return "" if found.ok else found.sentence


# -- what is compared before it is published --------------------------------------------------------------------
def _differs(state: Statistics) -> None:
    state.differences[ORDERS] = 73.0


def test_a_job_that_leaves_statistics_unpublished_does_not_end_as_done(tmp_path: Path) -> None:
    arguments = ("stats", "gather", "--schema", "APP,DBATK", "--max-difference", "50")
    answer = played(tmp_path, Scenario(views=ANALYZE_ANY), _differs, *arguments)
    assert answer.status == 3
    (trial,) = answer.document["trials"]
    assert trial["outcome"] == "failed"
    assert trial["reason"] == (
        "pending statistics of 1 table differ from the present ones by more than 50 % (or it is not known by how "
        "much) and were not published: APP.ORDERS"
    )


def test_a_difference_that_is_not_known_publishes_nothing(tmp_path: Path) -> None:
    """MAXDIFFPCT is null: nobody has said that they differ little."""
    arguments = ("stats", "gather", "--schema", "APP,DBATK", "--max-difference", "50")
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        context.statistics.differences[ORDERS] = None
        answer = context.run(*arguments)
        assert answer.status == 3
        assert list(context.statistics.pending) == [ORDERS]
        assert ("TABLE", ORDERS) not in context.statistics.published
        (trial,) = answer.document["trials"]
        assert "APP.ORDERS" in trial["reason"] and "or it is not known by how much" in trial["reason"]
        publish = ("stats", "publish", "--table", "APP.ORDERS")
        refused = context.run(*publish, "--max-difference", "50")
        assert list(context.statistics.pending) == [ORDERS]
        (trial,) = refused.document["trials"]
        assert refused.status == 3 and "is not known" in trial["reason"]
        assert context.run(*publish).status == 0 and not context.statistics.pending


@pytest.mark.full
def test_what_stays_unpublished_is_not_done_when_the_job_is_resumed(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        _differs(context.statistics)
        assert context.run("stats", "gather", "--schema", "APP,DBATK", "--max-difference", "50").status == 3
        refused = context.run("runs", "resume", "last")
        assert list(context.statistics.pending) == [ORDERS]
        context.statistics.pending.clear()
        again = context.run("runs", "resume", "last")
    assert refused.status == 5 and "pending statistics of APP.ORDERS exist" in refused.error
    assert again.status == 3 and "were not published: APP.ORDERS" in again.document["trials"][-1]["reason"]


def test_the_next_job_says_what_is_pending_and_can_leave_it_out(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        _differs(context.statistics)
        gather = ("stats", "gather", "--schema", "APP", "--max-difference", "50")
        assert context.run(*gather).status == 3
        context.statistics.pending[ORDERS] -= datetime.timedelta(hours=1)
        again = context.run(*gather)
        other = context.run(*gather, "--only-tables", "ITEM%")
        assert list(context.statistics.pending) == [ORDERS]
        plain = context.run("stats", "gather", "--schema", "DBATK", "--max-difference", "50")
    assert again.status != 0 and "pending statistics of APP.ORDERS exist" in again.error
    assert "dbatk did not gather" not in again.error and "gather later" not in again.error
    assert "DBMS_STATS.PUBLISH_PENDING_STATS('APP', 'ORDERS')" in again.error
    assert "DBMS_STATS.DELETE_PENDING_STATS('APP', 'ORDERS')" in again.error and "`--only-tables`" in again.error
    assert (other.status, plain.status) == (0, 0), other.said + plain.said


def test_only_tables_that_were_chosen_are_published() -> None:
    item = work(STATS, 1, Mode.JOB, ref=SCHEMA, max_difference=5, only_tables=("ITEM%", '"Odd_one"'))
    (text,) = texts([publish_pending(item, assumed())])
    assert "AND (p.table_name LIKE 'ITEM%' OR p.table_name LIKE 'Odd_one') GROUP BY" in text
    whole = work(STATS, 1, Mode.JOB, ref=SCHEMA, max_difference=5)
    assert " LIKE " not in texts([publish_pending(whole, assumed())])[0]


@for_each(
    ("patterns", "refused"), [(("ORD%",), True), (("O_DERS",), True), (('"orders"',), True), (("ITEM%",), False)]
)
def test_pending_statistics_hinder_only_the_tables_that_are_gathered(
    patterns: tuple[str, ...], refused: bool
) -> None:
    row: Row = {"hindrance": "pending", "hindered_table": "ORDERS", "reason": "pending statistics exist"}
    clock: Row = {"instant": "x", "instant_date": "2026-11-21 05:13:42", "oldest": "x"}
    facts = read(stats_clock=(clock,), **{"stats_hindrances:APP": (row,)})
    said = sentence(facts, publish="later", only_tables=patterns)
    assert ("PUBLISH_PENDING_STATS('APP', 'ORDERS')" in said) is refused and bool(said) is refused


@for_each(
    ("answers", "reason"),
    [
        ({"stats_hindrances:APP": ({"hindrance": "window", "reason": "a window is open"},)},
         "a window is open; gather later"),
        ({"stats_hindrances:APP": ({"hindrance": "publish", "hindered_table": "T", "reason": "it is FALSE"},)},
         "it is FALSE; set it to TRUE first"),
        ({"stats_optimizer": ({"uses_pending": "TRUE"},)}, "set it to FALSE first"),
        ({"stats_preference:CONCURRENT": ({"name": "CONCURRENT", "preference_value": "ALL"},)}, "or OFF first"),
    ],
)  # fmt: skip
def test_each_reason_comes_with_what_helps(answers: dict[str, tuple[Row, ...]], reason: str) -> None:
    clock: Row = {"instant": "x", "instant_date": "2026-11-21 05:13:42", "oldest": "x"}
    assert reason in sentence(read(stats_clock=(clock,), **answers), publish="later")


def _locked(state: Statistics) -> None:
    state.lock(*MINE)


def test_where_nothing_was_gathered_nothing_is_proven(tmp_path: Path) -> None:
    answer = played(tmp_path, Scenario(), _locked, *JOB, "--max-difference", "50")
    assert answer.environment["published_statistics"].startswith("nothing was gathered: no table has statistics")
    assert "nothing was gathered" in answer.warnings


def test_without_the_clock_nothing_is_gathered_apart() -> None:
    for options in ({"publish": "later"}, {"max_difference": 5}):
        assert "the database clock was not read" in sentence(read(), **options)


def _temporary(state: Statistics) -> None:
    state.temporary.add(MINE)


@pytest.mark.parametrize("option", [("--publish", "later"), ("--max-difference", "5")])
def test_a_temporary_table_is_not_published_unasked(tmp_path: Path, option: tuple[str, str]) -> None:
    answer = played(tmp_path, Scenario(), _temporary, "stats", "gather", "--table", "DBATK.GTEST", *option)
    assert answer.status != 0 and "the statistics of DBATK.GTEST would be published at once" in answer.error


# -- concurrent and incremental ---------------------------------------------------------------------------------
def test_concurrent_is_not_set_where_its_value_was_not_read() -> None:
    assert "CONCURRENT was not read" in sentence(read("11.2-ee"), concurrent=True)
    known: Row = {"name": "CONCURRENT", "preference_value": "FALSE"}
    assert sentence(read("11.2-ee", **{"stats_preference:CONCURRENT": (known,)}), concurrent=True) == ""


def test_the_word_for_off_is_that_of_the_release() -> None:
    item = work(STATS, 1, Mode.JOB, ref=SCHEMA, concurrent=True)
    for release, off in (("11.2-ee", "FALSE"), ("19-ee", "OFF")):
        (call,) = DIALECT.work.of(STATS).setup(item, assumed(release))
        (text,) = texts(call.undo)
        assert f"pvalue => '{off}'" in text


@for_each(
    ("everywhere", "of_orders", "options", "reason"),
    [
        ({"PUBLISH": "FALSE"}, {}, {}, "APP.ORDERS need PUBLISH TRUE: the preference of the database is FALSE"),
        ({"PUBLISH": "FALSE"}, {}, {"publish": "now"}, "need PUBLISH TRUE"),
        ({}, {"PUBLISH": "FALSE"}, {}, "the preference of APP.ORDERS is FALSE"),
        ({"GRANULARITY": "GLOBAL"}, {}, {}, "need GRANULARITY AUTO"),
        ({"ESTIMATE_PERCENT": "10"}, {}, {}, "need ESTIMATE_PERCENT AUTO_SAMPLE_SIZE"),
        ({}, {"ESTIMATE_PERCENT": "10"}, {}, "the preference of APP.ORDERS is 10"),
        ({"ESTIMATE_PERCENT": "10"}, {}, {"estimate_percent": "auto"}, ""),
        ({}, {"ESTIMATE_PERCENT": "DBMS_STATS.AUTO_SAMPLE_SIZE", "GRANULARITY": "AUTO"}, {}, ""),
        ({"ESTIMATE_PERCENT": "10", "PREFERENCE_OVERRIDES_PARAMETER": "TRUE"}, {}, {"estimate_percent": "auto"},
         "need ESTIMATE_PERCENT AUTO_SAMPLE_SIZE"),
        ({}, {}, {}, ""),
    ],
)  # fmt: skip
def test_synopses_are_refused_where_stored_preferences_rule_them_out(
    everywhere: dict[str, str], of_orders: dict[str, str], options: dict[str, OptionValue], reason: str
) -> None:
    found = {"PREFERENCE_OVERRIDES_PARAMETER": "FALSE", "PUBLISH": "TRUE", "GRANULARITY": "AUTO",
             "ESTIMATE_PERCENT": "DBMS_STATS.AUTO_SAMPLE_SIZE", **everywhere}  # fmt: skip
    rows: tuple[Row, ...] = tuple({"name": name, "preference_value": value} for name, value in found.items())
    own: tuple[Row, ...] = tuple(
        {"preferring_table": "ORDERS", "preference_name": name, "preference_value": value}
        for name, value in of_orders.items()
    )
    facts = read(
        **{
            "stats_partitioned:APP": _PARTS,
            "stats_preferences": rows,
            "stats_preference:PREFERENCE_OVERRIDES_PARAMETER": rows[:1],
            "stats_table_preferences:APP": own,
        }
    )
    said = sentence(facts, incremental="yes", **options)
    assert reason in said and bool(said) is bool(reason)


# -- the server itself ------------------------------------------------------------------------------------------
def _call(degree: int | str = 1, **options: OptionValue) -> str:
    item = work(STATS, degree, Mode.JOB, ref=SERVER, **options)
    (text,) = texts(DIALECT.work.timed(item, assumed()))
    return " ".join(text.split())


def test_nothing_that_nobody_asked_for_is_sent() -> None:
    assert _call(server="dictionary") == "BEGIN DBMS_STATS.GATHER_DICTIONARY_STATS( ); END;"
    assert _call(server="fixed_objects") == "BEGIN DBMS_STATS.GATHER_FIXED_OBJECTS_STATS( ); END;"
    assert "( no_invalidate => FALSE )" in _call(server="fixed_objects", no_invalidate="no")
    assert "( no_invalidate => DBMS_STATS.AUTO_INVALIDATE )" in _call(server="fixed_objects", no_invalidate="auto")
    assert "( gathering_mode => 'NOWORKLOAD' )" in _call(server="system")


@for_each(
    ("degree", "options", "sent"),
    [
        (8, {"estimate_percent": 10}, "( degree => 8 , estimate_percent => 10 , options => 'GATHER' )"),
        ("auto", {}, "( degree => DBMS_STATS.AUTO_DEGREE , options => 'GATHER' )"),
        (1, {"estimate_percent": "compute"}, "( estimate_percent => NULL , options => 'GATHER' )"),
        (4, {"gather": "stale"}, "( degree => 4 , options => 'GATHER STALE' )"),
        (1, {"gather": "auto"}, "( options => 'GATHER AUTO' )"),
    ],
)
def test_what_is_asked_of_the_dictionary_is_not_ignored_by_gather_auto(
    degree: int | str, options: dict[str, OptionValue], sent: str
) -> None:
    assert sent in _call(degree, server="dictionary", **options)


def test_gather_auto_takes_nothing_else() -> None:
    for degree, options in ((8, {}), (1, {"estimate_percent": 10}), (1, {"no_invalidate": "no"})):
        item = work(STATS, degree, Mode.JOB, ref=SERVER, server="dictionary", gather="auto", **options)
        found = DIALECT.work.support(item, assumed())
        assert not found.ok and "`--gather auto` lets Oracle choose and ignores" in found.sentence


def test_sys_gathers_statistics_of_the_server_and_of_nothing_else(tmp_path: Path) -> None:
    with running_standin(Scenario(user="SYS")) as standin:
        context = Bench(standin, tmp_path)
        answer = context.run("stats", "gather", "--server", "dictionary", "--degree", "4")
        assert answer.status == 0, answer.said
        other = context.run("stats", "gather", "--schema", "APP")
    assert "every object is gathered (GATHER), because GATHER AUTO ignores degree" in answer.warnings
    assert other.status != 0 and "the session is SYS" in other.error


# -- groups of columns --------------------------------------------------------------------------------------------
GROUP = "FOR ALL COLUMNS SIZE AUTO FOR COLUMNS (CUSTOMER,STATE) SIZE AUTO"


def test_a_group_of_columns_is_not_measured_on_a_live_table_where_it_would_stay() -> None:
    table = ObjectRef(ObjectKind.TABLE, SOURCE)
    live = work("stats-gather", 1, ref=table, method_opt=GROUP, on_live_objects=True)
    assert "adds a hidden column" in DIALECT.work.support(live, read()).sentence
    plain = work("stats-gather", 1, ref=table, method_opt='FOR COLUMNS "odd (name)" SIZE 1', on_live_objects=True)
    assert "adds a hidden column" not in DIALECT.work.support(plain, read()).sentence
    job = work("stats-gather", 1, Mode.JOB, ref=table, method_opt=GROUP)
    assert DIALECT.work.support(job, read()).ok
    assert any("DROP_EXTENDED_STATS" in each for each in DIALECT.work.of("stats-gather").remarks(job, read()))
    copy = work("stats-gather", 1, method_opt=GROUP)
    assert not any("DROP_EXTENDED_STATS" in each for each in DIALECT.work.of("stats-gather").remarks(copy, read()))
