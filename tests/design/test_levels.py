"""Levels: what is typed or written becomes a list of distinct values inside the option's range, or an error."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.design.levels import check_levels, check_value, example, parse_levels, parse_value
from toolkit.design.names import split_names
from toolkit.errors import ToolkitError
from toolkit.model.operations import every_option, options_of
from toolkit.model.options import Option, OptionKind
from toolkit.model.values import spell_level

BY_NAME = every_option()

DEGREE, PERCENT = BY_NAME["degree"], BY_NAME["estimate_percent"]
FACTORS = [option for option in BY_NAME.values() if option.factor]


@for_each(
    ("text", "levels"),
    [
        ("4", (4,)),
        ("1,2,4", (1, 2, 4)),
        (" 1 , 2 ", (1, 2)),
        ("1..64x2", (1, 2, 4, 8, 16, 32, 64)),
        ("1..100x3", (1, 3, 9, 27, 81)),
        ("1..4", (1, 2, 3, 4)),
        ("1,4..6,default", (1, 4, 5, 6, "default")),
        ("AUTO", ("auto",)),
    ],
)
def test_degrees_read_as_typed(text: str, levels: tuple[object, ...]) -> None:
    assert parse_levels(DEGREE, text) == levels


def test_ranges_of_fractions_are_exact() -> None:
    assert parse_levels(PERCENT, "0.1..100x10") == (0.1, 1, 10, 100)


FLAG = dataclasses.replace(BY_NAME["cascade"], kind=OptionKind.FLAG, choices=(), words=())


@for_each(("text", "level"), [("yes", True), ("TRUE", True), ("no", False), ("False", False), ("maybe", None)])
def test_a_flag_is_yes_or_no(text: str, level: bool | None) -> None:
    if level is not None:
        assert parse_levels(FLAG, text) == (level,)
        return
    with pytest.raises(ToolkitError, match=f"cannot be `{text}`") as caught:
        parse_levels(FLAG, text)
    assert (caught.value.code, caught.value.hint) == ("TK-0102", "give true or false")


@for_each(
    ("text", "says"),
    [("", "is empty"), (" , ", "is empty"), ("1,,2", "has an empty item: `1,,2`"), ("1,1", "has `1` twice"),
     ("4..1", "runs backwards: `4..1`"), ("1..8x1", "never ends: `1..8x1`"), ("1..", "cannot be read: `1..`"),
     ("1..4x2x2", "cannot be read"), ("1..4096", "more than 1000 levels")],
)  # fmt: skip
def test_what_is_wrong_with_a_list_is_named(text: str, says: str) -> None:
    with pytest.raises(ToolkitError, match="the list of levels of `degree` ") as caught:
        parse_levels(DEGREE, text)
    assert says in caught.value.message


def test_a_range_may_have_as_many_levels_as_a_list() -> None:
    assert parse_levels(DEGREE, "1..1000") == tuple(range(1, 1001))
    with pytest.raises(ToolkitError, match="more than 1000"):
        parse_levels(DEGREE, "1..1001")
    with pytest.raises(ToolkitError, match="more than 1000"):
        check_levels(DEGREE, list(range(1, 1002)))


def test_bounds_belong_to_the_range() -> None:
    low, high = int(DEGREE.low or 0), int(DEGREE.high or 0)
    assert parse_levels(DEGREE, f"{low},{high}") == (low, high)
    for outside in (low - 1, high + 1):
        with pytest.raises(ToolkitError, match="cannot be"):
            parse_levels(DEGREE, str(outside))


def test_a_number_may_be_written_with_its_unit() -> None:
    assert parse_levels(PERCENT, "5,10%") == (5, 10)
    assert parse_levels(BY_NAME["ramp_up"], "0s") == (0,)
    with pytest.raises(ToolkitError, match="`think_time` cannot be `10ms`") as caught:
        parse_levels(BY_NAME["think_time"], "10ms")
    assert "a number in `s`" in caught.value.hint


def test_one_value_is_one() -> None:
    assert parse_value(DEGREE, " 4 ") == 4
    assert parse_value(BY_NAME["compression"], "basic") == "basic"
    for text in ("1,2", "1..2"):
        with pytest.raises(ToolkitError, match="`degree` accepts one value") as caught:
            parse_value(DEGREE, text)
        assert (caught.value.code, "1,2,4" in caught.value.hint) == ("TK-0103", True)


@for_each("value", [[], 5, None, {}, ["/a"] * 1001, ["/a", 7], [""], ["/a\x00"], ["/" * 4001]])
def test_bad_lists_of_paths_are_refused(value: object) -> None:
    with pytest.raises(ToolkitError) as caught:
        check_value(BY_NAME["destination"], value)
    assert caught.value.code in {"TK-0102", "TK-0104"}
    assert "path" in caught.value.hint or "NUL" in caught.value.message


def test_lists_as_long_as_allowed_pass() -> None:
    paths = tuple(f"/{number}" for number in range(1000))
    assert check_value(BY_NAME["destination"], list(paths)) == paths
    assert check_value(BY_NAME["destination"], "/" * 4000) == ("/" * 4000,)
    assert check_value(BY_NAME["columns"], "x" * 400) == ("x" * 400,)


def test_names_in_a_file_are_a_list_or_a_text() -> None:
    assert check_value(BY_NAME["columns"], ["a", ' "b,c" ']) == ("a", '"b,c"')
    for bad in ([], ["a", "a"], ["a", " "], [1], 5, "x" * 401, ["a\nb"]):
        with pytest.raises(ToolkitError):
            check_value(BY_NAME["columns"], bad)


def test_choices_take_dashes_for_underscores() -> None:
    assert parse_levels(BY_NAME["compression"], "query-high,NONE") == ("query_high", "none")


@for_each(
    ("text", "code"),
    [
        ("0", "TK-0102"), ("-1", "TK-0102"), ("1e9", "TK-0102"), ("1000000000", "TK-0102"),
        ("many", "TK-0102"),
        ("2.5", "TK-0102"), ("٤", "TK-0102"), ("1_0", "TK-0102"), ("9" * 5000, "TK-0102"), ("nan", "TK-0102"),
        ("", "TK-0103"), (" ", "TK-0103"), (",", "TK-0103"), ("1,,2", "TK-0103"), ("1,", "TK-0103"),
        ("1,1", "TK-0103"), ("1,2,2.0", "TK-0103"), ("4..1", "TK-0103"), ("1..8x1", "TK-0103"),
        ("1..8x0", "TK-0103"),
        ("1..", "TK-0103"), ("..4", "TK-0103"), ("1..4096", "TK-0103"), ("1..5000", "TK-0102"),
        ("0..4", "TK-0102"),
        ("1..4x2x2", "TK-0103"),
    ],
)  # fmt: skip
def test_bad_degrees_are_refused_with_an_example(text: str, code: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        parse_levels(DEGREE, text)
    assert caught.value.code == code
    assert "1,2,4" in caught.value.hint
    assert len(caught.value.message) < 200


def test_an_unknown_choice_names_the_nearest() -> None:
    with pytest.raises(ToolkitError, match="`compression` cannot be `querry_high`") as caught:
        parse_levels(BY_NAME["compression"], "querry_high")
    assert "query_high" in caught.value.hint


@for_each(
    "value",
    [[], True, [True], None, {}, [[1]], 0, -1, 10**9, float("nan"), float("inf"), 1.5, [1, 1], [1, 1.0], "x"],
)
def test_files_refuse_what_the_command_line_refuses(value: object) -> None:
    with pytest.raises(ToolkitError) as caught:
        check_levels(DEGREE, value)
    assert caught.value.code in {"TK-0102", "TK-0103"}


def test_files_take_lists_single_values_ranges_and_truth_values() -> None:
    assert check_levels(DEGREE, [1, 2.0, "auto"]) == (1, 2, "auto")
    assert check_levels(DEGREE, 4) == (4,)
    assert check_levels(DEGREE, "1..8x2") == (1, 2, 4, 8)
    assert check_levels(BY_NAME["cascade"], [True, "auto"]) == ("yes", "auto")


@given(st.text(max_size=30) | st.from_regex(r"[0-9.,xauto -]{0,20}", fullmatch=True), st.sampled_from(FACTORS))
def test_any_text_gives_distinct_levels_in_range_or_an_error(text: str, option: object) -> None:
    assert option in FACTORS
    try:
        levels = parse_levels(option, text)  # type: ignore[arg-type]
    except ToolkitError as error:
        assert error.code in {"TK-0102", "TK-0103", "TK-0104"}
        return
    assert levels
    assert len(set(levels)) == len(levels)
    for level in levels:
        if isinstance(level, int | float):
            assert option.low <= level <= option.high  # type: ignore[attr-defined]
        elif option.kind in {OptionKind.TEXT, OptionKind.NAME, OptionKind.PATH, OptionKind.SIZE}:  # type: ignore[attr-defined]
            assert isinstance(level, str) and level.strip()
        else:
            assert level in (*option.words, *option.choices)  # type: ignore[attr-defined]


@given(st.lists(st.integers(1, 4096) | st.sampled_from(["default", "auto"]), min_size=1, max_size=20, unique=True))
def test_levels_spelled_are_read_back(levels: list[int | str]) -> None:
    assert parse_levels(DEGREE, ",".join(map(spell_level, levels))) == tuple(levels)
    assert check_levels(DEGREE, levels) == tuple(levels)


def test_sizes_are_spelled_as_rman_takes_them() -> None:
    assert parse_levels(BY_NAME["section_size"], "512m,32G,1024") == ("512M", "32G", "1024")
    assert parse_levels(BY_NAME["work_mem"], "64MB,1gb,64kB") == ("64M", "1G", "64K")  # as PostgreSQL spells it
    for bad in ("0", "32T", "-1G", "1.5G", "G", "32 G"):
        with pytest.raises(ToolkitError) as caught:
            parse_levels(BY_NAME["section_size"], bad)
        assert caught.value.code == "TK-0102"
        assert "32G" in caught.value.hint


def test_paths_and_durations_are_checked_where_they_are_read() -> None:
    assert parse_value(BY_NAME["destination"], "/a b,/c'd") == ("/a b", "/c'd")
    assert parse_value(BY_NAME["window"], "4h") == "4h"
    for name, bad in (("destination", "/a\nb"), ("destination", "/a,,/b"), ("window", "4")):
        with pytest.raises(ToolkitError):
            parse_value(BY_NAME[name], bad)


def test_a_backup_has_channels_and_choices_of_its_own() -> None:
    own = {option.name: option for option in options_of("backup")}
    assert "degree" not in own
    assert "table" not in own
    assert "medium" in own["compression"].choices
    assert "oltp" not in own["compression"].choices
    assert "medium" not in BY_NAME["compression"].choices


def test_names_split_at_commas_outside_quotes_and_parentheses() -> None:
    assert split_names('a, "b,c" ,lower(d, e)') == ["a", '"b,c"', "lower(d, e)"]


@for_each("text", ["", "a,,b", ",", "a,a", "a\nb,c", "x" * 500])
def test_bad_lists_of_names_are_refused(text: str) -> None:
    with pytest.raises(ToolkitError):
        parse_value(BY_NAME["columns"], text)


def test_a_hint_names_no_bounds_where_there_are_none() -> None:
    assert example(Option("n", OptionKind.NUMBER, "", factor=True)) == "give a number; several as `1,10,100`"
