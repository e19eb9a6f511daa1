"""The commands of the operations, made from the declarations in `toolkit.design.options`."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING

import typer

from toolkit.cli.parameters import (
    APPROVALS,
    DESIGN,
    OUTPUT,
    QUIET,
    SCRIPT,
    TARGET,
    Body,
    Said,
    add_command,
    option,
)
from toolkit.design.options import Kind, Option, options_of
from toolkit.errors import ToolkitError
from toolkit.model.words import EngineName, OperationName

if TYPE_CHECKING:
    from toolkit.design.build import General
    from toolkit.model.experiment import Experiment, OptionValue
    from toolkit.model.values import Level
    from toolkit.model.words import Keep

HELP = {
    OperationName.CTAS: "Create a table as select, once or as a measurement.",
    OperationName.INSERT: "Insert as select, once or as a measurement.",
    OperationName.INDEX_BUILD: "Build an index, once or as a measurement.",
    OperationName.INDEX_REBUILD: "Rebuild an index, or all of a table or schema.",
    OperationName.STATS_GATHER: "Gather statistics of schemas or a table.",
    OperationName.BACKUP: "Back the database up, once or as a measurement.",
}
_METAVARS = {
    Kind.NAME: "NAME",
    Kind.NAMES: "A,B",
    Kind.QUERY: "FILE|-",
    Kind.PREDICATE: "CONDITION",
    Kind.INTEGER: "N",
    Kind.NUMBER: "N",
    Kind.DEGREE: "1,2,4",
    Kind.SIZE: "32G",
    Kind.DURATION: "4h",
    Kind.PATHS: "FOLDER",
}
_NOLOGGING = option("nologging", "short for --logging nologging", kind=bool)


def add_operations(app: typer.Typer, index: typer.Typer, stats: typer.Typer, backup: typer.Typer) -> None:
    """Add the operations: two at the top, the others in the groups `index`, `stats` and `backup`."""
    places = {
        OperationName.CTAS: (app, "ctas"),
        OperationName.INSERT: (app, "insert"),
        OperationName.INDEX_BUILD: (index, "build"),
        OperationName.INDEX_REBUILD: (index, "rebuild"),
        OperationName.STATS_GATHER: (stats, "gather"),
        OperationName.BACKUP: (backup, "run"),
    }
    for operation, (group, name) in places.items():
        add_command(group, name, _body(operation), parameters_of(operation), HELP[operation])


def parameters_of(operation: OperationName) -> list[inspect.Parameter]:
    """Return all parameters of an operation's command."""
    own = [_parameter(one) for one in options_of(operation)]
    if any(one.name == "logging" for one in options_of(operation)):
        own.append(_NOLOGGING)
    return [TARGET, *own, *DESIGN, *SCRIPT, *APPROVALS, QUIET, *OUTPUT]


def _parameter(one: Option) -> inspect.Parameter:
    if one.kind is Kind.FLAG:
        return option(one.name, _help(one), one.flag, kind=bool)
    metavar = "|".join(one.choices) if 0 < len(one.choices) <= 3 else _METAVARS.get(one.kind, "TEXT")
    return option(one.name, _help(one), one.flag, metavar=metavar)


def _help(one: Option) -> str:
    notes = []
    if len(one.choices) > 3:
        notes.append(", ".join(one.choices))
    if one.words:
        notes.append("or " + ", ".join(one.words))
    if one.factor and one.kind is not Kind.DEGREE:
        notes.append("several: sweep")
    if one.engines != frozenset(EngineName):
        notes.append("on " + ", ".join(sorted(one.engines)))
    return one.help + (f" ({'; '.join(notes)})" if notes else "")


def _body(operation: OperationName) -> Body:
    def body(said: Said) -> int:
        from toolkit.cli.launch import launch

        return launch(experiment_of(operation, said), said)

    return body


def experiment_of(operation: OperationName, said: Said) -> Experiment:
    """Build the experiment a command line asks for.

    Raises:
        ToolkitError: as `build_experiment` and the parsers of values.
    """
    from toolkit.design.build import build_experiment
    from toolkit.design.levels import parse_levels

    options: dict[str, OptionValue] = {}
    levels: dict[str, tuple[Level, ...]] = {}
    for one in options_of(operation):
        text = said.text(one.name)
        if one.kind is Kind.FLAG:
            if said.flag(one.name) and one.factor:
                levels[one.name] = (True,)
            elif said.flag(one.name):
                options[one.name] = True
        elif text is not None and one.factor:
            levels[one.name] = parse_levels(one, text)
        elif text is not None:
            options[one.name] = _value(one, text)
    if said.flag("nologging"):
        if "logging" in levels:
            raise ToolkitError(
                "`--logging` and `--nologging` exclude each other", code="TK-0107", hint="leave one out"
            )
        levels["logging"] = ("nologging",)
    return build_experiment(operation, options, levels, _general(said))


def _value(one: Option, text: str) -> OptionValue:
    from toolkit.design.values import parse_value

    if one.kind is Kind.QUERY:
        from toolkit.cli.launch import read_text

        return parse_value(one, read_text(text))
    if one.kind is Kind.PREDICATE and (text == "-" or text.startswith("@")):
        from toolkit.cli.launch import read_text

        return parse_value(one, read_text(text.removeprefix("@")))
    value = parse_value(one, text)
    return tuple(map(_full, value)) if one.kind is Kind.PATHS and isinstance(value, tuple) else value


def _full(path: str) -> str:
    """Return the full path of a folder as typed; a disk group of Oracle's (`+DATA`) is none."""
    return path if path.startswith("+") else os.path.abspath(path)  # noqa: PTH100 (`..` is no link's here)


def _general(said: Said) -> General:
    from toolkit.design.build import General
    from toolkit.model.words import Keep

    return General(
        target=_target(said),
        label=said.text("label"),
        repeat=said.number("repeat"),
        warmup=said.number("warmup"),
        seed=said.number("seed"),
        snapshot=said.text("snapshot") or "auto",
        keep=_keep(said.text("keep")) or Keep.NONE,
        work_schema=said.text("work_schema"),
        budget_seconds=_duration(said, "budget"),
        time_limit_seconds=_duration(said, "time_limit"),
        quiet_wait_seconds=_duration(said, "quiet_wait"),
    )


def _target(said: Said) -> str:
    """Return the target; a script for an assumed Oracle release needs none, its editions are Oracle's alone."""
    from toolkit.cli.launch import named_target

    text = said.text("target")
    assumed = said.text("assume") or ""
    if text is None and assumed.endswith(("-ee", "-se2", "-xe", "-free")):
        return "oracle://assumed"
    return named_target(text)


def _keep(text: str | None) -> Keep | None:
    from toolkit.documents import did_you_mean
    from toolkit.model.words import Keep

    if text is None:
        return None
    known = [one.value for one in Keep]
    if text not in known:
        raise ToolkitError(f"`--keep` cannot be `{text}`", code="TK-0102", hint=did_you_mean(text, known))
    return Keep(text)


def _duration(said: Said, name: str) -> float | None:
    from toolkit.units import parse_duration

    text = said.text(name)
    return None if text is None else parse_duration(text)
