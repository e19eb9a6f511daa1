"""What programs wrote in a trial: kept as it came, and handed to whoever reads evidence."""

from __future__ import annotations

from collections.abc import Iterable

from toolkit.model.protocols import Line
from toolkit.model.records import Artifact
from toolkit.model.values import Row
from toolkit.runner.bench import Bench
from toolkit.runner.clock import TimedResult


def log_of(timed: TimedResult) -> tuple[Line, ...]:
    """Return what the programs on the clock wrote, whether they ended well or not."""
    return tuple(line for item in timed.items for line in item.lines)


def kept_of(timed: TimedResult) -> dict[str, tuple[Row, ...]]:
    """Return log and resources of the programs on the clock as rows under `log` and `program`."""
    log = log_of(timed)
    rows: dict[str, tuple[Row, ...]] = {}
    if log:
        rows["log"] = tuple({"at_seconds": line.at_seconds, "line": line.text} for line in log)
    programs = tuple(row for item in timed.items for row in item.programs)
    return {**rows, "program": programs} if programs else rows


def keep_log(bench: Bench, trial: int, name: str, lines: Iterable[Line]) -> None:
    """Keep a log with its trial, named after the operation or the step; nothing where nothing was written."""
    text = "\n".join(line.text for line in lines)
    if text:
        own = f"{name.rpartition('/')[2]}.log"
        bench.store.keep_artifact(bench.run, Artifact(own, "text/plain", (text + "\n").encode(), trial))
