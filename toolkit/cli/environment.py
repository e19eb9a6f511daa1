"""`environment`: what is set where, on one target, or what differs between several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from toolkit.cli.awr import MASK, pseudonyms
from toolkit.cli.output import out, out_json, out_table, say
from toolkit.cli.parameters import (
    OUTPUT,
    TARGET,
    Arguments,
    DefaultGroup,
    add_command,
    argument,
    new_group,
    option,
)
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolkit.model.environment import Environment, EnvironmentValue

_SIDES = argument(
    "sides", "two or more targets (NAME or URL), runs, or files written by `show --json`", kind=list[str]
)


class _EnvironmentGroup(DefaultGroup):
    """Takes `environment -t T` for `environment show -t T`."""

    default = "show"


def add_environment(app: typer.Typer) -> None:
    """Add the group and its commands."""
    group = new_group(
        "Show how a target and its host are set, and what differs between targets, runs or files.\n\n"
        "`environment -t T` is short for `environment show -t T`.",
        _EnvironmentGroup,
    )
    everything = option(
        "all", "show every value, not only what was changed from its default and the host", kind=bool
    )
    show = [TARGET, everything, *MASK, *OUTPUT]
    add_command(group, "show", _show, show, "Show the settings changed from their default, and the host.")
    add_command(group, "diff", _diff, [_SIDES, *MASK, *OUTPUT], "Show which settings differ, one in each line.")
    app.add_typer(group, name="environment")


def _masking(arguments: Arguments) -> Callable[[Environment], Environment]:
    """Return what takes names out of an environment, where that is asked for."""
    from toolkit.app.environments import masked

    names = pseudonyms(arguments)
    return (lambda found: found) if names is None else (lambda found: masked(found, names.name))


def _show(arguments: Arguments) -> int:
    from toolkit.app.environments import environment_at
    from toolkit.cli.launch import reach
    from toolkit.model.environment import environment_document

    mask = _masking(arguments)
    resolved = reach(arguments.text("target"))
    try:
        found = mask(environment_at(resolved))
    finally:
        resolved.target.close()
    if arguments.flag("json"):
        out_json(environment_document(found))
        return ExitCode.DONE
    shown = list(found.values if arguments.flag("all") else _telling(found))
    out_table(("what", "value", "default", "set by"), (_row(value) for value in shown))
    left = len(found.values) - len(shown)
    if left:
        say(f"note: {left} more values are as they come: `--all` shows them")
    for sentence in found.warnings:
        say(f"warning: {sentence}")
    return ExitCode.DONE


def _telling(found: Environment) -> Iterator[EnvironmentValue]:
    """Yield what was changed from its default first, then the host without the kernel's many settings."""
    yield from found.changed
    plain = ("setting.", "sysctl.", "limit.", "cgroup.")
    yield from (value for value in found.values if not value.changed and not value.name.startswith(plain))


def _row(value: EnvironmentValue) -> tuple[str, ...]:
    from toolkit.report.labels import surrounding
    from toolkit.report.tables import scalar

    default = "" if value.default is None else scalar(value.name, _with_unit(value.default, value.unit))
    shown = scalar(value.name, _with_unit(value.value, value.unit))
    return surrounding(value.name), shown, default, value.origin or ""


def _with_unit(value: object, unit: str) -> str | int | float | bool | None:
    if unit and value is not None:
        return f"{value} {unit}"
    return value if isinstance(value, str | int | float | bool) else None


def _diff(arguments: Arguments) -> int:
    from toolkit.app.environments import environment_named
    from toolkit.cli.launch import reach
    from toolkit.model.environment import differences
    from toolkit.report.labels import surrounding
    from toolkit.report.tables import scalar
    from toolkit.store import open_store

    names = arguments.texts("sides")
    if len(names) < 2 or len(set(names)) < len(names):
        raise ToolkitError(
            "a difference needs two sides or more, each named once",
            code="TK-0107",
            hint="such as `dbatk environment diff test production`; `dbatk environment -t T` shows one",
        )
    mask = _masking(arguments)
    with open_store(arguments.text("store"), at_once=False) as store:
        sides = [mask(environment_named(name, store, reach)) for name in names]
    found = differences(sides)
    warnings = dict.fromkeys(
        f"{name}: {each}" for name, side in zip(names, sides, strict=True) for each in side.warnings
    )
    if arguments.flag("json"):
        document = {
            "sides": names,
            "differences": [
                {"name": one.name, "values": [None if each is None else each.value for each in one.sides]}
                for one in found
            ],
            "warnings": list(warnings),
        }
        out_json(document)
        return ExitCode.DONE
    rows = (
        (
            surrounding(one.name),
            *("-" if each is None else scalar(one.name, _with_unit(each.value, each.unit)) for each in one.sides),
        )
        for one in found
    )
    if found:
        out_table(("what", *names), rows)
    else:
        out(f"nothing differs between {' and '.join(names)}")
    for sentence in warnings:
        say(f"warning: {sentence}")
    return ExitCode.DONE
