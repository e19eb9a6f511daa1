"""Executors run steps; nothing else touches the world.

Importing this package loads none of them: a process of users needs few, and there may be many such processes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def __getattr__(name: str) -> object:
    """Load a part of the public face when it is first asked for."""
    from importlib import import_module

    homes = {
        "SILENT": "waited",
        "UNDOES": "sessions",
        "Refusals": "refusals",
        "Script": "printing",
        "Sessions": "sessions",
        "Timeouts": "waiting",
        "end_orphans": "orphans",
        "look": "reading",
        "may_still_end": "reaching",
        "open_session": "waited",
        "print_script": "printing",
        "print_steps": "printing",
        "reach": "reaching",
        "read_facts": "reading",
        "read_probes": "host",
        "refused": "reading",
        "run_command": "host",
        "run_folder": "host",
        "runs_with_programs": "orphans",
        "silent_seconds": "reaching",
    }
    if name not in homes:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    return getattr(import_module(f"{__name__}.{homes[name]}"), name)
