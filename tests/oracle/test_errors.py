"""The error catalogue: complete, unambiguous, and read by codes alone."""

from __future__ import annotations

import re

import pytest

from toolkit.dialects.oracle import DIALECT
from toolkit.dialects.oracle.errors import _ROWS, CATALOGUE, cause_code, tidy_message


def test_no_code_is_explained_twice() -> None:
    codes = [code for codes, *_ in _ROWS for code in codes.split()]
    assert len(codes) == len(set(codes)) == len(CATALOGUE) > 150


@pytest.mark.parametrize("advice", CATALOGUE.values(), ids=CATALOGUE)
def test_every_entry_says_what_it_means_and_what_to_do(advice: object) -> None:
    assert re.fullmatch(r"(ORA|DPY|DPI|RMAN)-\d{4,5}", advice.code)  # type: ignore[attr-defined]
    assert advice.meaning and advice.advice  # type: ignore[attr-defined]
    assert advice.meaning[-1] != "."  # type: ignore[attr-defined]


def test_too_few_servers_is_a_downgrade_that_may_pass() -> None:
    advice = DIALECT.explain("ORA-12827", "ORA-12827: insufficient parallel query workers available")
    assert advice is not None and advice.downgrade and advice.passing
    assert [code for code, each in CATALOGUE.items() if each.downgrade] == ["ORA-12827"]


def test_an_error_of_a_parallel_server_is_explained_by_its_cause() -> None:
    message = "ORA-12801: error signaled in parallel query server P003\nORA-01652: unable to extend temp segment"
    advice = DIALECT.explain("ORA-12801", message)
    assert advice is not None and advice.code == "ORA-01652"
    assert cause_code("ORA-00942", message) == "ORA-00942"


def test_a_frame_without_a_cause_explains_itself() -> None:
    advice = DIALECT.explain("ORA-12801", "ORA-12801: error signaled in parallel query server P003")
    assert advice is not None and advice.code == "ORA-12801"


def test_an_unknown_code_has_no_advice() -> None:
    assert DIALECT.explain("ORA-99999", "") is None


def test_the_drivers_help_line_is_dropped_and_nothing_else() -> None:
    message = 'ORA-00942: table or view "A"."HELP" does not exist\nHelp: https://docs.oracle.com/error-help/db/ora-00942/'
    assert tidy_message(message) == 'ORA-00942: table or view "A"."HELP" does not exist'
