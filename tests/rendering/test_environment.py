"""Templates let nothing into a statement that did not go through a filter."""

from __future__ import annotations

from collections.abc import Mapping

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit import rendering, resources
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.dialects.rows import ALL_ROWS
from toolkit.dialects.work import Call, ContextValue
from toolkit.errors import ToolkitError
from toolkit.model.engines import engines
from toolkit.model.values import QualifiedName
from toolkit.rendering import render_call

DIALECTS = [dialect_of(engine) for engine in engines()]


def render(dialect: Dialect, text: str, values: Mapping[str, ContextValue]) -> str:
    template = rendering._new_environment(dialect).from_string(text)
    return rendering._tidy(template.render(**values))


@for_each("value", ["x", "1; DROP TABLE t", 1, 1.5, True, None, QualifiedName("t"), ("a", "b")])
def test_nothing_unfiltered_renders(value: ContextValue) -> None:
    for dialect in DIALECTS:
        with pytest.raises(jinja2.TemplateRuntimeError, match="without a filter"):
            render(dialect, "SELECT {{ x }}", {"x": value})


def test_a_value_that_is_missing_is_a_fault() -> None:
    with pytest.raises(jinja2.UndefinedError):
        render(DIALECTS[0], "SELECT {{ y | integer }}", {})


def test_a_filtered_value_that_is_joined_to_another_is_unfiltered_again() -> None:
    with pytest.raises(jinja2.TemplateRuntimeError, match="without a filter"):
        render(DIALECTS[0], "SELECT {{ (x | integer) ~ ' ; DROP' }}", {"x": 1})


@for_each(
    ("name", "value"),
    [
        ("integer", "1"), ("integer", True), ("integer", 1.0), ("integer", None),
        ("number", "1"), ("number", False), ("number", float("nan")),
        ("keyword", "NOLOGGING; DROP"), ("keyword", "nologging"), ("keyword", "A--"), ("keyword", ""),
        ("keyword", "PARALLEL (12345)"), ("keyword", None),
        ("hint", "PARALLEL(8) */ x"), ("hint", "a\nb"), ("hint", "a'b"), ("hint", 1),
        ("verbatim", None), ("verbatim", "a\0b"), ("identifier", 1), ("identifier", None), ("identifier", 1.5),
    ],
)  # fmt: skip
def test_a_filter_refuses_what_it_is_not_for(name: str, value: ContextValue) -> None:
    for dialect in DIALECTS:
        with pytest.raises(jinja2.TemplateRuntimeError):
            render(dialect, f"SELECT {{{{ x | {name} }}}}", {"x": value})


@given(st.text(alphabet=st.characters(blacklist_characters="\0", blacklist_categories=("Cs",))))
def test_a_verbatim_text_keeps_every_character_and_line_end(text: str) -> None:
    rendered = rendering._tidy(str(rendering._verbatim(f"SELECT {text} x")))
    assert rendered == f"SELECT {text} x"


def test_a_users_query_keeps_its_own_lines_in_a_template() -> None:
    query = "SELECT a,\n\n       'x  \n -- no comment\n' AS b   \n  FROM t"
    for dialect in (one for one in DIALECTS if one.engine != "host"):
        values: dict[str, ContextValue] = {
            "table": QualifiedName("n", "s"), "source": None, "query": query, "unlogged": False,
            "fillfactor": None, "tablespace": None, "pctfree": None, "logging": "LOGGING", "compression": None,
            "parallel": "NOPARALLEL", "load_hints": "", "query_hints": "", "partition_method": None, **ALL_ROWS,
        }  # fmt: skip
        assert query in render_call(dialect, Call("ctas", values))


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.engine)
@given(name=st.text(min_size=1, max_size=12), schema=st.none() | st.text(min_size=1, max_size=12))
def test_a_name_renders_quoted_whole_or_not_at_all(dialect: Dialect, name: str, schema: str | None) -> None:
    try:
        text = rendering._tidy(f"DROP {rendering._quoter(dialect)(QualifiedName(name, schema))} x")
    except ToolkitError as error:
        assert error.code == "TK-0104"
        return
    parts = [part for part in (schema, name) if part is not None]
    assert text == "DROP " + ".".join('"' + part.replace('"', '""') + '"' for part in parts) + " x"
    assert dialect.engine != "oracle" or '"' not in name + (schema or "")


@given(st.integers(-(2**70), 2**70))
def test_integers_render_as_digits(value: int) -> None:
    assert rendering._integer(value) == str(value)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9))
def test_numbers_render_as_one_plain_number(value: float) -> None:
    assert float(rendering._number(value)) == pytest.approx(value, rel=1e-9)


def test_every_sql_file_loses_its_header_and_terminator_and_nothing_else() -> None:
    for engine in engines():
        for file in ("server", "instant", "sessions_of"):
            text = rendering.sql_file(engine, file)
            assert not text.startswith("--")
            assert not text.rstrip().endswith((";", "/"))
            assert text.split()[-1].rstrip(";") in resources.sql_text(f"{engine}/{file}.sql")


def test_a_comment_after_the_header_says_what_a_block_does() -> None:
    values: dict[str, ContextValue] = {
        "name": "i",
        "table_text": "s.t",
        "name_text": "s.i",
        "drop_text": "DROP INDEX s.i",
    }
    firsts = [
        render_call(dialect_of("postgresql"), Call(template, values)).partition("\n")[0]
        for template in ("drop_rebuild_leftovers", "drop_invalid_index")
    ]
    assert firsts == [
        "-- dropping what REINDEX CONCURRENTLY left invalid",
        "-- dropping the index where CREATE INDEX CONCURRENTLY left it invalid",
    ]
