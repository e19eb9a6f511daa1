"""The state of a database at one instant, as a snapshot keeps it: raw rows, with what each column of them is.

A `counter` only grows and is subtracted from the later one; a `gauge` is what it is at the instant; a `key` tells
rows apart; a `word` is text that is shown or compared, a setting's value above all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from toolkit.model.values import Scalar

BEGUN = "begun"
"""In the identity of a state: since when its counters count."""
INSTANT = "instant_seconds"
"""In the identity of a state: the server's own clock, in seconds since 1970 UTC."""
DATABASE = "database"
"""In the identity of a state: what is equal for two snapshots of the same database."""


class ColumnRole(StrEnum):
    """What a column of a section is."""

    KEY = "key"
    COUNTER = "counter"
    GAUGE = "gauge"
    WORD = "word"


@dataclass(frozen=True, slots=True)
class StateColumn:
    """A column of a section; counters and gauges have a unit."""

    name: str
    role: ColumnRole
    unit: str = ""


@dataclass(frozen=True, slots=True)
class StateSection:
    """Rows of one kind: statements, tables, settings ...

    Attributes:
        columns: what the values of a row are, in their order.
        rows: as read.
        since: names of the identity that must be equal before and after, or the counters began anew between.
        cut: whether there were more rows than are kept, so that a row not seen before may be an old one.
    """

    columns: tuple[StateColumn, ...]
    rows: tuple[tuple[Scalar, ...], ...]
    since: tuple[str, ...] = ()
    cut: bool = False

    def places(self, role: ColumnRole) -> tuple[int, ...]:
        """Return where the columns of a role stand in a row."""
        return tuple(place for place, column in enumerate(self.columns) if column.role is role)

    def by_key(self) -> dict[tuple[Scalar, ...], tuple[Scalar, ...]]:
        """Return the rows by what tells them apart."""
        keys = self.places(ColumnRole.KEY)
        return {tuple(row[place] for place in keys): row for row in self.rows}


@dataclass(frozen=True, slots=True)
class State:
    """What was read at one instant.

    Attributes:
        provider: which snapshot source it came from: `awr`, `statspack`, `vstat`, `pgstat`, `duckstat`, `osstat`.
        engine: of the target.
        identity: of which database, instance and host, since when it counts, and when this was read.
        sections: by name.
        warnings: what could not be read, in sentences.
    """

    provider: str
    engine: str
    identity: Mapping[str, Scalar] = field(default_factory=dict)
    sections: Mapping[str, StateSection] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SnapshotHead:
    """A snapshot without its state: what `snapshot list` shows."""

    number: int
    label: str
    target: str
    database: str
    provider: str
    taken_at: datetime
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot with its state."""

    head: SnapshotHead
    state: State
