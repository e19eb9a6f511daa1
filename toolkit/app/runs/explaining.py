"""Keeps what explains a run, and says before it begins what it will do."""

from __future__ import annotations

from toolkit.app.approvals import TargetPolicy, on_live
from toolkit.app.runs import backup_space, licensing
from toolkit.app.runs.planning import degree_notes, facts_to_text, script_of
from toolkit.app.runs.preview import ahead_of, only_reads, remarks_of, too_few
from toolkit.app.snapshots.providers import host_is_ours, snapshot_source_by_facts
from toolkit.model.protocols import Event
from toolkit.model.records import Artifact
from toolkit.model.words import Keep
from toolkit.runner import RunContext, environment_of

_STAYS = {
    Keep.NONE: "every object is ours and is dropped",
    Keep.BEST: "every object is ours and is dropped; the best cell is made once more and stays",
    Keep.ALL: "every object is ours and stays",
}


def keep_explanation(context: RunContext, policy: TargetPolicy) -> None:
    """Keep what explains the run: environment, licences, the script as shown; and last the facts."""
    store, run, planning = context.store, context.run, context.planning
    whole = backup_space.whole_bytes(context.experiment, context.facts)
    local = host_is_ours(context.target)
    store.set_environment(run, environment_of(context.facts, host_is_ours=local) | whole)
    shown, bill = script_of(planning, snapshot_source_by_facts(planning), policy)
    licensing.keep(store, run, bill)
    store.keep_artifact(run, Artifact("script.sql", "application/sql", shown.encode()))
    store.save_facts(run, facts_to_text(context.facts))
    _announce(context)


def _announce(context: RunContext) -> None:
    """Say before the run begins what it will do, and what its result depends on."""
    planning, events = context.planning, context.events
    ours = "put back at the end" if on_live(context.experiment) else _STAYS[context.experiment.keep]
    if only_reads(planning):
        ours = "it reads, and makes nothing"
    mode = "a job: what it makes stays" if context.job else f"a measurement: {ours}"
    shown = {"run": context.run, "mode": context.experiment.mode.value}
    events.emit(Event("mode", f"run {context.run}, {mode}", shown))
    ahead = ahead_of(planning)
    if ahead is not None:
        events.emit(Event("estimate", ahead))
    for sentence in degree_notes(planning):
        events.emit(Event("warning", sentence))
    for sentence in remarks_of(planning):
        context.warn(sentence)
    for sentence in too_few(len(planning.cells), context.experiment.repeat):
        events.emit(Event("warning", sentence))
