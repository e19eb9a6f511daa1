"""What a plan would be refused at night, when nobody can be asked; told by day, without connecting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from toolkit.app.approvals import Approvals, TargetPolicy, not_approved, production_refused
from toolkit.app.targets import policy_of
from toolkit.design.approval import approval_path, expired, load_approval, names_consented
from toolkit.errors import ToolkitError
from toolkit.model.address import Address


def refusals(
    plan: Path, targets: Sequence[tuple[str, Address]], approvals: Approvals, *, approved_only: bool
) -> dict[str, ToolkitError]:
    """Return, by target, why work of a plan would be refused there.

    Args:
        plan: its file, beside which its approval is.
        targets: names of profiles, or URLs, with the address of each.
        approvals: what its command line allows.
        approved_only: whether the plan or its command line asks for the approval; a profile may, too.
    """
    known = [(name, address, policy_of(name)) for name, address in targets]
    if approved_only or any(policy.approved_only for _, _, policy in known):
        approval = load_approval(approval_path(plan))
        if approval is None and approved_only:
            missing = ToolkitError(
                f"`{plan.name}` is not approved",
                code="TK-0313",
                hint=f"look at it, then `dbatk plan approve {plan}`",
            )
            return {name: missing for name, _, _ in known}
        over = None if approval is None else expired(approval, plan, datetime.now(UTC).date())
        if over is not None and approved_only:
            return {name: over for name, _, _ in known}
        if approval is not None and over is None:
            named = (*approval.approved.databases, *names_consented(approval.approved.values))
            approvals = replace(approvals, approval=approval.hash, approved_for=named)
    found = ((name, _refused(address, policy, approvals)) for name, address, policy in known)
    refused = {name: error for name, error in found if error is not None}
    if refused and not approved_only:
        for name in refused.keys() - _refused_when_approved(plan, targets, approvals):
            refused[name].hint += "; its approval, if it still holds, allows it: add --approved-only"
    return refused


def _refused_when_approved(
    plan: Path, targets: Sequence[tuple[str, Address]], approvals: Approvals
) -> frozenset[str]:
    """Return the targets that would be refused with `--approved-only`, too: all where nothing is approved."""
    try:
        return frozenset(refusals(plan, targets, approvals, approved_only=True))
    except ToolkitError:  # of an approval that cannot be read only whoever asks for it is told
        return frozenset(name for name, _ in targets)


def _refused(address: Address, policy: TargetPolicy, approvals: Approvals) -> ToolkitError | None:
    if policy.approved_only and approvals.approval is None:
        return not_approved(policy)
    own = frozenset({address.database} if address.database else ())
    return production_refused(address.engine, policy, approvals, policy.names | own)
