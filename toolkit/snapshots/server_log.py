"""Phases of a trial that a server's log tells of, by the server's own clock: `--server-log` and `--log-phase`.

Before the clock the end of each log is noted, and after it what was added is read: also of a file that was renamed
meanwhile (log rotation), and of those that a pattern of names finds only then.
"""

from __future__ import annotations

import errno
import glob
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import RawIOBase
from operator import attrgetter
from pathlib import Path

from toolkit.design.output_metrics import compiled, phases_in
from toolkit.documents import open_file
from toolkit.errors import ToolkitError
from toolkit.model.records import Metric, Sample
from toolkit.model.values import Row
from toolkit.readers.server_log import LogLine, stamped

SOURCE = "the server's log"
_BEFORE_BYTES = 4096
"""How much before the end is looked at for the time that the next lines have, where they bear none themselves."""
_LATE_SECONDS = (0.0, 0.1, 0.2, 0.4, 0.8)
"""How long the end of a phase is waited for: a server may write its log a little after it has answered."""

_SAME_SECONDS = 1.0
"""By how much clocks may differ before it is said: a server may write a line a little after the clock ended."""
_AT_ONCE = 1 << 18
_LONGEST_LINE = 8000

Phase = tuple[str, str, str]


class ServerLogProvider:
    """Reads phases of trials in the logs of a server on this host.

    Args:
        pattern: path of the log, or a pattern of paths (`/var/log/postgresql/*.log`).
        phases: name, pattern of the line that begins it, pattern of the line that ends it.

    Raises:
        ToolkitError: TK-0204 when no such file can be read.
    """

    name = "server log"
    after_evidence = False

    def __init__(self, pattern: str, phases: Sequence[Phase]) -> None:
        self._pattern, self._phases = pattern, tuple(phases)
        self._wanted = [compiled("--log-phase", text) for _, *both in phases for text in both]
        self._files: dict[tuple[int, int], _Log] = {}
        self._begun = 0.0
        self._warnings: tuple[str, ...] = ()
        problem = self._open()
        self._close()
        if problem:
            raise ToolkitError(
                f"the server's log `{pattern}` cannot be read: {problem}",
                code="TK-0204",
                hint="give a file that you may read, or a pattern in quotes: '/var/log/postgresql/*.log'",
            )

    def begin(self) -> None:
        """Note where each log ends."""
        self._warnings = ()
        self._open()
        for log in self._files.values():
            log.note_end()
        self._begun = time.time()

    def sample(self, at_seconds: float) -> tuple[Sample, ...]:
        del at_seconds
        return ()

    def end(self) -> tuple[Metric, ...]:
        """Read what was added and return the phases in it; `warnings` say what the times are worth."""
        ended = time.time()
        found: tuple[Metric | str, ...] = ()
        added = _Added()
        try:
            for seconds in _LATE_SECONDS:
                time.sleep(seconds)
                added = self._added()
                found = tuple(phases_in(added.rows, self._phases, SOURCE))
                if not any(isinstance(one, str) for one in found):
                    break
        except OSError as error:
            found = (f"the server's log cannot be read: {(error.strerror or type(error).__name__).lower()}",)
        finally:
            self._close()
        metrics = tuple(one for one in found if isinstance(one, Metric))
        lacking = [one for one in found if isinstance(one, str)]
        if lacking and added.first is None:
            lacking.append("nothing with a time was added to the log meanwhile")
        self._warnings = (*lacking, *_of_clock(added, self._begun, ended), *_coarse(added.step_seconds, metrics))
        return metrics

    def peaks(self) -> Mapping[str, float]:
        return {}

    def warnings(self) -> tuple[str, ...]:
        return self._warnings

    def _open(self) -> str:
        """Open what there is; return why there is nothing."""
        self._close()
        problem = "no such file"
        for path in self._paths():
            try:
                self._keep(path)
            except OSError as error:
                problem = (error.strerror or type(error).__name__).lower()
        return "" if self._files else problem

    def _keep(self, path: str) -> None:
        """Keep a file open, once each: of what is renamed it stays the same.

        Raises:
            OSError: it cannot be opened, or has no end that could be noted.
        """
        file = open_file(Path(path)).detach()  # what was read before must not hide what the file has become
        if not file.seekable():
            file.close()
            raise OSError(errno.ESPIPE, "it is a pipe, not a file")
        state = os.fstat(file.fileno())
        if (state.st_dev, state.st_ino) in self._files:
            file.close()
        else:
            self._files[state.st_dev, state.st_ino] = _Log(file)

    def _close(self) -> None:
        for log in self._files.values():
            log.file.close()
        self._files = {}

    def _paths(self) -> list[str]:
        if os.path.lexists(self._pattern):  # a name with signs of a pattern in it
            return [self._pattern]
        return sorted(glob.glob(self._pattern))  # noqa: PTH207 (of a pattern with any root)

    def _added(self) -> _Added:
        """Read the lines since the beginning, of logs that are new from their beginning on."""
        for path in self._paths():
            with suppress(OSError):  # one that is gone by now, or was never ours to read
                self._keep(path)
        added, now = _Added(), datetime.now(UTC)
        for log in self._files.values():
            for line in log.added(now):
                added.take(line, wanted=any(one.search(line.text) for one in self._wanted))
        return added


@dataclass(slots=True)
class _Added:
    """What was added to the logs: the lines that are looked for, and between which instants all were written."""

    wanted: list[LogLine] = field(default_factory=list)
    first: float | None = None
    last: float | None = None
    step_seconds: float = 0.0

    def take(self, line: LogLine, *, wanted: bool) -> None:
        """Take one line more."""
        self.first = line.at if self.first is None else min(self.first, line.at)
        self.last = line.at if self.last is None else max(self.last, line.at)
        self.step_seconds = max(self.step_seconds, line.step_seconds)
        if wanted:
            self.wanted.append(line)

    @property
    def rows(self) -> Sequence[Row]:
        """The lines that are looked for, in the order of their times."""
        return [{"at_seconds": line.at, "line": line.text} for line in sorted(self.wanted, key=attrgetter("at"))]


@dataclass(slots=True)
class _Log:
    """A log that is kept open, with the place from which on it counts and what stood before that."""

    file: RawIOBase
    position: int = 0
    before: bytes = b""

    def note_end(self) -> None:
        """Let only count what comes from now on."""
        self.position = self.file.seek(0, os.SEEK_END)
        self.before = self._standing_before()

    def _standing_before(self) -> bytes:
        begin = max(0, self.position - _BEFORE_BYTES)
        self.file.seek(begin)
        return self.file.read(self.position - begin)

    def added(self, now: datetime) -> Iterator[LogLine]:
        """Yield what was added; all of a file that was emptied meanwhile, so that something else stands before."""
        earlier = None
        if self._standing_before() == self.before:
            for earlier in stamped(_text(self.before.split(b"\n")[:-1]), now):  # noqa: B007 (the last one)
                pass
        else:
            self.file.seek(0)
        yield from stamped(_whole_lines(self.file), now, earlier)


def _whole_lines(file: RawIOBase) -> Iterator[str]:
    """Yield the lines from the position of a file on; one that is still being written is none yet."""
    rest = b""
    while part := file.read(_AT_ONCE):
        *whole, rest = (rest + part).split(b"\n")
        rest = rest[:_LONGEST_LINE]  # of a line without an end no more is kept than is looked at
        yield from _text(whole)


def _text(lines: Iterable[bytes]) -> Iterator[str]:
    return (line[:_LONGEST_LINE].decode(errors="replace").rstrip("\r") for line in lines)


def _of_clock(added: _Added, begun: float, ended: float) -> Iterator[str]:
    """Say by how much the log's clock differs, if it must: each line was written between begin and end.

    Args:
        added: with the times of the log's clock.
        begun: by this host's clock, as `ended`.
    """
    if added.first is None or added.last is None:
        return
    least, most = added.last - ended, added.first - begun + added.step_seconds
    if least <= _SAME_SECONDS and most >= -_SAME_SECONDS:
        return
    word = "ahead of" if least > 0 else "behind"
    low, high = (f"{one:.1f}" for one in sorted((abs(least), abs(most))))
    yield (
        f"its clock, or its time zone, is {low if low == high else f'{low} to {high}'} s {word} this host's; "
        "phases are by the log's clock alone"
    )


def _coarse(step_seconds: float, metrics: Sequence[Metric]) -> Iterator[str]:
    """Say how coarse the times of the log are, where that is more than a tenth of a phase."""
    short = [metric.name.removesuffix("_seconds") for metric in metrics if metric.value < 10 * step_seconds]
    if short:
        yield f"times in it are in steps of {step_seconds:g} s: `{', '.join(short)}` is known to that only"
