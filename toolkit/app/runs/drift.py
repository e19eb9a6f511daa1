"""What drifted between two attempts of a run: the catalogue, and where it runs."""

from __future__ import annotations

from toolkit.app.runs.planning import facts_from_text
from toolkit.app.snapshots.providers import host_is_ours
from toolkit.runner import RunContext, environment_of

_TIDES = frozenset({"server", "space", "settings", "target_name", "destination", "data_directory", "backup_size"})
_TIDAL = ("doctor_", "space_", "stats_")


def warn_of_drift(context: RunContext) -> None:
    """Warn of what differs from the first attempt: catalogue and environment. Its facts become the record."""
    facts = context.facts
    before = context.store.load_facts(context.run)
    if before is not None:
        old = context.record = facts_from_text(before)
        changed = [
            key
            for key in facts.answers
            if key not in _TIDES and not key.startswith(_TIDAL) and old.answers.get(key) != facts.answers[key]
        ]
        if changed:
            context.warn(f"the catalogue has changed since the first attempt: {', '.join(sorted(changed))}")
    now = environment_of(facts, host_is_ours=host_is_ours(context.target))
    then = context.store.load_run(context.run).environment
    differ = sorted(
        name for name in now if name in then and str(then[name]) != str(now[name]) and name != "host_load_1min"
    )
    if differ:
        context.warn(f"the environment has changed since the first attempt: {', '.join(differ)}")
