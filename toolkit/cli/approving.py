"""Approving what a file says, and holding a run against what was approved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.cli.launch import approvals_of
from toolkit.cli.output import out, out_json, out_table, say
from toolkit.cli.parameters import Arguments
from toolkit.errors import ExitCode

if TYPE_CHECKING:
    from toolkit.app.approvals import Approvals
    from toolkit.app.approving import Subject
    from toolkit.app.maintenance import PlanTarget
    from toolkit.app.targets import ResolvedTarget
    from toolkit.model.audit import Approval
    from toolkit.model.experiment import Experiment
    from toolkit.model.plan import MaintenancePlan
    from toolkit.store import Store


# -- approving --------------------------------------------------------------------------------------------------
def approve_plan(plan: MaintenancePlan, places: Sequence[PlanTarget], store: Store, arguments: Arguments) -> int:
    """Approve a plan on all its targets."""
    from toolkit.app.approving import subject_of_plan

    return _approve(subject_of_plan(Path(arguments.required("file")), plan, places), store, arguments)


def approve_experiment(experiment: Experiment, resolved: ResolvedTarget, arguments: Arguments) -> int:
    """Approve an experiment."""
    from toolkit.app.approving import subject_of_experiment
    from toolkit.app.runs.fitting import fitted
    from toolkit.store import open_store

    subject = subject_of_experiment(Path(arguments.required("file")), fitted(experiment, resolved), resolved)
    with open_store(arguments.text("store")) as store:
        return _approve(subject, store, arguments)


def _approve(subject: Subject, store: Store, arguments: Arguments) -> int:
    from toolkit.app.approving import approve

    approval = approve(subject, store, by=arguments.text("approved_by"), reason=arguments.text("reason"))
    if arguments.flag("json"):
        out_json(_document(approval, subject.approval_path))
    else:
        _show(approval, subject)
    return ExitCode.DONE


def _show(approval: Approval, subject: Subject) -> None:
    approved = approval.approved
    out(
        f"{approved.kind} {approved.name}: approved by {approval.by}"
        + (f", {approval.reason}" * bool(approval.reason))
    )
    out(f"{approval.hash}\n")
    out_table(
        ("database", "identity"),
        ((target, ", ".join(f"{name} {value}" for name, value in parts.items())) for target, parts in
         approved.databases.items()),
    )  # fmt: skip
    out(f"{len(approved.files)} scripts and templates, dbatk {approved.version}; each is listed in")
    out(str(subject.approval_path))
    for note in approval.notes:
        say(f"note: {note}")
    if approval.signature is None:
        say("note: it is not signed; it holds with the audit log of this store")
    say(f"\nhint: `dbatk run {subject.file} --approved-only` runs nothing else")


def _document(approval: Approval, path: Path) -> dict[str, object]:
    approved = approval.approved
    return {
        "file": str(path),
        "name": approved.name,
        "kind": approved.kind,
        "hash": approval.hash,
        "by": approval.by,
        "user": approval.user,
        "at": approval.at,
        "reason": approval.reason,
        "signed": approval.signature is not None,
        "version": approved.version,
        "databases": {target: dict(parts) for target, parts in approved.databases.items()},
        "files": dict(approved.files),
        "notes": list(approval.notes),
    }


# -- running ----------------------------------------------------------------------------------------------------
@contextmanager
def plan_held(
    plan: MaintenancePlan, places: tuple[PlanTarget, ...], store: Store, arguments: Arguments
) -> Iterator[tuple[Approvals, tuple[PlanTarget, ...]]]:
    """Give what the user allowed and where the plan may run; held against its approval where one is needed.

    Raises:
        ToolkitError: TK-0313, TK-0314.
    """
    asked = arguments.flag("approved_only") or plan.approved_only
    if not asked and not any(place.resolved.policy.approved_only for place in places):
        yield approvals_of(arguments), places
        return
    from toolkit.app.approving import check, guarding, subject_of_plan

    held = check(subject_of_plan(Path(arguments.required("file")), plan, places), store)
    places = tuple(replace(place, refused=held.unresolved.get(place.name)) for place in places)
    with guarding(held.approval):
        yield _with(held.approval, arguments), places


@contextmanager
def experiment_held(
    file: Path | None, experiment: Experiment, resolved: ResolvedTarget, store: Store, arguments: Arguments
) -> Iterator[Approvals]:
    """Give what the user allowed; an experiment is held against its approval where one is needed.

    Raises:
        ToolkitError: TK-0313, TK-0314.
    """
    asked = arguments.flag("approved_only") or (file is not None and resolved.policy.approved_only)
    if not asked or file is None:
        # without a file there is nothing to approve: the run itself refuses where the profile asks for it
        yield approvals_of(arguments)
        return
    from toolkit.app.approving import check, guarding, subject_of_experiment

    held = check(subject_of_experiment(file, experiment, resolved), store)
    with guarding(held.approval):
        yield _with(held.approval, arguments)


def _with(approval: Approval, arguments: Arguments) -> Approvals:
    from toolkit.design.approval_file import dump_approval

    return replace(approvals_of(arguments), approval=approval.hash, approval_text=dump_approval(approval))
