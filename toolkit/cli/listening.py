"""Where the events of a run go: a terminal, and the lines of a log."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.cli.output import say
from toolkit.cli.parameters import Arguments, option
from toolkit.errors import ToolkitError

if TYPE_CHECKING:
    from toolkit.model.protocols import Event, Events
    from toolkit.notify.lines import LogLines

LOG = (
    option("log_format", "format of messages on standard error: text or json, one per line", metavar="HOW"),
    option("log_file", "append one JSON line per event to this file", metavar="FILE"),
)
_FORMATS = ("text", "json")


def speaks_json(arguments: Arguments) -> bool:
    """Whether standard error carries JSON lines, and so nothing else.

    Raises:
        ToolkitError: TK-0102 for a format that is none.
    """
    text = arguments.text("log_format")
    if text is not None and text not in _FORMATS:
        from toolkit.documents import did_you_mean

        hint = did_you_mean(text, _FORMATS) or "text or json"
        raise ToolkitError(f"`--log-format` cannot be `{text}`", code="TK-0102", hint=hint)
    return text == "json"


@contextmanager
def listening(arguments: Arguments) -> Iterator[Events]:
    """Give what takes the events of a run, as `--quiet`, `--log-format` and `--log-file` say.

    Raises:
        ToolkitError: TK-0405 for a log file that cannot be written, TK-0102 for an unknown format.
    """
    from toolkit.cli.progress import Progress

    on_screen = speaks_json(arguments)
    logs = list(_logs(arguments, on_screen=on_screen))
    file = None if "log_file" not in arguments else logs[-1]
    try:
        with Progress(quiet=arguments.flag("quiet") or on_screen) as progress:
            yield _All([progress, *logs])
    finally:
        if file is not None and file.trouble is not None:
            say(f"warning: log lines were lost: {file.trouble.lower()}")


def log_error(error: ToolkitError, arguments: Sequence[str]) -> bool:
    """Write how a command ended to the logs its line names; return whether standard error has been told so.

    The arguments are looked at as they were typed: the line may be what is wrong.
    """
    from toolkit.notify.lines import LogLines, appending

    file, how = _last_value(arguments, "--log-file"), _last_value(arguments, "--log-format")
    if file is not None:
        with suppress(ToolkitError):
            LogLines(appending(Path(file))).error(error)
    if how == "json":
        LogLines(_to_stderr).error(error)
    return how == "json"


def _last_value(arguments: Sequence[str], flag: str) -> str | None:
    found = None
    for at, word in enumerate(arguments):
        if word == flag and at + 1 < len(arguments):
            found = arguments[at + 1]
        elif word.startswith(f"{flag}="):
            found = word.partition("=")[2]
    return found


def _logs(arguments: Arguments, *, on_screen: bool) -> Iterator[LogLines]:
    if not on_screen and "log_file" not in arguments:
        return
    from toolkit.notify.lines import LogLines, appending

    if on_screen:
        yield LogLines(_to_stderr)
    file = arguments.text("log_file")
    if file is not None:
        yield LogLines(appending(Path(file)))


def _to_stderr(line: str) -> None:
    sys.stderr.write(line)
    sys.stderr.flush()


class _All:
    """Tells everybody."""

    def __init__(self, each: Sequence[Events]) -> None:
        self._each = each

    def emit(self, event: Event) -> None:
        for one in self._each:
            one.emit(event)
