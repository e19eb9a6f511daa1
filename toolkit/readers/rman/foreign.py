"""Lines that are not plain English of a client: other languages, numbered or decorated lines, banners, codes.

What stays in every language: the colon after a channel, numbers of pieces and of files, `=`, dates, `SID=`, codes,
and the names of commands (`backup`, `restore`). A line is told by these; a word decides only where they leave two
readings, and then the order of messages decides first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolkit.readers.rman import words
from toolkit.readers.rman.channels import Channel
from toolkit.readers.rman.model import ArchivedLog, Datafile, Message
from toolkit.readers.rman.stamps import DATE

if TYPE_CHECKING:
    from toolkit.readers.rman.machine import Machine

_LONGEST = 1200
"""No message of RMAN's is longer: such a line is something else."""
_WRAPS_FROM = 75
_LONGEST_OPERATION = 200
_FIRST_OF_CODES = frozenset("ROPTLSKs")


def _shape(prefix: str) -> re.Pattern[str]:
    """Return what the prefix of any line looks like: the same with other digits."""
    return re.compile(re.sub(r"\d+", lambda _: r"\d+", re.escape(prefix.rstrip())) + r"\s*")


def _may_be_decorated(rest: str) -> bool:
    """Whether one of the words stands in it that every message has which can be told behind a prefix."""
    return (
        "channel " in rest or " at " in rest or "name=" in rest or "handle=" in rest or "input " in rest
        or "RMAN-" in rest or "ORA-" in rest or "database" in rest or "Manager" in rest
    )  # fmt: skip


class Foreign:
    """Reads what the fast path left over."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._words = set(words.CHANNEL_WORDS)
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
        if self._coloned(line) or self._head(line) or self._plain(line):
            self._machine.ordinary()
        elif not self._prompted(line) and not self._faulty(line):
            self._last(line)

    def _prompted(self, line: str) -> bool:
        """Read what was typed: at a prompt of SQL*Plus, or as a further line of a command."""
        machine = self._machine
        if line[0] == "S" and line.startswith(("SQL>", "SQL >")):
            machine.in_sql = True
            return True
        if ">" in line[:6] and line[0].isdigit():
            machine.sessions.more(line)
            machine.identity.command(line)
            return True
        return False

    def _faulty(self, line: str) -> bool:
        if self._long_code and self._wrapped_code(line):
            return True
        if line[0] in _FIRST_OF_CODES:
            return ("-" in line[:5] and self.coded(line)) or self._startup(line)
        return False

    def _last(self, line: str) -> None:
        """Read what stands behind a prefix, or a row of a validation."""
        if "FAILED" in line:
            row = words.CORRUPT_ROW.match(line)
            if row:
                self._machine.corrupt.append(int(row[1]))
                return
        if not self._depth and _may_be_decorated(line[1:]):
            self._decorated(line)

    # -- banners and sessions

    def _head(self, line: str) -> bool:
        machine = self._machine
        if len(line) > 160:
            return False
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
            self._operation(text, begins=number == words.BEGINS_OP)
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
            self._machine.faults.warn(Message(found[1], found[2], self._machine.number))
        return found is not None

    def _decorated(self, line: str) -> None:
        """Read a message behind a time, a host's name or another tool's prefix."""
        found = words.DECORATED.match(line) or words.PURE_PREFIX.match(line)
        if found is None or not found.end():
            return
        self._prefix = _shape(found[0])
        self._behind(line[found.end() :].rstrip('",') if found[0].endswith('"') else line[found.end() :])

    def _behind(self, line: str) -> None:
        self._machine.number -= 1
        self._depth += 1
        try:
            self._machine.feed(line)
        finally:
            self._depth -= 1

    # -- channels

    def _coloned(self, line: str) -> bool:
        if ":" not in line and "\uff1a" not in line:
            return False
        found = words.ANY_CHANNEL.match(line)
        return found is not None and self._channel(found)

    def _channel(self, found: re.Match[str]) -> bool:
        word, name, rest = found.groups()
        if rest[:3].upper() == "SID":
            self._words.add(word.strip().lower())
        elif word.strip().lower() not in self._words:
            return False
        elif word == "channel":
            # in English all that matters of a channel was told before this
            return name in self._machine.channels.by_name
        if words.NAME.match(rest):
            # `canal asignado: c1`, where the word before the colon is no channel
            self._machine.channels.get(rest)
            return True
        channel = self._machine.channels.get(name)
        if rest[:3].upper() != "SID":
            self._says(channel, rest)
        return True

    def _says(self, channel: Channel, rest: str) -> None:
        """Tell what a channel says by what it looks like and by what the channel did last."""
        machine = self._machine
        date = DATE.search(rest)
        elapsed = None if date else words.ELAPSED.search(rest)
        if date is not None and "=" not in rest:
            self._piece(channel, rest, date[0], date.span())
        elif elapsed is not None:
            self._complete(channel, int(elapsed[1]) * 3600 + int(elapsed[2]) * 60 + int(elapsed[3]))
        elif "=" in rest:
            handle = words.HANDLE.search(rest)
            if handle:
                channel.handles.append(handle[1])
        elif machine.operations.reading() is None and not channel.open:
            self._set(channel, rest)

    def _piece(self, channel: Channel, rest: str, stamp: str, span: tuple[int, int]) -> None:
        channels = self._machine.channels
        outside = rest[: span[0]] + " " + rest[span[1] :]
        number = words.NUMBER.search(outside)
        if number is None or self._machine.operations.reading():
            return
        piece = int(number[0])
        self._machine.operations.stamp(stamp)
        begun, ended = words.BEGIN_WORDS.search(outside), words.END_WORDS.search(outside)
        ends = ended and not begun
        if begun and not ended and channel.open and (channel.number, channel.begin) == (piece, stamp):
            return
        if (channel.open and channel.number == piece) or (not channel.open and ends):
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
        level = words.NUMBER.search(told)
        compressed = "compressed " if words.COMPRESSED.search(told) else ""
        channel.set_type = f"{compressed}{f'incremental level {level[0]}' if level else 'full'} datafile"
        self._machine.channels.filling = channel

    # -- lines without a channel

    def _plain(self, line: str) -> bool:
        machine = self._machine
        automatic = words.AUTOMATIC.search(line) if "ORA_" in line else None
        if automatic:
            machine.channels.get(automatic[1])
            return True
        if "=" in line:
            return self._keyed(line)
        if len(line) < _LONGEST_OPERATION and words.NUMBER.search(line) and self._operation(line):
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

    def _operation(self, line: str, *, begins: bool | None = None) -> bool:
        """Read the beginning or the end of a command: its name, a date, and the turn it is."""
        operations = self._machine.operations
        name, date = words.OPERATION.search(line), DATE.search(line)
        if name is None or date is None:
            return False
        outside = line[: date.start()] + " " + line[date.end() :]
        if begins is None:
            begins, ends = bool(words.BEGIN_WORDS.search(outside)), bool(words.END_WORDS.search(outside))
            if begins == ends and (begins or not operations.begun):
                return False
            if begins == ends:
                begins = not operations.is_open(name[1])
        op, stamp = name[1], date[0].strip()
        self._machine.channels.forget_empty()
        if begins:
            operations.begin(op, stamp, self._machine.number)
        else:
            operations.end(op, stamp, self._machine.number)
        return True
