"""Where the events of a run go: a terminal, and the lines of a log."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.cli.colours import on_terminal, painted
from toolkit.cli.output import fitted, plain, say
from toolkit.cli.parameters import Arguments, about, option
from toolkit.cli.passing import PassedOn, written
from toolkit.errors import ToolkitError
from toolkit.model.options import Topic
from toolkit.model.protocols import Event

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from toolkit.model.protocols import Events
    from toolkit.notify.lines import LogLines

_FORMATS = ("text", "json")
LOG = about(
    Topic.OUTPUT,
    option(
        "log_format",
        "format of messages on standard error: text or json, one per line",
        metavar="HOW",
        choices=_FORMATS,
    ),
    option("log_file", "append one JSON line per event to this file", metavar="FILE"),
)


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


def _is_quiet(arguments: Arguments) -> bool:
    return arguments.flag("quiet") or arguments.flag("quiet_when_ok")


@contextmanager
def listening(arguments: Arguments) -> Iterator[Events]:
    """Give what takes the events of a run, as `--quiet`, `--log-format` and `--log-file` say.

    Raises:
        ToolkitError: TK-0405 for a log file that cannot be written, TK-0102 for an unknown format.
    """
    on_screen = speaks_json(arguments)
    logs = list(_logs(arguments, on_screen=on_screen))
    file = None if "log_file" not in arguments else logs[-1]
    passed: list[PassedOn] = []
    try:
        with ExitStack() as open_:
            progress = open_.enter_context(Progress(quiet=_is_quiet(arguments) or on_screen))
            readers: list[Events] = [progress, *logs]
            # each in its time: a terminal that is halted halts no file
            passed += [open_.enter_context(PassedOn(each, on_stderr=each is not file)) for each in readers]
            yield _All(passed)
    finally:
        left_out = passed[-1].left_out if passed else 0
        if file is not None and (file.trouble is not None or left_out):
            why = (file.trouble or f"{left_out} were not taken in time").lower()
            say(f"warning: log lines were lost: {why}")


def log_error(error: ToolkitError, arguments: Sequence[str]) -> bool:
    """Write how a command ended to the logs its line names; return whether standard error has the message too.

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


SPARSE_SECONDS = 10.0
_STOP_SECONDS = 1.0
_BAR = 10
_SHOWN = frozenset({"part", "mode", "plan", "estimate", "setup", "waiting", "warning", "cleanup", "undo", "kept"})
_OF_ONE_RUN = frozenset({"mode", "estimate", "setup", "undo"})
"""What is shown of the run that a command does, but of none where it does several: each would say the same."""


_SHOWING: list[Live] = []
"""The live lines on the terminal now."""


@contextmanager
def paused() -> Iterator[None]:
    """Draw no live line while a person is asked: it would be drawn over the question and the answer."""
    written()
    held = tuple(_SHOWING)
    for one in held:
        one.stop()
    try:
        yield
    finally:
        for one in held:
            if one in _SHOWING:
                one.start()


def _stopped(live: Live) -> None:
    """Stop a live line; a terminal that takes nothing (Ctrl-S) is not waited for, nor written to any more."""
    stopping = threading.Thread(target=live.stop, daemon=True, name="stop")
    try:
        stopping.start()
    except RuntimeError:  # this host starts no more threads
        live.stop()
        return
    stopping.join(_STOP_SECONDS)
    if stopping.is_alive():
        sys.stderr = io.StringIO()


class Progress:
    """Takes the events of a run from any thread; a terminal that goes away is not the run's business."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._terminal = not quiet and on_terminal(sys.stderr)
        self._live: Live | None = None
        self._lock = threading.Lock()
        self._said_at = 0.0
        self._reasons: set[tuple[object, object]] = set()
        self._line = _Line()

    def __enter__(self) -> Progress:
        if self._terminal:
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, highlight=False, markup=False, emoji=False)
            self._live = Live(self._line, console=console, transient=True, refresh_per_second=4)
            self._live.start()
            _SHOWING.append(self._live)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            _SHOWING.remove(self._live)
            _stopped(self._live)

    def emit(self, event: Event) -> None:
        """Show an event, or keep it for the live line."""
        if self._quiet:
            return
        with self._lock:
            try:
                self._line.take(event)
                if self._worth_a_line(event):
                    self._print(_sentence(self._in_short(event)))
                if reason := _reason(event):
                    self._reasons.add(reason)
            except (OSError, ValueError):
                self._quiet = True

    def _in_short(self, event: Event) -> Event:
        """Leave the reason out of a trial that ended like one before: a long error is read once."""
        if _reason(event) not in self._reasons:
            return event
        return replace(event, text=event.text.replace(f"({event.data.get('reason')})", "(as before)"))

    def _worth_a_line(self, event: Event) -> bool:
        if event.kind in _SHOWN:
            in_result = event.data.get("in_result") is True and self._terminal and on_terminal(sys.stdout)
            return not in_result and not (event.kind in _OF_ONE_RUN and self._line.parts > 1)
        if event.kind != "trial-ended":
            return event.kind == "progress" and not self._terminal and self._due()
        if event.data.get("outcome") != "ok" and _reason(event) not in self._reasons:
            self._said_at = time.monotonic()
            return True  # the result says how many more ended so
        return not self._terminal and self._due()

    def _due(self) -> bool:
        now = time.monotonic()
        if self._said_at and now - self._said_at < SPARSE_SECONDS:
            return False
        self._said_at = now
        return True

    def _print(self, text: str) -> None:
        if self._live is None:
            say(text)
            return
        from rich.text import Text

        shown = painted(fitted(plain(text), sys.stderr), sys.stderr)
        self._live.console.print(Text.from_ansi(shown), soft_wrap=True)


def _reason(event: Event) -> tuple[object, object] | None:
    """Return how a trial ended and why, None where no reason is told."""
    reason = event.data.get("reason") if event.kind == "trial-ended" else None
    return (event.data.get("outcome"), reason) if reason else None


def _sentence(event: Event) -> str:
    if event.kind == "warning":
        return f"warning: {event.text}"
    if event.kind == "progress" and event.data.get("outcome"):
        return f"{event.text}: {event.data['outcome']}"
    if event.kind != "trial-ended":
        return event.text
    total, ended = event.data.get("total"), event.data.get("ended")
    place = f"[{ended}/{total}] " if total else ""
    seconds = event.data.get("elapsed_seconds")
    took = f" in {_spell(float(seconds))}" if isinstance(seconds, int | float) else ""
    return f"{place}{event.text}{took}"


def _spell(seconds: float) -> str:
    from toolkit.units import seconds as spell

    return spell(seconds)


class _Line:
    """The live line: how far the whole is and how long it will take, what runs now and how far that is.

    The whole is a run, or the runs that a command does one after the other (events `part`), of which those to come
    are taken to last as long as the others on average.
    """

    def __init__(self) -> None:
        self._ended = 0
        self._total = 0
        self._now = ""
        self._eta: float | None = None
        self._eta_at = 0.0
        self._begun = self._part_begun = time.monotonic()
        self._part, self.parts = 1, 1
        self._part_seconds = 0.0
        self._statement = ""

    def take(self, event: Event) -> None:
        if event.kind == "part":
            self._take_part(event)
        if event.kind in {"statement-progress", "trial-begun", "trial-ended"}:
            self._statement = _bar(event.data)
        ended, total, eta = event.data.get("ended"), event.data.get("total"), event.data.get("eta_seconds")
        if isinstance(ended, int) and isinstance(total, int):
            self._ended, self._total = ended, total
        if isinstance(eta, int | float):
            self._eta, self._eta_at = float(eta), time.monotonic()
        if event.kind in {"part", "trial-begun", "progress", "setup", "waiting"}:
            self._now = event.text

    def _take_part(self, event: Event) -> None:
        part, parts, now = event.data.get("part"), event.data.get("parts"), time.monotonic()
        if isinstance(part, int) and isinstance(parts, int):
            self._part_seconds += now - self._part_begun if part > 1 else 0.0
            self._part, self.parts, self._part_begun = part, parts, now
            self._ended, self._total, self._eta = 0, 0, None

    def _left(self, now: float) -> float | None:
        """Return how long the whole will take from now; None while nothing tells."""
        of_part, earlier = now - self._part_begun, self._part - 1
        if self._eta is not None:
            own = max(0.0, self._eta - (now - self._eta_at))
            usual = (self._part_seconds + of_part + own) / self._part
        elif earlier:
            usual = self._part_seconds / earlier
            own = max(0.0, usual - of_part)
        else:
            return None
        return own + (self.parts - self._part) * usual

    def _whole(self, now: float, left: float | None) -> str:
        """Draw how far the whole is, by time where it is known; full only when nothing is left to do."""
        if left is not None:
            share = (now - self._begun) / max(now - self._begun + left, 0.001)
        elif self._total:
            share = (self._part - 1 + self._ended / self._total) / self.parts
        else:
            return ""
        ended = self._part == self.parts and 0 < self._total == self._ended
        return _drawn(100 if ended else min(99.0, 100 * share))

    def __rich_console__(self, console: Console, options: object) -> list[Text]:
        from rich.text import Text

        now = time.monotonic()
        left = self._left(now)
        parts = [
            self._whole(now, left),
            f"{self._part}/{self.parts}" if self.parts > 1 else "",
            f"{self._ended}/{self._total} trials" if self._total else "",
            "" if left is None else f"about {_clock(left)} left",
            f"{_clock(now - self._begun)} so far",
            plain(self._now),
            self._statement,
        ]
        text = Text("  ".join(part for part in parts if part), no_wrap=True, overflow="ellipsis")
        if text.cell_len >= console.width:  # it ends with the last word that has room
            text.truncate(console.width - 2)
            text = Text(text.plain.rpartition(" ")[0].rstrip() + " …")
        return [text]


def _bar(data: Mapping[str, object]) -> str:
    """Draw how far a statement is: `[######----] 61 % Sort Output, 0:31 left`; nothing without a percentage."""
    percent, left = data.get("percent"), data.get("seconds_left")
    if not isinstance(percent, int | float):
        return ""
    text = f"{_drawn(percent)} {percent:.0f} % {data.get('operation') or ''}".rstrip()
    return f"{plain(text)}, {_clock(left)} left" if isinstance(left, int | float) and left >= 0 else plain(text)


def _drawn(percent: float) -> str:
    filled = int(percent * _BAR / 100)
    return f"[{'#' * filled}{'-' * (_BAR - filled)}]"


def _clock(seconds: float) -> str:
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
