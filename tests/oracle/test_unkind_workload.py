"""Scenario 28 of docs/unkind.md: users of a workload, killed with the run that began them or apart from it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.oracle.standin.faults import AFTER, BEFORE, Act
from tests.oracle.unkind import (
    CLEAN,
    FINE,
    RESUME,
    Case,
    Scene,
    becomes,
    both,
    cut,
    ended,
    kill,
    killed_orphan,
    orphaned,
    play,
    raises,
    release,
    strike,
)
from tests.tiers import thinned

LINE = ("workload", "--builtin", "tpcb", "--users", "2", "--measure-for", "1s", "--ramp-up", "0", "--repeat", "1",
        "--warmup", "0")  # fmt: skip
USERS = (*LINE, "--think-time", "0.02")
"""They need not hurry: else each uses a processor until the interval is over."""
LOOP = (*LINE, "--loop", "server")
MADE, PAYS, DROP = 'CREATE TABLE "DBATK"."DBATK_', "SET abalance", "DROP TABLE"
NO_KILL = becomes(fail={"kill": 1031})


def users_killed(scene: Scene) -> Act:
    """Kill the processes in which users live, and nothing else."""

    def act(backend: object, _: object) -> None:
        del backend
        run = scene.pid()
        for line in Path(f"/proc/{run}/task").glob("*/children"):
            for child in line.read_text().split():
                os.kill(int(child), signal.SIGKILL)

    return act


def cases() -> list[Case]:
    """Return every case."""
    return [
        Case("killed before its first table", USERS, strike(kill, MADE), (CLEAN, RESUME, CLEAN)),
        Case("killed while its tables are made", USERS, strike(kill, MADE, AFTER, 1), (CLEAN, RESUME, CLEAN)),
        Case("a table goes on being made", USERS, strike(killed_orphan, MADE, BEFORE, 2), (release, CLEAN, CLEAN)),
        Case("killed while users are at work", USERS, strike(kill, PAYS, BEFORE, 5), (CLEAN, RESUME, CLEAN)),
        Case("killed, resumed at once", USERS, strike(kill, PAYS, AFTER, 5), (RESUME, CLEAN)),
        Case("a user's session goes on", USERS, strike(killed_orphan, PAYS, BEFORE, 5), (CLEAN, release, CLEAN)),
        Case("a user's session goes on, KILL refused", USERS,
             strike(both(NO_KILL, killed_orphan), PAYS, BEFORE, 5), (CLEAN, release, FINE, CLEAN, RESUME)),
        Case("a user's network goes, KILL refused", USERS, strike(both(NO_KILL, orphaned), PAYS, BEFORE, 5),
             (CLEAN, release, FINE, CLEAN)),
        Case("the processes of users are killed", USERS, strike(users_killed, PAYS, BEFORE, 5), (RESUME, CLEAN)),
        Case("a user's session is killed", USERS, strike(ended, PAYS, BEFORE, 5), (RESUME, CLEAN)),
        Case("a user's connection is cut", USERS, strike(cut, PAYS, BEFORE, 5), (RESUME, CLEAN)),
        Case("ORA-01653 of a user", USERS, strike(raises(1653), "INSERT INTO", BEFORE, 3), (RESUME, CLEAN)),
        Case("killed, a loop in the server runs", LOOP, strike(kill, PAYS, BEFORE, 3), (CLEAN, RESUME, CLEAN)),
        Case("a looping session goes on", LOOP, strike(killed_orphan, PAYS, BEFORE, 3), (CLEAN, release, CLEAN)),
        Case("a looping session is killed", LOOP, strike(ended, PAYS, BEFORE, 3), (RESUME, CLEAN)),
        Case("killed amid its drops", USERS, strike(kill, DROP, AFTER), (CLEAN, RESUME, CLEAN)),
        Case("its tables cannot be dropped", USERS, strike(becomes(fail={"drop_table": 1031}), DROP),
             (CLEAN, FINE, CLEAN)),
    ]  # fmt: skip


@pytest.mark.thin(3)
@pytest.mark.parametrize("case", thinned([pytest.param(case, id=case.name) for case in cases()], 6))
def test_users_of_a_killed_workload_leave_what_was_there_or_it_is_named(case: Case, tmp_path: Path) -> None:
    play(case, tmp_path)
