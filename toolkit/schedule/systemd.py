"""systemd units: a service that runs the plan once, and the timer that begins it when the window opens.

Sources: systemd.service(5), systemd.exec(5), systemd.timer(5), systemd.time(7) of release 252.
"""

from __future__ import annotations

from toolkit.design.window import DAYS
from toolkit.schedule.job import EVERY_DAY, Opening, SchedulerJob
from toolkit.schedule.text import render

PREFIX = "dbatk-"
MARK = "# Made by dbatk schedule"
_PLAN = "# Plan: "


def unit_name(job: str, kind: str) -> str:
    """Return the file name of a unit: `dbatk-nightly.timer`."""
    return f"{PREFIX}{job}.{kind}"


def units(job: SchedulerJob, *, system: bool) -> dict[str, str]:
    """Return the texts of a job's units by file name.

    Args:
        job: what runs when.
        system: whether the system's manager runs it; a user's own manager may lock away less.
    """
    values = {
        "job": job,
        "system": system,
        "mark": MARK,
        "timer": unit_name(job.name, "timer"),
        "service": unit_name(job.name, "service"),
        "calendars": [calendar(one) for one in job.openings],
    }
    return {unit_name(job.name, kind): render(kind, **values) for kind in ("service", "timer")}


def calendar(opening: Opening) -> str:
    """Spell an opening as OnCalendar= takes it: `Sun *-*-* 22:00:00 Europe/Berlin`."""
    days = (
        "" if opening.days == EVERY_DAY else ",".join(DAYS[day].capitalize() for day in sorted(opening.days)) + " "
    )
    return f"{days}*-*-* {opening.hour:02}:{opening.minute:02}:00 {opening.zone}"


def is_ours(text: str) -> bool:
    """Whether a unit's text is one that this module made."""
    return text.startswith(MARK + "\n")


def plan_of(text: str) -> str | None:
    """Return the path of the plan that a unit of ours runs."""
    return next((line.removeprefix(_PLAN) for line in text.splitlines() if line.startswith(_PLAN)), None)


def calendars_of(text: str) -> tuple[str, ...]:
    """Return when a timer of ours fires."""
    key = "OnCalendar="
    return tuple(line.removeprefix(key) for line in text.splitlines() if line.startswith(key))
