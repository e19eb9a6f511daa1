"""Experiment files: TOML in, an experiment out, and back.

```toml
[experiment]
target = "dwh"
operation = "ctas"
source = "GLENNF.GTEST"
table = "GLENNF.GTEST_COPY"
[factors]
degree = [1, 2, 4]
```
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from toolkit.design.build import build_experiment
from toolkit.design.head import HeadReader, read_operation
from toolkit.documents import TomlDocument, check_no_secret, did_you_mean, parse_document, read_document
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, OptionValue, queries_of
from toolkit.model.operations import declaration, options_of
from toolkit.model.options import OptionKind
from toolkit.model.values import CommandFactor, Factor, Level
from toolkit.model.words import Keep, Mode

_TABLES = ("experiment", "factors", "factor")
_OF_JOBS = ("mix", "job")
"""Tables of an operation that takes jobs."""
_BEGIN = "start with `[experiment]`, or with `[plan]` for a maintenance plan"
_KEYS = ("name", "levels", "unit", "read", "apply", "undo", "read_sql", "apply_sql", "undo_sql")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}", re.ASCII)
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_ALLOWED = ("level", "before")
_PARTS = ("read", "apply", "undo")
_WAYS = {*_PARTS, *(f"{part}_sql" for part in _PARTS)}


def load_experiment(path: Path, *, target: str | None = None) -> Experiment:
    """Read an experiment file.

    Args:
        path: the TOML file; `query_file` in it is relative to its folder.
        target: used instead of the file's.

    Raises:
        ToolkitError: TK-0101, TK-0102, TK-0103, TK-0105, TK-0106, TK-0107 or TK-0108, with file and line.
    """
    return _experiment(read_document(path), path.parent, target)


def parse_experiment(text: str, *, name: str = "experiment.toml", target: str | None = None) -> Experiment:
    """Read the text of an experiment file; `query_file` is relative to the working folder."""
    return _experiment(parse_document(text, name), Path(), target)


def _experiment(document: TomlDocument, folder: Path, target: str | None) -> Experiment:
    check_no_secret(document)
    head = _table(document, "experiment")
    if head is None:
        document.refuse_other_tables(_TABLES)
        raise document.error("the table `[experiment]` is missing", table="", hint=_BEGIN)
    operation = read_operation(document, head)
    declared = declaration(operation)
    jobs = next((one for one in declared.options if one.kind is OptionKind.JOBS), None)
    document.refuse_other_tables(_TABLES if jobs is None else (*_TABLES, *_OF_JOBS))
    reader = HeadReader(document, operation, folder)
    reader.read_head(head)
    if jobs is not None and jobs.name not in reader.options:
        from toolkit.design.mix import mix_in  # which reads experiments itself

        reader.options[jobs.name] = mix_in(document, folder)
    reader.read_factors(_table(document, "factors") or {})
    general = replace(reader.general, target=target or reader.general.target or declared.default_target)
    if not general.target:
        raise document.error("no target was given", table="experiment", code="TK-0107", hint="add `target = ...`")
    tables = document.data.get("factor", [])
    given = enumerate(tables if isinstance(tables, list) else [0])
    extra = [*reader.free, *(read_factor(document, one, at, free=declared.free_factors) for at, one in given)]
    try:
        return build_experiment(operation, reader.options, reader.levels, general, extra)
    except ToolkitError as error:
        raise document.error(error.message, table="experiment", code=error.code, hint=error.hint) from None


def _table(document: TomlDocument, name: str) -> Mapping[str, object] | None:
    value = document.data.get(name)
    if value is not None and not isinstance(value, Mapping):
        raise document.error(f"`{name}` must be a table", table="", key=name, hint=f"write `[{name}]`")
    return value


# -- factors outside the operation ----------------------------------------------------------------------------
def read_factor(document: TomlDocument, data: object, number: int, *, free: bool = False) -> Factor:
    """Read one `[[factor]]` of a file.

    Args:
        document: for the line of an error.
        data: the table.
        number: which `[[factor]]` it is, from 0.
        free: whether it may be one that stands as a placeholder in options, and nothing applies it.

    Raises:
        ToolkitError: TK-0106 with file and line.
    """

    def fail(sentence: str, key: str | None = None, hint: str | None = None) -> ToolkitError:
        return document.error(sentence, table="factor", key=key, number=number, hint=hint)

    if not isinstance(data, Mapping):
        raise document.error(
            "`factor` must be a list of tables", table="", key="factor", hint="write `[[factor]]`"
        )
    for key in data:
        if key not in _KEYS:
            raise fail(f"a factor has no `{key}`", key, did_you_mean(key, _KEYS))
    try:
        return Factor(
            name=_name(data.get("name")),
            levels=_levels(data.get("levels")),
            unit=_unit(data.get("unit")),
            command=None if free and not {*data} & _WAYS else _command(data),
        )
    except _PartError as error:
        raise fail(error.sentence, error.key if error.key in data else None, error.hint) from None


class _PartError(Exception):
    def __init__(self, key: str, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.key, self.sentence, self.hint = key, sentence, hint


def _name(value: object) -> str:
    if not isinstance(value, str) or _NAME.fullmatch(value) is None:
        raise _PartError("name", "a factor needs a `name`", "use letters, digits, `_`, `.` and `-`")
    return value


def _unit(value: object) -> str | None:
    if value is not None and (not isinstance(value, str) or not value.isprintable() or len(value) > 40):
        raise _PartError("unit", "`unit` must be a short string", 'write it as `unit = "MB"`')
    return value


def _levels(value: object) -> tuple[Level, ...]:
    hint = "write `levels = [256, 1024]`"
    if not isinstance(value, list) or not value:
        raise _PartError("levels", "a factor needs a list of `levels`", hint)
    levels: list[Level] = []
    for level in value:
        if not isinstance(level, str | int | float | bool) or (isinstance(level, str) and not level.isprintable()):
            raise _PartError("levels", "a level must be a number, a string, true or false", hint)
        # 1 and true are equal in Python, but not to the one who wrote them
        if any(level == other and type(level) is type(other) for other in levels):
            raise _PartError("levels", f"`levels` has `{level}` twice", "give each once")
        levels.append(level)
    return tuple(levels)


def _command(data: Mapping[str, object]) -> CommandFactor:
    for part in _PARTS:
        if part in data and f"{part}_sql" in data:
            raise _PartError(part, f"`{part}` and `{part}_sql` are mutually exclusive", "use only one of them")
        if part not in data and f"{part}_sql" not in data:
            raise _PartError(
                part,
                f"a factor needs `{part}` or `{part}_sql`",
                "define how it is read, applied and undone, so that it can be restored",
            )
    commands = {part: _arguments(part, data[part]) for part in _PARTS if part in data}
    statements = {key: _statement(key, data[key]) for key in map("{}_sql".format, _PARTS) if key in data}
    if not any("{level}" in text for text in (*commands.get("apply", ()), statements.get("apply_sql", ""))):
        raise _PartError("apply", "`apply` does not use `{level}`", "put `{level}` where the level goes")
    return CommandFactor(
        read=commands.get("read", ()),
        apply=commands.get("apply", ()),
        undo=commands.get("undo", ()),
        read_sql=statements.get("read_sql", ""),
        apply_sql=statements.get("apply_sql", ""),
        undo_sql=statements.get("undo_sql", ""),
    )


def _arguments(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(part, str) and part for part in value):
        raise _PartError(
            key,
            f"`{key}` must be a list of arguments",
            f'write `{key} = ["command", "argument"]`; no shell reads it',
        )
    arguments = tuple(str(part) for part in value)
    for argument in arguments:
        _check_text(key, argument)
    return arguments


def _statement(key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _PartError(key, f"`{key}` must be a statement", f'write `{key} = "SHOW work_mem"`')
    _check_text(key, value)
    return value.strip().removesuffix(";").rstrip()


def _check_text(key: str, text: str) -> None:
    if "\x00" in text:
        raise _PartError(key, f"`{key}` contains a NUL character", "remove it")
    allowed = ("level",) if key.startswith("apply") else _ALLOWED
    for match in _PLACEHOLDER.finditer(text):
        if match[1] not in allowed or key.startswith("read"):
            raise _PartError(
                key,
                f"`{key}` cannot use `{match[0]}`",
                "use `{level}` in `apply` and `{before}` in `undo`; there are no other placeholders",
            )


# -- writing: the twin of every command line ------------------------------------------------------------------
def dump_experiment(experiment: Experiment) -> str:
    """Return the file that gives this experiment again; the seed stands in it."""
    known = {one.name: one.key for one in options_of(experiment.operation)}
    lines = ["[experiment]"]
    lines += [_line(key, value) for key, value in _general_items(experiment)]
    if experiment.present:
        pairs = (f"{_key(name)} = {_spell(level)}" for name, level in experiment.present.items())
        lines += [f"present = {{{', '.join(pairs)}}}"]
    lines += [_option_line(known[name], name, value) for name, value in experiment.options.items()]
    plain = [factor for factor in experiment.factors if factor.own and factor.name != "query"]
    if plain:
        named = ((known.get(factor.name, factor.name), factor.levels) for factor in plain)
        lines += ["", "[factors]", *(_line(key, levels) for key, levels in named)]
    settings = [factor for factor in experiment.factors if factor.setting]
    if settings:
        lines += ["", "[factors.setting]", *(_line(_key(factor.name), factor.levels) for factor in settings)]
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
        ("repeat", experiment.repeat if measured and experiment.detect_pct is None else None),
        ("detect", None if experiment.detect_pct is None else f"{experiment.detect_pct:g}%"),
        ("search", experiment.search or None),
        ("warmup", experiment.warmup if measured else None),
        ("seed", experiment.seed),
        ("snapshot", experiment.snapshot),
        ("keep", experiment.keep.value if experiment.keep is not Keep.NONE else None),
        ("work_schema", experiment.work_schema),
        ("budget", _spell_duration(experiment.budget_seconds)),
        ("time_limit", _spell_duration(experiment.time_limit_seconds)),
        ("quiet_wait", _spell_duration(experiment.quiet_wait_seconds)),
        ("guards", experiment.guards or None),
        ("judge", experiment.judge or None),
        ("volume", experiment.volume or None),
        ("verifies", experiment.verifies or None),
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


def _option_line(key: str, name: str, value: OptionValue) -> str:
    queries = queries_of({name: value})
    if len(queries) < 2:
        return _line(key, value)
    return "\n".join(f'{key}."{each}" = {_spell(text)}' for each, text in queries.items())


def _key(name: str) -> str:
    return f'"{name}"' if "." in name else name


def _spell(value: Level) -> str:
    import tomli_w

    return tomli_w.dumps({"x": value}, multiline_strings=True).removeprefix("x = ").removesuffix("\n")
