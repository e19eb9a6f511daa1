"""The kinds of values that columns hold, and the form that a value of each kind must have to be believed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache

from toolkit.model.values import Scalar
from toolkit.readers.awr.tables import IN_SECONDS, Numbers, instant, label


class FieldKind(StrEnum):
    """What a column holds."""

    NUMBER = "number"
    COUNT = "count"
    THOUSANDS = "thousands"
    """Printed in thousands (`Buffers (thousands)`), read as the whole number."""
    BYTES = "bytes"
    """`4.5G`, in multiples of 1024; a bare number is of mebibytes."""
    SHARE = "share"
    """Percent; the report of a cluster prints behind a `0.0` how many waits it stands for: `0.0(3)`."""
    TEXT = "text"
    LABEL = "label"
    """Words with a colon behind them, which is no part of them."""
    MEASURE = "measure"
    """A label, and whether its value is a percentage."""
    NAME = "name"
    IDENTIFIER = "identifier"
    """What somebody called something of theirs: a tablespace, a file, a program."""
    TIME = "time"
    """An instant, read as ISO 8601 without zone."""
    DIGITS = "row of digits"
    """A number that is no quantity: of an object, of a tablespace."""
    SQL_ID = "SQL_ID"
    HASH_VALUE = "hash value"
    INSTANCE = "instance number"
    SECONDS = "seconds"
    MILLISECONDS = "milliseconds"
    ANY = "any"


FORMS: Mapping[FieldKind, re.Pattern[str]] = {
    FieldKind.NAME: re.compile(r"(?=.*[^\W\d_]).*", re.DOTALL),
    FieldKind.SQL_ID: re.compile(r"[0-9a-df-hjkmnp-z]{13}"),
    FieldKind.HASH_VALUE: re.compile(r"\d{1,10}", re.ASCII),
    FieldKind.DIGITS: re.compile(r"-?\d{1,20}", re.ASCII),
    FieldKind.INSTANCE: re.compile(r"\*|[1-9]\d{0,2}", re.ASCII),
}
"""The form of each kind of text that has one: a value of another form stood under another heading.

A SQL_ID is 13 digits to the base of 32, written without e, i, l and o; a hash value has 32 bits; every name of an
event, a statistic, a class of waits or a parameter has a letter; `*` stands for all instances of a cluster.
"""
_MOST_HASH = 2**32
HEADER: Mapping[str, tuple[str, re.Pattern[str]]] = {
    "db_name": ("a database name", re.compile(r"[^\W\d_][\w$#.-]{0,127}")),
    "dbid": ("a DBID", re.compile(r"[1-9]\d{0,9}", re.ASCII)),
    "inst_num": ("an instance number", re.compile(r"[1-9]\d{0,2}", re.ASCII)),
    "version": ("a release", re.compile(r"\d{1,2}(\.\d{1,6}){1,4}", re.ASCII)),
    "begin_snap_id": ("a snapshot number", re.compile(r"\d{1,10}", re.ASCII)),
    "end_snap_id": ("a snapshot number", re.compile(r"\d{1,10}", re.ASCII)),
    "begin_sessions": ("a number of sessions", re.compile(r"\d{1,7}", re.ASCII)),
    "end_sessions": ("a number of sessions", re.compile(r"\d{1,7}", re.ASCII)),
    "cpus": ("a number of CPUs", re.compile(r"\d{1,5}", re.ASCII)),
    "cores": ("a number of cores", re.compile(r"\d{1,5}", re.ASCII)),
    "sockets": ("a number of sockets", re.compile(r"\d{1,5}", re.ASCII)),
}
"""What facts of the header are, and the form that each must have."""


def in_form(kind: FieldKind, cell: str) -> str | None:
    """Return a text of a kind as printed, None where it cannot be one."""
    if not FORMS[kind].fullmatch(cell) or (kind is FieldKind.HASH_VALUE and int(cell) >= _MOST_HASH):
        return None
    return cell


def without_the_implausible(facts: dict[str, Scalar]) -> list[str]:
    """Take the facts of a header that cannot be what they stand for out of it, and return a sentence for each."""
    sentences = []
    for name, (what, form) in HEADER.items():
        value = facts.get(name)
        if value is not None and not form.fullmatch(str(value)):
            facts[name] = None
            sentences.append(
                f"in the header `{str(value)[:40]}` stands for {what}, and cannot be one: it is left out"
            )
    return sentences


# -- cells of a kind ---------------------------------------------------------------------------------------------
def column(
    cells: Sequence[str], kind: FieldKind, unit: str | None, numbers: Numbers
) -> tuple[Sequence[Scalar], Sequence[str]]:
    """Return the values of a column, and the cells that are none of its kind.

    All are read at once where each is a number as usual, else one by one.
    """
    if kind in _PLAIN or (kind is FieldKind.SECONDS and unit in IN_SECONDS):
        usual = numbers.column(cells)
        if usual is not None and not (kind is FieldKind.COUNT and any(isinstance(one, float) for one in usual)):
            return usual, ()
    if kind in _VERBATIM:
        return [None if cell in _NOTHING else cell for cell in cells], ()
    found = list(map(_values(kind, unit, numbers).__getitem__, cells))
    if kind in _FREE or None not in found:
        return found, ()
    return found, [cell for cell, value in zip(cells, found, strict=True) if value is None and cell not in _BLANK]


_PLAIN = frozenset({FieldKind.NUMBER, FieldKind.COUNT, FieldKind.SHARE, FieldKind.ANY})
_VERBATIM = frozenset({FieldKind.TEXT, FieldKind.IDENTIFIER})
_FREE = frozenset({FieldKind.LABEL, FieldKind.MEASURE, FieldKind.ANY})
_BLANK = frozenset({"", "N/A", "-", "&nbsp;"})


class _Values(dict[str, Scalar]):
    """The values of cells of one kind by what is printed: many print the same."""

    def __init__(self, read: Callable[[str], Scalar]) -> None:
        super().__init__(dict.fromkeys(_NOTHING))
        self._read = read

    def __missing__(self, cell: str) -> Scalar:
        value = self._read(cell)
        if len(self) < _MOST_KNOWN and len(cell) < _LONGEST_KNOWN:
            self[cell] = value
        return value


_MOST_KNOWN, _LONGEST_KNOWN = 50_000, 40
_NOTHING = frozenset({"", "N/A", "&nbsp;"})


@lru_cache(maxsize=64)
def _values(kind: FieldKind, unit: str | None, numbers: Numbers) -> _Values:
    return _Values(_reader(kind, unit, numbers))


def _reader(kind: FieldKind, unit: str | None, numbers: Numbers) -> Callable[[str], Scalar]:
    """Return what reads cells of a kind."""

    def number_or_text(cell: str) -> Scalar:
        number = None if _ADDRESS.fullmatch(cell) else numbers.number(cell)
        return cell if number is None else number

    readers: Mapping[FieldKind, Callable[[str], Scalar]] = {
        FieldKind.NUMBER: numbers.number,
        FieldKind.COUNT: lambda cell: _whole(numbers.number(cell)),
        FieldKind.THOUSANDS: lambda cell: numbers.scaled(cell, 1000),
        FieldKind.BYTES: numbers.size,
        FieldKind.SHARE: lambda cell: numbers.number(_COUNTED.sub("", cell)),
        FieldKind.LABEL: label,
        FieldKind.MEASURE: _measure,
        FieldKind.TIME: instant,
        FieldKind.SECONDS: lambda cell: numbers.seconds(cell, unit),
        FieldKind.MILLISECONDS: lambda cell: numbers.milliseconds(cell, unit),
        FieldKind.ANY: number_or_text,
    }
    return readers[kind] if kind in readers else lambda cell: in_form(kind, cell)


def _measure(cell: str) -> str:
    """Return a label without its colon; that its value is a percentage belongs to it."""
    return f"{label(cell)} %" if cell.rstrip(" :").endswith("%") else label(cell)


_ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){3}")
"""An address of the network, which is no number with dots between its groups."""
_COUNTED = re.compile(r"\(\d+\)$")


def _whole(value: float | None) -> float | None:
    return value if value is None or float(value).is_integer() else None
