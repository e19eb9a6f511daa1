"""Trials that gather statistics: refused when unsafe, their objects and counts, and the proof when all is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.dialects.statistics import LiveStatistics, Proof, live_statistics_of
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.experiment import PlannedTrial
from toolkit.model.facts import Facts
from toolkit.model.operations import declaration
from toolkit.model.protocols import DatabaseError, Event, Events
from toolkit.model.records import ItemRecord, Metric
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Cell, Row, Scalar
from toolkit.model.words import Outcome
from toolkit.operations.base import Planner
from toolkit.operations.registry import operation
from toolkit.operations.stats_gather.plan import holder_of
from toolkit.rendering import step_of
from toolkit.runner.changes import Changes
from toolkit.store import Store

if TYPE_CHECKING:
    from toolkit.runner.context import RunContext

Kept = Mapping[str, tuple[Row, ...]]
_SOURCE = "statistics"
_DONE = "COMPLETED"


def refuse_unsafe(kept: Kept) -> None:
    """Refuse to go on when what was asked just before the clock found a reason.

    Raises:
        ToolkitError: TK-0304 with the first reason.
    """
    for key, rows in kept.items():
        if key.startswith("refusal") and rows:
            raise ToolkitError(
                str(rows[0].get("reason")), code="TK-0304", hint="wait until it has ended, then resume the run"
            )


def counted(kept: Kept) -> tuple[Metric, ...]:
    """Return what was counted around the clock; counts of several schemas are added up."""
    totals: dict[tuple[str, str], float] = {}
    for key, rows in kept.items():
        for row in rows if key.startswith("counted") else ():
            name = (str(row["metric_name"]), str(row["metric_unit"]))
            totals[name] = totals.get(name, 0.0) + _number(row["metric_value"])
    return tuple(Metric(name, value, unit, _SOURCE) for (name, unit), value in totals.items())


def objects(kept: Kept) -> tuple[ItemRecord, ...]:
    """Return each object with the seconds the database itself counted for it."""
    return tuple(_item(row) for row in kept.get("objects", ()))


def _item(row: Row) -> ItemRecord:
    kind, status = str(row.get("object_type") or "TABLE"), str(row.get("status") or _DONE)
    label = str(row["label"]) if kind == "TABLE" else f"{row['label']} ({kind.lower()})"
    good = status == _DONE
    seconds = row.get("elapsed_seconds")
    return ItemRecord(
        label,
        Outcome.OK if good else Outcome.FAILED,
        elapsed_seconds=None if seconds is None else _number(seconds),
        reason=None if good else status.lower(),
    )


def _number(value: Scalar) -> float:
    return float(value or 0)


# -- the proof --------------------------------------------------------------------------------------------------
def prove_at_end(context: RunContext, planned: Sequence[PlannedTrial]) -> None:
    """Prove, at the end of a run, that statistics are as they should be, and keep the answer with the run."""
    if not planned:
        return
    found = prove(
        context.planner(), planned[0].cell, context.record or context.facts, context.sessions, context.changes
    )
    if found is not None:
        publish(context.store, context.run, found, context.events)


@dataclass(frozen=True, slots=True)
class Proven:
    """The proof of a run in words: the sentence, and what a user must know when it is not good."""

    good: bool
    sentence: str
    warnings: tuple[str, ...] = ()


def prove(planner: Planner, cell: Cell, facts: Facts, sessions: Sessions, changes: Changes) -> Proven | None:
    """Look at the statistics when all is done; None where there is nothing to prove.

    Args:
        planner: names the copy of the former statistics, which stays when something moved.
        cell: any one: the objects are the same in all.
        facts: those of the run's very beginning.
        sessions: of the run.
        changes: of the run.
    """
    ways = live_statistics_of(planner.dialect.work, planner.spec.operation)
    if not declaration(planner.spec.operation).publishes_statistics or ways is None:
        return None
    works = tuple(piece.work for piece in operation(planner.spec.operation).pieces(planner, cell))
    if any(work.object.scratch for work in works):
        return None
    holder = holder_of(planner) if planner.measuring else None
    try:
        proof = ways.proven(works, facts, _answers(ways, works, planner, sessions), holder)
    except (DatabaseError, ToolkitError) as error:
        proof = Proof(good=False, sentence=f"not proven: the statistics could not be read ({error.sentence})")
    if not proof.good and holder is not None:
        changes.release((holder,))
    return Proven(proof.good, proof.sentence, () if proof.good else tuple(_warnings(planner, proof, holder)))


def _answers(ways: LiveStatistics, works: Sequence[Work], planner: Planner, sessions: Sessions) -> Kept:
    answers: dict[str, tuple[Row, ...]] = {}
    for call in ways.proof(works):
        step = step_of(planner.dialect, call)
        answers[str(step.keep_as)] = sessions.run(step).rows
    return answers


def _warnings(planner: Planner, proof: Proof, holder: ObjectRef | None) -> Iterator[str]:
    yield proof.sentence
    yield from proof.details
    for call in proof.mend:
        text = " ".join(step_of(planner.dialect, call).text.split())
        yield f"unless somebody else intended this, undo it with: {text}"
    if holder is not None:
        yield f"the previous statistics are kept in {holder.name}; drop that table when it is no longer needed"


def publish(store: Store, run: str, proven: Proven, events: Events) -> None:
    """Keep the answer with the run and say it."""
    for sentence in proven.warnings:
        store.warn(run, sentence)
        events.emit(Event("warning", sentence))
    if proven.good:
        events.emit(Event("cleanup", proven.sentence))
    environment = store.load_run(run).environment
    store.set_environment(run, {**environment, "published_statistics": proven.sentence})
