"""Counts whose unit a report cut off: `521.6K` in a column of five characters is printed as `521.6`, and
`1991.K` as `1991.`.

A text report of 11g does so in its wait event histograms. A count has no fraction, so the unit is known to be
missing; the lists of events of the same report print the count in full, and tell which one it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from toolkit.model.values import Scalar
from toolkit.units import counted

_HISTOGRAMS = ("wait_event_histogram", "wait_event_histogram_detail")
_LISTS = (("foreground_events", "background_events"), ("wait_events",))
"""The lists that together have all waits of an event."""
_UNITS = (10**3, 10**6, 10**9)
_MOST_TIMES = 3
"""How far the histogram and the lists of events may be apart: they are taken at slightly different moments."""
Row = dict[str, Scalar]


def whole_counts(details: Mapping[str, Sequence[Row]], sections: Mapping[str, object]) -> list[str]:
    """Give counts the unit that was cut off; one that nothing else tells is taken away, with a sentence.

    Args:
        details: The rows of the sections read on demand, which are changed.
        sections: The other sections of the report.
    """
    sentences = []
    for name in _HISTOGRAMS:
        rows = details.get(name, ())
        keys = [key for key in (rows[0] if rows else ()) if key.startswith("waits")]
        broken = [(row, key) for key in keys for row in rows if type(row.get(key)) is float]
        if not broken:
            continue
        known, lost = _waits(sections), []
        for row, key in broken:
            printed = row[key]
            row[key] = _in_full(printed, known.get(row["event"]) if key == "waits" else None)
            lost += [printed] if row[key] is None else []
        if lost:
            many = counted(len(lost), "count is", "counts are")
            sentences.append(f"in `{name}` {many} printed without the unit (K, M or G), and left out: `{lost[0]}`")
    return sentences


def _in_full(printed: Scalar, known: float | None) -> Scalar:
    """Return a count with the unit that comes nearest to what is known of it, None where nothing is."""
    if known is None or not isinstance(printed, float):
        return None
    whole = min((round(printed * unit) for unit in _UNITS), key=lambda one: max(one / known, known / one))
    return whole if known / _MOST_TIMES < whole < known * _MOST_TIMES else None


def _waits(sections: Mapping[str, object]) -> dict[Scalar, float]:
    """Return the waits of each event, of the first lists that the report has."""
    for names in _LISTS:
        found: dict[Scalar, float] = {}
        for row in (row for name in names for row in _rows(sections.get(name))):
            if isinstance(waits := row.get("waits"), int | float) and waits > 0:
                found[row["event"]] = found.get(row["event"], 0) + waits
        if found:
            return found
    return {}


def _rows(section: object) -> Iterable[Row]:
    return section if isinstance(section, list) else ()
