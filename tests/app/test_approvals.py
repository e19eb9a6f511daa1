"""Whoever did not say that a target is not production is asked, or refused."""

from __future__ import annotations

from itertools import product

import pytest

from tests.for_each import for_each
from tests.store.make import experiment
from toolkit.app.approvals import Approvals, TargetPolicy, check_experiment, check_production
from toolkit.errors import ToolkitError
from toolkit.model.values import CommandFactor, Factor
from toolkit.model.words import EngineName, Mode

NAMES = frozenset({"dwh", "ORCL"})


def allowed(engine: EngineName, production: bool | None, approvals: Approvals) -> bool:
    try:
        check_production(engine, TargetPolicy(production, "dwh"), approvals, NAMES)
    except ToolkitError as error:
        assert error.code == "TK-0301"
        return False
    return True


@for_each("engine", ["oracle", "postgresql"])
@for_each(
    ("production", "not_production", "named", "answer"),
    list(product([True, False, None], [True, False], [None, "DWH", "orcl", "other"], [None, True, False])),
)
def test_the_guard_of_production_lets_through_only_what_was_said(
    engine: EngineName, production: bool | None, not_production: bool, named: str | None, answer: bool | None
) -> None:
    ask = None if answer is None else (lambda _: bool(answer))
    approvals = Approvals(not_production, ("else", named) if named else (), ask=ask)
    confirmed = named in {"DWH", "orcl"}
    said_so = production is None and not_production
    assert allowed(engine, production, approvals) == (
        production is False or confirmed or said_so or answer is True
    )


@pytest.mark.parametrize("production", [False, None])
def test_of_duckdb_nothing_is_feared(production: bool | None) -> None:
    def ask(_: str) -> bool:
        raise AssertionError("asked")

    assert allowed("duckdb", production, Approvals(ask=ask))


@pytest.mark.parametrize(("named", "passes"), [(None, False), ("other", False), ("dwh", True)])
def test_a_duckdb_whose_profile_says_production_is_production(named: str | None, passes: bool) -> None:
    assert allowed("duckdb", True, Approvals(True, (named,) if named else ())) is passes


def test_the_question_says_whether_production_is_known_or_feared() -> None:
    asked: list[str] = []

    def ask(question: str) -> bool:
        asked.append(question)
        return True

    assert allowed("oracle", True, Approvals(ask=ask))
    assert allowed("oracle", None, Approvals(ask=ask))
    assert asked == [
        "`dwh` (database `ORCL`) is a production database. Run this on it?",
        "`dwh` (database `ORCL`) may be a production database. Run this on it?",
    ]  # fmt: skip


def test_the_question_names_the_profile_that_says_it() -> None:
    asked: list[str] = []
    policy = TargetPolicy(True, "dev", by={"production": "shop"})
    check_production("oracle", policy, Approvals(ask=lambda question: not asked.append(question)), NAMES)
    assert asked == ["`dev` (database `ORCL`) is a production database, says profile `shop`. Run this on it?"]


def test_a_refusal_of_a_target_without_a_profile_names_the_database() -> None:
    with pytest.raises(ToolkitError, match="`ORCL` is production") as caught:
        check_production("oracle", TargetPolicy(None), Approvals(), frozenset({"ORCL"}))
    assert "--allow-production ORCL, or set" in str(caught.value.hint)


def test_saying_that_it_is_not_production_does_not_overrule_its_profile() -> None:
    with pytest.raises(ToolkitError, match="is a production database") as caught:
        check_production("oracle", TargetPolicy(True, "dwh"), Approvals(not_production=True), NAMES)
    assert caught.value.hint == "use --allow-production dwh if that is intended"


def test_a_factor_that_runs_commands_needs_leave() -> None:
    how = CommandFactor(read=("a",), apply=("a", "{level}"), undo=("a", "{before}"))
    written = experiment(factors=(Factor("io", (1,), command=how),))
    with pytest.raises(ToolkitError, match="runs commands") as caught:
        check_experiment(written, TargetPolicy(), Approvals())
    assert caught.value.code == "TK-0309"
    check_experiment(written, TargetPolicy(), Approvals(allow_commands=True))


@pytest.mark.parametrize(("levels", "refused"), [((1, 8), False), ((1, 9), True), (("auto", 4), False)])
def test_a_profile_bounds_the_degree(levels: tuple[int | str, ...], refused: bool) -> None:
    written = experiment(factors=(Factor("degree", levels),))
    try:
        check_experiment(written, TargetPolicy(max_degree=8), Approvals())
    except ToolkitError as error:
        assert refused
        assert error.code == "TK-0304"
    else:
        assert not refused


@for_each(
    ("production", "approvals", "may"),
    [
        (False, Approvals(), True),
        (None, Approvals(not_production=True), True),
        (None, Approvals(approved_for=("dwh",)), False),
        (None, Approvals(approved_for=("dwh",), not_production=True), True),
        (False, Approvals(approved_for=("dwh",)), True),
        (None, Approvals(yes_production=("dwh",)), False),
        (True, Approvals(approved_for=("dwh",)), False),
    ],
)
def test_live_statistics_are_measured_only_where_it_is_known_not_to_be_production(
    production: bool | None, approvals: Approvals, may: bool
) -> None:
    options = {"table": "t", "on_live_objects": True}
    live = experiment(operation="stats-gather", options=options, factors=(), mode=Mode.MEASUREMENT)
    try:
        check_experiment(live, TargetPolicy(production, "dwh"), approvals)
    except ToolkitError as error:
        assert not may and "live statistics" in error.message
    else:
        assert may
