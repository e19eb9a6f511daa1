"""Loads against the stand-in: what a DBA types, what the database gets, what is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.oracle.judging import judge
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.blocks import spread
from tests.oracle.test_command_line import dbatk
from tests.oracle.test_load_statements import known

_ONCE = ("--repeat", "1", "--warmup", "0")
_COLUMN = {"OWNER": "DBATK", "TABLE_NAME": "GTEST", "NULLABLE": "Y", "HIDDEN_COLUMN": "NO", "VIRTUAL_COLUMN": "NO",
           "USER_GENERATED": "YES"}  # fmt: skip
SHAPE: Mapping[str, Sequence[Mapping[str, object]]] = {
    "ALL_CONSTRAINTS": [
        {"OWNER": "DBATK", "TABLE_NAME": "GTEST", "CONSTRAINT_NAME": name, "CONSTRAINT_TYPE": kind,
         "SEARCH_CONDITION": condition, "STATUS": "ENABLED", "DEFERRABLE": "NOT DEFERRABLE",
         "DEFERRED": "IMMEDIATE", "INDEX_NAME": index}
        for name, kind, condition, index in (
            ("GTEST_U", "U", None, "GTEST_IX"), ("GTEST_C", "C", "amount < 1000", None),
            ("GTEST_F", "R", None, None),
        )
    ],
    "ALL_CONS_COLUMNS": [
        {"OWNER": "DBATK", "CONSTRAINT_NAME": "GTEST_U", "TABLE_NAME": "GTEST", "COLUMN_NAME": "IDNAME",
         "POSITION": 1}
    ],
    "ALL_TRIGGERS": [
        {"OWNER": "DBATK", "TRIGGER_NAME": "GTEST_T", "TABLE_OWNER": "DBATK", "TABLE_NAME": "GTEST",
         "TRIGGERING_EVENT": "INSERT", "STATUS": "ENABLED"}
    ],
    "ALL_POLICIES": [
        {"OBJECT_OWNER": "DBATK", "OBJECT_NAME": "GTEST", "POLICY_NAME": "ONLY_MINE", "SEL": "YES",
         "ENABLE": "YES"}
    ],
    "ALL_PART_TABLES": [
        {"OWNER": "DBATK", "TABLE_NAME": "GTEST", "PARTITIONING_TYPE": "HASH", "SUBPARTITIONING_TYPE": "NONE",
         "PARTITION_COUNT": 8}
    ],
    "ALL_PART_KEY_COLUMNS": [
        {"OWNER": "DBATK", "NAME": "GTEST", "OBJECT_TYPE": "TABLE", "COLUMN_NAME": "ID", "COLUMN_POSITION": 1}
    ],
    "ALL_TAB_COLS": [
        {**_COLUMN, "COLUMN_NAME": "ID", "DATA_TYPE": "NUMBER", "COLUMN_ID": 1},
        {**_COLUMN, "COLUMN_NAME": "IDNAME", "DATA_TYPE": "VARCHAR2", "COLUMN_ID": 2},
        {**_COLUMN, "COLUMN_NAME": "AMOUNT", "DATA_TYPE": "NUMBER", "COLUMN_ID": 3},
    ],
}  # fmt: skip


class ByProfile(Standin):
    """A stand-in that is reached by the name of a profile."""

    @property
    def url(self) -> str:
        return "here"


def licensed(standin: Standin, folder: Path, *arguments: str) -> tuple[int, dict[str, object]]:
    """Run a command on a target whose profile declares the Partitioning option."""
    config = folder / "config"
    config.mkdir(mode=0o700)
    profile = config / "targets.toml"
    profile.write_text(
        f'[targets.here]\nurl = "{standin.url}"\npassword = {{env = "DBATK_PASSWORD"}}\nproduction = false\n'
        'licenses.partitioning = {by = "A DBA", on = 2026-01-01, until = 2099-01-01}\n',
        encoding="utf-8",
    )
    profile.chmod(0o600)
    return dbatk(ByProfile(standin.host, standin.port, standin.engine, standin.password), folder, *arguments)


def sent(standin: Standin, *words: str) -> list[str]:
    """Return the statements that begin with one of some words, each on one line."""
    flat = [" ".join(text.split()) for text in spread(standin.engine.statements)]
    return [text for text in flat if text.startswith(words)]


def chosen_ctas(tmp_path: Path) -> dict[str, str]:
    """Run a CTAS with many choices; return the statements that changed something."""
    with running_standin() as standin:
        status, run = licensed(
            standin, tmp_path, "ctas", "--source", "GTEST", "--table", "C", "--columns", "idname,ID",
            "--where", "id >= 100", "--partition-by", "hash(id)", "--partitions", "4,8", "--degree", "4",
            "--pq-distribute", "partition", *_ONCE,
        )  # fmt: skip
        assert status == 0, run
        assert {trial["rows"] for trial in run["trials"]} == {1900}  # type: ignore[index, attr-defined]
        changing = ("CREATE", "INSERT", "ALTER", "DROP", "COMMENT", "COMMIT")
        return {known(text): "sent" for text in standin.engine.statements if text.startswith(changing)}


def test_a_ctas_takes_what_was_chosen(tmp_path: Path) -> None:
    made = [" ".join(text.split()) for text in chosen_ctas(tmp_path) if text.startswith("CREATE")]
    assert len(made) == 2
    for text in made:
        assert 'PARTITION BY HASH ("ID") PARTITIONS' in text
        assert text.endswith('s."IDNAME", s."ID" FROM "DBATK"."GTEST" s WHERE ( id >= 100 )')


@pytest.mark.full
def test_a_chosen_ctas_stands_before_two_grammars(tmp_path: Path) -> None:
    assert judge(chosen_ctas(tmp_path)) == {}


@pytest.mark.full
def test_a_sample_is_the_same_in_every_trial(tmp_path: Path) -> None:
    with running_standin() as standin:
        status, run = dbatk(
            standin, tmp_path, "ctas", "--source", "GTEST", "--table", "C", "--sample", "10", "--degree", "1,4",
            "--repeat", "2", "--warmup", "0",
        )  # fmt: skip
        assert status == 0
        assert all("SAMPLE (10) SEED (1) s" in text for text in sent(standin, "CREATE"))
    rows = {trial["rows"] for trial in run["trials"]}  # type: ignore[index, attr-defined]
    assert len(rows) == 1 and 100 < rows.pop() < 300


@pytest.mark.full
def test_the_copy_is_filled_as_the_real_table_is_and_what_it_lacks_is_said(tmp_path: Path) -> None:
    with running_standin(Scenario(views=SHAPE)) as standin:
        status, run = licensed(
            standin, tmp_path, "insert", "--source", "GTEST", "--table", "GTEST", "--parallel-dml", "session,hint",
            "--into", "filled", "--degree", "4", *_ONCE,
        )  # fmt: skip
        assert status == 0, run
        assert standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}
        copies = sent(standin, "CREATE TABLE")
        assert len(copies) == 2 and all('PARTITION BY HASH ("ID") PARTITIONS 8' in text for text in copies)
        added = [text.split(" ADD ")[1] for text in sent(standin, "ALTER TABLE") if " ADD " in text]
        assert added[0] == "CHECK (amount < 1000)"
        assert added[1].startswith('UNIQUE ("IDNAME") USING INDEX "DBATK"."DBATK_')
        loads = sent(standin, "INSERT")
        assert [("ENABLE_PARALLEL_DML" in text, "NO_PARALLEL(t)" in text) for text in loads].count(
            (False, True)
        ) == 2
        assert sum("ENABLE_PARALLEL_DML" in text for text in loads) == 1
    assert {trial["granted_degree"] for trial in run["trials"]} == {4}  # type: ignore[index, attr-defined]
    said = " ".join(run["warnings"])  # type: ignore[arg-type]
    for part in ("row policies filter", "ONLY_MINE",
                 "hash partitions", "1 index, 1 key and 1 check", "1 foreign key,",
                 "trigger GTEST_T"):  # fmt: skip
        assert part in said


def test_a_load_that_fails_gives_the_logging_of_its_target_back(tmp_path: Path) -> None:
    with running_standin(Scenario(fail={"insert": 1653})) as standin:
        status, _ = dbatk(
            standin,
            tmp_path,
            "insert",
            "--source",
            "GTEST",
            "--table",
            "APP.ORDERS",
            "--nologging",
            "--degree",
            "4",
        )
        assert status != 0
        made = standin.engine.state.objects["TABLE", ("APP", "ORDERS")]
        assert (made.logging, made.degree) == ("YES", "1")
        assert sent(standin, "ALTER TABLE")[0].endswith(" NOLOGGING")


_SMALL = [{"TABLESPACE_NAME": "USERS", "BYTES": 65536}]


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("views", "arguments", "code", "part"),
    [
        ({"DBA_FREE_SPACE": _SMALL, "DBA_DATA_FILES": []}, (), "TK-0305", "`USERS`, where only 64.0 KiB"),
        ({"USER_TS_QUOTAS": []}, (), "TK-0305", "has no quota in tablespace `USERS`"),
        ({}, ("--tablespace", "USRES"), "TK-0204", "tablespace `USRES` does not exist"),
        ({}, ("--columns", "IDNAMES"), "TK-0204", "no column `IDNAMES`"),
        ({}, ("--where", "id = 1; DROP TABLE x"), "TK-0105", "semicolon"),
    ],
    ids=lambda value: "-".join(value)[:40] if isinstance(value, tuple) else None,
)  # fmt: skip
def test_what_cannot_be_right_is_refused_before_anything_is_made(
    views: Mapping[str, Sequence[Mapping[str, object]]], arguments: tuple[str, ...], code: str, part: str,
    tmp_path: Path,
) -> None:  # fmt: skip
    with running_standin(Scenario(views=views)) as standin:
        status, said = dbatk(standin, tmp_path, "ctas", "--source", "GTEST", "--table", "C", *arguments)
        assert sent(standin, "CREATE", "INSERT", "ALTER TABLE") == []
    assert status in (1, 2, 5)
    assert said["error"]["code"] == code, said  # type: ignore[index]
    assert part in said["error"]["message"]  # type: ignore[index]


@pytest.mark.thin(2)
@pytest.mark.parametrize(("forced", "refused"), [("NO", True), ("YES", False)])
def test_a_primary_with_a_standby_loads_nothing_without_redo(
    forced: str, *, refused: bool, tmp_path: Path
) -> None:
    database = {"LOG_MODE": "ARCHIVELOG", "FORCE_LOGGING": forced, "DATABASE_ROLE": "PRIMARY",
                "OPEN_MODE": "READ WRITE", "DBID": 1405, "NAME": "FREE", "DB_UNIQUE_NAME": "FREE"}  # fmt: skip
    views = {"V$DATABASE": [database], "V$ARCHIVE_DEST": [{"DEST_ID": 2, "STATUS": "VALID", "TARGET": "STANDBY"}]}
    with running_standin(Scenario(views=views)) as standin:
        status, said = dbatk(
            standin, tmp_path, "ctas", "--source", "GTEST", "--table", "C", "--nologging", "--degree", "4"
        )
    if refused:
        assert said["error"]["code"] == "TK-0304"  # type: ignore[index]
        assert "standby database" in said["error"]["message"]  # type: ignore[index]
    else:
        assert status == 0
        assert any("FORCE LOGGING of the database is YES" in warning for warning in said["warnings"])  # type: ignore[attr-defined]
