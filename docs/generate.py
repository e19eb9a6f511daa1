"""Write docs/reference from the program itself: commands, options, errors, scripts.

    python docs/generate.py          writes the pages
    python docs/generate.py --check  only says which differ; exit 1 when one does

What stands in declarations is not written twice: the pages follow the command tree, the options, the catalogue
of errors and the headers of the scripts. A test holds that the pages committed are the pages generated.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from toolkit.cli.main import build_app
from toolkit.design.build import SNAPSHOTS
from toolkit.design.options import OPTIONS, Option
from toolkit.errors import CATALOGUE, ErrorEntry, ExitCode
from toolkit.model.words import EngineName, OperationName

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs/reference"
_MADE = "<!-- made by docs/generate.py: change the declarations, not this page -->"
_EXIT = {
    ExitCode.DONE: "done",
    ExitCode.FAILED: "failed",
    ExitCode.USAGE: "wrong usage or bad input; nothing was changed",
    ExitCode.INCOMPLETE: "ended, but something did not end ok: failed, downgraded, unsupported or interrupted",
    ExitCode.DIFFERENCE: "`compare --fail-if` found the difference",
    ExitCode.REFUSED: "refused by a guard: licence, production, lease, space",
    ExitCode.INTERRUPTED: "interrupted by a signal",
}
_HEADER = ("Title", "Needs", "License", "Effect", "Params", "Versions")


def pages() -> dict[str, str]:
    """Return the pages by file name."""
    return {
        "cli.md": "\n".join(cli_page()),
        "options.md": "\n".join(options_page()),
        "errors.md": "\n".join(errors_page()),
        "scripts.md": "\n".join(scripts_page()),
    }


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table in markdown; a bar inside a cell is escaped."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
    yield ""


Parameter = TyperOption | TyperArgument


def commands() -> Iterator[tuple[str, TyperCommand]]:
    """Yield every command with its full name, `dbatk index build`, in the order of help."""

    def walk(name: str, command: object) -> Iterator[tuple[str, TyperCommand]]:
        if isinstance(command, TyperCommand) and not command.hidden:
            yield name, command
        elif isinstance(command, TyperGroup):
            for part, child in command.commands.items():
                yield from walk(f"{name} {part}", child)

    yield from walk("dbatk", typer.main.get_command(build_app()))


def parameters(command: TyperCommand) -> list[Parameter]:
    """Return what a command takes, in the order of its help."""
    return [one for one in command.params if isinstance(one, Parameter) and not one.hidden]


def cli_page() -> Iterator[str]:
    """Yield the page of the commands."""
    yield from (_MADE, "# Commands", "")
    yield "Every command takes `--help`. Names of options may not be shortened. What an option of an operation"
    yield "means on which engine stands in [options.md](options.md)."
    yield ""
    yield from table(("exit", "means"), [(str(code.value), text) for code, text in _EXIT.items()])
    for name, command in commands():
        yield from _command(name, command)


def _command(name: str, command: TyperCommand) -> Iterator[str]:
    takes = parameters(command)
    arguments = [_argument(one) for one in takes if isinstance(one, TyperArgument)]
    usage = " ".join([name, *arguments, "[OPTIONS]"])
    yield from (f"## {name}", "", (command.help or "").strip(), "", "```text", usage, "```", "")
    if takes:
        yield from table(("option", "meaning"), [(f"`{_spelling(one)}`", one.help or "") for one in takes])


def _argument(one: TyperArgument) -> str:
    shown = one.metavar or (one.name or "").upper()
    return f"{shown}..." if one.nargs == -1 and not shown.endswith("...") else shown


def _spelling(one: Parameter) -> str:
    if isinstance(one, TyperArgument):
        return _argument(one)
    flags = ", ".join((*one.opts, *one.secondary_opts))
    return flags if one.is_flag else f"{flags} {one.metavar or 'TEXT'}"


def options_page() -> Iterator[str]:
    """Yield the page of the options of operations."""
    yield from (_MADE, "# Options of the operations", "")
    yield "The flag is used on the command line, the key in an experiment file. *Sweep* means that it takes"
    yield "several levels (`--degree 1,2,4`, `degree = [1, 2, 4]`): then it is a factor, the run a measurement."
    yield ""
    for operation in OperationName:
        yield from (f"## {operation}", "")
        own = [one for one in OPTIONS if operation in one.operations]
        yield from table(("flag", "key", "sweep", "engines", "values", "meaning"), map(_option, own))
    yield from ("## Snapshots", "", "`--snapshot` takes " + ", ".join(f"`{one}`" for one in SNAPSHOTS) + ".", "")


def _option(one: Option) -> tuple[str, ...]:
    engines = "all" if one.engines == frozenset(EngineName) else ", ".join(sorted(one.engines))
    return (f"`{one.flag}`", f"`{one.key}`", "yes" if one.factor else "", engines, _values(one), one.help)


def _values(one: Option) -> str:
    limits = [f"{one.low:g} to {one.high:g}"] if one.low is not None and one.high is not None else []
    unit = [one.unit] if one.unit and limits else []
    words = [f"`{word}`" for word in (*one.choices, *one.words)]
    return ", ".join([" ".join(limits + unit), *words] if limits else words) or str(one.kind)


def errors_page() -> Iterator[str]:
    """Yield the page of the errors."""
    yield from (_MADE, "# Errors", "")
    yield "Every error is one sentence, a hint and a code. The database's own code (`ORA-01652`, SQLSTATE `53100`)"
    yield "stands in the sentence where there is one. With `--json` the error is a document on standard output."
    yield ""
    for code in sorted(CATALOGUE):
        yield from _error(CATALOGUE[code])


def _error(entry: ErrorEntry) -> Iterator[str]:
    yield from (f"## {entry.code} {entry.title}", "")
    yield f"- Cause: {entry.cause}"
    yield f"- Action: {entry.action}"
    yield f"- Exit code: {entry.exit_code.value}, {_EXIT[entry.exit_code]}"
    yield ""


def header(path: Path) -> dict[str, str]:
    """Read the header a script opens with."""
    opening = re.findall(r"^-- (\w+): (.*)$", path.read_text(encoding="utf-8")[:4000], re.MULTILINE)
    return {key: text.strip() for key, text in opening if key in _HEADER}


def scripts_page() -> Iterator[str]:
    """Yield the index of the scripts, made from their headers."""
    yield from (_MADE, "# Scripts", "")
    yield "Plain scripts (`sql/`) also run by hand in SQL*Plus, psql or the DuckDB shell; `:name` is a parameter."
    yield "Templates (`templates/`) are rendered; `--dry-run` shows the result."
    yield ""
    for folder, ending in (("sql", "*.sql"), ("templates", "*.sql.j2")):
        for engine in EngineName:
            found = sorted((ROOT / folder / engine).glob(ending))
            if found:
                yield from (f"## {folder}/{engine}", "")
                yield from table(("script", *map(str.lower, _HEADER)), map(_script, found))


def _script(path: Path) -> tuple[str, ...]:
    found = header(path)
    return (f"`{path.name}`", *(found.get(key, "") for key in _HEADER))


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or with `--check` name those that differ."""
    differ = []
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        path = REFERENCE / name
        new = text.rstrip("\n") + "\n"
        if path.is_file() and path.read_text(encoding="utf-8") == new:
            continue
        differ.append(name)
        if "--check" not in arguments:
            path.write_text(new, encoding="utf-8")
    sys.stdout.write("".join(f"docs/reference/{name}\n" for name in differ))
    return 1 if differ and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
