"""Control files of SQL*Loader: every option in them, and what a path cannot do."""

from __future__ import annotations

from dataclasses import replace

from tests.for_each import for_each
from tests.oracle.make import OURS, assumed, work
from tests.oracle.test_external_files import _COLUMNS
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.work import Work
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts
from toolkit.model.transfers import CsvStyle, FileFormat, FilePart, Transfer
from toolkit.model.values import QualifiedName
from toolkit.model.words import Mode
from toolkit.rendering import step_of

TABLE = QualifiedName("GTEST_COPY", "DBATK")


def described(
    path: str = "/data/a.csv", sessions: int = 1, release: str = "19-ee", **options: OptionValue
) -> tuple[Work, Facts]:
    columns = tuple(str(row["column_name"]) for row in _COLUMNS)
    transfer = Transfer(FilePart(path, FileFormat.CSV), CsvStyle(), columns, TABLE, max_rejects=7)
    made = work("load", 1, Mode.MEASUREMENT, **options)
    made = replace(made, transfer=transfer, columns=columns, concurrency=sessions)
    index = {"schema_name": "DBATK", "index_name": "I", "table_schema": "DBATK", "table_name": "GTEST"}
    target = {"schema_name": "DBATK", "table_name": "GTEST"}
    return made, assumed(release, column_sizes=_COLUMNS, table_indexes=(index,), target=(target,))


def control(item: Work, facts: Facts) -> list[str]:
    (call,) = DIALECT.work.of("load").timed(item, facts)
    return step_of(DIALECT, call).text.split("\n")


def test_a_control_file_says_all_that_was_asked_for() -> None:
    lines = control(
        *described(method="direct", sessions=4, bare=True, logging="nologging", batch_rows=9000, null="-")
    )
    assert lines[:9] == [
        "OPTIONS (SKIP=1, DIRECT=TRUE, PARALLEL=TRUE, COLUMNARRAYROWS=9000, ERRORS=7, SILENT=(HEADER, FEEDBACK))",
        "UNRECOVERABLE LOAD DATA",
        "CHARACTERSET AL32UTF8",
        "INFILE '/data/a.csv'",
        "APPEND",
        "PRESERVE BLANKS",
        f'INTO TABLE "DBATK"."{OURS.name.name}"',
        "FIELDS CSV WITH EMBEDDED TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"'",
        "TRAILING NULLCOLS",
    ]
    fields = dict(line.strip().rstrip(",").split('" ', 1) for line in lines[10:-1])
    assert fields['"ID'] == "CHAR(255) NULLIF \"ID\" = '-'"
    assert fields['"WIDE'].startswith("CHAR(4000)")
    assert fields['"AT'].startswith('DATE "YYYY-MM-DD HH24:MI:SS"')
    assert fields['"EXACT'].startswith('TIMESTAMP "YYYY-MM-DD HH24:MI:SS.FF"')
    assert lines[-1] == ")"


def test_a_conventional_load_has_its_batch_and_an_old_release_no_line_ends_in_quotes() -> None:
    lines = control(
        *described(method="conventional", release="11.2-ee", batch_rows=1000, header="no", delimiter=";")
    )
    assert lines[0] == (
        "OPTIONS (ROWS=1000, BINDSIZE=20971520, READSIZE=20971520, ERRORS=7, SILENT=(HEADER, FEEDBACK))"
    )
    assert lines[1] == "LOAD DATA"
    assert lines[7] == "FIELDS TERMINATED BY ';' OPTIONALLY ENCLOSED BY '\"'"


@for_each(
    ("asked", "sentence"),
    [
        ({"method": "direct", "sessions": 2}, "several sessions maintain no index by direct path"),
        ({"method": "direct", "path": "/data/a.csv.gz"}, "SQL*Loader reads plain text"),
        ({"method": "direct", "path": "/data/a.parquet"}, "SQL*Loader reads plain text"),
        ({"method": "direct", "path": "/data/*.csv"}, "cannot be named in a control file"),
        ({"method": "direct", "path": "/data/it's.csv"}, "cannot be named in a control file"),
        ({"method": "conventional", "logging": "nologging"}, "NOLOGGING saves nothing"),
        ({"method": "direct", "commit_every": "1M"}, "SQL*Loader commits at the end of a file"),
        ({"method": "direct", "encoding": "koi8-r"}, "what Oracle calls the encoding"),
    ],
)  # fmt: skip
def test_what_a_path_cannot_do_is_refused(asked: dict[str, OptionValue], sentence: str) -> None:
    item, facts = described(**asked)  # type: ignore[arg-type]
    found = DIALECT.work.of("load").support(item, facts)
    assert not found.ok and sentence in found.sentence


def test_one_session_or_a_bare_copy_may_go_by_direct_path() -> None:
    for asked in (
        {"method": "direct"},
        {"method": "direct", "sessions": 2, "bare": True},
        {"method": "conventional", "sessions": 2},
    ):
        item, facts = described(**asked)  # type: ignore[arg-type]
        assert DIALECT.work.of("load").support(item, facts).ok, asked
