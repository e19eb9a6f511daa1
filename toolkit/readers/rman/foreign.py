"""Lines that are not plain English of a client: other languages, numbered or decorated lines, banners, codes.

What stays in every language: the colon after a channel, numbers of pieces and of files, `=`, dates, `SID=`, codes,
and the names of commands (`backup`, `restore`). A line is recognized by these; a word decides only if they
leave two readings, and then the order of messages decides first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from toolkit.readers.rman import grammar
from toolkit.readers.rman.grammar import Command, DateClause, Shape, Shapes, command_of, prefix_of
from toolkit.readers.rman.model import ArchivedLog, Datafile, RmanMessage
from toolkit.readers.rman.state import Channel, LogState

_LONGEST = 1200
"""No message of RMAN's is longer: such a line is something else."""
_WRAPS_FROM = 75


@lru_cache(maxsize=200)
def _kind_of(text: str) -> str:
    """Return the type of a set, as an English client says it, from the words of any language."""
    level = grammar.NUMBER.search(text)
    compressed = "compressed " if grammar.COMPRESSED.search(text) else ""
    return f"{compressed}{f'incremental level {level[0]}' if level else 'full'} datafile"


def _like(prefix: str) -> re.Pattern[str]:
    """Return what the prefix of any line looks like: the same with other digits."""
    return re.compile(re.sub(r"\d+", lambda _: r"\d+", re.escape(prefix.rstrip())) + r"\s*")


_KEY = re.compile(r"(?<!\S)\d{1,10}(?!\S)")
"""Only the row of a list has a number of its own before a date: `Backup Set 6550 14-AUG-22`."""


class Foreign:
    """Reads what the fast path left over."""

    def __init__(self, state: LogState, feed: Callable[[str], None]) -> None:
        self._state = state
        self._feed = feed
        self._words = set(grammar.CHANNEL_WORDS)
        self._shapes = Shapes()
        self._code_line = 0
        self._long_code = False
        self._depth = 0
        self._prefix: re.Pattern[str] | None = None

    def take(self, line: str) -> None:
        """Read a line by its structure; one that says nothing is passed over."""
        if len(line) > _LONGEST or (line[0].isdigit() and self._state.listing.row(line)):
            return
        if self._prefix is not None and not self._depth:
            known = self._prefix.match(line)
            if known is not None:
                self._behind(line[known.end() :].rstrip('",') if known[0].endswith('"') else line[known.end() :])
                return
        shape = self._shapes(line)
        if (
            (shape.word and self._channel(line, shape))
            or (shape.head and self._head(line))
            or self._plain(line, shape)
        ):
            self._state.ordinary()
        elif not (shape.prompted and self._prompted(line)) and not self._faulty(line, shape) and shape.last:
            self._last(line)

    def _prompted(self, line: str) -> bool:
        """Read what was typed: at a prompt of SQL*Plus, or as a further line of a command."""
        state = self._state
        if line[0] == "S":
            state.in_sql = True
        else:
            state.sessions.more(line)
            state.identity.command(line)
        return True

    def _faulty(self, line: str, shape: Shape) -> bool:
        if self._long_code and self._wrapped_code(line):
            return True
        return shape.coded and (self.coded(line) or self._startup(line))

    def _last(self, line: str) -> None:
        """Read what stands behind a prefix, or a row of a validation."""
        row = grammar.CORRUPT_ROW.match(line)
        if row:
            self._state.corrupt.append(int(row[1]))
        elif not self._depth:
            self._decorated(line)

    # -- banners and sessions

    def _head(self, line: str) -> bool:
        state = self._state
        found = grammar.BANNER.search(line)
        if found:
            state.ordinary()
            state.channels.lose_all()
            state.operations.abort()
            state.sessions.banner()
            state.identity.release = state.identity.release or found[1]
            return True
        if state.identity.release and not state.identity.patch_level:
            level = grammar.PATCH_LEVEL.match(line)
            if level:
                state.identity.patch_level = level[1]
                return True
        if state.identity.connected(line):
            # Other reports have words of this shape, too: `Hash: Enqueue (Result Cache)`.
            state.sessions.connected |= state.identity.dbid is not None or line.startswith("connected to ")
            return True
        if grammar.GOODBYE.match(line):
            state.channels.lose_all()
            state.sessions.goodbye()
            return True
        return False

    # -- codes

    def coded(self, line: str) -> bool:
        """Read a line that begins with a code, or one of a log in which every line has a number."""
        found = grammar.CODE.match(line)
        state = self._state
        if found is None or (state.in_sql and found[1] != "RMAN"):
            return False
        family, digits, text = found.groups()
        number = int(digits)
        if state.faults.informs(family, number, text) or (not state.faults.in_stack and state.reports.wants(text)):
            self._numbered(number, text)
            return True
        stacks = state.faults.stacks
        state.faults.add(family, digits, text, state.number)
        self._code_line = state.number
        self._long_code = len(line) >= _WRAPS_FROM or text.endswith("text:")
        if family == "RMAN":
            self._failure(number, text, stacked=state.faults.stacks > stacks)
        return True

    def _failure(self, number: int, text: str, *, stacked: bool) -> None:
        state = self._state
        if number == grammar.CHANNEL_FAILED:
            named = grammar.FAILURE.match(text)
            if named is not None and named[1] in grammar.CHANNELS_WORK:
                state.channels.failed(named[2], named[1])
            for name in () if named else grammar.FAILED_CHANNEL.findall(text):
                if name in state.channels.by_name:
                    state.channels.lose(state.channels.by_name[name])
        if stacked or number in grammar.HARD:
            state.channels.lose_all()
            state.operations.abort()
            state.sessions.aborted()

    def _numbered(self, number: int, text: str) -> None:
        """Read the message behind a number as if it stood alone."""
        state = self._state
        text = text.strip()
        if number in {grammar.BEGINS_OP, grammar.ENDS_OP} and not text.startswith(("Starting ", "Finished ")):
            command = command_of(text)
            if command is not None:
                self._operation(text, command, begins=number == grammar.BEGINS_OP)
            return
        if number in grammar.BEGINS_SET and not text.startswith("channel "):
            found = grammar.ANY_CHANNEL.match(text)
            if found:
                self._set(state.channels.get(found[2]), found[3])
                return
        state.number -= 1
        self._feed(text)

    def _wrapped_code(self, line: str) -> bool:
        state = self._state
        follows = self._long_code and self._code_line == state.number - 1
        self._long_code = False
        if not follows or ": " in line[:30]:
            return False
        state.faults.lengthen(line)
        return True

    def _startup(self, line: str) -> bool:
        """`startup failed: ORA-01078: ...`: RMAN goes on without a parameter file."""
        found = grammar.STARTUP_FAILED.match(line)
        if found:
            self._state.faults.warn(RmanMessage(found[1], found[2], self._state.number))
        return found is not None

    def _decorated(self, line: str) -> None:
        """Read a message behind a time, a host's name or another tool's prefix."""
        found = prefix_of(line)
        if found is None:
            return
        self._prefix = _like(found[0])
        self._behind(line[found.end() :].rstrip('",') if found[0].endswith('"') else line[found.end() :])

    def _behind(self, line: str) -> None:
        self._state.number -= 1
        self._depth += 1
        try:
            self._feed(line)
        finally:
            self._depth -= 1

    # -- channels

    def _channel(self, line: str, shape: Shape) -> bool:
        if shape.sid:
            self._words.add(shape.word)
        elif shape.word not in self._words:
            return False
        channels = self._state.channels
        begin, end = shape.name
        name = line[begin:end]
        if shape.english and not shape.sid:
            # in English all that matters of a channel was listed before this
            return name in channels.by_name
        if shape.bare:
            # `canal asignado: c1`, where the word before the colon is no channel
            channels.get(line[shape.rest :])
            self._state.heard(line)
            return True
        channel = channels.get(name)
        if shape.sid:
            self._state.heard(line)
        else:
            self._says(channel, line[shape.rest :], shape)
        return True

    def _says(self, channel: Channel, rest: str, shape: Shape) -> None:
        """Tell what a channel says by what it looks like and by what the channel did last."""
        saying = shape.saying(rest)
        if saying.piece is not None:
            self._piece(channel, rest, saying.piece)
        elif saying.elapsed is not None:
            hours, minutes, seconds = [int(rest[begin:end]) for begin, end in saying.elapsed]
            self._complete(channel, hours * 3600 + minutes * 60 + seconds)
        elif saying.keyed:
            if saying.handle is not None:
                begin, end = saying.handle
                channel.handles.append(rest[begin:end])
        elif self._state.operations.reading() is None and not channel.open:
            self._set(channel, rest)

    def _piece(self, channel: Channel, rest: str, clause: DateClause) -> None:
        state = self._state
        channels = state.channels
        if clause.number is None or state.operations.reading():
            return
        begin, end = clause.number
        piece = int(rest[begin:end])
        begin, end = clause.date
        stamp = state.operations.stamp(state.shared[rest[begin:end]])
        if (
            clause.begins
            and not clause.ends
            and channel.open
            and (channel.number, channel.begin) == (piece, stamp)
        ):
            return
        if (channel.open and channel.number == piece) or (not channel.open and clause.ends and not clause.begins):
            channels.end_piece(channel, piece, stamp)
        else:
            channels.begin_piece(channel, piece, stamp)

    def _complete(self, channel: Channel, seconds: int) -> None:
        state = self._state
        op = state.operations.reading()
        if op or channel.handles:
            state.channels.end_reading(channel, op or "restore", seconds)
        elif state.channels.outputs and not channel.done:
            if channel.set_type is not None:
                channel.set_type = "archived log copy" if channel.logs else "datafile copy"
            state.channels.end_copy(channel, seconds)
        else:
            state.channels.end_set(channel, seconds)

    def _set(self, channel: Channel, rest: str) -> None:
        """Take the beginning of a set, or what follows it before the inputs; an empty set leaves no trace."""
        fresh = channel.set_type is None or channel.number is not None or channel.files or channel.logs
        if fresh:
            self._state.channels.begin_set(channel, "full")
            channel.texts = []
        if channel.texts[-1:] != [rest]:
            channel.texts.append(rest)
        label = channel.texts[-2] if len(channel.texts) > 1 else rest
        channel.set_type = _kind_of(label)
        self._state.channels.filling = channel

    # -- lines without a channel

    def _plain(self, line: str, shape: Shape) -> bool:
        state = self._state
        automatic = grammar.AUTOMATIC.search(line) if shape.automatic else None
        if automatic:
            state.channels.get(automatic[1])
            return True
        if shape.keyed:
            return self._keyed(line)
        if shape.command is not None and self._operation(line, shape.command):
            return True
        filling = state.channels.filling
        if (
            filling is not None
            and filling.filling
            and not filling.open
            and len(filling.texts) > 1
            and len(line) < 120
        ):
            standby = grammar.STANDBY.search(line)
            what = (
                "current SPFILE"
                if "SPFILE" in line.upper()
                else "standby control file"
                if standby
                else "current control file"
            )
            filling.extra.append(what)
            return True
        return False

    def _keyed(self, line: str) -> bool:
        state = self._state
        channels = state.channels
        filling = channels.filling
        if filling is not None and filling.filling and self.input_log(filling, line):
            return True
        found = grammar.INPUT_FILE.search(line) if filling is not None and filling.filling else None
        if found is not None and "RECID" not in line and filling is not None:
            entry = Datafile(int(found[1]), found[2].strip())
            if not filling.files or filling.files[-1] != entry:
                filling.files.append(entry)
            return True
        if channels.awaiting or state.operations.autobackup is not None:
            handle = grammar.HANDLE.search(line)
            if handle is not None and "RECID" not in line:
                three = handle[4] is not None
                state.take_handle(handle[1], handle[3] if three else None, handle[5] if three else handle[3])
                return True
        copies = filling is not None and filling.filling and (filling.files or filling.logs)
        return bool(copies and "RECID=" in line and self._copied(line))

    def _copied(self, line: str) -> bool:
        """Read the output of an image copy, of a data file or a log, in another language."""
        name, _, rest = line.partition("=")[2].partition(" RECID=")
        stamp = rest.rpartition("STAMP=")[2]
        words_of_name = name.split()
        tag = words_of_name[-1].partition("=")[2] if len(words_of_name) > 1 and "=" in words_of_name[-1] else None
        name = words_of_name[0] if tag else name
        self._state.channels.outputs.append((name, tag, int(stamp) if stamp.isdecimal() else None))
        return True

    def input_log(self, channel: Channel, line: str) -> bool:
        """Read `input archived log thread=1 sequence=18 RECID=4 STAMP=1`, in any language."""
        found = grammar.INPUT_LOG.search(line)
        if found is None:
            return False
        entry = ArchivedLog(int(found[1]), int(found[2]))
        if not channel.logs or channel.logs[-1] != entry:
            channel.logs.append(entry)
        if channel.texts:
            compressed = "compressed " if (channel.set_type or "").startswith("compressed") else ""
            channel.set_type = f"{compressed}archived log"
        return True

    def _operation(self, line: str, command: Command, *, begins: bool | None = None) -> bool:
        """Read the beginning or the end of a command: its name, a date, and the turn it is."""
        operations = self._state.operations
        op, clause = command
        if begins is None:
            if _KEY.search(line, 0, clause.date[0]):
                return False
            begins, ends = clause.begins, clause.ends
            if begins == ends and (begins or not operations.begun):
                return False
            if begins == ends:
                begins = not operations.is_open(op)
        stamp = line[clause.date[0] : clause.date[1]].strip()
        self._state.channels.forget_empty()
        if begins:
            operations.begin(op, stamp, self._state.number)
        else:
            operations.end(op, stamp, self._state.number)
        return True
