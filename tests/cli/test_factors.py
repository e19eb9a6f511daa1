"""Levels of options that have no value on the command line, given as `--factor NAME=LEVELS`."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Dbatk

ONCE = ("--repeat", "1", "--warmup", "0", "--json", "-q")


def test_an_option_without_a_value_is_swept_by_its_name(dbatk: Dbatk, url: str) -> None:
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "filled").status == 0
    given = ("insert", "-t", url, "--source", "small", "--table", "filled", "--sample", "50,99")
    answer = dbatk(*given, "--factor", "bare=no,yes", *ONCE)
    assert (answer.status, answer.err) == (0, "")
    cells = [one["factors"] for one in json.loads(answer.out)["cells"]]
    assert sorted((one["bare"], one["sample"]) for one in cells) == [
        (False, 50),
        (False, 99),
        (True, 50),
        (True, 99),
    ]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("--factor", "bear=no,yes"), "did you mean `bare`?"),
        (("--factor", "bare"), "the list of levels of `bare` is empty"),
        (("--factor", "bare=no,perhaps"), "`bare` cannot be `perhaps`"),
        (("--bare", "--factor", "bare=no,yes"), "`bare` is given twice"),
        (("--factor", "bare=no,yes", "--factor", "bare=no,yes"), "`bare` is given twice"),
        (("--factor", "table=a,b"), "has no factor `table`"),
    ],
)
def test_what_is_no_factor_or_no_level_is_refused(
    dbatk: Dbatk, url: str, given: tuple[str, ...], sentence: str
) -> None:
    answer = dbatk("insert", "-t", url, "--source", "small", "--table", "filled", *given)
    assert (answer.status, sentence in answer.err) == (2, True), answer.err


def test_a_place_that_two_indexes_are_compared_in_may_have_a_comma_in_quotes(dbatk: Dbatk) -> None:
    line = ("index", "build", "--assume", "19-ee", "--table", "S.T", "--columns", "ID", "--dry-run", "--full")
    answer = dbatk(*line, "--tablespace", 'TS_A,"ts,b"', "--factor", "reverse=no,yes")
    assert answer.status == 0, answer.err
    assert 'TABLESPACE "TS_A"' in answer.out and 'TABLESPACE "ts,b"' in answer.out and " REVERSE" in answer.out
