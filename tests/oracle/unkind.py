"""Scenes in which an unkind database strikes a run, and the one law that is held against every command.

A case is a command, what strikes it, and what is done next. Of every command that ends by itself: an object that
is not as it was (or as somebody else has set it meanwhile) is named in its output, and its exit is not 0.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import Scenario, Standin, privileges, running_standin
from tests.oracle.standin.faults import (
    BEFORE,
    Act,
    Fault,
    break_connection,
    fail_with,
    kill_client,
    kill_session,
    orphan,
)
from tests.oracle.standin.indexes import table_parts
from tests.servers.forks import Forked

_COPIED = re.compile(r"_I\d+$")
Look = dict[str, dict[str, object]]
Deed = Callable[["Scene"], Act]
Command = tuple[str, ...]


def look(standin: Standin) -> Look:
    """Return every object with all that a run may change of it."""
    state = standin.engine.state
    seen: Look = {}
    for (kind, name), made in state.objects.items():
        if name[1].startswith("SYS_JOURNAL_"):
            continue  # half of an index that is being built: `building` says so
        parts = made.shape.parts if kind == "INDEX" else table_parts(made) if made.bounds else []
        seen[f"{kind} {'.'.join(name)}"] = {
            "object_id": made.object_id, "degree": made.degree, "instances": made.instances,
            "logging": made.logging, "status": made.status,
            "visibility": made.visibility, "building": made.building, "row_movement": made.row_movement,
            "preferences": tuple(sorted(state.statistics.preferences.get(name, {}).items())),
            **{f"logging of {part.name}": part.logging for part in parts},
            **{f"status of {part.name}": part.status for part in parts},
        }  # fmt: skip
    return seen


@dataclass
class Scene:
    """A stand-in with a program that works on it, and what the database should look like."""

    standin: Standin
    folder: Path
    makes: str | None
    due: Look
    process: Forked | None = None
    story: list[str] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)
    """Set when sessions that outlived their clients are to end."""

    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def somebody(self, act: Callable[[], object]) -> None:
        """Let somebody else change something: from now on that is how it is due."""
        before = look(self.standin)
        act()
        after = look(self.standin)
        for name in before.keys() | after.keys():
            if name not in after:
                self.due.pop(name, None)
            elif name not in before:
                self.due[name] = after[name]
            else:
                changed = {key: value for key, value in after[name].items() if before[name].get(key) != value}
                self.due.setdefault(name, {**after[name]}).update(changed) if changed else None

    def run(self, *arguments: str) -> None:
        """Run a command to its end, and hold the law against it."""
        where = wreck.environment(self.standin, self.folder)
        self.process = Forked("tests.oracle.hasty", *arguments, "--json", env={**os.environ, **where})
        out, err = self.process.communicate(timeout=300)
        status = self.process.returncode
        self.story.append(f"{' '.join(arguments[:2])}: exit {status}\n{out}\n{err}")
        assert self.standin.password not in out + err
        assert "Traceback" not in out + err, out + err
        if status is not None and status >= 0:
            wrong = self.wrong()
            said = out + err
            if "cannot connect" in said:  # then the undo script names it
                said += "".join(script.read_text() for script in wreck.undo_scripts(self.folder))
            # an index of a copy goes with it: who names the table names both
            unsaid = [line for name, line in wrong.items() if _COPIED.sub("", name.split(".")[-1]) not in said]
            assert not wrong or (status and not unsaid), "\n".join([*wrong.values(), *self.story])

    def wrong(self) -> dict[str, str]:
        """Return what is not as it should be, with a sentence each."""
        now, found = look(self.standin), {}
        for name in self.due.keys() | now.keys():
            is_now, due = now.get(name), self.due.get(name)
            if name == self.makes and due is None and is_now is not None:
                due = {**is_now, "degree": "1", "instances": "1", "logging": "YES", "status": "VALID",
                       "building": False}  # fmt: skip
            if is_now != due:
                found[name] = f"{name}: {is_now}, due {due}"
        return found


def kill(scene: Scene) -> Act:
    """Kill the client with SIGKILL."""
    return kill_client(scene.pid)


def dba(*statements: str) -> Deed:
    """Let the DBA run statements."""
    return lambda scene: lambda _, __: scene.somebody(lambda: scene.standin.engine.run_as_dba(*statements))


def becomes(**changes: object) -> Deed:
    """Let the database be another from now on."""

    def change(scene: Scene) -> Act:
        def act(*_: object) -> None:
            engine = scene.standin.engine
            engine.scenario = engine.state.scenario = replace(engine.scenario, **changes)  # type: ignore[arg-type]

        return act

    return change


def both(*deeds: Deed) -> Deed:
    """Do one after the other."""

    def make(scene: Scene) -> Act:
        def act(backend: object, state: object) -> None:
            for deed in deeds:
                deed(scene)(backend, state)  # type: ignore[arg-type]

        return act

    return make


def raises(number: int) -> Deed:
    return lambda _: fail_with(number)


def orphaned(scene: Scene) -> Act:
    """Let the network go, unnoticed by the server: the session works on until `release`."""
    return orphan(scene.done)


def killed_orphan(scene: Scene) -> Act:
    """Kill the client; its session works on until `release`."""
    return kill_client(scene.pid, orphan(scene.done))


def killed_deaf(scene: Scene) -> Act:
    """Kill the client; its session works on, and does not see for a while that it is marked for kill."""
    return kill_client(scene.pid, orphan(scene.done, deaf=True))


def release(scene: Scene) -> Act:
    """Let the sessions that outlived their clients come to their end."""

    def act(*_: object) -> None:
        scene.done.set()
        for _ in range(6000):
            if not scene.standin.sessions():
                return
            threading.Event().wait(0.01)
        pytest.fail("a session did not end")

    return act


def locked(table: tuple[str, str], seconds: float) -> Deed:
    """Let somebody's transaction hold a table for so many seconds of waiting."""

    def make(scene: Scene) -> Act:
        return lambda *_: scene.standin.engine.state.locks.update({table: seconds})

    return make


def lands_on(instance: int) -> Deed:
    """Let the next sessions land on another instance."""

    def make(scene: Scene) -> Act:
        return lambda *_: setattr(scene.standin.engine.state, "lands_on", instance)

    return make


def cut(_: Scene) -> Act:
    return break_connection


def ended(_: Scene) -> Act:
    return kill_session


@dataclass(frozen=True)
class Strike:
    """What strikes at the first statement with these words."""

    deed: Deed
    words: str
    when: str = BEFORE
    spared: int = 0


CLEAN = ("clean",)
RESUME = ("runs", "resume", "last", "--not-production")
AGAIN = ("again",)


@dataclass(frozen=True)
class Case:
    """A command, what strikes it, and what is done next; at the end nothing is due."""

    name: str
    command: Command
    strikes: tuple[Strike, ...] = ()
    then: tuple[Command | Deed | Strike, ...] = (CLEAN,)
    scenario: Scenario = field(default_factory=Scenario)
    setup: Callable[[Standin], None] | None = None
    settles: bool = True
    """Whether all is as it should be in the end; else it is left, and said."""


JOB = wreck.OPERATIONS
FOUND = ("--restore", "found")
LIVE = ("index", "rebuild", "--index", "GTEST_IX", "--degree", "1,4", "--repeat", "1", "--on-live-objects", *FOUND)
REBUILD_APP = ("index", "rebuild", "--index", "APP.ORDERS_IX", "--degree", "4", *FOUND)
SALES_NOLOG = ("insert", "--source", "SALES", "--table", "SALES", "--degree", "4", "--nologging")
SALES_IX = ("index", "rebuild", "--index", "SALES_IX", "--degree", "2", "--nologging", *FOUND)
STATS_LIVE = ("stats", "gather", "--schema", "DBATK", "--degree", "1,4", "--repeat", "1", "--warmup", "0",
              "--on-live-objects")  # fmt: skip
ANY = (
    "CREATE SESSION", "CREATE TABLE", "CREATE ANY TABLE", "ALTER ANY TABLE", "DROP ANY TABLE", "CREATE ANY INDEX",
    "ALTER ANY INDEX", "DROP ANY INDEX",
)  # fmt: skip
PARTITIONED = Scenario(partitioned=True)
OTHERS = Scenario(privileges=ANY)
MADE, NEW_IX = 'CREATE TABLE "DBATK"."MADE"', 'CREATE INDEX "DBATK"."NEW_IX"'
IX = ("INDEX", ("DBATK", "GTEST_IX"))
FINE = becomes(
    fail={}, denied=frozenset(), privileges=ANY, grants=privileges.GRANTS, password="tiger", logon=0, views={}
)


def mixed(standin: Standin) -> None:
    """Partitions of a table and of its index that do not agree about LOGGING, and an index with DEFAULT."""
    objects = standin.engine.state.objects
    table, index = objects["TABLE", ("DBATK", "SALES")], objects["INDEX", ("DBATK", "SALES_IX")]
    table_parts(table)[1].logging = "NO"
    index.shape.parts[2].logging = "NO"
    index.degree = index.instances = "DEFAULT"
    table.degree = "8"


def odd_index(standin: Standin) -> None:
    """An index that is INVISIBLE, NOLOGGING and of DEFAULT degree."""
    made = standin.engine.state.objects[IX]
    made.visibility, made.logging = "INVISIBLE", "NO"
    made.degree = made.instances = "DEFAULT"


def unusable(standin: Standin) -> None:
    standin.engine.state.objects[IX].status = "UNUSABLE"


def strike(deed: Deed, words: str, when: str = BEFORE, spared: int = 0) -> tuple[Strike, ...]:
    return (Strike(deed, words, when, spared),)


def play(case: Case, folder: Path) -> None:
    """Play a case to its end, and hold the law against each of its commands."""
    with running_standin(case.scenario) as standin:
        if case.setup is not None:
            case.setup(standin)
        scene = Scene(standin, folder, _made_by(case.command), look(standin))
        faults = standin.engine.faults
        faults += [_fault(scene, each) for each in case.strikes]
        scene.run(*case.command, "-t", standin.url, "--not-production")
        assert all(fault.struck is not None for fault in faults), scene.story
        for step in case.then:
            if isinstance(step, Strike):
                faults.append(_fault(scene, step))
            elif callable(step):
                step(scene)(None, None)  # type: ignore[arg-type]
            elif step == CLEAN:
                scene.run("clean", "-t", standin.url)
            elif step[0] == "clean":
                scene.run(*step, "-t", standin.url)
            elif step == AGAIN:
                scene.run(*case.command, "-t", standin.url, "--not-production")
            else:
                scene.run(*step)
        scene.done.set()
        assert bool(scene.wrong()) is not case.settles, "\n".join([*scene.wrong().values(), *scene.story])


def _fault(scene: Scene, strike: Strike) -> Fault:
    return Fault(strike.deed(scene), words=strike.words, when=strike.when, spared=strike.spared)


def _made_by(command: Command) -> str | None:
    made = {JOB["ctas-job"]: "TABLE DBATK.MADE", JOB["index-build-job"]: "INDEX DBATK.NEW_IX"}
    return next((what for job, what in made.items() if command[: len(job)] == job), None)
