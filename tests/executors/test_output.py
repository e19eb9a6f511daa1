"""What is kept of a program's output: all of little, the beginning and the end of much, whatever its lines are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.executors import output
from toolkit.executors.output import KEPT_BYTES, KEPT_LINES, Output


def taken(*parts: bytes) -> Output:
    one = Output()
    for number, part in enumerate(parts):
        one.add(float(number), part)
    return one


@given(st.lists(st.binary(min_size=1, max_size=30), max_size=12))
def test_little_output_is_kept_whole_however_it_came(parts: list[bytes]) -> None:
    text = b"".join(parts)
    wanted = text.split(b"\n")
    wanted = wanted[:-1] if wanted[-1] == b"" else wanted
    lines = taken(*parts).lines(0.0)
    assert [line.text for line in lines] == [each.decode(errors="replace").rstrip("\r") for each in wanted]
    assert [line.at_seconds for line in lines] == sorted(line.at_seconds for line in lines)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(20, 60), st.integers(1, 9))
def test_of_much_output_the_first_and_the_last_lines_are_kept(sizes: list[int], most: int, lines: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output, "KEPT_BYTES", most)
        patch.setattr(output, "KEPT_LINES", lines)
        parts = [f"{number}".rjust(size, "x").encode() + b"\n" for number, size in enumerate(sizes)]
        kept = [line.text for line in taken(*parts).lines(0.0)]
    whole = [part.decode().rstrip("\n") for part in parts]
    assert len(kept) <= 2 * lines + 1
    marks = [text for text in kept if "left out here" in text]
    assert len(marks) == (kept != whole)
    assert whole[0].startswith(kept[0]) and whole[-1].endswith(kept[-1])


@pytest.mark.full
def test_millions_of_short_lines_are_no_millions_of_objects() -> None:
    lines = taken(b"y\n" * (KEPT_BYTES // 2), b"y\n" * KEPT_BYTES, b"12 rows\n").lines(0.0)
    assert len(lines) == 2 * KEPT_LINES + 1
    assert (lines[0].text, lines[-1].text) == ("y", "12 rows")
    assert lines[KEPT_LINES].text == "[2.92 MiB left out here]"
