"""The two instances of DuckDB behind all stand-ins of a process: their data, and the catalogue they answer from.

Opening DuckDB costs more than most tests do besides. So the data of a stand-in is an attached database of its own,
and the tables of the catalogue are made again only when a query finds that their rows have changed.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import duckdb

from tests.oracle.standin.catalogue import VIEWS
from tests.oracle.standin.duck import define_functions, define_macros, quote
from tests.oracle.standin.state import State
from tests.oracle.standin.statistics import define_package

_NUMBERS = itertools.count(1)
_LOCK = threading.RLock()


@functools.cache
def _data() -> duckdb.DuckDBPyConnection:
    opened = duckdb.connect()
    define_functions(opened)
    return opened


def new_database() -> str:
    """Make an empty database; return its name."""
    name = f"standin{next(_NUMBERS)}"
    with _LOCK:
        _data().execute(f"ATTACH ':memory:' AS {name}")
    with cursor(name) as opened:
        define_macros(opened)
    return name


def cursor(database: str) -> duckdb.DuckDBPyConnection:
    """Open a connection to a database."""
    with _LOCK:
        opened = _data().cursor()
    opened.execute(f"USE {database}")
    return opened


def drop_database(database: str) -> None:
    """Drop a database, unless a transaction still holds it."""
    with _LOCK, suppress(duckdb.Error):
        _data().execute(f"DETACH {database}")


class Dictionary:
    """The tables of the catalogue, as the last query found them."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.execute("PRAGMA disable_optimizer")  # it costs more than it saves in a few hundred rows
        self.state: State | None = None
        self._loaded: dict[str, tuple[list[tuple[str, str]], list[list[object]]]] = {}
        define_functions(self.connection)
        define_macros(self.connection)
        define_package(self.connection, self._current)

    def _current(self) -> State:
        assert self.state is not None
        return self.state

    def close(self) -> None:
        """Close the database."""
        self.connection.close()
        del self.connection

    def load(self, view: str, columns: list[tuple[str, str]], rows: Sequence[Mapping[str, object]]) -> None:
        """Let a view hold these rows."""
        for row in rows:
            strange = set(row) - {name for name, _ in VIEWS[view]}
            assert not strange, f"{view} has no columns {strange}"
        values = [[row.get(name) for name, _ in columns] for row in rows]
        if self._loaded.get(view) == (columns, values):
            return
        self._loaded.pop(view, None)
        spelled = ", ".join(f"{quote(name)} {kind}" for name, kind in columns)
        self.connection.execute(f"CREATE OR REPLACE TABLE {quote(view)} ({spelled})")
        if values:
            # a list for each column: a parameter for each value costs far more than the query itself
            lists = ", ".join(f"unnest(CAST(? AS {kind}[]))" for _, kind in columns)
            given = [list(each) for each in zip(*values, strict=True)]
            self.connection.execute(f"INSERT INTO {quote(view)} SELECT {lists}", given)
        self._loaded[view] = columns, values


_dictionary = functools.cache(Dictionary)


@atexit.register
def _close() -> None:
    """Close before the interpreter exits: nanobind reports every object that is left as a leak."""
    for opened in (_data, _dictionary):
        if opened.cache_info().currsize:
            opened().close()
        opened.cache_clear()


@contextmanager
def dictionary() -> Iterator[Dictionary]:
    """Give the catalogue to one query at a time."""
    with _LOCK:
        yield _dictionary()
