"""`demo` and `run`: what begins from nothing or from a file."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.approving import approvals_of, checked_plan, password_prompt
from toolkit.cli.colours import on_terminal
from toolkit.cli.listening import LOG, listening
from toolkit.cli.notices import tell_died, tell_of, told_of_refusals
from toolkit.cli.output import held_back, out, out_json, out_raw, out_table, say
from toolkit.cli.parameters import (
    APPROVALS,
    APPROVED_ONLY,
    OTHER_TARGET,
    OUTPUT,
    QUIET,
    QUIET_WHEN_OK,
    SCRIPT,
    Arguments,
    add_command,
    argument,
    option,
)
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.options import Topic
from toolkit.model.protocols import Event

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from toolkit.app.maintenance import PlanTarget
    from toolkit.app.maintenance.plan_run import Dispatcher
    from toolkit.model.experiment import Experiment
    from toolkit.model.plan import MaintenancePlan, PlanRunRecord
    from toolkit.store import Store

_FILE = argument("file", "experiment or plan file (TOML)")
_DEMO_SECONDS = 55.0


def add_files(app: typer.Typer) -> None:
    """Add the commands."""
    where = option("out", "folder for the data and report.html (default ./dbatk-demo)", metavar="DIR")
    json_and_debug = [one for one in OUTPUT if one.name != "store"]
    add_command(
        app, "demo", _demo, [where, QUIET, *json_and_debug], "Try dbatk on embedded data, in about a minute."
    )
    label = option("label", "name of the run")
    anytime = option(
        "anytime",
        "run a plan even if its window is closed",
        "--allow-closed-window",
        kind=bool,
        topic=Topic.SAFETY,
    )
    on = option("on", "cluster whose workers run the plan", metavar="dask://HOST:PORT")
    quiet = (QUIET, QUIET_WHEN_OK)
    run = [_FILE, OTHER_TARGET, label, anytime, on, APPROVED_ONLY, *SCRIPT, *APPROVALS, *quiet, *LOG, *OUTPUT]
    add_command(app, "run", _run, run, "Run an experiment file, or a maintenance plan.")


def _demo(arguments: Arguments) -> int:
    from toolkit.app.demo import run_demo
    from toolkit.cli.listening import Progress

    folder = Path(arguments.text("out") or "dbatk-demo")
    with Progress(quiet=arguments.flag("quiet")) as progress:
        result = run_demo(folder, events=progress, seconds=_DEMO_SECONDS)
    if arguments.flag("json"):
        document = {"runs": list(result.run_ids), "report": str(result.report), "store": str(result.store)}
        out_json(document)
    else:
        out("\n".join(result.answers))
        out(f"\n{result.text}")
        say(f"\nreport written to {result.report}")
        say(f"\nhint: `dbatk runs list --store {result.store}` lists its runs")
        say("hint: then try `dbatk ctas --help`")
    return ExitCode.DONE


def _run(arguments: Arguments) -> int:
    if not arguments.flag("quiet_when_ok"):
        return _run_file(arguments)
    # lines for a log collector are wanted whatever came of it
    with held_back(errors="log_format" not in arguments) as held:
        status = _run_file(arguments)
        held.needless = status == ExitCode.DONE
    return status


def _run_file(arguments: Arguments) -> int:
    if arguments.flag("approved_only") and arguments.flag("dry_run"):
        raise ToolkitError(
            "`--approved-only` and `--dry-run` are mutually exclusive", code="TK-0107", hint="use only one of them"
        )
    plan = read_maintenance_plan(arguments)
    if plan is not None:
        return run_maintenance(plan, arguments)
    from toolkit.cli.launch import launch

    if arguments.flag("anytime"):
        raise ToolkitError(
            "`--allow-closed-window` is for plans only: an experiment has no window",
            code="TK-0107",
            hint="omit it",
        )
    if "on" in arguments:
        raise ToolkitError(
            "`--on` is for plans: an experiment runs from this host", code="TK-0107",
            hint='a workload whose users live on other hosts has `on = "dask://HOST:PORT"` in its file',
        )  # fmt: skip
    file = Path(arguments.required("file"))
    if arguments.flag("dry_run"):
        return launch(read_experiment(arguments), arguments, file=file)
    with told_of_refusals(file.stem, experiment=True):
        return launch(read_experiment(arguments), arguments, file=file)


def read_maintenance_plan(arguments: Arguments) -> MaintenancePlan | None:
    """Return the plan that the file is, or None when it is an experiment."""
    from toolkit.design.plan_file import is_plan, read_plan
    from toolkit.documents import read_document

    path = Path(arguments.required("file"))
    document = read_document(path)
    if not is_plan(document):
        return None
    if "label" in arguments:
        raise ToolkitError("a plan has a name and does not accept `--label`", code="TK-0107", hint="omit it")
    return read_plan(document, path.parent, target=arguments.text("target"))


def read_experiment(arguments: Arguments) -> Experiment:
    from dataclasses import replace

    from toolkit.design.build import check_label
    from toolkit.design.file import load_experiment

    experiment = load_experiment(Path(arguments.required("file")), target=arguments.text("target"))
    label = arguments.text("label")
    check_label(label)
    return experiment if label is None else replace(experiment, label=label)


def run_maintenance(plan: MaintenancePlan, arguments: Arguments) -> int:
    """Run a plan, or print its scripts, and return the exit status: 3 when something did not end well."""
    for name in ("save_as", "assume", "facts"):
        if name in arguments:
            raise ToolkitError(
                f"`--{name.replace('_', '-')}` is for experiments only", code="TK-0107", hint="omit it"
            )
    if arguments.flag("dry_run"):
        if "on" in arguments:
            raise ToolkitError("`--dry-run` runs nothing anywhere", code="TK-0107", hint="omit `--on`")
        return _dry_run(plan, arguments)
    with told_of_refusals(plan.name):
        record, left = _carry_out(plan, arguments)
    if arguments.flag("json"):
        from toolkit.app.maintenance.run_reports import plan_run_document

        out_json(plan_run_document(record))
    else:
        _show_night(record)
    for run in left:
        say(f"warning: run {run} left something that is not undone: `dbatk runs show {run}`")
    return ExitCode.INCOMPLETE if left and _status(record) == ExitCode.DONE else _status(record)


def _carry_out(plan: MaintenancePlan, arguments: Arguments) -> tuple[PlanRunRecord, Sequence[str]]:
    """Run it, and tell everybody what came of it; return also the runs of its steps that left something."""
    from toolkit.app.maintenance import plan_targets_of, run_plan
    from toolkit.app.notices import heartbeats
    from toolkit.app.results import undo_script_left
    from toolkit.store import open_store

    with open_store(arguments.text("store"), at_once=False) as store, ExitStack() as guarded:
        tell_died(store, deliver=True)  # of other plans, too: one that is begun no more tells nothing
        targets = plan_targets_of(plan, store, approvals_of(arguments), prompt=password_prompt())
        approvals, targets = guarded.enter_context(checked_plan(plan, targets, store, arguments))
        dispatcher = guarded.enter_context(_dispatcher(plan, targets, store, arguments))
        beating = heartbeats(lambda: store.plan_runs_to_tell(plan.name))
        with listening(arguments) as events, beating, _told_of_a_closed_window(plan, store):
            record = run_plan(
                plan,
                targets,
                store=store,
                approvals=approvals,
                events=events,
                anytime=arguments.flag("anytime"),
                dispatcher=dispatcher,
            )
            for sentence in _edited_meanwhile(plan, arguments):
                events.emit(Event("warning", sentence))
            ended = {"plan_run": record.plan_run, "state": record.state.value, "stopped_by": record.stopped_by}
            events.emit(Event("plan-ended", f"plan {plan.name}: {record.state}", ended))
        tell_died(store, plan.name, deliver=True)
        tell_of(store, plan.name)
        names, places = {step.step for step in record.steps}, {step.target for step in record.steps}
        histories = store.step_histories(plan.name, sorted(names), sorted(places)).values()
        runs = {step.run for history in histories for step in history if step.run is not None}
        return record, [run for run in sorted(runs) if undo_script_left(store, run) is not None]


@contextmanager
def _told_of_a_closed_window(plan: MaintenancePlan, store: Store) -> Iterator[None]:
    """Notify all recipients of a plan that was due and found its window closed, as of any other end."""
    try:
        yield
    except ToolkitError as error:
        if error.code == "TK-0310":
            tell_of(store, plan.name)
        raise


def _edited_meanwhile(plan: MaintenancePlan, arguments: Arguments) -> Iterator[str]:
    """Say that the file of a plan is another one now than when it was begun."""
    from pathlib import Path

    from toolkit.documents import read_utf8

    file = Path(arguments.required("file"))
    if file.exists() and not file.is_file():
        return  # a pipe is read once: to open it again would wait for a writer
    try:
        same = read_utf8(file) == plan.text
    except ToolkitError:
        same = False
    if not same:
        yield f"`{file}` was edited while the plan ran: the version at the start was executed"


@contextmanager
def _dispatcher(
    plan: MaintenancePlan, targets: Sequence[PlanTarget], store: Store, arguments: Arguments
) -> Iterator[Dispatcher | None]:
    """Give the cluster that `--on` names, or None: this process works on the targets itself."""
    address = arguments.text("on")
    if address is None:
        yield None
        return
    from toolkit.app.maintenance.cluster import cluster_at

    with cluster_at(address, plan, store, [plan_target.name for plan_target in targets]) as cluster:
        yield cluster


def _dry_run(plan: MaintenancePlan, arguments: Arguments) -> int:
    from toolkit.app.maintenance import plan_targets_of
    from toolkit.store import open_store

    with open_store(arguments.text("store"), at_once=False) as store:
        targets = plan_targets_of(plan, store, approvals_of(arguments), prompt=password_prompt())
        return _print_scripts(targets, store, full=arguments.flag("full") or not on_terminal(sys.stdout))


def _status(record: PlanRunRecord) -> int:
    from toolkit.model.plan import ENDED_WELL
    from toolkit.model.words import RunState

    if all(step.state in ENDED_WELL for step in record.steps):
        return ExitCode.DONE
    interrupted = record.state is RunState.INTERRUPTED and record.stopped_by == "the plan was stopped"
    return ExitCode.INTERRUPTED if interrupted else ExitCode.INCOMPLETE


def _show_night(record: PlanRunRecord) -> None:
    from toolkit.model.words import status
    from toolkit.units import seconds

    out(f"plan {record.plan}, run {record.plan_run}: {status(record.state)}")
    if record.stopped_by:
        out(f"stopped: {record.stopped_by}")
    for target in dict.fromkeys(step.target for step in record.steps):
        out(f"\non {target}")
        rows = [
            (step.step, status(step.state), seconds(step.elapsed_seconds), seconds(step.expected_seconds))
            for step in record.steps
            if step.target == target
        ]
        out_table(("step", "ended", "took", "expected"), rows)
    for step in record.steps:
        if step.reason:
            say(f"{step.step} on {step.target}: {step.reason}")


def _print_scripts(targets: tuple[PlanTarget, ...], store: Store, *, full: bool) -> int:
    from toolkit.app.maintenance.guards import guard_rows
    from toolkit.app.runs.preview import script

    for each in targets:
        target, policy = each.resolved.target, each.resolved.policy
        try:
            for row in guard_rows([each]):
                state = f"{row.verdict} now, {_comment(row.now)}"
                out_raw(f"-- guard {row.guard} on {each.name}: {row.limit}; {state}\n")
            for job in each.jobs:
                printed, _ = script(job.experiment, target, policy=policy, store=store, full=full)
                out_raw(f"-- step {job.step.name} on {each.name}\n{printed}\n")
        finally:
            target.close()
    return ExitCode.DONE


def _comment(text: str) -> str:
    """Return a text that stays within its line of a script."""
    return " ".join(text.split())
