"""All that the firewall says of a text, in one comparison: uses, notes, what is unseen, every name, what is written."""
# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

from typing import cast

import pytest

from tests.for_each import for_each
from tests.oracle.test_licence_triggers import _Catalogue, trigger
from toolkit.dialects.oracle.licences import LicenceFindings, Use, as_of, look, look_script
from toolkit.dialects.oracle.licences.context import LicenceContext, refusals
from toolkit.dialects.oracle.licences.dictionary import canonical, is_known_free, kin, looks_like_oracles
from toolkit.dialects.oracle.licences.lists import licences, programs, spellings
from toolkit.dialects.oracle.licences.look import uses_of
from toolkit.dialects.oracle.licences.resolution import findings, follow, own_names
from toolkit.model.values import Row

LISTS = {
    "D": "diagnostics_pack",
    "T": "tuning_pack",
    "E": "enterprise_edition",
    "C": "advanced_compression",
    "S": "advanced_security",
}
BUILT = "EXECUTE IMMEDIATE runs text built at run time"
CURSOR = "a cursor is opened for text built at run time"
OPEN = "a quote or a comment is not closed: the rest was searched word by word"
MACRO = "a SQL macro returns a text that is built at run time"
JOB = "a job runs a program, or what is in no PL/SQL, which cannot be read here"
ADVISORS = "rows of ADDM belong to the Diagnostics Pack, those of SQL tuning to the Tuning Pack: which come back is unknown"


def told(
    names: str = "", uses: str = "", unseen: tuple[str, ...] = (), notes: tuple[str, ...] = (), written: str = "",
    *, packs: bool = False, deletes: bool = False,
) -> LicenceFindings:  # fmt: skip
    """Return findings: names and what is written with blanks between, uses as `D DBA_HIST_X; T hint MONITOR`."""
    pairs = [one.split(" ", 1) for one in uses.split("; ") if one]
    return LicenceFindings(
        tuple(Use(LISTS[key], thing) for key, thing in pairs), notes, unseen,
        tuple(tuple(name.split(".")) for name in names.split()), packs,
        tuple(tuple(name.split(".")) for name in written.split()), deletes,
    )  # fmt: skip


TEXTS: dict[str, LicenceFindings] = {
    # names and their paths
    "SELECT a.b.c.d.e FROM t": told("A.B.C.D E T"), "SELECT getclob FROM t": told("GETCLOB T"),
    "SELECT getclob(1), 'getclob' FROM t": told("GETCLOB T"),
    'SELECT "a".b, c . d FROM s.t@far x': told("a.B C.D S.T FAR X", unseen=("`S.T@FAR` is in another database",)),
    "SELECT x@far, 1 @ y FROM t": told("X FAR Y T", unseen=("`X@FAR` is in another database",)),
    "SELECT a FROM t@": told("A T", unseen=("`T@` is in another database",)),
    "SELECT ai FROM t": told("AI T"),
    # what is written
    "INSERT INTO app.t (a) SELECT b FROM u": told("APP.T A B U", written="APP.T"),
    "DELETE FROM a.b.c": told("A.B.C", written="A.B.C", deletes=True), "SELECT a FROM t FOR UPDATE": told("A T"),
    "MERGE INTO t USING u ON (a = b)": told("MERGE T USING U A B", written="T"),
    "BEGIN DELETE t; UPDATE u SET x = 1; END;": told("BEGIN T U X END", written="T U", deletes=True),
    'FROM t SELECT "DELETE" FROM u': told("T DELETE U"),
    # comments, hints, events
    "SELECT /*+ MONITOR FULL(t) */ a FROM t": told("A T", "T hint MONITOR"), "SELECT --+ monitor\n a FROM t": told("A T", "T hint MONITOR"),
    "SELECT /*+ FULL(monitor) */ a FROM t": told("A T"), "SELECT /* + MONITOR */ a FROM t": told("A T"),
    "SELECT /*+MONITOR*/ a FROM t": told("A T", "T hint MONITOR"),
    "ALTER SESSION SET EVENTS 'sql_monitor wait=true'": told("SESSION EVENTS", "T event sql_monitor"),
    "ALTER SESSION SET EVENTS '10046 trace'": told("SESSION EVENTS"), "SELECT 1 FROM t WHERE a = 'sql_monitor'": told("T A"),
    "ALTER SESSION SET EVENTS = sql_monitor": told("SESSION EVENTS SQL_MONITOR"),
    # the lists
    "SELECT * FROM gv$sql_monitor, dba_hist_sysstat": told("GV$SQL_MONITOR DBA_HIST_SYSSTAT", "T GV$SQL_MONITOR; D DBA_HIST_SYSSTAT"),
    "SELECT * FROM dba_hist_snapshot": told("DBA_HIST_SNAPSHOT"),
    "SELECT * FROM dba_advisor_tasks": told("DBA_ADVISOR_TASKS", unseen=(f"DBA_ADVISOR_TASKS: {ADVISORS}",)),
    "SELECT * FROM dba_advisor_log WHERE a = 'SQL Access Advisor'": told("DBA_ADVISOR_LOG A", "T DBA_ADVISOR_LOG", (f"DBA_ADVISOR_LOG: {ADVISORS}",)),
    "SELECT * FROM v$new_thing": told("V$NEW_THING", unseen=(f"`V$NEW_THING` looks like an object of Oracle's, and the lists of {as_of()} do not have it",)),
    "BEGIN dbms_redact.add_policy(1); END;": told("BEGIN DBMS_REDACT.ADD_POLICY END", "S DBMS_REDACT"),
    "SELECT * FROM v$sysmetric": told("V$SYSMETRIC", notes=(f"V$SYSMETRIC: {licences()['diagnostics_pack'].when[-1].note}",)),
    "BEGIN dbms_xplan.display_awr('x'); END;": told("BEGIN DBMS_XPLAN.DISPLAY_AWR END X", "D DISPLAY_AWR"),
    # what is not closed
    "SELECT 'abc": told(unseen=(OPEN,)), "SELECT 1 /* v$sql_monitor": told("", "T V$SQL_MONITOR", (OPEN,)),
    'SELECT "dba_hist_x': told("", "D DBA_HIST_X", (OPEN,)),
    "SELECT 'control%5Fmanagement_pack_access": told(unseen=(OPEN,), packs=True),
    # clauses
    "CREATE TABLE t COMPRESS FOR OLTP AS SELECT 1 x FROM dual": told("T COMPRESS OLTP X DUAL", "C COMPRESS FOR OLTP; E table compression"),
    "ALTER INDEX i REBUILD PARTITION p1": told("I REBUILD PARTITION P1", notes=("existing partitions are worked on, not made (Oracle Partitioning)",)),
    'CREATE INDEX i ON t (a) TABLESPACE "LOCAL"': told("I T A TABLESPACE LOCAL"), 'CREATE INDEX "ONLINE" ON t (a)': told("ONLINE T A"),
    'CREATE TABLE t (a NUMBER) TABLESPACE "INMEMORY"': told("T A TABLESPACE INMEMORY"),
    "ALTER SYSTEM SET control_management_pack_access = 'NONE'": told("SYSTEM CONTROL_MANAGEMENT_PACK_ACCESS", packs=True),
    "SELECT control_management_pack_access FROM t": told("CONTROL_MANAGEMENT_PACK_ACCESS T"),
    # programs and macros
    "CREATE FUNCTION f RETURN NUMBER IS BEGIN RETURN 1; END;": told("FUNCTION F RETURN BEGIN END"),
    "CREATE FUNCTION f RETURN CLOB SQL_MACRO(SCALAR) IS BEGIN RETURN 'x'; END;": told("FUNCTION F RETURN CLOB SQL_MACRO SCALAR BEGIN END X"),
    "CREATE FUNCTION f RETURN CLOB SQL_MACRO IS BEGIN RETURN x; RETURN 'y'; END;": told("FUNCTION F RETURN CLOB SQL_MACRO BEGIN X END Y", unseen=(MACRO,)),
    "CREATE FUNCTION f RETURN CLOB SQL_MACRO IS BEGIN RETURN": told("FUNCTION F RETURN CLOB SQL_MACRO BEGIN", unseen=(MACRO,)),
    "CREATE OR REPLACE PACKAGE BODY app.p WRAPPED a000": told("REPLACE PACKAGE BODY APP.P WRAPPED A000", unseen=("the wrapped text of `APP.P` cannot be read",)),
    "CREATE TABLE t AS SELECT 1 a, 2 b, 3 c, 4 d, 5 wrapped FROM u": told("T A B C D WRAPPED U"), "SELECT wrapped FROM t": told("WRAPPED T"),
    "SELECT 1 FROM \"oradb:/SYS/DBA_HIST_SYSSTAT\"": told("oradb:/SYS/DBA_HIST_SYSSTAT", "D DBA_HIST_SYSSTAT"),
    "BEGIN dbms_job.run(1); END;": told("BEGIN DBMS_JOB.RUN END", unseen=("a job that exists is run, and what it does cannot be seen from here",)),
    "SELECT q.b.getxml(), dbms_xmlgen.getxml('x') FROM q": told("Q.B.GETXML DBMS_XMLGEN.GETXML Q X", unseen=("the method GETXML may read what a URI names",)),
    # texts that are run
    "BEGIN EXECUTE IMMEDIATE 'dba_' || ('hist_' || 'sysstat'); END;": told("BEGIN EXECUTE IMMEDIATE END DBA_HIST_SYSSTAT", "D DBA_HIST_SYSSTAT"),
    "BEGIN EXECUTE IMMEDIATE 'drop table ' || t; OPEN c FOR x; END;": told("BEGIN EXECUTE IMMEDIATE T OPEN C X END", unseen=(BUILT, CURSOR)),
    "CALL p('a' || b || 'c', ('d'), x => 'e')": told("CALL P B X E D C A"),
    "SELECT f('a' = b), g(c IN ('v$sql_monitor', 'b')), 'x' LIKE f('d') FROM t": told("F B G C T D"),
    "SELECT NVL(my(1), 'v$sql_monitor') FROM t": told("NVL MY T"), "SELECT my('v$sql_monitor') FROM t": told("MY T V$SQL_MONITOR", "T V$SQL_MONITOR"),
    "BEGIN EXECUTE IMMEDIATE CASE WHEN a = 1 THEN 'v$sql_monitor' ELSE b END; END;": told("BEGIN EXECUTE IMMEDIATE CASE WHEN A B END V$SQL_MONITOR", "T V$SQL_MONITOR", (BUILT,)),
    "BEGIN OPEN c FOR SELECT 1 FROM dual; FOR i IN 1..2 LOOP NULL; END LOOP; END;": told("BEGIN OPEN C DUAL I LOOP END"),
    "BEGIN OPEN c FOR ((WITH a AS (SELECT 1 x FROM dual) SELECT * FROM a)); END;": told("BEGIN OPEN C A X DUAL END"),
    "BEGIN OPEN c; FOR r IN x LOOP NULL; END LOOP; END;": told("BEGIN OPEN C R X LOOP END"),
    "BEGIN EXECUTE IMMEDIATE 'x' USING a; END;": told("BEGIN EXECUTE IMMEDIATE USING A END X"),
    "BEGIN EXECUTE IMMEDIATE 'x' || 'y' || :1; END;": told("BEGIN EXECUTE IMMEDIATE END XY", unseen=(BUILT,)),
    "BEGIN EXECUTE IMMEDIATE UPPER('sel' || x); END;": told("BEGIN EXECUTE IMMEDIATE UPPER X END SEL", unseen=(BUILT,)),
    "BEGIN p(:1, a.b, c@d, 'x'); END;": told("BEGIN P A.B C D END X", unseen=("`C@D` is in another database",)),
    "BEGIN IF 'v$sql_monitor' = x OR x LIKE 'dba_hist_x' THEN NULL; END IF; END;": told("BEGIN IF X END"),
    "CALL p((('v$sql_') || 'monitor'))": told("CALL P V$SQL_MONITOR", "T V$SQL_MONITOR"),
    "CALL p(UPPER('v$sql_') || LOWER('MONITOR'), '1 2 3')": told("CALL P UPPER LOWER V$SQL_MONITOR", "T V$SQL_MONITOR"),
    "SELECT p.upper('v$sql_monitor') FROM t": told("P.UPPER T V$SQL_MONITOR", "T V$SQL_MONITOR"),
    # Oracle's own programs, by the argument that they run
    "BEGIN dbms_sql.parse(c, 'a' || b, 1); END;": told("BEGIN DBMS_SQL.PARSE C B END A", unseen=("DBMS_SQL.PARSE is given text built at run time",)),
    "BEGIN dbms_sql.parse(1, statement => x, language_flag => 1); END;": told("BEGIN DBMS_SQL.PARSE STATEMENT X LANGUAGE_FLAG END", unseen=("DBMS_SQL.PARSE is given text built at run time",)),
    "BEGIN dbms_sql.parse(c => x, statement => 'select 1 from t'); END;": told("BEGIN DBMS_SQL.PARSE C X STATEMENT END T"),
    "BEGIN dbms_sql.bind_variable(c, 'a', x); END;": told("BEGIN DBMS_SQL.BIND_VARIABLE C X END A"),
    "BEGIN dbms_lob.append(c, x); dbms_new.run(x); END;": told("BEGIN DBMS_LOB.APPEND C X DBMS_NEW.RUN END", unseen=("DBMS_NEW.RUN is given text built at run time", f"`DBMS_NEW` looks like an object of Oracle's, and the lists of {as_of()} do not have it")),
    "SELECT EXTRACT(YEAR FROM d), EXTRACT(d, '/a'), x.extract('/b') FROM t": told("EXTRACT YEAR D X.EXTRACT T B A"),
    "SELECT x.extract(p) FROM t": told("X.EXTRACT P T", unseen=("EXTRACT is given a text that may read tables or documents",)),
    "SELECT XMLTRANSFORM(a), t.x.transform('b', c) FROM t": told("XMLTRANSFORM A T.X.TRANSFORM C T B"),
    "SELECT EXTRACTVALUE(d, 'document(\"u\")') FROM t": told("EXTRACTVALUE D T DOCUMENT u", unseen=("EXTRACTVALUE reads tables or documents by a text",)),
    "SELECT XMLQUERY('for $x in docs return 1') FROM t": told("XMLQUERY T X DOCS RETURN"),
    "BEGIN dbms_scheduler.create_job('J', 'PLSQL_BLOCK', 'BEGIN NULL; END;'); END;": told("BEGIN DBMS_SCHEDULER.CREATE_JOB END PLSQL_BLOCK J"),
    "BEGIN dbms_scheduler.create_job(job_type => ' stored_procedure ', job_action => 'P'); END;": told("BEGIN DBMS_SCHEDULER.CREATE_JOB JOB_TYPE JOB_ACTION END P STORED_PROCEDURE"),
    "BEGIN dbms_scheduler.create_job('J', 'PLSQL_BLOCK', 'x', program_name => 'P'); END;": told("BEGIN DBMS_SCHEDULER.CREATE_JOB PROGRAM_NAME END P X PLSQL_BLOCK J", unseen=(JOB,)),
    "BEGIN dbms_scheduler.create_job(job_name => 'J'); other.create_job('K', 'EXECUTABLE'); END;": told("BEGIN DBMS_SCHEDULER.CREATE_JOB JOB_NAME OTHER.CREATE_JOB END EXECUTABLE K J", unseen=(JOB,)),
}  # fmt: skip


@for_each("text", TEXTS)
def test_all_that_a_text_says_is_found_and_nothing_else(text: str) -> None:
    assert look(text) == TEXTS[text]


SCRIPTS: dict[str, LicenceFindings] = {
    "@awrrpt\n@@x y\nSTART ?/rdbms/admin/addmrpt.sql\n": told("", "D @awrrpt.sql; D @addmrpt.sql", tuple(f"the script `{one}` was not read" for one in ("awrrpt", "x", "?/rdbms/admin/addmrpt.sql"))),
    "HOST ls -l\n!ls\nho ps\n$ rm x\n": told(unseen=tuple(f"the script runs a host command: `{one}`" for one in ("ls -l", "ls", "ps", "rm x"))),
    f"host {'x' * 61}": told(unseen=(f"the script runs a host command: `{'x' * 60}`",)),
    "EXEC p(1)\nEXECUTE dbms_workload_repository.create_snapshot\n": told("BEGIN P END DBMS_WORKLOAD_REPOSITORY.CREATE_SNAPSHOT", "D DBMS_WORKLOAD_REPOSITORY"),
    "SELECT &x FROM t\n/\n": told("X T", unseen=("the script asks for values (`&`) that become part of its statements",)),
    "@&x\n": told(unseen=("the script `&x` was not read",)),
    "REM dba_hist_x it's\nPROMPT hi\nselect 1 from t\n": told("T", "D DBA_HIST_X"), "TTITLE 'v$sql_monitor'\nselect 1 from t;": told("T", "T V$SQL_MONITOR"),
    "sta c:\\oracle\\rdbms\\admin\\ASHRPT.sql": told("", "D @ashrpt.sql", ("the script `c:\\oracle\\rdbms\\admin\\ASHRPT.sql` was not read",)),
    "select 1\nfrom dba_hist_sysstat\n / \nselect 2 from t": told("DBA_HIST_SYSSTAT T", "D DBA_HIST_SYSSTAT"),
    "startup\nstarter x\nremark\npromptly": told("STARTUP STARTER X PROMPTLY"),
}  # fmt: skip


@for_each("text", SCRIPTS)
def test_all_that_a_script_says_is_found_and_nothing_else(text: str) -> None:
    found, wanted = look_script(text), SCRIPTS[text]
    assert set(found.uses) == set(wanted.uses)
    assert found == LicenceFindings(found.uses, wanted.notes, wanted.unseen, wanted.names)


def _nested(depth: int) -> str:
    text = "select 1 from v$sql_monitor"
    for _ in range(depth):
        text = "BEGIN EXECUTE IMMEDIATE '" + text.replace("'", "''") + "'; END;"
    return text


def test_texts_in_texts_are_read_to_a_depth_and_then_word_by_word() -> None:
    deep = "strings within strings are nested too deeply to be read"
    assert look(_nested(7)) == told("BEGIN EXECUTE IMMEDIATE END V$SQL_MONITOR", "T V$SQL_MONITOR")
    assert (look(_nested(8)).unseen, look(_nested(8)).uses) == ((deep,), look(_nested(7)).uses)
    assert look(_nested(9)).unseen == (deep,)


def test_findings_are_put_together_each_once() -> None:
    one = told("A", "D X", ("u",), ("n",), "A", packs=True)
    assert one + one == one == told() + one == one + told()
    assert one + told("B", "T Y", ("v",), ("m",), "B", deletes=True) == told(
        "A B", "D X; T Y", ("u", "v"), ("n", "m"), "A B", packs=True, deletes=True
    )
    assert told("", "T Y").needs() == {"tuning_pack", "diagnostics_pack"}
    assert (told().needs(), told("", "D X").needs()) == (frozenset(), {"diagnostics_pack"})


# -- one name ---------------------------------------------------------------------------------------------------
@for_each(
    ("name", "constants", "meant"),
    [
        ("gv_$sql_monitor", (), told("", "T GV_$SQL_MONITOR")), ("orders", (), told()), ("dba_hist_snapshot", (), told()),
        ("dbms_advisor", ("ADDM_1",), told("", "D DBMS_ADVISOR")), ("dbms_advisor", ("SEGMENT ADVISOR",), told()),
        ("dbms_advisor", ("SEGMENT ADVISOR", "ADDM"), told("", "D DBMS_ADVISOR")), ("dbms_advisor", (), told("", "D DBMS_ADVISOR")),
        ("dbms_advisor", ("SEGMENT ADVISOR", "TUNE MVIEW"), told("", "T DBMS_ADVISOR")),
        ("dbms_spm", (), told()), ("dbms_spm", ("AUTOMATIC_WORKLOAD_REPOSITORY",), told("", "D DBMS_SPM")),
        ("dburitype", (), told(unseen=("what DBURITYPE reads cannot be seen in its text",))),
        ("dbms_java_x", (), told(unseen=("what DBMS_JAVA_X reads cannot be seen in its text",))), ("dual", (), told()),
        ("user_advisor_log", ("ADDM",), told("", "D USER_ADVISOR_LOG")),
    ],
)  # fmt: skip
def test_a_name_means_what_is_asked_of_it(name: str, constants: tuple[str, ...], meant: LicenceFindings) -> None:
    assert uses_of(name, frozenset(constants)) == meant


def test_names_are_spelled_as_the_lists_have_them() -> None:
    assert [canonical(one) for one in ("gv$x", "V_$x", "gv_$x", "v$x", "xv$x", "vx")] == ["V$X"] * 4 + [
        "XV$X",
        "VX",
    ]
    assert [kin(one) for one in ("cdb_x", "ALL_x", "user_x", "dba_x", "gv$x", "x_all_y")] == ["DBA_X"] * 4 + [
        "V$X",
        "X_ALL_Y",
    ]
    assert kin("all_user_x") == "DBA_USER_X"
    assert [*spellings("V$X")] == ["V$X", "GV$X", "V_$X", "GV_$X"] and [*spellings("DBA_X")] == ["DBA_X"]
    assert [looks_like_oracles(one) for one in ("x$y", "wrh$_x", "dbms_x", "my_dba_x", "wr$_x", "_all_x")] == [
        True
    ] * 3 + [False] * 2 + [True]
    assert [is_known_free(one) for one in ("gv$session", "all_tables", "dual", "v$sql_monitor", "orders")] == [
        True
    ] * 3 + [False] * 2
    assert [programs().may_run_text(one) for one in ("DBMS_SQL", "DBMS_LOB", "APP", "UTL_HTTP")] == [
        True,
        False,
        False,
        True,
    ]


# -- refusals ---------------------------------------------------------------------------------------------------
ALL = LicenceContext(frozenset(licences()), "ee", (19, 0), pack_access="DIAGNOSTIC+TUNING")


@pytest.mark.parametrize(
    ("unseen", "more"), [(("a",), ""), (("a", "b"), " (and 1 more)"), (("a", "b", "c"), " (and 2 more)")]
)
def test_what_is_unseen_is_refused_with_the_first_sentence(unseen: tuple[str, ...], more: str) -> None:
    (error,) = refusals(told(unseen=unseen), ALL)
    assert (error.code, error.message) == ("TK-0303", f"whether this needs a licence cannot be seen: a{more}")
    assert "--allow-unchecked" in str(error.hint)
    for allowed in (LicenceContext(unseen_ok=True), LicenceContext(autonomous=True)):
        assert list(refusals(told(unseen=unseen), allowed)) == []


@for_each(
    ("context", "message"),
    [
        (LicenceContext(edition="ee", pack_access="NONE"), "`X` belongs to Oracle Diagnostics Pack, which is not declared for this target"),
        (LicenceContext(frozenset({"diagnostics_pack"}), "ee", pack_access="none"), "`X` belongs to Oracle Diagnostics Pack, which is declared, but control_management_pack_access is NONE: it is switched off in this database"),
        (LicenceContext(frozenset({"diagnostics_pack"}), "ee", pack_access=""), "`X` belongs to Oracle Diagnostics Pack, which is declared, but control_management_pack_access is empty: it is switched off in this database"),
        (LicenceContext(edition="ee", ruled_by={"diagnostics_pack": "p"}), "`X` belongs to Oracle Diagnostics Pack, which profile `p` of the same database does not declare"),
        (LicenceContext(frozenset({"diagnostics_pack"}), "se2"), "`X` belongs to Oracle Diagnostics Pack, which is not available for Standard Edition 2, although it is declared"),
    ],
)  # fmt: skip
def test_a_use_is_refused_with_its_reason(context: LicenceContext, message: str) -> None:
    (error,) = refusals(told("", "D X"), context)
    assert error.message == message


def test_a_use_that_is_reached_says_how_and_one_that_needs_another_licence_names_it_once() -> None:
    by = LicenceFindings((Use("tuning_pack", "X", "through A"),))
    (error,) = refusals(by, LicenceContext(frozenset({"tuning_pack"}), "ee", pack_access="DIAGNOSTIC+TUNING"))
    assert (
        error.message
        == "`X` (through A) belongs to Oracle Tuning Pack, which needs Oracle Diagnostics Pack, which is not declared for this target"
    )
    assert "licenses.diagnostics_pack" in str(error.hint)
    assert len(list(refusals(by, LicenceContext(edition="ee")))) == 1
    assert [str(one.message) for one in refusals(told(packs=True), ALL)] == [
        "the statement would change control_management_pack_access; dbatk never does"
    ]


# -- what names lead to -----------------------------------------------------------------------------------------
def test_a_table_whose_triggers_were_read_hides_none_of_those_that_wait() -> None:
    """ORDERS and ITEMS both reach PARTS; of the three only those not read before are read."""
    catalogue = _Catalogue(
        {("APP", "ORDERS"): "TABLE", ("APP", "ITEMS"): "TABLE"},
        triggers={
            ("APP", "ORDERS"): (("APP", "PARTS", "CHILD"),),
            ("APP", "ITEMS"): (("APP", "LAST", "CHILD"), ("APP", "PARTS", "CHILD"), ("APP", "ORDERS", "CHILD")),
            ("APP", "LAST"): (("APP", "LAST", "NOT SHOWN"),),
        },
    )
    rows = follow([("ORDERS",), ("ITEMS",)], catalogue, [("ORDERS",), ("ITEMS",)], deletes=True)
    assert [row["thing"] for row in rows if row["finding"] == "note"] == [
        "triggers of `APP.ITEMS > rows of APP.LAST`, if there are any, are not shown to this user"
    ]
    assert sorted(catalogue.fired) == sorted({("APP", one) for one in ("ORDERS", "PARTS", "ITEMS", "LAST")})


def test_all_rows_of_a_walk_become_findings_and_own_names() -> None:
    rows = cast(
        "tuple[Row, ...]",
        tuple(
            {"finding": kind, "thing": thing, "licence": licence, "by": by}
            for kind, thing, licence, by in (
                ("use", "X", "tuning_pack", "through A"), ("note", "n", "", ""), ("unseen", "u", "", ""),
                ("own", '["APP", "T"]', "", ""), ("use", "X", "tuning_pack", "through A"), ("own", '["T"]', "", ""),
            )
        ),
    )  # fmt: skip
    assert findings(rows) == LicenceFindings((Use("tuning_pack", "X", "through A"),), ("n",), ("u",))
    assert own_names(rows) == {("APP", "T"), ("T",)}


def test_a_program_is_followed_by_all_that_it_names_writes_and_hides() -> None:
    catalogue = _Catalogue(
        {("APP", "F"): "PROCEDURE", ("APP", "LOGS"): "TABLE", ("APP", "G"): "FUNCTION", ("SYS", "V_$SQL_MONITOR"): "VIEW",
         ("SYS", "NEWER"): "VIEW", ("SYS", "DBMS_NEWER"): "PACKAGE"},
        {("APP", "F"): (("APP", "G"), ("SYS", "V_$SQL_MONITOR"), ("SYS", "NEWER"), ("SYS", "DBMS_NEWER"), ("SYS", "DBMS_SQL"))},
        {("APP", "F"): (("PROCEDURE", "PROCEDURE f IS BEGIN "), ("PROCEDURE", "INSERT INTO logs VALUES (1); EXECUTE IMMEDIATE x; END;")),
         ("APP", "G"): (("FUNCTION", "FUNCTION g RETURN NUMBER IS BEGIN RETURN 1; END;"),),
         ("APP", "T"): trigger("BEGIN NULL; END;")},
        {("APP", "LOGS"): (("APP", "LOGS", "NOT SHOWN"), ("APP", "T", "AFTER STATEMENT"))},
    )  # fmt: skip
    rows = [(row["finding"], row["thing"], row["by"]) for row in follow([("F",)], catalogue)]
    unknown = f"`DBMS_NEWER` looks like an object of Oracle's, and the lists of {as_of()} do not have it"
    assert sorted(rows) == sorted([
        ("own", '["F"]', ""), ("use", "V_$SQL_MONITOR", "through APP.F"),
        ("unseen", "EXECUTE IMMEDIATE runs text built at run time (in APP.F)", ""),
        ("unseen", "`APP.F` calls DBMS_SQL, which may run a text that nobody sees", ""),
        ("unseen", "`SYS.NEWER`, read through APP.F, is on no list of Oracle's objects", ""),
        ("unseen", f"{unknown} (through APP.F)", ""),
        ("note", "triggers of `APP.F > APP.LOGS`, if there are any, are not shown to this user", ""),
    ])  # fmt: skip
