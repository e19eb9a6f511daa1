"""A setting of a database as its own catalogue describes it: unit, range, scope, and whether it may be changed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SettingScope(StrEnum):
    """For whom a value holds that is set."""

    SESSION = "session"
    """One session of dbatk's own; of an embedded engine its process, which is dbatk's own, too."""
    SYSTEM = "system"
    """The whole server, at once."""
    RESTART = "restart"
    """The whole server, once it has been started again."""


class SettingKind(StrEnum):
    """What a value is."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    REAL = "real"
    CHOICE = "choice"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        name: as the catalogue spells it.
        value: now, in the catalogue's spelling; None where it has none.
        kind: what a value is.
        unit: in which numbers without a unit are (`8kB`, `ms`); empty for none.
        low, high: the range in that unit; empty where the catalogue does not say.
        choices: the words it takes.
        scopes: for whom it may be set; empty where it cannot be changed.
        fixed: why it cannot be changed.
    """

    name: str
    value: str | None
    kind: SettingKind
    unit: str = ""
    low: str = ""
    high: str = ""
    choices: tuple[str, ...] = ()
    scopes: frozenset[SettingScope] = frozenset()
    fixed: str = ""
