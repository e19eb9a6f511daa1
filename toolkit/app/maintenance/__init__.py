"""Runs maintenance plans: what may begin, when, and what became of it.

Importing this package loads nothing that runs a plan: reports read what a plan left without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.lazy import lazy

if TYPE_CHECKING:
    from toolkit.app.maintenance.plan_run import run_plan
    from toolkit.app.maintenance.plan_targets import PlanTarget, plan_targets_of

__all__ = ["PlanTarget", "plan_targets_of", "run_plan"]

__getattr__ = lazy(__name__, plan_run=("run_plan",), plan_targets=("PlanTarget", "plan_targets_of"))
