"""Which targets of a plan nobody can reach, told when the plan is looked at: at night it would be too late."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from toolkit.app.maintenance.plan_targets import PlanTarget
from toolkit.errors import ToolkitError
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import Role
from toolkit.targets.base import SessionTag

_AT_ONCE = 16


def unresolved(places: Sequence[PlanTarget]) -> tuple[str, ...]:
    """Return a sentence for each target that does not answer now, several asked at a time."""
    if not places:
        return ()
    with ThreadPoolExecutor(min(_AT_ONCE, len(places)), thread_name_prefix="reach") as pool:
        return tuple(sentence for sentence in pool.map(_sentence, places) if sentence is not None)


def _sentence(place: PlanTarget) -> str | None:
    try:
        place.resolved.target.connect(Role.CONTROL, SessionTag("dbatk plan"), read_only=True).close()
    except (ToolkitError, DatabaseError) as error:
        return f"{place.name} does not answer now: {error.sentence}"
    return None
