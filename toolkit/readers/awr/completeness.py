"""Whether the lists of a report are whole: held against what they print of themselves, and against each other.

AWR lists at least ten statements where it has as many, and goes on as long as one makes up a hundredth of the
total. A statement belongs into the list by gets if another list shows it with more gets than the last one there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from toolkit.model.values import Scalar
from toolkit.units import counted, percent

_LEAST_LISTED, _LEAST_SHARE = 10, 1.1
"""Statements that AWR lists whatever their share, and the share in percent of one that it lists in any case."""
_ROUNDING = 1.01
"""Figures of one statement may be rounded, and differ by their last digit from list to list."""
_SHARE_APART = 0.6
"""Percent points by which the shares of a list may add to less than what is said of them."""
_LARGE, _LARGE_APART = 2.5, 2
"""A list whose smallest share is as large as this may be cut if what is captured besides is so many times that.

In real reports the smallest share was below 2 %: lists end where a statement makes up less than one.
"""
_CAPTURED = re.compile(
    r"Captured\s+SQL\s+accounts?\s+for\s+(-?\d[\d.,]*)\s*%\s+of\s+Total(\s+DB\s+Time)?", re.IGNORECASE
)
_ORDERED = re.compile(r"SQL\s+ordered\s+by\s+([A-Za-z/ ]+)", re.IGNORECASE)
_NEAR = 4000
"""Characters from the heading of a list to what is said of it."""
_MEASURES = {"elapsed": "elapsed_s", "cpu": "cpu_s", "gets": "gets", "reads": "reads"}
_WORDS = {"elapsed": "elapsed time", "cpu": "CPU time", "gets": "gets", "reads": "reads"}
_MOST_MISSING = 0.4
"""A text with fewer of the lists is of another kind."""
_STATISTICS = {
    "redo_size_bytes": "redo size", "logical_reads": "session logical reads", "block_changes": "db block changes",
    "physical_reads": "physical reads", "physical_writes": "physical writes", "user_calls": "user calls",
    "parses": "parse count (total)", "hard_parses": "parse count (hard)", "logons": "logons cumulative",
    "executes": "execute count",
}  # fmt: skip
"""What rates of the load profile are made of, in the list of the instance's activity."""
_LISTS = {
    "instance activity": r"(other )?instance activity", "background events": r"background wait",
    "I/O of tablespaces": r"tablespace io", "buffer pools": r"buffer pool stat",
    "instance recovery": r"instance recovery", "PGA": r"pga (aggr|memory)",
    "shared pool advice": r"shared pool advi", "undo segments": r"undo segment",
    "latches": r"latch activity", "latch sleeps": r"latch sleep", "latch misses": r"latch miss",
    "dictionary cache": r"dictionary cache", "library cache": r"library cache",
    "memory of the SGA": r"sga (memory|breakdown)", "initialization parameters": r"init\.ora param",
}  # fmt: skip
"""What every report of an instance has, by its heading; in a text no table of contents says so."""
Rows = Sequence[Mapping[str, Scalar]]


def captured_shares(text: str) -> dict[str, str]:
    """Return what the statements of each list make up, as is said of it, by the words it is ordered by.

    That of DB time is there once more, as that of the report, under no words.
    """
    found: dict[str, str] = {}
    at = text.find("Captured")
    while at >= 0:
        if share := _CAPTURED.match(text, at):
            if share[2]:
                found.setdefault("", share[1])
            heading = _ORDERED.match(text, max(text.rfind("SQL ordered by", max(0, at - _NEAR), at), 0))
            if heading:
                found.setdefault(" ".join(heading[1].lower().split()), share[1])
        at = text.find("Captured", at + 1)
    return found


def gaps(sections: Mapping[str, object], captured: Mapping[str, Scalar]) -> list[str]:
    """Return a sentence for each list that lacks rows.

    Args:
        sections: The sections of a report, by name.
        captured: What its statements make up of the total of a list in percent, by what it is ordered by.
    """
    return [
        *_below_its_share(sections, captured),
        *_lacks_those_of_others(sections),
        *_lacks_statistics(sections),
    ]


def lists_of_text(headings: Iterable[str]) -> list[str]:
    """Name the lists that every report of an instance has and a text has not, where it has most of them.

    Args:
        headings: Those of its lists, also of lists for which there are no data.
    """
    found = [heading.lower() for heading in headings]
    missing = [name for name, words in _LISTS.items() if not any(re.match(words, one) for one in found)]
    if not missing or len(missing) > len(_LISTS) * _MOST_MISSING:
        return []
    return [
        f"the text has no list for: {', '.join(missing)}; every report of an instance has one, so pages of it may "
        "be missing"
    ]


def _below_its_share(sections: Mapping[str, object], captured: Mapping[str, Scalar]) -> Iterator[str]:
    for metric, share in captured.items():
        rows = _rows(sections.get(f"sql_by_{metric}"))
        parts = [part for row in rows if (part := _number(row.get("pct_total"))) is not None]
        if not parts or not isinstance(share, int | float):
            continue
        listed, least = sum(parts), min(parts)
        surely = rows[0].get("sql_id") is not None and len(rows) < _LEAST_LISTED and listed + _SHARE_APART < share
        if surely or (least >= _LARGE and share - listed > _LARGE_APART * least):
            order = _WORDS.get(metric, metric.replace("_", " "))
            yield (
                f"the {counted(len(rows), 'statement')} by {order} make up {percent(listed)} of the total, yet "
                f"{percent(share)} of it are said to be captured: rows of the list "
                f"{'are' if surely else 'may be'} missing"
            )


def _lacks_those_of_others(sections: Mapping[str, object]) -> Iterator[str]:
    lists = {name: _rows(rows) for name, rows in sections.items() if name.startswith("sql_by_")}
    for metric, key in _MEASURES.items():
        own = lists.get(f"sql_by_{metric}", [])
        values = [value for row in own if (value := _number(row.get(key))) is not None]
        if not values:
            continue
        least = _least(own, key, min(values))
        known = {_identity(row) for row in own}
        lacking = {
            str(_identity(row)[0])
            for rows in lists.values()
            for row in rows
            if _identity(row)[0] and _identity(row) not in known
            and (value := _number(row.get(key))) is not None and value > least * _ROUNDING
        }  # fmt: skip
        if lacking:
            yield (
                f"the list of statements by {_WORDS[metric]} lacks {counted(len(lacking), 'statement')} that "
                f"other lists show with more than its last one: `{min(lacking)}`"
            )


def _least(rows: Rows, key: str, last: float) -> float:
    """Return from where on a statement must be in a list: its last one, or a hundredth of the total."""
    totals = [
        value * 100 / share
        for row in rows
        if (value := _number(row.get(key))) and (share := _number(row.get("pct_total"))) and share >= 1
    ]
    return min(last, max(totals) * _LEAST_SHARE / 100) if totals and len(rows) >= _LEAST_LISTED else last


def _lacks_statistics(sections: Mapping[str, object]) -> Iterator[str]:
    load = sections.get("load_profile_per_sec")
    rows = _rows(sections.get("instance_activity"))
    if not rows or not isinstance(load, Mapping):
        return
    names = {row.get("name") for row in rows}
    missing = [name for key, name in _STATISTICS.items() if _number(load.get(key)) and name not in names]
    if missing:
        shown = ", ".join(f"`{name}`" for name in missing[:3])
        more = " and more" if missing[3:] else ""
        yield (
            f"the list of the instance's activity lacks {shown}{more}, which the "
            "load profile counts: rows of it are missing"
        )


def _identity(row: Mapping[str, Scalar]) -> tuple[Scalar, Scalar]:
    return row.get("sql_id") or row.get("old_hash_value"), row.get("pdb")


def _rows(section: object) -> Rows:
    return section if isinstance(section, list) else []


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
