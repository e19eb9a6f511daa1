"""Values of a work as RMAN takes them: read, and refused where RMAN would misread them.

RMAN has no placeholders, and a quote, `?`, `@` or `&` means something to it inside of quotes.
"""

from __future__ import annotations

import re

from toolkit.dialects.oracle.backup.texts import fits
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.units import parse_duration

TAG = "at most 30 letters, digits, `_`, `$` and `#`"
"""What a tag may be, as a sentence says it."""


def catalog(work: Work) -> str | None:
    """Read how a recovery catalog is reached: by a wallet, for a script and its log would show a password.

    Raises:
        ToolkitError: TK-0102.
    """
    given = text(work, "catalog")
    if given is None or fits("rman_catalog", given):
        return given
    raise ToolkitError(
        "the value of `--catalog` cannot be used in dbatk's RMAN scripts",
        code="TK-0102",
        hint="`/@alias`: a name from tnsnames.ora with its password in a wallet; a user and password would appear "
        "in the script and its log",
    )


def size(work: Work, name: str) -> str | None:
    """Read a size: a number of megabytes, or as RMAN writes it (`512M`, `4G`).

    Raises:
        ToolkitError: TK-0102.
    """
    value = work.option(name)
    if value is None or value == "none":
        return None
    given = f"{value:g}M" if isinstance(value, int | float) else str(value).strip().upper().removesuffix("B")
    if fits("rman_size", given):
        return given
    raise ToolkitError(f"`{value}` is not a valid size for {name}", code="TK-0102", hint="as in `512M` or `4G`")


def checked(work: Work, name: str, pattern: str, rule: str) -> str | None:
    """Read one text that must fit a pattern."""
    found = text(work, name)
    return None if found is None else _fit(name, found, pattern, rule)


def each(work: Work, name: str, pattern: str, rule: str, *, divided: bool = False) -> tuple[str, ...]:
    """Read texts that must each fit a pattern; `divided` at commas."""
    found = texts(work, name)
    if divided:
        found = tuple(part.strip() for one in found for part in one.split(",") if part.strip())
    return tuple(_fit(name, one, pattern, rule) for one in found)


def _fit(name: str, given: str, pattern: str, rule: str) -> str:
    if fits(pattern, given):
        return given
    shown = "" if name == "connects" else f" `{given}`"
    raise ToolkitError(
        f"the value of `--{name}`{shown} cannot be used in dbatk's RMAN scripts", code="TK-0102", hint=rule
    )


def text(work: Work, name: str) -> str | None:
    """Return an option as one text, or None."""
    value = work.option(name)
    if isinstance(value, tuple):
        return value[0] if value else None
    return None if value is None or value is False else str(value)


def texts(work: Work, name: str) -> tuple[str, ...]:
    """Return an option as texts."""
    value: OptionValue | None = work.option(name)
    if value is None or value is False:
        return ()
    return tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)


def integer(work: Work, name: str) -> int | None:
    """Return an option as a whole number, or None.

    Raises:
        ToolkitError: TK-0102.
    """
    value = work.option(name)
    if value is None or isinstance(value, bool):
        return None
    if re.fullmatch(r"[0-9]{1,6}(?:\.0)?", str(value)):
        return int(float(str(value)))
    raise ToolkitError(f"`{value}` is not a valid number for {name}", code="TK-0102", hint="a whole number")


def minutes(work: Work, name: str) -> int | None:
    """Return a duration in whole minutes, at least one; None where none was given.

    Raises:
        ToolkitError: TK-0102.
    """
    found = text(work, name)
    return None if found is None else max(1, round(parse_duration(found) / 60))
