"""What V$BACKUP_SET_DETAILS adds to a backup's evidence: bytes in and out of each set, and how fast each was.

Source: Database Reference, V$BACKUP_SET_DETAILS (ORIGINAL_INPUT_BYTES: the amount of data backed up;
OUTPUT_BYTES: the size of the set; COMPRESSED). Its COMPRESSION_RATIO counts blocks that were left out and is no
measure of compression, so the ratio is taken from the bytes. SET_STAMP and SET_COUNT join sets to pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toolkit.model.records import Metric
from toolkit.model.values import Row, Scalar
from toolkit.units import byte_size
from toolkit.units import number as short

SETS, PIECES, LOG_PIECES = "backup_sets", "backup_pieces", "rman_pieces"
_VIEW = "V$BACKUP_SET_DETAILS"
_HARDLY, _WELL, _MUCH = 1.1, 1.5, 0.1
"""Hardly smaller, well compressed all in all, and a part of the input that is worth a word."""

Kept = Mapping[str, tuple[Row, ...]]


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


def sizes(kept: Kept) -> tuple[float, float]:
    """Return bytes read and written of all sets."""
    known = sets_of(kept)
    return sum(one.read for one in known), sum(one.written for one in known)


def metrics(kept: Kept) -> Iterator[Metric]:
    """Yield how many sets there were, and between which rates the single ones were read."""
    known = sets_of(kept)
    if not known:
        return
    yield Metric("backup_sets", float(len(known)), "sets", _VIEW)
    rates = [one.read / one.seconds for one in known if one.read and one.seconds >= 1]
    if len(rates) > 1:
        yield Metric("slowest_set_rate", min(rates), "bytes/s", _VIEW)
        yield Metric("fastest_set_rate", max(rates), "bytes/s", _VIEW)


def sentences(kept: Kept) -> Iterator[str]:
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
    handles = {row.get("handle") for row in kept.get(PIECES, ()) if _key(row) in keys}
    numbers = (row.get("datafiles") for row in kept.get(LOG_PIECES, ()) if row.get("handle") in handles)
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


def _number(value: Scalar) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
