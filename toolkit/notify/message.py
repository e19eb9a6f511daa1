"""Messages about plan runs: a subject of one line, a text, and the same as HTML.

What a database or a person wrote (names, reasons) may be in all of them. It never carries a line end into a
subject, markup into HTML, an escape to a terminal, or a call for everybody into a chat.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import jinja2

from toolkit import resources
from toolkit.config.notices import NotifyOn
from toolkit.errors import ToolkitError
from toolkit.model.plan import PlanRunRecord, StepRecord, StepState
from toolkit.model.words import RunState
from toolkit.units import seconds

_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_CALLS = re.compile(r"(?<!\w)@(?=\w)|<(?=[!@#])")
"""`@here`, `<!channel>`, `<@U024BE7LH>`: what chats act upon; with a name before the `@` it is an address."""
_LONGEST_SUBJECT, _LONGEST_REASON, _MOST_STEPS = 120, 500, 200
_ORDER = tuple(StepState(one) for one in ("failed", "stopped", "running", "waiting", "skipped", "done"))


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent."""

    subject: str
    text: str
    html: str


@dataclass(frozen=True, slots=True)
class _Step:
    """A step as it is shown."""

    step: str
    target: str
    state: str
    took: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Shown:
    """A plan run as it is shown."""

    title: str
    lines: tuple[str, ...]
    steps: tuple[_Step, ...]


def safe(text: str, longest: int = _LONGEST_REASON) -> str:
    """Return text from outside as one harmless line."""
    kept = "".join(" " if unicodedata.category(char) in _UNSAFE else char for char in text)
    line = " ".join(_CALLS.sub(lambda found: f"{found[0]}\N{WORD JOINER}", " ".join(kept.split())).split())
    return line if len(line) <= longest else line[: longest - 3] + "..."


def reasons_of(run: PlanRunRecord, before: PlanRunRecord | None) -> frozenset[NotifyOn]:
    """Return the reasons to send a message about a run, compared with the one before it."""
    found = {NotifyOn.ALWAYS}
    if failed(run):
        found.add(NotifyOn.FAILURE)
    elif before is not None and failed(before):
        found.add(NotifyOn.RECOVERY)
    if before is None or _states(run) != _states(before):
        found.add(NotifyOn.CHANGE)
    return frozenset(found)


def failed(run: PlanRunRecord) -> bool:
    """Tell whether something went wrong; a run that only ran out of time did not fail.

    The next one continues it. A plan that found its window closed with something due did fail: the store has it as
    `failed`, and nothing would continue it.
    """
    return run.state in (RunState.FAILED, RunState.DIED) or any(
        step.state is StepState.FAILED for step in run.steps
    )


def run_message(run: PlanRunRecord, reasons: frozenset[NotifyOn]) -> Message:
    """Return the message of one run."""
    return _message(f"dbatk: {_subject(run, reasons)}", [_shown(run)], "")


def digest_message(runs: Sequence[PlanRunRecord], since: datetime) -> Message:
    """Return the message of all runs since an instant, the bad ones first."""
    bad = sum(failed(run) for run in runs)
    what = f"{len(runs)} plan runs, {bad} failed" if runs else "no plan has run"
    ordered = sorted(runs, key=lambda run: (not failed(run), run.began_at))
    empty = f"No plan has run since {_instant(since)}."
    return _message(f"dbatk: {what} since {_instant(since)}", [_shown(run) for run in ordered], empty)


def refusal_message(plan: str, error: ToolkitError, host: str) -> Message:
    """Return the message of a plan that could not begin."""
    code = f" ({error.database_code})" if error.database_code else ""
    text = f"{safe(plan)} on {safe(host)}: {safe(error.sentence)}{code} [{error.code}]. {safe(error.hint)}"
    return _message(f"dbatk: plan {plan} could not start: {error.sentence}", [], text)


def trial_message(host: str) -> Message:
    """Return a message that only shows that messages arrive."""
    text = f"This is a test of dbatk on {safe(host)}. Plans will report here."
    return _message(f"dbatk: a test from {safe(host)}", [], text)


# -- making -----------------------------------------------------------------------------------------------------
def _subject(run: PlanRunRecord, reasons: frozenset[NotifyOn]) -> str:
    if run.state is RunState.DIED:
        return f"plan {run.plan} died: {run.stopped_by}"
    if NotifyOn.FAILURE in reasons:
        broken = [step for step in run.steps if step.state is StepState.FAILED]
        which = f": {broken[0].step} on {broken[0].target}" if broken else ""
        more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
        return f"plan {run.plan} failed{which or f': {run.stopped_by}'}{more}"
    if NotifyOn.RECOVERY in reasons:
        return f"plan {run.plan} succeeded again"
    if run.state is RunState.DONE:
        return f"plan {run.plan} is done"
    return f"plan {run.plan} did not complete: {run.stopped_by or run.state}"


def _message(subject: str, runs: Sequence[_Shown], empty: str) -> Message:
    html = _environment().get_template("notify/run.html.j2").render(runs=runs, empty=empty)
    return Message(safe(subject, _LONGEST_SUBJECT), "\n\n".join(map(_text, runs)) or empty, html)


def _shown(run: PlanRunRecord) -> _Shown:
    lines = [f"run {run.plan_run} on {run.host}", f"began {_instant(run.began_at)}"]
    if run.ended_at is not None:
        lines.append(f"ended {_instant(run.ended_at)}")
    if run.window_end is not None:
        lines.append(f"window until {_instant(run.window_end)}")
    if run.stopped_by:
        lines.append(f"stopped by {run.stopped_by}")
    ordered = sorted(run.steps, key=lambda step: (_ORDER.index(step.state), step.position))
    if len(ordered) > _MOST_STEPS:
        lines.append(
            f"the first {_MOST_STEPS} of {len(ordered)} steps; `dbatk plan report {run.plan_run}` shows all"
        )
    steps = tuple(map(_step, ordered[:_MOST_STEPS]))
    return _Shown(safe(f"{run.plan}: {run.state}"), tuple(map(safe, lines)), steps)


def _step(step: StepRecord) -> _Step:
    took = "" if step.elapsed_seconds is None else seconds(step.elapsed_seconds)
    if took and step.expected_seconds is not None:
        took += f" (usually {seconds(step.expected_seconds)})"
    return _Step(safe(step.step), safe(step.target), step.state.value, took, safe(step.reason or ""))


def _text(run: _Shown) -> str:
    rows = [
        f"- {one.state}: {one.step} on {one.target}"
        + (f", {one.took}" if one.took else "")
        + (f": {one.reason}" if one.reason else "")
        for one in run.steps
    ]
    return "\n".join((run.title, *run.lines, *rows))


def _states(run: PlanRunRecord) -> dict[tuple[str, str], StepState]:
    return {(step.target, step.step): step.state for step in run.steps}


def _instant(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(resources.template_text),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
