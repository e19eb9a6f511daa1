"""Earlier runs of a database and operation, with what their noise is known from and no more."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, select

from toolkit.model.records import Metric, RunHead, RunRecord, TrialRecord
from toolkit.model.values import Cell, Level
from toolkit.model.words import EngineName, OperationName, Outcome
from toolkit.store import rows, schema
from toolkit.store.database import StorePart
from toolkit.store.reading import head_of, heads
from toolkit.store.rows import newest_first

MOST_RUNS, MOST_TRIALS = 100, 20_000
"""The newest runs that are read, and as many as have so many trials together.

A standard deviation of 100 runs is known within 7 %; more would tell little and cost each comparison time.
"""

_PART = 500


class History(StorePart):
    """Reads many runs at once."""

    def earlier_runs(
        self,
        engine: EngineName,
        target_name: str,
        operation: OperationName | None = None,
        metrics: Collection[str] = (),
        of_each: int | None = None,
    ) -> list[RunRecord]:
        """Return the newest runs of a database, newest first: trials that ended ok and these metrics of them.

        Args:
            engine: of the database.
            target_name: the database, as it calls itself.
            operation: what ran; without it any.
            metrics: which ones.
            of_each: how many runs of one experiment (options and factors) are wanted at most; without it all.
        """
        run = schema.run.c
        where = [run.engine == engine, run.target_name == target_name]
        if operation is not None:
            where.append(run.operation == operation)
        with self._database.read() as connection:
            query = newest_first(heads(), schema.run, MOST_RUNS, *where)
            every = [head_of(row) for row in connection.execute(query)]
            found = list(_affordable(every if of_each is None else _newest_of_each(every, of_each)))
            trials = _trials(connection, [head.run for head in found], metrics)
        return [RunRecord(head, tuple(trials[head.run])) for head in found]


def _newest_of_each(found: Iterable[RunHead], most: int) -> Iterable[RunHead]:
    known = Counter[object]()
    for head in found:
        experiment = head.experiment
        done = experiment.mode, tuple(sorted(experiment.options.items())), experiment.factors
        known[done] += 1
        if known[done] <= most:
            yield head


def _affordable(found: Iterable[RunHead]) -> Iterable[RunHead]:
    trials = 0
    for head in found:
        trials += head.trials_ended
        if trials > MOST_TRIALS:
            return
        yield head


_READ = tuple(
    schema.trial.c[name]
    for name in (
        "trial", "attempt", "repeat", "began_at", "ended_at", "elapsed_seconds",
        "row_count", "size_bytes", "disturbed",
    )
)  # fmt: skip


def _trials(connection: Connection, runs: list[str], metrics: Collection[str]) -> dict[str, list[TrialRecord]]:
    found: dict[str, list[TrialRecord]] = defaultdict(list)
    trial = schema.trial.c
    for at in range(0, len(runs), _PART):
        part = trial.run.in_(runs[at : at + _PART])
        ok = (part, trial.outcome == Outcome.OK.value)
        levels: dict[int, list[tuple[str, Level]]] = defaultdict(list)
        factors = schema.trial_factor
        for trial_id, name, level, kind in connection.execute(
            select(factors.c.trial_id, factors.c.factor, factors.c.level, factors.c.level_type)
            .join(schema.trial, trial.trial_id == factors.c.trial_id)
            .where(*ok)
            .order_by(factors.c.trial_id, factors.c.position)
        ):
            levels[trial_id].append((name, rows.level_of(level, kind)))
        kept: dict[int, list[Metric]] = defaultdict(list)
        metric = schema.metric
        for trial_id, *values in connection.execute(
            select(metric.c.trial_id, metric.c.name, metric.c.value, metric.c.unit, metric.c.source)
            .join(schema.trial, trial.trial_id == metric.c.trial_id)
            .where(*ok, metric.c.name.in_(list(metrics)))
        ):
            kept[trial_id].append(Metric(*values))
        for run, trial_id, *values in connection.execute(
            select(trial.run, trial.trial_id, *_READ).where(*ok).order_by(trial.trial_id)
        ):
            found[run].append(_trial(values, levels[trial_id], kept[trial_id]))
    return found


def _trial(values: Sequence[Any], levels: list[tuple[str, Level]], metrics: list[Metric]) -> TrialRecord:
    number, attempt, repeat, began_at, ended_at, elapsed_seconds, row_count, size_bytes, disturbed = values
    return TrialRecord(
        trial=number,
        attempt=attempt,
        cell=Cell(tuple(levels)),
        repeat=repeat,
        outcome=Outcome.OK,
        began_at=began_at,
        ended_at=ended_at,
        elapsed_seconds=elapsed_seconds,
        rows=row_count,
        bytes=size_bytes,
        disturbed=disturbed,
        metrics=tuple(metrics),
    )
