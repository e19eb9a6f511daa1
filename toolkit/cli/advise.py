"""`advise`: what to set after a run, what limits it, and what to measure next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out, out_json, say
from toolkit.cli.parameters import OUTPUT, Arguments, add_command, argument, option
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from toolkit.analysis.recommendation import Recommendation


def add_advise(app: typer.Typer) -> None:
    """Add the command."""
    parameters = [
        argument("run", "run id or its beginning, a label, `last` or `last:ctas`; `~1` after it: the one before"),
        option(
            "present",
            "levels that are set now, such as degree=2 (default: the server's settings, else the lowest)",
            metavar="LEVELS",
        ),
        option("worth", "gain that a larger degree must show to be recommended (default 5%)", metavar="PERCENT"),
        option("next", "write the experiment to run next to this file", metavar="FILE.toml"),
        *OUTPUT,
    ]
    examples = ("dbatk advise last", "dbatk advise last --present degree=1 --next next.toml")
    add_command(app, "advise", _advise, parameters, "Say what to set after a run, and what limits it.", examples)


def _advise(arguments: Arguments) -> int:
    from toolkit.analysis.choice import WORTH_PCT, parse_worth
    from toolkit.app.advising import advised
    from toolkit.store import open_store

    worth = arguments.text("worth")
    with open_store(arguments.text("store"), at_once=False) as store:
        found = advised(
            store,
            arguments.required("run"),
            WORTH_PCT if worth is None else parse_worth(worth),
            levels_of(arguments.text("present")),
        )
    file = _write_next(arguments, found)
    if arguments.flag("json"):
        from toolkit.analysis.documents import recommendation_document

        out_json(recommendation_document(found, file))
        return ExitCode.DONE
    from toolkit.report.recommendation import recommendation_text

    out(recommendation_text(found))
    if file is not None:
        say(f"wrote {file}; `dbatk run {file}` runs it")
    elif found.following is not None:
        say("hint: `--next FILE.toml` writes the experiment to run next")
    return ExitCode.DONE


def levels_of(text: str | None) -> dict[str, str]:
    """Read levels such as `degree=2,compression=none`.

    Raises:
        ToolkitError: TK-0102.
    """
    parts = {} if text is None else dict(part.partition("=")[::2] for part in text.split(","))
    if any(not name.strip() or not level.strip() for name, level in parts.items()):
        raise ToolkitError(
            f"`--present` cannot be `{text}`", code="TK-0102", hint="give factors and levels, such as `degree=2`"
        )
    return {name.strip(): level.strip() for name, level in parts.items()}


def _write_next(arguments: Arguments, found: Recommendation) -> str | None:
    """Write the next experiment where a file was named.

    Raises:
        ToolkitError: TK-0102 when there is nothing to measure next, or the file is there already.
    """
    name = arguments.text("next")
    if name is None:
        return None
    from toolkit.app.advising import write_next

    write_next(found, Path(name))
    return name
