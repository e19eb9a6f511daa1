"""`noise`: how much the times of a database vary, and so what two runs made at different times can show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out, out_json, out_table, say
from toolkit.cli.parameters import APPROVALS, OUTPUT, QUIET, TARGET, Arguments, add_command, option
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from toolkit.analysis.noise_table import NoiseRow
    from toolkit.store import Store

_MOST_RUNS = 100


def add_noise(app: typer.Typer) -> None:
    """Add the command."""
    measure = option("measure", "first run this experiment file several times, unchanged", metavar="FILE.toml")
    runs = option("runs", "with --measure: number of runs (default 13)", kind=int, metavar="N")
    parameters = [TARGET, measure, runs, *APPROVALS, QUIET, *OUTPUT]
    add_command(app, "noise", _noise, parameters, "Show how much identical work varies from run to run.")


def _noise(arguments: Arguments) -> int:
    from toolkit.store import open_store

    with open_store(arguments.text("store"), at_once=False) as store:
        status = _measure(arguments, store)
        if status != ExitCode.DONE:
            return status
        return _show(arguments, store)


def _measure(arguments: Arguments, store: Store) -> int:
    """Run the file of `--measure`; return the exit status of the first run that did not end well."""
    from toolkit.analysis.noise import FEWEST_RUN_DEGREES

    name, runs = arguments.text("measure"), arguments.number("runs")
    if name is None:
        if runs is not None:
            raise ToolkitError("`--runs` needs `--measure`", code="TK-0107", hint="give an experiment file")
        return ExitCode.DONE
    from toolkit.app.results import ended_well, find_run
    from toolkit.cli.launch import reach, run_on
    from toolkit.design.file import load_experiment
    from toolkit.design.searchable import refuse_search
    from toolkit.model.words import Mode

    runs = FEWEST_RUN_DEGREES + 1 if runs is None else runs
    if not 1 <= runs <= _MOST_RUNS:
        raise ToolkitError(f"`--runs` cannot be {runs}", code="TK-0102", hint=f"from 1 to {_MOST_RUNS}")
    file = Path(name)
    experiment = load_experiment(file, target=arguments.text("target"))
    if experiment.mode is Mode.JOB:
        raise ToolkitError(
            f"`{name}` is a job: to repeat it would do the work again",
            code="TK-0107",
            hint="add `repeat = 3` to it",
        )
    refuse_search(experiment, "a run of identical work")
    resolved = reach(experiment.target)
    try:
        for number in range(1, runs + 1):
            say(f"run {number} of {runs}")
            record = find_run(store, run_on(experiment, resolved, store, arguments))
            if not ended_well(record):
                say(f"warning: run {record.head.run} did not end well: `dbatk runs show {record.head.run}`")
                return ExitCode.INCOMPLETE
    finally:
        resolved.target.close()
    return ExitCode.DONE


def _show(arguments: Arguments, store: Store) -> int:
    from toolkit.analysis.noise_table import noise_document, noise_rows
    from toolkit.app.history import runs_of_target
    from toolkit.cli.launch import named_target

    target = named_target(arguments.text("target"))
    rows = noise_rows(runs_of_target(store, target))
    if arguments.flag("json"):
        out_json(noise_document(target, rows))
        return ExitCode.DONE
    _table(rows)
    return ExitCode.DONE


def _table(rows: tuple[NoiseRow, ...]) -> None:
    from toolkit.analysis.doubts import spelled_difference
    from toolkit.analysis.noise import FEWEST_RUN_DEGREES, pct_of, spelled_span
    from toolkit.analysis.noise_table import USUAL_REPEATS
    from toolkit.units import MISSING, percent

    columns = ("operation", "size", "runs", "in a sweep", "sweeps", "runs of a day", "days", "detects")
    shown = [
        (
            row.operation, row.size, str(row.runs), percent(row.within_sweep_pct), percent(row.between_sweeps_pct),
            percent(row.between_runs_pct), percent(row.between_days_pct),
            MISSING if row.detectable_pct is None else spelled_difference(row.detectable_pct),
        )
        for row in rows
    ]  # fmt: skip
    out_table(columns, shown)
    out(
        "\nStandard deviations: of trials in a sweep, between sweeps of a run, between runs of identical work on "
        "one day and on different days. Detects: the difference between two runs of "
        f"{USUAL_REPEATS} trials that is found in 80 %."
    )
    for row in rows:
        noise, of = row.noise, f"{row.operation}, {row.size}"
        if row.detectable_pct is None:
            out(
                f"- {of}: two runs cannot carry a verdict yet; {noise.spread.degrees + 1 if noise.runs else 0} of "
                f"{FEWEST_RUN_DEGREES + 1} runs of identical work are stored (`--measure FILE.toml` adds some)"
            )
        else:
            out(
                f"- {of}: of {noise.runs} runs of identical work two differed by up to "
                f"{spelled_difference(pct_of(noise.spread.widest))}; they were made within "
                f"{spelled_span(noise.span_seconds)}"
            )
