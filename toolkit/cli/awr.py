"""`awr show`: what AWR and Statspack reports in files say."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out, out_raw, say
from toolkit.cli.parameters import OUTPUT, Said, add_command, argument
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from toolkit.app.awr import Shown


def add_awr(awr: typer.Typer) -> None:
    """Add the commands."""
    files = argument("files", "AWR or Statspack reports, html or text", kind=list[str], metavar="FILE...")
    json_and_debug = [one for one in OUTPUT if one.name != "store"]
    add_command(awr, "show", _show, [files, *json_and_debug], "Show what AWR or Statspack reports say.")


def _show(said: Said) -> int:
    from toolkit.app.awr import show_reports

    shown = show_reports([Path(name) for name in said.texts("files")])
    return _documents(list(shown)) if said.flag("json") else _screens(shown)


def _documents(shown: list[Shown]) -> int:
    read = [one for one in shown if one.text]
    if len(shown) == 1 and not read:
        raise ToolkitError(shown[0].faults[0], code="TK-0113", hint=shown[0].hint)
    if len(shown) == 1:
        out_raw(read[0].text)
    else:
        out_raw('{"reports": [' + ",\n".join(one.text for one in read) + "]}")
    return _status(shown)


def _screens(shown: Iterable[Shown]) -> int:
    from toolkit.cli.awr_screen import screen

    seen: list[Shown] = []
    for one in shown:
        if one.text:
            if seen:
                out("")
            out(screen(one.document()))
        seen.append(one)
    return _status(seen)


def _status(shown: list[Shown]) -> int:
    """Say what is wrong with each file on standard error, and return the exit code."""
    for one in shown:
        for fault in one.faults:
            say(f"error: {fault} [TK-0113]")
        if one.hint:
            say(f"\nhint: {one.hint}")
        elif one.faults:
            say("\nhint: get the whole file as the database wrote it; what could be read of it is shown")
    return ExitCode.USAGE if any(one.faults for one in shown) else ExitCode.DONE
