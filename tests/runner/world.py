"""A database that is a dictionary: sessions, catalogue and journal for the runner's own tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.executors import Timeouts
from toolkit.executors.programs import Programs
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.steps import ObjectRef, Step, Timed
from toolkit.model.values import QualifiedName
from toolkit.model.words import Effect, ObjectKind, Role

KEY = "261121051342AB3F"
RUN = "20261121-051342-ab3f"


_IDENTITIES = frozenset({"oracle/identity", "oracle/folder_look"})
_DEFINITIONS = frozenset({"oracle/definition_table", "oracle/definition_index"})


@dataclass
class Thing:
    """What the catalogue says of an object."""

    identity: str
    born: int | None = 100
    mark: str | None = None
    values: dict[tuple[str, str | None], str] = field(default_factory=dict)
    """Attributes by name and part, as `oracle/attributes` shows them."""
    definition: tuple[tuple[str, str], ...] = ()
    """Columns or key, as `oracle/definition_table` shows them."""


class Tagged:
    """A session that can be tagged, and told from others."""

    identity = "sid 1,1"

    def tag(self, action: str) -> None:
        del action


@dataclass
class World:
    """Sessions that answer from a catalogue of things, in Oracle's words; notes what is sent besides its reads."""

    things: dict[str, Thing] = field(default_factory=dict)
    now: int = 50
    fail: dict[str, Exception] = field(default_factory=dict)
    answers: dict[str, tuple[dict[str, str | int | None], ...]] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)
    in_worker: list[tuple[int, str]] = field(default_factory=list)
    forgotten: list[tuple[Role, int]] = field(default_factory=list)
    monitor_queries: int = 0
    orphaned: bool = False
    cut_off: bool = False
    timeouts: Timeouts = field(default_factory=Timeouts)
    programs: Programs = field(default_factory=lambda: Programs(RUN))

    def run(self, step: Step, number: int = 0) -> Answer:
        if step.name in _IDENTITIES:
            thing = self.things.get(step.object.name.name if step.object else str(step.binds["name"]))
            return Answer(({"identity": thing.identity, "born": thing.born, "mark": thing.mark},) if thing else ())
        if step.name == "oracle/attributes":
            return self._attributes(step, number)
        if step.name in _DEFINITIONS:
            thing = self.things.get(str(step.binds["name"]))
            pairs = thing.definition if thing else ()
            return Answer(tuple({"name": name, "value": value} for name, value in pairs))
        if step.name == "oracle/absence":
            there = self.things.get(str(step.binds["name"]))
            return Answer(({"identity": there.identity if there else None, "born": self.now},))
        if step.name == "oracle/instant":
            return Answer(({"born": self.now},))
        if step.name in {"oracle/unfinished", "oracle/renamed", "oracle/folder_list"}:
            return Answer(self.answers.get(step.name, ()))
        self.sent.append(step.text)
        self.monitor_queries += step.session is Role.MONITOR
        if step.session is Role.WORKER:
            self.in_worker.append((number, step.text))
        for words, error in self.fail.items():
            if words in step.text:
                raise error
        if step.effect is Effect.CREATES and step.object is not None:
            self.things[step.object.name.name] = Thing(f"made {len(self.sent)}", self.now + 1)
        if step.effect is Effect.DROPS and step.object is not None:
            self.things.pop(step.object.name.name, None)
        return Answer(self.answers.get(step.text, ()))

    def _attributes(self, step: Step, number: int) -> Answer:
        if step.session is Role.WORKER:
            self.in_worker.append((number, step.name))
        thing = self.things.get(str(step.binds["name"]))
        if thing is None or not thing.values:
            return Answer(())
        own = {"name": "identity", "part": None, "value": thing.identity}
        parts = ({"name": name, "part": part, "value": value} for (name, part), value in thing.values.items())
        return Answer((own, *parts))

    def get(self, role: Role, number: int = 0) -> Tagged:
        del role, number
        return Tagged()

    def deal_out(self, timed: Timed) -> None:
        """All sessions are here."""

    def make_ready(self, timed: Timed) -> None:
        self.programs.make_ready(timed)

    def together(self, number: int, work: Callable[[], None]) -> bool:
        work()
        return True

    def begin_together(self) -> float:
        return time.perf_counter()

    def cancel(self) -> None:
        """Nothing runs long here."""

    def comes_back(self, error: DatabaseError, tried: int) -> bool:
        return False

    def forget(self, role: Role, number: int = 0) -> None:
        self.forgotten.append((role, number))


def refused(words: str = "ORA-01031") -> DatabaseError:
    return DatabaseError(f"{words}: insufficient privileges\nmore", code=words)


def table(name: str = f"DBATK_{KEY}_1", *, scratch: bool = True) -> ObjectRef:
    return ObjectRef(ObjectKind.TABLE, QualifiedName(name, "APP"), scratch)


def index(name: str = "ORDERS_IX", *, scratch: bool = False, on: str = "ORDERS") -> ObjectRef:
    return ObjectRef(ObjectKind.INDEX, QualifiedName(name, "APP"), scratch, QualifiedName(on, "APP"))


def folder(name: str, parent: str = "/backup") -> ObjectRef:
    return ObjectRef(ObjectKind.BACKUP, QualifiedName(name, parent), scratch=True)


def create(ref: ObjectRef, *undo: str) -> Step:
    return Step("create", f"CREATE {ref.name}", effect=Effect.CREATES, object=ref, undo=undo)


def change(ref: ObjectRef, *undo: str) -> Step:
    return Step("change", f"ALTER {ref.name} PARALLEL 8", effect=Effect.CHANGES, object=ref, undo=undo)


def drop(ref: ObjectRef) -> Step:
    return Step("drop", f"DROP {ref.name}", effect=Effect.DROPS, object=ref)


__all__ = [
    "DIALECT",
    "KEY",
    "RUN",
    "Thing",
    "World",
    "change",
    "create",
    "drop",
    "folder",
    "index",
    "refused",
    "table",
]
