"""systemd units in the folder where a manager looks for them; only units written by dbatk are touched."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from toolkit.app.scheduling.making import Scheduled, SchedulerKind, changed, other_plan
from toolkit.config.paths import home_based, replace_file
from toolkit.documents import open_file
from toolkit.errors import ToolkitError
from toolkit.schedule import SchedulerJob
from toolkit.schedule.systemd import KINDS, PREFIX, calendars_of, is_ours, plan_of, unit_name, units

_LIMIT_SECONDS = 5


class Units:
    """The units of one manager: the system's for root, the user's own for everybody else."""

    def __init__(self, *, system: bool | None = None, folder: Path | None = None) -> None:
        self.system = os.geteuid() == 0 if system is None else system
        self.folder = folder or _folder(system=self.system)

    @property
    def words(self) -> str:
        """How the manager is called: `systemctl`, `systemctl --user`."""
        return "systemctl" if self.system else "systemctl --user"

    def show(self, job: SchedulerJob) -> str:
        """Return the units as text, each under its path."""
        return "\n".join(
            f"# {self.folder / name}\n{text}" for name, text in units(job, system=self.system).items()
        )

    def changes(self, job: SchedulerJob) -> tuple[str, ...]:
        """Return what installing a job changes in its units that are installed already; nothing for new ones."""
        texts = units(job, system=self.system)
        return tuple(
            line for name, text in texts.items() for line in changed(_read(self.folder / name) or "", text)
        )

    def install(self, job: SchedulerJob) -> tuple[str, ...]:
        """Write the units and return what is still to be typed.

        Raises:
            ToolkitError: TK-0205 for a unit that dbatk did not write or of another plan, TK-0405.
        """
        texts = units(job, system=self.system)
        for name in texts:
            self._refuse_others(job, self.folder / name)
        for name, text in texts.items():
            replace_file(self.folder / name, text, mode=0o644)
        lines = [f"{self.words} daemon-reload", f"{self.words} enable --now {unit_name(job.name, 'timer')}"]
        if not self.system:
            # without it the user's manager ends with the last login
            lines.append("loginctl enable-linger")
        return tuple(lines)

    def list(self) -> Iterator[Scheduled]:
        """Yield our jobs, with the next time where the manager answers."""
        for path in sorted(self.folder.glob(f"{PREFIX}*.timer")):
            text = _read(path)
            if text is not None and is_ours(text):
                name = path.stem.removeprefix(PREFIX)
                yield Scheduled(
                    name,
                    SchedulerKind.SYSTEMD,
                    str(path),
                    plan_of(text) or "",
                    calendars_of(text),
                    self._next(path.name),
                )

    def remove(self, name: str) -> tuple[str, ...]:
        """Remove the units of a job and the links that enable them; return what was removed.

        Raises:
            ToolkitError: TK-0205 for a unit of that name that dbatk did not write, TK-0405.
        """
        found = [self.folder / unit_name(name, kind) for kind in KINDS]
        found = [path for path in found if path.is_symlink() or path.exists()]
        for path in found:
            if not is_ours(_read(path) or ""):
                raise _not_ours(path)
        wanted = self.folder / "timers.target.wants" / unit_name(name, "timer")
        if found and wanted.is_symlink():
            found.insert(0, wanted)
        try:
            for path in found:
                path.unlink()
        except OSError as error:
            raise ToolkitError(
                f"`{path}` cannot be removed: {(error.strerror or 'unknown reason').lower()}", code="TK-0405"
            ) from None
        return tuple(map(str, found))

    def after_removal(self, name: str) -> tuple[str, ...]:
        """Return what is to be typed so that the manager forgets the timer."""
        return (f"{self.words} stop {unit_name(name, 'timer')}", f"{self.words} daemon-reload")

    @staticmethod
    def _refuse_others(job: SchedulerJob, path: Path) -> None:
        if not path.is_symlink() and not path.exists():
            return
        text = _read(path)
        if path.is_symlink() or text is None or not is_ours(text):
            raise _not_ours(path)
        plan = plan_of(text)
        if plan != job.plan:
            raise other_plan(job.name, plan or "", str(path))

    def _next(self, timer: str) -> str | None:
        program = shutil.which("systemctl")
        if program is None:
            return None
        words = [
            program,
            *(() if self.system else ("--user",)),
            "show",
            "--property=NextElapseUSecRealtime",
            timer,
        ]
        try:
            answer = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_LIMIT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
            return None
        return answer.stdout.strip().partition("=")[2] or None if answer.returncode == 0 else None


def _folder(*, system: bool) -> Path:
    if system:
        return Path("/etc/systemd/system")
    configured = os.environ.get("XDG_CONFIG_HOME")
    if configured and Path(configured).is_absolute():
        return Path(configured) / "systemd" / "user"
    return home_based(lambda: str(Path("~/.config/systemd/user").expanduser()))


def _read(path: Path) -> str | None:
    try:
        with open_file(path) as file:
            return file.read().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _not_ours(path: Path) -> ToolkitError:
    return ToolkitError(
        f"`{path}` was not created by dbatk",
        code="TK-0205",
        hint="nothing was changed; give the plan another `name`",
    )
