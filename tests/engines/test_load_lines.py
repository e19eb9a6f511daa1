"""Loads of data files whose lines, quotes or bytes are damaged: what is wrong is named where it is."""

from __future__ import annotations

import csv
import gzip
import random
from pathlib import Path

import pytest

from tests.engines.arena import Arena
from tests.engines.conftest import Made
from tests.engines.test_load_files import there, written
from toolkit.errors import ToolkitError
from toolkit.model.words import Outcome


@pytest.mark.thin(2)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("bad", "column"),
    [('9001,"x\ny\nz",many', "k"), ('7,"x\r\ny\nz",1', "id"), ('9001,"x\ny",1,"2\n"', "")],
    ids=["type", "unique", "too many"],
)
def test_a_bad_row_of_several_lines_is_named_by_its_first_one_whether_or_not_it_may_be_left_out(
    arena: Arena, load: Made, tmp_path: Path, end: str, bad: str, column: str
) -> None:
    file, kept = tmp_path / "bad.csv", tmp_path / "kept.csv"
    rows = [f'{n},"a\nb\r\nc",1' if n % 3 == 0 else f"{n},x,1" for n in range(40)]
    file.write_bytes(end.join(["id,name,k", *rows, bad, "50,x,1", ""]).encode())
    line = file.read_bytes().split(bad.encode())[0].count(b"\n") + 1
    place = f"`bad.csv`, line {line}{f', column {column}' if column else ''}: "
    (trial,) = load(file, check_rows=0).trials
    assert trial.outcome is Outcome.FAILED and place in (trial.reason or ""), trial.reason
    if column != "id" or arena.engine != "duckdb":  # which leaves out only what it cannot read or convert
        (trial,) = load(file, check_rows=0, max_rejects=1, rejects=str(kept)).trials
        assert (trial.outcome, trial.rows) == (Outcome.OK, 41), trial.reason
        with kept.open(newline="") as opened:
            assert [(row[1], row[4]) for row in csv.reader(opened)][1:] == [(str(line), bad)]


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("usual", "row"),
    [("\n", "9001,x,1\r\n"), ("\r\n", "9001,x,1\n"), ("\n", "9001,x\ry,1\n")],
    ids=["CR LF among LF", "LF among CR LF", "CR in a row"],
)
def test_a_line_that_ends_otherwise_than_those_before_it_is_named(
    arena: Arena, load: Made, tmp_path: Path, usual: str, row: str
) -> None:
    file = tmp_path / "bad.csv"
    rows = [f'{n},"x\r\ny",1{usual}' if n % 3 == 0 else f"{n},x,1{usual}" for n in range(2, 60)]
    file.write_bytes("".join([f"id,name,k{usual}", *rows, row, f"70,x,1{usual}"]).encode())
    (trial,) = load(file, check_rows=0).trials
    line = sum(each.count("\n") for each in rows) + 2
    assert trial.outcome is Outcome.FAILED and f"`bad.csv`, line {line}: " in (trial.reason or ""), trial.reason
    assert "carriage return" in (trial.reason or "") or "newline" in (trial.reason or ""), trial.reason
    assert there(arena)[0][0] == 0


@pytest.mark.thin(2)
@pytest.mark.parametrize("rows", [3, 200_000])
def test_a_file_whose_lines_end_with_a_carriage_return_alone_is_refused(
    arena: Arena, load: Made, tmp_path: Path, rows: int
) -> None:
    file = tmp_path / "old.csv"
    file.write_bytes(b"id,name,k\r" + b"1,one,1\r" * rows)
    with pytest.raises(ToolkitError, match=r"old\.csv`: its lines end with a carriage return alone") as refused:
        load(file)
    assert refused.value.code == "TK-0106" and r"tr '\r' '\n'" in (refused.value.hint or "")
    assert there(arena)[0][0] == 0


@pytest.mark.thin(2)
@pytest.mark.parametrize("most", [0, 3])
def test_a_quote_that_is_not_closed_is_told_where_it_begins_and_takes_no_row_with_it(
    arena: Arena, load: Made, tmp_path: Path, most: int
) -> None:
    file = written(tmp_path / "bad.csv", [(n, "x", 1) for n in range(90)])
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:50], '9001,"broken,1\n', *lines[50:]]))
    (trial,) = load(file, check_rows=0, max_rejects=most).trials
    assert trial.outcome is Outcome.FAILED and trial.reason is not None
    assert "`bad.csv`, line 51" in trial.reason and "quote" in trial.reason
    assert there(arena)[0][0] == 0
    if most:
        assert trial.error_code == "TK-0214"


@pytest.mark.thin(2)
def test_a_quote_that_is_not_closed_in_the_last_row_is_one_bad_row(
    arena: Arena, load: Made, tmp_path: Path
) -> None:
    file = written(tmp_path / "bad.csv", [(n, "x", 1) for n in range(50)])
    file.write_text(file.read_text() + '9001,"broken,1\n')
    (trial,) = load(file, check_rows=0, max_rejects=1).trials
    assert (trial.outcome, trial.rows) == (Outcome.OK, 50)


@pytest.mark.thin(2)
@pytest.mark.parametrize("at", [100, 8000], ids=["its beginning", "its middle"])
def test_a_damaged_gzip_file_is_named_and_leaves_nothing(
    arena: Arena, load: Made, tmp_path: Path, at: int
) -> None:
    """Damage within the compressed text is an error of zlib, not of gzip."""
    chance = random.Random(21)
    rows = [(n, f"{chance.getrandbits(128):x}", 1) for n in range(100_000)]
    whole = bytearray(gzip.compress(written(tmp_path / "b.csv", [*rows]).read_bytes()))
    begin = at if at < 1000 else len(whole) // 2
    whole[begin : begin + 40] = b"\xff" * 40
    (tmp_path / "hit.csv.gz").write_bytes(whole)
    try:
        (trial,) = load(tmp_path / "hit.csv.gz", check_rows=10).trials
    except ToolkitError as error:
        assert error.code == "TK-0106" and "hit.csv.gz" in error.message
    else:
        assert trial.outcome is Outcome.FAILED and "hit.csv.gz" in (trial.reason or ""), trial.reason
    assert there(arena)[0][0] == 0
