"""A server that is started again by the command of its profile, and its file of settings while it is down."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from toolkit.errors import ToolkitError
from toolkit.model.engines import engine
from toolkit.model.steps import Step
from toolkit.model.words import EngineName, StepKind

SYSDBA_EXAMPLE = '`sysdba = ["sqlplus", "-L", "-S", "/", "as", "sysdba"]`'
LIMIT_SECONDS = 300.0
"""How long the command may take: a server writes what is in its memory to disk before it ends."""


def start_again(argv: tuple[str, ...]) -> None:
    """Run the command of the profile that starts a server again, in a session of its own.

    Its output goes to a file: a server that it leaves behind would keep a pipe open.

    Raises:
        ToolkitError: TK-0203 when it is not there or fails, TK-0207 when it takes too long.
    """
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(
                list(argv),
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS,
                check=False, start_new_session=True, cwd="/",
            )  # fmt: skip
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise _failed(argv, f"cannot be run: {reason}") from None
        except subprocess.TimeoutExpired:
            raise ToolkitError(
                f"`{argv[0]}` did not start the server again within {LIMIT_SECONDS:g} s",
                code="TK-0207",
                hint="look at the server's log",
            ) from None
        if done.returncode != 0:
            out.seek(0)
            lines = out.read(65536).decode(errors="replace").strip().splitlines()[-1:] or ["no output"]
            raise _failed(argv, f"ended with {done.returncode}: {lines[0][:200]}")


def _failed(argv: tuple[str, ...], sentence: str) -> ToolkitError:
    return ToolkitError(f"`{argv[0]}` {sentence}", code="TK-0203", hint="look at the server's log")


def by_sysdba(step: Step, argv: tuple[str, ...], name: EngineName) -> Step:
    """Return a statement of SYSDBA as the script that the client of the profile reads.

    Raises:
        ToolkitError: TK-0203 where the profile names none.
    """
    if not argv:
        raise ToolkitError(
            f"`{step.text.splitlines()[0]}` needs a client that connects as SYSDBA",
            code="TK-0203",
            hint="name it in the target's profile, as " + SYSDBA_EXAMPLE,
        )
    ending = "\n/" if step.text.endswith("END;") else ";"
    lines = (*engine(name).client.alone, f"{step.text}{ending}", "EXIT", "")
    return replace(
        step, kind=StepKind.SCRIPT, name=f"{name}/sysdba", argv=argv, text="\n".join(lines),
        limit_seconds=step.limit_seconds or LIMIT_SECONDS,
    )  # fmt: skip


def put_line(path: str, name: str, value: str | None) -> None:
    """Write a setting into postgresql.auto.conf of a server that is down, or take it out.

    PostgreSQL's manual on ALTER SYSTEM's file: external tools may modify it while the server is not running; they
    may append settings, or remove duplicates and comments as ALTER SYSTEM does. Owner and permissions stay.

    Args:
        path: the file.
        name: of the setting.
        value: what is to stand there; None for nothing.

    Raises:
        ToolkitError: TK-0405.
    """
    file = Path(path)
    own = re.compile(rf"\s*{re.escape(name)}\s*(=|\s)", re.IGNORECASE)
    temporary = None
    try:
        lines = [line for line in file.read_text().splitlines() if not own.match(line)]
        if value is not None:
            lines.append("{} = '{}'".format(name, value.replace("\\", "\\\\").replace("'", "''")))
        there = file.stat()
        handle, temporary = tempfile.mkstemp(prefix=".dbatk.", dir=file.parent)
        with os.fdopen(handle, "w") as stream:
            os.fchmod(handle, there.st_mode & 0o777)
            os.fchown(handle, there.st_uid, there.st_gid)
            stream.write("\n".join(lines) + "\n")
            stream.flush()
            os.fsync(handle)
        Path(temporary).replace(file)
    except (OSError, UnicodeDecodeError) as error:
        if temporary is not None:
            with suppress(OSError):
                Path(temporary).unlink()
        reason = getattr(error, "strerror", None) or str(error)
        raise ToolkitError(
            f"`{path}` cannot be written: {reason.lower()}",
            code="TK-0405",
            hint="run it as the owner of the server",
        ) from None


def writable(path: str) -> bool:
    """Tell whether `put_line` can do its work on a file."""
    return os.access(path, os.R_OK | os.W_OK) and os.access(Path(path).parent, os.W_OK | os.X_OK)


def until_it_answers(answers: Callable[[], str | None], wait: Callable[[float], bool], seconds: float) -> None:
    """Ask a server until it answers.

    Args:
        answers: asks once; None where it answers, else why it does not.
        wait: waits so many seconds; true when somebody asked to stop.
        seconds: how long.

    Raises:
        ToolkitError: TK-0202 when it does not.
    """
    import time

    deadline = time.monotonic() + seconds
    while (why := answers()) is not None:
        if time.monotonic() >= deadline or wait(0.1):
            raise ToolkitError(
                f"the server does not answer: {why}", code="TK-0202", hint="look at the server's log"
            )
