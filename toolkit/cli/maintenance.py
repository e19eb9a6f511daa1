"""Runs and shows maintenance plans, for the commands `run` and `plan`."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from toolkit.cli.approving import approve_plan, plan_held
from toolkit.cli.launch import approvals_of, reader_of_passwords
from toolkit.cli.listening import listening
from toolkit.cli.notices import tell_of, told_of_refusals
from toolkit.cli.output import out, out_json, out_raw, out_table, say
from toolkit.cli.parameters import Arguments
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.protocols import Event

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from toolkit.app.maintenance import PlanTarget
    from toolkit.app.maintenance.dispatch import Dispatcher
    from toolkit.model.plan import MaintenancePlan, PlanRunRecord
    from toolkit.store import Store


def run_maintenance(plan: MaintenancePlan, arguments: Arguments) -> int:
    """Run a plan, or print its scripts, and return the exit status: 3 when something did not end well."""
    for name in ("save_as", "assume", "facts"):
        if name in arguments:
            raise ToolkitError(
                f"`--{name.replace('_', '-')}` is for experiments", code="TK-0107", hint="leave it out"
            )
    if arguments.flag("dry_run"):
        if "on" in arguments:
            raise ToolkitError("`--dry-run` runs nothing anywhere", code="TK-0107", hint="leave `--on` out")
        return _dry_run(plan, arguments)
    with told_of_refusals(plan.name):
        record = _run(plan, arguments)
    if arguments.flag("json"):
        from toolkit.app.maintenance.documents import night_document

        out_json(night_document(record))
    else:
        _show_night(record)
    return _status(record)


def _run(plan: MaintenancePlan, arguments: Arguments) -> PlanRunRecord:
    """Run it, and tell everybody what came of it."""
    from toolkit.app.maintenance import places_of, run_plan
    from toolkit.store import open_store

    with open_store(arguments.text("store")) as store, ExitStack() as guarded:
        places = places_of(plan, store, approvals_of(arguments), prompt=reader_of_passwords())
        approvals, places = guarded.enter_context(plan_held(plan, places, store, arguments))
        dispatcher = guarded.enter_context(_dispatcher(plan, places, store, arguments))
        with listening(arguments) as events:
            record = run_plan(
                plan,
                places,
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
        yield f"`{file}` was edited while the plan ran: what was done is what stood there as it began"


@contextmanager
def _dispatcher(
    plan: MaintenancePlan, places: Sequence[PlanTarget], store: Store, arguments: Arguments
) -> Iterator[Dispatcher | None]:
    """Give the cluster that `--on` names, or None: this process works on the targets itself."""
    address = arguments.text("on")
    if address is None:
        yield None
        return
    from toolkit.app.maintenance.dispatch.cluster import cluster_at

    with cluster_at(address, plan, store, [place.name for place in places]) as cluster:
        yield cluster


def _dry_run(plan: MaintenancePlan, arguments: Arguments) -> int:
    from toolkit.app.maintenance import places_of
    from toolkit.store import open_store

    with open_store(arguments.text("store")) as store:
        return _print_scripts(places_of(plan, store, approvals_of(arguments), prompt=reader_of_passwords()))


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


def _print_scripts(places: tuple[PlanTarget, ...]) -> int:
    from toolkit.app.maintenance.guards import guard_rows
    from toolkit.app.runs.planning import script

    for place in places:
        try:
            for row in guard_rows([place]):
                out_raw(
                    f"-- guard {row.guard} on {place.name}: {row.limit}; {row.verdict} now, {_comment(row.now)}\n"
                )
            for job in place.jobs:
                printed, _ = script(job.experiment, place.resolved.target, policy=place.resolved.policy)
                out_raw(f"-- step {job.step.name} on {place.name}\n{printed}\n")
        finally:
            place.resolved.target.close()
    return ExitCode.DONE


def _comment(text: str) -> str:
    """Return a text that stays within its line of a script."""
    return " ".join(text.split())


def show_maintenance(plan: MaintenancePlan, arguments: Arguments) -> int:
    """Show what a plan would do: when, where, in which order, and how long it will take."""
    from datetime import UTC, datetime

    from toolkit.app.maintenance import places_of
    from toolkit.app.maintenance.documents import outlook_document, outlook_of
    from toolkit.app.maintenance.guards import guard_rows
    from toolkit.app.maintenance.hours import scheduler_sentences
    from toolkit.app.maintenance.reaching import unresolved
    from toolkit.store import open_store
    from toolkit.units import counted

    with open_store(arguments.text("store")) as store:
        places = places_of(plan, store, approvals_of(arguments), prompt=reader_of_passwords())
        if arguments.flag("approve"):
            return approve_plan(plan, places, store, arguments)
        now = datetime.now(UTC)
        outlook = outlook_of(plan, places, store, now)
        told = (*unresolved(places), *scheduler_sentences(plan, places, now))
        outlook = replace(outlook, sentences=outlook.sentences + told)
        guards = guard_rows(places)
    if arguments.flag("json"):
        out_json(outlook_document(outlook, guards))
        return ExitCode.DONE
    out(f"plan {plan.name}: {counted(len(plan.steps), 'step')} on {counted(len(places), 'target')}")
    for sentence in outlook.sentences:
        out(sentence)
    for target in dict.fromkeys(row.target for row in outlook.rows):
        out(f"\non {target}")
        rows = [
            (row.step, row.last_done, row.expected, row.slow, row.verdict)
            for row in outlook.rows
            if row.target == target
        ]
        out_table(("step", "last done (UTC)", "expected", "up to", "tonight"), rows)
        watched = [(row.guard, row.limit, row.now, row.verdict) for row in guards if row.target == target]
        if watched:
            out("")
            out_table(("guard", "limit", "now", "verdict"), watched)
    return ExitCode.DONE
