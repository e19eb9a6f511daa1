"""`demo` and `run`: what begins from nothing or from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.listening import LOG
from toolkit.cli.output import out, out_json, say
from toolkit.cli.parameters import (
    APPROVALS,
    APPROVED_ONLY,
    OUTPUT,
    QUIET,
    SCRIPT,
    TARGET,
    Arguments,
    add_command,
    argument,
    option,
)
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from toolkit.model.experiment import Experiment
    from toolkit.model.plan import MaintenancePlan

_FILE = argument("file", "experiment or plan file (TOML)")
_DEMO_SECONDS = 55.0


def add_files(app: typer.Typer) -> None:
    """Add the commands."""
    where = option("out", "folder for the data and report.html (default ./dbatk-demo)", metavar="DIR")
    json_and_debug = [one for one in OUTPUT if one.name != "store"]
    add_command(
        app, "demo", _demo, [where, QUIET, *json_and_debug], "Try dbatk on embedded data, in about a minute."
    )
    label = option("label", "name of the run")
    anytime = option("anytime", "run a plan even if its window is closed", kind=bool)
    on = option("on", "cluster whose workers run the plan", metavar="dask://HOST:PORT")
    run = [_FILE, TARGET, label, anytime, on, APPROVED_ONLY, *SCRIPT, *APPROVALS, QUIET, *LOG, *OUTPUT]
    add_command(app, "run", _run, run, "Run an experiment file, or a maintenance plan.")


def _demo(arguments: Arguments) -> int:
    from toolkit.app.demo import run_demo
    from toolkit.cli.progress import Progress

    folder = Path(arguments.text("out") or "dbatk-demo")
    with Progress(quiet=arguments.flag("quiet")) as progress:
        result = run_demo(folder, events=progress, seconds=_DEMO_SECONDS)
    if arguments.flag("json"):
        document = {"runs": list(result.run_ids), "report": str(result.report), "store": str(result.store)}
        out_json(document)
    else:
        out(result.text)
        say(f"\nreport written to {result.report}")
        say(f"\nhint: `dbatk runs list --store {result.store}` lists its runs; then try `dbatk ctas --help`")
    return ExitCode.DONE


def _run(arguments: Arguments) -> int:
    if arguments.flag("approved_only") and arguments.flag("dry_run"):
        raise ToolkitError(
            "`--approved-only` and `--dry-run` are mutually exclusive", code="TK-0107", hint="use only one of them"
        )
    plan = read_maintenance_plan(arguments)
    if plan is not None:
        from toolkit.cli.maintenance import run_maintenance

        return run_maintenance(plan, arguments)
    from toolkit.cli.launch import launch

    if arguments.flag("anytime"):
        raise ToolkitError("`--anytime` is for plans only: an experiment has no window", code="TK-0107")
    if "on" in arguments:
        raise ToolkitError("`--on` is for plans only: an experiment runs from this host", code="TK-0107")
    return launch(read_experiment(arguments), arguments, file=Path(arguments.required("file")))


def read_maintenance_plan(arguments: Arguments) -> MaintenancePlan | None:
    """Return the plan that the file is, or None when it is an experiment."""
    from toolkit.design.plan_file import is_plan, read_plan
    from toolkit.documents import read_document

    path = Path(arguments.required("file"))
    document = read_document(path)
    if not is_plan(document):
        return None
    if "label" in arguments:
        raise ToolkitError("a plan has a name and does not accept `--label`", code="TK-0107", hint="omit it")
    return read_plan(document, path.parent, target=arguments.text("target"))


def read_experiment(arguments: Arguments) -> Experiment:
    from dataclasses import replace

    from toolkit.design.build import check_label
    from toolkit.design.file import load_experiment

    experiment = load_experiment(Path(arguments.required("file")), target=arguments.text("target"))
    label = arguments.text("label")
    check_label(label)
    return experiment if label is None else replace(experiment, label=label)
