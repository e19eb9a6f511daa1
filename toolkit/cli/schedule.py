"""`schedule`: a plan into the hands of systemd, cron or Oracle's own scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import Warnings, out_json, out_raw, out_table, say
from toolkit.cli.parameters import (
    APPROVALS,
    APPROVED_ONLY,
    OUTPUT,
    Arguments,
    DefaultGroup,
    add_command,
    argument,
    new_group,
    option,
    target_option,
)
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from toolkit.app.scheduling import CreatedJob, JobRequest, Scheduled, SchedulerKind

_PLAN = argument("plan", "plan or experiment file (TOML)")
_NAME = argument("name", "name of the plan", like="scheduled")
_KIND = option(
    "kind", "scheduler that runs it: systemd, cron or oracle", metavar="WHO", choices=("systemd", "cron", "oracle")
)
_NO_STORE = tuple(one for one in OUTPUT if one.name != "store")
_DATABASE = target_option("oracle: profile name or URL of the database whose scheduler runs it")
_ADDING = (
    _KIND,
    option("at", 'when it begins: "sun 22:00 Europe/Berlin"; else when the plan\'s windows open', metavar="TIME"),
    option("install", "install it instead of only printing it", kind=bool),
    _DATABASE,
    option("credential", "oracle: credential for the host account", metavar="NAME"),
    option("env_file", "file of environment variables for the job (mode 0600)", metavar="FILE"),
    option("load_credential", "systemd: secret passed from a file", kind=list[str], metavar="NAME=FILE"),
    option("writes", "systemd: folder that the job writes to, such as for backups", kind=list[str], metavar="DIR"),
    option("run_as", "systemd: user account of a system unit", metavar="USER"),
    option("program", "path of dbatk on the host that runs the job, if different", metavar="PATH"),
    option("log_file", "file to which the job appends JSON lines", metavar="FILE"),
)


class _ScheduleGroup(DefaultGroup):
    """Takes `schedule PLAN` for `schedule add PLAN`."""

    default = "add"


def schedule_group() -> typer.Typer:
    """Return the group with its commands."""
    group = new_group(
        "Let systemd, cron or Oracle run a plan or an experiment.\n\n"
        "`plan schedule FILE` is short for `plan schedule add FILE`.",
        _ScheduleGroup,
    )
    add_command(
        group,
        "add",
        _add,
        [_PLAN, *_ADDING, APPROVED_ONLY, *APPROVALS, *OUTPUT],
        "Print or install the scheduler job of a plan or an experiment.",
    )
    add_command(group, "list", _list, [_DATABASE, *_NO_STORE], "List installed jobs with their next start.")
    add_command(
        group, "remove", _remove, [_NAME, _KIND, _DATABASE, *OUTPUT], "Remove jobs created with `--install`."
    )
    return group


# -- add --------------------------------------------------------------------------------------------------------
def _add(arguments: Arguments) -> int:
    from toolkit.app.scheduling import SchedulerKind, default_kind, make_job

    kind = _kind(arguments) or (SchedulerKind.ORACLE if "target" in arguments else default_kind())
    _check_options(arguments, kind)
    made = make_job(_wish(arguments))
    if arguments.flag("install"):
        made.check()
    with _noted(
        made.job.name, f"install for {kind}: {' '.join(made.job.command)}", arguments, arguments.flag("install")
    ):
        text, todo, notes, changes = (
            _on_oracle(made, arguments) if kind is SchedulerKind.ORACLE else _on_host(made, kind, arguments)
        )
    refused = [f"it would be refused when it runs: {error.sentence} ({error.hint})" for error in made.refused]
    warnings = [*made.notes, *refused, *notes]
    for note in warnings:
        say(f"warning: {note}")
    installed = arguments.flag("install")
    if arguments.flag("json"):
        document = {"name": made.job.name, "kind": kind.value, "installed": installed, "text": text}
        when = [one.spelled for one in made.job.openings]
        out_json({**document, "when": when, "todo": list(todo), "changes": list(changes), "warnings": warnings})
    elif not installed:
        out_raw(text)
    else:
        say(f"installed {made.job.name} for {kind}: {'; '.join(one.spelled for one in made.job.openings)}")
        if todo:
            say("\nhint: to activate it, run\n" + "\n".join(f"  {line}" for line in todo))
    return ExitCode.DONE


@contextmanager
def _noted(name: str, what: str, arguments: Arguments, changes: bool = True) -> Iterator[None]:
    """Note a change of a schedule in the audit log; what is only printed changes none."""
    if not changes:
        yield
        return
    from toolkit.app.auditing import Notes
    from toolkit.model.audit import AuditEvent, AuditKind
    from toolkit.store import open_store

    event = AuditEvent(AuditKind.SCHEDULE, plan=name, target=arguments.text("target"), details=(what,))
    with open_store(arguments.text("store"), at_once=False) as store, Notes(store, Warnings()).around(event):
        yield


def _on_host(
    made: CreatedJob, kind: SchedulerKind, arguments: Arguments
) -> tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Print or install on this host: text, what is left to type, warnings, what changes of what is installed."""
    from toolkit.app.scheduling import Crontab, SchedulerKind, Units, hidden_paths

    if kind is SchedulerKind.SYSTEMD:
        units = Units(system=True if made.job.user else None)
        changes = _shown(units.changes(made.job), made, arguments)
        todo = units.install(made.job) if arguments.flag("install") else ()
        hidden = hidden_paths(made.job) if units.system and made.job.sandboxed else ()
        return (
            units.show(made.job),
            todo,
            (f"a system unit has its own /tmp: move {', '.join(f'`{one}`' for one in hidden)}",) if hidden else (),
            changes,
        )
    crontab = Crontab()
    note = crontab.note(made.job)
    changes = _shown(crontab.changes(made.job), made, arguments)
    if arguments.flag("install"):
        crontab.install(made.job)
    return crontab.show(made.job), (), (note,) if note else (), changes


def _shown(changes: tuple[str, ...], made: CreatedJob, arguments: Arguments) -> tuple[str, ...]:
    """Show what an installed job becomes, before it does."""
    if changes and not arguments.flag("json"):
        say(f"{made.job.name} is installed already; this changes:\n" + "\n".join(f"  {line}" for line in changes))
    return changes


def _on_oracle(
    made: CreatedJob, arguments: Arguments
) -> tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    from toolkit.app.scheduling import OracleJobs
    from toolkit.app.scheduling.oracle import show_job
    from toolkit.cli.approving import approvals_of
    from toolkit.cli.launch import reach
    from toolkit.schedule.oracle import check_credential

    credential = arguments.text("credential")
    if credential is None:
        raise ToolkitError(
            "a program on the host needs a credential for a host account",
            code="TK-0107",
            hint="make one with DBMS_CREDENTIAL (11.2: DBMS_SCHEDULER) and name it: --credential NAME",
        )
    credential = check_credential(credential)
    note = (
        "the job runs on the database server: dbatk, the plan and its settings must exist there under these paths"
    )
    if "target" in arguments:
        resolved = reach(arguments.text("target"))
        try:
            with OracleJobs(resolved.target) as there:
                if arguments.flag("install"):
                    from toolkit.app.ruling import ruled_now

                    policy = ruled_now(resolved.policy, resolved.target)
                    there.install(made.job, credential, policy, approvals_of(arguments))
                else:
                    there.check()
        finally:
            resolved.target.close()
    elif arguments.flag("install"):
        raise ToolkitError("no target is named to install the job on", code="TK-0107", hint="add `-t NAME|URL`")
    return show_job(made.job, credential), (), (note,), ()


def _check_options(arguments: Arguments, kind: SchedulerKind) -> None:
    """Refuse options that this scheduler has no use for."""
    only = {"systemd": ("load_credential", "writes", "run_as"), "oracle": ("credential", "target")}
    for owner, names in only.items():
        for name in names:
            if owner != kind.value and name in arguments:
                flag = "--" + name.replace("_", "-")
                raise ToolkitError(
                    f"`{flag}` is only valid with `--kind {owner}`", code="TK-0107", hint=f"omit it for {kind}"
                )
    if kind.value == "oracle" and "env_file" in arguments:
        raise ToolkitError(
            "Oracle's scheduler reads no file of variables",
            code="TK-0107",
            hint="let the profile read its password from a file, a wallet or a command",
        )


def _wish(arguments: Arguments) -> JobRequest:
    from toolkit.app.scheduling import JobRequest

    flags = {
        "approved_only": "--approved-only",
        "not_production": "--not-production",
        "allow_commands": "--allow-commands",
        "unseen_ok": "--allow-unchecked",
    }
    passed = [flag for name, flag in flags.items() if arguments.flag(name)]
    for named in arguments.texts("yes_production"):
        passed += ["--allow-production", named]
    return JobRequest(
        plan=Path(arguments.required("plan")),
        at=arguments.text("at"),
        store=arguments.text("store"),
        arguments=tuple(passed),
        program=arguments.text("program"),
        environment_file=arguments.text("env_file"),
        credentials=tuple(arguments.texts("load_credential")),
        writes=tuple(arguments.texts("writes")),
        log_file=arguments.text("log_file"),
        user=arguments.text("run_as"),
    )


def _kind(arguments: Arguments) -> SchedulerKind | None:
    from toolkit.app.scheduling import SchedulerKind
    from toolkit.documents import did_you_mean

    text = arguments.text("kind")
    if text is None:
        return None
    known = [one.value for one in SchedulerKind]
    if text not in known:
        raise ToolkitError(f"`--kind` cannot be `{text}`", code="TK-0102", hint=did_you_mean(text, known))
    return SchedulerKind(text)


# -- list and remove --------------------------------------------------------------------------------------------
def _list(arguments: Arguments) -> int:
    found = _scheduled(arguments)
    if arguments.flag("json"):
        out_json({"schedules": [_document(one) for one in found]})
    elif not found:
        say("nothing is scheduled\n\nhint: `dbatk plan schedule PLAN --install`")
    else:
        rows = ((one.name, one.kind.value, "; ".join(one.when), one.next_at or "", one.plan) for one in found)
        out_table(("name", "by", "when", "next", "plan"), rows, whole=frozenset({"name"}))
    return ExitCode.DONE


def _scheduled(arguments: Arguments) -> list[Scheduled]:
    from toolkit.app.scheduling import Crontab, OracleJobs, Units

    found = [*Units().list(), *Crontab().list()]
    if "target" in arguments:
        from toolkit.cli.launch import reach

        resolved = reach(arguments.text("target"))
        try:
            with OracleJobs(resolved.target) as there:
                found += there.list()
        finally:
            resolved.target.close()
    return found


def _document(one: Scheduled) -> dict[str, object]:
    document: dict[str, object] = {"name": one.name, "kind": one.kind.value, "where": one.where}
    return {**document, "plan": one.plan, "when": list(one.when), "next": one.next_at}


def _remove(arguments: Arguments) -> int:
    from toolkit.app.scheduling import Crontab, SchedulerKind, Units

    name, kind = arguments.required("name"), _kind(arguments)
    removed: list[str] = []
    todo: tuple[str, ...] = ()
    with _noted(name, "remove", arguments):
        if kind in (None, SchedulerKind.SYSTEMD):
            units = Units()
            removed += units.remove(name)
            todo = units.after_removal(name) if removed else ()
        if kind in (None, SchedulerKind.CRON) and Crontab().remove(name):
            removed.append(f"{name} in the crontab")
        if "target" in arguments and kind in (None, SchedulerKind.ORACLE):
            removed += _remove_on_oracle(arguments, name)
        if not removed:
            raise ToolkitError(
                f"no job named `{name}` is installed", code="TK-0204", hint="see `dbatk plan schedule list`"
            )
    if arguments.flag("json"):
        out_json({"removed": removed, "todo": list(todo)})
    else:
        for one in removed:
            say(f"removed {one}")
        if todo:
            say("\nhint: to make systemd forget it, run\n" + "\n".join(f"  {line}" for line in todo))
    return ExitCode.DONE


def _remove_on_oracle(arguments: Arguments, name: str) -> tuple[str, ...]:
    from toolkit.app.scheduling import OracleJobs
    from toolkit.cli.launch import reach

    resolved = reach(arguments.text("target"))
    try:
        with OracleJobs(resolved.target) as there:
            return there.remove(name)
    finally:
        resolved.target.close()
