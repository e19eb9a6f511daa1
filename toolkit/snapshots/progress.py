"""How far a long statement is, read now and then on the monitor session and told as events; nothing is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer, DatabaseError, Event
from toolkit.model.records import Metric, Sample
from toolkit.model.steps import Step
from toolkit.model.values import Row, Scalar
from toolkit.model.words import Role
from toolkit.rendering import sql_file

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
        return (f"how far a statement is cannot be shown: {self._refused}",)


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
