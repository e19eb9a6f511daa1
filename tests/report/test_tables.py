from __future__ import annotations

import pytest

from tests.for_each import for_each
from tests.report.make import cell, run_of, sweep, sweep_trials, trial
from toolkit.analysis.cells import analyse
from toolkit.model.values import Scalar
from toolkit.report.labels import surrounding
from toolkit.report.render import Format, render
from toolkit.report.safe import markdown
from toolkit.report.tables import scalar, short_cells_table, short_environment, trials_table

SURROUNDINGS: dict[str, Scalar] = {
    "server_version": "17.10",
    "cpu_count": 8,
    "host_memory_bytes": 2**34,
    "host_kernel": "Linux",
    "client_host": "desk",
    "setting.shared_buffers": "16384 8kB",
    "setting.max_parallel_workers": "8",
    "setting.hba_file": "/etc/pg_hba.conf",
    "setting.lc_messages": "C",
}


@for_each(
    ("name", "value", "text"),
    [
        ("setting.wal_buffers", "512 8kB", "4.00 MiB"),
        ("setting.max_wal_size", "2048 MB", "2.00 GiB"),
        ("setting.work_mem", "4096 kB", "4.00 MiB"),
        ("setting.tcp_keepalives_idle", "7200 s", "7200 s"),
        ("setting.max_connections", "40", "40"),
        ("host_memory_bytes", 2**30, "1.00 GiB"),
        ("host_load_1min", None, "-"),
        ("setting.jit", True, "yes"),
    ],
)
def test_a_value_of_the_environment_is_spelled_by_its_unit(name: str, value: Scalar, text: str) -> None:
    assert scalar(name, value) == text


def test_text_shows_what_tells_of_the_environment_and_counts_the_rest() -> None:
    found, note = short_environment(sweep({1: [1.0]}, environment=SURROUNDINGS))
    assert [row[0] for row in found.rows] == [
        "version of the server",
        "CPUs of the database",
        "memory of the host",
        "kernel of the host",
        "setting shared_buffers",
        "setting max_parallel_workers",
    ]
    assert note == ("3 more values: see the page or the JSON",)
    page = render(sweep({1: [1.0]}, environment=SURROUNDINGS), Format.HTML)
    assert all(surrounding(name) in page for name in SURROUNDINGS)


def test_factors_have_columns_of_their_own_while_they_are_narrow() -> None:
    narrow = analyse(run_of(sweep_trials({cell(degree=1, compression="none"): [1.0]})))
    assert [column.title for column in short_cells_table(narrow, None, ()).columns][:2] == [
        "degree",
        "compression",
    ]
    wide = analyse(run_of(sweep_trials({cell(degree=1, compression="none", tablespace="users_big"): [1.0]})))
    found = short_cells_table(wide, None, ())
    assert found.columns[0].title == "configuration"
    assert found.rows[0][0] == "degree=1,compression=none,tablespace=users_big"


@for_each(
    ("text", "shown"),
    [
        ("8.18 s", "8.18 s"),
        ("1. no list", "1\\. no list"),
        ("12) no list", "12\\) no list"),
        ("- no list", "\\- no list"),
        ("# no heading", "\\# no heading"),
        ("+1", "\\+1"),
    ],
)
def test_only_punctuation_is_escaped_at_the_begin_of_a_line_of_markdown(text: str, shown: str) -> None:
    assert markdown(text) == shown


@pytest.mark.parametrize(("operation", "granted"), [("ctas", ["degree granted"]), ("mix", []), ("command", [])])
def test_what_was_granted_is_a_column_only_where_something_can_be(operation: str, granted: list[str]) -> None:
    alone = trial(1, cell(nodes=1), 1, 3.0, requested_degree=1, granted_degree=None)
    found = trials_table(run_of([alone], operation=operation))
    assert [column.title for column in found.columns if "granted" in column.title] == granted
    assert ("unknown of 1" in str(found)) == bool(granted)
    assert all(len(row) == len(found.columns) for row in found.rows)
