"""Text, markdown and CSV as they were last looked at; `DBATK_GOLDEN=write` writes them anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.make import cell, compared, host_samples, metric, run_of, sweep, sweep_trials, trial
from toolkit.model.records import Artifact, RunRecord
from toolkit.model.words import Outcome
from toolkit.report.render import Format, render, render_comparison
from toolkit.report.summary import summary_text

FOLDER = Path(__file__).parent / "golden"


def measured() -> RunRecord:
    jitters = {1: (0, 0.02, 0.01), 2: (0.01, 0, 0.03), 4: (0.02, 0.01, 0)}
    times = {
        cell(degree=level): [8.1 / level**0.9 * (1 + jitter) for jitter in jitters[level]] for level in (1, 2, 4)
    }
    counted = [
        replace(
            one,
            metrics=(
                metric("bytes_written", 6.4e7),
                metric("db_time", one.elapsed_seconds or 0.0, "seconds"),
                metric("calls", 7.0, "calls"),
                metric("wal_syncs", 3.0, "syncs", "pgstat_wal_14"),
                metric("io_fsyncs", 0.0, "syncs", "pgstat_io_16"),
            ),
            samples=host_samples(3, 70),
            effective_parallelism=1.9,
            phases={"prepare": 0.02},
        )
        for one in sweep_trials(times)
    ]
    odd = [
        trial(
            10, cell(degree=8), 1, None, outcome=Outcome.DOWNGRADED, reason="8 asked, 4 granted", granted_degree=4
        ),
        trial(11, cell(degree=4), 4, 9.9, disturbed=True),
    ]
    return run_of(
        [*counted, *odd],
        label="nightly",
        warnings=("the host was busy before the run",),
        artifacts=(Artifact("script.sql", "text/sql", b"CREATE TABLE gtest_copy AS\nSELECT * FROM gtest;\n"),),
    )


def two_factors() -> RunRecord:
    """Degree by compression, one repeat, with cells that cannot be done: as a first try looks."""
    unsupported = {
        "outcome": Outcome.UNSUPPORTED,
        "reason": "DuckDB has no compression `basic`; use none or auto",
    }
    cells = [cell(degree=degree, compression=name) for degree in (1, 2) for name in ("none", "auto", "basic")]
    times = {"none": 0.54, "auto": 1.4, "basic": None}
    trials = []
    for number, of in enumerate(cells, 1):
        seconds = times[str(of["compression"])]
        elapsed = None if seconds is None else seconds / float(of["degree"]) ** 0.7
        given = {} if elapsed is not None else unsupported
        found = tuple(metric(name, 1e7 * number) for name in ("host_disk_write_bytes", "db_memory_bytes"))
        trials.append(trial(number, of, 1, elapsed, metrics=found, **given))
    settings = {"setting.threads": 2, "setting.temp_directory": "/tmp/x", "setting.wal_buffers": "512 8kB"}
    return run_of(trials, repeat=1, environment={"cpu_count": 2, "client_host": "vm", **settings})


def check(name: str, text: str) -> None:
    path = FOLDER / name
    if os.environ.get("DBATK_GOLDEN") == "write":
        FOLDER.mkdir(exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    assert text == path.read_bytes().decode("utf-8")


@pytest.mark.parametrize("chosen", [Format.TEXT, Format.MARKDOWN, Format.CSV])
def test_the_report_of_a_run_is_as_it_was_looked_at(chosen: Format) -> None:
    check(f"run.{chosen}", render(measured(), chosen))


@pytest.mark.parametrize("chosen", [Format.TEXT, Format.MARKDOWN])
def test_the_report_of_two_factors_is_as_it_was_looked_at(chosen: Format) -> None:
    check(f"two_factors.{chosen}", render(two_factors(), chosen))


@pytest.mark.parametrize("run", [measured, two_factors])
def test_the_summary_at_the_end_is_as_it_was_looked_at(run: Callable[[], RunRecord]) -> None:
    check(f"summary_{run.__name__}.text", summary_text(run()))


@pytest.mark.parametrize("chosen", [Format.TEXT, Format.MARKDOWN])
def test_the_report_of_a_comparison_is_as_it_was_looked_at(chosen: Format) -> None:
    later = sweep(
        {1: [8.0, 8.1, 8.2], 2: [3.0, 3.1, 3.05]}, run="20261122-052307-cd34", environment={"cpu_count": 4}
    )
    check(f"comparison.{chosen}", render_comparison(compared(measured(), later), chosen))
