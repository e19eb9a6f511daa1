"""Tells when a run has no prospect: what no configuration can help, met by two of them, or by the only one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolkit.design.judging import metric_missing
from toolkit.dialects.answers import Continuation
from toolkit.documents import nearest
from toolkit.model.experiment import PlannedTrial
from toolkit.model.records import TrialRecord
from toolkit.model.values import Cell
from toolkit.model.words import Mode, Outcome
from toolkit.runner.context import RunContext


@dataclass
class Prospects:
    """What the trials so far have met that every other one would meet, too."""

    context: RunContext
    planned: Sequence[PlannedTrial]
    _met: dict[str, set[Cell]] = field(default_factory=dict)
    """By what was met (a code, the name of a metric): which configurations did."""
    _near: str | None = None
    """The name of a metric that is nearly the one that is missing."""
    _is_judged: bool = False

    def are_none(self, record: TrialRecord) -> bool:
        """Tell whether the run ends after a trial, and warn why."""
        met = self._fails(record) or self._lacks_what_is_judged(record)
        if met is None:
            return False
        what, sentence = met
        cells = self._met.setdefault(what, set())
        cells.add(record.cell)
        if len(cells) < 2 <= len({each.cell for each in self.planned}):
            return False
        self.context.warn(f"{sentence}; the run ends here")
        return True

    def _fails(self, record: TrialRecord) -> tuple[str, str] | None:
        if record.outcome is not Outcome.FAILED or record.error_code is None:
            return None
        advice = self.context.dialect.explain(record.error_code, record.reason or "")
        if advice is None or advice.goes_on is not Continuation.NOTHING:
            return None
        return record.error_code, f"every trial would fail alike ({record.error_code}: {advice.advice})"

    def _lacks_what_is_judged(self, record: TrialRecord) -> tuple[str, str] | None:
        """Say that no trial has the metric that was chosen, and how to find it: its name may be misspelt."""
        experiment = self.context.experiment
        if self._is_judged or experiment.mode is Mode.JOB or record.outcome is not Outcome.OK:
            return None
        name = metric_missing(experiment, record)
        self._is_judged = name is None
        if name is None:
            return None
        self._near = nearest(name, [metric.name for metric in record.metrics]) or self._near
        hint = f"did you mean `{self._near}`?" if self._near else "`dbatk runs show --json` has all metrics"
        return name, f"no trial has a value of `{name}`, by which the run is judged ({hint})"
