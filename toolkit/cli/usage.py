"""What cannot be read of a command line: the parser's errors as a sentence, with what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import typer

from toolkit.errors import ToolkitError

_STOP = "Ctrl-C where it runs, or `kill -INT` with the number of its process: what it began is put back"
_REPLACED = {
    "dbatk awr diff": "`dbatk compare A B`",
    "dbatk snapshot diff": "`dbatk compare A B`",
    "dbatk account": "`dbatk plan report`",
    "dbatk history": "`dbatk plan history`",
    "dbatk plan run": "`dbatk run FILE`",
    "dbatk plan check": "`dbatk plan show FILE`",
    "dbatk help": "`dbatk --help`",
    "dbatk version": "`dbatk --version`",
    "dbatk status": "`dbatk runs list`",
    "dbatk log": "`dbatk runs show last`",
    "dbatk diff": "`dbatk compare A B`",
    "dbatk explain": "`--dry-run` behind a command: it prints the script and runs nothing",
    "dbatk cron": "`dbatk plan schedule add PLAN`",
    "dbatk connect": "`dbatk target test NAME`",
    "dbatk delete": "`dbatk purge --table T --where ...` for rows, `dbatk runs delete` for runs",
    "dbatk update": "`dbatk purge --table T --where ... --set 'COLUMN = EXPRESSION'`",
    "dbatk change": "`dbatk purge --table T --where ... --set 'COLUMN = EXPRESSION'`",
    "dbatk archive": "`dbatk purge --table T --where ... --archive-to NAME`",
    "dbatk drop": "the database's own client for objects of yours, `dbatk clean` for what a run left behind",
    "dbatk stop": _STOP,
    "dbatk kill": _STOP,
    "dbatk cancel": _STOP,
    # other programs, and what is typed in them
    "dbatk sqlplus": "`dbatk target test NAME` to try a connection, `dbatk command -- sqlplus ...` to run it",
    "dbatk psql": "`dbatk target test NAME` to try a connection, `dbatk command -- psql ...` to run it",
    "dbatk rman": "`dbatk backup run`, `dbatk backup read LOG` or `dbatk backup report`",
    "dbatk expdp": "`dbatk datapump export`",
    "dbatk exp": "`dbatk datapump export`",
    "dbatk impdp": "`dbatk datapump import`",
    "dbatk imp": "`dbatk datapump import`",
    "dbatk sqlldr": "`dbatk load FILE`",
    "dbatk copy": "`dbatk load FILE`",
    "dbatk pgbench": "`dbatk workload`",
    "dbatk pgbackrest": "`dbatk backup run --method pgbackrest`",
    "dbatk pg_basebackup": "`dbatk backup run`",
    "dbatk pg_dump": "`dbatk backup run --method pg_dump`",
    "dbatk pg_restore": "`dbatk restore try`",
    "dbatk pg_repack": "`dbatk table move --method pg_repack`",
    "dbatk vacuumdb": "`dbatk vacuum`",
    "dbatk reindexdb": "`dbatk index rebuild`",
    "dbatk reindex": "`dbatk index rebuild`",
    "dbatk analyze": "`dbatk stats gather`",
    "dbatk gather_schema_stats": "`dbatk stats gather --schema NAME`",
    "dbatk gather_table_stats": "`dbatk stats gather --table NAME`",
    "dbatk awrrpt": "`dbatk awr fetch 101-104`",
    "dbatk awr report": "`dbatk awr show FILE`, `dbatk awr fetch 101-104`",
    "dbatk crosscheck": "`dbatk backup report --crosscheck`",
    "dbatk recover": "`dbatk restore try`",
    "dbatk validate": "`dbatk restore try` for a backup, `dbatk constraint validate` for a table",
    "dbatk backup database": "`dbatk backup run`",
    "dbatk restore database": "`dbatk restore try`",
}
"""Commands of earlier releases, such as are expected elsewhere, and other programs; and what to use instead."""


def usage_error(caught: BaseException, app: typer.Typer, arguments: Sequence[str]) -> ToolkitError:
    """Return what the parser raised as one of our errors.

    Args:
        caught: the parser's error.
        app: the command line.
        arguments: as they were typed: some of the parser's errors do not say to which command they belong.
    """
    context = getattr(caught, "ctx", None)
    path = getattr(context, "command_path", None) or _path(app, arguments)
    hint = f"see `{path} --help`"
    word = getattr(caught, "option_name", None)
    if word and any("PROGRAM" in str(getattr(one, "metavar", "")) for one in _parameters(context)):
        hint = f"a program and its arguments follow `--`: `{path} -- PROGRAM ...`; {hint}"
    if word and type(caught).__name__ == "NoSuchOption":
        from toolkit.cli.habits import suggestion

        flags = _flags(context)
        meant = suggestion(str(word), flags, path)
        if meant:
            return ToolkitError(f"there is no option `{word}`", code="TK-0101", hint=f"{meant}; {hint}")
        if commands := tuple(_commands(context)):
            example = "doctor -t shop" if " " not in path else f"{commands[0]} {word} ..."
            hint = f"options of a command stand behind it: `{path} {example}`; {hint}"
        return _unknown(f"there is no option `{word}`", str(word), flags, hint)
    message = str(caught.format_message()) if hasattr(caught, "format_message") else str(caught)
    if message.startswith("No such command"):
        word = message.split("'")[1] if message.count("'") > 1 else ""
        within = [f"`{path} {group} {word}`" for group, names in _groups(context) if word in names]
        if use := _REPLACED.get(f"{path} {word.lower()}") or " or ".join(within):
            return ToolkitError(f"there is no command `{word}`", code="TK-0101", hint=f"use {use}")
        if "@" in word and " " not in path:
            hint = f"a command comes first, and the database behind it: `{path} doctor -t NAME|URL`; {hint}"
        return _unknown(f"there is no command `{_shown(word)}`", word, _commands(context), hint)
    if surplus := _SURPLUS.search(message):
        typed = _as_typed(surplus[1], arguments)
        meant = _meant(surplus[1], typed, arguments, _flags(context), path)
        words = " ".join(map(_shown, typed))
        return ToolkitError(f"`{words}` is not expected here", code="TK-0102", hint=f"{meant}; {hint}")
    sentence = _WHOLE.sub("a whole number", message.strip().rstrip(".").replace("'", "`"))
    return ToolkitError(sentence[:1].lower() + sentence[1:], code="TK-0102", hint=hint)


def _meant(surplus: str, typed: Sequence[str], arguments: Sequence[str], flags: Sequence[str], path: str) -> str:
    """Say how words that no option takes are given here."""
    words, place = " ".join(map(_shown, typed)), arguments.index(typed[0]) if typed[0] in arguments else 0
    before = arguments[place - 1] if place else ""
    if before in flags:  # if it took a value, that would be the next word
        longer = next((each for each in flags if each.startswith(f"{before}-")), None)
        return f"`{before}` takes no value" + (f": did you mean `{longer} {words}`?" if longer else "")
    if named := _NAMED.match(surplus):
        return _named_habit(named[1], flags, path)
    target = "the target is named with `-t`; " if "--target" in flags else ""
    if _NAME.fullmatch(words) and (of := [flag for flag in _NAMING if flag in flags]):
        target = f"a name stands behind its option: {' or '.join(f'`{flag} {words}`' for flag in of)}; {target}"
    return f"{target}several values of an option are separated by commas, as in `1,2,4`"


def _path(app: typer.Typer, arguments: Sequence[str]) -> str:
    command, path = typer.main.get_command(app), "dbatk"
    for word in arguments:
        found = getattr(command, "commands", {}).get(word)
        if found is None:
            break
        command, path = found, f"{path} {word}"
    return path


def _as_typed(words: str, arguments: Sequence[str]) -> list[str]:
    """Return the arguments that the parser joined by blanks, which some of them may contain."""
    found = []
    for argument in arguments:
        if words == argument or words.startswith(f"{argument} "):
            found.append(argument)
            words = words[len(argument) + 1 :]
    return found + words.split()


def _shown(argument: str) -> str:
    """What may be shown of a misplaced argument: as sqlplus or libpq take it, it may hold a password."""
    if named := _NAMED.match(argument):
        return f"{named[1]}=..."
    is_path = argument.startswith(("/", "./", "../", "~")) or Path(argument).exists()
    return "..." if "@" in argument or ":" in argument or ("/" in argument and not is_path) else argument


def _unknown(sentence: str, word: str, known: Iterable[str], hint: str) -> ToolkitError:
    from toolkit.documents import nearest

    # Two dashes that all options have make none of them like another.
    bare = {one.lstrip("-"): one for one in known}
    begun = [one for one in bare if len(word) > len("--a") and one.startswith(word.lstrip("-"))]
    near = begun[0] if len(begun) == 1 else nearest(word.lstrip("-"), bare)
    return ToolkitError(sentence, code="TK-0101", hint=f"did you mean `{bare[near]}`? {hint}" if near else hint)


def _named_habit(name: str, flags: Iterable[str], path: str) -> str:
    """Say how a parameter that is given as expdp takes them is given here."""
    from toolkit.cli.habits import suggestion

    flag, known = f"--{name.lower().replace('_', '-')}", list(flags)
    return (
        None if flag in known else suggestion(flag, known, path)
    ) or f"options begin with two dashes: `{flag} ...`"


_NAMING = ("--table", "--index", "--schema")
_NAME = re.compile(r"[a-z_][\w$#]*", re.IGNORECASE)
_WHOLE = re.compile(r"a valid int(eger)?\b")
_NAMED = re.compile(r"([a-z_]+)=", re.IGNORECASE)
"""A parameter as expdp and sqlldr take it."""
_SURPLUS = re.compile(r"^Got unexpected extra arguments?(?:\(s\))? \((.*)\)$", re.DOTALL)


def _parameters(context: object) -> list[object]:
    return list(getattr(getattr(context, "command", None), "params", []))


def _flags(context: object) -> list[str]:
    return [
        flag
        for parameter in _parameters(context)
        for flag in getattr(parameter, "opts", [])
        if flag.startswith("--")
    ]


def _groups(context: object) -> Iterator[tuple[str, Collection[str]]]:
    """Yield the groups of commands that a command line shows, each with the names of its own."""
    for name, command in getattr(getattr(context, "command", None), "commands", {}).items():
        if not command.hidden:
            yield name, getattr(command, "commands", ())


def _commands(context: object) -> list[str]:
    return list(getattr(getattr(context, "command", None), "commands", {}))
