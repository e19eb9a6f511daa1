"""Scripts that redefine a table online: what they say and refuse; nothing is run."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.oracle.judging import judge
from tests.oracle.make import assumed, target
from tests.oracle.standin import Scenario, Standin, running_standin
from toolkit.app.approvals import TargetPolicy
from toolkit.app.redefinitions import RedefinitionScripts, prepare_redefinition
from toolkit.cli.main import main
from toolkit.design.lexis import ORACLE, TokenKind, tokens
from toolkit.design.user_sql import check_partitioning
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.oracle.redefinition import REDEFINITION
from toolkit.dialects.redefinitions import RedefinitionRequest, RowIdentity
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName, Row, Scalar
from toolkit.rendering import render_call

TABLE = QualifiedName("GTEST", "DBATK")
WANTED = RedefinitionRequest(TABLE, degree=4)
KEY: Row = {"constraint_type": "P", "column_list": '"ID", "Line no"'}
FILES = [
    "1_check.sql",
    "2_start.sql",
    "3_dependents.sql",
    "4_sync.sql",
    "5_finish.sql",
    "6_compare.sql",
    "abort.sql",
]


def known(release: str = "19-ee", name: QualifiedName = TABLE, **changed: Scalar) -> Facts:
    """Return what is read of a table with a key; `changed` are columns of the answers about it."""
    about: Row = {"schema_name": name.schema, "table_name": name.name}
    own: Row = {**about, "partitioned": "NO", "degree": "8", "tablespace_name": "USERS", "pct_free": 10}
    counts = {"object_id": 70001, **{key: value for key, value in changed.items() if key.endswith("_count")}}
    attributes: tuple[Row, ...] = (
        {"name": "logging", "part": None, "value": "NO"},
        {"name": "row_movement", "part": None, "value": "ENABLED"},
    )
    answers: dict[str, tuple[Row, ...]] = {
        "target": ({**own, **{key: value for key, value in changed.items() if not key.endswith("_count")}},),
        "movable": ({**about, **changed},),
        "redefinition": (counts,),
        "constraints": (KEY,),
        "columns": ({"column_name": "ID"}, {"column_name": "Line no"}, {"column_name": "IDNAME"}),
        "attributes": attributes,
        "name_in_use": (),
    }
    return assumed(release, **answers)


def statements(wanted: RedefinitionRequest, facts: Facts) -> dict[str, list[str]]:
    return {
        script.file: [render_call(DIALECT, call) for call in script.calls]
        for script in REDEFINITION.scripts(wanted, facts)
    }


def forms() -> Iterator[tuple[RedefinitionRequest, Facts]]:
    """Every form that the scripts have."""
    odd = QualifiedName("It's a 'table'", "Odd & schema")
    yield WANTED, known()
    yield replace(WANTED, by=RowIdentity.ROWID, compression="advanced", tablespace='"My space"'), known("11.2-ee")
    clause = check_partitioning("PARTITION BY RANGE (ID) (PARTITION p1 VALUES LESS THAN (MAXVALUE))", "oracle")
    yield replace(WANTED, table=odd, partitioning=clause), known(name=odd, policy_count=1, view_log_count=1)
    yield replace(WANTED, partitioning="", degree=1), known(partitioned="YES", tablespace_name=None)
    yield WANTED, REDEFINITION.assumed(WANTED, assumed())


# -- what the scripts say -------------------------------------------------------------------------------------
def test_the_chain_has_its_order_and_each_call_its_arguments() -> None:
    found = statements(WANTED, known())
    assert list(found) == FILES
    create, degree, columns, dml, query, start = found["2_start.sql"]
    assert create.splitlines()[0] == 'CREATE TABLE "DBATK"."GTEST_REDEF"' and 'TABLESPACE "USERS"' in create
    assert degree == 'ALTER TABLE "DBATK"."GTEST_REDEF" PARALLEL 8', "the table's own, not that of the copy"
    assert (dml, query) == (
        "ALTER SESSION FORCE PARALLEL DML PARALLEL 4",
        "ALTER SESSION FORCE PARALLEL QUERY PARALLEL 4",
    )
    assert "NULL)" in columns and "DEFAULT" in columns and "COMMENT ON COLUMN" in columns
    assert "options_flag => DBMS_REDEFINITION.CONS_USE_PK" in start and "copy_vpd_opt" not in start
    (dependents,) = found["3_dependents.sql"]
    assert "ignore_errors => TRUE" in dependents and "IF errors > 0 THEN" in dependents
    assert "copy_mvlog" not in dependents
    sync, gather, compare = found["4_sync.sql"]
    assert "SYNC_INTERIM_TABLE" in sync and "degree => 4" in gather
    assert re.search(r'AND i\."ID" = t\."ID"\s+AND i\."Line no" = t\."Line no"', compare)
    (finish,) = found["5_finish.sql"]
    assert "dml_lock_timeout => 60" in finish and finish.index("IF missing > 0") < finish.index(
        "FINISH_REDEF_TABLE"
    )
    assert 'ALTER TABLE "DBATK"."GTEST" NOLOGGING' in found["6_compare.sql"]
    assert 'ALTER TABLE "DBATK"."GTEST" ENABLE ROW MOVEMENT' in found["6_compare.sql"]


def test_an_old_release_has_no_limit_of_the_wait_and_rowids_serve_where_there_is_no_key() -> None:
    wanted = replace(WANTED, by=RowIdentity.ROWID, interim='"My interim"')
    found = statements(wanted, known("11.2-ee"))
    assert "dml_lock_timeout" not in found["5_finish.sql"][0]
    assert "CONS_USE_ROWID" in found["1_check.sql"][0] and "only_in_table" not in found["4_sync.sql"][-1]
    assert "int_table => '\"My interim\"'" in found["4_sync.sql"][0]
    head = next(
        script.head for script in REDEFINITION.scripts(wanted, known("11.2-ee")) if script.file == "5_finish.sql"
    )
    assert "without a limit" in " ".join(head)
    assert any("M_ROW$$" in step for step in REDEFINITION.steps(wanted, known("11.2-ee")))
    assert not any("M_ROW$$" in step for step in REDEFINITION.steps(WANTED, known()))


def test_policies_and_view_logs_are_taken_along_and_told() -> None:
    facts = known(
        policy_count=1, view_log_count=1, trigger_count=2, referring_count=3, log_group_count=1, lob_count=1
    )
    found = statements(WANTED, facts)
    assert "copy_vpd_opt => DBMS_REDEFINITION.CONS_VPD_AUTO" in found["2_start.sql"][-1]
    assert "copy_mvlog => TRUE" in found["3_dependents.sql"][0]
    told = " ".join(REDEFINITION.remarks(WANTED, facts))
    for words in (
        "complete refresh",
        "3 foreign keys",
        "2 triggers",
        "1 supplemental log group",
        "LOBs",
        "never run",
    ):
        assert words in told


def test_the_interim_table_is_dropped_only_by_a_script_that_saw_what_it_is() -> None:
    (abort,) = statements(WANTED, known())["abort.sql"]
    last = abort.index("DROP TABLE")
    for guard in (
        "o.object_id = 70001",
        "dba_redefinition_objects",
        "WHERE ROWNUM = 1",
        "IF same = 0",
        "filled > 0",
    ):
        assert abort.index(guard) < last
    others = {name: texts for name, texts in statements(WANTED, known()).items() if name != "abort.sql"}
    assert not re.search(r"\b(DROP|TRUNCATE|DELETE)\b", json.dumps(others)), "no other script takes anything away"


def test_a_long_name_leaves_room_for_the_ending() -> None:
    for release, most in (("11.2-ee", 30), ("19-ee", 128)):
        table = QualifiedName("É" * (most // 2), "DBATK")
        found = statements(replace(WANTED, table=table), known(release, table))
        name = re.match(r'CREATE TABLE "DBATK"\."([^"]+)"', found["2_start.sql"][0])
        assert name and name[1].endswith("_REDEF") and most - 1 <= len(name[1].encode()) <= most


_NAMES = st.text(st.characters(codec="utf-8", exclude_characters='"\0'), min_size=1, max_size=20)


def _shape(text: str) -> list[tuple[TokenKind, str]]:
    found = [token for token in tokens(text, ORACLE) if token.kind is not TokenKind.COMMENT]
    return [(each.kind, "" if each.kind in (TokenKind.STRING, TokenKind.NAME) else each.text) for each in found]


@settings(max_examples=60)
@given(schema=_NAMES, name=_NAMES, interim=_NAMES, space=_NAMES)
def test_no_name_leaves_its_quotes(schema: str, name: str, interim: str, space: str) -> None:
    odd, plain = QualifiedName(name, schema), QualifiedName("T", "S")
    facts = known(name=odd, tablespace_name=space)
    try:
        found = statements(replace(WANTED, table=odd, interim=f'"{interim}"'), facts)
    except ToolkitError:
        return
    base = statements(replace(WANTED, table=plain, interim='"I"'), known(name=plain, tablespace_name="P"))
    for file, texts in base.items():
        assert [_shape(text) for text in found[file]] == [_shape(text) for text in texts]


# -- the user's clause ------------------------------------------------------------------------------------------
@for_each(
    ("clause", "words"),
    [
        ("HASH (ID)", "does not begin with PARTITION BY"),
        ("PARTITION BY HASH (ID); DROP TABLE x", "semicolon"),
        ("PARTITION BY HASH (ID) AS SELECT * FROM x", "begins a query"),
        ("PARTITION BY LIST (a) (PARTITION p VALUES ((SELECT 1 FROM dual)))", "begins a query"),
        ("PARTITION BY HASH (ID) -- all", "comment"),
        ("PARTITION BY HASH (ID", "parenthesis"),
        ("PARTITION BY HASH (ID))", "parenthesis"),
        ("PARTITION BY LIST (a) (PARTITION p VALUES ('x))", "unclosed quote"),
        ("PARTITION BY LIST (a) (PARTITION p VALUES ('x\ny'))", "line end inside quotes"),
        ("PARTITION BY HASH (&1)", "SQL*Plus"),
        ("", "is empty"),
    ],
)
def test_a_clause_that_is_more_than_one_is_refused(clause: str, words: str) -> None:
    with pytest.raises(ToolkitError, match=re.escape(words)) as caught:
        check_partitioning(clause, "oracle")
    assert caught.value.code == "TK-0105"


def test_a_clause_of_several_lines_becomes_one() -> None:
    clause = "PARTITION BY RANGE (d)\n(PARTITION \"p;1\" VALUES LESS THAN (DATE '2026-01-01'))\n"
    assert check_partitioning(clause, "oracle") == clause.strip().replace("\n", " ")


# -- what is refused --------------------------------------------------------------------------------------------
@for_each(
    ("changed", "words"),
    [
        ({"long_count": 1}, "LONG"),
        ({"iot_type": "IOT"}, "index-organized"),
        ({"cluster_name": "C"}, "cluster"),
        ({"temporary": "Y"}, "temporary"),
        ({"nested": "YES"}, "nested table"),
        ({"external_count": 1}, "external"),
        ({"object_count": 1}, "object types"),
        ({"domain_index_count": 1}, "domain index"),
        ({"join_index_count": 1}, "bitmap join"),
        ({"container_count": 1}, "materialized view"),
        ({"virtual_count": 1}, "virtual columns"),
        ({"encrypted_count": 1}, "encrypted"),
    ],
)
def test_what_the_interim_table_would_lose_is_refused(changed: dict[str, Scalar], words: str) -> None:
    with pytest.raises(ToolkitError, match=words) as caught:
        REDEFINITION.check(WANTED, known("19-ee", TABLE, **changed))
    assert caught.value.code == "TK-0305"


def test_columns_that_the_server_fills_policies_of_old_and_schemas_of_the_server_are_refused() -> None:
    facts = known()
    made: Row = {"column_name": "N", "of_kind": "identity"}
    with pytest.raises(ToolkitError, match='its column "N" is of the kind identity'):
        REDEFINITION.check(WANTED, replace(facts, answers={**facts.answers, "redefinition_columns": (made,)}))
    with pytest.raises(ToolkitError, match=r"from 12\.1"):
        REDEFINITION.check(WANTED, known("11.2-ee", policy_count=1))
    REDEFINITION.check(WANTED, known(policy_count=1))
    with pytest.raises(ToolkitError, match="nothing of SYS can be"):
        REDEFINITION.check(replace(WANTED, table=QualifiedName("T", "SYS")), facts)


def test_partitions_are_not_lost_unsaid_and_names_not_taken_twice() -> None:
    with pytest.raises(ToolkitError, match="is partitioned") as caught:
        REDEFINITION.check(WANTED, known(partitioned="YES"))
    assert caught.value.hint and "--partition-by none" in caught.value.hint
    REDEFINITION.check(replace(WANTED, partitioning=""), known(partitioned="YES"))
    facts = known()
    taken: Row = {"object_name": "GTEST_REDEF"}
    with pytest.raises(ToolkitError, match="is taken"):
        REDEFINITION.check(WANTED, replace(facts, answers={**facts.answers, "name_in_use": (taken,)}))
    with pytest.raises(ToolkitError, match="no primary key"):
        keyless = replace(facts, answers={**facts.answers, "constraints": ()})
        REDEFINITION.check(replace(WANTED, by=RowIdentity.KEY), keyless)
    with pytest.raises(ToolkitError, match="another schema"):
        REDEFINITION.check(replace(WANTED, interim="APP.X"), known())


# -- on the stand-in, and on the command line -------------------------------------------------------------------
def prepared(standin: Standin, wanted: RedefinitionRequest = WANTED) -> RedefinitionScripts:
    return prepare_redefinition(target(standin), TargetPolicy(), wanted)


def test_it_only_reads_and_each_script_ends_at_the_first_error() -> None:
    with running_standin(Scenario()) as standin:
        found = prepared(standin, replace(WANTED, table=QualifiedName("GTEST")))
        assert all(text.lstrip().upper().startswith("SELECT") for text in standin.statements)
    assert list(found.texts) == FILES
    for text in found.texts.values():
        assert text.startswith("-- ") and "\n-- locks: " in text and text.endswith("\nEXIT\n")
        assert "WHENEVER SQLERROR EXIT FAILURE ROLLBACK" in text and "DEFINE OFF" in text
        assert "if it fails" in text or "ORA-00942" in text or "only in it were deleted" in text
    assert any("Enterprise Edition" in each for each in found.licences)
    assert not any("not checked" in each for each in found.licences)


def test_standard_edition_and_what_nobody_declared_are_refused() -> None:
    with running_standin(Scenario(edition="se2")) as standin, pytest.raises(ToolkitError) as caught:
        prepared(standin)
    assert caught.value.code == "TK-0303" and "Enterprise Edition" in str(caught.value)
    clause = "PARTITION BY HASH (ID) PARTITIONS 8"
    with running_standin(Scenario()) as standin, pytest.raises(ToolkitError, match="Partitioning"):
        prepared(standin, replace(WANTED, partitioning=clause))
    with running_standin(Scenario()) as standin, pytest.raises(ToolkitError, match="Advanced Compression"):
        prepared(standin, replace(WANTED, compression="advanced"))


@pytest.mark.parametrize(("disks", "warned"), [("plain", True), ("exadata", False)])
def test_hybrid_columnar_compression_on_other_disks_is_warned_of(disks: str, warned: bool) -> None:
    with running_standin(Scenario(disks=disks)) as standin:
        found = prepared(standin, replace(WANTED, compression="query_low"))
    assert any("no tablespace is on Exadata" in each for each in found.sentences) == warned


def test_the_command_writes_files_for_their_owner_alone_without_a_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with running_standin(Scenario()) as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
        line = ["table", "redefine", "-t", standin.url, "--table", "GTEST", "--compression", "basic"]
        assert main([*line, "--out", str(tmp_path / "scripts"), "--lock-wait", "5m"]) == 0
        said = capfd.readouterr()
        assert main([*line, "--json"]) == 0
        document = json.loads(capfd.readouterr().out)
    paths = sorted((tmp_path / "scripts").iterdir())
    assert [path.name for path in paths] == FILES and {stat.S_IMODE(path.stat().st_mode) for path in paths} == {
        0o600
    }
    texts = {path.name: path.read_text() for path in paths}
    assert (
        "dml_lock_timeout => 300" in texts["5_finish.sql"] and "ROW STORE COMPRESS BASIC" in texts["2_start.sql"]
    )
    assert standin.password not in "".join(texts.values())
    assert "@abort.sql undoes it all" in said.out and "never run on a real server" in said.err + said.out
    assert list(document["scripts"]) == FILES and document["steps"] and document["warnings"]


@pytest.mark.parametrize(
    ("more", "status", "words"),
    [
        ([], 2, "needs `--table`"),
        (["--table", "GTEST", "--compression", "much"], 2, "`--compression` cannot be `much`"),
        (["--table", "GTEST", "--by", "name"], 2, "`--by` cannot be `name`"),
        (["--table", "GTEST", "--degree", "0"], 2, "`--degree` cannot be 0"),
        (["--table", "NOBODY"], 2, "there is no table"),
        (["--table", "GTEST", "--partition-by", "HASH"], 2, "does not begin with PARTITION BY"),
        (["--table", "GTEST", "--lock-wait", "20d"], 2, "--lock-wait"),
        (["--table", "GTEST", "--assume", "19-ee"], 2, "`--assume` is only valid with `--dry-run`"),
        (["--table", "GTEST", "--assume", "19-ee", "--dry-run"], 2, "nobody knows the schema"),
        (["--table", "S.T", "--assume", "19-xx", "--dry-run"], 2, "19-xx"),
        (["--table", "GTEST", "--dry-run", "--out", "nowhere"], 2, "`--dry-run` writes none"),
    ],
)
def test_what_is_wrong_on_the_command_line_gets_a_sentence(
    more: list[str], status: int, words: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with running_standin(Scenario()) as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        assert main(["table", "redefine", "-t", standin.url, *more]) == status
    assert words in capfd.readouterr().err


def test_scripts_are_shown_without_a_connection_and_refuse_to_run(capfd: pytest.CaptureFixture[str]) -> None:
    line = ["table", "redefine", "--assume", "19-ee", "--dry-run", "--table", "SHOP.ORDERS", "--degree", "4"]
    assert main([*line, "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert list(document["scripts"]) == FILES
    scripts = document["scripts"]
    assert all("o.object_id = 0" in scripts[name] for name in ("1_check.sql", "5_finish.sql", "abort.sql"))
    assert 's."<each other column>"' in scripts["2_start.sql"], "no interim table is ever made"
    assert any("without --assume" in each for each in document["warnings"])
    assert main([*line, "--by", "rowid", "-t", "duckdb:///none.duckdb"]) in (2, 5)
    assert main([*line[:3], "19-se2", *line[4:]]) == 5
    assert "Enterprise Edition" in capfd.readouterr().err
    assert main([*line, "--partition-by", "PARTITION BY HASH (ID) PARTITIONS 8"]) == 5


def test_another_engine_says_what_it_has_instead(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    url = f"duckdb:///{tmp_path / 'a.duckdb'}"
    assert main(["table", "redefine", "-t", url, "--table", "t", "--partition-by", "x"]) == 5
    assert "dbatk table move" in capfd.readouterr().err


@pytest.mark.full
def test_every_statement_stands_before_two_grammars() -> None:
    found = {
        text: f"{file} of {number}"
        for number, (wanted, facts) in enumerate(forms())
        for file, texts in statements(wanted, facts).items()
        for text in texts
    }
    assert len(found) > 25 and judge(found) == {}
