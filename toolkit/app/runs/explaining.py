"""Keeps what explains a run, announces what it will do, and warns of what differs from its first attempt."""

from __future__ import annotations

from toolkit.app.approvals import TargetPolicy, on_live
from toolkit.app.runs import backup_space, licensing
from toolkit.app.runs.planning import degree_notes, facts_from_text, facts_to_text, script_of
from toolkit.app.runs.preview import ahead_of, only_reads, remarks_of, too_few
from toolkit.app.snapshots.providers import host_is_ours, snapshot_source_by_facts
from toolkit.model.protocols import Event
from toolkit.model.records import Artifact
from toolkit.model.words import Keep
from toolkit.runner import RunContext, environment_of

_STAYS = {
    Keep.NONE: "every object is a scratch object and is dropped",
    Keep.BEST: "every object is a scratch object and is dropped; the best configuration is run once more and kept",
    Keep.ALL: "every object is a scratch object and is kept",
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
    ours = "restored at the end" if on_live(context.experiment) else _STAYS[context.experiment.keep]
    if only_reads(planning):
        ours = "it only reads and creates nothing"
    mode = "a job: what it creates is kept" if context.job else f"a measurement: {ours}"
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


# -- between two attempts -----------------------------------------------------------------------------------------
_TIDES = frozenset({"server", "space", "settings", "target_name", "destination", "data_directory", "backup_size"})
_TIDAL = ("doctor_", "space_", "stats_")


def warn_of_drift(context: RunContext) -> None:
    """Warn of what differs from the first attempt: catalogue and environment. Its facts become the record."""
    facts = context.facts
    before = context.store.load_facts(context.run)
    if before is not None:
        old = context.record = facts_from_text(before)
        changed = [
            key
            for key in facts.answers
            if key not in _TIDES and not key.startswith(_TIDAL) and old.answers.get(key) != facts.answers[key]
        ]
        if changed:
            context.warn(f"the catalogue has changed since the first attempt: {', '.join(sorted(changed))}")
    now = environment_of(facts, host_is_ours=host_is_ours(context.target))
    then = context.store.load_run(context.run).environment
    differ = sorted(
        name for name in now if name in then and str(then[name]) != str(now[name]) and name != "host_load_1min"
    )
    if differ:
        context.warn(f"the environment has changed since the first attempt: {', '.join(differ)}")
