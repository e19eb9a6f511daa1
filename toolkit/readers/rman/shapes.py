"""What a line looks like, whatever its digits are: found once for each shape, not for each line.

No pattern of `words` or `stamps` that is asked here names a digit, so lines that differ only in digits have the
same parts at the same places. A log has few shapes: its messages, with the names of its channels and files.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from toolkit.readers.rman import words
from toolkit.readers.rman.stamps import DATE

_MOST = 2000
_LONGEST_OPERATION = 200
_LONGEST_HEAD = 160
_FIRST_OF_CODES = frozenset("ROPTLSKs")
_DIGITS = bytes(48 if 49 <= byte <= 57 else byte for byte in range(256))

Span = tuple[int, int]


class DateClause(NamedTuple):
    """A date in a text, and what the words around it say of it."""

    date: Span
    number: Span | None
    begins: bool
    ends: bool


class ChannelText(NamedTuple):
    """What stands behind a channel's name: a piece with its date, a time that elapsed, a handle, or words."""

    piece: DateClause | None = None
    elapsed: tuple[Span, Span, Span] | None = None
    keyed: bool = False
    handle: Span | None = None


class Command(NamedTuple):
    """The name of a command and the clause that says it begins or ends."""

    op: str
    clause: DateClause


class Shape:
    """The parts of a line. `word` and `name` are of what stands before a colon, `rest` is what follows it."""

    __slots__ = (
        "_saying", "automatic", "bare", "coded", "command", "english", "head", "keyed", "last", "name", "prompted",
        "rest", "sid", "word",
    )  # fmt: skip

    def __init__(self, line: str) -> None:
        plain = line.isascii()
        self.word, self.name, self.rest = "", (0, 0), 0
        self.english = self.sid = self.bare = False
        if ":" in line or (not plain and "\uff1a" in line):
            self._colon(line)
        manager = not plain or "Manager" in line
        self.head = len(line) <= _LONGEST_HEAD and _is_head(line, manager=manager, plain=plain)
        self.automatic = "ORA_" in line and words.AUTOMATIC.search(line) is not None
        self.keyed = "=" in line
        short = not self.keyed and len(line) < _LONGEST_OPERATION
        self.command = command_of(line) if short and words.NUMBER.search(line) else None
        self.prompted = (line[0] == "S" and line.startswith(("SQL>", "SQL >"))) or (
            ">" in line[:6] and line[0].isdigit()
        )
        self.coded = line[0] in _FIRST_OF_CODES and (
            ("-" in line[:5] and words.CODE.match(line) is not None) or line.startswith("startup failed")
        )
        self.last = ("FAILED" in line and words.CORRUPT_ROW.match(line) is not None) or (
            _may_be_decorated(line) and prefix_of(line) is not None
        )
        self._saying: ChannelText | None = None

    def saying(self, rest: str) -> ChannelText:
        """Return what the rest of a line of this shape says of a channel."""
        if self._saying is None:
            self._saying = _saying_of(rest)
        return self._saying

    def _colon(self, line: str) -> None:
        found = words.ANY_CHANNEL.match(line)
        if found is None:
            return
        self.word, self.name, self.rest = found[1].strip().lower(), found.span(2), found.start(3)
        self.english = found[1] == "channel"
        self.sid = found[3][:3].upper() == "SID"
        self.bare = words.NAME.match(found[3]) is not None


class Shapes:
    """The shapes of a log that were met last."""

    def __init__(self) -> None:
        self._known: dict[bytes, Shape] = {}

    def __call__(self, line: str) -> Shape:
        """Return the shape of a line, which is not empty."""
        key = line.encode("utf-8", "surrogatepass").translate(_DIGITS)
        shape = self._known.get(key)
        if shape is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            shape = self._known[key] = Shape(line)
        return shape


def command_of(line: str) -> Command | None:
    """Return the command of which a line says that it begins or ends."""
    name = words.OPERATION.search(line) if _may_be_command(line) else None
    date = DATE.search(line) if name is not None else None
    return None if name is None or date is None else Command(name[1], _clause(line, date.span()))


def prefix_of(line: str) -> re.Match[str] | None:
    """Return what stands before a message: a time, a host's name or another tool's mark."""
    found = words.DECORATED.match(line) or words.PURE_PREFIX.match(line)
    return found if found is not None and found.end() else None


def _clause(text: str, date: Span) -> DateClause:
    begin, end = date
    outside = f"{text[:begin]} {text[end:]}"
    number = words.NUMBER.search(outside)
    moved = end - begin - 1 if number is not None and number.start() > begin else 0
    return DateClause(
        date,
        None if number is None else (number.start() + moved, number.end() + moved),
        words.BEGIN_WORDS.search(outside) is not None,
        words.END_WORDS.search(outside) is not None,
    )


def _saying_of(rest: str) -> ChannelText:
    keyed = "=" in rest
    date = DATE.search(rest)
    if date is not None and not keyed:
        return ChannelText(piece=_clause(rest, date.span()))
    elapsed = words.ELAPSED.search(rest) if date is None else None
    if elapsed is not None:
        return ChannelText(elapsed=(elapsed.span(1), elapsed.span(2), elapsed.span(3)))
    handle = words.HANDLE.search(rest) if keyed else None
    return ChannelText(keyed=keyed, handle=None if handle is None else handle.span(1))


def _is_head(line: str, *, manager: bool, plain: bool) -> bool:
    if (manager and words.BANNER.search(line)) or words.PATCH_LEVEL.match(line):
        return True
    if "(" in line or (not plain and "\uff08" in line):
        return words.CONNECTED.search(line) is not None
    return manager and words.GOODBYE.match(line) is not None


def _may_be_command(line: str) -> bool:
    """Whether a word stands in it that every name of a command has."""
    return (
        "backup" in line or "restore" in line or "recover" in line or "validate" in line or "opy" in line
        or "uplicate" in line or "convert" in line or "transport" in line or "flashback" in line
        or "repair" in line
    )  # fmt: skip


def _may_be_decorated(line: str) -> bool:
    """Whether a word stands in it that every message has which can be told behind a prefix."""
    return (
        line.find("channel ", 1) > 0 or line.find(" at ", 1) > 0 or line.find("name=", 1) > 0
        or line.find("handle=", 1) > 0 or line.find("input ", 1) > 0 or line.find("RMAN-", 1) > 0
        or line.find("ORA-", 1) > 0 or line.find("database", 1) > 0 or line.find("Manager", 1) > 0
    )  # fmt: skip
