"""DuckDB files that a kill left with a half-written block.

DuckDB 2.0.0 keeps 64 pieces of its metadata in one block, with one checksum. A checkpoint writes free pieces of a
block that is in use, in place: where the process is killed within that write, the checksum does not fit any more
and DuckDB refuses the file, though each piece of the last checkpoint is whole (MetadataManager::Flush). Three of
1,000 processes that did nothing but checkpoint, without dbatk, left such a file when they were killed.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

import duckdb

_TORN = re.compile(r"computed checksum (\d+) does not match stored checksum \d+ in block at location (\d+)")


def mend_torn(file: Path) -> bool:
    """Write the checksums of what is there, so that the rows can be compared; tell if any differed.

    Nothing else is changed: what a kill cost of rows is seen afterwards as before.
    """
    mended = False
    while file.is_file():
        try:
            duckdb.connect(str(file), read_only=True).close()
        except duckdb.Error as error:
            torn = _TORN.search(str(error))
            if torn is None:
                break  # held by another process, or something else: for the next command to say
            with file.open("r+b") as block:
                block.seek(int(torn[2]))
                block.write(struct.pack("<Q", int(torn[1])))
            mended = True
        else:
            break
    return mended
