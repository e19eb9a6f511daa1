"""Codes are explained as they are said."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from toolkit.app.explain import explain
from toolkit.errors import ExitCode, ToolkitError


@for_each(
    ("said", "code"),
    [
        ("1555", "ORA-01555"), ("ora-1555", "ORA-01555"), ("ORA1555", "ORA-01555"), ("ORA 1555", "ORA-01555"),
        ("TNS-12541", "ORA-12541"), ("DPY-4011", "DPY-4011"), ("600", "ORA-00600"), ("42P01", "42P01"),
        ("23505", "23505"), ("tk-0104", "TK-0104"), ("UDE-31623", "ORA-31623"), ("udi-31626", "ORA-31626"),
    ],
)  # fmt: skip
def test_a_code_is_taken_in_every_spelling(said: str, code: str) -> None:
    assert explain(said).code == code


@pytest.mark.parametrize(
    ("said", "page"), [("ORA-99999", "ora-99999"), ("99998", "ora-99998"), ("PLS-1", "pls-00001")]
)
def test_a_code_of_oracle_that_is_not_ours_leads_to_oracles_page(said: str, page: str) -> None:
    with pytest.raises(ToolkitError, match="not a code that dbatk explains") as caught:
        explain(said)
    assert page in caught.value.hint
    assert caught.value.exit_code is ExitCode.USAGE


@pytest.mark.parametrize("said", ["UDE-00018", "UDI-00008"])
def test_a_code_of_data_pumps_client_itself_is_none_of_the_database(said: str) -> None:
    with pytest.raises(ToolkitError, match=f"`{said}` is not a code that dbatk explains") as caught:
        explain(said)
    assert "ORA-" in caught.value.hint


def test_what_is_no_code_gets_a_sentence() -> None:
    with pytest.raises(ToolkitError, match="unknown code"):
        explain("nonsense")


def test_a_code_of_ours_that_is_not_there_leads_to_no_database() -> None:
    with pytest.raises(ToolkitError, match=r"dbatk .* has no error `TK-9999`") as caught:
        explain("TK-9999")
    assert "TK-0101" in caught.value.hint and "manual" not in caught.value.hint
