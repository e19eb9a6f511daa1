"""A factor whose statement works on a session cannot be approved: names could mean something else in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.for_each import for_each
from toolkit.app.approving import subject_of_experiment
from toolkit.app.targets import find_target
from toolkit.design.file import parse_experiment
from toolkit.errors import ToolkitError

TEXT = """
[experiment]
name = "e"
operation = "ctas"
source = "small"
table = "made"
[factors]
degree = [1]
[[factor]]
name = "way"
levels = ["a"]
read_sql = "SELECT 1 AS x"
"""
APPLY, UNDO = "ALTER SYSTEM SET x = {level}", "ALTER SYSTEM SET x = {before}"
TARGETS = ("duckdb:///x.duckdb", "postgresql://u@localhost/x", "oracle://u@localhost/x")


def approved(target: str, apply: str, undo: str) -> str:
    text = f"{TEXT}apply_sql = '''{apply}'''\nundo_sql = '''{undo}'''\n"
    experiment = parse_experiment(text, target=target)
    return subject_of_experiment(Path("e.toml"), experiment, find_target(target)).name


@for_each("target", TARGETS)
@for_each(
    ("apply", "undo"),
    [
        ("SET search_path = {level}", "RESET search_path"),
        ("alter session set current_schema = {level}", "ALTER SESSION SET CURRENT_SCHEMA = {before}"),
        ("/* a */ SET ROLE {level}", UNDO),
        ("-- a\nuse {level}", UNDO),
        ("pragma search_path = '{level}'", UNDO),
        ("DISCARD {level}", UNDO),
        ("{level} search_path = evil", UNDO),
        ("S{level} search_path = evil", UNDO),
        ("ALTER {level} SET CURRENT_SCHEMA = evil", UNDO),
        ("ALTER SES{level} SET CURRENT_SCHEMA = evil", UNDO),
        (APPLY, "SET search_path = evil"),
        (APPLY, "{before} search_path = evil"),
    ],
)
def test_a_statement_on_a_session_is_refused(target: str, apply: str, undo: str) -> None:
    with pytest.raises(ToolkitError, match="where factor `way` ran its own statement") as refused:
        approved(target, apply, undo)
    assert refused.value.code == "TK-0313" and "[factors.setting]" in (refused.value.hint or "")


@pytest.mark.parametrize("target", TARGETS)
def test_a_statement_on_the_server_is_approved(target: str) -> None:
    assert approved(target, APPLY, UNDO) == "e"
