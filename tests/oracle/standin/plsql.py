"""Runs small blocks of PL/SQL: branches, handlers, SELECT INTO, EXECUTE IMMEDIATE, RAISE_APPLICATION_ERROR.

Nothing is known of what a block is for: its queries are run as any others, its statements as if they came alone,
and conditions are asked of the database with the values of the block's variables. What is not of this much of the
language is PLS-00103.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from seerdb.server.backend import BackendError

from tests.oracle.standin.errors import ora

FORMS: tuple[tuple[str, str], ...] = (("plsql", r"DECLARE\b(?P<inside>.*\bBEGIN\b.*\bEND\s*;)"),)

_TOKEN = re.compile(r"'(?:[^']|'')*'|:=|[A-Za-z][\w$#]*|;|\s+|--[^\n]*|.", re.DOTALL)
_END = {"END", "EXCEPTION", "ELSIF", "ELSE"}
Value = str | int | float | None


@dataclass
class Block:
    """One run of a block.

    Attributes:
        query: runs a query and returns its rows.
        command: runs any other statement.
    """

    query: Callable[[str], list[tuple[object, ...]]]
    command: Callable[[str], object]
    tokens: list[str] = field(default_factory=list)
    at: int = 0
    variables: dict[str, object] = field(default_factory=dict)
    failed: BackendError | None = None
    raised: BackendError | None = None

    def run(self, text: str) -> None:
        """Run a block from DECLARE or BEGIN to its END."""
        self.tokens = [token for token in _TOKEN.findall(text) if not token.startswith("--")]
        if self._next() == "DECLARE":
            self._take()
            while self._next() != "BEGIN":
                name, _, value = self._statement().partition(":=")
                self.variables[name.split()[0].upper()] = self._value(value) if value else None
        self._block(go=True)
        if self.failed is not None:
            raise self.failed

    # -- statements ---------------------------------------------------------------------------------------------
    def _block(self, *, go: bool) -> None:
        self._expect("BEGIN")
        self._sequence(go=go)
        if self._next() == "EXCEPTION":
            for word in ("EXCEPTION", "WHEN", "OTHERS", "THEN"):
                self._expect(word)
            caught = self.failed if go else None
            if caught is not None:
                self.raised, self.failed = caught, None
            self._sequence(go=caught is not None)
        self._expect("END")
        self._expect(";")

    def _sequence(self, *, go: bool) -> None:
        while (word := self._next()) not in _END:
            if word in {"BEGIN", "DECLARE"}:
                self._block(go=go)
            elif word == "IF":
                self._branches(go=go)
            else:
                text = self._statement()
                if go and self.failed is None:
                    self._attempt(text)

    def _attempt(self, text: str) -> None:
        """Run a statement; after an error the rest is only read, up to the handler."""
        try:
            self._run(text)
        except BackendError as error:
            self.failed = error

    def _branches(self, *, go: bool) -> None:
        taken = False
        while (word := self._take().upper()) in {"IF", "ELSIF", "ELSE"}:
            here = go and not taken and self.failed is None
            if word != "ELSE":
                condition = self._until("THEN")
                here = here and bool(self._value(f"CASE WHEN {condition} THEN 1 ELSE 0 END"))
            self._sequence(go=here)
            taken = taken or here
            self._next()
        self._expect("IF")
        self._expect(";")

    def _run(self, text: str) -> None:
        words = text.upper().split()
        if words[0] == "RAISE":
            assert self.raised is not None
            raise self.raised
        if words[0].startswith("RAISE_APPLICATION_ERROR"):
            match = re.fullmatch(r"\w+\s*\(\s*-(\d+)\s*,(.*)\)", text.strip(), re.DOTALL)
            assert match is not None, text
            raise BackendError(str(self._value(match[2])), ora_code=int(match[1]))
        if words[:2] == ["EXECUTE", "IMMEDIATE"]:
            match = re.fullmatch(r"\w+\s+\w+\s+('(?:[^']|'')*')(?:\s+INTO\s+(\w+))?", text.strip(), re.DOTALL)
            assert match is not None, text
            inner = match[1][1:-1].replace("''", "'")
            if match[2]:
                self._into(match[2], self.query(inner))
            else:
                self.command(inner)
        elif words[0] == "SELECT":
            match = re.match(r"(.*?)\sINTO\s+(\w+)\s(.*)", text, re.DOTALL | re.IGNORECASE)
            assert match is not None, text
            self._into(match[2], self.query(self._bound(f"{match[1]} {match[3]}")))
        elif words[0] != "NULL":
            raise ora(6550, text.strip()[:60])

    def _into(self, name: str, rows: list[tuple[object, ...]]) -> None:
        if len(rows) != 1:
            raise ora(1403 if not rows else 1422)
        self.variables[name.upper()] = rows[0][0]

    # -- values -------------------------------------------------------------------------------------------------
    def _value(self, text: str) -> object:
        ((value,),) = self.query(f"SELECT {self._bound(text)} AS value FROM dual")
        return value

    def _bound(self, text: str) -> str:
        """Put the values of variables where their names stand."""
        return "".join(self._spelled(token) for token in _TOKEN.findall(text))

    def _spelled(self, token: str) -> str:
        if token.upper() == "SQLCODE":
            # SQLCODE of NO_DATA_FOUND is that of the standard (PL/SQL Language Reference, SQLCODE function)
            code = 0 if self.raised is None else -self.raised.ora_code
            return "100" if code == -1403 else str(code)
        if token.upper() not in self.variables:
            return token
        value = self.variables[token.upper()]
        if value is None:
            return "NULL"
        return str(value) if isinstance(value, int | float) else "'" + str(value).replace("'", "''") + "'"

    # -- tokens -------------------------------------------------------------------------------------------------
    def _next(self) -> str:
        while self.tokens[self.at].isspace():
            self.at += 1
        return self.tokens[self.at].upper()

    def _take(self) -> str:
        self._next()
        self.at += 1
        return self.tokens[self.at - 1]

    def _expect(self, word: str) -> None:
        if self._take().upper() != word:
            raise ora(6550, f"PLS-00103 near {self.tokens[self.at - 1]}")

    def _statement(self) -> str:
        return self._until(";")

    def _until(self, end: str) -> str:
        begin, depth = self.at, 0
        while True:
            word = self.tokens[self.at].upper()
            depth += (word == "CASE") - (word == "END")
            self.at += 1
            if word == end and depth <= 0:
                return "".join(self.tokens[begin : self.at - 1])
