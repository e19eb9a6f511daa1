"""Errors at each phase of a run, locks on each kind of its DDL, sessions that outlive it, what else may change."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import Scenario
from tests.oracle.standin.faults import AFTER, BEFORE
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
    Deed,
    Strike,
    becomes,
    both,
    cut,
    ended,
    kill,
    killed_deaf,
    killed_orphan,
    lands_on,
    locked,
    mixed,
    orphaned,
    play,
    raises,
    release,
    strike,
)
from tests.tiers import thinned

COPY, PQ = 'CREATE TABLE "DBATK"."DBATK_', "SELECT 'pq' AS kind"
THREE = ("ctas", "--source", "GTEST", "--table", "MADE", "--degree", "2", "--concurrency", "3", "--repeat", "1",
         "--warmup", "0")  # fmt: skip
NO_KILL = becomes(fail={"kill": 1031})
STANDBY = becomes(views={"V$ARCHIVE_DEST": [
    {"DEST_ID": 2, "STATUS": "VALID", "TARGET": "STANDBY", "DB_UNIQUE_NAME": "FREE_DR", "DESTINATION": "dr"}
]})  # fmt: skip
NO_LOGON = ("cut, ORA-12514", "ORA-00257", "ORA-01109", "ORA-01033", "ORA-28000", "ORA-00020")
"""What refuses every logon: one kind of end, so these are not in the fast tier."""

ONCE_BROKEN = (
    "a load goes on and commits, KILL refused", "a ghost on another instance, unseen",
)  # fmt: skip

PHASES: dict[str, dict[str, Strike]] = {
    "ctas-job": {
        "before": Strike(cut, "SET PARALLEL_DEGREE_POLICY"),
        "timed": Strike(cut, MADE),
        "after": Strike(cut, PQ),
        "undo": Strike(cut, '"MADE" NOPARALLEL'),
    },
    "insert-job": {
        "before": Strike(cut, '"ORDERS" NOLOGGING', AFTER),
        "timed": Strike(cut, "INSERT /*+"),
        "after": Strike(cut, PQ),
        "undo": Strike(cut, '"ORDERS" LOGGING'),
    },
    "index-build-job": {
        "before": Strike(cut, "MANUAL DDL_LOCK_TIMEOUT"),
        "timed": Strike(cut, NEW_IX),
        "after": Strike(cut, PQ),
        "undo": Strike(cut, '"NEW_IX" NOPARALLEL'),
    },
    "index-rebuild-job": {
        "before": Strike(cut, "NLS_NUMERIC_CHARACTERS"),
        "timed": Strike(cut, "REBUILD"),
        "after": Strike(cut, PQ),
        "undo": Strike(cut, "PARALLEL 2"),
    },
    "ctas-sweep": {
        "before": Strike(cut, PQ),
        "timed": Strike(cut, COPY, BEFORE, 1),
        "after": Strike(cut, "COMMENT ON TABLE"),
        "undo": Strike(cut, "DROP TABLE", AFTER, 1),
    },
    "insert-sweep": {
        "before": Strike(cut, COPY),
        "timed": Strike(cut, "INSERT /*+", BEFORE, 2),
        "after": Strike(cut, "COMMIT", AFTER),
        "undo": Strike(cut, "DROP TABLE"),
    },
}
ERRORS: dict[str, Deed] = {
    "ORA-03113": cut,
    "ORA-00060": raises(60),
    "ORA-00028": ended,
    "ORA-01555": raises(1555),
    "ORA-04068": raises(4068),
    "cut, ORA-12514": both(becomes(logon=12514), cut),
}


def cases() -> list[Case]:
    """Return every case."""
    return [*_phases(), *_locks(), *_ghosts(), *_changed(), *_full(), *_refused_logons(), *_idle()]


def _phases() -> list[Case]:
    """Each error at each phase, and each operation at each phase, in turn."""
    operations = list(PHASES)
    found = []
    for number, (error, phase) in enumerate(product(ERRORS, ("before", "timed", "after", "undo"))):
        operation = operations[(number + number // 4) % len(operations)]
        at = PHASES[operation][phase]
        struck = (Strike(ERRORS[error], at.words, at.when, at.spared),)
        then = (CLEAN, FINE, RESUME, CLEAN) if number % 2 else (FINE, CLEAN, RESUME, CLEAN)
        found.append(Case(f"{error} {phase} {operation}", JOB[operation], struck, then, setup=wreck.prepare))
    return found


def _locks() -> list[Case]:
    orders = ("APP", "ORDERS")
    return [
        Case("ORA-00054 at DROP in a ctas sweep", JOB["ctas-sweep"],
             strike(becomes(fail={"drop_table": 54}), "DROP TABLE"), (CLEAN, FINE, CLEAN)),
        Case("ORA-00054 at DROP in an insert sweep", JOB["insert-sweep"],
             strike(becomes(fail={"drop_table": 54}), "DROP TABLE", BEFORE, 1), (RESUME, CLEAN, FINE, CLEAN)),
        Case("ORA-00054 at DROP INDEX in a sweep", JOB["index-build-sweep"],
             strike(becomes(fail={"drop_index": 54}), "DROP INDEX"), (CLEAN, FINE, CLEAN)),
        Case("ORA-00054 at DROP of both in a sweep", JOB["index-rebuild-sweep"],
             strike(becomes(fail={"drop_index": 54, "drop_table": 54}), "REBUILD", AFTER), (CLEAN, FINE, CLEAN)),
        Case("ORA-00054 at LOGGING of partitions", SALES_NOLOG,
             strike(becomes(fail={"alter_table": 54}), "INSERT /*+", AFTER), (CLEAN, FINE, CLEAN), PARTITIONED,
             mixed),
        Case("ORA-00054 at undo of a partitioned index", SALES_IX,
             strike(becomes(fail={"alter_index": 54}), "REBUILD PARTITION", AFTER, 2), (CLEAN, FINE, CLEAN),
             PARTITIONED, mixed),
        Case("ORA-00054 at COMMENT", JOB["ctas-sweep"], strike(becomes(fail={"comment": 54}), "COMMENT ON")),
        Case("ORA-00054 at undo of an index elsewhere", REBUILD_APP,
             strike(becomes(fail={"alter_index": 54}), "REBUILD", AFTER), (RESUME, CLEAN, FINE, CLEAN), OTHERS),
        Case("a transaction that ends in time", JOB["insert-job"],
             strike(locked(orders, 100), '"ORDERS" LOGGING')),
        Case("a transaction that does not end", JOB["insert-job"],
             strike(locked(orders, 1e9), '"ORDERS" LOGGING'), (CLEAN, locked(orders, 0), CLEAN)),
    ]  # fmt: skip


def _ghosts() -> list[Case]:
    two = Scenario(instances=2)
    blind = Scenario(instances=2, denied=frozenset({"GV$SESSION"}))
    sees = becomes(denied=frozenset())
    return [
        Case("three ghosts marked for kill", THREE,
             (*strike(orphaned, COPY), *strike(orphaned, COPY), *strike(killed_deaf, COPY)),
             (CLEAN, release, CLEAN)),
        Case("three ghosts, KILL refused", THREE,
             (*strike(orphaned, COPY), *strike(orphaned, COPY), *strike(both(NO_KILL, killed_orphan), COPY)),
             (CLEAN, RESUME, release, CLEAN, FINE, CLEAN)),
        Case("a load goes on and commits, KILL refused", JOB["insert-job"],
             strike(both(NO_KILL, killed_orphan), "INSERT /*+"), (CLEAN, RESUME, release, CLEAN, FINE, RESUME)),
        Case("a rebuild goes on, marked for kill", JOB["index-rebuild-job"], strike(killed_deaf, "REBUILD"),
             (CLEAN, release, CLEAN), setup=wreck.prepare),
        Case("a build goes on, KILL refused, ends", JOB["index-build-job"],
             strike(both(NO_KILL, killed_orphan), NEW_IX), (CLEAN, release, FINE, CLEAN, RESUME)),
        Case("a live rebuild goes on, KILL refused", LIVE, strike(both(NO_KILL, killed_orphan), "REBUILD"),
             (CLEAN, AGAIN, release, FINE, CLEAN), setup=wreck.prepare),
        Case("cut, its session marked for kill", JOB["ctas-sweep"], strike(orphaned, COPY), (release, CLEAN)),
        Case("a ghost on another instance", JOB["ctas-job"], strike(killed_orphan, MADE),
             (lands_on(2), CLEAN, release, CLEAN), two),
        Case("a ghost on another instance, unseen", JOB["insert-job"], strike(killed_orphan, "INSERT /*+"),
             (lands_on(2), CLEAN, RESUME, release, sees, CLEAN, RESUME), blind),
        Case("clean lands elsewhere, nobody left", JOB["index-rebuild-job"], strike(kill, "REBUILD", AFTER),
             (lands_on(2), CLEAN, CLEAN), two, wreck.prepare),
    ]  # fmt: skip


def _changed() -> list[Case]:
    nothing = becomes(privileges=("CREATE SESSION",))
    unseen = becomes(denied=frozenset({"V$SESSION", "GV$SESSION"}))
    dictionary = frozenset({"DBA_OBJECTS", "ALL_OBJECTS", "ALL_INDEXES", "DBA_INDEXES"})
    return [
        Case("CREATE TABLE revoked in a sweep", JOB["ctas-sweep"], strike(nothing, COPY, AFTER),
             (CLEAN, FINE, CLEAN)),
        Case("all revoked at undo of a build sweep", JOB["index-build-sweep"], strike(nothing, "DROP "),
             (CLEAN, RESUME, FINE, CLEAN)),
        Case("ALTER SESSION refused", JOB["insert-job"], strike(raises(1031), "ENABLE PARALLEL DML")),
        Case("sessions unseen, killed", JOB["insert-job"], strike(both(unseen, kill), "INSERT /*+", AFTER),
             (CLEAN, RESUME, FINE, CLEAN)),
        Case("sessions unseen, cut", JOB["ctas-sweep"], strike(both(unseen, cut), COPY, AFTER),
             (CLEAN, FINE, CLEAN)),
        Case("dictionary unread in a live sweep", LIVE, strike(becomes(denied=dictionary), "REBUILD", AFTER, 1),
             (CLEAN, FINE, CLEAN), setup=wreck.prepare),
        Case("a standby appears before a load", JOB["insert-job"], strike(STANDBY, '"ORDERS" NOLOGGING')),
        Case("a standby appears, killed, resumed", JOB["index-build-job"], strike(both(STANDBY, kill), NEW_IX),
             (RESUME, CLEAN)),
        Case("recovery area unread at undo", JOB["insert-sweep"],
             strike(becomes(denied=frozenset({"V$RECOVERY_FILE_DEST"})), "DROP TABLE")),
        Case("preferences refused half-way", STATS_LIVE, strike(raises(20000), "TABLE_PREFS", BEFORE, 1)),
        Case("statistics, cut between their trials", STATS_LIVE, strike(cut, "GATHER_", BEFORE, 1)),
    ]  # fmt: skip


def _full() -> list[Case]:
    """A tablespace that is read only (ORA-01647, ORA-00372) or full, in the middle."""
    return [
        Case("read only in every load", JOB["insert-sweep"], strike(becomes(fail={"insert": (12801, 1647)}),
             "INSERT /*+", BEFORE, 1), (CLEAN, RESUME, FINE, RESUME, CLEAN)),
        Case("read only at rebuild", JOB["index-rebuild-job"], strike(raises(1647), "REBUILD"),
             setup=wreck.prepare),
        Case("read only at COMMIT", JOB["insert-job"], strike(raises(372), "COMMIT")),
        Case("full in a partition", SALES_IX, strike(becomes(fail={"index_rebuild": 1654}), "REBUILD PARTITION",
             AFTER, 1), (CLEAN, FINE, RESUME, CLEAN), PARTITIONED, mixed),
        Case("full in a ctas", JOB["ctas-sweep"], strike(becomes(fail={"ctas": (12801, 1653)}), COPY, BEFORE, 1),
             (RESUME, FINE, RESUME, CLEAN)),
        Case("undo full in a live sweep", LIVE, strike(raises(30036), "REBUILD", BEFORE, 2), setup=wreck.prepare),
        Case("internal error at undo", JOB["ctas-job"], strike(raises(600), '"MADE" NOPARALLEL')),
    ]  # fmt: skip


def _refused_logons() -> list[Case]:
    """The PDB closed, the instance starting, the archiver stuck, the account locked, no process left."""
    rebuilt = {"setup": wreck.prepare}
    return [
        Case("ORA-01109 the PDB closed in a rebuild", JOB["index-rebuild-job"],
             strike(both(becomes(logon=1109), ended), "REBUILD", AFTER), (CLEAN, FINE, CLEAN), **rebuilt),
        Case("ORA-01033 restarted at undo", JOB["index-rebuild-job"],
             strike(both(becomes(logon=1033), cut), "PARALLEL 2"), (RESUME, FINE, CLEAN), **rebuilt),
        Case("ORA-00257 the archiver stuck in a load", JOB["insert-job"],
             strike(both(becomes(logon=257), cut), "INSERT /*+"), (CLEAN, FINE, RESUME, CLEAN)),
        Case("ORA-28000 the account locked", JOB["ctas-sweep"],
             strike(both(becomes(logon=28000), ended), COPY, AFTER), (FINE, CLEAN)),
        Case("ORA-00020 no process left", LIVE, strike(both(becomes(logon=20), cut), "REBUILD", AFTER),
             (FINE, RESUME, CLEAN), **rebuilt),
    ]  # fmt: skip


def _idle() -> list[Case]:
    """IDLE_TIME is over for each session of ours in turn, or for all that do not work."""
    idle = Scenario(idle_time=True)
    return [
        Case("idle before a ctas", JOB["ctas-job"], strike(raises(2396), MADE)),
        Case("idle before a load", JOB["insert-job"], strike(raises(2396), "INSERT /*+"), (RESUME, CLEAN)),
        Case("idle before COMMIT", JOB["insert-job"], strike(raises(2396), "COMMIT"), (RESUME, CLEAN)),
        Case("idle before the evidence", JOB["index-build-job"], strike(raises(2396), PQ)),
        Case("idle monitor", JOB["ctas-sweep"], strike(raises(2396), "begin of the instance")),
        Case("idle at a look at the catalogue", JOB["index-rebuild-job"], strike(raises(2396), "AS identity"),
             setup=wreck.prepare),
        Case("idle beside a live sweep", LIVE, scenario=idle, setup=wreck.prepare),
        Case("idle beside live statistics", STATS_LIVE, scenario=idle),
        Case("idle beside partitions", SALES_NOLOG, scenario=Scenario(partitioned=True, idle_time=True),
             setup=mixed),
        Case("idle in schemas of others", REBUILD_APP, scenario=Scenario(privileges=ANY, idle_time=True)),
    ]  # fmt: skip


def _tiers() -> list[object]:
    known = cases()
    slow = [each for each in known if any(word in each.name for word in (*NO_LOGON, "sessions unseen, cut"))]
    first = [each for each in known if each.name in ONCE_BROKEN]
    rest = [each for each in known if each not in (*slow, *first)]
    return [*thinned(first, 2), *thinned(rest, 9), *(pytest.param(each, marks=pytest.mark.full) for each in slow)]


@pytest.mark.thin(3)
@pytest.mark.parametrize("case", _tiers(), ids=lambda case: case.name.replace(" ", "-"))
def test_all_is_put_back_or_said(case: Case, tmp_path: Path) -> None:
    play(case, tmp_path)
