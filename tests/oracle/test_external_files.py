"""Files of the server, loaded through an external table: swept, as a job, with bad rows, cut off by a kill."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle.make import OURS, assumed, texts, work
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.standin.engine import Engine
from tests.oracle.test_live_statistics import ANALYZE_ANY, Bench, _when
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.work import Work
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts
from toolkit.model.values import Row
from toolkit.model.words import Mode

INSERT = ("insert", "--external-files", "a.csv,b.csv", "--directory", "DUMPS", "--table", "GTEST")
_HEADER = "ID,IDNAME,AMOUNT\n"


def files(engine: Engine, **texts: str) -> dict[tuple[str, str], str]:
    """Put files of rows into the directory of the server, beside some with further text."""
    there = engine.state.datapump.files
    for name, first in (("a", 100_000), ("b", 200_000)):
        rows = "".join(f'{first + n},"text, {n}",{n % 7 if n % 3 else ""}\n' for n in range(500))
        there["DUMPS", f"{name}.csv"] = _HEADER + rows + texts.get(name, "")
    return there


def loaded(engine: Engine) -> tuple[object, ...] | None:
    asked = "SELECT COUNT(*), SUM(ID), COUNT(AMOUNT) FROM DBATK.GTEST WHERE ID >= 100000"
    return engine.cursor().execute(asked).fetchone()


ALL = (1000, sum(range(500)) * 2 + 500 * 300_000, 666)


def made_by_us(engine: Engine) -> list[str]:
    return [made.name[1] for made in engine.state.tables() if made.name[1].startswith("DBATK_")]


_COLUMNS: tuple[Row, ...] = (
    {"column_name": "ID", "data_type": "NUMBER", "byte_length": 22, "number_precision": 10, "number_scale": 2},
    {"column_name": "N", "data_type": "NUMBER", "byte_length": 22, "number_scale": 0},
    {"column_name": "SHORT", "data_type": "VARCHAR2", "byte_length": 40, "char_length": 10, "char_used": "C"},
    {"column_name": "odd name", "data_type": "CHAR", "byte_length": 3, "char_length": 3, "char_used": "B"},
    {"column_name": "WIDE", "data_type": "NVARCHAR2", "byte_length": 2000, "char_length": 1000, "char_used": "C"},
    {"column_name": "AT", "data_type": "DATE", "byte_length": 7},
    {"column_name": "EXACT", "data_type": "TIMESTAMP(6)", "byte_length": 11},
    {"column_name": "F", "data_type": "FLOAT", "byte_length": 22, "number_precision": 126},
    {"column_name": "D", "data_type": "BINARY_DOUBLE", "byte_length": 8},
)


def described(*columns: Row, **options: OptionValue) -> tuple[Work, Facts]:
    plain = work("insert", 4, Mode.JOB, external_files=("a.csv",), directory="loads", **options)
    names = tuple(str(row["column_name"]) for row in columns)
    facts = assumed(column_sizes=columns, directories=({"directory_name": "LOADS"},))
    return replace(plain, source=OURS.name, columns=names), facts


def test_columns_have_the_types_of_the_table_and_fields_room_for_doubled_quotes() -> None:
    item, facts = described(*_COLUMNS, delimiter="tab", quote="'", null="NULL", encoding="windows-1252")
    assert DIALECT.work.support(item, facts).ok
    made, marked = texts(DIALECT.work.of("insert").make_source(OURS, item, facts, "mark"))
    inside = made[made.index("(") : made.index(" ORGANIZATION")]
    assert inside == (
        '( "ID" NUMBER(10,2), "N" NUMBER(38,0), "SHORT" VARCHAR2(10 CHAR), "odd name" CHAR(3 BYTE), '
        '"WIDE" NVARCHAR2(1000), "AT" DATE, "EXACT" TIMESTAMP(6), "F" FLOAT(126), "D" BINARY_DOUBLE )'
    )
    assert "CHARACTERSET 'WE8MSWIN1252' FIELD NAMES ALL FILES IGNORE" in made
    assert "OPTIONALLY ENCLOSED BY '''' NOTRIM MISSING FIELD VALUES ARE NULL" in made
    assert """"WIDE" CHAR(4000) NULLIF "WIDE" = 'NULL'""" in made and '"ID" CHAR(255) NULLIF' in made
    assert '"AT" CHAR(255) DATE_FORMAT DATE MASK "YYYY-MM-DD HH24:MI:SS" NULLIF' in made
    assert '"EXACT" CHAR(255) DATE_FORMAT TIMESTAMP MASK "YYYY-MM-DD HH24:MI:SS.FF" NULLIF' in made
    name = OURS.name.name
    assert f"""BADFILE "LOADS":'{name}_%a.bad' NODISCARDFILE LOGFILE "LOADS":'{name}_%a.log'""" in made
    assert marked.startswith("COMMENT ON TABLE")


@pytest.mark.parametrize(
    ("column", "release", "options", "sentence"),
    [
        (
            {"column_name": "C", "data_type": "CLOB", "byte_length": 4000},
            "19-ee",
            {},
            "does not make CLOB of text",
        ),
        (_COLUMNS[0], "11.2-ee", {}, "header of several files can be passed over since 12.1"),
        (_COLUMNS[0], "19-ee", {"max_rejects": 100_001}, "at most 100,000"),
    ],
)
def test_what_the_access_driver_cannot_do_is_said_before(
    column: Row, release: str, options: dict[str, OptionValue], sentence: str
) -> None:
    item, facts = described(column, **options)
    found = DIALECT.work.support(item, replace(assumed(release), answers=facts.answers))
    assert not found.ok and sentence in found.sentence


@pytest.mark.full
def test_a_sweep_of_degrees_reads_the_files_and_leaves_no_object_and_no_file(tmp_path: Path) -> None:
    with running_standin() as standin:
        there = files(standin.engine)
        answer = Bench(standin, tmp_path).run(*INSERT, "--degree", "1,2,4", "--repeat", "1", "--warmup", "0")
        assert answer.status == 0, answer.said
        assert made_by_us(standin.engine) == [] and sorted(there) == [("DUMPS", "a.csv"), ("DUMPS", "b.csv")]
        texts = [" ".join(text.split()) for text in standin.engine.statements]
    trials = answer.document["trials"]
    assert [(trial["outcome"], trial["rows"]) for trial in trials] == [("ok", 1000)] * 3
    assert {trial["granted_degree"] for trial in trials} == {1, 2, 4}
    (created,) = [text for text in texts if "ORGANIZATION EXTERNAL" in text]
    assert "NOBADFILE NODISCARDFILE NOLOGFILE" in created and created.endswith("REJECT LIMIT 0")
    assert any("PARALLEL(t 4)" in text and "PARALLEL(s 4)" in text for text in texts)


def test_a_job_loads_each_row_and_names_rejected_ones(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        there = files(standin.engine, a="300000,many,x\n\n", b=f"300001,{'y' * 101},1\n")
        failed = context.run(*INSERT, "--degree", "2")
        assert failed.status == 3 and loaded(standin.engine) == (0, None, 0)
        assert "ORA-30653" in failed.document["trials"][0]["reason"], failed.document
        before = set(there)
        answer = context.run(*INSERT, "--max-rejects", "3")
        assert answer.status == 0 and loaded(standin.engine) == ALL, answer.said
        assert made_by_us(standin.engine) == []
        (bad,) = (name for _, name in set(there) - before if name.endswith("_000.bad"))
        assert "300000,many,x" in there["DUMPS", bad]
        assert "invalid number" in there["DUMPS", bad.replace(".bad", ".log")]
    said = f"directory DUMPS of the server has 126 B of them in {bad.removesuffix('000.bad')}*.bad"
    assert said in answer.warnings and answer.metrics("rejected_bytes") == [126.0]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--directory", "NOWHERE"), "directory `NOWHERE` does not exist"),
        (("--encoding", "koi8-r"), "calls the encoding koi8-r"),
        (("--where", "ID > 1"), "`--where` needs `--source`"),
    ],
)
def test_what_cannot_be_read_is_refused_before_anything_is_made(
    more: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    with running_standin() as standin:
        files(standin.engine)
        given = INSERT[:3] + INSERT[5:] if "--directory" in more else INSERT
        answer = Bench(standin, tmp_path).run(*given, *more)
        assert not [text for text in standin.engine.statements if "ORGANIZATION" in text]
    assert answer.status in (2, 5) and sentence in str(answer.document), answer.document


def test_a_file_that_is_not_there_is_named_and_nothing_is_loaded(tmp_path: Path) -> None:
    with running_standin() as standin:
        del files(standin.engine)["DUMPS", "b.csv"]
        answer = Bench(standin, tmp_path).run(*INSERT)
        assert made_by_us(standin.engine) == [] and loaded(standin.engine) == (0, None, 0)
    (trial,) = answer.document["trials"]
    assert answer.status == 3 and trial["reason"].startswith("KUP-04040: file b.csv in DUMPS not found"), trial


def test_after_a_kill_the_table_of_the_run_is_dropped_and_each_row_is_loaded_once(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        files(standin.engine)
        began = _when(standin, "INSERT", lambda: None)
        process = context.start(*INSERT, "--not-production")
        assert began.wait(300)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=300)
        context.more = ()
        answer = context.run("clean")
        assert answer.status == 0, answer.document
        assert made_by_us(standin.engine) == []
        resumed = context.run("runs", "resume", "last", "--not-production")
        assert resumed.status == 0, resumed.document
        assert made_by_us(standin.engine) == []
        assert loaded(standin.engine) == ALL
