"""What surrounds a database: its settings, its release, and the host below it, as values that can be compared.

A value says by itself whether somebody changed it: `origin` is where it was set, and None where it is the default
or where nobody sets it (a CPU model). What moves by itself (load, free memory, counters) is not part of an
environment: two reads in a row are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from toolkit.errors import ToolkitError
from toolkit.model.values import Scalar

DATABASE_ID = "database_id"
"""In the environment of a run: what tells the database from others of its name."""
SETTING = "setting."
"""What the name of a database's setting begins with."""
_FORMAT, _VERSION = "dbatk-environment", 1
_SIZE = "size"
_SAME_SIZE = 0.1
"""A database that grew by less than this part is of the same size."""


@dataclass(frozen=True, slots=True)
class EnvironmentValue:
    """One value: `setting.work_mem`, `sysctl.vm.swappiness`, `disk.sda.scheduler`.

    `unit` is the catalogue's (`8kB`, `ms`); `default` is None where it is not known.
    """

    name: str
    value: Scalar
    unit: str = ""
    default: Scalar = None
    origin: str | None = None

    @property
    def changed(self) -> bool:
        return self.origin is not None


@dataclass(frozen=True, slots=True)
class Environment:
    """Everything read of a target and, where its host is this one, of the host."""

    values: tuple[EnvironmentValue, ...] = ()
    warnings: tuple[str, ...] = field(default=(), compare=False)

    def by_name(self) -> Mapping[str, EnvironmentValue]:
        return {value.name: value for value in self.values}

    @property
    def changed(self) -> tuple[EnvironmentValue, ...]:
        """What was set to something, by name."""
        return tuple(value for value in self.values if value.changed)


@dataclass(frozen=True, slots=True)
class EnvironmentDifference:
    """A value that is not the same on all sides; None where a side has none."""

    name: str
    sides: tuple[EnvironmentValue | None, ...]


def differences(sides: Iterable[Environment]) -> tuple[EnvironmentDifference, ...]:
    """Return the values that are not the same everywhere, by name; what was set to something comes first.

    A group that a side could not read at all (its host is another one) is left out: "not seen" is not a
    difference. Groups are the part of the name before the first dot.
    """
    known = [side.by_name() for side in sides]
    seen = [{_group(name) for name in side} for side in known]
    everywhere = set.intersection(*seen) if seen else set()
    found = []
    for name in sorted({name for side in known for name in side if _group(name) in everywhere}):
        values = tuple(side.get(name) for side in known)
        if not (_alike(values) or _of_one_size(name, values)):
            found.append(EnvironmentDifference(name, values))
    return tuple(sorted(found, key=lambda one: not any(value and value.changed for value in one.sides)))


def _group(name: str) -> str:
    return name.partition(".")[0]


def _alike(values: Iterable[EnvironmentValue | None]) -> bool:
    return len({None if value is None else (str(value.value), value.unit) for value in values}) == 1


def _of_one_size(name: str, values: Iterable[EnvironmentValue | None]) -> bool:
    found = [str(value.value) for value in values if value is not None]
    sizes = [int(size) for size in found if size.isdigit()]
    return _group(name) == _SIZE and len(sizes) == len(found) and max(sizes) <= (1 + _SAME_SIZE) * min(sizes)


# -- as a document ------------------------------------------------------------------------------------------------
def environment_document(environment: Environment) -> dict[str, object]:
    """Return an environment as it is written to a file or shown as JSON."""
    values = [
        {
            "name": value.name,
            "value": value.value,
            "unit": value.unit or None,
            "default": value.default,
            "origin": value.origin,
        }
        for value in environment.values
    ]
    return {"format": _FORMAT, "version": _VERSION, "values": values, "warnings": list(environment.warnings)}


def environment_of_document(document: object, shown: str) -> Environment:
    """Read what `environment_document` wrote.

    Args:
        document: parsed JSON.
        shown: what to call it in an error.

    Raises:
        ToolkitError: TK-0106 where it is something else, or of a later version.
    """
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ToolkitError(
            f"`{shown}` is not an environment",
            code="TK-0106",
            hint="`dbatk environment show -t T --json > FILE` writes one; for a database, give its URL",
        )
    if document.get("version") != _VERSION:
        raise ToolkitError(
            f"`{shown}` was written by a later version of dbatk", code="TK-0106", hint="read it with that version"
        )
    values, warnings = document.get("values"), document.get("warnings", [])
    if not isinstance(values, list) or not isinstance(warnings, list):
        raise ToolkitError(f"`{shown}` is damaged: its values are no list", code="TK-0106")
    return Environment(tuple(_value(value, shown) for value in values), tuple(str(each) for each in warnings))


def _value(found: object, shown: str) -> EnvironmentValue:
    match found:
        case {"name": str(name), "value": str() | int() | float() | bool() | None as value, **rest}:
            default, origin = rest.get("default"), rest.get("origin")
            if isinstance(default, str | int | float | bool | None) and isinstance(origin, str | None):
                return EnvironmentValue(name, value, str(rest.get("unit") or ""), default, origin)
    raise ToolkitError(f"`{shown}` is damaged: a value has no name, or is none", code="TK-0106")
