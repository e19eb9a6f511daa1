"""What an RMAN log did, in a sentence for each kind of operation, from its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from toolkit.analysis.lanes import Lane, Lanes
from toolkit.readers.rman.model import Log
from toolkit.readers.rman.reports import ReportKind, RmanReport
from toolkit.units import byte_size, counted, quantity, seconds

DUPLICATE = ("Duplicate Db", "Duplicate PDB", "duplicate")
_AUTOBACKUP = "Control File and SPFILE Autobackup"
_NOTHING = (
    ("backup", "backup ended without writing a piece that the log shows"),
    ("restore", "restore ended without reading a backup set that the log shows"),
    ("recover", "recovery ended without reading a backup set: what redo it applied is not in the log"),
    ("validate", "validation ended without reading a backup set that the log shows"),
)
"""Commands of RMAN, and what is said of one that ended and of which no work is in the log."""
_PARTS = (*DUPLICATE, _AUTOBACKUP, *(op for op, _ in _NOTHING))
"""Operations with a sentence of their own."""


def work_sentences(log: Log, lanes: Lanes) -> Iterator[str]:
    """Yield what was backed up, restored, recovered, validated, duplicated, checked, deleted and cataloged."""
    begun = dict.fromkeys(one.op for one in log.operations)
    duplicates = [op for op in begun if op in DUPLICATE]
    for op in duplicates:
        ended = _ended(log, op)
        yield (
            "the database was duplicated"
            if ended
            else (
                "the duplication did not end: the auxiliary database is not complete, and the source is as it was"
            )
        )
    if log.pieces:
        yield _backed_up(log, lanes)
    wrote = {log.operations[piece.operation].op for piece in log.pieces if piece.operation is not None}
    for op, nothing in _NOTHING:
        if op in begun or any(one.op == op for one in log.reads):
            yield from _read_back(log, op, "" if op in wrote else nothing, within=bool(duplicates))
    for op in begun:
        if op not in _PARTS and not op.startswith("implicit "):
            yield f"{op}: {'it ended' if _ended(log, op) else 'it began and did not end'}"
    yield from _done(log)
    yield from dict.fromkeys(map(report_sentence, log.reports))  # the same of several policies is said once


_NAMED = 5
_TOLD = {
    ReportKind.NEED_BACKUP: ("in need of a backup", "no data file needs a backup"),
    ReportKind.OBSOLETE: ("obsolete", "no backup is obsolete"),
    ReportKind.UNRECOVERABLE: (
        "not recoverable from their backups (NOLOGGING work since)",
        "no data file has NOLOGGING work since its backup",
    ),
    ReportKind.SCHEMA: ("in the database", "no data file is listed"),
    ReportKind.EXPIRED: ("expired: not found by a crosscheck", "nothing is listed as expired"),
}


def report_sentence(report: RmanReport) -> str:
    """Say what a report of RMAN names, the first few with their names; `none` is an answer, too."""
    what, nothing = _TOLD[report.kind]
    if not report.count:
        return nothing
    kinds = Counter(row.thing for row in report.rows)
    whole = report.count == len(report.rows)
    counts = _listed([counted(number, thing) for thing, number in kinds.items()])
    first = [row.name or str(row.number) for row in report.rows if row.thing != "backup set"][:_NAMED]
    more = ", ..." if len(report.rows) > _NAMED else ""
    named = "" if report.kind is ReportKind.SCHEMA or not first else f": {_listed(first)}{more}"
    return f"{counts if whole else counted(report.count, 'row')} {what}{named}"


def _ended(log: Log, op: str) -> bool:
    return any(one.op == op and one.finish is not None for one in log.operations)


def _backed_up(log: Log, lanes: Lanes) -> str:
    files = {file.file for piece in log.pieces for file in piece.datafiles}
    logs = {entry for piece in log.pieces for entry in piece.archivelogs}
    extra = dict.fromkeys(what for piece in log.pieces for what in piece.extra)
    held = [
        *([counted(len(files), "data file")] if files else []),
        *([counted(len(logs), "archived log")] if logs else []),
        *extra,
    ]
    what = ", ".join(held) or "something"
    return f"backed up: {what} in {counted(len(log.pieces), 'piece')}{_amount(log, lanes)}"


def _amount(log: Log, lanes: Lanes) -> str:
    """Return bytes and rate of all pieces, or how many sizes are known; nothing where none is."""
    known = [piece.bytes for piece in log.pieces if piece.bytes is not None]
    if not known:
        return ""
    if len(known) < len(log.pieces):
        return f"; the sizes of {len(known):,} of them are known, together {byte_size(sum(known))}"
    rate = rate_of(sum(known), lanes.work_seconds) if not log.reads else None
    return f", {byte_size(sum(known))}" + (f" at {quantity(rate, 'bytes_per_second')}" if rate else "")


def rate_of(size: int | None, time: float) -> float | None:
    """Return bytes per second, None where size or time are not known."""
    return size / time if size is not None and time > 0 else None


def _read_back(log: Log, op: str, nothing: str, *, within: bool) -> Iterator[str]:
    reads = [one for one in log.reads if one.op == op]
    begun = [one for one in log.operations if one.op == op]
    open_ones = [one for one in begun if one.finish is None]
    files = {file.file for one in reads for file in one.datafiles}
    sets = counted(len(reads), "backup set")
    time = seconds(float(sum(one.elapsed_seconds for one in reads)))
    if op == "recover" and (tables := log.done.get("recovered table")):
        yield f"{counted(tables, 'table')} recovered from a copy of the database that was made for it and removed"
    elif op == "restore" and reads:
        what = f"{counted(len(files), 'data file')} from {sets}" if files else sets
        size = sum(one.bytes for one in reads if one.bytes is not None)
        whole = reads and all(one.bytes is not None for one in reads)
        rate = rate_of(size, float(sum(one.elapsed_seconds for one in reads))) if whole else None
        amount = f", {byte_size(size)} at {quantity(rate, 'bytes_per_second')} per channel" if rate else ""
        yield f"restored: {what} in {time} of the channels{amount}"
    elif op == "validate" and reads:
        yield f"validated: {sets} in {time} of the channels" + (
            "" if log.corrupt else ", no corrupt block is reported"
        )
    elif op == "recover" and reads:
        yield f"recovered: {sets} read in {time} of the channels"
    elif nothing and begun and not open_ones and not within:
        yield nothing
    if open_ones and not within:
        many = "" if len(begun) == len(open_ones) == 1 else f" {counted(len(open_ones), 'time')} of {len(begun)}"
        yield f"{op} began and did not end{many}"


def crosschecked(log: Log) -> Iterator[str]:
    """Yield how many objects were crosschecked, and how many of them were not found."""
    shown = {name: count for name, count in log.done.items() if name.startswith("crosschecked ")}
    total = shown.pop("crosschecked objects", 0)
    if total or shown:
        seen = sum(shown.values())
        expired = sum(count for name, count in shown.items() if name.endswith(": EXPIRED"))
        part = f"; of the {seen:,} that the log shows" if total and total != seen else ","
        result = f"{part} {expired:,} expired" if seen or not total else "; the log shows the state of none"
        yield f"crosschecked: {counted(total or seen, 'object')}{result}"


def _done(log: Log) -> Iterator[str]:
    """Yield what was crosschecked, deleted, cataloged and switched."""
    yield from crosschecked(log)
    for verb in ("deleted", "uncataloged", "cataloged", "switched"):
        counts = {name.partition(" ")[2]: count for name, count in log.done.items() if name.startswith(f"{verb} ")}
        total = counts.pop("objects", 0)
        things = _listed([counted(count, name) for name, count in counts.items()])
        if total > sum(counts.values()):
            things = f"{counted(total, 'object')}, of which the log names {things or 'none'}"
        if things:
            yield f"{verb}: {things}"


def _listed(things: Sequence[str]) -> str:
    return ", ".join(things)


# -- the same as a document -------------------------------------------------------------------------------------
def work_document(lanes: Lanes | None, told: Sequence[str]) -> dict[str, object]:
    """Return what the screen and the page show beside the records of a log: sentences, and what channels did."""
    found = [] if lanes is None else lanes.lanes
    return {
        "sentences": list(told),
        "work_seconds": None if lanes is None else lanes.work_seconds,
        "channel_work": [
            {
                "channel": lane.name, "pieces": lane.pieces, "busy_seconds": busy_seconds(lane),
                "idle_seconds": None if lanes is None or busy_seconds(lane) is None else lanes.idle_seconds(lane),
                "bytes": lane.bytes, "bytes_per_second": rate_of(lane.bytes, lane.busy_seconds),
            }
            for lane in found
        ],
    }  # fmt: skip


def busy_seconds(lane: Lane) -> float | None:
    """Return the busy seconds of a lane; None where it began something, and nothing says when it ended."""
    return None if lane.bars and not lane.busy_seconds else lane.busy_seconds
