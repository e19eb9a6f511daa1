"""Settings of a database as factors, as written: `work_mem=4MB,64MB`, or a key of `[factors.setting]`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from toolkit.design.programs import free_levels
from toolkit.errors import ToolkitError
from toolkit.model.values import Factor, spell_level

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]{0,79}(?:\.[A-Za-z_][A-Za-z0-9_$]{0,79})?", re.ASCII)
_HINT = "write `--setting work_mem=4MB,64MB`"


def read_setting(text: str) -> Factor:
    """Read `NAME=LEVELS` as typed.

    Raises:
        ToolkitError: TK-0102, TK-0103.
    """
    name, sign, levels = text.partition("=")
    if not sign or not levels.strip():
        raise ToolkitError(f"`--setting {text[:80]}` has no levels", code="TK-0102", hint=_HINT)
    return _factor(name.strip(), levels)


def read_settings(given: object) -> Iterator[Factor]:
    """Read the table `[factors.setting]`: each key a setting, its value a level or a list of them.

    Raises:
        ToolkitError: TK-0102, TK-0103.
    """
    if not isinstance(given, Mapping):
        raise ToolkitError(
            "`setting` must be a table",
            code="TK-0102",
            hint='`[factors.setting]`, then `work_mem = ["4MB"]`',
        )
    for name, value in given.items():
        levels = [_spelled(name, one) for one in (value if isinstance(value, list) else [value])]
        yield _factor(name, ",".join(levels))


def _spelled(name: str, level: object) -> str:
    if isinstance(level, bool):
        return "on" if level else "off"
    if not isinstance(level, str | int | float) or "," in str(level):
        raise ToolkitError(
            f"a level of `{name}` must be a number, a string, true or false", code="TK-0102",
            hint='write `work_mem = ["4MB", "64MB"]`',
        )  # fmt: skip
    return spell_level(level)


def _factor(name: str, levels: str) -> Factor:
    if _NAME.fullmatch(name) is None:
        raise ToolkitError(
            f"`{name[:80]}` cannot name a setting",
            code="TK-0104",
            hint="give its name in the catalogue",
        )
    return Factor(name, free_levels(name, levels), setting=True)
