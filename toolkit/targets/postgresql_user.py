"""The session of one user of a workload on PostgreSQL: prepared statements, each run by a call that waits.

Libpq's own calls (`psycopg.pq`) are used directly: what psycopg adds to each statement would be measured, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from toolkit.model.protocols import DatabaseError
from toolkit.model.workload import Workload
from toolkit.targets.base import Chosen, Looped, names_in, translate

if TYPE_CHECKING:
    from psycopg.pq.abc import PGresult

    from toolkit.targets.postgresql import PostgresqlConnection

_NO_CODE, _NO_CONNECTION = "XX000", "08006"
_LOST = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "25P04"})
_CALL, _TOLD = b"loop call", b"loop told"
_GIVEN_UP = frozenset({"40001", "40P01"})
"""serialization_failure and deadlock_detected (PostgreSQL, "Serialization Failure Handling")."""


class PostgresqlUser:
    """One user's session.

    Args:
        connection: freshly set up; it is used through libpq alone from now on.
    """

    retried = _GIVEN_UP

    def __init__(self, connection: PostgresqlConnection) -> None:
        from psycopg import Error, pq

        self._connection = connection
        self._pg = connection.driver.pgconn
        self._pg.nonblocking = 0  # what is sent is flushed at once
        self._good = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)
        self._sqlstate, self._primary = pq.DiagnosticField.SQLSTATE, pq.DiagnosticField.MESSAGE_PRIMARY
        self._idle, self._broken = pq.TransactionStatus.IDLE, Error
        self._prepared: list[list[tuple[bytes, tuple[str, ...]]]] = []
        self._waiting = False
        self._calls = 0

    def prepare(self, workload: Workload) -> None:
        for setting in workload.settings:
            self._check(self._pg.exec_(setting.encode()))
        for text in (workload.begin, "COMMIT", "ROLLBACK"):
            self._check(self._pg.prepare(text.encode(), text.encode()))
        around = [(workload.begin.encode(), ())], [(b"COMMIT", ())]
        for one in workload.transactions:
            found: list[tuple[bytes, tuple[str, ...]]] = []
            for number, statement in enumerate(one.statements, 1):
                names = names_in(statement)
                places = {name: f"${place}" for place, name in enumerate(names, 1)}
                key = f"{one.name} {number}".encode()
                try:
                    self._check(self._pg.prepare(key, translate(statement, places.__getitem__).encode()))
                except DatabaseError as error:
                    what = f"statement {number} of the transaction `{one.name}`: {error.message}"
                    raise DatabaseError(what, code=error.code, lost=error.lost) from None
                found.append((key, names))
            self._prepared.append([*around[0], *found, *around[1]] if one.several else found)
        for key, text in zip((_CALL, _TOLD), workload.loop, strict=False):
            places = {name: f"${place}" for place, name in enumerate(names_in(text), 1)}
            self._check(self._pg.prepare(key, translate(text, places.__getitem__).encode()))

    def read(self, query: str) -> list[str | int]:
        result = self._pg.exec_(query.encode())
        self._check(result)
        values = (result.get_value(row, 0) for row in range(result.ntuples))
        return [value.decode() for value in values if value is not None]

    def bind(self, which: int, values: Mapping[str, str | int]) -> Callable[[], None]:
        given = {name: str(value).encode() for name, value in values.items()}
        return partial(self._run, [(key, [given[name] for name in names]) for key, names in self._prepared[which]])

    def loop(self, chosen: Sequence[Chosen], seconds: float) -> Looped:
        self._calls += 1
        call = str(self._calls)
        kinds = "{" + ",".join(str(which + 1) for which, _ in chosen) + "}"
        given = "{" + ",".join(_element(value) for _, values in chosen for value in values.values()) + "}"
        error = None
        try:
            self._run([(_CALL, [each.encode() for each in (call, kinds, given, str(seconds))])])
        except DatabaseError as failed:
            if failed.lost:
                raise
            error = failed
        result = self._pg.exec_prepared(_TOLD, [])
        self._check(result)
        told, last = ((result.get_value(0, column) or b"").decode() for column in range(2))
        newest, *before = told.split() or [""]
        ended = [int(each) / 1e6 for each in (*before, last)] if newest == call else []
        return Looped(ended, error)

    def _run(self, bound: Sequence[tuple[bytes, Sequence[bytes]]]) -> None:
        run, good = self._pg.exec_prepared, self._good
        self._waiting = True
        try:
            for key, values in bound:
                result = run(key, values)
                if result.status not in good:
                    error = self._error(result)
                    if not error.lost and self._pg.transaction_status != self._idle:
                        run(b"ROLLBACK", [])
                    raise error
        except self._broken as error:
            raise DatabaseError(str(error).strip(), code=_NO_CONNECTION, lost=True) from None
        finally:
            self._waiting = False

    def _check(self, result: PGresult) -> None:
        if result.status not in self._good:
            raise self._error(result)

    def _error(self, result: PGresult | None) -> DatabaseError:
        if result is None:
            return DatabaseError("the server gave no answer", code=_NO_CONNECTION, lost=True)
        code = (result.error_field(self._sqlstate) or _NO_CODE.encode()).decode()
        text = (result.error_field(self._primary) or result.error_message or b"no message").decode(
            errors="replace"
        )
        return DatabaseError(text.strip(), code=code, lost=code in _LOST or code.startswith("08"))

    def cancel(self) -> None:
        import psycopg

        with contextlib.suppress(psycopg.Error):
            self._connection.driver.cancel_safe(timeout=5.0)

    def close(self) -> None:
        if self._waiting:
            self.cancel()  # a call uses the connection: the end of the process closes it
        else:
            self._connection.close()


def _element(value: str | int) -> str:
    """Return a value as an element of an array (PostgreSQL, "Array Input and Output Syntax")."""
    return str(value) if isinstance(value, int) else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
