"""The session of one user of a workload on Oracle: cursors of python-oracledb, in a thread of its own.

The driver keeps the statements of a session parsed (its statement cache), so each is parsed once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from toolkit.model.protocols import DatabaseError
from toolkit.model.values import Scalar
from toolkit.model.workload import Workload
from toolkit.targets import oracle_driver as driver
from toolkit.targets.base import Chosen, Looped, names_in

if TYPE_CHECKING:
    from toolkit.targets.oracle import OracleConnection

_LONGEST = 32_767
"""Bytes of a text of PL/SQL at most."""
_GIVEN_UP = frozenset({"ORA-00060", "ORA-08177"})
"""deadlock detected while waiting for resource; can't serialize access for this transaction."""


class OracleUser:
    """One user's session.

    Args:
        connection: freshly set up; what is prepared goes through its licence guard, what runs then does not again.
    """

    retried = _GIVEN_UP

    def __init__(self, connection: OracleConnection) -> None:
        self._connection, self._raw = connection, connection.raw
        self._prepared: list[list[tuple[str, tuple[str, ...]]]] = []
        self._block = ""

    def prepare(self, workload: Workload) -> None:
        for setting in workload.settings:
            self._connection.execute(setting)
        for one in workload.transactions:
            for number, statement in enumerate(one.statements, 1):
                self._check(statement, f"statement {number} of the transaction `{one.name}`")
            self._prepared.append([(statement, names_in(statement)) for statement in one.statements])
        for block in workload.loop:
            self._check(block, "the loop")
            self._block = block

    def _check(self, statement: str, what: str) -> None:
        """Let the server parse a statement, which runs nothing of it."""
        self._connection.guard.check(statement, lambda _: None)
        try:
            with self._raw.cursor() as cursor:
                cursor.parse(statement)
        except driver.failures() as error:
            found = driver.translate(error, self._connection.secrets)
            raise DatabaseError(f"{what}: {found.sentence}", code=found.code, lost=found.lost) from None

    def read(self, query: str) -> list[str | int]:
        rows = self._connection.execute(query).rows
        values = (next(iter(row.values())) for row in rows)
        return [value if isinstance(value, str | int) else str(value) for value in values if value is not None]

    def bind(self, which: int, values: Mapping[str, str | int]) -> Callable[[], None]:
        prepared = self._prepared[which]
        given: list[tuple[str, dict[str, Scalar]]] = [
            (text, {name: values[name] for name in names}) for text, names in prepared
        ]
        return partial(self._run, given)

    def _run(self, bound: Sequence[tuple[str, dict[str, Scalar]]]) -> None:
        raw = self._raw
        try:
            with raw.cursor() as cursor:
                for text, values in bound:
                    cursor.execute(text, values)
                    if cursor.description is not None:
                        cursor.fetchall()
            raw.commit()
        except driver.failures() as error:
            with driver.quietly():
                raw.rollback()
            raise driver.translate(error, self._connection.secrets) from None

    def loop(self, chosen: Sequence[Chosen], seconds: float) -> Looped:
        kinds = [which + 1 for which, _ in chosen]
        given = [str(value) for _, values in chosen for value in values.values()]
        try:
            with self._raw.cursor() as cursor:
                told, code, message = cursor.var(str, _LONGEST), cursor.var(int), cursor.var(str, _LONGEST)
                cursor.execute(self._block, {
                    "kinds": cursor.arrayvar(int, kinds), "given": cursor.arrayvar(str, given or [""]),
                    "seconds": seconds, "told": told, "code": code, "message": message,
                })  # fmt: skip
        except driver.failures() as error:
            found = driver.translate(error, self._connection.secrets)
            if found.lost:
                raise found from None
            return Looped((), found)
        ended = [int(each) / 1e6 for each in str(told.getvalue() or "").split()]
        failed = code.getvalue()
        if failed is None:
            return Looped(ended)
        return Looped(
            ended, driver.failed_with(int(str(failed)), str(message.getvalue()), self._connection.secrets)
        )

    def cancel(self) -> None:
        with driver.quietly():
            self._raw.cancel()

    def close(self) -> None:
        self._connection.close()
