"""Spools of SQL*Plus or SQLcl line by line, and the attempt of a trial put together from those of its sessions.

SQL*Plus prints `Elapsed: 00:00:01.23`, SQLcl three decimals, clients of other languages another word and a comma.
Whatever is none of these is passed over, so no text is wrong; what is not there is simply not known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from toolkit.model.bundle import MARK
from toolkit.model.values import Row, Scalar

_ELAPSED = re.compile(
    r"[^\d:：]{2,40}[:：]\s*(?:(\d{1,5})\s+)?(\d{2,5}):([0-5]\d):([0-5]\d)[.,](\d{2,6})\s*", re.ASCII
)
_ERROR = re.compile(
    r"(?:SQL Error:\s*|Error:\s*)?"
    r"((?:ORA|SP2|PLS|TNS|KUP|OCI|DRG|LPX|RMAN|UDE|UDI|LRM)-\d{4,5}|SQL\*Loader-\d{2,5})\b[:;]?\s*(.*)"
)
_COUNT = re.compile(r"(\d[\d,.]{0,25}) rows? (?:created|inserted|merged|updated|deleted)\.?\s*", re.IGNORECASE)
_MARK = re.compile(rf"{MARK}\|([^|]*)\|(\d{{1,6}})\|(\d{{1,4}})\|([a-z-]+)(?:\|(.*))?")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,400}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:E[+-]?\d+)?", re.ASCII)
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
    """The time of one statement by the client's own clock."""

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


_LOST = frozenset(
    {"ORA-00028", "ORA-01012", "ORA-01033", "ORA-01034", "ORA-01089", "ORA-01092", "ORA-02396", "ORA-03113",
     "ORA-03114", "ORA-03135", "ORA-12537", "ORA-12541", "ORA-12547", "ORA-12570", "ORA-28547", "SP2-0640"}
)  # fmt: skip
"""The session is gone, or never was (`toolkit.targets.oracle_driver`; SP2-0640: not connected)."""


@dataclass(slots=True)
class ItemRead:
    """One object as it went; instants by the server's clock, `client_seconds` by the client's."""

    number: int
    session: int
    begun_at: datetime | None = None
    ended_at: datetime | None = None
    client_seconds: float | None = None
    rows: int | None = None
    failures: list[Failure] = field(default_factory=list)
    loaded_bytes: int | None = None
    """Of a file that SQL*Loader loaded: its size."""
    exit_status: int | None = None
    """Of a client of Data Pump that did it."""


@dataclass(slots=True)
class AttemptRead:
    """What the spools of one attempt say.

    Attributes:
        end: `end`, `failed`, `interrupted`, or `settled` where it broke off and its work is there; None
            when the spool breaks off.
        phases: seconds of the stages, by the server's clock.
        kept: rows read after the clock, by key, and those of setup and check.
        before: counters read before the clock, by key.
        failures: errors beside those of the items, each with its stage.
    """

    end: str | None = None
    begun_at: datetime | None = None
    ended_at: datetime | None = None
    phases: dict[str, float] = field(default_factory=dict)
    items: dict[int, ItemRead] = field(default_factory=dict)
    kept: dict[str, list[Row]] = field(default_factory=dict)
    before: dict[str, list[Row]] = field(default_factory=dict)
    failures: list[tuple[str, Failure]] = field(default_factory=list)
    runs: set[str] = field(default_factory=set)
    trials: set[int] = field(default_factory=set)

    @property
    def lost(self) -> Failure | None:
        """The error that says that a session was lost, or None."""
        every = [failure for item in self.items.values() for failure in item.failures]
        every += [failure for _, failure in self.failures]
        return next((failure for failure in every if failure.code in _LOST), None)

    def fatal(self) -> Failure | None:
        """Return the error that kept the clock from beginning, or None."""
        stages = {"prepare", "begin", "setup"}
        return next((failure for stage, failure in self.failures if stage in stages), None)


def read_attempt(spools: Iterable[Sequence[Line]]) -> AttemptRead:
    """Put an attempt together.

    Args:
        spools: what each of its spools says, in the order before, sessions, after.
    """
    attempt = AttemptRead()
    for lines in spools:
        _Reading(attempt).read(lines)
    return attempt


class _Reading:
    """One spool as it is read: which stage and item it is in."""

    def __init__(self, attempt: AttemptRead) -> None:
        self._attempt = attempt
        self._stage = self._phase = ""
        self._since: datetime | None = None
        self._item: ItemRead | None = None
        self._columns: Mapping[str, tuple[str, ...]] = {}
        self._tolerated: frozenset[str] = frozenset()
        self._timed = any(attempt.items)

    def read(self, lines: Sequence[Line]) -> None:
        for line in lines:
            match line:
                case SpoolMark():
                    self._mark(line)
                case Failure():
                    self._failure(line)
                case Elapsed() | Count() if self._item is not None and self._stage == "timed":
                    self._measured(self._item, line)
                case _:
                    pass

    def _mark(self, mark: SpoolMark) -> None:
        self._attempt.runs.add(mark.run)
        self._attempt.trials.add(mark.trial)
        match mark.event:
            case "stage":
                self._enter(mark.field(0))
            case "item":
                self._begin_item(mark)
            case "rows":
                self._columns = {mark.field(0): mark.fields[1:]}
            case "row":
                self._row(mark)
            case "may-fail":
                self._tolerated = frozenset(mark.field(0).split(",")) - {""}
            case "clock":
                self._instant(mark.field(0))
            case "end" | "cleaned" if instant_of(mark.field(0)) is not None:
                self._instant(mark.field(0))
                self._end(mark.event)
            case "failed" | "interrupted" | "settled":
                self._end(mark.event)
            case "told":
                self._failure(Failure(mark.field(0), "|".join(mark.fields[1:])[:_LONGEST_MESSAGE]))
            case "loaded" if self._item is not None:
                size = mark.field(2)
                self._item.loaded_bytes = int(size) if size.isascii() and size.isdecimal() else None
            case "ran" if self._item is not None:
                status = mark.field(1)
                self._item.exit_status = int(status) if status.isascii() and status.isdecimal() else None
            case _:
                pass

    def _end(self, how: str) -> None:
        # what the driver says of an attempt outranks what the client printed
        if how == "settled" or self._attempt.end not in {"failed", "interrupted", "settled"}:
            self._attempt.end = how

    def _enter(self, stage: str) -> None:
        self._stage = stage
        self._timed = self._timed or stage == "timed"
        self._phase = self._phase if stage == "timed" else stage

    def _begin_item(self, mark: SpoolMark) -> None:
        number = mark.field(0)
        if number.isascii() and number.isdecimal() and len(number) < 9:
            self._item = ItemRead(int(number), mark.session, self._since)
            self._attempt.items[int(number)] = self._item

    def _instant(self, text: str) -> None:
        at = instant_of(text)
        if at is None:
            return
        attempt = self._attempt
        attempt.begun_at = min(attempt.begun_at or at, at)
        attempt.ended_at = max(attempt.ended_at or at, at)
        if not self._end_item(at) and self._since is not None and self._phase:
            spent = max(0.0, (at - self._since).total_seconds())
            attempt.phases[self._phase] = attempt.phases.get(self._phase, 0.0) + spent
        self._since = at

    def _end_item(self, at: datetime) -> bool:
        """Let an instant end the item on the clock; tell whether there was one."""
        if self._item is None or self._item.ended_at is not None:
            return False
        self._item.ended_at = self._since = at
        return True

    def _row(self, mark: SpoolMark) -> None:
        key, names = mark.field(0), self._columns.get(mark.field(0), ())
        values, at = mark.fields[2:], instant_of(mark.field(1))
        if at is not None:
            self._end_item(at)
        if len(values) != len(names):
            return
        row = {name.lower(): _value(text) for name, text in zip(names, values, strict=True)}
        later = self._timed or self._stage in {"", "setup"}
        (self._attempt.kept if later else self._attempt.before).setdefault(key, []).append(row)

    def _failure(self, failure: Failure) -> None:
        if failure.code in self._tolerated:
            return
        if self._stage == "timed" and self._item is not None:
            if failure not in self._item.failures:
                self._item.failures.append(failure)
        elif (self._stage, failure) not in self._attempt.failures:
            self._attempt.failures.append((self._stage, failure))

    @staticmethod
    def _measured(item: ItemRead, line: Elapsed | Count) -> None:
        if isinstance(line, Elapsed):
            item.client_seconds = (item.client_seconds or 0.0) + line.seconds
        elif item.rows is None:
            item.rows = line.rows


def _value(text: str) -> Scalar:
    """Return a number where it is one, None for nothing, else the text."""
    if not text:
        return None
    if _WHOLE.fullmatch(text):
        return int(text)
    number = float(text) if _DECIMAL.fullmatch(text) else math.inf
    return number if math.isfinite(number) else text
