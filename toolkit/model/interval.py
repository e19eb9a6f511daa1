"""What a database did between two snapshots, by any source: an AWR or Statspack report, or counters read twice.

Everything that compares intervals works on this and on nothing else. A value that the source does not have is None
or is not in its mapping, never zero. A list of the topmost rows says how large a row that it lacks can be
(`Listing.most`), so that "not among the first ten" is never taken for "missing".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

LOAD = (
    "db_time_s", "db_cpu_s", "background_cpu_s", "transactions", "user_calls", "executes", "logical_reads",
    "block_changes", "physical_reads", "physical_writes", "read_io_requests", "write_io_requests", "read_io_bytes",
    "write_io_bytes", "redo_size_bytes", "temp_io_bytes", "parses", "hard_parses", "logons", "rollbacks",
)  # fmt: skip
"""The names of rates of the load profile that mean the same on every engine; a source may give others besides."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Who was watched, when, and by what; None where the source does not say.

    Attributes:
        name: What the reader calls this interval: a file, a label, `T:101-104`.
        snapshot source: `awr`, `statspack`, `vstat`, `pgstat` or `duckstat`; snapshot sources count differently.
        scope: `instance`, `rac_global`, `pdb` or `database`.
        begin: Of the interval, by the server's clock (with or without a zone, as the source has it).
        cuts_names: Names end at the width of their column, as a text report prints them.
    """

    name: str
    snapshot_source: str
    scope: str = "instance"
    engine: str = "oracle"
    database: str | None = None
    dbid: int | str | None = None
    instance: str | None = None
    host: str | None = None
    platform: str | None = None
    version: str | None = None
    container: str | None = None
    rac: bool | None = None
    cpus: float | None = None
    memory_bytes: float | None = None
    startup: datetime | None = None
    begin: datetime | None = None
    end: datetime | None = None
    begin_snapshot: int | str | None = None
    end_snapshot: int | str | None = None
    elapsed_seconds: float | None = None
    begin_sessions: float | None = None
    end_sessions: float | None = None
    cuts_names: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """A wait event, a wait class or `DB CPU` (which has no waits), over the whole interval.

    `latency_seconds` is the average wait as the source has it; where it has none, time by waits.
    """

    name: str
    seconds: float | None = None
    waits: float | None = None
    wait_class: str | None = None
    printed_latency: float | None = None

    @property
    def latency_seconds(self) -> float | None:
        """The average wait."""
        if self.printed_latency is not None:
            return self.printed_latency
        return self.seconds / self.waits if self.seconds is not None and self.waits else None


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL statement over the whole interval; `key` is its sql_id, hash value or queryid."""

    key: str
    executions: float | None = None
    elapsed_s: float | None = None
    cpu_s: float | None = None
    gets: float | None = None
    reads: float | None = None
    temp_blocks: float | None = None
    parse_calls: float | None = None
    plan: str | None = None
    module: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """How much of one measure (`Logical Reads` ...) went to a table, an index or a part of one."""

    owner: str | None
    name: str | None
    part: str | None
    kind: str | None
    value: float | None

    @property
    def key(self) -> str:
        """The name by which it is matched, as a reader knows it."""
        return ".".join(one for one in (self.owner, self.name, self.part) if one)


@dataclass(frozen=True, slots=True)
class InputOutput:
    """What one function (`LGWR`), file type (`Temp File`) or kind of request read and wrote."""

    name: str
    read_bytes: float | None = None
    write_bytes: float | None = None
    read_requests: float | None = None
    write_requests: float | None = None
    waits: float | None = None
    latency_seconds: float | None = None


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """Rows by their key, and what is known of a row that is not there.

    Attributes:
        rows: By key.
        whole: Every row there is stands here: one that is not there is zero.
        floors: By measure (`seconds`, `elapsed_s`, `gets`, `value` ...), the last value of the list ordered by it:
            what a row that is not there can have at most. Without an entry nothing is known of absent rows.
        captured: Of statements, the share of DB time that the source noticed at all. What it did not notice is in
            no list, however large; None where the source does not say.
    """

    rows: Mapping[str, T] = field(default_factory=dict)
    whole: bool = False
    floors: Mapping[str, float] = field(default_factory=dict)
    captured: float | None = None

    def most(self, measure: str) -> float | None:
        """Return how large a measure of an absent row can be at most; None when nothing is known."""
        return 0.0 if self.whole else self.floors.get(measure)


@dataclass(frozen=True, slots=True)
class Interval:
    """One interval. All amounts are totals over it, except `load` (per second) and `host_cpu` (percent).

    Attributes:
        load: Per second, by the names of `LOAD` and others; DB time per second is average active sessions.
        counters: Totals by the source's own names of statistics.
        time_model: Seconds by name (`DB time`, `DB CPU`, `parse time elapsed` ...).
        waits: What sessions of users waited for, with `DB CPU` (on engines that know it) as one of the rows.
        background: What the server's own processes waited for.
        host_cpu: `user_pct`, `sys_pct`, `wio_pct`, `idle_pct`, `busy_pct`, and `load_begin`, `load_end`.
        memory: Bytes at begin and end by name (`buffer cache`, `shared pool`, `SGA`, `PGA`).
        ratios: Percentages by name as printed (`Buffer Hit`).
        segments: By measure.
        parameters: Values at the begin; `changed_parameters` are begin and end of those changed within.
        container_parameters: Parameters set in other containers of the database, by container.
        container_changes: Those of them that changed within, by container.
        details: Numbers of further lists of a report: by section, by what names a row, by name.
        advice: Curves of memory advice by section: the size in bytes, and what is estimated for it.
        indexes: The table of each index that was there at the end; empty where that is not known.
        instances: Of a cluster, each as an interval of its own.
        completeness: Of a report in text, a sentence on what shows that its lists are whole.
    """

    origin: Origin
    load: Mapping[str, float] = field(default_factory=dict)
    counters: Mapping[str, float] = field(default_factory=dict)
    time_model: Mapping[str, float] = field(default_factory=dict)
    waits: Listing[Wait] = field(default_factory=Listing)
    background: Listing[Wait] = field(default_factory=Listing)
    classes: Listing[Wait] = field(default_factory=Listing)
    statements: Listing[Statement] = field(default_factory=Listing)
    segments: Mapping[str, Listing[Segment]] = field(default_factory=dict)
    functions: Listing[InputOutput] = field(default_factory=Listing)
    file_types: Listing[InputOutput] = field(default_factory=Listing)
    host_cpu: Mapping[str, float] = field(default_factory=dict)
    memory: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    ratios: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, str | None] = field(default_factory=dict)
    changed_parameters: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    container_parameters: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    container_changes: Mapping[str, Mapping[str, tuple[str | None, str | None]]] = field(default_factory=dict)
    details: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    advice: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    indexes: Mapping[str, str] = field(default_factory=dict)
    instances: tuple[Interval, ...] = ()
    warnings: tuple[str, ...] = ()
    completeness: str = ""

    @property
    def all_parameters(self) -> dict[str, str | None]:
        """The parameters of every container, those of others as `NAME (CONTAINER)`."""
        return _of_all(self.parameters, self.container_parameters)

    @property
    def all_changes(self) -> dict[str, tuple[str | None, str | None]]:
        """The parameters of every container that changed within, those of others as `NAME (CONTAINER)`."""
        return _of_all(self.changed_parameters, self.container_changes)

    @property
    def uncaptured_seconds(self) -> float:
        """The DB time of statements that the source did not notice, zero where it does not say."""
        captured, seconds = self.statements.captured, self.db_time_seconds
        return 0.0 if captured is None or seconds is None else max(0.0, 1 - captured) * seconds

    @property
    def db_time_seconds(self) -> float | None:
        """The DB time of the whole interval."""
        if (seconds := self.time_model.get("DB time")) is not None:
            return seconds
        rate, elapsed = self.load.get("db_time_s"), self.origin.elapsed_seconds
        return rate * elapsed if rate is not None and elapsed else None

    @property
    def accounted_seconds(self) -> float | None:
        """The time of all wait classes and of DB CPU, None where not all are known.

        It is about the DB time; much less where a session waited for CPU, or where DB time was spent earlier: a
        statement counts its whole time in the interval in which its call ends.
        """
        rows = self.classes.rows
        if not self.classes.whole or "DB CPU" not in rows:
            return None
        return sum(row.seconds or 0.0 for row in rows.values())

    def total(self, name: str) -> float | None:
        """Return the total of a rate of the load profile over the interval."""
        rate, elapsed = self.load.get(name), self.origin.elapsed_seconds
        return rate * elapsed if rate is not None and elapsed is not None else None


def _of_all(own: Mapping[str, T], others: Mapping[str, Mapping[str, T]]) -> dict[str, T]:
    theirs = {f"{name} ({place})": value for place, values in others.items() for name, value in values.items()}
    return {**own, **theirs}
