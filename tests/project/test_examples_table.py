"""The table of examples names every row of the published studies, and every file of the folder."""

from __future__ import annotations

import re

import pytest

from tests.project.tree import ROOT

EXAMPLES = ROOT / "examples"
ROWS = {
    "Sun CMT": (
        "CREATE TABLE AS SELECT by degree", "INSERT AS SELECT", "b-tree index by degree", "RMAN by channels",
        "statistics by degree and sample", "several schemas at once", "pbzip2 by threads", "builds by make -j",
    ),
    "System z": (
        "size of the SGA", "redo logs in a disk group of their own", "users", "release", "HyperPAV aliases",
        "multipath policy", "FCP against ECKD",
    ),
    "Sybase IQ": ("load by page and record size",),
    "SAS": (
        "mixed analytics on one node", "40 against 56 Gbit/s Ethernet", "gpfsperf",
        "block size of the file system",
    ),
    "DataStage": (
        "memory of each sort, read-ahead", "extra input buffer", "varchar at its real length",
        "formula of the sort memory",
    ),
}  # fmt: skip
"""The published experiments, study by study."""


@pytest.fixture(name="rows")
def _rows() -> list[list[str]]:
    lines = (EXAMPLES / "README.md").read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def test_each_published_experiment_has_its_row(rows: list[list[str]]) -> None:
    assert [(row[0], row[1]) for row in rows] == [(study, name) for study, names in ROWS.items() for name in names]


def test_each_row_says_what_is_there_and_what_is_not(rows: list[list[str]]) -> None:
    assert all(len(row) == 6 and all(row) for row in rows)
    assert all("](" in row[2] or row[2].startswith("none: ") for row in rows)
    assert all(("](" in row[3]) is not row[3].startswith("none") for row in rows)


def test_each_file_of_the_folder_is_in_the_table(rows: list[list[str]]) -> None:
    linked = {link for row in rows for cell in row for link in re.findall(r"\]\(([^)]+)\)", cell)}
    files = {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*") if path.is_file()}
    studied = {name for name in files if name.endswith((".toml", ".csv")) and not name.startswith("nightly-")}
    assert linked == studied
