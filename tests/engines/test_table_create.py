"""Tables created for data files: a load of the same files fits, and nothing is changed on the way."""

from __future__ import annotations

import gzip
from pathlib import Path

import duckdb
import pytest

from tests.engines.arena import Arena, Heard
from tests.engines.test_operations import experiment, names, run, statements_of
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import resume
from toolkit.app.runs.preview import script
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.records import RunRecord
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import Effect, Mode, ObjectKind, Outcome
from toolkit.store.store import Store

_CSV = """\
id,ZIP,Order Date,at,seen,price,mass,ok,note,none
1,01234,2026-02-28,2026-02-28 10:11:12,2026-02-28T10:11:12Z,10.5,1e-3,true,"a ""quoted"", text
of two lines",
-22,99999,2028-02-29,2026-02-28,2026-03-01 00:00:00+01:00,7,2.5,FALSE,,
9007199254740993,00001,,2026-02-28T23:59:59.123456,,-123456789012.123,,,"",
"""
_TYPES = {
    "duckdb": ["BIGINT", "VARCHAR", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "DECIMAL(18,3)", "DOUBLE",
               "BOOLEAN", "VARCHAR", "VARCHAR"],
    "postgresql": ["bigint", "text", "date", "timestamp without time zone", "timestamp with time zone", "numeric",
                   "double precision", "boolean", "text", "text"],
}  # fmt: skip


def create(arena: Arena, store: Store, *files: Path, table: str = "made", **options: OptionValue) -> RunRecord:
    wanted = names(arena, table=table) | {"files": tuple(map(str, files))} | options
    return run(arena, store, experiment(arena, "table-create", wanted, mode=Mode.JOB))


def load(arena: Arena, store: Store, *files: Path, table: str = "made", **options: OptionValue) -> RunRecord:
    wanted = names(arena, table=table) | {"files": tuple(map(str, files))} | options
    return run(arena, store, experiment(arena, "load", wanted, mode=Mode.JOB))


def columns(arena: Arena, table: str = "made") -> list[tuple[object, ...]]:
    return arena.ask(
        "SELECT column_name, data_type FROM information_schema.columns "
        f"WHERE table_schema = '{arena.schema}' AND table_name = '{table}' ORDER BY ordinal_position"
    )


def test_a_load_of_the_same_file_fits_and_changes_no_value(arena: Arena, store: Store, tmp_path: Path) -> None:
    file = tmp_path / "orders.csv"
    file.write_text(_CSV, encoding="utf-8")
    (trial,) = create(arena, store, file).trials
    assert (trial.outcome, trial.rows) == (Outcome.OK, None), trial.reason
    zip_name = "zip" if arena.engine == "postgresql" else "ZIP"
    named = ["id", zip_name, "Order Date", "at", "seen", "price", "mass", "ok", "note", "none"]
    assert columns(arena) == list(zip(named, _TYPES[arena.engine], strict=True))
    assert arena.ask(f"SELECT count(*) FROM {arena.schema}.made") == [(0,)]
    assert load(arena, store, file).trials[0].rows == 3
    table = f"{arena.schema}.made"
    texts = arena.ask(
        'SELECT id::text, zip, "Order Date"::text, "at"::text, price::numeric(15,3)::text, ok::text, note '
        f"FROM {table} ORDER BY made.id DESC"
    )
    assert texts == [
        ("9007199254740993", "00001", None, "2026-02-28 23:59:59.123456", "-123456789012.123", None, ""),
        ("1", "01234", "2026-02-28", "2026-02-28 10:11:12", "10.500", "true", 'a "quoted", text\nof two lines'),
        ("-22", "99999", "2028-02-29", "2026-02-28 00:00:00", "7.000", "false", None),
    ]
    assert arena.ask(f"SELECT count(*) FROM {table} WHERE seen = TIMESTAMPTZ '2026-02-28 23:00:00+00'") == [(1,)]
    assert arena.leftovers() == []


def test_files_of_every_kind_have_one_table(arena: Arena, store: Store, tmp_path: Path) -> None:
    flat, packed = tmp_path / "b.parquet", tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(b"K,id,Name\n1,5,x\n"))
    with duckdb.connect() as session:
        made = "SELECT 1.25::DECIMAL(9,2) AS id, 7::SMALLINT AS k, 'y' AS name"
        session.execute(f"COPY ({made}) TO '{flat}'")
    create(arena, store, packed, flat)
    number = "numeric" if arena.engine == "postgresql" else "DECIMAL(18,2)"
    assert [str(row[1]).lower() for row in columns(arena)] in (
        ["bigint", number.lower(), "text"], ["bigint", number.lower(), "varchar"],
    )  # fmt: skip
    assert load(arena, store, packed, flat).trials[0].rows == 2


def test_what_the_script_shows_is_what_runs_and_a_dry_run_makes_nothing(
    arena: Arena, store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("a,b\n1,x\n")
    options = names(arena, table="made") | {"files": (str(file),)}
    work = experiment(arena, "table-create", options, mode=Mode.JOB)
    target = arena.make()
    shown, _ = script(work, target)
    target.close()
    assert columns(arena) == []
    run(arena, store, work)
    assert [text for text in statements_of(shown) if text not in arena.statements] == []


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ("a,a\n1,2\n", {}, "a column `a` twice"),
        ("a,A\n1,2\n", {}, "twice"),
        ("a,\n1,2\n", {}, "column 2 has no name"),
        ("1,2\n", {"header": "no"}, "no line that names its 2 columns"),
        ("1,2\n", {"header": "no", "columns": ("a",)}, "`--columns` names 1"),
        ('a,b\n1,2\n"x"y,3\n', {}, "line 3"),
        ("a,b\n1,2\n3,\xff\n", {"encoding": "ascii"}, "line 3"),
        ("", {}, "is empty"),
        ("name;price\nx;1,5\ny;2,5\n", {}, "line 1: the only column is `name;price`"),
    ],
)
def test_files_that_make_no_table_are_refused_with_the_place(
    content: str, options: dict[str, OptionValue], sentence: str, arena: Arena, store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(content.encode("latin-1"))
    with pytest.raises(ToolkitError, match=sentence):
        create(arena, store, file, **options)
    assert store.list_runs() == []
    assert columns(arena) == []
    if ";" in content:  # which is told how it is meant, and may be meant as it is
        create(arena, store, file, delimiter=";", table="two")
        create(arena, store, file, delimiter=",", table="one")
        assert [len(columns(arena, table)) for table in ("two", "one")] == [2, 1]


def test_files_that_do_not_belong_together_and_a_name_in_use_are_refused(
    arena: Arena, store: Store, tmp_path: Path
) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("a,b\n1,2\n")
    two.write_text("a,c\n1,2\n")
    with pytest.raises(ToolkitError, match="differ in b, c"):
        create(arena, store, one, two)
    with pytest.raises(ToolkitError, match="already exists"):
        create(arena, store, one, table="nothing")
    with pytest.raises(ToolkitError, match="nothing to measure"):
        wanted = names(arena, table="made") | {"files": (str(one),)}
        run(arena, store, experiment(arena, "table-create", wanted, repeat=2))
    assert store.list_runs() == []


def test_what_keeps_a_column_from_being_a_number_is_told_by_its_line(
    arena: Arena, store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("n,m\n1,1\n2,2\nNA,3\nx,4,5\n4,4\n")
    record = create(arena, store, file)
    said = " ".join(record.warnings)
    assert "`n` is text because of line 4 of `a.csv`" in said
    assert "1 row with another number of fields, the first on line 5" in said
    create(arena, store, file, table="made_2", null="NA")
    assert [str(row[1]).lower() for row in columns(arena, "made_2")] == ["bigint", "bigint"]


def test_a_table_that_was_there_when_the_kill_came_is_found_and_not_made_again(
    arena: Arena, store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("a,b\n1,x\n")
    record = create(arena, store, file)
    made = record.head.run
    name = QualifiedName("made", arena.schema)
    step = Step("table_create", "", effect=Effect.CREATES, object=ObjectRef(ObjectKind.TABLE, name))
    store.begin_trial(made, 2, 1, Cell(()), 0, record.trials[0].began_at)
    store.journal(made).intend(step, trial=2, proof={"free": True, "born": None})
    target, heard = arena.target(), Heard()
    try:
        resume(made, target, store=store, approvals=Approvals(not_production=True), events=heard)
    finally:
        target.close()
    assert store.journal(made).open_entries() == ()
    assert [row[0] for row in columns(arena)] == ["a", "b"]
