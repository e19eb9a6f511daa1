"""From parsed arguments to a run and its result: what all commands that run something share."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.cli.approving import checked_experiment, password_prompt
from toolkit.cli.colours import on_terminal
from toolkit.cli.listening import listening, speaks_json
from toolkit.cli.output import out, out_json, out_raw, say
from toolkit.cli.parameters import Arguments
from toolkit.cli.several import launch_on_several, targets_named
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from toolkit.analysis.documents import JsonObject
    from toolkit.app.approvals import TargetPolicy
    from toolkit.app.runs.execute import Guarding
    from toolkit.app.targets import ResolvedTarget
    from toolkit.model.experiment import Experiment
    from toolkit.model.protocols import Events
    from toolkit.model.records import RunRecord
    from toolkit.model.words import EngineName
    from toolkit.store import Store

_LARGEST_BYTES = 100_000_000
"""Of a file that is given as an option: facts of a schema with 100,000 indexes."""


def launch(experiment: Experiment, arguments: Arguments, file: Path | None = None) -> int:
    """Save, print or run an experiment, as the options say; `file` is where it was read from."""
    check_script_options(arguments)
    names = targets_named(experiment.target)
    save_as = arguments.text("save_as")
    if save_as is not None:
        return save(experiment, Path(save_as), names[0])
    if len(names) > 1 and experiment.verifies:
        raise ToolkitError(
            "a gain is verified on one target", code="TK-0107", hint="run the file for each: `-t NAME`"
        )
    if len(names) > 1:
        return launch_on_several(experiment, names, arguments, file)
    if arguments.flag("dry_run"):
        return _print_script(experiment, arguments)
    from toolkit.store import open_store

    resolved = reach(experiment.target)
    with open_store(arguments.text("store"), at_once=False) as store:
        if experiment.verifies:
            from toolkit.app.advising import gain_of

            gain_of(store, experiment)  # refused now, not after the run
        try:
            run = run_on(experiment, resolved, store, arguments, file)
        finally:
            resolved.target.close()
        return show_result(store, run, arguments, file)


def run_on(
    experiment: Experiment, resolved: ResolvedTarget, store: Store, arguments: Arguments, file: Path | None = None
) -> str:
    """Run an experiment on a target that was reached, as the options allow it, and return the run's id."""
    from toolkit.app.runs.execute import start
    from toolkit.app.targets import fitted

    experiment = fitted(experiment, resolved)
    if arguments.flag("debug"):
        resolved.target.observer = _show_statement
    with (
        checked_experiment(file, experiment, resolved, store, arguments) as approvals,
        listening(arguments) as events,
    ):
        return start(
            experiment,
            resolved.target,
            store=store,
            approvals=approvals,
            events=events,
            policy=resolved.policy,
            guarding=_guarding(experiment, resolved, events),
        )


def _guarding(experiment: Experiment, resolved: ResolvedTarget, events: Events) -> Guarding:
    from toolkit.app.runs.execute import unguarded

    if not experiment.guards:
        return unguarded
    from toolkit.app.maintenance.run_guards import guarding

    return guarding(resolved, events)


def reach(text: str | None) -> ResolvedTarget:
    """Return the target named, with a prompt for its password where there is a terminal.

    Raises:
        ToolkitError: TK-0107 when none is named; as `find_target`.
    """
    from toolkit.app.targets import find_target

    return find_target(named_target(text), prompt=password_prompt())


def named_target(text: str | None) -> str:
    """Return the target's name.

    Raises:
        ToolkitError: TK-0107 when none was given.
    """
    if not text:
        raise ToolkitError(
            "no target was given", code="TK-0107", hint="add `-t NAME|URL`, such as `-t duckdb:///file.duckdb`"
        )
    return text


def _show_statement(text: str) -> None:
    say(f"sql: {text}")


def show_result(store: Store, run: str, arguments: Arguments, file: Path | None = None) -> int:
    """Show what came out; return the exit status: 3 when a cell has no good repetition, or something is left.

    Recipients are notified where it did not end well, and was read from a file.
    """
    from toolkit.app.results import ended_well, failures, find_run, undo_script_left
    from toolkit.model.operations import declaration
    from toolkit.model.words import Outcome

    record = find_run(store, run, samples=arguments.flag("json"))
    well, undo = ended_well(record), undo_script_left(store, run)
    if arguments.flag("json"):
        from toolkit.analysis.documents import run_document
        from toolkit.report.safe import json_text

        verification = _verification(store, record)
        out_raw(json_text(run_document(record) | ({"verification": verification} if verification else {})))
    else:
        from toolkit.report.layout import wrapped
        from toolkit.report.safe import clean
        from toolkit.report.summary import summary_text

        out(summary_text(record, whole=not well or undo is not None))
        verification = _verification(store, record)
        if verification is not None:
            out("\n".join(wrapped(clean(str(verification["sentence"])))))
    well = well and (verification is None or verification["verdict"] == "held")
    if not speaks_json(arguments):
        for sentence in () if well or len(record.latest_trials) == 1 else failures(record):  # one is shown above
            say(sentence)
        if undo is not None:
            say(f"warning: not everything is undone: `dbatk clean -t {record.head.experiment.target}`, or {undo}")
    ended = ExitCode.DONE if well and undo is None else ExitCode.INCOMPLETE
    if file is not None and ended != ExitCode.DONE:
        from toolkit.cli.notices import tell_experiment_ended

        reasons = [str(verification["sentence"])] if verification is not None else []
        reasons += [*failures(record), *(() if undo is None else ("not everything is undone",))]
        tell_experiment_ended(file.stem, run, reasons)
    succeeded = any(trial.outcome is Outcome.OK for trial in record.latest_trials)
    if succeeded and not arguments.flag("quiet") and not speaks_json(arguments):
        page = f"`dbatk report {record.head.label or 'last'} --out report.html` writes a page from it"
        say(f"\nhint: {declaration(record.head.experiment.operation).then or page}")
    return ended


def _verification(store: Store, record: RunRecord) -> JsonObject | None:
    """Return what became of the gain that a run has measured again; None where it measured none again."""
    if not record.head.experiment.verifies:
        return None
    from toolkit.analysis.documents import verification_document
    from toolkit.analysis.holding import verified
    from toolkit.app.advising import gain_of

    try:
        found = gain_of(store, record.head.experiment)
        return verification_document(found, verified(found, record))
    except ToolkitError as error:  # the run that it verifies was deleted, or is in another store
        sentence = f"whether the gain held is inconclusive: {error.message}"
        return {"verdict": "inconclusive", "sentence": sentence}


# -- without running --------------------------------------------------------------------------------------------
def check_script_options(arguments: Arguments) -> None:
    """Refuse options that only say how a script is printed, where none is.

    Raises:
        ToolkitError: TK-0107.
    """
    for name in ("assume", "facts"):
        if name in arguments and not arguments.flag("dry_run"):
            saving = (
                "; `--save-as` needs `-t` with the address, and does not connect" if "save_as" in arguments else ""
            )
            raise ToolkitError(
                f"`--{name}` is only valid with `--dry-run`", code="TK-0107", hint=f"add `--dry-run`{saving}"
            )
    if arguments.flag("full") and not arguments.flag("dry_run"):
        raise ToolkitError(
            "`--full` is only valid with `--dry-run`",
            code="TK-0107",
            hint="add `--dry-run` (VACUUM FULL is `dbatk table move`)",
        )
    if "assume" in arguments and "facts" in arguments:
        raise ToolkitError(
            "`--assume` and `--facts` are mutually exclusive", code="TK-0107", hint="use only one of them"
        )


def save(experiment: Experiment, path: Path, target: str | None = None) -> int:
    from toolkit.app.files import write_file
    from toolkit.app.targets import check_for_engine, engine_of
    from toolkit.design.file import dump_experiment

    # a URL with a password is refused before it could be written
    check_for_engine(experiment, engine_of(target or experiment.target))
    if path.exists():
        raise ToolkitError(f"`{path}` exists", code="TK-0405", hint="choose another name; nothing is overwritten")
    write_file(path, dump_experiment(experiment))
    say(f"wrote {path}; run it with `dbatk run {path}`")
    return ExitCode.DONE


def _print_script(experiment: Experiment, arguments: Arguments) -> int:
    from toolkit.app.runs.preview import script
    from toolkit.app.targets import check_for_engine, fitted
    from toolkit.model.bill import bill_document

    full = arguments.flag("full") or arguments.flag("json") or not on_terminal(sys.stdout)
    facts = arguments.text("facts")
    text = None if facts is None else read_text(facts)
    if "assume" in arguments or text is not None:
        engine, policy = unreached(experiment.target, arguments.text("assume"), text)
        check_for_engine(experiment, engine)
        printed, bill = script(
            experiment,
            None,
            engine=engine,
            assume=arguments.text("assume"),
            facts_text=text,
            policy=policy,
            full=full,
        )
    else:
        resolved = reach(experiment.target)
        try:
            with _store_of_backups(experiment, arguments) as store:
                printed, bill = script(
                    fitted(experiment, resolved), resolved.target, policy=resolved.policy, store=store, full=full
                )
        finally:
            resolved.target.close()
    if arguments.flag("json"):
        out_json({"script": printed, "licences": None if bill is None else bill_document(bill)})
    else:
        out_raw(printed)
    return ExitCode.DONE


def assumes_oracle(release: str | None) -> bool:
    """Whether a release to assume can only be one of Oracle: no other engine has editions."""
    return re.match(r"[\d.]+[a-z]*-", release or "", re.IGNORECASE | re.ASCII) is not None


def named_or_assumed(arguments: Arguments, default: str = "") -> str:
    """Return the target; a script for an assumed Oracle release needs none: only Oracle has editions."""
    text = arguments.text("target")
    if text is None and assumes_oracle(arguments.text("assume")):
        return "oracle://assumed"
    return named_target(text or default)


def unreached(target: str, assume: str | None, facts: str | None = None) -> tuple[EngineName, TargetPolicy | None]:
    """Return the engine and policy of a target that is not connected to: a file may name one of another host.

    Raises:
        ToolkitError: TK-0111 where neither a profile, nor facts, nor the release tell the engine.
    """
    from toolkit.app.targets import engine_of, policy_of
    from toolkit.model.facts import facts_from_text

    try:
        return engine_of(target), policy_of(target)
    except ToolkitError as error:
        if error.code != "TK-0111" or "://" in target or not (facts or assumes_oracle(assume)):
            raise
    say(f"note: `{target}` is no target of this host: its profile, with what it allows and declares, is not known")
    return "oracle" if facts is None else facts_from_text(facts).engine, None


@contextmanager
def _store_of_backups(experiment: Experiment, arguments: Arguments) -> Iterator[Store | None]:
    """Open the store where a job would remove older backups: it alone knows which."""
    from toolkit.store import open_store

    if experiment.options.get("keep_for") is None:
        yield None
        return
    with open_store(arguments.text("store"), at_once=False) as store:
        yield store


def read_text(name: str) -> str:
    """Read a file of the user's, `-` for standard input.

    Raises:
        ToolkitError: TK-0106.
    """
    from toolkit.documents import read_utf8

    if name != "-":
        return _not_empty(read_utf8(Path(name), _LARGEST_BYTES), f"`{name}` is empty", "check that it was saved")
    try:
        text = sys.stdin.read().removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise ToolkitError("standard input is not UTF-8 text", code="TK-0106", hint="save it as UTF-8") from None
    return _not_empty(text, "standard input is empty", "pipe the text to it, or name a file in place of `-`")


def _not_empty(text: str, sentence: str, hint: str) -> str:
    if not text.strip():
        raise ToolkitError(sentence, code="TK-0106", hint=hint)
    return text
