"""Folders that dbatk makes on this host: what can be done to one, as the arguments of a step.

Such a folder holds a file with the mark of its run and, beside it, what a program writes; so a program finds an
empty place, and whoever cleans up after a crash finds out whose it is. A backup that stays is moved out of it when
it is complete, so that nothing half made ever bears its name.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from enum import StrEnum

from toolkit.model.steps import ObjectRef
from toolkit.model.words import StepKind

MARK_FILE = ".dbatk"
CONTENT = "backup"


class FolderAct(StrEnum):
    """What is done to a folder.

    Arguments: `make PATH MARK`, `look PATH`, `measure PATH`, `publish PATH FINAL`, `remove PATH`.
    """

    MAKE = "make"
    LOOK = "look"
    MEASURE = "measure"
    PUBLISH = "publish"
    REMOVE = "remove"


def path_of(ref: ObjectRef) -> str:
    """Return the path of such a folder."""
    return f"{(ref.name.schema or '').rstrip('/')}/{ref.name.name}"


def content_of(ref: ObjectRef) -> str:
    """Return the path that the program writes to."""
    return f"{path_of(ref)}/{CONTENT}"


def spell_on_host(kind: StepKind, argv: Sequence[str]) -> str:
    """Spell what is done on the host as a shell would take it."""
    if kind is not StepKind.FOLDER:
        return shlex.join(argv)
    act, path = FolderAct(argv[0]), shlex.quote(argv[1])
    if act is FolderAct.MAKE:
        return f"mkdir -m 700 -- {path} && echo {shlex.quote(argv[2])} > {shlex.quote(f'{argv[1]}/{MARK_FILE}')}"
    if act is FolderAct.PUBLISH:
        return f"mv -T -n -- {shlex.quote(f'{argv[1]}/{CONTENT}')} {shlex.quote(argv[2])} && rm -r -- {path}"
    return f"{_SHELL[act]} -- {path}"


_SHELL = {FolderAct.LOOK: "ls -ld", FolderAct.MEASURE: "du -s --apparent-size", FolderAct.REMOVE: "rm -r"}
