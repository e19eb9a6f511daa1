"""Gives plans to schedulers: what a job needs of this host, and installing, listing and removing it."""

from toolkit.app.scheduling.cron import Crontab
from toolkit.app.scheduling.making import (
    CreatedJob,
    JobRequest,
    Scheduled,
    SchedulerKind,
    default_kind,
    hidden_paths,
    make_job,
)
from toolkit.app.scheduling.oracle import OracleJobs
from toolkit.app.scheduling.systemd import Units

__all__ = [
    "CreatedJob",
    "Crontab",
    "JobRequest",
    "OracleJobs",
    "Scheduled",
    "SchedulerKind",
    "Units",
    "default_kind",
    "hidden_paths",
    "make_job",
]
