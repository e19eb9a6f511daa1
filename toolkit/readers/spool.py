"""A spool of SQL*Plus or SQLcl, line by line: marks, times, counts and errors in the order printed.

SQL*Plus prints `Elapsed: 00:00:01.23`, SQLcl three decimals, clients of other languages another word and a comma.
Whatever is none of these is passed over, so no text is wrong; what is not there is simply not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from toolkit.model.bundle import MARK

_ELAPSED = re.compile(
    r"[^\d:：]{2,40}[:：]\s*(?:(\d{1,5})\s+)?(\d{2,5}):([0-5]\d):([0-5]\d)[.,](\d{2,6})\s*", re.ASCII
)
_ERROR = re.compile(
    r"(?:SQL Error:\s*|Error:\s*)?((?:ORA|SP2|PLS|TNS|KUP|OCI|DRG|LPX|RMAN)-\d{4,5})\b[:;]?\s*(.*)"
)
_COUNT = re.compile(r"(\d[\d,.]{0,25}) rows? (?:created|inserted|merged|updated|deleted)\.?\s*", re.IGNORECASE)
_MARK = re.compile(rf"{MARK}\|([^|]*)\|(\d{{1,6}})\|(\d{{1,4}})\|([a-z-]+)(?:\|(.*))?")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}", re.ASCII)
_LONGEST_MESSAGE = 500


@dataclass(frozen=True, slots=True)
class SpoolMark:
    """A line meant for us; see `toolkit.model.bundle` for the events."""

    run: str
    trial: int
    session: int
    event: str
    fields: tuple[str, ...] = ()

    def field(self, number: int) -> str:
        """Return a field, empty where there is none."""
        return self.fields[number] if number < len(self.fields) else ""


@dataclass(frozen=True, slots=True)
class Elapsed:
    """What the client's own clock said of one statement."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Count:
    """Rows a statement touched."""

    rows: int


@dataclass(frozen=True, slots=True)
class Failure:
    """One line of an error stack."""

    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.message else self.code


Line = SpoolMark | Elapsed | Count | Failure


def read_spool(text: str) -> tuple[Line, ...]:
    """Return what a spool says, in its order; any text will do."""
    return tuple(_lines(text))


def _lines(text: str) -> Iterator[Line]:
    for raw in text.split("\n"):
        line = raw.rstrip("\r\n \t\0")
        found = _mark(line) or _elapsed(line) or _failure(line) or _count(line)
        if found is not None:
            yield found


def _mark(line: str) -> SpoolMark | None:
    match = _MARK.fullmatch(line)
    if match is None:
        return None
    run, trial, session, event, rest = match.groups()
    return SpoolMark(run, int(trial), int(session), event, () if rest is None else tuple(rest.split("|")))


def _elapsed(line: str) -> Elapsed | None:
    match = _ELAPSED.fullmatch(line)
    if match is None:
        return None
    days, hours, minutes, seconds, fraction = match.groups()
    whole = ((int(days or 0) * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(seconds)
    return Elapsed(whole + int(fraction) / 10 ** len(fraction))


def _failure(line: str) -> Failure | None:
    match = _ERROR.match(line)
    return None if match is None else Failure(match[1], match[2].strip()[:_LONGEST_MESSAGE])


def _count(line: str) -> Count | None:
    match = _COUNT.fullmatch(line)
    return None if match is None else Count(int(re.sub(r"[,.]", "", match[1])))


def instant_of(text: str) -> datetime | None:
    """Read an instant of the server, UTC; None for anything else, a part of one too."""
    if _INSTANT.fullmatch(text) is None:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None
