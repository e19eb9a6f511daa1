"""Runs maintenance plans, for the command `run`."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from toolkit.cli.approving import approvals_of, checked_plan, password_prompt
from toolkit.cli.listening import listening
from toolkit.cli.notices import tell_of, told_of_refusals
from toolkit.cli.output import out, out_json, out_raw, out_table, say
from toolkit.cli.parameters import Arguments
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.protocols import Event

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from toolkit.app.maintenance import PlanTarget
    from toolkit.app.maintenance.plan_run import Dispatcher
    from toolkit.model.plan import MaintenancePlan, PlanRunRecord
    from toolkit.store import Store


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
        record = _run(plan, arguments)
    if arguments.flag("json"):
        from toolkit.app.maintenance.run_reports import plan_run_document

        out_json(plan_run_document(record))
    else:
        _show_night(record)
    return _status(record)


def _run(plan: MaintenancePlan, arguments: Arguments) -> PlanRunRecord:
    """Run it, and tell everybody what came of it."""
    from toolkit.app.maintenance import plan_targets_of, run_plan
    from toolkit.store import open_store

    with open_store(arguments.text("store")) as store, ExitStack() as guarded:
        targets = plan_targets_of(plan, store, approvals_of(arguments), prompt=password_prompt())
        approvals, targets = guarded.enter_context(checked_plan(plan, targets, store, arguments))
        dispatcher = guarded.enter_context(_dispatcher(plan, targets, store, arguments))
        with listening(arguments) as events:
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
        tell_of(store, plan.name)
    return record


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

    with open_store(arguments.text("store")) as store:
        return _print_scripts(plan_targets_of(plan, store, approvals_of(arguments), prompt=password_prompt()))


def _status(record: PlanRunRecord) -> int:
    from toolkit.model.plan import ENDED_WELL
    from toolkit.model.words import RunState

    if all(step.state in ENDED_WELL for step in record.steps):
        return ExitCode.DONE
    interrupted = record.state is RunState.INTERRUPTED and record.stopped_by == "the plan was stopped"
    return ExitCode.INTERRUPTED if interrupted else ExitCode.INCOMPLETE


def _show_night(record: PlanRunRecord) -> None:
    from toolkit.units import seconds

    out(f"plan {record.plan}, run {record.plan_run}: {record.state}")
    if record.stopped_by:
        out(f"stopped: {record.stopped_by}")
    for target in dict.fromkeys(step.target for step in record.steps):
        out(f"\non {target}")
        rows = [
            (step.step, step.state.value, seconds(step.elapsed_seconds), seconds(step.expected_seconds))
            for step in record.steps
            if step.target == target
        ]
        out_table(("step", "ended", "took", "expected"), rows)
    for step in record.steps:
        if step.reason:
            say(f"{step.step} on {step.target}: {step.reason}")


def _print_scripts(targets: tuple[PlanTarget, ...]) -> int:
    from toolkit.app.maintenance.guards import guard_rows
    from toolkit.app.runs.preview import script

    for each in targets:
        target, policy = each.resolved.target, each.resolved.policy
        try:
            for row in guard_rows([each]):
                state = f"{row.verdict} now, {_comment(row.now)}"
                out_raw(f"-- guard {row.guard} on {each.name}: {row.limit}; {state}\n")
            for job in each.jobs:
                printed, _ = script(job.experiment, target, policy=policy)
                out_raw(f"-- step {job.step.name} on {each.name}\n{printed}\n")
        finally:
            target.close()
    return ExitCode.DONE


def _comment(text: str) -> str:
    """Return a text that stays within its line of a script."""
    return " ".join(text.split())
