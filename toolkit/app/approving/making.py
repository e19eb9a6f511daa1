"""Makes an approval: identifies each database, and by a rehearsal without changes each file that is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from toolkit import __version__, resources
from toolkit.app.approving.identity import SCHEMA, identity_of
from toolkit.app.approving.naming import begins_here, refuse_session_statements
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.app.runs.mixes import refuse_own_jobs
from toolkit.app.runs.planning import read_planning
from toolkit.app.runs.settings import check_levels
from toolkit.app.targets import ResolvedTarget
from toolkit.config.actor import actor
from toolkit.config.approving import approval_key, sign
from toolkit.config.paths import replace_file
from toolkit.design.approval import (
    approval_path,
    dump_approval,
    experiment_values,
    plan_values,
    with_consents,
    with_full_names,
)
from toolkit.design.guards import guards_of as run_guards
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of, guards_of
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, refused
from toolkit.model.audit import Approval, Approved, AuditEvent, AuditKind, Value
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts
from toolkit.model.plan import MaintenancePlan
from toolkit.model.protocols import DatabaseError
from toolkit.rendering import sql_file
from toolkit.runner import PlanningContext, spec_of
from toolkit.store import Store

_MODE = 0o644
_DAYS = 90
"""How long an approval is valid unless it says otherwise."""
_AROUND = (
    "sql/absence.sql", "sql/analyzed.sql", "sql/attributes.sql", "sql/claim.sql", "sql/clock.sql",
    "sql/definition_index.sql", "sql/definition_table.sql", "sql/elsewhere_absence.sql",
    "sql/elsewhere_attributes_index.sql", "sql/elsewhere_attributes_table.sql",
    "sql/elsewhere_definition_table.sql", "sql/elsewhere_identity.sql",
    "sql/elsewhere_unfinished.sql", "sql/environment.sql",
    "sql/environment_11.sql", "sql/identity.sql", "sql/identity_index.sql",
    "sql/identity_table.sql", "sql/instant.sql", "sql/load_waits.sql",
    "sql/name_triggers.sql", "sql/other_instances.sql",
    "sql/elsewhere_renamed.sql", "sql/renamed.sql", "sql/scheduler_statistics.sql",
    "sql/scheduler_windows.sql", "sql/sessions_everywhere.sql", "sql/sessions_of.sql", "sql/setting_value.sql",
    "sql/table_statistics.sql", "sql/transaction.sql",
    "sql/transaction_age.sql", "sql/transaction_end.sql", "sql/transaction_kept.sql",
    "sql/transaction_told.sql",
    "sql/transaction_waits.sql", "sql/unfinished.sql", "sql/vacuumed.sql", "templates/count_rows.sql.j2",
    "templates/count_source.sql.j2", "templates/delete_loaded.sql.j2", "templates/has_loaded.sql.j2",
    "templates/reading_begin.sql.j2", "templates/rollback.sql.j2", "templates/source_changed.sql.j2",
    "templates/transaction_end.sql.j2",
    "templates/undo_by_hand.sql.j2",
)  # fmt: skip
"""What a run uses around whatever it does: to identify its objects, to undo, to count; a test holds it."""
_LIMITS = " guards.limits."


# -- what is approved -----------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TargetWork:
    """What is done on one target: steps by name."""

    target: str
    resolved: ResolvedTarget
    experiments: Mapping[str, Experiment]


@dataclass(frozen=True, slots=True)
class Subject:
    """A plan or experiment that is approved, or checked against its approval."""

    file: Path
    name: str
    kind: str
    values: Mapping[str, Value]
    works: tuple[TargetWork, ...]

    @property
    def approval_path(self) -> Path:
        return approval_path(self.file)


def subject_of_plan(
    file: Path, plan: MaintenancePlan, targets: Sequence[PlanTarget], consents: Mapping[str, Value] | None = None
) -> Subject:
    """Return a plan as it is approved: with what its targets take from elsewhere, and what options consent to."""
    values = plan_values(plan)
    for plan_target in targets:
        for job in plan_target.jobs:
            values.update(_resolved(plan_target.name, job))
    works = tuple(
        TargetWork(
            plan_target.name, plan_target.resolved, {job.step.name: job.experiment for job in plan_target.jobs}
        )
        for plan_target in targets
    )
    for work in works:
        refuse_own_jobs(work.experiments.values())
    return Subject(file, plan.name, "plan", with_consents(values, consents or {}), works)


def _resolved(target: str, job: TargetStep) -> Mapping[str, Value]:
    """Return what a step takes from a measurement and from the target's profile."""
    found: dict[str, Value] = {}
    for factor in job.experiment.factors:
        if factor.name in job.step.best_of:
            found[f"on {target} {job.step.name} {factor.name}"] = factor.levels[0]
    if job.step.work_schema is None and job.experiment.work_schema is not None:
        found[f"on {target} {job.step.name} work_schema"] = job.experiment.work_schema
    for name, value in job.experiment.options.items():
        if name not in job.step.options:
            found[f"on {target} {job.step.name} {name}"] = value
    return found


def subject_of_experiment(
    file: Path, experiment: Experiment, resolved: ResolvedTarget, consents: Mapping[str, Value] | None = None
) -> Subject:
    """Return an experiment as it is approved, with what options consent to."""
    name = experiment.name or file.stem
    refuse_own_jobs([experiment])
    refuse_session_statements(experiment, dialect_of(resolved.target.engine))
    work = TargetWork(experiment.target, resolved, {name: experiment})
    values = with_consents(experiment_values(experiment), consents or {})
    return Subject(file, name, "experiment", values, (work,))


def full_values(subject: Subject, databases: Mapping[str, Mapping[str, str]]) -> dict[str, Value]:
    """Return the values of a subject with its names as the databases resolve those without a schema."""
    objects = {work.target: dict(_short_names(work)) for work in subject.works}
    schemas = {target: parts[SCHEMA] for target, parts in databases.items() if SCHEMA in parts}
    return {**with_full_names(subject.values, objects, schemas), **dict(_folders(subject))}


def _folders(subject: Subject) -> Iterator[tuple[str, Value]]:
    for work in subject.works:
        for step, experiment in work.experiments.items():
            if begins_here(experiment):
                yield f"on {work.target} {step} cwd", str(Path.cwd())


def _short_names(work: TargetWork) -> Iterator[tuple[str, str]]:
    dialect = dialect_of(work.resolved.target.engine)
    for step, experiment in work.experiments.items():
        spec = spec_of(experiment)
        for option in ("table", "source", "index"):
            names = [dialect.parse_name(text) for text in spec.names(option)]
            short = [name.name for name in names if name.schema is None]
            if len(names) == len(short) == 1:
                yield f"{step} {option}", short[0]
            yield from ((f"{step} {option}.{name}", name) for name in short if len(names) > 1)


# -- making an approval ---------------------------------------------------------------------------------------
def approve(
    subject: Subject,
    store: Store,
    *,
    by: str | None = None,
    reason: str | None = None,
    valid_until: date | None = None,
) -> Approval:
    """Approve a plan or experiment: write the approval beside it, and into the audit log.

    Args:
        subject: what is approved.
        store: whose audit log is written.
        by: who approves; the user of this host if not given.
        reason: why, or the number of a change.
        valid_until: the last day (UTC); 90 days from now if not given.

    Raises:
        ToolkitError: TK-0102 for a day that is over, TK-0201 when a target cannot be reached, TK-0314 when it
            cannot be logged, TK-0405 when the file cannot be written.
    """
    today = datetime.now(UTC).date()
    last = valid_until or today + timedelta(_DAYS)
    if last < today:
        raise ToolkitError(
            f"`{last}` is in the past", code="TK-0102", hint="give the last day on which it may run"
        )
    approved, notes = _approved(subject, last)
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
            details=(
                f"by {approval.by}",
                str(subject.approval_path.resolve()),
                f"valid until {last}",
                *_told(approved.databases),
            ),
        )
    )
    replace_file(subject.approval_path, dump_approval(approval), mode=_MODE)
    return approval


def revoke(approval: Approval, store: Store, *, reason: str | None = None) -> None:
    """Revoke an approval: the audit log of this store says so, and it runs nothing more with it.

    Raises:
        ToolkitError: TK-0314 when it cannot be logged.
    """
    details = (f"approved by {approval.by} on {approval.at[:10]}",)
    event = AuditEvent(
        AuditKind.REVOKE, plan=approval.approved.name, hash=approval.hash, outcome="revoked", reason=reason,
        details=details,
    )  # fmt: skip
    store.audit.write(event)


def _told(databases: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for target, parts in databases.items():
        yield f"{target}: " + ", ".join(f"{name} {value}" for name, value in parts.items())


def _approved(subject: Subject, last: date) -> tuple[Approved, tuple[str, ...]]:
    databases: dict[str, Mapping[str, str]] = {}
    notes: list[str] = []
    with resources.noting() as used:
        for work in subject.works:
            try:
                databases[work.target], unread = identity_of(work.resolved.target, subject.values)
                notes += [f"{work.target}: {sentence}" for sentence in unread]
                notes += _rehearsed(work)
                _note_around(work, subject.values)
            finally:
                work.resolved.target.close()
    engines = {work.resolved.target.engine for work in subject.works}
    hashes = {path: value for engine in sorted(engines) for path, value in resources.hashes(engine).items()}
    files = {path: hashes[path] for path in sorted(used) if path in hashes}
    others = {path: value for path, value in hashes.items() if path not in files}
    values, program = full_values(subject, databases), resources.program_hash()
    approved = Approved(
        subject.name, subject.kind, values, databases, __version__, program, files, others, last.isoformat()
    )
    return approved, tuple(notes)


# -- the rehearsal --------------------------------------------------------------------------------------------
def _rehearsed(work: TargetWork) -> Iterator[str]:
    """Make the script of each step, so that its files are noted; yield what could not be made."""
    target, policy = work.resolved.target, work.resolved.policy
    dialect = dialect_of(target.engine)
    for name, experiment in work.experiments.items():
        sessions = Sessions(target, "dbatk approve", read_only=True)
        try:
            planning = read_planning(experiment, dialect, sessions, policy)
            check_levels(experiment, dialect, planning.facts)
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
            yield f"step `{name}`: {error.sentence}; so all scripts of {engine} are treated as used by it"


def _note_around(work: TargetWork, values: Mapping[str, Value]) -> None:
    """Note the files that a run uses whatever its script is, and those of its guards."""
    engine = work.resolved.target.engine
    guards = guards_of(engine).files
    limits = {key.partition(_LIMITS)[2] for key in values if _LIMITS in key}
    own = (run_guards(experiment.guards) for experiment in work.experiments.values() if experiment.guards)
    limits |= {guard.value for each in own for guard in each.limits}
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
    files = (*watching.samples, *watching.snapshots, *watching.gauges, watching.plan, watching.progress)
    for file in files:
        if file is not None:
            sql_file(dialect.engine, file)
