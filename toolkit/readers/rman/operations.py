"""The commands of a log, between `Starting` and `Finished`, in any language."""

from __future__ import annotations

from toolkit.readers.rman import words
from toolkit.readers.rman.model import RmanOperation
from toolkit.readers.rman.sessions import RmanSessions

_MOST_STAMPS = 500


class Operations:
    """Operations in the order they began, the stack of the open ones, and the stamps seen."""

    def __init__(self, sessions: RmanSessions) -> None:
        self.all: list[RmanOperation] = []
        self.stamps: dict[str, None] = {}
        self.autobackup: int | None = None
        self.autobackups: list[str] = []
        self._open: list[int] = []
        self._sessions = sessions

    def stamp(self, text: str) -> str:
        """Return a stamp as it is kept, and learn from it."""
        if len(self.stamps) < _MOST_STAMPS:
            self.stamps[text] = None
        return text

    def begin(self, op: str, stamp: str, line: int) -> None:
        """A command begins."""
        self._open.append(len(self.all))
        if op == words.AUTOBACKUP:
            self.autobackup = len(self.all)
        self.all.append(RmanOperation(op, self.stamp(stamp.strip()), None, line))
        self._sessions.began()

    def end(self, op: str, stamp: str, line: int) -> None:
        """A command has ended; one whose beginning is not in the log is kept without it."""
        stamp = self.stamp(stamp.strip())
        for place in reversed(self._open):
            begun = self.all[place]
            if begun.op == op:
                self._open.remove(place)
                self.all[place] = RmanOperation(op, begun.start, stamp, begun.line)
                break
        else:
            self.all.append(RmanOperation(op, None, stamp, line))
        if op == words.AUTOBACKUP:
            self.autobackup = None
        self._sessions.finished()

    def is_open(self, op: str) -> bool:
        """Whether a command of this name has begun and not ended."""
        return any(self.all[place].op == op for place in self._open)

    def reading(self) -> str | None:
        """Return the innermost open command that reads back: restore, recover or validate."""
        for place in reversed(self._open):
            op = self.all[place].op
            if op in words.READING_OPS:
                return op
        return None

    def abort(self) -> None:
        """An error ended every open command."""
        self._open.clear()
        self.autobackup = None

    @property
    def begun(self) -> bool:
        """Whether any command is open."""
        return bool(self._open)
