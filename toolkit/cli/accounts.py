"""`account` and `history`: what became of a plan, one night and night by night."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from toolkit.cli.output import out, out_json, say
from toolkit.cli.parameters import OUTPUT, Said, add_command, argument, option
from toolkit.errors import ExitCode, ToolkitError

_FORMATS = ("text", "html", "json")
_PLAN = option("plan", "nights of this plan only", metavar="NAME")


def add_accounts(app: typer.Typer) -> None:
    """Add the commands."""
    night = argument("night", "id of a plan's run or the beginning of one, or `last`")
    file = option("out", "file to write", metavar="FILE")
    form = option("format", "text, html or json", metavar="FORMAT")
    add_command(
        app, "account", _account, [night, _PLAN, file, form, *OUTPUT], "Tell what became of a plan in a night."
    )
    step = argument("step", "step of a plan")
    add_command(
        app, "history", _history, [step, _PLAN, *OUTPUT], "Show the times of a plan's step, night by night."
    )


def _account(said: Said) -> int:
    from toolkit.app.maintenance.accounts import account_of_night, find_night
    from toolkit.report.account import account_document, account_page, account_text
    from toolkit.store import open_store

    file = said.text("out")
    form = _format(said, file)
    with open_store(said.text("store")) as store:
        account = account_of_night(store, find_night(store, said.required("night"), said.text("plan")))
    if form == "json" and file is None:
        out_json(account_document(account))
        return ExitCode.DONE
    if file is None and form == "text":
        out(account_text(account).rstrip())
        return ExitCode.DONE
    from toolkit.app.results import write_file

    if file is None:
        raise ToolkitError("a page needs a file", code="TK-0107", hint="add `--out account.html`")
    content = {
        "text": lambda: account_text(account),
        "html": lambda: account_page(account),
        "json": lambda: json.dumps(account_document(account), ensure_ascii=False, indent=2) + "\n",
    }[form]()
    write_file(Path(file), content)
    say(f"wrote {file}")
    return ExitCode.DONE


def _format(said: Said, file: str | None) -> str:
    """Return the format named, else by the file's suffix, else text."""
    form = said.text("format")
    if said.flag("json"):
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


def _history(said: Said) -> int:
    from toolkit.app.maintenance.accounts import trends
    from toolkit.report.account import trends_document, trends_text
    from toolkit.store import open_store

    with open_store(said.text("store")) as store:
        found = trends(store, said.required("step"), said.text("plan"))
    if said.flag("json"):
        out_json(trends_document(found))
    else:
        out(trends_text(found).rstrip())
    return ExitCode.DONE
