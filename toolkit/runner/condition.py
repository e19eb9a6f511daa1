"""Tells in which condition an object is, complete, usable or changed by somebody else; restores what is ours."""

from __future__ import annotations

from collections.abc import Iterable

from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, look
from toolkit.model.steps import Attribute, ObjectRef, Step
from toolkit.model.values import Row
from toolkit.rendering import step_of
from toolkit.runner.ownership import Present, name_of

CHANGED_MEANWHILE = "TK-0211"


def whole(sessions: Sessions, dialect: Dialect, ref: ObjectRef) -> bool:
    """Tell whether nothing half-done bears the name of an object: it is complete, or not there."""
    return unfinished(sessions, dialect, ref) is None


def unfinished(sessions: Sessions, dialect: Dialect, ref: ObjectRef) -> str | None:
    """Say what an object lacks to be complete and which statement mends it; None when it lacks nothing."""
    lacking = lacking_of(sessions, dialect, ref)
    return None if lacking is None else mended(lacking, dialect)


def unusable(ref: ObjectRef, lacking: Row, dialect: Dialect) -> str:
    """Say of an index that could be used before the run that it cannot be now, and which statement mends it."""
    state, remedy = lacking.get("state", "is unusable"), lacking.get("rebuild")
    run = f"; run: {remedy}{dialect.terminator} or resume the run" if remedy else ""
    return f"{name_of(ref)} {state}, and was not before{run}"


def lacking_of(sessions: Sessions, dialect: Dialect, ref: ObjectRef) -> Row | None:
    """Return what an index lacks, and what mends it; None when it lacks nothing."""
    call = dialect.unfinished(ref)
    rows = () if call is None else look(sessions, step_of(dialect, call))
    return rows[0] if rows else None


def mended(lacking: Row, dialect: Dialect) -> str:
    """Say what is wrong with an object that the run made, and how it is made again."""
    return f"{lacking['state']}; run: {lacking['remedy']}{dialect.terminator} and build it again"


def refuse_changed(
    ref: ObjectRef, overwrites: Iterable[Attribute], now: Present | None, *, begun: bool = False
) -> None:
    """Refuse to set a value of an object that is no longer the one that the run knows.

    Args:
        ref: the object.
        overwrites: what the run is about to set.
        now: what the object is; None where nothing can be compared.
        begun: whether the run may have set it already: the partitions of one index share its degree.

    Raises:
        ToolkitError: TK-0211.
    """
    if now is None:
        return
    for each in overwrites:
        value = now.values.get((each.name, each.part))
        if value != each.back and not (begun and value == each.ours):
            raise ToolkitError(
                f"{name_of(ref)}: {each.title} is `{value}`, which somebody else set meanwhile (it was "
                f"`{each.back}`); it is left as it is",
                code=CHANGED_MEANWHILE,
                hint="find out who set it; a new run begins with the present value",
            )


def put_back(
    sessions: Sessions, dialect: Dialect, ref: ObjectRef, steps: Iterable[Step], now: Present | None
) -> list[str]:
    """Run steps that restore attributes of an object, where these still have the value that the run set.

    Args:
        sessions: of the run.
        dialect: of its engine.
        ref: the object.
        steps: what restores it; a step that names no attribute is run.
        now: what the object is; None where nothing can be compared.

    Returns:
        A sentence for each value that somebody else set meanwhile.
    """
    foreign = []
    for step in steps:
        change = step.puts_back
        value = None if now is None or change is None else now.values.get((change.name, change.part))
        if change is None or now is None or value == change.ours != change.back:
            sessions.run(step)
        elif value != change.back:
            foreign.append(
                f"{name_of(ref)}: {change.title} is `{value}`, which somebody else set meanwhile (it was "
                f"`{change.back}`, the run set `{change.ours}`); it is left as it is; to restore it, run: "
                f"{step.text}{dialect.terminator}"
            )
    return foreign
