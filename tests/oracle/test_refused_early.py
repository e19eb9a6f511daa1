"""Names, conditions and objects that cannot be meant get a sentence, before anything is read or changed."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from tests.oracle.make import assumed, work
from toolkit.app.runs.preview import script
from toolkit.design.build import General, build_experiment
from toolkit.design.user_sql import check_predicate, check_query
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.words import OperationName

ORACLE = "oracle"


def printed(operation: OperationName, assume: str = "19-ee", degree: int = 1, **options: OptionValue) -> str:
    """Print the script of a job on an assumed database."""
    experiment = build_experiment(operation, options, {"degree": (degree,)}, General(target="oracle://u@h/s"))
    return script(experiment, None, engine=ORACLE, assume=assume)[0]


@for_each(
    ("text", "words", "hint"),
    [
        ("PUBLIC.T", "only synonyms and links", "schema that it points to"),
        ('"PUBLIC"."T"', "only synonyms and links", "schema that it points to"),
        ("Größe", "non-ASCII letters", '"GRÖßE"'),
        ("app.été", "non-ASCII letters", '"ÉTÉ"'),
        ("日本", "non-ASCII letters", '"日本"'),
        ("a b", "is not a name in Oracle", "double quotes"),
    ],
)
def test_a_name_that_cannot_be_one_says_why_and_how_to_write_it(text: str, words: str, hint: str) -> None:
    with pytest.raises(ToolkitError, match=words) as caught:
        DIALECT.parse_name(text)
    assert hint in caught.value.hint
    assert caught.value.exit_code is ExitCode.USAGE


def test_letters_beyond_ascii_are_taken_as_they_are_in_double_quotes() -> None:
    name = DIALECT.parse_name('"Größe"."日本"')
    assert (name.schema, name.name) == ("Größe", "日本")


@pytest.mark.parametrize("text", ["id = &x", "id > &&top and a = 1"])
def test_a_variable_of_sqlplus_is_no_value_of_a_condition(text: str) -> None:
    with pytest.raises(ToolkitError, match=r"only SQL\*Plus replaces"):
        check_predicate(text, ORACLE)
    with pytest.raises(ToolkitError, match=r"only SQL\*Plus replaces"):
        check_query(f"SELECT * FROM t WHERE {text}", ORACLE)
    assert check_predicate(text.replace("&&", "&"), "postgresql")


def test_an_ampersand_within_quotes_is_a_letter_like_others() -> None:
    assert check_predicate("name = 'M&S'", ORACLE)


def test_a_table_cannot_be_made_from_itself() -> None:
    with pytest.raises(ToolkitError, match="cannot be created from itself") as caught:
        printed("ctas", source="C", table="c")
    assert caught.value.exit_code is ExitCode.USAGE


@for_each("assume", ["19c-ee", "19-ee", "23ai-free", "26AI-EE"])
def test_a_release_is_taken_as_oracle_writes_it(assume: str) -> None:
    assert "CREATE TABLE" in printed("ctas", assume, source="S", table="T")


def test_the_bill_names_the_edition_for_loads_and_gatherings_above_degree_one() -> None:
    parallel = printed("insert", degree=4, source="S", table="T", columns=("A",))
    serial = printed("insert", source="S", table="T", columns=("A",))
    assert "Enterprise Edition (parallel INSERT)" in parallel
    assert "parallel INSERT" not in serial
    assert "degree of DBMS_STATS" in printed("stats-gather", degree=4, table="T")
    assert "degree of DBMS_STATS" not in printed("stats-gather", table="T")


def test_only_a_script_that_makes_objects_of_ours_says_that_they_are_dropped() -> None:
    options: dict[str, OptionValue] = {"index": "I", "on_live_objects": True}
    general = General(target="oracle://u@h/s", repeat=2)
    live = build_experiment("index-rebuild", options, {}, general)
    made = build_experiment("ctas", {"source": "S", "table": "T"}, {}, general)
    assert "DBATK_RUN" not in script(live, None, engine=ORACLE, assume="19-ee")[0]
    assert "DBATK_RUN_* are dropped again" in script(made, None, engine=ORACLE, assume="19-ee")[0]


@for_each(
    ("query", "told"),
    [
        ("SELECT /*+ PARALLEL(8) */ * FROM s", True),
        ("SELECT /*+ LEADING(a) NO_PARALLEL(a) */ * FROM a", True),
        ("SELECT --+ parallel(s 4)\n * FROM s", True),
        ("SELECT /* PARALLEL(8) */ '/*+ x */' FROM s", False),
        ("SELECT /*+ PARALLELISM_LIKE(8) */ * FROM s", False),
    ],
)
def test_a_degree_in_the_users_own_query_is_told(query: str, told: bool) -> None:
    said = DIALECT.work.remarks(work("ctas", 4, query=query), assumed())
    assert any("may override the degree" in sentence for sentence in said) is told
