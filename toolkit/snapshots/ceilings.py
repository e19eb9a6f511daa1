"""What this host can do at most: reading and writing in a folder, its CPUs, its memory, each measured for seconds.

I/O is direct, past the page cache, by fio where it is installed, else by this process; always in a file that is
made for it in a folder that the user names and has no name there; never on a raw device. CPU and memory are
measured by this process, in one thread for each CPU: they show what the host gives now, others' load included.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import mmap
import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

from toolkit.errors import ToolkitError
from toolkit.executors.host import run_command
from toolkit.model.ceilings import Ceiling
from toolkit.units import byte_size

_BLOCK = 2**20
_LEAST_BYTES, _MOST_BYTES = 16 * 2**20, 64 * 2**30
_LEFT_FREE = 0.1
"""Part of a file system that stays free."""
_MEMORY_BYTES = 64 * 2**20
_JOBS = 4
_MOST_SECONDS = 60.0
_BEGIN_SECONDS = 10.0
_FILL_TIMES = 6
"""Filling the file may take so many times as long as each measurement; what is filled then is enough."""
_IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})


@dataclass(frozen=True, slots=True)
class CeilingRequest:
    """What to measure: how large a file in which folder (None: no I/O), and how long each thing.

    Attributes:
        folder: an existing one.
        file_bytes: of the file that is written and read.
        seconds: for each of reading, writing, CPU and memory.
        fio: whether fio may be used where it is installed.
    """

    folder: Path | None
    file_bytes: int = 2**30
    seconds: float = 5.0
    fio: bool = True


def measure_ceilings(wanted: CeilingRequest) -> tuple[Ceiling, ...]:
    """Measure this host.

    Raises:
        ToolkitError: TK-0102 for a folder, size or time that cannot be, TK-0305 where there is no room for the
            file, TK-0304 where the file system does no direct I/O, TK-0203 where fio fails.
    """
    if not 0.1 <= wanted.seconds <= _MOST_SECONDS:
        raise ToolkitError(
            f"each measurement takes 0.1 to {_MOST_SECONDS:g} s, not {wanted.seconds:g}",
            code="TK-0102",
            hint="give `--seconds 5`",
        )
    found: list[Ceiling] = []
    if wanted.folder is not None:
        check_room(wanted.folder, wanted.file_bytes)
        found += _io(wanted.folder, wanted)
    return (*found, _cpu(wanted.seconds), _memory(wanted.seconds))


def check_room(folder: Path, file_bytes: int) -> None:
    """Refuse what is no folder with room for the file and some more.

    Raises:
        ToolkitError: TK-0102 or TK-0305.
    """
    if not _LEAST_BYTES <= file_bytes <= _MOST_BYTES:
        raise ToolkitError(
            f"the file cannot have {byte_size(file_bytes)}",
            code="TK-0102",
            hint=f"give {byte_size(_LEAST_BYTES)} to {byte_size(_MOST_BYTES)}",
        )
    try:
        kind = folder.stat().st_mode
    except OSError:
        raise ToolkitError(f"there is no folder `{folder}`", code="TK-0102", hint="name an existing one") from None
    if not stat.S_ISDIR(kind):
        device = stat.S_ISBLK(kind) or stat.S_ISCHR(kind)
        why = "is a device: nothing is read from or written to raw devices" if device else "is no folder"
        raise ToolkitError(f"`{folder}` {why}", code="TK-0102", hint="name a folder on the disk to measure")
    usage = psutil.disk_usage(str(folder))
    if usage.free - file_bytes < _LEFT_FREE * usage.total:
        raise ToolkitError(
            f"`{folder}` has {byte_size(usage.free)} free; a tenth of its file system would not stay free",
            code="TK-0305",
            hint="give a smaller `--size`, or another folder",
        )


# -- I/O --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _OwnFile:
    """A file of nobody else's, which has no name in its folder: it goes with this process, however that ends.

    Attributes:
        path: by which this process and its programs open it.
        folder: where it is.
    """

    path: str
    folder: Path


@contextlib.contextmanager
def _own_file(folder: Path) -> Iterator[_OwnFile]:
    with contextlib.ExitStack() as held:
        try:
            file = held.enter_context(tempfile.TemporaryFile(prefix=".dbatk-ceiling-", dir=folder))
        except OSError as error:
            raise ToolkitError(
                f"no file can be made in `{folder}`: {(error.strerror or 'unknown reason').lower()}",
                code="TK-0102",
                hint="name a folder that you may write to",
            ) from None
        yield _OwnFile(f"/proc/{os.getpid()}/fd/{file.fileno()}", folder)


def _io(folder: Path, wanted: CeilingRequest) -> Iterator[Ceiling]:
    program = shutil.which("fio") if wanted.fio else None
    with _own_file(folder) as file:
        _refuse_without_direct(file)
        filled = _fill(file, wanted.file_bytes, _FILL_TIMES * wanted.seconds)
        for turn in ("write", "read"):
            if program is None:
                rate, how = _by_threads(file, filled, wanted.seconds, turn), "direct I/O of dbatk"
            else:
                rate, how = _by_fio(program, file.path, filled, wanted.seconds, turn), "fio, direct I/O"
            by = f"{how}, {_JOBS} at a time, blocks of 1 MiB, {byte_size(filled)} in {folder}"
            yield Ceiling(turn, rate, "bytes_per_second", by, datetime.now(UTC))


def _refuse_without_direct(file: _OwnFile) -> None:
    folder = file.folder.resolve()
    mounts = [part for part in psutil.disk_partitions(all=True) if folder.is_relative_to(part.mountpoint)]
    kind = max(mounts, key=lambda part: len(part.mountpoint)).fstype if mounts else ""
    direct = kind not in _IN_MEMORY
    with contextlib.suppress(OSError, AttributeError):
        os.close(os.open(file.path, os.O_RDWR | os.O_DIRECT))
        if direct:
            return
    raise ToolkitError(
        f"the file system of `{file.folder}` ({kind}) does no direct I/O, so memory would be measured, not a disk",
        code="TK-0304",
        hint="name a folder on a disk",
    )


def _fill(file: _OwnFile, size: int, seconds: float) -> int:
    """Write a file for at most so long and return its size: what was never written is read from nowhere."""
    until = time.monotonic() + seconds
    with _blocks(file) as (handle, block):
        done = 0
        while done < size and (done < _LEAST_BYTES or time.monotonic() < until):
            if os.pwritev(handle, [block], done) != _BLOCK:
                raise _full(file.folder)
            done += _BLOCK
    return done


def _full(folder: Path) -> ToolkitError:
    return ToolkitError(
        f"`{folder}` became full: somebody else wrote to its file system, or a quota ended",
        code="TK-0305",
        hint="give a smaller `--size`, or another folder",
    )


@contextlib.contextmanager
def _blocks(file: _OwnFile) -> Iterator[tuple[int, mmap.mmap]]:
    """Open a file for direct I/O, with a block of memory that begins at a page, as that wants it."""
    with contextlib.closing(mmap.mmap(-1, _BLOCK)) as block:
        block.write(os.urandom(_BLOCK))
        handle = os.open(file.path, os.O_RDWR | os.O_DIRECT)
        try:
            yield handle, block
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise _full(file.folder) from None
            reason = (error.strerror or "unknown reason").lower()
            raise ToolkitError(
                f"I/O failed in `{file.folder}`: {reason}", code="TK-0405", hint="check the disk"
            ) from None
        finally:
            os.close(handle)


def _by_fio(program: str, path: str, size: int, seconds: float, turn: str) -> float:
    """Return bytes per second by fio: https://fio.readthedocs.io, its JSON output."""
    each = size // _JOBS // _BLOCK * _BLOCK
    arguments = [
        program, "--name=ceiling", f"--filename={path}", f"--rw={turn}", "--bs=1M", "--direct=1",
        "--ioengine=psync", f"--numjobs={_JOBS}", "--thread", f"--size={each}", f"--offset_increment={each}",
        "--group_reporting", "--time_based", f"--runtime={max(1, round(seconds))}", "--output-format=json",
    ]  # fmt: skip
    text = run_command(arguments, limit_seconds=10 * seconds + 60)
    try:
        return float(json.loads(text[text.index("{") :])["jobs"][0][turn]["bw_bytes"])
    except (ValueError, KeyError, IndexError, TypeError):
        raise ToolkitError("the output of fio could not be read", code="TK-0203", hint="add `--no-fio`") from None


def _by_threads(file: _OwnFile, size: int, seconds: float, turn: str) -> float:
    """Return bytes per second of direct reads or writes by a few threads, each in its own part of the file."""
    each = max(1, size // _JOBS // _BLOCK) * _BLOCK
    move = os.preadv if turn == "read" else os.pwritev

    def work(job: int, over: Callable[[], bool]) -> int:
        done = 0
        with _blocks(file) as (handle, block):
            while not over() and move(handle, [block], job * each + done % each) == _BLOCK:
                done += _BLOCK
        return done

    return _together(_JOBS, seconds, work)


# -- CPU and memory ---------------------------------------------------------------------------------------------
def _together(threads: int, seconds: float, work: Callable[[int, Callable[[], bool]], int]) -> float:
    """Let some threads work for some seconds and return what they did per second, all together."""
    ready, done, raised = threading.Barrier(threads + 1, timeout=_BEGIN_SECONDS), [0] * threads, list[Exception]()

    def one(number: int) -> None:
        try:
            ready.wait()
            until = time.perf_counter() + seconds
            done[number] = work(number, lambda: time.perf_counter() >= until)
        except (ToolkitError, threading.BrokenBarrierError) as error:
            raised.append(error)
            ready.abort()

    every = [threading.Thread(target=one, args=(number,), name="ceiling") for number in range(threads)]
    for thread in every:
        thread.start()
    with contextlib.suppress(threading.BrokenBarrierError):
        ready.wait()
    begun = time.perf_counter()
    for thread in every:
        thread.join()
    for error in raised:
        raise error
    return sum(done) / (time.perf_counter() - begun)


def _cpu(seconds: float) -> Ceiling:
    """Hash in one thread for each CPU: hashing of large pieces holds no lock of the interpreter."""
    cpus = psutil.cpu_count() or 1
    piece = bytes(_BLOCK)

    def work(_: int, over: Callable[[], bool]) -> int:
        done = 0
        while not over():
            hashlib.sha256(piece).digest()
            done += len(piece)
        return done

    rate = _together(cpus, seconds, work)
    return Ceiling("cpu", rate, "bytes_per_second", f"SHA-256 in {cpus} threads", datetime.now(UTC))


def _memory(seconds: float) -> Ceiling:
    """Copy arrays larger than caches in one thread for each CPU; each byte counts once, though it moves twice."""
    import numpy as np

    cpus = psutil.cpu_count() or 1
    arrays = [(np.ones(_MEMORY_BYTES // 8), np.ones(_MEMORY_BYTES // 8)) for _ in range(cpus)]

    def work(number: int, over: Callable[[], bool]) -> int:
        source, place = arrays[number]
        done = 0
        while not over():
            np.copyto(place, source)
            done += _MEMORY_BYTES
        return done

    rate = _together(cpus, seconds, work)
    return Ceiling("memory", rate, "bytes_per_second", f"copies in {cpus} threads, roughly", datetime.now(UTC))
