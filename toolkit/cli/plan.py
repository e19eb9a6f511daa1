"""`plan`: all commands about plans: what one would do, approving it, what came of it, who runs it when."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.approving import approvals_of, password_prompt
from toolkit.cli.files import read_experiment, read_maintenance_plan
from toolkit.cli.notices import notify_group, tell_died
from toolkit.cli.output import out, out_json, out_table, say
from toolkit.cli.parameters import (
    APPROVALS,
    APPROVED_ONLY,
    OTHER_TARGET,
    OUTPUT,
    Arguments,
    DefaultGroup,
    add_command,
    argument,
    new_group,
    option,
)
from toolkit.cli.schedule import schedule_group
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.options import Topic

if TYPE_CHECKING:
    from toolkit.app.approving import Subject
    from toolkit.app.runs.preview import Plan
    from toolkit.model.audit import Approval, Value
    from toolkit.model.experiment import Experiment
    from toolkit.model.plan import MaintenancePlan
    from toolkit.store import Store

_FILE = argument("file", "experiment or plan file (TOML)")
_PLAN = option("plan", "runs of this plan only", metavar="NAME", like="plan_name")
_FORMATS = ("text", "html", "json")
_SUFFIXES = {".html": "html", ".htm": "html", ".json": "json"}


class _PlanGroup(DefaultGroup):
    """Takes `plan FILE` for `plan show FILE`, and `plan FILE --approve` for `plan approve FILE`."""

    default = "show"

    def in_full(self, args: list[str]) -> list[str]:
        if "--approve" in args and args[0] not in self.commands:
            return ["approve", *(word for word in args if word != "--approve")]
        return super().in_full(args)


def add_plan(app: typer.Typer) -> None:
    """Add the group and its commands; `schedule` and `notify` also work without `plan` before them."""
    group = new_group(
        "Show, approve, schedule and report on plans.\n\n"
        "`plan FILE` is short for `plan show FILE`; `dbatk run FILE` runs a plan. `dbatk schedule` and "
        "`dbatk notify` are short for `dbatk plan schedule` and `dbatk plan notify`.",
        _PlanGroup,
    )
    showing = [_FILE, OTHER_TARGET, APPROVED_ONLY, *APPROVALS, *OUTPUT]
    add_command(
        group, "show", _show, showing, "Show what an experiment or plan file would do, without changing anything."
    )
    approver = option("approved_by", "who approves it (default: the user on this host)", metavar="NAME")
    reason = option("reason", "reason, or change number", metavar="TEXT")
    until = option("valid_until", "last day on which it may run (default: in 90 days)", metavar="YYYY-MM-DD")
    anytime = option(
        "anytime",
        "allow `dbatk run --allow-closed-window`",
        "--allow-closed-window",
        kind=bool,
        topic=Topic.SAFETY,
    )
    approving = [_FILE, OTHER_TARGET, approver, reason, until, anytime, *APPROVALS, *OUTPUT]
    add_command(group, "approve", _approve, approving, "Approve a file: write FILE.approval.toml beside it.")
    add_command(group, "revoke", _revoke, [_FILE, reason, *OUTPUT], "Revoke the approval of a file.")
    run = argument(
        "run",
        "id of a plan run or its beginning, the name of a plan (its newest run), or `last`",
        default="last",
        like="plan_run",
    )
    file = option("out", "file to write", metavar="FILE")
    form = option(
        "format",
        "text, html or json (default: by the suffix of --out, else text)",
        metavar="FORMAT",
        choices=_FORMATS,
    )
    add_command(group, "report", _report, [run, _PLAN, file, form, *OUTPUT], "Report the result of a plan run.")
    step = argument("step", "step of a plan")
    add_command(group, "history", _history, [step, _PLAN, *OUTPUT], "Show the times of a step, run by run.")
    app.add_typer(group, name="plan")
    for name, inner in (("schedule", schedule_group()), ("notify", notify_group())):
        group.add_typer(inner, name=name)
        app.add_typer(inner, name=name, hidden=True)


# -- show -------------------------------------------------------------------------------------------------------
def _show(arguments: Arguments) -> int:
    plan = read_maintenance_plan(arguments)
    return _show_experiment(arguments) if plan is None else _show_plan(plan, arguments)


def _show_plan(plan: MaintenancePlan, arguments: Arguments) -> int:
    """Show when, where, in which order, and how long it will take."""
    from toolkit.app.maintenance import plan_targets_of
    from toolkit.app.maintenance.outlook import full_outlook, outlook_document
    from toolkit.app.unattended import refusals
    from toolkit.config.urls import parse_url
    from toolkit.model.words import status
    from toolkit.store import open_store
    from toolkit.units import counted

    with open_store(arguments.text("store"), at_once=False) as store:
        tell_died(store, plan.name)
        approvals = approvals_of(arguments)
        targets = plan_targets_of(plan, store, approvals, prompt=password_prompt())
        addresses = [(each.name, parse_url(each.resolved.target.display)) for each in targets]
        refused = refusals(
            Path(arguments.required("file")),
            addresses,
            approvals,
            approved_only=plan.approved_only or arguments.flag("approved_only"),
        )
        outlook, guards = full_outlook(plan, targets, store, refused)
    if arguments.flag("json"):
        out_json(outlook_document(outlook, guards))
        return ExitCode.DONE
    out(f"plan {plan.name}: {counted(len(plan.steps), 'step')} on {counted(len(targets), 'target')}")
    for sentence in outlook.sentences:
        out(sentence)
    for target in dict.fromkeys(row.target for row in outlook.rows):
        out(f"\non {target}")
        steps = [
            (row.step, row.last_done, row.expected, row.slow, "no: refused" if target in refused else row.verdict)
            for row in outlook.rows
            if row.target == target
        ]
        out_table(("step", "last run (UTC)", "expected", "up to", "next run"), steps)
        watched = [(row.guard, row.limit, row.now, status(row.verdict)) for row in guards if row.target == target]
        if watched:
            out("")
            out_table(("guard", "limit", "now", "verdict"), watched)
    return ExitCode.DONE


def _show_experiment(arguments: Arguments) -> int:
    from toolkit.analysis.sequential import sure_to_run
    from toolkit.app.history import what_it_needs
    from toolkit.app.runs.databases import database_of
    from toolkit.app.runs.preview import describe
    from toolkit.app.targets import fitted
    from toolkit.cli.launch import reach
    from toolkit.store import open_store

    if arguments.flag("approved_only"):
        raise ToolkitError(
            "`--approved-only` shows what a plan would be refused",
            code="TK-0107",
            hint="of an experiment `dbatk run FILE --approved-only` says what differs, and runs nothing that does",
        )
    experiment = read_experiment(arguments)
    resolved = reach(experiment.target)
    try:
        plan = describe(fitted(experiment, resolved), resolved.target, resolved.policy)
        place = resolved.target.engine, database_of(plan.facts, resolved.target)
    finally:
        resolved.target.close()
    cells = [cell for cell, _ in plan.cells]
    with open_store(arguments.text("store"), at_once=False) as store:
        needs = what_it_needs(store, plan.experiment, cells, *place)
    plan = replace(plan, trials=sure_to_run(plan.experiment, plan.trials), notes=(*plan.notes, *needs))
    if arguments.flag("json"):
        out_json(_experiment_document(plan))
        return ExitCode.DONE
    experiment = plan.experiment
    out(f"{experiment.operation} on {experiment.target}, a {experiment.mode}")
    for note in (*plan.notes, *(plan.bill.sentences() if plan.bill is not None else ())):
        out(note)
    out("")
    out_table(
        ("configuration", "available"),
        ((str(cell), support.sentence or support.state) for cell, support in plan.cells),
    )
    out("")
    sweep = ((str(t.number), "warm-up" if t.warmup else str(t.repeat), str(t.cell)) for t in plan.trials)
    out_table(("trial", "repeat", "configuration"), sweep)
    return ExitCode.DONE


def _experiment_document(plan: Plan) -> dict[str, object]:
    from toolkit.model.bill import bill_document

    experiment = plan.experiment
    return {
        "mode": experiment.mode.value,
        "target": experiment.target,
        "operation": experiment.operation,
        "seed": experiment.seed,
        "notes": list(plan.notes),
        "licences": None if plan.bill is None else bill_document(plan.bill),
        "cells": [
            {"factors": dict(cell), "state": support.state.value, "sentence": support.sentence}
            for cell, support in plan.cells
        ],
        "trials": [
            {"trial": trial.number, "repeat": trial.repeat, "warmup": trial.warmup, "factors": dict(trial.cell)}
            for trial in plan.trials
        ],
    }


# -- approve ----------------------------------------------------------------------------------------------------
def _approve(arguments: Arguments) -> int:
    from toolkit.app.approving import approve
    from toolkit.store import open_store

    work = read_maintenance_plan(arguments) or read_experiment(arguments)
    with open_store(arguments.text("store"), at_once=False) as store:
        subject = _subject(work, store, arguments)
        approval = approve(
            subject,
            store,
            by=arguments.text("approved_by"),
            reason=arguments.text("reason"),
            valid_until=_day(arguments.text("valid_until")),
        )
    if arguments.flag("json"):
        out_json(_approval_document(approval, subject.approval_path))
    else:
        _show_approval(approval, subject)
    return ExitCode.DONE


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise ToolkitError(f"`{text}` is not a day", code="TK-0102", hint="write it as 2027-01-31") from None


def _subject(work: MaintenancePlan | Experiment, store: Store, arguments: Arguments) -> Subject:
    from toolkit.app.approving import subject_of_experiment, subject_of_plan
    from toolkit.app.maintenance import plan_targets_of
    from toolkit.app.targets import fitted
    from toolkit.cli.launch import reach
    from toolkit.model.plan import MaintenancePlan

    file, consents = Path(arguments.required("file")), _consents(work, arguments)
    if isinstance(work, MaintenancePlan):
        targets = plan_targets_of(work, store, approvals_of(arguments), prompt=password_prompt())
        return subject_of_plan(file, work, targets, consents)
    resolved = reach(work.target)
    return subject_of_experiment(file, fitted(work, resolved), resolved, consents)


def _consents(work: MaintenancePlan | Experiment, arguments: Arguments) -> dict[str, Value]:
    from toolkit.model.experiment import Experiment

    if arguments.flag("anytime") and isinstance(work, Experiment):
        raise ToolkitError(
            "`--allow-closed-window` is for plans only: an experiment has no window",
            code="TK-0107",
            hint="omit it",
        )
    return approvals_of(arguments).consents(anytime=arguments.flag("anytime"))


def _revoke(arguments: Arguments) -> int:
    from toolkit.app.approving import revoke
    from toolkit.design.approval import approval_path, load_approval
    from toolkit.store import open_store

    file = Path(arguments.required("file"))
    path = file if file.name.endswith(".approval.toml") else approval_path(file)
    approval = load_approval(path)
    if approval is None:
        raise ToolkitError(
            f"`{file}` is not approved: there is no `{path}`",
            code="TK-0106",
            hint="name the plan, or its file `.approval.toml`",
        )
    with open_store(arguments.text("store"), at_once=False) as store:
        revoke(approval, store, reason=arguments.text("reason"))
    if arguments.flag("json"):
        out_json({"file": str(path), "name": approval.approved.name, "revoked": approval.hash})
    else:
        out(f"{approval.approved.kind} {approval.approved.name}: the approval by {approval.by} is revoked")
    return ExitCode.DONE


def _show_approval(approval: Approval, subject: Subject) -> None:
    approved = approval.approved
    reason = f", {approval.reason}" if approval.reason else ""
    out(f"{approved.kind} {approved.name}: approved by {approval.by}{reason}")
    out(f"{approval.hash}\nvalid until {approved.valid_until}\n")
    out_table(("database", "identity"), _identities(approval, subject))
    out(f"{len(approved.files)} scripts and templates, dbatk {approved.version}; all are listed in")
    out(str(subject.approval_path))
    for note in approval.notes:
        say(f"note: {note}")
    if approval.signature is None:
        say("note: it is not signed; it is valid with the audit log of this store only")
    say(f"\nhint: `dbatk run {subject.file} --approved-only` runs nothing else")


def _identities(approval: Approval, subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield each database with what identifies it; the settings of its sessions are in the file."""
    from toolkit.model.engines import engine

    engines = {work.target: engine(work.resolved.target.engine) for work in subject.works}
    for target, parts in approval.approved.databases.items():
        settings = {name for name, *_ in engines[target].session}
        yield target, ", ".join(f"{name} {value}" for name, value in parts.items() if name not in settings)


def _approval_document(approval: Approval, path: Path) -> dict[str, object]:
    approved = approval.approved
    return {
        "file": str(path),
        "name": approved.name,
        "kind": approved.kind,
        "hash": approval.hash,
        "by": approval.by,
        "user": approval.user,
        "at": approval.at,
        "valid_until": approved.valid_until,
        "reason": approval.reason,
        "signed": approval.signature is not None,
        "version": approved.version,
        "databases": {target: dict(parts) for target, parts in approved.databases.items()},
        "files": dict(approved.files),
        "notes": list(approval.notes),
    }


# -- report and history -----------------------------------------------------------------------------------------
def _report(arguments: Arguments) -> int:
    from toolkit.app.maintenance.run_reports import find_plan_run, report_of
    from toolkit.model.words import RunState
    from toolkit.report.run_report import run_report_document, run_report_page, run_report_text
    from toolkit.store import open_store

    file = arguments.text("out")
    form = _format(arguments, file)
    with open_store(arguments.text("store"), at_once=False) as store:
        tell_died(store, arguments.text("plan"))
        report = report_of(store, find_plan_run(store, arguments.required("run"), arguments.text("plan")))
    status = ExitCode.INCOMPLETE if report.run.state is RunState.DIED else ExitCode.DONE
    if form == "json" and file is None:
        out_json(run_report_document(report))
        return status
    if file is None and form == "text":
        out(run_report_text(report).rstrip())
        return status
    from toolkit.app.files import write_file

    if file is None:
        raise ToolkitError("an HTML page needs a file", code="TK-0107", hint="add `--out report.html`")
    content: dict[str, Callable[[], str]] = {
        "text": lambda: run_report_text(report),
        "html": lambda: run_report_page(report),
        "json": lambda: json.dumps(run_report_document(report), ensure_ascii=False, indent=2) + "\n",
    }
    write_file(Path(file), content[form]())
    say(f"wrote {file}")
    return status


def _format(arguments: Arguments, file: str | None) -> str:
    """Return the format named, else by the file's suffix, else text."""
    form = "json" if arguments.flag("json") else arguments.text("format")
    if form is None:
        form = _SUFFIXES.get(Path(file).suffix.lower(), "text") if file else "text"
    if form not in _FORMATS:
        raise ToolkitError(f"unknown format `{form}`", code="TK-0102", hint="one of " + ", ".join(_FORMATS))
    return form


def _history(arguments: Arguments) -> int:
    from toolkit.app.maintenance.run_reports import trends
    from toolkit.report.run_report import trends_document, trends_text
    from toolkit.store import open_store

    with open_store(arguments.text("store"), at_once=False) as store:
        tell_died(store, arguments.text("plan"))
        found = trends(store, arguments.required("step"), arguments.text("plan"))
    if arguments.flag("json"):
        out_json(trends_document(found))
    else:
        out(trends_text(found).rstrip())
    return ExitCode.DONE
