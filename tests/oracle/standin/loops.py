"""A loop of PL/SQL that runs transactions of users, read by its grammar: what each kind of them does, in order.

Of the language there is what such a loop needs: branches by kind, blocks with variables that take the next values
that were given, statements, cursors that are only read, a commit that waits, and one handler for all errors.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from seerdb.server import session
from seerdb.server.backend import BackendError, BindVar

from tests.oracle.standin.errors import ora

_LOOP = re.compile(
    r"\s*DECLARE\s+PROCEDURE\s+(?P<name>\w+)\(\s*(?P<kinds>\w+)\s+IN\s+DBMS_SQL\.NUMBER_TABLE,\s*(?P<given>\w+)\s+IN\s+"
    r"DBMS_SQL\.VARCHAR2_TABLE,.*?\bFOR\s+(?P<number>\w+)\s+IN\s+1\s+\.\.\s+(?P=kinds)\.COUNT\s+LOOP\s+IF\s+"
    r"(?P<branches>.*?)\s+END\s+IF;(?:\s*--[^\n]*)?\s+COMMIT\s+WRITE\s+WAIT;.*\bEXCEPTION\s+WHEN\s+OTHERS\s+THEN\b.*"
    r"\bROLLBACK;\s+IF\s+\w+\s+IN\s+\(-28, -1012, -1013\)\s+THEN\s+RAISE;\s+END\s+IF;\s+END;\s+BEGIN\s+(?P=name)"
    r"\(:kinds, :given, :seconds, :told, :code, :message\);\s+END;",
    re.DOTALL,
)
_BRANCH = re.compile(
    r"\w+\(\w+\)\s+=\s+(?P<kind>\d+)\s+THEN\s+DECLARE\s*(?P<variables>.*?)BEGIN\s+(?P<at>\w+)\s+:=\s+(?P=at)\s+\+\s+"
    r"(?P<count>\d+);(?P<body>.*?)\bEND;\s*(?:ELSIF\s+|\Z)",
    re.DOTALL,
)
_VARIABLE = re.compile(r"(\w+)\s+(NUMBER|VARCHAR2\(4000\))\s+:=\s+\w+\(\w+\s+\+\s+(\d+)\);")
_STATEMENT = re.compile(
    r"\s*(?:FOR\s+\w+\s+IN\s+\((?P<query>.*?)\)\s+LOOP\s+NULL;\s+END\s+LOOP|(?P<change>(?:INSERT|UPDATE|DELETE)\b[^;]*));",
    re.DOTALL,
)
_ENDS_SESSIONS = frozenset({28, 1012, 1013})


class _Cursors(session._Cursors):
    """Keeps no cursor of a block with arrays: the library does not read them where a cursor's number comes."""

    def open_dml(self, sql: str, bind_types: list[object]) -> int:
        return 0 if is_loop(sql) else int(super().open_dml(sql, bind_types))


session._Cursors = _Cursors  # type: ignore[misc]


def is_loop(sql: str) -> bool:
    """Tell whether a statement is such a loop."""
    return "DBMS_SQL.NUMBER_TABLE" in sql


@dataclass(frozen=True)
class _Branch:
    variables: tuple[tuple[str, str], ...]
    statements: tuple[str, ...]

    def texts(self, values: Sequence[str]) -> Iterator[str]:
        """Yield the statements with the values of the variables."""
        spelled = {
            name: value if kind == "NUMBER" else "'" + value.replace("'", "''") + "'"
            for (name, kind), value in zip(self.variables, values, strict=True)
        }
        for text in self.statements:
            yield re.sub(r"\bdbatk_\d+_\w+", lambda found: spelled[found[0]], text)


def run(
    sql: str,
    binds: Sequence[object],
    one: Callable[[str], object],
    commit: Callable[[], None],
    back: Callable[[], None],
) -> list[object]:
    """Run a loop and return its binds afterwards.

    Args:
        sql: the block.
        binds: kinds, given, seconds, told, code, message.
        one: runs a statement.
        commit: ends a transaction.
        back: rolls it back.

    Raises:
        BackendError: ORA-06550 for a block of another form; what ends a session, or was asked for by the client.
    """
    loop = _LOOP.fullmatch(sql)
    if loop is None or not all(isinstance(bind, BindVar) for bind in binds):
        raise ora(6550)
    branches = {int(found["kind"]): _read(found) for found in _BRANCH.finditer(loop["branches"])}
    kinds, given, seconds, *_ = (cast("BindVar", bind).value for bind in binds)
    values, begun, told = list(map(str, cast("list[object]", given))), time.monotonic(), ""
    out: list[object] = [kinds, given, seconds, None, None, None]
    try:
        for kind in map(int, cast("list[int]", kinds)):
            branch = branches[kind]
            own, values = values[: len(branch.variables)], values[len(branch.variables) :]
            for text in branch.texts(own):
                one(text)
            commit()
            told += f" {int((time.monotonic() - begun) * 1e6)}"
            if time.monotonic() >= begun + float(str(seconds)):
                break
    except BackendError as error:
        back()
        if error.ora_code in _ENDS_SESSIONS:
            raise
        out[4:] = [-error.ora_code, f"ORA-{error.ora_code:05d}: {error}"]
    out[3] = told or None
    return out


def _read(branch: re.Match[str]) -> _Branch:
    variables = _VARIABLE.findall(branch["variables"])
    if [int(place) for *_, place in variables] != list(range(1, int(branch["count"]) + 1)):
        raise ora(6550)
    body, statements, at = branch["body"], list[str](), 0
    while found := _STATEMENT.match(body, at):
        statements.append((found["query"] or found["change"]).strip())
        at = found.end()
    if body[at:].strip():
        raise ora(6550, body[at:].strip()[:60])
    return _Branch(tuple((name, kind) for name, kind, _ in variables), tuple(statements))
