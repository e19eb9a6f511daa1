"""The degree that a pool of servers gives, which is not the one asked for: every operation says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.oracle.standin import Scenario, running_standin
from tests.oracle.test_command_line import dbatk
from tests.tiers import thinned

_COPY = ("--source", "GTEST", "--table", "GTEST_COPY")
OPERATIONS = {
    "ctas": ("ctas", *_COPY),
    "insert": ("insert", "--source", "GTEST", "--table", "GTEST"),
    "index-build": ("index", "build", "--table", "GTEST", "--columns", "AMOUNT", "--name", "GTEST_POOL"),
    "index-rebuild": ("index", "rebuild", "--index", "GTEST_IX"),
    "stats-gather": ("stats", "gather", "--table", "GTEST"),
}
POOLS = {
    "used by others": (Scenario(busy_servers=76), 2),
    "used up by others": (Scenario(busy_servers=80), 1),
    "none at all": (Scenario(max_servers=0), 1),
    "a limit of the group": (Scenario(groups={"OTHER_GROUPS": 2}), 2),
    "adaptive": (Scenario(busy_servers=60, parameters={"parallel_adaptive_multi_user": "TRUE"}), 2),
}


def trials(run: dict[str, object]) -> Iterator[dict[str, object]]:
    """Return the trials of a run that count."""
    return (trial for trial in run["trials"] if not trial["warmup"])  # type: ignore[attr-defined, union-attr]


@pytest.mark.thin(2)
@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("operation", thinned(OPERATIONS, 6))
def test_a_job_that_gets_fewer_servers_than_asked_for_is_downgraded(
    operation: str, pool: str, tmp_path: Path
) -> None:
    scenario, given = POOLS[pool]
    with running_standin(scenario) as standin:
        # The statements of DBMS_STATS are many: only counters tell of all of them. One statement tells of itself.
        counted = "vstat" if operation == "stats-gather" else "none"
        status, run = dbatk(standin, tmp_path, *OPERATIONS[operation], "--degree", "8", "--snapshot", counted)
    (trial,) = trials(run)
    assert (status, trial["outcome"], trial["requested_degree"]) == (3, "downgraded", 8), trial["reason"]
    assert trial["granted_degree"] in (given, None)
    if operation != "stats-gather":
        assert trial["granted_degree"] == given


@pytest.mark.thin(2)
@pytest.mark.parametrize("operation", thinned(OPERATIONS, 3))
def test_a_job_that_gets_all_it_asked_for_is_not(operation: str, tmp_path: Path) -> None:
    with running_standin(Scenario(busy_servers=40)) as standin:
        status, run = dbatk(standin, tmp_path, *OPERATIONS[operation], "--degree", "8", "--snapshot", "vstat")
    (trial,) = trials(run)
    assert (status, trial["outcome"]) == (0, "ok"), trial["reason"]


@pytest.mark.full
@pytest.mark.parametrize("busy", [76, 80])
def test_a_measurement_without_servers_is_downgraded_and_the_rest_of_the_sweep_goes_on(
    busy: int, tmp_path: Path
) -> None:
    with running_standin(Scenario(busy_servers=busy)) as standin:
        line = (*OPERATIONS["ctas"], "--degree", "1,8", "--repeat", "1", "--warmup", "0", "--snapshot", "none")
        status, run = dbatk(standin, tmp_path, *line)
    assert status == 3
    told = {trial["requested_degree"]: trial for trial in trials(run)}
    assert (told[1]["outcome"], told[8]["outcome"]) == ("ok", "downgraded")
    assert "ORA-12827" in str(told[8]["reason"])
