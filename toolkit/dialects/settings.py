"""Settings as factors: what an engine's catalogue says of them, and how a level is spelled, set, read and undone.

A level is written as the user is used to (`4G`, `64MB`, `5min`, `on`) and means what the engine means by it. It is
turned into a normal value (bytes, seconds, a number, true or false, a word), is held against the catalogue before
anything is changed, and against what is read back afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from toolkit.dialects.work import Call
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.settings import Setting, SettingKind, SettingScope
from toolkit.model.values import Row

CATALOGUE = "setting_catalogue"
"""Key and file of the catalogue: columns as the fields of `Setting`; lists are words between blanks or bars."""

Normal = Decimal | bool | str

_QUANTITY = re.compile(r"([+-]?[0-9]{1,18}(?:\.[0-9]{1,9})?)\s*([A-Za-z]{0,5})", re.ASCII)
_UNIT = re.compile(r"([0-9]*)([A-Za-z]+)", re.ASCII)
_LONGEST_TEXT = 1000
_TRUE, _FALSE = ("on", "true", "yes", "1"), ("off", "false", "no", "0")
SECONDS = {
    "us": Decimal("0.000001"), "ms": Decimal("0.001"), "s": Decimal(1), "min": Decimal(60), "h": Decimal(3600),
    "d": Decimal(86400),
}  # fmt: skip


def sizes(thousand: int, *, binary: bool = False) -> dict[str, Decimal]:
    """Return how many bytes the units of an engine are, in lower case.

    Args:
        thousand: what `K`, `KB` and so on multiply by.
        binary: whether `KiB` and so on exist beside them.
    """
    found = {"b": Decimal(1), "bytes": Decimal(1)}
    for power, letter in enumerate("kmgtp", 1):
        found |= dict.fromkeys((letter, f"{letter}b"), Decimal(thousand) ** power)
        if binary:
            found[f"{letter}ib"] = Decimal(1024) ** power
    return found


UP = "DBATK|up|"
"""How a line begins that says of a server that it is up."""


@dataclass(frozen=True, slots=True)
class SystemChange:
    """A change of the whole server.

    Attributes:
        calls: make it.
        undo: undo it.
        before: the former value, for people.
        file: the server's file in which it stands, where one of a server that is down may be written.
        written: what stood there; None for nothing.
        copy: keeps what there was, once, before the first change.
        offline: brings that back while the server is down, where it is not a line of `file`.
        up: asks who administers the server whether it is up, and prints `UP` then: it is left as it is.
        kept: what of it stays, for people.
    """

    calls: tuple[Call, ...]
    undo: tuple[Call, ...]
    before: str
    file: str = ""
    written: str | None = None
    copy: Call | None = None
    offline: Call | None = None
    up: Call | None = None
    kept: str = ""


class AskedClient(Protocol):
    """What the client that the target's profile names is asked of a setting that needs a restart."""

    def look(self, setting: Setting) -> Call:
        """Ask it."""

    def seen(self, setting: Setting, lines: Sequence[str]) -> tuple[str, Row]:
        """Return what it printed as a row of the facts, and their key.

        Raises:
            ToolkitError: TK-0107 where it is no answer, or the setting could not be put back.
        """


class Settings(Protocol):
    """How an engine's settings are varied."""

    sizes: Mapping[str, Decimal]
    client: AskedClient | None
    """What only the client of the target's profile knows of settings that need a restart; None for nothing."""

    def reads(self, release: Release) -> tuple[Query, ...]:
        """Name the catalogue files, `CATALOGUE` first; the others are optional."""

    def read(self, setting: Setting) -> Call:
        """Ask the session for the present value: one row with column `value`, in the catalogue's spelling."""

    def same(self, setting: Setting, level: str, read: str) -> bool:
        """Tell whether what was read back is the level."""

    def in_session(self, setting: Setting, level: str) -> Call:
        """Set it in a worker's session; `undo` puts back what the session began with."""

    def in_system(self, setting: Setting, level: str, facts: Facts, key: str) -> SystemChange:
        """Set it for the whole server, at once or once that is started again; `key` is that of the run.

        Raises:
            ToolkitError: TK-0306 where the former value cannot be seen, or may not be set; the hint is the grant.
        """

    def in_script(self, setting: Setting, level: str, levels: Sequence[str], facts: Facts) -> SystemChange | None:
        """Set it for the whole server in a script that asks nobody; None where no script could restore it.

        The change proves that the value was the former one before and is the level after; its undo changes
        nothing where the value is none of `levels`.

        Raises:
            ToolkitError: as `in_system`.
        """

    def changed_server(self, scope: SettingScope, facts: Facts) -> str:
        """Name the server on which a change of this scope holds, the same from each of its databases.

        Empty where the change stays within the target.
        """


class WithSettings(Protocol):
    """The part of a dialect that varies settings."""

    settings: Settings | None
    """None where the engine has none."""


# -- what the catalogue says --------------------------------------------------------------------------------------
def find_setting(name: str, facts: Facts) -> Setting | None:
    """Return what the catalogue says of a setting; None where it has none of this name."""
    rows = facts.require(CATALOGUE)
    named = [row for row in rows if name.lower() == str(row["name"]).lower()]
    found = named or [row for row in rows if name.lower() in _words(row.get("aliases"))]
    return _setting(found[0]) if found else None


def setting_names(facts: Facts) -> tuple[str, ...]:
    """Return the names of all settings."""
    return tuple(str(row["name"]) for row in facts.require(CATALOGUE))


def _setting(row: Row) -> Setting:
    return Setting(
        name=str(row["name"]),
        value=None if row["value"] is None else str(row["value"]),
        kind=SettingKind(str(row["kind"])),
        unit=_text(row["unit"]),
        low=_text(row["low"]),
        high=_text(row["high"]),
        choices=tuple(filter(None, _text(row["choices"]).split("|"))),
        scopes=frozenset(SettingScope(word) for word in _words(row["scopes"])),
        fixed=_text(row["fixed"]),
    )


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _words(value: object) -> Sequence[str]:
    return _text(value).lower().split()


# -- levels -------------------------------------------------------------------------------------------------------
def normal(setting: Setting, text: str, sizes: Mapping[str, Decimal]) -> Normal:
    """Return what a text means as the value of a setting: bytes, seconds, a number, true or false, or a word.

    Raises:
        ToolkitError: TK-0102 where it means nothing.
    """
    text = text.strip()
    if not text.isprintable() or len(text) > _LONGEST_TEXT:
        raise _bad(setting, text, "give a printable text")
    match setting.kind:
        case SettingKind.BOOLEAN:
            return _boolean(setting, text)
        case SettingKind.CHOICE:
            return _choice(setting, text)
        case SettingKind.INTEGER | SettingKind.REAL:
            return _quantity(setting, text, sizes)
        case SettingKind.TEXT:
            return text


def check_level(setting: Setting, text: str, sizes: Mapping[str, Decimal]) -> Normal:
    """Return what a level means; refuse one outside of the range, or between two values that can be had.

    Raises:
        ToolkitError: TK-0102 naming range, words or unit.
    """
    value = normal(setting, text, sizes)
    if not isinstance(value, Decimal):
        return value
    step = unit_of(setting, sizes)
    low, high = (Decimal(bound) * step if bound else None for bound in (setting.low, setting.high))
    if (low is not None and value < low) or (high is not None and value > high):
        unit = f" (in {setting.unit})" if setting.unit else ""
        raise _bad(setting, text, f"from {setting.low} to {setting.high}{unit}")
    if setting.kind is SettingKind.INTEGER and value % step:
        raise _bad(setting, text, f"give a multiple of {setting.unit or 1}")
    return value


def comparable(value: Normal, sizes: Mapping[str, Decimal]) -> Normal:
    """Return a value so that two spellings of it are equal: a text may be a size, too."""
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    size = None if found is None else sizes.get(found[2].lower())
    return value if found is None or size is None else Decimal(found[1]) * size


def unit_of(setting: Setting, sizes: Mapping[str, Decimal]) -> Decimal:
    """Return the bytes or seconds of a setting's unit; 1 where it has none."""
    found = _UNIT.fullmatch(setting.unit)
    if found is None:
        return Decimal(1)
    return Decimal(found[1] or 1) * (SECONDS.get(found[2]) or sizes.get(found[2].lower(), Decimal(1)))


def spelled(value: Decimal, units: Mapping[str, Decimal]) -> str:
    """Spell a quantity in the largest of these units in which it is whole, else in the smallest."""
    ordered = sorted(units.items(), key=lambda unit: -unit[1])
    for name, size in ordered:
        if value and value % size == 0:
            return f"{_plain(value / size)}{name}"
    name, size = ordered[-1]
    return f"{_plain(value / size)}{name}"


def _plain(value: Decimal) -> str:
    """Spell a number without an exponent and without zeros behind the point."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _boolean(setting: Setting, text: str) -> bool:
    word = text.lower()
    if word not in (*_TRUE, *_FALSE):
        raise _bad(setting, text, "give `on` or `off`")
    return word in _TRUE


def _choice(setting: Setting, text: str) -> str:
    known = {choice.lower(): choice for choice in setting.choices}
    if text.lower() not in known:
        raise _bad(setting, text, "give " + " or ".join(f"`{choice}`" for choice in setting.choices))
    return known[text.lower()]


def _quantity(setting: Setting, text: str, sizes: Mapping[str, Decimal]) -> Decimal:
    found = _QUANTITY.fullmatch(text)
    unit = _UNIT.fullmatch(setting.unit)
    if found is None:
        raise _bad(setting, text, "give a number" + (" with a unit" if unit else ""))
    number, suffix = Decimal(found[1]), found[2]
    if not suffix:
        return number * unit_of(setting, sizes)
    units = {} if unit is None else SECONDS if unit[2] in SECONDS else sizes
    size = units.get(suffix if units is SECONDS else suffix.lower())
    if size is None:
        kind = "a plain number" if unit is None else "a time" if units is SECONDS else "a size"
        example = "" if unit is None else ", such as `100ms` or `5min`" if units is SECONDS else ", such as `64MB`"
        raise _bad(setting, text, f"it is {kind}{example}")
    return number * size


def _bad(setting: Setting, text: str, hint: str) -> ToolkitError:
    return ToolkitError(f"`{setting.name}` cannot be `{text[:80]}`", code="TK-0102", hint=hint)
