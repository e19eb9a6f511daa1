"""The chart of a mix: each job in its lane, with the text table of who waited for whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolkit.analysis.mixes import JobGroup, JobOfMix, MixTrial, groups_of
from toolkit.model.words import Outcome
from toolkit.report.backup_charts import lanes_chart
from toolkit.report.chart import Chart
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, table
from toolkit.units import MISSING, byte_size, counted, seconds

_MOST_LANES = 400


def mix_charts(found: MixTrial | None) -> tuple[Chart, ...]:
    """Return the chart that only mixes have; none for another operation."""
    if found is None:
        return ()
    cell = clean(str(found.trial.cell))
    title = f"Jobs{f' at {cell}' if cell else ''}, trial {found.trial.trial}"
    chart = lanes_chart(found.lanes, title, key="mix", lane_word="job", most=_MOST_LANES)
    if chart is None:
        return ()
    return (replace(chart, notes=(*chart.notes, _chain(found)), table=_groups_table(groups_of(found.jobs))),)


def mix_sentences(found: MixTrial | None) -> tuple[str, ...]:
    """Say how the jobs of a mix fitted together."""
    if found is None or not found.chain:
        return ()
    return (_chain(found), *map(_group, groups_of(found.jobs)))


def _chain(found: MixTrial) -> str:
    whole = found.lanes.span_seconds
    names = ", then ".join(clean(job.started.label) for job in found.chain)
    took = sum(job.item.elapsed_seconds or 0.0 for job in found.chain)
    what = "chain" if len(found.chain) > 1 else "job"
    return f"the longest {what} took {seconds(took)} of {seconds(whole)}: {names}"


def _group(group: JobGroup) -> str:
    each = ""
    if len(group.seconds) > 1:
        each = f" (median {seconds(group.median_seconds)}, longest {seconds(max(group.seconds))})"
    return (
        f"{clean(group.name)}: {counted(len(group.seconds), 'job')}, {seconds(sum(group.seconds))} in all{each}, "
        f"CPU {seconds(group.cpu_seconds)}, storage {_bytes(group.storage_bytes)}"
    )


def _groups_table(groups: Sequence[JobGroup]) -> Table:
    columns = [*left("group"), *right("jobs", "elapsed in all", "median", "longest", "CPU", "storage")]
    rows = (
        [
            group.name, str(len(group.seconds)), seconds(sum(group.seconds)), seconds(group.median_seconds),
            seconds(max(group.seconds)), seconds(group.cpu_seconds), _bytes(group.storage_bytes),
        ]
        for group in groups
    )  # fmt: skip
    return table("Jobs by group", columns, rows)


def mix_table(found: MixTrial) -> Table:
    """Return each job with its times, what it used, and whom it waited for."""
    nodes = len({job.started.node for job in found.jobs}) > 1
    runs = any(job.run for job in found.jobs)
    columns = [
        *left("job"), *(right("node") if nodes else []), *right("due", "began", "took", "CPU", "storage"),
        *left("waited for", *(["run"] if runs else []), "outcome"),
    ]  # fmt: skip
    rows = (_row(job, nodes=nodes, runs=runs) for job in found.jobs)
    marks = ("" if job.item.outcome is Outcome.OK else "failed" for job in found.jobs)
    return table("Who ran when, and waited for whom", columns, rows, marks)


def _row(job: JobOfMix, *, nodes: bool, runs: bool) -> list[str]:
    item = job.item
    due = "" if job.started.needs else seconds(job.started.due_seconds)
    waited = [job.waited_for] if job.waited_for else []
    # a moment is what a worker needs to begin
    waited += [f"its turn, {seconds(job.waited_seconds)}"] if job.waited_seconds > _NOTICED else []
    reason = f": {item.reason}" if item.reason else ""
    return [
        job.started.label, *([str(job.started.node)] if nodes else []), due,
        MISSING if item.begin_seconds is None else seconds(item.begin_seconds), seconds(item.elapsed_seconds),
        seconds(job.cpu_seconds), _bytes(job.storage_bytes),
        ", ".join(waited), *([job.run or ""] if runs else []), f"{item.outcome.value}{reason}",
    ]  # fmt: skip


def _bytes(count: float | None) -> str:
    return byte_size(None if count is None else int(count))


_NOTICED = 0.2
