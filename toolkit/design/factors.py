"""Factors outside the operation (`[[factor]]` of a file): read, applied and undone by commands or by SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping

from toolkit.documents import TomlDocument, did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.values import CommandFactor, Factor, Level

_KEYS = ("name", "levels", "unit", "read", "apply", "undo", "read_sql", "apply_sql", "undo_sql")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}", re.ASCII)
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_ALLOWED = ("level", "before")
_PARTS = ("read", "apply", "undo")


def read_factor(document: TomlDocument, data: object, number: int) -> Factor:
    """Read one `[[factor]]` of a file.

    Args:
        document: for the line of an error.
        data: the table.
        number: which `[[factor]]` it is, from 0.

    Raises:
        ToolkitError: TK-0106 with file and line.
    """

    def fail(sentence: str, key: str | None = None, hint: str | None = None) -> ToolkitError:
        return document.error(sentence, table="factor", key=key, number=number, hint=hint)

    if not isinstance(data, Mapping):
        raise document.error("`factor` is no list of tables", table="", key="factor", hint="write `[[factor]]`")
    for key in data:
        if key not in _KEYS:
            raise fail(f"a factor has no `{key}`", key, did_you_mean(key, _KEYS))
    try:
        return Factor(
            name=_name(data.get("name")),
            levels=_levels(data.get("levels")),
            unit=_unit(data.get("unit")),
            command=_command(data),
        )
    except _PartError as error:
        raise fail(error.sentence, error.key if error.key in data else None, error.hint) from None


class _PartError(Exception):
    def __init__(self, key: str, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.key, self.sentence, self.hint = key, sentence, hint


def _name(value: object) -> str:
    if not isinstance(value, str) or _NAME.fullmatch(value) is None:
        raise _PartError("name", "a factor needs a `name`", "give letters, digits, `_`, `.` and `-`")
    return value


def _unit(value: object) -> str | None:
    if value is not None and (not isinstance(value, str) or not value.isprintable() or len(value) > 40):
        raise _PartError("unit", "`unit` is no short text", 'write it as `unit = "MB"`')
    return value


def _levels(value: object) -> tuple[Level, ...]:
    hint = "write `levels = [256, 1024]`"
    if not isinstance(value, list) or not value:
        raise _PartError("levels", "a factor needs a list of `levels`", hint)
    levels: list[Level] = []
    for level in value:
        if not isinstance(level, str | int | float | bool) or (isinstance(level, str) and not level.isprintable()):
            raise _PartError("levels", "a level is no number, text or truth value", hint)
        # 1 and true are equal in Python, but not to the one who wrote them
        if any(level == other and type(level) is type(other) for other in levels):
            raise _PartError("levels", f"`levels` has `{level}` twice", "name each once")
        levels.append(level)
    return tuple(levels)


def _command(data: Mapping[str, object]) -> CommandFactor:
    for part in _PARTS:
        if part in data and f"{part}_sql" in data:
            raise _PartError(part, f"`{part}` and `{part}_sql` exclude each other", "leave one out")
        if part not in data and f"{part}_sql" not in data:
            raise _PartError(
                part,
                f"a factor needs `{part}` or `{part}_sql`",
                "say how it is read, applied and undone, so that it can be put back",
            )
    commands = {part: _arguments(part, data[part]) for part in _PARTS if part in data}
    statements = {key: _statement(key, data[key]) for key in map("{}_sql".format, _PARTS) if key in data}
    if not any("{level}" in text for text in (*commands.get("apply", ()), statements.get("apply_sql", ""))):
        raise _PartError("apply", "`apply` does not use `{level}`", "put `{level}` where the level belongs")
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
            key, f"`{key}` is no list of arguments", f'write `{key} = ["command", "argument"]`; no shell reads it'
        )
    arguments = tuple(str(part) for part in value)
    for argument in arguments:
        _check_text(key, argument)
    return arguments


def _statement(key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _PartError(key, f"`{key}` is no statement", f'write `{key} = "SHOW work_mem"`')
    _check_text(key, value)
    return value.strip().removesuffix(";").rstrip()


def _check_text(key: str, text: str) -> None:
    if "\x00" in text:
        raise _PartError(key, f"`{key}` holds a NUL character", "remove it")
    allowed = ("level",) if key.startswith("apply") else _ALLOWED
    for match in _PLACEHOLDER.finditer(text):
        if match[1] not in allowed or key.startswith("read"):
            raise _PartError(
                key,
                f"`{key}` cannot use `{match[0]}`",
                "`{level}` belongs into `apply`, `{before}` into `undo`; there are no other placeholders",
            )
