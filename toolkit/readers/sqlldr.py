"""The log of SQL*Loader: rows, rejects with their reasons, times.

Source: Database Utilities, SQL*Loader Log File Reference; logs of 19c and 23ai. Numbers have no separators; a line
of another language is not read, and what is not there is simply not known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LOADED = re.compile(r"^\s*(\d{1,18}) Rows? successfully loaded\.", re.MULTILINE)
_TOTAL = re.compile(r"^Total logical records (skipped|read|rejected|discarded): *(\d{1,18})\s*$", re.MULTILINE)
_TIME = re.compile(r"^(Elapsed|CPU) time was: *(\d{1,5}):([0-5]\d):([0-5]\d\.\d{1,6})\s*$", re.MULTILINE)
_REJECTED = re.compile(
    r"^Record (?P<number>\d{1,18}): (?:Rejected|Discarded) - "
    r"(?:Error on table [^,\n]{1,300}(?:, column (?P<column>[^\n]{1,140}?))?\.?|(?P<all>[^\n]{1,300}))\n"
    r"(?P<why>(?:ORA|KUP|SQL\*Loader)-\d{2,5}:[^\n]{0,400})?",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class RejectedRecord:
    """A row that was not loaded: the number of its record, its column (empty where not told), and why."""

    number: int
    column: str
    reason: str


@dataclass(frozen=True, slots=True)
class LoaderLog:
    """What one log says; None for what it does not say."""

    rows: int | None = None
    rejected: int | None = None
    discarded: int | None = None
    elapsed_seconds: float | None = None
    cpu_seconds: float | None = None
    records: tuple[RejectedRecord, ...] = ()


def read_log(text: str) -> LoaderLog:
    """Read a log; any text will do.

    Returns:
        Rows of all tables together; of the rejected records those that the log shows.
    """
    text = text.replace("\r\n", "\n")
    totals = {name: int(count) for name, count in _TOTAL.findall(text)}
    times = {
        name: int(hours) * 3600 + int(minutes) * 60 + float(seconds)
        for name, hours, minutes, seconds in _TIME.findall(text)
    }
    loaded = [int(count) for count in _LOADED.findall(text)]
    return LoaderLog(
        rows=sum(loaded) if loaded else None,
        rejected=totals.get("rejected"),
        discarded=totals.get("discarded"),
        elapsed_seconds=times.get("Elapsed"),
        cpu_seconds=times.get("CPU"),
        records=tuple(map(_record, _REJECTED.finditer(text))),
    )


def _record(found: re.Match[str]) -> RejectedRecord:
    reason = found["why"] or found["all"] or ""
    return RejectedRecord(int(found["number"]), (found["column"] or "").strip('"'), reason.strip())
