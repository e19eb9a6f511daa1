"""Holds what is to run against what was approved, before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from toolkit import __version__, resources
from toolkit.app.approvals import Approvals
from toolkit.app.approving.identity import identity_of
from toolkit.app.approving.making import Subject, TargetWork, full_values
from toolkit.app.approving.naming import begins_here
from toolkit.app.maintenance.plan_targets import PlanTarget
from toolkit.config.actor import actor
from toolkit.config.approving import approval_key, is_signed
from toolkit.design.approval import differences, expired, load_approval, read_approval, with_consents
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.audit import Approval, Approved, AuditKind, AuditLine, Value
from toolkit.store import Store
from toolkit.store.audit_check import verify_since_sealed

_SHOWN = 12
_AT_ONCE = 16
_CUT = 400
"""Characters from which on the log may have cut a text."""


@dataclass(frozen=True, slots=True)
class ApprovalCheck:
    """What is as approved, and the targets for which that is unknown: nothing may be done there."""

    approval: Approval
    unresolved: Mapping[str, ToolkitError] = field(default_factory=dict)


def check(subject: Subject, store: Store) -> ApprovalCheck:
    """Refuse what is not exactly what somebody approved; only what the databases say of themselves is read.

    Raises:
        ToolkitError: TK-0313 saying what changed, TK-0314 when the audit log is not whole, TK-0201 when no target
            can be reached.
    """
    refuse_foreign_code()
    path = subject.approval_path
    approval = load_approval(path)
    if approval is None:
        raise ToolkitError(
            f"`{subject.file}` is not approved: there is no `{path.name}` next to it",
            code="TK-0313",
            hint=f"look at it, then `dbatk plan approve {subject.file}`",
        )
    over = expired(approval, subject.file, datetime.now(UTC).date())
    if over is not None:
        raise over
    _check_signed(approval, subject)
    _check_logged(approval, subject, store)
    now, unresolved = _now(subject, approval)
    found = list(differences(approval.approved, now))
    if found:
        more = f"\n- and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        listed = "".join(f"\n- {sentence}" for sentence in found[:_SHOWN]) + more
        which = f": {found[0]}" if len(found) == 1 else listed
        raise ToolkitError(
            f"`{subject.name}` is not what {approval.by} approved on {approval.at[:10]}{which}",
            code="TK-0313",
            hint=f"revert the change, or review it and approve it again: `dbatk plan approve {subject.file}`",
        )
    if unresolved and len(unresolved) == len(subject.works):
        raise next(iter(unresolved.values()))
    return ApprovalCheck(approval, unresolved)


def refuse_foreign_code() -> None:
    """Refuse to be a program that is not all dbatk and what was installed with it.

    Raises:
        ToolkitError: TK-0313.
    """
    found = next(resources.foreign(), None)
    if found is not None:
        raise ToolkitError(
            f"code that nobody approved could run: {found}",
            code="TK-0313",
            hint="unset PYTHONPATH, PYTHONHOME, PYTHONTZPATH and PYTHONPYCACHEPREFIX, and run the command `dbatk`",
        )


def _check_signed(approval: Approval, subject: Subject) -> None:
    key = approval_key()
    if key is None:
        return
    if approval.signature is None or not is_signed(approval.signed_text, approval.signature, key):
        state = "is not signed" if approval.signature is None else "has a signature made with a different key"
        raise ToolkitError(
            f"`{subject.approval_path}` {state}",
            code="TK-0313",
            hint="`dbatk plan approve FILE` by somebody who can read the key signs it",
        )


def _check_logged(approval: Approval, subject: Subject, store: Store) -> None:
    """Refuse an approval that the audit log does not know, and any where the log is not whole.

    Who may write the plan's folder may write an approval; the log is written by dbatk alone. A signature proves as
    much, so that a plan may be approved on another host.
    """
    verdict = verify_since_sealed(store.audit)
    if not verdict.whole:
        at, sentence = verdict.faults[0]
        where = f"{f'line {at} of ' if at else ''}the audit log `{store.audit.shown}`"
        raise ToolkitError(f"{where} was altered: {sentence}", code="TK-0314")
    signed = approval.signature is not None and approval_key() is not None
    if _is_in_force(approval, subject, store, signed=signed) or signed:
        return
    raise ToolkitError(
        f"`{subject.approval_path}` was not written with this store: its audit log has no such approval",
        code="TK-0313",
        hint=f"approve it with this store, `dbatk plan approve {subject.file}`, or sign approvals with a key",
    )


def _is_in_force(approval: Approval, subject: Subject, store: Store, *, signed: bool) -> bool:
    """Tell whether the log knows an approval; refuse one that was revoked, or for which a newer one was written.

    Where the same plan was approved in several folders each has its own approval.
    """
    here, newer = str(subject.approval_path.resolve()), set()
    for line in store.audit.events(AuditKind.APPROVE, AuditKind.REVOKE):
        event = line.event
        made = event.kind is AuditKind.APPROVE and len(event.details) > 1
        place = str(Path(event.details[1]).resolve()) if made else ""
        if event.hash != approval.hash:
            # one that was signed elsewhere may be newer than what this log knows
            at = event.carried or line.at
            if event.plan == subject.name and place and not (signed and at[:19] <= approval.at[:19]):
                newer.add(place)
            continue
        if event.kind is AuditKind.REVOKE:
            who = _revoked_by(line)
            raise _out_of_force(subject, f"was revoked by {who}" + (f": {event.reason}" if event.reason else ""))
        if newer & {here, place}:
            raise _out_of_force(subject, f"of {approval.at[:19]} was superseded by a newer one")
        _check_approver(approval, subject, line)
        return True
    if newer & {here}:
        raise _out_of_force(subject, f"of {approval.at[:19]} was superseded by a newer one")
    return False


def _check_approver(approval: Approval, subject: Subject, line: AuditLine) -> None:
    """Refuse an approval that says that somebody else gave it than its line of the log says.

    The hash of an approval is of what was approved: who approved it is not part of it.
    """
    logged = line.event.details[0].removeprefix("by "), line.event.reason or ""
    given = approval.by, approval.reason or ""
    if not all(a == b or (len(b) >= _CUT and a.startswith(b)) for a, b in zip(given, logged, strict=True)):
        why = f"because of `{logged[1]}`" if logged[1] else "without a reason"
        raise ToolkitError(
            f"`{subject.approval_path}` was altered: the audit log says that `{logged[0]}` approved it, {why}",
            code="TK-0313",
            hint=f"review it and approve it again: `dbatk plan approve {subject.file}`",
        )


def _revoked_by(line: AuditLine) -> str:
    """Return who revoked and on which day, also where the line was taken over from an earlier log."""
    if line.event.carried is not None:
        at, _, who = line.event.carried.partition(" by ")
        return f"{who} on {at[:10]}"
    return f"{line.actor.login or line.actor.user} on {line.at[:10]}"


def _out_of_force(subject: Subject, why: str) -> ToolkitError:
    return ToolkitError(
        f"the approval of `{subject.name}` {why}",
        code="TK-0313",
        hint=f"review it and approve it again: `dbatk plan approve {subject.file}`",
    )


def _now(subject: Subject, approval: Approval) -> tuple[Approved, dict[str, ToolkitError]]:
    """Return what would run now, in the terms of an approval, and the targets that could not be reached."""
    engines = {work.resolved.target.engine for work in subject.works}
    files = {path: value for engine in sorted(engines) for path, value in resources.hashes(engine).items()}
    used = {path: files[path] for path in approval.approved.files if path in files}
    others = {path: value for path, value in files.items() if path not in used}
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="identity") as pool:
        asked = dict(
            zip(
                (work.target for work in subject.works),
                pool.map(partial(_identity, subject), subject.works),
                strict=True,
            )
        )
    unresolved = {target: parts for target, parts in asked.items() if isinstance(parts, ToolkitError)}
    identities = {
        target: approval.approved.databases.get(target, {}) if isinstance(parts, ToolkitError) else parts
        for target, parts in asked.items()
    }
    version, program = __version__, resources.program_hash()
    values = full_values(subject, identities)
    now = Approved(subject.name, subject.kind, values, identities, version, program, used, others)
    return now, unresolved


def _identity(subject: Subject, work: TargetWork) -> Mapping[str, str] | ToolkitError:
    try:
        return identity_of(work.resolved.target, subject.values)[0]
    except ToolkitError as error:
        return error


@contextmanager
def admitted(approvals: Approvals, plan_target: PlanTarget) -> Iterator[None]:
    """Hold a worker on another host against the approval that came with its order; see `guarding`.

    Raises:
        ToolkitError: TK-0313 when its dbatk, its scripts, or the database that it reaches under the target's name
            are others than those approved.
    """
    if approvals.approval_text is None:
        yield
        return
    refuse_foreign_code()
    approval = read_approval(parse_document(approvals.approval_text, "the approval"))
    then, files = approval.approved, resources.hashes(plan_target.resolved.target.engine)
    here = replace(
        then,
        values=with_consents(then.values, approvals.consents()) | _folders_here(plan_target),
        databases={plan_target.name: identity_of(plan_target.resolved.target, then.values)[0]},
        version=__version__,
        program=resources.program_hash(),
        files={**then.files, **{path: value for path, value in files.items() if path in then.files}},
    )
    known = {name: parts for name, parts in then.databases.items() if name == plan_target.name}
    found = list(differences(replace(then, databases=known), here))
    if found or approval.hash != approvals.approval:
        why = found[0] if found else "its order carries a different approval"
        raise ToolkitError(f"the worker on `{actor().host}` is not as approved: {why}", code="TK-0313")
    with guarding(approval):
        yield


def _folders_here(plan_target: PlanTarget) -> dict[str, Value]:
    """Return in which folder of the worker's each program begins that has none of its own."""
    begin = (job for job in plan_target.jobs if begins_here(job.experiment))
    return {f"on {plan_target.name} {job.step.name} cwd": str(Path.cwd()) for job in begin}


@contextmanager
def guarding(approval: Approval) -> Iterator[None]:
    """Keep every file that is not as it was approved from being used, until the block ends.

    What a run is known to use was looked at before; this is for what it uses when something goes wrong.

    The block's work raises ToolkitError TK-0313 when such a file is needed.
    """
    known = {**approval.approved.other_files, **approval.approved.files}
    folders = {path.rpartition("/")[0] for path in known}
    with resources.looking(_looker(known, folders)):
        yield


def _looker(known: Mapping[str, str], folders: set[str]) -> Callable[[str], None]:
    def look(path: str) -> None:
        if path.rpartition("/")[0] in folders and known.get(path) != resources.hash_of(path):
            raise ToolkitError(f"{path} is needed but differs from what was approved", code="TK-0313")

    return look
