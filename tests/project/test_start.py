"""What a command needs to begin is loaded, and nothing large besides."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import typer

from tests.tiers import thinned
from toolkit.cli import main as command_line

_LOADED = "import json, sys; {imports}; print(json.dumps(list(sys.modules)))"


def loaded(imports: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED.format(imports=imports)], capture_output=True, text=True, check=True
    )
    return list(json.loads(done.stdout))


@pytest.mark.full
@pytest.mark.parametrize(
    "large", thinned(["toolkit.dialects.oracle.dialect", "toolkit.readers.rman", "toolkit.readers.awr"], 3)
)
def test_a_plan_begins_without_what_other_engines_need(large: str) -> None:
    names = loaded("import toolkit.cli.files, toolkit.app.maintenance.plan_run, toolkit.dialects.postgresql")
    assert [name for name in names if name.startswith(large)] == []


def test_the_command_line_is_shown_without_a_database_a_store_or_numbers() -> None:
    names = loaded("from toolkit.cli.main import build_app; build_app()")
    heavy = {"sqlalchemy", "numpy", "psycopg", "oracledb", "duckdb", "jinja2", "apprise"}
    assert heavy & set(names) == set()


def test_a_process_of_users_begins_without_what_only_a_run_needs() -> None:
    names = loaded("import toolkit.executors.users.process")
    of_runs = ("toolkit.dialects", "toolkit.rendering", "toolkit.executors.sessions", "toolkit.executors.keeping")
    assert [name for name in names if name.startswith((*of_runs, "jinja2"))] == []


OF_FILES = [("awr", "show"), ("awr", "trend"), ("awr", "fetch"), ("compare",), ("backup", "read")]
OF_THE_STORE = [("runs", "list"), ("runs", "show"), ("report",), ("plan", "history"), ("plan", "report")]


@pytest.mark.thin(3)
@pytest.mark.parametrize("words", OF_FILES, ids=" ".join)
def test_a_reader_of_files_begins_without_the_modules_of_other_commands(words: tuple[str, ...]) -> None:
    names = loaded(f"from toolkit.cli.main import build_app; build_app({[*words, 'FILE']!r})")
    assert [name for name in names if name.startswith(("toolkit.operations", "toolkit.model.plan"))] == []


OPERATIONS = [("ctas",), ("insert",), ("index", "rebuild"), ("stats", "gather"), ("load",), ("datapump", "export")]


@pytest.mark.thin(3)
@pytest.mark.parametrize("words", OPERATIONS, ids=" ".join)
def test_an_operation_begins_without_the_modules_of_other_commands(words: tuple[str, ...]) -> None:
    names = loaded(f"from toolkit.cli.main import build_app; build_app({[*words, '--table', 'T']!r})")
    others = ("audit", "doctor", "plan", "compare", "awr", "snapshots", "results")
    assert {f"toolkit.cli.{other}" for other in others} & set(names) == set()


@pytest.mark.thin(3)
@pytest.mark.parametrize("other", ["statistics", "datapump", "work.of_tables", "work.of_backup", "work.workload"])
def test_a_ctas_on_oracle_begins_without_the_implementations_of_other_operations(other: str) -> None:
    names = loaded("from toolkit.dialects.registry import dialect_of; dialect_of('oracle').work.of('ctas')")
    assert "toolkit.dialects.oracle.work.ctas" in names
    assert [name for name in names if name.startswith(f"toolkit.dialects.oracle.{other}")] == []


def command(app: typer.Typer, words: tuple[str, ...]) -> object:
    found = typer.main.get_group(app)
    for word in words:
        found = found.commands[word]
    return [(one.name, one.opts, one.required) for one in found.params], found.help


@pytest.mark.thin(4)
@pytest.mark.parametrize("words", [*OF_FILES, *OF_THE_STORE, *OPERATIONS], ids=" ".join)
def test_a_command_is_the_same_alone_and_among_all_commands(words: tuple[str, ...]) -> None:
    alone = typer.Typer()
    assert command_line._add_alone(alone, [*words, "FILE"])
    assert command(alone, words) == command(command_line.build_app(), words)


def test_no_command_is_lost_where_its_group_is_built_without_the_others() -> None:
    groups = {
        name: list(found.commands)
        for name, found in typer.main.get_group(command_line.build_app()).commands.items()
        if hasattr(found, "commands")
    }
    assert {"datapump", "backup", "runs"} <= groups.keys()
    for group, names in groups.items():
        for name in names:
            alone = typer.Typer()
            if command_line._add_alone(alone, [group, name]):
                assert name in _names(alone, group), f"dbatk {group} {name}"


def _names(app: typer.Typer, group: str) -> set[str]:
    (found,) = (each.typer_instance for each in app.registered_groups if each.name == group)
    assert found is not None
    return {str(each.name) for each in (*found.registered_commands, *found.registered_groups)}
