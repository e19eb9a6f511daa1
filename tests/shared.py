"""What a process of tests computes once, though each test has a command line and a store of its own.

Nothing of it is state: the definition of the command line, and statements as SQLAlchemy spells them for SQLite.
"""

from __future__ import annotations

import copy
import functools
from pathlib import Path

from sqlalchemy import Engine, create_engine

from toolkit.cli import main as command_line
from toolkit.model.operations import operations
from toolkit.store import database


def share() -> None:
    """Let all tests of this process share both."""
    _share_the_command_line()
    _share_statements()


def _share_the_command_line() -> None:
    """Build it once, which is an eighth of what a test of a command costs."""
    build = command_line.build_app
    built = functools.cache(lambda known: build())
    command_line.build_app = lambda words=(): copy.copy(built(tuple(operations())))


def _share_statements() -> None:
    """Let the engines of all SQLite stores have one dialect and one cache of statements: else each begins anew."""
    make, pattern = database._sqlite, create_engine("sqlite://")
    pattern.connect().close()

    def made(path: Path, busy_seconds: float) -> Engine:
        engine = make(path, busy_seconds)
        engine.dialect = engine.pool._dialect = pattern.dialect
        engine._compiled_cache = pattern._compiled_cache
        return engine

    database._sqlite = made
