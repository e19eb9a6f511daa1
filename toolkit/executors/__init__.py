"""Executors run steps; nothing else touches the world.

Importing this package loads none of them: a process of users needs few, and there may be many such processes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.lazy import lazy

if TYPE_CHECKING:
    from toolkit.executors.host import read_probes, run_command, run_folder
    from toolkit.executors.orphans import end_orphans, runs_with_programs
    from toolkit.executors.printing import Script, print_script, print_steps
    from toolkit.executors.reaching import may_still_end, reach, silent_seconds
    from toolkit.executors.reading import look, read_facts, refused
    from toolkit.executors.refusals import Refusals
    from toolkit.executors.sessions import UNDOES, Sessions
    from toolkit.executors.waited import SILENT, open_session
    from toolkit.executors.waiting import Timeouts

__all__ = [
    "SILENT",
    "UNDOES",
    "Refusals",
    "Script",
    "Sessions",
    "Timeouts",
    "end_orphans",
    "look",
    "may_still_end",
    "open_session",
    "print_script",
    "print_steps",
    "reach",
    "read_facts",
    "read_probes",
    "refused",
    "run_command",
    "run_folder",
    "runs_with_programs",
    "silent_seconds",
]

__getattr__ = lazy(
    __name__,
    host=("read_probes", "run_command", "run_folder"),
    orphans=("end_orphans", "runs_with_programs"),
    printing=("Script", "print_script", "print_steps"),
    reaching=("may_still_end", "reach", "silent_seconds"),
    reading=("look", "read_facts", "refused"),
    refusals=("Refusals",),
    sessions=("UNDOES", "Sessions"),
    waited=("SILENT", "open_session"),
    waiting=("Timeouts",),
)
