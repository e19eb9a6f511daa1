"""How a table is to be partitioned: the short form, what it refuses, and what of a real table is copied."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.oracle.make import assumed
from toolkit.dialects.oracle import partitions
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Release
from toolkit.model.values import Row

RELEASE = Release((19, 0), "ee")
TYPES: tuple[Row, ...] = (
    {"column_name": "ID", "data_type": "NUMBER"},
    {"column_name": "DT", "data_type": "DATE"},
    {"column_name": "TS", "data_type": "TIMESTAMP(6)"},
    {"column_name": "a,b", "data_type": "VARCHAR2"},
    {"column_name": "TEXT", "data_type": "CLOB"},
)
DAY = "TO_DATE('2000-01-01', 'SYYYY-MM-DD', 'NLS_CALENDAR=GREGORIAN')"


@for_each(
    ("text", "made"),
    [
        ("hash(ID) 16", ("HASH", ("ID",), 16, None, False, ())),
        ('HASH ( id , "a,b" )  partitions 4', ("HASH", ("ID", "a,b"), 4, None, False, ())),
        ("range(ID) interval 1000", ("RANGE", ("ID",), None, "1000", False, ("0",))),
        ("range(ID) interval 10 from -5.5", ("RANGE", ("ID",), None, "10", False, ("-5.5",))),
        ("range(DT) interval 2 Months", ("RANGE", ("DT",), None, "NUMTOYMINTERVAL(2, 'MONTH')", False, (DAY,))),
        ("range(TS) interval 6 hour from 2024-02-29", ("RANGE", ("TS",), None, "NUMTODSINTERVAL(6, 'HOUR')", False,
                                                       ("TIMESTAMP '2024-02-29 00:00:00'",))),
        ("range(ID) below 1, 2.5, max", ("RANGE", ("ID",), None, None, False, ("1", "2.5", "MAXVALUE"))),
        ("list(\"a,b\") automatic", ("LIST", ("a,b",), None, None, True, ("NULL",))),
    ],
)  # fmt: skip
def test_each_form_is_spelled_anew(text: str, made: tuple[object, ...]) -> None:
    assert partitions.parse(text, RELEASE, TYPES) == partitions.Partitioning(*made)  # type: ignore[arg-type]


@for_each(
    ("text", "said"),
    [
        ("", "not a form of partitioning"),
        ("circle(ID) 4", "not a form of partitioning"),
        ("hash ID 4", "not a form of partitioning"),
        ("hash(ID)", "the number of partitions"),
        ("hash(ID) 0", "number of partitions from 1"),
        ("hash(ID) 1048576", "number of partitions from 1"),
        ("hash(ID) 4 parallel 8", "number of partitions from 1"),
        ("hash(ID) 4) as select 1", "number of partitions from 1"),
        ("hash(ID) \u0664", "number of partitions from 1"),
        ("hash() 4", "has no column"),
        ("hash(ID,) 4", "has no column"),
        ("hash(S.ID) 4", "not a column"),
        ("hash(IDD) 4", "column `IDD` for partitioning does not exist"),
        ("hash(TEXT) 4", "cannot be a partition key"),
        ("range(ID, DT) interval 1", "range of several columns"),
        ("range(ID) interval 0", "needs `interval N"),
        ("range(ID) interval 1 month", "counts NUMBER values in months"),
        ("range(DT) interval 30", "counts DATE values without a unit"),
        ("range(DT) interval 1 fortnight", "has an interval in `fortnight`"),
        ("range(DT) interval 1 month from 2024-01-31", "start on day 1 to 28"),
        ("range(DT) interval 1 day from 2023-02-29", "not a date"),
        ("range(ID) interval 1 from sysdate", "not a number"),
        ("range(ID) below 3,2", "do not ascend"),
        ("range(ID) below max,3", "neither a number nor a date"),
        ("range(ID) below 1,2024-01-01", "neither a number nor a date"),
        ("list(ID) 4", "must be `automatic`"),
        ("list(ID,DT) automatic", "must be `automatic`"),
    ],
)
def test_anything_else_gets_a_sentence(text: str, said: str) -> None:
    with pytest.raises(ToolkitError, match=re.escape(said)) as caught:
        partitions.parse(text, RELEASE, TYPES)
    assert caught.value.hint


@given(st.text(alphabet="hashrangelist()\"'ID,;-/*. 0123456789intervalbelowmaxautomatic", max_size=60))
def test_no_text_reaches_a_statement_unread(text: str) -> None:
    try:
        made = partitions.parse(text, RELEASE)
    except ToolkitError:
        return
    spelled = (*made.bounds, *([made.interval] if made.interval else []))
    assert all(
        re.fullmatch(r"-?[\d.]+|MAXVALUE|NULL|NUMTO\w+\(\d+, '\w+'\)|TO_DATE\([^;]*\)", part) for part in spelled
    )


def test_a_release_before_automatic_lists_says_so() -> None:
    made = partitions.parse("list(ID) automatic", RELEASE)
    assert partitions.judge_release(made, Release((12, 1))) == "automatic list partitions need release 12.2"
    assert partitions.judge_release(made, RELEASE) is None


def table(method: str, *bounds: str, sub: str = "NONE", interval: str | None = None) -> Facts:
    """The facts of a partitioned table."""
    return assumed(
        partitioning=({"partitioning_type": method, "subpartitioning_type": sub, "partition_count": 3,
                       "interval_text": interval},),
        partition_keys=({"column_name": "ID"},),
        partitions=tuple({"high_value": bound} for bound in bounds),
    )  # fmt: skip


def test_the_bounds_of_a_real_table_are_taken_only_in_forms_that_are_known() -> None:
    made, left_out = partitions.of_table(table("RANGE", "10", "MAXVALUE", sub="HASH"))
    assert made is not None and made.bounds == ("10", "MAXVALUE")
    assert left_out == "the copy has the RANGE partitions, but not the HASH subpartitions"
    for odd in ("1) PARALLEL (DEGREE 8", "f(1)", "'a' || 'b'", "'open", ""):
        made, left_out = partitions.of_table(table("LIST", odd))
        assert made is None and left_out is not None and "cannot be reproduced" in left_out
    assert partitions.of_table(table("REFERENCE"))[0] is None
    assert partitions.of_table(assumed()) == (None, None)
