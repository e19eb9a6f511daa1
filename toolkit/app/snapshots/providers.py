"""Chooses the snapshot providers of a run by what the target is and what the user asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import psutil

from toolkit.analysis.metrics import SNAPSHOT_SOURCE
from toolkit.app.hosts.watching import HostsProvider
from toolkit.design.output_metrics import log_phases
from toolkit.dialects.answers import Watching
from toolkit.dialects.base import Dialect
from toolkit.dialects.oracle import snapshot_sources
from toolkit.dialects.repositories import SnapshotSource
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, read_facts
from toolkit.model.engines import engine
from toolkit.model.engines import engine as declared
from toolkit.model.facts import Facts, Query
from toolkit.model.protocols import Event, Events
from toolkit.model.values import Scalar
from toolkit.model.words import Role
from toolkit.runner import PlanningContext
from toolkit.snapshots import CounterProvider, HostProvider, ProgressProvider, Provider, ThreadProvider
from toolkit.snapshots.brackets import BracketProvider, Repositories
from toolkit.snapshots.server_log import ServerLogProvider
from toolkit.store import Store
from toolkit.targets.base import Target

AUTO = "auto"
REPOSITORIES = frozenset({snapshot_sources.AWR.provider, snapshot_sources.STATSPACK.provider})
_PACK = frozenset({"pack_access"})


def snapshot_source_of(
    wanted: str, dialect: Dialect, facts: Facts, sessions: Sessions, declared: frozenset[str], *,
    reading: bool = False,
) -> SnapshotSource:  # fmt: skip
    """Return the snapshot source that is taken of a database.

    Args:
        wanted: `auto`, or the name of a snapshot source.
        dialect: of the target.
        facts: with what is read before every run.
        sessions: asked for what only some snapshot sources need.
        declared: licences that the profile declares and that hold today.
        reading: snapshots are read, none is taken: a standby will do.

    Raises:
        ToolkitError: TK-0303 for a pack that nobody declared, TK-0304 for what cannot be had here.
    """
    if not engine(dialect.engine).keeps_snapshots:
        if wanted in REPOSITORIES:
            raise ToolkitError(
                f"{dialect.engine} has no {wanted} snapshots",
                code="TK-0304",
                hint="omit it: the engine's own counters are used",
            )
        return SnapshotSource(wanted, "the engine's own counters", choice=False)
    ground = _with_context(wanted, facts, dialect, sessions, declared)
    return snapshot_sources.choose(wanted, ground, declared, reading=reading)


def _with_context(
    wanted: str, facts: Facts, dialect: Dialect, sessions: Sessions, declared: frozenset[str]
) -> Facts:
    """Read what the choice depends on and the facts lack, so that nobody pays for a source out of reach."""
    control = sessions.get(Role.CONTROL)
    wished = (
        set(snapshot_sources.FILES) if declared or wanted in REPOSITORIES else set(snapshot_sources.FILES) - _PACK
    )
    missing = [
        file for file in snapshot_sources.FILES if file in wished and file not in {*facts.answers, *facts.refused}
    ]
    facts = read_facts(control, dialect, [Query(file, file, optional=True) for file in missing], facts)
    if any(row.get("schema_mark") == "PERFSTAT" for row in facts.rows("doctor_marks")):
        query = Query(snapshot_sources.STATSPACK_FILE, snapshot_sources.STATSPACK_FILE, optional=True)
        facts = read_facts(control, dialect, [query], facts)
    return facts


def declared_in(facts: Facts) -> frozenset[str]:
    """Return the licences that stand among the facts of a run."""
    return frozenset(str(row.get("licence")) for row in facts.rows("licences"))


def bracket_of(
    snapshot_source: SnapshotSource, dialect: Dialect, sessions: Sessions, run: str
) -> BracketProvider | None:
    """Return what takes snapshots of a repository around trials and the run; None for sources without one."""
    if snapshot_source.repository is None:
        return None
    return BracketProvider(Repositories(snapshot_source.repository, dialect, sessions.run, run))


def keep_snapshot_source(store: Store, run: str, snapshot_source: SnapshotSource | None, events: Events) -> None:
    """Keep with a run which snapshots it has and why, and say it where there was a choice."""
    if snapshot_source is None or not snapshot_source.choice:
        return
    identity: dict[str, Scalar] = {
        SNAPSHOT_SOURCE: snapshot_source.provider,
        "snapshot_reason": snapshot_source.why,
    }
    store.set_environment(run, {**store.load_run(run).environment, **identity})
    events.emit(Event("mode", f"snapshots by {snapshot_source.provider} ({snapshot_source.why})", identity))


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
    if declared(engine).in_process:
        found.append(ThreadProvider())
    if host_is_ours(target):
        found.append(HostProvider(_server_process(sessions), in_process=declared(engine).in_process))
    watching = dialect.watching(planning.facts)
    wanted = experiment.snapshot not in _NO_SNAPSHOT_SOURCE
    found += _counters(watching, engine, sessions, run, snapshots=watching.snapshots if wanted else ())
    if "on" in experiment.options:
        found.append(HostsProvider(lambda: sessions.other_hosts))
    if phases := log_phases(experiment.options):
        found.append(ServerLogProvider(str(experiment.options["server_log"]), phases))
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
    for number, file in enumerate(snapshots):
        name, gauges = file.removeprefix("snapshot_"), () if number else watching.gauges
        yield CounterProvider(name, engine, sessions.run, run, snapshot=file, gauges=gauges, after_evidence=after)


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
