"""When a plan may work on a target: in its own window, and as the windows of the database's scheduler allow.

Oracle opens maintenance windows of its own: automatic tasks gather statistics in them, and a resource plan may
limit everybody else. A plan warns of them, keeps out of them, or works only in them (`scheduler_windows`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from toolkit.app.maintenance.asking import ASKING
from toolkit.app.maintenance.plan_targets import PlanTarget
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import open_session, read_facts
from toolkit.model.facts import Facts, Query
from toolkit.model.operations import declaration
from toolkit.model.plan import MaintenancePlan, SchedulerWindows
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import Row
from toolkit.model.window import DatabaseWindow, TimeSpan
from toolkit.model.words import OperationName, Role

_WINDOWS, _STATISTICS = "scheduler_windows", "scheduler_statistics"
_AHEAD = timedelta(days=1)
"""How far a plan without a window looks."""


@dataclass(frozen=True, slots=True)
class Closed:
    """Why nothing may be at work now, and when that changes within the plan's window; None: not in this run."""

    reason: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Hours:
    """The plan's window beside those of the database.

    Attributes:
        span: the opening of the plan's own window; None where it has none.
        wish: what the others mean to it.
        windows: as far as the database tells them.
        unknown: why they are not known, where they are not.
    """

    span: TimeSpan | None = None
    wish: SchedulerWindows = SchedulerWindows.WARN
    windows: tuple[DatabaseWindow, ...] = ()
    unknown: str | None = None

    def end(self, now: datetime) -> datetime | None:
        """Return until when what begins now may be at work; None for as long as it takes."""
        ends = [] if self.span is None else [self.span.end]
        if self.wish is SchedulerWindows.AVOID:
            ends += [each.span.begin for each in self.windows if each.span.begin > now]
        elif self.wish is SchedulerWindows.INSIDE:
            ends += [max((each.span.end for each in self._open(now)), default=now)]
        return min(ends, default=None)

    def left_seconds(self, now: datetime) -> float | None:
        """Return how long what begins now may be at work."""
        end = self.end(now)
        return None if end is None else (end - now).total_seconds()

    def closed(self, now: datetime) -> Closed | None:
        """Return why nothing may be at work now because of the database's windows, or None."""
        if self.wish is SchedulerWindows.WARN:
            return None
        if self.unknown is not None:
            return Closed(f"`scheduler_windows` is `{self.wish}`, but {self.unknown}")
        opened = self._open(now)
        if self.wish is SchedulerWindows.AVOID and opened:
            last = max(opened, key=lambda each: each.span.end)
            return Closed(
                f"the database's window `{last.name}` is open until {last.span.end:%H:%M} UTC",
                self._within(last.span.end),
            )
        if self.wish is SchedulerWindows.INSIDE and not opened:
            later = min((each for each in self.windows if each.span.begin > now), key=_begin, default=None)
            if later is None:
                return Closed("no database window is open or known to open")
            opens = f"`{later.name}` opens at {later.span.begin:%Y-%m-%d %H:%M} UTC"
            return Closed(f"no database window is open: {opens}", self._within(later.span.begin))
        return None

    def sentences(self, operations: Iterable[OperationName], now: datetime) -> list[str]:
        """Say which windows of the database fall into the plan's, and what that means to its steps."""
        if self.unknown is not None:
            return [self.unknown]
        reach = self.span or TimeSpan(now, now + _AHEAD)
        gathers = any(declaration(name).publishes_statistics for name in operations)
        met = [each for each in self.windows if each.span.begin < reach.end and reach.begin < each.span.end]
        return [_told(each, gathers=gathers, wish=self.wish) for each in sorted(met, key=_begin)]

    def _open(self, now: datetime) -> list[DatabaseWindow]:
        return [each for each in self.windows if each.span.holds(now)]

    def _within(self, instant: datetime) -> datetime | None:
        return instant if self.span is None or instant < self.span.end else None


def _begin(window: DatabaseWindow) -> datetime:
    return window.span.begin


def _told(window: DatabaseWindow, *, gathers: bool, wish: SchedulerWindows) -> str:
    span = f"{window.span.begin:%Y-%m-%d %H:%M} to {window.span.end:%H:%M} UTC"
    sentence = f"the database's window `{window.name}` is open from {span}"
    if window.gathers and gathers:
        sentence += "; automatic tasks gather statistics in it, as this plan does"
    elif window.gathers:
        sentence += "; automatic tasks gather statistics in it"
    elif window.gathers is None and gathers:
        sentence += "; it is unknown whether automatic tasks gather statistics in it"
    if window.resource_plan:
        sentence += f"; its resource plan `{window.resource_plan}` may limit CPU and parallel degree"
    return sentence + _WISHES[wish]


_WISHES = {
    SchedulerWindows.WARN: '; `scheduler_windows = "avoid"` avoids it',
    SchedulerWindows.AVOID: "; no step runs then",
    SchedulerWindows.INSIDE: "; steps run only then",
}


def hours_of(plan_target: PlanTarget, wish: SchedulerWindows, span: TimeSpan | None) -> Hours:
    """Return when a plan may work on a target; what the database does not show is named in `unknown`."""
    target = plan_target.resolved.target
    dialect = dialect_of(target.engine)
    if not dialect.scheduler_files:
        if wish is SchedulerWindows.INSIDE:
            return Hours(span, wish, unknown=f"{target.engine} has no scheduler with windows")
        return Hours(span)
    try:
        session = open_session(target, Role.CONTROL, ASKING, read_only=True)
        try:
            queries = (Query(file, file, optional=True) for file in dialect.scheduler_files)
            facts = read_facts(session, dialect, (Query("server", "server"), *queries))
        finally:
            session.close()
    except (ToolkitError, DatabaseError) as error:
        return Hours(span, wish, unknown=f"the database windows are unknown: {error.sentence}")
    return _hours(facts, wish, span)


def _hours(facts: Facts, wish: SchedulerWindows, span: TimeSpan | None) -> Hours:
    if _WINDOWS not in facts.answers:
        why = facts.refused.get(_WINDOWS, "they cannot be read")
        return Hours(span, wish, unknown=f"the database windows are unknown: {why}")
    known = _STATISTICS in facts.answers
    gathering = {str(row["window_name"]) for row in facts.rows(_STATISTICS)} if known else None
    windows = _windows(facts.rows(_WINDOWS), gathering)
    return Hours(span, wish, windows, None if windows else "the database has no visible scheduler windows")


def _windows(rows: Sequence[Row], gathering: set[str] | None) -> tuple[DatabaseWindow, ...]:
    found = []
    for row in rows:
        begin, lasts = row.get("begin_seconds"), row.get("duration_seconds")
        if not isinstance(begin, int | float) or not isinstance(lasts, int | float) or lasts <= 0:
            continue
        opens = datetime.fromtimestamp(float(begin), UTC)
        name, plan = str(row["window_name"]), row.get("resource_plan")
        found.append(
            DatabaseWindow(
                name,
                TimeSpan(opens, opens + timedelta(seconds=float(lasts))),
                str(plan) if plan else None,
                None if gathering is None else name in gathering,
            )
        )
    return tuple(found)


def scheduler_sentences(plan: MaintenancePlan, targets: Sequence[PlanTarget], now: datetime) -> tuple[str, ...]:
    """Return what the windows of the databases mean to the next opening of a plan, each with its target."""
    span = plan.windows.now(now) or plan.windows.next(now)
    return tuple(
        f"{plan_target.name}: {sentence}"
        for plan_target in targets
        for sentence in hours_of(plan_target, plan.scheduler_windows, span).sentences(
            (job.step.operation for job in plan_target.jobs), now
        )
    )
