"""The rows of an item on the clock: how many it has, and whether its statements found the same."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer
from toolkit.model.steps import TimedItem


def count_of(item: TimedItem, answers: Sequence[Answer]) -> int | None:
    """Return the rows of the first statement that counts any, with those of others of its template.

    What loads, or deletes, comes before what goes with it.
    """
    counts = [(step.name, each.rowcount) for step, each in zip(item.steps, answers, strict=False)]
    first = next((name for name, count in counts if count is not None), None)
    return sum(count or 0 for name, count in counts if name == first) if first is not None else None


def refuse_different_rows(item: TimedItem, answers: Sequence[Answer]) -> None:
    """Refuse to commit what must have worked on the same rows and did not.

    Raises:
        ToolkitError: TK-0208.
    """
    rows: dict[str, int] = {}
    for step, answer in zip(item.steps, answers, strict=False):
        if step.same_rows:
            rows[step.name] = rows.get(step.name, 0) + (answer.rowcount or 0)
    if len(set(rows.values())) > 1:
        found = ", ".join(f"`{name.rpartition('/')[2]}` {count}" for name, count in rows.items())
        raise ToolkitError(
            f"nothing was committed: the statements did not find the same rows ({found})",
            code="TK-0208",
            hint="a condition or trigger that gives other rows each time cannot be used here",
        )
