"""Earlier runs of a database and operation, with what their noise is known from and no more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from sqlalchemy import Connection, select

from toolkit.model.records import Metric, RunHead, RunRecord, TrialRecord
from toolkit.model.values import Cell, Level
from toolkit.model.words import EngineName, OperationName, Outcome
from toolkit.store import rows, schema
from toolkit.store.database import StorePart
from toolkit.store.reading import head_of, heads
from toolkit.store.rows import newest_first

MOST_RUNS, MOST_TRIALS = 200, 20_000
"""The newest runs that are read, and as many as have so many trials together."""

_PART = 500


class History(StorePart):
    """Reads many runs at once."""

    def earlier_runs(
        self,
        engine: EngineName,
        target_name: str,
        operation: OperationName | None = None,
        metrics: Collection[str] = (),
    ) -> list[RunRecord]:
        """Return the newest runs of a database, newest first: trials that ended ok and these metrics of them."""
        run = schema.run.c
        where = [run.engine == engine, run.target_name == target_name]
        if operation is not None:
            where.append(run.operation == operation)
        with self._database.read() as connection:
            query = newest_first(heads(), schema.run, MOST_RUNS, *where)
            found = list(_affordable(head_of(row) for row in connection.execute(query)))
            trials = _trials(connection, [head.run for head in found], metrics)
        return [RunRecord(head, tuple(trials[head.run])) for head in found]


def _affordable(found: Iterable[RunHead]) -> Iterable[RunHead]:
    trials = 0
    for head in found:
        trials += head.trials_ended
        if trials > MOST_TRIALS:
            return
        yield head


def _trials(connection: Connection, runs: list[str], metrics: Collection[str]) -> dict[str, list[TrialRecord]]:
    found: dict[str, list[TrialRecord]] = defaultdict(list)
    for at in range(0, len(runs), _PART):
        part = schema.trial.c.run.in_(runs[at : at + _PART])
        ok = (part, schema.trial.c.outcome == Outcome.OK.value)
        levels: dict[int, list[tuple[str, Level]]] = defaultdict(list)
        factors = schema.trial_factor
        for trial_id, name, level, kind in connection.execute(
            select(factors.c.trial_id, factors.c.factor, factors.c.level, factors.c.level_type)
            .join(schema.trial, schema.trial.c.trial_id == factors.c.trial_id)
            .where(*ok)
            .order_by(factors.c.trial_id, factors.c.position)
        ):
            levels[trial_id].append((name, rows.level_of(level, kind)))
        kept: dict[int, list[Metric]] = defaultdict(list)
        metric = schema.metric
        for trial_id, *values in connection.execute(
            select(metric.c.trial_id, metric.c.name, metric.c.value, metric.c.unit, metric.c.source)
            .join(schema.trial, schema.trial.c.trial_id == metric.c.trial_id)
            .where(*ok, metric.c.name.in_(list(metrics)))
        ):
            kept[trial_id].append(Metric(*values))
        for row in connection.execute(select(schema.trial).where(*ok).order_by(schema.trial.c.trial_id)):
            found[row.run].append(_trial(row, levels[row.trial_id], kept[row.trial_id]))
    return found


def _trial(row: rows.AnyRow, levels: list[tuple[str, Level]], metrics: list[Metric]) -> TrialRecord:
    values = row._mapping
    return TrialRecord(
        trial=values["trial"],
        attempt=values["attempt"],
        cell=Cell(tuple(levels)),
        repeat=values["repeat"],
        outcome=Outcome.OK,
        began_at=values["began_at"],
        ended_at=values["ended_at"],
        elapsed_seconds=values["elapsed_seconds"],
        rows=values["row_count"],
        bytes=values["size_bytes"],
        disturbed=values["disturbed"],
        metrics=tuple(metrics),
    )
