"""The two messages that make up most of a log, read whole: a set begins, a piece and its set end.

They are what `machine` would make of their lines one by one (a test holds them equal); taken whole they cost a
third. Whatever is not exactly of this form goes line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from toolkit.readers.rman.machine import Machine
from toolkit.readers.rman.model import ArchivedLog, Datafile, Piece

_BATCH = 4000
_TAIL = 16_384
"""Characters that are left for the next batch, for a message may go on in it."""
_LONGEST_LINE = 4000
_MOST_SHARED = 5000
"""Inputs of sets that are kept to be shared: the same files are backed up night after night."""
_NAME = r"channel ([A-Za-z_][\w$#]*): "
_BEGINS = re.compile(
    _NAME + r"starting ([a-z0-9 ]+?) backup ?set\n"
    r"channel \1: specifying [^\n=]{1,60}\n"
    r"((?:input datafile (?:file number|fno)=\d{1,9} name=[^\n]{1,300}\n){1,200}"
    r"|(?:input archived? log thread=\d{1,5} sequence=\d{1,12} (?:RECID|recid)=[^\n]{1,60}\n){1,400})"
    r"channel \1: starting piece (\d{1,6}) at ([^\n]{5,60})\n",
    re.ASCII,
)
_ENDS = re.compile(
    _NAME + r"finished piece (\d{1,6}) at ([^\n]{5,40})\n"
    r"piece handle=([^\n\t]{1,400}?) tag=(\S{1,40}) comment=([^\n]{0,200})\n"
    r"channel \1: backup set complete, elapsed time: (\d{1,5}):(\d\d):(\d\d)\n",
    re.ASCII,
)
_INPUT = re.compile(r"=0*(\d{1,9}) name=([^\n]*)\n", re.ASCII)
_LOG = re.compile(r" thread=(\d+) sequence=(\d+) ", re.ASCII)


def feed_all(machine: Machine, lines: Iterable[str]) -> None:
    """Give all lines of a log to a machine."""
    rest = ""
    for batch in _batches(lines):
        text = rest + batch if rest else batch
        done = _feed(machine, text, max(0, len(text) - _TAIL))
        rest = text[done:]
    _feed(machine, rest, len(rest))


def _batches(lines: Iterable[str]) -> Iterator[str]:
    source = iter(lines)
    while batch := list(islice(source, _BATCH)):
        if all(line.endswith("\n") for line in batch[:-1]):
            text = "".join(batch)
            text = text if text.endswith("\n") else f"{text}\n"
        else:
            text = "\n".join(line.rstrip("\r\n") for line in batch) + "\n"
        yield text.replace("\r\n", "\n") if "\r" in text else text


def _feed(machine: Machine, text: str, until: int) -> int:
    """Read whole messages and lines that begin before `until`; return where the next one begins."""
    at, end = 0, len(text)
    feed, find = machine.feed, text.find
    while at < until:
        letter = text[at]
        if letter == "\n":
            machine.blank()
            at += 1
            continue
        if letter == "c" and machine.free:
            found = _ENDS.match(text, at)
            if found is not None and _ended(machine, found):
                at = found.end()
                continue
            found = _BEGINS.match(text, at)
            if found is not None:
                _begun(machine, found)
                at = found.end()
                continue
        stop = find("\n", at)
        stop = end if stop < 0 else stop
        feed(text[at : stop if stop - at < _LONGEST_LINE else at + _LONGEST_LINE])
        at = stop + 1
    return min(at, end)


def _begun(machine: Machine, found: re.Match[str]) -> None:
    name, kind, inputs, number, stamp = found.groups()
    channels = machine.channels
    channel = channels.by_name.get(name) or channels.get(name)
    if channel.set_type is not None:
        channels.lose(channel)
    channel.set_type = machine.shared(kind)
    channel.sealed = machine.inputs.get(inputs)
    if channel.sealed is not None:
        channel.files, channel.logs = list(channel.sealed[0]), list(channel.sealed[1])
    elif inputs[6] == "d":
        found_files = dict.fromkeys(_INPUT.findall(inputs))
        channel.files = [Datafile(int(file), path.rstrip()) for file, path in found_files]
    else:
        found_logs = dict.fromkeys(_LOG.findall(inputs))
        channel.logs = [ArchivedLog(int(thread), int(sequence)) for thread, sequence in found_logs]
    if channel.sealed is None:
        channel.sealed = (tuple(channel.files), tuple(channel.logs))
        if len(machine.inputs) < _MOST_SHARED:
            machine.inputs[inputs] = channel.sealed
    channel.number = int(number)
    channel.begin = machine.operations.stamp(machine.shared(stamp.rstrip()))
    channel.open = True
    channels.filled(channel)
    machine.number += 3 + inputs.count("\n")


def _ended(machine: Machine, found: re.Match[str]) -> bool:
    channels = machine.channels
    name, digits, stamp, handle, tag, comment, hours, minutes, seconds = found.groups()
    channel = channels.by_name.get(name)
    number = int(digits)
    if channel is None or channels.awaiting or channel.done or not channel.open or channel.number != number:
        return False
    stamp = stamp.rstrip()
    if " with " in stamp:
        return False
    took = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    files, logs = channel.sealed or (tuple(channel.files), tuple(channel.logs))
    if len(files) != len(channel.files) or len(logs) != len(channel.logs):
        return False
    channel.busy += took
    machine.identity.file(handle)
    channels.pieces.append(
        Piece(
            channel.name, channel.set_type or "", files, logs, tuple(channel.extra), channel.section, number,
            channel.begin, machine.operations.stamp(machine.shared(stamp)), took, handle, machine.shared(tag),
            machine.shared(comment.rstrip()),
        )
    )  # fmt: skip
    channels.settled(channel)
    machine.number += 3
    return True
