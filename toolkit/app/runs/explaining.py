"""Keeps what explains a run, and says before it begins what it will do."""

from __future__ import annotations

from toolkit.app.approvals import TargetPolicy, on_live
from toolkit.app.runs import backup_space, licensing
from toolkit.app.runs.planning import cells_in_order, degree_notes, facts_to_text, script
from toolkit.app.runs.preview import ahead_of, only_reads, remarks_of, too_few
from toolkit.app.snapshots.providers import host_is_ours
from toolkit.model.facts import Facts
from toolkit.model.protocols import Event
from toolkit.model.records import Artifact
from toolkit.model.words import Keep
from toolkit.runner import RunContext, environment_of
from toolkit.targets.base import Target

_STAYS = {
    Keep.NONE: "every object is ours and is dropped",
    Keep.BEST: "every object is ours and is dropped; the best cell is made once more and stays",
    Keep.ALL: "every object is ours and stays",
}


def keep_explanation(context: RunContext, facts: Facts, target: Target, policy: TargetPolicy) -> None:
    """Keep what explains the run: environment, licences, the script as shown; and last the facts."""
    store, run = context.store, context.run
    whole = backup_space.whole_bytes(context.experiment, facts)
    store.set_environment(run, environment_of(facts, host_is_ours=host_is_ours(target)) | whole)
    text = facts_to_text(facts)
    shown, bill = script(context.experiment, None, engine=target.engine, facts_text=text, policy=policy)
    licensing.keep(store, run, bill)
    store.keep_artifact(run, Artifact("script.sql", "application/sql", shown.encode()))
    store.save_facts(run, text)
    ours = "put back at the end" if on_live(context.experiment) else _STAYS[context.experiment.keep]
    if only_reads(context.planner(), cells_in_order(context.experiment)):
        ours = "it reads, and makes nothing"
    mode = "a job: what it makes stays" if context.job else f"a measurement: {ours}"
    context.events.emit(Event("mode", f"run {run}, {mode}", {"run": run, "mode": context.experiment.mode.value}))
    ahead = ahead_of(context.planner(), cells_in_order(context.experiment)[0])
    if ahead is not None:
        context.events.emit(Event("estimate", ahead))
    for sentence in degree_notes(context.experiment, context.dialect, facts):
        context.events.emit(Event("warning", sentence))
    for sentence in remarks_of(context.planner(), cells_in_order(context.experiment)):
        context.warn(sentence)
    cells = len(cells_in_order(context.experiment))
    for sentence in too_few(cells, context.experiment.repeat):
        context.events.emit(Event("warning", sentence))
