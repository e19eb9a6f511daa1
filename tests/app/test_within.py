"""Under an approval a run touches only what its file names, itself or by its schema."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from toolkit.app.runs.planning import check_within
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Script
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts, Release
from toolkit.model.steps import ObjectRef, Stages, Step, Timed, TimedItem
from toolkit.model.values import QualifiedName
from toolkit.model.words import Effect, Mode, ObjectKind

FACTS = Facts("oracle", Release((19,)), {"server": ({"current_schema": "ME"},)})
INDEX, TABLE, SETTING = ObjectKind.INDEX, ObjectKind.TABLE, ObjectKind.SETTING
STATISTICS = ObjectKind.STATISTICS


def touch(options: dict[str, str | tuple[str, ...]], touched: ObjectRef) -> None:
    experiment = Experiment("d", "index-rebuild", options, (), Mode.JOB)
    step = Step("s", "x", effect=Effect.CHANGES, object=touched)
    stages = Stages(Timed((TimedItem("i", (step,)),)))
    check_within([Script("t", stages)], experiment, dialect_of("oracle"), FACTS)


def ref(
    kind: ObjectKind, name: str, schema: str | None, table: str | None = None, *, scratch: bool = False
) -> ObjectRef:
    return ObjectRef(
        kind,
        QualifiedName(name, schema),
        scratch=scratch,
        table=None if table is None else QualifiedName(table, schema),
    )


@for_each(
    ("options", "touched"),
    [
        ({"schema": ("sales",)}, ref(INDEX, "ANY", "SALES", "T")),
        ({"schema": ("hr", "sales")}, ref(TABLE, "NEW_SINCE", "SALES")),
        ({"table": "t"}, ref(INDEX, "T_IX", "ME", "T")),
        ({"table": "sales.t"}, ref(TABLE, "T", "SALES")),
        ({"index": '"Mixed"'}, ref(INDEX, "Mixed", "ME", "T")),
        ({"table": "t"}, ref(TABLE, "DBATK_X_1", "ELSEWHERE", scratch=True)),
        ({"table": "t"}, ref(SETTING, "threads", "x")),
        ({"schema": ("hr", "sales")}, ref(STATISTICS, "SALES", None)),
        ({"schema": ('"Mixed"',)}, ref(STATISTICS, "Mixed", None)),
        ({"server": "fixed_objects"}, ref(STATISTICS, "fixed_objects", None)),
    ],
)
def test_what_the_file_names_may_be_touched(options: dict[str, str | tuple[str, ...]], touched: ObjectRef) -> None:
    touch(options, touched)
    with pytest.raises(ToolkitError):  # the same options, and what they do not name
        touch(options, ref(TABLE, "T", "ANOTHER"))


@for_each(
    ("options", "touched"),
    [
        ({"schema": ("sales",)}, ref(INDEX, "I", "HR", "T")),
        ({"table": "t"}, ref(INDEX, "I", "ME", "OTHER")),
        ({"table": "t"}, ref(TABLE, "T", "HR")),
        ({"index": "i"}, ref(INDEX, "J", "ME", "T")),
        ({"schema": ("sales",)}, ref(STATISTICS, "HR", None)),
        ({"schema": ("sales",)}, ref(STATISTICS, "dictionary", None)),
        ({"table": "sales"}, ref(STATISTICS, "SALES", None)),
        ({"table": "t"}, ref(STATISTICS, "ME", None)),
        ({"server": "fixed_objects"}, ref(STATISTICS, "dictionary", None)),
        ({"server": "system"}, ref(STATISTICS, "SYSTEM", None)),
        ({}, ref(STATISTICS, "SALES", None)),
    ],
)
def test_anything_else_is_refused_by_name(options: dict[str, str | tuple[str, ...]], touched: ObjectRef) -> None:
    with pytest.raises(ToolkitError, match=f"it would touch {touched.kind} `{touched.name}`") as caught:
        touch(options, touched)
    assert caught.value.code == "TK-0313"
