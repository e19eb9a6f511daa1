"""Whether an audit log is whole: every line in its place, and nothing that the store has seen gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from toolkit.model.audit import AuditEvent, AuditKind, AuditLine, AuditMark, AuditSeal
from toolkit.store.audit import AuditFile, AuditLog
from toolkit.store.audit_lines import after, hash_of, log_name, parse_line
from toolkit.units import counted


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """What was found.

    Attributes:
        lines: how many there are.
        faults: each with its line (0: the log as a whole), the first first.
        notes: what is strange and explains itself.
        begin: when the first line was written, and `end` the last.
    """

    lines: int
    faults: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()
    begin: datetime | None = None
    end: datetime | None = None

    @property
    def whole(self) -> bool:
        return not self.faults


def verify(log: AuditLog, earlier: Path | None = None) -> AuditVerdict:
    """Follow the chain from the first line to the last, and hold it against what the store has seen.

    Args:
        log: which one.
        earlier: a log that lay there before and was put away: the first line says how it must end.

    Raises:
        ToolkitError: TK-0314 when it cannot be read.
    """
    return _verify_lines(log, list(log.lines()), earlier)


def carry_over(log: AuditLog, earlier: Path) -> int:
    """Let a log stand without the one before it, where `verify` found both whole; return how many lines it takes.

    Approvals and revocations are written again, with when and by whom they were: they hold on. What the new log
    itself says of the same approval, or of the same file, is newer.

    Raises:
        ToolkitError: TK-0314 when a log cannot be read or written.
    """
    begin = next(log.lines(), b"")
    log.let_stand_alone(begin)
    if any(log.events(AuditKind.LOG_CONTINUED)):
        return 0
    words = (AuditKind.APPROVE, AuditKind.REVOKE)
    newer = [line.event for line in log.events(*words) if line.event.carried is None]
    known = {event.hash for event in newer} | {_file_of(event) for event in newer if _file_of(event)}
    before = AuditFile(earlier)
    found = [line for line in before.events(*words) if not {line.event.hash, _file_of(line.event)} & known]
    for line in reversed(found):
        written = line.event.carried or f"{line.at} by {line.actor.login or line.actor.user} on {line.actor.host}"
        log.write(replace(line.event, carried=written))
    first = parse_line(begin)
    told = first.event.details[1:2] if first is not None else ()
    log.write(AuditEvent(AuditKind.LOG_CONTINUED, details=told))
    return len(found)


def _file_of(event: AuditEvent) -> str | None:
    """Return the file of an approval."""
    return event.details[1] if event.kind is AuditKind.APPROVE and len(event.details) > 1 else None


def _verify_lines(log: AuditLog, raws: list[bytes], earlier: Path | None = None) -> AuditVerdict:
    """Verify all lines of a log, as they were read."""
    torn_end = bool(raws) and not log.ends_whole()
    parsed = [parse_line(raw) for raw in raws]
    faults = [
        *_chain(raws, parsed, torn_end),
        *_against(log.mark, raws[0] if raws else b"", raws, log.shown),
        *_removed(log, raws[:1], parsed, earlier),
        *_altered(parsed),
    ]
    notes = list(_cuts(parsed))
    if torn_end:
        notes.append(f"line {len(raws)} was truncated; the next line will note it")
    known = [line for line in parsed if line is not None]
    return AuditVerdict(
        len(raws),
        tuple(sorted(faults)),
        tuple(notes),
        datetime.fromisoformat(known[0].at) if known else None,
        datetime.fromisoformat(known[-1].at) if known else None,
    )


def verify_since_sealed(log: AuditLog) -> AuditVerdict:
    """Verify a log, reading only those lines that were not found whole before; of the others only their digest.

    Whoever can change the store beside the log can change both; `verify` follows the whole chain.

    Raises:
        ToolkitError: TK-0314 when it cannot be read.
    """
    seal = log.seal
    sealed = None if seal is None else log.hashed(seal)
    if seal is None or sealed is None or sealed.hexdigest() != seal.digest:
        sealed = sha256()
        raws, first, size = list(log.lines()), 1, 0
        verdict = _verify_lines(log, raws)
    else:
        raws, first, size = list(log.lines(seal)), seal.lines + 1, seal.size
        verdict = _verify_end(log, raws, first)
    if verdict.whole and log.ends_whole() and len(raws) > 1:
        # the last line stays outside: the next one refers to it; what is sealed are the bytes that were verified
        size += sum(len(raw) + 1 for raw in raws[:-1])
        for raw in raws[:-1]:
            sealed.update(raw + b"\n")
        log.set_seal(AuditSeal(first + len(raws) - 2, size, sealed.hexdigest()))
    return verdict


def _verify_end(log: AuditLog, raws: list[bytes], first: int) -> AuditVerdict:
    """Verify the lines from a number on, as `verify` does."""
    torn_end = bool(raws) and not log.ends_whole()
    parsed = [parse_line(raw) for raw in raws]
    faults = [
        *_chain(raws, parsed, torn_end, first),
        *_against(log.mark, next(log.lines(), b""), raws, log.shown, first),
        *((first - 1 + at, why) for at, why in _altered(parsed)),
    ]
    return AuditVerdict(first - 1 + len(raws), tuple(sorted(faults)), tuple(_cuts(parsed)))


def _chain(
    raws: list[bytes], parsed: list[AuditLine | None], torn_end: bool, first: int = 1
) -> Iterator[tuple[int, str]]:
    """Yield the first line that is not what it was, and stop: all behind it hangs in the air.

    Args:
        raws: the lines.
        parsed: as read.
        torn_end: whether the last one has no end.
        first: the number of the first one.
    """
    if first == 1 and raws and (parsed[0] is None or parsed[0].event.kind is not AuditKind.LOG_BEGIN):
        yield 1, "it is not the first line of a log"
        return
    for at, (raw, line) in enumerate(zip(raws, parsed, strict=True), first):
        following = parsed[at - first + 1] if at - first + 1 < len(parsed) else None
        if line is None:
            excused = following is not None and following.event.kind is AuditKind.LINE_CUT
            if not excused and not (torn_end and at - first + 1 == len(raws)):
                yield at, "it was altered: it cannot be read"
                return
        elif line.number != at:
            yield at, f"it has the number {line.number}: lines before it were removed or inserted"
            return
        if following is not None and following.before != hash_of(raw):
            yield at, f"it was altered: line {at + 1} refers to a different version"
            return


def _against(
    mark: AuditMark | None, begin: bytes, raws: list[bytes], shown: str, first: int = 1
) -> Iterator[tuple[int, str]]:
    """Yield what contradicts the store; `begin` is the log's first line, `first` the number of the first given."""
    if mark is None:
        return
    seen, lines = f"the store recorded {counted(mark.lines, 'line')} of it", first - 1 + len(raws)
    if not begin:
        yield 0, f"the log `{shown}` is missing: {seen}"
    elif log_name(begin) != mark.log:
        yield 0, f"this is a different log: {seen.removesuffix(' of it')} of log {mark.log}"
    elif lines < mark.lines:
        yield lines + 1, f"lines are missing: {seen}"
    elif mark.lines >= first and hash_of(raws[mark.lines - first]) != mark.last:
        yield mark.lines, "it was altered: the store recorded another one"


def _removed(
    log: AuditLog, begin: list[bytes], parsed: list[AuditLine | None], earlier: Path | None
) -> Iterator[tuple[int, str]]:
    """Yield that an earlier log is missing, unless it is shown, or was, and ends as the first line says."""
    first = parsed[0] if parsed else None
    if first is None or len(first.event.details) < 2:
        if earlier is not None:
            yield 1, f"this log does not continue `{earlier}`: it says of no earlier log"
        return
    expected = first.event.details[1]
    if earlier is None:
        continued = (line for line in parsed if line is not None and line.event.kind is AuditKind.LOG_CONTINUED)
        if any(expected in line.event.details for line in continued) and log.stands_alone(begin[0]):
            return
        yield 1, f"an earlier log was here and is missing ({expected})"
        return
    before = AuditFile(earlier)
    raws = list(before.lines())
    shown = after(AuditMark(log_name(raws[0]), len(raws), hash_of(raws[-1]))) if raws else ""
    if shown != expected:
        yield 1, f"`{earlier}` is not the log that was here before ({expected})"
    for at, fault in verify(before).faults:
        yield 1, f"`{earlier}`, line {at}: {fault}"


def _altered(parsed: list[AuditLine | None]) -> Iterator[tuple[int, str]]:
    """Yield what the next writer found: the line before its word is the one that is not as it was."""
    for at, line in enumerate(parsed):
        if line is not None and line.event.kind is AuditKind.LOG_ALTERED:
            yield at, line.event.reason or "it was altered"


def _cuts(parsed: list[AuditLine | None]) -> Iterator[str]:
    for at, (line, following) in enumerate(pairwise(parsed), 1):
        if line is None and following is not None and following.event.kind is AuditKind.LINE_CUT:
            yield f"line {at} was truncated, as noted in line {at + 1}"
