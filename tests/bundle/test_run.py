"""Bundles that are really run: by run.sh, with a stub client, against the Oracle stand-in."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import oracledb
import pytest

from tests.bundle.conftest import Maker, Workshop
from tests.oracle.standin import Scenario
from tests.oracle.standin.faults import AFTER, BEFORE, Fault, somebody
from tests.tiers import thinned
from toolkit.model.words import Outcome, RunState

CANARY = "Can4ry-9f3 $x"
_TIMEOUT = 300.0


def wait_for(there: Callable[[], object]) -> None:
    """Wait until something is there, not longer than a test may take."""
    until = time.monotonic() + _TIMEOUT
    while not there():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.02)


def at_work(shop: Workshop, count: int = 1) -> bool:
    return sum("CREATE TABLE" in text for text in list(shop.standin.statements)) >= count


def hurry(shop: Workshop) -> None:
    """Let the slow statement end, and make none slow any more."""
    shop.standin.engine.scenario = replace(shop.standin.engine.scenario, delay_seconds=0.0)
    shop.standin.engine.released.set()


@pytest.mark.thin(2)
@pytest.mark.parametrize("style", ["sqlplus", "sqlcl"])
def test_a_bundle_runs_to_its_end_and_is_a_run_like_any_other(workshop: Maker, style: str) -> None:
    shop = workshop()
    shop.extra["STUB_STYLE"] = style
    shop.export(options='source = "GTEST"\ntable = "GTEST_COPY"\nrepeat = 1\nwarmup = 0')
    status, said = shop.run()
    assert status == 0, said
    done = shop.ingest()
    assert done.returncode == 0, done.stderr
    record = shop.record()
    assert record.head.state is RunState.DONE and record.head.run in said + done.stdout
    assert {(trial.requested_degree, trial.granted_degree) for trial in record.trials} == {(1, 1), (4, 4)}
    assert all(trial.outcome is Outcome.OK and trial.rows == 2000 for trial in record.trials)
    assert all((trial.elapsed_seconds or 0) > 0 and "prepare" in trial.phases for trial in record.trials)
    names = {metric.name for trial in record.trials for metric in trial.metrics}
    assert {"redo size", "client_elapsed_seconds", "DB time"} <= names
    client = "SQLcl" if style == "sqlcl" else "SQL*Plus"
    assert client in str(record.environment["provenance"])
    assert shop.standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}
    again = shop.ingest()
    assert "0 trials added" in again.stderr and shop.record().trials == record.trials
    run = record.head.run
    assert shop.dbatk("compare", f"{run}/degree=1", f"{run}/degree=4").returncode == 0
    assert shop.dbatk("report", run, "--out", str(shop.folder / "r.html")).returncode == 0


@pytest.mark.full
def test_what_a_script_shows_is_what_the_database_gets(workshop: Maker) -> None:
    shop = workshop()
    shop.export()
    readme = (shop.bundle / "README.txt").read_text("utf-8")
    licences = readme.partition("\nLicences ")[2].partition("\n\n")[0]
    assert licences.strip().startswith("nothing that needs a declaration") and "licences:" not in licences
    assert shop.run()[0] == 0
    scripts = "\n".join(path.read_text("utf-8") for path in sorted((shop.bundle / "sql").glob("t*.sql")))
    changing = [text for text in shop.standin.statements if text.startswith(("CREATE", "COMMENT", "DROP"))]
    assert len(changing) >= 4
    assert [text for text in changing if f"{text};" not in scripts] == []


@pytest.mark.full
def test_a_password_is_nowhere(workshop: Maker, tmp_path: Path) -> None:
    shop = workshop(Scenario(password=CANARY, delay_seconds=0.3))
    shop.export()
    seen: list[str] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.02):
            for entry in Path("/proc").glob("[0-9]*"):
                for name in ("cmdline", "environ"):
                    try:
                        text = (entry / name).read_bytes().decode("utf-8", "replace")
                    except OSError:
                        continue
                    if CANARY in text:
                        seen.append(f"{entry.name} {name}")

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        status, said = shop.run()
    finally:
        over.set()
        watcher.join()
    assert status == 0 and CANARY not in said
    shop.ingest()
    assert seen == []
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []
    assert all(path.stat().st_mode & 0o077 == 0 for path in shop.bundle.rglob("*"))


@pytest.mark.full
def test_after_a_kill_the_broken_trial_is_cleaned_and_run_again(workshop: Maker) -> None:
    shop = workshop(Scenario(delay_seconds=60))
    shop.export()
    running = shop.begin()
    wait_for(lambda: at_work(shop))
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    done = shop.ingest()
    assert done.returncode == 3
    (trial,) = shop.record().trials
    assert trial.outcome is Outcome.INTERRUPTED and shop.record().head.state is RunState.INTERRUPTED
    hurry(shop)
    wait_for(lambda: not shop.standin.sessions())
    status, said = shop.run()
    assert status == 0, said
    assert shop.ingest().returncode == 0
    record = shop.record()
    assert [(each.trial, each.attempt, each.outcome.value) for each in record.trials] == [
        (1, 1, "interrupted"), (1, 2, "ok"), (2, 1, "ok"),
    ]  # fmt: skip
    assert record.head.state is RunState.DONE
    assert shop.standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}


def test_a_session_of_an_earlier_attempt_is_waited_for(workshop: Maker) -> None:
    shop = workshop()
    shop.export()
    found = re.search(r"\d{8}-\d{6}-[0-9a-f]{4}", (shop.bundle / "PLAN").read_text("utf-8"))
    assert found is not None
    run = found[0]
    dsn = shop.where.partition("@//")[2]
    with oracledb.connect(user="dbatk", password=shop.standin.password, dsn=dsn) as orphan:
        orphan.client_identifier = run
        orphan.ping()
        status, said = shop.run()
    assert status == 5 and "still at work" in said and "KILL SESSION" in said
    assert not list(shop.spools.glob("t*"))


@pytest.mark.full
@pytest.mark.parametrize("number", thinned([signal.SIGINT, signal.SIGTERM], 2))
def test_a_signal_ends_what_runs_and_puts_it_back(workshop: Maker, number: signal.Signals) -> None:
    shop = workshop(Scenario(delay_seconds=60))
    shop.export()
    running = shop.begin()
    wait_for(lambda: at_work(shop))
    threading.Timer(0.5, hurry, [shop]).start()
    os.kill(running.pid, number)
    said, _ = running.communicate(timeout=_TIMEOUT)
    assert running.returncode == 130 and "interrupted" in said
    assert shop.ingest().returncode == 3
    assert [trial.outcome.value for trial in shop.record().trials] == ["interrupted"]
    wait_for(lambda: not shop.standin.sessions())
    assert shop.run()[0] == 0
    assert shop.standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}


@pytest.mark.full
def test_an_error_in_a_trial_is_its_result(workshop: Maker) -> None:
    shop = workshop(Scenario(fail={"ctas": 1652}, fail_times=1))
    shop.export()
    status, said = shop.run()
    assert status == 3 and "trial 1 failed: ORA-01652" in said and "1 trials failed" in said, said
    assert shop.ingest().returncode == 3
    failed, ok = shop.record().trials
    assert (failed.outcome, failed.error_code) == (Outcome.FAILED, "ORA-01652")
    assert failed.elapsed_seconds is None and "ORA-01652" in str(failed.reason)
    assert ok.outcome is Outcome.OK


@pytest.mark.full
def test_a_trial_that_cannot_be_prepared_is_no_success_now_or_later(workshop: Maker) -> None:
    shop = workshop(Scenario(fail={"ctas": 1652}, fail_times=1))
    shop.export(
        operation="insert",
        options='source = "GTEST"\ntable = "GTEST"\nrepeat = 1\nwarmup = 0\nsnapshot = "none"',
        factors="degree = [1, 4]",
    )
    for _ in range(2):
        status, said = shop.run()
        assert status == 3 and "trial 1 " in said and "ORA-01652" in said and "1 trials failed" in said, said
    assert len([text for text in shop.standin.statements if text.startswith("INSERT")]) == 1
    assert shop.ingest().returncode == 3
    assert [trial.outcome for trial in shop.record().trials] == [Outcome.FAILED, Outcome.OK]
    assert shop.standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}


@pytest.mark.full
def test_a_degree_that_cannot_be_had_is_a_downgrade(workshop: Maker) -> None:
    shop = workshop(Scenario(max_servers=2))
    shop.export()
    assert shop.run()[0] == 3
    assert shop.ingest().returncode == 3
    told = {trial.requested_degree: trial for trial in shop.record().trials}
    assert told[1].outcome is Outcome.OK
    assert (told[4].outcome, told[4].error_code) == (Outcome.DOWNGRADED, "ORA-12827")


@pytest.mark.full
def test_a_lost_connection_breaks_a_trial_and_the_next_run_repeats_it(workshop: Maker) -> None:
    shop = workshop(Scenario(lose="ctas"))
    shop.export()
    status, said = shop.run()
    assert status == 3 and "did not come to its end" in said
    assert shop.ingest().returncode == 3
    assert {(trial.outcome, trial.error_code) for trial in shop.record().trials} == {
        (Outcome.INTERRUPTED, "ORA-03113")
    }
    shop.standin.engine.scenario = replace(shop.standin.engine.scenario, lose=None)
    assert shop.run()[0] == 0
    assert shop.ingest().returncode == 0


@pytest.mark.full
def test_several_sessions_begin_together(workshop: Maker) -> None:
    shop = workshop(Scenario(delay_seconds=2))
    shop.export(factors="concurrency = [3]")
    status, said = shop.run()
    assert status == 0, said
    assert shop.ingest().returncode == 0
    (trial,) = shop.record().trials
    assert sorted(item.worker for item in trial.items) == [0, 1, 2]
    spans = [
        (item.begin_seconds or 0, (item.begin_seconds or 0) + (item.elapsed_seconds or 0)) for item in trial.items
    ]
    assert max(begin for begin, _ in spans) < min(end for _, end in spans), "all were at work at once"
    assert all(item.outcome is Outcome.OK for item in trial.items)
    assert shop.standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}


@pytest.mark.full
def test_a_session_that_cannot_begin_fails_the_trial_and_stops_the_others(workshop: Maker) -> None:
    shop = workshop(Scenario(parameters_refused=frozenset({"ddl_lock_timeout"})))
    shop.export(factors="concurrency = [2]")
    status, said = shop.run()
    assert status == 3 and "could not be prepared" in said
    assert shop.ingest().returncode == 3
    (trial,) = shop.record().trials
    assert trial.outcome is Outcome.FAILED and trial.error_code == "ORA-65040"


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("operation", "options"),
    [
        ("insert", 'source = "GTEST"\ntable = "GTEST"'),
        ("index-build", 'table = "GTEST"\ncolumns = ["ID", "AMOUNT"]'),
        ("index-rebuild", 'table = "GTEST"'),
        ("stats-gather", 'table = "GTEST"'),
    ],
)
def test_every_operation_runs_from_a_bundle(workshop: Maker, operation: str, options: str) -> None:
    shop = workshop()
    shop.export(
        operation=operation,
        options=f'{options}\nrepeat = 1\nwarmup = 0\nsnapshot = "none"',
        factors="degree = [2]",
    )
    status, said = shop.run()
    assert status == 0, said
    done = shop.ingest()
    assert done.returncode == 0, done.stderr
    assert [trial.outcome.value for trial in shop.record().trials] == ["ok"]
    assert shop.standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}


@pytest.mark.full
def test_a_job_leaves_its_table(workshop: Maker) -> None:
    shop = workshop()
    shop.export(options='source = "GTEST"\ntable = "NEW_TABLE"', factors="degree = [4]")
    assert shop.run()[0] == 0
    assert shop.ingest().returncode == 0
    assert shop.standin.engine.state.objects["TABLE", ("DBATK", "NEW_TABLE")].degree == "1"


@pytest.mark.full
def test_paths_with_quotes_and_blanks_are_no_matter(workshop: Maker) -> None:
    shop = workshop(name="a 'b' \"c\" $d")
    shop.export()
    status, said = shop.run()
    assert status == 0, said
    assert shop.ingest().returncode == 0


@pytest.mark.full
def test_a_wallet_needs_no_password(workshop: Maker) -> None:
    shop = workshop()
    shop.extra["STUB_WALLET"] = f"dbatk/{shop.standin.password}"
    shop.export()
    status, said = shop.run(where=f"/@{shop.where.partition('@')[2]}")
    assert status == 0, said


def test_undo_puts_everything_back_at_any_time(workshop: Maker, tmp_path: Path) -> None:
    shop = workshop(Scenario(delay_seconds=60))
    shop.client_of_its_own()
    shop.export()
    running = shop.begin()
    wait_for(lambda: at_work(shop))
    # Stopped first: of a client that is gone the server would cancel the statement.
    os.killpg(running.pid, signal.SIGSTOP)
    hurry(shop)
    wait_for(lambda: len(shop.standin.tables()) == 3)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    wait_for(lambda: not shop.standin.sessions())
    import subprocess

    user, _, at = shop.where.partition("@")
    text = f'CONNECT {user}/"{shop.standin.password}"@{at}\n@{shop.bundle / "undo.sql"}\nEXIT\n'
    subprocess.run([str(shop.client), "-S", "/nolog"], input=text, text=True, check=True, capture_output=True)
    assert shop.standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}


@pytest.mark.full
def test_a_value_that_somebody_set_since_the_export_is_not_overwritten(workshop: Maker) -> None:
    shop = workshop()
    shop.export(operation="index-rebuild", options='index = "GTEST_IX"\nsnapshot = "none"', factors="degree = [4]")
    shop.standin.engine.run_as_dba('ALTER INDEX "DBATK"."GTEST_IX" PARALLEL 8')
    status, said = shop.run()
    assert status == 3 and "degree is `8`, it was `1` when the script was made" in said, said
    assert not [text for text in shop.standin.statements if "REBUILD" in text]
    assert shop.standin.engine.state.objects["INDEX", ("DBATK", "GTEST_IX")].degree == "8"
    assert shop.ingest().returncode == 3


@pytest.mark.full
def test_a_value_that_somebody_set_during_a_bundle_is_left_and_shown(workshop: Maker) -> None:
    shop = workshop()
    shop.export(operation="index-rebuild", options='index = "GTEST_IX"\nsnapshot = "none"', factors="degree = [4]")
    act = somebody('ALTER INDEX "DBATK"."GTEST_IX" PARALLEL 8')
    shop.standin.engine.faults.append(Fault(act, words="REBUILD", when=AFTER))
    status, said = shop.run()
    assert status == 3 and "degree is `8`" in said and "the run set `4`" in said, said
    assert shop.standin.engine.state.objects["INDEX", ("DBATK", "GTEST_IX")].degree == "8"
    done = shop.ingest()
    assert done.returncode == 3 and "something was left as it is: ORA-20002: index `DBATK.GTEST_IX`" in done.stderr


def test_what_cannot_be_put_back_is_shown_and_is_no_success(workshop: Maker) -> None:
    shop = workshop(Scenario(lose="index_rebuild"))
    shop.export(operation="index-rebuild", options='index = "GTEST_IX"\nsnapshot = "none"', factors="degree = [4]")
    index = shop.standin.engine.state.objects["INDEX", ("DBATK", "GTEST_IX")]

    def act(*_: object) -> None:
        index.degree = "4"
        shop.standin.engine.state.locks["DBATK", "GTEST"] = 3600.0

    shop.standin.engine.faults.append(Fault(act, words="REBUILD", when=BEFORE))
    status, said = shop.run()
    assert status == 3 and "left as it is: ORA-00054" in said, said
    assert "after trial 1 something was left as it is: ORA-00054" in shop.ingest().stderr


@pytest.mark.full
def test_what_puts_back_waits_for_a_lock_as_a_run_does(workshop: Maker) -> None:
    shop = workshop()
    shop.export(operation="index-rebuild", options='index = "GTEST_IX"\nsnapshot = "none"', factors="degree = [4]")

    def act(*_: object) -> None:
        shop.standin.engine.state.locks["DBATK", "GTEST"] = 30.0

    shop.standin.engine.faults.append(Fault(act, words="REBUILD", when=AFTER))
    status, said = shop.run()
    assert status == 0, said
    assert shop.standin.engine.state.objects["INDEX", ("DBATK", "GTEST_IX")].degree == "1"
