"""Whether a report agrees with itself: the same figure printed twice, sums that cannot be, counters that ran back.

`docs/cookbook/what-does-this-awr-report-say.md` lists the checks. A difference is reported only where it is more
than rounding can make (half of the last digit that is printed, in each of the two places) and one percent: views
are read one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from toolkit.model.values import Scalar
from toolkit.readers.awr.impossible import below_zero
from toolkit.readers.awr.tables import number_of
from toolkit.units import counted, percent, seconds
from toolkit.units import number as spelled

_MINUTE = 60.0
_SAME = 0.01
"""Snapshots of one report are taken one statement after the other: a hundredth is no contradiction."""
_ABBREVIATED, _MANY_ZEROS = 10_000, 3
"""From here on reports abbreviate numbers that do not fit: `180M`, `1.8E+08`."""
_TENTH = 0.05
"""Percent: half of the last digit of a share; one that is printed as `24.0` is read as 24."""
_WHOLE = 105.0
"""Percent: shares of clocks read one after the other come out a little above 100, 102 where it is idle."""
_LONGEST_SHOWN = 3
_ACCOUNTED, _IDLE_PERCENT, _LEAST_SESSIONS = 0.6, 50.0, 0.1
"""Waits and CPU below this share of DB time, on a host with so much idle CPU, leave so many sessions unexplained.

In real reports of 11.2 to 19c they were 0.69 of it or more, but for one with 0.46. A host half idle on average may
be short of CPU at times.
"""
_LEAST_SHARE = 0.0051
"""Half of the last digit of a share, printed with two, and what sums add to that."""


def contradictions(facts: Mapping[str, Scalar]) -> list[str]:
    """Return what in a header cannot all be true: a sign that the file was edited or put together."""
    found = []
    begin, end = facts["begin_snap_id"], facts["end_snap_id"]
    if isinstance(begin, int) and isinstance(end, int) and end <= begin:
        found.append(f"the interval ends with snapshot {end}, which is not after snapshot {begin}")
    times = facts["begin_snap_time"], facts["end_snap_time"]
    elapsed = facts["elapsed_min"]
    if all(isinstance(time, str) for time in times) and isinstance(elapsed, int | float):
        first, last = (datetime.fromisoformat(str(time)) for time in times)
        apart = (last - first) / timedelta(minutes=1)
        if (
            abs(apart - elapsed) > 2 + 0.01 * elapsed
            and min(abs(apart - elapsed + hour) for hour in (-60, 60)) > 2
        ):
            found.append(
                f"the snapshots are {apart:.2f} minutes apart, yet {elapsed} minutes are stated as elapsed"
            )
    return found


def inconsistencies(
    facts: Mapping[str, Scalar], sections: Mapping[str, object], *, signed: bool = True
) -> list[str]:
    """Return what the sections of a report say that another of them, or the header, denies.

    Args:
        facts: The header.
        sections: The sections by name, as `Report.sections` has them.
        signed: False where it is known that no list has a number below zero.
    """
    return [
        *_printed_twice(facts, sections),
        *(_events_printed_twice(sections) if facts.get("kind") != "statspack" else ()),
        *_instances_apart(facts, sections),
        *_more_than_sessions(facts, sections),
        *_more_than_accounted(facts, sections),
        *_shares(sections),
        *(_negative(sections) if signed else ()),
        *_negative_values(sections),
    ]


Rows = Sequence[dict[str, Scalar]]

_MISPLACED = {
    "writes": "single_block_reads_per_s",
    "single_block_reads_per_s": "avg_single_block_read_ms",
    "avg_single_block_read_ms": "writes",
}
"""Where the values of these columns stand in the list of tablespaces of an 11.2.0.4 report, by their headings."""


def under_their_headings(rows: Rows, elapsed_min: Scalar) -> tuple[Rows, list[str]]:
    """Return the rows of the tablespaces' I/O with the numbers of writes as such, and a sentence where they moved.

    Reports of 11.2.0.4 print the writes of a tablespace under `1-bk Rds/s` and its single-block reads beside them;
    `Writes avg/s` and the list of files, whose headings are right, show which of the two is meant.
    """
    elapsed = (number_of(elapsed_min) or 0.0) * _MINUTE
    if not elapsed or not all(name in row for row in rows for name in (*_MISPLACED, "writes_per_s")):
        return rows, []
    moved = [{name: row[_MISPLACED.get(name, name)] for name in row} for row in rows]
    if _denied(moved, elapsed) or not _denied(rows, elapsed):
        return rows, []
    return moved, [
        "the I/O of tablespaces has displaced headings (11.2.0.4 prints it so): what stands under `1-bk Rds/s` is "
        "read as writes, as `Writes avg/s` shows"
    ]


def with_percent(sections: Mapping[str, object]) -> tuple[dict[str, object], list[str]]:
    """Return the sections with shares of background time in percent, and a sentence where they were fractions.

    The background events of a whole cluster are printed with `% bg time` as a fraction: 0.15 is 15 % (in 19c).
    """
    model = {str(row.get("name")): row.get("time_s") for row in _rows(sections.get("time_model"))}
    whole = number_of(model.get("background elapsed time"))
    rows = _rows(sections.get("background_events"))
    found = [(row, number_of(row.get("pct_bg_time")), number_of(row.get("time_s"))) for row in rows]
    parts = [
        (share, spent / whole) for _, share, spent in found if whole and share is not None and spent is not None
    ]
    is_fraction = all(abs(share - part) <= _LEAST_SHARE for share, part in parts)
    if not whole or not is_fraction or max((part for _, part in parts), default=0.0) < 2 * _LEAST_SHARE:
        return dict(sections), []
    turned = [row if share is None else {**row, "pct_bg_time": round(100 * share, 2)} for row, share, _ in found]
    told = (
        "`% bg time` of the background events is printed as a fraction, as the times show: it is given in percent"
    )
    return {**sections, "background_events": turned}, [told]


def _denied(rows: Rows, elapsed_seconds: float) -> bool:
    """Tell whether writes a second, as printed, deny the number of writes in any row."""
    for row in rows:
        writes, rate = number_of(row["writes"]), number_of(row["writes_per_s"])
        if writes is not None and rate is not None:
            apart = abs(writes / elapsed_seconds - rate)
            if apart > _rounding(rate) + _SAME * rate:
                return True
    return False


def lost(lines: Sequence[str]) -> list[str]:
    """Say how many lines of figures are in no list that could be read, none where all are."""
    if not lines:
        return []
    many = counted(len(lines), "line of figures is", "lines of figures are")
    return [f"{many} in no list that could be read: `{' '.join(lines[0].split())[:60]}`"]


Printed = tuple[str, float, float]
"""Where a figure stands, its value in seconds, and by how much rounding may have changed it."""


def _printed_twice(facts: Mapping[str, Scalar], sections: Mapping[str, object]) -> Iterator[str]:
    elapsed = number_of(facts.get("elapsed_min"))
    model = {str(row.get("name")): row.get("time_s") for row in _rows(sections.get("time_model"))}
    load = sections.get("load_profile_per_sec")
    rates: Mapping[str, object] = load if isinstance(load, Mapping) else {}
    events = {str(row.get("event")): row.get("time_s") for row in _rows(sections.get("top_events"))}
    for name, minutes, rate, event in (
        ("DB time", facts.get("db_time_min"), "db_time_s", ""),
        ("DB CPU", facts.get("db_cpu_min"), "db_cpu_s", "DB CPU"),
    ):
        places = [
            _printed("the header", minutes, _MINUTE),
            _printed("the time model", model.get(name)),
            _printed("the load profile", rates.get(rate), (elapsed or 0.0) * _MINUTE, _half_minutes(elapsed)),
            _printed("the top events", events.get(event)),
        ]
        known = [one for one in places if one is not None]
        for one, other in pairwise(known):
            if _differ(one, other):
                yield f"{name} is {seconds(one[1])} by {one[0]}, and {seconds(other[1])} by {other[0]}"


def _differ(one: Printed, other: Printed) -> bool:
    return abs(one[1] - other[1]) > one[2] + other[2] + _SAME * max(abs(one[1]), abs(other[1]))


def _events_printed_twice(sections: Mapping[str, object]) -> Iterator[str]:
    """Hold the times, waits and shares of the top events against the whole list and DB time."""
    model = {str(row.get("name")): row.get("time_s") for row in _rows(sections.get("time_model"))}
    whole = number_of(model.get("DB time"))
    listed = {row.get("event"): row for row in _rows(sections.get("foreground_events"))}
    shares = []
    for row in _rows(sections.get("top_events")):
        event = row.get("event")
        for key, words, spell in (("time_s", "a time of", seconds), ("waits", "waits:", _shown)):
            one = _printed("the top events", row.get(key))
            other = _printed("the list of all", listed.get(event, {}).get(key))
            if one and other and _differ(one, other):
                yield f"`{event}` has {words} {spell(one[1])} by {one[0]}, and {spell(other[1])} by {other[0]}"
        share, spent = number_of(row.get("pct_db_time")), _printed("", row.get("time_s"))
        if whole and share is not None and share <= _WHOLE and spent:
            stated = ("", share / 100 * whole, max(_rounding(share), _TENTH) / 100 * whole)
            if _differ(stated, spent):
                shares.append((event, share, 100 * spent[1] / whole))
    if shares:
        event, share, part = shares[0]
        others = f"; {counted(len(shares) - 1, 'other differs', 'others differ')}, too" if shares[1:] else ""
        stated_and_found = f"{percent(share)} of DB time by the top events, and {percent(part)} by its time"
        yield f"`{event}` has {stated_and_found}{others}"


def _instances_apart(facts: Mapping[str, Scalar], sections: Mapping[str, object]) -> Iterator[str]:
    """Hold what is printed of a whole cluster against the sum of its instances."""
    instances = _rows(sections.get("instances"))
    if not instances:
        return
    whole = {str(row.get("name")): row.get("time_s") for row in _rows(sections.get("time_model"))}
    for name in ("DB time", "DB CPU"):
        parts = [
            _printed(
                "",
                next(
                    (one.get("time_s") for one in _rows(each.get("time_model")) if one.get("name") == name), None
                ),
            )
            for each in instances
        ]
        yield from _sum_apart(name, _printed("the time model of the cluster", whole.get(name)), parts)
    parts = [_printed("", one.get("db_time_min"), _MINUTE) for one in instances]
    yield from _sum_apart("DB time", _printed("the header", facts.get("db_time_min"), _MINUTE), parts)


def _of_model(instance: Mapping[str, object], name: str) -> object:
    rows = _rows(instance.get("time_model"))
    return next((row.get("time_s") for row in rows if row.get("name") == name), None)


def _sum_apart(name: str, whole: Printed | None, parts: Sequence[Printed | None]) -> Iterator[str]:
    known = [one for one in parts if one is not None]
    if whole is None or len(known) < len(parts):
        return
    together = ("its instances together", sum(one[1] for one in known), sum(one[2] for one in known))
    if _differ(whole, together):
        yield f"{name} is {seconds(whole[1])} by {whole[0]}, and {seconds(together[1])} by {together[0]}"


def _half_minutes(elapsed: float | None) -> float:
    """Return the share of the elapsed time that its rounding may hide."""
    return _rounding(elapsed) / elapsed if elapsed else 0.0


def _printed(place: str, value: object, unit: float = 1.0, uncertain: float = 0.0) -> Printed | None:
    amount = number_of(value)
    if amount is None or not unit:
        return None
    return place, amount * unit, _rounding(amount) * unit + uncertain * amount * unit


def _rounding(value: float) -> float:
    """Return half a unit of the last digit printed; zeros at the end of a large whole number count as cut off."""
    if value.is_integer() and abs(value) >= _ABBREVIATED:
        zeros = len(f"{value:.0f}") - len(f"{value:.0f}".rstrip("0"))
        return 0.5 * 10.0 ** (zeros if zeros >= _MANY_ZEROS else 0)
    digits = f"{value:.10f}".rstrip("0").partition(".")[2]
    return 0.5 * 10.0 ** -len(digits)


def _more_than_sessions(facts: Mapping[str, Scalar], sections: Mapping[str, object]) -> Iterator[str]:
    """Hold DB time against what the sessions could spend at most, with the statements that explain an excess."""
    elapsed, busy = number_of(facts.get("elapsed_min")), number_of(facts.get("db_time_min"))
    sessions = [number_of(facts.get(name)) for name in ("begin_sessions", "end_sessions")]
    if not elapsed or busy is None:
        return
    long = [
        f"`{row.get('sql_id') or row.get('old_hash_value')}` ({seconds(time)} in "
        f"{counted(int(runs), 'execution', 'executions')})"
        for row in _rows(sections.get("sql_by_elapsed"))
        if (time := number_of(row.get("elapsed_s"))) is not None
        and (runs := number_of(row.get("executions"))) is not None
        and time > max(runs, 1.0) * elapsed * _MINUTE * (1 + _SAME)
    ]
    because = (
        f"; an execution takes longer than the interval in {', '.join(long[:_LONGEST_SHOWN])}: it ran in parallel "
        "or began before the interval, whose DB time then includes earlier time"
    )
    most = max((one for one in sessions if one is not None), default=None)
    if most is not None and busy > (most + 1) * elapsed:
        yield (
            f"DB time is {_shown(busy / elapsed)} active sessions on average, yet at most {_shown(most)} sessions "
            f"existed at its begin and end{because if long else ''}"
        )


def unexplained(
    db_time: float | None, accounted: float | None, elapsed: float | None, idle_percent: float | None
) -> bool:
    """Tell whether much of a DB time was not spent in its interval, by what its waits and its CPU add to.

    A statement counts its whole time in the interval in which its call ends. A session that waits for CPU is in
    neither, so a host whose CPU is busy, or not known, proves nothing.

    Args:
        db_time: of the interval, in seconds.
        accounted: seconds of all wait classes and of DB CPU.
        elapsed: seconds of the interval.
        idle_percent: of the host's CPU.
    """
    if not db_time or accounted is None or not elapsed or idle_percent is None or idle_percent < _IDLE_PERCENT:
        return False
    return accounted < _ACCOUNTED * db_time and db_time - accounted >= _LEAST_SESSIONS * elapsed


def _more_than_accounted(facts: Mapping[str, Scalar], sections: Mapping[str, object]) -> Iterator[str]:
    """Hold DB time against the sum of its parts."""
    elapsed = (number_of(facts.get("elapsed_min")) or 0.0) * _MINUTE
    model = {str(row.get("name")): number_of(row.get("time_s")) for row in _rows(sections.get("time_model"))}
    host = sections.get("host_cpu")
    idle = number_of(host.get("idle_pct")) if isinstance(host, Mapping) else None
    classes = _rows(sections.get("foreground_wait_classes")) or _rows(sections.get("wait_classes"))
    busy, cpu = model.get("DB time"), model.get("DB CPU")
    if busy is None or cpu is None or not classes:
        return
    waited = sum(number_of(row.get("time_s")) or 0.0 for row in classes if row.get("wait_class") != "DB CPU")
    if unexplained(busy, waited + cpu, elapsed, idle):
        yield (
            f"DB time is {seconds(busy)}, yet waits ({seconds(waited)}) and CPU ({seconds(cpu)}) account for "
            f"{percent(100 * (waited + cpu) / busy)} of it, on a host {percent(idle)} idle: the rest was spent "
            "before the interval or was not measured"
        )


def _shares(sections: Mapping[str, object]) -> Iterator[str]:
    """Name shares above 100 % where none can be; CPU by elapsed time of a parse is one of two clocks."""
    told = set()
    for name, rows, label in (
        ("the top events give", "top_events", "event"),
        ("the wait classes give", "wait_classes", "wait_class"),
        ("the time model gives", "time_model", "name"),
    ):
        for row in _rows(sections.get(rows)):
            share, of = number_of(row.get("pct_db_time")), row.get(label)
            if share is not None and share > _WHOLE and of not in told and (label != "name" or of == "DB CPU"):
                told.add(of)
                yield f"{name} `{of}` {percent(share)} of DB time"
    for name, section in (("instance efficiency", "instance_efficiency_pct"), ("host CPU", "host_cpu")):
        values = sections.get(section)
        for label, value in values.items() if isinstance(values, Mapping) else ():
            share = number_of(value)
            part = str(label).endswith("_pct") if section == "host_cpu" else "Elapsd" not in str(label)
            if share is not None and share > _WHOLE and part:
                yield f"{name} has `{label}` at {percent(share)}"


def _negative(sections: Mapping[str, object]) -> Iterator[str]:
    """Name what only grows and is printed below zero: a counter that was reset, or ran over."""
    for name, found in sections.items():
        if name in _GROWING or name.startswith("sql_by_"):
            yield from below_zero(name, _rows(found))
    segments = sections.get("segments")
    for measure, rows in segments.items() if isinstance(segments, Mapping) else ():
        yield from below_zero(f"segments by {measure}", _rows(rows))


def _negative_values(sections: Mapping[str, object]) -> Iterator[str]:
    for name, (where, words) in _VALUES.items():
        values = sections.get(name)
        for key, value in values.items() if isinstance(values, Mapping) else ():
            if (rate := number_of(value)) is not None and rate < 0:
                yield f"`{key}` is {_shown(rate)}{where}: {words}"


_VALUES = {
    "load_profile_per_sec": (" per second in the load profile", "a counter ran backwards"),
    "instance_efficiency_pct": (" % in the instance efficiency", "its parts were measured by different clocks"),
    "host_cpu": (" in the CPU of the host", "a counter ran backwards"),
}
_GROWING = frozenset(
    {
        "time_model", "top_events", "top_timed_events", "top_background_events", "foreground_events",
        "background_events", "wait_events", "wait_classes", "foreground_wait_classes",
    }
)  # fmt: skip


def _rows(section: object) -> Sequence[Mapping[str, Scalar]]:
    return section if isinstance(section, list) else []


def _shown(value: float) -> str:
    return spelled(int(value) if value.is_integer() else value)
