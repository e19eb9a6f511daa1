"""Clients that open a parameter file by its name and ask for a password: expdp, impdp.

The file is its owner's alone (0600) and lies in no folder: the client opens it by the name that our own process
has for it, so that nothing is left whoever is killed. Where a system has no such names it is a temporary file.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from toolkit.model.steps import Step
from toolkit.targets.base import ProgramAccess


@contextmanager
def with_file(step: Step, access: ProgramAccess) -> Iterator[tuple[Step, ProgramAccess, str]]:
    """Lend a client its parameter file until it has ended.

    Args:
        step: of kind PARAMETERS; its text is what the file has.
        access: how the client is let in.

    Yields:
        The step with the arguments that name logon and file, the access that hides the password in what the client
        writes, and what it reads from its standard input.

    Raises:
        ToolkitError: TK-0201 where there is no way in.
    """
    assert access.logon is not None
    logon = access.logon()
    typed = "" if logon.password is None else f"{logon.password}\n"
    hidden = access.hidden if logon.password is None else (*access.hidden, logon.password)
    unnamed = Path("/proc/self/fd").is_dir()
    with tempfile.TemporaryFile() if unnamed else tempfile.NamedTemporaryFile() as file:
        file.write(f"{step.text}\n".encode())
        file.flush()
        path = f"/proc/{os.getpid()}/fd/{file.fileno()}" if unnamed else file.name
        yield (
            replace(step, argv=(*step.argv, logon.argument, f"PARFILE={path}")),
            replace(access, hidden=hidden),
            typed,
        )
