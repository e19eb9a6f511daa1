"""`datapump read`."""

from __future__ import annotations

from pathlib import Path

import typer

from toolkit.cli.output import out, out_json
from toolkit.cli.parameters import OUTPUT, Arguments, add_command, argument


def add_datapump(datapump: typer.Typer) -> None:
    """Add the commands of the group that are no operation."""
    files = argument("files", "logs of expdp, impdp or DBMS_DATAPUMP", kind=list[str], metavar="LOG...")
    json_and_debug = [one for one in OUTPUT if one.name != "store"]
    add_command(
        datapump, "read", _read, [files, *json_and_debug],
        "Show what logs of Data Pump say: rows of each table, errors, and how the job ended.",
    )  # fmt: skip


def _read(arguments: Arguments) -> int:
    from toolkit.app.datapump_logs import read_dumps

    found = read_dumps([Path(name) for name in arguments.texts("files")])
    if arguments.flag("json"):
        documents = [one.document() for one in found]
        out_json(documents[0] if len(documents) == 1 else {"logs": documents})
    else:
        for one in found:
            for line in one.lines():
                out(line)
    return max(one.exit_code for one in found)
