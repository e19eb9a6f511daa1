"""What a load tells of the chunks that it moved."""

from __future__ import annotations

from typing import cast

import pytest

from toolkit.dialects.transfers import MOVED, told
from toolkit.dialects.work import Work

CHUNKS = tuple(
    {"file": "a.csv", "file_bytes": 500, "row_count": 20, "rejected_rows": 0, "host": name} for name in "ab"
)


@pytest.mark.parametrize("seconds", [0.0, 2.0])
def test_rows_and_hosts_are_told_however_short_the_time_was_and_rates_where_there_was_any(seconds: float) -> None:
    found = {each.name: each.value for each in told(cast("Work", None), {MOVED: CHUNKS}, seconds).metrics}
    assert found["file_bytes"] == 1000
    assert found["host.a.loaded_rows"] == found["host.b.loaded_rows"] == 20
    assert found.get("load_rows_per_second") == (20 if seconds else None)
