"""Loads of data files into Oracle: each row once, a bad one told with its place."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from tests.engines.arena import Arena, oracle_arena
from tests.engines.test_operations import experiment, run
from tests.for_each import for_each
from tests.oracle.standin import running_standin
from tests.oracle.standin.faults import AFTER, BEFORE, Fault, break_connection
from tests.oracle.test_command_line import dbatk
from toolkit.executors.csv_text import records_of
from toolkit.model.experiment import OptionValue
from toolkit.model.records import RunRecord
from toolkit.model.transfers import Conversion, CsvStyle, FileFormat, FilePart, RejectedRow, Transfer
from toolkit.model.values import QualifiedName
from toolkit.model.words import Mode, Outcome
from toolkit.store import open_store
from toolkit.store.store import Store
from toolkit.targets import oracle_rows

_LINES = [(100_000 + n, f'a "quoted", text\nof {n}' if n % 7 == 0 else f"text {n}", n % 5) for n in range(900)]
Load = Callable[..., RunRecord]


@dataclass
class Stub:
    """A chunk of one record."""

    transfer: Transfer
    text: bytes

    def blocks(self) -> Iterator[bytes]:
        yield self.text

    def records(self) -> Iterator[tuple[int, bytes]]:
        yield from records_of(self.blocks(), self.transfer.style.quote.encode())

    def reject(self, row: RejectedRow) -> None:
        raise AssertionError(row)


@pytest.fixture(scope="module")
def served() -> Iterator[Arena]:
    with oracle_arena() as found:
        yield found


@pytest.fixture
def arena(served: Arena) -> Arena:
    served.ask("DELETE FROM DBATK.GTEST WHERE ID >= 100000 OR ID IS NULL")
    return served


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store" / "store.sqlite") as opened:
        yield opened


@pytest.fixture
def load(arena: Arena, store: Store) -> Load:
    """Load files by a job into GTEST, which has rows already."""

    def made(*files: Path, **options: OptionValue) -> RunRecord:
        wanted: dict[str, OptionValue] = {"table": "GTEST", "files": tuple(map(str, files)), **options}
        return run(arena, store, experiment(arena, "load", wanted, mode=Mode.JOB))

    return made


def written(path: Path, rows: list[tuple[object, ...]]) -> Path:
    with path.open("w", newline="") as file:
        file.write("id,IDNAME,amount\n")
        csv.writer(file, lineterminator="\n").writerows(rows)
    return path


def there(arena: Arena) -> list[tuple[object, ...]]:
    return arena.ask("SELECT ID, IDNAME, AMOUNT FROM DBATK.GTEST WHERE ID >= 100000 ORDER BY ID")


def test_chunks_go_in_transactions_of_their_own_by_several_sessions(
    arena: Arena, store: Store, tmp_path: Path
) -> None:
    plain = written(tmp_path / "a.csv", [*_LINES[:600]])
    packed = tmp_path / "b.csv.gz"
    packed.write_bytes(gzip.compress(written(tmp_path / "b.csv", [*_LINES[600:]]).read_bytes()))
    wanted: dict[str, OptionValue] = {"table": "GTEST", "files": (str(plain), str(packed))}
    levels = {"degree": (2,), "commit_every": ("8K",), "batch_rows": (100,)}
    record = run(arena, store, experiment(arena, "load", wanted, mode=Mode.JOB, **levels))  # type: ignore[arg-type]
    (trial,) = record.trials
    assert (trial.outcome, trial.rows, trial.reason) == (Outcome.OK, 900, None)
    assert there(arena) == _LINES
    assert len(trial.items) > 2
    commits = [text for text in arena.statements if text == "COMMIT"]
    assert len(commits) >= len(trial.items)
    assert arena.leftovers() == []


@pytest.mark.thin(2)
@pytest.mark.parametrize(("when", "done"), [(AFTER, True), (BEFORE, False)])
def test_a_chunk_whose_commit_was_lost_is_loaded_once(when: str, done: bool, tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", [*_LINES])
    with running_standin() as standin:

        def loaded() -> list[tuple[object, ...]]:
            asked = standin.engine.cursor().execute(
                "SELECT ID, IDNAME, AMOUNT FROM DBATK.GTEST WHERE ID >= 100000 ORDER BY ID"
            )
            return asked.fetchall()

        standin.engine.faults.append(Fault(break_connection, words="COMMIT", when=when))
        _, run = dbatk(standin, tmp_path, "load", str(file), "--table", "GTEST", "--commit-every", "8K")
        assert run["trials"][0]["outcome"] == "interrupted", run  # type: ignore[index]
        assert (0 < len(loaded()) < len(_LINES)) is done
        status, told = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert (status, loaded()) == (0, _LINES), told
        kept = standin.engine.cursor().execute("SELECT table_name FROM duckdb_tables()").fetchall()
        assert not [name for (name,) in kept if str(name).startswith("DBATK_")]


def test_a_row_that_the_server_refuses_is_left_out_alone(tmp_path: Path) -> None:
    file = written(tmp_path / "null.csv", [(100_000, "x", 1), ("", "y", 2), (100_001, "", 3)])
    kept = tmp_path / "kept.csv"
    with running_standin() as standin:
        standin.engine.state.objects["TABLE", ("DBATK", "GTEST")].columns[0] = ("ID", "NUMBER", "N")
        status, run = dbatk(standin, tmp_path, "load", str(file), "--table", "GTEST")
        trial = run["trials"][0]  # type: ignore[index]
        assert (status, trial["error_code"]) == (3, "ORA-01400"), run
        assert "`null.csv`, line 3, column ID: " in trial["reason"]
        rejects = ("--max-rejects", "1", "--rejects", str(kept))
        status, run = dbatk(standin, tmp_path, "load", str(file), "--table", "GTEST", *rejects)
        rows = standin.engine.cursor().execute("SELECT ID, IDNAME, AMOUNT FROM DBATK.GTEST WHERE ID >= 100000")
        assert (status, rows.fetchall()) == (0, [(100_000, "x", 1), (100_001, None, 3)]), run
    with kept.open(newline="") as opened:
        ((_, line, column, reason, text),) = list(csv.reader(opened))[1:]
    assert (line, column, text) == ("3", "ID", ",y,2")
    assert reason.startswith("ORA-01400")


@pytest.mark.full
def test_nothing_of_a_measurement_stays(arena: Arena, store: Store, tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", [*_LINES])
    wanted: dict[str, OptionValue] = {"table": "GTEST", "files": (str(file),), "bare": True}
    record = run(arena, store, experiment(arena, "load", wanted, batch_rows=(10, 1000)))
    assert [trial.rows for trial in record.trials] == [900, 900], [trial.reason for trial in record.trials]
    metrics = {metric.name: metric.value for metric in record.trials[0].metrics}
    assert metrics["load_rows_per_second"] > 0
    assert there(arena) == [] and arena.leftovers() == []


@for_each(
    ("text", "style", "row"),
    [
        ("1;-;2", {"null": "-"}, [1, None, 2]),
        ('1;"-";-', {"null": "-"}, [1, "-", None]),
        ('1;"a;""-"";""b";2', {"null": "-"}, [1, 'a;"-";"b', 2]),
        ('1;"";', {}, [1, None, None]),
        ("1;'a\nb';2.50", {"quote": "'"}, [1, "a\nb", Decimal("2.50")]),
        ('1;"x";2', {"quote": ""}, [1, '"x"', 2]),
    ],
)
def test_text_is_read_as_its_style_says(text: str, style: dict[str, str], row: list[object]) -> None:
    kinds = (Conversion.NUMBER, Conversion.TEXT, Conversion.NUMBER)
    transfer = Transfer(
        FilePart("a.csv", FileFormat.CSV), CsvStyle(delimiter=";", **style), ("A", "B", "C"),  # type: ignore[arg-type]
        QualifiedName("T"), types=kinds,
    )  # fmt: skip
    (found,) = oracle_rows.read(Stub(transfer, text.encode()), None)
    assert isinstance(found, oracle_rows.Read) and list(found.values) == row


@for_each(
    ("kind", "text", "value"),
    [
        (Conversion.DATE, "2026-11-26", datetime(2026, 11, 26)),
        (Conversion.TIMESTAMP, "2026-11-26 22:01:02.000003", datetime(2026, 11, 26, 22, 1, 2, 3)),
        (Conversion.TIMESTAMP, "2026-11-26 22:01:02+01:00", None),
        (Conversion.DATE, "2026-11-26 22:01:02.5", None),
        (Conversion.NUMBER, "NaN", None),
        (Conversion.NUMBER, "1_000", None),
        (Conversion.NUMBER, "1e126", None),
        (Conversion.NUMBER, "1e-200", Decimal(0)),
        (Conversion.NUMBER, "0." + "1" * 60, Decimal("0." + "1" * 38)),
        (Conversion.FLOAT, "1e3", 1000.0),
        (Conversion.BYTES, "\\xCAFE", b"\xca\xfe"),
    ],
)
def test_what_a_column_cannot_hold_is_no_value_of_it(kind: Conversion, text: str, value: object) -> None:
    transfer = Transfer(FilePart("a.csv", FileFormat.CSV), CsvStyle(), ("A",), QualifiedName("T"), types=(kind,))
    (found,) = oracle_rows.read(Stub(transfer, text.encode()), None)
    assert found == (
        oracle_rows.Read(1, [value], text) if value is not None
        else oracle_rows.Bad(1, "A", f"`{text}` is not a {kind}", text)
    )  # fmt: skip


@pytest.mark.full
def test_bad_rows_are_told_with_line_column_and_reason(arena: Arena, load: Load, tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [*_LINES[:20], (100_950, "x", "many"), (100_951, "x"), (100_952, "last", 1)]
    file, kept = written(tmp_path / "bad.csv", rows), tmp_path / "kept.csv"
    lines = {text.split(",")[0]: number for number, text in enumerate(file.read_text().splitlines(), 1)}
    (trial,) = load(file, check_rows=0).trials
    assert trial.outcome is Outcome.FAILED and trial.reason is not None
    assert f"`bad.csv`, line {lines['100950']}, column AMOUNT: `many` is not a number" in trial.reason
    assert there(arena) == []
    (trial,) = load(file, max_rejects=2, rejects=str(kept)).trials
    assert (trial.outcome, trial.rows) == (Outcome.OK, 21), trial.reason
    with kept.open(newline="") as opened:
        told = [row[1:] for row in csv.reader(opened)][1:]
    assert told == [
        [str(lines["100950"]), "AMOUNT", "`many` is not a number", "100950,x,many"],
        [str(lines["100951"]), "", "2 fields instead of 3", "100951,x"],
    ]
