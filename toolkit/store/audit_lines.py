"""What a line of the audit log is, and what is added: the line, and a word about lines that are not whole."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from hashlib import sha256

from toolkit.config.actor import actor
from toolkit.model.audit import Actor, AuditEvent, AuditKind, AuditLine, AuditMark

_MOST_DETAILS = 100
_LONGEST_TEXT = 2000


def parse_line(raw: bytes) -> AuditLine | None:
    """Read a line; None for what is none."""
    try:
        data = json.loads(raw)
        who = Actor(**{**data["who"], "command": tuple(data["who"].get("command", ()))})
        known = {one.name for one in fields(AuditEvent)}
        values = {name: value for name, value in data.items() if name in known}
        event = AuditEvent(
            **{**values, "kind": AuditKind(data["kind"]), "details": tuple(values.get("details", ()))}
        )
        datetime.fromisoformat(data["at"])
        return AuditLine(int(data["number"]), data["at"], who, event, data["before"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class LogEnd:
    """What a new line follows.

    Attributes:
        first: the first line; empty where there is none yet, then all else is, too.
        number: of the last line.
        last: the last line.
        torn: whether it has no end.
        seen: the line that the store saw last, as it is now; None where it is not there.
    """

    first: bytes = b""
    number: int = 0
    last: bytes = b""
    torn: bool = False
    seen: bytes | None = None


def new_lines(end: LogEnd, event: AuditEvent, known: AuditMark | None) -> Iterator[bytes]:
    """Yield what is to be added: a first line to a new log, a word about lines not whole, and the line."""
    number, before = end.number, hash_of(end.last) if end.first else None
    for noticed in (*_begin(end, known), *_events_of(end, known), event):
        number += 1
        line = _line(number, noticed, before)
        before = hash_of(line)
        yield line


def _begin(end: LogEnd, known: AuditMark | None) -> Iterator[AuditEvent]:
    if not end.first:
        details = [f"log {secrets.token_hex(8)}"]
        if known is not None:
            details.append(after(known))
        yield AuditEvent(AuditKind.LOG_BEGIN, details=tuple(details))


def _events_of(end: LogEnd, known: AuditMark | None) -> Iterator[AuditEvent]:
    """Yield events about lines cut or altered: the next line replaces what the store knows of them."""
    if end.torn:
        reason = "the previous line was truncated: power failure or full disk"
        yield AuditEvent(AuditKind.LINE_CUT, reason=reason)
    if known is None or known.log != log_name(end.first):
        return
    if end.number - end.torn < known.lines and not (end.torn and end.number == known.lines):
        reason = f"lines are missing: the store recorded {known.lines} lines, the last {known.last}"
        yield AuditEvent(AuditKind.LOG_ALTERED, reason=reason)
    elif end.seen is None or hash_of(end.seen) != known.last:
        reason = f"line {known.lines} was altered: the store recorded another one, {known.last}"
        yield AuditEvent(AuditKind.LOG_ALTERED, reason=reason)


def mark_after(end: LogEnd, lines: list[bytes]) -> AuditMark:
    """Return how far the log is seen when lines were added."""
    return AuditMark(log_name(end.first or lines[0]), number_of(lines[-1]), hash_of(lines[-1]))


def continues(first: bytes, known: AuditMark | None) -> bool:
    """Tell whether a log is the one that the store knows, or says of itself that it came after it."""
    if known is None:
        return True
    line = parse_line(first)
    return log_name(first) == known.log or (line is not None and after(known) in line.event.details)


def after(known: AuditMark) -> str:
    """Return what the first line of a log says of the one before it."""
    return f"after log {known.log}: {known.lines} lines, the last {known.last}"


def _line(number: int, event: AuditEvent, before: str | None) -> bytes:
    values = {name: value for name, value in asdict(_bounded(event)).items() if value not in (None, (), "")}
    who = {name: value for name, value in asdict(actor()).items() if value not in (None, (), "")}
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    return json.dumps({"number": number, "at": at, **values, "who": who, "before": before}).encode("ascii")


def _bounded(event: AuditEvent) -> AuditEvent:
    """Keep a line so short that one `write` takes it and a tail finds it."""
    details, more = event.details[:_MOST_DETAILS], len(event.details) - _MOST_DETAILS
    shown = tuple(one[: _LONGEST_TEXT // 4] for one in details) + ((f"and {more} more",) if more > 0 else ())
    return replace(event, details=shown, reason=event.reason and event.reason[:_LONGEST_TEXT])


def number_of(raw: bytes) -> int:
    line = parse_line(raw)
    return 0 if line is None else line.number


def log_name(first: bytes) -> str:
    """Return what the first line of a log calls it; empty where it is no first line."""
    line = parse_line(first)
    if line is None or line.event.kind is not AuditKind.LOG_BEGIN or not line.event.details:
        return ""
    return line.event.details[0].removeprefix("log ")


def hash_of(raw: bytes) -> str:
    """Return the hash of a line."""
    return sha256(raw).hexdigest()
