"""What is installed: one shape for every scheduler."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from toolkit.errors import ToolkitError


class SchedulerKind(StrEnum):
    """Who runs a plan."""

    SYSTEMD = "systemd"
    CRON = "cron"
    ORACLE = "oracle"


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A job of ours that a scheduler has: `next_at` as the scheduler tells it, None where it does not."""

    name: str
    kind: SchedulerKind
    where: str
    plan: str
    when: tuple[str, ...]
    next_at: str | None = None


def other_plan(name: str, plan: str, where: str) -> ToolkitError:
    """Return the error of two plans with one name."""
    return ToolkitError(
        f"another plan named `{name}` is installed in {where}: `{plan}`",
        code="TK-0205",
        hint=f"give one of them another `name`, or remove the other with `dbatk schedule remove {name}`",
    )
