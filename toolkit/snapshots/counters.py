"""Counters of a database, read by a plain SQL file on the monitor session.

The file returns metric_name, metric_value, metric_unit and metric_kind. A `counter` gives its difference, a
`gauge` its later value. A counter that went down was reset in between (a restart, a reset of statistics): it is
left out and said so, for a negative difference would be a lie and zero another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.records import Metric, Sample
from toolkit.model.steps import Step
from toolkit.model.values import Row
from toolkit.model.words import Role
from toolkit.rendering import sql_file


@dataclass(frozen=True, slots=True)
class Reading:
    """One metric at one instant."""

    value: float
    unit: str
    counter: bool


def readings(rows: tuple[Row, ...]) -> dict[str, Reading]:
    """Turn the rows of a snapshot file into readings by name; null values are left out."""
    return {
        str(row["metric_name"]): Reading(
            float(row["metric_value"]), str(row["metric_unit"]), row["metric_kind"] == "counter"
        )
        for row in rows
        if row["metric_value"] is not None
    }


def difference(
    before: Mapping[str, Reading], after: Mapping[str, Reading], source: str
) -> tuple[tuple[Metric, ...], tuple[str, ...]]:
    """Return the metrics between two readings, and the names of counters that went down."""
    metrics, reset = [], []
    for name, late in after.items():
        early = before.get(name)
        if not late.counter:
            metrics.append(Metric(name, late.value, late.unit, source))
        elif early is not None and late.value >= early.value:
            metrics.append(Metric(name, late.value - early.value, late.unit, source))
        elif early is not None:
            reset.append(name)
    return tuple(metrics), tuple(reset)


class CounterProvider:
    """A snapshot file, and optionally a sample file, of one engine.

    `ask` runs a step on the monitor session, and opens a new one after a lost one. What cannot be read is said and
    fails no trial.
    """

    after_evidence = True

    def __init__(
        self, name: str, engine: str, ask: Callable[[Step], Answer], run: str, *,
        snapshot: str | None = None, sample: str | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self._engine = engine
        self._ask = ask
        self._run = run
        self._snapshot = snapshot
        self._sample = sample
        self._before: dict[str, Reading] = {}
        self._peaks: dict[str, float] = {}
        self._warnings: list[str] = []

    def begin(self) -> None:
        self._peaks = {}
        self._warnings = []
        self._before = self._read() if self._snapshot else {}

    def _read(self) -> dict[str, Reading]:
        assert self._snapshot is not None
        return readings(self._rows(self._snapshot, {}))

    def _rows(self, file: str, binds: Mapping[str, str]) -> tuple[Row, ...]:
        step = Step(
            f"{self._engine}/{file}",
            sql_file(self._engine, file),
            session=Role.MONITOR,
            binds=binds,
            own_read=True,
        )
        try:
            return self._ask(step).rows
        except (DatabaseError, ToolkitError) as error:
            self._warn(f"`{file}` could not be read: {error.sentence}")
            return ()

    def _warn(self, sentence: str) -> None:
        if sentence not in self._warnings:
            self._warnings.append(sentence)

    def sample(self, at_seconds: float) -> tuple[Sample, ...]:
        if self._sample is None:
            return ()
        taken = []
        for row in self._rows(self._sample, {"run": self._run}):
            if row["metric_value"] is None:
                continue
            name, value = str(row["metric_name"]), float(row["metric_value"])
            self._peaks[name] = max(value, self._peaks.get(name, value))
            taken.append(Sample(at_seconds, name, value))
        return tuple(taken)

    def end(self) -> tuple[Metric, ...]:
        if self._snapshot is None:
            return ()
        metrics, reset = difference(self._before, self._read(), self.name)
        if reset:
            self._warn(f"counters were reset meanwhile and are left out: {', '.join(reset)}")
        return metrics

    def peaks(self) -> Mapping[str, float]:
        return dict(self._peaks)

    def warnings(self) -> tuple[str, ...]:
        return tuple(self._warnings)
