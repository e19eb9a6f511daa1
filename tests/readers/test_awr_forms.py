"""A value of a report has a form that its kind can have, or it is left out and named."""

from __future__ import annotations

from tests.for_each import for_each
from tests.readers.awr_samples import TEXT, html
from toolkit.readers.awr.forms import FieldKind, in_form
from toolkit.readers.awr.report import read_report


@for_each(("kind", "cell", "good"), [
    (FieldKind.SQL_ID, "g3f3cw3zy5aat", True), (FieldKind.SQL_ID, "59.7", False),
    (FieldKind.SQL_ID, "g3f3cw3zy5aa", False), (FieldKind.SQL_ID, "g3f3cw3zy5aai", False),
    (FieldKind.SQL_ID, "G3F3CW3ZY5AAT", False), (FieldKind.HASH_VALUE, "4294967295", True),
    (FieldKind.HASH_VALUE, "4294967296", False), (FieldKind.HASH_VALUE, "12.5", False),
    (FieldKind.INSTANCE, "*", True), (FieldKind.INSTANCE, "0", False), (FieldKind.INSTANCE, "1.5", False),
    (FieldKind.NAME, "db file sequential read", True), (FieldKind.NAME, "1,234.5", False),
])  # fmt: skip
def test_a_kind_of_value_has_a_form(kind: FieldKind, cell: str, good: bool) -> None:
    assert in_form(kind, cell) == (cell if good else None)


@for_each(("old", "new", "words"), [
    ("<td>abcdfghjkmn12</td>", "<td>59.7</td>",
     "in `SQL ordered by Elapsed Time`, column `SQL Id`, 1 value is no SQL_ID: `59.7`"),
    ("<td>log file sync</td><td>57K</td>", "<td>17.5</td><td>57K</td>",
     "column `Event`, 1 value is no name: `17.5`"),
    ("<td>3</td><td>.6</td>", "<td>3.25</td><td>.6</td>", "column `Waits`, 1 value is no whole number: `3.25`"),
    ("<td>12345</td>", "<td>99999999999</td>", "`99999999999` stands for a DBID, and cannot be one"),
    ("<td>23.9.0.0.0</td>", "<td>SECOND</td>", "`SECOND` stands for a release, and cannot be one"),
])  # fmt: skip
def test_what_cannot_be_is_left_out_and_named(old: str, new: str, words: str) -> None:
    assert old in html()
    report = read_report(html().replace(old, new).encode(), "r")
    assert [one for one in report.warnings if words in one]
    value = new.replace("</td><td>", "<td>").split("<td>")[1].removesuffix("</td>")
    assert value not in str([report.facts, report.sections])


def test_a_text_report_is_held_to_the_same_forms() -> None:
    report = read_report(TEXT.replace("ACME               12345", "17.2               12345").encode(), "r")
    assert report.facts["db_name"] is None
    assert any("stands for a database name" in one for one in report.warnings)
