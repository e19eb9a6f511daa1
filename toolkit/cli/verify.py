"""`verify`: measure the recommended setting and the former one again, and say whether the gain held."""

from __future__ import annotations

from pathlib import Path

import typer

from toolkit.cli.listening import LOG
from toolkit.cli.output import out, out_json
from toolkit.cli.parameters import APPROVALS, OUTPUT, QUIET, Arguments, add_command, argument, option
from toolkit.errors import ExitCode, ToolkitError


def add_verify(app: typer.Typer) -> None:
    """Add the command."""
    parameters = [
        argument("run", "run whose recommendation is verified: its id or beginning, or a label"),
        option("present", "levels that were set before, such as degree=2 (as for `advise`)", metavar="LEVELS"),
        option("repeat", "sweeps over both (default: so many that half of the gain shows)", kind=int, metavar="N"),
        option("label", "name of the run that measures both", metavar="TEXT"),
        option("save_as", "write the experiment file instead of running it", metavar="FILE"),
        *APPROVALS,
        QUIET,
        *LOG,
        *OUTPUT,
    ]
    examples = ("dbatk verify nightly-degree --present degree=1", "dbatk verify last --json")
    help = "Measure the recommended setting and the former one again: did the gain hold?"
    add_command(app, "verify", _verify, parameters, help, examples)


def _verify(arguments: Arguments) -> int:
    from dataclasses import replace

    from toolkit.analysis.choice import WORTH_PCT
    from toolkit.analysis.documents import verification_document
    from toolkit.analysis.holding import FEWEST_REPEATS, Lasting, verification_experiment, verified
    from toolkit.app.advising import advised
    from toolkit.app.results import find_run
    from toolkit.cli.advise import levels_of
    from toolkit.cli.launch import reach, run_on, save
    from toolkit.design.build import MOST_REPEATS, check_label
    from toolkit.report.layout import wrapped
    from toolkit.report.safe import clean
    from toolkit.store import open_store

    repeat, label = arguments.number("repeat"), arguments.text("label")
    if repeat is not None and not FEWEST_REPEATS <= repeat <= MOST_REPEATS:
        raise ToolkitError(
            f"`--repeat` cannot be `{repeat}`",
            code="TK-0102",
            hint=f"give {FEWEST_REPEATS} to {MOST_REPEATS}: fewer could not show whether the gain held",
        )
    check_label(label)
    with open_store(arguments.text("store"), at_once=False) as store:
        found = advised(store, arguments.required("run"), WORTH_PCT, levels_of(arguments.text("present")))
    experiment = replace(verification_experiment(found, repeat), label=label)
    if (name := arguments.text("save_as")) is not None:
        return save(experiment, Path(name))
    resolved = reach(experiment.target)
    with open_store(arguments.text("store"), at_once=False) as store:
        try:
            run = run_on(experiment, resolved, store, arguments)
        finally:
            resolved.target.close()
        again = find_run(store, run)
    result = verified(found, again)
    if arguments.flag("json"):
        out_json(verification_document(found, result))
    else:
        out("\n".join(wrapped(clean(result.sentence))))
    return ExitCode.DONE if result.verdict is Lasting.HELD else ExitCode.INCOMPLETE
