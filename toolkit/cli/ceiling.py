"""`ceiling`: what the host of a target can do at most."""

from __future__ import annotations

import math
from pathlib import Path

import typer

from toolkit.cli.output import out, out_json, say
from toolkit.cli.parameters import OUTPUT, TARGET, Arguments, add_command, option
from toolkit.errors import ExitCode, ToolkitError


def add_ceiling(app: typer.Typer) -> None:
    """Add the command."""
    parameters = [
        TARGET,
        option(
            "folder", "folder on the disk to measure: a file is written, read and removed there", metavar="DIR"
        ),
        option("size", "size of that file (default 1G; a tenth of the disk stays free)", metavar="1G"),
        option("seconds", "how long each thing is measured (default 5)", metavar="SECONDS"),
        option("no_fio", "measure I/O by dbatk itself, even where fio is installed", kind=bool),
        *OUTPUT,
    ]
    examples = ("dbatk ceiling -t duckdb:///big.duckdb --folder /u02/oradata", "dbatk ceiling -t orcl --json")
    help = "Measure what the host of a target can do at most: I/O in a folder, CPU, memory."
    add_command(app, "ceiling", _ceiling, parameters, help, examples)


def _ceiling(arguments: Arguments) -> int:
    from toolkit.app.ceilings import measure
    from toolkit.cli.launch import named_target, reach
    from toolkit.snapshots.ceilings import CeilingRequest
    from toolkit.store import open_store
    from toolkit.units import parse_bytes, quantity

    target, folder, size = named_target(arguments.text("target")), arguments.text("folder"), arguments.text("size")
    if size is not None and folder is None:
        raise ToolkitError(
            "`--size` needs `--folder`", code="TK-0107", hint="name a folder on the disk to measure"
        )
    wanted = CeilingRequest(
        None if folder is None else Path(folder),
        2**30 if size is None else parse_bytes(size),
        _seconds(arguments.text("seconds")),
        not arguments.flag("no_fio"),
    )
    resolved = reach(target)
    try:
        with open_store(arguments.text("store")) as store:
            found = measure(store, resolved, target, wanted)
    finally:
        resolved.target.close()
    if arguments.flag("json"):
        ceilings = [
            {"name": one.name, "value": one.value, "unit": one.unit, "how": one.how, "at": one.at.isoformat()}
            for one in found.ceilings
        ]
        out_json({"host": dict(found.host), "ceilings": ceilings})
        return ExitCode.DONE
    for one in found.ceilings:
        out(f"{one.name:<8}{quantity(one.value, one.unit):>12}  {one.how}")
    if folder is None:
        say("note: I/O was not measured; `--folder DIR` names a folder on the disk to measure")
    return ExitCode.DONE


def _seconds(text: str | None) -> float:
    try:
        value = 5.0 if text is None else float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ToolkitError(f"`--seconds` cannot be `{text}`", code="TK-0102", hint="give a number, such as `5`")
    return value
