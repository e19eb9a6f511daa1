"""Experiment files: everything wrong is named with file and line; what is written is read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.design.build import General, build_experiment
from toolkit.design.file import dump_experiment, load_experiment, parse_experiment
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.values import CommandFactor, Factor
from toolkit.model.words import Keep, Mode

GOOD = """\
[experiment]
name = "gtest-ctas"
target = "dwh"
operation = "ctas"
source = "GLENNF.GTEST"
table = "GLENNF.GTEST_COPY"
repeat = 3
budget = "2h"
[factors]
degree = [1, 2, 4, 8, 16, 32]
compression = ["none", "basic"]
[[factor]]
name = "read_ahead"
unit = "sectors"
levels = [256, 1024]
read  = ["blockdev", "--getra", "/dev/sdb"]
apply = ["blockdev", "--setra", "{level}", "/dev/sdb"]
undo  = ["blockdev", "--setra", "{before}", "/dev/sdb"]
"""


def failing(text: str) -> ToolkitError:
    with pytest.raises(ToolkitError) as caught:
        parse_experiment(text, name="exp.toml")
    return caught.value


def test_the_documented_example_reads() -> None:
    made = parse_experiment(GOOD)
    assert (made.operation, made.mode, made.repeat, made.warmup) == ("ctas", Mode.MEASUREMENT, 3, 1)
    assert made.budget_seconds == 7200
    assert [factor.name for factor in made.factors] == ["degree", "compression", "read_ahead"]
    assert made.factors[2].command == CommandFactor(
        read=("blockdev", "--getra", "/dev/sdb"),
        apply=("blockdev", "--setra", "{level}", "/dev/sdb"),
        undo=("blockdev", "--setra", "{before}", "/dev/sdb"),
    )


@for_each(
    ("old", "new", "code", "line", "said"),
    [
        ("source =", "sauce =", "TK-0101", 5, "did you mean `source`"),
        ("repeat = 3", "repeat = '3'", "TK-0102", 7, "`repeat` must be a whole number"),
        ("repeat = 3", "repeat = true", "TK-0102", 7, "`repeat` must be a whole number"),
        ("repeat = 3", "repeat = 3\nmode = 'jab'", "TK-0102", 8, "did you mean `job`"),
        ("repeat = 3", "repeat = 3\nonline = true", "TK-0101", 8, "`ctas` does not accept `online`"),
        ('"ctas"', '"ctaz"', "TK-0101", 4, "did you mean `ctas`"),
        ('"2h"', "7200", "TK-0102", 8, "`budget` must be a duration"),
        ('"2h"', '"2 hours"', "TK-0102", 8, "is not a duration"),
        ("degree =", "degre =", "TK-0101", 10, "did you mean `degree`"),
        ("degree =", "table =", "TK-0101", 10, "cannot be varied"),
        ("[1, 2, 4, 8, 16, 32]", "[0]", "TK-0102", 10, "`degree` cannot be `0`"),
        ("[1, 2, 4, 8, 16, 32]", "[]", "TK-0103", 10, "is empty"),
        ('"basic"', '"basicc"', "TK-0102", 11, "did you mean `basic`"),
        ("[factors]", "[factor]", "TK-0106", 12, "twice|cannot|redefine|overwrite"),
        ("[factors]", "[facters]", "TK-0106", 9, "did you mean `factors`"),
        ("levels =", "level =", "TK-0106", 15, "did you mean `levels`"),
        ("levels = [256, 1024]", "levels = []", "TK-0106", 15, "needs a list of `levels`"),
        ("levels = [256, 1024]", "levels = [256, 256]", "TK-0106", 15, "twice"),
        ('"{level}"', '"{lvl}"', "TK-0106", 17, "cannot use `{lvl}`"),
        ('"{level}"', '"5"', "TK-0106", 17, "does not use `{level}`"),
        ("read  = [", "rread  = [", "TK-0106", 16, "did you mean `read`"),
        ('apply = ["blockdev"', 'apply = "blockdev"#', "TK-0106", 17, "must be a list of arguments"),
        ("undo  =", "undo_sql = 'x'\nundo  =", "TK-0106", 19, "are mutually exclusive"),
        ("repeat = 3", "repeat = 3\nquery = 'select 1'", "TK-0107", 1, "are mutually exclusive"),
        ("target =", "password = 'hunter2'\ntarget =", "TK-0108", 3, "secret in clear text"),
        ("dwh", "postgresql://u:hunter2@h/d", "TK-0108", 3, "secret in clear text"),
        ('"blockdev", "--getra"', '"x", "--password=hunter2"', "TK-0108", 16, "secret in clear text"),
        ('"blockdev", "--getra"', '"x", "--password", "hunter2"', "TK-0108", 16, "secret in clear text"),
        ('name = "gtest-ctas"', 'name = "gtest', "TK-0106", 2, ""),
        ("repeat = 3", "repeat = 3\nrepeat = 4", "TK-0106", 8, ""),
    ],
)
def test_every_mistake_names_file_and_line(old: str, new: str, code: str, line: int, said: str) -> None:
    assert old in GOOD
    error = failing(GOOD.replace(old, new, 1))
    assert error.code == code
    assert error.message.startswith(f"exp.toml:{line}: "), error.message
    text = f"{error.message} {error.hint}"
    assert any(part in text for part in said.split("|")), text
    assert "hunter2" not in text


@for_each(
    ("text", "code"),
    [
        ("", "TK-0106"),
        ("experiment = 3", "TK-0106"),
        ("[experiment]\ntarget = 'x'", "TK-0106"),
        ("[experiment]\noperation = 'ctas'\nsource='a'\ntable='b'", "TK-0107"),
        ("[experiment]\ntarget='x'\noperation = 'ctas'\ntable='b'", "TK-0107"),
        ("[experiment]\ntarget='x'\noperation='ctas'\nsource='a'\ntable='b'\n[factors]\nx=1", "TK-0101"),
        ("[experiment]\ntarget='x'\noperation='ctas'\nsource='a'\ntable='b'\nquery_file='none.sql'", "TK-0106"),
        ("factor = 3\n[experiment]\ntarget='x'\noperation='ctas'\nsource='a'\ntable='b'", "TK-0106"),
        ("x = " + "[" * 5000, "TK-0106"),
    ],
)
def test_files_that_lack_something_are_refused(text: str, code: str) -> None:
    assert failing(text).code == code


def test_a_query_stands_inside_or_in_a_file_beside(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("select 1 as a; -- one\n")
    file = tmp_path / "exp.toml"
    head = "[experiment]\ntarget='x'\noperation='ctas'\ntable='b'\n"
    file.write_text(head + "query_file = 'q.sql'\n")
    assert load_experiment(file).options["query"] == "select 1 as a"
    file.write_text(head + 'query = """\nselect password = \'x\'\n"""\n')
    assert load_experiment(file).options["query"] == "select password = 'x'"
    file.write_text(head + "query = 'drop table x'\n")
    with pytest.raises(ToolkitError, match=r"exp\.toml:5: the query begins with `drop`"):
        load_experiment(file)


def test_the_command_line_may_name_another_target() -> None:
    assert parse_experiment(GOOD, target="other").target == "other"


def test_the_name_of_an_index_has_a_key_of_its_own() -> None:
    text = "[experiment]\nname='n'\nindex_name='ix'\ntarget='x'\noperation='index-build'\ntable='t'\ncolumns=['a']"
    made = parse_experiment(text)
    assert (made.name, made.options["name"]) == ("n", "ix")
    assert parse_experiment(dump_experiment(made)) == made


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolkitError, match="no such file"):
        load_experiment(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ToolkitError, match="not UTF-8"):
        load_experiment(tmp_path / "bad.toml")
    with pytest.raises(ToolkitError) as caught:
        load_experiment(tmp_path)
    assert caught.value.code == "TK-0106"


LINES = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=30)
NAMES = LINES.map(str.strip).filter(lambda text: bool(text) and text.isprintable())
LITERALS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\x00\r"), max_size=40)
SAFE = NAMES.filter(lambda text: "=" not in text and ":" not in text and "{" not in text and "pass" not in text)
LABELS = SAFE.filter(lambda text: "/" not in text and text != "last")
DURATIONS = st.none() | st.integers(1, 10**6).map(lambda tenths: tenths / 10)
LEVELS = st.lists(
    st.integers(-9, 9) | SAFE | st.booleans(), min_size=1, max_size=4, unique_by=lambda v: (type(v), v)
)


@st.composite
def experiments(draw: st.DrawFn) -> Experiment:
    levels = {"degree": tuple(draw(st.lists(st.integers(1, 4096), min_size=1, max_size=4, unique=True)))}
    if draw(st.booleans()):
        levels["estimate_percent"] = tuple(
            draw(st.lists(st.floats(0.001, 100), min_size=1, max_size=3, unique=True))
        )
    operation = "stats-gather" if "estimate_percent" in levels else "ctas"
    options: dict[str, object] = {"schema": tuple(draw(st.lists(SAFE, min_size=1, max_size=3, unique=True)))}
    if operation == "ctas":
        literal = draw(LITERALS).replace("'", "''")
        options = {"query": f"select '{literal}'\nas a", "table": draw(SAFE)}
    command = CommandFactor(read=("x", "y"), apply=("{level}", draw(SAFE)), undo_sql="set x = '{before}'")
    extra = (Factor("memory", tuple(draw(LEVELS)), draw(st.none() | SAFE), command),)
    general = General(
        target=draw(SAFE), name=draw(st.none() | SAFE), label=draw(st.none() | LABELS),
        repeat=draw(st.integers(1, 9)), warmup=draw(st.integers(0, 3)),
        keep=draw(st.sampled_from([Keep.NONE, Keep.BEST])), work_schema=draw(st.none() | SAFE),
        budget_seconds=draw(DURATIONS), quiet_wait_seconds=draw(DURATIONS),
    )  # fmt: skip
    factors = extra if draw(st.booleans()) else ()
    return build_experiment(operation, options, levels, general, factors)


@given(experiments())
def test_what_is_written_is_read_back(experiment: Experiment) -> None:
    assert parse_experiment(dump_experiment(experiment)) == experiment


@given(st.text(max_size=200) | st.lists(st.sampled_from(GOOD.splitlines()), max_size=12).map("\n".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_experiment(text)
    except ToolkitError as error:
        assert error.exit_code == 2
