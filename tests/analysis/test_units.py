from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit import units
from toolkit.errors import ToolkitError


def test_one_thing_is_told_as_one() -> None:
    assert units.counted(1, "index", "indexes") == "1 index"
    assert units.counted(0, "trial") == "0 trials"
    assert units.counted(3.0, "row") == "3 rows"
    assert units.counted(2.5, "CPU") == "2.50 CPUs"
    assert units.counted(1024, "index", "indexes") == "1,024 indexes"


@for_each(
    ("value", "text"),
    [
        (None, "-"),
        (math.nan, "-"),
        (0.0, "0 s"),
        (0.0000123, "12.3 µs"),
        (0.0123, "12.3 ms"),
        (0.9996, "1.00 s"),
        (1.234, "1.23 s"),
        (59.96, "60.0 s"),
        (119.96, "2 min 00 s"),
        (2045.0, "34 min 05 s"),
        (7199.6, "2 h 00 min"),
        (7500.0, "2 h 05 min"),
        (-1.5, "-1.50 s"),
        (3_600_000.0, "1,000 h 00 min"),
    ],
)
def test_a_time_is_spelled_in_the_unit_that_suits_it(value: float | None, text: str) -> None:
    assert units.seconds(value) == text


@for_each(
    ("value", "text"),
    [
        (1234567, "1,234,567"),
        (12345.6, "12,346"),
        (1.23456, "1.23"),
        (0.00123, "0.00123"),
        (9.999, "10.0"),
        (999.6, "1,000"),
        (0, "0"),
        (-1234.5, "-1,234"),
        (1.5e-9, "1.50e-09"),
        (math.inf, "infinite"),
    ],
)
def test_a_number_keeps_three_digits_and_every_digit_before_the_point(value: float, text: str) -> None:
    assert units.number(value) == text


@for_each(
    ("value", "unit", "text"),
    [
        (1023, "bytes", "1,023 B"),
        (1.5 * 2**30, "bytes", "1.50 GiB"),
        (2**20, "bytes_per_second", "1.00 MiB/s"),
        (4.25, "percent", "4.2 %"),
        (86.5, "percent", "86 %"),
        (9.96, "percent", "10 %"),
        (99.6, "%", "99.6 %"),
        (98.5, "%", "98.5 %"),
        (100.0, "%", "100 %"),
        (1.83, "ratio", "1.83x"),
        (12.0, "count", "12"),
        (85.0, "1/s", "85/s"),
        (12.0, "blocks", "12 blocks"),
        (1.0, "queries", "1 query"),
        (2.0, "queries", "2 queries"),
        (1.0, "rows", "1 row"),
        (0.0, "rows", "0 rows"),
        (1.0, "processes", "1 process"),
        (1.0, "rows_per_second", "1 row/s"),
        (1.0, "tps", "1 tps"),
        (0.5, "seconds", "500 ms"),
        (None, "bytes", "-"),
    ],
)
def test_a_quantity_is_spelled_by_its_unit(value: float | None, unit: str, text: str) -> None:
    assert units.quantity(value, unit) == text


@for_each(
    ("ratio", "text"),
    [
        (1.05, "+5.0 %"),
        (0.5, "-50 %"),
        (1.0, "0.0 %"),
        (None, "-"),
        (0.0, "-100 %"),
        (0.0046, "-99.54 %"),
        (1e-6, "nearly -100 %"),
    ],
)
def test_a_ratio_is_spelled_as_a_change_with_its_sign(ratio: float | None, text: str) -> None:
    assert units.change(ratio) == text


@for_each(
    ("low", "high", "text"),
    [
        (0.7, None, "30 % less time"),
        (1.4, None, "40 % more time"),
        (3.4, None, "3.4 times the time"),
        (1.0, None, "the same time"),
        (1.004, None, "0.4 % more time"),
        (0.702, 3.39, "30 % less to 3.4 times the time"),
        (0.7, 1.4, "30 % less to 40 % more time"),
        (0.82, 0.88, "12 to 18 % less time"),
        (1.14, 1.2, "14 to 20 % more time"),
        (2.1, 3.4, "2.1 to 3.4 times the time"),
        (1.5, 2.4, "50 % more to 2.4 times the time"),
        (0.9, 1.0, "0 to 10 % less time"),
        (1.0, 1.36, "0 to 36 % more time"),
        (0.9998, 1.36, "0 to 36 % more time"),
        (0.9, 1.0002, "0 to 10 % less time"),
        (1.0, 2.4, "0 % more to 2.4 times the time"),
        (0.9999, 1.0001, "the same time"),
        (1.101, 1.103, "10 % more time"),
        (1.5, math.inf, "50 % more to more than 100 times the time"),
    ],
)
def test_a_range_of_ratios_is_spelled_in_words(low: float, high: float | None, text: str) -> None:
    assert units.value_change(low, high) == text


def test_a_change_that_rounds_to_nothing_has_no_sign() -> None:
    """`3,294 -> 3,293 (+0.0 %)` says that it grew."""
    assert {units.change(0.9999), units.change(1.0001)} == {"0.0 %"}


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(5.16, 5.34, "5.16 to 5.34 s"), (0.5, 1.5, "500 ms to 1.50 s"), (None, 1.0, "- to 1.00 s")],
)
def test_a_span_names_a_shared_unit_once(low: float | None, high: float, text: str) -> None:
    assert units.seconds_span(low, high) == text


@for_each(
    ("text", "seconds"),
    [("90s", 90), ("2h", 7200), ("1h30m", 5400), ("1d12h", 129600), ("0.5s", 0.5), (" 30M ", 1800)],
)
def test_a_duration_is_read_into_seconds(text: str, seconds: float) -> None:
    assert units.parse_duration(text) == seconds


@for_each("text", ["", "2x", "30m2h", "-5m", "0s", "1.5h", "400d", "h", "9" * 400 + "s", "٣m"])
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        units.parse_duration(text)
    assert caught.value.code == "TK-0102"
    assert "1h30m" in caught.value.hint


@given(st.integers(0, 23), st.integers(0, 59), st.integers(1, 59))
def test_a_duration_adds_up_its_parts(hours: int, minutes: int, seconds: int) -> None:
    assert units.parse_duration(f"{hours}h{minutes}m{seconds}s") == hours * 3600 + minutes * 60 + seconds


@given(st.floats(1e-6, 1e14))
def test_a_spelled_number_is_within_half_a_per_cent(value: float) -> None:
    assert float(units.number(value).replace(",", "")) == pytest.approx(value, rel=0.00501)


@given(st.floats(0.001, 1e6))
def test_a_longer_time_never_spells_without_a_unit(value: float) -> None:
    assert units.seconds(value).split()[-1] in {"ms", "s", "min"}


@for_each(("text", "size"), [("0", 0), ("4096", 4096), ("1.5K", 1536), ("10GiB", 10 * 2**30), ("2 tb", 2 * 2**40)])
def test_sizes_are_powers_of_1024(text: str, size: int) -> None:
    assert units.parse_bytes(text) == size


@for_each("text", ["", "ten", "-1", "1X", "1e9", "10 GiBs", "٣"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ToolkitError, match="is not a size"):
        units.parse_bytes(text)


def test_a_duration_without_a_unit_is_told_which_there_are() -> None:
    with pytest.raises(ToolkitError, match="`2` has no unit of time") as refused:
        units.parse_duration(" 2 ")
    assert refused.value.hint == "`2s` for seconds, `2m` for minutes, `2h` for hours"
