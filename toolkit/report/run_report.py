"""The report of a plan run as a page, as text and as JSON; trends of steps as text and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from toolkit.analysis.run_report import ReportedStep, RunReport, Trend
from toolkit.model.plan import StepState
from toolkit.model.words import RunState, status
from toolkit.report.backup_charts import lanes_chart
from toolkit.report.chart import Chart
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, table
from toolkit.terminal import line_width
from toolkit.units import MISSING, counted, seconds

_GOOD = frozenset({StepState.DONE, StepState.SKIPPED})


@dataclass(frozen=True, slots=True)
class RunReportView:
    """What the page shows, every text clean."""

    title: str
    headline: str
    look: str
    """`failed`, `partly` where something was not done, or nothing."""
    told: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    chart: Chart | None
    targets: Table
    steps: Table
    changes: Table
    looks: Table
    licences: tuple[str, ...]
    following: tuple[str, ...]


def run_report_page(report: RunReport) -> str:
    """Return the report as one self-contained page."""
    from toolkit.report.html import render_page  # the text does without

    view = _view(report)
    return render_page("report/run_report.html.j2", title=view.title, view=view)


def run_report_text(report: RunReport) -> str:
    """Return the report as text of at most 80 columns but for names that are longer."""
    return _as_text(report, _facts(report), _licences(report))


def run_report_document(report: RunReport) -> dict[str, object]:
    """Return the report as JSON: instants in UTC, times in seconds."""
    run = report.run
    return {
        "format": 2,
        "plan": run.plan,
        "plan_run": run.plan_run,
        "state": run.state.value,
        "host": run.host,
        "began_at": _instant(run.began_at),
        "ended_at": _instant(run.ended_at),
        "window": {"begin": _instant(run.window_begin), "end": _instant(run.window_end)},
        "stopped_by": run.stopped_by,
        "headline": report.headline,
        "sentences": list(report.sentences),
        "notes": [
            {"target": note.target, "text": note.text, "noted_at": _instant(note.noted_at)} for note in run.notes
        ],
        "steps": [_step_document(step) for step in report.steps],
        "next": list(report.following),
    }


def _step_document(step: ReportedStep) -> dict[str, object]:
    record = step.record
    return {
        "target": record.target,
        "step": record.step,
        "state": record.state.value,
        "reason": record.reason,
        "verified": record.verified,
        "unverified": record.unverified,
        "run": record.run,
        "tries": record.tries,
        "began_at": _instant(record.began_at),
        "ended_at": _instant(record.ended_at),
        "elapsed_seconds": record.elapsed_seconds,
        "expected_seconds": record.expected_seconds,
        "usual_seconds": step.usual_seconds,
        "size_bytes": record.size_bytes,
        "size_rows": record.size_rows,
        "earlier_runs": step.earlier_runs,
        "against_history": step.against_history,
        "changed": list(step.story.changed),
        "licences": list(step.story.licences),
        "warnings": list(step.story.warnings),
    }


def trends_text(trends: Sequence[Trend]) -> str:
    """Return trends as text: sentences first, then each run, newest first."""
    lines: list[str] = []
    for trend in trends:
        lines += [
            *wrapped("", f"{clean(trend.step)} on {clean(trend.target)}"),
            *(line for sentence in trend.sentences for line in wrapped("- ", clean(sentence), further="  ")),
        ]
        for each in reversed(trend.runs):
            reason = f"  {clean(each.reason)}" if each.reason else ""
            head = f"  {_minute(each.began_at)}  {status(each.state):8} {seconds(each.elapsed_seconds):>10}"
            lines += wrapped(head, reason, further=" " * len(head + "  ")) or [head]
        lines.append("")
    return "\n".join(lines)


def trends_document(trends: Sequence[Trend]) -> dict[str, object]:
    """Return trends as JSON."""
    return {
        "format": 2,
        "trends": [
            {
                "step": trend.step,
                "target": trend.target,
                "sentences": list(trend.sentences),
                "runs": [
                    {
                        "began_at": _instant(each.began_at),
                        "state": each.state.value,
                        "elapsed_seconds": each.elapsed_seconds,
                        "expected_seconds": each.expected_seconds,
                        "size_bytes": each.size_bytes,
                        "run": each.run,
                        "reason": each.reason,
                    }
                    for each in trend.runs
                ],
            }
            for trend in trends
        ],
    }


def _view(report: RunReport) -> RunReportView:
    run = report.run
    return RunReportView(
        title=f"Plan {clean(run.plan)}, {_minute(run.began_at)}",
        headline=clean(report.headline),
        look=_worst(step.record.state for step in report.steps),
        told=tuple(map(clean, report.sentences)),
        facts=tuple(_facts(report)),
        chart=lanes_chart(report.lanes, "The plan run by target", lane_word="target"),
        targets=_targets(report.steps),
        steps=_steps(report.steps),
        changes=_changes(report.steps),
        looks=_looks(report.steps),
        licences=_licences(report),
        following=tuple(map(clean, report.following)),
    )


def _worst(states: Iterable[StepState]) -> str:
    """Return the look of what ended so: failures are red, what was not done amber."""
    found = set(states) - _GOOD
    return "failed" if StepState.FAILED in found else "partly" if found else ""


def _facts(report: RunReport) -> list[tuple[str, str]]:
    run = report.run
    window = None
    if run.window_begin is not None and run.window_end is not None:
        window = f"{_minute(run.window_begin)} to {_minute(run.window_end)}"
    known = run.ended_at if run.state is not RunState.DIED else None
    elapsed = (known - run.began_at).total_seconds() if known else None
    found = [
        ("began (UTC)", _minute(run.began_at)),
        ("took", None if elapsed is None else seconds(elapsed)),
        ("window (UTC)", window),
        ("host", clean(run.host)),
        ("id", run.plan_run),
    ]
    return [(label, text) for label, text in found if text]


def _targets(steps: Sequence[ReportedStep]) -> Table:
    """Return how many steps ended how on each target; nothing where there is but one."""
    names = list(dict.fromkeys(step.record.target for step in steps))
    states = [state for state in WORST_FIRST if any(step.record.state is state for step in steps)]
    counts = {(name, state): 0 for name in names for state in states}
    for step in steps:
        counts[step.record.target, step.record.state] += 1
    rows = [[name, *(str(counts[name, state]) for state in states)] for name in names] if len(names) > 1 else []
    bad = (_worst(state for state in states if counts[name, state]) for name in names)
    return table("By target", [*left("target"), *right(*map(status, states))], rows, bad if rows else ())


def _steps(steps: Sequence[ReportedStep]) -> Table:
    """Return the steps, those that did not end well first."""
    ordered = sorted(steps, key=lambda step: WORST_FIRST.index(step.record.state))
    rows = (
        [
            step.record.target, step.record.step, status(step.record.state), seconds(step.record.elapsed_seconds),
            seconds(step.usual_seconds), step.against_history or "", step.record.reason or "",
        ]
        for step in ordered
    )  # fmt: skip
    columns = [*left("target", "step", "ended"), *right("took", "usually"), *left("compared with history", "why")]
    return table("Steps", columns, rows, (_worst([step.record.state]) for step in ordered))


def _changes(steps: Sequence[ReportedStep]) -> Table:
    rows = (
        [step.record.target, step.record.step, what, sentence]
        for step in steps
        for what, texts in (("changed", step.story.changed), ("warned", step.story.warnings))
        for sentence in texts
    )
    return table("Changes and warnings of the steps", left("target", "step", "result", "what"), rows)


def _looks(steps: Sequence[ReportedStep]) -> Table:
    rows = (
        [step.record.target, step.record.step, what, sentence]
        for step in steps
        for what, text in (("not verified", step.record.unverified), ("verified", step.record.verified))
        for sentence in (text.split("; ") if text else ())
    )
    return table("Verified afterwards", left("target", "step", "result", "what"), rows)


def _licences(report: RunReport) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clean(sentence) for step in report.steps for sentence in step.story.licences))


def _instant(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat(timespec="milliseconds")


def _minute(value: datetime | None) -> str:
    return MISSING if value is None else f"{value:%Y-%m-%d %H:%M}"


# -- text for a terminal or a mail: what did not end well comes first on each target ----------------------------
WORST_FIRST = (
    StepState.FAILED, StepState.STOPPED, StepState.RUNNING, StepState.WAITING, StepState.SKIPPED, StepState.DONE,
)  # fmt: skip


def _as_text(report: RunReport, facts: Sequence[tuple[str, str]], licences: Sequence[str]) -> str:
    """Return a report as lines that fit where they are shown, but for names that are longer.

    Args:
        report: of the plan run.
        facts: label and text of what is known of the run as a whole.
        licences: sentences, each once.
    """
    lines = list(wrapped("", clean(report.headline)))
    lines += _listed(report.sentences)
    lines += ["", *(f"{label}: {text}" for label, text in facts)]
    for target in dict.fromkeys(step.record.target for step in report.steps):
        lines += _of_target(target, [step for step in report.steps if step.record.target == target])
    for title, sentences in (("licences", licences), ("next run", report.following)):
        if sentences:
            lines += ["", title, *_listed(sentences)]
    return "\n".join(lines) + "\n"


def _of_target(target: str, steps: Sequence[ReportedStep]) -> Iterator[str]:
    counts = {state: sum(step.record.state is state for step in steps) for state in WORST_FIRST}
    said = ", ".join(f"{counts[state]} {status(state)}" for state in WORST_FIRST if counts[state])
    yield ""
    yield from wrapped("", f"on {clean(target)}: {said} of {counted(len(steps), 'step')}")
    for step in sorted(steps, key=lambda each: WORST_FIRST.index(each.record.state)):
        yield from _of_step(step)


def _of_step(step: ReportedStep) -> Iterator[str]:
    record = step.record
    took = [] if record.elapsed_seconds is None else [f"took {seconds(record.elapsed_seconds)}"]
    usual = [] if step.usual_seconds is None or not took else [f"usually {seconds(step.usual_seconds)}"]
    remark = [step.against_history] if step.against_history else []
    head = f"{status(record.state):7}  {clean(record.step)}"
    tail = "; ".join([", ".join([*took, *usual]), *remark] if took else remark)
    yield from wrapped("  ", f"{head}  {tail}".rstrip(), further=" " * 11)
    for what, text in (
        ("", record.reason),
        ("verified: ", record.verified),
        ("NOT verified: ", record.unverified),
    ):
        if text:
            yield from wrapped(" " * 11, what + clean(text))


def _listed(sentences: Iterable[str]) -> list[str]:
    return [line for sentence in sentences for line in wrapped("- ", clean(sentence), further="  ")]


def wrapped(first: str, text: str, further: str | None = None) -> list[str]:
    """Break a text at its blanks; a word that is longer than a line stays whole, so that it can be copied.

    Args:
        first: what the first line begins with.
        text: the text.
        further: what the other lines begin with; as the first one if not given.
    """
    after = first if further is None else further
    return textwrap.wrap(
        text,
        line_width(),
        initial_indent=first,
        subsequent_indent=after,
        break_long_words=False,
        break_on_hyphens=False,
    )
