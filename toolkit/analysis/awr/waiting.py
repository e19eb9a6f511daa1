"""DB time by what sessions did: each event split into longer waits and more of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolkit.analysis.awr.changes import Amount, Change, amount, matched, rates
from toolkit.model.interval import Interval, Wait


@dataclass(frozen=True, slots=True)
class Split:
    """One event: how much of its rise is longer waits, and how much more of them."""

    name: str
    latency: float
    count: float
    evidence: tuple[Change, ...]

    @property
    def rise(self) -> float:
        """The rise altogether."""
        return self.latency + self.count

    @property
    def longer(self) -> float:
        """How many times as long a wait takes."""
        found = next((one for one in self.evidence if one.key == "latency"), None)
        ratio = None if found is None else found.ratio
        return ratio if ratio is not None else 1.0


def load(before: Interval, after: Interval) -> tuple[Change, ...]:
    """Return the measures of the load, before and after."""
    names = ("transactions", "user_calls", "executes")
    return tuple(one for one in (rates(before, after, name) for name in names) if one.ratio is not None)


def parts_of(before: Interval, after: Interval, factor: float) -> dict[str, Split]:
    """Return every event, and CPU, that took more than in proportion to the load."""
    found = {}
    for name, change in matched(before, after, lambda side: side.waits, "seconds").items():
        split = _split(before, after, name, change, factor)
        if split is not None and split.rise > 0:
            found[name] = split
    return found


def _split(before: Interval, after: Interval, name: str, change: Change, factor: float) -> Split | None:
    b, a = change.before, change.after
    if a.rate is None or (b.rate is None and b.most_rate is None):
        return None
    known = b.rate if b.rate is not None else b.most_rate or 0.0
    excess = a.rate - factor * known
    rows = [side.waits.rows.get(name) for side in (before, after)]
    latency = _latency(rows)
    evidence = [change, *([] if latency is None else [latency])]
    waits = [None if row is None else row.waits for row in rows]
    if latency is None or latency.before.rate is None or latency.after.rate is None or not waits[1]:
        return Split(name, 0.0, excess, tuple(evidence))
    count = Change("waits", amount(before, waits[0]), amount(after, waits[1]))
    longer = (latency.after.rate - latency.before.rate) * (count.after.rate or 0.0)
    longer = min(max(longer, 0.0), max(excess, 0.0))
    return Split(name, longer, excess - longer, (*evidence, count))


def _latency(rows: Sequence[Wait | None]) -> Change | None:
    """Return the average wait before and after, in seconds."""
    found = [None if row is None else row.latency_seconds for row in rows]
    return None if None in found else Change("latency", *(Amount(one, None, 1.0) for one in found))
