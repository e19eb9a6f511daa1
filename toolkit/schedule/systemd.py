"""systemd units: a service that runs the plan once, and the timer that begins it when the window opens.

Sources: systemd.service(5), systemd.exec(5), systemd.timer(5), systemd.time(7) of release 252.
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import jinja2

from toolkit import resources
from toolkit.design.window import DAYS
from toolkit.model.window import instant_of
from toolkit.schedule.job import EVERY_DAY, Opening, SchedulerJob

PREFIX = "dbatk-"
MARK = "# Made by dbatk schedule"
_FILE = re.compile(r"# (?:Plan|Experiment): (?P<path>.*)")
_YEARS = 10


def unit_name(job: str, kind: str) -> str:
    """Return the file name of a unit: `dbatk-nightly.timer`; no plan's name can be that of another's report."""
    return f"{PREFIX}{job}@report.service" if kind == "report" else f"{PREFIX}{job}.{kind}"


KINDS = ("timer", "service", "report")
"""The units of a job: when it begins, what runs, and what tells of it when that failed or was killed."""


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
        "report": unit_name(job.name, "report"),
        "calendars": [text for one in job.openings for text in (calendar(one), *skipped(one, datetime.now(UTC)))],
    }
    texts = {kind: render(kind, **values) for kind in ("service", "timer")}
    telling = render("service", **values | {"job": replace(job, command=job.reporting), "report": None})
    return {unit_name(job.name, kind): text for kind, text in (*texts.items(), ("report", telling))}


def calendar(opening: Opening) -> str:
    """Spell an opening as OnCalendar= takes it: `Sun *-*-* 22:00:00 Europe/Berlin`."""
    days = (
        "" if opening.days == EVERY_DAY else ",".join(DAYS[day].capitalize() for day in sorted(opening.days)) + " "
    )
    return f"{days}*-*-* {opening.hour:02}:{opening.minute:02}:00 {opening.zone}"


def skipped(opening: Opening, now: datetime) -> list[str]:
    """Spell the clock changes of ten years that skip an opening: systemd would leave it out on those days.

    A plan's own window opens at the change then. Source: systemd.time(7) says nothing of it; `systemd-analyze
    calendar` of release 252 passes over a local time that does not exist.
    """
    zone = ZoneInfo(opening.zone)
    today, found = now.astimezone(zone).date(), list[str]()
    for ahead in range(_YEARS * 366):
        day = today + timedelta(days=ahead)
        local = instant_of(day, opening.minutes, zone).astimezone(zone).replace(tzinfo=None)
        wanted = datetime.combine(day, time()) + timedelta(minutes=opening.minutes)
        if day.weekday() in opening.days and local != wanted:
            found.append(f"{local:%Y-%m-%d %H:%M:%S} {opening.zone}")
    return found


def is_ours(text: str) -> bool:
    """Whether a unit's text is one that this module made."""
    return text.startswith(MARK + "\n")


def plan_of(text: str) -> str | None:
    """Return the path of the plan or experiment that a unit of dbatk runs."""
    return next((found["path"] for found in map(_FILE.fullmatch, text.splitlines()) if found), None)


def calendars_of(text: str) -> tuple[str, ...]:
    """Return when a timer of dbatk fires."""
    key = "OnCalendar="
    return tuple(line.removeprefix(key) for line in text.splitlines() if line.startswith(key))


# -- the templates: as for SQL, only values that went through a filter render ---------------------------------
class Spelled(str):
    """A piece of text that one of our filters made."""

    __slots__ = ()


def _finalize(value: object) -> object:
    if isinstance(value, Spelled | jinja2.Undefined):
        return value
    msg = f"a template renders {type(value).__name__} `{value}` without a filter"
    raise jinja2.TemplateRuntimeError(msg)


def _one_line(value: object) -> str:
    text = str(value)
    if not text.isprintable():
        msg = "a value contains a line break or another control character"
        raise jinja2.TemplateRuntimeError(msg)
    return text


def _comment(value: object) -> Spelled:
    return Spelled(_one_line(value))


def _calendar(value: object) -> Spelled:
    """Let a time through that `toolkit.schedule` itself spelled."""
    return Spelled(_one_line(value))


def _path(value: object) -> Spelled:
    """Spell a whole value that systemd takes as it is, but for `%`, which begins a specifier."""
    return Spelled(_one_line(value).replace("%", "%%"))


def _quoted(value: object) -> Spelled:
    """Spell one word of a list, in quotes as systemd.syntax(7) has them."""
    text = _one_line(value).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return Spelled(f'"{text}"')


def _argument(value: object) -> Spelled:
    """Spell one argument of a command line, where `$` begins a variable besides (systemd.service(5))."""
    return Spelled(_quoted(value).replace("$", "$$"))


@functools.cache
def _environment() -> jinja2.Environment:
    # no HTML: what could be taken for syntax is the filters' business
    environment = jinja2.Environment(  # noqa: S701
        loader=jinja2.FunctionLoader(resources.template_text),
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        comment=_comment, calendar=_calendar, path=_path, quoted=_quoted, argument=_argument
    )
    return environment


def render(template: str, **values: object) -> str:
    """Return a rendered template of `templates/schedule`.

    Raises:
        jinja2.TemplateError: the template or its values are wrong: an internal error.
    """
    return _environment().get_template(f"schedule/{template}.j2").render(**values)
