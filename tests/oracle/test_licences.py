"""The licence guard: nothing paid for goes through, however it is written, and nothing free is stopped."""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.oracle.make import ON_TABLES, assumed, realdata, steps, work
from tests.oracle.test_judge import statements
from tests.tiers import examples, thinned
from toolkit.design import lexis
from toolkit.dialects.oracle import licences
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.oracle.licences import DIAGNOSTICS, TUNING, look
from toolkit.dialects.oracle.licences import look as look_module
from toolkit.dialects.oracle.licences.dictionary import canonical
from toolkit.dialects.oracle.licences.lists import spellings
from toolkit.rendering import sql_file
from toolkit.resources import sql_root

LISTS = licences.licences()
EXACT = sorted({name for one in LISTS.values() for each in one.objects for name in spellings(each)})
FAMILIES = sorted({name for one in LISTS.values() for each in one.families for name in spellings(each)})
FREE = sorted(chain.from_iterable(one.free for one in LISTS.values()))
PLAIN = [
    "V$SQL", "V$SQLSTATS", "V$SESSION", "GV$SESSION_LONGOPS", "V$SQL_PLAN", "V$SQL_PLAN_STATISTICS_ALL",
    "V$SYSSTAT", "V$SHARED_SERVER_MONITOR", "DBA_TABLES", "DBA_FEATURE_USAGE_STATISTICS", "DBMS_XPLAN",
    "DBMS_STATS", "DBMS_SQLSET", "DBMS_MONITOR", "DBMS_SPM", "STATS$SNAPSHOT", "MY_DBA_HIST_COPY", "DBA_HISTORY",
    "XDBMS_SQLTUNE", "AWR", "ASH", "HIST_DBA", "DBA_SQL_PROFILES", "ALL_TAB_HISTOGRAMS",
]  # fmt: skip

_LISTED = st.one_of(
    st.sampled_from(EXACT),
    st.builds(
        lambda family, rest: family + rest,
        st.sampled_from(FAMILIES),
        st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$#", min_size=1, max_size=12),
    ).filter(lambda name: name not in FREE),
)
_FREE = st.sampled_from([*FREE, *PLAIN])
_BLANK = st.sampled_from([" ", "\n", "\t", "/* x */", "-- no pack\n", "/**/ ", "/* it's */", "--'\n", ' /* " */ '])
_FLIPS = st.lists(st.booleans(), min_size=60, max_size=60)

_PLACES = (
    "SELECT * FROM{s}{n}",
    "SELECT *{s}FROM SYS{s}.{s}{n} h",
    'SELECT * FROM "{n}"',
    'SELECT * FROM "SYS"."{n}" WHERE 1{s}=1',
    'SELECT 1FROM"{n}"',
    "SELECT '/*' x, 1 FROM {n} WHERE '*/' = 'a'",
    "SELECT 'it''s' FROM{s}{n}",
    "SELECT q'[it's]', Nq'!a'b!' FROM{s}{n}",
    "WITH h AS (SELECT * FROM {n}){s}SELECT * FROM h",
    "CREATE TABLE t AS{s}SELECT * FROM a,{n}",
    "CREATE OR REPLACE VIEW v AS SELECT * FROM {n}",
    "CREATE SYNONYM s FOR{s}sys.{n}",
    "INSERT INTO t SELECT * FROM sys.{n}",
    "SELECT 1 FROM dual WHERE EXISTS(SELECT 1 FROM {n}@link)",
    "EXPLAIN PLAN FOR SELECT * FROM {n}",
    "BEGIN {n}.run(1); END;",
    "DECLARE x {n}%ROWTYPE; BEGIN NULL; END;",
    "BEGIN FOR r IN (SELECT * FROM{s}{n}) LOOP NULL; END LOOP; END;",
    "CALL {n}.go()",
    "SELECT JSON {{'a' : {n}.f()}} FROM dual",
    "GRANT SELECT ON {n} TO me",
)
"""Where a name stands as itself."""

_CARRIERS = (
    "BEGIN{s}EXECUTE{s}IMMEDIATE{s}{e}; END;",
    "BEGIN EXECUTE IMMEDIATE ({e}) INTO x USING 1; END;",
    "DECLARE v VARCHAR2(200) := {e}; BEGIN EXECUTE IMMEDIATE v; END;",
    "BEGIN OPEN c FOR{s}{e}; END;",
    "SELECT dbms_xmlgen.getxml({e}){s}FROM dual",
    "SELECT * FROM t WHERE x = my_run(1,{s}{e})",
    "SELECT a.b.c(p => {e}) FROM dual",
    "BEGIN dbms_scheduler.create_job(job_name => 'X', job_action => {e}); END;",
    "BEGIN dbms_sql.parse(c,{s}{e}, dbms_sql.native); END;",
    "EXECUTE IMMEDIATE {e}",
)
"""Where an expression is run."""

_Way = Callable[[str, int, str], str]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _units(text: str) -> str:
    return "".join(f"\\{ord(letter):04x}" for letter in text)


def _code(letter: str) -> str:
    return f"CHR({ord(letter)})"


_WAYS: tuple[_Way, ...] = (
    lambda text, at, s: _quoted(text),
    lambda text, at, s: f"n{_quoted(text)}",
    lambda text, at, s: f"q'[{text}]'",
    lambda text, at, s: f"NQ'!{text}!'",
    lambda text, at, s: f"{_quoted(text[:at])}{s}||{s}{_quoted(text[at:])}",
    lambda text, at, s: f"(({_quoted(text[:at])})||q'<{text[at:]}>')",
    lambda text, at, s: "||".join(map(_code, text)),
    lambda text, at, s: f"{_quoted(text[:at])}||CHR({ord(text[at]) - 3} + 3)||{_quoted(text[at + 1 :])}",
    lambda text, at, s: f"UNISTR('{_units(text)}')",
    lambda text, at, s: f"U'{_units(text)}'",
    lambda text, at, s: f"CONCAT({_quoted(text[:at])},{s}{_quoted(text[at:])})",
    lambda text, at, s: f"UPPER({_quoted(text.lower())})",
    lambda text, at, s: f"reverse({_quoted(text[::-1])})",
    lambda text, at, s: f"REPLACE({_quoted(text[:at] + '~~' + text[at:])}, '~~')",
    lambda text, at, s: f"TRANSLATE({_quoted(text.replace('_', '~'))}, '~', '_')",
    lambda text, at, s: f"SUBSTR({_quoted('xx' + text)}, 3)",
    lambda text, at, s: f"UTL_RAW.CAST_TO_VARCHAR2(HEXTORAW('{text.encode().hex()}'))",
    lambda text, at, s: f"TO_CLOB({_quoted(text[:at])})||TO_NCHAR({_quoted(text[at:])})",
    lambda text, at, s: f"CAST({_quoted(text)} AS VARCHAR2(4000))",
)


def _cased(name: str, flips: list[bool]) -> str:
    return "".join(letter.lower() if flip else letter for letter, flip in zip(name, flips, strict=False))


def _packs(text: str) -> set[str]:
    return {use.licence for use in look(text).uses}


@examples(600)
@given(_LISTED, st.sampled_from(_PLACES), _BLANK, _FLIPS)
def test_a_listed_object_is_found_wherever_it_stands(name: str, place: str, s: str, flips: list[bool]) -> None:
    assert _packs(place.format(n=_cased(name, flips), s=s))


@examples(800)
@given(
    _LISTED, st.sampled_from(_CARRIERS), st.sampled_from(_WAYS), st.integers(0, 99), _BLANK, _FLIPS,
    st.sampled_from(["SELECT * FROM {n}", "BEGIN {n}.x; END;", 'select 1 from "SYS"."{n}" h', "{n}"]),
)  # fmt: skip
def test_a_listed_object_is_found_in_every_text_that_is_run(
    name: str, carrier: str, way: _Way, at: int, s: str, flips: list[bool], statement: str
) -> None:
    text = statement.format(n=_cased(name, flips))
    spelled = way(text, at % (len(text) - 1), s)
    assert _packs(carrier.format(e=spelled, s=s)), spelled


@examples(300)
@given(_LISTED, st.lists(st.sampled_from(_CARRIERS), min_size=1, max_size=3), st.sampled_from(_WAYS), _BLANK)
def test_a_listed_object_is_found_in_a_text_within_a_text(
    name: str, carriers: list[str], way: _Way, s: str
) -> None:
    text = f"SELECT 1 FROM {name}"
    for carrier in carriers:
        text = carrier.format(e=_quoted(text), s=s)
    assert _packs(f"BEGIN EXECUTE IMMEDIATE {way(text, 5, s) if len(text) < 300 else _quoted(text)}; END;")


@examples(400)
@given(_FREE, st.sampled_from(_PLACES), _BLANK, _FLIPS)
def test_a_free_object_passes_wherever_it_stands(name: str, place: str, s: str, flips: list[bool]) -> None:
    assert look(place.format(n=_cased(name, flips), s=s)).uses == ()


@examples(600)
@given(_FREE, st.sampled_from(_CARRIERS), st.sampled_from(_WAYS), st.integers(0, 99), _BLANK)
def test_a_free_object_passes_in_every_text_that_is_run(
    name: str, carrier: str, way: _Way, at: int, s: str
) -> None:
    text = f"SELECT * FROM {name}"
    assert look(carrier.format(e=way(text, at % (len(text) - 1), s), s=s)).uses == ()


@given(
    _LISTED, st.sampled_from(["/* {n} */ SELECT 1 FROM dual", "SELECT 1 -- {n}\nFROM dual", "--+ {n}\nSELECT 1"])
)
def test_a_comment_needs_no_licence(name: str, text: str) -> None:
    assert look(text.format(n=name)).uses == ()


@for_each(
    "text",
    [
        "SELECT * FROM dba_objects WHERE object_name = '{n}'",
        "SELECT * FROM dba_objects WHERE object_name IN ('{n}', '{n}')",
        "SELECT * FROM dba_objects WHERE object_name LIKE '{n}%' OR '{n}' <> owner",
        "SELECT '{n}' AS label FROM dual",
        "SELECT COUNT(CASE WHEN object_name = '{n}' THEN 1 END) FROM dba_objects",
        "INSERT INTO notes VALUES ('{n}')",
        "COMMENT ON TABLE t IS 'was {n}'",
        "BEGIN IF x = '{n}' THEN NULL; END IF; END;",
        "SELECT x AS my_{n}_copy FROM t",
    ],
)
def test_a_value_that_is_compared_or_shown_is_no_statement(text: str) -> None:
    assert look(text.format(n="DBA_HIST_SYSSTAT")).uses == ()


def test_every_documented_object_of_the_pack_families_is_known() -> None:
    with realdata("dict/dbcli_sys_objects.csv").open(encoding="utf-8", newline="") as file:
        names = {row["object"] for row in csv.DictReader(file) if "." not in row["object"]}
    hist = {name for name in names if name.startswith(("DBA_HIST_", "CDB_HIST_", "AWR_PDB_", "AWR_ROOT_"))}
    monitor = {name for name in names if canonical(name).startswith(("V$SQL_MONITOR", "V$SQL_PLAN_MONITOR"))}
    assert len(hist) > 300
    assert len(monitor) >= 16
    assert {name for name in hist if _packs(f"SELECT * FROM {name}") != {DIAGNOSTICS}} == set(FREE)
    assert {name for name in monitor if _packs(f"SELECT * FROM {name}") != {TUNING}} == set()


def test_no_plain_view_of_the_database_is_taken_for_a_paid_one() -> None:
    with realdata("dict/oracle_19c_docs_view_columns.csv").open(encoding="utf-8", newline="") as file:
        views = {row["view"] for row in csv.DictReader(file)}
    paid = {view for view in views if _packs(f"SELECT * FROM {view}")}
    words = ("HIST_", "ADDM", "ACTIVE_SESSION", "MONITOR", "SQLTUNE", "ASH_INFO", "AWR_", "_UMF_",
             "DBA_STREAMS_TP_PATH_BOTTLENECK", "DBA_STREAMS_TP_COMPONENT_STAT")  # fmt: skip
    assert {view for view in paid if not any(word in view for word in words)} == set()


@for_each("name", FREE)
def test_the_free_exceptions_pass_alone_but_not_in_company(name: str) -> None:
    assert look(f"SELECT * FROM sys.{name.lower()}").uses == ()
    assert _packs(f"SELECT * FROM {name} a JOIN dba_hist_sysstat b ON a.snap_id = b.snap_id") == {DIAGNOSTICS}


def test_the_beginning_of_a_family_is_enough_when_the_end_is_not_known() -> None:
    assert _packs("BEGIN EXECUTE IMMEDIATE 'SELECT * FROM dba_hist_' || v_name; END;") == {DIAGNOSTICS}


@for_each(
    ("text", "licence"),
    [
        ("SELECT * FROM dba_advisor_tasks WHERE advisor_name = 'ADDM'", DIAGNOSTICS),
        ("SELECT * FROM dba_advisor_log WHERE task_name LIKE 'ADDM:%'", DIAGNOSTICS),
        ("SELECT * FROM dba_advisor_tasks WHERE advisor_name = 'SQL Tuning Advisor'", TUNING),
        ("BEGIN dbms_advisor.create_task('ADDM', t); END;", DIAGNOSTICS),
        ("BEGIN dbms_advisor.create_task(v_advisor, t); END;", DIAGNOSTICS),
    ],
)
def test_what_is_asked_of_an_advisor_decides(text: str, licence: str) -> None:
    assert licence in _packs(text)


def test_a_free_advisor_passes_and_whose_rows_its_views_return_is_unseen() -> None:
    assert look("BEGIN dbms_advisor.create_task('Segment Advisor', t); END;").uses == ()
    found = look("SELECT * FROM dba_advisor_findings")
    assert found.uses == ()
    assert "ADDM" in found.unseen[0]


def test_the_tuning_pack_needs_the_diagnostics_pack_beside_it() -> None:
    assert look("SELECT * FROM v$sql_monitor").needs() == {DIAGNOSTICS, TUNING}


@for_each(
    "text",
    [
        """SELECT * FROM XMLTABLE('fn:collection("oradb:/SYS/DBA_HIST_SYSSTAT")' COLUMNS v NUMBER)""",
        "SELECT DBURITYPE('/SYS/DBA_HIST_SYSSTAT').getXml() FROM dual",
        "SELECT XMLQUERY('for $i in ora:view(\"SYS\", \"DBA_HIST_SYSSTAT\") return $i' RETURNING CONTENT) FROM t",
        "WITH FUNCTION f RETURN NUMBER IS BEGIN EXECUTE IMMEDIATE 'select 1 from dba_hist_sysstat'; END; SELECT f",
        "SELECT * FROM TABLE(dbms_xplan.display_awr('abc'))",
    ],
)  # fmt: skip
def test_a_view_read_by_way_of_xml_or_a_function_is_found(text: str) -> None:
    assert _packs(text) == {DIAGNOSTICS}


@for_each(
    ("text", "unseen"),
    [
        ("BEGIN EXECUTE IMMEDIATE v_text; END;", "EXECUTE IMMEDIATE"),
        ("BEGIN EXECUTE IMMEDIATE 'select 1 from ' || v; END;", "EXECUTE IMMEDIATE"),
        ("BEGIN EXECUTE IMMEDIATE build('x'); END;", "EXECUTE IMMEDIATE"),
        ("BEGIN OPEN c FOR v_text; END;", "cursor"),
        ("SELECT dbms_xmlgen.getxml(t.body) FROM t", "DBMS_XMLGEN.GETXML"),
        ("SELECT * FROM app.t@far", "`APP.T@FAR`"),
        ("CREATE PROCEDURE p WRAPPED\na000000\n", "wrapped text of `P`"),
        ("SELECT 'open", "not closed"),
        ("ALTER SESSION SET current_schema = ops", "changes how the session reads names"),
        ("ALTER SESSION SET sql_translation_profile = p", "changes how the session reads names"),
        ("CREATE PROCEDURE p AS LANGUAGE JAVA NAME 'X.y()'", "another language"),
        ("CREATE FUNCTION f RETURN NUMBER AS MLE LANGUAGE JAVASCRIPT q'~ x ~'", "another language"),
        ("CREATE AND COMPILE JAVA SOURCE NAMED x AS y", "another language"),
        ("SELECT AI what runs slowest", "made from a sentence"),
        ("SELECT * FROM TABLE(dbms_xplan.display(t.n))", "DBMS_XPLAN.DISPLAY"),
        ("SELECT 1 /* open", "not closed"),
    ],
)
def test_what_cannot_be_seen_is_said(text: str, unseen: str) -> None:
    assert any(unseen in sentence for sentence in look(text).unseen)


@for_each(
    "text",
    [
        "BEGIN OPEN c FOR SELECT 1 FROM dual; EXECUTE IMMEDIATE 'truncate table t' ; END;",
        "BEGIN dbms_sql.parse(c, 'select 1 from dual', dbms_sql.native); END;",
        "SELECT u.email FROM users u WHERE email = 'a@b'",
        "SELECT ai, ai.x FROM ai",
        "SELECT * FROM TABLE(dbms_xplan.display_cursor(v_id, v_child, 'LAST'))",
    ],
)
def test_what_can_be_seen_is_not_said_to_be_hidden(text: str) -> None:
    assert look(text).unseen == ()


@for_each(
    "text",
    [
        "ALTER SYSTEM SET control_management_pack_access = 'NONE' SCOPE=MEMORY",
        'alter/**/system set "CONTROL_MANAGEMENT_PACK_ACCESS"=none',
        "ALTER SESSION SET control_management_pack_access='DIAGNOSTIC+TUNING'",
        "ALTER SYSTEM RESET control_management_pack_access",
        "BEGIN EXECUTE IMMEDIATE 'alter system set control_management_'||'pack_access=none'; END;",
        "ALTER SYSTEM SET control_management_pack_access = 'open",
    ],
)
def test_a_change_of_the_packs_parameter_is_found(text: str) -> None:
    assert look(text).changes_packs


def test_reading_the_packs_parameter_is_no_change() -> None:
    assert not look("SELECT value FROM v$parameter WHERE name = 'control_management_pack_access'").changes_packs


# -- clauses ----------------------------------------------------------------------------------------------------
@for_each(
    ("text", "licence"),
    [
        ("CREATE TABLE t COMPRESS FOR OLTP AS SELECT 1 x FROM dual", "advanced_compression"),
        ("CREATE TABLE t COMPRESS FOR ALL OPERATIONS AS SELECT 1 x FROM dual", "advanced_compression"),
        ("create /* x */ table t row/**/store compress advanced as select 1 x from dual", "advanced_compression"),
        ("ALTER TABLE t MOVE PARTITION p ROW STORE COMPRESS ADVANCED", "advanced_compression"),
        ("CREATE INDEX i ON t (a) COMPRESS ADVANCED LOW", "advanced_compression"),
        ("ALTER INDEX i REBUILD COMPRESS ADVANCED HIGH", "advanced_compression"),
        ("CREATE TABLE t (c CLOB) LOB (c) STORE AS SECUREFILE (COMPRESS HIGH)", "advanced_compression"),
        ("CREATE TABLE t (c CLOB) LOB (c) STORE AS SECUREFILE s (DEDUPLICATE)", "advanced_compression"),
        ("ALTER TABLE t MODIFY LOB (c) (COMPRESS)", "advanced_compression"),
        ("ALTER SYSTEM SET heat_map = ON", "advanced_compression"),
        ("RUN { SET COMPRESSION ALGORITHM 'MEDIUM'; BACKUP DATABASE; }", "advanced_compression"),
        ("CREATE TABLESPACE t DEFAULT ROW STORE COMPRESS ADVANCED", "advanced_compression"),
        ("CREATE TABLE t PARTITION BY HASH (a) PARTITIONS 4 AS SELECT 1 a FROM dual", "partitioning"),
        ("CREATE TABLE t (a NUMBER, b AS (a)) PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (1))",
         "partitioning"),
        ("CREATE INDEX i ON t (a) LOCAL", "partitioning"),
        ("CREATE INDEX i ON t (a) GLOBAL PARTITION BY HASH (a) PARTITIONS 4", "partitioning"),
        ("ALTER TABLE t ADD PARTITION p VALUES (1)", "partitioning"),
        ("ALTER TABLE t EXCHANGE PARTITION p WITH TABLE u", "partitioning"),
        ("CREATE TABLE t INMEMORY AS SELECT 1 x FROM dual", "in_memory"),
        ("CREATE TABLE t (a NUMBER ENCRYPT)", "advanced_security"),
        ("CREATE TABLE t COMPRESS FOR QUERY HIGH AS SELECT 1 x FROM dual", "hybrid_columnar"),
        ("CREATE TABLE t COMPRESS AS SELECT 1 x FROM dual", "enterprise_edition"),
        ("CREATE TABLE t ROW STORE COMPRESS BASIC AS SELECT 1 x FROM dual", "enterprise_edition"),
        ("CREATE TABLE t PARALLEL 8 AS SELECT 1 x FROM dual", "enterprise_edition"),
        ("CREATE TABLE t PARALLEL (DEGREE 8) AS SELECT 1 x FROM dual", "enterprise_edition"),
        ("BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => 'A', tabname => 'T', degree => 8); END;",
         "enterprise_edition"),
        ("BEGIN dbms_stats.gather_schema_stats('A', degree=>DBMS_STATS.AUTO_DEGREE); END;", "enterprise_edition"),
        ("CREATE INDEX i ON t (a) ONLINE", "enterprise_edition"),
        ("ALTER INDEX i REBUILD PARTITION p ONLINE", "enterprise_edition"),
        ("CREATE BITMAP INDEX i ON t (a)", "enterprise_edition"),
        ("BEGIN EXECUTE IMMEDIATE 'create index i on t(a) on'||'line'; END;", "enterprise_edition"),
        ("BEGIN NULL; END;\n;\nCREATE TABLE t COMPRESS FOR OLTP AS SELECT 1 x FROM dual", "advanced_compression"),
    ],
)  # fmt: skip
def test_a_clause_is_found_in_its_statement(text: str, licence: str) -> None:
    assert licence in _packs(text)


@for_each(
    "text",
    [
        "CREATE TABLE t NOCOMPRESS NOPARALLEL LOGGING AS SELECT * FROM s",
        "CREATE TABLE t PARALLEL 1 AS SELECT * FROM s",
        "BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => 'A', tabname => 'T', degree => 1, cascade => TRUE); END;",
        "BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => 'A', tabname => 'T'); END;",
        "CREATE INDEX i ON t (a) COMPRESS 2 NOPARALLEL",
        'CREATE INDEX i ON t (a, "LOCAL", "ONLINE") TABLESPACE "COMPRESS"',
        "CREATE TABLE t (a NUMBER, PRIMARY KEY (a)) ORGANIZATION INDEX COMPRESS 1",
        "CREATE TABLE t AS SELECT ROW_NUMBER() OVER (PARTITION BY hash ORDER BY a) r FROM s",
        "CREATE TABLE t AS SELECT * FROM s MODEL PARTITION BY (a) DIMENSION BY (b) MEASURES (c) RULES (c[1] = 1)",
        "CREATE TABLE t AS SELECT 'COMPRESS FOR OLTP' x, online, local FROM s",
        "CREATE TABLE t AS SELECT /*+ PARALLEL(4) */ * FROM s PARTITION (p1)",
        "ALTER INDEX i REBUILD PARTITION p NOPARALLEL",
        "ALTER TABLE t NO INMEMORY",
        "ALTER SESSION SET parallel_degree_policy = MANUAL",
        "RUN { SET COMPRESSION ALGORITHM 'BASIC'; }",
        "SELECT compress, for_oltp FROM t WHERE partition_by = 'RANGE'",
    ],
)
def test_what_only_looks_like_a_clause_passes(text: str) -> None:
    assert _packs(text) == set()


def test_work_on_partitions_that_exist_is_noted_and_not_refused() -> None:
    found = look("ALTER INDEX i REBUILD PARTITION p1 NOPARALLEL")
    assert found.uses == ()
    assert "existing partitions" in found.notes[0]


# -- ourselves --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("file", thinned(sorted(path.stem for path in (sql_root() / "oracle").glob("*.sql")), 4))
def test_our_own_reads_need_no_licence(file: str) -> None:
    text = (sql_root() / "oracle" / f"{file}.sql").read_text(encoding="utf-8")
    header = next(line for line in text.splitlines() if line.startswith("-- License:"))
    if "none" in header:
        assert look(sql_file("oracle", file)).uses == ()


# -- robustness -------------------------------------------------------------------------------------------------
_SHREDS = st.lists(
    st.sampled_from(
        [
            *("'", '"', "q'[", "]'", "N'", "--", "\n", "||", "(", ")", ",", ".", "@", ";", ":="),
            *("=", "CHR(", "999999999999", "UNISTR(", "REPLACE('a','a','aaaa')", "EXECUTE IMMEDIATE ", "BEGIN "),
            *("OPEN c FOR ", "CREATE TABLE ", "AS SELECT ", "DBMS_SQL.", "x", "\0", "é", "\ud800", "IN"),
            *("/*", "*/", "U'\\00", "HEXTORAW('zz')", "SUBSTR('a',9)", "*", "+", "5"),
        ]
    ),
    max_size=60,
)  # fmt: skip


@examples(400)
@given(_SHREDS)
def test_any_text_is_looked_at_without_an_error(shreds: list[str]) -> None:
    look(" ".join(shreds))
    look("".join(shreds))


@examples(200)
@given(st.text(max_size=300))
def test_any_characters_are_looked_at_without_an_error(text: str) -> None:
    look(text)


_LONG = {
    "brackets": "(" * 100_000 + ")" * 100_000,
    "growing groups": "(" * 20_000 + "'a'" + "||'bcdefg')" * 20_000,
    "quotes": "'" * 1_000_000,
    "comments": "/* x */" * 140_000,
    "stars": "/*" * 500_000,
    "a path": "a." * 100_000,
    "concatenation": "BEGIN EXECUTE IMMEDIATE " + "||".join(["'ab'"] * 40_000) + "; END;",
    "a text in texts": "BEGIN EXECUTE IMMEDIATE " * 3 + "q'[" * 300_000,
    "nested calls": "REPLACE(" * 20_000 + "'a'" + ",'a','aaaaaaaa')" * 20_000,
    "clauses": "CREATE TABLE t " + "STORE AS MOVE COMPRESS PARTITION BY " * 8_000,
    "words": "SELECT " + ", ".join(f"c{n}" for n in range(120_000)) + " FROM t",
}


@pytest.mark.full
@pytest.mark.parametrize("shape", thinned(_LONG, 12))
def test_the_work_is_linear_in_the_length_of_the_text(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, read = _LONG[shape], 0

    def counted(piece: str) -> object:
        nonlocal read
        read += len(piece)
        return lexis.tokens(piece)

    monkeypatch.setattr(look_module_of(), "tokens", counted)
    look(text)
    assert read <= 8 * len(text)


def look_module_of() -> object:
    """The module behind the function of the same name."""
    import sys

    return sys.modules[look_module.__module__]


def test_a_profile_can_declare_what_the_lists_know() -> None:
    from toolkit.model.words import LICENCES

    assert set(LICENCES) == set(licences.declarable())


def test_every_list_names_its_source_and_a_way_without_it() -> None:
    for one in LISTS.values():
        assert one.source
        assert one.alternative
        assert one.kind in {"pack", "option", "edition", "storage"}
        assert all(clause.find.groups == 0 for clause in (*one.clauses, *one.noted)), one.key


@pytest.mark.full
def test_every_statement_we_render_is_seen_whole_and_needs_only_what_was_asked_for() -> None:
    asked = {
        "advanced_compression": ("FOR OLTP", "COMPRESS ADVANCED"),
        "hybrid_columnar": ("FOR QUERY", "FOR ARCHIVE"),
        "enterprise_edition": ("PARALLEL", "ONLINE", "COMPRESS", "degree => "),
        "partitioning": ("PARTITION", "LOCAL"),
    }
    for text, source in statements().items():
        found = look(text)
        if source.rpartition("/")[2].startswith("awr_"):
            # read or called only where a profile declares the pack; some of them are free
            assert {use.licence for use in found.uses} <= {"diagnostics_pack"}, source
            continue
        for use in found.uses:
            assert any(words in text for words in asked[use.licence]), f"{source}: {use}"
        assert found.unseen == (), source
        assert not found.changes_packs
        if not any(words in text for words in ("FOR OLTP", "COMPRESS ADVANCED")):
            assert "advanced_compression" not in {use.licence for use in found.uses}, source


@pytest.mark.parametrize("release", ["19-se2", "21-se2", "11.2-se2"])
def test_nothing_we_render_serially_and_uncompressed_needs_enterprise_edition(release: str) -> None:
    for operation in ON_TABLES:
        item = work(operation, 1)
        facts = assumed(release)
        calls = (
            *DIALECT.work.worker_begin(item, facts),
            *DIALECT.work.timed(item, facts),
            *DIALECT.work.settle(item, facts),
        )
        for step in steps(calls):
            assert look(step.text).uses == (), step.name
