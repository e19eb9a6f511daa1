"""`awr show`: what AWR and Statspack reports in files say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.intervals import MASK, add_intervals, pseudonyms
from toolkit.cli.output import out, out_raw, say
from toolkit.cli.parameters import OUTPUT, Arguments, add_command, argument
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from toolkit.app.intervals.show import Shown


def add_awr(awr: typer.Typer) -> None:
    """Add the commands."""
    files = argument("files", "AWR or Statspack reports, html or text", kind=list[str], metavar="FILE...")
    json_and_debug = [one for one in OUTPUT if one.name != "store"]
    add_command(awr, "show", _show, [files, *MASK, *json_and_debug], "Show what AWR or Statspack reports say.")
    add_intervals(awr)


def _show(arguments: Arguments) -> int:
    from toolkit.app.intervals.show import masked_reports, show_reports

    files = [Path(name) for name in arguments.texts("files")]
    names = pseudonyms(arguments)
    shown = show_reports(files) if names is None else masked_reports(files, names)
    if not arguments.flag("json"):
        return _screens(shown)
    return _document(next(iter(shown))) if len(files) == 1 else _documents(shown)


def _document(shown: Shown) -> int:
    if not shown.text:
        raise ToolkitError(shown.faults[0], code="TK-0113", hint=shown.hint)
    out_raw(shown.text)
    return _status([shown])


def _documents(shown: Iterable[Shown]) -> int:
    """Print each document as soon as it is read, so that a thousand reports need no more memory than a few."""
    seen: list[Shown] = []
    before = '{"reports": ['
    for one in shown:
        if one.text:
            out_raw(before + one.text)
            before = ","
        seen.append(replace(one, text=""))
    out_raw("]}" if before == "," else before + "]}")
    return _status(seen)


def _screens(shown: Iterable[Shown]) -> int:
    from toolkit.cli.awr_screen import screen

    seen: list[Shown] = []
    printed = False
    for one in shown:
        if one.text:
            if printed:
                out("")
            printed = True
            out(screen(one.document()))
        seen.append(replace(one, text=""))
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
