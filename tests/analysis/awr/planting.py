"""Pairs of AWR reports with a planted cause, made by editing real ones: every number that depends on it goes too.

The later report is the earlier one a day on, with noise, and with a cause written into events, wait classes, time
model, load profile, DB time, statements, statistics and shares. Shares nothing with the code that ranks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.analysis.awr.report_pages import Page, jitter, value

_EVENT = "event"
_SECONDS = "total wait time (sec)|total wait time (s)|time(s)"
_AVERAGE = ("avg wait", "avg wait (ms)", "wait avg(ms)", "avg wait(ms)", "avg wait time")
_SHARE = ("% db time", "%db time", "% of db time")
_SNAPSHOT = "%d-%b-%y %H:%M:%S"


@dataclass
class Plan:
    """What is planted.

    Attributes:
        events: By event: how many times as many waits, and as long each.
        new_events: Events the report lacks: class, waits and seconds.
        cpu: Seconds of DB CPU more.
        queue: Seconds of DB time that are neither CPU nor wait.
        statements: By sql_id: how many times the executions, and gets, reads and time in each.
        statistics: How many times, by name.
        load_profile: How many times, by the label of the load profile in lower case.
        model: Seconds more, by the name of the time model.
        victims: Every other statement takes longer as DB time does.
        reads: How many times the physical reads of every statement.
    """

    events: dict[str, tuple[float, float]] = field(default_factory=dict)
    new_events: dict[str, tuple[str, float, float]] = field(default_factory=dict)
    cpu: float = 0.0
    queue: float = 0.0
    statements: dict[str, tuple[float, float, float, float]] = field(default_factory=dict)
    statistics: dict[str, float] = field(default_factory=dict)
    load_profile: dict[str, float] = field(default_factory=dict)
    model: dict[str, float] = field(default_factory=dict)
    victims: bool = True
    reads: float = 1.0
    other: list[Callable[[Page], None]] = field(default_factory=list)


def plant(text: str, plan: Plan, *, seed: int = 1) -> str:
    """Return the later report of a pair."""
    page = Page.read(text)
    _a_day_later(page)
    jitter(page, seed)
    added = _events(page, plan)
    added += plan.cpu + plan.queue
    old = _db_time(page)
    new = old + added
    _statements(page, plan, new / old if plan.victims else 1.0)
    _model(page, plan, old, new)
    _statistics(page, plan)
    _shares(page, new)
    for edit in plan.other:
        edit(page)
    return page.written()


def _a_day_later(page: Page) -> None:
    for grid in page.tables("snap id", "snap time"):
        for row in grid.rows[:2]:
            page.put(row[1], str(int(row[1].text.replace(",", "")) + 24))
            moment = datetime.strptime(row[2].text, _SNAPSHOT) + timedelta(days=1)
            page.put(row[2], moment.strftime(_SNAPSHOT))


def _db_time(page: Page) -> float:
    for grid in page.tables("statistic name", "time (s)"):
        row = grid.row("DB time")
        if row is not None:
            known = value(row[1].text)
            assert known
            return known
    raise AssertionError("the report has no DB time in its time model")


def _events(page: Page, plan: Plan) -> float:
    """Change the events wherever they stand; return the seconds of DB time that adds."""
    added: dict[str, float] = {}
    counts: dict[str, float] = {}
    classes: dict[str, tuple[float, float]] = {}
    for grid in page.tables("event", "waits", _SECONDS):
        if grid.column("% bg time", "%bg time") is not None:
            continue
        for row in grid.rows:
            name = row[grid.column("event") or 0].text
            if name not in plan.events:
                continue
            often, longer = plan.events[name]
            waits, seconds = row[grid.column("waits") or 0], row[grid.column(*_SECONDS.split("|")) or 0]
            before = (value(waits.text) or 0.0, value(seconds.text) or 0.0)
            added[name] = max(added.get(name, 0.0), before[1] * (often * longer - 1))
            counts[name] = before[0] * (often - 1)
            page.scale(waits, often)
            page.scale(seconds, often * longer)
            average = grid.column(*_AVERAGE)
            if average is not None:
                page.scale(row[average], longer)
            if (kind := grid.column("wait class")) is not None:
                classes[row[kind].text] = _sum(classes.get(row[kind].text), (counts[name], added[name]))
    for name, (kind, waits_, seconds_) in plan.new_events.items():
        _new_event(page, name, kind, waits_, seconds_)
        added[name] = seconds_
        classes[kind] = _sum(classes.get(kind), (waits_, seconds_))
    _classes(page, classes)
    return sum(added.values())


def _sum(known: tuple[float, float] | None, more: tuple[float, float]) -> tuple[float, float]:
    return more if known is None else (known[0] + more[0], known[1] + more[1])


def _new_event(page: Page, name: str, kind: str, waits: float, seconds: float) -> None:
    """Write an event over the last row of the lists of foreground events, which has next to no time."""
    for grid in page.tables("event", "waits", _SECONDS):
        if grid.column("% bg time", "%bg time") is not None or not grid.rows:
            continue
        share = grid.column(*_SHARE)
        kept = [row for row in grid.rows if share is None or value(row[share].text) is not None]
        row = kept[-1]
        unit = "ms" if any("ms" in head or head.startswith("avg wait") for head in grid.heads) else ""
        page.put(row[grid.column("event") or 0], name)
        page.put(row[grid.column("waits") or 0], f"{waits:,.0f}")
        page.put(row[grid.column(*_SECONDS.split("|")) or 0], f"{seconds:,.1f}")
        average = grid.column(*_AVERAGE)
        if average is not None:
            spelled = f"{seconds / waits * 1000:.2f}"
            page.put(row[average], spelled if "(ms)" in grid.heads[average] else f"{spelled}{unit}")
        if (place := grid.column("wait class")) is not None:
            page.put(row[place], kind)


def _classes(page: Page, classes: Mapping[str, tuple[float, float]]) -> None:
    for grid in page.tables("wait class", "waits"):
        if grid.column("event") is not None:
            continue
        place = grid.column("total wait time (sec)", "total wait time (s)")
        for row in grid.rows:
            more = classes.get(row[0].text)
            if more is None or place is None:
                continue
            page.change(row[grid.column("waits") or 1], lambda known, more=more: known + more[0])
            page.change(row[place], lambda known, more=more: known + more[1])
            waits, seconds = value(row[grid.column("waits") or 1].text), value(row[place].text)
            average = grid.column(*_AVERAGE)
            if average is not None and waits and seconds is not None:
                page.change(row[average], lambda _, w=waits, s=seconds: s / w * 1000)


def _statements(page: Page, plan: Plan, slower: float) -> None:
    for grid in page.grids:
        key = grid.column("sql id")
        if key is None or grid.column("executions") is None:
            continue
        for row in grid.rows:
            often, gets, reads, longer = plan.statements.get(row[key].text, (1.0, 1.0, plan.reads, slower))
            for head, cell in zip(grid.heads, row, strict=False):
                page.scale(cell, _times(head, often, gets, reads, longer))


def _times(head: str, often: float, gets: float, reads: float, longer: float) -> float:
    each = {
        "elapsed time per exec (s)": longer, "cpu per exec (s)": gets, "gets per exec": gets,
        "uio per exec (s)": reads,
        "reads per exec": reads, "executions": often, "parse calls": often, "rows processed": often,
        "elapsed time (s)": often * longer, "cpu time (s)": often * gets, "user i/o time (s)": often * reads,
        "buffer gets": often * gets, "physical reads": often * reads,
    }  # fmt: skip
    return each.get(head, 1.0)


def _model(page: Page, plan: Plan, old: float, new: float) -> None:
    for grid in page.tables("statistic name", "time (s)"):
        for row in grid.rows:
            name, cell = row[0].text, row[1]
            if name == "DB time":
                page.change(cell, lambda _: new)
            elif name == "sql execute elapsed time":
                page.change(cell, lambda known: known + new - old)
            elif name == "DB CPU":
                page.change(cell, lambda known: known + plan.cpu)
            elif name in plan.model:
                page.change(cell, lambda known, name=name: known + plan.model[name])
    for grid in page.tables("event", "waits", _SECONDS):
        row = grid.row("DB CPU")
        if row is not None:
            page.change(row[grid.column(*_SECONDS.split("|")) or 0], lambda known: known + plan.cpu)
    for grid in page.tables("snap id", "snap time"):
        row = next(one for one in grid.rows if one[0].text.startswith("DB Time"))
        page.put(row[2], f"{new / 60:,.2f} (mins)")
    seconds = _elapsed(page)
    for grid in page.tables("per second", "per transaction"):
        for row in grid.rows:
            name = row[0].text.rstrip(":").lower()
            times = new / old if name.startswith("db time") else plan.load_profile.get(name, 1.0)
            if name.startswith("db cpu") and plan.cpu:
                known = value(row[1].text) or 0.0
                times = (known + plan.cpu / seconds) / known if known else 1.0
            for cell in row[1:]:
                page.scale(cell, times)


def _elapsed(page: Page) -> float:
    for grid in page.tables("snap id", "snap time"):
        for row in grid.rows:
            if row[0].text.startswith("Elapsed"):
                return (value(row[2].text) or 0.0) * 60
    raise AssertionError("the report does not say how long it is")


def _statistics(page: Page, plan: Plan) -> None:
    for grid in page.tables("statistic", "total", "per second"):
        for row in grid.rows:
            times = plan.statistics.get(row[0].text, 1.0)
            for cell in row[1:]:
                page.scale(cell, times)


def _shares(page: Page, db_time: float) -> None:
    """Work out the shares of DB time anew."""
    for grid in page.grids:
        share = grid.column(*_SHARE)
        seconds = grid.column(*_SECONDS.split("|"), "time (s)")
        if share is None or seconds is None:
            continue
        for row in grid.rows:
            known = value(row[seconds].text) if seconds < len(row) else None
            if known is not None and share < len(row) and value(row[share].text) is not None:
                page.put(row[share], f"{known / db_time * 100:.2f}")
    for grid in page.tables("elapsed time (s)", "%total", "sql id"):
        if grid.heads[0] == "elapsed time (s)":
            for row in grid.rows:
                known = value(row[0].text)
                if known is not None:
                    page.put(row[grid.column("%total") or 3], f"{known / db_time * 100:.2f}")


def host_cpu(**shares: float) -> Callable[[Page], None]:
    """Write the shares of the host's CPU."""

    def edit(page: Page) -> None:
        for grid in page.tables("%idle", "%user"):
            for row in grid.rows:
                for name, share in shares.items():
                    place = grid.column(f"%{name}")
                    if place is not None and len(row) == len(grid.heads):
                        page.put(row[place], f"{share:.1f}")

    return edit


def cpus(count: int) -> Callable[[Page], None]:
    """Write another number of CPUs."""

    def edit(page: Page) -> None:
        for grid in page.tables("cpus"):
            place = grid.column("cpus")
            for row in grid.rows:
                if place is not None and len(row) == len(grid.heads):
                    page.put(row[place], str(count))

    return edit


def buffer_cache(times: float, hit: float) -> Callable[[Page], None]:
    """Write another size of the buffer cache, and its hit ratio."""

    def edit(page: Page) -> None:
        for grid in page.grids:
            for row in grid.rows:
                for place, cell in enumerate(row[:-1]):
                    if cell.text == "Buffer Cache:":
                        for size in row[place + 1 : place + 3]:
                            if match := re.fullmatch(r"([\d,]+)M", size.text):
                                page.put(size, f"{float(match[1].replace(',', '')) * times:,.0f}M")
                    if re.fullmatch(r"Buffer\s+Hit\s+%:", cell.text):
                        page.put(row[place + 1], f"{hit:.2f}")

    return edit
