"""Windows: what is read, when they open, and what clock changes and blackout dates do to them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.design.window import read_windows, spell_window
from toolkit.errors import ToolkitError
from toolkit.model.window import TimeSpan, Window, Windows, instant_of

NEW_YEAR = date(2026, 1, 1)
NIGHT = "22:00-06:00 Europe/Berlin"


def windows(value: object) -> Windows:
    return read_windows(value, today=NEW_YEAR)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def shown(value: object, begin: str, end: str) -> list[str]:
    spans = windows(value).spans(at(begin), at(end))
    return [f"{span.begin:%m-%d %H:%M}..{span.end:%m-%d %H:%M}" for span in spans]


def test_a_night_runs_into_the_next_day() -> None:
    assert shown(NIGHT, "2026-01-10T12:00", "2026-01-12T12:00") == [
        "01-10 21:00..01-11 05:00",
        "01-11 21:00..01-12 05:00",
    ]


def test_a_night_is_an_hour_shorter_or_longer_when_the_clocks_change() -> None:
    assert shown(NIGHT, "2026-03-28T12:00", "2026-03-29T12:00") == ["03-28 21:00..03-29 04:00"]
    assert shown(NIGHT, "2026-10-24T12:00", "2026-10-25T12:00") == ["10-24 20:00..10-25 05:00"]


def test_times_that_a_clock_change_skips_are_the_change_itself() -> None:
    """In Berlin 02:00 to 03:00 does not exist on 29 March: the change is at 01:00 UTC."""
    assert shown("02:30-03:15 Europe/Berlin", "2026-03-29", "2026-03-29T12:00") == ["03-29 01:00..03-29 01:15"]
    assert shown("01:30-02:30 Europe/Berlin", "2026-03-29", "2026-03-29T12:00") == ["03-29 00:30..03-29 01:00"]
    assert shown("02:15-02:45 Europe/Berlin", "2026-03-29", "2026-03-29T12:00") == []


def test_of_a_time_that_comes_twice_the_first_counts() -> None:
    """In Berlin 02:30 comes at 00:30 and at 01:30 UTC on 25 October."""
    assert shown("01:00-02:30 Europe/Berlin", "2026-10-25", "2026-10-25T12:00") == ["10-24 23:00..10-25 00:30"]


def test_days_are_those_of_opening() -> None:
    friday_and_saturday = {"time": "22:00-06:00", "zone": "UTC", "days": ["fri", "sat"]}
    assert shown(friday_and_saturday, "2026-01-05", "2026-01-12") == [
        "01-09 22:00..01-10 06:00",
        "01-10 22:00..01-11 06:00",
    ]


@pytest.mark.parametrize("days", [["sat..mon"], ["saturday", "sunday", "monday"], "Sat..Mon"])
def test_days_may_be_a_range_over_the_week_end(days: object) -> None:
    assert windows({"time": "22:00-23:00", "zone": "UTC", "days": days}).each[0].days == {5, 6, 0}


def test_nothing_runs_on_a_blackout_date() -> None:
    value = {"time": "22:00-06:00", "zone": "UTC", "blackout": ["2026-12-24..2026-12-25"]}
    assert shown(value, "2026-12-23T12:00", "2026-12-27T12:00") == [
        "12-23 22:00..12-24 00:00",
        "12-26 00:00..12-26 06:00",
        "12-26 22:00..12-27 06:00",
    ]


def test_the_whole_day_joins_into_one_opening() -> None:
    assert windows("00:00-24:00 UTC").now(at("2026-01-10T00:00")) is not None
    week_end = {"time": "00:00-24:00", "zone": "UTC", "days": ["sat", "sun"]}
    assert shown(week_end, "2026-01-09", "2026-01-13") == ["01-10 00:00..01-12 00:00"]


def test_it_is_known_what_is_open_now_and_what_opens_next() -> None:
    night = windows(NIGHT)
    noon, midnight = at("2026-01-10T12:00"), at("2026-01-10T23:00")
    assert night.now(noon) is None
    opening = night.next(noon)
    assert opening is not None and opening.begin == at("2026-01-10T21:00")
    assert night.now(midnight) == opening
    assert night.now(opening.begin) == opening and night.now(opening.end) is None


def test_without_windows_nothing_is_ever_open_by_itself() -> None:
    assert Windows().now(at("2026-01-10")) is None and Windows().next(at("2026-01-10")) is None


@for_each(
    ("value", "words"),
    [
        ("22:00-06:00", "is not a window"),
        ("22-06 UTC", "is not a time of day"),
        ("25:00-06:00 UTC", "is not a time of day"),
        ("22:00-22:00 UTC", "never opens"),
        ("24:00-06:00 UTC", "only valid as an end"),
        ("22:00-06:00 Europe/Berlim", "unknown time zone"),
        ("22:00-06:00 ../etc/passwd", "unknown time zone"),
        (7, "a string or a table"),
        ([], "no window"),
        ({"time": "22:00-06:00"}, "needs `time` and `zone`"),
        ({"time": "22:00", "zone": "UTC"}, "is not a time of a window"),
        ({"time": NIGHT, "day": "mon"}, "has no `day`"),
        ({"time": NIGHT, "days": []}, "never opens"),
        ({"time": NIGHT, "days": ["noday"]}, "is not a day"),
        ({"time": NIGHT, "blackout": ["2026-13-01"]}, "is not a date"),
        ({"time": NIGHT, "blackout": ["2026-12-24..2026-12-01"]}, "ends before it begins"),
        ({"time": NIGHT, "blackout": ["2020-01-01..2040-01-01"]}, "does not open within a year"),
        ([NIGHT, "05:30-07:00 Europe/Berlin"], "overlap"),
        ([NIGHT, "20:00-22:30 Europe/London"], "overlap"),
    ],
)
def test_what_is_no_window_is_refused_with_a_hint(value: object, words: str) -> None:
    with pytest.raises(ToolkitError, match=words) as caught:
        windows(value)
    assert caught.value.hint


def test_many_windows_of_one_zone_are_compared_by_the_week_not_day_by_day(monkeypatch: pytest.MonkeyPatch) -> None:
    looked, real = list[Window](), Window.spans

    def spans(self: Window, begin: datetime, end: datetime) -> Iterator[TimeSpan]:
        if end - begin > timedelta(days=30):
            looked.append(self)
        yield from real(self, begin, end)

    monkeypatch.setattr(Window, "spans", spans)
    each = [f"{at // 3:02}:{at % 3 * 20:02}-{at // 3:02}:{at % 3 * 20 + 20:02} Europe/Berlin" for at in range(70)]
    each = [text.replace(":60", ":59") for text in each]
    assert len(read_windows(each).each) == 70 and looked == []
    with pytest.raises(ToolkitError, match="overlap"):
        read_windows([*each, "03:10-03:30 Europe/Berlin"])
    assert len(looked) == 3, "only those in question are looked at for a year"


def test_windows_that_only_touch_do_not_overlap() -> None:
    both = windows(["20:00-22:00 UTC", "22:00-06:00 UTC"])
    assert both.now(at("2026-01-10T21:59")) == both.now(at("2026-01-11T05:59"))


@given(
    st.integers(0, 1439),
    st.integers(1, 1440),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "UTC"]),
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)),
)
def test_an_opening_lasts_as_long_as_its_clock_says_within_a_change_of_two_hours(
    opens: int, closes: int, zone: str, near: datetime
) -> None:
    if opens == closes:
        return
    text = f"{opens // 60:02}:{opens % 60:02}-{closes // 60:02}:{closes % 60:02} {zone}"
    begin = near.replace(tzinfo=UTC)
    said = ((closes - opens - 1) % 1440 + 1) * 60
    for span in windows(text).each[0].spans(begin, begin + timedelta(days=3)):
        assert span.begin < span.end
        assert abs(span.seconds - said) <= 7200
        assert span.begin.second == span.end.second == 0


@given(
    st.dates(date(2026, 1, 1), date(2027, 12, 30)),
    st.integers(0, 2879),
    st.sampled_from(["Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia"]),
)
def test_the_instant_of_a_local_time_shows_that_time_or_the_change_that_skips_it(
    day: date, minutes: int, zone: str
) -> None:
    here = ZoneInfo(zone)
    instant = instant_of(day, minutes, here)
    wanted = datetime.combine(day, datetime.min.time()) + timedelta(minutes=minutes)
    shows = instant.astimezone(here).replace(tzinfo=None)
    before = (instant - timedelta(seconds=2)).astimezone(here).replace(tzinfo=None)
    assert shows == wanted or before < wanted <= shows


def test_a_window_is_spelled_as_it_is_written() -> None:
    assert spell_window(windows(NIGHT).each[0]) == NIGHT
    assert spell_window(windows({"time": NIGHT, "days": ["mon..wed"]}).each[0]) == f"{NIGHT} mon,tue,wed"


@for_each(
    ("value", "code", "hint"),
    [
        (7, "TK-0102", "write "), ("22:00", "TK-0102", "write times and a zone, "),
        ({"tme": "1"}, "TK-0101", "did you mean `time`?"),
        ({"time": "x", "zone": "UTC"}, "TK-0102", 'such as "22:00-06:00"'),
        ({"time": "22:00-06:00"}, "TK-0107", 'such as `zone = "Europe/Berlin"`'),
        ("22:00-22:00 UTC", "TK-0107", "00:00-24:00 is the whole day"),
        ("24:00-06:00 UTC", "TK-0102", "a window opens at 00:00 at the earliest"),
        ("22:00-06:00 Europe/Berlim", "TK-0102", "did you mean `Europe/Berlin`?"),
        ({"time": "22:00-06:00", "zone": "UTC", "days": []}, "TK-0107", "omit `days` for all days"),
        ({"time": "22:00-06:00", "zone": "UTC", "days": "mno"}, "TK-0102", "did you mean `mon`?"),
        ({"time": "22:00-06:00", "zone": "UTC", "days": "mon-sun"}, "TK-0102", 'write "mon..sun"'),
        ({"time": "22:00-06:00", "zone": "UTC", "days": ["monday to friday"]}, "TK-0102",
         'write "monday..friday"'),
        ({"begin": "22:00", "end": "06:00"}, "TK-0101", 'write `{time = "22:00-06:00", zone = "Europe/Berlin"}`'),
        ({"time": "22:00-06:00", "zone": "UTC", "blackout": "2026-01-02..2026-01-01"}, "TK-0102",
         "write the earlier"),
        ({"time": "22:00-06:00", "zone": "UTC", "blackout": "soon"}, "TK-0102", 'write "2026-12-24"'),
        (["22:00-06:00 UTC", "05:00-07:00 UTC"], "TK-0107", "merge them"),
    ],
)  # fmt: skip
def test_each_refusal_has_its_code_and_the_way_out(value: object, code: str, hint: str) -> None:
    with pytest.raises(ToolkitError) as refused:
        windows(value)
    assert (refused.value.code, str(refused.value.hint)[: len(hint)]) == (code, hint)


@for_each("blackout", ["2026-01-05", date(2026, 1, 5), ["2026-01-05"], "2026-01-05..2026-01-05"])
def test_one_date_may_be_written_alone(blackout: object) -> None:
    (one,) = windows({"time": "01:00-02:00", "zone": "UTC", "blackout": blackout}).each
    assert [(each.first, each.last) for each in one.blackouts] == [(date(2026, 1, 5), date(2026, 1, 5))]


def test_both_ends_of_a_blackout_are_closed() -> None:
    value = {"time": "01:00-02:00", "zone": "UTC", "blackout": ["2026-01-05 .. 2026-01-06"]}
    assert shown(value, "2026-01-04", "2026-01-08") == ["01-04 01:00..01-04 02:00", "01-07 01:00..01-07 02:00"]


def test_next_is_what_opens_after_an_instant_and_not_at_it() -> None:
    found = windows("01:00-02:00 UTC")
    first = found.next(at("2026-01-10T00:59:59"))
    assert first is not None and (first.begin, first.seconds) == (at("2026-01-10T01:00"), 3600)
    second = found.next(first.begin)
    assert second is not None and second.begin == at("2026-01-11T01:00")


def test_an_opening_holds_its_begin_and_not_its_end() -> None:
    found = windows("01:00-02:00 UTC")
    assert found.now(at("2026-01-10T01:00")) is not None
    assert found.now(at("2026-01-10T01:59:59")) is not None
    assert found.now(at("2026-01-10T02:00")) is None
    assert found.now(at("2026-01-10T00:59:59")) is None


@for_each(("begin", "end", "many"), [(0, 1, 0), (1, 2, 1), (2, 3, 0), (0, 2, 1), (1, 1, 0)])
def test_an_opening_is_told_when_it_reaches_into_the_stretch(begin: int, end: int, many: int) -> None:
    spans = windows("01:00-02:00 UTC").spans(at(f"2026-01-10T0{begin}:00"), at(f"2026-01-10T0{end}:00"))
    assert len(spans) == many
