"""Times in logs of servers: each form that is known, and what is none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.readers.server_log import stamped

NOW = datetime(2026, 11, 28, 16, 50, tzinfo=UTC)
AT = datetime(2026, 11, 28, 16, 42, 38, tzinfo=UTC).timestamp()


@pytest.fixture(autouse=True)
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A host two hours ahead of UTC, in winter and summer."""
    monkeypatch.setenv("TZ", "XXX-2")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@for_each(
    ("line", "at", "step"),
    [
        ("2026-11-28 16:42:38.123 UTC [4711] LOG:  checkpoint starting: time", AT + 0.123, 0.001),
        ("2026-11-28 16:42:38 GMT [4711] LOG:  x", AT, 1.0),
        ("2026-11-28 18:42:38.5 EET [4711] LOG:  a zone by name is the host's", AT + 0.5, 0.1),
        ("user@db 2026-11-28 16:42:38.123+00 x", AT + 0.123, 0.001),
        ("2026-11-28T17:42:38.123456+01:00", AT + 0.123456, 1e-6),
        ("2026-11-28T11:12:38.5-05:30 x", AT + 0.5, 0.1),
        ("[1795884158.250] LOG:  epoch", 1795884158.25, 0.001),
        ("Sat Nov 28 18:42:38 2026", AT, 1.0),
        ("Nov 28 18:42:38 host postgres[1]: [3-1] LOG:  x", AT, 1.0),
        ("I. 11/28 18:42:38. 0000000227 [20895]: Insert Pass 1", AT, 1.0),
    ],
)
def test_each_form_is_read(line: str, at: float, step: float) -> None:
    (found,) = stamped([line], NOW)
    assert found.at == pytest.approx(at, abs=1e-6)
    assert (found.step_seconds, found.text) == (pytest.approx(step), line)


def test_lines_without_a_time_have_that_of_the_line_before_and_those_before_any_are_left_out() -> None:
    lines = ["of the middle of a message", "2026-11-28T16:42:38.000000+00:00", "ALTER SYSTEM ...", "LGWR switch",
             "2026-11-28T16:42:40.000000+00:00", "done"]  # fmt: skip
    assert [(one.at - AT, one.text) for one in stamped(lines, NOW)] == [
        (0.0, lines[1]), (0.0, lines[2]), (0.0, lines[3]), (2.0, lines[4]), (2.0, lines[5]),
    ]  # fmt: skip


def test_a_time_in_a_further_line_of_a_statement_is_none_of_the_log() -> None:
    lines = ["2026-11-28 16:42:38.123 UTC [1] STATEMENT:  SELECT *", "\tFROM t WHERE d > '2020-01-01 00:00:00'"]
    assert [(one.at - AT, one.step_seconds) for one in stamped(lines, NOW)] == [(pytest.approx(0.123), 0.001)] * 2


@for_each(
    "line", ["2026-13-28 16:42:38 UTC x", "2026-11-28 25:42:38 x", "Foo 28 18:42:38 x", "I. 13/28 18:42:38. x",
             "192.168.1.1 12:00", "1795884158", "", "Feb 30 10:00:00 x"],
)  # fmt: skip
def test_what_is_no_time_is_none(line: str) -> None:
    assert list(stamped([line], NOW)) == []


def test_a_date_without_a_year_is_the_nearest_one() -> None:
    new_year = datetime(2027, 1, 1, 0, 5, tzinfo=UTC)
    (old,) = stamped(["Dec 31 23:59:00 x"], new_year)
    assert datetime.fromtimestamp(old.at, UTC) == datetime(2026, 12, 31, 21, 59, tzinfo=UTC)
    (leap,) = stamped(["Feb 29 12:00:00 x"], datetime(2028, 3, 1, tzinfo=UTC))
    assert datetime.fromtimestamp(leap.at, UTC).date().isoformat() == "2028-02-29"


@given(st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)), st.integers(0, 999))
def test_what_was_written_is_read_back(moment: datetime, part: int) -> None:
    moment = moment.replace(microsecond=part * 1000, tzinfo=UTC)
    (found,) = stamped([f"{moment:%Y-%m-%d %H:%M:%S}.{part:03d} UTC [1] LOG:  x"], NOW)
    assert found.at == pytest.approx(moment.timestamp(), abs=1e-5)


@given(st.text(max_size=200))
def test_no_line_raises(line: str) -> None:
    assert all(one.text == line for one in stamped([line], NOW))
