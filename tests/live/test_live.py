"""What must hold on a real Oracle database; each test's name is a claim that the page repeats."""

from __future__ import annotations

import signal
import subprocess
import time
from typing import Any

import pytest

from tests.live.database import SOURCE, Live, drop
from tests.live.page import told
from toolkit.store import open_store

pytestmark = pytest.mark.oracle_live

_SWEEP = ("--degree", "1,2", "--repeat", "2", "--warmup", "0")
_SLOW = (
    "SELECT COUNT(*) AS n FROM {t} a, {t} b, {t} c WHERE a.grp = b.grp AND b.grp = c.grp AND a.id + b.id > c.id\n"
)


def trials(run: dict[str, object]) -> list[dict[str, Any]]:
    """Return the trials of a run's document."""
    found = run["trials"]
    assert isinstance(found, list)
    return found


def ended_well(run: dict[str, object]) -> bool:
    """Tell whether every trial was measured, or its degree could not be had here and it was said so."""
    return all(
        each["outcome"] == "ok" or (each["outcome"] in ("downgraded", "unsupported") and each["reason"])
        for each in trials(run)
    )


def test_doctor_reads_what_this_user_may_read(live: Live, observe: list[str]) -> None:
    status, found = live.dbatk("doctor")
    assert status == 0
    states = {str(check["name"]): str(check["state"]) for check in found["checks"]}  # type: ignore[attr-defined]
    assert states["release"] == "ok"
    observe.extend(filter(None, map(told, found["checks"])))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "arguments",
    [
        ("ctas", "--source", SOURCE, "--table", "DBATK_LIVE_COPY"),
        ("insert", "--source", SOURCE, "--table", SOURCE),
        ("index", "build", "--table", SOURCE, "--columns", "GRP,ID"),
        ("stats", "gather", "--table", SOURCE),
    ],
    ids=lambda arguments: "-".join(arguments[:2]),
)
def test_a_sweep_measures_tells_its_degree_and_leaves_nothing(
    arguments: tuple[str, ...], live: Live, observe: list[str]
) -> None:
    status, run = live.dbatk(*arguments, *_SWEEP)
    assert status in (0, 3), run
    assert ended_well(run), run
    assert live.leftovers() == []
    assert live.sessions(str(run["run"])) == []
    for each in trials(run):
        asked, granted = each["requested_degree"], each["granted_degree"]
        source = each.get("granted_source") or "no evidence"
        observe.append(f"{arguments[0]} degree {asked}: {each['outcome']}, granted {granted} ({source})")


def test_an_index_is_rebuilt_on_a_copy_and_the_original_stays(live: Live) -> None:
    live.dbatk("ctas", "--source", SOURCE, "--table", "DBATK_LIVE_TARGET")
    status, _ = live.dbatk(
        "index", "build", "--table", "DBATK_LIVE_TARGET", "--columns", "ID", "--name", "DBATK_LIVE_TARGET_IX"
    )
    assert status == 0
    identity = "SELECT o.object_id, o.created FROM all_objects o WHERE o.object_name = 'DBATK_LIVE_TARGET_IX'"
    before = live.ask(identity)
    status, run = live.dbatk("index", "rebuild", "--table", "DBATK_LIVE_TARGET", *_SWEEP)
    assert ended_well(run), run
    assert live.ask(identity) == before
    drop(live, ["DBATK_LIVE_TARGET"])


def test_a_job_leaves_its_table_serial_and_complete(live: Live) -> None:
    status, run = live.dbatk("ctas", "--source", SOURCE, "--table", "DBATK_LIVE_JOB", "--degree", "2")
    if status == 5:
        pytest.skip("this edition has no parallel execution")
    assert status == 0, run
    ((degree,),) = live.ask("SELECT TRIM(t.degree) FROM all_tables t WHERE t.table_name = 'DBATK_LIVE_JOB'")
    assert degree == "1"
    counts = live.ask(f"SELECT COUNT(*) FROM {SOURCE}"), live.ask("SELECT COUNT(*) FROM DBATK_LIVE_JOB")
    assert counts[0] == counts[1]
    drop(live, ["DBATK_LIVE_JOB"])


def test_a_time_limit_cancels_the_statement_and_its_session_is_gone(live: Live) -> None:
    file = live.folder / "slow.sql"
    file.write_text(_SLOW.format(t=SOURCE), encoding="ascii")
    _, run = live.dbatk(
        "ctas", "--query", str(file), "--table", "DBATK_LIVE_SLOW", "--repeat", "1", "--warmup", "0",
        "--time-limit", "2s",
    )  # fmt: skip
    assert [(each["outcome"], each["error_code"]) for each in trials(run)] == [("failed", "TK-0207")], run
    assert live.leftovers() == []
    assert live.sessions(str(run["run"])) == []


def test_ctrl_c_ends_the_run_in_order_and_it_can_be_resumed(live: Live) -> None:
    begun = _begin_slow(live)
    begun.send_signal(signal.SIGINT)
    assert begun.wait(60) == 130
    assert live.leftovers() == []
    assert live.sessions(_last_run(live)) == []


def test_what_a_killed_process_left_is_found_and_cleaned(live: Live) -> None:
    begun = _begin_slow(live)
    begun.kill()
    begun.wait(60)
    run = _last_run(live)
    status, report = live.dbatk("clean", "--run", run)
    assert status == 0, report
    assert live.leftovers() == []
    assert live.sessions(run) == []


def _begin_slow(live: Live) -> subprocess.Popen[bytes]:
    """Begin a measurement whose first statement takes long, and return once that statement runs."""
    file = live.folder / "slow.sql"
    file.write_text(_SLOW.format(t=SOURCE), encoding="ascii")
    arguments = live.command(
        "ctas", "--query", str(file), "--table", "DBATK_LIVE_SLOW", "--repeat", "2", "--warmup", "0",
        "--not-production",
    )  # fmt: skip
    known = {head.run for head in _heads(live)}
    begun = subprocess.Popen(
        arguments, env=live.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        runs = [head.run for head in _heads(live) if head.run not in known]
        if runs and any("trial" in str(action) for (action,) in _actions(live, runs[0])):
            return begun
        time.sleep(0.1)
    begun.kill()
    pytest.fail("no statement of the run was seen in V$SESSION within 60 s")


def _actions(live: Live, run: str) -> list[tuple[object, ...]]:
    query = "SELECT s.action FROM v$session s WHERE s.client_identifier = :run AND s.status = 'ACTIVE'"
    return live.ask(query, run=run)


def _heads(live: Live) -> list[Any]:
    with open_store(live.folder / "store.db") as store:
        return list(store.list_runs())


def _last_run(live: Live) -> str:
    return str(_heads(live)[0].run)
