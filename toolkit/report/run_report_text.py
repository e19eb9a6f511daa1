"""The account of a night as text for a terminal or a mail: what did not end well comes first on each target."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from toolkit.analysis.run_report import ReportedStep, RunReport
from toolkit.model.plan_records import StepState
from toolkit.report.safe import clean
from toolkit.units import counted, seconds

_COLUMNS = 80
WORST_FIRST = (
    StepState.FAILED, StepState.STOPPED, StepState.RUNNING, StepState.WAITING, StepState.SKIPPED, StepState.DONE,
)  # fmt: skip


def run_report_text(report: RunReport, facts: Sequence[tuple[str, str]], licences: Sequence[str]) -> str:
    """Return an account as lines of at most 80 columns, but for names that are longer.

    Args:
        account: the night.
        facts: label and text of what is told of the night itself.
        licences: sentences, each once.
    """
    lines = list(wrapped("", clean(report.headline)))
    lines += _listed(report.sentences)
    lines += ["", *(f"{label}: {text}" for label, text in facts)]
    for target in dict.fromkeys(step.record.target for step in report.steps):
        lines += _of_target(target, [step for step in report.steps if step.record.target == target])
    for title, sentences in (("licences", licences), ("next", report.following)):
        if sentences:
            lines += ["", title, *_listed(sentences)]
    return "\n".join(lines) + "\n"


def _of_target(target: str, steps: Sequence[ReportedStep]) -> Iterator[str]:
    counts = {state: sum(step.record.state is state for step in steps) for state in WORST_FIRST}
    said = ", ".join(f"{counts[state]} {state}" for state in WORST_FIRST if counts[state])
    yield ""
    yield from wrapped("", f"on {clean(target)}: {said} of {counted(len(steps), 'step')}")
    for step in sorted(steps, key=lambda each: WORST_FIRST.index(each.record.state)):
        yield from _of_step(step)


def _of_step(step: ReportedStep) -> Iterator[str]:
    record = step.record
    took = [] if record.elapsed_seconds is None else [f"took {seconds(record.elapsed_seconds)}"]
    usual = [] if step.usual_seconds is None or not took else [f"usually {seconds(step.usual_seconds)}"]
    remark = [step.against_history] if step.against_history else []
    head = f"{record.state:7}  {clean(record.step)}"
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
        _COLUMNS,
        initial_indent=first,
        subsequent_indent=after,
        break_long_words=False,
        break_on_hyphens=False,
    )
