"""What strikes work that was new after the first hundred scenarios: shrinks, external files, partitions to drop.

Planned as those were, from docs/safety.md and Oracle's documentation; the numbers go on where theirs end.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import Scenario, Standin
from tests.oracle.standin.faults import AFTER
from tests.oracle.test_external_files import INSERT, files
from tests.oracle.test_live_statistics import ANALYZE_ANY
from tests.oracle.test_partition_drop import aging
from tests.oracle.test_unkind_renamed import renamed, undo_by_hand
from tests.oracle.unkind import (
    AGAIN,
    CLEAN,
    FINE,
    PARTITIONED,
    RESUME,
    Case,
    Strike,
    becomes,
    both,
    cut,
    dba,
    ended,
    kill,
    killed_orphan,
    play,
    raises,
    release,
    strike,
)
from tests.tiers import thinned

SHRINK = ("table", "shrink", "--table", "GTEST", "--snapshot", "none")
OF_ORDERS = ("table", "shrink", "--table", "APP.ORDERS", "--snapshot", "none")
TRADES = ("table", "shrink", "--table", "TRADES", "--snapshot", "none")
BACK = "DISABLE ROW MOVEMENT"
SWEEP = (*INSERT, "--degree", "1,2", "--repeat", "1", "--warmup", "0")
DROP = ("partition", "drop", "--table", "SALES", "--keep-rows", "24 months", "--snapshot", "none")
READS = Scenario(views=ANALYZE_ANY)
LOADED = "INSERT /*+"
ANEW = ('DROP TABLE "DBATK"."GTEST"', 'CREATE TABLE "DBATK"."GTEST" AS SELECT * FROM APP.ORDERS')


def with_files(standin: Standin) -> None:
    files(standin.engine)


def cases() -> list[Case]:
    """Return every case."""
    return [*_shrinks(), *_undone(), *_loads(), *_partitions()]


def _shrinks() -> list[Case]:
    return [
        Case("101 shrink killed before", SHRINK, strike(kill, "SHRINK SPACE"), (CLEAN, RESUME, CLEAN),
             setup=wreck.prepare),
        Case("102 shrink killed after", SHRINK, strike(kill, "SHRINK SPACE", AFTER), (CLEAN, CLEAN)),
        Case("103 a shrink goes on", SHRINK, strike(killed_orphan, "SHRINK SPACE"),
             (CLEAN, release, CLEAN, RESUME)),
        Case("104 a shrink goes on, KILL refused", SHRINK, strike(killed_orphan, "SHRINK SPACE"),
             (Strike(raises(1031), "KILL SESSION"), CLEAN, release, CLEAN)),
        Case("107 ORA-10631 in a shrink", SHRINK, strike(raises(10631), "SHRINK SPACE"), (CLEAN,)),
        Case("109 renamed in a shrink", SHRINK,
             strike(both(renamed("TABLE", ("DBATK", "GTEST"), "RENAMED"), kill), "SHRINK SPACE", AFTER),
             (CLEAN, CLEAN)),
        Case("110 made anew in a shrink", SHRINK,
             strike(both(dba(*ANEW), kill), "SHRINK SPACE", AFTER), (CLEAN, CLEAN)),
        Case("113 killed amid subpartitions", TRADES, strike(kill, "SHRINK SPACE", AFTER, 2),
             (CLEAN, RESUME, CLEAN), PARTITIONED),
        Case("114 again after a kill", SHRINK, strike(kill, "SHRINK SPACE", AFTER), (AGAIN, CLEAN, AGAIN)),
        Case("115 cut at SHRINK, nobody gets in", SHRINK, strike(both(becomes(logon=28000), cut), "SHRINK SPACE"),
             (CLEAN, FINE, CLEAN)),
    ]  # fmt: skip


def _undone() -> list[Case]:
    return [
        Case("105 ORA-00054 at undo of a shrink", SHRINK,
             strike(becomes(fail={"row_movement": 54}), "SHRINK SPACE", AFTER), (CLEAN, FINE, CLEAN)),
        Case("106 ORA-00054 once at undo of a shrink", SHRINK, strike(raises(54), BACK)),
        Case("108 ALTER revoked in a shrink", OF_ORDERS, strike(becomes(grants={}), "SHRINK SPACE", AFTER),
             (CLEAN, FINE, CLEAN)),
        Case("111 a shrink undone by hand", SHRINK, strike(kill, "SHRINK SPACE", AFTER),
             (undo_by_hand, CLEAN, CLEAN)),
        Case("112 session ended at undo of a shrink", SHRINK, strike(ended, BACK), (CLEAN,)),
        Case("122 clean killed at undo of a shrink", SHRINK, strike(kill, "SHRINK SPACE", AFTER),
             (Strike(kill, BACK), CLEAN, CLEAN)),
    ]  # fmt: skip


def _loads() -> list[Case]:
    return [
        Case("116 load of files killed", INSERT, strike(kill, LOADED), (CLEAN, RESUME, CLEAN), READS, with_files),
        Case("117 the external table cannot be dropped", INSERT,
             strike(becomes(fail={"drop_table": 54}), LOADED, AFTER), (CLEAN, FINE, CLEAN), READS, with_files),
        Case("118 sweep of files killed", SWEEP, strike(kill, LOADED, AFTER), (RESUME, CLEAN), READS, with_files),
        Case("119 files go in a sweep", SWEEP, strike(raises(29913), LOADED, spared=1), (CLEAN,), READS,
             with_files),
    ]  # fmt: skip


def _partitions() -> list[Case]:
    return [
        Case("120 killed before a partition is dropped", DROP, strike(kill, "DROP PARTITION"), (CLEAN,),
             PARTITIONED, aging),
        Case("121 ORA-00054 at DROP PARTITION", DROP,
             strike(becomes(fail={"partition_drop": 54}), "DROP PARTITION"), (CLEAN,), PARTITIONED, aging),
    ]  # fmt: skip


@pytest.mark.thin(3)
@pytest.mark.parametrize("case", thinned([pytest.param(case, id=case.name) for case in cases()], 5))
def test_what_newer_operations_changed_is_as_it_was_or_named(case: Case, tmp_path: Path) -> None:
    play(case, tmp_path)
