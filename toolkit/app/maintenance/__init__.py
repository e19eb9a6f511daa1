"""Runs maintenance plans: what may begin, when, and what became of it."""

from toolkit.app.maintenance.plan_run import run_plan
from toolkit.app.maintenance.plan_targets import PlanTarget, places_of

__all__ = ["PlanTarget", "places_of", "run_plan"]
