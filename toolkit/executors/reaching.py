"""Whether a database answers anybody: asked in a session of its own, in one way for runs, plans and outlooks."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.model.engines import engine
from toolkit.model.protocols import Connection, DatabaseError
from toolkit.model.words import EngineName, Role
from toolkit.rendering import step_of
from toolkit.targets.base import SessionTag, Target, UnheardError

PROBE_SECONDS = 20.0
"""How long a database has for an answer."""
_PROBE = SessionTag("dbatk probe")


def unreachable(target: Target) -> ToolkitError:
    """Return the error of a database that says nothing."""
    return ToolkitError(f"cannot connect to `{target.display}`: no response", code="TK-0201")


class Reach(Enum):
    """What came of asking a database in a new session. A refusal of the server's answers: all may be in use.

    Where this host starts no thread to ask in, nothing is learned of the database.
    """

    NOTHING_YET = auto()
    NOT_ASKED = auto()
    ANSWERS = auto()
    SILENT = auto()
    NO_WAY_IN = auto()


@dataclass(slots=True)
class Asking:
    """A new session that asks whether the database answers, and which sessions of a run work there."""

    target: Target
    begun: float
    run: str | None = None
    found: Reach = Reach.NOTHING_YET
    refused: str | None = None
    """Why there is no session, in the words of who refused it."""
    idle: frozenset[str] = frozenset()
    there: frozenset[str] | None = None
    """All sessions that the server has; None where that cannot be told."""

    def begin(self) -> threading.Thread | None:
        """Ask in a thread and return it, or None where this host starts no more: nobody is asked then."""
        thread = threading.Thread(target=self.ask, daemon=True, name="probe")
        try:
            thread.start()
        except RuntimeError:
            return None
        return thread

    def ask(self) -> None:
        try:
            session = self.target.connect(Role.MONITOR, _PROBE, read_only=True)
        except UnheardError as error:
            self.refused, self.found = error.sentence, Reach.SILENT if error.timed_out else Reach.NO_WAY_IN
        except (ToolkitError, DatabaseError) as error:
            by_nobody = engine(self.target.engine).embedded  # there is no server that could refuse
            self.refused, self.found = error.sentence, Reach.NO_WAY_IN if by_nobody else Reach.ANSWERS
        else:
            if self.run is not None:
                self.idle = _idle_sessions(session, self.target, self.run)
                self.there = _sessions_there(session, self.target)
            session.close()
            self.found = Reach.ANSWERS


def _idle_sessions(session: Connection, target: Target, run: str) -> frozenset[str]:
    """Return which sessions of a run the database shows at no work; what it does not show is not among them."""
    dialect = dialect_of(target.engine)
    step = step_of(dialect, dialect.sessions_of(run))
    try:
        rows = session.execute(step.text, step.binds).rows
    except (DatabaseError, ToolkitError):  # no right to look
        return frozenset()
    return frozenset(str(row["session_id"]) for row in rows if row.get("at_work") == "no")


def _sessions_there(session: Connection, target: Target) -> frozenset[str] | None:
    """Return all sessions of the server; None where a pooler before it has numbers of its own."""
    dialect = dialect_of(target.engine)
    call = dialect.sessions_there()
    if call is None:
        return None
    step = step_of(dialect, call)
    try:
        rows = session.execute(step.text, step.binds).rows
    except (DatabaseError, ToolkitError):
        return None
    own = {str(row["session_id"]) for row in rows if row["asks"] == "yes"}
    if own != {number_of(session)}:
        return None
    return frozenset(str(row["session_id"]) for row in rows)


def number_of(session: Connection) -> str:
    """Return what the database lists of `pid 12` or `sid 7,41`."""
    return session.identity.rpartition(" ")[2]


@dataclass(frozen=True, slots=True)
class Reached:
    """Whether a database answers, and why it refuses a session, if it does."""

    reach: Reach
    refused: str | None = None

    @property
    def answers(self) -> bool:
        return self.reach is Reach.ANSWERS


def reach(target: Target, seconds: float = PROBE_SECONDS) -> Reached:
    """Ask a database in a new session whether it answers.

    Args:
        target: the database.
        seconds: how long it has for an answer.
    """
    probe = Asking(target, time.monotonic())
    asking = probe.begin()
    if asking is None:
        return Reached(Reach.NOT_ASKED, "this host starts no more threads")
    asking.join(seconds)
    if probe.found is Reach.NOTHING_YET:
        return Reached(Reach.SILENT, unreachable(target).sentence)
    return Reached(probe.found, probe.refused)


# -- what was cancelled and does not end ------
SILENT_SECONDS, EMBEDDED_SILENT_SECONDS = 20.0, 1.0
"""How long a cancel may be without effect before it is asked whether any may still come."""
_LOOKS, _WATCHED_SECONDS = 5, 0.4
"""With the wait before them 3 s: a window that closes is obeyed within 5 s."""
_LEAST_CPU_SECONDS, _LEAST_BYTES = 0.012, 1 << 20
"""Signs of life: CPU within one look, and what is read and written within all; heartbeats of a run use less."""
_TASKS = Path("/proc/self/task")


def silent_seconds(name: EngineName) -> float:
    """Return how long a cancelled statement of an engine is waited for before `may_still_end` is asked."""
    return EMBEDDED_SILENT_SECONDS if engine(name).embedded else SILENT_SECONDS


def may_still_end(target: Target) -> bool:
    """Tell whether a statement that was cancelled may come to its end: a rollback may take long.

    A server that answers is at work on it, and one that could not be asked may be. A database in this process is,
    if this process uses CPU, reads or writes, or waits in the kernel for a disk, as a rollback to slow storage
    does: DuckDB waits for itself without end where EXPORT DATABASE is interrupted in an unlucky moment.
    """
    if not engine(target.engine).embedded:
        found = reach(target)
        return found.answers or found.reach is Reach.NOT_ASKED
    moved = _bytes_moved()
    for _ in range(_LOOKS):
        before = time.process_time()
        time.sleep(_WATCHED_SECONDS)
        if time.process_time() - before >= _LEAST_CPU_SECONDS or _waits_for_disk():
            return True
        if _bytes_moved() - moved >= _LEAST_BYTES:
            return True
    return False


def _bytes_moved() -> int:
    """Return how many bytes this process has read and written; 0 where the system does not count them (macOS)."""
    import psutil

    try:
        found = psutil.Process().io_counters()
    except (AttributeError, psutil.Error):
        return 0
    # Linux counts calls (`chars`), whatever the kernel keeps in memory, and `bytes` of local disks only.
    counted = ("read_chars", "write_chars") if hasattr(found, "read_chars") else ("read_bytes", "write_bytes")
    return sum(int(getattr(found, name)) for name in counted)


def _waits_for_disk() -> bool:
    """Tell whether the kernel shows a thread of this process in uninterruptible sleep (`D`); only Linux does."""
    for stat in _TASKS.glob("*/stat"):
        with suppress(OSError, IndexError):  # a thread that ends meanwhile
            # The name before the state may have spaces and parentheses itself (proc_pid_stat(5)).
            if stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0] == "D":
                return True
    return False
