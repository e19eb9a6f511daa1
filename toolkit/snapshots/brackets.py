"""Brackets: a snapshot of the database's own before and after, checked, and what lies between as metrics.

A bracket of a trial is taken only when the trial is expected to take long; what a snapshot costs would be most of
a short one. What cannot be taken or trusted is a warning, never a zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from toolkit.dialects.base import Dialect
from toolkit.dialects.repositories import Repository, RepositorySnapshot
from toolkit.dialects.work import Call
from toolkit.errors import ToolkitError
from toolkit.executors import refused
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.records import Metric, Sample
from toolkit.model.steps import Step
from toolkit.model.values import Row, Scalar
from toolkit.rendering import step_of
from toolkit.units import counted

LONG_SECONDS = 60.0
"""From this expected time on a trial has a bracket of its own."""
_RANKED = 10
_PACK_OFF, _IMPORTED = 4, 2
_UNITS = (("bytes", "bytes"), ("redo size", "bytes"))


@dataclass(slots=True)
class Repositories:
    """Takes snapshots of a repository and reads what lies between two of them.

    Args:
        repository: AWR or Statspack.
        dialect: renders its statements.
        ask: runs a step; CREATE_SNAPSHOT may take minutes.
        mark: what the snapshot is marked with, where it can be.
    """

    repository: Repository
    dialect: Dialect
    ask: Callable[[Step], Answer]
    mark: str
    taken: int = 0

    def take(self) -> RepositorySnapshot:
        """Take a snapshot and find it again.

        Raises:
            ToolkitError: TK-0203 with the database's own code; TK-0208 when no new snapshot is there.
        """
        self.taken += 1
        mark = f"{self.mark} {self.taken}"
        try:
            before = self._newest()
            self.ask(step_of(self.dialect, self.repository.snap(mark)))
            found = self.repository.found(mark)
            after = self._newest() if found is None else _numbers(self._rows(found))
            return self._ours(before, after)
        except DatabaseError as error:
            what = f"no {self.repository.provider} snapshot could be taken"
            raise refused(self.dialect, error, what) from None

    def _newest(self) -> dict[tuple[int, int], int]:
        return _numbers(self._rows(self.repository.newest))

    def _ours(
        self, before: Mapping[tuple[int, int], int], after: Mapping[tuple[int, int], int]
    ) -> RepositorySnapshot:
        """Return the snapshot of this instance that was not there before: which database id it has is found so."""
        place = self._rows(self.repository.place)
        instance = int(str(place[0]["instance_number"])) if place else 1
        new = {key: snap for key, snap in after.items() if snap > before.get(key, 0)}
        mine = [key for key in new if key[1] == instance] or list(new)
        if not mine:
            raise ToolkitError(
                f"{self.repository.provider} took no new snapshot",
                code="TK-0208",
                hint="if its interval is 0, manual snapshots fail too; `--snapshot vstat` needs neither",
            )
        key = self._own_container(mine)
        return RepositorySnapshot(self.repository.provider, key[0], key[1], new[key])

    def _own_container(self, keys: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Choose among several database ids the one of this container: the root may have taken one meanwhile."""
        if len(keys) > 1 and self.repository.container is not None:
            rows = self._optional(self.repository.container)
            own = rows[0].get("con_dbid") if rows else None
            keys = [key for key in keys if key[0] == own] or keys
        return keys[0]

    def _rows(self, call: Call, binds: Mapping[str, Scalar] | None = None) -> tuple[Row, ...]:
        return self.ask(step_of(self.dialect, self.repository.bound(call, binds or {}))).rows

    def _optional(self, call: Call, binds: Mapping[str, Scalar] | None = None) -> tuple[Row, ...]:
        try:
            return self._rows(call, binds)
        except (DatabaseError, ToolkitError) as error:
            if isinstance(error, DatabaseError) and error.lost:
                raise
            return ()

    # -- between two ----------------------------------------------------------------------------------------
    def check(self, begin: RepositorySnapshot, end: RepositorySnapshot) -> tuple[str, ...]:
        """Return why nothing of a bracket can be trusted; nothing where all is well."""
        if (begin.dbid, begin.instance) != (end.dbid, end.instance):
            return (f"its snapshots are of two instances or containers ({_named(begin)} and {_named(end)})",)
        if end.snapshot <= begin.snapshot:
            return (f"its second snapshot ({end.snapshot}) is not later than the first ({begin.snapshot})",)
        binds = _range_binds(begin, end)
        rows = [
            row
            for row in self._rows(self.repository.range, binds)
            if _int(row, "instance_number") == begin.instance
        ]
        return tuple(_faults(rows, begin, end, self._flags(begin, binds)))

    def _flags(self, begin: RepositorySnapshot, binds: Mapping[str, Scalar]) -> dict[int, int]:
        if self.repository.flags is None:
            return {}
        rows = self._optional(self.repository.flags, binds)
        return {
            _int(row, "snap_id"): _int(row, "snap_flag")
            for row in rows
            if _int(row, "instance_number") == begin.instance and row.get("snap_flag") is not None
        }

    def errors(self, begin: RepositorySnapshot, end: RepositorySnapshot) -> tuple[str, ...]:
        """Say of which of the two snapshots the database could not store every table."""
        rows = self._rows(self.repository.range, _range_binds(begin, end))
        found = {_int(row, "snap_id"): _int(row, "error_count") for row in rows
                 if _int(row, "instance_number") == begin.instance}  # fmt: skip
        return tuple(
            f"snapshot {mark.snapshot} was stored with {counted(found[mark.snapshot], 'error')}: what "
            "DBA_HIST_SNAP_ERROR names is missing in it, and in what lies between"
            for mark in (begin, end)
            if found.get(mark.snapshot, 0) > 0
        )

    def strangers(self, begin: RepositorySnapshot, end: RepositorySnapshot) -> int:
        """Return how many snapshots others took between the two."""
        rows = self._rows(self.repository.range, _range_binds(begin, end))
        between = {_int(row, "snap_id") for row in rows if _int(row, "instance_number") == begin.instance}
        return len(between - {begin.snapshot, end.snapshot})

    def between(self, begin: RepositorySnapshot, end: RepositorySnapshot) -> dict[str, tuple[Row, ...]]:
        """Return what lies between two snapshots, by section.

        Raises:
            DatabaseError: when a table cannot be read.
        """
        binds = {**_range_binds(begin, end), "instance": begin.instance}
        return {name: self._rows(call, binds) for name, call in self.repository.deltas.items()}

    def report(self, begin: RepositorySnapshot, end: RepositorySnapshot) -> str | None:
        """Return the database's own report; None where it writes none.

        Raises:
            DatabaseError: when it cannot be had.
        """
        if self.repository.report is None:
            return None
        rows = self._rows(self.repository.report(begin, end))
        lines = ("" if row.get("output") is None else str(row["output"]).rstrip("\n") for row in rows)
        return "\n".join(lines) + "\n"

    def extras(self, begin: RepositorySnapshot, end: RepositorySnapshot) -> dict[str, tuple[Row, ...]]:
        """Return what more can be read where it is granted."""
        binds = {**_range_binds(begin, end), "instance": begin.instance}
        return {name: self._optional(call, binds) for name, call in self.repository.extras.items()}


def _range_binds(begin: RepositorySnapshot, end: RepositorySnapshot) -> dict[str, Scalar]:
    return {"dbid": begin.dbid, "first_snap": begin.snapshot, "last_snap": end.snapshot}


def _named(mark: RepositorySnapshot) -> str:
    return f"{mark.dbid}, instance {mark.instance}"


def _int(row: Row, column: str) -> int:
    return int(float(str(row.get(column) or 0)))


def _numbers(rows: Iterable[Row]) -> dict[tuple[int, int], int]:
    return {(_int(row, "dbid"), _int(row, "instance_number")): _int(row, "snap_id") for row in rows}


def _faults(
    rows: Sequence[Row], begin: RepositorySnapshot, end: RepositorySnapshot, flags: Mapping[int, int]
) -> Iterator[str]:
    there = {_int(row, "snap_id") for row in rows}
    for mark in (begin, end):
        if mark.snapshot not in there:
            yield f"snapshot {mark.snapshot} does not exist for this instance"
    if len({row.get("begun") for row in rows}) > 1:
        yield "the instance was restarted during it"
    for mark in (begin, end):
        flag = flags.get(mark.snapshot, 0)
        if flag & _PACK_OFF:
            yield f"snapshot {mark.snapshot} contains no rows: the Diagnostics Pack was switched off"
        elif flag & _IMPORTED:
            yield f"snapshot {mark.snapshot} was imported from another database"


def metrics_between(
    sections: Mapping[str, Sequence[Row]], source: str
) -> tuple[tuple[Metric, ...], tuple[str, ...]]:
    """Return what lies between two snapshots as metrics, and the counters that went down."""
    found: list[Metric] = []
    found += [_counted(row, source) for row in sections.get("sysstat", ())]
    found += [
        Metric(str(row["statistic_name"]), float(row["total_seconds"] or 0), "seconds", source)
        for row in sections.get("time_model", ())
        if row["total_seconds"] is not None
    ]
    waits = [
        Metric(f"event {row['event']}", float(row["wait_seconds"] or 0), "seconds", source)
        for row in sections.get("events", ())
        if row["wait_seconds"] is not None
    ]
    negative = tuple(one.name for one in (*found, *waits) if one.value < 0)
    ranked = sorted((one for one in waits if one.value > 0), key=lambda one: -one.value)[:_RANKED]
    return (*(one for one in found if one.value >= 0), *ranked), negative


def _counted(row: Row, source: str) -> Metric:
    name = str(row["statistic_name"])
    unit = "bytes" if "bytes" in name or name.startswith("redo size") else "count"
    return Metric(name, float(row["total"] or 0), unit, source)


@dataclass(slots=True)
class BracketProvider:
    """A snapshot before and after each long trial, and one bracket around the whole run."""

    repositories: Repositories
    after_evidence: bool = True
    expected_seconds: float | None = None
    """What the next trial is expected to take; set by the sweep, which knows."""
    begun: RepositorySnapshot | None = None
    name: str = field(init=False)
    _said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = self.repositories.repository.provider

    def begin(self) -> None:
        """Take the first snapshot, if the trial is expected to be long."""
        self._said, self.begun = [], None
        if self.expected_seconds is not None and self.expected_seconds > LONG_SECONDS:
            self.begun = self.attempt()

    def sample(self, at_seconds: float) -> tuple[Sample, ...]:
        """Return nothing: snapshots are not taken meanwhile."""
        del at_seconds
        return ()

    def end(self) -> tuple[Metric, ...]:
        """Take the second snapshot and return what lies between; nothing of a bracket that failed."""
        if self.begun is None:
            return ()
        after = self.attempt()
        return () if after is None else self.difference(self.begun, after)

    def attempt(self) -> RepositorySnapshot | None:
        """Take a snapshot; what goes wrong is a warning, a lost session too: the work around it is done."""
        try:
            return self.repositories.take()
        except ToolkitError as error:
            self._said.append(f"{error.sentence}; {error.hint}")
            return None

    def difference(self, begin: RepositorySnapshot, end: RepositorySnapshot) -> tuple[Metric, ...]:
        """Check a bracket and return its metrics."""
        try:
            faults = self.repositories.check(begin, end)
            if faults:
                self._said += [f"a snapshot pair is omitted: {fault}" for fault in faults]
                return ()
            self._said += self.repositories.errors(begin, end)
            others = self.repositories.strangers(begin, end)
            if others:
                self._said.append(
                    f"{others} more snapshot(s) were taken within a snapshot pair; it covers them all"
                )
            metrics, negative = metrics_between(self.repositories.between(begin, end), self.name)
        except (DatabaseError, ToolkitError) as error:
            self._said.append(f"the data between two snapshots could not be read: {error.sentence}")
            return ()
        if negative:
            self._said.append(
                f"counters were reset within a snapshot pair and are omitted: {', '.join(negative[:5])}"
            )
        if not metrics:
            self._said.append("a snapshot pair is omitted: its snapshots contain no rows")
        return metrics

    def peaks(self) -> Mapping[str, float]:
        """Return nothing: the deltas of a repository are no evidence of a degree."""
        return {}

    def warnings(self) -> tuple[str, ...]:
        """Return what went wrong since the trial began."""
        return tuple(self._said)
