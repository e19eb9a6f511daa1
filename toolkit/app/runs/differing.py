"""What differs between two attempts of a run: its catalogue, and its environment."""

from __future__ import annotations

from toolkit.app.runs.settings import of_server
from toolkit.app.snapshots.providers import host_is_ours
from toolkit.model.facts import Facts, facts_from_text
from toolkit.model.settings import SettingScope
from toolkit.model.values import Row
from toolkit.runner import PlanningContext, RunContext, environment_of

_TIDES = frozenset({"server", "space", "settings", "target_name", "destination", "data_directory", "backup_size"})
_TIDAL = ("doctor_", "space_", "stats_")
_WRITTEN = frozenset({"target", "archive", "table_indexes"})
"""Tells of the table that the run itself fills, empties or changes."""
_SIZES = frozenset({"byte_count", "row_estimate", "block_count"})


def warn_of_drift(context: RunContext, planning: PlanningContext) -> None:
    """Warn of what differs from the first attempt: catalogue and environment. Its facts become the record.

    That the server was started again is no change where the run itself restarts it.
    """
    facts = context.facts
    before = context.store.load_facts(context.run)
    if before is not None:
        old = context.record = facts_from_text(before)
        changed = [
            key
            for key in facts.answers
            if key not in _TIDES and not key.startswith(_TIDAL) and _lasting(key, old) != _lasting(key, facts)
        ]
        if changed:
            context.warn(f"the catalogue has changed since the first attempt: {', '.join(sorted(changed))}")
    now = environment_of(facts, host_is_ours=host_is_ours(context.target))
    then = context.store.load_run(context.run).environment
    restarts = any(varied.scope is SettingScope.RESTART for varied in of_server(planning))
    expected = {"host_load_1min", *(["server_started_at"] if restarts else [])}
    differ = sorted(
        name for name in now if name in then and str(then[name]) != str(now[name]) and name not in expected
    )
    if differ:
        context.warn(f"the environment has changed since the first attempt: {', '.join(differ)}")


def _lasting(key: str, facts: Facts) -> list[Row] | None:
    """Return the answer to a query without how large the run itself has made what it tells of."""
    rows, left_out = facts.answers.get(key), _SIZES if key in _WRITTEN else frozenset[str]()
    return None if rows is None else [{name: row[name] for name in row if name not in left_out} for row in rows]
