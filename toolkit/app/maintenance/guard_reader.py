"""Reads guards: from the database in a session of their own, from the host where the database does not tell.

They are read again and again on a thread of its own: a session that hangs never holds up anything else.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import psutil

from toolkit.app.maintenance.guard_readings import (
    READINGS,
    GuardReading,
    GuardReadings,
    behind,
    load_reading,
    space_reading,
)
from toolkit.app.maintenance.plan_targets import TargetStep
from toolkit.dialects.registry import dialect_of, guards_of
from toolkit.errors import ToolkitError, unexpected
from toolkit.executors import open_session
from toolkit.model.engines import engine
from toolkit.model.plan import OF_LOCKS, Guard
from toolkit.model.protocols import Connection, DatabaseError
from toolkit.model.values import Row, Scalar
from toolkit.model.words import Role
from toolkit.rendering import sql_file
from toolkit.runner import spec_of
from toolkit.runner.monitor import TIMEOUT_SECONDS, within
from toolkit.targets.base import SessionTag, Target
from toolkit.units import seconds

_PLACES = "guard_places"
_FIRST_LOOK_SECONDS, _LOOKS_AT_ONCE = 2.0, 5


class _Unread(Exception):  # noqa: N818 - a sentence, not a fault
    """Why something could not be read."""


class GuardReader:
    """Reads the guards of one target; what was refused once is not asked again.

    Args:
        target: where.
        name: of its session.
        jobs: whose objects' tablespaces are watched.
        guards: which are read.
        refused: files and why they were refused, kept from reader to reader.
    """

    def __init__(
        self,
        target: Target,
        name: str,
        jobs: Sequence[TargetStep],
        guards: Collection[Guard],
        refused: dict[str, str],
    ) -> None:
        self._target, self._tag = target, SessionTag(name, "guards")
        self._jobs, self._guards, self._refused = jobs, guards, refused
        self._engine = guards_of(target.engine)
        self._session: Connection | None = None
        self._places: tuple[Row, ...] | None = None
        self._rows: dict[str, tuple[Row, ...]] = {}

    def read(self, ours: Collection[str]) -> GuardReadings:
        """Read every guard once; what cannot be read is a reading too.

        Args:
            ours: names of the runs at work, and of the plan run.
        """
        self._rows = {}
        readings = {guard: self._reading(guard, ours) for guard in self._guards}
        edges = [
            row
            for guard in OF_LOCKS
            for name in self._engine.files.get(guard, ())
            for row in self._rows.get(name, ())
        ]
        return GuardReadings(readings, behind(edges, ours))

    def close(self) -> None:
        """Close the session; never raises."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    # -- one guard ----------------------------------------------------------------------------------------------
    def _reading(self, guard: Guard, ours: Collection[str]) -> GuardReading:
        lacking = self._engine.lacks.get(guard)
        if lacking is not None:
            return GuardReading(None, lacking)
        try:
            if guard in self._engine.files:
                return READINGS[guard](self._answer(guard, ours))
            return self._load() if guard is Guard.LOAD else self._space(guard)
        except _Unread as error:
            return GuardReading(None, "unknown", str(error))

    def _answer(self, guard: Guard, ours: Collection[str]) -> tuple[Row, ...]:
        """Return the rows of the first file of a guard that is not refused."""
        binds: dict[str, Scalar] = {}
        if guard is Guard.ACTIVE_SESSIONS:
            binds = {"ours": _listed(ours)}
        elif guard is Guard.TABLESPACE:
            binds = {"places": _listed(str(row["place"]) for row in self._known_places())}
        reason = ""
        for name in self._engine.files[guard]:
            try:
                return self._file(name, binds)
            except _Unread as error:
                reason = reason or str(error)
        raise _Unread(reason)

    def _load(self) -> GuardReading:
        self._only_here("the load of its host")
        return load_reading([{"load_average": psutil.getloadavg()[0], "cpu_count": psutil.cpu_count()}])

    def _space(self, guard: Guard) -> GuardReading:
        """Return the free bytes of the fullest disk of one kind of place."""
        self._only_here("the free space of its disks")
        kind = guard.value.rpartition(".")[2]
        rows = [row for row in self._known_places() if row["place_kind"] == kind and row["path"]]
        return space_reading(
            [{"place": row["path"], "free_byte_count": self._free(str(row["path"]))} for row in rows]
        )

    def _only_here(self, what: str) -> None:
        if not self._target.local:
            raise _Unread(f"{self._target.engine} does not expose {what} by SQL, and it is on another host")

    def _free(self, path: str) -> int:
        place = Path(path)
        # what an embedded engine has not made yet, it will make in a folder that is there
        while engine(self._target.engine).embedded and not place.exists() and place != place.parent:
            place = place.parent
        try:
            return shutil.disk_usage(place).free
        except OSError as error:
            raise _Unread(f"`{path}` cannot be checked: {(error.strerror or 'unknown').lower()}") from None

    # -- the database -------------------------------------------------------------------------------------------
    def _known_places(self) -> tuple[Row, ...]:
        """Return where the objects of the plan lie; asked once."""
        if self._places is None:
            schemas, tablespaces = self._named()
            binds = {"schemas": _listed(schemas), "tablespaces": _listed(tablespaces)}
            self._places = self._file(_PLACES, binds)
        return self._places

    def _named(self) -> tuple[set[str], set[str]]:
        """Return the schemas and tablespaces that the steps name."""
        dialect = dialect_of(self._target.engine)
        schemas: set[str] = set()
        tablespaces: set[str] = set()
        for job in self._jobs:
            spec = spec_of(job.experiment)
            schemas |= {dialect.parse_name(text).name for text in spec.names("schema")}
            for option in ("table", "index"):
                given = spec.text(option)
                schema = dialect.parse_name(given).schema if given else None
                schemas |= {schema} if schema else set()
            tablespaces |= {dialect.parse_name(str(given)).name for given in spec.values("tablespace")}
        return schemas, tablespaces

    def _file(self, name: str, binds: Mapping[str, Scalar]) -> tuple[Row, ...]:
        if name in self._refused:
            raise _Unread(self._refused[name])
        if name not in self._rows:
            self._rows[name] = self._asked(name, binds)
        return self._rows[name]

    def _asked(self, name: str, binds: Mapping[str, Scalar]) -> tuple[Row, ...]:
        try:
            if self._session is None:
                self._session = open_session(self._target, Role.MONITOR, self._tag, read_only=True)
            return self._session.execute(sql_file(self._target.engine, name), binds or None).rows
        except ToolkitError as error:
            raise _Unread(error.sentence) from None
        except DatabaseError as error:
            if error.lost:
                self.close()
            else:
                self._refused[name] = error.sentence
            raise _Unread(error.sentence) from None


def _listed(names: Iterable[str]) -> str:
    """Spell names between bars, as the files take them."""
    return "|" + "|".join(names) + "|"


# -- again and again ------------------------------------------------------------------------------------------
def look_once(reader: GuardReader, guards: Collection[Guard], ours: Collection[str]) -> tuple[GuardReadings, bool]:
    """Return a look, and whether the reader answered in time; one that did not is to be given up.

    What does not answer in time is closed by its own thread.
    """
    try:
        return within(TIMEOUT_SECONDS, partial(reader.read, ours)), True
    except TimeoutError:
        reason = f"the guards' session did not respond within {seconds(TIMEOUT_SECONDS)}"
        threading.Thread(target=reader.close, daemon=True, name="close guards").start()
    except Exception as error:  # noqa: BLE001 - an internal error must not end the plan run
        reason = unexpected(error).sentence
    return GuardReadings({guard: GuardReading(None, "unknown", reason) for guard in guards}), False


class GuardWatch:
    """Looks from `begin` to `end`; `latest` is the newest look and its number, from 1."""

    def __init__(
        self,
        reader: Callable[[], GuardReader],
        guards: Collection[Guard],
        ours: Callable[[], Collection[str]],
        every_seconds: float,
    ) -> None:
        self._new_reader, self._guards, self._ours, self._every = reader, guards, ours, every_seconds
        self._ended = threading.Event()
        self._looked = threading.Event()
        self._thread: threading.Thread | None = None
        self.latest: tuple[int, GuardReadings] = (0, GuardReadings())

    def begin(self) -> None:
        """Begin to look, and wait a moment for the first look, which the first step must wait for anyway."""
        self._thread = threading.Thread(target=self._run, daemon=True, name="guards")
        self._thread.start()
        self._looked.wait(_FIRST_LOOK_SECONDS)

    def _run(self) -> None:
        reader, number = self._new_reader(), 0
        while not self._ended.is_set():
            look, answered = self._look(reader)
            if not answered:
                reader = self._new_reader()
            number += 1
            self.latest = (number, look)
            self._looked.set()
            self._ended.wait(self._every)
        reader.close()

    def _look(self, reader: GuardReader) -> tuple[GuardReadings, bool]:
        """Return a look; whatever goes wrong is one that shows nothing, for steps wait until there is one.

        A run that begins as the sessions are read would be somebody else's: then they are read again.
        """
        try:
            ours = frozenset(self._ours())
            for _ in range(_LOOKS_AT_ONCE):
                look, answered = look_once(reader, self._guards, ours)
                before, ours = ours, frozenset(self._ours())
                if not answered or ours <= before:
                    break
            return look, answered
        except Exception as error:  # noqa: BLE001 - the store may be locked
            reason = unexpected(error).sentence
            return GuardReadings({guard: GuardReading(None, "unknown", reason) for guard in self._guards}), True

    def end(self) -> None:
        """Look no more; a look that hangs is not waited for much longer than it may take."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(TIMEOUT_SECONDS)
