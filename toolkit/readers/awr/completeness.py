"""Whether the lists of a report are whole: held against what they print of themselves, and against each other.

AWR lists at least ten statements where it has as many, and goes on as long as one makes up a hundredth of the
total. A statement belongs into the list by gets if another list shows it with more gets than the last one there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from toolkit.model.values import Scalar
from toolkit.readers.awr.always import FIXED, LISTS, OF_AWR, TABLES, TOGETHER
from toolkit.readers.awr.tables import AwrTable, number_of
from toolkit.units import counted, percent, seconds

_LEAST_LISTED, _LEAST_SHARE = 10, 1.1
"""Statements that AWR lists whatever their share, and the share in percent of one that it lists in any case."""
_ROUNDING = 1.01
"""Figures of one statement may be rounded, and differ by their last digit from list to list."""
_SHARE_APART = 0.6
"""Percent points by which the shares of a list may add to less than what is said of them."""
_HALF_SECOND, _CLASSES_APART = 0.5, 0.01
"""What rounding takes from each time, and events too small to be listed from those of their classes."""
_LARGE, _LARGE_APART = 2.5, 2
"""A list whose smallest share is as large as this may be cut if what is captured besides is so many times that.

In real reports the smallest share was below 2 %: lists end where a statement makes up less than one.
"""
_MOST_UNLISTED = 15
"""Statspack lists each statement of a hundredth; in real reports all others made up 5 times the last at most."""
_CAPTURED = re.compile(
    r"Captured\s+SQL\s+accounts?\s+for\s+(-?\d[\d.,]*)\s*%\s+of\s+Total(\s+DB\s+Time)?", re.IGNORECASE
)
_SAID = "Captured SQL"
_ORDERED = re.compile(r"SQL\s+ordered\s+by\s+([A-Za-z/ ]+)", re.IGNORECASE)
_NEAR = 4000
"""Characters from the heading of a list to what is said of it."""
_MEASURES = {
    "elapsed": "elapsed_s", "cpu": "cpu_s", "gets": "gets", "reads": "reads", "executions": "executions",
}  # fmt: skip
_WORDS = {
    "elapsed": "elapsed time", "cpu": "CPU time", "gets": "gets", "reads": "reads", "executions": "executions",
}  # fmt: skip
_IN_SECONDS = {"elapsed_s", "cpu_s"}
"""Times, which 10.2 and 11.1 print in whole seconds in the lists ordered by them and with decimals in others."""
_SEGMENTS_LISTED = 5
_SEGMENTS = re.compile(r"-> (?:Captured Segments account for +([\d.]+(?:E\+\d+)?)%|% of Capture shows)", re.ASCII)
_LAST_SHARE = re.compile(r"\s(\d*\.\d\d)$", re.ASCII)
_OF_OTHERS = re.compile(r"\b(PDB|RAC)\b.{0,20}\breport\b|\breport\b.{0,20}\(RAC\)", re.IGNORECASE)
"""Reports that are of no instance, and have other lists."""
_MAPPED = {"init_parameters"}
_STATEMENTS = {f"sql_by_{measure}" for measure in _MEASURES}
_HELD = {
    *FIXED, *_STATEMENTS, "instance_activity", "latches", "latch_sleeps", "latch_misses", "wait_events",
    "top_events", "foreground_events", "background_events", "wait_event_histogram", "foreground_wait_classes",
    "tablespace_io", "file_io", "io_by_function", "io_by_file_type", "undo_over_time", "buffer_cache_advice",
    "streams_pool_advice", "pga_advice", "sga_advice", "shared_pool_advice", "java_pool_advice",
}  # fmt: skip
_HELD_TABLES = (
    *TABLES, r"service statistics", r"buffer wait stat", r"rollback segment st", r"top process memory",
    r"instance recovery", r"pga aggr target stats",
)  # fmt: skip
"""The lists that a sentence may be of."""
_MOST_NAMED = 6
_MOST_MISSING = 0.4
"""A text with fewer of the lists is of another kind."""
_STATISTICS = {
    "redo_size_bytes": "redo size", "logical_reads": "session logical reads", "block_changes": "db block changes",
    "physical_reads": "physical reads", "physical_writes": "physical writes", "user_calls": "user calls",
    "parses": "parse count (total)", "hard_parses": "parse count (hard)", "logons": "logons cumulative",
    "executes": "execute count",
}  # fmt: skip
"""What rates of the load profile are made of, in the list of the instance's activity."""
Rows = Sequence[Mapping[str, Scalar]]


def captured_shares(text: str) -> dict[str, str]:
    """Return what the statements of each list make up, as is said of it, by the words it is ordered by.

    That of DB time is there once more, as that of the report, under no words.
    """
    found: dict[str, str] = {}
    words = _SAID if _SAID in text else _SAID[:8]  # the longer is found faster, where no line ends within it
    at = text.find(words)
    while at >= 0:
        if share := _CAPTURED.match(text, at):
            if share[2]:
                found.setdefault("", share[1])
            heading = _ORDERED.match(text, max(text.rfind("SQL ordered by", max(0, at - _NEAR), at), 0))
            if heading:
                found.setdefault(" ".join(heading[1].lower().split()), share[1])
        at = text.find(words, at + 1)
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
        *_lacks_foreground_events(sections),
    ]


def wholeness(sections: Mapping[str, object], tables: Sequence[AwrTable]) -> dict[str, object]:
    """Return which lists are held against others or against totals, and which nothing else tells of.

    Args:
        sections: The facts and sections of a report and those of its details, by name.
        tables: Those that are no known section.
    """
    of_instance = sections.get("scope") == "instance"
    known, words = (_HELD, _HELD_TABLES) if of_instance else (_STATEMENTS, ())
    filled = [name for name, rows in sections.items() if _rows(rows) or (rows and name in _MAPPED)]
    segments = sections.get("segments")
    by = [f"segments by {one}" for one in segments] if isinstance(segments, Mapping) else []
    named = [" ".join(table.section.split()) for table in tables if table.section and len(table.rows) > 1]
    held = {
        *(name for name in filled if name in known), *by,
        *(name for name in named if any(re.match(one, name, re.IGNORECASE) for one in words)),
    }  # fmt: skip
    others = sorted({*filled, *named} - held)
    more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
    alone = f"; nothing tells of them in {', '.join(others[:_MOST_NAMED])}{more}" if others else ""
    sentence = (
        f"a text does not say how many rows its lists have: {counted(len(held), 'list is', 'lists are')} held "
        f"against totals and other lists, which may not show all rows that are missing{alone}"
    )
    return {"sentence": sentence, "held": sorted(held), "not_held": others}


def lists_of_text(headings: Iterable[str], title: str) -> list[str]:
    """Name the lists that every report of an instance has and a text has not, where it has most of them.

    Args:
        headings: Those of its lists, also of lists for which there are no data.
        title: That of the text.
    """
    if _OF_OTHERS.search(title):
        return []
    found = [heading.lower() for heading in headings]

    def lacks(words: str) -> bool:
        return not any(re.match(words, one) for one in found)

    apart = []
    for together in [*TOGETHER, *(OF_AWR if "WORKLOAD" in title.upper() else ())]:
        absent = [name for name, words in together.items() if lacks(words)]
        if 0 < len(absent) < len(together):
            others = next(name for name in together if name not in absent)
            apart.append(f"the text has no list of {', '.join(absent)}, which every text with one of {others} has")
    missing = [name for name, words in LISTS.items() if lacks(words)]
    if not missing or len(missing) > len(LISTS) * _MOST_MISSING:
        return apart
    return [
        *apart,
        f"the text has no list for: {', '.join(missing)}; every report of an instance has one, so pages of it may "
        "be missing",
    ]


def segments_below_their_share(
    lines: Sequence[str], heading: Callable[[str], str], end: Callable[[str], bool]
) -> Iterator[str]:
    """Yield a sentence for each list of segments of an AWR text that makes up less than it says of itself.

    AWR lists five segments where it has as many.

    Args:
        lines: The text.
        heading: What names a list by the first line of one of its pages.
        end: What tells the last line of a list.
    """
    name, share, parts = "", 0.0, list[float]()
    for line in lines:
        if found := heading(line):
            if found != name:
                name, share, parts = found, 0.0, []
        elif said := _SEGMENTS.match(line):
            share = float(said[1] or 100)
        elif share and end(line):
            if len(parts) < _SEGMENTS_LISTED and sum(parts) + _SHARE_APART < share:
                yield (
                    f"the {counted(len(parts), 'row')} of `{name}` make up {percent(sum(parts))} of the total, "
                    f"yet {percent(share)} of it are said to be captured: rows of the list are missing"
                )
            share = 0.0
        elif share and (part := _LAST_SHARE.search(line)):
            parts.append(float(part[1]))


def _below_its_share(sections: Mapping[str, object], captured: Mapping[str, Scalar]) -> Iterator[str]:
    for metric, share in captured.items():
        rows = _rows(sections.get(f"sql_by_{metric}"))
        parts = [part for row in rows if (part := number_of(row.get("pct_total"))) is not None]
        if not parts and metric == "executions":
            whole = [number_of(row.get("total")) for row in _rows(sections.get("instance_activity"))
                     if row.get("name") == _STATISTICS["executes"]]  # fmt: skip
            parts = [(number_of(row.get(metric)) or 0.0) * 100 / one for one in whole if one for row in rows]
        if not parts or not isinstance(share, int | float):
            continue
        listed, least = sum(parts), min(parts)
        is_awr = rows[0].get("sql_id") is not None
        surely = is_awr and len(rows) < _LEAST_LISTED and listed + _SHARE_APART < share
        many = _LARGE_APART if least >= _LARGE else math.inf if is_awr else _MOST_UNLISTED
        if surely or share - listed > _SHARE_APART + many * least:
            order = _WORDS.get(metric, metric.replace("_", " "))
            yield (
                f"the {counted(len(rows), 'statement')} by {order} make up {percent(listed)} of the total, yet "
                f"{percent(share)} of it are said to be captured: rows of the list "
                f"{'are' if surely else 'may be'} missing"
            )


def _lacks_those_of_others(sections: Mapping[str, object]) -> Iterator[str]:
    lists = {name: _rows(rows) for name, rows in sections.items() if name.startswith("sql_by_")}
    rows = [(identity, row) for each in lists.values() for row in each if (identity := _identity(row))[0]]
    for metric, key in _MEASURES.items():
        own = lists.get(f"sql_by_{metric}", [])
        values = [value for row in own if (value := number_of(row.get(key))) is not None]
        if not values:
            continue
        whole = key in _IN_SECONDS and not any(isinstance(row.get(key), float) for row in own)
        least = _least(own, key, min(values)) * _ROUNDING + (_HALF_SECOND if whole else 0.0)
        known = {_identity(row) for row in own}
        lacking = {
            str(identity[0])
            for identity, row in rows
            if key in row
            and (value := number_of(row[key])) is not None
            and value > least
            and identity not in known
        }
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
        if (value := number_of(row.get(key))) and (share := number_of(row.get("pct_total"))) and share >= 1
    ]
    return min(last, max(totals) * _LEAST_SHARE / 100) if totals and len(rows) >= _LEAST_LISTED else last


def _lacks_statistics(sections: Mapping[str, object]) -> Iterator[str]:
    load = sections.get("load_profile_per_sec")
    rows = _rows(sections.get("instance_activity"))
    if not rows or not isinstance(load, Mapping):
        return
    names = {row.get("name") for row in rows}
    missing = [name for key, name in _STATISTICS.items() if number_of(load.get(key)) and name not in names]
    if missing:
        shown = ", ".join(f"`{name}`" for name in missing[:3])
        more = " and more" if missing[3:] else ""
        yield (
            f"the list of the instance's activity lacks {shown}{more}, which the "
            "load profile counts: rows of it are missing"
        )


def _lacks_foreground_events(sections: Mapping[str, object]) -> Iterator[str]:
    """Hold the times of the foreground events against those of their classes."""
    events = [
        spent
        for row in _rows(sections.get("foreground_events"))
        if row.get("pct_db_time") is not None and (spent := number_of(row.get("time_s"))) is not None
    ]
    classes = [
        spent
        for row in _rows(sections.get("foreground_wait_classes"))
        if row.get("wait_class") != "DB CPU" and (spent := number_of(row.get("time_s"))) is not None
    ]
    apart = sum(classes) - sum(events)
    if events and apart > _HALF_SECOND * (len(events) + len(classes)) + _CLASSES_APART * sum(classes):
        yield (
            f"the foreground events make up {seconds(sum(events))}, yet their wait classes "
            f"{seconds(sum(classes))}: rows of the list of events are missing"
        )


def _identity(row: Mapping[str, Scalar]) -> tuple[Scalar, Scalar]:
    return row.get("sql_id") or row.get("old_hash_value"), row.get("pdb")


def _rows(section: object) -> Rows:
    return section if isinstance(section, list) else []
