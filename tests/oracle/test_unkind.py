"""What an unkind database does to a run: all is as it was afterwards, or the exit is not 0 and it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin.faults import AFTER, BEFORE, DURING
from tests.oracle.unkind import (
    AGAIN,
    ANY,
    CLEAN,
    FINE,
    JOB,
    LIVE,
    MADE,
    NEW_IX,
    OTHERS,
    PARTITIONED,
    REBUILD_APP,
    RESUME,
    SALES_IX,
    SALES_NOLOG,
    STATS_LIVE,
    Case,
    Strike,
    becomes,
    both,
    cut,
    dba,
    ended,
    kill,
    mixed,
    odd_index,
    play,
    raises,
    strike,
)
from tests.tiers import thinned

_ONCE_BROKEN = (
    "rebuild killed online", "all grants on the table revoked in a load", "work schema, DROP revoked",
    "ORA-01031 at DROP",
)  # fmt: skip


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
             ("index", "rebuild", "--table", "SALES", "--degree", "1,2", "--repeat", "1", "--on-live-objects",
              "--restore", "found"),
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
    return [*thinned(first, 2), *thinned(rest, 9), *(pytest.param(each, marks=pytest.mark.full) for each in slow)]


@pytest.mark.thin(4)
@pytest.mark.parametrize("case", _tiers(), ids=lambda case: case.name.replace(" ", "-"))
def test_all_is_put_back_or_said(case: Case, tmp_path: Path) -> None:
    play(case, tmp_path)
