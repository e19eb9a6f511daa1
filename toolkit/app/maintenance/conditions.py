"""Whether a step is to be begun by its own conditions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from toolkit.app.maintenance.figures import stale_tables, work_size
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import refused
from toolkit.model.plan import Condition, ConditionKind, StepRecord, StepState
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import Role
from toolkit.targets.base import SessionTag
from toolkit.units import byte_size, number, seconds


def unmet(job: TargetStep, place: PlanTarget, history: Sequence[StepRecord], now: datetime) -> str | None:
    """Return the sentence of the first condition that does not hold, or None.

    Args:
        job: the step here.
        place: its target.
        history: of the step, newest first.
        now: the present instant.

    Raises:
        ToolkitError: TK-0203 when a query is refused or returns no number, TK-0201 when nobody answers.
    """
    for condition in job.step.only_if:
        sentence = _unmet(condition, job, place, history, now)
        if sentence is not None:
            return sentence
    return None


def _unmet(
    condition: Condition, job: TargetStep, place: PlanTarget, history: Sequence[StepRecord], now: datetime
) -> str | None:
    if condition.kind is ConditionKind.AGE:
        return _too_young(condition, history, now)
    if condition.kind is ConditionKind.SQL:
        value = number_of(place, condition.sql or "")
        return None if condition.holds(value) else f"its query returned {number(value)}, {_bounds(condition)}"
    if condition.kind is ConditionKind.STALE:
        stale = stale_tables(job, place)
        return None if condition.holds(stale) else f"{number(stale)} tables have stale statistics"
    size = work_size(job, place).bytes
    if size is None:
        raise ToolkitError("the size of its indexes is not known", code="TK-0203", hint="ask by SQL instead")
    if condition.kind is ConditionKind.INDEX_BYTES:
        return None if condition.holds(size) else f"its indexes have {byte_size(size)}"
    return _too_little_grown(condition, size, history)


def _too_little_grown(condition: Condition, size: float, history: Sequence[StepRecord]) -> str | None:
    before = next((step.size_bytes for step in history if step.state is StepState.DONE and step.size_bytes), None)
    if before is None or condition.holds(size / before - 1):
        return None
    return f"its indexes had {byte_size(before)} when it was done last, and have {byte_size(size)}"


def _too_young(condition: Condition, history: Sequence[StepRecord], now: datetime) -> str | None:
    ended = [step.ended_at for step in history if step.state is StepState.DONE and step.ended_at is not None]
    if not ended:
        return None
    age = (now - max(ended)).total_seconds()
    if condition.holds(age):
        return None
    return f"it was done {seconds(max(0.0, age))} ago"


def _bounds(condition: Condition) -> str:
    if condition.at_least is not None and condition.at_most is not None:
        return f"not between {number(condition.at_least)} and {number(condition.at_most)}"
    if condition.at_least is not None:
        return f"less than {number(condition.at_least)}"
    return f"more than {number(condition.at_most)}"


def number_of(place: PlanTarget, query: str) -> float:
    """Return the one number that a query returns, read in a session that cannot write.

    Raises:
        ToolkitError: TK-0203, TK-0201.
    """
    target = place.resolved.target
    session = target.connect(Role.CONTROL, SessionTag("dbatk plan"), read_only=True)
    try:
        rows = session.execute(query).rows
    except DatabaseError as error:
        raise refused(dialect_of(target.engine), error, "the query of its condition") from None
    finally:
        session.close()
    values = [value for row in rows for value in row.values()]
    if len(values) != 1 or isinstance(values[0], bool) or not isinstance(values[0], int | float):
        raise ToolkitError(
            "the query of a condition must return one number", code="TK-0203", hint="such as SELECT count(*)"
        )
    return float(values[0])
