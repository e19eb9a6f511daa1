"""How long is waited for locks of others, and how often what they hold is tried: the same on every engine."""

from __future__ import annotations

from collections.abc import Mapping

from toolkit.model.experiment import OptionValue
from toolkit.units import parse_duration

_TRIES = 3
_LONGEST_SECONDS = 1_000_000
"""The largest DDL_LOCK_TIMEOUT (Oracle, Database Reference); lock_timeout of PostgreSQL takes twice that."""


def asked_seconds(options: Mapping[str, OptionValue]) -> float | None:
    """Return how long to wait as `--lock-wait` says; None where nothing was said."""
    asked = options.get("lock_wait")
    return None if asked is None else min(parse_duration(str(asked)), _LONGEST_SECONDS)


def tries(options: Mapping[str, OptionValue]) -> int:
    """Return how often what others lock is tried (`--lock-tries`)."""
    return int(str(options.get("lock_tries") or _TRIES))
