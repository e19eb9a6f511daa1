"""NOLOGGING and standbys: one rule for all work that may leave out redo, and levels that would do the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import OURS, assumed, work
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.test_command_line import dbatk
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts
from toolkit.model.values import Row

CTAS, INSERT, BUILD, REBUILD = "ctas", "insert", "index-build", "index-rebuild"
DATABASE: Row = {"log_mode": "ARCHIVELOG", "force_logging": "NO"}
STANDBY: Row = {"destination_id": 2, "db_unique_name": "DWH_DR", "status": "VALID"}


def facts(*standbys: Row, refused: bool = False, **answers: tuple[Row, ...]) -> Facts:
    """Return what was read of a primary in ARCHIVELOG mode; `refused` when its destinations may not be read."""
    made = assumed(**{"doctor_database": (DATABASE,), "doctor_standbys": standbys, **answers})
    made = replace(made, assumed=False)
    return (
        replace(made, refused={"doctor_standbys": "ORA-00942: table or view does not exist"}) if refused else made
    )


def unlogged(operation: str) -> Work:
    return work(operation, 2, logging="nologging")


def into_nologging(**answers: tuple[Row, ...]) -> dict[str, tuple[Row, ...]]:
    """The catalogue's row of a table that is NOLOGGING already."""
    into = work(INSERT, 2).object.name
    target: Row = {"schema_name": into.schema, "table_name": into.name, "logging": "NO"}
    return {"target": (target,), **answers}


@for_each("operation", [CTAS, INSERT, BUILD, REBUILD])
def test_every_operation_without_redo_is_refused_where_a_standby_would_lack_the_blocks(operation: str) -> None:
    assert DIALECT.work.support(unlogged(operation), facts()).ok
    assert not DIALECT.work.support(unlogged(operation), facts(STANDBY)).ok
    assert DIALECT.work.support(work(operation, 2), facts(STANDBY)).ok


@for_each("status", ["DEFERRED", "ERROR", "DISABLED", "BAD PARAM", "ALTERNATE", "FULL"])
def test_a_standby_to_which_nothing_is_shipped_now_is_still_a_standby(status: str) -> None:
    support = DIALECT.work.support(unlogged(CTAS), facts({**STANDBY, "status": status}))
    assert not support.ok
    assert f"DWH_DR ({status})" in support.sentence and "ORA-26040" in support.sentence


def test_destinations_that_may_not_be_read_refuse_unless_the_profile_says_that_there_are_none() -> None:
    unknown = facts(refused=True)
    refused = DIALECT.work.support(unlogged(BUILD), unknown)
    assert not refused.ok and "V$ARCHIVE_DEST cannot be read" in refused.sentence
    assert "standbys = false" in refused.hint and "V_$ARCHIVE_DEST" in refused.hint
    for declared, fits in ((0, True), (1, False)):
        said = replace(unknown, answers={**unknown.answers, "declared_standbys": ({"exist": declared},)})
        assert DIALECT.work.support(unlogged(BUILD), said).ok is fits


def test_a_direct_load_into_a_nologging_table_is_work_without_redo_though_nobody_asked() -> None:
    known = facts(STANDBY, **into_nologging())
    refused = DIALECT.work.support(work(INSERT, 2), known)
    assert not refused.ok
    assert "LOGGING first" in refused.hint and "conventional" in refused.hint
    assert DIALECT.work.support(work(INSERT, 2, load="conventional"), known).ok
    assert any("is NOLOGGING" in line for line in DIALECT.work.remarks(work(INSERT, 2), facts(**into_nologging())))


def test_forced_logging_of_database_pdb_or_tablespace_each_has_its_sentence_and_needs_no_refusal() -> None:
    forced = {
        "FORCE LOGGING of the database is YES": {"doctor_database": ({**DATABASE, "force_logging": "YES"},)},
        "the PDB forces logging": {"doctor_pdb_logging": ({"force_logging": "YES", "force_nologging": "NO"},)},
        "tablespace `USERS` forces logging": {
            "space_free": ({"tablespace_name": "USERS", "force_logging": "YES"},),
            "space_quotas": ({"user_name": OURS.name.schema, "default_tablespace": "USERS"},),
        },
    }
    for sentence, answers in forced.items():
        known = facts(STANDBY, **answers)
        assert DIALECT.work.support(unlogged(CTAS), known).ok, sentence
        assert any(sentence in line for line in DIALECT.work.remarks(unlogged(CTAS), known)), sentence
        assert sentence in str(
            DIALECT.work.of(CTAS).equal_levels("logging", [work(CTAS, 2), unlogged(CTAS)], known)
        )


@pytest.mark.parametrize(
    ("mode", "words"),
    [("STANDBY NOLOGGING FOR DATA AVAILABILITY", "commit waits"),
     ("STANDBY NOLOGGING FOR LOAD PERFORMANCE", "fetches the blocks later")],
)  # fmt: skip
def test_the_modes_that_send_blocks_outside_redo_are_neither_forced_nor_refused(mode: str, words: str) -> None:
    known = facts(STANDBY, doctor_database=({**DATABASE, "force_logging": mode},))
    assert DIALECT.work.support(unlogged(CTAS), known).ok
    assert any(words in line for line in DIALECT.work.remarks(unlogged(CTAS), known))
    assert DIALECT.work.of(CTAS).equal_levels("logging", [work(CTAS, 2), unlogged(CTAS)], known) is None


def test_a_pdb_in_force_nologging_mode_leaves_out_redo_of_logged_tables_too() -> None:
    known = facts(STANDBY, doctor_pdb_logging=({"force_logging": "NO", "force_nologging": "YES"},))
    assert "FORCE NOLOGGING" in DIALECT.work.support(work(CTAS, 2), known).hint
    both = [work(CTAS, 2), unlogged(CTAS)]
    assert "FORCE NOLOGGING" in str(DIALECT.work.of(CTAS).equal_levels("logging", both, known))


@pytest.mark.parametrize(
    ("answers", "words"),
    [(_archived := {"doctor_database": ({**DATABASE, "log_mode": "NOARCHIVELOG"},)}, "NOARCHIVELOG"), ({}, None)],
)
def test_levels_of_logging_that_do_the_same_are_known(
    answers: dict[str, tuple[Row, ...]], words: str | None
) -> None:
    how, known = DIALECT.work.of(CTAS), facts(**answers)
    found = how.equal_levels("logging", [work(CTAS, 2), unlogged(CTAS)], known)
    assert (found is None) if words is None else (words in str(found))
    assert how.equal_levels("degree", [work(CTAS, 2), work(CTAS, 4)], known) is None


def test_conventional_inserts_write_the_same_redo_at_both_levels() -> None:
    both = [work(INSERT, 2, load="conventional", logging=level) for level in ("logging", "nologging")]
    assert "conventional insert" in str(DIALECT.work.of(INSERT).equal_levels("logging", both, facts()))


def test_a_sweep_that_compares_two_equals_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    forced = Scenario(views={"V$DATABASE": [{"LOG_MODE": "ARCHIVELOG", "FORCE_LOGGING": "YES"}]})
    with running_standin(forced) as standin:
        status, said = dbatk(
            standin, tmp_path, "ctas", "--source", "GTEST", "--table", "C", "--logging", "logging,nologging"
        )
        assert not any(text.startswith("CREATE") for text in standin.statements)
    assert status == 5, said
    assert "same work" in said["error"]["message"]  # type: ignore[index]


@pytest.mark.parametrize(
    "line",
    [
        ("index", "build", "--table", "GTEST", "--columns", "ID,IDNAME", "--nologging"),
        ("index", "rebuild", "--schema", "DBATK", "--nologging"),
    ],
    ids=["build", "rebuild"],
)
def test_an_index_without_redo_is_refused_over_the_wire_where_a_deferred_standby_would_lack_it(
    line: tuple[str, ...], tmp_path: Path
) -> None:
    views = {"V$ARCHIVE_DEST": [{"DEST_ID": 2, "STATUS": "DEFERRED", "TARGET": "STANDBY", "DB_UNIQUE_NAME": "DR"}]}
    with running_standin(Scenario(views=views)) as standin:
        status, said = dbatk(standin, tmp_path, *line, "--degree", "4")
        assert not any("NOLOGGING" in text for text in standin.statements)
    assert status == 5, said
    assert "DR (DEFERRED)" in said["error"]["message"]  # type: ignore[index]
