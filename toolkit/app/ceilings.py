"""What a host and the files of a database can do at most: measured on request, kept in the store, found again.

What this host can do is found again by its fingerprint; what a server measured of its own files, by its database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from toolkit.errors import ToolkitError
from toolkit.model.ceilings import DATABASE_READ, Ceiling
from toolkit.model.environment import DATABASE_ID
from toolkit.model.state import DATABASE, ColumnRole, State, StateColumn, StateSection
from toolkit.model.values import Row, Scalar
from toolkit.store import Store

if TYPE_CHECKING:
    from toolkit.app.approvals import Approvals
    from toolkit.app.targets import ResolvedTarget
    from toolkit.dialects.answers import Calibration
    from toolkit.dialects.base import Dialect
    from toolkit.executors import Sessions
    from toolkit.model.facts import Facts
    from toolkit.snapshots.ceilings import CeilingRequest

PROVIDER = "ceiling"
_LABEL = "ceiling"
_FINGERPRINT = ("host_cpu_model", "host_cpu_count", "host_memory_bytes")
"""What tells a host in the environment of a run; kernel and load change without the host being another."""
_COLUMNS = (
    StateColumn("name", ColumnRole.KEY),
    StateColumn("value", ColumnRole.GAUGE),
    StateColumn("unit", ColumnRole.WORD),
    StateColumn("how", ColumnRole.WORD),
    StateColumn("at", ColumnRole.WORD),
)
_CALIBRATION_SECONDS = 2 * 3600.0
"""The longest that the server may measure: it takes 10 minutes or so (not verified here)."""
_MEGABYTE = 2**20


@dataclass(frozen=True, slots=True)
class CalibrationRequest:
    """Let the server measure its own files: about how many disks they are on, and how long a block may take."""

    disks: int
    latency_ms: int
    approvals: Approvals


@dataclass(frozen=True, slots=True)
class MeasuredCeilings:
    """What was measured, on which host; `sentences` say what could not be seen."""

    host: Mapping[str, Scalar]
    ceilings: tuple[Ceiling, ...]
    sentences: tuple[str, ...] = ()


def fingerprint() -> dict[str, Scalar]:
    """Return what tells this host from others."""
    from toolkit.runner.around import host_environment

    found = host_environment()
    return {name: found[name] for name in _FINGERPRINT}


def measure(
    store: Store, resolved: ResolvedTarget, shown: str, wanted: CeilingRequest,
    calibrate: CalibrationRequest | None = None,
) -> MeasuredCeilings:  # fmt: skip
    """Measure the host of a target, read what its server measured of itself, and keep what came out.

    Args:
        store: keeps it.
        resolved: the target.
        shown: how the user named it.
        wanted: what to measure of the host; of a database on another host nothing is.
        calibrate: let the server measure its files first.

    Raises:
        ToolkitError: TK-0304 when nothing can be measured from here, or the server does not measure itself;
            TK-0301, TK-0313 where it is not allowed to; TK-0107 without the client of SYSDBA; TK-0203, TK-0207
            when it fails; as `measure_ceilings`.
    """
    from toolkit.app.snapshots.providers import host_is_ours
    from toolkit.model.engines import engine
    from toolkit.snapshots.ceilings import measure_ceilings

    ours, sentences = host_is_ours(resolved.target), list[str]()
    try:
        of_server = _of_server(store, resolved, shown, calibrate, sentences)
    except ToolkitError as error:
        # Without a server the target is a file: one that is not there is a misspelt path.
        if calibrate is not None or not ours or engine(resolved.target.engine).in_process:
            raise
        of_server = ()
        sentences.append(f"nothing was read of the server: {error.sentence}")
    if not ours and not of_server:
        why = f"; {sentences[0]}" if sentences else ""
        raise ToolkitError(
            f"the database runs on another host, so what it can do cannot be measured from here{why}",
            code="TK-0304",
            hint="run `dbatk ceiling` there",
        )
    if not ours:
        return MeasuredCeilings({}, of_server, tuple(sentences))
    host, ceilings = fingerprint(), measure_ceilings(wanted)
    _keep(store, resolved, shown, {**host, DATABASE: str(host["host_cpu_model"])}, ceilings)
    return MeasuredCeilings(host, (*ceilings, *of_server), tuple(sentences))


def _keep(
    store: Store, resolved: ResolvedTarget, shown: str, identity: Mapping[str, Scalar], found: Sequence[Ceiling]
) -> None:
    rows = tuple((one.name, one.value, one.unit, one.how, one.at.isoformat()) for one in found)
    state = State(PROVIDER, resolved.target.engine, identity, {PROVIDER: StateSection(_COLUMNS, rows)})
    store.add_snapshot(_LABEL, shown, datetime.now(UTC), state)


# -- by the server ------------------------------------------------------------------------------------------------
def _of_server(
    store: Store, resolved: ResolvedTarget, shown: str, calibrate: CalibrationRequest | None, sentences: list[str]
) -> tuple[Ceiling, ...]:
    from toolkit.dialects.registry import dialect_of
    from toolkit.executors import Sessions, read_facts, refused
    from toolkit.model.engines import engine
    from toolkit.model.facts import Query
    from toolkit.model.protocols import DatabaseError
    from toolkit.model.words import Role

    target = resolved.target
    dialect = dialect_of(target.engine)
    way = dialect.calibration
    if way is None and calibrate is not None:
        raise ToolkitError(
            f"{engine(target.engine).title} does not measure its own I/O", code="TK-0304",
            hint="`--folder DIR` measures a folder on the disk of its files, on its host",
        )  # fmt: skip
    sessions = Sessions(target, "dbatk ceiling", read_only=True)
    sessions.administer((), resolved.policy.sysdba)
    try:
        if way is None:
            sessions.get(Role.CONTROL)
            return ()
        asked = (Query("server", "server"), Query(way.place_file, way.place_file),
                 Query(way.file, way.file, optional=True))  # fmt: skip
        facts = read_facts(sessions.get(Role.CONTROL), dialect, asked)
        if calibrate is not None:
            row: Row | None = _calibrated(resolved, sessions, dialect, way, facts, calibrate)
        else:
            row = facts.first(way.file) or None
            sentences += [f"`{file}` could not be read: {why}" for file, why in facts.refused.items()]
    except DatabaseError as error:
        raise refused(dialect, error) from None
    finally:
        sessions.close()
    if row is None:
        return ()
    disks, small_reads = (f"{float(str(row[name])):,.0f}" for name in ("disks", "iops"))
    how = f"CALIBRATE_IO of {row['measured']}, disks: {disks}; {small_reads} small reads a second"
    rate = float(str(row["mbps"])) * _MEGABYTE
    found = (Ceiling(DATABASE_READ, rate, "bytes_per_second", how, datetime.now(UTC)),)
    identity = str(facts.value("server", DATABASE_ID, "") or "")
    if identity:
        _keep(store, resolved, shown, {DATABASE_ID: identity, DATABASE: identity}, found)
    return found


def _calibrated(
    resolved: ResolvedTarget, sessions: Sessions, dialect: Dialect, way: Calibration, facts: Facts,
    wanted: CalibrationRequest,
) -> Row:  # fmt: skip
    """Let the server measure, as far as the profiles of the target and the user allow it."""
    from toolkit.app.approvals import check_approved, check_production
    from toolkit.app.ruling import ruled
    from toolkit.executors.restart import SYSDBA_EXAMPLE
    from toolkit.model.words import Role
    from toolkit.rendering import step_of

    policy = ruled(resolved.policy, resolved.target, sessions.get(Role.CONTROL))
    check_approved(policy, wanted.approvals)
    name = str(facts.value("server", "database_name", "") or "")
    names = policy.names | ({name} if name else set())
    check_production(resolved.target.engine, policy, wanted.approvals, names)
    if not sessions.sysdba:
        raise ToolkitError(
            "CALIBRATE_IO needs a client that connects as SYSDBA", code="TK-0107",
            hint="name it in the target's profile, as " + SYSDBA_EXAMPLE,
        )  # fmt: skip
    place = str(facts.value(way.place_file, "place"))
    step = step_of(dialect, way.measure(place, wanted.disks, wanted.latency_ms))
    sessions.run(replace(step, limit_seconds=_CALIBRATION_SECONDS))
    row = way.seen(line.text for line in sessions.run(step_of(dialect, way.read())).lines)
    if row is None:
        raise ToolkitError(
            "CALIBRATE_IO ended, and what it measured is not in DBA_RSRC_IO_CALIBRATE", code="TK-0203",
            hint="see V$IO_CALIBRATION_STATUS in the root",
        )  # fmt: skip
    return row


# -- beside runs --------------------------------------------------------------------------------------------------
def ceilings_of(store: Store, environment: Mapping[str, Scalar]) -> tuple[Ceiling, ...]:
    """Return what is known of the host and database of a run's environment: of each thing the newest."""
    found: dict[str, Ceiling] = {}
    for head in store.snapshots(_LABEL):
        if head.provider != PROVIDER:
            continue
        state = store.load_snapshot(head.number).state
        of = {name: value for name, value in state.identity.items() if name in (*_FINGERPRINT, DATABASE_ID)}
        if of and all(environment.get(name) == value for name, value in of.items()):
            for one in _read(state.sections[PROVIDER].rows):
                found.setdefault(one.name, one)
    return tuple(found.values())


def _read(rows: Sequence[Sequence[Scalar]]) -> list[Ceiling]:
    return [
        Ceiling(str(name), float(value or 0), str(unit), str(how), datetime.fromisoformat(str(at)))
        for name, value, unit, how, at in rows
    ]
