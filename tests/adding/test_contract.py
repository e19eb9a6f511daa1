"""The made-up engine before the contract suite of all engines: what it has not is unsupported, test by test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.adding import elsewhere, pause
from tests.engines import test_backups, test_loads, test_operations
from tests.engines.arena import Arena
from toolkit.app.targets import find_target
from toolkit.model.operations import registered
from toolkit.store.store import Store

place = test_backups.place
open_umask = test_backups.open_umask
for suite in (test_operations, test_loads, test_backups):
    globals().update({name: test for name, test in vars(suite).items() if name.startswith("test_")})


@contextmanager
def elsewhere_arena() -> Iterator[Arena]:
    """The place, with an operation that nobody else has."""
    with elsewhere.added(), registered(pause.DECLARATION):
        cases = {"pause": {"milliseconds": 1}}
        yield Arena(
            "elsewhere", "elsewhere://", "", lambda: find_target("elsewhere://").target, lambda _: [], cases=cases
        )


@pytest.fixture
def any_arena() -> Iterator[Arena]:
    with elsewhere_arena() as found:
        yield found


@pytest.fixture
def arena(any_arena: Arena) -> Arena:
    return any_arena


def test_what_it_has_is_measured_like_all_else(any_arena: Arena, store: Store) -> None:
    test_operations.test_a_measurement_runs_every_trial_and_leaves_nothing(any_arena, store, "pause")
