"""Each kind of option: which values it takes, what each becomes, and what is said of one that it does not take."""
# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

from pathlib import Path

import pytest

from tests.for_each import for_each
from toolkit.design.levels import (
    check_levels,
    check_value,
    example,
    parse_levels,
    parse_value,
    spell_bound,
)
from toolkit.design.names import split_names
from toolkit.errors import ToolkitError
from toolkit.model.options import Option, OptionKind

KIND = OptionKind
OPTIONS = {
    kind: Option(f"a_{kind}", kind, "help", choices=("none", "query_high", "yes", "no") if kind is KIND.CHOICE else ())
    for kind in KIND
}  # fmt: skip
COUNT = Option("count", KIND.INTEGER, "help", factor=True, low=1, high=128, words=("auto", "default"))
SHARE = Option("share", KIND.NUMBER, "help", factor=True, low=0, high=99.5, unit="%")
FREE = Option("free", KIND.INTEGER, "help")
SIZE = Option("size", KIND.SIZE, "help", words=("auto",))
CALLS = Option("calls", KIND.TEXT, "help", level_begins="SET")
NO_LONGER = 80  # characters of a bad value that are shown


def said(option: Option, value: object, *, text: bool = False) -> tuple[str, str, str]:
    """Return code, message and hint of a value that is refused."""
    with pytest.raises(ToolkitError) as caught:
        parse_value(option, str(value)) if text else check_value(option, value)
    return str(caught.value.code), caught.value.message, caught.value.hint or ""


def listed(option: Option, text: str) -> tuple[str, str, str]:
    with pytest.raises(ToolkitError) as caught:
        parse_levels(option, text)
    return str(caught.value.code), caught.value.message, caught.value.hint or ""


@for_each(
    ("option", "hint"),
    [
        (COUNT, "give a whole number from 1 to 128 or `auto` or `default`; several as `1,2,4` or `1..64x2`"),
        (Option("n", KIND.DEGREE, "h", factor=True, high=63), "give a whole number from any to 63; several as `1,2,4`"),
        (Option("n", KIND.DEGREE, "h", factor=True, high=64), "give a whole number from any to 64; several as `1,2,4` or `1..64x2`"),
        (SHARE, "give a number in `%` from 0 to 99.5; several as `1,10,100`"), (FREE, "give a whole number"),
        (OPTIONS[KIND.CHOICE], "give `none` or `query_high` or `yes` or `no`"), (OPTIONS[KIND.FLAG], "give true or false"),
        (OPTIONS[KIND.NAMES], "give comma-separated names"), (SIZE, "give a whole number with K, M or G, such as `32G`"),
        (OPTIONS[KIND.PATHS], "give the full path of a folder"), (OPTIONS[KIND.TEXT], "give a string"),
        (OPTIONS[KIND.FILES], "give paths of files, or patterns such as `lines_*.csv`"),
        (OPTIONS[KIND.DURATION], "give a duration such as `4h` or `1h30m`"),
    ],
)  # fmt: skip
def test_the_hint_shows_what_may_be_written(option: Option, hint: str) -> None:
    assert example(option) == hint


@for_each(
    ("bound", "spelled"),
    [(None, "any"), (1.0, "1"), (0, "0"), (99.5, "99.5"), (0.000001, "0.000001"), (1e15, "1" + "0" * 15)],
)
def test_a_bound_is_spelled_plainly(bound: float | None, spelled: str) -> None:
    assert spell_bound(bound) == spelled


@for_each(
    ("option", "value", "kept"),
    [
        (COUNT, 4, 4), (COUNT, 4.0, 4), (COUNT, "AUTO", "auto"), (COUNT, " 4 ", 4), (COUNT, "4.0", 4), (COUNT, 1, 1),
        (COUNT, 128, 128), (COUNT, "+4", 4), (SHARE, 0.5, 0.5), (SHARE, "5%", 5), (SHARE, 99.5, 99.5), (SHARE, "5.0", 5),
        (FREE, -7, -7), (FREE, "-7", -7), (FREE, "9" * 15, int("9" * 15)), (FREE, 10**15 + 1, 10**15 + 1),
        (FREE, "999999999999999", 999999999999999),
        (OPTIONS[KIND.CHOICE], "Query-High", "query_high"), (OPTIONS[KIND.CHOICE], " none ", "none"),
        (OPTIONS[KIND.CHOICE], True, "yes"), (OPTIONS[KIND.CHOICE], False, "no"),
        (OPTIONS[KIND.FLAG], True, True), (OPTIONS[KIND.FLAG], False, False), (OPTIONS[KIND.TEXT], " a ", " a "),
        (SIZE, 64, "64"), (SIZE, " 64mb ", "64M"), (SIZE, "1g", "1G"), (SIZE, "999999999K", "999999999K"), (SIZE, "AUTO", "auto"),
        (OPTIONS[KIND.NAME], " a ", "a"), (OPTIONS[KIND.NAME], "x" * 400, "x" * 400),
        (OPTIONS[KIND.NAMES], 'a, "b,c" ,f(d, e)', ("a", '"b,c"', "f(d, e)")), (OPTIONS[KIND.NAMES], [" a ", "b"], ("a", "b")),
        (OPTIONS[KIND.PATHS], "/a,/b c", ("/a", "/b c")), (OPTIONS[KIND.PATHS], ("/a",), ("/a",)),
        (OPTIONS[KIND.PATH], "/a", "/a"), (OPTIONS[KIND.PATH], "\u00e4" * 2000, "\u00e4" * 2000),
        (OPTIONS[KIND.FILES], "/a/../b", ("/b",)), (OPTIONS[KIND.FILES], ["b", "/c"], (f"{Path.cwd()}/b", "/c")),
        (OPTIONS[KIND.DURATION], "1h30m", "1h30m"), (OPTIONS[KIND.JOBS], "text", "text"),
        (OPTIONS[KIND.TEXTS], "a", ("a",)), (OPTIONS[KIND.TEXTS], ["a", " b "], ("a", " b ")),
        (OPTIONS[KIND.ARGUMENTS], ["ls", "", "-l"], ("ls", "", "-l")), (OPTIONS[KIND.ARGUMENTS], ("ls",), ("ls",)),
        (OPTIONS[KIND.COMMANDS], "ls  'a b'", ("ls 'a b'",)), (OPTIONS[KIND.COMMANDS], ["ls", ["cat", "c d"]], ("ls", "cat 'c d'")),
        (OPTIONS[KIND.ASSIGNMENTS], ["a = 1", "b = 'x'"], ("a = 1", "b = 'x'")),
        (OPTIONS[KIND.EXPRESSIONS], [" lower(a) ", "b || ', '"], ("lower(a)", "b || ', '")),
    ],
)  # fmt: skip
def test_a_value_is_kept_as_its_kind_has_it(option: Option, value: object, kept: object) -> None:
    found = check_value(option, value)
    assert (found, type(found)) == (kept, type(kept))


LONG = "x" * 100
TEXT_NEEDED, TEXT_NUL = "`{}` must be a non-empty string", "`{}` contains a NUL character"


@for_each(
    ("option", "value", "code", "message"),
    [
        (COUNT, 0, "TK-0102", "`count` cannot be `0`"), (COUNT, 129, "TK-0102", "`count` cannot be `129`"),
        (COUNT, True, "TK-0102", "`count` cannot be `yes`"), (COUNT, 1.5, "TK-0102", "`count` cannot be `1.5`"),
        (COUNT, None, "TK-0102", "`count` cannot be `None`"), (COUNT, LONG, "TK-0102", f"`count` cannot be `{'x' * NO_LONGER}`"),
        (COUNT, "1.5", "TK-0102", "`count` cannot be `1.5`"), (COUNT, float("inf"), "TK-0102", "`count` cannot be `inf`"),
        (FREE, float("-inf"), "TK-0102", "`free` cannot be `-inf`"), (FREE, "9" * 16, "TK-0102", f"`free` cannot be `{'9' * 16}`"),
        (FREE, float("nan"), "TK-0102", "`free` cannot be `nan`"), (SHARE, 99.6, "TK-0102", "`share` cannot be `99.6`"),
        (SHARE, -0.1, "TK-0102", "`share` cannot be `-0.1`"), (SHARE, "5%%", "TK-0102", "`share` cannot be `5%%`"),
        (OPTIONS[KIND.FLAG], "yes", "TK-0102", "`a_flag` cannot be `yes`"), (OPTIONS[KIND.FLAG], 1, "TK-0102", "`a_flag` cannot be `1`"),
        (OPTIONS[KIND.CHOICE], 1, "TK-0102", "`a_choice` cannot be `1`"), (SIZE, "0", "TK-0102", "`size` cannot be `0`"),
        (SIZE, True, "TK-0102", "`size` cannot be `yes`"), (SIZE, "1GBB", "TK-0102", "`size` cannot be `1GBB`"),
        (SIZE, "1B", "TK-0102", "`size` cannot be `1B`"), (SIZE, "1000000000", "TK-0102", "`size` cannot be `1000000000`"),
        (SIZE, 1.5, "TK-0102", "`size` cannot be `1.5`"), (OPTIONS[KIND.TEXT], " ", "TK-0102", TEXT_NEEDED.format("a_text")),
        (OPTIONS[KIND.TEXT], 5, "TK-0102", TEXT_NEEDED.format("a_text")), (OPTIONS[KIND.TEXT], "a\0", "TK-0102", TEXT_NUL.format("a_text")),
        (OPTIONS[KIND.NAME], "", "TK-0102", TEXT_NEEDED.format("a_name")),
        (OPTIONS[KIND.NAME], "x" * 401, "TK-0104", "`a_name` is not a valid name: it is too long or holds control characters"),
        (OPTIONS[KIND.NAME], "a\tb", "TK-0104", "`a_name` is not a valid name: it is too long or holds control characters"),
        (OPTIONS[KIND.NAMES], [], "TK-0102", "`a_names` must be a list of names"), (OPTIONS[KIND.NAMES], 5, "TK-0102", "`a_names` must be a list of names"),
        (OPTIONS[KIND.NAMES], [str(n) for n in range(1001)], "TK-0102", "`a_names` must be a list of names"),
        (OPTIONS[KIND.NAMES], "a,,b", "TK-0103", "`a_names` has an empty name"), (OPTIONS[KIND.NAMES], [1], "TK-0102", TEXT_NEEDED.format("a_names")),
        (OPTIONS[KIND.NAMES], "a, b ,a", "TK-0103", "`a_names` has `a` twice"),
        (OPTIONS[KIND.PATHS], [], "TK-0102", "`a_paths` must be a list of paths"), (OPTIONS[KIND.PATHS], 5, "TK-0102", "`a_paths` must be a list of paths"),
        (OPTIONS[KIND.PATHS], ["/a"] * 1001, "TK-0102", "`a_paths` must be a list of paths"),
        (OPTIONS[KIND.PATHS], "/a,", "TK-0102", TEXT_NEEDED.format("a_paths")),
        (OPTIONS[KIND.PATH], "/a\n", "TK-0104", "`a_path` is not a valid path: it holds control characters or is too long"),
        (OPTIONS[KIND.PATH], "\u00e4" * 2000 + "x", "TK-0104", "`a_path` is not a valid path: it holds control characters or is too long"),
        (OPTIONS[KIND.FILES], ["/a", ""], "TK-0102", TEXT_NEEDED.format("a_files")), (OPTIONS[KIND.DURATION], 5, "TK-0102", TEXT_NEEDED.format("a_duration")),
        (OPTIONS[KIND.TEXTS], ["a", 5], "TK-0102", TEXT_NEEDED.format("a_texts")),
        (OPTIONS[KIND.ARGUMENTS], "ls", "TK-0102", "`a_arguments` must be a list of arguments"),
        (OPTIONS[KIND.ARGUMENTS], [], "TK-0102", "`a_arguments` must be a list of arguments"),
        (OPTIONS[KIND.ARGUMENTS], ["", "a"], "TK-0102", "`a_arguments` must be a list of arguments"),
        (OPTIONS[KIND.ARGUMENTS], ["ls", 5], "TK-0102", "`a_arguments` must be a list of arguments"),
        (OPTIONS[KIND.ARGUMENTS], ["ls", "\0"], "TK-0102", "`a_arguments` must be a list of arguments"),
        (OPTIONS[KIND.COMMANDS], "ls 'a", "TK-0102", "`a_commands` cannot be split into arguments: no closing quotation"),
        (OPTIONS[KIND.COMMANDS], "# no", "TK-0102", None), (OPTIONS[KIND.COMMANDS], "'' a", "TK-0102", "`a_commands` names no program"),
        (OPTIONS[KIND.COMMANDS], [[""]], "TK-0102", "`a_commands` must be a list of arguments"),
        (OPTIONS[KIND.COMMANDS], [5], "TK-0102", TEXT_NEEDED.format("a_commands")),
    ],
)  # fmt: skip
def test_a_value_that_is_not_of_its_kind_is_refused(
    option: Option, value: object, code: str, message: str | None
) -> None:
    if message is None:  # a sign of the shell's means nothing
        assert check_value(option, value) == ("'#' no",)
        return
    found = said(option, value)
    assert found[:2] == (code, message)
    assert found[2]
    if "cannot be `" in message:
        assert found[2] == example(option)


def test_a_choice_that_is_none_names_the_nearest_and_a_bool_needs_yes_and_no() -> None:
    assert said(OPTIONS[KIND.CHOICE], "querry_high")[1:] == (
        "`a_choice` cannot be `querry_high`",
        "did you mean `query_high`?",
    )
    assert said(OPTIONS[KIND.CHOICE], LONG)[1] == f"`a_choice` cannot be `{'x' * NO_LONGER}`"
    assert said(Option("c", KIND.CHOICE, "h", choices=("yes", "auto")), True)[1] == "`c` cannot be `yes`"


@for_each(
    ("option", "text", "levels"),
    [
        (COUNT, "1..128x2", (1, 2, 4, 8, 16, 32, 64, 128)), (COUNT, "2..7x1.5", None), (SHARE, "0..2", (0, 1, 2)),
        (SHARE, "0.5..2", (0.5, 1.5)), (SHARE, "1..10x2.5", (1, 2.5, 6.25)), (COUNT, "5..5", (5,)), (COUNT, "5..5x2", (5,)),
        (CALLS, "SET a,b, set c", ("SET a,b", "set c")), (CALLS, "SET a, SETTER", ("SET a, SETTER",)),
        (OPTIONS[KIND.TEXT], "a..b, c", ("a..b", "c")), (OPTIONS[KIND.CHOICE], "none,yes", ("none", "yes")),
        (OPTIONS[KIND.FLAG], "YES,no", (True, False)),
    ],
)  # fmt: skip
def test_a_list_has_its_levels_in_order(option: Option, text: str, levels: tuple[object, ...] | None) -> None:
    if levels is None:
        assert listed(option, text)[1] == "`count` cannot be `4.5`"
        return
    found = parse_levels(option, text)
    assert [(one, type(one)) for one in found] == [(one, type(one)) for one in levels]


@for_each(
    ("text", "says"),
    [
        ("", "is empty"), (" , ,", "is empty"), ("1,," + "2" * 100, f"has an empty item: `1,,{'2' * 77}`"), ("4,4.0", "has `4` twice"),
        ("auto,AUTO", "has `auto` twice"), ("4..3", "has a range that runs backwards: `4..3`"), ("1..8x1", "has a range that never ends: `1..8x1`"),
        ("0..8x2", "has a range that never ends: `0..8x2`"), ("1..2..3", "has a range that cannot be read: `1..2..3`"),
        ("1.." + "2" * 99, f"has a range that cannot be read: `1..{'2' * 77}`"),
    ],
)  # fmt: skip
def test_a_list_that_cannot_be_meant_is_named(text: str, says: str) -> None:
    assert listed(COUNT, text) == ("TK-0103", f"the list of levels of `count` {says}", example(COUNT))


def test_a_range_outside_the_bounds_names_the_bound_that_is_wrong() -> None:
    assert listed(COUNT, "0..4")[:2] == ("TK-0102", "`count` cannot be `0`")
    assert listed(COUNT, "1..129")[:2] == ("TK-0102", "`count` cannot be `129`")


def test_one_value_only_is_one() -> None:
    assert (parse_value(COUNT, "4"), parse_value(OPTIONS[KIND.CHOICE], "NONE"), parse_value(SHARE, "5%")) == (
        4,
        "none",
        5,
    )
    assert parse_value(OPTIONS[KIND.TEXT], "a,b") == "a,b"
    assert said(COUNT, "1,2", text=True) == ("TK-0103", "`count` accepts one value", example(COUNT))
    assert said(OPTIONS[KIND.CHOICE], "none,yes", text=True)[1] == "`a_choice` accepts one value"


def test_a_file_gives_one_level_or_a_list_of_them() -> None:
    assert check_levels(COUNT, [1, "2..4", " auto "]) == (1, 2, 3, 4, "auto")
    assert check_levels(COUNT, ("8",)) == (8,)
    assert check_levels(OPTIONS[KIND.TEXT], "a..b") == ("a..b",)
    for value, says in (([], "is empty"), ((), "is empty"), ([4, "4"], "has `4` twice")):
        with pytest.raises(ToolkitError, match=f"the list of levels of `count` {says}"):
            check_levels(COUNT, value)
    for many in (["1..128"] * 8, [1] * 1001, ["1..5000"]):
        with pytest.raises(ToolkitError):
            check_levels(FREE, many)
    assert len(check_levels(FREE, list(range(1000)))) == 1000
    with pytest.raises(ToolkitError, match="more than 1000 levels"):
        check_levels(FREE, ["0..999", 5000])


@for_each(
    ("text", "names"),
    [
        ("a", ["a"]), ("a,b", ["a", "b"]), ('"a,b"', ['"a,b"']), ("f(a,b),c", ["f(a,b)", "c"]), ("f((a,b),c),d", ["f((a,b),c)", "d"]),
        ("a),b", ["a)", "b"]), ('"(",a', ['"("', "a"]), ('")",a', ['")"', "a"]), (" a , b ", ["a", "b"]), (",", ["", ""]),
        ('"a""b,c",d', ['"a""b,c"', "d"]), ("(a,b", ["(a,b"]),
    ],
)  # fmt: skip
def test_names_are_split_where_a_comma_stands_between_them(text: str, names: list[str]) -> None:
    assert split_names(text) == names
