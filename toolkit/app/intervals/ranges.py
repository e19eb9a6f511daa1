"""Ranges of a database's own snapshots: as intervals to compare, and as the reports Oracle writes itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise

from toolkit.analysis.repository_interval import cluster_interval, interval_of_rows
from toolkit.app.intervals.names import Range
from toolkit.app.ruling import ruled
from toolkit.app.runs.planning import read_base_facts, with_licences
from toolkit.app.snapshots.providers import snapshot_source_of
from toolkit.app.targets import ResolvedTarget
from toolkit.dialects.base import Dialect
from toolkit.dialects.oracle import snapshot_sources
from toolkit.dialects.oracle.snapshot_sources import report_call, report_text
from toolkit.dialects.registry import dialect_of
from toolkit.dialects.repositories import Repository, RepositorySnapshot
from toolkit.dialects.work import Call
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, refused
from toolkit.model.engines import engine
from toolkit.model.facts import Facts
from toolkit.model.interval import Interval
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import Row
from toolkit.model.words import Role
from toolkit.rendering import step_of
from toolkit.snapshots.brackets import Repositories


@dataclass(slots=True)
class OpenRepository:
    """An open database and the repository of its snapshots that may be read."""

    dialect: Dialect
    sessions: Sessions
    facts: Facts
    repositories: Repositories

    @property
    def repository(self) -> Repository:
        """AWR or Statspack."""
        return self.repositories.repository

    def marks(
        self, first: int, last: int, *, container: bool = False
    ) -> tuple[RepositorySnapshot, RepositorySnapshot]:
        """Return two snapshots of this instance, under the database id that has them both.

        Raises:
            ToolkitError: TK-0114 when no database id has them.
        """
        place = self._rows(self.repository.place)
        instance = int(str(place[0]["instance_number"])) if place else 1
        for dbid in self._ids(place[0].get("dbid") if place else None, container=container):
            binds = {"dbid": dbid, "first_snap": first, "last_snap": last}
            rows = self._rows(self.repository.bound(self.repository.range, binds))
            there = {int(str(row["snap_id"])) for row in rows if int(str(row["instance_number"])) == instance}
            if {first, last} <= there:
                provider = self.repository.provider
                return RepositorySnapshot(provider, dbid, instance, first), RepositorySnapshot(
                    provider, dbid, instance, last
                )
        raise ToolkitError(
            f"{self.repository.provider} has no snapshots {first} and {last} of this instance",
            code="TK-0114",
            hint="`SELECT snap_id, end_interval_time FROM dba_hist_snapshot ORDER BY 1` lists them (no licence "
            "needed)"
            if self.repository is snapshot_sources.AWR
            else "`SELECT snap_id, snap_time FROM perfstat.stats$snapshot ORDER BY 1` lists them",
        )

    def _ids(self, dbid: object, *, container: bool) -> list[int]:
        """Return the database ids snapshots may be under: of this container first, then of the database."""
        own = self._container()
        if container:
            if own is None:
                raise ToolkitError(
                    "this is not a pluggable database with snapshots of its own",
                    code="TK-0304",
                    hint="omit --pdb, or connect to the service of a pluggable database",
                )
            return [own]
        seen = [int(str(row["dbid"])) for row in self._rows(self.repository.newest)]
        known = [one for one in (own, None if dbid is None else int(str(dbid))) if one]
        return list(dict.fromkeys([*known, *seen]))

    def _container(self) -> int | None:
        if self.repository.container is None:
            return None
        try:
            rows = self._rows(self.repository.container)
        except DatabaseError:
            return None
        found = rows[0].get("con_dbid") if rows else None
        return int(str(found)) if found else None

    def _rows(self, call: Call) -> Sequence[dict[str, object]]:
        return [dict(row) for row in self.sessions.run(step_of(self.dialect, call)).rows]


@contextmanager
def opened(resolved: ResolvedTarget, wanted: str) -> Iterator[OpenRepository]:
    """Open a database whose own snapshots are read; nothing of a pack is asked before the guard has judged.

    Raises:
        ToolkitError: TK-0303 for AWR that nobody declared, TK-0304 where there are none.
    """
    target = resolved.target
    if not engine(target.engine).keeps_snapshots:
        raise ToolkitError(
            f"{target.engine} keeps no snapshots of its own",
            code="TK-0304",
            hint="take some: `dbatk snapshot take LABEL`, and compare `LABEL1..LABEL2`",
        )
    dialect = dialect_of(target.engine)
    sessions = Sessions(target, "dbatk awr", read_only=True)
    try:
        declared = ruled(resolved.policy, target, sessions.get(Role.CONTROL), changes=False).licences
        facts = with_licences(read_base_facts(dialect, sessions), declared)
        snapshot_source = snapshot_source_of(wanted, dialect, facts, sessions, declared, reading=True)
        if snapshot_source.repository is None:
            raise ToolkitError(
                f"this database has no snapshots that can be used: {snapshot_source.why}",
                code="TK-0303" if "licence" in snapshot_source.why else "TK-0304",
                hint="take some: `dbatk snapshot take LABEL`, and compare `LABEL1..LABEL2`; or, where it is "
                "licensed, declare it in the profile: `licenses.diagnostics_pack = {by, on, until}`",
            )
        yield OpenRepository(
            dialect, sessions, facts, Repositories(snapshot_source.repository, dialect, sessions.run, "")
        )
    except DatabaseError as error:
        raise refused(dialect, error, "the snapshots could not be read") from None
    finally:
        sessions.close()


def database_interval(resolved: ResolvedTarget, asked: Range, name: str) -> Interval:
    """Return what a database did between two of its own snapshots; of a cluster each instance, and the whole.

    Statspack numbers the snapshots of each instance for itself: of a cluster it tells this one.

    Raises:
        ToolkitError: TK-0114 when they are not there, TK-0115 when nothing of them can be trusted; as `opened`.
    """
    with opened(resolved, "auto") as open_:
        begin, end = open_.marks(asked.first, asked.last)
        faults = open_.repositories.check(begin, end)
        if faults:
            raise ToolkitError(f"`{name}` cannot be read as one interval: {faults[0]}", code="TK-0115")
        return _whole(open_, begin, end, name)


def database_series(resolved: ResolvedTarget, asked: Range, name: str) -> tuple[list[Interval], list[str]]:
    """Return what a database did between each of its own snapshots and the next, and what is unknown of it.

    Of a cluster AWR tells the whole and each instance; the whole only where every instance has both snapshots.

    Raises:
        ToolkitError: TK-0114 when the first and the last are not there; as `opened`.
    """
    intervals: list[Interval] = []
    gaps: list[str] = []
    with opened(resolved, "auto") as open_:
        first, last = open_.marks(asked.first, asked.last)
        numbers = sorted({int(str(row["snap_id"])) for row in _ends(open_, first, last)})
        for one, following in pairwise(numbers):
            begin, end = replace(first, snapshot=one), replace(first, snapshot=following)
            faults = open_.repositories.check(begin, end)
            if faults:
                gaps.append(f"`{name}`: {one}-{following} is skipped: {faults[0]}")
                continue
            whole = _whole(open_, begin, end, f"{one}-{following}")
            intervals += [*whole.instances] if whole.instances and whole.warnings else [whole, *whole.instances]
            if whole.instances:
                gaps += [f"`{name}`: {one}-{following}: {said}" for said in whole.warnings]
        if open_.repository is not snapshot_sources.AWR and len(open_.facts.rows("doctor_instances")) > 1:
            gaps.append(f"`{name}`: the series covers this instance only; the cluster has others")
    return intervals, gaps


def _interval(open_: OpenRepository, begin: RepositorySnapshot, end: RepositorySnapshot, name: str) -> Interval:
    sections = {**open_.repositories.between(begin, end), **open_.repositories.extras(begin, end)}
    return interval_of_rows(name, begin, end, _ends(open_, begin, end), sections, open_.facts)


def _whole(open_: OpenRepository, begin: RepositorySnapshot, end: RepositorySnapshot, name: str) -> Interval:
    """Return the interval of this instance, or of the whole cluster where others have the same snapshots."""
    own = _interval(open_, begin, end, name)
    there: dict[int, set[int]] = {}
    for row in _range(open_, begin, end):
        there.setdefault(int(str(row["instance_number"])), set()).add(int(str(row["snap_id"])))
    others = [one for one in sorted(there) if one != begin.instance]
    if open_.repository is not snapshot_sources.AWR:
        if len(open_.facts.rows("doctor_instances")) > 1:
            sentence = "Statspack covers this instance only, and the cluster has others"
            own = replace(own, warnings=(*own.warnings, sentence))
        return own
    instances, warnings = [own], []
    for number in others:
        first, last = replace(begin, instance=number), replace(end, instance=number)
        lacking = not {begin.snapshot, end.snapshot} <= there[number]
        faults = ("it lacks one of the snapshots",) if lacking else open_.repositories.check(first, last)
        if faults:
            warnings.append(f"the cluster total lacks instance {number}: {faults[0]}")
        else:
            instances.append(_named(open_, _interval(open_, first, last, name), number))
    return cluster_interval(instances, warnings) if others else own


def _named(open_: OpenRepository, interval: Interval, number: int) -> Interval:
    """Return the interval of another instance than this one under its own name, which V$ACTIVE_INSTANCES has."""
    rows = open_.facts.rows("doctor_instances")
    found = [str(row["instance_name"]) for row in rows if str(row["instance_number"]) == str(number)]
    host, _, name = found[0].rpartition(":") if found else ("", "", f"instance {number}")
    return replace(interval, origin=replace(interval.origin, instance=name, host=host or None))


def _range(open_: OpenRepository, begin: RepositorySnapshot, end: RepositorySnapshot) -> Sequence[Row]:
    """Return the snapshots of a range, of every instance."""
    binds = {"dbid": begin.dbid, "first_snap": begin.snapshot, "last_snap": end.snapshot}
    return open_.repositories.ask(
        step_of(open_.dialect, open_.repository.bound(open_.repository.range, binds))
    ).rows


def _ends(open_: OpenRepository, begin: RepositorySnapshot, end: RepositorySnapshot) -> tuple[Row, ...]:
    """Return the snapshots of a range, of one instance."""
    rows = _range(open_, begin, end)
    return tuple(row for row in rows if int(str(row["instance_number"])) == begin.instance)


# -- Oracle's own reports ---------------------------------------------------------------------------------------
def fetch_report(
    resolved: ResolvedTarget, asked: Range, *, other: Range | None = None, whole: bool = False,
    container: bool = False, html: bool = True,
) -> str:  # fmt: skip
    """Return one of Oracle's own AWR reports, as `awrrpt.sql` would spool it.

    Args:
        resolved: the database; the Diagnostics Pack must be declared.
        asked: the range of snapshots.
        other: a second range: then Oracle's own comparison of the two.
        whole: of the whole cluster instead of this instance.
        container: the snapshots of this pluggable database itself.
        html: as a page; else as text.

    Raises:
        ToolkitError: as `opened`, TK-0114 for snapshots that are not there.
    """
    with opened(resolved, snapshot_sources.AWR.provider) as open_:
        begin, end = open_.marks(asked.first, asked.last, container=container)
        pair = None if other is None else open_.marks(other.first, other.last, container=container)
        call = report_call(begin, end, pair, whole=whole, html=html)
        rows = open_.sessions.run(step_of(open_.dialect, call)).rows
    text = report_text(rows)
    if not text.strip():
        raise ToolkitError(
            "the database returned an empty report",
            code="TK-0208",
            hint="check whether the snapshots contain rows",
        )
    return text
