"""What `--assume` can say of an Oracle database besides release and edition; judged as if read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.for_each import for_each
from toolkit.dialects.registry import dialect_of
from toolkit.model.facts import facts_to_text

CTAS = ("ctas", "--source", "APP.A", "--table", "APP.B")
NOLOGGING = (*CTAS, "--nologging")
BUILD = ("index", "build", "--table", "APP.A", "--columns", "ID", "--name", "APP.A_IX")
BACKUP = ("backup", "run")
_SAYS = [
    (NOLOGGING, "19-ee,noarchivelog", "the database is in NOARCHIVELOG mode"),
    (NOLOGGING, "19-ee,force-logging", "FORCE LOGGING of the database is YES"),
    (CTAS, "19-ee,rac", "counters and sampled parallel servers are of one instance alone"),
    (NOLOGGING, "19c-ee,standby=none", "NOLOGGING"),
    (CTAS, "12.1-se", "Standard Edition Release 12.1.0.1"),
]
_REFUSES = [
    (NOLOGGING, "19-ee,standby", "this primary has a standby database, STANDBY,"),
    (NOLOGGING, "19-ee,rac,standby=deferred", "STANDBY (DEFERRED)"),
    (NOLOGGING, "19-ee,standby=error", "STANDBY (ERROR)"),
    (NOLOGGING, "19-ee,standby=bad-param", "STANDBY (BAD PARAM)"),
    (NOLOGGING, "19-ee,standby=unknown", "V$ARCHIVE_DEST cannot be read"),
    (CTAS, "19-ee,physical-standby", "this database is a PHYSICAL STANDBY"),
    (BACKUP, "19-ee,noarchivelog", "NOARCHIVELOG"),
    ((*CTAS, "--degree", "4"), "11.2-se", "Oracle Standard Edition runs every statement serially"),
    ((*BUILD, "--online"), "12.1-se2", "ONLINE needs Enterprise Edition"),
    ((*BUILD, "--bitmap"), "11.2-se", "a bitmap index needs Enterprise Edition"),
    ((*BACKUP, "--channels", "4"), "12.1-se", "Standard Edition uses only one channel"),
]
_WRONG = [
    ("19-ee,rack", "`rac`"),
    ("19-ee,standby=valit", "`standby=valid`"),
    ("19-ee,rac=1", "2 or more"),
    ("19-ee,rac=two", "2 or more"),
    ("19-ee,archivelog,noarchivelog", "contradict"),
    ("19-ee,standby,noarchivelog", "contradict"),
    ("19-ee,standby,standby=error", "contradict"),
    ("19-se", "11.2, 12.1"),
    ("19-ee,", "rac"),
]


@for_each(("line", "assumed", "sentence"), _SAYS)
def test_a_dry_run_says_what_it_would_say_of_such_a_database(
    line: tuple[str, ...], assumed: str, sentence: str, dbatk: Dbatk
) -> None:
    answer = dbatk(*line, "--dry-run", "--assume", assumed)
    assert (answer.status, answer.err) == (0, "")
    assert sentence in answer.out


@for_each(("line", "assumed", "sentence"), _REFUSES)
def test_a_dry_run_refuses_what_such_a_database_would_be_refused(
    line: tuple[str, ...], assumed: str, sentence: str, dbatk: Dbatk
) -> None:
    answer = dbatk(*line, "--dry-run", "--assume", assumed)
    assert (answer.status, answer.out) == (5, "")
    assert sentence in answer.err


@for_each(("assumed", "hint"), _WRONG)
def test_what_cannot_be_assumed_is_named_with_what_can(assumed: str, hint: str, dbatk: Dbatk) -> None:
    answer = dbatk(*CTAS, "--dry-run", "--assume", assumed)
    assert (answer.status, answer.out) == (2, "")
    assert "TK-0102" in answer.err
    assert hint in answer.err


def test_the_statistics_of_a_whole_schema_need_no_catalogue(dbatk: Dbatk) -> None:
    answer = dbatk("stats", "gather", "--schema", "APP,hr", "--degree", "4", "--dry-run", "--assume", "19-ee")
    assert (answer.status, answer.err) == (0, "")
    for schema in ("APP", "HR"):
        assert f"DBMS_STATS.GATHER_SCHEMA_STATS(\n    ownname => '{schema}'" in answer.out
    assert answer.out.count("degree => 4") == 2


@pytest.mark.parametrize("line", [("--degree", "1,2"), ("--repeat", "3")])
def test_copies_of_a_schema_need_its_catalogue(line: tuple[str, ...], dbatk: Dbatk) -> None:
    answer = dbatk("stats", "gather", "--schema", "APP", *line, "--dry-run", "--assume", "19-ee")
    assert answer.status == 2
    assert "--facts FILE" in answer.err


@pytest.mark.parametrize(
    ("line", "statement"),
    [
        (("index", "rebuild", "--index", "APP.I"), 'ALTER INDEX "APP"."I" REBUILD\n  PARTITION "P1"'),
        (("insert", "--source", "APP.A", "--table", "APP.B"), 'INTO "APP"."B" PARTITION ("P1") t'),
        (("stats", "gather", "--table", "APP.A"), "partname => 'P1'"),
    ],
)
def test_one_partition_has_one_option_and_is_a_table_elsewhere(
    line: tuple[str, ...], statement: str, dbatk: Dbatk
) -> None:
    named = (*line, "--partition", "p1", "--dry-run", "--assume")
    assert statement in dbatk(*named, "19-ee").out
    refused = dbatk(*named, "17", "-t", "postgresql://u@h/d")
    assert (refused.status, refused.out) == (5, "")
    assert "where partitions are tables (postgresql), name one with --table" in refused.err


@pytest.mark.parametrize("more", [(), ("--snapshot", "statspack")])
def test_of_a_server_that_was_not_asked_nothing_is_said_to_be_missing(dbatk: Dbatk, more: tuple[str, ...]) -> None:
    answer = dbatk(*CTAS, "--degree", "1,2", "--assume", "19-ee", "--dry-run", *more)
    assert answer.status == 0, answer.err
    said = " ".join(answer.out.split())
    assert "not installed" not in said
    assert ("whether it is installed is not known (no server was asked)" in said) is (more == ())


_FILE = """[experiment]
name = "elsewhere"
target = "nowhere"
operation = "ctas"
source = "T"
table = "U"

[factors]
degree = [1, 2]
"""


def test_a_file_for_a_target_of_another_host_prints_its_script(dbatk: Dbatk, tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(_FILE)
    answer = dbatk("run", str(file), "--dry-run", "--assume", "19-ee")
    assert (answer.status, "CREATE TABLE" in answer.out) == (0, True), answer.err
    assert "note: `nowhere` is no target of this host" in answer.err
    (tmp_path / "facts.json").write_text(facts_to_text(dialect_of("postgresql").assume("17")))
    answer = dbatk("run", str(file), "--dry-run", "--facts", str(tmp_path / "facts.json"))
    assert "`public.t` does not exist or is not visible" in answer.err  # looked for as PostgreSQL spells it
    for more in (("--assume", "17"), ()):  # whose release that is cannot be told
        answer = dbatk("run", str(file), "--dry-run", *more)
        assert (answer.status, "unknown target `nowhere`" in answer.err) == (2, True), answer.err


@pytest.mark.parametrize("line", ["stats gather", "datapump export --directory D"])
def test_a_schema_of_two_parts_is_refused_and_not_taken_for_its_second(line: str, dbatk: Dbatk) -> None:
    answer = dbatk(*line.split(), "--schema", "SHOP.ORDERS", "--dry-run", "--assume", "19-ee")
    assert answer.status == 2 and "`SHOP.ORDERS` has two parts" in answer.err
    assert dbatk(*line.split(), "--schema", '"SHOP.ORDERS"', "--dry-run", "--assume", "19-ee").status == 0
