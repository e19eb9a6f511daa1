"""Help: every command shows its options, and asking for it loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
import typer

from tests.cli.conftest import Dbatk
from toolkit.cli.main import build_app
from toolkit.model.operations import operations, options_of
from toolkit.model.words import OperationName

HEAVY = (
    "sqlalchemy", "numpy", "jinja2", "duckdb", "oracledb", "psycopg", "psutil", "keyring", "rich",
    "platformdirs", "tomli_w", "toolkit.app", "toolkit.store", "toolkit.analysis", "toolkit.report",
    "toolkit.targets", "toolkit.dialects", "toolkit.runner", "toolkit.operations.base",
)  # fmt: skip


def commands() -> Iterator[tuple[tuple[str, ...], object]]:
    def walk(command: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
        inner = getattr(command, "commands", None)
        if inner is None:
            yield path, command
        for name, one in (inner or {}).items():
            if not one.hidden:
                yield from walk(one, (*path, name))

    return walk(typer.main.get_command(build_app()), ())


COMMANDS = list(commands())


def test_every_command_of_the_documentation_is_there() -> None:
    of_operations = {" ".join(one.command) for one in operations().values()}
    assert {" ".join(path) for path, _ in COMMANDS} - of_operations == {
        "demo", "run", "runs list",
        "runs show", "runs resume", "runs delete", "runs export", "compare", "report", "doctor", "target add",
        "target list", "target test", "target remove", "clean", "error", "export", "ingest",
        "backup read",
        "awr show", "awr trend", "awr fetch", "snapshot take", "snapshot list",
        "plan show", "plan approve", "plan report", "plan history", "audit list", "audit verify",
        "plan schedule add", "plan schedule list", "plan schedule remove",
        "plan notify test", "plan notify digest",
    }  # fmt: skip


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
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


@pytest.mark.parametrize("operation", operations())
def test_operations_take_exactly_what_is_declared(operation: OperationName, dbatk: Dbatk) -> None:
    path = ["backup", "run"] if operation == "backup" else operation.split("-")
    shown = dbatk(*path, "--help").out
    for option in options_of(operation):
        assert f"{option.flag} " in shown


@pytest.mark.parametrize("group", [(), ("index",), ("stats",), ("runs",), ("target",), ("plan",)])
def test_a_bare_group_shows_its_help(group: tuple[str, ...], dbatk: Dbatk) -> None:
    answer = dbatk(*group)
    assert answer.status == 0
    assert "Commands:" in answer.out


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
