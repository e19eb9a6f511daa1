"""Snapshots a database keeps itself (AWR, Statspack): how one is taken, found, checked and subtracted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from toolkit.dialects.work import Call
from toolkit.model.values import Scalar
from toolkit.model.words import StepKind


@dataclass(frozen=True, slots=True)
class RepositorySnapshot:
    """One snapshot of a repository: which database's, which instance's, which number."""

    provider: str
    dbid: int
    instance: int
    snapshot: int


@dataclass(frozen=True, slots=True)
class Repository:
    """How a database keeps snapshots itself.

    Attributes:
        provider: the name of the snapshot source.
        newest: tells the newest snapshot of each database id and instance.
        snap: takes one; `marked` also tells it by its mark.
        place: tells the database id and the number of this instance.
        container: tells the database id of a pluggable database, where there is one; may be refused.
        range: tells the snapshots of a range (:dbid, :first_snap, :last_snap).
        flags: tells how they were taken; may be refused.
        deltas: what is subtracted between two: by section, files with :dbid, :instance, :first_snap, :last_snap.
    """

    provider: str
    newest: Call
    range: Call
    place: Call
    deltas: Mapping[str, Call]
    container: Call | None = None
    flags: Call | None = None
    snap_template: str = ""
    marked: str | None = None
    extras: Mapping[str, Call] = field(default_factory=dict)
    """Files that tell more where they are granted: texts of statements, parameters."""
    report: Callable[[RepositorySnapshot, RepositorySnapshot], Call] | None = None
    """The database's own report of what lies between two snapshots, as lines in the column `output`."""

    def snap(self, mark: str) -> Call:
        """Return the statement that takes a snapshot."""
        return Call(self.snap_template, {"mark": mark}, kind=StepKind.BLOCK)

    def found(self, mark: str) -> Call | None:
        """Return what finds the snapshot of a mark, where snapshots bear one."""
        return None if self.marked is None else Call(self.marked, file=True, binds={"mark": mark})

    def bound(self, call: Call, binds: Mapping[str, Scalar]) -> Call:
        """Return a call with values for its binds."""
        return Call(call.template, call.values, file=call.file, binds={**call.binds, **binds})


@dataclass(frozen=True, slots=True)
class SnapshotSource:
    """The provider that is taken, and why this one.

    `repository` is None where counters are read; `choice` tells whether there was another.
    """

    provider: str
    why: str
    repository: Repository | None = None
    choice: bool = True
