"""What stored snapshots take: bytes each, time to keep one, time to list, at 10 and at 1,000 of them."""

from __future__ import annotations

import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from toolkit.model.state import ColumnRole, State, StateColumn, StateSection
from toolkit.store import open_store

_STATEMENTS = 2000
_COLUMNS = (
    StateColumn("statement_id", ColumnRole.KEY),
    StateColumn("statement_text", ColumnRole.WORD),
    StateColumn("calls", ColumnRole.COUNTER, "count"),
    StateColumn("elapsed_seconds", ColumnRole.COUNTER, "s"),
)


def state() -> State:
    """Make a state with as many statements as are kept at most."""
    rows = tuple(
        (str(number), f"select {number} from orders where day = $1 and shop = $2", float(number), number * 0.1)
        for number in range(_STATEMENTS)
    )
    return State("pgstat", "postgresql", {"database": "5@77"}, {"statements": StateSection(_COLUMNS, rows)})


def main() -> None:
    """Print a line for each number of snapshots."""
    taken = state()
    for times in (10, 1000):
        with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store.sqlite") as store:
            begun = time.perf_counter()
            for number in range(times):
                store.add_snapshot(f"label {number}", "dwh", datetime.now(UTC), taken)
            kept = (time.perf_counter() - begun) / times
            begun = time.perf_counter()
            store.snapshots(limit=50)
            listed = time.perf_counter() - begun
            size = sum(file.stat().st_size for file in Path(folder).iterdir())  # the log of what was written too
            print(f"{times:5d} snapshots: {size / times / 1024:.1f} KiB each, {kept * 1000:.1f} ms to keep one, "
                  f"{listed * 1000:.1f} ms to list 50")  # fmt: skip


if __name__ == "__main__":
    main()
