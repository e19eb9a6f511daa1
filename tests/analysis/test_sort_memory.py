"""The published table of sort memory, and what follows from what a sort wrote to disk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.report.make import cell, metric, trial
from toolkit.analysis.sort_memory import Spill, levels_to_try, one_pass_bytes, published_mb, spill_of
from toolkit.model.records import Sample

NODES = (1, 4, 8, 16, 24, 32, 48, 64)
PUBLISHED: dict[float, tuple[int | None, ...]] = {
    1: (None,) * 8,
    1.5: (None,) * 8,
    3: (28, *(None,) * 7),
    10: (51, 25, *(None,) * 6),
    30: (88, 44, 31, 22, *(None,) * 4),
    100: (160, 80, 57, 40, 33, 28, 23, 20),
    300: (277, 139, 98, 69, 57, 49, 40, 35),
    1000: (506, 253, 179, 126, 103, 89, 73, 63),
    3000: (876, 438, 310, 219, 179, 155, 126, 110),
    10000: (1600, 800, 566, 400, 327, 283, 231, 200),
}
"""MB of each node by GB of data; None where the default of 20 MB is enough."""


@for_each("gigabytes", PUBLISHED)
def test_the_published_table_comes_out(gigabytes: float) -> None:
    found = tuple(published_mb(1024 * gigabytes, nodes) for nodes in NODES)
    assert found == PUBLISHED[gigabytes]


def test_the_default_is_enough_up_to_1_6_gb_for_each_node() -> None:
    assert published_mb(1560, 1) is None
    assert published_mb(1700, 1) == 21


@given(st.floats(1e6, 1e15), st.integers(1, 512))
def test_the_published_formula_is_the_one_pass_rule_with_a_buffer_of_256_kib(data: float, nodes: int) -> None:
    megabytes = one_pass_bytes(data, nodes) / 2**20
    assert megabytes == pytest.approx((data / 2**20 / nodes) ** 0.5 / 2)


@given(st.floats(1e6, 1e13), st.integers(1, 64), st.booleans())
def test_levels_rise_from_merging_once_to_writing_nothing(data: float, processes: int, shared: bool) -> None:
    levels = levels_to_try(Spill(data), processes, shared, 2**18)
    assert all(level >= 1 for level in levels)
    whole = 1.1 * data / (1 if shared else processes) / 2**20
    assert levels[-1] >= whole
    assert levels[-1] <= max(whole, levels[0]) + 1


@for_each(
    ("metrics", "passes"),
    [
        ({"workarea executions - multipass": 2.0, "workarea executions - onepass": 3.0}, "several passes"),
        ({"workarea executions - onepass (session)": 1.0}, "one pass"),
        ({"temp_bytes": 70.0 * 2**20}, "one pass"),
        ({"temp_bytes": 200.0 * 2**20}, "several passes"),
    ],
)
def test_passes_are_those_that_were_measured(metrics: dict[str, float], passes: str) -> None:
    of = trial(1, cell(degree=1), 1, 2.0, metrics=tuple(metric(name, value) for name, value in metrics.items()))
    spill = spill_of([of])
    assert spill is not None
    assert spill.passes == passes


def test_temporary_space_that_is_empty_again_afterwards_is_seen_in_the_samples() -> None:
    samples = tuple(Sample(float(at), "db_temp_bytes", at * 1e7) for at in range(4))
    of = trial(1, cell(degree=1), 1, 4.0, metrics=(metric("db_temp_bytes", 0.0),), samples=samples)
    assert spill_of([of]) == Spill(3e7, 64.0 * 2**20)
    assert spill_of([trial(1, cell(degree=1), 1, 4.0)]) is None
