"""`account` and `history`: what became of a plan, one night and night by night."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from toolkit.cli.output import out, out_json, say
from toolkit.cli.parameters import OUTPUT, Arguments, add_command, argument, option
from toolkit.errors import ExitCode, ToolkitError

_FORMATS = ("text", "html", "json")
_PLAN = option("plan", "nights of this plan only", metavar="NAME")


def add_run_reports(app: typer.Typer) -> None:
    """Add the commands."""
    night = argument("night", "id of a plan's run or the beginning of one, or `last`")
    file = option("out", "file to write", metavar="FILE")
    form = option("format", "text, html or json", metavar="FORMAT")
    add_command(
        app, "account", _run_report, [night, _PLAN, file, form, *OUTPUT], "Tell what became of a plan in a night."
    )
    step = argument("step", "step of a plan")
    add_command(
        app, "history", _history, [step, _PLAN, *OUTPUT], "Show the times of a plan's step, night by night."
    )


def _run_report(arguments: Arguments) -> int:
    from toolkit.app.maintenance.run_reports import find_night, report_of
    from toolkit.report.run_report import run_report_document, run_report_page, run_report_text
    from toolkit.store import open_store

    file = arguments.text("out")
    form = _format(arguments, file)
    with open_store(arguments.text("store")) as store:
        report = report_of(store, find_night(store, arguments.required("night"), arguments.text("plan")))
    if form == "json" and file is None:
        out_json(run_report_document(report))
        return ExitCode.DONE
    if file is None and form == "text":
        out(run_report_text(report).rstrip())
        return ExitCode.DONE
    from toolkit.app.files import write_file

    if file is None:
        raise ToolkitError("a page needs a file", code="TK-0107", hint="add `--out account.html`")
    content = {
        "text": lambda: run_report_text(report),
        "html": lambda: run_report_page(report),
        "json": lambda: json.dumps(run_report_document(report), ensure_ascii=False, indent=2) + "\n",
    }[form]()
    write_file(Path(file), content)
    say(f"wrote {file}")
    return ExitCode.DONE


def _format(arguments: Arguments, file: str | None) -> str:
    """Return the format named, else by the file's suffix, else text."""
    form = arguments.text("format")
    if arguments.flag("json"):
        form = "json"
    if form is None:
        form = (
            {".html": "html", ".htm": "html", ".json": "json"}.get(Path(file).suffix.lower(), "text")
            if file
            else "text"
        )
    if form not in _FORMATS:
        raise ToolkitError(f"there is no format `{form}`", code="TK-0102", hint="one of " + ", ".join(_FORMATS))
    return form


def _history(arguments: Arguments) -> int:
    from toolkit.app.maintenance.run_reports import trends
    from toolkit.report.run_report import trends_document, trends_text
    from toolkit.store import open_store

    with open_store(arguments.text("store")) as store:
        found = trends(store, arguments.required("step"), arguments.text("plan"))
    if arguments.flag("json"):
        out_json(trends_document(found))
    else:
        out(trends_text(found).rstrip())
    return ExitCode.DONE
