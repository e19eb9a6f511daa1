"""The stamps of a log are read as they were printed, in whatever format the log has."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.readers.rman import stamps
from toolkit.readers.rman.stamps import DATE, has_time, of_stamp, parser, read

FORMATS = {
    "ymd": ("%Y-%m-%d %H:%M:%S", "%Y/%m/%d %H:%M:%S", "%Y%m%d %H%M%S", "%Y%m%d%H%M%S", "%Y%m%d_%H%M%S",
            "%Y-%m-%d:%H:%M:%S", "%Y-%m-%d_%H:%M:%S", "%y-%m-%d %H:%M:%S"),
    "dmy": ("%d/%m/%Y %H:%M:%S", "%d.%m.%y %H:%M:%S", "%d-%m-%Y %I:%M:%S %p", "%d.%m.%Y %H.%M.%S"),
    "mdy": ("%m/%d/%Y %H:%M:%S", "%m-%d-%y %I:%M:%S %p"),
}  # fmt: skip
NAMED = ("%d-%b-%Y %H:%M:%S", "%d-%b-%y %H:%M:%S", "%b %d %Y %H:%M:%S", "%d-%B-%Y %H:%M:%S")
DATES = st.datetimes(datetime(1988, 1, 1), datetime(2079, 12, 31)).map(lambda one: one.replace(microsecond=0))


@given(DATES, st.sampled_from([(order, form) for order, forms in FORMATS.items() for form in forms]))
def test_a_stamp_is_read_by_its_order(at: datetime, how: tuple[str, str]) -> None:
    order, form = how
    assert read(at.strftime(form), order) == at
    assert has_time(at.strftime(form))


@given(DATES, st.sampled_from(NAMED), st.sampled_from(sorted(FORMATS)))
def test_the_name_of_a_month_tells_its_own_place(at: datetime, form: str, order: str) -> None:
    assert read(at.strftime(form), order) == at


@given(DATES, st.sampled_from(["%Y-%m-%d", "%d-%b-%y", "%Y%m%d"]))
def test_a_day_alone_is_its_midnight(at: datetime, form: str) -> None:
    text = f" {at.strftime(form)} "
    assert read(text, "ymd") == at.replace(hour=0, minute=0, second=0)
    assert not has_time(text)


@for_each(
    ("text", "at"),
    [
        ("02-MAR-26 12:00:01 AM", datetime(2026, 3, 2, 0, 0, 1)),
        ("02-MAR-26 12:00:01 PM", datetime(2026, 3, 2, 12, 0, 1)),
        ("02-MAR-26 11:07 p.m.", datetime(2026, 3, 2, 23, 7)),
        ("02-MÄR-26 01:02:03", datetime(2026, 3, 2, 1, 2, 3)),
        ("5 juin 2026 01:02", datetime(2026, 6, 5, 1, 2)),
        ("5 juil. 2026 01:02", datetime(2026, 7, 5, 1, 2)),
        ("2026-3月 -02 01:02:03", datetime(2026, 3, 2, 1, 2, 3)),
        ("2026年3月2日 01:02:03", datetime(2026, 3, 2, 1, 2, 3)),
        ("2026-03-02 下午 01:02:03", datetime(2026, 3, 2, 13, 2, 3)),
        ("02-3月 -26 上午 12:02:03", datetime(2026, 3, 2, 0, 2, 3)),
        ("02-3月 -26 01:02:03 下午", datetime(2026, 3, 2, 13, 2, 3)),
        ("02-MAR-79 00:00:00", datetime(2079, 3, 2)),
        ("02-MAR-80 00:00:00", datetime(1980, 3, 2)),
        ("31-JUN-26 00:00:00", None),
        ("2026-13-02", None), ("2026-02-30", None), ("02-MAR", None), ("", None),
        ("01.02.03", datetime(2001, 2, 3)),
        ("2026-03-02 25:00:00", None), ("2026-03-02 01:02:03.456", datetime(2026, 3, 2, 1, 2, 3)),
        ("20260302 0102", datetime(2026, 3, 2, 1, 2)),
    ],
)  # fmt: skip
def test_stamps_of_other_clients(text: str, at: datetime | None) -> None:
    assert read(text, "ymd") == at


@given(DATES)
def test_a_stamp_number_is_seconds_of_months_of_31_days(at: datetime) -> None:
    months = (at.year - 1988) * 12 + at.month - 1
    seconds = ((months * 31 + at.day - 1) * 24 + at.hour) * 3600 + at.minute * 60 + at.second
    assert of_stamp(seconds) == at


def test_a_stamp_number_that_is_no_date_is_none() -> None:
    assert of_stamp((1 * 31 + 30) * 86_400) is None  # the 31st of February 1988
    assert of_stamp(10**15) is None


@pytest.mark.parametrize("form", ["%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S"])
def test_the_order_is_learnt_from_the_stamp_that_has_only_one_reading(form: str) -> None:
    days = [datetime(2026, 3, day, 1, 2, 3) for day in (11, 12, 13)]
    known = parser([day.strftime(form) for day in days])
    assert [known(day.strftime(form)) for day in days] == days


@pytest.mark.parametrize("form", ["%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S"])
def test_of_two_readings_the_shorter_log_counts(form: str) -> None:
    stamps = [datetime(2026, 3, 2, 23), datetime(2026, 3, 3, 1)]
    known = parser([one.strftime(form) for one in stamps])
    assert [known(one.strftime(form)) for one in stamps] == stamps


@pytest.mark.parametrize("form", ["%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S"])
def test_an_instant_that_is_known_decides_what_the_stamps_leave_open(form: str) -> None:
    at = datetime(2026, 3, 2, 1, 2, 3)
    hints = [at + timedelta(minutes=minutes) for minutes in (0, 1, 100_000)]
    assert parser([at.strftime(form)], hints)(at.strftime(form)) == at


def test_a_stamp_not_seen_before_is_read_in_the_order_learnt() -> None:
    known = parser(["13/03/2026 01:00:00"])
    assert known("04/05/2026 01:00:00") == datetime(2026, 5, 4, 1)
    assert known("04/05/2026 01:00:00") == datetime(2026, 5, 4, 1)
    assert known("no date") is None


def test_the_order_learnt_holds_for_more_stamps_than_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "_MOST_REMEMBERED", 1)
    known = parser(["13/03/2026 01:00:00"])
    assert [known(f"04/0{month}/2026 01:00:00") for month in (5, 6)] == [
        datetime(2026, 5, 4, 1), datetime(2026, 6, 4, 1),
    ]  # fmt: skip


@for_each(
    "text", ["02-MAR-26", "02-MAR-2026 01:02:03", "2026-03-02", "20260302 010203", "Mar 2, 2026", "2026年03月02日"]
)
def test_a_date_is_found_inside_a_line(text: str) -> None:
    found = DATE.search(f"channel c1: starting piece 1 at {text} of set")
    assert found is not None
    assert found[0] == text
