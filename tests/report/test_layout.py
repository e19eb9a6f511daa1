from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.tiers import examples
from toolkit.report.layout import text_table, wrapped
from toolkit.report.tables import left, right, table
from toolkit.terminal import USUAL

WORDS = st.text(st.characters(categories=["L", "N", "P"]), max_size=90)


def test_a_table_that_fits_stands_in_columns() -> None:
    made = table("", right("degree") + left("remark"), [["1", "use"], ["16", ""]])
    assert text_table(made) == ["degree  remark", "     1  use", "    16"]


def test_a_column_without_a_word_is_left_out() -> None:
    made = table("", right("degree", "n") + left("remark"), [["1", "3", ""]])
    assert text_table(made) == ["degree  n", "     1  3"]


def test_long_last_words_are_wrapped_in_their_column_where_there_is_room() -> None:
    made = table("", right("trial") + left("reason"), [["1", "one two three " * 8]])
    lines = text_table(made)
    assert lines[0] == "trial  reason"
    assert lines[1].startswith("    1  one two three")
    assert all(line.startswith((" " * 7 + "o", " " * 7 + "t")) for line in lines[2:])


def test_words_without_room_beside_the_row_stand_below_it() -> None:
    made = table("", right("a" * 60) + left("reason"), [["1", "no room for these words"], ["2", "short"]])
    assert text_table(made)[1:] == [f"{'1':>60}", "    no room for these words", f"{'2':>60}  short"]


def test_a_name_in_one_piece_is_never_cut_to_fit_its_column() -> None:
    path = "/a/long/path/that/has/no/blank/in/it/at/all/and/goes/on"
    made = table("", right("a" * 30) + left("reason"), [["1", f"look at {path} again"]])
    assert f"    look at {path}" in "\n".join(text_table(made))


def test_a_wide_first_column_stands_above_its_figures() -> None:
    name = ",".join(f"factor_{index}=level" for index in range(6))
    made = table("", left("cell") + right("median", "n"), [[name, "1.25 s", "3"]])
    assert text_table(made) == [
        "cell",
        "    median  n",
        "factor_0=level,factor_1=level,factor_2=level,factor_3=level,factor_4=level,facto",
        "r_5=level",
        "    1.25 s  3",
    ]


def test_a_name_of_several_words_is_wrapped_in_its_column() -> None:
    name = "log file switch (checkpoint incomplete)"
    made = table("", left("event") + right("a" * 20, "b" * 25), [[name, "1", "2"], ["log file sync", "3", "4"]])
    assert text_table(made) == [
        f"event                            {'a' * 20}  {'b' * 25}",
        f"log file switch (checkpoint      {'1':>20}  {'2':>25}",
        "  incomplete)",
        f"log file sync                    {'3':>20}  {'4':>25}",
    ]


def test_what_is_too_wide_for_any_table_is_told_entry_by_entry() -> None:
    made = table("", left("a", "b"), [["x" * 100, "y" * 100]])
    assert text_table(made)[0].startswith("- a: x")


def test_a_number_keeps_its_unit_beside_it() -> None:
    for shift in range(12):
        lines = wrapped("x" * (68 + shift) + " 5 % and 12.5 ms or 3.00 MiB " + "y" * 60)
        assert not any(line.lstrip().startswith(("%", "ms", "MiB")) for line in lines)
        assert "\u00a0" not in "".join(lines)


@examples(200)
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4), st.tuples(*[st.booleans()] * 3))
def test_no_table_is_wider_than_the_page_and_every_row_is_told(
    rows: list[tuple[str, str, str]], numeric: tuple[bool, bool, bool]
) -> None:
    columns = [(right if is_numeric else left)(title)[0] for title, is_numeric in zip("abc", numeric, strict=True)]
    made = table("", columns, rows)
    lines = text_table(made)
    assert max(map(len, lines)) <= USUAL
    # breaking long words is allowed, losing a letter is not
    told = "".join("".join(lines).split())
    for row in made.rows:
        for text in row:
            assert "".join(text.split()) in told or len(text) > 20


@given(st.text(max_size=300), st.sampled_from(["", "- ", "! "]))
def test_no_wrapped_line_is_wider_than_the_page(text: str, lead: str) -> None:
    assert max(map(len, wrapped(text, lead))) <= USUAL
