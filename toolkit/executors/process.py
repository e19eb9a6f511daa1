"""Runs commands of this host for factors outside the database; argument lists only, never a shell."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from toolkit.errors import ToolkitError


def run_command(argv: Sequence[str], *, limit_seconds: float = 60.0) -> str:
    """Run a command and return its standard output, stripped.

    Raises:
        ToolkitError: TK-0203 when it is not there, fails, or takes too long; its error output is quoted.
    """
    shown = argv[0]
    try:
        done = subprocess.run(
            list(argv),
            capture_output=True,
            text=True,
            timeout=limit_seconds,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise ToolkitError(f"there is no command `{shown}`", code="TK-0203", hint="give its full path") from None
    except PermissionError:
        raise ToolkitError(f"`{shown}` may not be run", code="TK-0203", hint="check its permissions") from None
    except subprocess.TimeoutExpired:
        raise ToolkitError(
            f"`{shown}` did not end within {limit_seconds:g} s", code="TK-0207", hint="run it by hand first"
        ) from None
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
        raise ToolkitError(
            f"`{shown}` ended with {done.returncode}: {reason[0]}", code="TK-0203", hint="run it by hand first"
        )
    return done.stdout.strip()
