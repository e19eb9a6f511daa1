"""Runs the jobs of a mix as programs of this host, and tells what they used together and on each node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

from toolkit.design.mix import parse_mix
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Kept, Options
from toolkit.dialects.programs import RunPrograms
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Probe
from toolkit.model.mix import RanJob, StartedJob, busiest, jobs_of, longest_chain, waited_for_a_turn
from toolkit.model.records import Metric
from toolkit.model.values import Row, Support
from toolkit.model.words import SupportState

_SOURCE = "its jobs"
_MOST = 0.9


def _on_node(work: Work, calls: Iterable[Call]) -> tuple[Call, ...]:
    """Let programs run on the host of their job's node."""
    node = int(str(work.option("node") or 0))
    return tuple(
        replace(call, program=replace(call.program, node=node)) for call in calls if call.program is not None
    )


class RunJobs(RunPrograms):
    """Jobs as programs; one of dbatk itself needs no looking for."""

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        if "on" in options:  # each host is asked for its own programs before the run begins
            return ()
        mix = parse_mix(str(options["jobs"]), options)
        each = ({**mix.options, **job.options, "command": job.argv} for job in mix.jobs if not job.own)
        alone = ({**mix.options, "command": ("true",)},)
        found = (probe for one in (*each, *alone) for probe in super(RunJobs, self).probes(one, facts))
        return tuple({probe.key: probe for probe in found}.values())

    def support(self, work: Work, facts: Facts) -> Support:
        known = work.option("own") or work.option("node")
        return Support(SupportState.SUPPORTED) if known else super().support(work, facts)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        (call,) = super().timed(work, facts)
        assert call.program is not None
        cpus = work.options.get("cpus", ())
        bound = tuple(int(cpu) for cpu in cpus) if isinstance(cpus, tuple) else ()
        how = replace(
            call.program, own=bool(work.option("own")), cpus=bound, cwd=str(work.option("folder") or "")
        )  # fmt: skip
        return _on_node(work, (replace(call, program=how),))

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return _on_node(work, super().prepare(work, facts))

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return _on_node(work, super().settle(work, facts))

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        found = super().tell(work, kept, deltas, seconds)
        jobs = _jobs(work)
        ran = {str(row["label"]): _ran(row) for row in kept.get("program", ()) if "label" in row}
        together = [ran[job.label] for job in jobs if job.label in ran]
        if not together or seconds <= 0:
            return found
        metrics = [*_of_all(jobs, ran), *_rates("", together, seconds)]
        nodes = sorted({job.node for job in jobs})
        for node in nodes if len(nodes) > 1 else ():
            own = [ran[job.label] for job in jobs if job.node == node and job.label in ran]
            metrics += _rates(f"node_{node}_", own, seconds)
        missing = len(jobs) - len(together)
        said = (
            ()
            if not missing
            else (f"{missing} of {len(jobs)} jobs ended in an earlier attempt: not in its figures",)
        )
        return replace(found, metrics=(*found.metrics, *metrics), sentences=(*found.sentences, *said))


def _jobs(work: Work) -> tuple[StartedJob, ...]:
    mix = parse_mix(str(work.option("jobs")), work.options)
    return jobs_of(mix, int(str(work.option("copies") or 1)), int(str(work.option("nodes") or 1)))


def _ran(row: Row) -> RanJob:
    def number(name: str) -> float:
        return float(str(row.get(name) or 0))

    return RanJob(
        number("begin_seconds"), number("elapsed_seconds"), number("cpu_seconds"),
        number("read_bytes") + number("write_bytes"),
    )  # fmt: skip


def _of_all(jobs: Sequence[StartedJob], ran: Mapping[str, RanJob]) -> Iterator[Metric]:
    times = sorted(each.elapsed_seconds for each in ran.values())
    figures = {
        "jobs_elapsed_seconds": sum(times),
        "job_median_seconds": median(times),
        "job_p90_seconds": times[min(len(times) - 1, int(_MOST * len(times)))],
        "job_longest_seconds": times[-1],
        "longest_chain_seconds": sum(ran[label].elapsed_seconds for label in longest_chain(jobs, ran)),
        "waited_for_a_turn_seconds": sum(waited_for_a_turn(jobs, ran).values()),
    }
    return (Metric(name, value, "s", _SOURCE) for name, value in figures.items())


def _rates(prefix: str, ran: Iterable[RanJob], seconds: float) -> list[Metric]:
    """Return what jobs used of CPU and storage, over the time of the whole."""
    jobs = list(ran)
    moved, cpu = sum(job.storage_bytes for job in jobs), sum(job.cpu_seconds for job in jobs)
    return [
        Metric(f"{prefix}cores_busy", cpu / seconds, "cores", _SOURCE),
        Metric(f"{prefix}storage_bytes_per_s", moved / seconds, "bytes/s", _SOURCE),
        Metric(f"{prefix}storage_bytes_per_s_peak", busiest(jobs), "bytes/s", _SOURCE),
        *(
            [Metric(f"{prefix}jobs_elapsed_seconds", sum(job.elapsed_seconds for job in jobs), "s", _SOURCE)]
            if prefix
            else []
        ),
    ]
