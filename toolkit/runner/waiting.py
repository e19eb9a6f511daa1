"""Waits for a calm host before a trial, when the user asked for it (`--quiet-wait`)."""

from __future__ import annotations

import time

from toolkit.model.protocols import Event
from toolkit.runner.context import RunContext
from toolkit.snapshots import HostProvider

CALM_BELOW = 0.1
"""Part of the host's CPU that others may use in a calm second."""
_LOOK_SECONDS = 0.5


def wait_for_calm(context: RunContext) -> None:
    """Wait until others leave the host alone, or the time is over: then the trial runs all the same."""
    limit = context.experiment.quiet_wait_seconds
    host = next((each for each in context.providers if isinstance(each, HostProvider)), None)
    if limit is None or host is None:
        return
    begun = time.monotonic()
    told = False
    while (part := host.others_now(_LOOK_SECONDS, context.stop.wait)) > CALM_BELOW:
        if context.stop.requested:
            return
        if time.monotonic() - begun > limit:
            context.warn("the host did not become calm within --quiet-wait before every trial")
            return
        if not told:
            told = True
            context.events.emit(Event("waiting", f"others use {100 * part:.0f} % of the host's CPU"))
