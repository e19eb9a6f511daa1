"""What a plan may expect of every table that a step names, and what not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.for_each import for_each
from toolkit.app.maintenance import verify


@for_each(
    ("options", "every"),
    [
        ({"schema": ("APP",)}, True),
        ({"schema": ("APP",), "force_locked": True, "publish": "now"}, True),
        ({"schema": ("APP",), "only_tables": ("ORD%",)}, False),
        ({"schema": ("APP",), "publish": "later"}, False),
        ({"schema": ("APP",), "max_difference": 0}, False),
        ({"server": "dictionary"}, False),
        ({"table": "ORDERS", "partition": "P1"}, False),
    ],
)
def test_not_every_gathering_renews_the_statistics_of_every_table(options: dict[str, Any], every: bool) -> None:
    job: Any = SimpleNamespace(step=SimpleNamespace(options=options, levels={}))
    assert verify._gathers_all(job) is every
