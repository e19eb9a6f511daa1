"""A log line by line: English messages are recognised by their first letters, everything else by `foreign`."""

from __future__ import annotations

from collections.abc import Callable

from toolkit.readers.rman import grammar
from toolkit.readers.rman.foreign import Foreign
from toolkit.readers.rman.model import Datafile, DatafileSection
from toolkit.readers.rman.state import Channel, LogState

_WRAPS_FROM = 58
"""Terminals and mails wrap at 60 columns or more; a shorter line was ended by RMAN."""

Handler = Callable[[str], bool]


class Machine(LogState):
    """Reads lines, and keeps what they say."""

    def __init__(self) -> None:
        super().__init__()
        self.partial = ""
        """A line that waits for its end."""
        self._foreign = Foreign(self, self.feed)
        self._grown: tuple[Channel, int] | None = None
        self._by_start: dict[str, Handler] = {
            "channe": self._channel, "input ": self._input, "piece ": self._handle, "Starti": self._starting,
            "Finish": self._finished, "alloca": self._allocated, "using ": self._using, "includ": self._including,
            "backin": self._blocks, "output": self._output, "RMAN-0": self._coded, "RMAN-1": self._coded,
            "RMAN-2": self._coded, "RMAN> ": self._prompt, "RMAN>": self._prompt, "Recove": self._recovery,
            "ORA-0": self._coded, "releas": self._released, "copyin": self._copying, "piece": self._handle,
            **dict.fromkeys(grammar.CHANGES_BEGIN, self._changes),
            "Piece ": self.listing.name, "Handle": self.listing.name, "File S": self.listing.heading,
            "IMPDP>": self._imported, "File N": self._listed,
            "List o": lambda line: self.reports.list_begins() or self.listing.heading(line),
            **dict.fromkeys(("Report", "no obs"), self._report),
            "archiv": self._noise, "contin": self._continuing, "sql st": self._noise, "curren": self._noise,
        }  # fmt: skip
        self._actions: dict[str, Callable[[Channel, str], bool]] = {
            "starting p": self._begin_piece, "finished p": self._end_piece, "backup set": self._end_set,
            "specifying": self._specifying, "starting f": self._begin_set, "starting i": self._begin_set,
            "starting c": self._begin_set, "starting a": self._begin_set, "starting d": self._begin_set,
            "starting v": self._begin_reading, "restore co": self._end_reading, "validation": self._end_reading,
            "piece hand": self._reads_piece, "datafile c": self._end_copy, "archived l": self._end_copy,
            "archive lo": self._end_copy, "restored b": _passed, "reading fr": _passed, "deleting a": _passed,
            "restoring ": self._restoring, "failover t": self._reads_piece,
        }  # fmt: skip

    def feed(self, line: str) -> None:
        """Take the next line, without its end."""
        self.number += 1
        line = line.strip()
        if not line:
            self.number -= 1
            self.blank()
            return
        if line in self.repeated and not (self.partial or self.in_sql or self.faults.in_stack):
            return
        handler = self._by_start.get(line[:6])
        if self.partial:
            if handler is None or (handler is self._input and not line.startswith("input ")):
                line = self._joined(line)
                handler = self._by_start.get(line[:6])
            else:
                self._give_up()
        if self.reports.reading and self.reports.line(line):
            return
        if handler is not None and handler(line):
            return
        if self._grown is not None and self._grow(line):
            return
        self._foreign.take(line)

    def blank(self) -> None:
        """Take an empty line: nothing is wrapped across it."""
        self.number += 1
        if self.partial:
            self._give_up()
        self._grown = None

    def end(self) -> None:
        """The log is over: whatever is open stays unfinished."""
        if self.partial:
            self._give_up()
        self.channels.lose_all()
        self.sessions.end()
        self.faults.quiet()

    # -- lines of channels

    def _channel(self, line: str) -> bool:
        at = line.find(": ", 8)
        if at < 0 or line[7] != " ":
            return self._stripped_channel(line)
        name = line[8:at]
        rest = line[at + 2 :]
        action = self._actions.get(rest[:10])
        if action is None:
            return self._says_nothing(name, rest)
        if " " in name:
            return False
        channel = self.channels.by_name.get(name) or self.channels.get(name)
        if not action(channel, rest):
            return False
        if self.faults.in_stack:
            self.faults.quiet()
        return True

    def _says_nothing(self, name: str, rest: str) -> bool:
        # `channel t1: throttle time: 0:00:02`
        if name not in self.channels.by_name or rest.startswith(("SID=", "sid=")):
            return False
        self.ordinary()
        return True

    def _stripped_channel(self, line: str) -> bool:
        """`channel t1 disabled, job failed on it will be run on another channel`."""
        return line.endswith("run on another channel")

    def _continuing(self, line: str) -> bool:
        # `continuing other job steps, job failed will not be re-run`
        if not line.endswith("not be re-run"):
            return False
        self.faults.stacked.append(self.number)
        return True

    def _restoring(self, channel: Channel, rest: str) -> bool:
        # `restoring datafile 00003 to +DATA/...`
        _, _, told = rest.partition("restoring datafile ")
        number, _, name = told.partition(" to ")
        if number.isdecimal():
            channel.files.append(Datafile(int(number), name))
        return True

    def _begin_set(self, channel: Channel, rest: str) -> bool:
        kind = rest[9:]
        if kind.endswith((" copy", " restore", " destination")) or " restore" in kind:
            return self._begin_other(channel, kind)
        for tail in (" backup set", " backupset", " backup"):
            if kind.endswith(tail):
                self.channels.begin_set(channel, kind[: -len(tail)])
                return True
        return False

    def _begin_other(self, channel: Channel, kind: str) -> bool:
        if kind.endswith(" copy"):
            self.channels.begin_set(channel, kind)
            return True
        return self._begin_reading(channel, kind)

    def _begin_reading(self, channel: Channel, _rest: str) -> bool:
        self.channels.begin_reading(channel, self.operations.reading() or "restore")
        return True

    def _specifying(self, channel: Channel, _rest: str) -> bool:
        self.channels.filling = channel
        return True

    def _begin_piece(self, channel: Channel, rest: str) -> bool:
        # `starting piece 1 at 10-Feb-21 15:54:31`
        number, found, stamp = rest[15:].partition(" at ")
        if not found or not number.isdecimal():
            return False
        self.channels.begin_piece(channel, int(number), self.operations.stamp(stamp))
        return True

    def _end_piece(self, channel: Channel, rest: str) -> bool:
        number, found, stamp = rest[15:].partition(" at ")
        if not found or not number.isdecimal():
            return False
        stamp, _, copies = stamp.partition(" with ")
        draft = self.channels.end_piece(channel, int(number), self.operations.stamp(stamp))
        if copies:
            count, _, tag = copies.partition(" copies")
            draft.copies = min(int(count), 4) if count.isdecimal() else 1
            draft.tag = tag.rpartition(" ")[2] or None
        return True

    def _end_set(self, channel: Channel, rest: str) -> bool:
        seconds = grammar.seconds_of(rest)
        if seconds is None:
            return self._hold(f"channel {channel.name}: {rest}")
        self.channels.end_set(channel, seconds)
        return True

    def _end_copy(self, channel: Channel, rest: str) -> bool:
        seconds = grammar.seconds_of(rest)
        if seconds is None or "complete" not in rest:
            return False
        self.channels.end_copy(channel, seconds)
        return True

    def _end_reading(self, channel: Channel, rest: str) -> bool:
        seconds = grammar.seconds_of(rest)
        if seconds is None:
            return False
        self.channels.end_reading(channel, self.operations.reading() or "restore", seconds)
        return True

    def _reads_piece(self, channel: Channel, rest: str) -> bool:
        handle = grammar.handle_of(rest)[0]
        if handle is None:
            return False
        channel.handles.append(handle)
        return True

    # -- lines without a channel

    def _input(self, line: str) -> bool:
        channel = self.channels.filling
        if channel is None:
            return True
        if line.startswith("input datafile f"):
            # `file number=00001 name=` and, in 10g, `fno=00001 name=`
            number, found, name = line[line.find("=") + 1 :].partition(" name=")
            if not found:
                return self._hold(line)
            if not number.isdecimal():
                return False
            if not channel.files or channel.files[-1] != (int(number), name):
                channel.files.append(Datafile(int(number), name))
            if len(line) >= _WRAPS_FROM:
                self._grown = (channel, self.number)
            return True
        return self._foreign.input_log(channel, line)

    def _handle(self, line: str) -> bool:
        if " comment=" not in line:
            autobackup = self.operations.autobackup is not None
            if "handle=" not in line or (" tag=" not in line and not autobackup) or self.channels.awaiting:
                return self._hold(line)
        elif len(line) >= _WRAPS_FROM and line.endswith(
            (" comment=", " comment=N", " comment=NO", " comment=NON")
        ):
            return self._hold(line)
        self.take_handle(*grammar.handle_of(line))
        return True

    def _including(self, line: str) -> bool:
        # `including current control file in backup set`
        what, found, _ = line[10:].partition(" in backup")
        if self.channels.filling is None or not found:
            return False
        self.channels.filling.extra.append(what)
        return True

    def _copying(self, line: str) -> bool:
        # `copying current control file`: the input of an image copy
        if self.channels.filling is None:
            return False
        self.channels.filling.extra.append(line[8:])
        return True

    def _blocks(self, line: str) -> bool:
        # `backing up blocks 1 through 12800`
        parts = line.split()
        if self.channels.filling is None or len(parts) != 6 or not (parts[3].isdecimal() and parts[5].isdecimal()):
            return False
        self.channels.filling.section = DatafileSection(int(parts[3]), int(parts[5]))
        return True

    def _output(self, line: str) -> bool:
        # `output file name=/b/x tag=T RECID=1 STAMP=1`, in 10g `output filename=`
        at = line.find("name=")
        if at < 0:
            return self._hold(line)
        name, _, rest = line[at + 5 :].partition(" tag=")
        tag = rest.partition(" ")[0] or None
        if not rest:
            name = name.partition(" RECID=")[0].partition(" recid=")[0]
        stamp = line.upper().rpartition("STAMP=")[2]
        self.channels.outputs.append((name, tag, int(stamp) if stamp.isdecimal() and "=" not in stamp else None))
        self.identity.file(name)
        return True

    def _starting(self, line: str) -> bool:
        op, found, stamp = line[9:].partition(" at ")
        if not found or line[8] != " " or not grammar.is_command(op, stamp):
            return False
        self.ordinary()
        self.operations.begin(op, stamp, self.number)
        return True

    def _finished(self, line: str) -> bool:
        op, found, stamp = line[9:].partition(" at ")
        if not found or line[8] != " " or not grammar.is_command(op, stamp):
            return False
        self.ordinary()
        self.operations.end(op, stamp, self.number)
        return True

    def _allocated(self, line: str) -> bool:
        name = line.partition("allocated channel: ")[2]
        if not name or " " in name:
            return False
        self.channels.get(name)
        self.ordinary()
        self.heard(line)
        return True

    def _using(self, line: str) -> bool:
        if not line.startswith("using channel ") or " " in line[14:]:
            return False
        self.channels.get(line[14:])
        self.heard(line)
        return True

    def _released(self, line: str) -> bool:
        if not line.startswith("released channel"):
            return False
        self.heard(line)
        return True

    def _noise(self, line: str) -> bool:
        self.changed = self.changed or line.startswith("sql statement:")
        return line.startswith(
            ("archived log file name=", "archive log filename=", "sql statement:", "current log archived")
        )

    def _changes(self, line: str) -> bool:
        """Note that something was done that is no operation with a beginning and an end; nothing more is said."""
        if (change := grammar.change_of(line)) is None:
            return False
        self.changed = True
        self.sessions.told(change[0])
        self.done[change[0]] += change[1]
        return True

    def _report(self, line: str) -> bool:
        if begins := self.reports.heading(line):
            self.ordinary()
            self.changed = True
        return begins

    def _imported(self, line: str) -> bool:
        # `IMPDP> . . imported "SCOTT"."EMP"  8.5 KB` near the end of RECOVER TABLE
        self.done["recovered table"] += line.startswith("IMPDP> . . imported ")
        return False

    def _listed(self, line: str) -> bool:
        # `File Name: /fra/x.arc` below the heading of a list; of cataloged files they are counted
        if not line.startswith("File Name: "):
            return False
        self.done["cataloged file"] += self.listing.cataloged
        return True

    def _recovery(self, line: str) -> bool:
        if grammar.GOODBYE.match(line) is None or "Release" in line:
            return False
        self.ordinary()
        self.channels.lose_all()
        self.sessions.goodbye()
        return True

    def _prompt(self, line: str) -> bool:
        self.ordinary()
        self.sessions.prompt(line)
        self.identity.command(line)
        return True

    def _coded(self, line: str) -> bool:
        return self._foreign.coded(line)

    # -- lines that were wrapped

    def _hold(self, line: str) -> bool:
        self.partial = line
        return True

    def _joined(self, line: str) -> str:
        held, self.partial = self.partial, ""
        spaced = (
            grammar.CONTINUES.match(line)
            or held.endswith((":", " at", " piece"))
            or held in {"piece", "output file"}
        )
        return f"{held}{' ' if spaced else ''}{line}"

    def _give_up(self) -> None:
        held, self.partial = self.partial, ""
        if held.startswith("piece "):
            self.take_handle(*grammar.handle_of(held))

    def _grow(self, line: str) -> bool:
        """Put the end of a file's name that was wrapped where it belongs."""
        assert self._grown is not None
        channel, number = self._grown
        self._grown = None
        if number != self.number - 1 or " " in line or "=" in line or not channel.files or line[0] in "`<#*-|":
            return False
        last = channel.files[-1]
        channel.files[-1] = Datafile(last.file, last.name + line)
        if len(line) >= _WRAPS_FROM:
            self._grown = (channel, self.number)
        return True


def _passed(_channel: Channel, _rest: str) -> bool:
    return True
