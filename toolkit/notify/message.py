"""Messages about nights: a subject of one line, a text, and the same as HTML.

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
    """A night as it is shown."""

    title: str
    lines: tuple[str, ...]
    steps: tuple[_Step, ...]


def safe(text: str, longest: int = _LONGEST_REASON) -> str:
    """Return text from outside as one harmless line."""
    kept = "".join(" " if unicodedata.category(char) in _UNSAFE else char for char in text)
    line = " ".join(_CALLS.sub(lambda found: f"{found[0]}\N{WORD JOINER}", " ".join(kept.split())).split())
    return line if len(line) <= longest else line[: longest - 3] + "..."


def reasons_of(night: PlanRunRecord, before: PlanRunRecord | None) -> frozenset[NotifyOn]:
    """Return what a night is worth a message for, beside the one before it."""
    found = {NotifyOn.ALWAYS}
    if failed(night):
        found.add(NotifyOn.FAILURE)
    elif before is not None and failed(before):
        found.add(NotifyOn.RECOVERY)
    if before is None or _states(night) != _states(before):
        found.add(NotifyOn.CHANGE)
    return frozenset(found)


def failed(night: PlanRunRecord) -> bool:
    """Tell whether something went wrong; what only had no time left goes on the next night."""
    return night.state is RunState.FAILED or any(step.state is StepState.FAILED for step in night.steps)


def night_message(night: PlanRunRecord, reasons: frozenset[NotifyOn]) -> Message:
    """Return the message of one night."""
    return _message(f"dbatk: {_subject(night, reasons)}", [_shown(night)], "")


def digest_message(nights: Sequence[PlanRunRecord], since: datetime) -> Message:
    """Return the message of all nights since an instant, the bad ones first."""
    bad = sum(failed(night) for night in nights)
    what = f"{len(nights)} plan runs, {bad} failed" if nights else "no plan has run"
    ordered = sorted(nights, key=lambda night: (not failed(night), night.began_at))
    empty = f"No plan has run since {_instant(since)}."
    return _message(f"dbatk: {what} since {_instant(since)}", [_shown(night) for night in ordered], empty)


def refusal_message(plan: str, error: ToolkitError, host: str) -> Message:
    """Return the message of a plan that could not begin."""
    code = f" ({error.database_code})" if error.database_code else ""
    text = f"{safe(plan)} on {safe(host)}: {safe(error.sentence)}{code} [{error.code}]. {safe(error.hint)}"
    return _message(f"dbatk: plan {plan} could not begin: {error.sentence}", [], text)


def trial_message(host: str) -> Message:
    """Return a message that only shows that messages arrive."""
    text = f"This is a test of dbatk on {safe(host)}. Plans will report here."
    return _message(f"dbatk: a test from {safe(host)}", [], text)


# -- making -----------------------------------------------------------------------------------------------------
def _subject(night: PlanRunRecord, reasons: frozenset[NotifyOn]) -> str:
    if NotifyOn.FAILURE in reasons:
        broken = [step for step in night.steps if step.state is StepState.FAILED]
        which = f": {broken[0].step} on {broken[0].target}" if broken else ""
        more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
        return f"plan {night.plan} failed{which}{more}"
    if NotifyOn.RECOVERY in reasons:
        return f"plan {night.plan} is well again"
    if night.state is RunState.DONE:
        return f"plan {night.plan} is done"
    return f"plan {night.plan} did not get through: {night.stopped_by or night.state}"


def _message(subject: str, nights: Sequence[_Shown], empty: str) -> Message:
    html = _environment().get_template("notify/night.html.j2").render(nights=nights, empty=empty)
    return Message(safe(subject, _LONGEST_SUBJECT), "\n\n".join(map(_text, nights)) or empty, html)


def _shown(night: PlanRunRecord) -> _Shown:
    lines = [f"run {night.plan_run} on {night.host}", f"began {_instant(night.began_at)}"]
    if night.ended_at is not None:
        lines.append(f"ended {_instant(night.ended_at)}")
    if night.window_end is not None:
        lines.append(f"window until {_instant(night.window_end)}")
    if night.stopped_by:
        lines.append(f"stopped by {night.stopped_by}")
    ordered = sorted(night.steps, key=lambda step: (_ORDER.index(step.state), step.position))
    if len(ordered) > _MOST_STEPS:
        lines.append(
            f"the first {_MOST_STEPS} of {len(ordered)} steps; `dbatk runs show {night.plan_run}` has all"
        )
    steps = tuple(map(_step, ordered[:_MOST_STEPS]))
    return _Shown(safe(f"{night.plan}: {night.state}"), tuple(map(safe, lines)), steps)


def _step(step: StepRecord) -> _Step:
    took = "" if step.elapsed_seconds is None else seconds(step.elapsed_seconds)
    if took and step.expected_seconds is not None:
        took += f" (usually {seconds(step.expected_seconds)})"
    return _Step(safe(step.step), safe(step.target), step.state.value, took, safe(step.reason or ""))


def _text(night: _Shown) -> str:
    rows = [
        f"- {one.state}: {one.step} on {one.target}"
        + (f", {one.took}" if one.took else "")
        + (f": {one.reason}" if one.reason else "")
        for one in night.steps
    ]
    return "\n".join((night.title, *night.lines, *rows))


def _states(night: PlanRunRecord) -> dict[tuple[str, str], StepState]:
    return {(step.target, step.step): step.state for step in night.steps}


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
