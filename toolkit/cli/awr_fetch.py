"""`awr fetch`: Oracle's own reports of a range of AWR snapshots, as files."""

from __future__ import annotations

from pathlib import Path

import typer

from toolkit.cli.output import out_json, out_raw, say
from toolkit.cli.parameters import OUTPUT, TARGET, Arguments, add_command, argument, option
from toolkit.errors import ExitCode, ToolkitError

_TEXT = frozenset({".txt", ".lst", ".text", ".log"})


def add_fetch(awr: typer.Typer) -> None:
    """Add the command."""
    parameters = [
        argument("range", "two AWR snapshots: 101-104"),
        TARGET,
        option("out", "file to write; `.txt` gets the text report", metavar="FILE"),
        option("diff", "a second range: Oracle's own comparison of the two", metavar="105-108"),
        option("whole", "of the whole cluster, not of this instance", "--global", kind=bool),
        option("pdb", "the snapshots of this pluggable database itself", kind=bool),
        *(one for one in OUTPUT if one.name != "store"),
    ]
    add_command(awr, "fetch", _fetch, parameters, "Fetch Oracle's own AWR report of a range of snapshots.")


def _fetch(arguments: Arguments) -> int:
    from toolkit.app.intervals.ranges import fetch_report, range_of
    from toolkit.app.results import write_file
    from toolkit.cli.launch import reach

    asked, text = range_of(arguments.required("range")), arguments.text("diff")
    other = None if text is None else range_of(text)
    target = asked.target or arguments.text("target")
    if asked.target and arguments.text("target"):
        raise ToolkitError(
            "two targets are named", code="TK-0107", hint="leave out `-t`, or the name in the range"
        )
    name = arguments.text("out")
    path = None if name in {None, "-"} else Path(str(name))
    resolved = reach(target)
    try:
        report = fetch_report(
            resolved, asked, other=other, whole=arguments.flag("whole"), container=arguments.flag("pdb"),
            html=path is None or path.suffix.lower() not in _TEXT,
        )  # fmt: skip
    finally:
        resolved.target.close()
    if path is None:
        out_raw(report)
        return ExitCode.DONE
    write_file(path, report, private=True)
    if arguments.flag("json"):
        out_json({"file": str(path), "begin_snapshot": asked.first, "end_snapshot": asked.last})
    else:
        say(f"wrote {path}")
    return ExitCode.DONE
