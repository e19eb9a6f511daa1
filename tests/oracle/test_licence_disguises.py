"""Every object of the packs in every disguise is caught, and what needs no pack passes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import pytest

from tests.for_each import for_each
from tests.oracle.dictionary_lists import classified, text_of
from tests.oracle.innocent import INNOCENT
from tests.oracle.make import realdata
from tests.tiers import FULL, thinned
from toolkit.dialects.oracle.licences import dictionary, look
from toolkit.dialects.oracle.licences.lists import licences, spellings
from toolkit.dialects.oracle.licences.resolution import findings, follow, own_names
from toolkit.model.values import Row

_Disguise = Callable[[str], str]


def _text(name: str) -> str:
    return f"select count(*) from {name}"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _ran(expression: str) -> str:
    return f"BEGIN EXECUTE IMMEDIATE {expression}; END;"


def _path(name: str) -> str:
    return "/".join(part.strip('"') for part in (name if "SYS" in name.upper() else f"SYS.{name}").split("."))


def _bytes(text: str) -> str:
    return text.encode().hex()


DISGUISES: dict[str, _Disguise] = {
    "plain": lambda n: f"SELECT * FROM {n}",
    "no blanks": lambda n: f"SELECT/**/*FROM/*x*/{n}/**/WHERE/**/1=1",
    "line ends": lambda n: f"SELECT\n*\r\nFROM\t{n}\n",
    "other blanks": lambda n: f"SELECT *\u00a0FROM\u3000{n}\x0bWHERE 1 = 1",
    "comment in the path": lambda n: f"SELECT * FROM {n.replace('.', ' /* ; */ . -- x' + chr(10))}",
    "comment with a quote": lambda n: f"SELECT * /* it's */ FROM {n} -- '",
    "quote with a comment": lambda n: f"SELECT '/*' a, q'[--]' b FROM {n} WHERE '*/' = 'a'",
    "after a literal": lambda n: f"SELECT 'a'b FROM(SELECT 1 c FROM {n})",
    "database link": lambda n: f"SELECT * FROM {n}@far",
    "nested subqueries": lambda n: f"SELECT * FROM (SELECT * FROM ((SELECT x.* FROM {n} x)))",
    "scalar subquery": lambda n: f"SELECT (SELECT MAX(1) FROM {n}) FROM dual",
    "exists": lambda n: f"SELECT 1 FROM dual WHERE EXISTS (SELECT NULL FROM {n})",
    "lateral": lambda n: f"SELECT * FROM dual CROSS APPLY (SELECT * FROM {n})",
    "second table": lambda n: f"SELECT * FROM dual,{n}",
    "left join": lambda n: f"SELECT * FROM dual d LEFT JOIN {n} ON 1 = 1",
    "CTE": lambda n: f"WITH a AS (SELECT 1 x FROM dual), b AS (SELECT * FROM {n}) SELECT * FROM b",
    "CTE with a function": lambda n: (
        f"WITH FUNCTION f RETURN NUMBER IS x NUMBER; BEGIN SELECT 1 INTO x FROM {n}; "
        "RETURN x; END; SELECT f FROM dual"
    ),
    "union": lambda n: f"SELECT 1 FROM dual UNION ALL SELECT 2 FROM {n}",
    "containers": lambda n: f"SELECT * FROM CONTAINERS({n})",
    "table function": lambda n: f"SELECT * FROM TABLE({n}(1))",
    "explain": lambda n: f"EXPLAIN PLAN FOR SELECT * FROM {n}",
    "create table": lambda n: f"CREATE TABLE t AS SELECT * FROM {n}",
    "create view": lambda n: f"CREATE OR REPLACE FORCE VIEW v AS SELECT * FROM {n}",
    "create synonym": lambda n: f"CREATE OR REPLACE PUBLIC SYNONYM value FOR {n}",
    "insert": lambda n: f"INSERT ALL INTO t SELECT * FROM {n}",
    "merge": lambda n: f"MERGE INTO t USING {n} s ON (1 = 1) WHEN MATCHED THEN UPDATE SET a = 1",
    "rowtype": lambda n: f"DECLARE r {n}%ROWTYPE; BEGIN NULL; END;",
    "block": lambda n: f"BEGIN FOR r IN (SELECT * FROM {n}) LOOP NULL; END LOOP; END;",
    "call": lambda n: f"CALL {n}.x(1)",
    "assigned": lambda n: f"DECLARE v LONG := {_literal(_text(n))}; BEGIN EXECUTE IMMEDIATE v; END;",
    "immediate": lambda n: _ran(_literal(_text(n))),
    "immediate in parentheses": lambda n: _ran(f"(({_literal(_text(n))}))"),
    "immediate twice": lambda n: _ran(_literal(_ran(_literal(_text(n))))),
    "national": lambda n: _ran("N" + _literal(_text(n))),
    "q-quote": lambda n: _ran(f"q'[{_text(n)}]'"),
    "nq-quote": lambda n: _ran(f"Nq'~{_text(n)}~'"),
    "glued": lambda n: _ran("||".join(map(_literal, _text(n)))),
    "glued in the middle": lambda n: _ran(f"'select 1 from '||{_literal(n[:4])}||{_literal(n[4:])}"),
    "glued by CHR": lambda n: _ran("||".join(f"CHR({ord(letter)})" for letter in _text(n))),
    "CHR of a sum": lambda n: _ran("||".join(f"CHR({ord(letter)} - 5 + (5))" for letter in _text(n))),
    "CHR of a product": lambda n: _ran("||".join(f"CHR({ord(letter)} - 6 + 2 * 3)" for letter in _text(n))),
    "CHR in a character set": lambda n: _ran(
        "||".join(f"CHR({ord(letter)} USING NCHAR_CS)" for letter in _text(n))
    ),
    "UNISTR": lambda n: _ran("UNISTR('" + "".join(f"\\{ord(letter):04X}" for letter in _text(n)) + "')"),
    "U-quote": lambda n: _ran("U'" + "".join(f"\\{ord(letter):04x}" for letter in _text(n)) + "'"),
    "hexadecimal": lambda n: _ran(f"UTL_RAW.CAST_TO_VARCHAR2(HEXTORAW('{_bytes(_text(n))}'))"),
    "base64": lambda n: _ran("UTL_RAW.CAST_TO_VARCHAR2(UTL_ENCODE.BASE64_DECODE(HEXTORAW('6162')))"),
    "reversed": lambda n: _ran(f"REVERSE({_literal(_text(n)[::-1])})"),
    "replaced": lambda n: _ran(f"REPLACE({_literal(_text(n).replace('_', '~'))}, '~', CHR(95))"),
    "translated": lambda n: _ran(f"TRANSLATE({_literal(_text(n).replace('_', '~'))}, '~', '_')"),
    "cut out": lambda n: _ran(f"SUBSTR({_literal('zzz' + _text(n))}, -{len(_text(n))})"),
    "cast": lambda n: _ran(f"CAST({_literal(_text(n) + 'zz')} AS VARCHAR2({len(_text(n))}))"),
    "nvl of nothing": lambda n: _ran(f"NVL('', {_literal(_text(n))})"),
    "own function called UPPER": lambda n: (
        "DECLARE FUNCTION upper(x VARCHAR2) RETURN VARCHAR2 IS BEGIN RETURN "
        f"{_literal(_text(n)[:18])}||x; END; BEGIN EXECUTE IMMEDIATE upper({_literal(_text(n)[18:])}); END;"
    ),
    "a variable": lambda n: "BEGIN EXECUTE IMMEDIATE v_text; END;",
    "a variable in parentheses": lambda n: "BEGIN EXECUTE/**/IMMEDIATE(v_text); END;",
    "a bind": lambda n: _ran(":1"),
    "open for a literal": lambda n: f"BEGIN OPEN c FOR {_literal(_text(n))}; END;",
    "open for a variable": lambda n: "BEGIN OPEN c FOR (v_text) USING 1; END;",
    "loop over a text": lambda n: (
        f"BEGIN FOR r IN (EXECUTE IMMEDIATE {_literal(_text(n))}) LOOP NULL; END LOOP; END;"
    ),
    "DBMS_SQL": lambda n: f"BEGIN dbms_sql.parse(c, {_literal(_text(n))}, dbms_sql.native); END;",
    "DBMS_SQL of a variable": lambda n: 'BEGIN "SYS"."DBMS_SQL"."PARSE"(c, v_text, 1); END;',
    "DBMS_SQL by name": lambda n: "BEGIN dbms_sql.parse(language_flag => 1, statement => v_text, c => c); END;",
    "DBMS_XMLGEN": lambda n: f"SELECT dbms_xmlgen.getxml({_literal(_text(n))}) FROM dual",
    "DBMS_XMLGEN of CHR": lambda n: (
        f"SELECT dbms_xmlgen.getxml('select 1 from DBA'||CHR(f(1))||{_literal(n[4:])}) FROM dual"
    ),
    "DBMS_XMLGEN of a column": lambda n: "SELECT XMLTYPE(dbms_xmlgen.getxml(t.body)) FROM t",
    "DBMS_XMLQUERY": lambda n: "SELECT dbms_xmlquery.getxml(t.body) FROM t",
    "DBMS_UTILITY": lambda n: (
        f"BEGIN dbms_utility.exec_ddl_statement({_literal('create view v as ' + _text(n))}); END;"
    ),
    "DBMS_SCHEDULER": lambda n: (
        "BEGIN dbms_scheduler.create_job('J', job_type => 'PLSQL_BLOCK', job_action => "
        f"{_literal(_ran(_literal(_text(n))))}); END;"
    ),
    "DBMS_JOB": lambda n: "BEGIN dbms_job.submit(j, v_what); END;",
    "DBMS_PARALLEL_EXECUTE": lambda n: "BEGIN dbms_parallel_execute.run_task('T', v_sql, 1); END;",
    "filter of DBMS_XPLAN": lambda n: (
        f"SELECT * FROM TABLE(dbms_xplan.display('P', NULL, 'ALL', {_literal(f'EXISTS ({_text(n)})')}))"
    ),
    "filter of DBMS_XPLAN in a bind": lambda n: "SELECT * FROM TABLE(dbms_xplan.display('P', NULL, 'ALL', :f))",
    "filter of DBMS_XPLAN by name": lambda n: (
        "SELECT p.* FROM t, TABLE(dbms_xplan.display(filter_preds => t.f)) p"
    ),
    "DBMS_XPLAN.DIFF_PLAN": lambda n: "SELECT dbms_xplan.diff_plan(t.body, t.outline) FROM t",
    "DBMS_SCHEDULER, when": lambda n: (
        "BEGIN dbms_scheduler.create_job('J', 'STORED_PROCEDURE', 'P', 0, SYSDATE, v_when); END;"
    ),
    "DBMS_SCHEDULER, a job that exists": lambda n: "BEGIN SYS.\"DBMS_SCHEDULER\".run_job('J'); END;",
    "DBMS_JOB, when": lambda n: f"BEGIN dbms_job.submit(j, 'p;', SYSDATE, {_literal(f'({_text(n)})')}); END;",
    "filter of DBMS_METADATA": lambda n: "BEGIN dbms_metadata.set_filter(h, 'CUSTOM_FILTER', v_text); END;",
    "DBMS_REPORT": lambda n: "SELECT dbms_report.get_report('/orarep/' || 'sqlmonitor/main') FROM dual",
    "UTL_HTTP": lambda n: "SELECT utl_http.request(t.u) FROM t",
    "SQL macro": lambda n: (
        "WITH FUNCTION m(p VARCHAR2) RETURN CLOB SQL_MACRO IS BEGIN RETURN p; END; SELECT * FROM m('x')"
    ),
    "SQL's own function in a program's": lambda n: (
        f"SELECT dbms_xmlgen.getxml(NVL({_literal(_text(n))}, t.a)) FROM t"
    ),
    "a user's function in a quoted name of SQL's": lambda n: f'SELECT "REPLACE"({_literal(_text(n))}) FROM dual',
    "a package's function called as one of SQL's": lambda n: f"SELECT p.replace({_literal(_text(n))}) FROM dual",
    "DBMS_METADATA": lambda n: f"SELECT dbms_metadata.get_ddl('VIEW', {_literal(n)}) FROM dual",
    "DBMS_MLE": lambda n: (
        "BEGIN dbms_mle.eval(c, 'JAVASCRIPT', 'session.execute(`select 1 from dba_`+`hist_x`)'); END;"
    ),
    "DBURITYPE": lambda n: f"SELECT DBURITYPE('/{_path(n)}').getXML() FROM dual",
    "DBURITYPE in percents": lambda n: f"SELECT DBURITYPE('/{_path(n).replace('_', '%5F')}').getXML() FROM dual",
    "HTTPURITYPE": lambda n: f"SELECT HTTPURITYPE('http://h/oradb/{_path(n)}').getXML() FROM dual",
    "XDBURITYPE": lambda n: f'SELECT "SYS"."XDBURITYPE"(\'/oradb/{_path(n)}\').getClob() FROM dual',
    "URIFACTORY": lambda n: "SELECT sys.urifactory.geturi(t.u).getclob() FROM t",
    "XQuery": lambda n: f"SELECT * FROM XMLTABLE('for $i in fn:collection(\"oradb:/{_path(n)}\") return $i')",
    "XQuery glued": lambda n: (
        'SELECT XMLQUERY(\'fn:collection(concat("ora", "db:/SYS/DBA", "_HIST"))\' RETURNING CONTENT) FROM dual'
    ),
    "a function of the user's": lambda n: f"SELECT my_run(1, {_literal(_text(n))}) FROM dual",
    "not closed": lambda n: f"SELECT 'x FROM {n}",
    "comment not closed": lambda n: f"SELECT 1 /* FROM {n}",
    "carriage return": lambda n: f"SELECT 1 -- \rFROM {n}",
    "a quote in a quoted name": lambda n: f"SELECT 1 \"it's\" FROM {n} WHERE a = 'z'",
    "a comment in a quoted name": lambda n: f'SELECT 1 "--", 2 "/*" FROM {n}',
    "reference model": lambda n: (
        f"SELECT * FROM t MODEL REFERENCE r ON (SELECT * FROM {n}) DIMENSION BY (a) MEASURES (b) "
        "MAIN m DIMENSION BY (c) MEASURES (d) RULES ()"
    ),
    "pivot": lambda n: f"SELECT * FROM {n} PIVOT (COUNT(*) FOR a IN (1))",
    "pattern of rows": lambda n: f"SELECT * FROM {n} MATCH_RECOGNIZE (ORDER BY a PATTERN (x) DEFINE x AS x.a > 1)",
    "flashback": lambda n: f"SELECT * FROM {n} AS OF TIMESTAMP SYSDATE - 1",
    "cursor expression": lambda n: f"SELECT CURSOR(SELECT * FROM {n}) FROM dual",
    "only": lambda n: f"SELECT * FROM ONLY({n})",
    "multiset": lambda n: f"SELECT CAST(MULTISET(SELECT a FROM {n}) AS t) FROM dual",
    "in a list": lambda n: f"SELECT 1 FROM dual WHERE (1, 2) IN (SELECT a, b FROM {n})",
    "JSON_TABLE": lambda n: (
        f"SELECT * FROM JSON_TABLE((SELECT JSON_ARRAYAGG(a) FROM {n}), '$' COLUMNS (x PATH '$'))"
    ),
    "passed to XMLTABLE": lambda n: (
        f"SELECT * FROM XMLTABLE('/x' PASSING (SELECT XMLAGG(XMLELEMENT(a)) FROM {n}))"
    ),
    "order": lambda n: f"SELECT 1 FROM dual ORDER BY (SELECT 1 FROM {n})",
    "rows fetched": lambda n: f"SELECT 1 FROM dual FETCH FIRST (SELECT COUNT(*) FROM {n}) ROWS ONLY",
    "set to": lambda n: f"UPDATE t SET (a, b) = (SELECT 1, 2 FROM {n})",
    "inserted value": lambda n: f"INSERT INTO t VALUES ((SELECT 1 FROM {n}))",
    "materialized view": lambda n: f"CREATE MATERIALIZED VIEW m AS SELECT * FROM {n}",
    "trigger": lambda n: f"CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM u WHERE a IN ({_text(n)}); END;",
}
"""Texts by which an object of a pack is reached, or that hide what they reach."""


@cache
def _quotings(name: str) -> tuple[str, ...]:
    """The object as it may be written; the mixed case is always the same."""
    parts = name.split(".")
    quoted = ".".join(f'"{part}"' for part in parts)
    chance = random.Random(name)
    mixed = "".join(chance.choice((letter, letter.lower())) for letter in name)
    return name, name.lower(), mixed, quoted, f"sys.{mixed}", f'"SYS".{quoted}', f"SYS . {name}"


OBJECTS = sorted(
    {spelling for pack in dictionary.PACKS for name in dictionary.named()[pack] for spelling in spellings(name)}
)
_HERE = OBJECTS if FULL else OBJECTS[::16]


def _quoted(objects: Sequence[str], first: int) -> Iterator[str]:
    """Yield each object in one quoting: in a row of lists that begin one further, each meets all of them."""
    for at, name in enumerate(objects, first):
        yield _quotings(name)[at % 7]


def _caught(text: str) -> bool:
    found = look(text)
    return bool(found.uses or found.unseen)


@pytest.mark.thin(3)
@pytest.mark.parametrize("disguise", thinned(DISGUISES, 4))
def test_every_object_of_the_packs_is_caught_in_every_disguise(disguise: str) -> None:
    first = list(DISGUISES).index(disguise)
    texts = {DISGUISES[disguise](written) for written in _quoted(_HERE, first)}  # some show nothing of the object
    assert [text for text in sorted(texts) if not _caught(text)] == []


def test_the_product_is_as_large_as_it_should_be() -> None:
    assert len(OBJECTS) > 900
    assert len(DISGUISES) > 60


# -- by way of the catalogue -------------------------------------------------------------------------------------
class _Catalogue:
    """A catalogue in which names lead to one object of Oracle's."""

    def __init__(self, target: str, kind: str) -> None:
        rows: dict[str, list[tuple[str, str, str, str | None, str | None]]] = {
            "synonym": [("APP", "VALUE", "SYNONYM", "SYS", target)],
            "public synonym": [("PUBLIC", "VALUE", "SYNONYM", "SYS", target)],
            "synonyms": [("PUBLIC", "VALUE", "SYNONYM", "APP", "B"), ("APP", "B", "SYNONYM", "SYS", target)],
            "view": [("APP", "VALUE", "VIEW", None, None), ("APP", "VALUE", "READS", "SYS", target)],
            "view of a public synonym": [
                ("APP", "VALUE", "VIEW", None, None), ("APP", "VALUE", "READS", "PUBLIC", target),
                ("PUBLIC", target, "SYNONYM", "SYS", target),
            ],
            "function": [("APP", "VALUE", "FUNCTION", None, None)],
            "function that glues": [("APP", "VALUE", "FUNCTION", None, None)],
        }  # fmt: skip
        self.rows, self.target, self.kind = rows[kind], target, kind

    def leads_to(self, names: tuple[str, ...], schemas: tuple[str, ...]) -> tuple[Row, ...]:
        return tuple(
            {
                "owner": owner, "name": name, "kind": kind, "is_current": int(owner == "APP"),
                "referenced_owner": to_owner, "referenced_name": to, "link": None,
            }
            for owner, name, kind, to_owner, to in self.rows
            if name in names and owner in {"APP", "PUBLIC", *schemas}
        )  # fmt: skip

    def text_of(self, owner: str, name: str, *, view: bool) -> tuple[Row, ...]:
        if view:
            return ({"kind": "VIEW", "text": "SELECT 1 x FROM dual"},)
        run = _literal(_text(self.target)) if self.kind == "function" else "p || q"
        text = f"FUNCTION value (p VARCHAR2) RETURN NUMBER IS BEGIN EXECUTE IMMEDIATE {run}; RETURN 1; END;"
        return ({"kind": "FUNCTION", "text": text},)


@pytest.mark.parametrize(
    "kind",
    [
        "synonym",
        "public synonym",
        "synonyms",
        "view",
        "view of a public synonym",
        "function",
        "function that glues",
    ],
)
@pytest.mark.parametrize(
    "text", ["SELECT * FROM value", 'SELECT v.* FROM "APP"."VALUE" v', "SELECT app.value(1) FROM dual"]
)
def test_every_object_is_caught_behind_a_name_of_the_users(text: str, kind: str) -> None:
    if kind == "public synonym" or kind == "synonyms":
        text = text.replace("app.", "").replace('"APP".', "")
    passed = []
    for name in _HERE:
        if "." in name:
            continue
        rows = follow(look(text).names, _Catalogue(name, kind))
        found = look(text, own_names(rows)) + findings(rows)
        if not (found.uses or found.unseen):
            passed.append(name)
    assert passed == []


# -- what is in neither list, and what passes --------------------------------------------------------------------
def test_the_lists_are_those_of_the_dictionary() -> None:
    made = text_of(classified(realdata("dict/dbcli_sys_objects.csv").parents[1]))
    assert dictionary.FILE.read_text(encoding="utf-8") == made


@pytest.mark.full
def test_every_name_of_the_dictionary_is_in_one_list_and_an_unknown_one_is_unseen() -> None:
    free = dictionary.named()[dictionary.FREE]
    packs = frozenset[str]().union(*(dictionary.named()[key] for key in dictionary.PACKS))
    assert free.isdisjoint(packs)
    assert {name for name in free if look(f"SELECT * FROM {name}").uses} <= _ELSEWHERE | {
        "DBA_STREAMS_TP_COMPONENT_STAT",
        "DBMS_ADVISOR",
    }
    for name in (
        "V$NOT_YET",
        "GV_$NOT_YET",
        "X$KSUSE",
        "DBA_NOT_YET",
        "DBMS_NOT_YET",
        "WRR$_X",
        "INT$DBA_HIST_SNAPSHOT",
    ):
        assert look(f"SELECT * FROM {name}").unseen, name


_ELSEWHERE = frozenset(
    name for key, one in licences().items() if key not in dictionary.PACKS
    for name in dictionary.named()[dictionary.FREE] if one.holds(name)
)  # fmt: skip
"""Free of the packs, but part of an option: DBMS_REDACT, DBMS_INMEMORY ..."""


@for_each("text", INNOCENT)
def test_an_innocent_statement_passes(text: str) -> None:
    found = look(text)
    assert (found.uses, found.unseen) == ((), ())
