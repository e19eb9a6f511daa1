"""The error catalogue: complete, unambiguous, and read by codes alone."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from toolkit.dialects.answers import Continuation, ErrorAdvice
from toolkit.dialects.oracle import errors
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.oracle.errors import catalogue, cause_code, tidy_message

CATALOGUE = catalogue()
DATA = Path(errors.__file__).with_name("errors.toml")


def test_no_code_is_explained_twice() -> None:
    codes = [code for row in tomllib.loads(DATA.read_text())["error"] for code in row["codes"]]
    assert len(codes) == len(set(codes)) == len(CATALOGUE) > 150


@pytest.mark.parametrize("advice", CATALOGUE.values(), ids=CATALOGUE)
def test_every_entry_says_what_it_means_and_what_to_do(advice: ErrorAdvice) -> None:
    assert re.fullmatch(r"(ORA|DPY|DPI|RMAN)-\d{4,5}", advice.code)
    assert advice.meaning and advice.advice
    assert advice.meaning[-1] != "."


@pytest.mark.parametrize(
    ("code", "goes_on"),
    [
        ("ORA-00054", Continuation.TRIAL),
        ("ORA-01652", Continuation.RUN),
        ("ORA-00439", Continuation.RUN),
        ("ORA-01031", Continuation.NOTHING),
    ],
)
def test_every_entry_says_what_can_go_on(code: str, goes_on: Continuation) -> None:
    assert CATALOGUE[code].goes_on is goes_on


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
