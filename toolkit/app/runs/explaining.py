"""Keeps what explains a run, and says before it begins what it will do."""

from __future__ import annotations

from toolkit.app.approvals import Standing, on_live
from toolkit.app.runs import backup_space, licensing
from toolkit.app.runs.planning import cells_in_order, degree_notes, facts_to_text, script
from toolkit.app.runs.preview import ahead_of, only_reads, remarks_of, too_few
from toolkit.app.snapshots.providers import host_is_ours
from toolkit.model.facts import Facts
from toolkit.model.protocols import Event
from toolkit.model.records import Artifact
from toolkit.model.words import Keep
from toolkit.runner import Bench, environment_of
from toolkit.targets.base import Target

_STAYS = {
    Keep.NONE: "every object is ours and is dropped",
    Keep.BEST: "every object is ours and is dropped; the best cell is made once more and stays",
    Keep.ALL: "every object is ours and stays",
}


def keep_explanation(bench: Bench, facts: Facts, target: Target, standing: Standing) -> None:
    """Keep what explains the run: environment, licences, the script as shown; and last the facts."""
    store, run = bench.store, bench.run
    whole = backup_space.whole_bytes(bench.experiment, facts)
    store.set_environment(run, environment_of(facts, host_is_ours=host_is_ours(target)) | whole)
    text = facts_to_text(facts)
    shown, bill = script(bench.experiment, None, engine=target.engine, facts_text=text, standing=standing)
    licensing.keep(store, run, bill)
    store.keep_artifact(run, Artifact("script.sql", "application/sql", shown.encode()))
    store.save_facts(run, text)
    ours = "put back at the end" if on_live(bench.experiment) else _STAYS[bench.experiment.keep]
    if only_reads(bench.planner(), cells_in_order(bench.experiment)):
        ours = "it reads, and makes nothing"
    mode = "a job: what it makes stays" if bench.job else f"a measurement: {ours}"
    bench.events.emit(Event("mode", f"run {run}, {mode}", {"run": run, "mode": bench.experiment.mode.value}))
    ahead = ahead_of(bench.planner(), cells_in_order(bench.experiment)[0])
    if ahead is not None:
        bench.events.emit(Event("estimate", ahead))
    for sentence in degree_notes(bench.experiment, bench.dialect, facts):
        bench.events.emit(Event("warning", sentence))
    for sentence in remarks_of(bench.planner(), cells_in_order(bench.experiment)):
        bench.warn(sentence)
    cells = len(cells_in_order(bench.experiment))
    for sentence in too_few(cells, bench.experiment.repeat):
        bench.events.emit(Event("warning", sentence))
