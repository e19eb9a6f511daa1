"""Keeps programs that make file systems off block devices that are in use.

Linux tells whether one is: where it, or a part of it, is mounted, is swap or belongs to a volume, it cannot be
opened for oneself (open(2): O_EXCL of a block device fails with EBUSY). What a shell, `sudo` or the like begins is
not seen, nor is an image file that is mounted. Only Linux has such devices.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

_MAKERS = re.compile(r"mkfs(\..+)?|mke2fs|mkswap|mkntfs|wipefs|blkdiscard|pvcreate")
"""Programs that overwrite the devices that they name, and are of no use without one."""


def why_not_run(argv: Sequence[str], folder: str = "") -> str | None:
    """Say why a program must not be run: it would overwrite a device in use, or names none; None where it may.

    Args:
        argv: of the program.
        folder: in which it begins, where that is not the current one.
    """
    name = Path(argv[0]).name
    makes = _MAKERS.fullmatch(name) is not None or (name == "zpool" and "create" in argv)
    named = [Path(folder, text) for text in argv[1:]] if makes else [*_written_by_dd(name, argv, folder)]
    for path in named:
        if path.is_block_device() and _is_in_use(path):
            return f"`{name}` was not run: `{path}` is in use: mounted, swap, or part of a volume"
    if makes and not any(path.is_block_device() or path.is_file() for path in named):
        return f"`{name}` was not run: it names no device and no file that is there"
    return None


def _written_by_dd(name: str, argv: Sequence[str], folder: str) -> Iterator[Path]:
    if name == "dd":
        yield from (Path(folder, text.removeprefix("of=")) for text in argv[1:] if text.startswith("of="))


def _is_in_use(device: Path) -> bool:
    number = device.stat().st_rdev
    with suppress(OSError):
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        if f"{os.major(number)}:{os.minor(number)}" in (line.split()[2] for line in mounts):
            return True  # told also to those who may not open it
    try:
        os.close(os.open(device, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        return error.errno == errno.EBUSY
    return False
