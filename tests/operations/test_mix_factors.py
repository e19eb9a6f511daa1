"""Factors in the jobs of a mix: what they are put into, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.operations.test_mix import asked, ran, store  # noqa: F401 (a fixture)
from toolkit.design.file import dump_experiment, parse_experiment
from toolkit.design.mix import parse_mix
from toolkit.errors import ToolkitError
from toolkit.operations.mix import checks
from toolkit.store.store import Store

_PROGRAM = '[[job]]\nname = "a"\ncommand = "sh -c \'echo {size} {{size}} $0 >> {folder}\' {word}"\n'
_LOAD = (
    '[[job]]\nname = "load"\noperation = "ctas"\ntarget = "duckdb:///x.duckdb"\nsource = "s"\ntable = "t"\n'
    'degree = "{threads}"\n'
)


def test_a_level_is_one_word_of_a_program_and_a_value_elsewhere() -> None:
    text = _PROGRAM + 'every = "{gap}s"\ncopies = "{n}"\n\n' + _LOAD
    levels = {"size": 4, "word": "two words", "folder": "/x", "gap": 0.5, "n": 2, "threads": 8}
    program, load = parse_mix(text, levels).jobs
    assert program.argv == ("sh", "-c", "echo 4 {size} $0 >> /x", "two words")
    assert (program.every, program.copies) == (0.5, 2)
    assert load.argv[-2:] == ("--degree", "8")


def test_without_levels_only_what_no_factor_stands_in_is_looked_at() -> None:
    program, load = parse_mix(_PROGRAM + 'copies = "{n}"\n\n' + _LOAD).jobs
    assert (program.copies, load.target) == (1, "duckdb:///x.duckdb")
    with pytest.raises(ToolkitError, match="sauce"):
        parse_mix(_LOAD.replace("source", "sauce"))


def test_each_configuration_runs_its_own_level(store: Store, tmp_path: Path) -> None:  # noqa: F811
    out = tmp_path / "out"
    text = (
        f"[mix]\nprepare = [\"sh -c 'echo begin {{size}} >> {out}'\"]\n\n"
        f'[[job]]\nname = "a"\ncommand = "sh -c \'echo {{size}} >> {out}\'"\n'
    )
    experiment = asked(tmp_path, text, factor=["size=3,5"], repeat=1, warmup=0)
    assert parse_experiment(dump_experiment(experiment)) == experiment
    record = ran(store, experiment)
    assert {str(trial.cell["size"]) for trial in record.trials} == {"3", "5"}
    lines = out.read_text().split()
    assert sorted(lines) == ["3", "3", "5", "5", "begin", "begin"]


@pytest.mark.parametrize(
    ("text", "factors", "sentence"),
    [
        (_PROGRAM, ["size=1", "word=x"], "job a` uses `{folder}`, which is no factor"),
        (_LOAD, ["threads=1,x"], "`degree` cannot be `x`"),
        (_LOAD, ["threads=1", "more=1"], "the factor `more` stands in no job"),
        ('[mix]\nsetup = ["touch {a}"]\n' + _LOAD, ["threads=1", "a=1"], "`setup` runs once"),
        (_LOAD.replace("duckdb:///x.duckdb", "{db}"), ["threads=1", "db=a"], "the target of a job is no factor"),
        ('[[job]]\nname = "a"\ncommand = "true"\nevery = "{gap}"\n', ["gap=1,-1"], "every"),
        ('[[job]]\nname = "a"\ncommand = "true"\ncopies = "{n}"\n', ["n=1,401"], "copies"),
        ('[[job]]\nname = "a"\ncommand = "true"\n', ["nodes=1"], "has the name of an option"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_before_anything_runs(
    tmp_path: Path, text: str, factors: list[str], sentence: str
) -> None:
    with pytest.raises(ToolkitError) as refused:
        asked(tmp_path, text, factor=factors)
    assert sentence in refused.value.message


def test_more_configurations_than_can_run_are_refused_before_each_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[object] = []
    monkeypatch.setattr(checks, "parse_mix", lambda *given: looked.append(given))
    with pytest.raises(ToolkitError, match="1,000,000 configurations and 4 sweeps") as refused:
        asked(tmp_path, _PROGRAM, factor=["size=1..1000", "word=1..1000"])
    assert (refused.value.code, looked) == ("TK-0103", [])
