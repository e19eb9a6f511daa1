"""All runs as a small static site: an index with a filter, the times of each job over its runs, a page a run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup

from toolkit import resources
from toolkit.analysis.cells import analyse
from toolkit.analysis.judged import Judged
from toolkit.model.operations import JudgedBy
from toolkit.model.records import RunHead, RunRecord
from toolkit.model.values import spell_level
from toolkit.model.words import Mode, OperationName, RunState, status
from toolkit.report.chart import SERIES_SHAPES, Chart, ChartLine, ChartMark, Frame, Legend, linear, time_axis
from toolkit.report.html import page_of_views, render_page
from toolkit.report.safe import clean
from toolkit.report.summary import job_headline
from toolkit.report.view import place_of, run_view, worked_on
from toolkit.units import counted

MOST_JOBS, MOST_RUNS_OF_A_JOB = 200, 100
"""The history shows the jobs that ran last, and of each its newest runs; the index has all of them."""
_MOST_LINES = 8
_FRAME = Frame(width=900, height=300, left=70, right=886)
_MARKS = {RunState.FAILED: "failed", RunState.INTERRUPTED: "partly", RunState.DIED: "failed"}


@dataclass(frozen=True, slots=True)
class SiteEntry:
    """A run as the index and the history show it, cleaned."""

    run: str
    began: float
    """In seconds since 1970."""
    operation: OperationName
    object: str
    target: str
    label: str
    state: str
    ended: str
    """The word that people read for the state."""
    headline: str
    work: str
    """What is the same in all runs of one job: operation, options, factors, target."""
    medians: tuple[tuple[str, float], ...]
    """Of the first configurations, in the unit of what the run is judged by."""
    judged_by: JudgedBy

    @property
    def when(self) -> str:
        return f"{datetime.fromtimestamp(self.began, UTC):%Y-%m-%d %H:%M}"

    @property
    def mark(self) -> str:
        return _MARKS.get(RunState(self.state), "partly" if self.ended == "warning" else "")

    @property
    def title(self) -> str:
        return f"{self.operation} {self.object} on {self.target}"


@dataclass(frozen=True, slots=True)
class _Row:
    run: str
    when: str
    state: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobHistory:
    """The runs of one job, newest first, and their chart."""

    title: str
    about: str
    names: tuple[str, ...]
    chart: Chart
    rows: tuple[_Row, ...]


def site_page(run: RunRecord) -> tuple[str, SiteEntry]:
    """Return the page of a run, and its entry in the index."""
    view, found, head = run_view(run), analyse(run), run.head
    headline = clean(job_headline(run)) if head.mode is Mode.JOB else view.advice.headline
    medians = ((clean(str(one.cell)), one.median) for one in found.cells[:_MOST_LINES])
    entry = SiteEntry(
        run=head.run,
        began=head.began_at.timestamp(),
        operation=head.experiment.operation,
        object=clean(worked_on(head.experiment)),
        target=clean(place_of(head.experiment.target)),
        label=clean(head.label or ""),
        state=head.state.value,
        ended=status(head.state, well=run.all_ok),
        headline=headline,
        work=_work(head),
        medians=tuple((name, value) for name, value in medians if value is not None),
        judged_by=found.judged.by,
    )
    return page_of_views([view], [], [run], home="../index.html"), entry


def _work(head: RunHead) -> str:
    experiment = head.experiment
    factors = [(one.name, *map(spell_level, one.levels)) for one in experiment.factors]
    same = (experiment.operation, experiment.target, sorted(experiment.options.items()), factors, head.mode.value,
            experiment.judge, experiment.volume)  # fmt: skip
    return hashlib.sha256(repr(same).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def index_page(entries: Sequence[SiteEntry], *, histories: bool) -> str:
    """Return the page that lists runs, newest first."""
    script = resources.template_text("report/site.js")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    filters = [(name, sorted({str(getattr(one, of)) for one in entries})) for name, of in _FILTERS.items()]
    newest = f", the newest of {entries[0].when} UTC" if entries else ""
    return render_page(
        "report/site.html.j2",
        title="All runs",
        about=f"{counted(len(entries), 'run')}{newest}.",
        entries=entries,
        filters=filters,
        histories=histories,
        script=Markup(script),  # noqa: S704 - a file of dbatk without any value in it
        script_hash=f"sha256-{digest}",
    )


_FILTERS = {"operation": "operation", "target": "target", "state": "ended"}
"""Columns that can be filtered by, and what of an entry stands in each."""


def histories_of(entries: Iterable[SiteEntry]) -> list[JobHistory]:
    """Return the history of each job that ran more than once, the one that ran last first.

    Args:
        entries: newest first.
    """
    by_work: dict[str, list[SiteEntry]] = {}
    for entry in entries:
        if entry.medians:
            by_work.setdefault(entry.work, []).append(entry)
    several = [found for found in by_work.values() if len(found) > 1]
    return [_history(found) for found in several[:MOST_JOBS]]


def history_page(histories: Sequence[JobHistory]) -> str:
    """Return the page of the jobs that ran more than once."""
    return render_page(
        "report/history.html.j2",
        title="The same job, run after run",
        about=f"{counted(len(histories), 'job')} that ran more than once with the same options; at most "
        f"{MOST_JOBS} jobs, and of each its newest {MOST_RUNS_OF_A_JOB} runs. Medians of the trials that count.",
        histories=histories,
    )


def _history(found: Sequence[SiteEntry]) -> JobHistory:
    shown, newest = found[:MOST_RUNS_OF_A_JOB], found[0]
    judged = Judged(newest.judged_by)
    names = tuple(dict.fromkeys(name for entry in shown for name, _ in entry.medians))[:_MOST_LINES]
    values = [dict(entry.medians) for entry in shown]
    rows = tuple(
        _Row(entry.run, entry.when, entry.ended, tuple(judged.spell(one.get(name)) for name in names))
        for entry, one in zip(shown, values, strict=True)
    )
    about = f"{counted(len(found), 'run')}, {shown[-1].when} to {newest.when} UTC"
    labels = sorted({entry.label for entry in shown if entry.label})[:3]
    return JobHistory(newest.title, f"{about}{': ' if labels else ''}{', '.join(labels)}", names,
                      _chart(shown, values, names, judged), rows)  # fmt: skip


def _chart(
    shown: Sequence[SiteEntry], values: Sequence[dict[str, float]], names: Sequence[str], judged: Judged
) -> Chart:
    every = [value for one in values for value in one.values()]
    unit = judged.axis(every)
    x = time_axis(shown[-1].began, shown[0].began, _FRAME.left, _FRAME.right - 8)
    y = linear(0.0, max(every) * unit.per_second, _FRAME.bottom, _FRAME.top)
    lines, marks = [], []
    for index, name in enumerate(names):
        points = [
            (x(entry.began), y(one[name] * unit.per_second), f"{entry.when}, {name}: {judged.spell(one[name])}")
            for entry, one in zip(shown, values, strict=True)
            if name in one
        ]
        lines.append(ChartLine(tuple((at, height) for at, height, _ in points), index))
        shape = SERIES_SHAPES[index % len(SERIES_SHAPES)]
        marks += [ChartMark(at, height, shape, index, "mid", text) for at, height, text in points]
    title = f"Median {judged.by.title} of each run"
    return Chart(
        key="history",
        title=title,
        description=f"{title}, {judged.span(min(every), max(every))} over {counted(len(shown), 'run')}",
        x_label="when the run began (UTC)",
        y_label=f"{judged.by.title}, {unit.label}",
        x=x,
        y=y,
        lines=tuple(lines),
        marks=tuple(marks),
        legend=tuple(
            Legend(name, index, SERIES_SHAPES[index % len(SERIES_SHAPES)]) for index, name in enumerate(names)
        ),
        frame=_FRAME,
    )
