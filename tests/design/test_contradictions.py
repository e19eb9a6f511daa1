"""Options that contradict each other are bad input, whatever the database."""

from __future__ import annotations

from typing import Any

import pytest

from tests.for_each import for_each
from toolkit.design.build import General, build_experiment
from toolkit.errors import ExitCode, ToolkitError

INDEX = {"table": "T", "columns": ("A", "B")}
STATS = {"table": "T"}


def build(operation: str, options: dict[str, Any], levels: dict[str, Any] | None = None) -> None:
    build_experiment(operation, options, levels or {}, General(target="dwh"))


def refusal(operation: str, options: dict[str, Any], **levels: tuple[object, ...]) -> ToolkitError:
    with pytest.raises(ToolkitError) as caught:
        build(operation, options, levels)
    assert caught.value.exit_code is ExitCode.USAGE
    assert caught.value.hint
    return caught.value


@for_each(
    ("options", "levels", "words"),
    [
        ({"bitmap": True, "unique": True}, {}, "cannot be unique"),
        ({"bitmap": True, "reverse": True}, {}, "reverse"),
        ({"bitmap": True}, {"prefix": (1,)}, "is always compressed"),
        ({"bitmap": True}, {"compression": ("low", "high")}, "is always compressed"),
        ({"bitmap": True}, {"global_hash": (4, 8)}, "ORA-25113"),
        ({}, {"local": (True,), "global_hash": (4,)}, "one way"),
        ({"global_range": "10,20"}, {"local": (True,)}, "one way"),
        ({"global_range": "10,20"}, {"global_hash": (4,)}, "one way"),
        ({}, {"prefix": (3,)}, "2 columns to prefix"),
        ({"unique": True}, {"prefix": (2,)}, "1 columns to prefix"),
        ({}, {"prefix": (1,), "compression": ("low",)}, "with `basic`"),
    ],
)
def test_options_of_an_index_that_no_cell_could_have_are_bad_input(
    options: dict[str, Any], levels: dict[str, tuple[object, ...]], words: str
) -> None:
    assert words in refusal("index-build", {**INDEX, **options}, **levels).message


def test_a_cell_that_can_be_had_among_others_is_no_bad_input() -> None:
    build("index-build", {**INDEX, "bitmap": True}, {"compression": ("none", "low")})
    build("index-build", INDEX, {"prefix": (1, 3)})
    build("index-build", INDEX, {"prefix": (2,), "compression": ("basic",)})
    build("index-build", {**INDEX, "bitmap": True}, {"local": (True,)})


@pytest.mark.parametrize("text", ["FOR ALL COLUMNS SIZE 0", "FOR COLUMNS SIZE 254 A, B SIZE 2049"])
def test_a_histogram_of_no_possible_size_is_bad_input(text: str) -> None:
    assert "buckets" in refusal("stats-gather", STATS, method_opt=(text,)).message


@pytest.mark.parametrize(
    "text", ["FOR ALL COLUMNS SIZE 1", 'FOR COLUMNS "SIZE 0" SIZE 254', "FOR COLUMNS A SIZE AUTO"]
)
def test_a_histogram_of_a_possible_size_is_taken(text: str) -> None:
    build("stats-gather", STATS, {"method_opt": (text,)})


@pytest.mark.parametrize(
    ("operation", "options"),
    [("ctas", {"source": "S", "table": "T"}), ("insert", {"source": "S", "table": "T"}), ("index-build", INDEX)],
)
def test_several_sessions_for_a_job_of_one_statement_are_bad_input(
    operation: str, options: dict[str, Any]
) -> None:
    assert "one session" in refusal(operation, options, concurrency=(3,)).message
    build(operation, options, {"concurrency": (1,)})


def test_a_job_over_several_objects_takes_several_sessions() -> None:
    build("index-rebuild", {"schema": ("APP",)}, {"concurrency": (3,)})
