"""What schedulers are given to run a plan: systemd units, lines of a crontab, jobs of DBMS_SCHEDULER.

All of it is text made from plain values; nothing here writes a file or reaches a database.
"""

from toolkit.schedule.job import Opening, SchedulerJob, openings_of, read_at

__all__ = ["Opening", "SchedulerJob", "openings_of", "read_at"]
