"""From what was said to an experiment: the mode, the defaults, and what does not fit together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.for_each import for_each
from toolkit.design.build import General, build_experiment, check_engine, parse_detect
from toolkit.design.typed import typed_levels
from toolkit.errors import ToolkitError
from toolkit.model.values import CommandFactor, Factor
from toolkit.model.words import Keep, Mode

SAID = General(target="dwh")
CTAS = {"source": "a.t", "table": "a.t2"}
COMMAND = CommandFactor(read_sql="show x", apply_sql="set x = {level}", undo_sql="set x = {before}")


def build(
    options: dict[str, Any] = CTAS, levels: dict[str, Any] | None = None, general: General = SAID, **more: Any
):
    operation = more.pop("operation", "ctas")
    return build_experiment(operation, options, levels or {}, replace(general, **more))


def test_one_cell_and_no_repeat_is_a_job_without_warmup() -> None:
    made = build()
    assert (made.mode, made.repeat, made.warmup) == (Mode.JOB, 1, 0)
    assert made.factors == (Factor("degree", (1,), "processes"),)


def test_several_cells_are_a_measurement_until_ten_per_cent_are_detected_with_a_warmup() -> None:
    made = build(levels={"degree": (1, 2)})
    assert (made.mode, made.repeat, made.detect_pct, made.warmup) == (Mode.MEASUREMENT, 20, 10.0, 1)
    asked = build(levels={"degree": (1, 2)}, detect_pct=3.0)
    assert (asked.repeat, asked.detect_pct) == (20, 3.0)
    fixed = build(levels={"degree": (1, 2)}, repeat=3)
    assert (fixed.repeat, fixed.detect_pct) == (3, None)
    many = build(levels={"degree": tuple(range(1, 10_001))})
    assert many.repeat == 9  # 100,000 trials at most, a warm-up among them


@pytest.mark.parametrize(
    ("general", "code"),
    [
        ({"detect_pct": 0.1}, "TK-0102"),
        ({"detect_pct": 2000.0}, "TK-0102"),
        ({"detect_pct": 5.0, "repeat": 3}, "TK-0107"),
    ],
)
def test_what_cannot_be_detected_is_refused(general: dict[str, float], code: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        build(levels={"degree": (1, 2)}, **general)
    assert caught.value.code == code
    with pytest.raises(ToolkitError, match="compares configurations"):
        build(detect_pct=5.0)


@pytest.mark.parametrize(("text", "pct"), [("10%", 10.0), (" 2.5 % ", 2.5), ("7", 7.0)])
def test_a_difference_to_detect_is_read(text: str, pct: float) -> None:
    assert parse_detect(text) == pct
    for wrong in ("", "ten", "-5%", "5%%", "1e3", "٣%"):
        with pytest.raises(ToolkitError, match="not a difference"):
            parse_detect(wrong)


def test_a_repeat_makes_a_measurement_even_of_one_cell() -> None:
    made = build(repeat=1, warmup=0)
    assert (made.mode, made.repeat, made.warmup) == (Mode.MEASUREMENT, 1, 0)


def test_a_file_may_state_that_one_cell_is_a_measurement() -> None:
    assert build(mode=Mode.MEASUREMENT).repeat == 3


def test_a_seed_is_drawn_once_and_kept_when_given() -> None:
    assert build(seed=7).seed == 7
    assert len({build().seed for _ in range(20)}) > 10


def test_options_and_factors_keep_the_declared_order() -> None:
    made = build(
        {"table": "b", "source": "a", "tablespace": "x"}, {"logging": ("nologging",), "compression": ("none",)}
    )
    assert list(made.options) == ["source", "table", "tablespace"]
    assert [factor.name for factor in made.factors] == ["degree", "compression", "logging"]


@for_each(
    ("operation", "options"),
    [
        ("ctas", {"source": "t"}),
        ("ctas", {"table": "t"}),
        ("ctas", {"source": "t", "query": "select 1", "table": "t2"}),
        ("insert", {"table": "t"}),
        ("index-build", {"table": "t"}),
        ("index-build", {"columns": ("a",)}),
        ("index-rebuild", {}),
        ("index-rebuild", {"index": "i", "table": "t"}),
        ("index-rebuild", {"index": "i", "unusable_only": True}),
        ("stats-gather", {}),
        ("stats-gather", {"schema": ("s",), "table": "t"}),
    ],
)
def test_missing_and_excluding_options_are_named(operation: str, options: dict[str, Any]) -> None:
    with pytest.raises(ToolkitError, match="`--") as caught:
        build(options, operation=operation)
    assert caught.value.code == "TK-0107"


@for_each(
    ("more", "code"),
    [
        ({"repeat": 0}, "TK-0102"),
        ({"repeat": -1}, "TK-0102"),
        ({"repeat": 10**9}, "TK-0102"),
        ({"repeat": 2, "warmup": -1}, "TK-0102"),
        ({"seed": -1}, "TK-0102"),
        ({"snapshot": "awrr"}, "TK-0102"),
        ({"label": "last"}, "TK-0102"),
        ({"label": "a/b"}, "TK-0102"),
        ({"label": "a\x1b[0m"}, "TK-0102"),
        ({"warmup": 1}, "TK-0107"),
        ({"keep": Keep.BEST}, "TK-0107"),
        ({"mode": Mode.JOB, "repeat": 2}, "TK-0107"),
    ],
)
def test_general_options_that_do_not_fit_are_refused(more: dict[str, Any], code: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        build(**more)
    assert caught.value.code == code


def test_a_job_of_several_cells_is_refused() -> None:
    with pytest.raises(ToolkitError, match="a job runs once"):
        build(levels={"degree": (1, 2)}, mode=Mode.JOB)


@pytest.mark.parametrize("flag", ["bare", "on_live_objects"])
def test_what_only_measurements_know_is_refused_in_a_job(flag: str) -> None:
    operation = "insert" if flag == "bare" else "index-build"
    options = CTAS if flag == "bare" else {"table": "t", "columns": ("a",)}
    with pytest.raises(ToolkitError, match="is for measurements"):
        build({**options, flag: True}, operation=operation)
    assert build({**options, flag: True}, operation=operation, repeat=2).options[flag] is True


def test_keep_all_needs_objects_of_the_trials() -> None:
    with pytest.raises(ToolkitError, match="keep all"):
        build({"table": "t"}, operation="stats-gather", repeat=2, keep=Keep.ALL)
    assert build(repeat=2, keep=Keep.ALL).keep is Keep.ALL


def test_an_option_of_another_operation_is_refused_with_the_nearest() -> None:
    with pytest.raises(ToolkitError, match="`ctas` does not accept `online`") as caught:
        build({**CTAS, "online": True})
    assert caught.value.code == "TK-0101"


def test_foreign_factors_come_last_and_bear_no_name_of_an_option() -> None:
    extra = Factor("hash_mem_multiplier", ("1", "4"), None, COMMAND)
    made = build_experiment("ctas", CTAS, {}, SAID, (extra,))
    assert made.factors[-1] is extra
    assert made.mode is Mode.MEASUREMENT
    for bad in ((replace(extra, name="degree"),), (extra, extra)):
        with pytest.raises(ToolkitError) as caught:
            build_experiment("ctas", CTAS, {}, SAID, bad)
        assert caught.value.code == "TK-0107"


def test_options_an_engine_lacks_are_refused_when_it_is_known() -> None:
    made = build({**CTAS, "tablespace": "x"})
    check_engine(made, "oracle")
    with pytest.raises(ToolkitError, match="`--tablespace` does not exist on duckdb") as caught:
        check_engine(made, "duckdb")
    assert caught.value.code == "TK-0304"
    with pytest.raises(ToolkitError, match="--logging"):
        check_engine(build(levels={"logging": ("nologging",)}), "duckdb")


def test_an_option_without_a_value_that_is_off_is_not_typed() -> None:
    assert list(typed_levels({"online": (False,), "bare": (True,), "degree": (4,)})) == ["--bare", "--degree", "4"]
