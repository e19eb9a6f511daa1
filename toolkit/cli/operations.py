"""The commands of the operations, made from what each declares."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from toolkit.cli.completing import OTHER_ENGINES, engine_of
from toolkit.cli.help import Parameter
from toolkit.cli.parameters import (
    APPROVALS,
    DESIGN,
    OUTPUT,
    QUIET,
    SCRIPT,
    Arguments,
    Body,
    add_command,
    argument,
    new_group,
    option,
    target_option,
)
from toolkit.errors import ToolkitError
from toolkit.model.operations import OperationDeclaration, declaration, operations, options_of
from toolkit.model.options import Option, OptionKind, Topic

if TYPE_CHECKING:
    from toolkit.design.build import General
    from toolkit.model.experiment import Experiment, OptionValue
    from toolkit.model.operations import OperationDeclaration
    from toolkit.model.values import Level
    from toolkit.model.words import EngineName, Keep, OperationName

_METAVARS = {
    OptionKind.NAME: "NAME",
    OptionKind.NAMES: "A,B",
    OptionKind.QUERY: "FILE|-",
    OptionKind.TRANSACTIONS: "FILE",
    OptionKind.PREDICATE: "CONDITION",
    OptionKind.INTEGER: "N",
    OptionKind.NUMBER: "N",
    OptionKind.DEGREE: "1,2,4",
    OptionKind.SIZE: "32G",
    OptionKind.DURATION: "4h",
    OptionKind.PATHS: "FOLDER",
    OptionKind.PATH: "PATH",
    OptionKind.COMMANDS: "'PROGRAM ARGUMENTS'",
    OptionKind.TEXTS: "TEXT",
    OptionKind.ASSIGNMENTS: "'COLUMN = EXPRESSION'",
    OptionKind.EXPRESSIONS: "EXPRESSION",
}
_SEVERAL = frozenset(
    {OptionKind.ARGUMENTS, OptionKind.COMMANDS, OptionKind.TEXTS, OptionKind.FILES, OptionKind.ASSIGNMENTS,
     OptionKind.EXPRESSIONS}
)  # fmt: skip
_TARGET = target_option(
    "profile name or URL of the database (required; not with --assume for oracle); several as A,B: in turns"
)
_OF_THE_LINE = frozenset({"TK-0102", "TK-0103", "TK-0107"})
"""Errors of a command line that was not looked at together with the target yet."""
_COMMON_TO_ALL = ("target", "repeat", "label", "dry_run", "not_production", "yes_production")
_FACTOR = option(
    "factor", "what is varied, and stands as {NAME} among the arguments: threads=1,2,4 or 1..32x2 (several)",
    kind=list[str], metavar="NAME=LEVELS", topic=Topic.FACTORS,
)  # fmt: skip
_SETTING = option(
    "setting", "a setting of the database: work_mem=4MB,64MB (several); set, verified and restored",
    kind=list[str], metavar="NAME=LEVELS", topic=Topic.FACTORS,
)  # fmt: skip


def add_operations(app: typer.Typer, groups: dict[str, typer.Typer]) -> None:
    """Add every operation where it declares its command line to be, and the groups that are needed for it."""
    every = operations().values()
    titles = {one.command[0]: one.group for one in every if one.group}
    for one in every:
        *above, name = one.command
        group = app
        for word in above:
            if word not in groups:
                groups[word] = new_group(titles.get(word) or one.help)
                app.add_typer(groups[word], name=word)
            group = groups[word]
        add_command(group, name, _body(one.name), parameters_of(one.name), one.help, one.examples, _common(one))


def _common(one: OperationDeclaration) -> set[str]:
    """Return what the usual job or measurement needs, which help shows on its first screen."""
    needed = {name for names in one.required for name in names}
    return {*needed, one.degree, *one.common, *_COMMON_TO_ALL, *(("factor",) if one.free_factors else ())}


def parameters_of(operation: OperationName) -> list[Parameter]:
    """Return all parameters of an operation's command."""
    declared = declaration(operation)
    needed = {
        name: "required" if len(names) == 1 else f"required: {' or '.join(map(_flag, names))}"
        for names in declared.required
        for name in names
    }
    own = [_parameter(one, needed.get(one.name)) for one in declared.options]
    own.sort(key=lambda one: one.name not in needed)
    if declared.free_factors:
        own.append(_FACTOR)
    elif any(one.factor and one.kind is OptionKind.FLAG for one in declared.options):
        own.append(_levels_of(declared.options))
    own += [_nologging(one) for one in declared.options if one.name == "logging"]
    own.append(_SETTING)
    target = _TARGET if not declared.default_target else _target_or(declared.default_target)
    return [target, *own, *DESIGN, *SCRIPT, *APPROVALS, QUIET, *OUTPUT]


def _target_or(default: str) -> Parameter:
    return target_option(f"where: profile name or URL (default {default}, without a database)")


def _levels_of(options: Sequence[Option]) -> Parameter:
    flags = [one for one in options if one.factor and one.kind is OptionKind.FLAG]
    names = {engine for one in options for engine in (*one.engines, *one.choices_on)}

    def shown(of: Sequence[Option]) -> str:
        if not of:
            return "any of these by its name: degree=1,2 (several)"
        return f"any of these by its name, and so both values of a flag: {of[0].key}=no,yes (several)"

    return option(
        "factor", shown(flags), kind=list[str], metavar="NAME=LEVELS", topic=Topic.FACTORS,
        on={engine: (shown([one for one in flags if one.is_of(engine)]), ()) for engine in names},
    )  # fmt: skip


def _nologging(logging: Option) -> Parameter:
    shown = "short for --logging nologging"
    return option("nologging", shown, kind=bool, topic=Topic.FACTORS, engines=logging.engines)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _parameter(one: Option, needed: str | None) -> Parameter:
    topic = Topic.FACTORS if one.factor else one.topic
    if one.kind is OptionKind.FLAG:
        return option(one.name, _help(one, needed), one.flag, kind=bool, topic=topic, engines=one.engines)
    if one.kind is OptionKind.ARGUMENTS:
        return argument(one.name, _help(one, None), kind=list[str], metavar="PROGRAM [ARGUMENT]...")
    if one.kind is OptionKind.JOBS:
        return argument(one.name, _help(one, None), metavar="FILE")
    if one.kind is OptionKind.FILES:
        return argument(one.name, _help(one, None), kind=list[str], metavar="FILE...")
    if one.kind in _SEVERAL:
        shown = _METAVARS.get(one.kind)
        return option(one.name, _help(one, needed), one.flag, kind=list[str], metavar=shown, topic=topic)
    known = dict.fromkeys((*one.choices_on, *one.notes_on))
    engines_apart = (*known, *one.words_on, OTHER_ENGINES) if one.words_on else tuple(known)
    metavar = "|".join(one.choices) if 0 < len(one.choices) <= 3 else _METAVARS.get(one.kind, "TEXT")
    return option(
        one.name, _help(one, needed), one.flag, metavar=metavar, topic=topic, engines=one.engines,
        choices=(*one.choices, *one.words), several=one.factor,
        on={each: (_help(one, needed, each), _offered(one, each)) for each in engines_apart},
    )  # fmt: skip


def _offered(one: Option, engine: EngineName) -> tuple[str, ...]:
    return (*one.choices_of(engine), *one.words_of(engine))


def _help(one: Option, needed: str | None, engine: EngineName | None = None) -> str:
    notes = [*([needed] if needed else ()), *one.notes_of(engine)]
    if engine is None and one.choices_on:
        notes += [f"on {each}: {', '.join(own)}" for each, own in one.choices_on.items()]
    elif len(one.choices) > 3:
        notes.append(", ".join(one.choices_of(engine)))
    if one.words_of(engine):
        where = "or " if engine is not None or not one.words_on else f"{', '.join(sorted(one.words_on))}: "
        notes.append(f"{where}{', '.join(one.words)}")
    if one.factor and one.engines and one.kind is not OptionKind.DEGREE:
        notes.append("several: sweep")
    if one.unit not in (None, "%") and one.unit not in one.help and one.kind is not OptionKind.DEGREE:
        notes.append(f"in {one.unit}")
    return one.help + (f" ({'; '.join(notes)})" if notes else "")


def _body(operation: OperationName) -> Body:
    def body(arguments: Arguments) -> int:
        from toolkit.cli.launch import launch

        try:
            experiment = experiment_of(operation, arguments)
            typed = declaration(operation).runs_programs  # who types a program on the command line wants it to run
            return launch(experiment, arguments.also("allow_commands") if typed else arguments)
        except ToolkitError as error:
            from toolkit.cli.habits import explained

            _refuse_absent(operation, arguments.text("target"), error)
            raise explained(error, operation, arguments) from error

    return body


def _refuse_absent(operation: OperationName, target: str | None, error: ToolkitError) -> None:
    """Say of an operation that the engine lacks that it does, whatever else was wrong with the line.

    Raises:
        ToolkitError: TK-0304.
    """
    engine = engine_of(target)
    if engine is None or error.code not in _OF_THE_LINE:
        return
    from toolkit.dialects.registry import dialect_of

    work = dialect_of(engine).work
    if operation not in work:
        raise work.refusal(operation) from error


def experiment_of(operation: OperationName, arguments: Arguments) -> Experiment:
    """Build the experiment a command line asks for.

    Raises:
        ToolkitError: as `build_experiment` and the parsers of values.
    """
    from toolkit.design.build import build_experiment
    from toolkit.design.levels import check_value
    from toolkit.design.programs import read_factor
    from toolkit.design.settings import read_setting
    from toolkit.design.variants import read_queries

    options: dict[str, OptionValue] = {}
    levels: dict[str, tuple[Level, ...]] = {}
    for one in options_of(operation):
        text = None if one.kind in _SEVERAL else arguments.text(one.name)
        if one.kind in _SEVERAL:
            if texts := arguments.texts(one.name):
                options[one.name] = check_value(one, texts)
        elif one.kind is OptionKind.FLAG:
            if arguments.flag(one.name) and one.factor:
                levels[one.name] = (True,)
            elif arguments.flag(one.name):
                options[one.name] = True
        elif text is not None and one.factor:
            levels[one.name] = _levels(one, text)
        elif text is not None and one.name == "query" and (files := _several_files(text)):
            queries = _queries(files)
            options[one.name], levels[one.name] = read_queries(queries), tuple(queries)
        elif text is not None:
            options[one.name] = _value(one, text)
    if arguments.flag("nologging"):
        if "logging" in levels:
            raise ToolkitError(
                "`--logging` and `--nologging` are mutually exclusive", code="TK-0107", hint="use only one of them"
            )
        levels["logging"] = ("nologging",)
    if not declaration(operation).free_factors:
        _add_levels(operation, arguments.texts("factor"), levels)
    extra = [read_factor(text) for text in arguments.texts("factor") if declaration(operation).free_factors]
    extra += [read_setting(text) for text in arguments.texts("setting")]
    return build_experiment(operation, options, levels, _general(arguments, declaration(operation)), extra)


def _levels(one: Option, text: str) -> tuple[Level, ...]:
    from toolkit.design.levels import parse_levels

    read = parse_levels(one, text)
    return tuple(_full(str(path)) for path in read) if one.kind is OptionKind.PATH else read


def _add_levels(operation: OperationName, texts: list[str], levels: dict[str, tuple[Level, ...]]) -> None:
    """Add the levels of an operation's own factors, each given as `NAME=LEVELS`."""
    from toolkit.documents import did_you_mean

    known = {one.key: one for one in options_of(operation) if one.factor}
    for text in texts:
        name, _, given = text.partition("=")
        one = known.get(name.strip().removeprefix("--").replace("-", "_"))
        if one is None:
            sentence = f"`{operation}` has no factor `{name[:80]}`"
            raise ToolkitError(sentence, code="TK-0101", hint=did_you_mean(name, list(known)))
        if one.name in levels:
            hint = f"give all its levels together: `--factor {one.key}=A,B`"
            raise ToolkitError(f"`{one.key}` is given twice", code="TK-0107", hint=hint)
        levels[one.name] = _levels(one, given)


def _several_files(text: str) -> list[str]:
    """Return the files of several queries, `a.sql,b.sql`; none where a file has such a name, or it is one."""
    return [] if "," not in text or os.path.exists(text) else [part.strip() for part in text.split(",")]  # noqa: PTH110


def _queries(files: list[str]) -> dict[str, str]:
    from toolkit.cli.launch import read_text
    from toolkit.design.variants import names_of_files

    return dict(zip(names_of_files(files), map(read_text, files), strict=True))


def _value(one: Option, text: str) -> OptionValue:
    from toolkit.design.levels import parse_value

    if one.kind is OptionKind.QUERY:
        from toolkit.cli.launch import read_text

        return parse_value(one, read_text(text))
    if one.kind is OptionKind.PREDICATE and (text == "-" or text.startswith("@")):
        from toolkit.cli.launch import read_text

        return parse_value(one, read_text(text.removeprefix("@")))
    if one.kind in (OptionKind.TRANSACTIONS, OptionKind.JOBS):
        from pathlib import Path

        from toolkit.design.head import read_whole_file

        return read_whole_file(one, Path(text))
    value = parse_value(one, text)
    if one.kind is OptionKind.PATH:
        return _full(str(value))
    return tuple(map(_full, value)) if one.kind is OptionKind.PATHS and isinstance(value, tuple) else value


def _full(path: str) -> str:
    """Return the full path of a folder as typed; a disk group of Oracle's (`+DATA`) is none."""
    return path if path.startswith("+") else os.path.abspath(path)  # noqa: PTH100 (`..` is no link's here)


def _general(arguments: Arguments, declared: OperationDeclaration) -> General:
    from toolkit.cli.launch import named_or_assumed
    from toolkit.design.build import General
    from toolkit.model.words import Keep, Mode

    return General(
        target=named_or_assumed(arguments, declared.default_target),
        mode=Mode.MEASUREMENT if arguments.flag("measure") else None,
        label=arguments.text("label"),
        repeat=arguments.number("repeat"),
        detect_pct=_detect(arguments),
        search=arguments.flag("search"),
        warmup=arguments.number("warmup"),
        seed=arguments.number("seed"),
        snapshot=arguments.text("snapshot") or "auto",
        keep=_keep(arguments.text("keep"), declared) or Keep.NONE,
        work_schema=arguments.text("work_schema"),
        budget_seconds=_duration(arguments, "budget"),
        time_limit_seconds=_duration(arguments, "time_limit"),
        quiet_wait_seconds=_duration(arguments, "quiet_wait"),
        guards=_guards(arguments),
        judge=arguments.text("judge"),
        volume=arguments.text("volume"),
    )


def _detect(arguments: Arguments) -> float | None:
    from toolkit.design.build import parse_detect

    text = arguments.text("detect")
    return None if text is None else parse_detect(text)


def _guards(arguments: Arguments) -> tuple[str, ...]:
    texts = tuple(arguments.texts("guard"))
    if texts:
        from toolkit.design.guards import guards_of

        guards_of(texts)
    return texts


def _keep(text: str | None, declared: OperationDeclaration) -> Keep | None:
    from toolkit.documents import did_you_mean
    from toolkit.model.words import Keep

    if text is None:
        return None
    known = [one.value for one in Keep]
    if text not in known:
        meant = next((option.flag for option in declared.options if option.name.startswith("keep_")), None)
        hint = did_you_mean(text, known) if meant is None else f"`{meant} {shlex.quote(text)}` says how long"
        raise ToolkitError(f"`--keep` cannot be `{text}`", code="TK-0102", hint=hint)
    return Keep(text)


def _duration(arguments: Arguments, name: str) -> float | None:
    from toolkit.units import parse_duration

    text = arguments.text(name)
    return None if text is None else parse_duration(text)
