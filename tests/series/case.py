"""One case: a command that a fault strikes at one of its statements, then two words that repair what it left."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from tests.series.checks import Checks
from tests.series.faults import Fault
from tests.series.place import Place
from tests.series.work import Work
from tests.servers import forks
from toolkit.store import open_store

LONGEST_SECONDS = 150
ORDERS = (("resume", "clean"), ("clean", "resume"), ("clean", "clean"), ("resume", "resume"))
_APPROVED = ("--not-production",)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what a fault did to it (None where it ended before its statement was reached)."""

    status: int
    out: str
    err: str
    struck: str | None = None

    @property
    def how(self) -> str:
        return f"{self.status} {self.error or ''}".rstrip()

    @property
    def error(self) -> str | None:
        """The code of the error that it ended with."""
        try:
            return str(json.loads(self.out)["error"]["code"])
        except (ValueError, KeyError):
            return None


@dataclass(slots=True)
class Case:
    """A work, a fault at a statement of it, and the words in their order; perhaps a fault in the first of them."""

    number: int
    work: Work
    fault: Fault | None
    at: int
    order: Sequence[str]
    second: Fault | None = None
    second_at: int = 0
    told: list[str] = field(default_factory=list)

    def play(self, place: Place) -> list[str]:
        """Return what was wrong, in sentences."""
        cut = self.fault is not None and self.fault.kind == "cut"
        checks = Checks(place, self.work, network_was_cut=cut)
        try:
            self._play(place, checks)
        finally:
            place.proxy.flow()
            place.proxy.cut(reset=True)
            checks.close()
        checks.when_all_is_over()
        return checks.wrong

    def _play(self, place: Place, checks: Checks) -> None:
        ended = run(place, self.work.command(place.url, place.schema, place.folders), self.fault, self.at)
        self.told.append(f"{ended.struck or 'calm'}: {ended.how}")
        checks.after_a_fault("run", ended.status, ended.out + ended.err)
        if half_done := checks.half_done():
            self.told.append(f"half-done: {', '.join(half_done)}")
        for place_in_order, word in enumerate(self.order):
            second = self.second if place_in_order == 0 else None
            if second is not None:
                ended = self._word(place, word, checks, second)
                self.told.append(f"{word}, {ended.struck or 'calm'}: {ended.how}")
                checks.after_a_fault(word, ended.status, ended.out + ended.err)
            ended = self._word(place, word, checks)
            self.told.append(f"{word}: {ended.how}")
            checks.after_a_word(word, ended.status, ended.out + ended.err)

    def _word(self, place: Place, word: str, checks: Checks, fault: Fault | None = None) -> Ended:
        if word == "clean":
            ended = run(place, ("clean", "--target", place.url, "--json"), fault, self.second_at)
            if self.work.is_mix and fault is None and ended.status == 0:
                ended = run(place, ("clean", "--target", "host://", "--json"))
            return ended
        with open_store(place.store) as store:
            heads = [head for head in store.list_runs() if head.parent is None or not self.work.is_mix]
        if not heads:
            return Ended(0, "", "")
        where = ("--allow-commands",) if self.work.is_mix else ("--target", place.url)
        resume = ("runs", "resume", heads[0].run, *where, *_APPROVED, "--json")
        ended = run(place, resume, fault, self.second_at)
        for _ in range(3):
            if not (self.work.is_load and fault is None and ended.error == "TK-0209"):
                break
            rows = "there" if checks.is_loaded() else "missing"
            self.told.append(f"rows {rows}")
            ended = run(place, (*resume, "--rows", rows))
        return ended


def run(place: Place, command: tuple[str, ...], fault: Fault | None = None, at: int = 0) -> Ended:
    """Run a command to its end, and let a fault strike at its n-th statement."""
    with _gate() as (listener, address):
        process = place.begin(command, SERIES_GATE=address, SERIES_AT=str(at if fault else 0))
        said = _Said(process)
        held = None if fault is None else _held(listener, process)
        if fault is None or held is None:
            return said.ended()
        text = " ".join(held[1].split())[:60]
        if fault.after_seconds is not None:
            held[0].close()
            time.sleep(fault.after_seconds)
        if process.poll() is not None:
            return said.ended()
        with fault.done(place, process.pid) as struck:
            held[0].close()
            begun = time.monotonic()
            while process.poll() is None and not _is_over(fault, begun):
                time.sleep(0.02)
        when = "before" if fault.after_seconds is None else f"{fault.after_seconds:.2f} s after"
        lasted = "" if fault.lasts_seconds is None else f" for {fault.lasts_seconds:g} s"
        ended = said.ended(f"{struck}{lasted} {when} `{text}`")
        too_late = ended.status >= 0 and struck.startswith("dbatk killed")
        return replace(ended, struck=None) if too_late else ended


def _is_over(fault: Fault, begun: float) -> bool:
    elapsed = time.monotonic() - begun
    return elapsed > (LONGEST_SECONDS if fault.lasts_seconds is None else fault.lasts_seconds)


class _Said:
    """What a process says, read in threads of its own."""

    def __init__(self, process: forks.Forked) -> None:
        assert process.stderr is not None
        self._process = process
        self._texts = ["", ""]
        streams = (process.stdout, process.stderr)
        self._threads = [
            threading.Thread(target=self._read, args=each, daemon=True) for each in enumerate(streams)
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, number: int, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self._texts[number] += line

    @property
    def so_far(self) -> str:
        return "".join(self._texts)

    def ended(self, struck: str | None = None) -> Ended:
        """Wait for its end."""
        try:
            status = self._process.wait(LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._read_to_end()
            what = f"not over after {LONGEST_SECONDS} s ({struck}): {self._process.args}"
            raise AssertionError(f"{what}, and said:\n{self.so_far}") from None
        self._read_to_end()
        return Ended(status, self._texts[0], self._texts[1], struck)

    def _read_to_end(self) -> None:
        for thread in self._threads:
            thread.join(LONGEST_SECONDS)


@contextlib.contextmanager
def _gate() -> Iterator[tuple[socket.socket, str]]:
    with tempfile.TemporaryDirectory(prefix="gate-") as folder, socket.socket(socket.AF_UNIX) as listener:
        address = str(Path(folder) / "gate")
        listener.bind(address)
        listener.listen()
        listener.settimeout(0.02)
        yield listener, address


def _held(listener: socket.socket, process: forks.Forked) -> tuple[socket.socket, str] | None:
    """Wait until a process is held at its statement; None when it ended before."""
    while True:
        try:
            line, _ = listener.accept()
        except TimeoutError:
            if process.poll() is not None:
                return None
            continue
        line.settimeout(10)
        text = b""
        while data := line.recv(65536):
            text += data
        return line, text.decode()


def traced(place: Place, work: Work) -> list[str]:
    """Run a work in peace, and return its statements."""
    trace = place.folder / "trace"
    trace.unlink(missing_ok=True)
    process = place.begin(work.command(place.url, place.schema, place.folders), SERIES_TRACE=str(trace))
    out, err = process.communicate(timeout=LONGEST_SECONDS)
    assert process.wait() in (0, 3), (work.name, out, err)
    return [json.loads(line) for line in trace.read_text().splitlines()]
