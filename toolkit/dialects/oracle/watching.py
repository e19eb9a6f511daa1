"""What is read of an Oracle instance around and during a trial, and how it names a statement."""

from __future__ import annotations

import hashlib
import struct

from toolkit.dialects.answers import Watching

WATCHING = Watching(
    snapshots=(
        "snapshot_vstat_instance",
        "snapshot_vstat",
        "snapshot_vstat_waits",
        "snapshot_vstat_time",
        "snapshot_vstat_host",
        "snapshot_vstat_io",
        "snapshot_vstat_session",
        "snapshot_vstat_session_time",
        "snapshot_vstat_session_waits",
    ),
    samples=("sample_parallel", "sample_statements", "sample_temp"),
    progress="progress",
    plan="plan",
    together=True,
    after_evidence=False,
)

_DIGITS = "0123456789abcdfghjkmnpqrstuvwxyz"
_LENGTH = 13


def sql_id(text: str) -> str:
    """Return the SQL_ID of a statement as it is sent, so that it can be found without a search of V$SQL.

    It is the lower half of the MD5 of the text and a NUL, in base 32 (public since 2007; `select * from dual` is
    a5ks9fhw2v9s1 everywhere). A database whose character set spells the text otherwise has another one, and then
    finds nothing.
    """
    words = struct.unpack("<4I", hashlib.md5(text.encode() + b"\0", usedforsecurity=False).digest())
    number = words[2] << 32 | words[3]
    return "".join(_DIGITS[number >> 5 * place & 31] for place in reversed(range(_LENGTH)))
