"""Views that guards of a plan read: who waits behind whom, standbys, free space; healthy unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tests.oracle.standin.scenario import ViewRow

WAITS = (
    "STATE WAIT_TIME_MICRO:n BLOCKING_SESSION_STATUS BLOCKING_INSTANCE:n BLOCKING_SESSION:n "
    "FINAL_BLOCKING_SESSION_STATUS FINAL_BLOCKING_INSTANCE:n FINAL_BLOCKING_SESSION:n"
)
"""Columns of V$SESSION about what a session waits for."""
VIEWS = {
    "V$DATAGUARD_STATS": "SOURCE_DBID:n SOURCE_DB_UNIQUE_NAME NAME VALUE UNIT TIME_COMPUTED DATUM_TIME CON_ID:n",
    "DBA_TABLESPACE_USAGE_METRICS": "TABLESPACE_NAME USED_SPACE:n TABLESPACE_SIZE:n USED_PERCENT:n",
}
SCN_BEGAN = "TIMESTAMP '2026-01-01 00:00:00'"
"""SCN 0 of the stand-in; each second has one."""
_BLOCK = 8192


def everywhere(rows: Sequence[ViewRow]) -> list[dict[str, object]]:
    """Return rows of a V$ view as its GV$ view has them: of the only instance."""
    return [{**row, "INST_ID": 1} for row in rows]


def usage() -> list[dict[str, object]]:
    """Return rows of DBA_TABLESPACE_USAGE_METRICS: 40 GiB free in USERS, sizes in blocks."""
    size = 64 * 2**30 // _BLOCK
    used = 24 * 2**30 // _BLOCK
    return [{"TABLESPACE_NAME": "USERS", "USED_SPACE": used, "TABLESPACE_SIZE": size, "USED_PERCENT": 37.5}]


class Living(list[ViewRow]):
    """Rows that are made anew at every read."""

    def __init__(self, make: Callable[[], Sequence[ViewRow]]) -> None:
        super().__init__()
        self._make = make

    def __iter__(self) -> Iterator[ViewRow]:
        return iter(self._make())
