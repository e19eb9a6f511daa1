"""Spools of SQL*Plus and SQLcl: what they say, in which form, and that no text is wrong."""
# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.readers.attempts import (
    AttemptRead,
    Count,
    Elapsed,
    Failure,
    ItemRead,
    SpoolMark,
    instant_of,
    read_attempt,
    read_spool,
)

REALDATA = Path(os.environ.get("DBATK_REALDATA", "/nowhere")) / "timing"
RUN = "20261121-051342-ab3f"


def one(line: str) -> object:
    (found,) = read_spool(line)
    return found


@for_each(
    ("line", "seconds"),
    [
        ("Elapsed: 00:00:01.23", 1.23),
        ("Elapsed: 00:00:01.234", 1.234),
        ("Elapsed: 00:00:00.00\r", 0.0),
        ("Elapsed: 01:02:03.04", 3723.04),
        ("Elapsed: 100:00:00.00", 360000.0),
        ("Elapsed: 1 00:00:00.50", 86400.5),
        ("Abgelaufen: 00:00:01.23", 1.23),
        ("Ecoulé : 00 :00 :01.23".replace(" :", ":"), 1.23),
        ("Transcurrido: 00:00:01,23", 1.23),
        ("経過: 00:00:01.23", 1.23),
        ("已用时间:  00: 00: 01.23".replace(": 0", ":0"), 1.23),
    ],
)
def test_the_time_of_a_client_is_read_in_every_form(line: str, seconds: float) -> None:
    assert one(line) == Elapsed(pytest.approx(seconds))


@for_each("line", ["Elapsed: 00:00:61.00", "Elapsed: soon", "12:00:01.00", "at 5: 00:00:01.00"])
def test_what_only_looks_like_a_time_is_none(line: str) -> None:
    assert read_spool(line) == ()


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        ("ORA-00942: table or view does not exist", Failure("ORA-00942", "table or view does not exist")),
        ("SQL Error: ORA-01652: unable to extend", Failure("ORA-01652", "unable to extend")),
        ("SP2-0640: Not connected", Failure("SP2-0640", "Not connected")),
    ],
)
def test_an_error_keeps_its_code_and_message(line: str, failure: Failure) -> None:
    assert one(line) == failure


@pytest.mark.parametrize(
    ("line", "rows"), [("2000 rows created.", 2000), ("2,000 rows inserted.", 2000), ("1 row created.", 1)]
)
def test_rows_are_counted_in_both_clients_words(line: str, rows: int) -> None:
    assert one(line) == Count(rows)


def test_an_echoed_prompt_is_no_mark() -> None:
    assert read_spool(f"SQL> PROMPT DBATK|{RUN}|1|1|stage|timed") == ()


@pytest.mark.parametrize("name", sorted(path.name for path in REALDATA.glob("*")) if REALDATA.is_dir() else [None])
def test_every_time_of_a_real_spool_is_read(name: str | None) -> None:
    if name is None:
        pytest.skip("DBATK_REALDATA names no folder with real spools (timing)")
    text = (REALDATA / name).read_text(encoding="utf-8", errors="replace")
    printed = re.findall(r"^Elapsed: (\d\d:\d\d:\d\d\.\d+)\s*$", text, re.MULTILINE)
    times = [line.seconds for line in read_spool(text) if isinstance(line, Elapsed)]
    assert times == [pytest.approx(float(each.rpartition(":")[2])) for each in printed]
    errors = [line.code for line in read_spool(text) if isinstance(line, Failure)]
    assert len(errors) >= len(re.findall(r"^ORA-\d{5}:", text, re.MULTILINE))


def test_the_real_spools_hold_both_clients() -> None:
    if not REALDATA.is_dir():
        pytest.skip("DBATK_REALDATA names no folder with real spools (timing)")
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in REALDATA.glob("*")]
    fractions = {
        len(each) for text in texts for each in re.findall(r"^Elapsed: [\d:]+\.(\d+)\s*$", text, re.MULTILINE)
    }
    assert fractions == {2, 3}


# -- any text ---------------------------------------------------------------------------------------------------
_FIELD = st.text(alphabet=st.sampled_from("0123456789-:. |EeNaInf+ABC\n\r\0é"), max_size=12)
_EVENTS = ("clock", "rows", "row", "stage", "may-fail", "item", "end", "cleaned", "failed", "interrupted", "other")
_STAGES = ("prepare", "begin", "snapshot", "timed", "evidence", "restore", "conclude")
_MARK = st.builds(
    lambda event, fields: "|".join([f"DBATK|{RUN}|1|1|{event}", *fields]),
    st.sampled_from(_EVENTS),
    st.lists(
        _FIELD | st.sampled_from((*_STAGES, "degree", "2026-11-21 05:13:42.000001", "9999-12-31 23:59:59")),
        max_size=5,
    ),
)
_LINE = _MARK | _FIELD | st.sampled_from(["Elapsed: 00:00:01.23", "ORA-03113: end-of-file", "2 rows created."])


@given(st.lists(_LINE, max_size=40).map("\n".join))
def test_no_text_is_wrong(text: str) -> None:
    attempt = read_attempt([read_spool(text), read_spool(text[::-1])])
    assert attempt.end in {None, "end", "cleaned", "failed", "interrupted"}
    assert all(seconds >= 0 for seconds in attempt.phases.values())


@given(st.binary(max_size=400))
def test_no_bytes_are_wrong(raw: bytes) -> None:
    attempt = read_attempt([read_spool(raw.decode("utf-8", "replace"))])
    assert attempt.end in {None, "end", "cleaned", "failed", "interrupted"}


@given(st.text())
def test_an_instant_is_one_or_none(text: str) -> None:
    found = instant_of(text)
    assert found is None or found.tzinfo is not None


# -- an attempt -------------------------------------------------------------------------------------------------
def mark(event: str, *fields: str, session: int = 1) -> str:
    return "|".join([f"DBATK|{RUN}|3|{session}|{event}", *fields])


def at(second: float) -> str:
    return f"2026-11-21 05:13:{second:09.6f}"


WHOLE = "\n".join(
    [
        mark("clock", at(1)), mark("stage", "prepare"), mark("clock", at(2)), mark("stage", "snapshot"),
        mark("rows", "snapshot:v", "METRIC_NAME", "METRIC_VALUE"),
        mark("row", "snapshot:v", at(2), "redo size", "10"),
        mark("stage", "timed"), mark("clock", at(3)), mark("item", "1"),
        "Table created.", "Elapsed: 00:00:04.00", "ORA-12801: error signaled in parallel query server P003",
        "ORA-01652: unable to extend temp segment", mark("stage", "evidence"),
        mark("rows", "degree", "STATISTIC", "LAST_QUERY"), mark("row", "degree", at(7), "DOP", "4"),
        mark("clock", at(7.5)), mark("stage", "conclude"), mark("end", at(9)),
    ]
)  # fmt: skip


def test_an_attempt_is_put_together_by_the_clock_of_the_server() -> None:
    attempt = read_attempt([read_spool(WHOLE)])
    (item,) = attempt.items.values()
    assert attempt.end == "end" and attempt.phases == {
        "prepare": 1.0,
        "snapshot": 1.0,
        "evidence": 0.5,
        "conclude": 1.5,
    }
    assert item.begun_at and item.ended_at and (item.ended_at - item.begun_at).total_seconds() == 4
    assert item.client_seconds == 4.0
    assert [failure.code for failure in item.failures] == ["ORA-12801", "ORA-01652"]
    assert attempt.before["snapshot:v"] == [{"metric_name": "redo size", "metric_value": 10}]
    assert attempt.kept["degree"] == [{"statistic": "DOP", "last_query": 4}]


def test_a_spool_cut_off_anywhere_has_no_end() -> None:
    for length in range(0, len(WHOLE) - 20, 7):
        assert read_attempt([read_spool(WHOLE[:length])]).end is None


def test_a_tolerated_error_is_no_failure() -> None:
    text = "\n".join(
        [mark("stage", "begin"), mark("may-fail", "ORA-02248,ORA-65040"), "ORA-65040: not in a PDB",
         mark("may-fail"),
         "ORA-65040: not in a PDB"]
    )  # fmt: skip
    attempt = read_attempt([read_spool(text)])
    assert [(stage, failure.code) for stage, failure in attempt.failures] == [("begin", "ORA-65040")]


def test_what_the_driver_says_of_an_attempt_outranks_its_end() -> None:
    attempt = read_attempt([read_spool(WHOLE + "\n" + mark("interrupted", session=0))])
    assert attempt.end == "interrupted"


# -- each line, and each event ----------------------------------------------------------------------------------
@for_each(
    ("line", "told"),
    [
        ("Elapsed: 12 00:00:01,5", ()), ("Elapsed: 00:59:59.000001  ", (Elapsed(3599.000001),)),
        ("E: 00:00:01.50", ()), ("Ab: 00:00:01.50", (Elapsed(1.5),)), ("Elapsed: 00:60:00.00", ()),
        ("Elapsed: 1 01:01:01.25\0", (Elapsed(90061.25),)),
        ("ORA-1234: short", (Failure("ORA-1234", "short"),)), ("ORA-123: none", ()), ("RMAN-06004", (Failure("RMAN-06004", ""),)),
        ("Error: PLS-00201; declared", (Failure("PLS-00201", "declared"),)), ("see ORA-00942: there", ()),
        ("ORA-00001: " + "x" * 501, (Failure("ORA-00001", "x" * 500),)), ("ORA-123456: no code", ()),
        ("1.234.567 rows deleted.", (Count(1234567),)), ("3 Rows Updated", (Count(3),)), ("3 rows selected.", ()),
        ("no rows merged", ()), ("12 rows merged. done", ()),
        ("DBATK|r|1|2|item|7|", (SpoolMark("r", 1, 2, "item", ("7", "")),)), ("DBATK|r|1|2|failed", (SpoolMark("r", 1, 2, "failed"),)),
        ("DBATK||0|0|end|", (SpoolMark("", 0, 0, "end", ("",)),)), ("DBATK|r|x|2|item", ()), ("DBATK|r|1|2|Item", ()),
        (" DBATK|r|1|2|item", ()),
    ],
)  # fmt: skip
def test_a_line_is_one_thing_or_none(line: str, told: tuple[object, ...]) -> None:
    assert read_spool(line) == told
    assert read_spool(f"{line}\r\n\n{line}\t") == told * 2


def test_a_field_that_is_not_there_is_empty_and_a_failure_is_its_line() -> None:
    line = SpoolMark("r", 1, 1, "item", ("7", "b"))
    assert [line.field(number) for number in range(3)] == ["7", "b", ""]
    assert (str(Failure("ORA-1", "why")), str(Failure("ORA-1", ""))) == ("ORA-1: why", "ORA-1")


@for_each(
    ("printed", "value"),
    [
        ("", None), ("7", 7), ("-7", -7), ("+7", 7), ("7.0", 7.0), ("7.", 7.0), (".5", 0.5), ("-.5", -0.5), ("1E3", 1000.0),
        ("1.5E-3", 0.0015), ("1.5E+3", 1500.0), ("1E400", "1E400"), ("9" * 400, int("9" * 400)), ("9" * 401, "9" * 401),
        ("nan", "nan"), ("inf", "inf"), ("1_0", "1_0"), (" 7", " 7"), ("7e3", "7e3"), ("\u0667", "\u0667"), ("1.2.3", "1.2.3"),
        ("--7", "--7"), ("7-", "7-"), ("1E", "1E"), (".", "."), ("E3", "E3"), ("05", 5), ("A1", "A1"),
    ],
)  # fmt: skip
def test_a_value_of_a_row_is_a_number_where_it_is_one(printed: str, value: object) -> None:
    text = "\n".join([mark("rows", "k", "A"), mark("row", "k", "", printed)])
    (row,) = read_attempt([read_spool(text)]).kept["k"]
    assert (row, type(row["a"])) == ({"a": value}, type(value))


def instant(second: float) -> datetime:
    return datetime(2026, 11, 21, 5, 13, tzinfo=UTC) + timedelta(seconds=second)


def read(*lines: str) -> AttemptRead:
    return read_attempt([read_spool("\n".join(lines))])


EMPTY = {"runs": {RUN}, "trials": {3}}
ITEM = [mark("stage", "timed"), mark("clock", at(3)), mark("item", "1")]


@for_each(
    ("lines", "told"),
    [
        # seconds between two instants belong to the stage in which the second one is; what runs backwards took none
        ([mark("stage", "prepare"), mark("clock", at(2)), mark("clock", at(5)), mark("clock", at(4)), mark("clock", at(4.5))],
         {"begun_at": instant(2), "ended_at": instant(5), "phases": {"prepare": 3.5}}),
        ([mark("clock", at(1)), mark("clock", at(3))], {"begun_at": instant(1), "ended_at": instant(3)}),
        ([mark("clock", "soon")], {}), ([mark("end", "soon")], {}), ([mark("end", at(1)[:-1])], {}),
        ([mark("end", at(1))], {"end": "end", "begun_at": instant(1), "ended_at": instant(1)}),
        ([mark("cleaned", at(1))], {"end": "cleaned", "begun_at": instant(1), "ended_at": instant(1)}),
        ([mark("failed")], {"end": "failed"}), ([mark("interrupted")], {"end": "interrupted"}),
        ([mark("failed"), mark("end", at(1))], {"end": "failed", "begun_at": instant(1), "ended_at": instant(1)}),
        ([mark("interrupted"), mark("failed")], {"end": "interrupted"}),
        ([mark("failed"), mark("settled"), mark("failed")], {"end": "settled"}),
        ([mark("told", "SQL*Loader-0100", "a file", "b|c")], {"failures": [("", Failure("SQL*Loader-0100", "a file|b|c"))]}),
        ([mark("cleaned", at(1)), mark("failed")], {"end": "failed", "begun_at": instant(1), "ended_at": instant(1)}),
        # an item: what the client printed while it was on the clock
        ([*ITEM, "Elapsed: 00:00:01.50", "Elapsed: 00:00:02.00", "7 rows created.", "9 rows created.", "ORA-01: x", "ORA-0001: x",
          "ORA-0001: x", mark("clock", at(7)), mark("clock", at(9)), mark("end", at(10))],
         {"end": "end", "begun_at": instant(3), "ended_at": instant(10),
          "items": {1: ItemRead(1, 1, instant(3), instant(7), 3.5, 7, [Failure("ORA-0001", "x")])}}),
        ([mark("item", "1"), "Elapsed: 00:00:01.50", "7 rows created.", "ORA-0001: x"],
         {"items": {1: ItemRead(1, 1)}, "failures": [("", Failure("ORA-0001", "x"))]}),
        ([mark("stage", "timed"), "ORA-0001: x", "ORA-0001: x"], {"failures": [("timed", Failure("ORA-0001", "x"))]}),
        ([mark("item", "x"), mark("item", "\u0661"), mark("item", "123456789"), mark("item", ""), mark("item", "12345678", session=4)],
         {"items": {12345678: ItemRead(12345678, 4)}}),
        ([*ITEM, mark("item", "2"), mark("clock", at(4))],
         {"begun_at": instant(3), "ended_at": instant(4),
          "items": {1: ItemRead(1, 1, instant(3)), 2: ItemRead(2, 1, instant(3), instant(4))}}),
        # rows: those before the clock, those after it, and those of setup
        ([mark("stage", "snapshot"), mark("rows", "k", "A", "B"), mark("row", "k", "", "1", ""), mark("row", "other", "", "1", "2"),
          mark("row", "k", "", "1"), mark("row", "k", "", "1", "2", "3")], {"before": {"k": [{"a": 1, "b": None}]}}),
        ([mark("stage", "setup"), mark("rows", "k", "A"), mark("row", "k", at(1), "x")], {"kept": {"k": [{"a": "x"}]}}),
        ([*ITEM, mark("rows", "k", "A"), mark("row", "k", at(8), "1"), mark("stage", "evidence"), mark("row", "k", at(9), "2"),
          mark("stage", "snapshot"), mark("row", "k", "", "3")],
         {"begun_at": instant(3), "ended_at": instant(3), "kept": {"k": [{"a": 1}, {"a": 2}, {"a": 3}]},
          "items": {1: ItemRead(1, 1, instant(3), instant(8))}}),
        # the instant of a row ends an item, and the next stage counts from there
        ([*ITEM, mark("stage", "evidence"), mark("rows", "k", "A"), mark("row", "k", at(8), "1"), mark("clock", at(9))],
         {"begun_at": instant(3), "ended_at": instant(9), "kept": {"k": [{"a": 1}]}, "phases": {"evidence": 1.0},
          "items": {1: ItemRead(1, 1, instant(3), instant(8))}}),
        ([mark("stage", "begin"), mark("may-fail", "ORA-0001,ORA-0002"), "ORA-0002: x", "ORA-0003: x", mark("may-fail"), "ORA-0001: y"],
         {"failures": [("begin", Failure("ORA-0003", "x")), ("begin", Failure("ORA-0001", "y"))]}),
        ([mark("unknown", at(1))], {}),
    ],
)  # fmt: skip
def test_each_event_is_what_the_attempt_says(lines: list[str], told: dict[str, object]) -> None:
    assert read(*lines) == AttemptRead(**EMPTY | told)  # type: ignore[arg-type]


def test_an_attempt_of_several_spools_is_timed_from_its_first_item_on() -> None:
    rows = [mark("rows", "k", "A"), mark("row", "k", "", "1")]
    before, session, after = ([mark("stage", "snapshot"), *rows], ITEM, [mark("stage", "evidence"), *rows])
    attempt = read_attempt([read_spool("\n".join(one)) for one in (before, session, after)])
    assert (attempt.before, attempt.kept) == ({"k": [{"a": 1}]}, {"k": [{"a": 1}]})


@for_each(
    ("stage", "code", "lost", "fatal"),
    [("prepare", "ORA-00942", False, True), ("begin", "ORA-03113", True, True), ("setup", "SP2-0640", True, True),
     ("snapshot", "ORA-00942", False, False), ("timed", "ORA-12547", True, False), ("conclude", "ORA-01012", True, False)],
)  # fmt: skip
def test_an_error_ends_an_attempt_before_its_clock_or_with_its_session(
    stage: str, code: str, lost: bool, fatal: bool
) -> None:
    attempt = read(
        mark("stage", "snapshot"), "ORA-00001: before", mark("item", "1"), mark("stage", stage), f"{code}: x"
    )
    assert attempt.lost == (Failure(code, "x") if lost else None)
    assert attempt.fatal() == (Failure(code, "x") if fatal else None)
