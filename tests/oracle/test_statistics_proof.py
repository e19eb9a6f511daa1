"""What counts as moved, and what a DBA is told of it."""

from __future__ import annotations

from tests.for_each import for_each
from tests.oracle.make import OURS, SCHEMA, assumed, texts, work
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.statistics import Proof, live_statistics_of
from toolkit.model.facts import Facts
from toolkit.model.values import Row

BEGAN = "2026-11-21 05:13:42"
RECORDED: Row = {
    "kind": "table", "recorded_table": "ORDERS", "objects": 3, "analyzed": 3, "newest": "2026-11-20 22:00:00",
    "ages": 2_540_000_000, "rows_told": 900,
}  # fmt: skip
KEY = "stats_record:APP"


def before(*rows: Row) -> Facts:
    clock: Row = {
        "instant": f"{BEGAN}.120000 +01:00",
        "instant_date": BEGAN,
        "oldest": "2026-10-21 05:13:42 +01:00",
    }
    return assumed(**{KEY: rows, "stats_clock": (clock,)})


def proof(*now: Row) -> Proof:
    ways = live_statistics_of(DIALECT.work, "stats-gather")
    assert ways is not None
    return ways.proven([work("stats-gather", ref=SCHEMA)], before(RECORDED), {KEY: now}, OURS)


def test_the_same_state_is_proven() -> None:
    found = proof({**RECORDED, "ages": 2_540_000_000.0})
    assert found.good and "none of 3 published statistics" in found.sentence and not found.mend


@for_each(
    ("change", "why"),
    [
        ({"newest": "2026-11-21 05:13:43"}, "analyzed 2026-11-21 05:13:43, after the start"),
        ({"ages": 2_540_000_001}, "not as recorded"),
        ({"analyzed": 2}, "not as recorded"),
        ({"rows_told": 901}, "not as recorded"),
        ({"objects": 4}, "not as recorded"),
    ],
)
def test_any_difference_is_not_proven_and_names_the_table(change: Row, why: str) -> None:
    found = proof({**RECORDED, **change})
    assert not found.good
    (detail,) = found.details
    assert detail.startswith(f"APP.ORDERS: table {why}")
    (text,) = texts(found.mend)
    assert "RESTORE_TABLE_STATS" in text and f"TO_TIMESTAMP_TZ('{BEGAN}.120000 +01:00'" in text


def test_a_table_made_since_matters_only_when_it_was_analyzed() -> None:
    made: Row = {**RECORDED, "recorded_table": "NEW", "newest": None, "analyzed": 0}
    assert proof(RECORDED, made).good
    found = proof(RECORDED, {**made, "newest": "2026-11-21 06:00:00"})
    assert found.details == ("APP.NEW: table created since, analyzed 2026-11-21 06:00:00",)


def test_only_the_tables_that_moved_are_taken_back() -> None:
    moved = {**RECORDED, "recorded_table": "B", "newest": "2026-11-21 06:00:00"}
    (text,) = texts(proof(RECORDED, moved).mend)
    assert "tabname => 'B'" in text
