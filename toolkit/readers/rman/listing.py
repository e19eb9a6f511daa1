"""Sizes that a log shows: of pieces by LIST BACKUP, of data files by REPORT SCHEMA.

LIST prints a size per set, with two digits behind the point; it is that of a piece only where the set has one,
which LIST then names below it. REPORT SCHEMA prints whole MiB per data file. Source: Backup and Recovery
Reference, LIST and REPORT.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolkit.readers.rman.model import BackupPiece, RestoreRead

_SET = re.compile(
    r"\d+\s+(?:[A-Za-z]+\s+)?(?:\d\s+)?(\d+(?:\.\d+)?)([KMGTP]?)\s+(?:DISK|SBT_TAPE)\s+\d\d:\d\d:\d\d\s", re.ASCII
)
_FILE = re.compile(r"(\d{1,6})\s+(\d{1,9})\s+\S+\s+(?:YES|NO|\*\*\*)\s+\S", re.ASCII)
_SCALE = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40, "P": 50}
_MEBIBYTE = 2**20
_MOST = 200_000


class ListedSizes:
    """Sizes by the name of a piece, and by the number of a data file."""

    def __init__(self) -> None:
        self.pieces: dict[str, int] = {}
        self.files: dict[int, int] = {}
        self.cataloged = False
        """Whether the files that follow were cataloged."""
        self._size: int | None = None
        self._schema = False

    def row(self, line: str) -> bool:
        """Read a row of figures; False where it is none of a list."""
        if (found := _SET.match(line)) is not None:
            self._size = round(float(found[1]) * 2 ** _SCALE[found[2]])
            return True
        if self._schema and (row := _FILE.match(line)) is not None:
            self.files[int(row[1])] = int(row[2]) * _MEBIBYTE
            return True
        return False

    def name(self, line: str) -> bool:
        """Read `Piece Name: ...`, below the row of its set."""
        _, found, name = line.partition(": ")
        if not found:
            return False
        if self._size is not None and len(self.pieces) < _MOST:
            self.pieces[name.partition("  ")[0].strip()] = self._size
        self._size = None
        return True

    def heading(self, line: str) -> bool:
        """Read the heading of a list: data files of REPORT SCHEMA, files that were cataloged, or another."""
        self.cataloged = line == "List of Cataloged Files"
        self._schema = line.startswith("File Size(MB)") and "Datafile Name" in line
        return False


def sized_pieces(pieces: Sequence[BackupPiece], sizes: dict[str, int]) -> Sequence[BackupPiece]:
    """Give pieces the sizes that were listed for their handles."""
    if not sizes:
        return pieces
    return [piece._replace(bytes=sizes.get(piece.handle or "")) for piece in pieces]


def sized_reads(reads: Sequence[RestoreRead], sizes: dict[int, int]) -> Sequence[RestoreRead]:
    """Give restores of whole data files the sizes of these, where all are known and none was restored in parts."""
    if not sizes:
        return reads
    often: dict[int, int] = {}
    for one in reads:
        for file in one.datafiles:
            often[file.file] = often.get(file.file, 0) + 1
    return [
        one._replace(bytes=sum(sizes[file.file] for file in one.datafiles))
        if one.op == "restore" and one.datafiles
        and all(file.file in sizes and often[file.file] == 1 for file in one.datafiles) else one
        for one in reads
    ]  # fmt: skip
