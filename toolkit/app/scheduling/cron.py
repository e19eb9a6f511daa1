"""The user's crontab, read and written by `crontab`: only lines of dbatk are changed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

from toolkit.app.scheduling.making import (
    Scheduled,
    SchedulerKind,
    changed,
    host_zone,
    other_plan,
    systemd_runs,
)
from toolkit.errors import ToolkitError
from toolkit.schedule import SchedulerJob
from toolkit.schedule.cron import block, entries, with_job, without, written, zones_needed

_LIMIT_SECONDS = 10


class Crontab:
    """The crontab of the user who runs this."""

    def __init__(self, *, zone: str | None = None) -> None:
        self.zone = zone or host_zone()

    @staticmethod
    def exists() -> bool:
        """Whether this host has the command."""
        return shutil.which("crontab") is not None

    def show(self, job: SchedulerJob) -> str:
        """Return the lines of a job."""
        return block(job, host_zone=self.zone)

    def note(self, job: SchedulerJob) -> str | None:
        """Say when the lines need a cron that knows zones, and this one does not or cannot be asked."""
        zones = zones_needed(job, self.zone)
        if not zones or (self.exists() and self._knows_zones()):
            return None
        return (
            f"CRON_TZ is only supported by cronie (Red Hat, Oracle Linux, SUSE): another cron uses {self.zone} "
            "and would start at the wrong hour"
        )

    def changes(self, job: SchedulerJob) -> tuple[str, ...]:
        """Return what installing a job changes in its lines that are installed already; nothing for a new one."""
        installed = self._read_if_possible()
        return changed(written(installed, job.name), written(self._with(installed, job), job.name))

    def install(self, job: SchedulerJob) -> None:
        """Put a job into the crontab, in place of a former one of the plan.

        Raises:
            ToolkitError: TK-0304 if cron cannot use the time zone, TK-0205 for another plan of the name, TK-0405
                when `crontab` does not do it.
        """
        before = self._read()
        if zones_needed(job, self.zone) and not self._knows_zones():
            raise ToolkitError(
                f"this host's cron uses {self.zone} and cannot use another time zone",
                code="TK-0304",
                hint=self._instead(job),
            )
        for entry in entries(before):
            if entry.name == job.name and entry.plan != job.plan:
                raise other_plan(job.name, entry.plan, "the crontab")
        self._write(self._with(before, job))

    def _instead(self, job: SchedulerJob) -> str:
        """Say how the job can be installed on this host."""
        year = datetime.now(UTC).year
        times = sorted({opening.in_zone(self.zone, year).spelled for opening in job.openings})
        time = times[0] if len(times) == 1 else f"... {self.zone}"
        hint = f'give the time in the zone of this cron: `--at "{time}"`'
        return f"{hint}, or use `--kind systemd`" if systemd_runs() else hint

    def list(self) -> Iterator[Scheduled]:
        """Yield our jobs."""
        if not self.exists():
            return
        for entry in entries(self._read()):
            when = tuple(" ".join(line.split()[:5]) for line in entry.lines)
            yield Scheduled(entry.name, SchedulerKind.CRON, "crontab", entry.plan, when)

    def remove(self, name: str) -> bool:
        """Remove a job of dbatk from the crontab; return whether there was one."""
        if not self.exists():
            return False
        before = self._read()
        after = without(before, name)
        if after == before:
            return False
        self._write(after)
        return True

    def _with(self, crontab: str, job: SchedulerJob) -> str:
        return with_job(crontab, job, host_zone=self.zone)

    def _read_if_possible(self) -> str:
        """Return the crontab; where it cannot be read nothing is written either, and that is said then."""
        with suppress(ToolkitError):
            return self._read()
        return ""

    # -- the command ----------------------------------------------------------------------------------------------
    def _read(self) -> str:
        answer = _crontab("-l")
        if answer.returncode == 0:
            return answer.stdout
        if "no crontab" in answer.stderr.lower():
            return ""
        # whatever else it is: a crontab that cannot be read must not be written either
        raise _failed(answer)

    def _write(self, text: str) -> None:
        answer = _crontab("-", text)
        if answer.returncode != 0:
            raise _failed(answer)

    @staticmethod
    def _knows_zones() -> bool:
        answer = _crontab("-V")
        return "cronie" in (answer.stdout + answer.stderr).lower()


def _crontab(word: str, text: str = "") -> subprocess.CompletedProcess[str]:
    program = shutil.which("crontab")
    if program is None:
        raise ToolkitError(
            "this host has no `crontab`", code="TK-0405", hint="install cron, or use `--kind systemd`"
        )
    try:
        return subprocess.run(
            [program, word], input=text, capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        raise ToolkitError(
            f"`crontab {word}` does not respond: {type(error).__name__}", code="TK-0405", hint="run it by hand"
        ) from None


def _failed(answer: subprocess.CompletedProcess[str]) -> ToolkitError:
    cause = (answer.stderr.strip().splitlines() or [f"status {answer.returncode}"])[0]
    return ToolkitError(
        f"`crontab` failed: {cause}", code="TK-0405", hint="nothing was changed; see /etc/cron.allow and cron.deny"
    )
