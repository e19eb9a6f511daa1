"""From the file of a plan or an experiment to a job that says all that a scheduler's environment lacks."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path

from toolkit.app.approvals import Approvals, check_experiment
from toolkit.app.approving.naming import begins_here
from toolkit.app.maintenance.plan_targets import refuse_one_twice
from toolkit.app.scheduling.work import ScheduledWork, read_work
from toolkit.app.targets import find_target, policy_of
from toolkit.app.unattended import refusals
from toolkit.config.paths import config_folder
from toolkit.config.profiles import Profile, load_profiles
from toolkit.config.secrets import SecretKind
from toolkit.config.urls import parse_url
from toolkit.errors import ToolkitError
from toolkit.model.engines import engine
from toolkit.schedule import SchedulerJob, read_at
from toolkit.store.location import find_place

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,60}", re.ASCII)
_CREDENTIAL = re.compile(r"[A-Za-z0-9_.-]{1,100}", re.ASCII)


_APPROVED_ONLY = "--approved-only"
_UTC = frozenset({"", "Etc/UTC", "Etc/UCT", "Etc/Universal", "Etc/Zulu", "UCT", "Universal", "Zulu"})
_HIDDEN = ("/tmp/", "/var/tmp/")  # noqa: S108 - folders that PrivateTmp= replaces


class SchedulerKind(StrEnum):
    """Who runs a plan."""

    SYSTEMD = "systemd"
    CRON = "cron"
    ORACLE = "oracle"


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A job of dbatk in a scheduler: `next_at` as the scheduler shows it, None if it does not."""

    name: str
    kind: SchedulerKind
    where: str
    plan: str
    when: tuple[str, ...]
    next_at: str | None = None


def other_plan(name: str, plan: str, where: str) -> ToolkitError:
    """Return the error of two plans with one name."""
    return ToolkitError(
        f"another plan called `{name}` is installed in {where}: `{plan}`",
        code="TK-0205",
        hint=f"rename one of them, or remove the other with `dbatk plan schedule remove {name}`",
    )


def changed(before: str, after: str) -> tuple[str, ...]:
    """Return the lines that differ, `-` before those that go and `+` before the new ones; nothing for new text."""
    if not before:
        return ()
    lines = unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return tuple(line for line in lines if not line.startswith(("---", "+++", "@@")))


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What the user specified for a job.

    Attributes:
        plan: the file of a plan, or of an experiment.
        at: when it begins; None for the plan's windows.
        store: the results store.
        arguments: passed on to `dbatk run`.
        program: the program to call; None for this one.
        environment_file: file of variables.
        credentials: `NAME=FILE` of each secret that systemd hands over.
        writes: further folders that the job writes.
        log_file: where `dbatk run` writes its lines.
        user: the account a system unit runs as.
    """

    plan: Path
    at: str | None = None
    store: str | None = None
    arguments: tuple[str, ...] = ()
    program: str | None = None
    environment_file: str | None = None
    credentials: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    log_file: str | None = None
    user: str | None = None


@dataclass(frozen=True, slots=True)
class CreatedJob:
    """A job, and what the user should know of it."""

    job: SchedulerJob
    notes: tuple[str, ...] = ()
    refused: tuple[ToolkitError, ...] = ()
    """Why its targets would be refused when it runs, as far as it is known now: it is not to be installed."""

    def check(self) -> None:
        """Refuse a job that would be refused when nobody is there.

        Raises:
            ToolkitError: TK-0301 or TK-0313, with what every target lacks.
        """
        if not self.refused:
            return
        sentences = dict.fromkeys(error.sentence for error in self.refused)
        hints = dict.fromkeys(error.hint for error in self.refused if error.hint)
        raise ToolkitError(
            f"`{self.job.name}` would be refused when it runs: {'; '.join(sentences)}",
            code=self.refused[0].code,
            hint="; ".join(hints),
        )


def default_kind() -> SchedulerKind:
    """Return the scheduler this host has."""
    return SchedulerKind.SYSTEMD if systemd_runs() or shutil.which("crontab") is None else SchedulerKind.CRON


def systemd_runs() -> bool:
    """Whether systemd runs this host."""
    return Path("/run/systemd/system").is_dir()


def make_job(wish: JobRequest) -> CreatedJob:
    """Make a job of the file of a plan or an experiment.

    Raises:
        ToolkitError: as `read_work`; TK-0107 when nobody says when, a target's path is relative, or two targets
            are one database; TK-0102 for a time, a name or a credential that is none; TK-0108 for a store whose
            URL would show its password; as `check_experiment` for a step that the profile of its target does not
            allow.
    """
    path = _absolute(str(wish.plan))
    work = read_work(path)
    if _NAME.fullmatch(work.name) is None:
        raise ToolkitError(
            f"`{work.name}` cannot be the name of a job",
            code="TK-0102",
            hint="use letters, digits, `_`, `-` and `.` in the `name` of a plan or the file name of an experiment",
        )
    openings = (read_at(wish.at, host_zone()),) if wish.at else work.openings
    if not openings:
        raise ToolkitError(
            f"`{work.name}` has no window, and no time to begin is given",
            code="TK-0107",
            hint='add `--at "sun 22:00 Europe/Berlin"`, or a `window` where it is a plan',
        )
    resolved = list(_targets(work))
    refuse_one_twice((name, find_target(name).target) for name, _ in resolved)
    _check_limits(work, resolved, wish)
    addresses = [(name, profile.address if profile is not None else parse_url(name)) for name, profile in resolved]
    approved_only = work.approved_only or _APPROVED_ONLY in wish.arguments
    refused = refusals(path, addresses, _approvals(wish), approved_only=approved_only)
    log = None if wish.log_file is None else str(_absolute(wish.log_file))
    command = (*_program(wish.program), "run", str(path), "--quiet", *work.arguments, *wish.arguments)
    if work.approved_only and _APPROVED_ONLY not in command:
        # the line of the scheduler stays when somebody takes it out of the plan
        command = (*command, _APPROVED_ONLY)
    if log is not None:
        command = (*command, "--log-file", log)
    environment, place_writes = _places(wish)
    writes = dict.fromkeys((*place_writes, *_folders(resolved), *map(_folder, wish.writes)))
    if log is not None:
        writes[str(Path(log).parent)] = None
    job = SchedulerJob(
        name=work.name,
        plan=str(path),
        command=command,
        openings=openings,
        environment=environment,
        windowed=bool(work.openings),
        folder=_folder_of(work),
        shows=work.shows,
        writes=tuple(writes),
        environment_file=None if wish.environment_file is None else str(_absolute(wish.environment_file)),
        credentials=tuple(map(_credential, wish.credentials)),
        user=wish.user,
        sandboxed=not _needs_the_host(work, resolved),
    )
    return CreatedJob(job, tuple(_notes(work, job, resolved, wish)), tuple(refused.values()))


def host_zone() -> str:
    """Return the IANA name of the zone this host's clock shows; UTC where nothing tells it."""
    said = os.environ.get("TZ", "").removeprefix(":")
    if said and not said.startswith("/"):
        return said
    try:
        link = str(Path("/etc/localtime").resolve())
        _, found, name = link.partition("zoneinfo/")
        name = name if found else Path("/etc/timezone").read_text(encoding="utf-8").strip()
        return "UTC" if name in _UTC else name
    except (OSError, UnicodeDecodeError):
        return "UTC"


# -- places ---------------------------------------------------------------------------------------------------
def _absolute(text: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(text)))  # noqa: PTH100, PTH111 (a link stays one; no home is no error)


def _folder(text: str) -> str:
    return str(_absolute(text))


def _program(given: str | None) -> tuple[str, ...]:
    """Return the program as a scheduler must have it: with its whole path, for PATH is short there."""
    if given is not None:
        if not Path(given).is_absolute():
            raise ToolkitError(
                f"`{given}` is not an absolute path",
                code="TK-0102",
                hint="schedulers do not search PATH: give the whole path",
            )
        return (given,)
    beside = Path(sys.executable).with_name("dbatk")
    return (str(beside),) if os.access(beside, os.X_OK) else (sys.executable, "-P", "-m", "toolkit")


def _places(wish: JobRequest) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Return the variables that say where settings and results are, and the folders that must be writable."""
    config = ("DBATK_CONFIG", str(config_folder()))
    place = find_place(wish.store)
    if place.path is not None:
        return (config, ("DBATK_STORE", str(place.path))), (str(place.path.parent),)
    url = (wish.store or os.environ.get("DBATK_STORE") or "").replace("postgres://", "postgresql://")
    before, _, _ = url.partition("://")[2].rpartition("@")
    if ":" in before or "password=" in url.lower():
        if wish.environment_file is None:
            raise ToolkitError(
                "the URL of the store holds a password, which must not appear in a unit or crontab",
                code="TK-0108",
                hint="write `DBATK_STORE=...` into a file of mode 0600 and name it with `--env-file`",
            )
        return (config,), ()
    return (config, ("DBATK_STORE", url)), ()


def _folder_of(work: ScheduledWork) -> str:
    """Return the folder in which programs begin: this one, as for an approval that is given here."""
    begin = any(begins_here(part.on(text)) for part in work.parts for text in part.targets[:1])
    return str(Path.cwd()) if begin else ""


def _credential(text: str) -> tuple[str, str]:
    name, equals, file = text.partition("=")
    if not equals or _CREDENTIAL.fullmatch(name) is None or not file:
        raise ToolkitError(
            "a credential must be written as `NAME=FILE`",
            code="TK-0102",
            hint="such as `dwh=/etc/dbatk/dwh.password`",
        )
    return name, str(_absolute(file))


# -- targets --------------------------------------------------------------------------------------------------
def _targets(work: ScheduledWork) -> Iterator[tuple[str, Profile | None]]:
    """Yield the targets of a plan: URLs without a profile, names with theirs; patterns as all they match."""
    profiles = load_profiles()
    for name in dict.fromkeys(text for part in work.parts for text in part.targets):
        if "://" in name:
            yield name, None
            continue
        for profile in profiles.values():
            if fnmatchcase(profile.name, name):
                yield profile.name, profile


def _check_limits(work: ScheduledWork, resolved: Sequence[tuple[str, Profile | None]], wish: JobRequest) -> None:
    """Hold each step against the profiles of this host now: at night nobody would lower a degree.

    Raises:
        ToolkitError: as `check_experiment`; the sentence names step and target.
    """
    approvals = _approvals(wish)
    for name, _ in resolved:
        policy = policy_of(name)
        for part in work.parts:
            if any(name == text or fnmatchcase(name, text) for text in part.targets):
                try:
                    check_experiment(part.on(name), policy, approvals)
                except ToolkitError as error:
                    sentence = f"{part.about}`{name}`: {error.message}"
                    raise ToolkitError(sentence, code=error.code, hint=error.hint) from None


def _approvals(wish: JobRequest) -> Approvals:
    """Return what the command line of a job allows."""
    words = wish.arguments
    named = tuple(word for before, word in pairwise(words) if before == "--allow-production")
    return Approvals("--not-production" in words, named, "--allow-commands" in words)


def _folders(resolved: Sequence[tuple[str, Profile | None]]) -> Iterator[str]:
    """Yield the folders of database files.

    Raises:
        ToolkitError: TK-0107 for one that depends on where the command begins.
    """
    for text, profile in resolved:
        address = profile.address if profile is not None else parse_url(text)
        if not engine(address.engine).embedded or not address.database:
            continue
        file = Path(address.database)
        if not file.is_absolute():
            raise ToolkitError(
                f"the target `{text}` has a relative path, and a scheduler begins in another folder",
                code="TK-0107",
                hint=f"give the full path: `duckdb:///{_absolute(address.database)}`",
            )
        yield str(file.parent)


def _needs_the_host(work: ScheduledWork, resolved: Sequence[tuple[str, Profile | None]]) -> bool:
    """Tell whether a job needs what a sandbox keeps from it: a database server as its child, or the host itself.

    A factor that runs commands changes devices or settings of the host. A server may be a child of RMAN, and of
    Oracle sessions without a listener; in the sandbox it could neither write data files nor run as the owner of
    the software (Database Net Services Administrator's Guide, bequeath protocol).
    """
    if any(part.changes_host for part in work.parts):
        return True
    for text, profile in resolved:
        address = profile.address if profile is not None else parse_url(text)
        if engine(address.engine).rman and (address.host is None or work.writes_files):
            return True
    return False


def hidden_paths(job: SchedulerJob) -> tuple[str, ...]:
    """Return the paths of a job that a system unit would not see, because its /tmp is its own."""
    paths = (
        job.command[0],
        job.plan,
        *job.writes,
        job.folder,
        *(value for _, value in job.environment),
        job.environment_file or "",
    )
    return tuple(dict.fromkeys(path for path in paths if path.startswith(_HIDDEN)))


def _notes(
    work: ScheduledWork, job: SchedulerJob, resolved: Sequence[tuple[str, Profile | None]], wish: JobRequest
) -> Iterator[str]:
    for name, profile in resolved:
        if profile is not None and profile.password is not None:
            kind, value = profile.password.kind, profile.password.value
            if kind is SecretKind.ENV and wish.environment_file is None:
                yield (
                    f"`{name}` has its password in the variable {value}, which schedulers do not set: add "
                    "--env-file"
                )
            if kind is SecretKind.KEYRING:
                yield f"`{name}` reads its password from a keyring, which is locked when nobody is logged in"
    if job.user is not None:
        places = ", ".join(f"`{value}`" for _, value in job.environment)
        yield f"the account {job.user} must be able to read `{job.plan}` and to use {places}"
    known = {name for name, _ in resolved}
    for text in dict.fromkeys(text for part in work.parts for text in part.targets):
        if text not in known and not any(fnmatchcase(name, text) for name in known):
            yield f"no profile here matches the target `{text}`, so nothing was checked for it"
    if work.writes_files and not wish.writes:
        yield "backups are made: give each folder written on this host with --writes"
