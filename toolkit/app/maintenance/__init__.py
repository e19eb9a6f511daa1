"""Runs maintenance plans: what may begin, when, and what became of it.

Importing this package loads nothing that runs a plan: reports read what a plan left without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolkit.app.maintenance.plan_run import run_plan
    from toolkit.app.maintenance.plan_targets import PlanTarget, plan_targets_of

__all__ = ["PlanTarget", "plan_targets_of", "run_plan"]


def __getattr__(name: str) -> object:
    """Load what runs plans when it is first asked for."""
    from importlib import import_module

    homes = {"run_plan": "plan_run", "PlanTarget": "plan_targets", "plan_targets_of": "plan_targets"}
    if name not in homes:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    return getattr(import_module(f"{__name__}.{homes[name]}"), name)
