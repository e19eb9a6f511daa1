"""The two messages that make up most of a log, read whole: a set begins, a piece and its set end.

They are what `machine` would make of their lines one by one (a test holds them equal); taken whole they cost a
third. Whatever is not exactly of this form goes line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from toolkit.readers.rman.channels import Inputs
from toolkit.readers.rman.machine import Machine
from toolkit.readers.rman.model import ArchivedLog, BackupPiece, Datafile

_BATCH = 4000
_TAIL = 16_384
"""Characters that are left for the next block, for a message may go on in it."""
_LONGEST_LINE = 4000
_MOST_SHARED = 5000
"""Inputs of sets that are kept to be shared: the same files are backed up night after night."""
_MESSAGE = re.compile(
    r"channel ([A-Za-z_][\w$#]*): (?:"
    r"finished piece (\d{1,6}) at ([^\n]{5,40})\n"
    r"piece handle=([^\n\t]{1,400}?) tag=(\S{1,40}) comment=([^\n]{0,200})\n"
    r"channel \1: backup set complete, elapsed time: (\d{1,5}):(\d\d):(\d\d)\n"
    r"|starting ([a-z0-9 ]+?) backup ?set\n"
    r"channel \1: specifying [^\n=]{1,60}\n"
    r"((?=in)(?:input datafile (?:file number|fno)=\d{1,9} name=[^\n]{1,300}\n){0,200}"
    r"(?:including [a-zA-Z ]{1,40} in backup ?set\n){0,3}"
    r"|(?:input archived? log thread=\d{1,5} sequence=\d{1,12} (?:RECID|recid)=[^\n]{1,60}\n){1,400})"
    r"channel \1: starting piece (\d{1,6}) at ([^\n]{5,60})\n)",
    re.ASCII,
)
_INPUT = re.compile(r"=0*(\d{1,9}) name=([^\n]*)\n", re.ASCII)
_INCLUDED = re.compile(r"^including (.*?) in backup", re.MULTILINE)
_LOG = re.compile(r" thread=(\d+) sequence=(\d+) ", re.ASCII)


def feed_all(machine: Machine, blocks: Iterable[str]) -> None:
    """Give all blocks of a log to a machine; each ends with a line feed."""
    rest = ""
    for block in blocks:
        text = rest + block if rest else block
        done = _feed(machine, text, max(0, len(text) - _TAIL))
        rest = text[done:]
    _feed(machine, rest, len(rest))


def blocks_of_lines(lines: Iterable[str]) -> Iterator[str]:
    """Put lines together, with or without their ends."""
    source = iter(lines)
    while batch := list(islice(source, _BATCH)):
        text = "\n".join([line.rstrip("\r\n") for line in batch]) + "\n"
        yield text.replace("\r\n", "\n") if "\r" in text else text


def _feed(machine: Machine, text: str, until: int) -> int:
    """Read whole messages and lines that begin before `until`; return where the next one begins."""
    at, end = 0, len(text)
    feed, find, message, faults = machine.feed, text.find, _MESSAGE.match, machine.faults
    while at < until:
        letter = text[at]
        if letter == "\n":
            machine.blank()
            at += 1
            continue
        if letter == "c" and not (machine.partial or machine.in_sql or faults.in_stack):
            found = message(text, at)
            if found is not None and (_begun if found[2] is None else _ended)(machine, found):
                at = found.end()
                continue
        stop = find("\n", at)
        stop = end if stop < 0 else stop
        feed(text[at : stop if stop - at < _LONGEST_LINE else at + _LONGEST_LINE])
        at = stop + 1
    return min(at, end)


def _begun(machine: Machine, found: re.Match[str]) -> bool:
    name, kind, inputs, number, stamp = found.group(1, 10, 11, 12, 13)
    channels = machine.channels
    channel = channels.by_name.get(name) or channels.get(name)
    sealed = machine.inputs.get(inputs) or _sealed(machine, inputs)
    files, logs, extra = sealed
    if channel.set_type is not None:
        channels.lose(channel)
    elif extra and (channel.open or channel.done or channel.files or channel.logs or channel.extra):
        return False
    channel.set_type = machine.shared[kind]
    channel.sealed = sealed
    if logs:
        channel.logs = list(logs)
    else:
        channel.files, channel.extra = list(files), list(extra)
    channel.number = int(number)
    channel.begin = machine.operations.stamp(machine.shared[stamp.rstrip()])
    channel.open = True
    channels.filled(channel)
    machine.number += 3 + inputs.count("\n")
    return True


def _sealed(machine: Machine, inputs: str) -> Inputs:
    """Return what goes into a set, and keep it for the sets that have the same."""
    if inputs.startswith("input arc"):
        numbers = dict.fromkeys(_LOG.findall(inputs))
        sealed: Inputs = (), tuple(ArchivedLog(int(thread), int(sequence)) for thread, sequence in numbers), ()
    else:
        files = dict.fromkeys(_INPUT.findall(inputs))
        found = tuple(Datafile(int(file), path.rstrip()) for file, path in files)
        sealed = found, (), tuple(_INCLUDED.findall(inputs))
    if len(machine.inputs) < _MOST_SHARED:
        machine.inputs[inputs] = sealed
    return sealed


def _ended(machine: Machine, found: re.Match[str]) -> bool:
    channels = machine.channels
    name, digits, stamp, handle, tag, comment, hours, minutes, seconds = found.group(1, 2, 3, 4, 5, 6, 7, 8, 9)
    channel = channels.by_name.get(name)
    number = int(digits)
    if channel is None or channels.awaiting or channel.done or not channel.open or channel.number != number:
        return False
    stamp = stamp.rstrip()
    took = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    files, logs, extra = channel.sealed or (tuple(channel.files), tuple(channel.logs), tuple(channel.extra))
    if (
        len(files) != len(channel.files)
        or len(logs) != len(channel.logs)
        or len(extra) != len(channel.extra)
        or " with " in stamp
    ):
        return False
    channel.busy += took
    machine.identity.file(handle)
    shared = machine.shared
    channels.pieces.append(
        BackupPiece(
            channel.name, channel.set_type or "", files, logs, extra, channel.section, number,
            channel.begin, machine.operations.stamp(shared[stamp]), took, handle, shared[tag],
            shared[comment.rstrip()],
        )
    )  # fmt: skip
    channels.settled(channel)
    machine.number += 3
    return True
