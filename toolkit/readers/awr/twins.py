"""Lists of an instance held against each other, and against what every report of one has.

What one list names another has too, and what one counts another adds up to. A list that falls short lost rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import groupby, pairwise

from toolkit.model.values import Scalar
from toolkit.readers.awr.always import COUNTED, FIXED, LATCHES, TABLES
from toolkit.readers.awr.tables import AwrTable, Numbers, number_of
from toolkit.units import counted, seconds

_ROUNDING, _HALF = 1.01, 0.5
"""What rounding takes from a sum, and from each of the numbers that it is made of."""
_ADVICE = {
    "buffer_cache_advice": "buffer cache", "streams_pool_advice": "Streams pool", "pga_advice": "PGA",
    "sga_advice": "SGA", "shared_pool_advice": "shared pool", "java_pool_advice": "Java pool",
}  # fmt: skip
_UNEVEN = {"buffer_cache_advice", "streams_pool_advice", "java_pool_advice", "sga_advice"}
"""Whose sizes are equally far apart, but for rounding and the size that is set."""
_STEP, _LEAST_FACTOR, _MOST_FACTOR = 2.5, 0.15, 1.9
"""Advice on a buffer cache begins at a tenth of the size that is set, and all advice ends at twice it or above."""
_SIZES = {"pga_advice": 14, "streams_pool_advice": 20}
_NEIGHBOURS, _MOST_ABSENT = 3, 0.6
"""So many such names in a row are missed; a list that lacks more than this share of them is of another kind."""
_FEW, _SOME, _MANY, _IN_A_ROW = 3, 4, 5, 2
"""Things that one list names and its twin does not: in real reports they were fewer, or not neighbours."""
_PART = 1 / 3
"""Of the latches with sleeps, those whose places are not listed: in real reports they were a fifth at most."""
_MANY_WAITS, _MANY_EVENTS = 1000, 2
"""Waits of events that the histograms have and no list of events; in real reports one such event had as many."""
_PRINTED, _LATCH = 26, 20
"""Letters of the name of an event and of a latch that every list of a text has room for."""
_MOST_TIMES = 34
"""Of the times of undo that are this many, only the last are listed."""
_SERVICES, _BUFFERS = 0.95, 0.9
"""The least share of the whole that services and classes of buffers made up in real reports was larger."""
_BUSY = ("buffer busy waits", "read by other session")
_CPU = {"DB CPU", "CPU time"}
_TENTH, _PARTS, _TIMES = 0.1, 0.5, 2
_BACKGROUND = re.compile(r"DBW\w|LGWR|CKPT|SMON|PMON|MMON|MMNL|ARC\w|MARK|CJQ0|ASMB")
"""Processes that are there as long as the instance, and whose memory hardly changes."""
_NUMBERS = Numbers()
Rows = Sequence[Mapping[str, Scalar]]


def twins(sections: Mapping[str, object], tables: Sequence[AwrTable] = ()) -> list[str]:
    """Return a sentence for each list that lacks what another one of the report has, or every report of its kind.

    Args:
        sections: The facts and sections of a report and those of its details, by name. Only those of an instance
            are known: other reports leave out more.
        tables: Those that are no known section.
    """
    if sections.get("scope") != "instance":
        return []
    activity = _names(sections, "instance_activity", "name", None)
    latches = _names(sections, "latches", "latch", None) if sections.get("time_model") else set()
    return [
        *_lacks_neighbours("the instance's activity", activity, COUNTED),
        *_lacks_neighbours("latches", latches, LATCHES),
        *_lacks_fixed(sections, tables),
        *_lacks_sizes(sections),
        *_lacks_latches(sections),
        *_lacks_events(sections),
        *_lacks_waits_of_histogram(sections),
        *_lacks_files(sections),
        *_lacks_parts(sections, tables),
        *_lacks_rollback_segments(tables),
        *_lacks_processes(tables),
    ]


def _lacks_neighbours(what: str, names: Set[str], always: Sequence[str]) -> Iterator[str]:
    """Miss names that every report has, where some in a row are absent and most of the others are not."""
    runs = [[*run] for here, run in groupby(always, names.__contains__) if not here]
    longest = max(runs, key=len, default=[])
    if len(longest) >= _NEIGHBOURS and sum(map(len, runs)) <= len(always) * _MOST_ABSENT:
        yield (
            f"the list of {what} lacks `{longest[0]}` to `{longest[-1]}`, which every report of an instance has: "
            "rows of it are missing"
        )


def _lacks_fixed(sections: Mapping[str, object], tables: Sequence[AwrTable]) -> Iterator[str]:
    lists = [(what, always, _names(sections, name, key, None)) for name, (what, key, always) in FIXED.items()]
    for table in tables:
        known = [one for words, one in TABLES.items() if re.match(words, table.section, re.IGNORECASE)]
        # what is measured at the begin and at the end of the interval has a row for each
        for what, column, always in [*known, (f"`{table.section}`", 0, ("B", "E"))]:
            lists.append((what, always, {row[column].strip() for row in table.rows if len(row) > column}))
    for what, always, found in lists:
        lacking = [name for name in always if name not in found and name.replace("_TIME", "_TICKS") not in found]
        if 0 < len(lacking) < len(always):
            yield f"the list of the {what} lacks `{lacking[0]}`, which every report has: rows of it are missing"


def _lacks_sizes(sections: Mapping[str, object]) -> Iterator[str]:
    """Hold the sizes for which advice is given against each other."""
    is_old = str(sections.get("version")).startswith("9.")
    for section, what in _ADVICE.items():
        pools: dict[object, Rows] = {}
        for row in _rows(sections.get(section)):
            pools[row.get("pool")] = [*pools.get(row.get("pool"), ()), row]
        for rows in pools.values():
            sizes = sorted(size for row in rows if (size := number_of(row.get("size_mb"))) is not None)
            factors = [one for row in rows if (one := number_of(row.get("size_factor"))) is not None]
            steps = sorted(after - before for before, after in pairwise(sizes) if after > before)
            usual = steps[0 if section == "sga_advice" else len(steps) // 2] if steps else 0.0
            is_uneven = (len(steps) > _FEW or section == "sga_advice") and steps and steps[-1] > _STEP * usual
            is_short = (section in _UNEVEN and is_uneven) or (len(rows) < _SIZES.get(section, 0) and not is_old)
            begins_late = section == "buffer_cache_advice" and factors and min(factors) > _LEAST_FACTOR
            if is_short or begins_late or (factors and max(factors) < _MOST_FACTOR):
                yield f"the advice on the {what} lacks sizes that each has: rows of it are missing"


def _lacks_latches(sections: Mapping[str, object]) -> Iterator[str]:
    known, slept, missed = (
        _names(sections, name, "latch", _LATCH) for name in ("latches", "latch_sleeps", "latch_misses")
    )
    sleeping = {
        str(row["latch"])[:_LATCH]
        for row in _rows(sections.get("latches"))
        if row.get("latch") and (number_of(row.get("sleeps_per_miss")) or 0) > 0
    }
    for what, others, lacking, is_short in (
        (
            "latches",
            "sleeps or misses",
            (slept | missed) - known,
            bool(known) and len((slept | missed) - known) >= _FEW,
        ),
        (
            "latch misses",
            "sleeps",
            slept - missed,
            bool(missed)
            and len(slept - missed) >= _FEW
            and (len(slept - missed) > _PART * len(slept) or _longest(slept, missed) > _FEW),
        ),
        ("latch sleeps", "latches", sleeping - slept, bool(slept) and len(sleeping - slept) >= _IN_A_ROW),
        ("latch sleeps", "misses", missed - slept, bool(slept) and len(missed - slept) >= _MANY),
    ):
        if is_short:
            yield (
                f"the list of {what} lacks {counted(len(lacking), 'latch', 'latches')} that the list of {others} "
                f"has, `{min(lacking)}` among them: rows of it are missing"
            )


def _longest(names: Set[str], known: Set[str]) -> int:
    """Return how many names in a row, as the list has them, are not known."""
    order = sorted(names, key=str.lower)
    return max((len([*run]) for here, run in groupby(order, known.__contains__) if not here), default=0)


def _lacks_events(sections: Mapping[str, object]) -> Iterator[str]:
    """Hold the lists of events against each other."""
    whole, parts, background, top = (
        _names(sections, name, "event")
        for name in ("wait_events", "foreground_events", "background_events", "top_events")
    )
    listed = whole | parts | background
    unlisted = top - listed - _CPU
    if listed and unlisted:
        yield (
            f"the lists of events lack {counted(len(unlisted), 'event')} of the topmost ones, `{min(unlisted)}`: "
            "rows of one are missing"
        )
    for what, others, few in (("foreground's", parts, _FEW), ("background's", background, _SOME)):
        if whole and len(others - whole) >= few:
            yield (
                f"the list of all events lacks {counted(len(others - whole), 'event')} that the list of the "
                f"{what} has, `{min(others - whole)}` among them: rows of it are missing"
            )
    unlisted = whole - parts - background
    if parts and background and len(unlisted) >= _FEW:
        yield (
            f"the lists of foreground and background events lack {counted(len(unlisted), 'event')} that the list "
            f"of all has, `{min(unlisted)}` among them: rows of one are missing"
        )


def _lacks_waits_of_histogram(sections: Mapping[str, object]) -> Iterator[str]:
    """Hold the lists of events against the histogram of their waits, which has each of them."""
    listed = set().union(*(
        _names(sections, name, "event") for name in ("foreground_events", "background_events", "wait_events")
    ))  # fmt: skip
    rows = _rows(sections.get("wait_event_histogram"))
    if not listed or not rows:
        return
    shown = _names(sections, "wait_event_histogram", "event")
    lacking = sorted(listed - shown)
    if len(lacking) >= _MANY or _longest(listed | shown, shown) >= _IN_A_ROW:
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
    """Hold the reads and writes of each tablespace against those of its files."""
    spaces, files = _rows(sections.get("tablespace_io")), _rows(sections.get("file_io"))
    if not spaces or not files or any(row.get("tablespace") is None for row in [*spaces, *files]):
        return
    fewer: set[str] = set()
    for key in ("reads", "writes"):
        of_files: dict[object, float] = {}
        for row in files:
            name, number = row["tablespace"], number_of(row.get(key))
            # those that are not read may be all that are lacking, and a counter that ran over counts nothing
            of_files[name] = of_files.get(name, 0.0) + (math.inf if number is None or number < 0 else number)
        for row in spaces:
            number = number_of(row.get(key))
            if number is not None and of_files.get(row["tablespace"], 0.0) * _ROUNDING < number:
                fewer.add(str(row["tablespace"]))
    more = {str(row["tablespace"]) for row in files} - {str(row["tablespace"]) for row in spaces}
    for names, what, of in ((fewer, "files", "tablespaces"), (more, "tablespaces", "files")):
        if names:
            yield (
                f"the list of {what} lacks I/O that the list of {of} has, of `{min(names)}`"
                f"{f' and {len(names) - 1} more' if len(names) > 1 else ''}: rows of it are missing"
            )


def _lacks_parts(sections: Mapping[str, object], tables: Sequence[AwrTable]) -> Iterator[str]:
    """Hold what lists add up to against the whole that another list has of it."""
    times = _rows(sections.get("undo_over_time"))
    if 0 < len(times) < _MOST_TIMES:
        spent, whole = (_sum(rows, "transactions") for rows in (times, _rows(sections.get("undo"))))
        if spent * _ROUNDING < whole:
            yield (
                f"the times of the list of undo have {spent:,.0f} transactions, yet its summary {whole:,.0f}: "
                "rows of the list are missing"
            )
    minutes = number_of(sections.get("db_time_min"))
    for table in tables:
        words = table.section.lower()
        if words.startswith("service stat") and minutes:
            spent = sum(_number(row, 1) for row in table.rows)
            if spent + _HALF * len(table.rows) < _SERVICES * minutes * 60:
                yield (
                    f"the services make up {seconds(spent)}, yet DB time is {seconds(minutes * 60)}: "
                    "rows of the list of services are missing"
                )
        elif words.startswith("buffer wait stat"):
            waits = sum(_number(row, 1) for row in table.rows)
            busy = _waits_for_buffers(sections)
            if waits + _MANY < _BUFFERS * busy:
                yield (
                    f"the classes of buffers have {waits:,.0f} waits, yet the lists of events {busy:,.0f} for "
                    "buffers: rows of the list of classes are missing"
                )
        elif words.startswith("sga memory"):
            regions = {row[0].strip(): _number(row, 1) for row in table.rows}
            if (whole := regions.pop("sum", 0.0)) > sum(regions.values()) * _ROUNDING:
                yield "the regions of the SGA are less than their sum: rows of the list are missing"
    yield from _lacks_functions(sections)


def _lacks_functions(sections: Mapping[str, object]) -> Iterator[str]:
    """Hold the requests of each kind of I/O against the total below them."""
    for name, key, what in (
        ("io_by_function", "function", "functions"),
        ("io_by_file_type", "file_type", "file types"),
    ):
        rows = _rows(sections.get(name))
        wholes = [row for row in rows if str(row.get(key)).rstrip(":").upper() == "TOTAL"]
        parts = [row for row in rows if row not in wholes]
        if len(wholes) == 1 and all(row.get("inst_num") is None for row in rows):
            for requests in ("read_requests_per_s", "write_requests_per_s"):
                if (_sum(parts, requests) + _TENTH * len(rows)) * _ROUNDING < _sum(wholes, requests):
                    yield f"the list of I/O by {what} is less than its total: rows of it are missing"
                    break


def _waits_for_buffers(sections: Mapping[str, object]) -> float:
    rows = _rows(sections.get("wait_events")) or [
        *_rows(sections.get("foreground_events")), *_rows(sections.get("background_events"))
    ]  # fmt: skip
    return _sum([row for row in rows if row.get("event") in _BUSY], "waits")


def _lacks_rollback_segments(tables: Sequence[AwrTable]) -> Iterator[str]:
    """Hold the two lists of rollback segments, of which each has all, against each other."""
    lists = [
        {row[0].strip() for row in table.rows if row}
        for table in tables
        if table.section.lower().startswith("rollback segment st")
    ]
    if len(lists) == 2 and (lacking := sorted(lists[0] ^ lists[1])):
        yield (
            f"rollback segment {lacking[0]} is in one of the two lists of rollback segments only: rows of the "
            "other one are missing"
        )


def _lacks_processes(tables: Sequence[AwrTable]) -> Iterator[str]:
    """Hold the memory of each process against that of its parts, and the processes of the begin and of the end.

    A row of the process itself has dashes behind its name, which only some have; sessions may come and go.
    """
    for table in tables:
        if not table.section.lower().startswith("top process memory"):
            continue
        wholes: dict[tuple[str, str], float] = {}
        parts: dict[tuple[str, str], float] = {}
        named: dict[str, dict[str, float]] = {"B": {}, "E": {}}
        at, process = "", ""
        for row in table.rows:
            at, process = row[0].strip() or at, row[1].strip() or process
            megabytes, name = _number(row, 3), row[2].rstrip("- ")
            if row[2].endswith("-"):
                wholes[at, process] = megabytes
                if name and " " not in name:
                    named.setdefault(at, {})[name] = megabytes
            else:
                parts[at, process] = parts.get((at, process), 0.0) + megabytes
        lacking = [
            process for at, process in {**wholes, **parts}
            if abs(wholes.get((at, process), 0.0) - parts.get((at, process), 0.0)) > _PARTS
        ]  # fmt: skip
        for one, other in (("B", "E"), ("E", "B")):
            least = min((megabytes for (at, _), megabytes in wholes.items() if at == other), default=math.inf)
            lacking += [
                name for name, megabytes in named[one].items()
                if name not in named[other] and megabytes > _TIMES * least and _BACKGROUND.fullmatch(name)
            ]  # fmt: skip
        if lacking:
            yield f"not all of the memory of process `{lacking[0]}` is listed: rows of the list are missing"


def _number(row: Sequence[str], column: int) -> float:
    return number_of(_NUMBERS.number(row[column])) or 0.0 if len(row) > column else 0.0


def _sum(rows: Rows, key: str) -> float:
    return sum(number_of(row.get(key)) or 0.0 for row in rows)


def _names(sections: Mapping[str, object], name: str, key: str, letters: int | None = _PRINTED) -> set[str]:
    section = sections.get(name)
    if isinstance(section, Mapping):
        return {*map(str, section)}
    return {str(row[key])[:letters] for row in _rows(section) if row.get(key)}


def _rows(section: object) -> Rows:
    return section if isinstance(section, list) else []
