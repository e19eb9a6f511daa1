"""Loads by SQL*Loader in bundles: measured, as a job, with bad rows, refused, cut off."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.bundle.conftest import Maker, Workshop
from tests.bundle.test_run import CANARY, wait_for
from tests.oracle.standin import Scenario
from toolkit.model.words import Outcome, RunState

_COLUMNS = 'columns = ["ID", "IDNAME", "AMOUNT"]'


def written(shop: Workshop, *names: str, rows: int = 300, bad: str = "") -> str:
    """Write files of rows, and return the line that names them."""
    for at, name in enumerate(names):
        lines = [f'{100_000 * (at + 1) + n},"text, {n}",{n % 7}' for n in range(rows)]
        (shop.folder / name).write_text("ID,IDNAME,AMOUNT\n" + "\n".join([*lines, bad]).rstrip("\n") + "\n")
    return "files = [" + ", ".join(f'"{shop.folder / name}"' for name in names) + "]"


def options(files: str, *more: str) -> str:
    return "\n".join(['table = "GTEST"', files, _COLUMNS, 'snapshot = "none"', *more])


MEASURED = ("repeat = 1", "warmup = 0")
JOB = ('mode = "job"',)


def loaded(shop: Workshop) -> int:
    rows = shop.standin.engine.cursor().execute("SELECT COUNT(*) FROM DBATK.GTEST WHERE ID >= 100000").fetchall()
    return int(rows[0][0])


@pytest.mark.full
@pytest.mark.parametrize("style", ["sqlplus", "sqlcl"])
def test_both_paths_and_several_sessions_are_measured(workshop: Maker, style: str) -> None:
    shop = workshop()
    shop.extra |= {"STUB_STYLE": style, "STUB_LOG": str(shop.folder / "log")}
    files = written(shop, "a.csv", "b.csv")
    factors = 'degree = [1, 2]\nmethod = ["conventional", "direct"]\nbatch_rows = [500]'
    shop.export(operation="load", options=options(files, *MEASURED, "bare = true"), factors=factors)
    status, said = shop.run()
    assert status == 0, said
    done = shop.ingest()
    assert done.returncode == 0, done.stderr
    record = shop.record()
    assert record.head.state is RunState.DONE
    assert [
        (each.outcome, each.rows, each.granted_degree) for each in record.trials if each.cell["degree"] == 1
    ] == [(Outcome.OK, 600, 1)] * 2
    assert {each.rows for each in record.trials} == {600}
    metrics = {metric.name: metric.value for metric in record.trials[0].metrics}
    size = sum((shop.folder / name).stat().st_size for name in ("a.csv", "b.csv"))
    assert metrics["file_bytes"] == size and metrics["rejected_rows"] == 0
    assert metrics["loader_seconds"] == pytest.approx(1.4) and metrics["loader_cpu_seconds"] == pytest.approx(0.04)
    assert metrics["load_rows_per_second"] > 0
    calls = [line for line in (shop.folder / "log").read_text().split("\n") if line.startswith("sqlldr ")]
    assert len(calls) == 8
    assert sum("('PARALLEL', 'TRUE')" in each for each in calls) == 2
    assert sum("('COLUMNARRAYROWS', '500')" in each for each in calls) == 4
    assert sum("('ROWS', '500')" in each for each in calls) == 4
    assert shop.standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}
    assert not list(shop.spools.glob("word-*")) and not list(shop.spools.glob("load-*"))


@pytest.mark.full
def test_a_job_keeps_bad_rows_with_their_reasons(workshop: Maker) -> None:
    shop = workshop()
    files = written(shop, "a.csv", bad="x,bad,1\n,,")
    shop.export(operation="load", options=options(files, *JOB, "max_rejects = 2"), factors='method = ["direct"]')
    status, said = shop.run()
    assert status == 0, said
    assert loaded(shop) == 300
    assert (shop.spools / "t0001-a1-i1.bad").read_text().startswith("x,bad,1")
    done = shop.ingest()
    assert done.returncode == 0, done.stderr
    assert "record 301, column ID: ORA-01722" in done.stderr
    (trial,) = shop.record().trials
    assert (trial.outcome, trial.rows) == (Outcome.OK, 300)
    assert {metric.name: metric.value for metric in trial.metrics}["rejected_rows"] == 2
    assert any("2 rows were left out: spool/*.bad" in each for each in shop.record().warnings)
    assert shop.run()[0] == 0 and loaded(shop) == 300


@pytest.mark.full
def test_more_bad_rows_than_allowed_fail_the_trial(workshop: Maker) -> None:
    shop = workshop()
    files = written(shop, "a.csv", bad="x,bad,1")
    shop.export(operation="load", options=options(files, *MEASURED), factors='method = ["conventional"]')
    status, said = shop.run()
    assert status == 3 and "more than 0 (--max-rejects)" in said, said
    shop.ingest()
    (trial,) = shop.record().trials
    assert (trial.outcome, trial.error_code) == (Outcome.FAILED, "TK-0213")
    assert "a.csv: 1, more than 0" in str(trial.reason)


@pytest.mark.full
def test_a_file_that_was_not_there_is_loaded_by_the_next_call_of_the_script(workshop: Maker) -> None:
    shop = workshop()
    files = written(shop, "a.csv", "b.csv")
    (shop.folder / "b.csv").rename(shop.folder / "late")
    shop.export(operation="load", options=options(files, *JOB), factors='method = ["conventional"]\ndegree = [2]')
    status, said = shop.run()
    assert status == 3 and "b.csv cannot be read" in said and loaded(shop) == 300, said
    (shop.folder / "late").rename(shop.folder / "b.csv")
    status, said = shop.run()
    assert status == 0 and loaded(shop) == 600, said
    for _ in range(2):
        shop.ingest()
        assert [each.outcome for each in shop.record().trials] == [Outcome.FAILED, Outcome.OK]


@pytest.mark.full
@pytest.mark.parametrize("pipe", [False, True])
def test_a_file_that_is_not_there_or_a_pipe_is_told(pipe: bool, workshop: Maker) -> None:
    shop = workshop()
    files = written(shop, "a.csv")
    (shop.folder / "a.csv").unlink()
    if pipe:
        os.mkfifo(shop.folder / "a.csv")
    shop.export(operation="load", options=options(files, *MEASURED), factors='method = ["direct"]')
    status, said = shop.run()
    assert status == 3 and "a.csv cannot be read where the bundle runs" in said
    shop.ingest()
    assert shop.record().trials[0].error_code == "TK-0106"


@pytest.mark.thin(4)
@pytest.mark.parametrize(("ends", "sentence"), [
    ("exit 1", "ended with exit status 1 and names no error"),
    ("kill -9 $$", "ended with exit status 137 and names no error"),
    ("echo 'sqlldr: error while loading shared libraries: libclntsh.so.19.1' >&2; exit 127", "status 127"),
    ("kill -9 $PPID", "how SQL*Loader ended is not known"),
], ids=["silent", "killed", "no library", "its caller killed"])  # fmt: skip
def test_a_load_that_fails_without_a_word_is_a_failed_trial(workshop: Maker, ends: str, sentence: str) -> None:
    shop = workshop()
    loader = shop.folder / "sqlldr"
    loader.write_text(f"#!/bin/sh\n{ends}\n")
    loader.chmod(0o700)
    shop.extra["SQLLDR"] = str(loader)
    shop.export(
        operation="load", options=options(written(shop, "a.csv"), *MEASURED), factors='method = ["direct"]'
    )
    status, said = shop.run()
    shop.ingest()
    (trial,) = shop.record().trials
    assert trial.outcome is Outcome.FAILED and sentence in str(trial.reason), (trial, said)
    assert status == 3, said


def test_a_job_that_was_cut_off_loads_nothing_twice(workshop: Maker) -> None:
    shop = workshop()
    shop.client_of_its_own()
    files = written(shop, "a.csv", "b.csv")
    shop.export(operation="load", options=options(files, *JOB), factors='method = ["direct"]')
    slow = shop.folder / "slow"
    slow.touch()
    shop.extra["STUB_SLOW"] = str(slow)
    running = shop.begin()
    wait_for(lambda: list(shop.spools.glob("load-1.pid")))
    running.send_signal(signal.SIGTERM)
    said = running.communicate(timeout=120)[0]
    assert running.returncode == 130, said
    assert not list(shop.spools.glob("load-*.pid")) or not _alive(shop.spools)
    slow.unlink()
    assert loaded(shop) == 0
    status, said = shop.run()
    assert status == 3 and "it is not known whether" in said, said
    assert loaded(shop) == 300  # the other file
    shop.ingest()
    ended = shop.record().trials[-1]
    assert (ended.outcome, ended.error_code) == (Outcome.FAILED, "TK-0209")
    (begun,) = shop.spools.glob("*.begun")
    assert f"remove {begun.relative_to(shop.bundle)}" in str(ended.reason)
    status, said = shop.run()
    assert status == 3 and "it is not known whether" in said and loaded(shop) == 300, said
    begun.unlink()
    status, said = shop.run()
    assert status == 0 and loaded(shop) == 600, said
    shop.ingest()
    ended = shop.record().trials[-1]
    assert (ended.outcome, ended.rows) == (Outcome.OK, 600)
    assert "trial" not in shop.run()[1].replace("all trials came", "") and loaded(shop) == 600


def test_a_script_that_was_killed_is_refused_while_its_sessions_work_and_loads_nothing_twice(
    workshop: Maker,
) -> None:
    """SQL*Plus and SQL*Loader are not told of a kill -9 of the script: they go on, also when it is begun again."""
    shop = workshop()
    files = written(shop, "a.csv", "b.csv")
    shop.export(operation="load", options=options(files, *JOB), factors='method = ["direct"]')
    slow = shop.folder / "slow"
    slow.touch()
    shop.extra["STUB_SLOW"] = str(slow)
    running = shop.begin()
    wait_for(lambda: list(shop.spools.glob("load-1.pid")))
    running.kill()
    running.wait(timeout=120)
    if running.stdout is not None:
        running.stdout.close()
    status, said = shop.run()
    assert status == 5 and "sessions of this run are still at work" in said, said
    slow.unlink()
    wait_for(lambda: not shop.standin.engine.state.sessions and not _alive(shop.spools))
    rows = shop.standin.engine.cursor().execute("SELECT ID FROM DBATK.GTEST WHERE ID >= 100000").fetchall()
    assert len(rows) == len(set(rows)) == 300, "the file that was being loaded, once"
    status, said = shop.run()
    assert "OCISessionBegin" in "".join(each.read_text() for each in shop.spools.glob("*-a1-i2.log"))
    rows = shop.standin.engine.cursor().execute("SELECT ID FROM DBATK.GTEST WHERE ID >= 100000").fetchall()
    assert status == 0 and len(rows) == len(set(rows)) == 600, said


def _alive(spools: Path) -> bool:
    for each in spools.glob("load-*.pid"):
        try:
            os.kill(int(each.read_text()), 0)
        except (ProcessLookupError, ValueError):
            continue
        return True
    return False


def test_the_password_is_in_no_file_argument_or_environment(workshop: Maker) -> None:
    shop = workshop(Scenario(password=CANARY))
    files = written(shop, "a.csv")
    slow = shop.folder / "slow"
    slow.touch()
    shop.extra["STUB_SLOW"] = str(slow)
    shop.export(operation="load", options=options(files, *MEASURED), factors='method = ["direct"]')
    running = shop.begin()
    wait_for(lambda: list(shop.spools.glob("load-1.pid")))
    seen = b"".join(_read(each) for each in Path("/proc").glob("[0-9]*/cmdline"))
    group = {each for each in Path("/proc").glob("[0-9]*/environ") if b"DBATK_SQLLDR=" in _read(each)}
    seen += b"".join(_read(each) for each in group)
    assert group
    slow.unlink()
    said = running.communicate(timeout=120)[0]
    assert running.returncode == 0, said
    kept = b"".join(each.read_bytes() for each in shop.bundle.rglob("*") if each.is_file())
    assert CANARY.encode() not in seen + kept + said.encode()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize(
    ("factors", "more", "sentence"),
    [
        ("degree = [1]", (), "sends the rows of files from where dbatk runs"),
        ('method = ["direct"]\ncommit_every = ["16M"]', (), "SQL*Loader commits at the end of a file"),
        ('method = ["conventional"]\nlogging = ["nologging"]', (), "always write redo"),
    ],
)
def test_what_a_bundle_cannot_load_is_refused(
    workshop: Maker, factors: str, more: tuple[str, ...], sentence: str
) -> None:
    shop = workshop()
    file = shop.write(operation="load", options=options(written(shop, "a.csv"), *MEASURED, *more), factors=factors)
    done = shop.dbatk("export", str(file), "--out", str(shop.bundle))
    assert done.returncode == 5 and sentence in done.stderr, done.stderr
    assert not shop.bundle.exists()


def test_dbatk_itself_does_not_call_it(workshop: Maker) -> None:
    shop = workshop()
    load = ("load", "-t", shop.standin.url, str(shop.folder / "a.csv"), "--table", "GTEST", "--method", "direct")
    written(shop, "a.csv")
    done = shop.dbatk(*load, "--not-production")
    assert done.returncode == 5 and "called from a bundle" in done.stderr, done.stderr
    shown = shop.dbatk(*load, "--dry-run")
    assert shown.returncode == 0 and "DIRECT=TRUE" in shown.stdout and "sqlldr, which reads" in shown.stdout
