"""`table redefine`: scripts that redefine a table while others change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from toolkit.cli.parameters import OUTPUT, TARGET, Arguments, add_command, assume_option, option
from toolkit.cli.restoring import hand_over
from toolkit.errors import ToolkitError

if TYPE_CHECKING:
    from toolkit.app.redefinitions import RedefinitionScripts
    from toolkit.dialects.redefinitions import RedefinitionRequest
    from toolkit.model.words import EngineName

_LEVELS = ("none", "basic", "oltp", "advanced", "query_low", "query_high", "archive_low", "archive_high")
_BY = ("key", "rowid")
_MOST_SERVERS, _LONGEST_WAIT = 1024, 1_000_000


def add_redefine(table: typer.Typer) -> None:
    """Add the command of the group that is no operation."""
    parameters = [
        TARGET,
        option("table", "table to redefine (required)", metavar="NAME"),
        option("partition_by", "how it is partitioned afterwards: its clause, or none", metavar="CLAUSE"),
        option(
            "compression", "compression of the new table (default: as it is)", metavar="LEVEL", choices=_LEVELS
        ),
        option("tablespace", "tablespace of the new table (default: as it is)", metavar="NAME"),
        option("degree", "parallel servers that copy the rows (default 1)", kind=int, metavar="N"),
        option("lock_wait", "how long the last step waits for changes of others (default 60s)", metavar="TIME"),
        option("by", "how rows are found again (default: the key where there is one)", metavar="WAY", choices=_BY),
        option("interim", "name of the interim table (default: that of the table with _REDEF)", metavar="NAME"),
        option("out", "folder for the scripts; otherwise they are printed", metavar="DIR"),
        option("dry_run", "print the scripts without writing a file", kind=bool),
        assume_option("with --dry-run: do not connect; assume this release, and stand-ins for the columns"),
        *(one for one in OUTPUT if one.name != "store"),
    ]
    add_command(
        table, "redefine", _redefine, parameters,
        "Write scripts that redefine an Oracle table while others change it; nothing is run.",
        ("dbatk table redefine -t orcl --table SHOP.ORDERS --compression basic --degree 4",
         "dbatk table redefine -t orcl --table ORDERS --partition-by 'PARTITION BY HASH (ID) PARTITIONS 16'"),
    )  # fmt: skip


def _redefine(arguments: Arguments) -> int:
    _check(arguments)
    found = _found(arguments)
    said = (*found.licences, *(f"warning: {each}" for each in found.sentences))
    more = {"licences": list(found.licences), "warnings": list(found.sentences)}
    return hand_over(arguments, found.texts, found.steps, said, more)


def _found(arguments: Arguments) -> RedefinitionScripts:
    from toolkit.app.redefinitions import assumed_redefinition, prepare_redefinition, redefinition_of
    from toolkit.cli.launch import named_or_assumed, reach, unreached

    release = arguments.text("assume")
    if release is not None:
        engine, policy = unreached(named_or_assumed(arguments), release)
        redefinition_of(engine)
        return assumed_redefinition(engine, release, policy, _wanted(arguments, engine))
    resolved = reach(arguments.text("target"))
    try:
        redefinition_of(resolved.target.engine)
        wanted = _wanted(arguments, resolved.target.engine)
        return prepare_redefinition(resolved.target, resolved.policy, wanted)
    finally:
        resolved.target.close()


def _check(arguments: Arguments) -> None:
    """Refuse what is wrong on any target, before one is reached."""
    from toolkit.cli.launch import check_script_options

    check_script_options(arguments)
    if arguments.flag("dry_run") and "out" in arguments:
        raise ToolkitError(
            "`--out` writes files, and `--dry-run` writes none", code="TK-0107", hint="use only one of them"
        )
    if arguments.text("table") is None:
        raise ToolkitError(
            "a redefinition needs `--table`",
            code="TK-0107",
            hint="as in `dbatk table redefine -t orcl --table SHOP.ORDERS --compression basic`",
        )
    for flag, choices in (("compression", _LEVELS), ("by", _BY)):
        given = arguments.text(flag)
        if given is not None and given not in choices:
            raise ToolkitError(
                f"`--{flag}` cannot be `{given[:40]}`", code="TK-0102", hint=f"give {', '.join(choices)}"
            )
    degree = arguments.number("degree")
    if degree is not None and not 1 <= degree <= _MOST_SERVERS:
        raise ToolkitError(f"`--degree` cannot be {degree}", code="TK-0102", hint=f"give 1 to {_MOST_SERVERS}")


def _wanted(arguments: Arguments, name: EngineName) -> RedefinitionRequest:
    from toolkit.design.user_sql import check_partitioning
    from toolkit.dialects.redefinitions import RedefinitionRequest, RowIdentity
    from toolkit.dialects.registry import dialect_of

    clause, by = arguments.text("partition_by"), arguments.text("by")
    if clause is not None:
        clause = "" if clause.strip().lower() == "none" else check_partitioning(clause, name)
    return RedefinitionRequest(
        dialect_of(name).parse_name(str(arguments.text("table"))),
        clause,
        arguments.text("compression"),
        arguments.text("tablespace"),
        arguments.number("degree") or 1,
        _wait(arguments.text("lock_wait")),
        RowIdentity(by) if by else None,
        arguments.text("interim"),
    )


def _wait(text: str | None) -> int:
    from toolkit.units import parse_duration

    seconds = 60 if text is None else round(parse_duration(text))
    if not 0 <= seconds <= _LONGEST_WAIT:
        raise ToolkitError(
            f"`--lock-wait` cannot be {seconds} s", code="TK-0102", hint=f"give 0 to {_LONGEST_WAIT:,} seconds"
        )
    return seconds
