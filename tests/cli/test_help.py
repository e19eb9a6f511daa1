"""Help: every command shows its options, and asking for it loads nothing heavy."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest
import typer

from tests.cli.conftest import Dbatk
from tests.for_each import for_each
from toolkit.cli.help import continued, examples_of
from toolkit.cli.main import build_app
from toolkit.model.operations import declaration, operations, options_of
from toolkit.model.options import Option, OptionKind, Topic
from toolkit.model.words import OperationName

HEAVY = (
    "sqlalchemy", "numpy", "jinja2", "duckdb", "oracledb", "psycopg", "psutil", "keyring", "rich",
    "platformdirs", "tomli_w", "toolkit.app", "toolkit.store", "toolkit.analysis", "toolkit.report",
    "toolkit.targets", "toolkit.dialects", "toolkit.runner", "toolkit.operations.base",
)  # fmt: skip


ROOT = typer.main.get_command(build_app())


def commands() -> Iterator[tuple[tuple[str, ...], object]]:
    def walk(command: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
        inner = getattr(command, "commands", None)
        if inner is None:
            yield path, command
        for name, one in (inner or {}).items():
            if not one.hidden:
                yield from walk(one, (*path, name))

    return walk(ROOT, ())


COMMANDS = list(commands())


JARGON = re.compile(r"\b(cells?|told|tells?|untold|anew|ours|dress\w*|somebody|at the begin)\b")


@for_each(("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
def test_help_has_no_word_that_only_this_house_uses(path: tuple[str, ...], command: object, dbatk: Dbatk) -> None:
    assert JARGON.findall(dbatk(*path, "--help").out) == []


def test_a_group_of_several_commands_does_not_have_the_help_of_one_of_them() -> None:
    for name, group in ROOT.commands.items():  # type: ignore[attr-defined]
        inner = getattr(group, "commands", {}).values()
        assert len(inner) < 2 or group.help not in {one.help for one in inner}, name


def test_the_first_help_is_shown_without_the_parameters_of_all_commands(dbatk: Dbatk) -> None:
    code = """
import sys, typer.main
from toolkit.cli.main import main
made, make = [], typer.main.get_click_param
typer.main.get_click_param = lambda given: made.append(given) or make(given)
main(["--help"])
print(len(made), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == dbatk("--help").out
    assert int(done.stderr) < 10


def test_every_command_of_the_documentation_is_there() -> None:
    of_operations = {" ".join(one.command) for one in operations().values()}
    assert {" ".join(path) for path, _ in COMMANDS} - of_operations == {
        "demo", "run", "runs list", "advise", "noise", "import", "verify", "ceiling",
        "environment show", "environment diff",
        "runs show", "runs resume", "runs delete", "runs export", "compare", "report", "doctor", "target add",
        "target list", "target test", "target remove", "clean", "error", "export", "ingest",
        "backup read", "datapump read", "restore script", "table redefine",
        "awr show", "awr trend", "awr fetch", "snapshot take", "snapshot list",
        "plan show", "plan approve", "plan revoke", "plan report", "plan history", "audit list", "audit verify",
        "plan schedule add", "plan schedule list", "plan schedule remove",
        "plan notify test", "plan notify digest",
    }  # fmt: skip


@for_each(("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
def test_help_shows_every_option_with_a_sentence(path: tuple[str, ...], command: object, dbatk: Dbatk) -> None:
    answer = dbatk(*path, "--help")
    assert (answer.status, answer.err) == (0, "")
    assert all(len(line) <= 80 for line in answer.out.splitlines())
    for parameter in command.params:  # type: ignore[attr-defined]
        assert parameter.help, parameter.name
        for flag in parameter.opts:
            assert flag in answer.out or parameter.param_type_name == "argument"
    assert "--json" in answer.out
    assert "--debug" in answer.out


def _shown_as(option: Option) -> str:
    words = {OptionKind.ARGUMENTS: "PROGRAM [ARGUMENT]...", OptionKind.FILES: "FILE...", OptionKind.JOBS: "FILE"}
    return words.get(option.kind, f"{option.flag} ")


@for_each("operation", operations())
def test_operations_take_exactly_what_is_declared(operation: OperationName, dbatk: Dbatk) -> None:
    path = ["backup", "run"] if operation == "backup" else operation.split("-")
    shown = dbatk(*path, "--help").out
    for option in options_of(operation):
        assert _shown_as(option) in shown


@for_each(("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
def test_help_has_two_examples_that_the_parser_takes(path: tuple[str, ...], command: object, dbatk: Dbatk) -> None:
    examples = examples_of(command, f"dbatk {' '.join(path)}")  # type: ignore[arg-type]
    assert len(examples) == 2
    shown = dbatk(*path, "-h").out
    for example in examples:
        assert continued(example, 78) in shown
        program, *words = shlex.split(example)
        assert program == "dbatk"
        context = ROOT.make_context("dbatk", list(words))
        while words:
            in_full = getattr(context.command, "in_full", list)
            name, inner, words = context.command.resolve_command(context, in_full(words))
            context = inner.make_context(name, list(words), parent=context)
            if not hasattr(inner, "commands"):
                break
        assert (context.command.name, inner.name) == (path[-1], path[-1]), example


@pytest.mark.parametrize("width", [60, 80, 132, 200])
@pytest.mark.parametrize(
    "path",
    [(), ("ctas",), ("backup", "run"), ("index", "build"), ("plan",), ("plan", "schedule")],
    ids=" ".join,
)
def test_help_uses_the_width_of_the_terminal_and_breaks_no_word(
    path: tuple[str, ...], width: int, dbatk: Dbatk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    words = set(dbatk(*path, "-h").out.split())
    monkeypatch.setenv("COLUMNS", str(width))
    lines = dbatk(*path, "-h").out.splitlines()
    assert set(" ".join(lines).split()) - {"\\"} == words
    longest = max(map(len, lines))
    assert longest <= width
    assert longest > min(width, 110) * 0.8 or path[:1] == ("plan",), "which has only short sentences"


@pytest.mark.parametrize("width", [40, 60, 80])
def test_an_example_over_several_lines_is_the_same_to_a_shell(width: int) -> None:
    examples = [one for path, command in COMMANDS for one in examples_of(command, f"dbatk {' '.join(path)}")]  # type: ignore[arg-type]
    shown = [continued(one, width - 2) for one in examples]
    words = max(len(word) for one in examples for word in re.findall(r"'[^']*'|\S+", one))
    assert max(len(line) for one in shown for line in one.splitlines()) <= max(width, words + 8)
    script = "dbatk() { printf '%s\\n' \"$@\"; }\n" + "\n".join(shown)
    ran = subprocess.run(
        ["/bin/sh", "-c", script], env={"HOME": "~"}, check=True, capture_output=True, text=True, timeout=60
    )
    assert ran.stdout.splitlines() == [word for one in examples for word in shlex.split(one)[1:]]


def test_the_first_screen_has_each_command_once_under_what_it_is_for(dbatk: Dbatk) -> None:
    shown = dbatk("--help").out
    assert "..." not in shown.partition("To try it:")[2]
    listed = re.findall(r"^  (\w+)  +[A-Z]", shown, re.MULTILINE)
    named = ROOT.commands.items()  # type: ignore[attr-defined]
    assert sorted(listed) == sorted(name for name, one in named if not one.hidden)
    for title, own in type(ROOT).topics.items():  # type: ignore[attr-defined]
        under = re.search(rf"^{title}:\n((?:  .*\n)+)", shown, re.MULTILINE)
        assert under is not None
        assert set(own) <= set(re.findall(r"^  (\w+)", under[1], re.MULTILINE))


def test_help_shows_what_the_engine_of_the_target_has(dbatk: Dbatk) -> None:
    whole = dbatk("backup", "run", "--help").out
    assert "Only on oracle:" in whole
    for words in (["-t", "duckdb:///x.duckdb", "-h"], ["-h", "--target=duckdb:///x.duckdb"]):
        shown = dbatk("backup", "run", *words).out
        ours, _, theirs = shown.partition("Not on duckdb:")
        assert "Only on" not in shown
        assert "--scope" in theirs and "--scope" not in ours
        assert "--compression-level" in ours and "--compression-level" not in theirs
        assert "(none, snappy, gzip, zstd, lz4, brotli)" in " ".join(ours.split())
    assert dbatk("backup", "run", "-t", "nosuchprofile", "-h").out == whole
    assert dbatk("backup", "run", "-t", "nosuch://x", "-h").out == whole


@for_each("operation", operations())
def test_the_first_screen_of_help_is_enough_for_the_common_job(operation: OperationName, dbatk: Dbatk) -> None:
    declared = declaration(operation)
    first = "\n".join(dbatk(*declared.command, "-h").out.splitlines()[:32])
    named = {declared.degree, *declared.common, *(name for names in declared.required for name in names)}
    assert all(_shown_as(one) in first for one in options_of(operation) if one.name in named)
    assert "required" in first and "Examples:" in first and "--target" in first
    assert all(f"{flag} " in first for flag in ("--dry-run", "--repeat", "--label", "--not-production"))


def test_an_option_is_described_as_what_it_is_for_the_command() -> None:
    said = {
        (operation, one.name): one.help for operation in operations() for one in options_of(operation)
        if one.name in ("table", "columns", "schema")
    }  # fmt: skip
    loads = {("ctas", "columns"), ("insert", "columns")}
    others = [help for where, help in said.items() if where not in loads]
    assert len(set(others)) == len(others)
    assert not any(re.search("index|statistics", said[where]) for where in (*loads, ("ctas", "table")))


@for_each(("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
def test_what_consents_stands_under_safety(path: tuple[str, ...], command: object, dbatk: Dbatk) -> None:
    del dbatk
    consents = re.compile("--(allow-(?!exit).*|production|not-production|approved-only)")
    for name, one in command.declared.items():  # type: ignore[attr-defined]
        flags = next(each.opts for each in command.params if each.name == name)  # type: ignore[attr-defined]
        if any(map(consents.fullmatch, flags)):
            assert one.topic is Topic.SAFETY, (path, flags)


def test_a_target_is_marked_required_where_nothing_can_be_done_without_it(dbatk: Dbatk) -> None:
    words = {"awr fetch": ["1-2"], "snapshot take": ["a"], "clean": [], "doctor": []}
    for path, rest in words.items():
        refused = dbatk(*path.split(), *rest)
        assert (refused.status, "no target was given" in refused.err) == (2, True), refused.err
        shown = " ".join(dbatk(*path.split(), "-h").out.split())
        assert "profile name or URL of the database (required)" in shown, path


@for_each("group", [(), ("index",), ("stats",), ("runs",), ("target",), ("plan",)])
def test_a_bare_group_shows_its_help(group: tuple[str, ...], dbatk: Dbatk) -> None:
    answer = dbatk(*group)
    assert answer.status == 0
    assert ("Commands:" if group else "Results:") in answer.out


@pytest.mark.thin(2)
@pytest.mark.parametrize("arguments", [["--help"], ["ctas", "--help"], ["--version"], ["runs", "list", "--lmit"]])
def test_help_and_usage_errors_load_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys; from toolkit.cli.main import main; main(sys.argv[1:]);"
        f"print('LOADED', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED []"


def test_the_parser_loads_no_checker_of_its_own() -> None:
    # pydantic takes a tenth of a second; typer loads it from 0.29 on, before each command
    program = (
        "import sys; from toolkit.cli.main import main; main(['ctas', '-h']); print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_importing_the_package_loads_nothing() -> None:
    program = f"import sys, toolkit; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_words_and_releases_are_shown_of_the_engine_alone(dbatk: Dbatk) -> None:
    def shown(*words: str) -> str:
        return " ".join(dbatk("ctas", *words, "-h").out.split())

    assert "or 1..64x2 (oracle: default, auto)" in shown()
    assert "or 1..64x2 (or default, auto)" in shown("-t", "oracle://a@b/c")
    assert "assume this release, as in 19-ee" in shown("-t", "oracle://a@b/c")
    for url, release in (("duckdb:///x.duckdb", "2.0"), ("postgresql://a@b/c", "17")):
        own = shown("-t", url)
        assert "default, auto" not in own and "19-ee" not in own
        assert f"assume this release, as in {release}" in own
