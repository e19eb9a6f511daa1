"""Jobs of DBMS_SCHEDULER that run the plan as a program of the database server's host.

Sources: Database PL/SQL Packages and Types Reference, DBMS_SCHEDULER (CREATE_JOB, SET_JOB_ARGUMENT_VALUE, ENABLE,
DROP_JOB, calendaring syntax: a calendar is evaluated in the zone of the start date); Database Administrator's
Guide, external jobs (CREATE JOB and CREATE EXTERNAL JOB, a credential of the host's account).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from toolkit.design.window import DAYS
from toolkit.dialects.oracle.places import service_of
from toolkit.dialects.work import Call
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.words import Effect, StepKind
from toolkit.schedule.job import EVERY_DAY, Opening, SchedulerJob

MARK = "dbatk schedule "
PREFIX = "DBATK_"
PRIVILEGES = ("CREATE JOB", "CREATE EXTERNAL JOB")
_MOST_NAME = 30
"""Bytes of a name that every release takes (Database SQL Language Reference, object naming rules)."""
_CREDENTIAL = re.compile(r"[A-Z][A-Z0-9_$#]{0,127}(?:\.[A-Z][A-Z0-9_$#]{0,127})?")
_PLACES = {
    "autonomous": "Autonomous Database cannot run programs on a host",
    "rds": "RDS gives no access to its host, so the scheduler cannot run programs there",
}
"""Services without external jobs, and why (Autonomous Database: notes for experienced
users; RDS user guide: no shell on either)."""


def jobs(job: SchedulerJob, credential: str, now: datetime) -> tuple[Call, ...]:
    """Return a call for each opening of a plan: it makes the job, gives it its arguments, and enables it last.

    Args:
        job: what runs when.
        credential: name of the credential of the host's account.
        now: the job begins with the first opening from this instant on.

    Raises:
        ToolkitError: TK-0304 where an approval holds a folder in which programs begin: the scheduler sets none.
    """
    if job.folder and "--approved-only" in job.command:
        raise ToolkitError(
            f"programs of `{job.name}` begin in the folder that was approved, and Oracle's scheduler sets none",
            code="TK-0304",
            hint="give each program an absolute `cwd`, or let systemd or cron run it",
        )
    return tuple(_job(job, at, one, credential, now) for at, one in enumerate(job.openings, 1))


def names(job: SchedulerJob) -> tuple[str, ...]:
    """Return the names of a plan's jobs."""
    return tuple(job_name(job.name, at) for at in range(1, len(job.openings) + 1))


def job_name(plan: str, number: int) -> str:
    """Return a name that says the plan: DBATK_NIGHTLY, DBATK_NIGHTLY_2; long or odd ones end in a hash.

    The scheduler's packages read names as SQL does, so nothing but capital letters, digits and `_` is in it.
    """
    plain = re.sub(r"[^A-Z0-9]", "_", plan.upper())
    ending = "" if number == 1 else f"_{number}"
    # a plan called nightly_2 must not meet the second window of one called nightly
    if plain != plan.upper() or re.search(r"_\d+$", plain) or len(PREFIX) + len(plain) + len(ending) > _MOST_NAME:
        digest = hashlib.sha256(plan.encode()).hexdigest()[:6].upper()
        plain = f"{plain[: _MOST_NAME - len(PREFIX) - len(ending) - 7]}_{digest}"
    return f"{PREFIX}{plain}{ending}"


def check_credential(name: str) -> str:
    """Return the name of a credential as the scheduler's packages read it.

    Raises:
        ToolkitError: TK-0104 for one that would have to be quoted.
    """
    if _CREDENTIAL.fullmatch(name.upper()) is None:
        raise ToolkitError(
            f"`{name}` is not a valid name for a credential",
            code="TK-0104",
            hint="such as `DBATK_OS`, or `DBATK.DBATK_OS`",
        )
    return name.upper()


def check_place(facts: Facts) -> None:
    """Refuse services whose scheduler cannot run a program.

    Raises:
        ToolkitError: TK-0304 with the alternative.
    """
    why = _PLACES.get(service_of(facts).code)
    if why is not None:
        raise ToolkitError(
            why, code="TK-0304", hint="run the plan from another host: `--kind systemd` or `--kind cron`"
        )


def missing_privileges(facts: Facts) -> tuple[str, ...]:
    """Return what the user must still be granted; empty where it could not be read."""
    held = {str(row.get("privilege")) for row in facts.rows("doctor_privileges")}
    return tuple(one for one in PRIVILEGES if held and one not in held)


def drop(name: str) -> Call:
    """Return the call that drops a job; it fails while the job runs."""
    return Call("schedule_drop", {"job_name": name}, kind=StepKind.BLOCK, effect=Effect.DROPS)


def comment(job: SchedulerJob) -> str:
    """Return the comment by which a job of dbatk is recognized."""
    return f"{MARK}{job.name}: {job.plan}"


def repeat(opening: Opening) -> str:
    """Spell an opening as a calendar string."""
    time = f"BYHOUR={opening.hour};BYMINUTE={opening.minute};BYSECOND=0"
    if opening.days == EVERY_DAY:
        return f"FREQ=DAILY;{time}"
    return f"FREQ=WEEKLY;BYDAY={','.join(DAYS[day].upper() for day in sorted(opening.days))};{time}"


def first(opening: Opening, now: datetime) -> str:
    """Spell the instant a job may begin from: in the opening's zone, which the calendar then keeps."""
    local = now.astimezone(UTC).astimezone(ZoneInfo(opening.zone))
    return f"{local:%Y-%m-%d %H:%M:%S} {opening.zone}"


def _job(job: SchedulerJob, number: int, opening: Opening, credential: str, now: datetime) -> Call:
    program, arguments = _program(job)
    return Call(
        "schedule_job",
        {
            "job_name": job_name(job.name, number),
            "program": program,
            "arguments": arguments,
            "begin": first(opening, now),
            "repeat": repeat(opening),
            "comment": comment(job),
            "credential": credential,
        },
        kind=StepKind.BLOCK,
        effect=Effect.CHANGES,
    )


def _program(job: SchedulerJob) -> tuple[str, tuple[str, ...]]:
    """Return program and arguments; env(1) sets the variables, for an external job is given none."""
    places: Sequence[str] = [f"{name}={value}" for name, value in job.environment]
    if not places:
        return job.command[0], job.command[1:]
    return "/usr/bin/env", (*places, *job.command)
