"""The report of a plan run: what was done, what was not and why, and how its times compare with earlier runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from toolkit.analysis.lanes import LaneBar, Lanes, lanes_of
from toolkit.analysis.shifts import FEWEST, Shift, shifts
from toolkit.model.plan import PlanRunRecord, StepRecord, StepState
from toolkit.model.words import RunState, status
from toolkit.units import byte_size, counted, seconds

_SLOWER = 1.5
"""A step is reported as slower when it took half as long again as its median and longer than every earlier run."""
_ENOUGH = 5
_NAMED = 3
_DIFFERENCES = 6
_RECENT = 7
"""Runs: a change of level that began before the last ones is no news."""
_GROWN = 1.2
"""A growth in size of a fifth is reported beside a longer time."""


@dataclass(frozen=True, slots=True)
class StepStory:
    """What a run of a step left: what it changed, which licences it stands on, what it warned of."""

    changed: tuple[str, ...] = ()
    licences: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportedStep:
    """A step of the plan run; `against_history` is a sentence, or None if it is unknown."""

    record: StepRecord
    story: StepStory
    usual_seconds: float | None
    earlier_runs: int
    against_history: str | None


@dataclass(frozen=True, slots=True)
class RunReport:
    """What came of a plan run: `headline` and `sentences` first, then each step, then what comes next."""

    run: PlanRunRecord
    headline: str
    sentences: tuple[str, ...]
    steps: tuple[ReportedStep, ...]
    lanes: Lanes
    following: tuple[str, ...] = ()
    """What the next run would do, a sentence each."""


def run_report_of(
    run: PlanRunRecord,
    histories: Mapping[tuple[str, str], Sequence[StepRecord]],
    stories: Mapping[str, StepStory],
    following: Sequence[str] = (),
) -> RunReport:
    """Return the report of a plan run.

    Args:
        run: as the store keeps it.
        histories: of each target and step, other runs, newest first.
        stories: of each child run.
        following: what the next run would do.
    """
    steps = tuple(_step(record, histories.get((record.target, record.step), ()), stories) for record in run.steps)
    return RunReport(run, _headline(run), tuple(_sentences(run, steps)), steps, _lanes(run), tuple(following))


def _step(record: StepRecord, history: Sequence[StepRecord], stories: Mapping[str, StepStory]) -> ReportedStep:
    earlier = [
        each
        for each in history
        if each.state is StepState.DONE and each.elapsed_seconds is not None and each.began_at != record.began_at
    ]
    known = [each.elapsed_seconds for each in earlier if each.elapsed_seconds is not None]
    usual = median(known) if len(known) >= _ENOUGH else None
    story = stories.get(record.run or "", StepStory())
    return ReportedStep(record, story, usual, len(known), _lately(record, earlier) or _against(record, known))


def _lately(record: StepRecord, earlier: Sequence[StepRecord]) -> str | None:
    """Name a change of level that is still new; earlier runs come newest first."""
    if record.state is not StepState.DONE or record.elapsed_seconds is None:
        return None
    runs = [*reversed(earlier), record]
    found = shifts([each.elapsed_seconds for each in runs])
    if not found or found[-1].index < len(runs) - _RECENT:
        return None
    return _level(runs, found[-1])


def _against(record: StepRecord, known: Sequence[float]) -> str | None:
    """Compare the time of a step with its own history, if there is enough of it."""
    took = record.elapsed_seconds
    if record.state is not StepState.DONE or took is None:
        return None
    if not known:
        return "done for the first time"
    usual = median(known)
    if len(known) < _ENOUGH:
        return f"{counted(len(known), 'earlier run')} took {_between(known)}: too few to say what is usual"
    if took > max(known) and took > _SLOWER * usual:
        return f"slower than each of {len(known)} earlier runs"
    if took < min(known) and took * _SLOWER < usual:
        return f"faster than each of {len(known)} earlier runs"
    return "as usual"


def _between(times: Sequence[float]) -> str:
    low, high = seconds(min(times)), seconds(max(times))
    return low if low == high else f"{low} to {high}"


def _headline(run: PlanRunRecord) -> str:
    counts = {state: sum(step.state is state for step in run.steps) for state in StepState}
    parts = [f"{counts[state]} {status(state)}" for state in StepState if counts[state]]
    died = "died, " if run.state is RunState.DIED else ""
    return f"plan `{run.plan}`: {died}" + (", ".join(parts) or "it had no step")


def _sentences(run: PlanRunRecord, steps: Sequence[ReportedStep]) -> list[str]:
    word = "died" if run.state is RunState.DIED else "stopped"
    sentences = [f"{word}: {run.stopped_by}"] if run.stopped_by else []
    sentences += _failures(steps)
    sentences += [
        f"`{step.record.step}` on `{step.record.target}` was {step.against_history}"
        for step in steps
        if step.against_history and step.against_history.startswith("slower")
    ]
    if not sentences and all(step.record.state in (StepState.DONE, StepState.SKIPPED) for step in steps):
        sentences.append("all due steps were done")
    unsure = list(dict.fromkeys(step.record.step for step in steps if step.record.unverified))
    if unsure:
        sentences.append(f"{counted(len(unsure), 'step')} could not be fully verified: {_named(unsure)}")
    return [*sentences, *(f"on `{note.target}` {note.text}" if note.target else note.text for note in run.notes)]


def _failures(steps: Sequence[ReportedStep]) -> list[str]:
    """Return a sentence for each step and reason; what failed alike on many targets is reported once."""
    where: dict[tuple[str, str], list[str]] = {}
    for step in steps:
        if step.record.state is StepState.FAILED:
            where.setdefault((step.record.step, step.record.reason or "no reason"), []).append(step.record.target)
    return [f"`{name}` on {_named(targets)} failed: {reason}" for (name, reason), targets in where.items()]


def _named(names: Sequence[str]) -> str:
    """Return a few names, and how many there are besides."""
    shown = ", ".join(f"`{name}`" for name in names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED:,} more"


def _lanes(run: PlanRunRecord) -> Lanes:
    """Lay the steps out on the clock, a lane for each target."""
    bars = [
        LaneBar(
            step.target,
            step.step,
            (step.began_at - run.began_at).total_seconds(),
            (step.ended_at - run.began_at).total_seconds(),
            good=step.state is StepState.DONE,
        )
        for step in run.steps
        if step.began_at is not None and step.ended_at is not None
    ]
    return lanes_of(bars, tuple(dict.fromkeys(step.target for step in run.steps)))


@dataclass(frozen=True, slots=True)
class Trend:
    """The runs of one step on one target, oldest first, and where its time changed its level."""

    step: str
    target: str
    runs: tuple[StepRecord, ...]
    sentences: tuple[str, ...]


Differing = Callable[[str, str], Sequence[str] | None]
"""Says what else differs between two runs, by their ids; None where they are not kept."""


def trend_of(step: str, target: str, history: Sequence[StepRecord], differing: Differing | None = None) -> Trend:
    """Return how the time of a step went; times of runs that did not end well do not count.

    Args:
        step: its name.
        target: where it ran.
        history: its runs, newest first.
        differing: asked what else changed with the time.
    """
    runs = tuple(reversed(history))
    times = [each.elapsed_seconds if each.state is StepState.DONE else None for each in runs]
    known = [time for time in times if time is not None]
    if len(known) < FEWEST:
        sentences = [
            f"{counted(len(known), 'run')} with a time: fewer than {FEWEST} are too few to find a change of level"
        ]
    else:
        found = shifts(times)
        sentences = [f"{_level(runs, one)}{_also(runs, one.index, differing)}" for one in found]
        sentences = sentences or ["no change of level was found"]
    failed = sum(each.state is StepState.FAILED for each in runs)
    if failed:
        sentences.append(f"it failed in {failed} of {counted(len(runs), 'run')}")
    return Trend(step, target, runs, tuple(sentences))


def _level(runs: Sequence[StepRecord], found: Shift) -> str:
    what = "slower" if found.after > found.before else "faster"
    return (
        f"{what} since {_day(runs[found.index].began_at)}: it takes {seconds(found.after)},"
        f" before {seconds(found.before)}{_grown(runs[: found.index], runs[found.index :])}"
    )


def _also(runs: Sequence[StepRecord], at: int, differing: Differing | None) -> str:
    """Say what else changed with the run that a change of level begins with."""
    last = next((each.run for each in reversed(runs[:at]) if each.state is StepState.DONE and each.run), None)
    first = runs[at].run
    if differing is None or last is None or first is None or last == first:
        return ""
    names = differing(last, first)
    if names is None:
        return ""
    if not names:
        return "; nothing else that is recorded changed with it"
    more = f" and {len(names) - _DIFFERENCES:,} more" if len(names) > _DIFFERENCES else ""
    return f"; with it changed {', '.join(names[:_DIFFERENCES])}{more}"


def _grown(before: Sequence[StepRecord], after: Sequence[StepRecord]) -> str:
    """Say whether what was worked on changed with the time, where its size is known, in bytes or else in rows."""
    for of, spelled in ((_bytes, byte_size), (_rows, _counted_rows)):
        sizes = [
            [size for each in some if each.state is StepState.DONE and (size := of(each))]
            for some in (before, after)
        ]
        if all(sizes):
            small, large = median(sizes[0]), median(sizes[1])
            if max(small, large) < _GROWN * min(small, large):
                return "; the size of its data has hardly changed"
            return f"; its data {'grew' if large > small else 'shrank'} from {spelled(small)} to {spelled(large)}"
    return ""


def _bytes(step: StepRecord) -> float | None:
    return step.size_bytes


def _rows(step: StepRecord) -> float | None:
    return step.size_rows


def _counted_rows(rows: float) -> str:
    return counted(rows, "row")


def _day(instant: datetime | None) -> str:
    return "an unknown day" if instant is None else f"{instant:%Y-%m-%d}"
