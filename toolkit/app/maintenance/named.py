"""Names the step and the target that an event is of, where several are at work at once."""

from __future__ import annotations

import threading
from dataclasses import replace

from toolkit.model.protocols import Event, Events


class ThreadTaggedEvents:
    """Events of several steps at once, each with the night and, from the name of its thread, step and target."""

    def __init__(self, events: Events, plan_run: str) -> None:
        self._events = events
        self._plan_run = plan_run

    def emit(self, event: Event) -> None:
        name = threading.current_thread().name
        data: dict[str, object] = {"plan_run": self._plan_run}
        text = event.text
        if name.startswith("step "):
            step, _, target = name.removeprefix("step ").partition(" on ")
            data |= {"step": step, "target": target}
            text = f"{step} on {target}: {text}"
        self._events.emit(replace(event, text=text, data={**data, **event.data}))
