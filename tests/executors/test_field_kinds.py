"""Kinds of columns from all rows of a file: as a look at each value alone finds them."""

from __future__ import annotations

import csv
import functools
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.tiers import examples
from toolkit.executors import field_kinds
from toolkit.executors.field_kinds import _kind_of, fields_of_files
from toolkit.model.facts import Probe
from toolkit.model.file_columns import ColumnKind, ColumnValues
from toolkit.model.values import Row
from toolkit.model.words import ProbeKind

_VALUES = st.one_of(
    st.sampled_from(
        ["", "0", "-1", "007", "1.5", "1e3", "true", "2026-01-01", "2026-01-01 10:00", "x", "a\n1", " 1"]
    ),
    st.integers().map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
    st.dates().map(str),
    st.text(alphabet='ab1",\n\x1f\ue000', max_size=5),
)
_COLUMN = st.one_of(st.lists(_VALUES, max_size=12), st.lists(st.integers(-99, 10**20).map(str), max_size=12))


def kinds(content: str) -> tuple[Row, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        path.write_text(content, encoding="utf-8", newline="")
        return fields_of_files(Probe("fields", ProbeKind.FIELDS, (str(path),)))


@examples(200)
@given(_COLUMN, st.integers(1, 5))
def test_batches_find_what_each_value_alone_shows(values: list[str], batch: int) -> None:
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
    writer.writerow(["a", "b"])
    writer.writerows([value, "1"] for value in values)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(field_kinds, "_BATCH", batch)
        found = kinds(text.getvalue())[0]
    expected = functools.reduce(ColumnValues.with_, (_kind_of(value) for value in values if value), ColumnValues())
    assert found["kind"] == expected.kind
    if expected.kind is ColumnKind.DECIMAL:
        assert (found["digits"], found["scale"]) == (expected.digits, expected.scale)


@for_each(
    ("value", "kind"),
    [
        ("0", "integer"), ("-9", "integer"), ("999999999999999999", "integer"), ("1" * 19, "decimal"),
        ("1.0", "decimal"), ("-0.5", "decimal"), ("1e5", "float"), ("1.5E-300", "float"),
        ("true", "boolean"), ("False", "boolean"), ("2026-01-31", "date"),
        ("2026-01-31 23:59", "timestamp"), ("2026-01-31T23:59:59.5", "timestamp"),
        ("2026-01-31T23:59:59Z", "zoned timestamp"), ("2026-01-31 23:59:59+05:30", "zoned timestamp"),
        ("007", "text"), ("+1", "text"), (" 1", "text"), ("1.", "text"), (".5", "text"), ("1,5", "text"),
        ("١", "text"), ("t", "text"), ("NaN", "text"), ("2026-02-30", "text"), ("20260101", "integer"),
        ("2026-01-31 24:01", "text"), ("2026-01-31 23:59:59.1234567", "text"), ("1\n", "text"),
    ],
)  # fmt: skip
def test_only_what_comes_back_as_it_was_is_more_than_text(value: str, kind: str) -> None:
    assert _kind_of(value).kind == kind


def test_an_empty_text_in_quotes_is_no_null() -> None:
    assert [row["kind"] for row in kinds('a,b,c\n1,2,3\n"",,"5,"",6"\n"3",4,\n')] == ["text", "integer", "text"]


def test_the_line_is_that_of_the_value_where_fields_have_several_lines() -> None:
    found = kinds('a,b\n1,"x\ny"\n2,z\n\n3,\nx,\n')
    assert [row["text_since"] for row in found] == [7, None]
    assert (found[0]["odd_rows"], found[0]["odd_since"]) == (1, 5)
