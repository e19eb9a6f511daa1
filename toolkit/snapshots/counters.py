"""Counters of a database, read by plain SQL files on the monitor session.

A file returns metric_name, metric_value, metric_unit and metric_kind. A `counter` gives its difference, a
`gauge` its later value; of what is `ranked` (waits by event) only the largest differences are kept. An `identity`
must be the same before and after: a server that was restarted, or other sessions than before, count from another
begin; its unit says whose names it guards (`all`, or how they end). A counter that went down was reset in between.
A counter of the instance that counts less than our own sessions did (`x` and `x (session)`) is not of the whole
instance. All of these are left out with a warning: a negative difference would be wrong, and so would zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from toolkit.errors import ToolkitError
from toolkit.executors import Refusals
from toolkit.model.protocols import Answer, DatabaseError, Event
from toolkit.model.records import Metric, Sample
from toolkit.model.steps import Step, together
from toolkit.model.values import Row, Scalar
from toolkit.model.words import Role
from toolkit.rendering import sql_file

RANKED = 10
"""How many of the ranked differences are kept."""
_SESSION = " (session)"
_ROUNDING = 0.99
_PLAN = "plan"


@dataclass(frozen=True, slots=True)
class CounterReading:
    """One metric at one instant."""

    value: float
    unit: str
    counter: bool
    kind: str = ""


def readings(rows: tuple[Row, ...]) -> dict[str, CounterReading]:
    """Turn the rows of a snapshot file into readings by name; null values are left out."""
    return {
        str(row["metric_name"]): _reading(row, str(row["metric_kind"]))
        for row in rows
        if row["metric_value"] is not None
    }


def _reading(row: Row, kind: str) -> CounterReading:
    plain = kind in {"counter", "gauge"}
    return CounterReading(
        float(row["metric_value"] or 0),
        str(row["metric_unit"]),
        kind in {"counter", "ranked"},
        "" if plain else kind,
    )


def difference(
    before: Mapping[str, CounterReading], after: Mapping[str, CounterReading], source: str
) -> tuple[tuple[Metric, ...], tuple[str, ...]]:
    """Return the metrics between two readings, and the names of counters that went down.

    A wait that is not listed before is the first one of its kind, if others were listed.
    """
    metrics, reset = [], []
    listed = {_scope(name) for name, early in before.items() if early.kind == "ranked"}
    for name, late in after.items():
        early = before.get(name)
        if early is None and late.kind == "ranked" and _scope(name) in listed:
            early = replace(late, value=0.0)
        if late.kind == "identity":
            continue
        if not late.counter:
            metrics.append(Metric(name, late.value, late.unit, source))
        elif early is not None and late.value >= early.value:
            metrics.append(Metric(name, late.value - early.value, late.unit, source))
        elif early is not None:
            reset.append(name)
    return _largest(metrics, after), tuple(reset)


def _scope(name: str) -> bool:
    """Tell whether a wait is that of the run's sessions; else it is the instance's."""
    return name.endswith(" (session)")


def _largest(metrics: Sequence[Metric], after: Mapping[str, CounterReading]) -> tuple[Metric, ...]:
    """Keep the largest of the ranked differences, and all others."""
    ranked = sorted(
        (each for each in metrics if after[each.name].kind == "ranked" and each.value > 0),
        key=lambda one: -one.value,
    )
    return (*(each for each in metrics if after[each.name].kind != "ranked"), *ranked[:RANKED])


def without_changed(
    before: Mapping[str, CounterReading], after: Mapping[str, CounterReading]
) -> tuple[dict[str, CounterReading], tuple[str, ...]]:
    """Return the later readings without those that count from another begin, and what is another now."""
    changed = {
        name: late.unit
        for name, late in after.items()
        if late.kind == "identity" and name in before and before[name].value != late.value
    }
    kept = {
        name: late
        for name, late in after.items()
        if not any(guarded == "all" or name.endswith(guarded) for guarded in changed.values())
    }
    return kept, tuple(changed)


def without_partial(metrics: Sequence[Metric]) -> tuple[tuple[Metric, ...], tuple[str, ...]]:
    """Leave out counters of the instance that are less than our own sessions', and name them."""
    ours = {one.name.removesuffix(_SESSION): one.value for one in metrics if one.name.endswith(_SESSION)}
    partial = tuple(one.name for one in metrics if one.name in ours and one.value < ours[one.name] * _ROUNDING)
    return tuple(one for one in metrics if one.name not in partial), partial


def reads_of(engine: str, files: Sequence[str], binds: Mapping[str, Scalar]) -> Step:
    """Make one read of plain SQL files with the same columns, on the monitor session."""
    return together(
        Step(f"{engine}/{file}", sql_file(engine, file), session=Role.MONITOR, binds=binds, own_read=True)
        for file in files
    )


class CounterProvider:
    """Snapshot files, and optionally sample files, of one engine.

    `ask` runs a step on the monitor session, and opens a new one after a lost one. What cannot be read is a
    warning and fails no trial. Files of the same columns are read in one statement without those that are refused.

    Args:
        name: of the provider; the source of its metrics.
        engine: whose files they are.
        ask: runs a step on the monitor session.
        run: the run's id, by which sessions are found.
        snapshot: files read before and after.
        gauges: files of gauges alone, which are read after only.
        sample: files read again and again meanwhile.
        plan: file that shows how a statement was run; read with the state after when `explain` asked for it.
        after_evidence: read the state after only when the worker has been asked for its evidence: a server that
            publishes counters when asked to. Elsewhere at once, so that our own questions are not counted.
    """

    def __init__(
        self, name: str, engine: str, ask: Callable[[Step], Answer], run: str, *,
        snapshot: str | Sequence[str] | None = None, gauges: Sequence[str] = (),
        sample: str | Sequence[str] | None = None, plan: str | None = None, after_evidence: bool = True,
    ) -> None:  # fmt: skip
        self.name = name
        self.explains = plan is not None
        self.plan: tuple[str, ...] = ()
        self._plan_file = plan
        self._statement: str | None = None
        self.after_evidence = after_evidence
        self._engine = engine
        self._ask = ask
        self._run = run
        self._snapshot = _files(snapshot)
        self._gauges, self._sample = tuple(gauges), _files(sample)
        self._before: dict[str, CounterReading] = {}
        self._peaks: dict[str, float] = {}
        self._executions: dict[str, set[float]] = {}
        self._warnings: list[str] = []
        self._refusals = Refusals()

    def begin(self) -> None:
        self._peaks = {}
        self._executions = {}
        self._warnings = []
        self.plan, self._statement = (), None
        self._before = readings(self._rows(self._snapshot)) if self._snapshot else {}

    def explain(self, statement_id: str) -> None:
        """Ask for the plan of a statement; `plan` holds its lines after `end`."""
        self._statement = statement_id

    def _rows(self, files: Sequence[str]) -> tuple[Row, ...]:
        binds = {"run": self._run, **({"statement_id": self._statement} if self._statement else {})}
        try:
            rows = self._refusals.read(reads_of(self._engine, files, binds), self._ask)
        except (DatabaseError, ToolkitError) as error:
            self._warn(f"`{'`, `'.join(files)}` could not be read: {error.sentence}")
            return ()
        for name, sentence in self._refusals.messages.items():
            if name.partition("/")[2] in files:
                self._warn(f"`{name.partition('/')[2]}` could not be read: {sentence}")
        return rows

    def _warn(self, sentence: str) -> None:
        if sentence not in self._warnings:
            self._warnings.append(sentence)

    def sample(self, at_seconds: float) -> tuple[Sample, ...]:
        if not self._sample:
            return ()
        taken = []
        for row in self._rows(self._sample):
            if row["metric_value"] is None:
                continue
            name, value = str(row["metric_name"]), float(row["metric_value"])
            if name.startswith("execution "):
                self._executions.setdefault(name, set()).add(value)
                continue
            self._peaks[name] = max(value, self._peaks.get(name, value))
            if name == "active_sessions" and value:
                self._peaks["watched_seconds"] = at_seconds
            taken.append(Sample(at_seconds, name, value))
        return tuple(taken)

    def end(self) -> tuple[Metric, ...]:
        rows = self._read_after()
        if not self._snapshot:
            return self._sampled()
        after, changed = without_changed(self._before, readings(rows))
        if changed:
            self._warn(f"counters were restarted and are omitted: {_other(changed)}")
        found, reset = difference(self._before, after, self.name)
        if reset:
            self._warn(f"counters were reset meanwhile and are omitted: {', '.join(reset)}")
        metrics, partial = without_partial(found)
        if partial:
            self._warn(
                "counters of the instance are lower than those of dbatk's sessions, so they do not cover the "
                f"whole instance (perhaps one container) and are omitted: {', '.join(partial)}"
            )
        self._peaks.update({each.name: each.value for each in metrics})
        return metrics

    def _read_after(self) -> tuple[Row, ...]:
        """Read the state after, and the plan with it; return what is no plan."""
        plan = (self._plan_file,) if self._plan_file and self._statement else ()
        files = (*self._snapshot, *self._gauges, *plan)
        rows = self._rows(files) if files else ()
        lines = [row for row in rows if row["metric_kind"] == _PLAN]
        self.plan = tuple(
            str(row["metric_name"] or "") for row in sorted(lines, key=lambda one: float(one["metric_value"] or 0))
        )
        return tuple(row for row in rows if row["metric_kind"] != _PLAN)

    def _sampled(self) -> tuple[Metric, ...]:
        """Return sampled peaks that are figures of their own."""
        peak = self._peaks.get("temp_bytes")
        return () if not peak else (Metric("temp_peak_bytes", peak, "bytes", self.name),)

    def peaks(self) -> Mapping[str, float]:
        """Return the peaks of samples, differences of counters, and how often each statement seen was executed."""
        counts = {name: float(len(seen)) for name, seen in self._executions.items()}
        return {**self._peaks, **counts}

    def warnings(self) -> tuple[str, ...]:
        return tuple(self._warnings)


def _files(given: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def _other(names: Iterable[str]) -> str:
    """Say what is not what it was: `another begin of the instance`, `other sessions of the run`."""
    return ", ".join(f"{'other' if name.startswith('sessions') else 'another'} {name}" for name in names)


# -- progress of a statement --------------------------------------------------------------------------------------
FIRST_SECONDS = 2.0
"""What ends sooner needs no bar."""
APART_SECONDS = 2.0
MOST_PCT = 99.0
"""What a statement says of itself is never the whole: only its end is."""


class ProgressProvider:
    """Asks the engine's progress file and emits `statement-progress` events.

    Args:
        engine: whose file it is.
        file: plain SQL file: operation, target, done, total, unit, seconds_left; the operation at work first.
        ask: runs a step on the monitor session.
        run: the run's id.
        emit: takes the events.
    """

    name = "progress"
    after_evidence = False

    def __init__(
        self, engine: str, file: str, ask: Callable[[Step], Answer], run: str, emit: Callable[[Event], None]
    ) -> None:
        self._name = f"{engine}/{file}"
        self._text = sql_file(engine, file)
        self._ask = ask
        self._run = run
        self._emit = emit
        self._asked_at = 0.0
        self._shown = False
        self._refused: str | None = None
        self._said = False

    def begin(self) -> None:
        self._asked_at, self._shown = 0.0, False

    def sample(self, at_seconds: float) -> tuple[Sample, ...]:
        late = at_seconds < max(FIRST_SECONDS, self._asked_at + APART_SECONDS)
        if late or self._refused is not None:
            return ()
        self._asked_at = at_seconds
        binds: dict[str, Scalar] = {"run": self._run, "seconds": round(at_seconds)}
        step = Step(self._name, self._text, session=Role.MONITOR, binds=binds, own_read=True)
        try:
            rows = self._ask(step).rows
        except (DatabaseError, ToolkitError) as error:
            if not isinstance(error, DatabaseError) or error.lost:
                return ()
            self._refused = error.sentence
            return ()
        event = progress_event(rows)
        if event is not None:
            self._shown = True
            self._emit(event)
        return ()

    def end(self) -> tuple[Metric, ...]:
        if self._shown:
            self._emit(Event("statement-progress", "", {}))
        return ()

    def peaks(self) -> Mapping[str, float]:
        return {}

    def warnings(self) -> tuple[str, ...]:
        if self._refused is None or self._said:
            return ()
        self._said = True
        return (f"the progress of a statement cannot be shown: {self._refused}",)


def progress_event(rows: tuple[Row, ...]) -> Event | None:
    """Make an event of the operation at work; None when nothing long is listed."""
    row = next((each for each in rows if _number(each.get("total")) > 0), None)
    if row is None:
        return None
    done, total = _number(row["done"]), _number(row["total"])
    percent = min(MOST_PCT, 100.0 * done / total)
    left = row.get("seconds_left")
    what = str(row["operation"]).strip()
    target = str(row["target"] or "").strip()
    data: dict[str, object] = {
        "operation": what, "target": target, "percent": percent,
        "seconds_left": None if left is None else float(left),
    }  # fmt: skip
    return Event("statement-progress", f"{what} {target}".strip(), data)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
