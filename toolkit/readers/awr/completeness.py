"""Whether the lists of a report are whole: held against what they print of themselves, and against each other.

AWR lists at least ten statements where it has as many, and goes on as long as one makes up a hundredth of the
total. A statement belongs into the list by gets if another list shows it with more gets than the last one there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby, pairwise

from toolkit.model.values import Scalar
from toolkit.readers.awr.always import COUNTED, FIXED, LATCHES, LISTS, TOGETHER
from toolkit.readers.awr.tables import number_of
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
_MOST_MISSING = 0.4
"""A text with fewer of the lists is of another kind."""
_STATISTICS = {
    "redo_size_bytes": "redo size", "logical_reads": "session logical reads", "block_changes": "db block changes",
    "physical_reads": "physical reads", "physical_writes": "physical writes", "user_calls": "user calls",
    "parses": "parse count (total)", "hard_parses": "parse count (hard)", "logons": "logons cumulative",
    "executes": "execute count",
}  # fmt: skip
"""What rates of the load profile are made of, in the list of the instance's activity."""
_ADVICE = {
    "buffer_cache_advice": "buffer cache", "streams_pool_advice": "Streams pool", "pga_advice": "PGA",
}  # fmt: skip
_STEP, _PGA_SIZES = 2.5, 14
"""Sizes that advice is given for are equally far apart, but for rounding and the size that is set."""
_NEIGHBOURS, _MOST_ABSENT = 3, 0.6
"""So many such names in a row are missed; a list that lacks more than this share of them is of another kind."""
_FEW, _FEW_EVENTS = 3, 5
"""Things that one list names and its twin does not: in 121 real reports they were two at most, three of events."""
_PART = 1 / 3
"""Of the latches with sleeps, those whose places are not listed: in real reports they were a fifth at most."""
_MANY_WAITS, _MANY_EVENTS = 1000, 2
"""Waits of events that the histograms have and no list of events; in real reports one such event had as many."""
_PRINTED, _LATCH = 26, 20
"""Letters of the name of an event and of a latch that every list of a text has room for."""
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


def twins(sections: Mapping[str, object]) -> list[str]:
    """Return a sentence for each list that lacks what another one of the report has, or every report of its kind.

    Args:
        sections: The facts and sections of a report and those of its details, by name. Only those of an instance
            are known: other reports leave out more.
    """
    if sections.get("scope") != "instance":
        return []
    activity = {str(row.get("name")) for row in _rows(sections.get("instance_activity"))}
    latches = {str(row.get("latch")) for row in _rows(sections.get("latches"))}
    return [
        *_lacks_neighbours("the instance's activity", activity, COUNTED),
        *_lacks_neighbours("latches", latches if sections.get("time_model") else set(), LATCHES),
        *_lacks_fixed(sections),
        *_lacks_sizes(sections),
        *_lacks_latches(sections),
        *_lacks_events(sections),
        *_lacks_files(sections),
    ]


def lists_of_text(headings: Iterable[str]) -> list[str]:
    """Name the lists that every report of an instance has and a text has not, where it has most of them.

    Args:
        headings: Those of its lists, also of lists for which there are no data.
    """
    found = [heading.lower() for heading in headings]
    lacking = [name for name, words in TOGETHER.items() if not any(re.match(words, one) for one in found)]
    apart = [f"the text has no list of {name}, which every text with the other statistics of an instance has"
             for name in lacking if len(lacking) < len(TOGETHER)]  # fmt: skip
    missing = [name for name, words in LISTS.items() if not any(re.match(words, one) for one in found)]
    if not missing or len(missing) > len(LISTS) * _MOST_MISSING:
        return apart
    return [
        *apart,
        f"the text has no list for: {', '.join(missing)}; every report of an instance has one, so pages of it may "
        "be missing",
    ]


def _below_its_share(sections: Mapping[str, object], captured: Mapping[str, Scalar]) -> Iterator[str]:
    for metric, share in captured.items():
        rows = _rows(sections.get(f"sql_by_{metric}"))
        parts = [part for row in rows if (part := number_of(row.get("pct_total"))) is not None]
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


def _lacks_neighbours(what: str, names: Set[str], always: Sequence[str]) -> Iterator[str]:
    """Miss names that every report has, where some in a row are absent and most of the others are not."""
    runs = [[*run] for here, run in groupby(always, names.__contains__) if not here]
    longest = max(runs, key=len, default=[])
    if len(longest) >= _NEIGHBOURS and sum(map(len, runs)) <= len(always) * _MOST_ABSENT:
        yield (
            f"the list of {what} lacks `{longest[0]}` to `{longest[-1]}`, which every report of an instance has: "
            "rows of it are missing"
        )


def _lacks_fixed(sections: Mapping[str, object]) -> Iterator[str]:
    for section, (what, key, always) in FIXED.items():
        names = {str(row.get(key)) for row in _rows(sections.get(section))}
        lacking = [name for name in always if name not in names]
        if 0 < 2 * len(lacking) < len(always):
            yield f"the list of the {what} lacks `{lacking[0]}`, which every report has: rows of it are missing"


def _lacks_sizes(sections: Mapping[str, object]) -> Iterator[str]:
    """Hold the sizes for which advice is given against each other."""
    for section, what in _ADVICE.items():
        sizes: dict[object, list[float]] = {}
        for row in _rows(sections.get(section)):
            if (size := number_of(row.get("size_mb"))) is not None:
                sizes.setdefault(row.get("pool"), []).append(size)
        for found in sizes.values():
            steps = sorted(after - before for before, after in pairwise(sorted(found)) if after > before)
            is_uneven = len(steps) > _FEW and steps[-1] > _STEP * steps[len(steps) // 2]
            if (len(found) < _PGA_SIZES and sections.get("kind") == "awr") if "pga" in section else is_uneven:
                yield f"the advice on the {what} lacks sizes between those it has: rows of it are missing"


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


def _lacks_latches(sections: Mapping[str, object]) -> Iterator[str]:
    known, slept, missed = (
        _names(sections, name, "latch", _LATCH) for name in ("latches", "latch_sleeps", "latch_misses")
    )
    for what, others, lacking, is_short in (
        ("latches", "sleeps or misses", sorted((slept | missed) - known), bool(known)),
        (
            "latch misses",
            "sleeps",
            sorted(slept - missed),
            bool(missed) and (len(slept - missed) > _PART * len(slept) or _longest(slept, missed) > _FEW),
        ),
    ):
        if is_short and len(lacking) >= _FEW:
            yield (
                f"the list of {what} lacks {counted(len(lacking), 'latch', 'latches')} that the list of {others} "
                f"has, `{lacking[0]}` among them: rows of it are missing"
            )


def _longest(names: Set[str], known: Set[str]) -> int:
    """Return how many names in a row, as the list has them, are not known."""
    order = sorted(names, key=str.lower)
    return max((len([*run]) for here, run in groupby(order, known.__contains__) if not here), default=0)


def _lacks_events(sections: Mapping[str, object]) -> Iterator[str]:
    """Hold the lists of events against the histogram of their waits, which has each of them."""
    listed = set().union(*(
        _names(sections, name, "event") for name in ("foreground_events", "background_events", "wait_events")
    ))  # fmt: skip
    whole, parts = _names(sections, "wait_events", "event"), _names(sections, "foreground_events", "event")
    if whole and len(parts - whole) >= _FEW:
        yield (
            f"the list of all events lacks {counted(len(parts - whole), 'event')} that the list of the "
            f"foreground's has, `{min(parts - whole)}` among them: rows of it are missing"
        )
    background = _names(sections, "background_events", "event")
    unlisted = whole - parts - background
    if parts and background and len(unlisted) >= _FEW:
        yield (
            f"the lists of foreground and background events lack {counted(len(unlisted), 'event')} that the list "
            f"of all has, `{min(unlisted)}` among them: rows of one are missing"
        )
    rows = _rows(sections.get("wait_event_histogram"))
    if not listed or not rows:
        return
    lacking = sorted(listed - _names(sections, "wait_event_histogram", "event"))
    if len(lacking) >= _FEW_EVENTS:
        yield (
            f"the histogram of waits lacks {counted(len(lacking), 'event')} that the lists of events have, "
            f"`{lacking[0]}` among them: rows of it are missing"
        )
    many = sorted({
        name for row in rows
        if (number_of(row.get("waits")) or 0) >= _MANY_WAITS
        and (name := str(row.get("event"))[:_PRINTED]) not in listed
    })  # fmt: skip
    if len(many) >= _MANY_EVENTS:
        yield (
            f"the lists of events lack {counted(len(many), 'event')} of which the histogram has "
            f"{_MANY_WAITS:,} waits and more, `{many[0]}` among them: rows of one are missing"
        )


def _lacks_files(sections: Mapping[str, object]) -> Iterator[str]:
    """Hold the reads of each tablespace against those of its files."""
    files: dict[object, float] = {}
    for row in _rows(sections.get("file_io")):
        name, reads = row.get("tablespace"), number_of(row.get("reads"))
        # reads that are not read may be all that are lacking
        files[name] = files.get(name, 0.0) + (math.inf if reads is None else reads)
    spaces = {row.get("tablespace"): number_of(row.get("reads")) for row in _rows(sections.get("tablespace_io"))}
    if not files or not spaces or None in files or None in spaces:
        return
    fewer = sorted(
        str(name)
        for name, reads in spaces.items()
        if reads is not None and files.get(name, 0.0) * _ROUNDING < reads
    )
    more = sorted(str(name) for name in files if name not in spaces)
    for names, what, of in ((fewer, "files", "tablespaces"), (more, "tablespaces", "files")):
        if names:
            yield (
                f"the list of {what} lacks reads that the list of {of} has, of `{names[0]}`"
                f"{f' and {len(names) - 1} more' if names[1:] else ''}: rows of it are missing"
            )


def _names(sections: Mapping[str, object], name: str, key: str, letters: int = _PRINTED) -> set[str]:
    return {str(row[key])[:letters] for row in _rows(sections.get(name)) if row.get(key)}


def _identity(row: Mapping[str, Scalar]) -> tuple[Scalar, Scalar]:
    return row.get("sql_id") or row.get("old_hash_value"), row.get("pdb")


def _rows(section: object) -> Rows:
    return section if isinstance(section, list) else []
