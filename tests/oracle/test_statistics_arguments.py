"""What is sent to DBMS_STATS, and what is refused before it is."""

from __future__ import annotations

import re

import pytest

from tests.for_each import for_each
from tests.oracle.make import SCHEMA, assumed, texts, work
from tests.oracle.standin import grammar
from toolkit.design.levels import parse_levels
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.operations import every_option
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import Mode, ObjectKind

BY_NAME = every_option()

STATS = "stats-gather"
TABLE = ObjectRef(ObjectKind.TABLE, QualifiedName("ORDERS", "APP"))


def sent(
    ref: ObjectRef = SCHEMA, mode: Mode = Mode.JOB, degree: int | str = 1, **options: OptionValue
) -> dict[str, str]:
    """Return the arguments of the call."""
    (text,) = texts(DIALECT.work.timed(work(STATS, degree, mode, ref=ref, **options), assumed()))
    found = re.fullmatch(r"BEGIN DBMS_STATS\.GATHER_\w+\((.*)\); END;", text)
    assert found, text
    return grammar.arguments(found[1])


def sentence(ref: ObjectRef = SCHEMA, release: str = "19-ee", degree: int = 1, **options: OptionValue) -> str:
    """Return why such a work is not supported, or nothing."""
    return DIALECT.work.support(work(STATS, degree, Mode.JOB, ref=ref, **options), assumed(release)).sentence


def test_what_nobody_asked_for_is_not_sent() -> None:
    assert sent() == {"ownname": "'APP'", "degree": "1"}


def test_a_measurement_leaves_cursors_alone() -> None:
    assert sent(mode=Mode.MEASUREMENT)["no_invalidate"] == "TRUE"


@for_each(
    ("level", "spelled"), [("auto", "DBMS_STATS.AUTO_SAMPLE_SIZE"), ("compute", "NULL"), (10, "10"), (100, "100")]
)
def test_a_sample_is_a_number_a_constant_or_null(level: OptionValue, spelled: str) -> None:
    assert sent(estimate_percent=level)["estimate_percent"] == spelled


def test_one_partition_of_a_table_is_named() -> None:
    given = sent(TABLE, table="APP.ORDERS", partition='"p 2026"', block_sample="yes", estimate_percent=5)
    assert given["partname"] == "'\"p 2026\"'" and given["block_sample"] == "TRUE"


def test_oracles_own_choice_takes_nothing_beside_it() -> None:
    assert sent(gather="auto") == {"ownname": "'APP'", "options": "'GATHER AUTO'"}
    assert "ignores cascade, no_invalidate" in sentence(gather="auto", cascade="yes", no_invalidate="yes")
    assert "ignores degree;" in sentence(gather="auto", degree=4)


@for_each(
    "text",
    [
        "FOR ALL COLUMNS SIZE AUTO", "for all indexed columns size 254", "FOR ALL HIDDEN COLUMNS SIZE SKEWONLY",
        "FOR ALL COLUMNS", "FOR  ALL\n COLUMNS SIZE REPEAT",
    ],
)  # fmt: skip
def test_a_schema_takes_all_columns(text: str) -> None:
    assert sentence(method_opt=text) == ""
    assert sent(method_opt=text)["method_opt"] == "'" + " ".join(text.split()) + "'"


@for_each(
    "text",
    [
        "FOR COLUMNS SIZE 254 REGION, STATUS SIZE 10", 'FOR COLUMNS "Mixed  Case" SIZE 1',
        "FOR ALL COLUMNS SIZE 1 FOR COLUMNS SIZE SKEWONLY STATUS", "FOR COLUMNS (A, B) SIZE AUTO",
    ],
)  # fmt: skip
def test_a_table_takes_chosen_columns_and_a_schema_does_not(text: str) -> None:
    assert sentence(TABLE, method_opt=text, table="APP.ORDERS") == ""
    with pytest.raises(ToolkitError, match="for a schema"):
        sentence(method_opt=text)


@for_each(
    "text",
    [
        "FOR ALL COLUMN", "SIZE AUTO", "FOR ALL COLUMNS SIZE MANY", "FOR ALL COLUMNS SIZE 12345", "FOR COLUMNS",
        "FOR ALL COLUMNS SIZE AUTO'; DROP TABLE T; --", "FOR COLUMNS " + "A" * 5000 + "!",
        "FOR COLUMNS A" + ", A" * 2000 + " !",
    ],
)  # fmt: skip
def test_a_method_opt_that_is_none_is_bad_input(text: str) -> None:
    with pytest.raises(ToolkitError) as refused:
        sentence(TABLE, method_opt=text, table="APP.ORDERS")
    assert refused.value.code == "TK-0102"


def test_a_release_has_its_largest_histogram() -> None:
    assert sentence(method_opt="FOR ALL COLUMNS SIZE 2048") == ""
    assert "1 to 254 buckets" in sentence(method_opt="FOR ALL COLUMNS SIZE 255", release="11.2-ee")
    assert "1 to 2048 buckets" in sentence(method_opt="FOR ALL COLUMNS SIZE 2049")
    assert "1 to 2048 buckets" in sentence(method_opt="FOR ALL COLUMNS SIZE 0")


@for_each("percent", [None, "auto", "compute", 100])
def test_blocks_are_sampled_for_a_percentage_only(percent: OptionValue | None) -> None:
    options: dict[str, OptionValue] = {} if percent is None else {"estimate_percent": percent}
    assert "a percentage below 100" in sentence(block_sample="yes", **options)


def test_stale_objects_are_chosen_in_a_live_schema_only() -> None:
    assert "in a schema" in sentence(TABLE, gather="stale", table="APP.ORDERS")
    copy = work(STATS, 1, gather="stale")
    assert "copies are gathered as they are" in DIALECT.work.support(copy, assumed()).sentence


def test_a_partition_needs_its_table_and_the_table_itself() -> None:
    with pytest.raises(ToolkitError, match="`--partition` needs `--table`"):
        sentence(partition="P1")
    copy = work(STATS, 1, partition="P1", table="ORDERS")
    assert "a copy has no partitions" in DIALECT.work.support(copy, assumed()).sentence
    facts = assumed(stats_partition=())
    with pytest.raises(ToolkitError, match="has no partition `P1`"):
        DIALECT.work.support(work(STATS, 1, Mode.JOB, ref=TABLE, partition="P1", table="APP.ORDERS"), facts)


def test_levels_of_method_opt_may_hold_commas() -> None:
    option = BY_NAME["method_opt"]
    assert parse_levels(option, "FOR ALL COLUMNS SIZE 1,for all columns size auto") == (
        "FOR ALL COLUMNS SIZE 1",
        "for all columns size auto",
    )
    assert parse_levels(option, "FOR COLUMNS A, B") == ("FOR COLUMNS A, B",)


def test_locked_statistics_of_a_table_are_refused_before_and_never_forced() -> None:
    row = {"analyzed_table": "ORDERS", "locked": "ALL", "last_analyzed": None}
    facts = assumed(**{"stats_tables:APP": (row,)})
    found = DIALECT.work.support(work(STATS, 1, Mode.JOB, ref=TABLE, table="APP.ORDERS"), facts)
    assert "ORA-20005" in found.sentence and not found.ok


def test_gathering_for_another_needs_the_right() -> None:
    facts = assumed(stats_rights=())
    server = {**facts.first("server"), "user_name": "DBATK"}
    facts = assumed(stats_rights=(), server=(server,))
    assert (
        "GRANT ANALYZE ANY TO DBATK"
        in DIALECT.work.support(work(STATS, ref=SCHEMA, mode=Mode.JOB), facts).sentence
    )
    granted = assumed(stats_rights=({"privilege": "ANALYZE ANY"},), server=(server,))
    assert DIALECT.work.support(work(STATS, ref=SCHEMA, mode=Mode.JOB), granted).ok
