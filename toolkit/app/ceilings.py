"""What a host can do at most: measured on request, kept in the store, found again by the host's fingerprint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from toolkit.errors import ToolkitError
from toolkit.model.ceilings import Ceiling
from toolkit.model.state import DATABASE, ColumnRole, State, StateColumn, StateSection
from toolkit.model.values import Scalar
from toolkit.store import Store

if TYPE_CHECKING:
    from toolkit.app.targets import ResolvedTarget
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


@dataclass(frozen=True, slots=True)
class MeasuredCeilings:
    """What was measured, on which host."""

    host: Mapping[str, Scalar]
    ceilings: tuple[Ceiling, ...]


def fingerprint() -> dict[str, Scalar]:
    """Return what tells this host from others."""
    from toolkit.runner.around import host_environment

    found = host_environment()
    return {name: found[name] for name in _FINGERPRINT}


def measure(store: Store, resolved: ResolvedTarget, shown: str, wanted: CeilingRequest) -> MeasuredCeilings:
    """Measure the host of a target and keep what came out.

    Raises:
        ToolkitError: TK-0304 when the database runs elsewhere; as `measure_ceilings`.
    """
    from toolkit.app.snapshots.providers import host_is_ours
    from toolkit.snapshots.ceilings import measure_ceilings

    if not host_is_ours(resolved.target):
        raise ToolkitError(
            "the database runs on another host, so what it can do cannot be measured from here",
            code="TK-0304",
            hint="run `dbatk ceiling` there",
        )
    host, ceilings = fingerprint(), measure_ceilings(wanted)
    rows = tuple((one.name, one.value, one.unit, one.how, one.at.isoformat()) for one in ceilings)
    identity = {**host, DATABASE: str(host["host_cpu_model"])}
    state = State(PROVIDER, resolved.target.engine, identity, {PROVIDER: StateSection(_COLUMNS, rows)})
    store.add_snapshot(_LABEL, shown, datetime.now(UTC), state)
    return MeasuredCeilings(host, ceilings)


def ceilings_of(store: Store, environment: Mapping[str, Scalar]) -> tuple[Ceiling, ...]:
    """Return what is known of the host that a run's environment describes: of each thing the newest."""
    host = {name: environment.get(name) for name in _FINGERPRINT}
    if None in host.values():
        return ()
    found: dict[str, Ceiling] = {}
    for head in store.snapshots(_LABEL):
        if head.provider != PROVIDER:
            continue
        state = store.load_snapshot(head.number).state
        if all(state.identity.get(name) == value for name, value in host.items()):
            for one in _read(state.sections[PROVIDER].rows):
                found.setdefault(one.name, one)
    return tuple(found.values())


def _read(rows: Sequence[Sequence[Scalar]]) -> list[Ceiling]:
    return [
        Ceiling(str(name), float(value or 0), str(unit), str(how), datetime.fromisoformat(str(at)))
        for name, value, unit, how, at in rows
    ]
