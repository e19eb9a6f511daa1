"""The two instances of DuckDB behind all stand-ins of a process: their data, and the catalogue they answer from.

Opening DuckDB costs more than most tests do besides. So the data of a stand-in is an attached database of its own,
and the tables of the catalogue are made again only when a query finds that their rows have changed.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import threading
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import duckdb

from tests.oracle.standin.catalogue import VIEWS
from tests.oracle.standin.duck import Rows, define_functions, define_macros, fetch, quote
from tests.oracle.standin.state import State
from tests.oracle.standin.statistics import STATEFUL, define_package
from tests.oracle.standin.translate import Translated

_NUMBERS = itertools.count(1)
_LOCK = threading.RLock()
_MOST_ANSWERS = 4096


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
    """The tables of the catalogue, as the last query found them, and what was answered from them.

    Most tests ask the same of the same catalogue: an answer is given again where the text, the binds and all rows
    of all views are those of an earlier query.
    """

    def __init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.execute("PRAGMA disable_optimizer")  # it costs more than it saves in a few hundred rows
        self.state: State | None = None
        self._loaded: dict[str, _Content] = {}
        self._answers: dict[object, Rows] = {}
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

    def answer(self, translated: Translated, views: Mapping[str, _Content]) -> Rows:
        """Answer a query from views that hold these rows."""
        binds = tuple((type(each), each) for each in translated.parameters)
        key = translated.text, binds, tuple(views.items())
        kept = self._answers.get(key)
        if kept is None:
            for view, content in views.items():
                self._load(view, content)
            kept = fetch(self.connection, translated)
            if STATEFUL not in translated.text.lower():
                if len(self._answers) >= _MOST_ANSWERS:
                    self._answers.clear()
                self._answers[key] = kept
        columns, rows = kept
        return list(columns), list(rows)

    def _load(self, view: str, content: _Content) -> None:
        if self._loaded.get(view) == content:
            return
        self._loaded.pop(view, None)
        columns, values = content
        # a list for each column: a parameter for each value costs far more than the query itself
        lists = ", ".join(f"unnest(CAST(? AS {kind}[])) AS {quote(name)}" for name, kind in columns)
        given = [list(each) for each in zip(*values, strict=True)] or [[] for _ in columns]
        self.connection.execute(f"CREATE OR REPLACE TABLE {quote(view)} AS SELECT {lists}", given)
        self._loaded[view] = content


_Content = tuple[tuple[tuple[str, str], ...], tuple[tuple[object, ...], ...]]


def content(
    view: str, lacking: Container[str], words: Container[str] | None, rows: Sequence[Mapping[str, object]]
) -> _Content:
    """Return the columns of a view that a query names, without those that are lacking, and its rows.

    What a query does not name cannot change its answer; to make a table takes as long as it has columns.
    """
    known = {name for name, _ in VIEWS[view]}
    for row in rows:
        assert row.keys() <= known, f"{view} has no columns {row.keys() - known}"
    there = [column for column in VIEWS[view] if f"{view}.{column[0]}" not in lacking]
    named = there if words is None else [column for column in there if column[0] in words]
    columns = tuple(named or there[:1])
    return columns, tuple(tuple(row.get(name) for name, _ in columns) for row in rows)


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
