"""What held a configuration up, by the counters, samples and plans of its trials: a sentence with its evidence.

The causes that can be removed stand before the resources that are merely in use: a sort that writes to disk keeps
a CPU busy, and so does a plan of one process, but more CPUs would mend neither. Nothing is guessed: without
evidence there is no cause, and then it cannot be told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from statistics import median

from toolkit.analysis.cells import RunAnalysis, scale_level
from toolkit.analysis.doubts import cpu_count
from toolkit.analysis.lanes import LaneBar, lanes_of, longest_alone
from toolkit.analysis.sort_memory import spill_of
from toolkit.model.operations import declaration
from toolkit.model.records import BUSIEST_THREAD, PLAN_IS_SERIAL, THREADS_AT_WORK, TrialRecord
from toolkit.model.values import Cell, spell_level
from toolkit.model.words import Outcome
from toolkit.units import byte_size, counted, number, percent, quantity, seconds

_WAITS = 0.15
"""Part of the time that waits of a kind take before they are named."""
_ALONE = 0.4
"""Part of the time in which one of several processes works alone."""
_BUSY, _OTHERS, _IO_WAIT, _AT_CEILING = 0.85, 0.25, 0.3, 0.85
_BUSIEST = 0.75
"""Part of the CPU time of at least two threads that one of them uses before it is named."""
_LEAST_SPILL, _SPILL_SHARE = 2**20, 0.1
_SKEWED = 2.0
_HELD_UP = 0.2


class BottleneckKind(StrEnum):
    """Kinds of bottlenecks, as documents name them; the order is that in which they are reported."""

    LOCKS = "waits for locks"
    LOG = "waits for the log"
    SERVERS = "parallel servers not granted"
    SERIAL = "a serial part"
    SKEW = "unevenly divided work"
    MEMORY = "too little memory"
    IO = "I/O"
    OTHERS = "other load on the machine"
    CPU = "CPU"


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What held a configuration up, and what shows it."""

    kind: BottleneckKind
    evidence: str
    cell: Cell

    @property
    def sentence(self) -> str:
        return f"{self.kind}: {self.evidence}"


def bottlenecks(found: RunAnalysis, cell: Cell) -> tuple[Bottleneck, ...]:
    """Return what held a configuration up, the first cause to remove first; nothing where it cannot be told."""
    trials = [each for each in found.run.trials if each.cell == cell and not each.warmup and _has_time(each)]
    if not trials:
        return ()
    seen = _Seen(found, cell, trials)
    return tuple(Bottleneck(kind, evidence, cell) for kind, look in _LOOKS.items() for evidence in look(seen))


def _has_time(trial: TrialRecord) -> bool:
    return bool(trial.elapsed_seconds) or trial.outcome is Outcome.DOWNGRADED


class _Seen:
    """The trials of a configuration, and figures of them that several looks need."""

    def __init__(self, found: RunAnalysis, cell: Cell, trials: Sequence[TrialRecord]) -> None:
        self.found, self.cell, self.trials = found, cell, trials
        self.cpus = cpu_count(found)
        known = [each.granted_degree for each in trials if each.granted_degree]
        self.asked = scale_level(cell, found.scale) or float(max((t.requested_degree or 1) for t in trials))
        self.degree = median(known) if known else self.asked

    def metric(self, *names: str) -> float | None:
        """Return the median of the first of some metrics that is there."""
        for name in names:
            values = [each.value for trial in self.trials for each in trial.metrics if each.name == name]
            if values:
                return median(values)
        return None

    def per_second(self, *names: str) -> float | None:
        """Return the median over trials of a metric divided by their time."""
        for name in names:
            rates = [
                each.value / trial.elapsed_seconds
                for trial in self.trials
                if trial.elapsed_seconds
                for each in trial.metrics
                if each.name == name
            ]
            if rates:
                return median(rates)
        return None

    @cached_property
    def instants(self) -> list[tuple[float, Mapping[str, float]]]:
        """The samples of all trials, each with the seconds it stands for; the host's are other instants."""
        taken: list[tuple[float, Mapping[str, float]]] = []
        for trial in self.trials:
            by_time: dict[float, dict[str, float]] = {}
            for sample in trial.samples:
                by_time.setdefault(sample.at_seconds, {})[sample.name] = sample.value
            before = 0.0
            for at, values in sorted(by_time.items()):
                if "active_sessions" in values:
                    taken.append((at - before, values))
                    before = at
        return taken

    def share(self, part: Callable[[Mapping[str, float]], float]) -> float:
        """Return the average of a figure of the instants, weighted by the seconds they stand for."""
        whole = sum(weight for weight, _ in self.instants)
        return sum(weight * part(values) for weight, values in self.instants) / whole if whole else 0.0

    def waiting(self, *kinds: str) -> float:
        """Return the part of the processes' time that was spent waiting for something."""

        def part(values: Mapping[str, float]) -> float:
            every = sum(value for name, value in values.items() if name.startswith("waiting_"))
            return sum(values.get(f"waiting_{kind}", 0.0) for kind in kinds) / every if every else 0.0

        return self.share(part)

    def alone(self, who: str, others: str) -> float:
        """Return the part of the time in which one of `leaders` or `workers` was at work, and none of others."""

        def part(values: Mapping[str, float]) -> float:
            return float(values.get(f"working_{who}") == 1 and not values.get(f"working_{others}"))

        return self.share(part)

    @cached_property
    def most_workers(self) -> float:
        """The most workers that a sample saw."""
        return max((values.get("parallel_workers", 0.0) for _, values in self.instants), default=0.0)

    @cached_property
    def parallelism(self) -> float | None:
        """CPUs that the work kept busy, on average."""
        known = [each.effective_parallelism for each in self.trials if each.effective_parallelism is not None]
        return median(known) if known else None

    @cached_property
    def host_busy(self) -> float | None:
        """The part of the host's CPUs that was busy, with whatever."""
        told = self.metric("host CPU busy")
        if told is not None:
            return told / 100
        used = self.per_second("host_cpu_user_seconds"), self.per_second("host_cpu_system_seconds")
        return None if used[0] is None or not self.cpus else min(1.0, (used[0] + (used[1] or 0.0)) / self.cpus)

    @cached_property
    def plan(self) -> list[str]:
        """The plan that was kept with the run, line by line."""
        name = f"plan-{self.cell}.txt"
        kept = next((each for each in self.found.run.artifacts if each.name == name), None)
        return [] if kept is None else kept.content.decode("utf-8", errors="replace").splitlines()


# -- waits ------------------------------------------------------------------------------------------------------
def _locks(seen: _Seen) -> Iterator[str]:
    share = seen.waiting("lock")
    if share >= _WAITS:
        yield f"{percent(100 * share)} of the processes' time waited for locks of other sessions (samples)"
        return
    waited = _of_waits(seen, ("wait Application", "wait Concurrency"))
    if waited >= _WAITS:
        yield f"waits for locks and latches took {percent(100 * waited)} of the time"


def _log(seen: _Seen) -> Iterator[str]:
    share = seen.waiting("log")
    if share >= _WAITS:
        waited_for = "the write-ahead log or its standby"
        yield f"{percent(100 * share)} of the processes' time waited for {waited_for} (samples)"
        return
    waited = max(
        _of_waits(seen, ("wait Commit",)),
        _of_waits(seen, ("event log file sync", "event log buffer space", "event log file switch completion")),
    )
    if waited >= _WAITS:
        yield f"waits for the log took {percent(100 * waited)} of the time"


def _of_waits(seen: _Seen, names: Sequence[str]) -> float:
    """Return what waits of our sessions, else of the instance, took of the time, each server for itself."""
    own = [seen.per_second(f"{name} (session)") for name in names]
    every = own if any(each is not None for each in own) else [seen.per_second(name) for name in names]
    return sum(each or 0.0 for each in every) / max(1.0, seen.degree)


# -- parallel work ----------------------------------------------------------------------------------------------
def _servers(seen: _Seen) -> Iterator[str]:
    fewer = [each for each in seen.trials if each.outcome is Outcome.DOWNGRADED]
    # A plan or a statement that offers no more parallel work is another cause.
    refused = [each for each in fewer if each.granted_source not in (PLAN_IS_SERIAL, THREADS_AT_WORK)]
    if refused:
        last = refused[-1]
        had = "" if last.granted_degree is None else f"{last.granted_degree} of "
        yield f"degree {had}{spell_level(seen.asked)} was granted: {last.reason or 'no reason was given'}"


def _serial(seen: _Seen) -> Iterator[str]:
    if seen.asked < 2:
        return
    for trial in seen.trials:
        if trial.outcome is Outcome.DOWNGRADED and trial.granted_source == PLAN_IS_SERIAL:
            line = f"; its first line is `{_without_costs(seen.plan[0])}`" if seen.plan else ""
            yield f"the whole plan runs in one process: {trial.reason or 'the planner chose it'}{line}"
            return
        if trial.outcome is Outcome.DOWNGRADED and trial.granted_source == THREADS_AT_WORK:
            yield f"{trial.reason}: the rest had nothing to do (which operator it is, is not known)"
            return
    if seen.metric("plan: load or build below PX SEND QC") == 0:
        yield "only the coordinator loads or builds: no such line of the plan is below PX SEND QC"
        return
    busiest = seen.metric(BUSIEST_THREAD)
    if busiest is not None and busiest >= 100 * _BUSIEST:
        yield f"one thread used {percent(busiest)} of the CPU time (which operator it is, is not known)"
        return
    alone = seen.alone("leaders", "workers")
    if alone >= _ALONE and seen.most_workers >= 1:
        line = _line_above_workers(seen.plan)
        yield f"the leader worked alone for {percent(100 * alone)} of the time (samples){line}"


_GATHERS = re.compile(r"^\s*(?:->\s*)?Gather( Merge)?\b")
_COSTS = re.compile(r"\s*\(cost=.*\)\s*$")


def _without_costs(line: str) -> str:
    return _COSTS.sub("", line).strip().removeprefix("->").strip()


def _line_above_workers(plan: Sequence[str]) -> str:
    """Name the line of a plan that the leader does alone: above the workers' part, else where that ends."""
    at = next((index for index, line in enumerate(plan) if _GATHERS.match(line)), None)
    if at is None:
        return ""
    above = [line for line in plan[:at] if _COSTS.search(line)]
    line = _without_costs(above[0] if above else plan[at])
    what = "the workers' part ends below it" if above else "what follows it is computed by the leader"
    return f"; line {plan.index(above[0] if above else plan[at]) + 1} of the plan, `{line}`: {what}"


def _skew(seen: _Seen) -> Iterator[str]:
    skew = seen.metric("row skew of parallel servers")
    if skew is not None and skew >= _SKEWED:
        yield f"one server handled {number(skew)} times the rows of the average"
        return
    bar, alone, share = _longest_item(seen)
    if share >= _HELD_UP:
        yield (
            f"`{bar}` was worked on alone for {seconds(alone)}, {percent(100 * share)} of the time: nothing else "
            "was ready to begin"
        )
        return
    one = seen.alone("workers", "leaders")
    if one >= _ALONE and seen.most_workers >= 2:
        team = f"one of {spell_level(seen.most_workers)} workers"
        yield f"{team} worked alone for {percent(100 * one)} of the time (samples)"


def _longest_item(seen: _Seen) -> tuple[str, float, float]:
    """Return which of several objects was worked on alone for longest: name, seconds, part of the time."""
    longest = ("", 0.0, 0.0)
    for trial in seen.trials:
        bars = [
            LaneBar(f"session {item.worker + 1}", item.label, item.begin_seconds,
                    item.begin_seconds + item.elapsed_seconds)
            for item in trial.items
            if item.begin_seconds is not None and item.elapsed_seconds is not None
        ]  # fmt: skip
        if len({bar.lane for bar in bars}) < 2 or not trial.elapsed_seconds:
            continue
        bar, alone = longest_alone(lanes_of(bars, ()))
        if bar is not None and alone / trial.elapsed_seconds > longest[2]:
            longest = (bar.label, alone, alone / trial.elapsed_seconds)
    return longest


# -- resources --------------------------------------------------------------------------------------------------
def _memory(seen: _Seen) -> Iterator[str]:
    spill = spill_of(seen.trials)
    if spill is None:
        return
    if spill.multipass or spill.onepass:
        times = number(spill.multipass or spill.onepass)
        written = f"; {byte_size(spill.bytes)} written to temporary storage" if spill.bytes else ""
        yield f"{times} sorts or hashes took {spill.passes}{written}"
    elif spill.bytes >= max(_LEAST_SPILL, _SPILL_SHARE * (spill.of or 0.0)):
        made = f" for {byte_size(spill.of)} made ({spill.passes})" if spill.of else ""
        yield f"{byte_size(spill.bytes)} were written to temporary storage{made}"


def _others(seen: _Seen) -> Iterator[str]:
    others, busy = seen.metric("host_others_pct"), seen.host_busy or 0.0
    if others is not None and others >= 100 * _OTHERS and busy >= _BUSY:
        yield f"others used {percent(others)} of this host's CPU, which was {percent(100 * busy)} busy"


def _io(seen: _Seen) -> Iterator[str]:
    for ceiling in seen.found.run.ceilings:
        rate = seen.per_second(*ceiling.metrics)
        if rate is not None and rate >= _AT_CEILING * ceiling.value:
            yield (
                f"{quantity(rate, ceiling.unit)} of the {quantity(ceiling.value, ceiling.unit)} that "
                f"{ceiling.title} can do"
            )
            return
    share = seen.waiting("io")
    if share >= _IO_WAIT:
        yield f"{percent(100 * share)} of the processes' time waited for I/O (samples)"
        return
    waited = _of_waits(seen, ("wait User I/O", "wait System I/O"))
    if waited >= _IO_WAIT:
        yield f"waits for I/O took {percent(100 * waited)} of the time"
        return
    iowait = seen.per_second("host_cpu_iowait_seconds")
    # Of one process that reads, waits, and computes, no other process hides the wait.
    if iowait is not None and iowait >= _IO_WAIT and (seen.host_busy or 0.0) < _BUSY:
        yield f"CPUs were idle and waited for I/O for {number(iowait)} s of each second"


def _cpu(seen: _Seen) -> Iterator[str]:
    used = seen.parallelism
    if used is None:
        return
    if seen.cpus and used >= _BUSY * seen.cpus:
        yield f"{number(used)} of {counted(seen.cpus, 'CPU')} {'was' if seen.cpus == 1 else 'were'} busy with it"
    elif used >= _BUSY * seen.degree and not declaration(seen.found.run.head.experiment.operation).backs_up:
        each = "the one process" if seen.degree == 1 else f"each of {spell_level(seen.degree)} processes"
        yield f"{each} kept a CPU busy ({number(used)} CPUs in all): more of them help while CPUs are idle"


_LOOKS: Mapping[BottleneckKind, Callable[[_Seen], Iterator[str]]] = {
    BottleneckKind.LOCKS: _locks,
    BottleneckKind.LOG: _log,
    BottleneckKind.SERVERS: _servers,
    BottleneckKind.SERIAL: _serial,
    BottleneckKind.SKEW: _skew,
    BottleneckKind.MEMORY: _memory,
    BottleneckKind.IO: _io,
    BottleneckKind.OTHERS: _others,
    BottleneckKind.CPU: _cpu,
}
