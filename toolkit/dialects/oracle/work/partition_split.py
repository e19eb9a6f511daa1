"""ALTER TABLE SPLIT PARTITION, of ranges at a value, of lists by the values that go into the first of the two.

Sources: SQL Language Reference, ALTER TABLE, split_table_partition (ONLINE from 12.2); VLDB and Partitioning
Guide, "Splitting Partitions" (a split whose rows all fall into one of the two writes none); Database Error
Messages: ORA-14080, a value outside of the partition; ORA-14012, a name in use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Context, Decimal, InvalidOperation

from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.oracle.options import option_is_off
from toolkit.dialects.oracle.releases import Feature, edition_of, has
from toolkit.dialects.oracle.work import partition_drop
from toolkit.dialects.oracle.work.base import tablespace
from toolkit.dialects.oracle.work.indexes import no
from toolkit.dialects.oracle.work.partition_change import (
    PARTITIONS,
    PartitionChange,
    bound_of,
    change,
    names_of,
    part_named,
)
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.values import Row, Scalar, Support

_INSTANT = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?")
_MOST_POWER = 125
"""Of ten, in a NUMBER."""
_EXACT = Context(prec=200)
_NUMBERS = frozenset({"NUMBER", "FLOAT", "BINARY_FLOAT", "BINARY_DOUBLE"})


class SplitPartition(PartitionChange):
    """ALTER TABLE SPLIT PARTITION."""

    verb = "split"
    ways = ("RANGE", "LIST")

    def sources(self, work: Work, facts: Facts) -> tuple[Row, ...]:
        name = _named(work)
        return tuple(row for row in facts.rows(PARTITIONS) if row["part_name"] == name)

    def parts_of(self, work: Work, facts: Facts) -> tuple[IndexPart, ...]:
        return part_named(work, facts)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        kind = _kind(facts)
        values = _values(work, kind)
        assert values is not None, "judged before"
        statement = change(
            "partition_split",
            {
                "part": _named(work),
                "how": "AT" if work.option("in_values") is None else "VALUES",
                "kind": kind,
                "values": values,
                "into": names_of(work.option("new_names")),
                "tablespace": tablespace(work),
                "online": bool(work.option("online")),
            },
            work,
        )
        return (statement,)

    # -- what stands in the way -----------------------------------------------------------------------------------
    def judge_options(self, work: Work, facts: Facts) -> Support | None:
        if work.option("online") and not has(facts.release, Feature.ONLINE_PARTITION_SPLIT):
            return no("a partition is split ONLINE from 12.2; before, changes of its rows wait")
        if work.option("online") and (
            edition_of(facts).enterprise is False or option_is_off(facts, "Online Index Build")
        ):
            return no(f"ONLINE needs Enterprise Edition; this is {edition_of(facts).words}")
        if _values(work, _kind(facts)) is None:
            given = work.option("at") if work.option("in_values") is None else work.option("in_values")
            return no(f"`{given}` is not what the key of the partitions is: {_FORMS[_kind(facts)]}")
        return None

    def judge_partitions(self, work: Work, facts: Facts) -> Support | None:
        row, every = facts.first(PARTITIONS), [str(row["part_name"]) for row in facts.rows(PARTITIONS)]
        of_ranges = str(row.get("partitioning_type")).strip() == "RANGE"
        if row.get("key_count") != 1:
            return no(f"the partitions of `{work.object.name}` have a key of several columns: split it by hand")
        if of_ranges != (work.option("in_values") is None):
            asks, has_it = ("--at", "ranges") if of_ranges else ("--in-values", "lists")
            return no(f"`{work.object.name}` is partitioned by {has_it}: say where to split with {asks}")
        taken = set(every) - {_named(work)}
        if used := next((name for name in names_of(work.option("new_names")) if name in taken), None):
            return no(f"`{used}` is another partition of `{work.object.name}` (ORA-14012)")
        return self._within(work, facts) if of_ranges else None

    def _within(self, work: Work, facts: Facts) -> Support | None:
        """Refuse a value that is not between the bounds of the partition, where both can be read."""
        rows, kind = facts.rows(PARTITIONS), _kind(facts)
        at = next((n for n, row in enumerate(rows) if row["part_name"] == _named(work)), None)
        found = _values(work, kind)
        if at is None or not found:
            return None
        value = _comparable(found[0], kind)
        low = _bound(rows[at - 1], kind) if at else None
        high = _bound(rows[at], kind)
        if (low is not None and value <= low) or (high is not None and value >= high):  # type: ignore[operator]
            between = f"between {bound_of(rows[at - 1])} and " if at else "below "
            return no(
                f"`{_named(work)}` is split {between}{bound_of(rows[at])} (ORA-14080), and not at {found[0]}"
            )
        return None

    def ended_before(self, work: Work, begun: Facts, now: Facts) -> bool:
        """Tell whether both partitions are there, where not both were."""
        into = set(names_of(work.option("new_names")))
        were, are = ({str(row["part_name"]) for row in facts.rows(PARTITIONS)} for facts in (begun, now))
        return (
            _named(work) in were
            and not into <= were
            and into <= are
            and (_named(work) in into or _named(work) not in are)
        )

    def remarks(self, work: Work, facts: Facts) -> Iterator[str]:
        yield "where all rows fall into one of the two, none is written and it takes moments"
        yield from super().remarks(work, facts)


_FORMS = {
    "DATE": "a date, as 2026-11-01 or 2026-11-01T06:00",
    "TIMESTAMP": "a time, as 2026-11-01 or 2026-11-01T06:00:00.5, without an offset",
    "NUMBER": "a number, with a fraction of 12 digits at most",
    "TEXT": "a text",
}


def _named(work: Work) -> str:
    return parse_name(str(work.option("partition"))).name


def _kind(facts: Facts) -> str:
    """Return which kind of literal the key of the partitions takes; a date where it is not known."""
    known = str(facts.first(PARTITIONS).get("key_type") or "DATE")
    if known == "DATE" or known in _NUMBERS:
        return "DATE" if known == "DATE" else "NUMBER"
    return "TIMESTAMP" if known.startswith("TIMESTAMP") else "TEXT"


def _values(work: Work, kind: str) -> tuple[Scalar, ...] | None:
    """Return the values asked for as their literals take them; None where one is none of the kind."""
    text = spelling.text_option(work, "in_values")
    texts = (str(work.option("at")),) if text is None else tuple(part.strip() for part in text.split(","))
    found = tuple(_value(each, kind) for each in texts)
    return None if any(value is None for value in found) else found


def _value(text: str, kind: str) -> Scalar:
    try:
        if kind == "NUMBER":
            return _number(text)
        if kind == "TEXT":
            return text or None
        instant = datetime.fromisoformat(text) if _INSTANT.fullmatch(text) else None
    except ValueError:
        return None
    if instant is None or (kind == "DATE" and instant.microsecond):
        return None
    return instant.isoformat(" ", "seconds" if kind == "DATE" or not instant.microsecond else "microseconds")


def _number(text: str) -> int | float | None:
    """Return a number with all its digits; None for none, and for one that Oracle or a template cannot have."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or number.adjusted() > _MOST_POWER:
        return None
    if number == number.to_integral_value(context=_EXACT):
        return int(number)
    return float(number) if Decimal(f"{number:.12g}") == number else None


def _comparable(value: Scalar, kind: str) -> Decimal | str | datetime:
    if kind == "NUMBER":
        return Decimal(str(value))
    return str(value) if kind == "TEXT" else datetime.fromisoformat(str(value))


def _bound(row: Row, kind: str) -> Decimal | datetime | None:
    """Return the bound of a partition where it can be compared here: Oracle sorts texts its own way."""
    if kind == "TEXT":
        return None
    if kind != "NUMBER":
        return partition_drop.instant_of(bound_of(row))
    try:
        return Decimal(bound_of(row))
    except InvalidOperation:
        return None


SPLIT = SplitPartition()
