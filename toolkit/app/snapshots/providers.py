"""Chooses the snapshot providers of a run by what the target is and what the user asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import psutil

from toolkit.app.snapshots.sources import bracket_of, declared_in, snapshot_source_of
from toolkit.dialects.answers import Watching
from toolkit.dialects.oracle import snapshot_sources
from toolkit.dialects.repositories import SnapshotSource
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.engines import engine as declared
from toolkit.model.protocols import Events
from toolkit.model.words import Role
from toolkit.runner import PlanningContext
from toolkit.snapshots import CounterProvider, HostProvider, ProgressProvider, Provider, ThreadProvider
from toolkit.targets.base import Target

_CHOICES = ("auto", "none", "vstat", "pgstat", "duckstat", "osstat", "statspack", "awr")
_NO_SNAPSHOT_SOURCE = frozenset({"none", "osstat"})


def host_is_ours(target: Target) -> bool:
    """Tell whether the database runs on this host, so that the host's figures are the database's."""
    return declared(target.engine).embedded or target.local


def providers_of(
    planning: PlanningContext, target: Target, sessions: Sessions, run: str, *,
    events: Events | None = None, snapshot_source: SnapshotSource | None = None,
) -> tuple[Provider, ...]:  # fmt: skip
    """Return the providers around each trial: free counters, and the database's own snapshots around them.

    Raises:
        ToolkitError: TK-0102 for a choice that is not known.
    """
    experiment, dialect = planning.experiment, planning.dialect
    if experiment.snapshot not in _CHOICES:
        raise ToolkitError(
            f"unknown snapshot provider `{experiment.snapshot}`",
            code="TK-0102",
            hint="choose one of " + ", ".join(_CHOICES),
        )
    found: list[Provider] = []
    engine = dialect.engine
    bracket = None if snapshot_source is None else bracket_of(snapshot_source, dialect, sessions, run)
    if bracket is not None:
        found.append(bracket)
    if declared(engine).embedded:
        found.append(ThreadProvider())
    if host_is_ours(target):
        found.append(HostProvider(_server_process(sessions), embedded=declared(engine).embedded))
    watching = dialect.watching(planning.facts)
    wanted = experiment.snapshot not in _NO_SNAPSHOT_SOURCE
    found += _counters(watching, engine, sessions, run, snapshots=watching.snapshots if wanted else ())
    if watching.progress is not None and events is not None:
        found.append(ProgressProvider(engine, watching.progress, sessions.run, run, events.emit))
    return tuple(found)


def snapshot_source_of_run(planning: PlanningContext, sessions: Sessions) -> SnapshotSource | None:
    """Return the snapshot source a run stands on; None where it wants no snapshots.

    Raises:
        ToolkitError: TK-0303 for a pack that nobody declared, TK-0304 for what cannot be had here.
    """
    wanted, facts = planning.experiment.snapshot, planning.facts
    if wanted in _NO_SNAPSHOT_SOURCE or wanted not in _CHOICES:
        return None
    return snapshot_source_of(wanted, planning.dialect, facts, sessions, declared_in(facts))


def snapshot_source_by_facts(planning: PlanningContext) -> SnapshotSource | None:
    """Return the snapshot source of a run by facts alone; None where it wants none or has no choice.

    Raises:
        ToolkitError: as `snapshot_source_of_run`.
    """
    wanted, facts = planning.experiment.snapshot, planning.facts
    known = wanted in _CHOICES and wanted not in _NO_SNAPSHOT_SOURCE
    if not known or not declared(planning.dialect.engine).keeps_snapshots:
        return None
    return snapshot_sources.choose(wanted, facts, declared_in(facts))


def _counters(
    watching: Watching, engine: str, sessions: Sessions, run: str, snapshots: Sequence[str]
) -> Iterator[CounterProvider]:
    """Yield who samples, and who reads snapshots: all files in one statement, or each by itself."""
    after = watching.after_evidence
    late = None if watching.together and snapshots else watching.plan
    yield CounterProvider(
        "sample", engine, sessions.run, run, sample=watching.samples, plan=late, after_evidence=after
    )
    if watching.together and snapshots:
        name = snapshots[0].removeprefix("snapshot_").partition("_")[0]
        yield CounterProvider(
            name, engine, sessions.run, run, snapshot=snapshots, plan=watching.plan, after_evidence=after
        )
        return
    for file in snapshots:
        name = file.removeprefix("snapshot_")
        yield CounterProvider(name, engine, sessions.run, run, snapshot=file, after_evidence=after)


def _server_process(sessions: Sessions) -> int | None:
    """Return the first process of a server on this host: the parent of our session's own process.

    Only a session that says `pid N`, of a process whose parent bears the same name, tells.
    """
    found = re.fullmatch(r"pid (\d+)", sessions.get(Role.CONTROL).identity)
    if found is None:
        return None
    try:
        backend = psutil.Process(int(found[1]))
        parent = backend.parent()
        return parent.pid if parent is not None and parent.name() == backend.name() else None
    except psutil.Error:
        return None
