"""What a backup tells afterwards: bytes and rates, pieces of each channel, idle channels, what was left.

Sources: Database Reference, V$RMAN_BACKUP_JOB_DETAILS, V$RMAN_STATUS (a validation may be in the latter alone),
V$BACKUP_ASYNC_IO, V$BACKUP_SYNC_IO, V$BACKUP_PIECE, V$BACKUP_SET_DETAILS (ORIGINAL_INPUT_BYTES: the amount of
data backed up; OUTPUT_BYTES: the size of the set). COMPRESSION_RATIO counts blocks that were left out and is no
measure of compression, so the ratio is taken from the bytes; SET_STAMP and SET_COUNT join sets to pieces. The rows
under `rman` and `rman_pieces` come from RMAN's log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.backups import volume
from toolkit.dialects.oracle.backup.facts import same_configuration
from toolkit.dialects.oracle.backup.order import BackupAction, BackupOrder, order_of
from toolkit.dialects.oracle.backup.work import AFTER, BEFORE
from toolkit.dialects.work import Work
from toolkit.model.records import ItemRecord, Metric
from toolkit.model.values import Row, Scalar
from toolkit.model.words import Outcome
from toolkit.units import byte_size
from toolkit.units import number as short

LOG, PIECES = "rman", "rman_pieces"
_SOURCE = "RMAN log"
Kept = Mapping[str, tuple[Row, ...]]


def tell(work: Work, kept: Kept, seconds: float) -> TrialFindings:
    """Tell metrics, doubts and pieces of one trial."""
    order = order_of(work)
    read, written, source = _sizes(order, kept)
    metrics = (
        *volume(read, written, seconds, source), *set_metrics(kept), *_of_reads(kept),
        *_of_channels(kept, seconds), *_verdict(kept),
    )  # fmt: skip
    size = int(written) if written else None
    return TrialFindings(metrics, tuple(_sentences(order, kept)), size, items=_items(kept))


def granted(work: Work, kept: Kept) -> Granted:
    """Tell how many channels worked: RMAN goes on with fewer when some fail, or when the edition has but one."""
    order, log = order_of(work), _first(kept, LOG)
    if not log:
        return Granted(None, _SOURCE, "RMAN's log contains no channels")
    if log.get("is_serial") == "yes":
        sentence = (
            f"only one of {order.channels} channels worked (RMAN-06908, RMAN-06909): the limit of this edition"
        )
        return Granted(1, _SOURCE, sentence, downgraded=order.channels > 1)
    lost, had = int(_number(log.get("lost_channels"))), int(_number(log.get("channel_count")))
    if lost:
        why = f": {log['cause']}" if log.get("cause") else ""
        sentence = f"{lost} of {order.channels} channels failed and the others took over{why}"
        return Granted(max(1, order.channels - lost), _SOURCE, sentence, downgraded=True)
    return Granted(had or None, _SOURCE)


# -- sizes --------------------------------------------------------------------------------------------------------
def _sizes(order: BackupOrder, kept: Kept) -> tuple[float | None, float | None, str]:
    """Return bytes read and written, and which view says so; the first one that knows."""
    job = _sum(kept, "backup_job")
    status = _sum(kept, "backup_status")
    pieces = sum(_number(row.get("byte_count")) for row in kept.get("backup_pieces", ()))
    flow = {str(row.get("io_type")): _number(row.get("byte_count")) for row in kept.get("backup_async_io", ())}
    each = set_sizes(kept)
    sources = (
        (job[0], "V$RMAN_BACKUP_JOB_DETAILS"), (status[0], "V$RMAN_STATUS"), (each[0], "V$BACKUP_SET_DETAILS"),
        (flow.get("INPUT", 0.0), "V$BACKUP_ASYNC_IO"),
    )  # fmt: skip
    read, source = next((one for one in sources if one[0]), sources[-1])
    written = (pieces or job[1] or status[1] or each[1] or flow.get("OUTPUT", 0.0)) if order.writes else 0.0
    return read or None, written or None, source


def _sum(kept: Kept, key: str) -> tuple[float, float]:
    rows = kept.get(key, ())
    return sum(_number(row.get("input_bytes")) for row in rows), sum(
        _number(row.get("output_bytes")) for row in rows
    )


def _of_reads(kept: Kept) -> Iterator[Metric]:
    for row in kept.get("backup_async_io", ()):
        count, waits = _number(row.get("io_count")), _number(row.get("long_waits"))
        kind = str(row.get("io_type") or "").lower()
        if kind in {"input", "output"} and count:
            yield Metric(f"{kind}_long_wait_share", waits / count, "ratio", "V$BACKUP_ASYNC_IO")


def _of_channels(kept: Kept, seconds: float) -> Iterator[Metric]:
    """Yield how evenly the channels were busy, as the log tells their seconds."""
    busy = [_number(row.get("busy_seconds")) for row in kept.get("rman_channels", ())]
    if not busy or seconds <= 0 or not any(busy):
        return
    yield Metric("channels_busy", sum(busy) / (len(busy) * max(seconds, *busy)), "ratio", _SOURCE)
    yield Metric("channel_imbalance", max(busy) / (sum(busy) / len(busy)), "ratio", _SOURCE)
    yield Metric("channels_at_work", float(sum(1 for each in busy if each > 0)), "channels", _SOURCE)


def _verdict(kept: Kept) -> Iterator[Metric]:
    """Yield what log and views say of the whole: STATUS may be COMPLETED, or so WITH WARNINGS or WITH ERRORS."""
    corrupt = _first(kept, LOG).get("corrupt")
    if corrupt:
        yield Metric("corrupt_files", float(len(str(corrupt).split(","))), "files", _SOURCE)
    for key, view in (("backup_status", "V$RMAN_STATUS"), ("backup_job", "V$RMAN_BACKUP_JOB_DETAILS")):
        states = [str(row["status"]) for row in kept.get(key, ()) if row.get("status")]
        if states:
            good = all(each in {"COMPLETED", "COMPLETED WITH WARNINGS"} for each in states)
            yield Metric("verified", float(good), "yes/no", view)
            return


# -- sentences ----------------------------------------------------------------------------------------------------
def _sentences(order: BackupOrder, kept: Kept) -> Iterator[str]:
    if BEFORE in kept and AFTER in kept:
        for difference in same_configuration(kept[BEFORE], kept[AFTER]):
            yield f"RMAN's configuration has changed: {difference}; dbatk's scripts do not change it"
    yield from _idle(order, kept)
    log = _first(kept, LOG)
    if log.get("warnings"):
        yield f"RMAN warned: {log['warnings']}"
    if log.get("corrupt"):
        yield f"RMAN found corrupt blocks in data file {log['corrupt']}: see V$DATABASE_BLOCK_CORRUPTION"
    if order.writes:
        yield from set_sentences(kept)
    if log.get("autobackups") and order.act is BackupAction.WRITE:
        yield f"RMAN wrote its own control file autobackup, which is kept: {log['autobackups']}"
    if (
        order.act is BackupAction.WRITE
        and order.compression == "none"
        and _first(kept, "backup_pieces").get("compressed") == "YES"
    ):
        yield "the pieces are compressed although not requested: this is the site's configuration"
    if any(str(row.get("device_type")) == "DISK" for row in kept.get("backup_sync_io", ())):
        yield "channels read or wrote without asynchronous I/O: see FILESYSTEMIO_OPTIONS and DISK_ASYNCH_IO"


def _idle(order: BackupOrder, kept: Kept) -> Iterator[str]:
    busy = kept.get("rman_channels", ())
    idle = [row for row in busy if not _number(row.get("items"))]
    if busy and idle and order.channels > 1:
        yield (
            f"{len(idle)} of {order.channels} channels were idle: there were fewer backup sets than channels; "
            "use a smaller --files-per-set, or --section-size for big files"
        )


# -- pieces -------------------------------------------------------------------------------------------------------
def _items(kept: Kept) -> tuple[ItemRecord, ...]:
    """Return the pieces, or what was read back, each with its channel."""
    return tuple(
        ItemRecord(
            str(row.get("label")),
            Outcome.OK,
            elapsed_seconds=_maybe(row.get("elapsed_seconds")),
            begin_seconds=_maybe(row.get("begin_seconds")),
            worker=_channel_number(str(row.get("channel") or "")),
            bytes=_bytes_of(kept, row.get("handle")),
        )
        for row in kept.get(PIECES, ())
    )


def _bytes_of(kept: Kept, handle: Scalar) -> int | None:
    sizes = (row.get("byte_count") for row in kept.get("backup_pieces", ()) if row.get("handle") == handle)
    size = next(sizes, None) if handle is not None else None
    return int(size) if isinstance(size, int | float) else None


def _channel_number(name: str) -> int:
    found = re.search(r"(\d+)$", name)
    return int(found[1]) - 1 if found and int(found[1]) > 0 else 0


def _first(kept: Kept, key: str) -> Row:
    rows = kept.get(key, ())
    return rows[0] if rows else {}


def _number(value: Scalar) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _maybe(value: Scalar) -> float | None:
    return float(value) if isinstance(value, int | float) else None


SETS, SET_PIECES = "backup_sets", "backup_pieces"
_VIEW = "V$BACKUP_SET_DETAILS"
_HARDLY, _WELL, _MUCH = 1.1, 1.5, 0.1
"""Hardly smaller, well compressed all in all, and a part of the input that is worth a word."""


@dataclass(frozen=True, slots=True)
class BackupSet:
    """One set; bytes are 0 where the view has none."""

    key: tuple[Scalar, Scalar]
    compressed: bool
    read: float
    written: float
    seconds: float


def sets_of(kept: Kept) -> tuple[BackupSet, ...]:
    """Return the sets that were read, each once: a set that was copied again has a row for each time."""
    found = (_set(row) for row in kept.get(SETS, ()))
    return tuple({one.key: one for one in found}.values())


def set_sizes(kept: Kept) -> tuple[float, float]:
    """Return bytes read and written of all sets."""
    known = sets_of(kept)
    return sum(one.read for one in known), sum(one.written for one in known)


def set_metrics(kept: Kept) -> Iterator[Metric]:
    """Yield how many sets there were, and between which rates the single ones were read."""
    known = sets_of(kept)
    if not known:
        return
    yield Metric("backup_sets", float(len(known)), "sets", _VIEW)
    rates = [one.read / one.seconds for one in known if one.read and one.seconds >= 1]
    if len(rates) > 1:
        yield Metric("slowest_set_rate", min(rates), "bytes/s", _VIEW)
        yield Metric("fastest_set_rate", max(rates), "bytes/s", _VIEW)


def set_sentences(kept: Kept) -> Iterator[str]:
    """Yield a word on sets that compression does nothing for, while it does much for the others."""
    known = [one for one in sets_of(kept) if one.compressed and one.read and one.written]
    poor = [one for one in known if one.read < _HARDLY * one.written]
    rest = [one for one in known if one not in poor]
    read, much = sum(one.read for one in poor), sum(one.read for one in known)
    if not poor or not rest or read < _MUCH * much:
        return
    well = sum(one.read for one in rest) / sum(one.written for one in rest)
    if well < _WELL:
        return
    files = _files(kept, {one.key for one in poor})
    yield (
        f"{len(poor)} of {len(known)} backup sets ({byte_size(read)} of "
        f"{byte_size(much)}{f', data file {files}' if files else ''}) hardly shrank, the others {short(well)} "
        "times: their contents are already compressed or encrypted, and compressing them again only costs CPU"
    )


def _files(kept: Kept, keys: set[tuple[Scalar, Scalar]]) -> str:
    """Return the numbers of the data files in some sets, as far as the log tells them."""
    handles = {row.get("handle") for row in kept.get(SET_PIECES, ()) if _key(row) in keys}
    numbers = (row.get("datafiles") for row in kept.get(PIECES, ()) if row.get("handle") in handles)
    return ", ".join(dict.fromkeys(str(each) for each in numbers if each))


def _set(row: Row) -> BackupSet:
    return BackupSet(
        _key(row),
        row.get("compressed") == "YES",
        _number(row.get("input_bytes")),
        _number(row.get("output_bytes")),
        _number(row.get("elapsed_seconds")),
    )


def _key(row: Row) -> tuple[Scalar, Scalar]:
    return row.get("set_stamp"), row.get("set_count")
