"""Cases that share one item of pytest are all run, and each that fails is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.for_each import for_each


def failures(test: Callable[..., None], **fixtures: object) -> tuple[str, list[list[str]]]:
    with pytest.raises(BaseExceptionGroup) as caught:
        test(**fixtures)
    return caught.value.message, [error.__notes__ for error in caught.value.exceptions]


def test_all_cases_run_and_each_that_fails_is_named() -> None:
    ran = []

    @for_each("number", [1, 2, 3, 4])
    def test_odd(number: int) -> None:
        ran.append(number)
        if number == 4:
            pytest.fail("no")
        assert number % 2

    assert failures(test_odd) == ("2 of 4 cases failed: 2; 4", [["case: 2"], ["case: 4"]])
    assert ran == [1, 2, 3, 4]


def test_cases_of_several_values_are_named_as_pytest_would_and_fixtures_are_given_to_each() -> None:
    @for_each(
        ("path", "number"), [(Path("a/b"), 1), (Path("a/c"), 2)], ids=lambda value: getattr(value, "name", "")
    )
    def test_none(given: str, path: Path, number: int) -> None:
        assert (given, number) == ("here", 1)

    assert failures(test_none, given="here") == ("1 of 2 cases failed: c-", [["case: c-"]])


def test_a_case_that_is_skipped_is_counted_and_the_others_run() -> None:
    @for_each("number", [1, 2])
    def test_skipped(number: int) -> None:
        if number == 1:
            pytest.skip("not here")

    with pytest.raises(pytest.skip.Exception, match="1 of 2 cases, the others passed: 1: not here"):
        test_skipped()


def test_no_case_is_a_failure() -> None:
    @for_each("number", [])
    def test_nothing(number: int) -> None: ...

    with pytest.raises(AssertionError, match="there is no case"):
        test_nothing()
