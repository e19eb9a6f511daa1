"""Sees that files are the same on other hosts as here, by size and digest of the whole, before any row moves."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.app.clusters import beside_its_work, within
from toolkit.app.hosts.agent import look
from toolkit.app.hosts.talk import LOST_SECONDS
from toolkit.errors import ToolkitError
from toolkit.executors.csv_text import in_time
from toolkit.units import counted, seconds

if TYPE_CHECKING:
    from distributed import Client

_DIGEST = "blake2b"
_BLOCK_BYTES = 2**20
_LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class FileSeen:
    """A file as a host has it: when it was modified (nanoseconds), and why it cannot be read, if it cannot."""

    byte_count: int = 0
    modified: int = 0
    digest: str = ""
    fault: str = ""


def see_files(paths: Sequence[str]) -> dict[str, FileSeen]:
    """Read files whole; returns what each is, by its path."""
    return {path: _seen(path) for path in paths}


def _seen(path: str) -> FileSeen:
    digest, seen = hashlib.new(_DIGEST), FileSeen()
    try:
        for state, block in in_time(_read(path)):
            digest.update(block)
            seen = FileSeen(state.st_size, state.st_mtime_ns)
    except OSError as error:
        return FileSeen(fault=error.strerror or type(error).__name__)
    return replace(seen, digest=digest.hexdigest())


def _read(path: str) -> Iterator[tuple[os.stat_result, bytes]]:
    with Path(path).open("rb") as file:
        state = os.fstat(file.fileno())
        yield state, b""
        while block := file.read(_BLOCK_BYTES):
            yield state, block


def check_files(client: Client, hosts: Mapping[str, str], paths: Sequence[str]) -> dict[str, dict[str, int]]:
    """Refuse hosts that do not have the files of this one under the same paths.

    Args:
        client: of the cluster.
        hosts: addresses of workers by names of hosts.
        paths: of the files, absolute.

    Returns:
        By host and path when each file was modified there, in nanoseconds.

    Raises:
        ToolkitError: TK-0210 with the first file that a host lacks or that differs there; TK-0201 where a host
            does not read them, or is silent while it does.
    """
    came: list[Mapping[str, object]] = []

    def ask() -> None:
        with suppress(Exception):  # whatever the cluster's library raises
            workers = list(hosts.values())
            came.append(client.run(beside_its_work, see_files, paths, workers=workers, on_error="return"))

    asking = threading.Thread(target=ask, daemon=True, name="see files elsewhere")
    asking.start()
    here = see_files(paths)
    while asking.is_alive():
        asking.join(_LOOK_SECONDS)
        _refuse_silent(client, hosts)
    asked = came[0] if came else {}
    found: dict[str, dict[str, int]] = {}
    for host, worker in hosts.items():
        there = asked.get(worker)
        if not isinstance(there, dict):
            raise ToolkitError(
                f"host `{host}` did not read the files: {type(there).__name__}", code="TK-0201",
                hint="see whether its worker is still there",
            )  # fmt: skip
        faults = list(_differences(here, there))
        if faults:
            raise ToolkitError(
                f"host `{host}` cannot load: {faults[0]}"
                + (f" (and {counted(len(faults) - 1, 'file')} more)" if faults[1:] else ""),
                code="TK-0210",
                hint="put the files where every host reads them by the same path",
            )
        found[host] = {path: seen.modified for path, seen in there.items()}
    return found


def _refuse_silent(client: Client, hosts: Mapping[str, str]) -> None:
    """Refuse a host that answers nothing: files take as long to read as they are large, a short question does not.

    Raises:
        ToolkitError: TK-0201.
    """
    for host, worker in hosts.items():
        try:
            within(LOST_SECONDS, partial(client.run, look, workers=[worker], on_error="return"))
        except TimeoutError:
            raise ToolkitError(
                f"host `{host}` has not answered for {seconds(LOST_SECONDS)} while it was to read the files",
                code="TK-0201", hint="see whether its worker hangs, and end it",
            ) from None  # fmt: skip
        except Exception:  # noqa: BLE001, S112 - a worker that is gone also ends the reading, which is told then
            continue


def _differences(here: Mapping[str, FileSeen], there: Mapping[str, FileSeen]) -> Iterator[str]:
    for path, ours in here.items():
        its = there[path]
        if its.fault or ours.fault:
            yield f"`{path}` cannot be read {'there' if its.fault else 'here'}: {its.fault or ours.fault}"
        elif its.byte_count != ours.byte_count:
            yield f"`{path}` is another file there: {its.byte_count:,} bytes, and {ours.byte_count:,} here"
        elif its.digest != ours.digest:
            yield f"`{path}` is another file there: of the same size, but not the same in it"
