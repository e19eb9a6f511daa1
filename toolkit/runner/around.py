"""A bracket of the database's own snapshots around a whole run, and what the trial that comes next will take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from toolkit.dialects.repositories import RepositorySnapshot
from toolkit.errors import ToolkitError
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import Artifact
from toolkit.runner.context import RunContext
from toolkit.snapshots.brackets import BracketProvider

ARTIFACT = "snapshot-bracket.json"


def _bracket(context: RunContext) -> BracketProvider | None:
    return next((each for each in context.providers if isinstance(each, BracketProvider)), None)


def expect(context: RunContext, seconds: float | None) -> None:
    """Tell the bracket what the next trial is expected to take; None: no trial of the cell has ended yet."""
    bracket = _bracket(context)
    if bracket is not None:
        bracket.expected_seconds = seconds


@contextmanager
def bracketed(context: RunContext) -> Iterator[None]:
    """Take a snapshot before the first trial and one after the last, and keep what lies between with the run.

    Nothing of it fails a run: what goes wrong is a warning.
    """
    bracket = _bracket(context)
    if bracket is None:
        yield
        return
    begun = bracket.attempt()
    _warn(context, bracket)
    try:
        yield
    finally:
        if begun is not None and not context.stop.requested:
            with suppress(DatabaseError):
                _end(context, bracket, begun)


def _end(context: RunContext, bracket: BracketProvider, begun: RepositorySnapshot) -> None:
    ended = bracket.attempt()
    if ended is None:
        _warn(context, bracket)
        return
    metrics = bracket.told(begun, ended)
    _warn(context, bracket)
    document = {
        "provider": bracket.name,
        "dbid": begun.dbid,
        "instance": begun.instance,
        "begin_snapshot": begun.snapshot,
        "end_snapshot": ended.snapshot,
        "metrics": [{"name": one.name, "value": one.value, "unit": one.unit} for one in metrics],
    }
    content = json.dumps(document, indent=1).encode()
    with suppress(ToolkitError):
        context.store.keep_artifact(context.run, Artifact(ARTIFACT, "application/json", content))
    if metrics:
        _keep_report(context, bracket, begun, ended)


def _keep_report(
    context: RunContext, bracket: BracketProvider, begun: RepositorySnapshot, ended: RepositorySnapshot
) -> None:
    """Keep the database's own report of the run, as it is received."""
    try:
        text = bracket.repositories.report(begun, ended)
        if text is not None:
            name = f"{bracket.name}-{begun.snapshot}-{ended.snapshot}.html"
            context.store.keep_artifact(context.run, Artifact(name, "text/html", text.encode()))
    except (DatabaseError, ToolkitError) as error:
        context.warn(f"{bracket.name}: the database's own report could not be fetched: {error.sentence}")


def _warn(context: RunContext, bracket: BracketProvider) -> None:
    for sentence in bracket.warnings():
        context.warn(f"{bracket.name}: {sentence}")
