"""What is given several times: every value of a repeatable option counts, a second one of any other is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from tests.cli.conftest import Dbatk
from tests.for_each import for_each
from toolkit.cli.main import build_app
from toolkit.cli.parameters import Arguments


def options(
    command: object, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], TyperCommand, TyperOption]]:
    """Yield each option of each command that takes a value, with the words of the command."""
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            yield from options(inner, (*path, name))
    elif isinstance(command, TyperCommand):
        for one in command.params:
            if isinstance(one, TyperOption) and not one.is_flag and one.name != "help":
                yield path, command, one


ALL = list(options(typer.main.get_command(build_app())))
REPEATABLE = [(" ".join(path), one.opts[-1]) for path, _, one in ALL if one.multiple]


def parsed(path: str, flag: str) -> object:
    """Return what a command gets of an option that was given twice."""
    command, one = next((made, o) for words, made, o in ALL if " ".join(words) == path and flag in o.opts)
    needed = [
        word for each in command.params if each.param_type_name == "argument" for word in ["x"] * each.required
    ]
    with command.make_context(path, [*needed, flag, "one", flag, "two"]) as context:
        return context.params[one.name or ""]


@for_each(("path", "flag"), REPEATABLE)
def test_every_value_of_a_repeatable_option_counts(path: str, flag: str) -> None:
    assert list(parsed(path, flag)) == ["one", "two"]  # type: ignore[call-overload]


def test_no_command_looks_at_one_value_of_a_repeatable_option_only() -> None:
    several = Arguments({"guard": ["max_load=0.9", "max_lag=30s"], "writes": []})
    assert several.texts("guard") == ["max_load=0.9", "max_lag=30s"]
    assert ("guard" in several, "writes" in several) == (True, False)
    with pytest.raises(AssertionError):
        several.text("guard")


def test_production_targets_and_guards_are_repeatable_wherever_they_are_options() -> None:
    names = {one.opts[-1] for _, _, one in ALL if one.multiple}
    assert {"--allow-production", "--guard", "--writes", "--load-credential", "--sql"} <= names
    assert all(one.multiple for _, _, one in ALL if one.opts[-1] in names)


@pytest.mark.parametrize(
    "line",
    [
        ("ctas", "-t", "duckdb:///small.duckdb", "--source", "small", "--table", "a", "--table", "b"),
        ("ctas", "-t", "a", "--target", "b", "--source", "small", "--table", "a"),
        ("ctas", "-t", "a", "--source", "small", "--table", "a", "--degree", "1", "--degree", "2"),
        ("compare", "a", "b", "--fail-if", "elapsed_seconds > 5%", "--fail-if", "cpu_seconds > 5%"),
    ],
)
def test_a_second_value_is_not_dropped_in_silence(dbatk: Dbatk, url: str, line: tuple[str, ...]) -> None:
    assert url
    answer = dbatk(*line)
    assert (answer.status, "was given 2 times" in answer.err) == (2, True), answer.err
