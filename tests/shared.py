"""What a process of tests computes once, though each test has a command line and a store of its own.

Nothing of it is state: the definition of the command line, what typer makes of it, compiled templates, and how
this host is set.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import WeakSet

import jinja2
import typer.main

from tests.tidy import run_folder
from toolkit import rendering
from toolkit.cli import main as command_line
from toolkit.dialects.base import Dialect
from toolkit.executors import host_environment
from toolkit.model.environment import EnvironmentValue
from toolkit.model.operations import operations


@functools.cache
def share() -> None:
    """Let all tests of this process share them."""
    _share_the_command_line()
    _share_the_environment_of_the_host()
    _share_templates()


def _share_the_command_line() -> None:
    """Build it once, an eighth of what a test of a command costs, and what typer makes of it, 2 to 8 ms a line."""
    build, make = command_line.build_app, typer.main.get_command
    built = functools.cache(lambda known: build())
    ours, commands = WeakSet[typer.Typer](), dict[tuple[int, ...], Any]()

    def app(words: Sequence[str] = ()) -> typer.Typer:
        made = copy.copy(built(tuple(operations())))
        ours.add(made)
        return made

    def command(typer_instance: typer.Typer) -> Any:
        app = typer_instance
        # what is registered lives as long as the application it was copied from, which is kept
        key = tuple(map(id, (*app.registered_groups, *app.registered_commands)))
        if app not in ours or key not in commands:
            made = make(app)
            return commands.setdefault(key, made) if app in ours else made
        return commands[key]

    command_line.build_app, typer.main.get_command = app, command


def _share_the_environment_of_the_host() -> None:
    """Read it once: some four hundred files of the kernel, a twentieth of what a small run costs."""
    real = host_environment.read_host_environment
    once = functools.cache(real)

    def read(*root: Path) -> tuple[EnvironmentValue, ...]:
        return real(*root) if root else once()

    host_environment.read_host_environment = read


def _share_templates() -> None:
    """Let all processes of a run compile a template once: all three hundred take half a second in each."""
    make = rendering._new_environment

    def made(dialect: Dialect) -> jinja2.Environment:
        environment = make(dialect)
        if folder := run_folder():
            environment.bytecode_cache = jinja2.FileSystemBytecodeCache(str(folder), "template-%s")
        return environment

    rendering._new_environment = made
