"""`export`: an experiment as a folder of scripts for a server where Python may not run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from string import Template

from toolkit import __version__, resources
from toolkit.app.approvals import Approvals, TargetPolicy, check_experiment
from toolkit.app.bundles import rman as rman_bundle
from toolkit.app.files import write_folder
from toolkit.app.ruling import refuse_unseen, ruled_by_address, ruled_now
from toolkit.app.runs import licensing
from toolkit.app.runs.databases import database_of
from toolkit.app.runs.planning import check_plan, read_planning, with_declared
from toolkit.app.runs.settings import of_server, refuse_unscripted
from toolkit.app.runs.undoable import refuse_unasked
from toolkit.app.targets import ResolvedTarget
from toolkit.config.profiles import find_profile
from toolkit.config.urls import parse_url
from toolkit.design.build import of_fixed_repeats
from toolkit.design.order import cells_of_experiment
from toolkit.design.searchable import refuse_search
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Script, Sessions
from toolkit.executors.scripted import Bundled, bundle_files
from toolkit.executors.scripted.bundle import digest
from toolkit.model.address import Address
from toolkit.model.bill import Bill, bill_to_text
from toolkit.model.bundle import MANIFEST, BundleTrial, Manifest
from toolkit.model.engines import engine
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.facts import Facts, facts_from_text, facts_to_text
from toolkit.model.operations import RowSemantics, declaration
from toolkit.model.records import fresh_run_id, run_key
from toolkit.model.values import Scalar
from toolkit.model.words import EngineName, Keep, Mode, Role, StepKind
from toolkit.operations.base import support_of
from toolkit.readers.manifest import manifest_text
from toolkit.rendering import step_of
from toolkit.runner import PlanningContext
from toolkit.runner.settings import as_scripted
from toolkit.store.codec import experiment_to_json
from toolkit.targets.base import Target

_BILL_WORD = re.compile("^licences?: ")
"""What a sentence of the bill begins with, where no heading says it."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A bundle that was written, the command that runs it on the server, and what it does not do."""

    run: str
    folder: Path
    trials: int
    command: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What the scripts are made from: facts, whether they were assumed, and what identifies the database."""

    facts: Facts
    target_name: str = ""
    born: Scalar = None


def export_bundle(
    experiment: Experiment,
    known: Known,
    address: Address | None,
    folder: Path,
    *,
    policy: TargetPolicy | None = None,
    not_production: bool = False,
) -> Exported:
    """Write a bundle.

    Args:
        experiment: what is run.
        known: from `read_known`, `assumed_known` or `given_known`.
        address: where, for the hint how to connect; None when nothing but a release is known.
        folder: must not exist, or be empty.
        policy: what the target's profile says, its licences above all.
        not_production: whether the user says that the target is not production.

    Raises:
        ToolkitError: TK-0304 for what a script cannot do or the database cannot have, and for a degree above the
            profile's; TK-0303 for what would need a licence nobody declared, TK-0301 for a cache emptied where it
            may be production, TK-0105 for a text that SQL*Plus would not take, TK-0406 when the folder is not
            empty, TK-0405 when it cannot be written.
    """
    refuse_search(experiment, "a script")
    experiment = of_fixed_repeats(experiment)
    _refuse_unscripted(experiment, known.facts)
    dialect = dialect_of(known.facts.engine)
    policy = policy or TargetPolicy()
    check_experiment(experiment, policy, Approvals(not_production=not_production))
    known = replace(known, facts=with_declared(known.facts, policy))
    run = fresh_run_id()
    planning = PlanningContext(experiment, dialect, known.facts)
    trials = _trials(planning, run)
    _refuse_decisions(trials)
    bill = licensing.check([Script(each.title, each.stages) for each in trials], experiment, known.facts, policy)
    changed = tuple(varied.setting.name for varied in of_server(planning))
    notes = tuple(_notes(experiment, trials, changed))
    licences = tuple(_BILL_WORD.sub("", sentence) for sentence in bill.sentences()) if bill is not None else ()
    if declaration(experiment.operation).backs_up:
        files = rman_bundle.files_of(experiment, known.facts, run, trials, licences, folder)
    else:
        files = bundle_files(
            dialect, run, trials, known.facts, snapshots=_snapshots(experiment, dialect, known.facts),
            readme=_readme(experiment, known, address, folder, run, trials, licences, notes), born=known.born,
            options=experiment.options, once=_only_once(experiment, trials),
        )  # fmt: skip
    for path, text in files.items():
        if path.endswith((".sql", ".rman")):
            licensing.check_script(text, known.facts, policy)
    manifest = _manifest(experiment, known, run, trials, policy.licences, files, bill)
    write_folder(folder, {**files, MANIFEST: manifest_text(manifest)})
    rman = declaration(experiment.operation).backs_up
    command = "sh run.sh" if rman else f"sh run.sh {_connect_hint(address)}"
    return Exported(run, folder, sum(each.stages is not None for each in trials), command, notes)


def address_of(text: str) -> Address:
    """Return the address of a profile or URL, which holds no secret."""
    return parse_url(text) if "://" in text else find_profile(text).address


def limits_of(resolved: ResolvedTarget, *, connected: bool) -> TargetPolicy:
    """Return the limits of all profiles of a target's database; a bundle runs where no approval is looked at.

    Raises:
        ToolkitError: TK-0313 where only approved work may run, or where that is not known.
    """
    policy, target = resolved.policy, resolved.target
    if connected:
        policy = ruled_now(policy, target)
    else:
        policy = ruled_by_address(policy, target.address)
        refuse_unseen(target, policy)
    if policy.approved_only:
        raise ToolkitError(
            f"only approved work may run on `{policy.by.get('approved_only', policy.profile_name)}`, and a bundle "
            "runs where no approval is checked",
            code="TK-0313",
            hint="`dbatk run FILE --approved-only` runs what was approved",
        )
    return policy


# -- facts ------------------------------------------------------------------------------------------------------
def read_known(experiment: Experiment, target: Target, policy: TargetPolicy) -> Known:
    """Read facts on a read-only connection."""
    dialect = dialect_of(target.engine)
    sessions = Sessions(target, "dbatk export", read_only=True)
    try:
        facts = read_planning(experiment, dialect, sessions, policy).facts
        rows = sessions.get(Role.CONTROL).execute(step_of(dialect, dialect.instant()).text).rows
        return Known(facts, database_of(facts, target), rows[0].get("born") if rows else None)
    finally:
        sessions.close()


def assumed_known(engine: EngineName, assume: str) -> Known:
    """Assume a release and an edition."""
    return Known(dialect_of(engine).assume(assume))


def given_known(text: str) -> Known:
    """Take the facts of a file."""
    facts = facts_from_text(text)
    return Known(facts, str(facts.value("server", "database_id", "") or ""))


# -- what cannot be --------------------------------------------------------------------------------------------
def _refuse_unscripted(experiment: Experiment, facts: Facts) -> None:
    if not engine(facts.engine).bundles:
        raise ToolkitError(
            f"bundles are only for Oracle, and this is {facts.engine}",
            code="TK-0304",
            hint="`dbatk run --dry-run` prints the script of other engines",
        )
    if declaration(experiment.operation).runs_programs:
        raise ToolkitError(
            f"a bundle runs SQL and RMAN scripts, and `{experiment.operation}` runs other programs",
            code="TK-0304",
            hint="`dbatk run FILE --dry-run -t host://` prints it as a script for a shell",
        )
    external = [factor.name for factor in experiment.factors if factor.command is not None]
    if external:
        raise ToolkitError(
            f"the factor `{external[0]}` is read, set and restored by dbatk itself, which a script cannot do",
            code="TK-0304",
            hint="remove the factor from the file; export one bundle per level, and set the level by hand",
        )
    on_live = bool(experiment.options.get("on_live_objects")) and experiment.mode is Mode.MEASUREMENT
    if on_live and declaration(experiment.operation).publishes_statistics:
        raise ToolkitError(
            "live statistics are watched between trials, and the run ends if they change: a script cannot do that",
            code="TK-0304",
            hint="omit `on_live_objects`: the bundle then gathers on copies",
        )
    if experiment.keep is Keep.BEST:
        raise ToolkitError(
            "the best configuration is only known after the trials, when the scripts are already written",
            code="TK-0304",
            hint="omit `keep`, ingest the bundle, then export the best configuration as a job",
        )


def _refuse_decisions(trials: Sequence[Bundled]) -> None:
    """Refuse what asks before the clock whether to go on: a script has nobody who would read the answer."""
    for each in trials:
        prepare = each.stages.prepare if each.stages is not None else ()
        timed = [step for item in each.stages.timed.items for step in item.steps] if each.stages else []
        if any(step.transfer is not None and step.kind is not StepKind.SCRIPT for step in timed):
            raise ToolkitError(
                f"`{each.title}` sends the rows of files from where dbatk runs, which a script cannot do",
                code="TK-0304",
                hint='`--method conventional` or `--method direct` (method = "direct") loads them by SQL*Loader',
            )
        if any((step.keep_as or "").startswith("refusal") for step in prepare):
            raise ToolkitError(
                f"`{each.title}` asks the database before each trial whether to continue, which a script cannot "
                "do",
                code="TK-0304",
                hint="measure on copies (without `on_live_objects`), or run it with `dbatk run`",
            )


def _notes(experiment: Experiment, trials: Sequence[Bundled], changed: Sequence[str]) -> list[str]:
    unused = {
        "budget": experiment.budget_seconds,
        "time_limit": experiment.time_limit_seconds,
        "quiet_wait": experiment.quiet_wait_seconds,
    }
    notes = [f"`{name}` is not recorded by a bundle" for name, value in unused.items() if value is not None]
    refused = list(dict.fromkeys(f"{each.planned.cell}: {each.refused}" for each in trials if each.refused))
    told = f"{', '.join(changed)}: set for the whole instance in each trial, and restored after it"
    return [*notes, *([told] if changed else []), *(f"omitted, {sentence}" for sentence in refused)]


def _only_once(experiment: Experiment, trials: Sequence[Bundled]) -> bool:
    """Tell whether a job changes rows of the user's; SQL*Loader's scripts know by themselves what they loaded."""
    declared = declaration(experiment.operation)
    if experiment.mode is not Mode.JOB or not (declared.changes_rows or declared.rows is RowSemantics.ADDS):
        return False
    timed = (step for each in trials if each.stages for item in each.stages.timed.items for step in item.steps)
    return not any(step.kind is StepKind.SCRIPT for step in timed)


# -- trials -----------------------------------------------------------------------------------------------------
def _trials(planning: PlanningContext, run: str) -> tuple[Bundled, ...]:
    refuse_unscripted(planning)
    check_plan(planning)
    refuse_unasked(planning)
    return tuple(_trial(planning, run, each) for each in planning.trials)


def _trial(planning: PlanningContext, run: str, planned: PlannedTrial) -> Bundled:
    planner = planning.planner(run_key(run), planned.number)
    support = support_of(planner, planning.operation.pieces(planner, planned.cell))
    what = "warm-up" if planned.warmup else f"repeat {planned.repeat}"
    title = " ".join(filter(None, [str(planning.experiment.operation), str(planned.cell), what]))
    if not support.ok:
        return Bundled(planned, title, None, support.sentence)
    stages = planning.operation.plan(planner, planned.cell)
    return Bundled(planned, title, planning.with_settings(stages, planned.cell, as_scripted))


def _snapshots(experiment: Experiment, dialect: Dialect, facts: Facts) -> tuple[str, ...]:
    watching = dialect.watching(facts)
    return () if experiment.snapshot in {"none", "osstat"} else (*watching.snapshots, *watching.gauges)


def _manifest(
    experiment: Experiment, known: Known, run: str, trials: Sequence[Bundled], declared: frozenset[str],
    files: dict[str, str], bill: Bill | None,
) -> Manifest:  # fmt: skip
    return Manifest(
        run=run,
        seed=experiment.seed,
        engine=known.facts.engine,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        tool_version=__version__,
        target_name=known.target_name,
        experiment=experiment_to_json(experiment),
        facts=facts_to_text(known.facts),
        assumed=known.facts.assumed,
        bill=bill_to_text(bill) if bill is not None else "",
        declared=tuple(sorted(declared)),
        trials=tuple(
            BundleTrial(
                each.planned.number, dict(each.planned.cell), each.planned.repeat,
                each.stages.timed.workers if each.stages else 0, each.items, each.refused,
            )
            for each in trials
        ),
        files={path: digest(text) for path, text in sorted(files.items())},
    )  # fmt: skip


# -- for whoever runs it ----------------------------------------------------------------------------------------
def _readme(
    experiment: Experiment, known: Known, address: Address | None, folder: Path, run: str,
    trials: Sequence[Bundled], licences: Sequence[str], notes: Sequence[str],
) -> str:  # fmt: skip
    measuring = experiment.mode is Mode.MEASUREMENT
    prefix = f"DBATK_{run_key(run)}_"
    keeps = experiment.keep is Keep.ALL
    makes = f"objects named {prefix}*, " + (
        "which are kept (keep = all)" if keeps else "dropped again after each trial"
    )
    undoes = any(
        step.undo for each in trials if each.stages for item in each.stages.timed.items for step in item.steps
    )
    return Template(resources.template_text("bundle/README.txt")).substitute(
        run=run,
        operation=experiment.operation,
        mode="a measurement" if measuring else "a job",
        target=address.display if address is not None else "any database of this release",
        release=f"{'assumed ' if known.facts.assumed else ''}{known.facts.release}",
        trials=sum(each.stages is not None for each in trials),
        cells=len(cells_of_experiment(experiment)),
        seed=experiment.seed,
        makes=makes if measuring else "the requested object, which is kept",
        licences="\n                ".join(licences) or "none",
        connect=_connect_hint(address),
        prefix=prefix,
        undoes=", and restores former degrees and logging" if undoes else "",
        folder=shlex.quote(folder.name),
        notes="".join(f"\nNote: {note}" for note in notes),
    )


def _connect_hint(address: Address | None) -> str:
    if address is None or not address.user:
        return "USER@ALIAS"
    where = f"//{address.host}:{address.port or 1521}/{address.database}" if address.host else address.database
    return shlex.quote(f"{address.user}@{where}")
