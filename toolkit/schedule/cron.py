"""Lines of a crontab, between two marks; all other lines of it stay as they are.

Cron hands a line to `/bin/sh`, after it has made line ends of every `%` that is not escaped (crontab(5)); so each
word is quoted for the shell first and each `%` escaped last. `CRON_TZ` is known to cronie alone; it holds for all
lines below it, so that dbatk's lines come last and restore it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolkit.schedule.job import EVERY_DAY, Opening, SchedulerJob

_BEGIN, _END = "# >>> dbatk schedule ", "# <<< dbatk schedule "
_PLAN = "# plan: "
_ZONE = re.compile(r"\s*CRON_TZ\s*=\s*\"?([^\"\s]*)\"?\s*")


@dataclass(frozen=True, slots=True)
class Entry:
    """A job of dbatk in a crontab."""

    name: str
    plan: str
    lines: tuple[str, ...]


def block(job: SchedulerJob, *, host_zone: str, zone_after: str | None = None) -> str:
    """Return the lines of a job.

    Args:
        job: what runs when.
        host_zone: the zone cron counts in by itself.
        zone_after: what `CRON_TZ` was above these lines; the host's zone where it was not set.
    """
    lines = [f"{_BEGIN}{job.name}", f"{_PLAN}{job.plan}"]
    now = zone_after or host_zone
    before = now
    for one in job.openings:
        if one.zone != now:
            lines.append(f"CRON_TZ={one.zone}")
            now = one.zone
        lines.append(line(job, one))
    if now != before:
        lines.append(f"CRON_TZ={before}")
    return "\n".join((*lines, f"{_END}{job.name}")) + "\n"


def line(job: SchedulerJob, opening: Opening) -> str:
    """Return the one line of an opening: five fields and the command."""
    # Sunday is 0 for every cron, Monday 1
    days = (
        "*"
        if opening.days == EVERY_DAY
        else ",".join(str(day) for day in sorted((d + 1) % 7 for d in opening.days))
    )
    return f"{opening.minute} {opening.hour} * * {days} {command(job)}"


def command(job: SchedulerJob) -> str:
    """Return the command as a crontab takes it; variables that say where things are stand before the program."""
    places = [f"{name}={shlex.quote(value)}" for name, value in job.environment]
    # cron mails whatever is written
    sentences = ("--quiet-when-ok" if word == "--quiet" else word for word in job.command)
    words = " ".join((*places, *map(shlex.quote, sentences)))
    if job.folder:
        words = f"cd {shlex.quote(job.folder)} && {words}"
    if job.environment_file:
        words = f"set -a && . {shlex.quote(job.environment_file)} && set +a && {words}"
    return words.replace("%", "\\%")


def zones_needed(job: SchedulerJob, host_zone: str) -> tuple[str, ...]:
    """Return the zones that a crontab must set by CRON_TZ."""
    return tuple(sorted({one.zone for one in job.openings} - {host_zone}))


def entries(crontab: str) -> Iterator[Entry]:
    """Yield our jobs of a crontab."""
    name: str | None = None
    inside: list[str] = []
    for text in crontab.splitlines():
        if text.startswith(_BEGIN):
            name, inside = text.removeprefix(_BEGIN), []
        elif name is not None and text == f"{_END}{name}":
            plan = next((one.removeprefix(_PLAN) for one in inside if one.startswith(_PLAN)), "")
            yield Entry(name, plan, tuple(one for one in inside if not one.startswith(("#", "CRON_TZ"))))
            name = None
        elif name is not None:
            inside.append(text)


def without(crontab: str, name: str) -> str:
    """Return a crontab without a job of dbatk; all other lines stay unchanged.

    A mark without its end is left alone: what stands below it may be somebody else's.
    """
    lines = crontab.splitlines(keepends=True)
    begin, end = _marks(lines, name)
    return "".join((*lines[:begin], *lines[end:]))


def written(crontab: str, name: str) -> str:
    """Return the lines of a job of dbatk as they stand in a crontab; empty without one."""
    lines = crontab.splitlines(keepends=True)
    begin, end = _marks(lines, name)
    return "".join(lines[begin:end])


def _marks(lines: Sequence[str], name: str) -> tuple[int, int]:
    """Return where the lines of a job begin and end; an empty range without one."""
    texts = [text.rstrip("\n") for text in lines]
    begin = texts.index(f"{_BEGIN}{name}") if f"{_BEGIN}{name}" in texts else len(texts)
    end = next((at + 1 for at in range(begin, len(texts)) if texts[at] == f"{_END}{name}"), begin)
    return begin, end


def with_job(crontab: str, job: SchedulerJob, *, host_zone: str) -> str:
    """Return a crontab with a job of dbatk as its last lines; an earlier one of that name is replaced."""
    others = without(crontab, job.name)
    if others and not others.endswith("\n"):
        others += "\n"
    return others + block(job, host_zone=host_zone, zone_after=_zone_set(others))


def _zone_set(crontab: str) -> str | None:
    found = [match[1] for text in crontab.splitlines() if (match := _ZONE.fullmatch(text))]
    return found[-1] or None if found else None
