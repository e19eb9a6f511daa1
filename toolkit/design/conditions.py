"""Conditions of a plan's step: what must hold before it begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from toolkit.design.head import read_between, read_text, read_whole
from toolkit.design.user_sql import check_query
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.plan import Condition, ConditionKind
from toolkit.units import parse_bytes, parse_duration


def read_conditions(key: str, value: object) -> tuple[Condition, ...]:
    """Read one condition or a list of them; raises TK-0101, TK-0102, TK-0105 or TK-0107."""
    given = value if isinstance(value, list) else [value]
    return tuple(_condition(key, one) for one in given)


def _condition(key: str, value: object) -> Condition:
    if not isinstance(value, Mapping):
        raise ToolkitError(f"`{key}` is no condition", code="TK-0102", hint=_CONDITIONS)
    known = [kind.value for kind in ConditionKind]
    said = [name for name in value if name in known]
    for name in value:
        if name not in (*known, "at_least", "at_most"):
            raise ToolkitError(
                f"a condition has no `{name}`",
                code="TK-0101",
                hint=did_you_mean(name, [*known, "at_least", "at_most"]),
            )
    if len(said) != 1:
        raise ToolkitError("a condition measures one thing", code="TK-0107", hint=_CONDITIONS)
    kind = ConditionKind(said[0])
    bounds = {name: _number(name, value[name]) for name in ("at_least", "at_most") if name in value}
    if kind is ConditionKind.SQL:
        if not bounds:
            raise ToolkitError(
                "a condition by SQL needs `at_least` or `at_most`", code="TK-0107", hint=_CONDITIONS
            )
        return Condition(kind, check_query(read_text("sql", value["sql"])), **bounds)
    if bounds:
        raise ToolkitError(
            f"`{kind}` is a bound itself and takes no `{next(iter(bounds))}`", code="TK-0107", hint=_CONDITIONS
        )
    return Condition(kind, at_least=_BOUNDS[kind](value[kind.value]))


_CONDITIONS = (
    'such as {sql = "SELECT count(*) ...", at_least = 1}, {older_than = "7d"}, {stale_tables = 1},'
    ' {index_bytes = "10GiB"} or {index_growth = 0.2}'
)


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ToolkitError(f"`{name}` is no number", code="TK-0102", hint=f"write it as `{name} = 1`")
    return float(value)


def _seconds(value: object) -> float:
    return parse_duration(read_text("older_than", value))


def _tables(value: object) -> float:
    return float(read_between("stale_tables", read_whole("stale_tables", value), 1, 10**9))


def _bytes(value: object) -> float:
    return float(parse_bytes(read_text("index_bytes", value)))


def _part(value: object) -> float:
    part = _number("index_growth", value)
    if not 0 < part <= 1000:
        raise ToolkitError("`index_growth` is a part of the size", code="TK-0102", hint="0.2 is a fifth")
    return part


_BOUNDS: Mapping[ConditionKind, Callable[[object], float]] = {
    ConditionKind.AGE: _seconds,
    ConditionKind.STALE: _tables,
    ConditionKind.INDEX_BYTES: _bytes,
    ConditionKind.GROWTH: _part,
}
