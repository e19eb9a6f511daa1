"""Approving plans and experiments, and holding what is to run against what was approved."""

from toolkit.app.approving.checking import check, guarding
from toolkit.app.approving.making import Subject, approve, revoke, subject_of_experiment, subject_of_plan

__all__ = ["Subject", "approve", "check", "guarding", "revoke", "subject_of_experiment", "subject_of_plan"]
