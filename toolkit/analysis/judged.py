"""What the configurations of a run are judged by: its value of a trial, which way is better, and how that reads.

An operation declares it (`judged_by`), or the user chooses another one (`--judge`). Numbers and sentences of
analysis and reports all take it from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from toolkit.analysis.fit import ConfidenceInterval, Observation
from toolkit.design.judging import chosen
from toolkit.model.operations import JudgedBy
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Cell
from toolkit.model.words import Verdict
from toolkit.units import TimeUnit, quantity, ratio, span, time_unit, value_change

ELAPSED = "elapsed_seconds"


@dataclass(frozen=True, slots=True)
class Judged:
    """A metric by which configurations are compared.

    A ratio of badness is the one of two values that is above 1 where the first is worse: of times and sizes the
    first over the second, of rates and scores the second over the first.
    """

    by: JudgedBy

    # -- numbers ----------------------------------------------------------------------------------------------
    def of(self, trial: TrialRecord) -> float | None:
        """Return the value of a trial; None for one that has none."""
        if self.by.metric == ELAPSED:
            return trial.elapsed_seconds
        return next((found.value for found in trial.metrics if found.name == self.by.metric), None)

    def observed(self, trials: Iterable[TrialRecord]) -> tuple[Observation, ...]:
        """Return the values that enter the numbers, all positive, in the order given."""
        return tuple(
            Observation(trial.cell, trial.repeat, value)
            for trial in trials
            if trial.counts and (value := self.of(trial)) is not None and value > 0
        )

    def rank(self, value: float) -> float:
        """Return a number that is the lower the better a value is."""
        return value if self.by.lower_is_better else -value

    def worse_first(self, one: Cell, other: Cell) -> tuple[Cell, Cell]:
        """Return two cells in the order in which the ratio of their values is one of badness."""
        return (one, other) if self.by.lower_is_better else (other, one)

    def verdict(self, interval: ConfidenceInterval | None) -> Verdict:
        """Return what an interval of B over A tells: nothing while it holds 1."""
        if interval is None or interval.holds(1.0):
            return Verdict.INCONCLUSIVE
        good = (interval.high < 1) is self.by.lower_is_better
        return self.good if good else self.bad

    # -- words ------------------------------------------------------------------------------------------------
    @property
    def is_time(self) -> bool:
        """Whether it is a time that should be short: then one says faster and slower."""
        return self.by.unit == "seconds" and self.by.lower_is_better and self.by.passes

    @property
    def good(self) -> Verdict:
        return Verdict.FASTER if self.is_time else Verdict.BETTER

    @property
    def bad(self) -> Verdict:
        return Verdict.SLOWER if self.is_time else Verdict.WORSE

    @property
    def verdicts(self) -> tuple[Verdict, Verdict, Verdict]:
        return self.good, self.bad, Verdict.INCONCLUSIVE

    @property
    def in_short(self) -> str:
        """Say how to read a ratio of B over A."""
        if self.is_time:
            return "below 1, B takes less time"
        return f"{'below' if self.by.lower_is_better else 'above'} 1, B is better"

    @property
    def median(self) -> str:
        """Head a column of medians; what is another time than that of the whole trial is named."""
        return "median" if self.by == JudgedBy() else f"median {self.by.title}"

    @property
    def of_what(self) -> str:
        """Name what a time or size is of, unless it is the time of the whole trial."""
        return f" of {self.by.title}" if self.by != JudgedBy() and self.by.unit in ("seconds", "bytes") else ""

    @property
    def best_median(self) -> str:
        return "lowest median" if self.by.lower_is_better else "highest median"

    @property
    def gain(self) -> str:
        """Name how many times better a configuration is than its baseline."""
        return "speed-up" if self.is_time else "gain"

    @property
    def gain_formula(self) -> str:
        own, lowest = "the median of the configuration", "the median of the lowest level"
        return f"{lowest} over {own}" if self.by.lower_is_better else f"{own} over {lowest}"

    @property
    def times_as(self) -> str:
        return "times as fast" if self.is_time else "times as good"

    @property
    def values(self) -> str:
        """Name its values in the plural."""
        return "times" if self.is_time else f"values of {self.by.title}"

    @property
    def reaches(self) -> str:
        return "takes" if self.by.unit == "seconds" and self.by.lower_is_better else "reaches"

    def loses(self, many: bool) -> str:
        """Say that one, or several, do worse."""
        return f"{'lose' if many else 'loses'} time" if self.is_time else f"{'do' if many else 'does'} worse"

    def swapped(self, *, worse: bool) -> str:
        """Say what another level of a factor does."""
        if self.is_time:
            return "takes longer" if worse else "takes less"
        return "does worse" if worse else "does better"

    def spell(self, value: float | None) -> str:
        """Spell a value with its unit."""
        return quantity(value, self.by.unit)

    def span(self, low: float, high: float) -> str:
        """Spell a range of values, the unit once."""
        return span(self.spell(low), self.spell(high))

    def axis(self, values: Iterable[float]) -> TimeUnit:
        """Choose the unit of an axis or a column."""
        return time_unit(values) if self.by.unit == "seconds" else TimeUnit(self.by.unit, 1.0)

    def change(self, low: float, high: float | None = None) -> str:
        """Spell a ratio of values, or a range of them, in words: `30 % less time`."""
        return value_change(low, high, of=self.by.title)

    def changed(self, interval: ConfidenceInterval | None) -> str:
        """Spell an interval of badness as a change of the value."""
        if interval is None:
            return "no interval"
        found = interval if self.by.lower_is_better else interval.inverse()
        return self.change(found.low, found.high)

    def times_better(self, value: float, interval: ConfidenceInterval, than: str) -> str:
        """Say how many times better one is than another, from the badness of the other over the one."""
        if self.is_time:
            return f"{ratio(value)} as fast as {than} ({ratio(interval.low)} to {ratio(interval.high)})"
        if self.by.lower_is_better:
            value, interval = 1 / value, interval.inverse()
        return f"{ratio(value)} the {self.by.title} of {than} ({ratio(interval.low)} to {ratio(interval.high)})"


def judged_of(run: RunRecord) -> Judged:
    """Return what a run is judged by: what its user chose, or its operation declares."""
    return Judged(chosen(run.head.experiment, run.trials))
