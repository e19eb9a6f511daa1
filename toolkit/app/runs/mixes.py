"""Runs that are jobs of a mix: the mix holds the leases of all their targets, and they work under it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import psutil

from toolkit.app.targets import find_target
from toolkit.errors import ToolkitError
from toolkit.executors.keeping import RUN_VARIABLE
from toolkit.model.engines import engines
from toolkit.model.experiment import Experiment
from toolkit.model.mix import MixJob
from toolkit.model.words import Mode
from toolkit.runner import Stop, holding_lease
from toolkit.store import Store
from toolkit.store.leases import this_host
from toolkit.targets.base import Target


def mix_above(store: Store, target: Target) -> str | None:
    """Return the mix that this process is a job of, if it holds the lease of a target; None for everybody else."""
    run = os.environ.get(RUN_VARIABLE)
    lease = store.lease_of(target.lease_key) if run else None
    if lease is None or lease.run != run or lease.host != this_host():
        return None
    above = (process.pid for process in psutil.Process().parents())
    return run if lease.pid in above else None


def begun_before(store: Store, mix: str | None, experiment: Experiment) -> str | None:
    """Return the run in which a job of a mix was begun in an earlier attempt of the mix; None of a new one.

    A job of a mix that measures begins anew, since what it left is dropped.
    """
    if mix is None or store.load_head(mix).experiment.mode is not Mode.JOB:
        return None
    heads = [head for head in store.children_of(mix) if head.experiment.label == experiment.label]
    return next((head.run for head in reversed(heads) if _is_same(head.experiment, experiment)), None)


def _is_same(begun: Experiment, now: Experiment) -> bool:
    """Whether it is the same work: the file of a job may be another by now."""
    return (begun.operation, begun.mode, begun.target, dict(begun.options), begun.factors) == (
        now.operation, now.mode, now.target, dict(now.options), now.factors,
    )  # fmt: skip


@contextmanager
def holding_targets(store: Store, experiment: Experiment, target: Target, run: str, stop: Stop) -> Iterator[None]:
    """Hold the lease of the target of a run, and those of the targets of its jobs.

    Raises:
        ToolkitError: TK-0302 when a live run holds one; TK-0111 for a target that is not known; TK-0107 for one
            that one process at a time can open, and whose jobs cannot be told by their URL.
    """
    found = {text: find_target(text).target for text in sorted({job.target for job in _jobs(experiment)} - {""})}
    for text, one in found.items():
        alike = [other for other, each in found.items() if each.lease_key == one.lease_key]
        if engines()[one.engine].embedded and ("://" not in text or len(alike) > 1):
            raise ToolkitError(
                f"jobs of the mix open `{text}`, which only one process at a time can open",
                code="TK-0107",
                hint="name it by one URL in all of its jobs, so that they go one after another",
            )
    keys = {target.lease_key, *(each.lease_key for each in found.values())}
    with ExitStack() as held:
        for key in sorted(keys):
            held.enter_context(holding_lease(store, key, run, stop))
        yield


def refuse_own_jobs(experiments: Iterable[Experiment]) -> None:
    """Refuse to approve jobs that run dbatk: their files, databases and names are looked up only as they begin.

    Raises:
        ToolkitError: TK-0313.
    """
    for job in (job for experiment in experiments for job in _jobs(experiment) if job.own):
        raise ToolkitError(
            f"no approval holds what job `{job.name}` of the mix runs: its file, database and names may be others"
            " by then",
            code="TK-0313",
            hint="approve its work as a step of a plan; a mix of programs can be approved",
        )


def _jobs(experiment: Experiment) -> tuple[MixJob, ...]:
    from toolkit.design.mix import mix_of

    mix = mix_of(experiment.operation, experiment.options)
    return () if mix is None else mix.jobs
