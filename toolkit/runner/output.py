"""What programs wrote in a trial: kept as it came, and handed to whoever reads evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toolkit.model.protocols import Answer, DatabaseError, OutputLine
from toolkit.model.records import Artifact
from toolkit.model.steps import Step
from toolkit.model.values import Row, Scalar
from toolkit.model.words import ON_HOST, StepKind
from toolkit.runner.clock import TimedResult
from toolkit.runner.context import RunContext


def log_of(timed: TimedResult) -> tuple[OutputLine, ...]:
    """Return what the programs on the clock wrote, whether they ended well or not."""
    return tuple(line for item in timed.items for line in item.lines)


def kept_of(timed: TimedResult) -> dict[str, tuple[Row, ...]]:
    """Return log and resources of the programs on the clock as rows under `log` and `program`."""
    log = log_of(timed)
    rows: dict[str, tuple[Row, ...]] = {}
    if log:
        rows["log"] = tuple({"at_seconds": line.at_seconds, "line": line.text} for line in log)
    if any(step.kind is StepKind.RMAN for each in timed.items for step in each.item.steps):
        # The reader of its logs is large, and most runs have none.
        from toolkit.runner.rman_log import rows_of as rows_of_rman

        rows |= rows_of_rman(log)
    programs = tuple(row for item in timed.items for row in item.programs)
    return {**rows, "program": programs} if programs else rows


def rows_of(step: Step, answer: Answer) -> tuple[Row, ...]:
    """Return what is kept of an answer: rows of a statement, what a program wrote."""
    if step.kind is StepKind.FOLDER or step.kind not in ON_HOST:
        return answer.rows
    return tuple({"at_seconds": line.at_seconds, "line": line.text} for line in answer.lines)


def keep_log(context: RunContext, trial: int, name: str, lines: Iterable[OutputLine]) -> None:
    """Keep a log with its trial, named after the operation or the step; nothing where nothing was written."""
    text = "\n".join(line.text for line in lines)
    if text:
        own = f"{name.rpartition('/')[2]}.log"
        context.store.keep_artifact(context.run, Artifact(own, "text/plain", (text + "\n").encode(), trial))


def not_whole(rows: dict[str, tuple[Row, ...]]) -> DatabaseError | None:
    """Return an error where the log of a program that ended well says otherwise."""
    if "rman" not in rows:
        return None
    from toolkit.runner.rman_log import LOG
    from toolkit.runner.rman_log import not_whole as not_whole_by_rman

    return not_whole_by_rman(rows[LOG])


def say_left(context: RunContext, kept: Mapping[str, tuple[Row, ...]]) -> None:
    """Say which server sessions outlived their client, and how each is ended."""
    for row in kept.get("channels_left", ()):
        session, text = _word(row.get("session_id")), _word(row.get("kill_text"))
        context.warn(f"session {session} ({_word(row.get('client_info'))}) is still at work; to end it: {text}")


def _word(value: Scalar) -> str:
    return "" if value is None else str(value)
