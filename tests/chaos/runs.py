"""A night of the plan as a process, with faults while it works; and many of them, one after the other."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.chaos.faults import Fault
from tests.chaos.world import World
from tests.engines.torn import mend_torn
from tests.servers.forks import Forked

LONGEST_SECONDS = 240
_FIRST_NIGHT = datetime(2027, 3, 1, 22, tzinfo=UTC)
Tell = Callable[[str], None]


@dataclass(slots=True)
class Night:
    """What became of a night: its status, its answer, what was said, and what was done to it."""

    number: int
    status: int
    out: str
    lines: list[str]
    done: list[str] = field(default_factory=list)
    ended_at: float = 0.0
    """By a clock that only goes forward."""
    late_seconds: float | None = None
    """How long after the window had closed it ended."""
    twins: list[tuple[int, str]] = field(default_factory=list)
    """Status and output of the plan begun once more meanwhile."""

    @property
    def steps(self) -> dict[str, tuple[str, str]]:
        """State and reason of each step; nothing where it ended without an answer."""
        try:
            steps = json.loads(self.out)["steps"]
        except (ValueError, KeyError):
            return {}
        return {step["step"]: (step["state"], step["reason"] or "") for step in steps}


class Nights:
    """Runs night after night in a world."""

    def __init__(self, world: World, tell: Tell) -> None:
        self._world, self._tell = world, tell
        self.count = 0
        self.argv: set[str] = set()
        """Every argument that a process of ours was seen with."""

    def run(self, faults: Iterable[Fault] = ()) -> tuple[Night, list[Fault]]:
        """Run a night and return what became of it, and the faults that it was too short for."""
        world = self._world
        self.count += 1
        world.set_clock(_FIRST_NIGHT + timedelta(days=self.count))
        command = ("run", f"{world.plan}.toml", "--json", "--log-format", "json")
        self.argv.update(command)
        answer = world.folder / "answer"
        with answer.open("w") as out:
            working = world.begin(*command, stdout=out.fileno())
        night = Night(self.count, 0, "", [])
        heard: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        listener = threading.Thread(target=_listen, args=(working, night, heard), daemon=True)
        listener.start()
        begun = time.monotonic()
        waiting = deque(faults)
        try:
            while waiting and _let_pass(waiting[0].after_lines, heard):
                time.sleep(waiting[0].delay_seconds)
                self._look_at_arguments(working.pid)
                if working.poll() is not None:
                    break
                night.done.append(self._do(waiting.popleft(), working.pid))
        finally:
            self._end(working, begun, night)
            closes_at, world.closes_at = world.closes_at, None
            night.twins = [self._answer(at, twin) for at, twin in enumerate(world.twins)]
            world.twins.clear()
            (world.folder / "rename").unlink(missing_ok=True)
        listener.join(30)
        if mend_torn(world.duckdb):
            night.done.append("a block of the DuckDB file half written")
        if closes_at is not None:
            night.late_seconds = night.ended_at - closes_at
        assert working.stderr is not None
        working.stderr.close()
        night.out, night.status = answer.read_text(), working.returncode
        log = world.logs / f"{self.count:04}.log"
        log.write_text("\n".join([*night.lines, night.out, *night.done, *map(str, night.twins)]))
        late = "" if night.late_seconds is None else f", {night.late_seconds:.1f} s after its window had closed"
        done = "; ".join(night.done) or "calm"
        self._tell(f"night {self.count} of {world.plan}: exit {night.status}{late}; {done}")
        return night, list(waiting)

    def _do(self, fault: Fault, process: int) -> str:
        try:
            return f"{fault.number} {fault.kind}: {fault.do(self._world, process)}"
        except ProcessLookupError:
            return f"{fault.number} {fault.kind}: the night had just ended"

    def _end(self, working: Forked, begun: float, night: Night) -> None:
        try:
            working.wait(max(1.0, LONGEST_SECONDS - (time.monotonic() - begun)))
        except subprocess.TimeoutExpired:
            working.send_signal(signal.SIGUSR1)
            time.sleep(2)
            working.kill()
            working.wait()
            (self._world.logs / f"{self.count:04}.log").write_text("\n".join([*night.lines, *night.done]))
            raise AssertionError(
                f"night {self.count} did not end within {LONGEST_SECONDS} s; its log: {self._world.logs}"
            ) from None

    def _answer(self, at: int, twin: Forked | subprocess.Popen[str]) -> tuple[int, str]:
        try:
            twin.wait(LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            twin.kill()
            raise AssertionError(
                f"the twin of night {self.count} did not end within {LONGEST_SECONDS} s"
            ) from None
        return twin.returncode, (self._world.folder / f"twin{at}").read_text()

    def _look_at_arguments(self, process: int) -> None:
        import psutil

        try:
            scratch = [psutil.Process(process), *psutil.Process(process).children(recursive=True)]
            self.argv |= {word for each in scratch for word in each.cmdline()}
        except psutil.Error:
            return


def _listen(working: Forked, night: Night, heard: queue.SimpleQueue[str | None]) -> None:
    assert working.stderr is not None
    for line in working.stderr:
        night.lines.append(line.rstrip("\n"))
        heard.put(line)
    night.ended_at = time.monotonic()
    heard.put(None)


def _let_pass(count: int, heard: queue.SimpleQueue[str | None]) -> bool:
    """Wait until so many lines were written; False when the night ended before."""
    for _ in range(count + 1):
        try:
            if heard.get(timeout=LONGEST_SECONDS) is None:
                return False
        except queue.Empty:
            return True
    return True
