"""Mixes: jobs of many kinds at once, and which of them begin when."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate

from toolkit.model.experiment import OptionValue

MOST_JOBS = 400
"""Jobs of one trial: each is kept by a process of its own."""


@dataclass(frozen=True, slots=True)
class MixJob:
    """One `[[job]]`.

    Attributes:
        name: unique in the mix.
        argv: the program with its arguments; of an operation the command line of dbatk.
        own: whether it is dbatk, which keeps a run of its own.
        operation: whether it was given as an operation, not as a file.
        target: of an operation: where it works.
        options: of a program: `cwd`, `stdin`, `env`, `allow_exit`, `fail_if_output`.
        offsets: of `at`: seconds from the begin.
        every, poisson: seconds between two copies: always, or on average.
    """

    name: str
    argv: tuple[str, ...]
    own: bool = False
    operation: bool = False
    group: str = ""
    copies: int = 1
    begin: float = 0.0
    every: float = 0.0
    poisson: float = 0.0
    offsets: tuple[float, ...] = ()
    after: tuple[str, ...] = ()
    target: str = ""
    options: Mapping[str, OptionValue] = field(default_factory=dict)

    def due(self, copies: int, seed: str) -> list[float]:
        """Return when each copy begins, in seconds from the begin."""
        if self.offsets:
            return sorted(offset for offset in self.offsets for _ in range(copies))
        if self.poisson:
            chance = random.Random(f"{seed}/{self.name}")  # noqa: S311 (arrivals, no secret)
            return list(accumulate(chance.expovariate(1 / self.poisson) for _ in range(self.copies * copies)))
        return [self.begin + self.every * number for number in range(self.copies * copies)]


@dataclass(frozen=True, slots=True)
class Mix:
    """A mix as written."""

    jobs: tuple[MixJob, ...]
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    seed: int = 1


@dataclass(frozen=True, slots=True)
class StartedJob:
    """One copy of a job on one node, numbered from 1; `needs` are labels of others."""

    label: str
    job: MixJob
    node: int
    due_seconds: float
    needs: tuple[str, ...] = ()


def jobs_of(mix: Mix, copies: int = 1, nodes: int = 1) -> tuple[StartedJob, ...]:
    """Return all jobs of one trial, in the order in which they are due.

    Each node has the whole mix. Where a job and the one that it begins after have as many copies, each begins
    after its own one, else after all of them.
    """
    found: list[StartedJob] = []
    due = {job.name: job.due(copies, str(mix.seed)) for job in mix.jobs}
    for node in range(1, nodes + 1):
        label = partial(_label, node=node if nodes > 1 else 0)
        labels = {name: [label(name, n, len(each)) for n in range(len(each))] for name, each in due.items()}
        for job in mix.jobs:
            own = labels[job.name]
            for number, seconds in enumerate(due[job.name]):
                needs: list[str] = []
                for other in job.after:
                    all_of_it = labels[other]
                    needs += all_of_it[number : number + 1] if len(all_of_it) == len(own) else all_of_it
                found.append(StartedJob(own[number], job, node, seconds, tuple(needs)))
    return tuple(sorted(found, key=lambda each: each.due_seconds))


def _label(name: str, number: int, of: int, node: int) -> str:
    copy = f"{name} {number + 1}" if of > 1 else name
    return f"{copy} on node {node}" if node else copy


# -- as run -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class RanJob:
    """A job that ended well: seconds from the common begin, what it used of CPU, what it read from and wrote to
    storage.
    """

    begin_seconds: float
    elapsed_seconds: float
    cpu_seconds: float = 0.0
    storage_bytes: float = 0.0

    @property
    def end_seconds(self) -> float:
        return self.begin_seconds + self.elapsed_seconds


def longest_chain(jobs: Sequence[StartedJob], ran: Mapping[str, RanJob]) -> tuple[str, ...]:
    """Return the jobs that waited for each other and took longest together, the first one first."""
    took: dict[str, float] = {}
    before: dict[str, str] = {}
    for job in sorted((job for job in jobs if job.label in ran), key=lambda job: ran[job.label].begin_seconds):
        last = max((need for need in job.needs if need in took), key=took.__getitem__, default=None)
        took[job.label] = ran[job.label].elapsed_seconds + (took[last] if last is not None else 0.0)
        if last is not None:
            before[job.label] = last
    chain = [max(took, key=took.__getitem__)] if took else []
    while chain and chain[-1] in before:
        chain.append(before[chain[-1]])
    return tuple(reversed(chain))


def waited_for(job: StartedJob, ran: Mapping[str, RanJob]) -> str | None:
    """Return the job whose end another one waited for last; None where it waited for none."""
    return max((need for need in job.needs if need in ran), key=lambda need: ran[need].end_seconds, default=None)


def waited_for_a_turn(jobs: Sequence[StartedJob], ran: Mapping[str, RanJob]) -> dict[str, float]:
    """Return how long each job could have been begun and was not, since others were at work."""
    found = {}
    for job in jobs:
        if job.label in ran:
            ready = max((job.due_seconds, *(ran[need].end_seconds for need in job.needs if need in ran)))
            found[job.label] = max(0.0, ran[job.label].begin_seconds - ready)
    return found


def busiest(ran: Sequence[RanJob]) -> float:
    """Return bytes per second at the busiest instant, if each job moved its bytes evenly over its time.

    What a job moves in bursts is above that: a lower bound of the peak for a job alone, a likeness of it for many.
    """
    steps = [(job.begin_seconds, _rate(job)) for job in ran] + [(job.end_seconds, -_rate(job)) for job in ran]
    most = now = 0.0
    for _, change in sorted(steps):
        now += change
        most = max(most, now)
    return most


def _rate(job: RanJob) -> float:
    return job.storage_bytes / job.elapsed_seconds if job.elapsed_seconds > 0 else 0.0
