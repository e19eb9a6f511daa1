"""Where the undo script of a run is kept."""

from __future__ import annotations

from pathlib import Path

from toolkit.dialects.base import Dialect
from toolkit.model.protocols import Event, Events
from toolkit.model.records import RunHead
from toolkit.runner import UndoScript
from toolkit.store import Store


def undo_script(head: RunHead, store: Store, dialect: Dialect, events: Events) -> UndoScript:
    """Return the undo script of a run; its path is announced once, when the first change is about to be made."""

    def announce(path: Path) -> None:
        events.emit(Event("undo", f"undo script, should this process die: {path}", {"path": str(path)}))

    return UndoScript(store.undo_script(head.run), dialect, head.run, head.experiment.target, announce)


def undo_script_left(store: Store, run: str) -> Path | None:
    """Return the path of a run's undo script while it is there: something is still to be undone."""
    path = store.undo_script(run)
    return path if path.is_file() else None
