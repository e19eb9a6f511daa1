"""From an experiment and a catalogue to facts, support and scripts, without changing anything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolkit.app.approvals import TargetPolicy
from toolkit.app.runs import licensing
from toolkit.app.runs.preview import ahead_of, preview_of, remarks_of
from toolkit.app.snapshots.providers import snapshot_source_by_facts, snapshot_source_of_run
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.dialects.repositories import SnapshotSource
from toolkit.errors import ToolkitError
from toolkit.executors import Script, Sessions, print_script, read_facts, read_probes
from toolkit.model.bill import Bill
from toolkit.model.engines import engines
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.values import Cell, Row, Support
from toolkit.model.words import Effect, EngineName, Mode, Role, SupportState
from toolkit.operations.backup.plan import Backup
from toolkit.operations.place import check_work, reads_of
from toolkit.rendering import step_of
from toolkit.runner import PlanningContext
from toolkit.snapshots.brackets import LONG_SECONDS
from toolkit.targets.base import Target
from toolkit.units import byte_size, counted


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do: cells with their support, trials in their order, sentences about time and space."""

    experiment: Experiment
    facts: Facts
    cells: tuple[tuple[Cell, Support], ...]
    trials: tuple[PlannedTrial, ...]
    notes: tuple[str, ...]
    bill: Bill | None = None
    """What of it is paid for; engines without licences have none."""


def read_base_facts(dialect: Dialect, sessions: Sessions) -> Facts:
    """Read what every piece of work depends on: server, settings, and where the session is.

    Raises:
        ToolkitError: TK-0201 when the target cannot be reached, TK-0203 when the catalogue refuses.
    """
    place = tuple(Query(file, file, optional=True) for file in dialect.place_files)
    base = (Query("server", "server"), Query("settings", "settings", optional=True), *place)
    return read_facts(sessions.get(Role.CONTROL), dialect, base)


def collect_facts(experiment: Experiment, dialect: Dialect, sessions: Sessions) -> PlanningContext:
    """Read what the operation and the environment need from the catalogue.

    Raises:
        ToolkitError: TK-0201 when the target cannot be reached, TK-0203 when the catalogue refuses.
    """
    planning = PlanningContext(experiment, dialect, read_base_facts(dialect, sessions))
    reads = reads_of(planning.operation, planning.planner())
    facts = read_facts(sessions.get(Role.CONTROL), dialect, reads, planning.facts)
    planning = replace(planning, facts=facts)
    if not isinstance(planning.operation, Backup):
        return planning
    probes = planning.operation.probes(planning.planner())
    answers = {**facts.answers, **read_probes(probes, sessions.programs_folders)}
    return replace(planning, facts=replace(facts, answers=answers))


def read_planning(
    experiment: Experiment, dialect: Dialect, sessions: Sessions, policy: TargetPolicy
) -> PlanningContext:
    """Collect facts, and what the licences of the target's profile are held against.

    Raises:
        ToolkitError: as `collect_facts`.
    """
    planning = collect_facts(experiment, dialect, sessions)
    facts = licensing.with_context(experiment, planning.facts, sessions, policy.licences)
    return replace(planning, facts=with_licences(facts, policy.licences))


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
            of a job cannot: the sentence says why; TK-0303 when a licence is missing.
    """
    check_work(planning.operation, planning.planner())
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


def _code(support: Support) -> str:
    return "TK-0303" if support.state is SupportState.NEEDS_LICENCE else "TK-0304"


def describe(experiment: Experiment, target: Target, policy: TargetPolicy | None = None) -> Plan:
    """Return what a run would do on this target; connects and reads only.

    Args:
        experiment: what would be run.
        target: where.
        policy: what the target's profile says.

    Raises:
        ToolkitError: whatever would refuse the run.
    """
    policy = policy or TargetPolicy()
    sessions = Sessions(target, "dbatk plan", read_only=True)
    try:
        planning = read_planning(experiment, dialect_of(target.engine), sessions, policy)
    finally:
        sessions.close()
    check_plan(planning)
    bill = licensing.check(planning.scripts, experiment, planning.facts, policy)
    notes = (*_notes(planning.facts, planning.trials), *degree_notes(planning), *remarks_of(planning))
    return Plan(experiment, planning.facts, planning.support, planning.trials, notes, bill)


def _notes(facts: Facts, trials: Sequence[PlannedTrial]) -> list[str]:
    notes = [f"{counted(len(trials), 'trial')}, {sum(trial.warmup for trial in trials)} of them warm-ups"]
    size = facts.value("source", "byte_count") or facts.value("target", "byte_count")
    if isinstance(size, int | float) and size > 0:
        notes.append(f"each trial works on about {byte_size(float(size))}")
    notes.append("the time will be estimated after the first sweep")
    return notes


# -- facts as text ----------------------------------------------------------------------------------------------
def facts_to_text(facts: Facts) -> str:
    """Write facts as JSON, as kept with a run and taken by `--facts`."""
    document = {
        "engine": facts.engine,
        "release": {
            "number": list(facts.release.number), "edition": facts.release.edition, "text": facts.release.text,
        },
        "answers": {key: [dict(row) for row in rows] for key, rows in facts.answers.items()},
        "refused": dict(facts.refused),
    }  # fmt: skip
    return json.dumps(document, indent=1, sort_keys=True)


def facts_from_text(text: str) -> Facts:
    """Read facts written by `facts_to_text`.

    Raises:
        ToolkitError: TK-0106 when it is not such a document.
    """
    try:
        document = json.loads(text)
        release = document["release"]
        if document["engine"] not in engines():
            raise ValueError(document["engine"])
        answers = {str(key): tuple(dict(row) for row in rows) for key, rows in document["answers"].items()}
        return Facts(
            document["engine"],
            Release(tuple(release["number"]), release["edition"], release["text"]),
            answers,
            refused=document.get("refused", {}),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ToolkitError(
            "this is not a facts file", code="TK-0106", hint="create one with `dbatk doctor --facts-out FILE`"
        ) from None


# -- scripts ----------------------------------------------------------------------------------------------------
def script(
    experiment: Experiment,
    target: Target | None,
    *,
    engine: EngineName | None = None,
    assume: str | None = None,
    facts_text: str | None = None,
    policy: TargetPolicy | None = None,
) -> tuple[str, Bill | None]:
    """Return the whole script of an experiment, and its licence bill of materials where the engine has one.

    Args:
        experiment: what would be run.
        target: read for facts, on a read-only connection; None with `assume` or `facts_text`.
        engine: the engine to spell for when there is no target.
        assume: release and edition to assume instead of connecting.
        facts_text: facts to take instead of reading them.
        policy: what the target's profile says, its licences above all.

    Raises:
        ToolkitError: TK-0112 when the script depends on facts that are not there, TK-0304 when no cell can be had
            (the run would be refused too), TK-0303 when it would need a
            licence nobody declared.
    """
    dialect = dialect_of(engine or (target.engine if target is not None else "duckdb"))
    policy = policy or TargetPolicy()
    if facts_text is None and assume is None:
        assert target is not None
        sessions = Sessions(target, "dbatk dry-run", read_only=True)
        try:
            planning = read_planning(experiment, dialect, sessions, policy)
            snapshot_source = snapshot_source_of_run(planning, sessions)
        finally:
            sessions.close()
    else:
        facts = facts_from_text(facts_text) if facts_text is not None else dialect.assume(assume or "")
        planning = PlanningContext(experiment, dialect, with_licences(facts, policy.licences))
        snapshot_source = snapshot_source_by_facts(planning)
    check_plan(planning)
    return script_of(planning, snapshot_source, policy, target)


def script_of(
    planning: PlanningContext,
    snapshot_source: SnapshotSource | None,
    policy: TargetPolicy,
    target: Target | None = None,
) -> tuple[str, Bill | None]:
    """Return the whole script of what was planned, and its licence bill of materials.

    Args:
        planning: what would be run.
        snapshot_source: named in the head where there was a choice.
        policy: what the target's profile says.
        target: asked what the works would process; None leaves that out.

    Raises:
        ToolkitError: TK-0303 when it would need a licence nobody declared.
    """
    chosen = snapshot_source if snapshot_source is not None and snapshot_source.choice else None
    scripts = _with_snapshots(planning.scripts, planning.dialect, chosen)
    bill = licensing.check(scripts, planning.experiment, planning.facts, policy)
    ahead = ahead_of(planning)
    lines = [
        *_head(planning, scripts),
        *degree_notes(planning),
        *_about_snapshots(chosen),
        *([ahead] if ahead is not None else ()),
        *remarks_of(planning),
        *preview_of(planning, target),
        *(bill.sentences() if bill is not None else ()),
    ]
    return print_script(planning.dialect.engine, lines, scripts), bill


def _about_snapshots(snapshot_source: SnapshotSource | None) -> list[str]:
    if snapshot_source is None:
        return []
    lines = [f"snapshots by {snapshot_source.provider} ({snapshot_source.why})"]
    if snapshot_source.repository is not None:
        seconds = int(LONG_SECONDS)
        lines.append(f"also before and after each trial expected to take more than {seconds} s")
    return lines


def _with_snapshots(
    scripts: Sequence[Script], dialect: Dialect, snapshot_source: SnapshotSource | None
) -> list[Script]:
    """Put the snapshots around everything into the script; each bears the run where it can."""
    if snapshot_source is None or snapshot_source.repository is None:
        return list(scripts)
    first, last = (step_of(dialect, snapshot_source.repository.snap(f"RUN {number}")) for number in (1, 2))
    return [
        one if one.stages is None else replace(
            one,
            stages=replace(
                one.stages, setup=(*one.stages.setup, first), cleanup=(last, *one.stages.cleanup)
            ),
        )
        for one in scripts
    ]  # fmt: skip


def _head(planning: PlanningContext, scripts: Sequence[Script]) -> list[str]:
    experiment, facts = planning.experiment, planning.facts
    files = dict.fromkeys(query.file for query in reads_of(planning.operation, planning.planner()))
    reads = ", ".join(f"sql/{facts.engine}/{file}.sql" for file in files)
    known = f"{'assumed ' if facts.assumed else ''}{facts.engine} {facts.release}"
    lines = [f"dbatk {experiment.operation}, {experiment.mode}", known, f"read before: {reads}"]
    if experiment.mode is Mode.MEASUREMENT:
        sweeps = f"{counted(experiment.repeat, 'repeat')} and {counted(experiment.warmup, 'warm-up sweep')}"
        lines.append(f"{sweeps}, interleaved; shown once per configuration")
        if any(_makes_objects(one) for one in scripts):
            lines.append("objects named DBATK_RUN_* are dropped again; RUN stands for the run's id")
    return lines


def _makes_objects(one: Script) -> bool:
    """Tell whether a script makes scratch objects."""
    if one.stages is None:
        return False
    timed = (step for item in one.stages.timed.items for step in item.steps)
    made = (*one.stages.setup, *one.stages.prepare, *timed)
    return any(step.effect is Effect.CREATES and step.object is not None and step.object.scratch for step in made)
