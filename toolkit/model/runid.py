"""Run ids: `YYYYMMDD-HHMMSS-xxxx`, and the short key that names of our objects are made of."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random


def new_run_id(now: datetime, random: Random) -> str:
    """Return a fresh run id such as `20261121-051342-ab3f`.

    Args:
        now: an aware instant; the id shows it in UTC.
        random: gives the last four characters, which tell runs of one second apart.
    """
    return f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{random.getrandbits(16):04x}"


def run_key(run_id: str) -> str:
    """Return the run id without dashes and century, in capitals: 16 characters for a name of 30 bytes.

    >>> run_key("20261121-051342-ab3f")
    '261121051342AB3F'
    """
    return run_id.replace("-", "")[2:].upper()
