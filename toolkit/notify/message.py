"""Messages about plan runs: a subject of one line, and a text as one writes a mail, one fact a line.

What a database or a person wrote (names, reasons) may be in both. It never carries a line end into a subject, an
escape to a terminal, or a call for everybody into a chat.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from toolkit.config.notices import NotifyOn
from toolkit.errors import ToolkitError
from toolkit.model.plan import PlanRunRecord, StepRecord, StepState
from toolkit.model.words import RunState, status
from toolkit.units import counted, seconds

_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_CALLS = re.compile(r"(?<!\w)@(?=\w)|<(?=[!@#])")
"""`@here`, `<!channel>`, `<@U024BE7LH>`: what chats act upon; with a name before the `@` it is an address."""
_LONGEST_SUBJECT, _LONGEST_REASON, _MOST_STEPS = 120, 500, 200
_WIDTH, _MOST_NAMED = 72, 2
_ORDER = tuple(StepState(one) for one in ("failed", "stopped", "running", "waiting", "skipped", "done"))


class Tone(StrEnum):
    """How a service that has colours, sounds or a field for it shows a message."""

    INFO = "info"
    SUCCESS = "success"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent."""

    subject: str
    text: str
    tone: Tone = Tone.INFO


def safe(text: str, longest: int = _LONGEST_REASON) -> str:
    """Return text from outside as one harmless line."""
    kept = "".join(" " if unicodedata.category(char) in _UNSAFE else char for char in text)
    line = " ".join(_CALLS.sub(lambda found: f"{found[0]}\N{WORD JOINER}", " ".join(kept.split())).split())
    return line if len(line) <= longest else line[: longest - 3] + "..."


def reasons_of(run: PlanRunRecord, earlier: Sequence[PlanRunRecord]) -> frozenset[NotifyOn]:
    """Return the reasons to send a message about a run, compared with earlier ones, the newest first.

    One that was stopped neither failed nor succeeded: whether a failure is over the next one tells.
    """
    found = {NotifyOn.ALWAYS}
    if failed(run):
        found.add(NotifyOn.FAILURE)
    elif run.state is RunState.DONE:
        told = next((each for each in earlier if failed(each) or each.state is RunState.DONE), None)
        if told is not None and failed(told):
            found.add(NotifyOn.RECOVERY)
    if not earlier or _states(run) != _states(earlier[0]):
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
    outcome = _outcome(run, reasons)
    subject = f"plan {run.plan} {outcome}{_where_and_why(run, outcome)}"
    return _message(subject, _run_lines(run, outcome), _TONES.get(outcome, Tone.WARNING))


def digest_message(runs: Sequence[PlanRunRecord], since: datetime) -> Message:
    """Return the message of all runs since an instant, the bad ones first."""
    bad = sum(failed(run) for run in runs)
    what = f"{counted(len(runs), 'plan run')}, {bad} failed" if runs else "no plan has run"
    ordered = sorted(runs, key=lambda run: (not failed(run), run.began_at))
    lines = [f"{what} since {_instant(since)}.".capitalize()]
    for run in ordered:
        lines += ["", "-" * _WIDTH, *_run_lines(run, _outcome(run, reasons_of(run, ())))]
    return _message(f"{what} since {_instant(since)}", lines, Tone.FAILURE if bad else Tone.INFO)


def refusal_message(name: str, error: ToolkitError, host: str, *, experiment: bool = False) -> Message:
    """Return the message of a plan that could not begin, or of an experiment that an error ended."""
    code = f" ({error.database_code})" if error.database_code else ""
    what, how = ("experiment", "ended with an error") if experiment else ("plan", "could not start")
    lines = [
        *_wrapped(f"{what.capitalize()} {safe(name)} {how}."),
        "",
        *_fact("Why", f"{error.sentence}{code} [{error.code}]"),
        *_fact("What to do", error.hint),
        *_fact("Host", host),
    ]
    return _message(f"{what} {name} {how}: {error.sentence}", lines, Tone.FAILURE)


def experiment_message(name: str, run: str, reasons: Sequence[str], host: str) -> Message:
    """Return the message of an experiment that ended, and not well.

    Args:
        name: of its file.
        run: the id of its run.
        reasons: sentences.
        host: where it ran.
    """
    lines = [*_wrapped(f"Experiment {safe(name)} did not end well."), "", *_fact("Host", host), ""]
    for reason in reasons[:_MOST_STEPS]:
        lines += _wrapped(safe(reason))
    why = f": {reasons[0]}" if reasons else ""
    lines += ["", f"The whole run: dbatk runs show {safe(run)}"]
    return _message(f"experiment {name} did not end well{why}", lines, Tone.FAILURE)


def trial_message(host: str) -> Message:
    """Return a message that only shows that messages arrive."""
    lines = _wrapped(f"This is a test of dbatk on {safe(host)}. Plans will report here.")
    return _message(f"a test from {safe(host)}", lines, Tone.INFO)


# -- making -----------------------------------------------------------------------------------------------------
_TONES = {
    "died": Tone.FAILURE, "failed": Tone.FAILURE, "succeeded again": Tone.SUCCESS, "is done": Tone.SUCCESS,
    "is running": Tone.INFO,
}  # fmt: skip
"""By the outcome; what did not complete goes on another time."""


def _outcome(run: PlanRunRecord, reasons: frozenset[NotifyOn]) -> str:
    if run.state is RunState.DIED:
        return "died"
    if NotifyOn.FAILURE in reasons:
        return "failed"
    if NotifyOn.RECOVERY in reasons:
        return "succeeded again"
    return {RunState.DONE: "is done", RunState.RUNNING: "is running"}.get(run.state, "did not complete")


def _where_and_why(run: PlanRunRecord, outcome: str) -> str:
    """Name the failed steps and their targets; else all targets, and what stopped the run."""
    broken = [step for step in run.steps if step.state is StepState.FAILED]
    targets = _some(step.target for step in broken or run.steps)
    on = f" on {targets}" if targets else ""
    if broken and outcome == "failed":
        return f": {_some(step.step for step in broken)}{on}"
    ended_well = run.state is RunState.DONE or outcome == "succeeded again"
    return on if ended_well else f"{on}: {run.stopped_by or run.state}"


def _some(names: Iterable[str]) -> str:
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return f"{', '.join(found[:_MOST_NAMED])}{more}"


def _message(subject: str, lines: Sequence[str], tone: Tone) -> Message:
    return Message(safe(f"dbatk: {subject}", _LONGEST_SUBJECT), "\n".join(lines) + "\n", tone)


def _run_lines(run: PlanRunRecord, outcome: str) -> list[str]:
    """Write about a run: how it ended, the facts, the steps, those to look at first."""
    ordered = sorted(run.steps, key=lambda step: (_ORDER.index(step.state), step.position))
    lines = [*_wrapped(f"Plan {safe(run.plan)} {outcome}."), "", *_facts(run), ""]
    for step in ordered[:_MOST_STEPS]:
        lines += _step_lines(step)
    if len(ordered) > _MOST_STEPS:
        lines += _wrapped(f"These are the first {_MOST_STEPS} of {len(ordered)} steps.")
    return [*lines, *([""] if lines[-1] else []), f"Full report: dbatk plan report {safe(run.plan_run)}"]


def _facts(run: PlanRunRecord) -> Iterator[str]:
    if run.stopped_by:
        yield from _fact("Stopped by", run.stopped_by)
    yield from _fact("Began", _instant(run.began_at))
    if run.ended_at is not None:
        yield from _fact("Ended", _instant(run.ended_at))
    if run.window_end is not None:
        yield from _fact("Window until", _instant(run.window_end))
    yield from _fact("Host", run.host)


def _step_lines(step: StepRecord) -> Iterator[str]:
    """Write about a step; what went well takes one line."""
    took = "" if step.elapsed_seconds is None else f"took {seconds(step.elapsed_seconds)}"
    if took and step.expected_seconds is not None:
        took += f", expected {seconds(step.expected_seconds)}"
    head = f"{status(step.state).capitalize()}: {safe(step.step)} on {safe(step.target)}"
    if step.state is StepState.DONE and not step.reason:
        yield from _wrapped(f"{head}{took and f', {took}'}")
        return
    yield from _wrapped(head)
    yield from _wrapped(took, "    ") if took else ()
    yield from _wrapped(safe(step.reason), "    ") if step.reason else ()
    yield ""


def _fact(name: str, value: str) -> list[str]:
    return _wrapped(safe(value), f"{name + ':':<14}")


def _wrapped(text: str, lead: str = "") -> list[str]:
    """Wrap a text for a mail; a name or a path is never broken."""
    below = " " * len(lead) or "  "
    return textwrap.wrap(
        text, _WIDTH, initial_indent=lead, subsequent_indent=below, break_long_words=False, break_on_hyphens=False
    )


def _states(run: PlanRunRecord) -> dict[tuple[str, str], StepState]:
    return {(step.target, step.step): step.state for step in run.steps}


def _instant(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
