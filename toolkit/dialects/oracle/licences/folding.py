"""Functions of SQL whose value is known when their arguments are: how a name is spelled without being written.

Each takes constant arguments and returns the value, or None where it cannot be known. `most` bounds the length of
what may be made, so that a short text cannot ask for a long one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toolkit.design.lexis import unistr

_Function = Callable[[Sequence[str], int], str | None]
_HIGHEST = 0x10FFFF


def fold(package: str, name: str, arguments: Sequence[str], most: int) -> str | None:
    """Return the value of a function of constants, or None.

    Args:
        package: what stands before it, in upper case; of a program of the user's nothing is known.
        name: the function's own name, in upper case.
        arguments: their values as text.
        most: the longest value that may be made.
    """
    function = _FUNCTIONS.get(name) if package == _HOMES.get(name, "") else None
    if function is None or not arguments:
        return None
    try:
        value = function(arguments, most)
    except (ValueError, IndexError, OverflowError):
        return None
    return value if value is not None and len(value) <= most else None


def _character(arguments: Sequence[str], _: int) -> str | None:
    number = int(arguments[0])
    return chr(number) if 0 <= number <= _HIGHEST else None


def _replace(arguments: Sequence[str], most: int) -> str | None:
    text, old = arguments[0], arguments[1]
    new = arguments[2] if len(arguments) > 2 else ""
    if not old:
        return text
    longest = len(text) + text.count(old) * max(0, len(new) - len(old))
    return text.replace(old, new) if longest <= most else None


def _translate(arguments: Sequence[str], _: int) -> str | None:
    text, old, new = arguments[0], arguments[1], arguments[2]
    table: dict[int, str | None] = {}
    for place, letter in enumerate(old):
        table.setdefault(ord(letter), new[place] if place < len(new) else None)
    return text.translate(table)


def _substring(arguments: Sequence[str], _: int) -> str | None:
    text, begin = arguments[0], int(arguments[1])
    first = max(begin - 1, 0) if begin >= 0 else max(len(text) + begin, 0)
    return text[first : first + int(arguments[2])] if len(arguments) > 2 else text[first:]


def _from_hex(arguments: Sequence[str], _: int) -> str | None:
    return bytes.fromhex(arguments[0]).decode("utf-8", "replace")


def _stripped(strip: Callable[[str, str], str]) -> _Function:
    return lambda arguments, _: strip(arguments[0], arguments[1] if len(arguments) > 1 else " ")


def _first(arguments: Sequence[str], _: int) -> str | None:
    return next(filter(None, arguments), "")  # an empty string is null


def _same(arguments: Sequence[str], _: int) -> str | None:
    return arguments[0]


_FUNCTIONS: dict[str, _Function] = {
    "CHR": _character,
    "NCHR": _character,
    "ASCII": lambda arguments, _: str(ord(arguments[0][0])),
    "UNISTR": lambda arguments, _: unistr(arguments[0]),
    "CONCAT": lambda arguments, _: "".join(arguments),
    "UPPER": lambda arguments, _: arguments[0].upper(),
    "NLS_UPPER": lambda arguments, _: arguments[0].upper(),
    "LOWER": lambda arguments, _: arguments[0].lower(),
    "NLS_LOWER": lambda arguments, _: arguments[0].lower(),
    "INITCAP": _same,
    "REVERSE": lambda arguments, _: arguments[0][::-1],
    "REPLACE": _replace,
    "TRANSLATE": _translate,
    "SUBSTR": _substring,
    "SUBSTRB": _substring,
    "TRIM": lambda arguments, _: arguments[0].strip(" ") if len(arguments) == 1 else None,
    "LTRIM": _stripped(str.lstrip),
    "RTRIM": _stripped(str.rstrip),
    "HEXTORAW": _same,
    "CAST_TO_VARCHAR2": _from_hex,
    "CAST_TO_NVARCHAR2": _same,
    "NVL": _first,
    "COALESCE": _first,
    "TO_CHAR": _same,
    "TO_NCHAR": _same,
    "TO_CLOB": _same,
    "TO_NCLOB": _same,
    "SIMPLE_SQL_NAME": _same,
    "SQL_OBJECT_NAME": _same,
    "QUALIFIED_SQL_NAME": _same,
    "NOOP": _same,
    "ENQUOTE_NAME": lambda arguments, _: f'"{arguments[0]}"',
}

_HOMES = {
    **dict.fromkeys(("CAST_TO_VARCHAR2", "CAST_TO_NVARCHAR2"), "UTL_RAW"),
    **dict.fromkeys(
        ("SIMPLE_SQL_NAME", "SQL_OBJECT_NAME", "QUALIFIED_SQL_NAME", "NOOP", "ENQUOTE_NAME"), "DBMS_ASSERT"
    ),
}
"""The packages of functions that are not SQL's own."""
