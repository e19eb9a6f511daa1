"""Writes an experiment as a file that gives it again: the twin of every command line."""

from __future__ import annotations

from decimal import Decimal

from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.operations import options_of
from toolkit.model.values import CommandFactor, Factor, Level
from toolkit.model.words import Keep, Mode


def dump_experiment(experiment: Experiment) -> str:
    """Return the file that gives this experiment again; the seed stands in it."""
    known = {one.name: one.key for one in options_of(experiment.operation)}
    lines = ["[experiment]"]
    lines += [_line(key, value) for key, value in _general_items(experiment)]
    lines += [_line(known[name], value) for name, value in experiment.options.items()]
    plain = [factor for factor in experiment.factors if factor.command is None]
    if plain:
        lines += ["", "[factors]", *(_line(known[factor.name], factor.levels) for factor in plain)]
    for factor in experiment.factors:
        if factor.command is not None:
            lines += ["", "[[factor]]", *_factor_lines(factor, factor.command)]
    return "\n".join(lines) + "\n"


def _general_items(experiment: Experiment) -> list[tuple[str, OptionValue]]:
    measured = experiment.mode is Mode.MEASUREMENT
    items: list[tuple[str, OptionValue | None]] = [
        ("name", experiment.name),
        ("label", experiment.label),
        ("target", experiment.target),
        ("operation", experiment.operation),
        ("mode", experiment.mode.value),
        ("repeat", experiment.repeat if measured else None),
        ("warmup", experiment.warmup if measured else None),
        ("seed", experiment.seed),
        ("snapshot", experiment.snapshot),
        ("keep", experiment.keep.value if experiment.keep is not Keep.NONE else None),
        ("work_schema", experiment.work_schema),
        ("budget", _spell_duration(experiment.budget_seconds)),
        ("time_limit", _spell_duration(experiment.time_limit_seconds)),
        ("quiet_wait", _spell_duration(experiment.quiet_wait_seconds)),
    ]
    return [(key, value) for key, value in items if value is not None]


def _spell_duration(seconds: float | None) -> str | None:
    return None if seconds is None else f"{Decimal(repr(seconds)).normalize():f}s"


def _factor_lines(factor: Factor, command: CommandFactor) -> list[str]:
    values: list[tuple[str, OptionValue | tuple[Level, ...] | None]] = [
        ("name", factor.name),
        ("unit", factor.unit),
        ("levels", factor.levels),
        ("read", command.read),
        ("apply", command.apply),
        ("undo", command.undo),
        ("read_sql", command.read_sql),
        ("apply_sql", command.apply_sql),
        ("undo_sql", command.undo_sql),
    ]
    return [_line(key, value) for key, value in values if value not in (None, "", ())]


def _line(key: str, value: OptionValue | tuple[Level, ...]) -> str:
    if isinstance(value, tuple):
        return f"{key} = [{', '.join(map(_spell, value))}]"
    return f"{key} = {_spell(value)}"


def _spell(value: Level) -> str:
    import tomli_w

    return tomli_w.dumps({"x": value}, multiline_strings=True).removeprefix("x = ").removesuffix("\n")
