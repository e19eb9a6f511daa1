"""Runs maintenance plans: what may begin, when, and what became of it."""

from toolkit.app.maintenance.night import run_plan
from toolkit.app.maintenance.places import Place, places_of

__all__ = ["Place", "places_of", "run_plan"]
