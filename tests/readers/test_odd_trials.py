"""Files of trials with numbers that no program writes are refused in a sentence."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from toolkit.errors import ToolkitError
from toolkit.readers.trials import read_trials

LATE = 999_999_999_999
MANY = "9" * 5000
TOML = "[[trial]]\ndegree = {}\nelapsed_seconds = {}\n"


@for_each(
    ("text", "says"),
    [
        (f"0 1 3502 0 {LATE} 811057\n", "not a file of trials that dbatk reads"),
        (f"0 1 3502 0 1795653684 811057\n0 2 3502 0 {LATE} 811057\n", "`f`, line 2: this is not a line of"),
        (
            "".join(f"{LATE + at} 179 194 375 658 558\n" for at in range(5)),
            "not a file of trials that dbatk reads",
        ),
        (TOML.format(MANY, 1), "`f`: this is not TOML: a number in it has too many digits"),
        (TOML.format(1, MANY), "`f`: this is not TOML: a number in it has too many digits"),
        (TOML.format("0x" + MANY, 1), "`degree` is a number with too many digits"),
        (TOML.format(1, "0x" + MANY), "`elapsed_seconds` is a number with too many digits"),
        ("note = 0x" + MANY + "\n" + TOML.format(1, 1), "`note` is a number with too many digits"),
    ],
)
def test_a_number_that_no_program_writes_is_refused(text: str, says: str) -> None:
    with pytest.raises(ToolkitError, match=says) as refused:
        read_trials([("f", text)])
    assert refused.value.code == "TK-0117"


@pytest.mark.parametrize("text", ["", "\n\n", " \r\n"])
def test_an_empty_file_is_told_of_as_one(text: str) -> None:
    with pytest.raises(ToolkitError, match="`f` is empty: no trial is in it") as refused:
        read_trials([("f", text)])
    assert refused.value.code == "TK-0117"
