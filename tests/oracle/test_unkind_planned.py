"""What docs/unkind.md plans and no other file plays: the numbers are those of its table."""

from __future__ import annotations

import datetime
import os
import re
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.errors import ora
from tests.oracle.standin.faults import AFTER, BEFORE, DURING, Act, Fault, Struck, break_connection
from tests.oracle.standin.indexes import table_parts
from tests.oracle.standin.state import State
from tests.oracle.test_command_line import dbatk
from tests.oracle.unkind import (
    ANY,
    CLEAN,
    FINE,
    FOUND,
    IX,
    JOB,
    LIVE,
    MADE,
    NEW_IX,
    PARTITIONED,
    RESUME,
    SALES_IX,
    STATS_LIVE,
    Case,
    Deed,
    Scene,
    Strike,
    becomes,
    both,
    cut,
    dba,
    ended,
    kill,
    killed_orphan,
    mixed,
    play,
    raises,
    release,
    strike,
)
from tests.tiers import thinned
from toolkit.errors import ExitCode

COPY = 'CREATE TABLE "DBATK"."DBATK_'
REBUILD, BUILD, LOAD = JOB["index-rebuild-job"], JOB["index-build-job"], JOB["insert-job"]
MOVE = ("table", "move", "--table", "GTEST", "--degree", "4", *FOUND)
TRADES_IX = ("index", "rebuild", "--index", "TRADES_IX", "--degree", "2", *FOUND)
OF_ORDERS = ("ctas", "--source", "APP.ORDERS", "--table", "MADE", "--degree", "1,4", "--repeat", "1")
ELSEWHERE = ("ctas", "--source", "GTEST", "--table", "MADE", "--work-schema", "APP", "--degree", "1,4",
             "--repeat", "1")  # fmt: skip
TABLE = ("TABLE", ("DBATK", "GTEST"))


def standby(status: str) -> dict[str, list[dict[str, object]]]:
    row: dict[str, object] = {"DEST_ID": 2, "STATUS": status, "TARGET": "STANDBY", "DB_UNIQUE_NAME": "FREE_DR"}
    return {"V$ARCHIVE_DEST": [{**row, "DESTINATION": "dr"}]}


# -- what is there before -
def several_instances(standin: Standin) -> None:
    """Degrees of long ago: PARALLEL (DEGREE 3 INSTANCES 2) and, of the table, (DEGREE 4 INSTANCES DEFAULT)."""
    objects = standin.engine.state.objects
    objects[IX].degree, objects[IX].instances = "3", "2"
    objects[TABLE].degree, objects[TABLE].instances = "4", "DEFAULT"


def same_degree(standin: Standin) -> None:
    """An index whose DEGREE is the one that the job sets, on two instances."""
    standin.engine.state.objects[IX].degree, standin.engine.state.objects[IX].instances = "4", "2"


def unlogged(standin: Standin) -> None:
    for name in (TABLE, ("TABLE", ("APP", "ORDERS"))):
        standin.engine.state.objects[name].logging = "NO"


def read_only(standin: Standin) -> None:
    standin.engine.state.objects["TABLE", ("APP", "ORDERS")].read_only = True


def mixed_subpartitions(standin: Standin) -> None:
    index = standin.engine.state.objects["INDEX", ("DBATK", "TRADES_IX")]
    index.shape.parts[1].subs[0].logging = index.shape.parts[2].subs[1].logging = "NO"


def broken_partition(standin: Standin) -> None:
    mixed(standin)
    standin.engine.state.objects["INDEX", ("DBATK", "SALES_IX")].shape.parts[1].status = "UNUSABLE"


def synonym(standin: Standin) -> None:
    standin.engine.state.add("SYNONYM", ("DBATK", "MADE"))


# -- what strikes -
def session_gone(scene: Scene) -> Act:
    """Let the session that outlived its client end right before it is killed (ORA-00030)."""

    def act(backend: object, _: object) -> None:
        del backend
        sessions = scene.standin.engine.state.sessions
        working = [sid for sid, each in sessions.items() if each.in_call]
        for sid in working[:1]:
            sessions.pop(sid, None)

    return act


def instance_gone(scene: Scene) -> Act:
    """Let the instance go: every session ends, and nobody gets in."""

    def act(backend: object, state: object) -> None:
        scene.standin.engine.state.sessions.clear()
        both(becomes(logon=1034), cut)(scene)(backend, state)  # type: ignore[arg-type]

    return act


def smon(scene: Scene) -> Act:
    """Let SMON clean up: a build is dropped, of a rebuild the index stays as it was."""

    def act(*_: object) -> None:
        objects = scene.standin.engine.state.objects
        for key, made in list(objects.items()):
            if key[1][1].startswith("SYS_JOURNAL_") or (made.building and key[1][1] == "NEW_IX"):
                del objects[key]
            made.building = False

    return act


def synonym_first(scene: Scene) -> Act:
    return lambda *_: scene.somebody(lambda: synonym(scene.standin))


def partition_dropped(scene: Scene) -> Act:
    def act(*_: object) -> None:
        objects = scene.standin.engine.state.objects
        table = objects["TABLE", ("DBATK", "SALES")]
        parts = table_parts(table)
        del parts[1], table.bounds[1], objects["INDEX", ("DBATK", "SALES_IX")].shape.parts[1]
        due = scene.due
        for name in ("TABLE DBATK.SALES", "INDEX DBATK.SALES_IX"):
            due[name] = {key: value for key, value in due[name].items() if not key.endswith(" P2")}

    return act


def copy_renamed(scene: Scene) -> Act:
    def act(*_: object) -> None:
        objects = scene.standin.engine.state.objects
        key = next(key for key in objects if key[0] == "TABLE" and key[1][1].startswith("DBATK_"))
        made = objects.pop(key)
        made.name = ("DBATK", "TAKEN")
        objects["TABLE", made.name] = made
        scene.standin.engine.data.execute(f'ALTER TABLE "DBATK"."{key[1][1]}" RENAME TO "TAKEN"')

    return act


def copy_dropped(words: str) -> Deed:
    """Let somebody drop the first copy there is."""

    def make(scene: Scene) -> Act:
        def act(*_: object) -> None:
            engine = scene.standin.engine
            names = [made.name[1] for made in engine.state.tables() if made.name[1].startswith("DBATK_")]
            scene.somebody(lambda: engine.run_as_dba(f'DROP TABLE "DBATK"."{names[0]}"{words}'))

        return act

    return make


def publish_set(scene: Scene) -> Act:
    def act(*_: object) -> None:
        known = scene.standin.engine.state.statistics.preferences
        scene.somebody(lambda: known.setdefault(("DBATK", "GTEST"), {}).update(PUBLISH="TRUE", STALE_PERCENT="5"))

    return act


def told_and_ended(number: int) -> Deed:
    """Let the server end the session by a limit, and tell it so."""

    def act(backend: Struck, state: State) -> None:
        assert backend.session is not None
        state.sessions.pop(backend.session.sid, None)
        raise ora(number)

    return lambda _: act


def summer_ends(scene: Scene) -> Act:
    """Put the server's clock back by an hour."""
    return lambda *_: setattr(scene.standin.engine.state, "clock", datetime.timedelta(hours=-1))


def archiver_stuck(scene: Scene) -> Act:
    """Let every change wait for the archiver, deaf to Ctrl-C, until another session asks what goes on."""

    def act(_: object, state: State) -> None:
        state.stuck_until = state.next_session + 1
        os.kill(scene.pid(), signal.SIGINT)

    return act


SWITCHED, BACK = becomes(context={"DB_UNIQUE_NAME": "FREE_DR"}), becomes(context={})
"""A standby has become the primary, behind the same address, and is none any more."""
CLEAN_IT = ("clean", "--run", "last")
NEW_PASSWORD = becomes(password="lion", failed_logins=10)
"""Ten wrong ones are the limit of the profile DEFAULT."""
STANDBY = becomes(fail={"alter_index": 16000, "index_rebuild": 16000, "ctas": 16000, "drop_table": 16000})


def cases() -> list[Case]:
    """Return every case."""
    planned = [*_privileges(), *_sessions(), *_locks(), *_moves(), *_values(), *_others(), *_unlogged()]
    return [*planned, *_later()]


def _privileges() -> list[Case]:
    no_drop = tuple(each for each in ANY if each != "DROP ANY TABLE")
    return [
        Case("4 may make, not drop", ELSEWHERE, (), (CLEAN, FINE, CLEAN), Scenario(privileges=no_drop)),
        Case("8 source revoked in a sweep", OF_ORDERS, strike(becomes(grants={}), COPY, BEFORE, 1),
             (RESUME, FINE, RESUME, CLEAN)),
        Case("10 no quota at all", JOB["ctas-sweep"], strike(becomes(fail={"ctas": 1950}), COPY),
             (CLEAN, RESUME, FINE, RESUME)),
        Case("12 COMMENT refused", JOB["ctas-sweep"], strike(becomes(fail={"comment": 1031}), "COMMENT ON")),
        Case("13 DBMS_STATS refused", ("stats", "gather", "--table", "APP.ORDERS", "--degree", "4"),
             (), (CLEAN,)),
    ]  # fmt: skip


def _sessions() -> list[Case]:
    return [
        Case("18 gone before it is killed", BUILD, strike(killed_orphan, NEW_IX),
             (Strike(session_gone, "KILL SESSION"), CLEAN, CLEAN, RESUME)),
        Case("30 ORA-00028 while it is moved", MOVE, strike(ended, " MOVE "), (RESUME, CLEAN)),
        Case("66 ORA-28001 at reconnect", REBUILD, strike(both(becomes(logon=28001), ended), "REBUILD", AFTER),
             (CLEAN, FINE, CLEAN), setup=wreck.prepare),
        Case("67 one session at most", JOB["ctas-job"], scenario=Scenario(sessions_per_user=1)),
        Case("67 two sessions at most", LIVE, scenario=Scenario(sessions_per_user=2), setup=wreck.prepare),
        Case("67 three sessions at most", REBUILD, scenario=Scenario(sessions_per_user=3), setup=wreck.prepare),
        Case("68 ORA-02393", LOAD, strike(raises(2393), "INSERT /*+"), (RESUME, CLEAN)),
        Case("69 the instance goes in a rebuild", REBUILD, strike(instance_gone, "REBUILD", AFTER),
             (CLEAN, FINE, CLEAN), setup=wreck.prepare),
        Case("69 the instance goes at DROP", JOB["insert-sweep"], strike(instance_gone, "DROP TABLE"),
             (CLEAN, FINE, RESUME, CLEAN)),
    ]  # fmt: skip


def _locks() -> list[Case]:
    return [
        Case("37 ORA-04021 at DROP", JOB["ctas-sweep"], strike(becomes(fail={"drop_table": 4021}), "DROP TABLE"),
             (CLEAN, FINE, CLEAN)),
        Case("37 ORA-04021 once at DROP", JOB["ctas-sweep"], strike(raises(4021), "DROP TABLE")),
        Case("41 ORA-04020 at undo", REBUILD, strike(raises(4020), "PARALLEL 2"), setup=wreck.prepare),
        Case("85 ORA-02449 at DROP", JOB["insert-sweep"], strike(becomes(fail={"drop_table": 2449}), "DROP TABLE"),
             (RESUME, FINE, RESUME, CLEAN)),
        Case("86 a trigger forbids DROP", JOB["index-build-sweep"],
             strike(becomes(fail={"drop_index": (604, 20001), "drop_table": (604, 20001)}), "DROP "),
             (CLEAN, FINE, CLEAN)),
        Case("87 a trigger forbids ALTER", REBUILD,
             strike(becomes(fail={"alter_index": (604, 20001)}), "REBUILD", AFTER), (CLEAN, FINE, CLEAN),
             setup=wreck.prepare),
        Case("87 a trigger forbids ALTER, moved", MOVE,
             strike(becomes(fail={"alter_table": (604, 20001)}), " MOVE ", AFTER), (CLEAN, FINE, CLEAN),
             setup=wreck.prepare),
    ]  # fmt: skip


def _moves() -> list[Case]:
    return [
        Case("27 move killed before", MOVE, strike(kill, " MOVE "), (CLEAN, RESUME, CLEAN), setup=wreck.prepare),
        Case("27 move killed after", MOVE, strike(kill, " MOVE ", AFTER), (CLEAN, RESUME, CLEAN),
             setup=wreck.prepare),
        Case("27 move killed after, only cleaned", MOVE, strike(kill, " MOVE ", AFTER), (CLEAN, CLEAN),
             setup=wreck.prepare, settles=False),
        Case("27 a move goes on", MOVE, strike(killed_orphan, " MOVE "), (release, CLEAN, RESUME, CLEAN),
             setup=wreck.prepare),
        Case("27 killed amid the rebuild after a move", MOVE, strike(kill, "REBUILD"), (RESUME, CLEAN),
             setup=wreck.prepare),
        Case("40 ORA-00054 at MOVE", MOVE, strike(raises(54), " MOVE "), setup=wreck.prepare),
        Case("47 the rebuild after a move fails", MOVE, strike(becomes(fail={"index_rebuild": 1652}), "REBUILD"),
             (CLEAN, FINE, RESUME, CLEAN), setup=wreck.prepare),
        Case("47 moves measured, one rebuild fails", (*MOVE[:4], "--degree", "1,4", "--repeat", "1"),
             strike(raises(1652), "REBUILD"), setup=wreck.prepare),
        Case("47 ONLINE move cut off", (*MOVE, "--online"), strike(cut, " MOVE ", DURING), (CLEAN, RESUME),
             setup=wreck.prepare),
        Case("52 DBA sets degree 8 in a move", MOVE, strike(dba('ALTER TABLE "DBATK"."GTEST" PARALLEL 8'),
             " MOVE ", AFTER), (CLEAN, CLEAN), setup=wreck.prepare),
    ]  # fmt: skip


def _values() -> list[Case]:
    several = several_instances
    return [
        Case("45 SMON first, build", (*BUILD, "--online"), strike(kill, NEW_IX, DURING), (smon, CLEAN, RESUME)),
        Case("45 SMON first, rebuild", (*REBUILD, "--online"), strike(kill, "REBUILD", DURING),
             (smon, CLEAN, CLEAN), setup=wreck.prepare),
        Case("46 a partition that was UNUSABLE", SALES_IX, strike(raises(1652), "REBUILD PARTITION", BEFORE, 1),
             (CLEAN,), PARTITIONED, broken_partition),
        Case("48 ORA-01652 in a build", BUILD, strike(raises(1652), NEW_IX), (CLEAN, RESUME)),
        Case("49 ORA-01452", (*BUILD, "--unique"), strike(raises(1452), 'UNIQUE INDEX "DBATK"."NEW_IX"')),
        Case("55 INSTANCES of an index", REBUILD, (), setup=several),
        Case("55 INSTANCES of an index, killed", REBUILD, strike(kill, "REBUILD", AFTER), (CLEAN, CLEAN),
             setup=several),
        Case("55 INSTANCES and the job's own degree", REBUILD, (), setup=same_degree),
        Case("55 INSTANCES in a live sweep", LIVE, strike(cut, "REBUILD", AFTER, 1), setup=several),
        Case("55 INSTANCES of a table", MOVE, (), setup=several),
        Case("55 INSTANCES of a table, killed", MOVE, strike(kill, " MOVE ", AFTER), (RESUME, CLEAN),
             setup=several),
        Case("55 DBA sets INSTANCES meanwhile", REBUILD,
             strike(dba('ALTER INDEX "DBATK"."GTEST_IX" PARALLEL (DEGREE 5 INSTANCES 3)'), "REBUILD", AFTER),
             (CLEAN, CLEAN), setup=wreck.prepare),
        Case("59 killed before NOLOGGING", LOAD, strike(kill, '"ORDERS" NOLOGGING'), (CLEAN, CLEAN, RESUME)),
        Case("93 subpartitions of an index", TRADES_IX, strike(kill, "REBUILD SUBPARTITION", AFTER, 2),
             (CLEAN, RESUME, CLEAN), PARTITIONED, mixed_subpartitions),
    ]  # fmt: skip


def _others() -> list[Case]:
    anew = dba(
        'DROP INDEX "DBATK"."GTEST_IX"', 'CREATE INDEX "DBATK"."GTEST_IX" ON "DBATK"."GTEST" ("AMOUNT") PARALLEL 8'
    )
    return [
        Case("58 index made anew in a job", REBUILD, strike(anew, "REBUILD", AFTER), setup=wreck.prepare),
        Case("61 index dropped between kill and clean", REBUILD, strike(kill, "REBUILD", AFTER),
             (dba('DROP INDEX "DBATK"."GTEST_IX"'), CLEAN, CLEAN), setup=wreck.prepare),
        Case("88 a synonym has the name", JOB["ctas-job"], (), (CLEAN,), setup=synonym),
        Case("88 a synonym takes the name", JOB["ctas-job"], strike(synonym_first, MADE), (CLEAN, RESUME)),
        Case("89 a copy renamed before DROP", JOB["insert-sweep"], strike(copy_renamed, "DROP TABLE"),
             settles=False),
        Case("90 a copy dropped by somebody", JOB["insert-sweep"], strike(copy_dropped(" PURGE"), "DROP TABLE")),
        Case("90 a copy put into the recycle bin", JOB["insert-sweep"], strike(copy_dropped(""), "DROP TABLE"),
             (CLEAN, RESUME, CLEAN)),
        Case("90 a killed run's copy in the recycle bin", JOB["insert-sweep"],
             strike(both(copy_dropped(""), kill), "INSERT /*+", AFTER, 1), (CLEAN, CLEAN)),
        Case("90 the loaded table put into the recycle bin", LOAD,
             strike(both(dba('DROP TABLE "APP"."ORDERS"'), kill), "INSERT /*+"), (CLEAN, CLEAN)),
        Case("90 the index's table put into the recycle bin", REBUILD,
             strike(both(dba('DROP TABLE "DBATK"."GTEST"'), kill), "REBUILD", AFTER), (CLEAN, CLEAN),
             setup=wreck.prepare),
        Case("91 partition dropped meanwhile", SALES_IX,
             strike(partition_dropped, "REBUILD PARTITION", BEFORE, 1), (CLEAN, RESUME, CLEAN), PARTITIONED,
             mixed),
        Case("94 READ ONLY table loaded", LOAD, (), (CLEAN, RESUME), setup=read_only),
        Case("94 ORA-00997", JOB["ctas-sweep"], strike(becomes(fail={"ctas": 997}), COPY), (CLEAN,)),
        Case("97 DBA sets PUBLISH meanwhile", STATS_LIVE, strike(publish_set, "GATHER_"), (),
             settles=False),
    ]  # fmt: skip


def _unlogged() -> list[Case]:
    unknown = Scenario(denied=frozenset({"V$ARCHIVE_DEST"}))
    return [
        Case("75 build, standby deferred", BUILD, (), (CLEAN,), Scenario(views=standby("DEFERRED"))),
        Case("76 move of a NOLOGGING table, standby in error", MOVE, (), (CLEAN,),
             Scenario(views=standby("ERROR")), unlogged),
        Case("76 move of a NOLOGGING table, destinations unknown", MOVE, (), (CLEAN,), unknown, unlogged),
        Case("77 load of a NOLOGGING table, destinations unknown", LOAD[:-1], (), (CLEAN,), unknown, unlogged),
    ]  # fmt: skip


def _later() -> list[Case]:
    """Return those that were planned when the hundred held."""
    first, second = COPY, "INSERT /*+"
    return [
        Case("123 switchover before clean", REBUILD, strike(kill, "REBUILD", AFTER),
             (SWITCHED, CLEAN, CLEAN_IT, CLEAN, BACK, CLEAN), setup=wreck.prepare),
        Case("123 switchover before clean, and back", JOB["insert-sweep"], strike(kill, second, AFTER, 1),
             (SWITCHED, CLEAN, BACK, CLEAN)),
        Case("124 the password changes in a rebuild", REBUILD, strike(both(NEW_PASSWORD, ended), "REBUILD", AFTER),
             (CLEAN, FINE, CLEAN), setup=wreck.prepare),
        Case("124 the password changes in a sweep", JOB["insert-sweep"],
             strike(both(NEW_PASSWORD, cut), second, AFTER, 1), (CLEAN, FINE, CLEAN)),
        Case("125 summer ends in a sweep", JOB["ctas-sweep"], strike(summer_ends, first), (CLEAN,)),
        Case("125 summer ends, killed", JOB["insert-sweep"], strike(both(summer_ends, kill), second, AFTER, 1)),
        Case("125 summer ends, a job", BUILD, strike(summer_ends, NEW_IX)),
        Case("125 summer ends, a job that is killed", BUILD,
             (*strike(summer_ends, NEW_IX), *strike(kill, NEW_IX, AFTER)), (CLEAN,), settles=False),
        Case("126 the DBA cancels a rebuild", REBUILD, strike(raises(1013), "REBUILD"), (RESUME, CLEAN),
             setup=wreck.prepare),
        Case("126 the DBA cancels in a sweep", JOB["ctas-sweep"], strike(raises(1013), first), (RESUME, CLEAN)),
        Case("126 the DBA cancels an undo", REBUILD, strike(raises(1013), "PARALLEL 2"), setup=wreck.prepare),
        Case("127 CONNECT_TIME at undo", REBUILD, strike(told_and_ended(2399), "PARALLEL 2"), (RESUME, CLEAN),
             setup=wreck.prepare),
        Case("127 CONNECT_TIME at DROP", JOB["insert-sweep"], strike(told_and_ended(2399), "DROP TABLE"),
             (RESUME, CLEAN)),
        Case("127 the resource manager ends a load", LOAD, strike(told_and_ended(41), second), (RESUME, CLEAN)),
        Case("128 it becomes a standby in a rebuild", REBUILD, strike(both(STANDBY, ended), "REBUILD", AFTER),
             (CLEAN, FINE, CLEAN), setup=wreck.prepare),
        Case("128 it becomes a standby in a sweep", JOB["insert-sweep"],
             strike(both(STANDBY, ended), second, AFTER, 1), (CLEAN, FINE, CLEAN)),
        Case("129 locks of the table are disabled at undo", MOVE,
             strike(becomes(fail={"alter_table": 69}), " MOVE ", AFTER), (CLEAN, FINE, CLEAN),
             setup=wreck.prepare),
        Case("132 the archiver waits, and Ctrl-C comes", LOAD, strike(archiver_stuck, second), (RESUME, CLEAN)),
        Case("130 ORA-08103 in a sweep", JOB["ctas-sweep"], strike(raises(8103), first), (RESUME, CLEAN)),
    ]  # fmt: skip


@pytest.mark.thin(3)
@pytest.mark.parametrize("case", thinned([pytest.param(case, id=case.name) for case in cases()], 9))
def test_what_was_planned_is_as_it_was_or_named(case: Case, tmp_path: Path) -> None:
    play(case, tmp_path)


def test_a_database_of_another_address_is_no_standby_whatever_its_name(tmp_path: Path) -> None:
    clone = Scenario(context={"DB_UNIQUE_NAME": "FREE_TEST"})
    with running_standin(Scenario(fail={"drop_table": 2449})) as ours, running_standin(clone) as other:
        status, _ = dbatk(ours, tmp_path, *JOB["ctas-sweep"])
        assert status == 3 and len(ours.tables()) > len(other.tables())
        assert dbatk(other, tmp_path, "clean")[0] == 0
        status, refused = dbatk(other, tmp_path, "clean", "--run", "last")
    assert (status, refused["error"]["code"]) == (2, "TK-0107"), refused  # type: ignore[index]


def test_a_resume_after_a_switchover_says_how_to_go_on_there(tmp_path: Path) -> None:
    with running_standin() as standin:
        line, fault = JOB["index-rebuild-job"], Fault(break_connection, words="REBUILD", when=AFTER)
        assert wreck.kill(standin, tmp_path, fault, *line)
        renamed = replace(standin.engine.scenario, context={"DB_UNIQUE_NAME": "FREE_DR"})
        standin.engine.scenario = standin.engine.state.scenario = renamed
        status, refused = wreck.run(standin, tmp_path, "runs", "resume", "last")
        assert (status, refused["error"]["code"]) == (2, "TK-0107")  # type: ignore[index]
        hint = refused["error"]["hint"]  # type: ignore[index]
        (command,) = re.findall(r"`dbatk (clean [^`]*)`", hint)
        assert wreck.run(standin, tmp_path, *command.split())[0] == ExitCode.DONE
        assert wreck.look(standin)["INDEX DBATK.GTEST_IX"][1:3] == ("1", "YES")
        assert wreck.run(standin, tmp_path, *line, "-t", standin.url, "--not-production")[0] == ExitCode.DONE
