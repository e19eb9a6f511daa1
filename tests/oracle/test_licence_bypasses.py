"""What reads by a text that nobody sees: stored URIs, paths and style sheets of XML, jobs, and triggers."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import connect, target
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.standin.scenario import ViewRow
from tests.oracle.test_licence_runs import Site
from toolkit.app.runs.licensing import check_query
from toolkit.dialects.oracle.licences import look
from toolkit.errors import ToolkitError

HIDDEN = (
    "SELECT t.c.getClob() FROM app.uris t",
    'SELECT t.c."GETCLOB"() FROM app.uris t',
    "SELECT a.b.c.d.getClob() FROM a",
    "SELECT t.c.getXML().getClobVal() FROM app.uris t",
    "SELECT dbms_xmlgen.getXML() FROM app.uris dbms_xmlgen",
    "SELECT t.c.getBlob(0) FROM app.uris t",
    "SELECT VALUE(t).getClob() FROM app.uris t",
    "BEGIN x := u.getContentType; END;",
    "SELECT XMLTRANSFORM(t.doc, t.style) FROM t",
    "SELECT XMLTRANSFORM(t.doc, XMLTYPE(t.style)) FROM t",
    "SELECT t.doc.transform(t.style) FROM t",
    "SELECT VALUE(t).transform(:style) FROM t",
    "SELECT EXTRACT(t.doc, t.path) FROM t",
    "SELECT EXTRACT(t.doc, '/a' || t.path) FROM t",
    "SELECT EXTRACTVALUE(t.doc, :path) FROM t",
    "SELECT t.doc.extract(t.path) FROM t",
    "SELECT EXISTSNODE(t.doc, f(1)) FROM t",
    "SELECT t.doc.existsNode(t.path) FROM t",
    "SELECT UPDATEXML(t.doc, t.path, 'x') FROM t",
    "BEGIN DBMS_SCHEDULER.CREATE_JOB(job_name => 'J', job_type => 'PLSQL_BLOCK', job_action => v); END;",
    "BEGIN DBMS_SCHEDULER.CREATE_JOB(job_name => 'J', job_type => 'EXECUTABLE', job_action => '/bin/x'); END;",
    "BEGIN DBMS_SCHEDULER.CREATE_JOB(job_name => 'J', job_type => 'SQL_SCRIPT', job_action => 'x'); END;",
    "BEGIN SYS.DBMS_SCHEDULER.CREATE_JOB(job_name => 'J', job_type => v, job_action => 'BEGIN p; END;'); END;",
    "BEGIN DBMS_SCHEDULER.CREATE_JOB('J', 'MY_PROGRAM'); END;",
    "BEGIN DBMS_SCHEDULER.CREATE_JOB(job_name => 'J', program_name => 'P'); END;",
    "BEGIN DBMS_SCHEDULER.CREATE_JOB('J', 'STORED_PROCEDURE', 'P', program_name => 'P'); END;",
    "BEGIN DBMS_SCHEDULER.CREATE_PROGRAM('P', 'EXECUTABLE', '/bin/x'); END;",
    "BEGIN DBMS_SCHEDULER.ENABLE('J'); END;",
)


@for_each("text", HIDDEN)
def test_what_reads_by_a_text_that_is_not_known_is_unseen(text: str) -> None:
    assert look(text).unseen


@pytest.mark.parametrize(
    "text",
    [
        "BEGIN DBMS_SCHEDULER.CREATE_JOB('J', 'PLSQL_BLOCK', 'BEGIN f(dba_hist_sysstat); END;'); END;",
        "BEGIN DBMS_SCHEDULER.SET_ATTRIBUTE('J', 'job_action', 'SELECT 1 FROM v$active_session_history'); END;",
    ],
)
def test_the_action_of_a_job_is_looked_at_as_any_text_that_is_run(text: str) -> None:
    assert look(text).uses


# -- triggers ---------------------------------------------------------------------------------------------------
JOB = ("insert", "-t", "dwh", "--source", "APP.ORDERS", "--table", "GTEST", "--snapshot", "none")


def triggered(body: str | None, *reads: str) -> Scenario:
    """Return a database whose table GTEST has an enabled trigger; None is a text that is not shown."""
    row = {"OWNER": "DBATK", "TRIGGER_NAME": "TR", "TABLE_OWNER": "DBATK", "TABLE_NAME": "GTEST",
           "STATUS": "ENABLED", "TRIGGERING_EVENT": "INSERT"}  # fmt: skip
    source = {"OWNER": "DBATK", "NAME": "TR", "TYPE": "TRIGGER", "LINE": 1, "TEXT": body}
    depends: list[ViewRow] = [
        {"OWNER": "DBATK", "NAME": "TR", "TYPE": "TRIGGER", "REFERENCED_OWNER": "SYS", "REFERENCED_NAME": name,
         "REFERENCED_TYPE": "VIEW"}
        for name in reads
    ]  # fmt: skip
    kept = {"OWNER": "DBATK", "OBJECT_NAME": "TR", "OBJECT_TYPE": "TRIGGER", "SUBOBJECT_NAME": None}
    beside: dict[str, list[ViewRow]] = {
        "ALL_TRIGGERS": [row], "ALL_SOURCE": [source] if body else [], "ALL_DEPENDENCIES": depends,
        "ALL_OBJECTS": [kept],
    }  # fmt: skip
    return Scenario(beside=beside)


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("scenario", "says"),
    [
        (triggered("TRIGGER tr AFTER INSERT ON gtest BEGIN EXECUTE IMMEDIATE t; END;"), "EXECUTE IMMEDIATE runs"),
        (triggered("TRIGGER tr BEGIN INSERT INTO l SELECT * FROM dba_hist_sysstat; END;"), "Diagnostics Pack"),
        (triggered("TRIGGER tr BEGIN p; END;", "V_$ACTIVE_SESSION_HISTORY"), "Diagnostics Pack"),
        (triggered(None), "the text of `DBATK.GTEST > trigger DBATK.TR` cannot be read"),
    ],
    ids=["dynamic", "named", "reached", "not shown"],
)
def test_a_trigger_that_a_load_fires_is_looked_at(scenario: Scenario, says: str, tmp_path: Path) -> None:
    with running_standin(scenario) as standin:
        status, said = Site(standin, tmp_path)(*JOB)
        assert status == 5, said
        assert says in said
        assert not [text for text in standin.statements if "INSERT" in text]


@pytest.mark.parametrize("measured", [False, True])
def test_a_plain_trigger_passes_and_a_measurement_fires_none(measured: bool, tmp_path: Path) -> None:
    body = "TRIGGER tr BEFORE INSERT ON gtest FOR EACH ROW BEGIN :new.id := :new.id + 1; END;"
    with running_standin(triggered(None if measured else body)) as standin:
        status, said = Site(standin, tmp_path)(*JOB, *(("--repeat", "2") if measured else ()), "--dry-run")
    assert status == 0, said
    assert "licence not checked" not in said


def keyed(
    rule: str = "CASCADE", body: str = "TRIGGER tr BEGIN INSERT INTO l SELECT 1 FROM dba_hist_sysstat; END;"
) -> Scenario:
    """Return a database where rows of LINES go with those of GTEST, and their trigger belongs to a pack."""
    made = triggered(body)
    row = {**made.beside["ALL_TRIGGERS"][0], "TABLE_NAME": "LINES", "TRIGGERING_EVENT": "DELETE"}
    child = {"OWNER": "DBATK", "OBJECT_NAME": "LINES", "OBJECT_TYPE": "TABLE", "SUBOBJECT_NAME": None}
    keys = [
        {"OWNER": "DBATK", "CONSTRAINT_NAME": "PK", "CONSTRAINT_TYPE": "P", "TABLE_NAME": "GTEST",
         "STATUS": "ENABLED"},
        {"OWNER": "DBATK", "CONSTRAINT_NAME": "FK", "CONSTRAINT_TYPE": "R", "TABLE_NAME": "LINES",
         "R_OWNER": "DBATK", "R_CONSTRAINT_NAME": "PK", "DELETE_RULE": rule, "STATUS": "ENABLED"},
    ]  # fmt: skip
    objects = [*made.beside["ALL_OBJECTS"], child]
    return replace(
        made, beside={**made.beside, "ALL_TRIGGERS": [row], "ALL_OBJECTS": objects, "ALL_CONSTRAINTS": keys}
    )


def refused(scenario: Scenario, text: str) -> str:
    """Return why a text is refused in a database; empty when it is not."""
    with running_standin(scenario) as standin, closing(connect(standin)) as session:
        try:
            check_query(text, target(standin), session)
        except ToolkitError as error:
            return error.message
    return ""


@pytest.mark.parametrize("rule", ["CASCADE", "SET NULL", "NO ACTION"])
def test_rows_that_go_with_deleted_ones_fire_triggers_too(rule: str) -> None:
    told = refused(keyed(rule), "DELETE FROM gtest WHERE id < 0")
    assert ("DBATK.GTEST > rows of DBATK.LINES > trigger DBATK.TR" in told) is (rule != "NO ACTION"), told
    assert ("DBA_HIST_SYSSTAT" in told) is (rule != "NO ACTION")


def test_a_key_matters_to_who_deletes_only_and_a_circle_of_keys_ends() -> None:
    assert not refused(keyed(), "INSERT INTO gtest SELECT * FROM gtest")
    made = keyed()
    pk, fk = made.beside["ALL_CONSTRAINTS"]
    back = {**fk, "CONSTRAINT_NAME": "FK2", "TABLE_NAME": "GTEST", "R_CONSTRAINT_NAME": "PK2"}
    keys = [pk, fk, back, {**pk, "CONSTRAINT_NAME": "PK2", "TABLE_NAME": "LINES"}]
    told = refused(replace(made, beside={**made.beside, "ALL_CONSTRAINTS": keys}), "DELETE FROM gtest")
    assert "trigger DBATK.TR" in told


def test_what_a_trigger_writes_fires_triggers_too() -> None:
    """The trigger of GTEST fills LINES, whose trigger belongs to a pack; so does one that deletes, by a key."""
    made = keyed("NO ACTION")
    first = {**made.beside["ALL_TRIGGERS"][0], "TRIGGER_NAME": "T1", "TABLE_NAME": "GTEST"}
    source = {
        **made.beside["ALL_SOURCE"][0],
        "NAME": "T1",
        "TEXT": "TRIGGER t1 BEGIN INSERT INTO lines VALUES (1); END;",
    }
    beside = {**made.beside, "ALL_TRIGGERS": [*made.beside["ALL_TRIGGERS"], first],
              "ALL_SOURCE": [*made.beside["ALL_SOURCE"], source]}  # fmt: skip
    told = refused(replace(made, beside=beside), "INSERT INTO gtest SELECT * FROM gtest")
    assert "DBATK.LINES > trigger DBATK.TR" in told and "DBA_HIST_SYSSTAT" in told, told


CTAS = ("ctas", "-t", "dwh", "--source", "GTEST", "--table", "COPY", "--snapshot", "none")


def on_ddl(body: str | None, kind: str = "SCHEMA", event: str = "DDL ", owner: str = "DBATK") -> Scenario:
    """Return a database with a system trigger of somebody's."""
    made = triggered(body)
    row = {**made.beside["ALL_TRIGGERS"][0], "OWNER": owner, "TABLE_NAME": None, "BASE_OBJECT_TYPE": kind,
           "TABLE_OWNER": owner if kind == "SCHEMA" else "SYS", "TRIGGERING_EVENT": event}  # fmt: skip
    sources = [{**each, "OWNER": owner} for each in made.beside["ALL_SOURCE"]]
    return replace(made, beside={**made.beside, "ALL_TRIGGERS": [row], "ALL_SOURCE": sources})


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("scenario", "says"),
    [
        (on_ddl("TRIGGER tr AFTER DDL ON SCHEMA BEGIN EXECUTE IMMEDIATE t; END;"), "EXECUTE IMMEDIATE runs"),
        (on_ddl("TRIGGER tr BEGIN INSERT INTO l SELECT 1 FROM dba_hist_sysstat; END;", "DATABASE        ",
                "CREATE OR ALTER ", "SECURITY_ADMIN"), "Diagnostics Pack"),
        (on_ddl(None, "DATABASE        "), "the text of `DDL > trigger DBATK.TR` cannot be read"),
    ],
    ids=["schema", "database", "not shown"],
)  # fmt: skip
def test_a_trigger_that_our_ddl_fires_is_looked_at(scenario: Scenario, says: str, tmp_path: Path) -> None:
    with running_standin(scenario) as standin:
        site = Site(standin, tmp_path)
        for work in (CTAS, ("index", "rebuild", "-t", "dwh", "--schema", "DBATK", "--snapshot", "none")):
            status, said = site(*work)
            assert status == 5 and says in said, said
        assert not [text for text in standin.statements if text.startswith(("CREATE", "ALTER INDEX"))]
        status, said = site(*JOB, "--dry-run")
        assert status == 0 and "tr" not in said.split() and "licence not checked" not in said, said


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    "scenario",
    [
        on_ddl(None, event="LOGON "),
        on_ddl(None, "DATABASE        ", "DROP OR TRUNCATE ", "XDB"),
        on_ddl(None, owner="APP"),
        on_ddl("TRIGGER tr AFTER DDL ON SCHEMA BEGIN NULL; END;"),
    ],
    ids=["logon", "Oracle's own", "of another schema", "harmless"],
)
def test_other_system_triggers_refuse_nothing(scenario: Scenario, tmp_path: Path) -> None:
    with running_standin(scenario) as standin:
        status, said = Site(standin, tmp_path)(*CTAS, "--dry-run")
    assert status == 0 and "licence not checked" not in said, said
    assert "triggers on DDL of the database, if there are any, are not shown to this user" in said


def test_triggers_that_this_user_is_not_shown_are_on_the_bill(tmp_path: Path) -> None:
    job = ("insert", "-t", "dwh", "--source", "GTEST", "--table", "APP.ORDERS", "--snapshot", "none", "--dry-run")
    with running_standin() as standin:
        status, said = Site(standin, tmp_path)(*job)
        assert status == 0, said
        assert "triggers of `APP.ORDERS`, if there are any, are not shown to this user" in said
    seeing = replace(Scenario(), privileges=(*Scenario().privileges, "CREATE ANY TRIGGER"))
    with running_standin(seeing) as standin:
        assert "if there are any" not in Site(standin, tmp_path)(*job)[1]


@for_each(
    ("text", "written"),
    [
        ("INSERT INTO app.t SELECT * FROM u", ("APP", "T")), ("UPDATE t SET a = 1", ("T",)),
        ("DELETE FROM t", ("T",)), ("DELETE app.t x", ("APP", "T")),
        ("MERGE INTO t USING u ON (1 = 1) WHEN MATCHED THEN DELETE WHERE 1 = 1", ("T",)),
        ("BEGIN INSERT /*+ APPEND */ INTO \"t\" VALUES (1); END;", ("t",)),
        ("BEGIN EXECUTE IMMEDIATE 'DELETE FROM t'; END;", ("T",)),
    ],
)  # fmt: skip
def test_what_is_written_is_told_from_what_is_read(text: str, written: tuple[str, ...]) -> None:
    assert look(text).written == (written,)


@for_each(("text", "deletes"), [
    ("DELETE FROM t", True), ("MERGE INTO t USING u ON (1 = 1) WHEN MATCHED THEN DELETE WHERE 1 = 1", True),
    ("BEGIN EXECUTE IMMEDIATE 'DELETE FROM t'; END;", True), ("INSERT INTO t SELECT 'DELETE' FROM u", False),
])  # fmt: skip
def test_a_text_that_may_delete_rows_is_told_from_one_that_does_not(text: str, deletes: bool) -> None:
    assert look(text).deletes is deletes


def test_a_query_writes_nothing() -> None:
    assert look("SELECT a FROM t, (SELECT b FROM u) WHERE t.a = u.b FOR UPDATE OF t.a").written == ()
