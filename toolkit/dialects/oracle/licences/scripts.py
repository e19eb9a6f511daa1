"""SQL*Plus scripts with their includes: `@file`, `@@file` and START are read, commands of the host are said.

Oracle's own report scripts (`?/rdbms/admin/awrrpt`) are known by name. What cannot be found, and a name that is
put together by `&`, is said to be unseen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from toolkit.dialects.oracle.licences.lists import licences
from toolkit.dialects.oracle.licences.look import LicenceFindings, Use, look, scan
from toolkit.dialects.oracle.licences.tokens import without_comments

Reader = Callable[[str, str], tuple[str, str] | None]
"""Takes the name of an include and of the script it stands in; returns its own name and its text, or None."""

_INCLUDE = re.compile(r"\s*(@@?|STA(?:RT?)?\s)\s*(\"[^\"]+\"|'[^']+'|\S+)", re.IGNORECASE)
_HOST = re.compile(r"\s*(?:!|\$|HO(?:ST?)?\s)\s*(\S.*)", re.IGNORECASE)
_EXECUTE = re.compile(r"\s*EXEC(?:UTE)?\s+(.*)", re.IGNORECASE)
_SAID = re.compile(r"(?im)^[ \t]*(?:REM(?:ARK)?|PRO(?:MPT)?|PAUSE|[TB]TI(?:TLE)?)\b(.*)$")
_RUN = re.compile(r"\s*/\s*")
_MOST_SCRIPTS = 200


def look_script(text: str, name: str = "", reader: Reader | None = None) -> LicenceFindings:
    """Return what a script uses, its includes with it; each file is read once.

    Args:
        text: the script.
        name: its own name, from which `@@` looks on.
        reader: finds includes; without one they are unseen.
    """
    found = LicenceFindings()
    seen: set[str] = {name}
    waiting = [(name, text)]
    while waiting:
        at, body = waiting.pop()
        statements, includes, said = _parts(body)
        found += look(statements) + said
        for include in includes:
            found += _known(include)
            read = None if reader is None or "&" in include else reader(include, at)
            if read is None:
                found += LicenceFindings(unseen=(f"the script `{include}` was not read",))
            elif read[0] not in seen and len(seen) < _MOST_SCRIPTS:
                seen.add(read[0])
                waiting.append(read)
            elif read[0] not in seen:
                found += LicenceFindings(unseen=(f"more than {_MOST_SCRIPTS} scripts: `{include}` was not read",))
    return found


def look_file(path: Path) -> LicenceFindings:
    """Return what a script on disk uses; `@@` looks beside the script, `@` there and from the first one's folder.

    Raises:
        OSError: the file cannot be read.
    """
    return look_script(path.read_text(encoding="utf-8", errors="replace"), str(path), _from(path.parent))


def _from(folder: Path) -> Reader:
    def reader(include: str, inside: str) -> tuple[str, str] | None:
        file = include if PurePosixPath(include).suffix else f"{include}.sql"
        for place in (Path(inside).parent, folder):
            path = place / file
            try:
                return str(path.resolve()), path.read_text(encoding="utf-8", errors="replace")
            except (OSError, ValueError):
                continue
        return None

    return reader


def _parts(text: str) -> tuple[str, list[str], LicenceFindings]:
    """Divide a script into its statements, its includes, and what is said of other commands."""
    lines: list[str] = []
    includes: list[str] = []
    unseen: list[str] = []
    said: list[str] = []

    def spoken(match: re.Match[str]) -> str:
        said.append(match[1])  # a line of SQL may begin so too: its words count, an apostrophe in it does not
        return ""

    for line in without_comments(_SAID.sub(spoken, text)).split("\n"):
        if include := _INCLUDE.fullmatch(line) or _INCLUDE.match(line):
            includes.append(include[2].strip("\"';"))
        elif host := _HOST.match(line):
            unseen.append(f"the script runs a command of the host: `{host[1].strip()[:60]}`")
        elif execute := _EXECUTE.match(line):
            lines.append(f"BEGIN {execute[1]}; END;")
        else:
            lines.append(";" if _RUN.fullmatch(line) else line)
        if "&" in line and _INCLUDE.match(line) is None:
            unseen.append("the script asks for values (`&`) that become part of its statements")
    return "\n".join(lines), includes, scan("\n".join(said)) + LicenceFindings(unseen=tuple(unseen))


def _known(include: str) -> LicenceFindings:
    stem = PurePosixPath(include.replace("\\", "/").rstrip(";")).stem.lower()
    uses = tuple(Use(key, f"@{stem}.sql") for key, one in licences().items() if stem in one.scripts)
    return LicenceFindings(uses=uses)
