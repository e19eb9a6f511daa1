"""What to set after a run: what it gains over the present setting and the next smaller one, its cost, its limit.

Everything stands on the advice of the run (`analysis.advice`): nothing is recommended here that is not there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolkit.analysis.advice import Advice, advise
from toolkit.analysis.bottlenecks import Bottleneck, bottlenecks
from toolkit.analysis.cells import RunAnalysis, analyse, other_levels, scale_level
from toolkit.analysis.choice import WORTH_PCT, granted_cells, spelled_choice
from toolkit.analysis.doubts import lowest_of_its_kind, named
from toolkit.analysis.fit import ConfidenceInterval
from toolkit.analysis.laws import FittedLaw, fitted_law
from toolkit.analysis.metrics import cpu_ratio
from toolkit.analysis.next_experiment import NextExperiment, next_experiment, says_how
from toolkit.analysis.sequential import ended_because, used_up_budget
from toolkit.errors import ToolkitError
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell, Level, spell_level
from toolkit.model.words import Mode, Outcome, RunState
from toolkit.units import counted, parse_bytes, percent, value_change


@dataclass(frozen=True, slots=True)
class Gain:
    """How many times better the recommended configuration is than another; the interval is None without one."""

    over: Cell
    ratio: float
    interval: ConfidenceInterval | None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What a run leads to.

    Attributes:
        advice: the sentences of the run's report.
        setting: the levels to set; None where the run is inconclusive.
        any_of: levels of further factors that were not told apart.
        present: the gain over what is set now, or over the lowest level where that is not known.
        present_known: whether what is set now was named, or is in the environment of the run.
        smaller: the gain over the next smaller level of its kind.
        efficiency: of the recommended configuration.
        cpu_ratio: its CPU time over that of the one it is held against first.
        limits: what held it up, the first to remove first; then what held up a higher degree.
        law: the scaling law of its kind.
        stopped_because: why the run has no more trials.
        following: what to measure next, if anything.
    """

    found: RunAnalysis
    advice: Advice
    setting: Mapping[str, Level] | None
    any_of: Mapping[str, tuple[Level, ...]]
    present: Gain | None
    present_known: bool
    smaller: Gain | None
    efficiency: float | None
    cpu_ratio: float | None
    limits: tuple[Bottleneck, ...]
    law: FittedLaw | None
    stopped_because: str
    following: NextExperiment | None

    @property
    def conclusive(self) -> bool:
        return self.setting is not None


def recommend(
    run: RunRecord,
    worth_pct: float = WORTH_PCT,
    *,
    present: Mapping[str, str] | None = None,
) -> Recommendation:
    """Say what to set after a run.

    Args:
        run: with its samples, without which waits are not seen.
        worth_pct: by how much a larger level must be better to be worth it.
        present: levels that are set now, as the command line spells them.

    Raises:
        ToolkitError: TK-0102 where no configuration of the run has the present levels.
    """
    found = analyse(run)
    advice = advise(found, worth_pct)
    granted = granted_cells(found)
    chosen = advice.recommended[0] if advice.recommended else None
    setting, any_of = _setting(advice.recommended)
    now, known = _present(found, granted, chosen or advice.best, present)
    over = _gain(found, chosen, now)
    limits = tuple(_limits(found, advice.first))
    law = None if chosen is None else fitted_law(found, granted, chosen)
    return Recommendation(
        found,
        advice,
        setting,
        any_of,
        over,
        known,
        _gain(found, chosen, _smaller(found, granted, chosen)),
        None if chosen is None else found.by_cell[chosen].efficiency,
        None if chosen is None or now is None or now == chosen else cpu_ratio(found.run, chosen, now),
        limits,
        law,
        _stopped_because(run),
        next_experiment(found, advice, granted, law, limits),
    )


def _setting(chosen: Sequence[Cell]) -> tuple[Mapping[str, Level] | None, Mapping[str, tuple[Level, ...]]]:
    """Return the levels to set, and those of further factors of which any is as good; only what was measured."""
    if not chosen:
        return None, {}
    levels = {name: tuple(dict.fromkeys(cell.get(name, "") for cell in chosen)) for name in chosen[0]}
    if math.prod(map(len, levels.values())) != len(chosen):
        return dict(chosen[0]), {}
    shared = {name: several[0] for name, several in levels.items() if len(several) == 1}
    return shared, {name: several for name, several in levels.items() if len(several) > 1}


# -- against what -----------------------------------------------------------------------------------------------
def _present(
    found: RunAnalysis, granted: Sequence[Cell], near: Cell | None, given: Mapping[str, str] | None
) -> tuple[Cell | None, bool]:
    """Return what is set now, and whether that is known; else the lowest level of the chosen one's kind."""
    if near is None:
        return None, False
    if given:
        return _as_given(found, near, given), True
    settings = found.run.environment
    set_now = {
        name: level
        for name in near
        for level in dict.fromkeys(cell[name] for cell in found.by_cell if name in cell)
        if _alike(level, settings.get(f"setting.{name}"))
    }
    if set_now:
        wanted = {**dict(near), **set_now}
        cell = next((each for each in found.by_cell if dict(each) == wanted and found.by_cell[each].n), None)
        if cell is not None:
            return cell, True
    return lowest_of_its_kind(found, near, granted), False


def _as_given(found: RunAnalysis, near: Cell, given: Mapping[str, str]) -> Cell:
    wanted = {name: given.get(name, spell_level(level)) for name, level in near.levels}
    for cell, summary in found.by_cell.items():
        if (
            summary.n
            and {name: spell_level(level) for name, level in cell.levels} == wanted
            and given.keys() <= wanted.keys()
        ):
            return cell
    spelled = ",".join(f"{name}={level}" for name, level in given.items())
    measured = [named(cell) for cell, summary in found.by_cell.items() if summary.n]
    raise ToolkitError(
        f"no measured configuration has `{spelled}`",
        code="TK-0102",
        hint=f"one of {', '.join(measured[:6])}{' ...' if len(measured) > 6 else ''}",
    )


def _alike(level: Level, setting: object) -> bool:
    """Whether a level is what a setting of the server says, in whatever unit either is written."""
    if setting is None:
        return False
    if str(setting).strip().casefold() == spell_level(level).casefold():
        return True
    try:
        return parse_bytes(str(setting).replace(" ", "")) == parse_bytes(str(level))
    except (ToolkitError, ValueError):
        return False


def _smaller(found: RunAnalysis, granted: Sequence[Cell], chosen: Cell | None) -> Cell | None:
    if chosen is None or (own := scale_level(chosen, found.scale)) is None:
        return None
    kind = other_levels(chosen, found.scale)
    levels = {
        level: cell
        for cell in granted
        if other_levels(cell, found.scale) == kind and (level := scale_level(cell, found.scale)) is not None
    }
    return max(((level, cell) for level, cell in levels.items() if level < own), default=(0.0, None))[1]


def _gain(found: RunAnalysis, chosen: Cell | None, over: Cell | None) -> Gain | None:
    if chosen is None or over is None or over == chosen or not found.by_cell[over].n:
        return None
    ratio, interval = found.ratio(over, chosen)
    return Gain(over, ratio, interval)


# -- limits and the end -----------------------------------------------------------------------------------------
def _limits(found: RunAnalysis, first: Cell | None) -> Iterator[Bottleneck]:
    """Yield what held up the configuration of the headline, then what held up the next higher one."""
    if first is None:
        first = next((each.cell for each in found.cells if Outcome.DOWNGRADED in each.outcomes), None)
    if first is None:
        return
    own = bottlenecks(found, first)
    yield from own
    known = {each.kind for each in own}
    higher = _next_level(found, first)
    if higher is not None:
        yield from (each for each in bottlenecks(found, higher) if each.kind not in known)


def _next_level(found: RunAnalysis, cell: Cell) -> Cell | None:
    """Return the configuration of the next higher level of the scale factor, whatever became of it."""
    own, kind = scale_level(cell, found.scale), other_levels(cell, found.scale)
    levels = {
        scale_level(each, found.scale): each for each in found.by_cell if other_levels(each, found.scale) == kind
    }
    above = [level for level in levels if level is not None and own is not None and level > own]
    return levels[min(above)] if above else None


def _stopped_because(run: RunRecord) -> str:
    """Say why there are no more trials."""
    if ended_because(run) is not None:
        return str(ended_because(run))
    head = run.head
    if not says_how(head.experiment):
        return f"imported: {counted(head.trials_ended, 'trial')}"
    ended = f"{head.trials_ended:,} of {counted(head.trials_planned, 'trial')} ended"
    if head.state is RunState.DONE and head.mode is Mode.JOB:
        return f"the job was done: {ended}"
    if head.state is RunState.DONE:
        return f"all repeats that were asked for were done: {head.experiment.repeat} of each configuration"
    if (used_up := used_up_budget(run)) is not None:
        return f"{used_up}: {ended}"
    return f"{head.state.value}: {ended}"


# -- rows for people --------------------------------------------------------------------------------------------
def rows_of(one: Recommendation) -> Iterator[tuple[str, str]]:
    """Yield what a reader wants to know, each with its name, in the order asked."""
    if one.setting is None:
        yield "setting", "keep what is set now: nothing better was shown"
    else:
        yield "setting", f"{spelled_choice(one.found, one.advice.recommended)}{_for_now(one)}"
        yield from _gains(one)
        yield from _cost(one)
    if one.advice.first is not None or one.limits:
        yield "limited by", _limited(one)
    if one.following is not None:
        yield "try next", one.following.why


def rows_below_headline(one: Recommendation) -> Iterator[tuple[str, str]]:
    """Yield of these what the headline of the advice does not say already."""
    if one.setting is not None and one.present is not None and one.present_known:
        yield "gain", _spelled(one, one.present, "the present")
    if one.smaller is not None and (one.present is None or one.smaller.over != one.present.over):
        yield "gain", _spelled(one, one.smaller, "the next smaller")
    if one.limits:
        yield "limited by", _limited(one)
    if one.following is not None and one.setting is not None:
        yield "try next", one.following.why


def _for_now(one: Recommendation) -> str:
    return "" if one.advice.unsure is None else " for now"


def _gains(one: Recommendation) -> Iterator[tuple[str, str]]:
    lowest = f"the lowest {one.found.scale}"
    if one.present is not None:
        yield "gain", _spelled(one, one.present, "the present" if one.present_known else lowest)
    elif one.present_known:
        yield "gain", "none: it is what is set now"
    elif len({scale_level(each.cell, one.found.scale) for each in one.found.cells if each.n} - {None}) > 1:
        yield "gain", f"it is {lowest} that was measured"
    else:
        yield "gain", "not known over what is set now, which `--present LEVELS` names"
    if one.smaller is not None and (one.present is None or one.smaller.over != one.present.over):
        yield "gain", _spelled(one, one.smaller, "the next smaller")


def _spelled(one: Recommendation, gain: Gain, which: str) -> str:
    """Say how many times better it is than another one, `the present` or so, or that it makes no difference."""
    than = f"{which} {named(gain.over)}"
    if gain.interval is None or gain.interval.holds(1.0):
        changed = one.found.judged.changed(None if gain.interval is None else gain.interval.inverse())
        return f"no measurable difference from {than} ({changed})"
    return one.found.judged.times_better(gain.ratio, gain.interval, than)


def _cost(one: Recommendation) -> Iterator[tuple[str, str]]:
    # that of the lowest level is 100 % of itself
    parts = (
        [] if one.efficiency is None or one.smaller is None else [f"{percent(100 * one.efficiency)} efficiency"]
    )
    if one.cpu_ratio is not None and one.present is not None:
        parts.append(f"{value_change(one.cpu_ratio, of='CPU time')} compared with {named(one.present.over)}")
    if parts:
        yield "cost", ", ".join(parts)


def _limited(one: Recommendation) -> str:
    own = [each for each in one.limits if each.cell == one.advice.first]
    others = [each for each in one.limits if each.cell != one.advice.first]
    shown = "; ".join(each.sentence for each in own) or "it cannot be told from what was measured"
    return f"{shown}. At {named(others[0].cell)}: {others[0].sentence}" if others else shown
