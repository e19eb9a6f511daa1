"""Runs as a store returns them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from toolkit.model.plan import PlanRunRecord, StepRecord, StepState
from toolkit.model.words import RunState

BEGAN = datetime(2026, 11, 21, 21, 0, tzinfo=UTC)


def step(state: str = "done", name: str = "statistics", target: str = "dwh", **more: object) -> StepRecord:
    """Make a step that took a minute."""
    made = StepRecord(0, target, name, StepState(state), began_at=BEGAN, ended_at=BEGAN + timedelta(seconds=61.5))
    return replace(made, **more)  # type: ignore[arg-type]


def run(*steps: StepRecord, days_ago: int = 0, **more: object) -> PlanRunRecord:
    """Make a run that ended as its steps did."""
    bad = any(one.state is StepState.FAILED for one in steps)
    open_ended = any(one.state is StepState.STOPPED for one in steps)
    state = RunState.FAILED if bad else RunState.INTERRUPTED if open_ended else RunState.DONE
    began = BEGAN - timedelta(days=days_ago)
    made = PlanRunRecord(
        f"20261121-210000-000{days_ago}", "nightly", "hash", state, began, "db1", "", began + timedelta(minutes=5),
        began, began + timedelta(hours=8), steps=steps,
    )  # fmt: skip
    return replace(made, **more)  # type: ignore[arg-type]
