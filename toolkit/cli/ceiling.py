"""`ceiling`: what the host of a target can do at most."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out, out_json, say
from toolkit.cli.parameters import (
    ALLOW_PRODUCTION,
    NOT_PRODUCTION,
    OUTPUT,
    TARGET,
    Arguments,
    add_command,
    option,
)
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from toolkit.app.ceilings import CalibrationRequest


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
        option(
            "calibrate_io",
            "Oracle: run CALIBRATE_IO, which reads all data files as fast as it can for minutes, and changes "
            "automatic degrees",
            kind=bool,
        ),
        option("disks", "with --calibrate-io: about how many disks the database is on", kind=int, metavar="N"),
        option(
            "max_latency",
            "with --calibrate-io: the most that the read of a block may take, in ms (default 20)",
            kind=int,
            metavar="MS",
        ),
        NOT_PRODUCTION,
        ALLOW_PRODUCTION,
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

    calibrate = _calibration(arguments)
    target, folder, size = named_target(arguments.text("target")), arguments.text("folder"), arguments.text("size")
    if size is not None and folder is None:
        raise ToolkitError(
            "`--size` needs `--folder`", code="TK-0107", hint="name a folder on the disk to measure"
        )
    if folder == "":
        raise ToolkitError("`--folder` is empty", code="TK-0102", hint="name a folder, as `.` for this one")
    wanted = CeilingRequest(
        None if folder is None else Path(folder).absolute(),
        2**30 if size is None else parse_bytes(size),
        _seconds(arguments.text("seconds")),
        not arguments.flag("no_fio"),
    )
    resolved = reach(target)
    try:
        with open_store(arguments.text("store"), at_once=False) as store:
            found = measure(store, resolved, target, wanted, calibrate)
    finally:
        resolved.target.close()
    if arguments.flag("json"):
        ceilings = [
            {"name": one.name, "value": one.value, "unit": one.unit, "how": one.how, "at": one.at.isoformat()}
            for one in found.ceilings
        ]
        out_json({"host": dict(found.host), "ceilings": ceilings, "warnings": list(found.sentences)})
        return ExitCode.DONE
    for one in found.ceilings:
        out(f"{one.name:<15}{quantity(one.value, one.unit):>12}  {one.how}")
    for sentence in found.sentences:
        say(f"warning: {sentence}")
    if folder is None and found.host:
        say("note: I/O was not measured; `--folder DIR` names a folder on the disk to measure")
    return ExitCode.DONE


def _calibration(arguments: Arguments) -> CalibrationRequest | None:
    disks, latency_ms = arguments.number("disks"), arguments.number("max_latency")
    if not arguments.flag("calibrate_io"):
        for name, value in (("disks", disks), ("max-latency", latency_ms)):
            if value is not None:
                raise ToolkitError(
                    f"`--{name}` needs `--calibrate-io`", code="TK-0107",
                    hint="add it, or omit the number: without it the host is measured",
                )  # fmt: skip
        return None
    if disks is None or not 1 <= disks <= 10_000:
        raise ToolkitError(
            "`--calibrate-io` needs `--disks`, 1 to 10,000", code="TK-0107",
            hint="say about how many disks the database is on: `--disks 8`",
        )  # fmt: skip
    latency_ms = 20 if latency_ms is None else latency_ms
    if not 1 <= latency_ms <= 1000:
        raise ToolkitError(
            f"`--max-latency` cannot be {latency_ms}", code="TK-0102", hint="give 1 to 1000 milliseconds"
        )
    from toolkit.app.ceilings import CalibrationRequest
    from toolkit.cli.approving import approvals_of

    return CalibrationRequest(disks, latency_ms, approvals_of(arguments))


def _seconds(text: str | None) -> float:
    try:
        value = 5.0 if text is None else float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ToolkitError(f"`--seconds` cannot be `{text}`", code="TK-0102", hint="give a number, such as `5`")
    return value
