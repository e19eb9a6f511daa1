"""The results store: what was asked, what was done, what was measured, and what is still to be undone.

Importing this package loads no SQLAlchemy; opening a store does.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.lazy import lazy
from toolkit.store.codec import experiment_from_json, experiment_to_json

if TYPE_CHECKING:
    from toolkit.store.journal import RunJournal
    from toolkit.store.leases import lease_is_live, this_host
    from toolkit.store.store import Store

CANNOT_BE_WRITTEN = frozenset({"TK-0401", "TK-0404"})
"""A store that is full, read-only, away or locked: what may pass, and what keeps nothing meanwhile."""
HEARTBEAT_SECONDS = 5.0

__all__ = [
    "CANNOT_BE_WRITTEN",
    "HEARTBEAT_SECONDS",
    "RunJournal",
    "Store",
    "experiment_from_json",
    "experiment_to_json",
    "lease_is_live",
    "open_store",
    "this_host",
]


def open_store(
    location: str | Path | None = None, *, busy_seconds: float | None = None, at_once: bool = True
) -> Store:
    """Open a results store, and make it when there is none.

    Args:
        location: a path, a `sqlite:///` or `postgresql://` URL; None takes `DBATK_STORE`, else the user's data
            folder.
        busy_seconds: how long to wait for another process's lock, 30 if not given.
        at_once: whether it is made now; else by the first write, and who only reads finds an empty one.

    Raises:
        ToolkitError: TK-0401 when it cannot be written, TK-0402 when it is damaged or another program's, TK-0403
            when a newer version wrote it, TK-0404 when it is locked, TK-0102 and TK-0206 for an address that
            cannot be used here.
    """
    from toolkit.store.store import open_at

    return open_at(location, busy_seconds, at_once=at_once)


__getattr__ = lazy(__name__, journal=("RunJournal",), store=("Store",), leases=("lease_is_live", "this_host"))
