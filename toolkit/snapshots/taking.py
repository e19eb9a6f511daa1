"""Reads the state of a database once, for a snapshot: what is refused is left out with a warning."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from toolkit.dialects.base import Dialect
from toolkit.dialects.states import StateRead
from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.state import ColumnRole, StateColumn, StateSection
from toolkit.model.steps import Step
from toolkit.model.values import Row, Scalar
from toolkit.rendering import step_of

_PLAIN = (
    StateColumn("name", ColumnRole.KEY),
    StateColumn("unit", ColumnRole.WORD),
    StateColumn("total", ColumnRole.COUNTER),
    StateColumn("value", ColumnRole.GAUGE),
)
_COUNTED = frozenset({"counter", "ranked"})


@dataclass(slots=True)
class Taking:
    """What has been read so far."""

    identity: dict[str, Scalar] = field(default_factory=dict)
    sections: dict[str, StateSection] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def read_state(reads: Iterable[StateRead], dialect: Dialect, ask: Callable[[Step], Answer]) -> Taking:
    """Read everything in its order.

    Args:
        reads: of the engine.
        dialect: renders them.
        ask: runs a step in a session that only reads.

    Raises:
        DatabaseError: when the session is lost.
    """
    taken = Taking()
    for read in reads:
        try:
            rows = ask(step_of(dialect, read.call)).rows
        except (DatabaseError, ToolkitError) as error:
            if isinstance(error, DatabaseError) and (error.lost or error.cancelled):
                raise
            taken.warnings.append(f"`{read.call.template}` could not be read: {error.sentence}")
            continue
        _keep(taken, read, rows)
    return taken


def _keep(taken: Taking, read: StateRead, rows: Sequence[Row]) -> None:
    if read.identity:
        taken.identity.update(rows[0] if rows else {})
    elif read.plain:
        _keep_plain(taken, read, rows)
    else:
        taken.sections[read.section] = _section(read, rows)


def _section(read: StateRead, rows: Sequence[Row]) -> StateSection:
    columns = (
        *(StateColumn(name, ColumnRole.KEY) for name in read.keys),
        *(StateColumn(name, ColumnRole.WORD) for name in read.words),
        *(StateColumn(name, ColumnRole.COUNTER, unit) for name, unit in read.counters.items()),
        *(StateColumn(name, ColumnRole.GAUGE, unit) for name, unit in read.gauges.items()),
    )
    values = tuple(tuple(row.get(column.name) for column in columns) for row in rows)
    return StateSection(columns, values, read.since, cut=read.most is not None and len(rows) >= read.most)


def _keep_plain(taken: Taking, read: StateRead, rows: Sequence[Row]) -> None:
    """Keep counters and gauges as they are read around a trial."""
    found: list[tuple[Scalar, ...]] = []
    for row in rows:
        name, value, kind = str(row["metric_name"]), row["metric_value"], str(row["metric_kind"])
        if kind == "identity":
            taken.identity[name] = value
        elif value is not None:
            total, gauge = (value, None) if kind in _COUNTED else (None, value)
            found.append((name, row["metric_unit"], total, gauge))
    before = taken.sections.get(read.section)
    taken.sections[read.section] = StateSection(_PLAIN, (*(before.rows if before else ()), *found), read.since)


_WATCHED = (
    StateColumn("event", ColumnRole.KEY),
    StateColumn("wait_class", ColumnRole.WORD),
    StateColumn("seconds", ColumnRole.GAUGE, "s"),
)
_LOOK_EVERY = 0.1


def watch_sessions(
    taken: Taking, step: Step, seconds: float, ask: Callable[[Step], Answer], wait: Callable[[float], object]
) -> None:
    """Look at sessions again and again, and keep how long each event was seen, in sessions times seconds.

    Args:
        taken: where it is kept.
        step: tells what sessions wait for at an instant.
        seconds: how long.
        ask: runs the step.
        wait: lets time pass.
    """
    begun = last = time.monotonic()
    seen: dict[tuple[Scalar, Scalar], float] = {}
    while last - begun < seconds:
        wait(_LOOK_EVERY)
        rows = ask(step).rows
        now = time.monotonic()
        for row in rows:
            key = (row["event"], row["wait_class"])
            seen[key] = seen.get(key, 0.0) + float(row["sessions"] or 0) * (now - last)
        last = now
    taken.identity["watched_seconds"] = last - begun
    taken.sections["watched"] = StateSection(_WATCHED, tuple((*key, spent) for key, spent in seen.items()))
