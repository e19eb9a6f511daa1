"""`import`: numbers that others measured, and exported runs."""

from __future__ import annotations

from pathlib import Path

import typer

from toolkit.cli.output import out_json, say
from toolkit.cli.parameters import OUTPUT, Arguments, add_command, argument, option
from toolkit.errors import ExitCode
from toolkit.units import counted

_FILES = argument(
    "files",
    "of hyperfine, pgbench, sysbench, HammerDB, Swingbench, BenchBase, BenchBox or pytest-benchmark; CSV or TOML "
    "with one row a trial; or an exported run",
    kind=list[str],
    metavar="FILE...",
)
_JUDGE = option(
    "judge", "what configurations are compared by: elapsed, throughput, or a metric (tps:higher)", metavar="METRIC"
)


_MOST_SHOWN = 20
"""Runs of an import that are each said."""


def add_import(app: typer.Typer) -> None:
    """Add the command."""
    label = option("label", "name of the run")
    add_command(
        app, "import", _import, [_FILES, label, _JUDGE, *OUTPUT], "Import measurements of other programs as a run."
    )


def _import(arguments: Arguments) -> int:
    from toolkit.app.importing import import_files
    from toolkit.store import open_store

    paths = [Path(name) for name in arguments.texts("files")]
    with open_store(arguments.text("store"), at_once=False) as store:
        found = import_files(paths, store, arguments.text("label"), arguments.text("judge"))
    if arguments.flag("json"):
        out_json(
            {
                "runs": [
                    {
                        "run": one.run,
                        "kind": one.kind,
                        "trials": one.trials,
                        "configurations": one.configurations,
                        "warnings": list(one.warnings),
                    }
                    for one in found
                ]
            }
        )
        return ExitCode.DONE
    newest = found[-1].run  # `last` is the run that was begun last, and what others measured may be old
    for sentence in dict.fromkeys(sentence for one in found for sentence in one.warnings):
        say(f"note: {sentence}")
    if len(found) > _MOST_SHOWN:
        trials = sum(one.trials for one in found)
        say(f"{len(found):,} runs of {counted(trials, 'trial')} ({found[0].kind})")
        found = []
    for one in found:
        configurations = counted(one.configurations, "configuration")
        say(f"run {one.run}: {counted(one.trials, 'trial')} of {configurations} ({one.kind})")
    say(f"\nhint: `dbatk runs list`, `dbatk runs show {newest}`, `dbatk report {newest} --out report.html`")
    return ExitCode.DONE
