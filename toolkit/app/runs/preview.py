"""What a user reads before a run: what it would do, its script, what its result depends on; kept to explain it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from toolkit.app.approvals import TargetPolicy, on_live
from toolkit.app.environments import Host, changes_since, environment_to_keep
from toolkit.app.runs import licensing, space
from toolkit.app.runs.ahead import RunNotes, notes_of
from toolkit.app.runs.databases import database_of
from toolkit.app.runs.planning import check_plan, read_planning, with_declared
from toolkit.app.runs.retention import foreseen
from toolkit.app.runs.undoable import refuse_unasked
from toolkit.app.snapshots.providers import snapshot_source_by_facts, snapshot_source_of_run
from toolkit.dialects.backups import backups_of
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.dialects.repositories import SnapshotSource
from toolkit.dialects.statistics import live_statistics_of
from toolkit.executors import Script, Sessions, print_script
from toolkit.model.bill import Bill
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.facts import Facts, facts_from_text, facts_to_text
from toolkit.model.operations import declaration
from toolkit.model.protocols import DatabaseError, Event
from toolkit.model.records import Artifact
from toolkit.model.values import Cell, Row, Support
from toolkit.model.words import Effect, EngineName, Keep, Mode
from toolkit.operations.place import reads_of
from toolkit.rendering import step_of
from toolkit.runner import PlanningContext, RunContext, environment_of
from toolkit.snapshots.brackets import LONG_SECONDS
from toolkit.store import Store
from toolkit.targets.base import Target
from toolkit.units import byte_size, counted

_MOST_LINES = 400
_LEAST_FREEDOM = 4


def only_reads(planning: PlanningContext) -> bool:
    """Tell whether no trial makes or changes an object (RMAN's VALIDATE, work that only reads)."""
    if declaration(planning.experiment.operation).backs_up:
        ways = backups_of(planning.dialect.work, planning.experiment.operation)
        return not any(ways.drops(piece.work) for piece in planning.all_pieces())
    planned = [one.stages for one in planning.scripts if one.stages is not None]
    timed = [step for stages in planned for item in stages.timed.items for step in item.steps]
    around = [step for stages in planned for step in (*stages.setup, *stages.prepare, *stages.conclude)]
    return all(step.effect is Effect.READS or step.object is None for step in (*timed, *around))


def too_few(cells: int, repeat: int) -> tuple[str, ...]:
    """Say before, not after, that so few repeats cannot tell a difference."""
    if cells < 2 or (cells - 1) * (repeat - 1) >= _LEAST_FREEDOM:
        return ()
    enough = 1 + -(-_LEAST_FREEDOM // (cells - 1))
    sentence = f"{counted(repeat, 'repeat')} of each configuration cannot separate a difference from noise"
    return (f"{sentence}; use at least --repeat {enough}",)


def preview_of(planning: PlanningContext, target: Target | None) -> tuple[str, ...]:
    """Ask the engine what the first cell would process, changing nothing; no lines without a connection."""
    ways = live_statistics_of(planning.dialect.work, planning.experiment.operation)
    if target is None or ways is None or not declaration(planning.experiment.operation).publishes_statistics:
        return ()
    works = [piece.work for piece in planning.pieces(planning.cells[0])]
    if any(work.object.scratch for work in works):
        return ()
    calls = [call for work in works for call in ways.preview(work, planning.facts)]
    if not calls:
        return ("this release cannot list what would be gathered",)
    sessions = Sessions(target, "dbatk dry-run", read_only=True)
    lines = ["what would be gathered, according to the database (nothing was gathered):"]
    try:
        for call in calls:
            lines += _lines(sessions.run(step_of(planning.dialect, call)).rows)
    except DatabaseError as error:
        return (f"the list of what would be gathered could not be read: {error.sentence}",)
    finally:
        sessions.close()
    return (*lines[:_MOST_LINES], *(["..."] if len(lines) > _MOST_LINES else []))


def _lines(rows: tuple[Row, ...]) -> Iterator[str]:
    """Yield the lines of a report without what could end a comment or mislead a terminal."""
    for row in rows:
        for line in str(row.get("report_text") or "").splitlines():
            shown = "".join(char if char.isprintable() else " " for char in line).rstrip()
            if shown:
                yield f"  {shown}"


# -- what a run would do ----------------------------------------------------------------------------------------
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
        planning = read_planning(experiment, dialect_of(target.engine), sessions, policy, for_show=True)
    finally:
        sessions.close()
    check_plan(planning)
    refuse_unasked(planning)
    bill = licensing.check(planning.scripts, experiment, planning.facts, policy, shown=True)
    found = notes_of(planning, target)
    notes = (
        *_notes(planning.facts, planning.trials, open_ended=experiment.detect_pct is not None),
        *found.degrees,
        *(sentence for sentence, _ in found.space),
        *found.remarks,
    )
    return Plan(experiment, planning.facts, planning.support, planning.trials, notes, bill)


def _notes(facts: Facts, trials: Sequence[PlannedTrial], *, open_ended: bool) -> list[str]:
    most = " at most" if open_ended else ""
    notes = [f"{counted(len(trials), 'trial')}{most}, {sum(trial.warmup for trial in trials)} of them warm-ups"]
    size = facts.value("source", "byte_count") or facts.value("target", "byte_count")
    if isinstance(size, int | float) and size > 0:
        notes.append(f"each trial works on about {byte_size(float(size))}")
    notes.append("the time that is left is estimated after the first sweep")
    return notes


# -- the script ----------------------------------------------------------------------------------------------
def script(
    experiment: Experiment,
    target: Target | None,
    *,
    engine: EngineName | None = None,
    assume: str | None = None,
    facts_text: str | None = None,
    policy: TargetPolicy | None = None,
    store: Store | None = None,
    full: bool = True,
) -> tuple[str, Bill | None]:
    """Return the script of an experiment, and its licence bill of materials where the engine has one.

    Args:
        experiment: what would be run.
        target: read for facts, on a read-only connection; None with `assume` or `facts_text`.
        engine: the engine to spell for when there is no target.
        assume: release and edition to assume instead of connecting.
        facts_text: facts to take instead of reading them.
        policy: what the target's profile says, its licences above all.
        store: knows the backups that a job would remove; None leaves them out.
        full: as in `print_script`.

    Raises:
        ToolkitError: TK-0112 when the script depends on facts that are not there, TK-0304 when no cell can be had
            (the run would be refused too), TK-0303 when it would need a licence nobody declared.
    """
    dialect = dialect_of(engine or (target.engine if target is not None else "duckdb"))
    policy = policy or TargetPolicy()
    if facts_text is None and assume is None:
        assert target is not None
        sessions = Sessions(target, "dbatk dry-run", read_only=True)
        try:
            planning = read_planning(experiment, dialect, sessions, policy, for_show=True)
            snapshot_source = snapshot_source_of_run(planning, sessions)
        finally:
            sessions.close()
    else:
        facts = facts_from_text(facts_text) if facts_text is not None else dialect.assume(assume or "")
        planning = PlanningContext(experiment, dialect, with_declared(facts, policy))
        snapshot_source = snapshot_source_by_facts(planning)
    check_plan(planning)
    refuse_unasked(planning)
    return script_of(planning, snapshot_source, policy, target, store=store, full=full)


def script_of(
    planning: PlanningContext,
    snapshot_source: SnapshotSource | None,
    policy: TargetPolicy,
    target: Target | None = None,
    *,
    notes: RunNotes | None = None,
    store: Store | None = None,
    full: bool = True,
) -> tuple[str, Bill | None]:
    """Return the script of what was planned, and its licence bill of materials.

    Args:
        planning: what would be run.
        snapshot_source: named in the head where there was a choice.
        policy: what the target's profile says.
        target: asked what the works would process; None leaves that out.
        notes: of what was planned, where it is known already.
        store: knows the backups that a job would remove; None leaves them out.
        full: as in `print_script`.

    Raises:
        ToolkitError: TK-0303 when it would need a licence nobody declared.
    """
    chosen = snapshot_source if snapshot_source is not None and snapshot_source.choice else None
    scripts = _with_snapshots(planning.scripts, planning.dialect, chosen)
    bill = licensing.check(scripts, planning.experiment, planning.facts, policy, shown=True)
    notes = notes or notes_of(planning, target)
    lines = [
        *_head(planning, scripts),
        *notes.degrees,
        *_about_snapshots(chosen),
        *([notes.ahead] if notes.ahead is not None else ()),
        *(sentence for sentence, _ in notes.space),
        *notes.remarks,
        *preview_of(planning, target),
        *_removed_later(planning, target, store, policy),
        *(bill.sentences() if bill is not None else ()),
    ]
    return print_script(planning.dialect.engine, lines, scripts, full=full), bill


def _removed_later(
    planning: PlanningContext, target: Target | None, store: Store | None, policy: TargetPolicy
) -> tuple[str, ...]:
    if store is None or target is None:
        return ()
    asked, facts, dialect = planning.experiment, planning.facts, planning.dialect
    return foreseen(asked, database_of(facts, target), facts, dialect, store, approved=policy.approved_only)


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
    lines = [f"dbatk {experiment.operation}, {experiment.mode}", known]
    lines += [f"read before: {reads}"] if reads else []
    if experiment.mode is Mode.MEASUREMENT:
        asked = experiment.detect_pct
        repeats = (
            counted(experiment.repeat, "repeat")
            if asked is None
            else f"repeats until a difference of {asked:g} % is detected or excluded, {experiment.repeat} at most,"
        )
        if experiment.search:
            among = counted(len(scripts), "configuration")
            repeats = f"a search among {among}, of which few are run, in {experiment.repeat} sweeps at most,"
        sweeps = f"{repeats} and {counted(experiment.warmup, 'warm-up sweep')}"
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


_STAYS = {
    Keep.NONE: "every object is a scratch object and is dropped",
    Keep.BEST: "every object is a scratch object and is dropped; the best configuration is run once more and kept",
    Keep.ALL: "every object is a scratch object and is kept",
}


def keep_explanation(context: RunContext, policy: TargetPolicy, host: Host) -> None:
    """Keep what explains the run, in one write: environment, script as shown, facts; before it the licences.

    Args:
        context: of the run.
        policy: what the target's profile says.
        host: how this host is set, where the database runs on it.
    """
    store, run, planning = context.store, context.run, context.planning
    where = environment_of(context.facts, host_is_ours=host is not None)
    where |= space.whole_bytes(context.experiment, context.facts)
    notes = notes_of(planning, context.target)
    shown, bill = script_of(planning, snapshot_source_by_facts(planning), policy, notes=notes)
    licensing.keep(store, run, bill)
    script = Artifact("script.sql", "application/sql", shown.encode())
    now, kept = environment_to_keep(context, host)
    store.explain(run, where, (script, kept), facts_to_text(context.facts))
    changed = changes_since(store, run, now, kept)
    if changed is not None:
        context.warn(changed)
    _announce(context, notes)


def _of_users(context: RunContext) -> str | None:
    """Say what becomes of what users at work create or change; None where no users work."""
    scripts = [one for one in context.planning.scripts if one.stages is not None]
    timed = [step for one in scripts if one.stages for item in one.stages.timed.items for step in item.steps]
    if all(step.users is None for step in timed):
        return None
    if any(map(_makes_objects, scripts)):
        return _STAYS[Keep.NONE]
    changes = context.experiment.options.get("may_change_data")
    return "what its transactions change stays changed" if changes else "it only reads and creates nothing"


def _announce(context: RunContext, notes: RunNotes) -> None:
    """Say before the run begins what it will do, and what its result depends on."""
    planning, events = context.planning, context.events
    declared = declaration(context.experiment.operation)
    only_tries = declared.writes_files and not declared.keeps
    ours = "restored at the end" if on_live(context.experiment) else _STAYS[context.experiment.keep]
    if declared.runs_programs:
        ours = "what its programs create is theirs to remove"
    elif only_tries:
        ours = "everything it makes is removed at the end"
    elif only_reads(planning):
        ours = "it only reads and creates nothing"
    stays = "what it removes or changes stays so" if declared.changes_rows else "what it creates is kept"
    stays = ours if only_tries else stays
    if users := _of_users(context):
        ours = stays = users
    mode = f"a job: {stays}" if context.job else f"a measurement: {ours}"
    shown = {"run": context.run, "mode": context.experiment.mode.value}
    events.emit(Event("mode", f"run {context.run}, {mode}", shown))
    if notes.ahead is not None:
        events.emit(Event("estimate", notes.ahead))
    for sentence in notes.degrees:
        events.emit(Event("warning", sentence))
    for sentence, doubtful in notes.space:
        if doubtful:
            context.warn(sentence)
        else:
            events.emit(Event("estimate", sentence))
    context.warn(*notes.remarks)
    for sentence in too_few(len(planning.cells), context.experiment.repeat):
        events.emit(Event("warning", sentence))
