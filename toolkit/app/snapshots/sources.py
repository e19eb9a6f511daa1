"""The fallback order of snapshot sources: which one a run or `snapshot take` uses, and why."""

from __future__ import annotations

from toolkit.analysis.metrics import SNAPSHOT_SOURCE
from toolkit.dialects.base import Dialect
from toolkit.dialects.oracle import snapshot_sources
from toolkit.dialects.repositories import SnapshotSource
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, read_facts
from toolkit.model.engines import engine
from toolkit.model.facts import Facts, Query
from toolkit.model.protocols import Event, Events
from toolkit.model.values import Scalar
from toolkit.model.words import Role
from toolkit.snapshots.brackets import BracketProvider, Repositories
from toolkit.store import Store

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
    told: dict[str, Scalar] = {SNAPSHOT_SOURCE: snapshot_source.provider, "snapshot_reason": snapshot_source.why}
    store.set_environment(run, {**store.load_run(run).environment, **told})
    events.emit(Event("mode", f"snapshots by {snapshot_source.provider} ({snapshot_source.why})", told))
