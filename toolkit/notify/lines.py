"""Lines of a log, one JSON object each, for what collects logs (journald, Loki, Splunk, Elastic).

Every line is written on its own, at the end of the file as it then is, so that rotation by the system (`logrotate`
with or without `copytruncate`) needs no signal to us, and several processes may share a file.
"""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from toolkit.documents import open_to_write
from toolkit.errors import ToolkitError
from toolkit.model.protocols import Event

Write = Callable[[str], None]
_FOR_EYES = frozenset({"statement-progress"})
"""Said several times a second, for a bar on a terminal."""
_IDS = ("plan_run", "run", "step", "target", "trial")
_BAD = frozenset({"failed", "interrupted", "stopped"})
_DOUBTFUL = frozenset({"downgraded", "unsupported", "skipped"})


def _utc_now() -> datetime:
    return datetime.now(UTC)


class LogLines:
    """Takes events and writes a line for each: time in UTC, level, what, and the ids that it names."""

    def __init__(self, write: Write, *, now: Callable[[], datetime] = _utc_now) -> None:
        self._write = write
        self._now = now
        self._plan_run: str | None = None
        self._runs: set[str] = set()
        self._lock = threading.Lock()
        self.trouble: str | None = None
        """Why lines were lost, once they were."""

    def emit(self, event: Event) -> None:
        """Write an event; what cannot be written never disturbs the work."""
        if event.kind in _FOR_EYES:
            return
        data = dict(event.data)
        self._line(_level(event), event.kind, event.text, {**self._ids(event), **data})

    def error(self, error: ToolkitError) -> None:
        """Write how it all ended, where it ended by an error."""
        data: dict[str, object] = {"code": error.code, "hint": error.hint, "database_code": error.database_code}
        self._line("error", "error", error.message, {**self._ids(None), **data})

    def _ids(self, event: Event | None) -> dict[str, object]:
        """Return the plan's execution, and of an error the run that it ended, if only one was at work."""
        with self._lock:
            if event is None:
                only = next(iter(self._runs)) if len(self._runs) == 1 else None
                return {"plan_run": self._plan_run, "run": only}
            plan_run, run = event.data.get("plan_run"), event.data.get("run")
            self._plan_run = plan_run if isinstance(plan_run, str) else self._plan_run
            if isinstance(run, str) and event.kind == "run-ended":
                self._runs.discard(run)
            elif isinstance(run, str):
                self._runs.add(run)
            return {"plan_run": self._plan_run}

    def _line(self, level: str, kind: str, message: str, data: Mapping[str, object]) -> None:
        ids = {key: data[key] for key in _IDS if data.get(key) is not None}
        rest = {key: value for key, value in data.items() if key not in _IDS and value is not None}
        time = self._now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"time": time, "level": level, "event": kind, "message": message, **ids}
        if rest:
            line["data"] = rest
        try:
            with self._lock:
                self._write(json.dumps(_plain(line), ensure_ascii=True, allow_nan=False) + "\n")
        except (OSError, ValueError) as error:
            self.trouble = self.trouble or (getattr(error, "strerror", None) or type(error).__name__)


def appending(path: Path) -> Write:
    """Return what writes a line at the end of a file, which is made for its owner only when it is missing.

    Raises:
        ToolkitError: TK-0405 when it cannot be written.
    """

    def write(line: str) -> None:
        handle = open_to_write(path, os.O_APPEND | os.O_CREAT)
        try:
            os.write(handle, line.encode("utf-8"))
        finally:
            os.close(handle)

    try:
        write("")
    except OSError as error:
        raise ToolkitError(
            f"`{path}` cannot be written: {(error.strerror or 'unknown reason').lower()}",
            code="TK-0405",
            hint="choose another file for `--log-file`; its folder must exist",
        ) from None
    return write


def _level(event: Event) -> str:
    state = event.data.get("outcome") or event.data.get("state")
    if state in _BAD:
        return "error"
    return "warning" if event.kind == "warning" or state in _DOUBTFUL else "info"


def _plain(value: object) -> object:
    """Return what JSON can hold: numbers that are none become null, everything strange its text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)
