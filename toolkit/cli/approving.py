"""What a user allows: by options, by an answer on the terminal, or by an approval to check a run against."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.cli.colours import on_terminal
from toolkit.cli.listening import paused
from toolkit.cli.parameters import Arguments
from toolkit.errors import ToolkitError

if TYPE_CHECKING:
    from toolkit.app.approvals import Approvals
    from toolkit.app.maintenance import PlanTarget
    from toolkit.app.targets import ResolvedTarget
    from toolkit.model.audit import Approval
    from toolkit.model.experiment import Experiment
    from toolkit.model.plan import MaintenancePlan
    from toolkit.store import Store


# -- asking -----------------------------------------------------------------------------------------------------
def _can_ask() -> bool:
    return sys.stdin.isatty() and on_terminal(sys.stderr)


def _ask(question: str) -> bool:
    import typer

    with paused():
        return bool(typer.confirm(question, default=False, err=True))


def _prompt(what: str) -> str | None:
    from getpass import getpass

    with paused():
        return getpass(f"{what}: ", stream=sys.stderr) or None


def password_prompt() -> Callable[[str], str | None] | None:
    """Return what asks for a password, or None where there is no terminal."""
    return _prompt if _can_ask() else None


def confirmed(arguments: Arguments, question: str) -> None:
    """Ask before something is removed; `--yes` answers, and where nobody can be asked it is needed.

    Raises:
        ToolkitError: TK-0107 without a terminal, TK-0130 when the answer is no.
    """
    if arguments.flag("yes"):
        return
    if not _can_ask() or arguments.flag("json"):
        raise ToolkitError(f"there is no terminal to ask on: {question}", code="TK-0107", hint="add `--yes`")
    if not _ask(question):
        raise ToolkitError("not done", code="TK-0130", hint="nothing was changed")


def approvals_of(arguments: Arguments) -> Approvals:
    """Return what the user allowed; questions are asked only on a terminal."""
    from toolkit.app.approvals import Approvals

    return Approvals(
        arguments.flag("not_production"),
        tuple(arguments.texts("yes_production")),
        arguments.flag("allow_commands"),
        _ask if _can_ask() and not arguments.flag("json") else None,
        arguments.flag("unseen_ok"),
    )


# -- checking against an approval ---------------------------------------------------------------------------------
@contextmanager
def checked_plan(
    plan: MaintenancePlan, targets: tuple[PlanTarget, ...], store: Store, arguments: Arguments
) -> Iterator[tuple[Approvals, tuple[PlanTarget, ...]]]:
    """Give what the user allowed and where the plan may run; checked against its approval where one is needed.

    Raises:
        ToolkitError: TK-0313, TK-0314.
    """
    from toolkit.app.maintenance.plan_targets import obeying_profiles

    targets = obeying_profiles(targets, approvals_of(arguments))
    wanted = arguments.flag("approved_only") or plan.approved_only
    if not wanted and not any(target.resolved.policy.approved_only for target in targets):
        yield approvals_of(arguments), targets
        return
    from toolkit.app.approving import check, guarding, subject_of_plan

    consents = approvals_of(arguments).consents(anytime=arguments.flag("anytime"))
    subject = subject_of_plan(Path(arguments.required("file")), plan, targets, consents)
    checked = check(subject, store)
    targets = tuple(
        replace(target, refused=target.refused or checked.unresolved.get(target.name)) for target in targets
    )
    with guarding(checked.approval):
        yield _with(checked.approval, arguments), targets


@contextmanager
def checked_experiment(
    file: Path | None, experiment: Experiment, resolved: ResolvedTarget, store: Store, arguments: Arguments
) -> Iterator[Approvals]:
    """Give what the user allowed; an experiment is checked against its approval where one is needed.

    Raises:
        ToolkitError: TK-0313, TK-0314.
    """
    wanted = arguments.flag("approved_only")
    if file is not None and not wanted:
        from toolkit.app.ruling import ruled_now

        wanted = ruled_now(resolved.policy, resolved.target).approved_only
        resolved.target.close()
    if not wanted or file is None:
        # without a file there is nothing to approve: the run itself refuses where the profile asks for it
        yield approvals_of(arguments)
        return
    with _held(file, experiment, resolved, store, arguments) as approvals:
        yield approvals


@contextmanager
def checked_resume(
    experiment: Experiment, resolved: ResolvedTarget, store: Store, arguments: Arguments
) -> Iterator[Approvals]:
    """Give what the user allowed; what is left of a run is checked against the approval of `--approved`.

    Args:
        experiment: as the run is stored: what is not as approved in the store is refused as in the file.
        resolved: the target.
        store: has the run.
        arguments: of the command line.

    Raises:
        ToolkitError: TK-0313, TK-0314.
    """
    file = arguments.text("approved")
    if file is None:
        yield approvals_of(arguments)
        return
    with _held(Path(file), experiment, resolved, store, arguments) as approvals:
        yield approvals


@contextmanager
def _held(
    file: Path, experiment: Experiment, resolved: ResolvedTarget, store: Store, arguments: Arguments
) -> Iterator[Approvals]:
    """Hold an experiment against the approval of a file, and all that it uses until it ends."""
    from toolkit.app.approving import check, guarding, subject_of_experiment

    consents = approvals_of(arguments).consents()
    checked = check(subject_of_experiment(file, experiment, resolved, consents), store)
    with guarding(checked.approval):
        yield _with(checked.approval, arguments)


def _with(approval: Approval, arguments: Arguments) -> Approvals:
    from toolkit.design.approval import dump_approval, names_consented

    return replace(
        approvals_of(arguments),
        approval=approval.hash,
        approval_text=dump_approval(approval),
        approved_for=(*approval.approved.databases, *names_consented(approval.approved.values)),
    )
