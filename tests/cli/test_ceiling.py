"""`ceiling`: measured, kept, and held beside the runs of the same host."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.report.make import cell as cell_of
from tests.report.make import metric, put, run_of, trial
from toolkit.app.ceilings import fingerprint
from toolkit.model.ceilings import Ceiling
from toolkit.store import open_store


def test_what_was_measured_is_kept_and_names_the_limit_of_a_run(
    dbatk: Dbatk, url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = Ceiling("read", 127e6, "bytes_per_second", "one HBA", datetime(2026, 1, 1, tzinfo=UTC))
    monkeypatch.setattr("toolkit.snapshots.ceilings.measure_ceilings", lambda _: (published,))
    document = json.loads(dbatk("ceiling", "-t", url, "--json").out)
    assert document["ceilings"][0]["value"] == 127e6
    assert document["host"] == fingerprint()
    read = (metric("host_disk_read_bytes", 127e6 * 10, source="osstat"),)
    for name, host in (("here", fingerprint()), ("elsewhere", {**fingerprint(), "host_cpu_count": 1000})):
        trials = [trial(at, cell_of(degree=8), at, 10.0, metrics=read) for at in (1, 2)]
        run = run_of(
            trials, environment={"cpu_count": 64, **host}, label=name, run=f"20261121-052307-{len(name):04x}"
        )
        with open_store(str(home / "store.sqlite")) as store:
            put(store, run)
            store.set_environment(run.head.run, run.environment)
    limits = json.loads(dbatk("advise", "here", "--json").out)["limits"]
    assert (limits[0]["reason"], "121 MiB/s of the 121 MiB/s" in limits[0]["evidence"]) == ("I/O", True)
    assert json.loads(dbatk("advise", "elsewhere", "--json").out)["limits"] == []


@pytest.mark.parametrize(
    ("typed", "status", "says"),
    [
        ((), 2, "no target was given"),
        (("--folder", "/dev/null"), 2, "is a device"),
        (("--folder", "none_such"), 2, "there is no folder"),
        (("--folder", ""), 2, "`--folder` is empty"),
        (("--size", "1G"), 2, "`--size` needs `--folder`"),
        (("--seconds", "soon"), 2, "`--seconds` cannot be `soon`"),
        (("--seconds", "nan"), 2, "`--seconds` cannot be `nan`"),
        (("--seconds", "3600"), 2, "0.1 to 60 s"),
        (("--folder", ".", "--size", "some"), 2, "is not a size"),
    ],
)
def test_bad_input_is_refused(dbatk: Dbatk, url: str, typed: tuple[str, ...], status: int, says: str) -> None:
    refused = dbatk("ceiling", *(("-t", url) if typed else ()), *typed)
    assert (refused.status, refused.out, says in refused.err) == (status, "", True), refused


def test_a_file_that_is_not_there_is_an_error_and_measures_nothing(dbatk: Dbatk, home: Path) -> None:
    answer = dbatk("ceiling", "-t", "duckdb:///none.duckdb", "--seconds", "0.1")
    assert (answer.status, answer.out) == (1, "")
    assert "DuckDB file `none.duckdb` does not exist" in answer.err
    assert not (home / "none.duckdb").exists()


@pytest.mark.full
def test_a_server_that_does_not_answer_is_a_warning_for_its_host_was_asked_about(dbatk: Dbatk) -> None:
    answer = dbatk("ceiling", "-t", "postgresql://nobody@127.0.0.1:1/postgres", "--seconds", "0.1")
    assert (answer.status, "nothing was read of the server" in answer.err) == (0, True), answer.err
    assert "cpu" in answer.out
