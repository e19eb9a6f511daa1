"""Objects that somebody renames, drops or makes anew under a run, and undo scripts that somebody runs by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import Scenario
from tests.oracle.standin.faults import AFTER, Act
from tests.oracle.standin.grammar import Name
from tests.oracle.standin.indexes import table_parts
from tests.oracle.test_undo_by_hand import by_hand
from tests.oracle.unkind import (
    CLEAN,
    FINE,
    JOB,
    LIVE,
    OTHERS,
    PARTITIONED,
    REBUILD_APP,
    RESUME,
    SALES_NOLOG,
    STATS_LIVE,
    Case,
    Deed,
    Scene,
    Strike,
    becomes,
    both,
    dba,
    kill,
    look,
    mixed,
    odd_index,
    play,
    raises,
    strike,
)
from tests.tiers import thinned

GTEST_IX, ORDERS_IX = ("DBATK", "GTEST_IX"), ("APP", "ORDERS_IX")
REBUILD, LOAD = JOB["index-rebuild-job"], JOB["insert-job"]


def renamed(kind: str, name: Name, to: str, *, ours: bool = False) -> Deed:
    """Let somebody rename an object: what the run changed of it is still to be put back."""

    def make(scene: Scene) -> Act:
        def act(*_: object) -> None:
            objects = scene.standin.engine.state.objects
            made = objects.pop((kind, name))
            made.name = (name[0], to)
            objects[kind, made.name] = made
            engine = scene.standin.engine
            grants = {made.name if of == name else of: held for of, held in engine.scenario.grants.items()}
            engine.scenario = engine.state.scenario = replace(engine.scenario, grants=grants)
            due = scene.due.pop(f"{kind} {'.'.join(name)}", None)
            settled = {"degree": "1", "logging": "YES"} if ours else {}
            new = f"{kind} {name[0]}.{to}"
            if due is not None:
                scene.due[new] = due
            elif ours:
                scene.due[new] = {**look(scene.standin)[new], **settled}

        return act

    return make


def part_renamed(scene: Scene) -> Act:
    """Let somebody rename a partition whose logging the run has switched off."""

    def act(*_: object) -> None:
        part = table_parts(scene.standin.engine.state.objects["TABLE", ("DBATK", "SALES")])[0]
        due = scene.due["TABLE DBATK.SALES"]
        due[f"logging of {part.name}X"] = due.pop(f"logging of {part.name}")
        due[f"status of {part.name}X"] = due.pop(f"status of {part.name}")
        part.name = f"{part.name}X"

    return act


def undo_by_hand(scene: Scene) -> Act:
    """Let a DBA run the undo script."""

    def act(*_: object) -> None:
        if wreck.undo_scripts(scene.folder):
            scene.story.append(by_hand(scene.standin, scene.folder))

    return act


def cases() -> list[Case]:
    ix = renamed("INDEX", GTEST_IX, "RENAMED_IX")
    prepared = wreck.prepare
    made, theirs = (
        renamed("TABLE", ("DBATK", "MADE"), "RENAMED", ours=True),
        renamed("INDEX", ORDERS_IX, "RENAMED_IX"),
    )
    anew = dba(
        'DROP INDEX "DBATK"."GTEST_IX"', 'CREATE INDEX "DBATK"."GTEST_IX" ON "DBATK"."GTEST" ("AMOUNT") PARALLEL 8'
    )
    return [
        Case("index renamed in a job", REBUILD, strike(ix, "REBUILD", AFTER), (CLEAN,), setup=prepared),
        Case("index renamed, killed", REBUILD, strike(both(ix, kill), "REBUILD", AFTER), (CLEAN, CLEAN),
             setup=prepared),
        Case("index renamed, killed, resumed", REBUILD, strike(both(ix, kill), "REBUILD", AFTER), (RESUME, CLEAN),
             setup=prepared),
        Case("index renamed in a live sweep", LIVE, strike(ix, "REBUILD", AFTER, 1), (CLEAN,), setup=prepared),
        Case("index renamed before clean undoes it", REBUILD, strike(kill, "REBUILD", AFTER),
             (Strike(ix, "PARALLEL 2"), CLEAN, CLEAN), setup=prepared),
        Case("index of another schema renamed", REBUILD_APP,
             strike(both(theirs, kill), "REBUILD", AFTER), (CLEAN,),
             scenario=OTHERS),
        Case("index of others renamed and back", REBUILD, strike(both(ix, kill), "REBUILD", AFTER),
             (renamed("INDEX", ("DBATK", "RENAMED_IX"), "GTEST_IX"), CLEAN), setup=prepared),
        Case("odd index renamed, by hand", REBUILD, strike(both(ix, kill), "REBUILD", AFTER),
             (undo_by_hand, CLEAN), setup=odd_index),
        Case("table renamed in a load without redo", LOAD,
             strike(both(renamed("TABLE", ("APP", "ORDERS"), "RENAMED"), kill), "INSERT /*+"), (CLEAN,)),
        Case("table that was made renamed", JOB["ctas-job"],
             strike(both(made, kill), 'ALTER TABLE "DBATK"."MADE"'), (CLEAN,)),
        Case("table renamed while its statistics are pending", STATS_LIVE,
             strike(both(renamed("TABLE", ("DBATK", "GTEST"), "RENAMED"), kill), "GATHER_SCHEMA_STATS"), (CLEAN,),
             settles=False),
        Case("partition renamed in a load", SALES_NOLOG, strike(both(part_renamed, kill), "INSERT /*+"), (CLEAN,),
             scenario=PARTITIONED, setup=mixed, settles=False),
        Case("undone by hand, cleaned", REBUILD, strike(kill, "REBUILD", AFTER), (undo_by_hand, CLEAN, CLEAN),
             setup=prepared),
        Case("undone by hand, resumed", REBUILD, strike(kill, "REBUILD", AFTER), (undo_by_hand, RESUME, CLEAN),
             setup=prepared),
        Case("load undone by hand, resumed", LOAD, strike(kill, "INSERT /*+"), (undo_by_hand, RESUME, CLEAN)),
        Case("sweep undone by hand", JOB["insert-sweep"], strike(kill, "INSERT /*+", AFTER),
             (undo_by_hand, CLEAN)),
        Case("set to 8, undone by hand, cleaned", REBUILD, strike(kill, "REBUILD", AFTER),
             (dba('ALTER INDEX "DBATK"."GTEST_IX" PARALLEL 8'), undo_by_hand, CLEAN, CLEAN), setup=prepared),
        Case("made anew, undone by hand, cleaned", REBUILD, strike(kill, "REBUILD", AFTER),
             (anew, undo_by_hand, CLEAN), setup=prepared),
        Case("read-only after a failover", REBUILD, strike(kill, "REBUILD", AFTER),
             (Strike(raises(16000), "PARALLEL 2"), CLEAN, CLEAN), setup=prepared),
        Case("no trace without its privilege", (*REBUILD, "--sql-trace"), (), (CLEAN,), setup=prepared),
        Case("the group is dropped in a trial", (*REBUILD, "--consumer-group", "BATCH"),
             strike(becomes(groups={}), "REBUILD", AFTER), (CLEAN,), scenario=Scenario(groups={"BATCH": None}),
             setup=prepared),
        Case("triggers cannot be read", LOAD, (), (CLEAN,), scenario=Scenario(denied=frozenset({"ALL_TRIGGERS"}))),
        Case("table dropped under a rebuild", REBUILD, strike(dba('DROP TABLE "DBATK"."GTEST"'), "REBUILD", AFTER),
             (CLEAN,), setup=prepared),
        Case("all rights lost, renamed, given back", REBUILD_APP,
             strike(both(theirs, becomes(denied=frozenset({"DBA_OBJECTS"})), kill),
                    "REBUILD", AFTER), (FINE, CLEAN), scenario=OTHERS),
    ]  # fmt: skip


@pytest.mark.thin(3)
@pytest.mark.parametrize("case", thinned([pytest.param(case, id=case.name) for case in cases()], 10))
def test_what_was_renamed_or_undone_by_hand_is_as_it_was_or_named(case: Case, tmp_path: Path) -> None:
    play(case, tmp_path)
