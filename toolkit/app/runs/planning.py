"""From an experiment and a catalogue to facts, support and scripts, without changing anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from toolkit import __version__
from toolkit.app.approvals import TargetPolicy, not_approved
from toolkit.app.ruling import ruled
from toolkit.app.runs import licensing
from toolkit.app.runs.settings import (
    check_levels,
    check_scopes,
    of_those_varied,
    read_by_sysdba,
    settings_reads,
)
from toolkit.dialects.base import Dialect
from toolkit.documents import nearest
from toolkit.errors import ToolkitError
from toolkit.executors import Script, Sessions, read_facts, read_probes, refused
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.facts import Facts, Query
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import RunHead
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Effect, EngineName, Mode, ObjectKind, Role, RunState, StepKind, SupportState
from toolkit.operations.loads import column_names
from toolkit.operations.place import check_work, reads_of
from toolkit.rendering import step_of
from toolkit.runner import PlanningContext, spec_of

_WORD = re.compile(r"[\w$#]+")
_QUALIFIER = re.compile(r"[\w$#]+(?=\"?\s*\.\s*\"?[^\W\d])")
"""A name with another one after its dot."""


def read_base_facts(dialect: Dialect, sessions: Sessions) -> Facts:
    """Read what every piece of work depends on: server, settings, and where the session is.

    Raises:
        ToolkitError: TK-0201 when the target cannot be reached, TK-0203 when the catalogue refuses.
    """
    place = tuple(Query(file, file, optional=True) for file in dialect.place_files)
    base = (Query("server", "server"), Query("settings", "settings", optional=True), *place)
    return read_facts(sessions.get(Role.CONTROL), dialect, base)


def collect_facts(
    experiment: Experiment,
    dialect: Dialect,
    sessions: Sessions,
    policy: TargetPolicy | None = None,
    *,
    for_show: bool = False,
) -> PlanningContext:
    """Read what the operation and the environment need from the catalogue, then what a survey of the rows needs.

    Args:
        experiment: what is to be done.
        dialect: of the engine.
        sessions: to read with.
        policy: what licences are held against; None where the experiment was held against it before.
        for_show: whether nothing is to run: nobody approved it.

    Raises:
        ToolkitError: TK-0201 when the target cannot be reached, TK-0203 when the catalogue refuses, TK-0303 or
            TK-0313 for a condition of the user's, which the survey would send, that its target does not allow.
    """
    sessions.wait_for_locks(experiment.options)
    planning = PlanningContext(experiment, dialect, read_base_facts(dialect, sessions))
    reads = reads_of(planning.operation, planning.planner())
    reads += settings_reads(experiment, dialect, planning.facts.release)
    read = sessions.trying_again(
        lambda: read_facts(sessions.get(Role.CONTROL), dialect, reads, planning.facts)
    )  # what others hold alone shows neither its size nor its definition
    facts = read_by_sysdba(experiment, dialect, of_those_varied(experiment, read), sessions)
    if policy is not None:
        facts = licensing.with_context(experiment, facts, sessions, policy.licences)
    facts = _surveyed(replace(planning, facts=facts), sessions, policy, for_show=for_show)
    planning = replace(planning, facts=facts)
    how, planner = dialect.work.of(experiment.operation), planning.planner()
    asked = [probe for cell in planning.cells for probe in how.probes(planner.options(cell), facts)]
    probes = {probe.key: probe for probe in asked}.values()
    if not probes:
        return planning
    answers = {**facts.answers, **read_probes(probes, sessions.programs_folders)}
    return replace(planning, facts=replace(facts, answers=answers))


def _surveyed(
    planning: PlanningContext, sessions: Sessions, policy: TargetPolicy | None, *, for_show: bool
) -> Facts:
    """Return the facts with what the work must know of the rows: each answer is read once.

    A condition may call a function, which may do anything: where only approved work may run it is not sent to show
    what would be done.

    Raises:
        ToolkitError: TK-0203 with the database's message, TK-0303 or TK-0313 before anything of the user's is.
    """
    facts, dialect = planning.facts, planning.dialect
    how, planner = dialect.work.of(planning.experiment.operation), planning.planner()
    asked = {call.keep_as: call for cell in planning.cells for call in how.survey(planner.options(cell), facts)}
    if asked and policy is not None and for_show:
        policy = ruled(policy, sessions.target, sessions.get(Role.CONTROL))
        if policy.approved_only:
            raise not_approved(policy, "to show this it would have to count the rows by its condition")
    if asked and policy is not None:
        licensing.check_own(planning.experiment, facts, policy)
    answers = dict(facts.answers)
    for key, call in asked.items():
        try:
            answers[str(key)] = sessions.run(step_of(dialect, call)).rows
        except DatabaseError as error:
            raise _not_counted(replace(planning, facts=facts), error) from None
    return replace(facts, answers=answers)


def _not_counted(planning: PlanningContext, error: DatabaseError) -> ToolkitError:
    """Say why rows could not be counted: a condition that is wrong as it is written is the user's to mend."""
    dialect, planner = planning.dialect, planning.planner()
    told = refused(dialect, error, "the rows cannot be counted")
    advice = dialect.explain(error.code, error.message)
    if advice is None or not advice.of_text:
        return told
    columns = column_names(planner, ["columns"])
    where, named = (planner.spec.text("where") or "").lower(), _WORD.findall(error.sentence)
    written, table = {*_WORD.findall(where)}, (planner.spec.text("table") or "").lower()
    unknown = written - {*_WORD.findall(_QUALIFIER.sub("", where)), *_WORD.findall(table)}
    alias = next((word for word in named if word.lower() in unknown), None)
    wrong = (word for word in named if word.lower() in written and word not in columns)
    near = next(filter(None, (nearest(word, columns) for word in wrong)), None)
    hint = f"did you mean the column `{near}`?" if near else told.hint
    if alias is not None:
        hint = f"the table has no alias here: leave `{alias}.` out, or name the table instead"
    return ToolkitError(told.message, code="TK-0102", hint=hint, database_code=error.code)


def judging_anew(planning: PlanningContext, sessions: Sessions) -> Callable[[PlannedTrial], str | None]:
    """Return who says before a trial that it may not be had any more, by what is read again then."""

    def barred(trial: PlannedTrial) -> str | None:
        works = [piece.work for piece in planning.pieces(trial.cell)]
        how = planning.dialect.work.of(planning.experiment.operation)
        files = dict.fromkeys(file for work in works for file in how.perishable(work))
        if not files or not planning.support_for(trial.cell).ok:
            return None
        asked = tuple(Query(file, file, optional=True) for file in files)
        kept = {key: rows for key, rows in planning.facts.answers.items() if key not in files}
        refused = {key: why for key, why in planning.facts.refused.items() if key not in files}
        known = replace(planning.facts, answers=kept, refused=refused)
        facts = read_facts(sessions.get(Role.CONTROL), planning.dialect, asked, known)
        found = replace(planning, facts=facts).support_for(trial.cell)
        return None if found.ok else f"no further trial is begun: {found.sentence}"

    return barred


def read_planning(
    experiment: Experiment,
    dialect: Dialect,
    sessions: Sessions,
    policy: TargetPolicy,
    *,
    for_show: bool = False,
) -> PlanningContext:
    """Collect facts, and what the licences of the target's profile are held against.

    Args:
        experiment, dialect, sessions, policy, for_show: as `collect_facts` takes them.

    Raises:
        ToolkitError: as `collect_facts`.
    """
    sessions.administer(policy.restart, policy.sysdba)
    planning = collect_facts(experiment, dialect, sessions, policy, for_show=for_show)
    return replace(planning, facts=with_declared(planning.facts, policy))


def head_of(
    planning: PlanningContext, run: str, engine: EngineName, target_name: str, parent: str | None
) -> RunHead:
    """Return the head of a run that begins now."""
    return RunHead(
        run,
        planning.experiment,
        engine,
        RunState.RUNNING,
        datetime.now(UTC),
        operation_version=planning.operation.version,
        tool_version=__version__,
        parent=parent,
        trials_planned=len(planning.trials),
        target_name=target_name,
    )


def degree_notes(planning: PlanningContext) -> tuple[str, ...]:
    """Say before a run which of its degrees cannot be had now, and what limits them."""
    above = degrees_above(planning)
    return tuple(above[degree] for degree in sorted(above))


def degrees_above(planning: PlanningContext) -> dict[int, str]:
    """Return the degrees that cannot be had now, each with the sentence that says why."""
    found: dict[int, str] = {}
    for piece in planning.all_pieces():
        limit = planning.dialect.degree_limit(planning.facts, piece.work)
        if limit.degree is not None and 1 < piece.work.degree > limit.degree:
            why = f"{limit.degree}, the highest available now: {limit.reasons[0][1]}"
            found[piece.work.degree] = f"degree {piece.work.degree} is above {why}"
    return found


def with_declared(facts: Facts, policy: TargetPolicy) -> Facts:
    """Put what the profile declares among the facts: its licences, and whether standbys follow the target."""
    found = with_licences(facts, policy.licences)
    if policy.restart:
        found = replace(found, answers={**found.answers, "declared_restart": ({"allowed": 1},)})
    if policy.standbys is None:
        return found
    return replace(found, answers={**found.answers, "declared_standbys": ({"exist": int(policy.standbys)},)})


def with_licences(facts: Facts, declared: frozenset[str]) -> Facts:
    """Put the licences that the profile declares among the facts, where `support` looks for them."""
    if not declared:
        return facts
    rows: tuple[Row, ...] = tuple({"licence": name} for name in sorted(declared))
    return replace(facts, answers={**facts.answers, "licences": rows})


def check_plan(planning: PlanningContext) -> None:
    """Refuse an experiment that cannot be right here, or of which no cell can be had.

    Raises:
        ToolkitError: TK-0204, TK-0205 or TK-0107 from the operation; TK-0304 when no cell can be had, or the one
            of a job cannot, or the levels of a factor do the same: the sentence says why; TK-0303 when a licence
            is missing.
    """
    check_work(planning.operation, planning.planner())
    check_levels(planning.experiment, planning.dialect, planning.facts)
    table = planning.support
    if table and not any(support.ok for _, support in table):
        cell, support = table[0]
        several = (
            f"none of the {len(table)} configurations is available; the first is {cell}" if len(table) > 1 else ""
        )
        hint = "; ".join(part for part in (several, support.hint) if part) or None
        raise ToolkitError(support.sentence, code=_code(support), hint=hint)
    if planning.experiment.mode is Mode.JOB and not table[0][1].ok:
        raise ToolkitError(table[0][1].sentence, code=_code(table[0][1]), hint=table[0][1].hint or None)
    _check_levels(planning)
    check_scopes(planning)


def check_to_run(planning: PlanningContext) -> None:
    """Check a plan that dbatk itself is to run: SQL*Loader is called by the scripts of a bundle only.

    Raises:
        ToolkitError: as `check_plan`.
    """
    check_plan(planning)
    items = (item for script in planning.scripts if script.stages for item in script.stages.timed.items)
    if any(step.transfer and step.kind is StepKind.SCRIPT for item in items for step in item.steps):
        raise ToolkitError(
            "SQL*Loader is called from a bundle, which runs where the files are, and not by dbatk itself",
            code="TK-0304",
            hint="--save-as FILE, then `dbatk export FILE --out FOLDER`; `--method array` loads from here",
        )


def _check_levels(planning: PlanningContext) -> None:
    """Refuse to compare levels of a factor that would do the same work here."""
    how = planning.dialect.work.of(planning.experiment.operation)
    works = [piece.work for piece in planning.all_pieces()]
    for factor in planning.experiment.factors:
        same = how.equal_levels(factor.name, works, planning.facts) if len(factor.levels) > 1 else None
        if same is not None:
            raise ToolkitError(same, code="TK-0304", hint=f"give `{factor.name}` one level")


def _code(support: Support) -> str:
    return "TK-0303" if support.state is SupportState.NEEDS_LICENCE else "TK-0304"


# -- what was approved ----------------------------------------------------------------------------------------
_OBJECTS = frozenset({ObjectKind.TABLE, ObjectKind.INDEX, ObjectKind.STATISTICS})
"""Kinds with a schema and a name; settings, folders and backups are named by the file itself."""


def check_within(scripts: Iterable[Script], experiment: Experiment, dialect: Dialect, facts: Facts) -> None:
    """Refuse to change a table or index that dbatk did not create and the file does not name (or its schema).

    Raises:
        ToolkitError: TK-0313.
    """
    spec = spec_of(experiment)
    here = str(facts.value("server", "current_schema", "") or "") or None
    schemas = {dialect.parse_name(text, facts.release).name for text in spec.names("schema")}
    named = {
        QualifiedName(name.name, name.schema or here)
        for name in (dialect.parse_name(text, facts.release) for text in _named(experiment))
    }
    for step in _steps(scripts):
        touched = step.object
        if touched is not None and not _is_within(touched, schemas, named, spec.text("server")):
            raise ToolkitError(
                f"it would touch {touched.kind} `{touched.name}`, which the approved file does not name",
                code="TK-0313",
                hint="check the catalogue: only names and schemas in the file are approved",
            )


def _named(experiment: Experiment) -> Iterator[str]:
    for option in ("table", "index", "name", "with_table"):
        if experiment.options.get(option) is not None:
            yield str(experiment.options[option])


def _steps(scripts: Iterable[Script]) -> Iterator[Step]:
    for script in scripts:
        stages = script.stages
        if stages is None:
            continue
        timed = (step for item in stages.timed.items for step in item.steps)
        for step in (*stages.setup, *stages.prepare, *timed, *stages.conclude, *stages.cleanup):
            if step.effect not in (Effect.READS, Effect.COMMITS):
                yield step


def _is_within(touched: ObjectRef, schemas: set[str], named: set[QualifiedName], server: str | None) -> bool:
    if touched.scratch or touched.kind not in _OBJECTS:
        return True
    if touched.kind is ObjectKind.STATISTICS and touched.name.schema is None:
        # Of a whole schema, or of the server itself: its name is that of the schema, or of the option.
        return touched.name.name == server if server is not None else touched.name.name in schemas
    of = (touched.name, *((touched.table,) if touched.table is not None else ()))
    return any(name in named or name.schema in schemas for name in of)
