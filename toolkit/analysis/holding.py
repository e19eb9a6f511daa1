"""Does a gain last? The recommended configuration and the former one, measured again in turn on another day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from toolkit.analysis.cells import analyse
from toolkit.analysis.doubts import named, repeats_needed
from toolkit.analysis.fit import ConfidenceInterval
from toolkit.analysis.next_experiment import says_how
from toolkit.analysis.recommendation import Gain, Recommendation
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, OptionValue, queries_of
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell, Factor, spell_level
from toolkit.model.words import Keep, Mode

FEWEST_REPEATS = 5
"""With fewer of both settings their noise is not known, and nothing could be said."""
_MOST = 30


class Lasting(StrEnum):
    """What became of a gain."""

    HELD = "held"
    SMALLER = "smaller"
    LOST = "lost"
    REVERSED = "reversed"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class VerifiedGain:
    """A gain then and now.

    Attributes:
        chosen: the recommended configuration.
        then: its gain over the former one in the run.
        run: the run that measured both again.
        now: the gain in it; None where one of the two has no value.
        verdict: what became of it.
    """

    chosen: Cell
    then: Gain
    run: str
    now: Gain | None
    verdict: Lasting
    sentence: str


def gain_to_verify(found: Recommendation) -> tuple[Cell, Gain]:
    """Return what was recommended, and its gain over what was set before.

    Raises:
        ToolkitError: TK-0110 where a run recommends nothing, or only what is set already.
    """
    chosen = found.advice.recommended[0] if found.advice.recommended else None
    gain = found.present if found.present_known else found.present or found.smaller
    if chosen is None or gain is None or gain.interval is None or gain.interval.low <= 1:
        raise ToolkitError(
            f"run `{found.found.run.head.run}` shows no gain that could be verified",
            code="TK-0110",
            hint="`dbatk advise` shows what it tells; `--present` names what was set before",
        )
    return chosen, gain


def verification_experiment(found: Recommendation, repeat: int | None = None) -> Experiment:
    """Return the experiment that measures both in turn, sweep by sweep, so often that half of the gain shows.

    Where they differ in several factors, their other combinations are measured, too.

    Raises:
        ToolkitError: TK-0110, as `gain_to_verify`, and where the run does not say how its work is done.
    """
    chosen, gain = gain_to_verify(found)
    former = found.found.run.head.experiment
    if not says_how(former):
        raise ToolkitError(
            f"run `{found.found.run.head.run}` was imported, and does not say how its work is done",
            code="TK-0110",
            hint="measure both settings by an experiment file of your own",
        )
    half = 100 * (gain.ratio - 1) / 2
    needed = repeats_needed(found.found.fit.noise, 2, max(half, 1.0)) or _MOST
    factors = tuple(
        replace(factor, levels=tuple(dict.fromkeys((gain.over[factor.name], chosen[factor.name]))))
        for factor in former.factors
        if factor.name in chosen
    )
    options, factors = _one_query(former.options, factors)
    return replace(
        former,
        options=options,
        factors=factors,
        mode=Mode.MEASUREMENT,
        search=False,
        keep=Keep.NONE,
        label=None,
        verifies=found.found.run.head.run,
        present={name: spell_level(level) for name, level in gain.over.levels if name in chosen},
        warmup=max(1, former.warmup),
        repeat=repeat or max(FEWEST_REPEATS, min(needed, _MOST)),
    )


def _one_query(
    options: Mapping[str, OptionValue], factors: tuple[Factor, ...]
) -> tuple[Mapping[str, OptionValue], tuple[Factor, ...]]:
    """Leave out the queries that are not measured again; one that remains is no factor any more."""
    levels = next((factor.levels for factor in factors if factor.name == "query" and factor.own), ())
    texts = {name: text for name, text in queries_of(options).items() if name in levels}
    if not texts:
        return options, factors
    if len(texts) > 1:
        return {**options, "query": tuple(f"{name}={text}" for name, text in texts.items())}, factors
    return {**options, "query": next(iter(texts.values()))}, tuple(one for one in factors if one.name != "query")


def verified(found: Recommendation, again: RunRecord) -> VerifiedGain:
    """Say whether a gain held in the run that measured it again.

    Raises:
        ToolkitError: TK-0110, as `gain_to_verify`.
    """
    chosen, then = gain_to_verify(found)
    now = _gain_in(again, chosen, then.over)
    verdict = _verdict(then, now)
    return VerifiedGain(chosen, then, again.head.run, now, verdict, _sentence(found, chosen, then, now, verdict))


def _gain_in(again: RunRecord, chosen: Cell, over: Cell) -> Gain | None:
    found = analyse(again)
    cells = {frozenset(cell.items()): cell for cell, summary in found.by_cell.items() if summary.n}
    varied = {factor.name for factor in again.head.experiment.factors}
    pair = [cells.get(frozenset(one for one in each.items() if one[0] in varied)) for each in (over, chosen)]
    if pair[0] is None or pair[1] is None:
        return None
    return Gain(over, *found.ratio(pair[0], pair[1]))


def _verdict(then: Gain, now: Gain | None) -> Lasting:
    if now is None or now.interval is None or then.interval is None:
        return Lasting.INCONCLUSIVE
    if now.interval.high < 1:
        return Lasting.REVERSED
    less = now.interval.high < then.interval.low
    if now.interval.low > 1:
        return Lasting.SMALLER if less else Lasting.HELD
    return Lasting.LOST if less else Lasting.INCONCLUSIVE


_SAYS = {
    Lasting.HELD: "the gain held",
    Lasting.SMALLER: "there still is a gain, but a smaller one",
    Lasting.LOST: "the gain is lost",
    Lasting.REVERSED: "the former setting is the better one now",
    Lasting.INCONCLUSIVE: "whether the gain held is inconclusive",
}


def _sentence(found: Recommendation, chosen: Cell, then: Gain, now: Gain | None, verdict: Lasting) -> str:
    def spelled(gain: Gain | None) -> str:
        interval: ConfidenceInterval | None = None if gain is None else gain.interval
        if gain is None or interval is None:
            return "without an interval"
        return found.found.judged.times_better(gain.ratio, interval, named(then.over))

    return f"{_SAYS[verdict]}: {named(chosen)} is {spelled(now)} now, and was {spelled(then)}"
