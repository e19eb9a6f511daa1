"""Which factors change together, and what a comparison of configurations that differ in several cannot tell."""

from __future__ import annotations

from tests.report.make import cell
from toolkit.analysis.confounded import confounded, several_at_once


def test_factors_that_always_change_together_are_named_together() -> None:
    (said,) = confounded([cell(disk="a", cpus=4, users=1), cell(disk="b", cpus=6, users=1)])
    assert said.startswith("`disk` and `cpus` are confounded")
    (said,) = confounded([cell(a=1, b=1, c=1), cell(a=2, b=2, c=2)])
    assert said.startswith("`a`, `b` and `c` are confounded")


def test_a_factor_that_never_changes_alone_is_named_where_others_do() -> None:
    cells = [cell(disk="a", cpus=4), cell(disk="b", cpus=6), cell(disk="b", cpus=8)]
    (said,) = confounded(cells)
    assert said.startswith("no two configurations differ in `disk` alone")
    assert confounded([*cells, cell(disk="b", cpus=4)]) == ()


def test_whole_designs_single_factors_and_no_cells_have_no_remark() -> None:
    assert confounded([cell(a=1, b=1), cell(a=1, b=2), cell(a=2, b=1), cell(a=2, b=2)]) == ()
    assert confounded([cell(a=1), cell(a=2)]) == ()
    assert confounded([cell()]) == confounded([]) == ()


def test_configurations_that_differ_in_several_factors_are_told_once() -> None:
    one, two, three = cell(a=1, b=1), cell(a=2, b=2), cell(a=1, b=2)
    (said,) = several_at_once([(one, two), (one, two)])
    assert said.startswith("A and B differ in `a` and `b` at once (confounded)")
    assert several_at_once([(one, three), (one, one)]) == ()
