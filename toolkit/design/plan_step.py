"""Reads a plan's step: the keys of its operation, as in an experiment, and the plan's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from toolkit.design.build import General, build_experiment
from toolkit.design.guards import read_guards
from toolkit.design.head import (
    ErrorLocation,
    HeadReader,
    read_between,
    read_operation,
    read_text,
    read_texts,
    read_whole,
    read_word,
)
from toolkit.design.settings import read_settings
from toolkit.design.user_sql import check_query
from toolkit.documents import TomlDocument, did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.operations import declaration, every_option, operations, options_of
from toolkit.model.plan import Condition, ConditionKind, ExpectedRows, Guards, OnFailure, PlanStep, RowCount
from toolkit.model.values import Factor, Level
from toolkit.model.words import Mode, OperationName
from toolkit.units import parse_bytes, parse_duration

_T = TypeVar("_T")
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}", re.ASCII)
"""Names of plans and steps: they stand in file names, labels and metrics."""
_STEP_KEYS = (
    "name",
    "needs",
    "only_if",
    "priority",
    "retries",
    "on_failure",
    "guards",
    "expect_rows",
    "count_rows",
    "setting",
)
_OF_MEASUREMENTS = (
    "repeat",
    "detect",
    "search",
    "warmup",
    "keep",
    "budget",
    "quiet_wait",
    "mode",
    "seed",
    "label",
)
_MOST_RETRIES = 20
_ANY_LEVEL = 1
"""Stands in for a level that only the store knows, while the step is checked."""
_WORDS = {"some": ExpectedRows(), "any": ExpectedRows(0)}
_MOST_ROWS = 10**15


def experiment_of(step: PlanStep, target: str, levels: Mapping[str, Level] | None = None) -> Experiment:
    """Return the job that a step is on a target.

    Args:
        step: of the plan.
        target: profile or URL.
        levels: of the factors whose level comes from a measurement.

    Raises:
        ToolkitError: as `build_experiment`.
    """
    given = {**step.levels, **(levels or {})}
    general = General(
        target,
        name=step.name,
        mode=Mode.JOB,
        snapshot=step.snapshot,
        work_schema=step.work_schema,
        time_limit_seconds=step.time_limit_seconds,
        seed=0,
    )
    levels_of = {name: (one,) for name, one in given.items()}
    settings = [Factor(name, (level,), setting=True) for name, level in step.settings.items()]
    return build_experiment(step.operation, step.options, levels_of, general, settings)


def _refuse_own_jobs(
    document: TomlDocument, operation: OperationName, options: Mapping[str, OptionValue], at: int
) -> None:
    """Refuse a mix with jobs of dbatk's own: the plan holds the lease of its target, and not those of theirs."""
    from toolkit.design.mix import mix_of

    mix = mix_of(operation, options)
    if mix is not None and any(job.own for job in mix.jobs):
        raise document.error(
            "a mix in a plan runs programs only", table="step", key="operation", number=at, code="TK-0107",
            hint="make its operations steps of the plan: with `concurrency` several run at a time",
        )  # fmt: skip


def read_step(
    document: TomlDocument, folder: Path, given: object, at: int, guards: Guards | None = None
) -> PlanStep:
    """Read one `[[step]]`.

    Args:
        document: the file.
        folder: what a `query_file` is relative to.
        given: the table.
        at: which step it is, from 0.
        guards: the plan's.

    Raises:
        ToolkitError: TK-0101, TK-0102, TK-0106 or TK-0107, with file and line.
    """
    if not isinstance(given, Mapping):
        raise document.error("a step must be a table", table="step", number=at, hint="write `[[step]]`")
    operation = read_operation(document, given, "step", at)
    own = {key: value for key, value in given.items() if key in _STEP_KEYS}
    best_of = {key: value for key, value in given.items() if _is_best_of(value)}
    rest = {key: value for key, value in given.items() if key not in own and key not in best_of}
    _check_rest(document, operation, rest, at)
    reader = HeadReader(document, operation, folder, "step", at)
    reader.read_head(rest)
    read = _Keys(document, own, at)
    _refuse_own_jobs(document, operation, reader.options, at)
    levels = {name: _one(document, name, found, at) for name, found in reader.levels.items()}
    step = PlanStep(
        name=read.name(operation),
        operation=operation,
        options=reader.options,
        levels=levels,
        settings=read("setting", _settings) or {},
        best_of={_factor(reader, key): _run_of(reader, key, best_of[key]) for key in best_of},
        target=reader.general.target or None,
        needs=read("needs", read_texts) or (),
        only_if=read("only_if", read_conditions) or (),
        priority=read("priority", lambda key, value: read_between(key, read_whole(key, value), -1000, 1000)) or 0,
        retries=read("retries", lambda key, value: read_between(key, read_whole(key, value), 0, _MOST_RETRIES))
        or 0,
        on_failure=read("on_failure", lambda key, value: read_word(OnFailure, key, value)) or OnFailure.STOP,
        time_limit_seconds=reader.general.time_limit_seconds,
        work_schema=reader.general.work_schema,
        snapshot=reader.general.snapshot,
        guards=_guards(document, own, at, guards or Guards()),
        expect_rows=read("expect_rows", partial(read_expected_rows, operation)) or ExpectedRows(),
        count_rows=read("count_rows", partial(read_counted_rows, operation)),
    )
    with ErrorLocation(document, "step", "only_if", at):
        _check_conditions(step)
    with ErrorLocation(document, "step", "operation", at):
        experiment_of(step, "anywhere", dict.fromkeys(step.best_of, _ANY_LEVEL))
    return step


def _settings(key: str, value: object) -> dict[str, Level]:
    """Return the settings of a step, each with its one level."""
    found = {factor.name: factor.levels for factor in read_settings(value)}
    for name, levels in found.items():
        if len(levels) > 1:
            raise ToolkitError(
                f"a step has one level of `{name}`", code="TK-0107", hint=f'{key} = {{{name} = "..."}}'
            )
    return {name: levels[0] for name, levels in found.items()}


def _check_rest(document: TomlDocument, operation: OperationName, rest: Mapping[str, object], at: int) -> None:
    """Refuse tables where a value is meant, and keys of measurements."""
    for key, value in rest.items():
        if isinstance(value, Mapping):
            raise document.error(
                f"`{key}` is a table without `best_of`", table="step", key=key, number=at, code="TK-0102",
                hint="give a value, or what a measurement recommends: `{best_of = \"RUN\"}`",
            )  # fmt: skip
        if key == "keep" and "keep_for" in {option.name for option in options_of(operation)}:
            raise document.error(
                "`keep` is for measurements; a backup has `keep_for`",
                table="step", key=key, number=at, code="TK-0107", hint='write `keep_for = "14 days"`',
            )  # fmt: skip
        if key in _OF_MEASUREMENTS:
            raise document.error(
                f"a step of a plan is a job and does not accept `{key}`",
                table="step", key=key, number=at, code="TK-0107",
                hint='measure in an experiment, and let the plan use its result: `degree = {best_of = "RUN"}`',
            )  # fmt: skip


def _guards(document: TomlDocument, own: Mapping[str, object], at: int, guards: Guards) -> Guards:
    """Return the plan's guards with the step's own laid over them."""
    if "guards" not in own:
        return guards
    return read_guards(own["guards"], over=guards, at=lambda _: ErrorLocation(document, "step", "guards", at))


def _check_conditions(step: PlanStep) -> None:
    for condition in step.only_if:
        asking = [one.name for one in operations().values() if condition.kind in one.conditions]
        known = " and ".join(f"`{name}`" for name in asking)
        if asking and step.operation not in asking:
            raise ToolkitError(
                f"`{condition.kind}` is for {known}, not for `{step.operation}`",
                code="TK-0107",
                hint="use `{sql = ..., at_least = ...}`",
            )


class _Keys:
    """Reads the keys of a step that are the plan's, not the operation's."""

    def __init__(self, document: TomlDocument, given: Mapping[str, object], at: int) -> None:
        self._document, self._given, self._at = document, given, at

    def __call__(self, key: str, read: Callable[[str, object], _T]) -> _T | None:
        if key not in self._given:
            return None
        with ErrorLocation(self._document, "step", key, self._at):
            return read(key, self._given[key])

    def name(self, otherwise: str) -> str:
        def read(key: str, value: object) -> str:
            text = read_text(key, value)
            if not PLAIN_NAME.fullmatch(text):
                raise ToolkitError(
                    f"`{text}` is not a valid name for a step", code="TK-0102",
                    hint="up to 60 use letters, digits, `_`, `-` and `.`",
                )  # fmt: skip
            return text

        return self("name", read) or otherwise


def _is_best_of(value: object) -> bool:
    return isinstance(value, Mapping) and "best_of" in value


def _factor(reader: HeadReader, key: str) -> str:
    """Return the name of the factor whose level a measurement gives."""
    with reader.at("step", key):
        option = reader.known.get(key)
        if option is None or not option.factor:
            factors = [name for name, one in reader.known.items() if one.factor]
            raise ToolkitError(f"`{key}` is not a factor", code="TK-0101", hint=did_you_mean(key, factors))
        return option.name


def _run_of(reader: HeadReader, key: str, value: object) -> str:
    with reader.at("step", key):
        assert isinstance(value, Mapping)
        if set(value) != {"best_of"}:
            raise ToolkitError(f"`{key}` accepts only `best_of`", code="TK-0101", hint='{best_of = "RUN"}')
        return read_text("best_of", value["best_of"])


def _one(document: TomlDocument, name: str, levels: Sequence[Level], at: int) -> Level:
    if len(levels) != 1:
        raise document.error(
            f"a step of a plan accepts one level, but `{name}` has {len(levels)}",
            table="step", key=every_option()[name].key, number=at, code="TK-0107",
            hint='measure in an experiment first, then use the best: `{best_of = "RUN"}`',
        )  # fmt: skip
    return levels[0]


# -- conditions -----------------------------------------------------------------------------------------------
def read_conditions(key: str, value: object) -> tuple[Condition, ...]:
    """Read one condition or a list of them; raises TK-0101, TK-0102, TK-0105 or TK-0107."""
    given = value if isinstance(value, list) else [value]
    return tuple(_condition(key, one) for one in given)


def _condition(key: str, value: object) -> Condition:
    if not isinstance(value, Mapping):
        raise ToolkitError(f"`{key}` must be a condition", code="TK-0102", hint=_CONDITIONS)
    known = [kind.value for kind in ConditionKind]
    given = [name for name in value if name in known]
    for name in value:
        if name not in (*known, "at_least", "at_most"):
            raise ToolkitError(
                f"a condition has no `{name}`",
                code="TK-0101",
                hint=did_you_mean(name, [*known, "at_least", "at_most"]),
            )
    if len(given) != 1:
        raise ToolkitError("a condition must have exactly one kind", code="TK-0107", hint=_CONDITIONS)
    kind = ConditionKind(given[0])
    bounds = {name: _number(name, value[name]) for name in ("at_least", "at_most") if name in value}
    if kind is ConditionKind.SQL:
        if not bounds:
            raise ToolkitError("an SQL condition needs `at_least` or `at_most`", code="TK-0107", hint=_CONDITIONS)
        return Condition(kind, check_query(read_text("sql", value["sql"])), **bounds)
    if bounds:
        raise ToolkitError(
            f"`{kind}` is a bound itself and does not accept `{next(iter(bounds))}`",
            code="TK-0107",
            hint=_CONDITIONS,
        )
    return Condition(kind, at_least=_BOUNDS[kind](value[kind.value]))


_CONDITIONS = (
    'such as {sql = "SELECT count(*) ...", at_least = 1}, {older_than = "7d"}, {stale_tables = 1},'
    ' {index_bytes = "10GiB"}, {index_growth = 0.2} or {transaction_age = 150_000_000}'
)


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ToolkitError(f"`{name}` must be a number", code="TK-0102", hint=f"write it as `{name} = 1`")
    return float(value)


def _seconds(value: object) -> float:
    return parse_duration(read_text("older_than", value))


def _tables(value: object) -> float:
    return float(read_between("stale_tables", read_whole("stale_tables", value), 1, 10**9))


def _transactions(value: object) -> float:
    name = "transaction_age"
    return float(read_between(name, read_whole(name, value), 1, 2**31))


def _bytes(value: object) -> float:
    return float(parse_bytes(read_text("index_bytes", value)))


def _part(value: object) -> float:
    part = _number("index_growth", value)
    if not 0 < part <= 1000:
        raise ToolkitError(
            "`index_growth` must be a fraction of the size", code="TK-0102", hint="write 0.2 for 20 per cent"
        )
    return part


_BOUNDS: Mapping[ConditionKind, Callable[[object], float]] = {
    ConditionKind.AGE: _seconds,
    ConditionKind.STALE: _tables,
    ConditionKind.INDEX_BYTES: _bytes,
    ConditionKind.GROWTH: _part,
    ConditionKind.TRANSACTION_AGE: _transactions,
}


# -- rows of a load -------------------------------------------------------------------------------------------
def read_expected_rows(operation: OperationName, key: str, value: object) -> ExpectedRows:
    """Read `"some"`, `"any"` or a number of rows; raises TK-0102, TK-0107."""
    _refuse_others(operation, key)
    if isinstance(value, str):
        if value not in _WORDS:
            hint = 'write "some", "any" (allows none) or a number'
            raise ToolkitError(f"`{key}` cannot be `{value}`", code="TK-0102", hint=hint)
        return _WORDS[value]
    count = read_between(key, read_whole(key, value), 0, _MOST_ROWS)
    return ExpectedRows(count, count)


def read_counted_rows(operation: OperationName, key: str, value: object) -> RowCount:
    """Read what is counted again after a load; raises TK-0102, TK-0107."""
    _refuse_others(operation, key)
    return read_word(RowCount, key, value)


def _refuse_others(operation: OperationName, key: str) -> None:
    if not declaration(operation).makes_rows:
        loads = " and ".join(f"`{one.name}`" for one in operations().values() if one.makes_rows)
        raise ToolkitError(f"`{key}` is for {loads}, not for `{operation}`", code="TK-0107", hint="omit it")
