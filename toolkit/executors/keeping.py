"""Runs the programs of the user's by keepers: processes that outlive dbatk just long enough to end what runs.

Each program on the clock has a keeper of its own, begun before the clock; see `toolkit.executors.keeper`. What is
run off the clock (`--setup`, `--prepare`) has one in the mode that lets a server stay that was started.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from toolkit.design.output_metrics import refused_line
from toolkit.errors import ToolkitError
from toolkit.executors import keeper
from toolkit.executors.devices import why_not_run
from toolkit.executors.output import Output, pipe_of
from toolkit.model.protocols import Answer, DatabaseError, OutputLine
from toolkit.model.steps import Program, Step
from toolkit.model.values import Scalar
from toolkit.model.words import Effect

RUN_VARIABLE = "DBATK_RUN"
_TICK_SECONDS = 0.1
_TIMEOUTS = ((0.0, signal.SIGINT), (10.0, signal.SIGTERM), (15.0, signal.SIGKILL))
"""After how long which signal is sent to a program that is to end."""
_CLOSED_TIMEOUTS = ((0.0, signal.SIGINT), (1.5, signal.SIGTERM), (2.5, signal.SIGKILL))
"""The same once the window is closed in which it may work: what it began has 2 s more, and all ends within 5 s."""
_OWN_TIMEOUTS = ((0.0, signal.SIGINT), (300.0, signal.SIGKILL))
"""The same of one of dbatk's own: it puts back what it changed, and a second signal would end it at once."""
_READ_SECONDS = 10.0
_BEGIN_SECONDS = 60.0
_SHORTEST_SECRET = 3
_HIDDEN = "********"
FIGURES = (
    "user_seconds", "system_seconds", "peak_memory_bytes", "tree_memory_bytes", "read_bytes", "write_bytes",
    "output_bytes",
)  # fmt: skip
"""What is known of a program that ended, beside its exit status and its time."""


def begin_linked(
    arguments: Sequence[str], variables: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Begin a Python process of our own, whose standard input is the other end of the socket that is returned.

    Raises:
        ToolkitError: TK-0203 where no process can be begun.
    """
    ours, its = socket.socketpair()
    try:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=its.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=variables,
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        raise ToolkitError(
            f"no further process can be begun: {(error.strerror or type(error).__name__).lower()}",
            code="TK-0203",
            hint="free memory, or raise the limit of processes (`ulimit -u`)",
        ) from None
    finally:
        its.close()
    return process, ours


@dataclass(slots=True)
class _Keeper:
    """One process that keeps programs."""

    process: subprocess.Popen[bytes]
    link: socket.socket
    lock: threading.Lock = field(default_factory=threading.Lock)
    asked: float | None = None
    """Since when the program is to end; `closed`: since when its window is known to be."""
    sent: list[int] = field(default_factory=list)
    own: bool = False
    """Whether it keeps one of dbatk's own."""
    closed: float | None = None

    def begin(self, *, own: bool) -> None:
        """Keep another program from now on."""
        self.asked, self.closed, self.sent, self.own = None, None, [], own

    def escalate(self, *, closed: bool) -> None:
        """Send the next signal that is due to the program that it keeps; `closed`: its window is."""
        with self.lock:
            now = time.monotonic()
            self.asked = self.asked or now
            counted = [(self.asked, _OWN_TIMEOUTS if self.own else _TIMEOUTS)]
            if closed and not self.own:
                self.closed = self.closed or now
                counted.append((self.closed, _CLOSED_TIMEOUTS))
            due = {number for since, each in counted for seconds, number in each if now - since >= seconds}
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
                if number in due and number not in self.sent:
                    self.sent.append(number)
                    with contextlib.suppress(OSError):
                        keeper.send(self.link, {"signal": int(number)})
                    return

    def answer(self, tick: Callable[[], None]) -> dict[str, object]:
        """Wait for what it says.

        Raises:
            EOFError: it is gone.
        """
        try:
            while not select.select([self.link], [], [], _TICK_SECONDS)[0]:
                tick()
            return keeper.receive(self.link)[0]
        except (OSError, ValueError):  # the other end is gone, or this one was closed
            raise EOFError from None

    def close(self) -> None:
        """Let it end, with all that it keeps."""
        with contextlib.suppress(OSError):
            self.link.shutdown(socket.SHUT_RDWR)  # a thread that waits for its answer is woken, too
        with contextlib.suppress(OSError):
            self.link.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(sum(_TIMEOUTS[-1][:1]))


class KeptPrograms:
    """Runs programs of one run; safe to `cancel` from another thread.

    Args:
        run: its id, which the environment of its keepers tells, and that of the programs on the clock, as does the
            pipe that they write to: by it those are found that a keeper could not end.
        asked_to_end: whether the run is to end.
    """

    def __init__(self, run: str, asked_to_end: Callable[[], bool]) -> None:
        self._run_id, self._variables, self._asked_to_end = run, {RUN_VARIABLE: run}, asked_to_end
        self.closed: Callable[[], bool] = lambda: False
        """Whether the window is closed in which the run may work."""
        self._idle: dict[bool, list[_Keeper]] = {True: [], False: []}
        self._running: list[_Keeper] = []
        self._lock = threading.Lock()

    def make_ready(self, count: int) -> None:
        """Begin as many keepers as programs begin together, before the clock does."""
        while len(self._idle[True]) < count:
            self._idle[True].append(self._begin_keeper(ends_all=True))

    def run(self, step: Step, inherited: dict[str, str]) -> Answer:
        """Run the program of a step to its end.

        Args:
            step: with a program.
            inherited: the variables that it sees beside its own.

        Raises:
            DatabaseError: it cannot be begun, failed, was cancelled, or would overwrite a device in use; `lines`
                hold what it wrote.
            ToolkitError: TK-0107 when a variable is not set.
        """
        program = step.program
        assert program is not None
        if (why := why_not_run(step.argv, program.cwd)) is not None:
            raise DatabaseError(why, code="not-run")
        secrets = _secrets(program)
        variables = self._variables if program.ends_all else {}
        environment = {**inherited, **variables, **secrets, **dict(program.environment)}
        order: dict[str, object] = {
            "argv": _argv(step, program), "path": _path(step, program, environment), "environment": environment,
            "cwd": os.path.abspath(program.cwd or "."),  # noqa: PTH100 (links are followed by the system)
            "stdin": os.path.abspath(program.stdin) if program.stdin else "",  # noqa: PTH100
            "cpus": list(program.cpus),
        }  # fmt: skip
        return self._answer(step, program, order, secrets)

    def _answer(self, step: Step, program: Program, order: dict[str, object], secrets: dict[str, str]) -> Answer:
        output = Output()
        with self._taken(ends_all=program.ends_all, own=program.own) as kept:
            told = self._told(kept, step, order, output)
            asked = kept.asked is not None
        if "begun" not in told:
            raise DatabaseError(_not_begun(step, program, told), code="not-run")
        begun, ended = cast("float", told["begun"]), cast("float", told["ended"])
        lines = tuple(replace(line, text=_scrub(line.text, secrets)) for line in output.lines(begun))
        told["output_bytes"] = float(output.total_bytes)
        row: dict[str, Scalar] = {name: cast("float", told[name]) for name in FIGURES if name in told}
        row |= {
            "exit_status": cast("int", told["exit_status"]),
            "elapsed_seconds": ended - begun,
            "cpu_seconds": cast("float", row["user_seconds"]) + cast("float", row["system_seconds"]),
            "left_out_bytes": output.left_out_bytes,
        }
        error = _error(step, program, told, lines, asked=asked)
        if error is not None:
            raise error
        return Answer((row,), lines=lines, span=(begun, ended))

    def _told(self, kept: _Keeper, step: Step, order: dict[str, object], output: Output) -> dict[str, object]:
        """Let a keeper run a program, and take what that writes meanwhile."""
        ends_all = step.program is not None and step.program.ends_all
        source, sink = pipe_of(self._run_id) if ends_all else os.pipe()
        reader = threading.Thread(target=output.read_all, args=(source,), daemon=True, name="program")

        def tick() -> None:
            if kept.asked is not None or (step.effect is not Effect.DROPS and self._asked_to_end()):
                kept.escalate(closed=self.closed())

        try:
            reader.start()
            keeper.send(kept.link, order, (sink,))
        except BaseException:
            os.close(sink)
            raise
        os.close(sink)
        try:
            told = kept.answer(tick)
        except EOFError:
            raise DatabaseError(
                f"`{_called(step)}` was ended, because the process that kept it was killed", code="keeper-killed"
            ) from None
        reader.join(_READ_SECONDS)
        return told

    @contextlib.contextmanager
    def _taken(self, *, ends_all: bool, own: bool) -> Iterator[_Keeper]:
        """Take a keeper for one program; one that is gone is not used again."""
        with self._lock:
            idle = self._idle[ends_all]
            kept = idle.pop() if idle else None
        kept = kept or self._begin_keeper(ends_all=ends_all)
        kept.begin(own=own)
        with self._lock:
            self._running.append(kept)
        try:
            yield kept
        except BaseException:
            kept.close()
            raise
        else:
            with self._lock:
                self._idle[ends_all].append(kept)
        finally:
            with self._lock:
                self._running.remove(kept)

    def _begin_keeper(self, *, ends_all: bool) -> _Keeper:
        script = str(Path(keeper.__file__))
        arguments = ("-I", "-S", script, "all" if ends_all else "group")
        process, ours = begin_linked(arguments, self._variables)
        made = _Keeper(process, ours)
        until = time.monotonic() + _BEGIN_SECONDS

        def tick() -> None:
            if time.monotonic() > until:
                raise EOFError

        try:
            made.answer(tick)
        except EOFError:
            process.kill()
            made.close()
            raise ToolkitError("a process of dbatk ended as it was begun", code="TK-0901") from None
        return made

    def cancel(self) -> None:
        """Let whatever runs now end; a program that does not listen is killed after a while."""
        with self._lock:
            running = tuple(self._running)
        for kept in running:
            kept.escalate(closed=self.closed())

    @property
    def at_work(self) -> bool:
        """Whether a program runs: it certainly ends, once asked to."""
        return bool(self._running)

    def close(self) -> None:
        """Let the keepers end, with what still runs: nobody waits for it any more."""
        with self._lock:
            kept = [*self._running, *(one for each in self._idle.values() for one in each)]
            self._idle = {True: [], False: []}
        for one in kept:
            one.close()


# -- one program --------------------------------------------------------------------------------------------------
def _called(step: Step) -> str:
    return step.argv[0]


def _secrets(program: Program) -> dict[str, str]:
    for name in program.secret:
        if name not in os.environ:
            raise ToolkitError(
                f"the variable `{name}` of `--env` is not set", code="TK-0107", hint=f"export {name}, or omit it"
            )
    return {name: os.environ[name] for name in program.secret}


def _scrub(text: str, secrets: dict[str, str]) -> str:
    for secret in secrets.values():
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, _HIDDEN)
    return text


def _argv(step: Step, program: Program) -> list[str]:
    return [sys.executable, "-P", "-m", "toolkit", *step.argv[1:]] if program.own else list(step.argv)


def _path(step: Step, program: Program, environment: dict[str, str]) -> str:
    """Find a program as a shell would: by its path, from its own folder, or in the folders of PATH."""
    if program.own:
        return sys.executable
    name = step.argv[0]
    if os.sep in name:
        return os.path.abspath(os.path.join(program.cwd, name))  # noqa: PTH100, PTH118
    return shutil.which(name, path=environment.get("PATH")) or name


def _not_begun(step: Step, program: Program, told: dict[str, object]) -> str:
    what = f" (`{told['file']}`)" if told.get("file") not in (None, step.argv[0]) else ""
    where = f" in `{program.cwd}`" if program.cwd else ""
    return f"`{_called(step)}` cannot be run{where}: {told.get('error')}{what}"


def _error(
    step: Step, program: Program, told: dict[str, object], lines: tuple[OutputLine, ...], *, asked: bool
) -> DatabaseError | None:
    """Tell how a program failed; None when it did not."""
    status, left, called = cast("int", told["exit_status"]), cast("list[str]", told.get("left", [])), _called(step)
    if asked and (program.ends_all or status not in program.allowed):
        return DatabaseError(f"`{called}` was stopped", code="cancelled", cancelled=True, lines=lines)
    if status not in program.allowed:
        texts = (line.text.strip() for line in reversed(lines))
        last = next((text for text in texts if text and not (program.own and text.startswith("hint: "))), "")
        said = f": {last[:200]}" if last else ""
        return DatabaseError(f"`{called}` {_how(status)}{said}", code=f"exit-{status}", lines=lines)
    line = refused_line((line.text for line in lines), program.refused)
    if line is not None:
        return DatabaseError(f"`{called}` wrote: {line.strip()[:200]}", code="output", lines=lines)
    if left:
        also = "" if told.get("ended_all", True) else "; not all could be ended"
        return DatabaseError(
            f"`{called}` ended but left running: {', '.join(left[:5])}, which was ended{also}; what goes on in "
            "the background is not measured",
            code="left-running",
            lines=lines,
        )
    return None


def _how(status: int) -> str:
    if status >= 0:
        return f"ended with exit status {status}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-status).name}"
    return f"was ended by signal {-status}"
