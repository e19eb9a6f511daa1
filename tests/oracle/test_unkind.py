"""What an unkind database does to a run: all is as it was afterwards, or the exit is not 0 and it is named.

Each case is a command, what strikes it, and what is done next. One law is held against every command that ends
by itself: an object that is not as it was (or as somebody else has set it meanwhile) is named in its output, and
its exit is not 0.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import Scenario, Standin, privileges, running_standin
from tests.oracle.standin.faults import (
    AFTER,
    BEFORE,
    DURING,
    Act,
    Fault,
    break_connection,
    fail_with,
    kill_client,
    kill_session,
)
from tests.oracle.standin.indexes import table_parts
from tests.servers.forks import Forked
from tests.tiers import thinned

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
            "object_id": made.object_id, "degree": made.degree, "logging": made.logging, "status": made.status,
            "visibility": made.visibility, "building": made.building,
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
        self.process = Forked("toolkit", *arguments, "--json", env={**os.environ, **where})
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
            unsaid = [line for name, line in wrong.items() if name.split(".")[-1] not in said]
            assert not wrong or (status and not unsaid), "\n".join([*wrong.values(), *self.story])

    def wrong(self) -> dict[str, str]:
        """Return what is not as it should be, with a sentence each."""
        now, found = look(self.standin), {}
        for name in self.due.keys() | now.keys():
            is_now, due = now.get(name), self.due.get(name)
            if name == self.makes and due is None and is_now is not None:
                due = {**is_now, "degree": "1", "logging": "YES", "status": "VALID", "building": False}
            if is_now != due:
                found[name] = f"{name}: {is_now}, due {due}"
        return found


def kill(scene: Scene) -> Act:
    """Kill the client with SIGKILL."""

    def pid() -> int:
        assert scene.process is not None
        return scene.process.pid

    return kill_client(pid)


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
LIVE = ("index", "rebuild", "--index", "GTEST_IX", "--degree", "1,4", "--repeat", "1", "--on-live-objects")
REBUILD_APP = ("index", "rebuild", "--index", "APP.ORDERS_IX", "--degree", "4")
SALES_NOLOG = ("insert", "--source", "SALES", "--table", "SALES", "--degree", "4", "--nologging")
SALES_IX = ("index", "rebuild", "--index", "SALES_IX", "--degree", "2", "--nologging")
STATS_LIVE = ("stats", "gather", "--schema", "DBATK", "--degree", "1,4", "--repeat", "1", "--warmup", "0",
              "--on-live-objects")  # fmt: skip
ANY = (
    "CREATE SESSION", "CREATE TABLE", "CREATE ANY TABLE", "ALTER ANY TABLE", "DROP ANY TABLE", "CREATE ANY INDEX",
    "ALTER ANY INDEX", "DROP ANY INDEX",
)  # fmt: skip
_ONCE_BROKEN = (
    "rebuild killed online", "all grants on the table revoked in a load", "work schema, DROP revoked",
    "ORA-01031 at DROP",
)  # fmt: skip
PARTITIONED = Scenario(partitioned=True)
OTHERS = Scenario(privileges=ANY)
MADE, NEW_IX = 'CREATE TABLE "DBATK"."MADE"', 'CREATE INDEX "DBATK"."NEW_IX"'
IX = ("INDEX", ("DBATK", "GTEST_IX"))
FINE = becomes(fail={}, denied=frozenset(), privileges=ANY, grants=privileges.GRANTS, password="tiger")


def mixed(standin: Standin) -> None:
    """Partitions of a table and of its index that do not agree about LOGGING, and an index with DEFAULT."""
    objects = standin.engine.state.objects
    table, index = objects["TABLE", ("DBATK", "SALES")], objects["INDEX", ("DBATK", "SALES_IX")]
    table_parts(table)[1].logging = "NO"
    index.shape.parts[2].logging = "NO"
    index.degree = "DEFAULT"
    table.degree = "8"


def odd_index(standin: Standin) -> None:
    """An index that is INVISIBLE, NOLOGGING and of DEFAULT degree."""
    made = standin.engine.state.objects[IX]
    made.visibility, made.logging, made.degree = "INVISIBLE", "NO", "DEFAULT"


def unusable(standin: Standin) -> None:
    standin.engine.state.objects[IX].status = "UNUSABLE"


def strike(deed: Deed, words: str, when: str = BEFORE, spared: int = 0) -> tuple[Strike, ...]:
    return (Strike(deed, words, when, spared),)


def cases() -> list[Case]:
    """Return every case."""
    return [*_killed(), *_undone(), *_others(), *_refused(), *_space(), *_shapes()]


def _killed() -> list[Case]:
    return [
        Case("ctas killed before", JOB["ctas-job"], strike(kill, MADE), (CLEAN, CLEAN)),
        Case("ctas killed after, cleaned twice", JOB["ctas-job"], strike(kill, MADE, AFTER), (CLEAN, CLEAN)),
        Case("ctas killed, resumed twice", JOB["ctas-job"], strike(kill, MADE, AFTER), (RESUME, RESUME, CLEAN)),
        Case("ctas killed, cleaned, resumed", JOB["ctas-job"], strike(kill, MADE, AFTER), (CLEAN, RESUME, CLEAN)),
        Case("ctas killed, again, cleaned", JOB["ctas-job"], strike(kill, MADE, AFTER), (AGAIN, CLEAN)),
        Case("insert killed", JOB["insert-job"], strike(kill, "INSERT /*+", AFTER), (CLEAN, RESUME, CLEAN)),
        Case("insert killed at COMMIT", JOB["insert-job"], strike(kill, "COMMIT", AFTER), (RESUME, CLEAN)),
        Case("build killed online", (*JOB["index-build-job"], "--online"), strike(kill, NEW_IX, DURING),
             (CLEAN, RESUME, AGAIN, CLEAN), settles=False),
        Case("rebuild killed online", (*JOB["index-rebuild-job"], "--online"), strike(kill, "REBUILD", DURING),
             (CLEAN, RESUME, AGAIN, CLEAN), setup=wreck.prepare, settles=False),
        Case("rebuild killed at undo", JOB["index-rebuild-job"], strike(kill, "PARALLEL 2"), (CLEAN, CLEAN),
             setup=wreck.prepare),
        Case("rebuild killed after undo", JOB["index-rebuild-job"], strike(kill, "PARALLEL 2", AFTER),
             (RESUME, CLEAN), setup=wreck.prepare),
        Case("clean killed too", JOB["index-rebuild-job"], strike(kill, "REBUILD", AFTER),
             (Strike(kill, "PARALLEL 2"), CLEAN, Strike(kill, "LOGGING"), CLEAN, CLEAN), setup=wreck.prepare),
        Case("resume killed too", JOB["index-build-job"], strike(kill, NEW_IX, AFTER),
             (Strike(kill, '"NEW_IX"'), RESUME, RESUME, CLEAN)),
        Case("clean killed at DROP", JOB["insert-sweep"], strike(kill, "INSERT /*+", AFTER),
             (Strike(kill, "DROP TABLE", AFTER), CLEAN, CLEAN)),
        Case("sweep killed, DBA drops, resumed", JOB["index-rebuild-sweep"], strike(kill, "REBUILD", AFTER),
             (RESUME, CLEAN)),
        Case("live sweep killed", LIVE, strike(kill, "REBUILD", AFTER, 1), (RESUME, CLEAN), setup=wreck.prepare),
        Case("live sweep killed, killed again", LIVE, strike(kill, "REBUILD", AFTER),
             (Strike(kill, "REBUILD", AFTER), RESUME, CLEAN, RESUME, CLEAN), setup=wreck.prepare),
        Case("live statistics killed", STATS_LIVE, strike(kill, "GATHER_"), (CLEAN, CLEAN)),
        Case("live statistics killed at undo", STATS_LIVE, strike(kill, "TABLE_PREFS", BEFORE, 1), (CLEAN, CLEAN)),
    ]  # fmt: skip


def _undone() -> list[Case]:
    busy_index, busy_table = becomes(fail={"alter_index": 54}), becomes(fail={"alter_table": 54})
    return [
        Case("ORA-00054 at undo of degree", JOB["index-rebuild-job"], strike(busy_index, "PARALLEL 2"),
             (CLEAN, FINE, CLEAN), setup=wreck.prepare),
        Case("ORA-00054 at undo of logging", JOB["insert-job"], strike(busy_table, '"ORDERS" LOGGING'),
             (CLEAN, CLEAN, FINE, CLEAN)),
        Case("ORA-00054 at undo of ctas", JOB["ctas-job"], strike(busy_table, '"MADE" NOPARALLEL'),
             (CLEAN, FINE, CLEAN)),
        Case("ORA-00054 at undo of build", JOB["index-build-job"], strike(busy_index, '"NEW_IX" NOPARALLEL'),
             (RESUME, FINE, RESUME, CLEAN)),
        Case("ORA-00054 at undo, live sweep", LIVE, strike(busy_index, "PARALLEL 2"), (CLEAN, FINE, CLEAN),
             setup=wreck.prepare),
        Case("ORA-04031 once at undo", JOB["index-rebuild-job"], strike(raises(4031), "PARALLEL 2"),
             setup=wreck.prepare),
        Case("ORA-02396 at undo", JOB["index-rebuild-job"], strike(raises(2396), "PARALLEL 2"),
             setup=wreck.prepare),
        Case("ORA-01012 at undo", JOB["ctas-job"], strike(raises(1012), '"MADE" NOPARALLEL')),
        Case("ORA-02396 in sweep", JOB["insert-sweep"], strike(raises(2396), "DROP TABLE")),
        Case("session killed at undo", JOB["index-rebuild-job"], strike(ended, "PARALLEL 2"), setup=wreck.prepare),
        Case("cut, password changed", JOB["index-rebuild-job"],
             strike(both(becomes(password="lion"), cut), "REBUILD", AFTER), (CLEAN, FINE, CLEAN),
             setup=wreck.prepare),
        Case("cut, KILL SESSION refused", JOB["insert-job"],
             strike(both(becomes(fail={"kill": 1031}), cut), "INSERT /*+", AFTER), (CLEAN, RESUME, FINE, CLEAN)),
        Case("ORA-01031 at DROP", JOB["index-build-sweep"], strike(becomes(fail={"drop_index": 1031,
             "drop_table": 1031}), "DROP "),
             (CLEAN, RESUME, FINE, CLEAN)),
        Case("undo of preferences refused", STATS_LIVE,
             strike(becomes(fail={"dbms_stats": 20000, "stats_if_there": 20000}), "GATHER_"), (CLEAN, FINE,
             CLEAN)),
    ]  # fmt: skip


def _others() -> list[Case]:
    return [
        Case("DBA drops the new table", JOB["ctas-job"], strike(dba('DROP TABLE "DBATK"."MADE" PURGE'), MADE,
             AFTER)),
        Case("DBA makes the index anew after a kill", JOB["index-build-job"], strike(both(
            dba('DROP INDEX "DBATK"."NEW_IX"',
            'CREATE INDEX "DBATK"."NEW_IX" ON "DBATK"."GTEST" ("AMOUNT") PARALLEL 4'),
            kill), '"NEW_IX" NOPARALLEL'), (RESUME, CLEAN, CLEAN)),
        Case("DBA sets LOGGING during a load", JOB["insert-job"],
             strike(dba('ALTER TABLE "APP"."ORDERS" LOGGING'), "INSERT /*+")),
        Case("DBA drops the index during a rebuild", JOB["index-rebuild-job"],
             strike(dba('DROP INDEX "DBATK"."GTEST_IX"'), "REBUILD", AFTER)),
        Case("DBA drops the index before a rebuild", JOB["index-rebuild-job"],
             strike(dba('DROP INDEX "DBATK"."GTEST_IX"'), "REBUILD")),
        Case("DBA drops the live index in a sweep", LIVE,
             strike(dba('DROP INDEX "DBATK"."GTEST_IX"'), "REBUILD", AFTER, 1), setup=wreck.prepare),
        Case("DBA makes the live index unusable", LIVE,
             strike(dba('ALTER INDEX "DBATK"."GTEST_IX" UNUSABLE'), "REBUILD", AFTER, 3), setup=wreck.prepare),
        Case("DBA drops the source", JOB["ctas-job"],
             strike(dba('DROP TABLE "DBATK"."GTEST" PURGE'), MADE)),
        Case("DBA drops the table under an index", JOB["index-build-job"],
             strike(dba('DROP TABLE "DBATK"."GTEST" PURGE'), NEW_IX, AFTER)),
        Case("the former value set again by hand after a kill", JOB["index-rebuild-job"],
             strike(both(dba('ALTER INDEX "DBATK"."GTEST_IX" PARALLEL 2'), kill), "REBUILD", AFTER), (CLEAN,
             CLEAN), setup=wreck.prepare),
    ]  # fmt: skip


def _refused() -> list[Case]:
    blind = frozenset({"DBA_OBJECTS", "DBA_INDEXES", "DBA_TABLES"})
    return [
        Case("ALTER ANY INDEX revoked", REBUILD_APP,
             strike(becomes(privileges=ANY[:2]), "REBUILD", AFTER), (CLEAN, FINE, CLEAN), OTHERS),
        Case("DBA_OBJECTS revoked", REBUILD_APP,
             strike(becomes(denied=blind), "REBUILD", AFTER), (CLEAN, CLEAN, FINE, CLEAN), OTHERS),
        Case("all grants on the table revoked", REBUILD_APP,
             strike(becomes(grants={}, denied=blind), "REBUILD", AFTER), (CLEAN, FINE, CLEAN), OTHERS),
        Case("all grants revoked, killed", REBUILD_APP,
             strike(both(becomes(grants={}, denied=blind), kill), "REBUILD", AFTER), (CLEAN, RESUME, FINE,
             CLEAN), OTHERS),
        Case("ALL_INDEXES unreadable", JOB["index-rebuild-job"],
             strike(becomes(denied=frozenset({"ALL_INDEXES"})), "REBUILD", AFTER), (CLEAN, FINE, CLEAN),
             setup=wreck.prepare),
        Case("ALL_OBJECTS unreadable", JOB["index-rebuild-job"],
             strike(becomes(denied=frozenset({"ALL_OBJECTS", "DBA_OBJECTS"})), "REBUILD", AFTER), (CLEAN, FINE,
             CLEAN),
             setup=wreck.prepare),
        Case("ALL_TABLES unreadable", JOB["insert-job"],
             strike(becomes(denied=frozenset({"ALL_TABLES"})), "INSERT /*+"), (CLEAN, FINE, CLEAN)),
        Case("ALTER on the table revoked", JOB["insert-job"],
             strike(becomes(grants={("APP", "ORDERS"): frozenset({"SELECT", "INSERT"})}), "INSERT /*+"),
             (CLEAN, FINE, CLEAN)),
        Case("all grants on the table revoked in a load", JOB["insert-job"],
             strike(both(becomes(grants={})), "INSERT /*+"), (CLEAN, FINE, CLEAN)),
        Case("work schema, DROP revoked",
             ("ctas", "--source", "GTEST", "--table", "MADE", "--work-schema", "APP", "--degree", "1,4",
             "--repeat", "1"),
             strike(becomes(privileges=ANY[:2]), "DROP TABLE"), (CLEAN, RESUME, FINE, CLEAN), OTHERS),
        Case("work schema, unseen",
             ("ctas", "--source", "GTEST", "--table", "MADE", "--work-schema", "APP", "--degree", "1,4",
             "--repeat", "1"),
             strike(becomes(denied=blind), 'CREATE TABLE "APP"."DBATK_', AFTER), (CLEAN, FINE, CLEAN), OTHERS),
    ]  # fmt: skip


def _space() -> list[Case]:
    return [
        Case("ORA-01536 in a sweep", JOB["insert-sweep"], strike(raises(1536), "INSERT /*+", BEFORE, 1)),
        Case("ORA-01536 in every load", JOB["insert-sweep"], strike(becomes(fail={"insert": 1536}),
             "INSERT /*+", BEFORE, 1)),
        Case("ORA-01555 in a ctas", JOB["ctas-job"], strike(raises(1555), MADE)),
        Case("ORA-12801 over ORA-01555 in a sweep", JOB["ctas-sweep"], strike(becomes(fail={"ctas": (12801,
             1555)}), "CREATE TABLE")),
        Case("ORA-30036 in a load", JOB["insert-job"], strike(raises(30036), "INSERT /*+")),
        Case("ORA-01652 in a rebuild online", (*JOB["index-rebuild-job"], "--online"), strike(raises(1652),
             "REBUILD"),
             setup=wreck.prepare),
        Case("ORA-01652 half-way in a rebuild online", (*JOB["index-rebuild-job"], "--online"),
             strike(raises(1652), "REBUILD", DURING), setup=wreck.prepare, settles=False),
        Case("ORA-01652 half-way in a live sweep online", (*LIVE, "--online"),
             strike(raises(1652), "REBUILD", DURING, 1), (CLEAN, RESUME, CLEAN), setup=wreck.prepare,
             settles=False),
        Case("ORA-00054 at rebuild", JOB["index-rebuild-job"], strike(raises(54), "REBUILD"), setup=wreck.prepare),
        Case("ORA-00054 at NOLOGGING", JOB["insert-job"], strike(raises(54), '"ORDERS" NOLOGGING')),
        Case("ORA-12838 after the load", JOB["insert-job"], strike(raises(12838), "INSERT /*+", AFTER)),
        Case("ORA-00060 at COMMIT", JOB["insert-job"], strike(raises(60), "COMMIT")),
        Case("ORA-03113 at COMMIT", JOB["insert-job"], strike(cut, "COMMIT", AFTER), (RESUME, CLEAN)),
        Case("ORA-00600 after a build", JOB["index-build-job"], strike(raises(600), NEW_IX, AFTER), (RESUME,
             CLEAN)),
        Case("ORA-20005 locked statistics", STATS_LIVE, strike(raises(20005), "GATHER_")),
    ]  # fmt: skip


def _shapes() -> list[Case]:
    return [
        Case("mixed partitions loaded", SALES_NOLOG, (), (CLEAN,), PARTITIONED, mixed),
        Case("mixed partitions, killed", SALES_NOLOG, strike(kill, "INSERT /*+", AFTER), (CLEAN, CLEAN),
             PARTITIONED, mixed),
        Case("mixed partitions, cut amid NOLOGGING", SALES_NOLOG, strike(cut, "MODIFY PARTITION", BEFORE, 1),
             (CLEAN,), PARTITIONED, mixed),
        Case("mixed partitions, killed amid undo", SALES_NOLOG, strike(kill, ' LOGGING', BEFORE, 1), (CLEAN,
             RESUME), PARTITIONED, mixed),
        Case("partitioned index rebuilt", SALES_IX, (), (CLEAN,), PARTITIONED, mixed),
        Case("partitioned index, one fails", SALES_IX, strike(raises(1652), "REBUILD PARTITION", BEFORE, 1),
             (CLEAN,), PARTITIONED, mixed),
        Case("partitioned index, killed", SALES_IX, strike(kill, "REBUILD PARTITION", AFTER, 1), (CLEAN,
             RESUME, CLEAN), PARTITIONED, mixed),
        Case("all of a table rebuilt, killed",
             ("index", "rebuild", "--table", "SALES", "--degree", "1,2", "--repeat", "1", "--on-live-objects"),
             strike(kill, "REBUILD PARTITION", AFTER, 4), (CLEAN,), PARTITIONED, mixed),
        Case("odd index rebuilt", JOB["index-rebuild-job"], (), (CLEAN,), setup=odd_index),
        Case("odd index rebuilt, killed", JOB["index-rebuild-job"], strike(kill, "REBUILD", AFTER), (CLEAN,),
             setup=odd_index),
        Case("odd index in a live sweep", LIVE, strike(cut, "REBUILD", AFTER, 1), (CLEAN,), setup=odd_index),
    ]  # fmt: skip


def _tiers() -> list[object]:
    """Keep in the fast tier what was once not held, and a part of the rest; a refused logon is waited for long."""
    known = cases()
    first = [each for each in known if each.name in _ONCE_BROKEN]
    slow = [each for each in known if "password" in each.name]
    rest = [each for each in known if each not in (*first, *slow)]
    return [*first, *thinned(rest, 4), *(pytest.param(each, marks=pytest.mark.full) for each in slow)]


@pytest.mark.parametrize("case", _tiers(), ids=lambda case: case.name.replace(" ", "-"))
def test_all_is_put_back_or_said(case: Case, tmp_path: Path) -> None:
    with running_standin(case.scenario) as standin:
        if case.setup is not None:
            case.setup(standin)
        scene = Scene(standin, tmp_path, _made_by(case.command), look(standin))
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
            elif step == AGAIN:
                scene.run(*case.command, "-t", standin.url, "--not-production")
            else:
                scene.run(*step)
        assert bool(scene.wrong()) is not case.settles, "\n".join([*scene.wrong().values(), *scene.story])


def _fault(scene: Scene, strike: Strike) -> Fault:
    return Fault(strike.deed(scene), words=strike.words, when=strike.when, spared=strike.spared)


def _made_by(command: Command) -> str | None:
    return {JOB["ctas-job"]: "TABLE DBATK.MADE", JOB["index-build-job"]: "INDEX DBATK.NEW_IX"}.get(command)
