"""Write docs/reference and docs/errors from the program itself: commands, options, scripts, a page per code.

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
from toolkit.dialects.answers import Continuation, ErrorAdvice
from toolkit.dialects.duckdb import errors as duckdb
from toolkit.dialects.oracle import errors as oracle
from toolkit.dialects.postgresql import advice as postgresql
from toolkit.errors import CATALOGUE, ErrorEntry, ExitCode
from toolkit.model.engines import engines
from toolkit.model.operations import operations, options_of
from toolkit.model.options import Option

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
_MADE = "<!-- made by docs/generate.py: change the declarations, not this page -->"
_EXIT = {
    ExitCode.DONE: "done",
    ExitCode.FAILED: "failed",
    ExitCode.USAGE: "wrong usage or bad input; nothing was changed",
    ExitCode.INCOMPLETE: (
        "ended, but something did not end ok: failed, downgraded, unsupported or interrupted; "
        "`doctor` found a problem"
    ),
    ExitCode.DIFFERENCE: "`compare --fail-if` found the difference",
    ExitCode.REFUSED: "refused by a guard: licence, production, lease, space, approval",
    ExitCode.INTERRUPTED: "interrupted by a signal",
}
_GOES_ON = {Continuation.TRIAL: "the trial", Continuation.RUN: "the run", Continuation.NOTHING: "nothing"}
_SENTENCES = {
    Continuation.TRIAL: "it may pass; the same trial may be tried again",
    Continuation.RUN: "this trial fails; other trials may do",
    Continuation.NOTHING: "nothing until it is fixed: every trial would fail alike; the run ends after two cells",
}
_HEADER = ("Title", "Needs", "License", "Effect", "Params", "Versions")


def pages() -> dict[str, str]:
    """Return the pages by their path below docs."""
    return {
        "reference/cli.md": "\n".join(cli_page()),
        "reference/options.md": "\n".join(options_page()),
        "reference/scripts.md": "\n".join(scripts_page()),
        **error_pages(),
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
    for operation in operations():
        yield from (f"## {operation}", "")
        own = options_of(operation)
        yield from table(("flag", "key", "sweep", "engines", "values", "meaning"), map(_option, own))
    yield from ("## Snapshots", "", "`--snapshot` takes " + ", ".join(f"`{one}`" for one in SNAPSHOTS) + ".", "")


def _option(one: Option) -> tuple[str, ...]:
    where = ", ".join(sorted(one.engines)) or "all"
    return (f"`{one.flag}`", f"`{one.key}`", "yes" if one.factor else "", where, _values(one), one.help)


def _values(one: Option) -> str:
    limits = [f"{one.low:g} to {one.high:g}"] if one.low is not None and one.high is not None else []
    unit = [one.unit] if one.unit and limits else []
    words = [f"`{word}`" for word in (*one.choices, *one.words)]
    return ", ".join([" ".join(limits + unit), *words] if limits else words) or str(one.kind)


def error_pages() -> dict[str, str]:
    """Return the index of the errors, and a page per code of ours and of Oracle."""
    own = {f"errors/{entry.code}.md": "\n".join(_own_error(entry)) for entry in CATALOGUE.values()}
    alike: dict[tuple[str, str], list[str]] = {}
    for advice in oracle.catalogue().values():
        alike.setdefault((advice.meaning, advice.advice), []).append(advice.code)
    theirs = {
        f"errors/{advice.code}.md": "\n".join(_oracle_error(advice, alike[advice.meaning, advice.advice]))
        for advice in oracle.catalogue().values()
    }
    return {"errors/README.md": "\n".join(_errors_index()), **own, **theirs}


def _errors_index() -> Iterator[str]:
    yield from (_MADE, "# Errors", "")
    yield "Every error is one sentence, a hint and a code. The database's own code (`ORA-01652`, SQLSTATE `53100`)"
    yield "stands in the sentence where there is one. With `--json` the error is a document on standard output."
    yield "`dbatk error CODE` shows the same on a terminal."
    yield from ("", "## dbatk", "")
    own = sorted(CATALOGUE.values(), key=lambda entry: entry.code)
    yield from table(("code", "what happened"), [(_link(entry.code), entry.title) for entry in own])
    yield from ("## Oracle, its driver and RMAN", "")
    known = sorted(oracle.catalogue().values(), key=lambda advice: advice.code)
    yield from table(
        ("code", "means", "goes on"), [(_link(a.code), a.meaning, _GOES_ON[a.goes_on]) for a in known]
    )
    yield from ("## PostgreSQL", "")
    states = sorted(postgresql.ERRORS.values(), key=lambda advice: advice.code)
    yield from table(
        ("SQLSTATE", "means", "what to do", "goes on"),
        [(f"`{a.code}`", a.meaning, a.advice, _GOES_ON[a.goes_on]) for a in states],
    )
    yield from ("## DuckDB", "")
    yield from table(
        ("exception", "means", "what to do", "goes on"),
        [(f"`{a.code}`", a.meaning, a.advice, _GOES_ON[a.goes_on]) for a in duckdb.ERRORS.values()],
    )


def _link(code: str) -> str:
    return f"[{code}]({code}.md)"


def _own_error(entry: ErrorEntry) -> Iterator[str]:
    yield from (_MADE, f"# {entry.code}: {entry.title}", "")
    yield f"- Cause: {entry.cause}"
    yield f"- Action: {entry.action}"
    yield f"- Exit code: {entry.exit_code.value}, {_EXIT[entry.exit_code]}"
    yield ""


def _oracle_error(advice: ErrorAdvice, alike: Sequence[str]) -> Iterator[str]:
    yield from (_MADE, f"# {advice.code}", "")
    yield f"- Means here: {advice.meaning}"
    yield f"- What to do: {advice.advice}"
    yield f"- What goes on: {_SENTENCES[advice.goes_on]}"
    if advice.downgrade:
        yield "- A trial that ends so is `downgraded`: it has no time, and is shown as a result."
    others = [_link(code) for code in alike if code != advice.code]
    if others:
        yield f"- The same cause: {', '.join(others)}"
    if advice.code.startswith(("ORA-", "RMAN-")):
        yield f"- Oracle's own page: <https://docs.oracle.com/error-help/db/{advice.code.lower()}/>"
    yield ""


def header(path: Path) -> dict[str, str]:
    """Read the header a script opens with."""
    opening = re.findall(r"^(?:--|#) (\w+): (.*)$", path.read_text(encoding="utf-8")[:4000], re.MULTILINE)
    return {key: text.strip() for key, text in opening if key in _HEADER}


def scripts_page() -> Iterator[str]:
    """Yield the index of the scripts, made from their headers."""
    yield from (_MADE, "# Scripts", "")
    yield "Plain scripts (`sql/`) also run by hand in SQL*Plus, psql or the DuckDB shell; `:name` is a parameter."
    yield "Templates (`templates/`) are rendered; `--dry-run` shows the result."
    yield ""
    for folder, endings in (("sql", ("*.sql",)), ("templates", ("*.sql.j2", "*.rman.j2"))):
        for engine in engines():
            found = sorted(path for ending in endings for path in (ROOT / folder / engine).glob(ending))
            if found:
                yield from (f"## {folder}/{engine}", "")
                yield from table(("script", *map(str.lower, _HEADER)), map(_script, found))


def _script(path: Path) -> tuple[str, ...]:
    found = header(path)
    return (f"`{path.name}`", *(found.get(key, "") for key in _HEADER))


def stale(made: Iterable[str]) -> list[Path]:
    """Return pages that were made once and are made no more."""
    wanted = {DOCS / name for name in made}
    return [
        path for folder in ("reference", "errors") for path in (DOCS / folder).glob("*.md") if path not in wanted
    ]


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or with `--check` name those that differ."""
    differ = []
    made = pages()
    for name, text in made.items():
        path = DOCS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        new = text.rstrip("\n") + "\n"
        if path.is_file() and path.read_text(encoding="utf-8") == new:
            continue
        differ.append(name)
        if "--check" not in arguments:
            path.write_text(new, encoding="utf-8")
    for path in stale(made):
        differ.append(str(path.relative_to(DOCS)))
        if "--check" not in arguments:
            path.unlink()
    sys.stdout.write("".join(f"docs/{name}\n" for name in differ))
    return 1 if differ and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
