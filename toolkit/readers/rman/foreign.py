"""Lines that are not plain English of a client: other languages, numbered or decorated lines, banners, codes.

What stays in every language: the colon after a channel, numbers of pieces and of files, `=`, dates, `SID=`, codes,
and the names of commands (`backup`, `restore`). A line is told by these; a word decides only where they leave two
readings, and then the order of messages decides first.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from toolkit.readers.rman import words
from toolkit.readers.rman.channels import Channel
from toolkit.readers.rman.model import ArchivedLog, Datafile, RmanMessage
from toolkit.readers.rman.shapes import Command, DateClause, Shape, Shapes, command_of, prefix_of

if TYPE_CHECKING:
    from toolkit.readers.rman.machine import Machine

_LONGEST = 1200
"""No message of RMAN's is longer: such a line is something else."""
_WRAPS_FROM = 75


@lru_cache(maxsize=200)
def _kind_of(told: str) -> str:
    """Return the type of a set, as an English client says it, from the words of any language."""
    level = words.NUMBER.search(told)
    compressed = "compressed " if words.COMPRESSED.search(told) else ""
    return f"{compressed}{f'incremental level {level[0]}' if level else 'full'} datafile"


def _like(prefix: str) -> re.Pattern[str]:
    """Return what the prefix of any line looks like: the same with other digits."""
    return re.compile(re.sub(r"\d+", lambda _: r"\d+", re.escape(prefix.rstrip())) + r"\s*")


class Foreign:
    """Reads what the fast path left over."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._words = set(words.CHANNEL_WORDS)
        self._shapes = Shapes()
        self._code_line = 0
        self._long_code = False
        self._depth = 0
        self._prefix: re.Pattern[str] | None = None

    def take(self, line: str) -> None:
        """Read a line by its structure; one that says nothing is passed over."""
        if len(line) > _LONGEST:
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
            self._machine.ordinary()
        elif not (shape.prompted and self._prompted(line)) and not self._faulty(line, shape) and shape.last:
            self._last(line)

    def _prompted(self, line: str) -> bool:
        """Read what was typed: at a prompt of SQL*Plus, or as a further line of a command."""
        machine = self._machine
        if line[0] == "S":
            machine.in_sql = True
        else:
            machine.sessions.more(line)
            machine.identity.command(line)
        return True

    def _faulty(self, line: str, shape: Shape) -> bool:
        if self._long_code and self._wrapped_code(line):
            return True
        return shape.coded and (self.coded(line) or self._startup(line))

    def _last(self, line: str) -> None:
        """Read what stands behind a prefix, or a row of a validation."""
        row = words.CORRUPT_ROW.match(line)
        if row:
            self._machine.corrupt.append(int(row[1]))
        elif not self._depth:
            self._decorated(line)

    # -- banners and sessions

    def _head(self, line: str) -> bool:
        machine = self._machine
        plain = line.isascii()
        found = words.BANNER.search(line) if not plain or "Manager" in line else None
        if found:
            machine.ordinary()
            machine.channels.lose_all()
            machine.operations.abort()
            machine.sessions.banner()
            machine.identity.release = machine.identity.release or found[1]
            return True
        if machine.identity.release and not machine.identity.patch_level:
            level = words.PATCH_LEVEL.match(line)
            if level:
                machine.identity.patch_level = level[1]
                return True
        if "(" in line or (not plain and "\uff08" in line):
            if machine.identity.connected(line):
                machine.sessions.connected = True
                return True
        elif (not plain or "Manager" in line) and words.GOODBYE.match(line):
            machine.channels.lose_all()
            machine.sessions.goodbye()
            return True
        return False

    # -- codes

    def coded(self, line: str) -> bool:
        """Read a line that begins with a code, or one of a log in which every line has a number."""
        found = words.CODE.match(line)
        machine = self._machine
        if found is None or (machine.in_sql and found[1] != "RMAN"):
            return False
        family, digits, text = found.groups()
        number = int(digits)
        if machine.faults.informs(family, number, text):
            self._numbered(number, text)
            return True
        stacks = machine.faults.stacks
        machine.faults.add(family, digits, text, machine.number)
        self._code_line = machine.number
        self._long_code = len(line) >= _WRAPS_FROM or text.endswith("text:")
        if family == "RMAN":
            self._failure(number, text, stacked=machine.faults.stacks > stacks)
        return True

    def _failure(self, number: int, text: str, *, stacked: bool) -> None:
        machine = self._machine
        if number == words.CHANNEL_FAILED:
            for name in words.FAILED_CHANNEL.findall(text):
                if name in machine.channels.by_name:
                    machine.channels.lose(machine.channels.by_name[name])
        if stacked or number in words.HARD:
            machine.channels.lose_all()
            machine.operations.abort()
            machine.sessions.aborted()

    def _numbered(self, number: int, text: str) -> None:
        """Read the message behind a number as if it stood alone."""
        machine = self._machine
        text = text.strip()
        if number in {words.BEGINS_OP, words.ENDS_OP} and not text.startswith(("Starting ", "Finished ")):
            command = command_of(text)
            if command is not None:
                self._operation(text, command, begins=number == words.BEGINS_OP)
            return
        if number in words.BEGINS_SET and not text.startswith("channel "):
            found = words.ANY_CHANNEL.match(text)
            if found:
                self._set(machine.channels.get(found[2]), found[3])
                return
        machine.number -= 1
        machine.feed(text)

    def _wrapped_code(self, line: str) -> bool:
        machine = self._machine
        follows = self._long_code and self._code_line == machine.number - 1
        self._long_code = False
        if not follows or ": " in line[:30]:
            return False
        machine.faults.lengthen(line)
        return True

    def _startup(self, line: str) -> bool:
        """`startup failed: ORA-01078: ...`: RMAN goes on without a parameter file."""
        found = words.STARTUP_FAILED.match(line)
        if found:
            self._machine.faults.warn(RmanMessage(found[1], found[2], self._machine.number))
        return found is not None

    def _decorated(self, line: str) -> None:
        """Read a message behind a time, a host's name or another tool's prefix."""
        found = prefix_of(line)
        if found is None:
            return
        self._prefix = _like(found[0])
        self._behind(line[found.end() :].rstrip('",') if found[0].endswith('"') else line[found.end() :])

    def _behind(self, line: str) -> None:
        self._machine.number -= 1
        self._depth += 1
        try:
            self._machine.feed(line)
        finally:
            self._depth -= 1

    # -- channels

    def _channel(self, line: str, shape: Shape) -> bool:
        if shape.sid:
            self._words.add(shape.word)
        elif shape.word not in self._words:
            return False
        channels = self._machine.channels
        begin, end = shape.name
        name = line[begin:end]
        if shape.english and not shape.sid:
            # in English all that matters of a channel was told before this
            return name in channels.by_name
        if shape.bare:
            # `canal asignado: c1`, where the word before the colon is no channel
            channels.get(line[shape.rest :])
            self._machine.heard(line)
            return True
        channel = channels.get(name)
        if shape.sid:
            self._machine.heard(line)
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
        elif self._machine.operations.reading() is None and not channel.open:
            self._set(channel, rest)

    def _piece(self, channel: Channel, rest: str, clause: DateClause) -> None:
        machine = self._machine
        channels = machine.channels
        if clause.number is None or machine.operations.reading():
            return
        begin, end = clause.number
        piece = int(rest[begin:end])
        begin, end = clause.date
        stamp = machine.operations.stamp(machine.shared[rest[begin:end]])
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
        machine = self._machine
        op = machine.operations.reading()
        if op or channel.handles:
            machine.channels.end_reading(channel, op or "restore", seconds)
        elif machine.channels.outputs and not channel.done:
            if channel.set_type is not None:
                channel.set_type = "archived log copy" if channel.logs else "datafile copy"
            machine.channels.end_copy(channel, seconds)
        else:
            machine.channels.end_set(channel, seconds)

    def _set(self, channel: Channel, rest: str) -> None:
        """Take the beginning of a set, or what follows it before the inputs; an empty set leaves no trace."""
        fresh = channel.set_type is None or channel.number is not None or channel.files or channel.logs
        if fresh:
            self._machine.channels.begin_set(channel, "full")
            channel.texts = []
        if channel.texts[-1:] != [rest]:
            channel.texts.append(rest)
        told = channel.texts[-2] if len(channel.texts) > 1 else rest
        channel.set_type = _kind_of(told)
        self._machine.channels.filling = channel

    # -- lines without a channel

    def _plain(self, line: str, shape: Shape) -> bool:
        machine = self._machine
        automatic = words.AUTOMATIC.search(line) if shape.automatic else None
        if automatic:
            machine.channels.get(automatic[1])
            return True
        if shape.keyed:
            return self._keyed(line)
        if shape.command is not None and self._operation(line, shape.command):
            return True
        filling = machine.channels.filling
        if (
            filling is not None
            and filling.filling
            and not filling.open
            and len(filling.texts) > 1
            and len(line) < 120
        ):
            standby = words.STANDBY.search(line)
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
        machine = self._machine
        channels = machine.channels
        filling = channels.filling
        if filling is not None and filling.filling and self.input_log(filling, line):
            return True
        found = words.INPUT_FILE.search(line) if filling is not None and filling.filling else None
        if found is not None and "RECID" not in line and filling is not None:
            entry = Datafile(int(found[1]), found[2].strip())
            if not filling.files or filling.files[-1] != entry:
                filling.files.append(entry)
            return True
        if channels.awaiting or machine.operations.autobackup is not None:
            handle = words.HANDLE.search(line)
            if handle is not None and "RECID" not in line:
                three = handle[4] is not None
                machine.take_handle(handle[1], handle[3] if three else None, handle[5] if three else handle[3])
                return True
        if "RECID=" in line and "STAMP=" in line and filling is not None and filling.filling and filling.files:
            return self._copied(line)
        return False

    def _copied(self, line: str) -> bool:
        """Read the output of an image copy in another language."""
        name, _, rest = line.partition("=")[2].partition(" RECID=")
        stamp = rest.rpartition("STAMP=")[2]
        words_of_name = name.split()
        tag = words_of_name[-1].partition("=")[2] if len(words_of_name) > 1 and "=" in words_of_name[-1] else None
        name = words_of_name[0] if tag else name
        self._machine.channels.outputs.append((name, tag, int(stamp) if stamp.isdecimal() else None))
        return True

    def input_log(self, channel: Channel, line: str) -> bool:
        """Read `input archived log thread=1 sequence=18 RECID=4 STAMP=1`, in any language."""
        found = words.INPUT_LOG.search(line)
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
        operations = self._machine.operations
        op, clause = command
        if begins is None:
            begins, ends = clause.begins, clause.ends
            if begins == ends and (begins or not operations.begun):
                return False
            if begins == ends:
                begins = not operations.is_open(op)
        stamp = line[clause.date[0] : clause.date[1]].strip()
        self._machine.channels.forget_empty()
        if begins:
            operations.begin(op, stamp, self._machine.number)
        else:
            operations.end(op, stamp, self._machine.number)
        return True
