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
from toolkit.model.experiment import Experiment, Naming, PlannedTrial
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.values import Cell, Row, Support
from toolkit.model.words import Effect, EngineName, Mode, Role, SupportState
from toolkit.operations import Operation, Planner, operation
from toolkit.operations.backup import Backup
from toolkit.operations.base import support_of
from toolkit.operations.place import check_work, reads_of
from toolkit.rendering import step_of
from toolkit.runner import spec_of
from toolkit.runner.external_script import with_external_factors
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


def planned_trials(experiment: Experiment) -> tuple[PlannedTrial, ...]:
    """Return the trials of an experiment in the order of its seed."""
    from toolkit.design.order import plan_trials

    return plan_trials(
        experiment.factors, repeat=experiment.repeat, warmup=experiment.warmup, seed=experiment.seed
    )


def planner_of(experiment: Experiment, dialect: Dialect, facts: Facts, key: str = "RUN") -> Planner:
    """Return a planner whose names are placeholders."""
    return Planner(dialect, spec_of(experiment), facts, Naming(key, 1, dialect.upper_names))


def context_of(dialect: Dialect, sessions: Sessions) -> Facts:
    """Read what every piece of work stands on: server, settings, and where the session is.

    Raises:
        ToolkitError: TK-0201 when the target cannot be reached, TK-0203 when the catalogue refuses.
    """
    place = tuple(Query(file, file, optional=True) for file in dialect.place_files)
    ground = (Query("server", "server"), Query("settings", "settings", optional=True), *place)
    return read_facts(sessions.get(Role.CONTROL), dialect, ground)


def collect_facts(
    experiment: Experiment, dialect: Dialect, sessions: Sessions, known: Facts | None = None
) -> Facts:
    """Read what the operation and the environment need from the catalogue.

    Args:
        experiment: what would be run.
        dialect: knows which files tell it.
        sessions: where to ask.
        known: what was read already, `ground_of` at least.

    Raises:
        ToolkitError: TK-0201 when the target cannot be reached, TK-0203 when the catalogue refuses.
    """
    known = known or context_of(dialect, sessions)
    planner = planner_of(experiment, dialect, known)
    control, work = sessions.get(Role.CONTROL), operation(experiment.operation)
    facts = read_facts(control, dialect, reads_of(work, planner), known)
    if not isinstance(work, Backup):
        return facts
    probes = work.probes(replace(planner, facts=facts))
    return replace(facts, answers={**facts.answers, **read_probes(probes, sessions.programs_folders)})


def degree_notes(experiment: Experiment, dialect: Dialect, facts: Facts) -> tuple[str, ...]:
    """Say before a run which of its degrees cannot be had now, and what limits them."""
    said = degrees_above(experiment, dialect, facts)
    return tuple(said[degree] for degree in sorted(said))


def degrees_above(experiment: Experiment, dialect: Dialect, facts: Facts) -> dict[int, str]:
    """Return the degrees that cannot be had now, each with the sentence that says why."""
    planner, work = planner_of(experiment, dialect, facts), operation(experiment.operation)
    said: dict[int, str] = {}
    for cell in cells_in_order(experiment):
        for piece in work.pieces(planner, cell):
            degree_limit = dialect.degree_limit(facts, piece.work)
            if degree_limit.degree is not None and 1 < piece.work.degree > degree_limit.degree:
                why = f"{degree_limit.degree}, the highest that can be had now: {degree_limit.reasons[0][1]}"
                said[piece.work.degree] = f"degree {piece.work.degree} is above {why}"
    return said


def facts_of(experiment: Experiment, dialect: Dialect, sessions: Sessions, policy: TargetPolicy) -> Facts:
    """Collect facts, and what the licences of the target's profile are held against.

    Raises:
        ToolkitError: as `collect_facts`.
    """
    facts = collect_facts(experiment, dialect, sessions)
    return with_licences(licensing.with_context(experiment, facts, sessions, policy.licences), policy.licences)


def with_licences(facts: Facts, declared: frozenset[str]) -> Facts:
    """Put the licences that the profile declares among the facts, where `support` looks for them."""
    if not declared:
        return facts
    rows: tuple[Row, ...] = tuple({"licence": name} for name in sorted(declared))
    return replace(facts, answers={**facts.answers, "licences": rows})


def support_table(
    experiment: Experiment, planner: Planner, work: Operation, cells: Sequence[Cell]
) -> tuple[tuple[Cell, Support], ...]:
    """Say of every cell whether it can be had.

    Raises:
        ToolkitError: TK-0304 when none can, or the one of a job cannot: the sentence says why; TK-0303 when a
            licence is missing.
    """
    table = tuple((cell, support_of(planner, work.pieces(planner, cell))) for cell in cells)
    if table and not any(support.ok for _, support in table):
        cell, support = table[0]
        several = f"none of the {len(table)} cells can be had; the first is {cell}" if len(table) > 1 else ""
        hint = "; ".join(part for part in (several, support.hint) if part) or None
        raise ToolkitError(support.sentence, code=_code(support), hint=hint)
    if experiment.mode is Mode.JOB and not table[0][1].ok:
        raise ToolkitError(table[0][1].sentence, code=_code(table[0][1]), hint=table[0][1].hint or None)
    return table


def _code(support: Support) -> str:
    return "TK-0303" if support.state is SupportState.NEEDS_LICENCE else "TK-0304"


def cells_in_order(experiment: Experiment) -> tuple[Cell, ...]:
    """Return the cells, in the order of the factors' levels."""
    from toolkit.design.order import cells_of

    return cells_of(experiment.factors)


def describe(experiment: Experiment, target: Target, policy: TargetPolicy | None = None) -> Plan:
    """Return what a run would do on this target; connects and reads only.

    Args:
        experiment: what would be run.
        target: where.
        policy: what the target's profile says.

    Raises:
        ToolkitError: whatever would refuse the run.
    """
    dialect = dialect_of(target.engine)
    policy = policy or TargetPolicy()
    sessions = Sessions(target, "dbatk plan", read_only=True)
    try:
        facts = facts_of(experiment, dialect, sessions, policy)
    finally:
        sessions.close()
    work = operation(experiment.operation)
    planner = planner_of(experiment, dialect, facts)
    check_work(work, planner)
    trials = planned_trials(experiment)
    table = support_table(experiment, planner, work, cells_in_order(experiment))
    bill = licensing.check(scripts_of(experiment, dialect, facts), experiment, facts, policy)
    remarks = remarks_of(planner, cells_in_order(experiment))
    notes = (*_notes(facts, trials), *degree_notes(experiment, dialect, facts), *remarks)
    return Plan(experiment, facts, table, trials, notes, bill)


def _notes(facts: Facts, trials: Sequence[PlannedTrial]) -> list[str]:
    notes = [f"{counted(len(trials), 'trial')}, {sum(trial.warmup for trial in trials)} of them warm-ups"]
    size = facts.value("source", "byte_count") or facts.value("target", "byte_count")
    if isinstance(size, int | float) and size > 0:
        notes.append(f"each trial works on about {byte_size(float(size))}")
    notes.append("the time is estimated after the first sweep")
    return notes


# -- facts as text ----------------------------------------------------------------------------------------------
def facts_to_text(facts: Facts) -> str:
    """Write facts as JSON, as kept with a run and taken by `--facts`."""
    document = {
        "engine": facts.engine.value,
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
        answers = {str(key): tuple(dict(row) for row in rows) for key, rows in document["answers"].items()}
        return Facts(
            EngineName(document["engine"]),
            Release(tuple(release["number"]), release["edition"], release["text"]),
            answers,
            refused=document.get("refused", {}),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ToolkitError(
            "this is no file of facts", code="TK-0106", hint="make one with `dbatk doctor --facts-out FILE`"
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
    chosen = engine or (target.engine if target is not None else EngineName.DUCKDB)
    dialect = dialect_of(chosen)
    policy = policy or TargetPolicy()
    facts, snapshot_source = _context_for_script(experiment, dialect, target, assume, facts_text, policy)
    work = operation(experiment.operation)
    planner = planner_of(experiment, dialect, facts)
    check_work(work, planner)
    support_table(experiment, planner, work, cells_in_order(experiment))
    scripts = _with_snapshots(scripts_of(experiment, dialect, facts), dialect, snapshot_source)
    bill = licensing.check(scripts, experiment, facts, policy)
    lines = [*_head(experiment, facts, work, planner, scripts), *degree_notes(experiment, dialect, facts)]
    ahead = ahead_of(planner, cells_in_order(experiment)[0])
    lines += _told_of(snapshot_source)
    lines += [*([ahead] if ahead is not None else ()), *remarks_of(planner, cells_in_order(experiment))]
    lines += [*preview_of(planner, cells_in_order(experiment)[0], target)]
    lines += list(bill.sentences() if bill is not None else ())
    return print_script(chosen, lines, scripts), bill


def scripts_of(experiment: Experiment, dialect: Dialect, facts: Facts) -> list[Script]:
    """Return the steps of every cell; a cell that cannot be had has none, and says why."""
    work = operation(experiment.operation)
    spec, scripts = spec_of(experiment), []
    for number, cell in enumerate(cells_in_order(experiment), 1):
        own = Planner(dialect, spec, facts, Naming("RUN", number, dialect.upper_names))
        support = support_of(own, work.pieces(own, cell))
        scripts.append(_script(experiment, own, work, cell, support))
    return scripts


def _script(experiment: Experiment, planner: Planner, work: Operation, cell: Cell, support: Support) -> Script:
    title = f"{experiment.operation} {cell}" if cell else str(experiment.operation)
    if not support.ok:
        return Script(title, None, support.sentence)
    return Script(title, with_external_factors(work.plan(planner, cell), experiment.factors, cell))


def _context_for_script(
    experiment: Experiment,
    dialect: Dialect,
    target: Target | None,
    assume: str | None,
    facts_text: str | None,
    policy: TargetPolicy,
) -> tuple[Facts, SnapshotSource | None]:
    """Return the facts of a script and the source of its snapshots; None where it has none, or no choice."""
    if facts_text is None and assume is None:
        assert target is not None
        sessions = Sessions(target, "dbatk dry-run", read_only=True)
        try:
            facts = facts_of(experiment, dialect, sessions, policy)
            return facts, _chosen(snapshot_source_of_run(experiment, dialect, facts, sessions))
        finally:
            sessions.close()
    assumed = facts_from_text(facts_text) if facts_text is not None else dialect.assume(assume or "")
    facts = with_licences(assumed, policy.licences)
    return facts, _chosen(snapshot_source_by_facts(experiment, dialect, facts))


def _chosen(snapshot_source: SnapshotSource | None) -> SnapshotSource | None:
    return snapshot_source if snapshot_source is not None and snapshot_source.choice else None


def _told_of(snapshot_source: SnapshotSource | None) -> list[str]:
    if snapshot_source is None:
        return []
    said = [f"snapshots by {snapshot_source.provider} ({snapshot_source.why})"]
    if snapshot_source.repository is not None:
        seconds = int(LONG_SECONDS)
        said.append(f"one as well before and after each trial that is expected to take more than {seconds} s")
    return said


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


def _head(
    experiment: Experiment, facts: Facts, work: Operation, planner: Planner, scripts: Sequence[Script]
) -> list[str]:
    files = dict.fromkeys(query.file for query in reads_of(work, planner))
    reads = ", ".join(f"sql/{facts.engine.value}/{file}.sql" for file in files)
    known = f"{'assumed ' if facts.assumed else ''}{facts.engine.value} {facts.release}"
    lines = [f"dbatk {experiment.operation}, {experiment.mode}", known, f"read before: {reads}"]
    if experiment.mode is Mode.MEASUREMENT:
        sweeps = f"{counted(experiment.repeat, 'repeat')} and {counted(experiment.warmup, 'warm-up sweep')}"
        lines.append(f"{sweeps}, interleaved; shown once per cell")
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
