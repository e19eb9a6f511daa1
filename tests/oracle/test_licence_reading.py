"""What the firewall puts together from constants, and how much of a text it can read at its edges."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from tests.oracle.test_licence_context import _Dictionary, _leads, _object
from toolkit.design.lexis import tokens
from toolkit.dialects.oracle.licences import DIAGNOSTICS, look
from toolkit.dialects.oracle.licences.context import LicenceContext, refusals
from toolkit.dialects.oracle.licences.folding import fold
from toolkit.dialects.oracle.licences.reading import read
from toolkit.dialects.oracle.licences.resolution import follow
from toolkit.model.values import Row

PAID = "SELECT * FROM dba_hist_sysstat"
BUILT = "EXECUTE IMMEDIATE runs text built at run time"


@for_each(
    ("name", "arguments", "value"),
    [
        ("CHR", ["65"], "A"), ("CHR", ["0"], "\0"), ("CHR", ["1114111"], "\U0010ffff"), ("CHR", ["1114112"], None),
        ("CHR", ["-1"], None), ("CHR", ["x"], None), ("NCHR", ["228"], "ä"), ("ASCII", ["A"], "65"),
        ("UNISTR", [r"\0041b"], "Ab"), ("CONCAT", ["a", "b"], "ab"), ("UPPER", ["aB"], "AB"),
        ("NLS_UPPER", ["aB"], "AB"), ("LOWER", ["aB"], "ab"), ("NLS_LOWER", ["aB"], "ab"),
        ("INITCAP", ["ab"], "ab"),
        ("REVERSE", ["abc"], "cba"),
        ("REPLACE", ["a-b-c", "-"], "abc"), ("REPLACE", ["a-b-c", "-", "+"], "a+b+c"),
        ("REPLACE", ["abc", "", "x"], "abc"), ("REPLACE", ["a" * 10, "a", "xyz"], "xyz" * 10),
        ("REPLACE", ["a" * 11, "a", "xyz"], None), ("REPLACE", ["a"], None),
        ("TRANSLATE", ["a~b^c", "~^", "_"], "a_bc"), ("TRANSLATE", ["aa", "aa", "xy"], "xx"),
        ("SUBSTR", ["abcdef", "1"], "abcdef"), ("SUBSTR", ["abcdef", "3"], "cdef"),
        ("SUBSTR", ["abcdef", "0"], "abcdef"), ("SUBSTR", ["abcdef", "-2"], "ef"),
        ("SUBSTR", ["abcdef", "-9"], "abcdef"), ("SUBSTR", ["abcdef", "2", "3"], "bcd"),
        ("SUBSTR", ["abcdef", "-3", "2"], "de"), ("SUBSTRB", ["abcdef", "2", "1"], "b"),
        ("TRIM", [" a "], "a"), ("TRIM", [" a ", "x"], None), ("LTRIM", [" a "], "a "),
        ("LTRIM", ["xxa", "x"], "a"),
        ("RTRIM", [" a "], " a"), ("RTRIM", ["axx", "x"], "a"), ("NVL", ["", "b"], "b"), ("NVL", ["a", "b"], "a"),
        ("COALESCE", ["", "", "c"], "c"), ("COALESCE", ["", ""], ""), ("TO_CHAR", ["a"], "a"),
        ("TO_CLOB", ["a"], "a"), ("HEXTORAW", ["41"], "41"), ("MY_OWN", ["a"], None), ("UPPER", [], None),
    ],
)  # fmt: skip
def test_a_function_of_constants_has_its_value(name: str, arguments: list[str], value: str | None) -> None:
    assert fold("", name, arguments, 30) == value


@for_each(
    ("package", "name", "value"),
    [
        ("UTL_RAW", "CAST_TO_VARCHAR2", "A"), ("", "CAST_TO_VARCHAR2", None), ("APP", "UPPER", None),
        ("DBMS_ASSERT", "NOOP", "41"), ("DBMS_ASSERT", "ENQUOTE_NAME", '"41"'), ("", "NOOP", None),
        ("UTL_RAW", "NOOP", None),
    ],
)  # fmt: skip
def test_a_function_counts_in_its_own_package_only(package: str, name: str, value: str | None) -> None:
    assert fold(package, name, ["41"], 30) == value


def test_a_value_is_as_long_as_allowed_and_no_longer() -> None:
    assert fold("", "UPPER", ["a" * 30], 30) == "A" * 30
    assert fold("", "UPPER", ["a" * 31], 30) is None


def test_what_would_be_too_long_is_not_made() -> None:
    class Counted(str):
        made = 0

        def replace(self, *arguments: object) -> str:  # type: ignore[override]
            Counted.made += 1
            return str.replace(self, *arguments)  # type: ignore[arg-type]

    assert fold("", "REPLACE", [Counted("a" * 11), "a", "xyz"], 30) is None
    assert Counted.made == 0
    assert fold("", "REPLACE", [Counted("a" * 10), "a", "xyz"], 30) == "xyz" * 10
    assert Counted.made == 1


def test_bytes_that_are_no_text_are_read_as_far_as_they_are() -> None:
    assert fold("UTL_RAW", "CAST_TO_VARCHAR2", ["FF41"], 30) == "\ufffdA"
    assert fold("UTL_RAW", "CAST_TO_VARCHAR2", ["no hex"], 30) is None


def test_what_is_put_together_uses_up_what_may_be() -> None:
    found = read(list(tokens("SELECT UPPER('abcdef'), ('xyz'), LOWER(a) FROM t")), 100)
    assert found.budget == 100 - len("abcdef") - len("xyz")
    assert read(list(tokens("SELECT UPPER('abcdef') FROM t")), 3).budget == 3  # too long: it is not put together


def licences_of(text: str) -> set[str]:
    return {use.licence for use in look(text).uses}


@pytest.mark.parametrize("blanks", [0, 20_000])
def test_a_long_text_is_put_together_too(blanks: int) -> None:
    first, second = "SELECT * FROM dba_hi" + "", "st_sysstat"
    padded = f"CONCAT('{' ' * blanks}{first}', '{second}')"
    assert licences_of(f"BEGIN EXECUTE IMMEDIATE {padded}; END;") == {DIAGNOSTICS}


@pytest.mark.parametrize("text", [f"EXECUTE IMMEDIATE ('{PAID}'", f"CALL f(g('{PAID}'", f"CALL f('{PAID}', (1"])
def test_a_parenthesis_that_is_not_closed_hides_nothing(text: str) -> None:
    assert licences_of(text) == {DIAGNOSTICS}


@pytest.mark.parametrize("sign", "+-*")
def test_a_text_may_end_after_a_sign(sign: str) -> None:
    assert look(f"BEGIN x := 1 {sign}").unseen == ()


@for_each(
    ("sum_", "known"),
    [("60 + 8", True), ("70 - 2", True), ("34 * 2", True), ("4 + 8 * 8", False), ("100000000000000 + 1", False),
     ("999999 + 999999", True), ("9999999 + 999999", False), ("6.5 + 3", False), ("x + 8", False)],
)  # fmt: skip
def test_small_sums_are_reckoned(sum_: str, known: bool) -> None:
    assert (BUILT in look(f"BEGIN EXECUTE IMMEDIATE TO_CHAR({sum_}); END;").unseen) != known


def test_a_sum_is_what_it_makes() -> None:
    for sum_ in ("60 + 8", "70 - 2", "34 * 2"):
        assert licences_of(f"BEGIN EXECUTE IMMEDIATE 'select 1 from '||CHR({sum_})||'BA_HIST_X'; END;") == {
            DIAGNOSTICS
        }


def test_a_function_of_the_blocks_own_is_not_sqls() -> None:
    text = "BEGIN EXECUTE IMMEDIATE upper('select 1 from dual'); END;"
    assert look(text).unseen == ()
    own = "DECLARE FUNCTION upper(t VARCHAR2) RETURN VARCHAR2 IS BEGIN RETURN t; END; "
    assert look(own + text).unseen == (BUILT,)


@for_each(
    ("returned", "seen"),
    [
        ("q'[select 1 from dual]'", True),
        ("'select 1 from '||t", False),
        ("t", False),
        ("'select 1' || 'x'", False),
    ],
)
def test_a_macro_is_seen_where_it_returns_a_literal(returned: str, seen: bool) -> None:
    text = f"CREATE FUNCTION f(t VARCHAR2) RETURN VARCHAR2 SQL_MACRO IS BEGIN RETURN {returned}; END;"
    assert ("a SQL macro returns a text that is built at run time" not in look(text).unseen) == seen


@for_each(
    ("text", "unseen"),
    [("SELECT 1 -- x\rX\nFROM dual", True), ("SELECT 1 -- x\r\nFROM dual", False), ("SELECT 1 /* x\rX */", False),
     ("SELECT 1 -- x\r\r\nFROM dual", False), ("SELECT 1 --\r FROM dba_users", True)],
)  # fmt: skip
def test_a_carriage_return_within_a_comment_may_end_it(text: str, unseen: bool) -> None:
    sentence = "a comment goes on after a carriage return, where the server may end it"
    assert (sentence in look(text).unseen) == unseen


@for_each(
    ("text", "packs"),
    [
        ("CREATE TABLE t AS SELECT x FROM s PARTITION BY HASH (a)", set()),
        ("CREATE TABLE t PARTITION BY HASH (a) AS SELECT x FROM s", {"partitioning"}),
        ("CREATE TABLE t (a AS (b)) PARTITION BY HASH (a)", {"partitioning"}),
        ("CREATE TABLE t (a NOT NULL) AS SELECT x FROM s PARTITION BY HASH (a)", set()),
        ("ALTER TABLE t ADD (b AS (c)) PARALLEL 8", {"enterprise_edition"}),
    ],
)
def test_a_clause_counts_before_the_query_of_its_statement(text: str, packs: set[str]) -> None:
    assert licences_of(text) == packs


@pytest.mark.parametrize(
    ("access", "granted", "declared"),
    [(None, True, False), ("NONE", False, False), ("DIAGNOSTIC+TUNING", False, True)],
)
def test_a_refusal_hints_at_what_would_mend_it(access: str | None, granted: bool, declared: bool) -> None:
    mine = frozenset() if declared else frozenset({DIAGNOSTICS})
    (error,) = refusals(look(PAID), LicenceContext(mine, "ee", (19, 0), pack_access=access))
    assert ("GRANT SELECT ON SYS.V_$PARAMETER" in error.hint) == granted
    assert ("declare it in the profile: `licenses.diagnostics_pack" in error.hint) == declared


class _Texts(_Dictionary):
    """A view and a program whose texts are found only where they are asked for as what they are."""

    rows: tuple[Row, ...] = (
        _object("APP", "SEEN", "VIEW"), _leads("APP", "SEEN", "READS", "APP.PROG"),
        _object("APP", "PROG", "FUNCTION"),
    )  # fmt: skip

    def text_of(self, owner: str, name: str, *, view: bool) -> tuple[Row, ...]:
        texts = {
            ("SEEN", True): "SELECT /*+ MONITOR */ 1 x FROM t",
            ("PROG", False): "FUNCTION prog IS BEGIN END;",
        }
        text = texts.get((name, view))
        return () if text is None else ({"kind": "VIEW" if view else "FUNCTION", "text": text},)


def test_a_view_is_asked_for_its_query_and_a_program_for_its_source() -> None:
    found = follow([("SEEN",)], _Texts())
    assert [(row["finding"], row["thing"], row["by"]) for row in found if row["finding"] != "own"] == [
        ("use", "hint MONITOR", "through APP.SEEN")
    ]
