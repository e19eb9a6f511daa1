"""`restore script`: scripts that make a copy of a whole database from its backups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out, out_json, out_raw, plain, say
from toolkit.cli.parameters import OUTPUT, TARGET, Arguments, add_command, option
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.words import CopyForm

if TYPE_CHECKING:
    from toolkit.dialects.auxiliaries import AuxiliaryRequest

_MOST_CHANNELS = 64


def add_restore(restore: typer.Typer) -> None:
    """Add the command of the group that is no operation."""
    parameters = [
        TARGET,
        option("name", "name of the auxiliary instance, 8 characters at most", metavar="NAME"),
        option("destination", "folder for all files of the copy, empty or not there yet", metavar="DIR"),
        option(
            "form",
            "duplicate: a copy with another name and DBID (default); restore: the database itself on another host",
            metavar="FORM",
            choices=tuple(CopyForm),
        ),
        option("channels", "channels that read backups (default 1)", kind=int, metavar="N"),
        option("until", "restore to this instant of the server: 2026-11-27T22:00", metavar="TIME"),
        option("tables", "tables whose rows are counted on the copy", metavar="A,B"),
        option("memory", "SGA of the auxiliary instance (default 2G)", metavar="2G"),
        option("out", "folder for the scripts; otherwise they are printed", metavar="DIR"),
        *(one for one in OUTPUT if one.name != "store"),
    ]
    add_command(
        restore, "script", _script, parameters,
        "Write scripts that restore or duplicate an Oracle database elsewhere; nothing is run.",
        ("dbatk restore script -t orcl --name AUX --destination /scratch/aux",
         "dbatk restore script -t orcl --name AUX --destination /scratch/aux --form restore --out scripts"),
    )  # fmt: skip


def _script(arguments: Arguments) -> int:
    from toolkit.app.auxiliaries import prepare_copy
    from toolkit.cli.launch import reach
    from toolkit.units import byte_size

    wanted = _wanted(arguments)
    tables = tuple(name.strip() for name in (arguments.text("tables") or "").split(",") if name.strip())
    resolved = reach(arguments.text("target"))
    try:
        found = prepare_copy(resolved.target, wanted, tables)
    finally:
        resolved.target.close()
    said = [*(f"warning: {each}" for each in found.sentences),
            f"the copy takes about {byte_size(found.needs_bytes)} in {wanted.folder}"]  # fmt: skip
    more = {"needs_bytes": found.needs_bytes, "warnings": list(found.sentences)}
    return hand_over(arguments, found.texts, found.steps, said, more)


def hand_over(
    arguments: Arguments,
    texts: Mapping[str, str],
    steps: Sequence[str],
    said: Iterable[str],
    more: Mapping[str, object],
) -> int:
    """Write scripts into the folder that was asked for, or print them, and list the steps to take.

    Args:
        arguments: `--out` and `--json` of them.
        texts: the scripts by name.
        steps: what is done by hand, in order.
        said: sentences beside them.
        more: what the document has besides scripts and steps.
    """
    from toolkit.app.auxiliaries import write_scripts

    folder = arguments.text("out")
    if folder is not None:
        write_scripts(texts, Path(folder))
    if arguments.flag("json"):
        out_json({"scripts": dict(texts), "steps": list(steps), **more})
        return ExitCode.DONE
    for sentence in said:
        say(sentence)
    for name, text in texts.items() if folder is None else ():
        out_raw(plain(f"-- ==== {name}\n{text}"))
    for number, step in enumerate(steps, start=1):
        out(f"{number}. {step}")
    return ExitCode.DONE


def _wanted(arguments: Arguments) -> AuxiliaryRequest:
    from toolkit.dialects.auxiliaries import AuxiliaryRequest
    from toolkit.units import parse_bytes

    name, folder = arguments.text("name"), arguments.text("destination")
    for flag, value in (("name", name), ("destination", folder)):
        if value is None:
            raise ToolkitError(
                f"a copy needs `--{flag}`",
                code="TK-0107",
                hint="as in `dbatk restore script -t orcl --name AUX --destination /scratch/aux`",
            )
    channels = arguments.number("channels") or 1
    if not 1 <= channels <= _MOST_CHANNELS:
        raise ToolkitError(
            f"`--channels` cannot be {channels}", code="TK-0102", hint=f"give 1 to {_MOST_CHANNELS}"
        )
    return AuxiliaryRequest(
        CopyForm(arguments.text("form") or CopyForm.DUPLICATE), str(name),
        re.sub(r"(?<=.)/+$", "", str(folder)), channels,
        _until(arguments.text("until")), memory_bytes=parse_bytes(arguments.text("memory") or "2G"),
    )  # fmt: skip


def _until(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is not None:
        raise ToolkitError(
            f"`{text[:40]}` is no instant of the server",
            code="TK-0102",
            hint="as in `--until 2026-11-27T22:00`, in the server's own time",
        )
    return f"{instant:%Y-%m-%d %H:%M:%S}"
