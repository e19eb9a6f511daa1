"""Executors run steps; nothing else touches the world."""

from toolkit.executors.printing import Script, print_script, print_steps
from toolkit.executors.probes import read_probes
from toolkit.executors.process import run_command
from toolkit.executors.programs import end_orphans
from toolkit.executors.sessions import Sessions, read_facts, refused
from toolkit.executors.together import Refusals

__all__ = [
    "Refusals",
    "Script",
    "Sessions",
    "end_orphans",
    "print_script",
    "print_steps",
    "read_facts",
    "read_probes",
    "refused",
    "run_command",
]
