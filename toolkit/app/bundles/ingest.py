"""`ingest`: what a bundle printed, as a run like any other.

A trial that came to its end is stored once; one that broke off is `interrupted`, and its next attempt is stored
when the bundle has been run on. To ingest the same again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from toolkit.app.approvals import Approvals, check_approved
from toolkit.app.bundles import rman as rman_bundle
from toolkit.app.bundles.reading import Folder, Recorder, read_folder
from toolkit.app.bundles.root import Root, opened
from toolkit.app.targets import policy_of
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors.scripted.bundle import APART
from toolkit.model.bill import ARTIFACT as BILL
from toolkit.model.bundle import MANIFEST, Manifest, script_name
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.facts import Facts, facts_from_text
from toolkit.model.operations import degree_level
from toolkit.model.records import PROVENANCE, Artifact, RunHead, TrialRecord
from toolkit.model.values import Row, Scalar
from toolkit.model.words import Outcome, RunState
from toolkit.operations.registry import operation
from toolkit.readers.attempts import Line, read_attempt
from toolkit.runner import environment_of, trials_of
from toolkit.runner.judging import unsupported
from toolkit.store import Store
from toolkit.store.codec import experiment_from_json

_CALLED_FROM = "ORA-06512"
"""Only names the line of a block."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """What was taken of a bundle: how many trials are new, how many are still to be run, and what was left."""

    run: str
    added: int
    missing: int
    warnings: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def ingest_bundle(path: Path, store: Store) -> Ingested:
    """Store what a bundle's spools say.

    Args:
        path: the folder that `export` wrote and `run.sh` filled.
        store: where it goes; the run keeps the id it has in the bundle.

    Raises:
        ToolkitError: TK-0406 for what is no whole bundle, was altered, holds spools of another run, has a newer
            format or was not run at all.
    """
    with opened(path) as root:
        return _ingest(root, store)


def _ingest(root: Root, store: Store) -> Ingested:
    folder = read_folder(root)
    logs = rman_bundle.logs_of(root.path)
    if not folder.attempts and not logs:
        raise ToolkitError(
            "no trial of this bundle has been run", code="TK-0406", hint="run its run.sh on the server first"
        )
    manifest = folder.manifest
    experiment = experiment_from_json(manifest.experiment)
    _refuse_unapproved(experiment)
    facts = replace(facts_from_text(manifest.facts), assumed=manifest.assumed)
    _refuse_another(folder, store)
    recorder = _recorder(folder, experiment, facts)
    records = list(_records(folder, experiment, recorder)) + [
        rman_bundle.record_of(each, root, logs[each.number], experiment, manifest.run, recorder.dialect, facts)
        for each in trials_of(experiment)
        if each.number in logs
    ]
    new = new_of(records, store.load_run(manifest.run).trials if _stored(store, manifest.run) else ())
    if not _stored(store, manifest.run):
        store.create_run(_head(manifest, experiment, records))
    _keep(folder, facts, store)
    for record in new:
        store.end_trial(manifest.run, record)
    left = tuple(dict.fromkeys(_left(folder)))
    warnings = (*_doubts(folder, manifest, facts), *recorder.warnings, *left)
    for sentence in warnings:
        store.warn(manifest.run, sentence)
    missing = _end(store, manifest.run, experiment)
    return Ingested(manifest.run, len(new), missing, tuple(dict.fromkeys(warnings)), left)


def _refuse_unapproved(experiment: Experiment) -> None:
    """Refuse what ran without dbatk where only approved work may run: no bundle is approved.

    Raises:
        ToolkitError: TK-0313.
    """
    try:
        policy = policy_of(experiment.target)
    except ToolkitError:
        return  # a target that this host does not know
    check_approved(policy, Approvals())


# -- trials -----------------------------------------------------------------------------------------------------
def _recorder(folder: Folder, experiment: Experiment, facts: Facts) -> Recorder:
    setup = read_attempt(folder.around("setup"))
    has_rows = setup.kept.get("has_rows", [{}])[0].get("has_rows")
    return Recorder(folder.manifest, experiment, dialect_of(facts.engine), facts, folder.client, bool(has_rows))


def _records(folder: Folder, experiment: Experiment, recorder: Recorder) -> Iterable[TrialRecord]:
    """Yield a record for every attempt in the order of trials, and for every cell that cannot be had."""
    planned = {each.number: each for each in trials_of(experiment)}
    for trial in folder.manifest.trials:
        plan = _planned(planned, trial.number)
        if trial.refused is not None:
            record = unsupported(plan, 1, trial.refused, _degree(plan))
            created = datetime.fromisoformat(folder.manifest.created_at)
            yield replace(record, began_at=created, ended_at=created)
        for attempt in folder.attempts.get(trial.number, ()):
            yield recorder.record(plan, attempt)


def _planned(planned: dict[int, PlannedTrial], number: int) -> PlannedTrial:
    if number not in planned:
        raise ToolkitError(
            f"trial {number} of the bundle does not belong to its experiment",
            code="TK-0406",
            hint="give the folder written by `dbatk export`, unchanged",
        )
    return planned[number]


def _degree(planned: PlannedTrial) -> int | None:
    level = degree_level(planned.cell)
    return level if isinstance(level, int) else None


_GOES_ON = frozenset({Outcome.INTERRUPTED, Outcome.FAILED})


def new_of(records: Sequence[TrialRecord], stored: Sequence[TrialRecord]) -> list[TrialRecord]:
    """Leave out what is stored: trials with an end, and failed and broken attempts that are known as such.

    An attempt that was stored while it ran, as interrupted, and has an end now is stored as a further one; so is
    what came after a failed one, as of a load whose missing files were tried again.
    """
    ended = {each.trial for each in stored if each.outcome not in _GOES_ON}
    failed = {(each.trial, each.began_at) for each in stored if each.outcome is Outcome.FAILED}
    attempts: dict[int, set[int]] = {}
    for each in stored:
        attempts.setdefault(each.trial, set()).add(each.attempt)
    new = []
    for record in records:
        known = attempts.setdefault(record.trial, set())
        if record.trial in ended or (record.trial, record.began_at) in failed:
            continue
        if record.outcome is Outcome.INTERRUPTED and record.attempt in known:
            continue
        if record.attempt in known:
            record = replace(record, attempt=max(known) + 1)  # noqa: PLW2901
        known.add(record.attempt)
        if record.outcome not in _GOES_ON:
            ended.add(record.trial)
        new.append(record)
    return new


# -- the run ----------------------------------------------------------------------------------------------------
def _stored(store: Store, run: str) -> bool:
    try:
        store.load_head(run)
    except ToolkitError as error:
        if error.code != "TK-0109":
            raise
        return False
    return True


def _refuse_another(folder: Folder, store: Store) -> None:
    """Refuse a run of this id that did not come from this bundle."""
    run = folder.manifest.run
    if not _stored(store, run):
        return
    kept = store.load_artifact(run, MANIFEST)
    if kept is None or kept.content != folder.manifest_bytes:
        raise ToolkitError(
            f"the store already has a different run `{run}`, not from this bundle",
            code="TK-0406",
            hint="ingest into another store (--store)",
        )


def _head(manifest: Manifest, experiment: Experiment, records: Sequence[TrialRecord]) -> RunHead:
    began = [record.began_at for record in records if record.outcome is not Outcome.UNSUPPORTED]
    return RunHead(
        manifest.run,
        experiment,
        manifest.engine,
        RunState.INTERRUPTED,
        min(began, default=datetime.fromisoformat(manifest.created_at)),
        operation_version=operation(experiment.operation).version,
        tool_version=manifest.tool_version,
        trials_planned=len(manifest.trials),
        target_name=manifest.target_name,
    )


def _keep(folder: Folder, facts: Facts, store: Store) -> None:
    """Keep what explains the run: where it took place, the facts, the scripts and the spools as received."""
    run = folder.manifest.run
    check = read_attempt(folder.around("check"))
    rows: dict[str, tuple[Row, ...]] = {key: tuple(found) for key, found in check.kept.items() if APART not in key}
    server = rows.get("server", ())
    seen = replace(
        facts,
        release=dialect_of(facts.engine).release(server[0]) if server else facts.release,
        answers={**facts.answers, **{key: rows[key] for key in ("server", "settings") if key in rows}},
    )
    environment: dict[str, Scalar] = environment_of(seen, host_is_ours=False)
    environment.pop("client_host", None)
    store.set_environment(run, {**environment, PROVENANCE: f"bundle, {folder.client}"})
    store.save_facts(run, folder.manifest.facts)
    name = server[0].get("database_id") if server else None
    if name:
        store.set_target_name(run, str(name))
    store.keep_artifact(run, Artifact(MANIFEST, "application/json", folder.manifest_bytes))
    if folder.manifest.bill:
        store.keep_artifact(run, Artifact(BILL, "application/json", folder.manifest.bill.encode()))
    for path, content in folder.received():
        store.keep_artifact(run, Artifact(path, "text/plain", content))


def _doubts(folder: Folder, manifest: Manifest, facts: Facts) -> Iterable[str]:
    """Say it when the bundle ran on another database or release than the one its scripts were planned for."""
    found = read_attempt(folder.around("check")).kept.get("server")
    if not found:
        return
    here = str(found[0].get("database_id") or "")
    if here and manifest.target_name and here != manifest.target_name:
        yield f"the scripts were made for `{manifest.target_name}` but ran on `{here}`"
    ran = dialect_of(facts.engine).release(found[0])
    if (ran.number[:1], ran.edition) != (facts.release.number[:1], facts.release.edition):
        yield f"the scripts were made for `{facts.release}` but ran on `{ran}`"


def _left(folder: Folder) -> Iterable[str]:
    """Say which statement that puts back was refused: after a trial, after a broken attempt, and at the end."""
    around: list[tuple[str, Iterable[Sequence[Line]]]] = []
    for trial, attempts in folder.attempts.items():
        for each in attempts:
            spool = f"{script_name(trial)}-a{each.attempt}-clean"
            around += [(f"after trial {trial}", each.spools), (f"after trial {trial}", folder.around(spool))]
    for where, spools in (*around, ("at the end", folder.around("cleanup"))):
        read = read_attempt(spools)
        for stage, failure in read.failures if read.lost is None else ():  # else it is put back by another spool
            if stage in {"conclude", "cleanup"} and failure.code != _CALLED_FROM:
                yield f"{where} something was left as it is: {failure}"


def _end(store: Store, run: str, experiment: Experiment) -> int:
    """Set the state of the run; return how many trials are still to be run."""
    stored = store.load_run(run, samples=False).trials
    ended = {each.trial for each in stored if each.outcome is not Outcome.INTERRUPTED}
    missing = len({each.number for each in trials_of(experiment)} - ended)
    at = max((each.ended_at for each in stored), default=datetime.now(UTC))
    store.end_run(run, RunState.INTERRUPTED if missing else RunState.DONE, at)
    return missing
