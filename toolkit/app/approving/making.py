"""Makes an approval: rehearses what would be done, without changing anything, and notes each file that it uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from toolkit import __version__, resources
from toolkit.app.approving.identity import identity_of
from toolkit.app.approving.subject import Subject, TargetWork
from toolkit.app.runs.planning import read_planning
from toolkit.config.actor import actor
from toolkit.config.approving import approval_key, sign
from toolkit.config.writing import replace_file
from toolkit.design.approval_file import dump_approval
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of, guards_of
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, refused
from toolkit.model.audit import Approval, Approved, AuditEvent, AuditKind, Value
from toolkit.model.facts import Facts
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import EngineName
from toolkit.rendering import sql_file
from toolkit.runner import PlanningContext
from toolkit.store import Store

_MODE = 0o644
_AROUND = (
    "sql/absence.sql", "sql/identity.sql", "sql/identity_index.sql", "sql/identity_table.sql", "sql/instant.sql",
    "sql/scheduler_statistics.sql", "sql/scheduler_windows.sql", "sql/sessions_of.sql",
    "sql/table_statistics.sql", "templates/count_rows.sql.j2", "templates/count_source.sql.j2",
    "templates/reading_begin.sql.j2", "templates/rollback.sql.j2", "templates/undo_by_hand.sql.j2",
)  # fmt: skip
"""What a run uses around whatever it does: to prove what is ours, to undo, to count; a test holds it."""
_LIMITS = " guards.limits."


def approve(subject: Subject, store: Store, *, by: str | None = None, reason: str | None = None) -> Approval:
    """Approve a plan or experiment: write the approval beside it, and into the audit log.

    Args:
        subject: what is approved.
        store: whose audit log is written.
        by: who approves; the user of this host if not given.
        reason: why, or the number of a change.

    Raises:
        ToolkitError: TK-0201 when a target cannot be reached, TK-0314 when it cannot be logged, TK-0405 when the
            file cannot be written.
    """
    approved, notes = _approved(subject)
    who = actor()
    approval = Approval(
        approved,
        by or who.login or who.user,
        who.login or who.user,
        who.host,
        datetime.now(UTC).isoformat(timespec="seconds"),
        reason,
        notes,
        approved.hash,
    )
    key = approval_key()
    if key is not None:
        approval = replace(approval, signature=sign(approval.signed_text, key))
    store.audit.write(
        AuditEvent(
            AuditKind.APPROVE,
            plan=subject.name,
            hash=approval.hash,
            outcome="approved",
            reason=reason,
            details=(f"by {approval.by}", str(subject.approval_path), *_told(approved.databases)),
        )
    )
    replace_file(subject.approval_path, dump_approval(approval), mode=_MODE)
    return approval


def _told(databases: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for target, parts in databases.items():
        yield f"{target}: " + ", ".join(f"{name} {value}" for name, value in parts.items())


def _approved(subject: Subject) -> tuple[Approved, tuple[str, ...]]:
    databases: dict[str, Mapping[str, str]] = {}
    notes: list[str] = []
    with resources.noting() as used:
        for work in subject.works:
            try:
                databases[work.target], unread = identity_of(work.resolved.target)
                notes += [f"{work.target}: {sentence}" for sentence in unread]
                notes += _rehearsed(work)
                _note_around(work.resolved.target.engine, subject.values)
            finally:
                work.resolved.target.close()
    engines = {work.resolved.target.engine for work in subject.works}
    hashes = {path: value for engine in sorted(engines) for path, value in resources.hashes(engine).items()}
    files = {path: hashes[path] for path in sorted(used) if path in hashes}
    others = {path: value for path, value in hashes.items() if path not in files}
    approved = Approved(
        subject.name, subject.kind, subject.values, databases, __version__, resources.program_hash(), files, others
    )
    return approved, tuple(notes)


# -- the rehearsal ------------------------------------------------------------------------------------------------
def _rehearsed(work: TargetWork) -> Iterator[str]:
    """Make the script of each step, so that its files are noted; yield what could not be made."""
    target, policy = work.resolved.target, work.resolved.policy
    dialect = dialect_of(target.engine)
    for name, experiment in work.experiments.items():
        sessions = Sessions(target, "dbatk approve", read_only=True)
        try:
            planning = read_planning(experiment, dialect, sessions, policy)
            _watch(dialect, planning.facts)
            yield from _scripted(name, planning)
        except DatabaseError as error:
            raise refused(dialect, error) from None
        finally:
            sessions.close()


def _scripted(name: str, planning: PlanningContext) -> Iterator[str]:
    """Render a step; one that works on what another makes as if that were there."""
    try:
        _ = planning.scripts
    except ToolkitError as error:
        known = {key: rows for key, rows in planning.facts.answers.items() if rows}
        engine = planning.dialect.engine
        try:
            _ = replace(planning, facts=replace(planning.facts, answers=known, assumed=True)).scripts
        except ToolkitError:
            for path in resources.hashes(engine):
                resources.touch(path)
            yield f"step `{name}`: {error.sentence}; so every script of {engine} counts as used by it"


def _note_around(engine: EngineName, values: Mapping[str, Value]) -> None:
    """Note the files that a run uses whatever its script is, and those of its guards."""
    guards = guards_of(engine).files
    limits = {key.partition(_LIMITS)[2] for key in values if _LIMITS in key}
    asked = [file for guard, files in guards.items() if guard.value in limits for file in files]
    if limits:
        asked.append("guard_places")
    there = resources.hashes(engine)
    around = [one.replace("/", f"/{engine}/") for one in _AROUND]
    for path in (*around, *(f"sql/{engine}/{file}.sql" for file in asked)):
        if path in there:
            resources.touch(path)


def _watch(dialect: Dialect, facts: Facts) -> None:
    """Note the files that are read around a step, whatever it does."""
    watching = dialect.watching(facts)
    files = (*watching.samples, *watching.snapshots, watching.plan, watching.progress)
    for file in files:
        if file is not None:
            sql_file(dialect.engine, file)
