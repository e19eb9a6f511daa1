"""Values in narrow tables, instants as text, samples thinned, run ids."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.store.make import series
from toolkit.model.records import Sample, new_run_id, run_key
from toolkit.model.values import Scalar
from toolkit.store.rows import SAMPLES_KEPT, instant_of, instant_text, pack, thin, unpack

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
instants = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=st.just(UTC))
values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=3000)


@given(scalars)
def test_a_value_comes_back_with_its_type(value: Scalar) -> None:
    back = unpack(*pack(value))
    assert (back, type(back)) == (value, type(value))


@given(instants, instants)
def test_text_order_of_instants_is_time_order(one: datetime, other: datetime) -> None:
    assert instant_of(instant_text(one)) == one
    assert (one < other) == (instant_text(one) < instant_text(other))


def test_an_instant_of_another_zone_is_kept_in_utc() -> None:
    there = datetime(2026, 11, 21, 1, 0, tzinfo=timezone(timedelta(hours=-5)))
    assert instant_text(there) == "2026-11-21T06:00:00.000000Z"


@given(values)
def test_thinning_keeps_the_peaks_the_order_and_the_limit(measured: list[float]) -> None:
    kept = thin(series("cpu", measured))
    assert len(kept) <= SAMPLES_KEPT
    assert max(each.value for each in kept) == max(measured)
    assert min(each.value for each in kept) == min(measured)
    assert [each.at_seconds for each in kept] == sorted({each.at_seconds for each in kept})
    assert len(measured) > SAMPLES_KEPT or len(kept) == len(measured)


def test_the_limit_holds_for_each_name_by_itself() -> None:
    kept = thin((*series("cpu", range(5000)), *series("io", range(10))))
    assert [each.name for each in kept].count("io") == 10
    assert [each.name for each in kept].count("cpu") == SAMPLES_KEPT


def test_a_sample_that_is_no_number_is_left_out() -> None:
    assert thin([Sample(0, "cpu", float("nan")), Sample(1, "cpu", 2.0)]) == [Sample(1, "cpu", 2.0)]


def test_a_run_id_tells_the_second_in_utc_and_four_characters_more() -> None:
    there = datetime(2026, 11, 21, 6, 13, 42, tzinfo=timezone(timedelta(hours=1)))
    made = new_run_id(there, Random(7))
    assert made.startswith("20261121-051342-")
    assert len(made) == 20
    assert new_run_id(there, Random(8)) != made


def test_the_key_of_a_run_has_16_characters_and_no_century() -> None:
    assert run_key("20261121-051342-ab3f") == "261121051342AB3F"


@given(instants, st.integers())
def test_every_run_id_gives_a_key_of_16_capitals_and_digits(now: datetime, seed: int) -> None:
    key = run_key(new_run_id(now, Random(seed)))
    assert len(key) == 16
    assert key.isalnum()
    assert key.upper() == key
