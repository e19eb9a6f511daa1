"""Intervals made up for tests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from toolkit.model.interval import Interval, Listing, Origin, Segment, Statement, Wait

BEGIN = datetime(2025, 3, 3, 10)
HOUR = 3600.0


def origin(name: str = "one", *, day: int = 0, **more: object) -> Origin:
    begin = BEGIN + timedelta(days=day)
    values: dict[str, object] = {
        "snapshot_source": "awr", "scope": "instance", "database": "ACME", "dbid": 7, "instance": "acme1",
        "host": "box",
        "version": "19.0.0.0.0", "cpus": 8.0, "startup": datetime(2025, 1, 1), "begin": begin,
        "end": begin + timedelta(hours=1), "begin_snapshot": 10 + day, "end_snapshot": 11 + day,
        "elapsed_seconds": HOUR,
    }  # fmt: skip
    return Origin(name, **{**values, **more})  # type: ignore[arg-type]


def interval(
    *, day: int = 0, waits: Mapping[str, tuple[float, float]] | None = None, cpu: float = 1000.0,
    db_time: float | None = None, statements: tuple[Statement, ...] = (), sql_floor: float = 10.0,
    load: Mapping[str, float] | None = None, floor: float = 1.0, who: Origin | None = None, **more: object,
) -> Interval:  # fmt: skip
    rows = {name: Wait(name, seconds, count) for name, (seconds, count) in (waits or {}).items()}
    rows["DB CPU"] = Wait("DB CPU", cpu)
    total = sum(one.seconds or 0 for one in rows.values()) if db_time is None else db_time
    floors = {"elapsed_s": sql_floor, "gets": 1000.0, "executions": 50.0}
    return Interval(
        who or origin(day=day),
        load={"transactions": 10.0, "user_calls": 50.0, "executes": 100.0, "logical_reads": 1e4,
              "physical_reads": 100.0, "db_time_s": total / HOUR, **(load or {})},
        time_model={"DB time": total, "DB CPU": cpu},
        waits=Listing(rows, floors={"seconds": floor}),
        statements=Listing({one.key: one for one in statements}, floors=floors),
        **more,  # type: ignore[arg-type]
    )  # fmt: skip


def segments(**values: float) -> dict[str, Listing[Segment]]:
    rows = {name: Segment("SHOP", name, None, "TABLE", value) for name, value in values.items()}
    return {
        "Logical Reads": Listing({one.key: one for one in rows.values()}, floors={"value": min(values.values())})
    }
