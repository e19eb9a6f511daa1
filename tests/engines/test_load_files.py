"""Loads of data files: what is in them is in the table, and of a bad one nothing that is not accounted for."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path

import duckdb
import pytest

from tests.engines.arena import Arena
from tests.engines.conftest import Made
from tests.engines.test_operations import experiment, names, run
from toolkit.errors import ToolkitError
from toolkit.model.words import Outcome
from toolkit.store.store import Store

_LINES = [(n, f'a "quoted", text\nof {n}' if n % 7 == 0 else f"text {n}", n % 5) for n in range(2000)]


def written(path: Path, rows: list[tuple[object, ...]], header: str = "id,name,k") -> Path:
    with path.open("w", newline="") as file:
        file.write(header + "\n" if header else "")
        csv.writer(file, lineterminator="\n").writerows(rows)
    return path


def there(arena: Arena) -> list[tuple[object, ...]]:
    return arena.ask(f"SELECT count(*), count(DISTINCT id), sum(id), sum(length(name)) FROM {arena.schema}.filled")


def expected(lines: list[tuple[int, str, int]] = _LINES) -> list[tuple[object, ...]]:
    return [(len(lines), len(lines), sum(n for n, _, _ in lines), sum(len(text) for _, text, _ in lines))]


def test_files_of_every_kind_are_loaded_whole(arena: Arena, load: Made, tmp_path: Path) -> None:
    plain = written(tmp_path / "a.csv", _LINES[:700])
    packed = tmp_path / "b.csv.gz"
    packed.write_bytes(gzip.compress(written(tmp_path / "b.csv", _LINES[700:1400]).read_bytes()))
    rows = written(tmp_path / "c.csv", _LINES[1400:])
    flat = tmp_path / "c.parquet"
    with duckdb.connect() as session:
        read = f"SELECT * FROM read_csv('{rows}', quote = '\"', escape = '\"', delim = ',')"
        session.execute(f"COPY ({read}) TO '{flat}' (ROW_GROUP_SIZE 300)")
    (trial,) = load(plain, packed, flat).trials
    assert (trial.outcome, trial.rows, trial.reason) == (Outcome.OK, 2000, None)
    assert there(arena) == expected()
    assert arena.leftovers() == []


@pytest.mark.thin(2)
def test_columns_are_found_by_the_names_in_each_file(arena: Arena, load: Made, tmp_path: Path) -> None:
    one = written(tmp_path / "one.csv", [(5, 1, "x")], header="K,id,Name")
    two = written(tmp_path / "two.csv", [(2,), (3,)], header="id")
    assert load(one, two).trials[0].rows == 3
    assert arena.ask(f"SELECT id, name, k FROM {arena.schema}.filled ORDER BY id") == [
        (1, "x", 5), (2, None, None), (3, None, None),
    ]  # fmt: skip


@pytest.mark.thin(2)
def test_nothing_is_null_and_quoted_nothing_is_an_empty_text(arena: Arena, load: Made, tmp_path: Path) -> None:
    file = tmp_path / "nulls.csv"
    file.write_text('id;name;k\n1;;1\n2;"";\n3;-;3', encoding="latin-1")
    load(file, delimiter=";")
    assert arena.ask(f"SELECT id, name, k FROM {arena.schema}.filled ORDER BY id") == [
        (1, None, 1), (2, "", None), (3, "-", 3),
    ]  # fmt: skip


@pytest.mark.thin(5)
@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("id,nme,k", "line 1: column 2 is `nme`"),
        ("id,name,k,more", "line 1: column 4 is `more`"),
        ("id,id,k", "line 1: column 2 is `id` a second time"),
        ("id;name;k", "line 1: column 1 is `id;name;k`"),
    ],
)
def test_a_header_that_does_not_fit_is_refused_before_anything_moves(
    arena: Arena, load: Made, tmp_path: Path, header: str, said: str
) -> None:
    good = written(tmp_path / "good.csv", _LINES[:10])
    bad = written(tmp_path / "bad.csv", [(1, "x", 2)], header=header)
    with pytest.raises(ToolkitError) as refused:
        load(good, bad)
    assert refused.value.code == "TK-0107"
    assert said in refused.value.message and "bad.csv" in refused.value.message
    assert (";" in header) == ("--delimiter ';'" in (refused.value.hint or ""))
    assert there(arena)[0][0] == 0


def _bad(tmp_path: Path, at: int, row: str) -> Path:
    file = written(tmp_path / "bad.csv", _LINES[:1500])
    lines = file.read_text().splitlines(keepends=True)
    lines.insert(at, row + "\n")
    file.write_text("".join(lines))
    return file


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("9001,x,many", ("line 21", "k", "many")),
        ("9001,x", ("line 21",)),
        ("9001,x,1,2", ("line 21",)),
        (",x,1", ("line 21", "id")),
    ],
    ids=["type", "too few", "too many", "null"],
)
def test_a_bad_row_among_the_first_is_told_with_its_place_before_anything_moves(
    arena: Arena, load: Made, tmp_path: Path, row: str, said: tuple[str, ...]
) -> None:
    (trial,) = load(_bad(tmp_path, 20, row)).trials
    assert trial.outcome is Outcome.FAILED
    assert trial.reason is not None and "bad.csv" in trial.reason
    assert all(part in trial.reason for part in said), trial.reason
    assert "dbatk" not in trial.reason.partition("bad.csv")[2]
    assert there(arena)[0][0] == 0


@pytest.mark.thin(2)
def test_a_bad_row_far_into_a_file_takes_its_chunk_back(arena: Arena, load: Made, tmp_path: Path) -> None:
    file = _bad(tmp_path, 1600, "9001,x,many")
    (trial,) = load(file).trials
    assert trial.outcome is Outcome.FAILED and trial.reason is not None
    line = next(number for number, text in enumerate(file.read_text().splitlines(), 1) if text.startswith("9001"))
    assert f"`bad.csv`, line {line}, column k" in trial.reason and "many" in trial.reason
    assert there(arena)[0][0] == 0


@pytest.mark.thin(2)
def test_bad_rows_that_may_be_left_out_are_in_a_file_with_line_and_reason(
    arena: Arena, load: Made, tmp_path: Path
) -> None:
    file, kept = _bad(tmp_path, 1600, "9001,x,many"), tmp_path / "kept.csv"
    (trial,) = load(file, max_rejects=5, rejects=str(kept), check_rows=0).trials
    assert (trial.outcome, trial.rows) == (Outcome.OK, 1500), trial.reason
    assert there(arena) == expected(_LINES[:1500])
    with kept.open(newline="") as opened:
        header, row = list(csv.reader(opened))
    line = next(number for number, text in enumerate(file.read_text().splitlines(), 1) if text.startswith("9001"))
    assert header == ["file", "line", "column", "reason", "row"]
    assert (row[0], row[1], row[2], row[4]) == (str(file), str(line), "k", "9001,x,many")
    assert "many" in row[3]
    assert {metric.name: metric.value for metric in trial.metrics}["rejected_rows"] == 1
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.thin(2)
def test_a_bad_row_among_the_first_is_left_out_where_it_may_be(arena: Arena, load: Made, tmp_path: Path) -> None:
    file, kept = _bad(tmp_path, 20, "9001,x,many"), tmp_path / "kept.csv"
    (trial,) = load(file, max_rejects=1, rejects=str(kept)).trials
    assert (trial.outcome, trial.rows) == (Outcome.OK, 1500), trial.reason
    with kept.open(newline="") as opened:
        _, row = list(csv.reader(opened))
    assert (row[1], row[2], row[4]) == ("21", "k", "9001,x,many")


@pytest.mark.thin(2)
def test_more_bad_rows_among_the_first_than_allowed_fail_the_load_before_anything_moves(
    arena: Arena, load: Made, tmp_path: Path
) -> None:
    file = written(tmp_path / "bad.csv", [*_LINES[:20], *[(9000 + n, "x", "many") for n in range(4)]])
    (trial,) = load(file, max_rejects=3).trials
    assert trial.outcome is Outcome.FAILED and trial.error_code == "TK-0213", trial.reason
    assert "more than 3 bad rows" in (trial.reason or "")
    assert there(arena)[0][0] == 0


@pytest.mark.thin(2)
def test_a_file_whose_end_is_damaged_says_one_sentence_and_no_library_says_another(
    arena: Arena, load: Made, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A row before the end is bad, too, so that the server has its own say while the load is taken back."""
    packed = tmp_path / "torn.csv.gz"
    rows: list[tuple[object, ...]] = [(n, "x" * 30, 1) for n in range(100_000)]
    rows[1600] = (1600, "x", 1, 2)
    whole = bytearray(gzip.compress(written(tmp_path / "torn.csv", rows).read_bytes(), 1))
    whole[-8] ^= 0xFF
    packed.write_bytes(whole)
    try:
        (trial,) = load(packed).trials
    except ToolkitError as error:
        assert error.code == "TK-0106"
    else:
        assert trial.outcome is Outcome.FAILED and "torn.csv.gz" in (trial.reason or "")
    assert [each.message for each in caplog.records if each.name.startswith("psycopg")] == []
    assert there(arena)[0][0] == 0


@pytest.mark.thin(2)
def test_more_bad_rows_than_allowed_fail_the_load(arena: Arena, load: Made, tmp_path: Path) -> None:
    file = written(tmp_path / "bad.csv", [*_LINES[:1500], *[(9000 + n, "x", "many") for n in range(4)]])
    (trial,) = load(file, max_rejects=3, rejects=str(tmp_path / "kept.csv")).trials
    assert (trial.outcome, trial.error_code) == (Outcome.FAILED, "TK-0213")
    assert there(arena)[0][0] == 0


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    "row", [",x,1", "7,x,1"], ids=["null", "unique"]
)  # fmt: skip
def test_a_broken_constraint_fails_the_load_and_names_file_line_and_column(
    arena: Arena, load: Made, tmp_path: Path, row: str
) -> None:
    (trial,) = load(_bad(tmp_path, 1600, row)).trials
    assert trial.outcome is Outcome.FAILED and trial.reason is not None
    assert "`bad.csv`, line 1601, column id: " in trial.reason
    assert there(arena)[0][0] == 0


@pytest.mark.full
def test_a_file_in_another_encoding_is_told_of(arena: Arena, load: Made, tmp_path: Path) -> None:
    file = tmp_path / "old.csv"
    file.write_text("id,name,k\n1,Käse,1\n", encoding="latin-1")
    (trial,) = load(file).trials
    assert trial.outcome is Outcome.FAILED
    assert trial.reason is not None and "old.csv" in trial.reason
    assert re.search(r"not utf-8 encoded|invalid byte sequence for encoding", trial.reason)
    assert trial.reason.endswith("; name the encoding of the file, for example --encoding latin-1")
    assert there(arena)[0][0] == 0
    assert load(file, encoding="latin-1").trials[0].rows == 1
    assert arena.ask(f"SELECT name FROM {arena.schema}.filled") == [("Käse",)]


def test_an_empty_file_is_told_of_where_a_line_of_names_is_expected(
    arena: Arena, load: Made, tmp_path: Path
) -> None:
    file, good = tmp_path / "empty.csv", written(tmp_path / "good.csv", [(1, "one", 1)])
    file.write_text("")
    with pytest.raises(ToolkitError, match=r"empty\.csv`, line 1: there is none") as refused:
        load(good, file)
    assert refused.value.hint is not None and "leave the file out" in refused.value.hint
    assert there(arena)[0][0] == 0


@pytest.mark.thin(2)
def test_nested_columns_of_parquet_are_refused(arena: Arena, load: Made, tmp_path: Path) -> None:
    file = tmp_path / "nested.parquet"
    with duckdb.connect() as session:
        session.execute(f"COPY (SELECT 1 AS id, [1, 2] AS name, 3 AS k) TO '{file}'")
    with pytest.raises(ToolkitError, match=r"column `name` is nested \(INTEGER\[\]\)"):
        load(file)
    assert there(arena)[0][0] == 0


@pytest.mark.thin(3)
@pytest.mark.parametrize("begin", [b"PK\x03\x04", b"\xff\xfei\x00d\x00", b"\x28\xb5\x2f\xfd"])
def test_a_file_of_another_kind_is_refused(load: Made, tmp_path: Path, begin: bytes) -> None:
    file = tmp_path / "other.csv"
    file.write_bytes(begin + b"x" * 100)
    with pytest.raises(ToolkitError) as refused:
        load(file)
    assert refused.value.code == "TK-0106" and "other.csv" in refused.value.message


@pytest.mark.thin(4)
@pytest.mark.parametrize(
    ("codec", "known"),
    [("utf-16", "UTF-16"), ("utf-16-le", "UTF-16LE"), ("utf-16-be", "UTF-16BE"), ("utf-32", "UTF-32")],
)
@pytest.mark.parametrize("name", ["wide.csv", "wide.csv.gz"])
def test_a_text_in_utf_16_is_told_of_with_what_converts_it(
    load: Made, tmp_path: Path, codec: str, known: str, name: str
) -> None:
    file, text = tmp_path / name, "id,name,k\n1,one,1\n".encode(codec)
    file.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    with pytest.raises(ToolkitError, match=rf"{name}` is {known[:6]} text") as refused:
        load(file)
    assert (refused.value.code, refused.value.hint) == ("TK-0106", f"convert it first: iconv -f {known} -t UTF-8")


def test_a_binary_file_is_told_of(load: Made, tmp_path: Path) -> None:
    file = tmp_path / "core.csv"
    file.write_bytes(bytes(range(256)) * 20)
    with pytest.raises(ToolkitError, match=r"core\.csv` is not a text file"):
        load(file)


def test_a_truncated_gzip_file_leaves_nothing(arena: Arena, load: Made, tmp_path: Path) -> None:
    whole = gzip.compress(written(tmp_path / "b.csv", _LINES).read_bytes())
    file = tmp_path / "cut.csv.gz"
    file.write_bytes(whole[: len(whole) - 200])
    try:
        (trial,) = load(file, check_rows=10).trials
    except ToolkitError as error:
        assert error.code == "TK-0106"
    else:
        assert trial.outcome is Outcome.FAILED and trial.reason is not None and "cut.csv.gz" in trial.reason
    assert there(arena)[0][0] == 0


@pytest.mark.thin(2)
def test_a_measurement_compares_loads_and_leaves_nothing(
    arena: Arena, store: Store, load: Made, tmp_path: Path
) -> None:
    big, small = written(tmp_path / "big.csv", _LINES[:1500]), written(tmp_path / "small.csv", _LINES[1500:])
    load(small)
    wanted = names(arena, table="filled") | {"files": (str(small), str(big))}
    work = experiment(arena, "load", wanted, file_order=("given", "biggest"))
    record = run(arena, store, work)
    assert [trial.rows for trial in record.trials] == [2000, 2000], [trial.reason for trial in record.trials]
    begun = {str(trial.cell): [item.label for item in trial.items] for trial in record.trials}
    assert begun["degree=1,file_order=given"] == ["small.csv", "big.csv"]
    assert begun["degree=1,file_order=biggest"] == ["big.csv", "small.csv"]
    metrics = {metric.name: metric.value for metric in record.trials[0].metrics}
    assert metrics["file_bytes"] > 0 and metrics["load_rows_per_second"] > 0
    assert arena.leftovers() == []
    assert there(arena)[0][0] == 500
