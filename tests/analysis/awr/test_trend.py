"""Many intervals as series: gaps, restarts, other databases, and where a level changed."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import pytest

from tests.analysis.awr.made import interval, origin
from toolkit.analysis.awr.trend import changes_of, trends
from toolkit.analysis.shifts import FEWEST, shifts
from toolkit.model.interval import Interval, Statement
from toolkit.report.interval.trend import trend_text


def noisy(level: float, count: int, seed: int) -> list[float]:
    chance = random.Random(seed)
    return [level * chance.uniform(0.9, 1.1) for _ in range(count)]


@pytest.mark.parametrize("first", [5, 12, 20])
def test_a_step_is_found_where_it_is(first: int) -> None:
    found = shifts([*noisy(10, first, 1), *noisy(15, 30 - first, 2)])
    assert [one.index for one in found] == [first]
    assert found[0].before == pytest.approx(10, rel=0.1)
    assert found[0].after == pytest.approx(15, rel=0.1)


def test_two_steps_are_found_and_a_peak_is_none() -> None:
    series = [*noisy(10, 15, 1), *noisy(30, 15, 2), *noisy(12, 15, 3)]
    assert [one.index for one in shifts(series)] == [15, 30]
    lone = noisy(10, 40, 4)
    lone[17] = 500.0
    assert shifts(lone) == []


def test_missing_values_are_left_out_and_places_stay_right() -> None:
    series = [None, *noisy(10, 12, 1), None, *noisy(20, 12, 2)]
    assert [one.index for one in shifts(series)] == [14]


def test_few_points_tell_nothing() -> None:
    assert shifts([1.0] * 4 + [9.0] * (FEWEST - 5)) == []
    assert shifts([1.0, 9.0, 9.0]) == []
    assert shifts([3.0] * 50) == []


@pytest.mark.full
def test_noise_is_seldom_taken_for_a_change() -> None:
    chance = random.Random(11)
    assert sum(bool(shifts([chance.gauss(10, 3) for _ in range(40)])) for _ in range(100)) <= 5


def day(number: int, **more: object) -> Interval:
    return interval(cpu=1000 + number, who=origin(f"r{number}", day=number, **more))


def test_gaps_restarts_and_doubles_are_told() -> None:
    hours = [interval(who=origin(f"h{hour}", begin=datetime(2025, 3, 3, hour), end=datetime(2025, 3, 3, hour + 1),
                                 startup=datetime(2025, 3, 3, 5) if hour > 5 else datetime(2025, 1, 1, hour)))
             for hour in (3, 4, 8, 9)]  # fmt: skip
    found = trends([hours[2], hours[0], hours[3], hours[1], hours[0]])[0]
    assert [point.origin.name for point in found.points] == ["h3", "h4", "h8", "h9"]
    assert [point.gap for point in found.points] == [None, None, timedelta(hours=3).total_seconds(), None]
    assert [point.restarted for point in found.points] == [False, False, True, False]
    assert any("left out" in note for note in found.notes)
    assert any("are needed" in note for note in found.notes)


def test_databases_and_instances_are_series_of_their_own() -> None:
    found = trends(
        [
            day(0),
            day(1),
            day(2, instance="acme2"),
            day(0, database="OTHER", dbid=9),
            day(0, snapshot_source="statspack"),
        ]
    )
    assert [(one.name, len(one.points)) for one in found] == [
        ("ACME / acme1", 2), ("ACME / acme1 (Statspack)", 1), ("ACME / acme2", 1), ("OTHER / acme1", 1),
    ]  # fmt: skip


def test_a_statement_is_followed_and_bounded_where_no_list_has_it() -> None:
    listed = (Statement("abc", 10, 360.0, None, 5000),)
    found = trends([interval(statements=listed), interval(day=1, sql_floor=36.0)], sql=["abc", "zzz"])[0]
    line = next(one for one in found.lines if one.name == "abc")
    assert line.values == (pytest.approx(0.1), None)
    assert line.most == (None, pytest.approx(0.01))
    assert any("`zzz`" in note for note in found.notes)
    screen = trend_text([found]).splitlines()
    begin = screen.index("STATEMENT abc, PER SECOND OF EACH INTERVAL")
    assert screen[begin + 1].split() == ["begin", "active", "sessions", "executions", "time", "each", "(s)"]
    assert [line.split()[2] for line in screen[begin + 2 : begin + 4]] == ["0.100", "<0.0100"]


def test_changes_are_told_by_the_point_they_begin_with() -> None:
    series = [
        interval(cpu=1000 if number < 12 else 4000, who=origin(f"r{number}", day=number)) for number in range(24)
    ]
    found = trends(series)[0]
    assert {line.name for line, _ in changes_of(found)[12]} == {"DB time"}
    assert list(changes_of(found)) == [12]


def of_database(name: str, dbid: int, levels: list[float]) -> list[Interval]:
    return [
        interval(
            cpu=level * 3600, who=origin(f"{name}{place}", day=place, database=name, dbid=dbid, instance=None)
        )
        for place, level in enumerate(levels)
    ]


def test_of_several_databases_a_line_each_is_shown_and_all_of_them_on_request() -> None:
    step = [*noisy(10, 15, 1), *noisy(30, 15, 2)]
    several = trends([*of_database("CRM", 1, step), *of_database("HR", 2, [1.0, 3.0, 2.0])])
    lines = trend_text(several).splitlines()
    assert [line.split()[:2] for line in lines[2:4]] == [["CRM", "30"], ["HR", "3"]]
    assert lines[2].endswith("2025-03-18")
    assert lines[3].split()[4:7] == ["1.00", "2.00", "3.00"]
    assert lines[3].endswith("too few")
    assert len(lines) == 6 and "--full" in lines[-1]
    assert "PER SECOND OF EACH INTERVAL" in trend_text(several, whole=True)
    assert "--full" not in trend_text(several[:1])


def test_two_databases_of_one_name_are_told_apart_by_their_ids() -> None:
    found = trends([*of_database("X", 7, [1.0, 2.0]), *of_database("X", 8, [3.0]), *of_database("Y", 9, [1.0])])
    assert [one.name for one in found] == ["X (7)", "X (8)", "Y"]
