"""The limit of `--fail-if`: read from text, judged on a comparison."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from toolkit.analysis.compare import Comparison, Pair, compare_values
from toolkit.analysis.fit import ConfidenceInterval
from toolkit.analysis.judged import ELAPSED, Judged
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.operations import JudgedBy
from toolkit.model.words import Verdict
from toolkit.units import change

_LIMIT = re.compile(r"\s*([a-z][a-z0-9_.]*)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*%\s*", re.ASCII)
_HINT = "write a metric, `>` or `<`, and a signed percentage, such as `elapsed_seconds > +5%`"


@dataclass(frozen=True, slots=True)
class Limit:
    """How much more (or with `above` False, less) of a metric is too much, in percent of A."""

    metric: str
    above: bool
    percent: float

    def passed_by(self, ratio: float) -> bool:
        """Whether a ratio B over A lies beyond the limit."""
        difference = (ratio - 1) * 100
        return difference > self.percent if self.above else difference < self.percent

    def __str__(self) -> str:
        return f"{self.metric} {'>' if self.above else '<'} {self.percent:+g}%"


@dataclass(frozen=True, slots=True)
class LimitResult:
    """Whether the limit was met in any pair; a sentence for each pair that says more than that it was kept.

    Attributes:
        met: pairs that passed the limit.
        inconclusive: those whose interval excludes neither.
        not_judged: those without an interval, which no difference could have made pass it.
    """

    limit: Limit
    met: tuple[str, ...] = ()
    inconclusive: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()

    def exit_code(self, *, strict: bool = False) -> ExitCode:
        """Return the exit status: the difference was found, could not be, or with `strict` is inconclusive."""
        if self.met:
            return ExitCode.DIFFERENCE
        return ExitCode.INCOMPLETE if self.not_judged or (self.inconclusive and strict) else ExitCode.DONE


def parse_fail_if(text: str) -> Limit:
    """Read a limit such as `elapsed_seconds > +5%`.

    Raises:
        ToolkitError: TK-0102 when the text is no limit, or one on the wrong side of zero.
    """
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise ToolkitError(f"`{text}` is not a limit", code="TK-0102", hint=_HINT)
    metric, sign, number = match.groups()
    limit = Limit(metric, sign == ">", float(number))
    if limit.percent < 0 if limit.above else limit.percent > 0:
        side = "use `>` with a percentage of 0 or more, `<` with one of 0 or less"
        raise ToolkitError(f"the limit `{text}` has the wrong sign", code="TK-0102", hint=side)
    return limit


def judge(comparison: Comparison, limit: Limit) -> LimitResult:
    """Judge every pair of a comparison.

    Met when the median passes the limit and the interval lies wholly on the bad side of zero. Inconclusive when
    the verdict is, and the interval does not exclude that the limit was passed. Not judged where there is none:
    too few repeats or stored runs, or no good trial on one side.

    Raises:
        ToolkitError: TK-0101 when no trial of the two runs has the metric.
    """
    met, inconclusive, not_judged = [], [], []
    for pair in _pairs(comparison, limit.metric):
        cell = f"`{pair.cell_b}`: " if pair.cell_b else ""
        spelled = f"{cell}{limit.metric} {_spell(pair)}"
        if pair.interval is None:
            not_judged.append(f"{spelled}; not judged by `{limit}`")
        elif _is_met(pair, pair.interval, limit):
            met.append(f"{spelled} exceeds the limit `{limit}`")
        elif _is_inconclusive(pair, pair.interval, limit):
            inconclusive.append(f"{spelled}; inconclusive for the limit `{limit}`")
    return LimitResult(limit, tuple(met), tuple(inconclusive), tuple(not_judged))


def _pairs(comparison: Comparison, metric: str) -> tuple[Pair, ...]:
    if metric == comparison.judged.by.metric:
        return comparison.pairs
    known = {found.name for run in (comparison.a, comparison.b) for trial in run.trials for found in trial.metrics}
    if metric not in {ELAPSED, *known}:
        raise _unknown(metric, known)
    judged = Judged(JudgedBy(metric))
    return compare_values(comparison.a, comparison.b, comparison.chosen, judged, comparison.history)[0]


def _unknown(metric: str, known: set[str]) -> ToolkitError:
    near = difflib.get_close_matches(metric, [ELAPSED, *sorted(known)], n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"use `{ELAPSED}` or a metric of the runs"
    return ToolkitError(f"neither run has a metric `{metric}`", code="TK-0101", hint=hint)


def _is_met(pair: Pair, interval: ConfidenceInterval, limit: Limit) -> bool:
    if pair.ratio is None or not limit.passed_by(pair.ratio):
        return False
    return interval.low > 1 if limit.above else interval.high < 1


def _is_inconclusive(pair: Pair, interval: ConfidenceInterval, limit: Limit) -> bool:
    undecided = pair.verdict is Verdict.INCONCLUSIVE
    return undecided and limit.passed_by(interval.high if limit.above else interval.low)


def _spell(pair: Pair) -> str:
    if pair.ratio is None:
        return "has no numbers on one side"
    if pair.interval is None:
        return f"{change(pair.ratio)}, no interval"
    return f"{change(pair.ratio)} ({change(pair.interval.low)} to {change(pair.interval.high)} at 95 %)"
