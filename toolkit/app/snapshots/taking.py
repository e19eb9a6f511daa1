"""`snapshot take`: the state of a database, kept under a label."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from toolkit.app.auditing import Notes
from toolkit.app.ruling import ruled
from toolkit.app.runs.databases import database_of
from toolkit.app.runs.planning import read_base_facts, with_licences
from toolkit.app.snapshots.providers import REPOSITORIES, host_is_ours, snapshot_source_of
from toolkit.app.targets import ResolvedTarget
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of, states_of
from toolkit.dialects.repositories import SnapshotSource
from toolkit.dialects.work import Call
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, read_facts, refused
from toolkit.model.audit import AuditEvent, AuditKind
from toolkit.model.facts import Query
from toolkit.model.protocols import DatabaseError
from toolkit.model.state import DATABASE, SnapshotHead, State
from toolkit.model.values import Scalar
from toolkit.model.words import Role
from toolkit.rendering import step_of
from toolkit.snapshots.brackets import Repositories
from toolkit.snapshots.host import host_identity, host_sections
from toolkit.snapshots.taking import Taking, read_state, watch_sessions
from toolkit.store import Store

AUTO, HOST = "auto", "osstat"
_LONGEST_LABEL = 200


@dataclass(frozen=True, slots=True)
class TakenSnapshot:
    """A snapshot that was taken, and what to know of it."""

    head: SnapshotHead
    sentences: tuple[str, ...]


def take(
    store: Store,
    resolved: ResolvedTarget,
    shown: str,
    label: str,
    provider: str = AUTO,
    watch_seconds: float = 0.0,
) -> TakenSnapshot:
    """Read the state of a target and keep it under a label.

    Args:
        store: where it is kept.
        resolved: the target.
        shown: what the user called the target.
        label: what the snapshot is called; an older one of the same label is kept.
        provider: which snapshot source; `auto` takes the best that is allowed.
        watch_seconds: look at what sessions wait for, for so long, before the state is read.

    Raises:
        ToolkitError: TK-0102 for a label or provider that cannot be, TK-0201 when the target cannot be reached,
            TK-0303 for a pack that nobody declared.
    """
    label = checked_label(label)
    taken_at = datetime.now(UTC)
    event = AuditEvent(AuditKind.SNAPSHOT, step=label, target=shown, details=(f"provider {provider}",))
    # a repository's snapshot is made in the database; where none is made, somebody has looked
    with Notes(store).around(event) as ending:
        state, warnings = _read(resolved, provider, watch_seconds)
        ending.details.append(f"by {state.provider}")
    if store.snapshots(label, limit=1):
        warnings = (*warnings, f"there is an older snapshot `{label}`; the name now refers to the new one")
    return TakenSnapshot(store.add_snapshot(label, shown, taken_at, state), (*warnings, *state.warnings))


def checked_label(label: str) -> str:
    """Return a label that cannot be mistaken for an interval or a number.

    Raises:
        ToolkitError: TK-0102.
    """
    text = label.strip()
    if not text or len(text) > _LONGEST_LABEL or ".." in text or text.startswith("#") or not text.isprintable():
        raise ToolkitError(
            f"`{text[:40]}` is not a valid snapshot label",
            code="TK-0102",
            hint="use a few words without `..`, such as `before`",
        )
    return text


def _read(resolved: ResolvedTarget, provider: str, watch_seconds: float) -> tuple[State, tuple[str, ...]]:
    target = resolved.target
    states, dialect = states_of(target.engine), dialect_of(target.engine)
    known = (AUTO, states.provider, HOST)
    if provider not in known and provider not in REPOSITORIES:
        raise ToolkitError(
            f"{target.engine} has no snapshot provider `{provider}`",
            code="TK-0102",
            hint=f"choose one of {', '.join(known)}",
        )
    if watch_seconds and (provider == HOST or states.watch is None):
        raise ToolkitError(
            f"there are no waits to watch with {HOST if provider == HOST else states.provider}",
            code="TK-0107",
            hint="omit --watch: waits are counted by the server, or not at all",
        )
    if provider == HOST:
        return _host(resolved), ()
    sessions = Sessions(target, "dbatk snapshot", read_only=True)
    try:
        policy = ruled(resolved.policy, target, sessions.get(Role.CONTROL), changes=False)
        declared = policy.licences
        facts = with_licences(read_base_facts(dialect, sessions), declared)
        snapshot_source = snapshot_source_of(provider, dialect, facts, sessions, declared)
        control = sessions.get(Role.CONTROL)
        facts = read_facts(control, dialect, [Query(file, file, optional=True) for file in states.files], facts)
        watched = Taking()
        if watch_seconds and states.watch is not None:
            step = step_of(dialect, Call(states.watch, file=True))
            watch_sessions(watched, step, watch_seconds, sessions.run, time.sleep)
        taken = read_state(states.reads(facts), dialect, sessions.run)
        taken.identity |= watched.identity
        taken.sections |= watched.sections
        if snapshot_source.repository is not None:
            taken.identity |= _own_snapshot(resolved, snapshot_source, dialect)
    except DatabaseError as error:
        raise refused(dialect, error, "the snapshot could not be taken") from None
    finally:
        sessions.close()
    taken.identity |= {
        DATABASE: database_of(facts, target),
        "database_name": facts.value("server", "database_name"),
        "release": str(facts.release),
    }
    if host_is_ours(target):
        taken.identity |= host_identity(alone=False)
        taken.sections |= host_sections()
    name = states.provider if snapshot_source.repository is None else snapshot_source.provider
    state = State(name, target.engine, taken.identity, taken.sections, tuple(taken.warnings))
    return state, (*_why(snapshot_source, state), *states.hints(facts))


def _own_snapshot(
    resolved: ResolvedTarget, snapshot_source: SnapshotSource, dialect: Dialect
) -> dict[str, Scalar]:
    """Let the database take a snapshot of its own too, and return which it was."""
    sessions = Sessions(resolved.target, "dbatk snapshot")
    try:
        assert snapshot_source.repository is not None
        mark = Repositories(snapshot_source.repository, dialect, sessions.run, "dbatk snapshot").take()
    finally:
        sessions.close()
    return {"snapshot": mark.snapshot, "snapshot_dbid": mark.dbid, "snapshot_instance": mark.instance}


def _why(snapshot_source: SnapshotSource, state: State) -> Iterator[str]:
    if snapshot_source.choice:
        yield f"snapshots by {snapshot_source.provider}: {snapshot_source.why}"
    if "snapshot" in state.identity:
        yield f"the database's own snapshot is {state.identity['snapshot']}, of {state.identity['snapshot_dbid']}"


def _host(resolved: ResolvedTarget) -> State:
    """Read this host alone.

    Raises:
        ToolkitError: TK-0304 when the database runs elsewhere.
    """
    if not host_is_ours(resolved.target):
        raise ToolkitError(
            "the database runs on another host, so its CPU and disks cannot be read from here",
            code="TK-0304",
            hint="run dbatk there, or omit --provider",
        )
    identity = host_identity(alone=True)
    return State(HOST, resolved.target.engine, {**identity, DATABASE: str(identity["host"])}, host_sections())
