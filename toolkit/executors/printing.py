"""Prints the steps of a trial as a script that runs by hand in SQL*Plus, psql or the DuckDB shell.

What is shown is what runs: the same steps, with the run and object ids as placeholders. Our own reads of the
catalogue are named in the head. Several sessions print as `-- session k of n, begin together`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from toolkit.model.engines import engine as declared
from toolkit.model.steps import AWAITED, Stages, Step, TimedItem
from toolkit.model.words import ON_HOST, READS_TEXT, EngineName, Role, StepKind


@dataclass(frozen=True, slots=True)
class Script:
    """One cell's stages with the title they are printed under."""

    title: str
    stages: Stages | None
    refused: str | None = None
    """Why this cell cannot be had; then there are no stages and only the reason is printed."""


_NUMBERED = re.compile(r"\b(dbatk_\w+?)_\d+\b", re.IGNORECASE)
"""A generated name: each configuration has objects of its own."""


def print_script(engine: EngineName, head: Iterable[str], scripts: Sequence[Script], *, full: bool = True) -> str:
    """Return the script.

    Args:
        engine: decides terminators and the client's own commands.
        head: comment lines that open it: what, where, mode.
        scripts: the cells in the order of the sweep; setup and cleanup are printed once.
        full: whether all of each cell is printed. If not, a cell after the first has only the stages that differ
            from those of the first by more than the numbers of its objects: to be read, not to be run.
    """
    whole = full or not any(script.stages is not None and _has_alike(script.stages) for script in scripts)
    full = full or sum(script.stages is not None for script in scripts) < _SEVERAL
    lines = [f"-- {line}" for line in head]
    lines += [
        f"-- {_by_hand(engine, scripts) if full and whole else _SHORTENED}",
        *declared(engine).client.opening,
    ]
    first: list[list[str]] = []
    ran = [script.stages for script in scripts if script.stages is not None]
    if ran:
        lines += _stage("setup, once", ran[0].setup, engine)
    for script in scripts:
        lines += ["", f"-- ==== {script.title}"]
        if script.stages is None:
            lines.append(f"-- unsupported: {script.refused}")
            continue
        stages = _trial(script.stages, engine, full=whole)
        lines += [line for stage in stages if full or _spelled(stage) not in first for line in stage]
        left_out = [] if full else [stage[1].removeprefix("-- ") for stage in stages if _spelled(stage) in first]
        if left_out:
            lines += ["", f"-- as above, on its own objects: {'; '.join(left_out)}"]
        first = first or [_spelled(stage) for stage in stages]
    if ran:
        lines += _stage("cleanup, once", ran[0].cleanup, engine)
    return _joined(lines, engine)


_SEVERAL = 2
_SHORTENED = "shortened to what differs: `--full`, a file or a pipe has the whole script"


def _spelled(stage: Sequence[str]) -> list[str]:
    return [_NUMBERED.sub(r"\1_N", line) for line in stage]


def _by_hand(engine: EngineName, scripts: Sequence[Script]) -> str:
    """Say which client runs the script; what another program reads stands in it as comments."""
    stages = [script.stages for script in scripts if script.stages is not None]
    timed = (step for each in stages for item in each.timed.items for step in item.steps)
    programs = {step.argv[0]: None for step in timed if step.kind in (StepKind.RMAN, StepKind.PARAMETERS)}
    if programs:
        named, client = ", ".join(programs), declared(engine).client.title
        return f"by hand: what stands under `command` is for {named}, the rest for {client}"
    return f"runs by hand in {declared(engine).client.title}"


def print_steps(
    engine: EngineName, head: Iterable[str], parts: Iterable[tuple[Sequence[str], Sequence[Step]]]
) -> str:
    """Return a script of statements that do not depend on each other: after an error it goes on.

    Args:
        engine: decides terminators and the client's own commands.
        head: comment lines that open it.
        parts: comment lines and the statements they speak of.
    """
    lines = [
        *map(_comment, head),
        _comment(f"runs by hand in {declared(engine).client.title}"),
        *declared(engine).client.going_on,
    ]
    for heading, steps in parts:
        lines += ["", *map(_comment, heading), *(line for step in steps for line in _statement(step, engine))]
    return _joined(lines, engine)


def _joined(lines: Iterable[str], engine: EngineName) -> str:
    """Join lines, with comments as the client has them; in a script of a shell programs stand as they are."""
    sign, program = declared(engine).client.comment, f"-- {_COMMAND}: "
    if sign == "--":
        whole = (line.replace("\n", "\n--   ") if line.startswith(program) else line for line in lines)
        return "\n".join(whole) + "\n"
    spelled = (
        line.removeprefix(program) if line.startswith(program) else re.sub(r"\A--", sign, line) for line in lines
    )
    return "\n".join(spelled) + "\n"


_COMMAND = "command"


def _comment(text: str) -> str:
    """Spell a comment line: a line end in a name ends no comment, a hyphen at its end continues none."""
    return "-- " + " ".join(text.split()).rstrip("-")


def _has_alike(stages: Stages) -> bool:
    return sum(bool(item.alike) for item in stages.timed.items) >= _SEVERAL


def _trial(stages: Stages, engine: EngineName, *, full: bool) -> list[list[str]]:
    """Return the lines of each stage that has some."""
    workers = stages.timed.workers
    omitted = [_comment(f"omitted: {label}: {why}") for label, why in stages.timed.left_out]
    parts = [["", *omitted] if omitted else []]
    parts.append(_stage("prepare", stages.prepare, engine))
    begin = _stage("worker session", stages.worker_begin, engine)
    end = _stage("worker session, restored", stages.worker_end, engine)
    if workers == 1:
        parts += [
            begin,
            _timed(stages, 0, 1, engine, full=full),
            _stage("evidence, in the same session", stages.evidence, engine),
            end,
        ]
    else:
        for number in range(workers):
            heading = ["", f"-- session {number + 1} of {workers}, start together"]
            parts.append([*heading, *begin, *_timed(stages, number, workers, engine, full=full), *end])
    parts.append(_stage("conclude", stages.conclude, engine))
    return [part for part in parts if part]


def _timed(stages: Stages, number: int, workers: int, engine: EngineName, *, full: bool) -> list[str]:
    """Print the share of one session; in a real run each session takes the next item when it is free.

    If not in full, of items that differ in one thing alone only the first.
    """
    lines = ["", "-- timed" if workers == 1 else "-- timed (a free session takes the next item)"]
    share = stages.timed.shares()[number]
    shown = [item for place, item in enumerate(share) if full or not place or not item.alike]
    for item in shown:
        lines += _when(item)
        for step in item.steps:
            lines += _statement(step, engine)
    if left := len(share) - len(shown):
        lines.append(f"-- and {left} more as the last, each with {share[-1].alike}")
    return lines if stages.timed.flush is None else [*lines, *_statement(stages.timed.flush, engine)]


def _when(item: TimedItem) -> Iterator[str]:
    """Say when an item is begun that is not begun at once."""
    if item.due_seconds:
        yield f"-- begins {item.due_seconds:.3f} s after the start"
    if item.needs:
        yield _comment(f"begins when these have ended: {', '.join(item.needs)}")


def _stage(title: str, steps: Sequence[Step], engine: EngineName) -> list[str]:
    if not steps:
        return []
    return ["", f"-- {title}", *(line for step in steps for line in _statement(step, engine))]


def _on_host(step: Step) -> Iterator[str]:
    """Print what is done outside the database: the command line as a shell takes it, and what it reads."""
    if step.environment:
        yield "-- environment: " + " ".join(
            f"{name}={shlex.quote(value)}" for name, value in step.environment.items()
        )
    if step.access and step.kind not in (StepKind.RMAN, StepKind.PARAMETERS):
        yield f"-- environment from the target: {' '.join(step.access)}"
    if step.as_user is not None:
        yield f"-- as the user {step.as_user}"
    if step.kind is StepKind.PARAMETERS:
        yield f"-- command: {shlex.join(step.argv)} {' '.join(step.access)} PARFILE=FILE, where FILE has:"
        yield from (f"--   {line}" for line in step.text.split("\n"))
    elif step.kind in READS_TEXT:
        # RUN is a command of SQL*Plus too, so the script must not be read by it
        rman = step.kind is StepKind.RMAN and step.access
        connects = f" after the line `{' '.join(step.access)} ...` of the target" if rman else ""
        yield f"-- command: {shlex.join(step.argv)}, which reads{connects}:"
        yield from (f"--   {line}" for line in step.text.split("\n"))
    else:
        yield f"-- command: {step.text}"


def _statement(step: Step, engine: EngineName) -> list[str]:
    if step.own_read and step.session is not Role.HOLDER:
        return [f"-- reads sql/{part.name}.sql" for part in step.parts or (step,)]
    if step.kind is StepKind.SYSDBA:
        return ["-- as SYSDBA, in the client that the profile of the target names", f"{step.text};"]
    if step.kind in ON_HOST:
        return [*_on_host(step)]
    if step.session is Role.HOLDER:
        stands = f"; what it returns stands for {AWAITED}" if step.keep_as is not None else ""
        return [f"-- in a session that stays open meanwhile{stands}", f"{step.text};"]
    lines = [step.text, "/"] if step.kind is StepKind.BLOCK else [f"{step.text};"]
    if not step.tolerates:
        return lines
    go_on, stop = declared(engine).client.on_error
    return [f"-- may fail: {', '.join(sorted(step.tolerates))}", go_on, *lines, stop]
