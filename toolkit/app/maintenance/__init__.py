"""Runs maintenance plans: what may begin, when, and what became of it."""

from toolkit.app.maintenance.plan_run import run_plan
from toolkit.app.maintenance.plan_targets import PlanTarget, plan_targets_of

__all__ = ["PlanTarget", "plan_targets_of", "run_plan"]
