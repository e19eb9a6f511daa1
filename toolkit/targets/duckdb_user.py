"""The session of one user of a workload on DuckDB: a cursor of this process, in a thread of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from toolkit.model.protocols import DatabaseError
from toolkit.model.workload import Workload
from toolkit.targets.base import names_in, translate

if TYPE_CHECKING:
    import duckdb

    from toolkit.targets.duckdb import DuckdbConnection


class DuckdbUser:
    """One user's session."""

    retried = frozenset({"TransactionException"})

    def __init__(self, connection: DuckdbConnection, cursor: duckdb.DuckDBPyConnection) -> None:
        self._connection, self._cursor = connection, cursor
        self._prepared: list[list[tuple[str, tuple[str, ...]]]] = []

    def prepare(self, workload: Workload) -> None:
        for setting in workload.settings:
            self._connection.execute(setting)
        for one in workload.transactions:
            found = [(translate(each, "${}".format), names_in(each)) for each in one.statements]
            for number, (text, _) in enumerate(found, 1):
                self._check(text, f"statement {number} of the transaction `{one.name}`")
            around: tuple[str, tuple[str, ...]] = (workload.begin, ())
            self._prepared.append([around, *found, ("COMMIT", ())] if one.several else found)

    def _check(self, text: str, what: str) -> None:
        """Let a statement be prepared, which runs nothing of it."""
        import duckdb

        try:
            self._cursor.execute(f"PREPARE dbatk_checked AS {text}")
            self._cursor.execute("DEALLOCATE dbatk_checked")
        except duckdb.Error as error:
            message = f"{what}: {(str(error).strip().splitlines() or [''])[0]}"
            raise DatabaseError(message, code=type(error).__name__) from None

    def read(self, query: str) -> list[str | int]:
        rows = self._cursor.execute(query).fetchall()
        return [row[0] if isinstance(row[0], str | int) else str(row[0]) for row in rows if row[0] is not None]

    def bind(self, which: int, values: Mapping[str, str | int]) -> Callable[[], None]:
        given = [(text, {name: values[name] for name in names}) for text, names in self._prepared[which]]
        return partial(self._run, given)

    def _run(self, bound: Sequence[tuple[str, Mapping[str, str | int]]]) -> None:
        import duckdb

        execute = self._cursor.execute
        try:
            for text, values in bound:
                if values:
                    execute(text, values)
                else:
                    execute(text)
        except duckdb.Error as error:
            with contextlib.suppress(duckdb.Error):
                self._cursor.rollback()
            raise self._connection.translated(error) from None

    def cancel(self) -> None:
        self._connection.cancel()

    def close(self) -> None:
        self._connection.close()
