"""What a load tells of the chunks that it moved."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from toolkit.dialects.transfers import MOVED, told
from toolkit.dialects.work import Work

CHUNKS = tuple(
    {"file": "a.csv", "file_bytes": 500, "row_count": 20, "rejected_rows": 0, "host": name} for name in "ab"
)
INTO_COPY = cast("Work", SimpleNamespace(object=SimpleNamespace(scratch=True), transfer=None))
INTO_TABLE = cast("Work", SimpleNamespace(object=SimpleNamespace(scratch=False), transfer=None))


@pytest.mark.parametrize("seconds", [0.0, 2.0])
def test_rows_and_hosts_are_told_however_short_the_time_was_and_rates_where_there_was_any(seconds: float) -> None:
    found = {each.name: each.value for each in told(INTO_COPY, {MOVED: CHUNKS}, seconds).metrics}
    assert found["file_bytes"] == 1000
    assert found["host.a.loaded_rows"] == found["host.b.loaded_rows"] == 20
    assert found.get("load_rows_per_second") == (20 if seconds else None)


@pytest.mark.parametrize(("work", "whole"), [(INTO_COPY, True), (INTO_TABLE, False)])
def test_the_size_of_a_table_that_was_empty_tells_what_was_written(work: Work, whole: bool) -> None:
    """A table that had rows is larger than what was loaded, and tells nothing of it."""
    found = told(work, {MOVED: CHUNKS, "bytes": ({"byte_count": 4_000_000},)}, 2.0).metrics
    of_table = ("table_mb_per_second", "compression_ratio")
    written = {each.name: each.value for each in found if each.name in of_table}
    assert written == ({"table_mb_per_second": 2.0, "compression_ratio": 1000 / 4_000_000} if whole else {})
