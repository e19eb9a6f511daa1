"""A job of a scheduler: which command begins when, with which environment; a secret is never part of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from toolkit.design.window import DAYS, read_windows
from toolkit.errors import ToolkitError
from toolkit.model.window import Windows

EVERY_DAY = frozenset(range(len(DAYS)))
RECENT = "15m"
"""How long ago the run of an experiment was last heard of when it failed: an older one is not what failed."""
_AT = re.compile(r"(?:(?P<days>[a-z.,]+)\s+)?(?P<clock>[\d:]+)(?:\s+(?P<zone>\S+))?", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Opening:
    """When a job begins: minutes after local midnight of a zone, on days of the week (0 is Monday)."""

    minutes: int
    zone: str
    days: frozenset[int] = EVERY_DAY

    @property
    def hour(self) -> int:
        return self.minutes // 60

    @property
    def minute(self) -> int:
        return self.minutes % 60

    @property
    def spelled(self) -> str:
        """As `--at` takes it: `sun 22:00 Europe/Berlin`."""
        days = "" if self.days == EVERY_DAY else ",".join(DAYS[day] for day in sorted(self.days)) + " "
        return f"{days}{self.hour:02}:{self.minute:02} {self.zone}"

    def in_zone(self, zone: str, year: int) -> Opening:
        """Return the same as clocks of another zone show it; of the hours that clock changes give, the latest.

        A window that is open for longer than the clocks change is open at that time all year.

        Args:
            zone: a name of the IANA database.
            year: whose clock changes are looked at.
        """
        first = datetime(year, 1, 1, self.hour, self.minute, tzinfo=ZoneInfo(self.zone))
        began = [first + timedelta(days=day) for day in range(366)]
        offsets = [(one.astimezone(ZoneInfo(zone)).utcoffset(), one.utcoffset()) for one in began]
        later = max((theirs or timedelta()) - (ours or timedelta()) for theirs, ours in offsets)
        days, minutes = divmod(self.minutes + int(later.total_seconds()) // 60, 24 * 60)
        return Opening(minutes, zone, frozenset((day + days) % 7 for day in self.days))


@dataclass(frozen=True, slots=True)
class SchedulerJob:
    """A plan or an experiment as a scheduler runs it.

    Attributes:
        name: the plan's, or of the experiment's file.
        plan: absolute path of its file.
        command: the program, absolute, and its arguments.
        openings: when it begins.
        environment: variables that say where things are.
        windowed: the plan has windows of its own, and so refuses to work at any other time.
        folder: where its programs begin, which an approval holds; empty where none depends on it.
        shows: by which label the last run of an experiment is shown; empty for a plan, which has run reports.
        writes: folders that it must be able to write.
        environment_file: a file of variables, read by the scheduler: where secrets are.
        credentials: name and file of secrets that systemd hands over.
        user: the account it runs as; None for the one it is installed for.
        sandboxed: whether it can be locked away; not where a database server is its child.
    """

    name: str
    plan: str
    command: tuple[str, ...]
    openings: tuple[Opening, ...]
    environment: tuple[tuple[str, str], ...] = ()
    windowed: bool = False
    folder: str = ""
    shows: str = ""
    writes: tuple[str, ...] = ()
    environment_file: str | None = None
    credentials: tuple[tuple[str, str], ...] = ()
    user: str | None = None
    sandboxed: bool = True

    @property
    def kind(self) -> str:
        """What its file is, as people say it."""
        return "experiment" if self.shows else "plan"

    @property
    def reporting(self) -> tuple[str, ...]:
        """Return the command that reports the last run, and tells of one that was killed."""
        if self.shows:
            begun = self.command[: self.command.index("run")]
            return (*begun, "runs", "show", self.shows, "--recent", RECENT)
        return (*self.command[: self.command.index("run")], "plan", "report", "last", "--plan", self.name)

    def __post_init__(self) -> None:
        """Refuse what no scheduler could be given.

        Raises:
            ToolkitError: TK-0102 for a line end or another control character.
        """
        texts = (self.plan, *self.command, *(value for pair in self.environment for value in pair), *self.writes)
        kept = (
            self.folder,
            self.environment_file or "",
            self.user or "",
            *(text for pair in self.credentials for text in pair),
        )
        for text in (*texts, *kept):
            if not text.isprintable():
                raise ToolkitError(
                    f"{text!a} holds a character that no scheduler accepts",
                    code="TK-0102",
                    hint="rename the file or folder: use only letters, digits, spaces and punctuation",
                )


def openings_of(windows: Windows) -> tuple[Opening, ...]:
    """Return when windows open; empty for a plan without windows."""
    return tuple(Opening(one.opens, one.zone, one.days) for one in windows.each)


def read_at(text: str, zone: str) -> Opening:
    """Read a time as a person writes it: `22:00`, `sun 22:00`, `mon..fri 01:15 Europe/Berlin`.

    Args:
        text: days, time and zone; days and zone may be left out.
        zone: the default time zone.

    Raises:
        ToolkitError: TK-0102 for anything else.
    """
    found = _AT.fullmatch(text.strip())
    if found is None or found["clock"] == "24:00":
        raise ToolkitError(
            f"`{text}` is not a time for a job",
            code="TK-0102",
            hint='write "22:00" for every day, or "sun 22:00 Europe/Berlin"',
        )
    days = None if (found["days"] or "").lower() in ("", "daily") else found["days"]
    table: dict[str, object] = {"time": f"{found['clock']}-24:00", "zone": found["zone"] or zone}
    if days is not None:
        table["days"] = [one for one in days.split(",") if one]
    # a window from then to midnight: its reader knows times, days and zones, and what is wrong with them
    one = read_windows(table).each[0]
    return Opening(one.opens, one.zone, one.days)
