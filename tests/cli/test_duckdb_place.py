"""The row of a file that broke a constraint of DuckDB, found by what its message says."""

from __future__ import annotations

import gzip
from pathlib import Path

import duckdb
import pytest

from toolkit.cli.main import main

_TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, price DECIMAL(8,2), UNIQUE (name, price))"
_ROWS = ['1,"a, b",1.5', '2,"two\nlines",2', "3,c,3"]


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Load rows into a table that has a row, and return what is said."""
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.db"))

    def loaded(*rows: str, how: str = "csv", more: tuple[str, ...] = (), header: str = "id,name,price\n") -> str:
        base, file = tmp_path / "x.duckdb", tmp_path / f"f.{how}"
        text = header + "".join(f"{row}\n" for row in rows)
        with duckdb.connect(str(base)) as session:
            session.execute(
                _TABLE + "; INSERT INTO t VALUES (100, 'there', 9); CREATE UNIQUE INDEX i ON t (price, id)"
            )
            if how == "parquet":
                (tmp_path / "raw.csv").write_text(text)
                session.execute(f"COPY (FROM read_csv('{tmp_path}/raw.csv', nullstr='-')) TO '{file}'")
        if how != "parquet":
            file.write_bytes(gzip.compress(text.encode()) if how == "csv.gz" else text.encode())
        command = ["load", "-t", f"duckdb:///{base}", str(file), "--table", "t", "--check-rows", "0", *more]
        assert main([*command, "--quiet"]) == 3
        said = capsys.readouterr()
        return said.out + said.err

    return loaded


@pytest.mark.thin(4)
@pytest.mark.parametrize("how", ["csv", "csv.gz"])
@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("4,,4", "line 6, column name: "),
        ('2,"x",4', "line 6, column id: "),
        ("100,x,4", "line 6, column id: "),
        ('4,"a, b",1.50', "line 6, column name, price: "),
    ],
    ids=["null", "key twice", "key of the table", "two columns"],
)
def test_the_line_is_told(place, row: str, said: str, how: str) -> None:  # type: ignore[no-untyped-def]
    shown = place(*_ROWS, row, "5,e,5", how=how)
    assert f"`f.{how}`, {said}" in shown, shown


@pytest.mark.full
def test_of_parquet_the_row_is_told(place) -> None:  # type: ignore[no-untyped-def]
    shown = place("1,a,1", "2,-,2", "3,c,3", how="parquet")
    assert "`f.parquet`, row 2, column name: " in shown, shown


def test_a_quoted_text_like_null_is_no_null(place) -> None:  # type: ignore[no-untyped-def]
    shown = place('1,"-",1', "2,b,2", "3,-,3", more=("--null", "-"))
    assert "`f.csv`, line 4, column name: " in shown, shown


def test_files_without_a_line_of_names_count_from_the_first_row(place) -> None:  # type: ignore[no-untyped-def]
    shown = place("1,a,1", "2,,2", header="", more=("--header", "no", "--columns", "id,name,price"))
    assert "`f.csv`, line 2, column name: " in shown, shown
