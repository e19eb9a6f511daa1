"""What is known of a log up to a line: channels, the sets and pieces they write, commands, sessions."""

from __future__ import annotations

from collections import Counter, deque

from toolkit.readers.rman import grammar
from toolkit.readers.rman.listing import ListedSizes
from toolkit.readers.rman.model import (
    ArchivedLog,
    BackupPiece,
    Datafile,
    DatafileSection,
    RestoreRead,
    RmanOperation,
    Shared,
)
from toolkit.readers.rman.reports import Reports
from toolkit.readers.rman.sessions import Faults, Identity, RmanSessions

Inputs = tuple[tuple[Datafile, ...], tuple[ArchivedLog, ...], tuple[str, ...]]
"""What goes into a set: data files, archived logs, and what else it includes."""


class Draft:
    """A piece that is finished and whose handle, or whose set's end, is still to come."""

    __slots__ = ("channel", "comment", "copies", "finish", "handles", "number", "start", "tag")

    def __init__(self, channel: Channel, number: int | None, start: str | None, finish: str | None) -> None:
        self.channel = channel
        self.number = number
        self.start = start
        self.finish = finish
        self.handles: list[str] = []
        self.tag: str | None = None
        self.comment: str | None = None
        self.copies = 1


class Channel:
    """One channel, from one message to the next."""

    __slots__ = (
        "begin", "busy", "done", "extra", "files", "filling", "handles", "logs", "name", "number", "open",
        "reading", "sealed", "section", "set_type", "texts",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.busy = 0
        self.clear()

    def clear(self) -> None:
        """Forget the set: it is complete, or lost."""
        self.set_type: str | None = None
        self.files: list[Datafile] = []
        self.logs: list[ArchivedLog] = []
        self.extra: list[str] = []
        self.sealed: Inputs | None = None
        self.section: DatafileSection | None = None
        self.number: int | None = None
        self.begin: str | None = None
        self.open = False
        self.filling = False
        self.reading: str | None = None
        self.done: list[Draft] = []
        self.handles: list[str] = []
        self.texts: list[str] = []

    def piece(self, draft: Draft, seconds: int | None, operation: int | None, shared: Shared) -> BackupPiece:
        """Return a finished piece as a record; what other pieces have alike is kept once."""
        handles = draft.handles
        return BackupPiece(
            self.name,
            shared[self.set_type or ""],
            shared.files(self.files),
            tuple(self.logs),
            tuple(self.extra),
            self.section,
            draft.number,
            draft.start,
            draft.finish,
            seconds,
            handles[0] if handles else None,
            draft.tag,
            draft.comment,
            tuple(handles[1:]),
            None,
            operation,
        )


class Channels:
    """All channels of a log, what they made and what they lost."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self.by_name: dict[str, Channel] = {}
        self.pieces: list[BackupPiece] = []
        self.unfinished: list[BackupPiece] = []
        self.reads: list[RestoreRead] = []
        self.awaiting: deque[Draft] = deque()
        self.outputs: list[tuple[str, str | None, int | None]] = []
        self.filling: Channel | None = None
        self.operation: int | None = None
        """The command that is open, innermost, counted from 0."""
        self.latest: int | None = None
        """The command that began last."""
        self._waiting: list[Channel] = []

    def get(self, name: str) -> Channel:
        """Return a channel, which begins to exist when it is named first."""
        found = self.by_name.get(name)
        if found is None:
            found = self.by_name[name] = Channel(name)
        return found

    def begin_set(self, channel: Channel, set_type: str) -> None:
        """A channel begins a set, or a copy."""
        if channel.set_type is not None:
            self.lose(channel)
        channel.set_type = set_type
        channel.filling = True
        self._waiting.append(channel)
        self.filling = channel

    def begin_reading(self, channel: Channel, op: str) -> None:
        """A channel begins to read a set back."""
        if channel.set_type is not None or channel.reading is not None:
            self.lose(channel)
        channel.clear()
        channel.reading = op
        self.filling = channel

    def begin_piece(self, channel: Channel, number: int, at: str) -> None:
        """A channel begins a piece of its set."""
        if channel.open and (channel.number, channel.begin) == (number, at):
            return
        if channel.open:
            self._lost(channel, channel.number, channel.begin)
        channel.number = number
        channel.begin = at
        channel.open = True
        channel.filling = False
        self.filled(channel)

    def filled(self, channel: Channel) -> None:
        """A channel has listed all that goes into its set; inputs that follow are of one that has not.

        While RMAN makes ready what a channel will back up (a control file), others go on: it is listed later.
        """
        if channel in self._waiting:
            self._waiting.remove(channel)
        self.filling = self._waiting[-1] if self._waiting else None

    def end_piece(self, channel: Channel, number: int, at: str) -> Draft:
        """A channel has written a piece; its handle follows."""
        if (
            not channel.open
            and channel.done
            and (channel.done[-1].number, channel.done[-1].finish) == (number, at)
        ):
            return channel.done[-1]
        draft = Draft(channel, number, channel.begin if channel.open and channel.number == number else None, at)
        channel.open = False
        channel.filling = False
        channel.done.append(draft)
        self.awaiting.append(draft)
        return draft

    def handle(self, handle: str, tag: str | None, comment: str | None) -> bool:
        """Give the next handle to the piece that waits longest for one; False when none does."""
        if not self.awaiting:
            return False
        draft = self.awaiting[0]
        draft.handles.append(handle)
        draft.tag = tag or draft.tag
        draft.comment = comment
        if len(draft.handles) >= draft.copies:
            self.awaiting.popleft()
        return True

    def end_set(self, channel: Channel, seconds: int) -> None:
        """A set is complete."""
        if channel.set_type is None and not channel.done:
            return
        channel.busy += seconds
        drafts = channel.done
        if len(drafts) == 1 and not channel.open:
            self.pieces.append(channel.piece(drafts[0], seconds, self.operation, self._shared))
        else:
            self.pieces.extend(channel.piece(draft, None, self.operation, self._shared) for draft in drafts)
            if channel.open:
                self._lost(channel, channel.number, channel.begin)
        self.settled(channel)

    def end_copy(self, channel: Channel, seconds: int) -> None:
        """An image copy is complete; its output was listed just before."""
        channel.busy += seconds
        outputs = self.outputs or [("", None, None)]
        handle, tag, stamp = outputs[0]
        self.pieces.append(
            BackupPiece(
                channel.name, channel.set_type or "copy", tuple(channel.files), tuple(channel.logs),
                tuple(channel.extra), channel.section, None, None, None, seconds, handle or None, tag, None,
                tuple(name for name, _, _ in outputs[1:]), stamp, self.operation,
            )
        )  # fmt: skip
        self.outputs = []
        self.settled(channel)

    def end_reading(self, channel: Channel, op: str, seconds: int) -> None:
        """A restore or a validation of one set is complete."""
        channel.busy += seconds
        handles, files = tuple(dict.fromkeys(channel.handles)), tuple(channel.files)
        self.reads.append(RestoreRead(channel.name, op, seconds, handles, files, self.operation))
        self.settled(channel)

    def lose(self, channel: Channel) -> None:
        """A channel gave up what it was doing: pieces with a handle stay, the rest is unfinished."""
        for draft in channel.done:
            if draft.handles:
                self.pieces.append(channel.piece(draft, None, self.operation, self._shared))
            else:
                self._lost(channel, draft.number, draft.start)
        if (
            channel.open
            or channel.reading
            or (channel.filling and (channel.files or channel.logs or channel.extra))
        ):
            self._lost(channel, channel.number, channel.begin)
        self.settled(channel)

    def failed(self, name: str, op: str) -> None:
        """RMAN states that a channel failed; one that is in no other line of the log lost what nobody knows."""
        channel = self.get(name)
        self.lose(channel)
        seen = {one.channel for one in self.reads} | {one.channel for one in (*self.unfinished, *self.pieces)}
        if name not in seen:
            channel.reading, self.operation = op, self.latest
            self._lost(channel, None, None)
            channel.clear()

    def forget_empty(self) -> None:
        """Forget what looked like the beginning of a set and never got anything: it was something else."""
        for channel in self.by_name.values():
            empty = not (channel.files or channel.logs or channel.extra or channel.done or channel.open)
            if empty and channel.set_type is not None:
                self.settled(channel)

    def lose_all(self) -> None:
        """Nobody goes on."""
        for channel in self.by_name.values():
            if channel.set_type is not None or channel.open or channel.done or channel.reading:
                self.lose(channel)
        self.outputs = []

    def _lost(self, channel: Channel, number: int | None, begin: str | None) -> None:
        self.unfinished.append(
            BackupPiece(
                channel.name, channel.set_type or channel.reading or "", tuple(channel.files),
                tuple(channel.logs), tuple(channel.extra), channel.section, number, begin,
                operation=self.operation,
            )
        )  # fmt: skip
        channel.open = False

    def settled(self, channel: Channel) -> None:
        """A channel is done with a set."""
        if self.awaiting and channel.done:
            self.awaiting = deque(draft for draft in self.awaiting if draft.channel is not channel)
        if channel in self._waiting or self.filling is channel:
            self.filled(channel)
        channel.clear()


# -- commands ---------------------------------------------------------------------------------------------------
_MOST_STAMPS = 500
_MOST_HEARD = 1000


class Operations:
    """Operations in the order they began, the stack of the open ones, and the stamps seen."""

    def __init__(self, sessions: RmanSessions, channels: Channels, shared: Shared) -> None:
        self.all: list[RmanOperation] = []
        self._shared = shared
        self.stamps: dict[str, None] = {}
        self.autobackup: int | None = None
        self.autobackups: list[str] = []
        self._open: list[int] = []
        self._sessions = sessions
        self._channels = channels

    def stamp(self, text: str) -> str:
        """Return a stamp as it is kept, and learn from it."""
        if len(self.stamps) < _MOST_STAMPS:
            self.stamps[text] = None
        return self._shared[text]

    def begin(self, op: str, stamp: str, line: int) -> None:
        """A command begins."""
        self._open.append(len(self.all))
        self._channels.operation = self._channels.latest = len(self.all)
        if op == grammar.AUTOBACKUP:
            self.autobackup = len(self.all)
        self.all.append(RmanOperation(self._shared[op], self.stamp(stamp.strip()), None, line))
        self._sessions.began()

    def end(self, op: str, stamp: str, line: int) -> None:
        """A command has ended; one whose beginning is not in the log is kept without it."""
        stamp = self.stamp(stamp.strip())
        for place in reversed(self._open):
            begun = self.all[place]
            if begun.op == op:
                self._open.remove(place)
                self.all[place] = RmanOperation(begun.op, begun.start, stamp, begun.line)
                break
        else:
            self.all.append(RmanOperation(self._shared[op], None, stamp, line))
        if op == grammar.AUTOBACKUP:
            self.autobackup = None
        self._channels.operation = self._open[-1] if self._open else None
        self._sessions.finished()

    def is_open(self, op: str) -> bool:
        """Whether a command of this name has begun and not ended."""
        return any(self.all[place].op == op for place in self._open)

    def reading(self) -> str | None:
        """Return the innermost open command that reads back: restore, recover or validate."""
        for place in reversed(self._open):
            op = self.all[place].op
            if op in grammar.READING_OPS:
                return op
        return None

    def abort(self) -> None:
        """An error ended every open command."""
        self._open.clear()
        self._channels.operation = None
        self.autobackup = None

    @property
    def begun(self) -> bool:
        """Whether any command is open."""
        return bool(self._open)


# -- all of it --------------------------------------------------------------------------------------------------
class LogState:
    """What the lines read so far say."""

    def __init__(self) -> None:
        self.shared = Shared()
        self.channels = Channels(self.shared)
        self.faults = Faults()
        self.sessions = RmanSessions()
        self.identity = Identity()
        self.operations = Operations(self.sessions, self.channels, self.shared)
        self.number = 0
        self.corrupt: list[int] = []
        self.changed = False
        """Whether RMAN did what has no beginning and no end in a log: crosscheck, delete, catalog, report, SQL."""
        self.done: Counter[str] = Counter()
        """What of that was done, and how often."""
        self.listing = ListedSizes()
        self.reports = Reports()
        self.in_sql = False
        self.inputs: dict[str, Inputs] = {}
        self.repeated: set[str] = set()
        """Lines that say nothing new when they come again, unless something is open that they end."""

    def heard(self, line: str) -> None:
        """Note a line that says nothing new when it comes again, unless something is open that it ends."""
        if len(self.repeated) < _MOST_HEARD:
            self.repeated.add(line)

    def ordinary(self) -> None:
        """Note an ordinary message of RMAN's: no stack goes on across it."""
        if self.faults.in_stack:
            self.faults.quiet()
        self.in_sql = False

    def take_handle(self, handle: str | None, tag: str | None, comment: str | None) -> None:
        """Give a handle to whom it belongs: a piece that waits for it, or the autobackup."""
        if handle is None:
            return
        self.identity.file(handle)
        tag, comment = (one and self.shared[one] for one in (tag, comment))
        if not self.channels.handle(handle, tag, comment) and self.operations.autobackup is not None:
            self.operations.autobackups.append(handle)
