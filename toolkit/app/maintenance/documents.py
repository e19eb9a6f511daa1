"""What people and programs are told of a plan: before it runs (the outlook) and afterwards (the night)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from toolkit.app.maintenance.beforehand import remarks
from toolkit.app.maintenance.choice import Choice, choose
from toolkit.app.maintenance.expect import ExpectedDuration, expected
from toolkit.app.maintenance.guards import GuardRow
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.design.window import spell_window
from toolkit.model.plan import MaintenancePlan, PlanRunRecord, StepRecord, StepState
from toolkit.model.window import TimeSpan
from toolkit.store import Store
from toolkit.units import seconds

FORMAT = 1
Histories = Mapping[str, Sequence[StepRecord]]
_AT_ONCE = 50
"""Targets whose nights are held in memory together."""


@dataclass(frozen=True, slots=True)
class OutlookRow:
    """A step on a target, as the outlook shows it; texts, with `-` for what is not known."""

    target: str
    step: str
    operation: str
    last_done: str
    expected: str
    slow: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a plan would do: in sentences, and each step in the order it would begin."""

    plan: str
    sentences: tuple[str, ...]
    rows: tuple[OutlookRow, ...]


def outlook_of(plan: MaintenancePlan, places: Sequence[PlanTarget], store: Store, now: datetime) -> Outlook:
    """Return what a plan would do if it began in its next opening, one step after the other.

    Conditions are not asked: they are asked when a step is about to begin.
    """
    span = plan.windows.now(now) or plan.windows.next(now)
    rows: list[OutlookRow] = []
    for at in range(0, len(places), _AT_ONCE):
        some = places[at : at + _AT_ONCE]
        known = store.step_histories(plan.name, [step.name for step in plan.steps], [each.name for each in some])
        for place in some:
            history = {job.step.name: known.get((place.name, job.step.name), []) for job in place.jobs}
            rows += _rows(plan, place, history, span, now)
    return Outlook(plan.name, (*_sentences(plan, span, now), *remarks(plan, store, now)), tuple(rows))


def _sentences(plan: MaintenancePlan, span: TimeSpan | None, now: datetime) -> list[str]:
    if not plan.windows.each:
        return ["it has no window: it may run at any time"]
    said = ["window " + ", ".join(spell_window(one) for one in plan.windows.each)]
    if span is not None:
        zone = ZoneInfo(plan.windows.each[0].zone)
        opens = "open now" if span.holds(now) else f"opens {span.begin.astimezone(zone):%a %Y-%m-%d %H:%M}"
        said.append(f"{opens}, closes {span.end.astimezone(zone):%a %Y-%m-%d %H:%M} ({zone.key})")
    return said


def _rows(
    plan: MaintenancePlan, place: PlanTarget, history: Histories, span: TimeSpan | None, now: datetime
) -> list[OutlookRow]:
    """Play the night: each step takes as long as it is expected to, one after the other."""
    records = {job.step.name: StepRecord(at, place.name, job.step.name) for at, job in enumerate(place.jobs)}
    left = None if span is None else (span.end - max(now, span.begin)).total_seconds()
    rows: list[OutlookRow] = []
    while True:
        choice = Choice(plan, place.jobs, records, history, frozenset(), left)
        verdict = choose(choice)
        if verdict.step is None:
            return rows
        estimate = expected(history[verdict.step])
        if verdict.state is None and left is not None and estimate is not None:
            left -= estimate.seconds
        state = verdict.state or StepState.DONE
        ended = now if state is StepState.DONE else None
        records[verdict.step] = StepRecord(0, place.name, verdict.step, state=state, ended_at=ended)
        job = next(each for each in place.jobs if each.step.name == verdict.step)
        word = verdict.reason or ("if its condition holds" if job.step.only_if else "yes")
        rows.append(_row(place.name, job, history[verdict.step], estimate, word))


def _row(
    target: str, job: TargetStep, history: Sequence[StepRecord], estimate: ExpectedDuration | None, verdict: str
) -> OutlookRow:
    done = [each.ended_at for each in history if each.state is StepState.DONE and each.ended_at is not None]
    return OutlookRow(
        target,
        job.step.name,
        job.step.operation,
        f"{max(done):%Y-%m-%d %H:%M}" if done else "never",
        seconds(estimate.seconds if estimate else None),
        seconds(estimate.slow_seconds if estimate else None),
        verdict,
    )


def outlook_document(outlook: Outlook, guards: Sequence[GuardRow] = ()) -> dict[str, object]:
    """Return an outlook as JSON, with what the guards of each target show."""
    return {
        "format": FORMAT,
        "plan": outlook.plan,
        "notes": list(outlook.sentences),
        "steps": [asdict(row) for row in outlook.rows],
        "guards": [asdict(row) for row in guards],
    }


def night_document(record: PlanRunRecord) -> dict[str, object]:
    """Return what became of a plan as JSON; instants in UTC, times in seconds."""
    return {
        "format": FORMAT,
        "plan_run": record.plan_run,
        "plan": record.plan,
        "plan_hash": record.plan_hash,
        "state": record.state.value,
        "host": record.host,
        "began_at": _instant(record.began_at),
        "ended_at": _instant(record.ended_at),
        "window": {"begin": _instant(record.window_begin), "end": _instant(record.window_end)},
        "stopped_by": record.stopped_by,
        "steps": [_step(step) for step in record.steps],
        "notes": [asdict(note) | {"noted_at": _instant(note.noted_at)} for note in record.notes],
    }


def _step(step: StepRecord) -> dict[str, object]:
    instants = {"began_at": _instant(step.began_at), "ended_at": _instant(step.ended_at)}
    return asdict(step) | instants | {"state": step.state.value, "elapsed_seconds": step.elapsed_seconds}


def _instant(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat(timespec="milliseconds")
