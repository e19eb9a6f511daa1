"""What the tests of plans and nights share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from toolkit.store import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A results store of the test's own."""
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened
