"""What a text may bring to execution: its literals put together, and where it runs text that cannot be known.

A literal is code where something may run it: in PL/SQL, and as an argument of a function (DBMS_XMLGEN, a function
of the user's). It is a value where it is compared (`x = '...'`, `IN ('...')`) or merely selected. Literals joined
by `||` or made by functions of constants count as what they become.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from toolkit.design.lexis import Token, TokenKind
from toolkit.dialects.oracle.licences.folding import fold
from toolkit.dialects.oracle.licences.lists import licences, programs

_COMPARES = frozenset(["=", "<>", "!=", "^=", "~=", "<", ">", "<=", ">=", "LIKE", "LIKEC", "LIKE2", "LIKE4"])
_SUMS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_PATH = frozenset([".", ":", "@"])
_NO_FUNCTION = frozenset(
    {"ALL", "AND", "ANY", "AS", "BETWEEN", "BY", "CASE", "CHECK", "CROSS", "DISTINCT", "ELSE", "ELSIF",
     "EXISTS", "FOR", "FROM", "GROUP", "IMMEDIATE", "HAVING", "IF", "IN", "INTERSECT", "INTO", "IS", "JOIN", "KEY",
     "LIKE", "LOOP", "MINUS", "NOT", "ON", "OR", "ORDER", "OVER", "RETURN", "RETURNING", "SELECT", "SET", "SOME",
     "THEN", "UNION", "UNIQUE", "UPDATE", "USING", "VALUES", "WHEN", "WHERE", "WHILE", "WITH", "WITHIN"}
)  # fmt: skip
# Functions of SQL's own that make a value of their arguments (SQL Language Reference): within SQL their names mean
# no function of the user's.
_VALUES = frozenset(
    {"COALESCE", "CONCAT", "COUNT", "DECODE", "GREATEST", "INITCAP", "INSTR", "LEAST", "LENGTH", "LISTAGG",
     "LOWER", "LPAD", "LTRIM", "MAX", "MIN", "NULLIF", "NVL", "NVL2", "REGEXP_COUNT", "REGEXP_INSTR",
     "REGEXP_LIKE", "REGEXP_REPLACE", "REGEXP_SUBSTR",
     "REPLACE", "RPAD", "RTRIM", "SUBSTR", "SYS_CONTEXT", "TO_CHAR", "TO_DATE", "TO_NUMBER",
     "TRANSLATE", "TRIM", "UPPER"}
)  # fmt: skip
_PROGRAM = frozenset(["BEGIN", "DECLARE", "EXEC", "EXECUTE", "CALL"])
_XML = re.compile(r"XML|EXISTSNODE|EXTRACT")
# Functions of XQuery, XPath and XSLT that read what a text names: tables as `oradb:`, resources, documents.
_READS_BY_TEXT = re.compile(
    r"oradb|\b(?:collection|doc|doc-available|unparsed-text\S*|document|view)\s*\(|\bimport\b|\bmodule\b"
)
# Functions and methods whose text may read documents, by the place of that text (XML DB Developer's Guide; XSLT
# knows document(), XPath of Oracle ora:view). EXTRACT of one argument takes a part of a date, the method a path.
_TEXT_AT = {"XMLTRANSFORM": 1, "EXTRACT": 1, "EXTRACTVALUE": 1, "EXISTSNODE": 1, "UPDATEXML": 1}
_TEXT_OF_METHOD = frozenset(["TRANSFORM", "EXTRACT", "EXISTSNODE"])
_JOBS = frozenset(["CREATE_JOB", "CREATE_PROGRAM"])
_READABLE_JOBS = frozenset(["PLSQL_BLOCK", "STORED_PROCEDURE"])
_OPENED = "a cursor is opened for text built at run time"
_IMMEDIATE = "EXECUTE IMMEDIATE runs text built at run time"


@dataclass(slots=True)
class TextReading:
    """What was found: texts that may be run, constants, and what cannot be known."""

    codes: list[str] = field(default_factory=list)
    constants: set[str] = field(default_factory=set)
    unseen: list[str] = field(default_factory=list)
    budget: int = 0


@dataclass(slots=True)
class _Chain:
    """Operands joined by `||`; None is one that is not constant."""

    parts: list[str | None]
    compared: bool = False
    dynamic: str = ""
    name: str = ""
    """The parameter it is given to: `statement => '...'`."""
    reckoned: bool = False

    def constant(self) -> str | None:
        return "".join(part for part in self.parts if part is not None) if None not in self.parts else None


@dataclass(slots=True)
class _Frame:
    """What is open between two parentheses."""

    call: bool = False
    runs: bool = False
    """Whether it is a call that may run its arguments."""
    function: str = ""
    package: str = ""
    listed: bool = False
    dynamic: str = ""
    arguments: list[list[_Chain]] = field(default_factory=lambda: [[]])
    open: _Chain | None = None
    join: bool = False
    parameter: str = ""


def read(found: Sequence[Token], budget: int) -> TextReading:
    """Read the tokens of one text.

    Args:
        found: its tokens.
        budget: how many characters may be put together at most.
    """
    reader = _Reader(found, budget)
    reader.run()
    return reader.result


class _Reader:
    """One pass over the tokens, with a stack of what is open instead of recursion."""

    def __init__(self, found: Sequence[Token], budget: int) -> None:
        self.tokens = found
        self.result = TextReading(budget=budget)
        self.program = any(token.kind is TokenKind.WORD and token.text in _PROGRAM for token in found)
        self.declared = frozenset(
            after.text.upper() for token, after in pairwise(found) if token.word == "FUNCTION"
        )
        self.stack = [_Frame()]
        self.calls = 0
        self.dynamic = ""
        self.opens = False

    def run(self) -> None:
        at = 0
        while at < len(self.tokens):
            at += self._step(at)
        while len(self.stack) > 1:
            self._pop(at)
        self._close(at)
        self._emit_all(self.stack[0])

    def _step(self, at: int) -> int:
        """Take the token at a place; return how many were taken."""
        token = self.tokens[at]
        if token.kind is TokenKind.SIGN:
            return self._sign(at, token.text)
        if token.kind is TokenKind.BROKEN:
            return 1
        if token.kind is TokenKind.WORD and token.text in _COMPARES:
            self._close(at)
            return 1
        if token.kind in (TokenKind.WORD, TokenKind.NAME):
            self._word(at, token)
        else:
            bound = token.kind is TokenKind.NUMBER and self._text(at - 1) == ":"
            self._operand(None if bound else token.text, at)
        return 1

    # -- words and signs ----------------------------------------------------------------------------------------
    def _word(self, at: int, token: Token) -> None:
        after = self._text(at + 1)
        self.opens = self.opens or token.word == "OPEN"
        if token.word == "IMMEDIATE" and self._text(at - 1) == "EXECUTE":
            self._close(at)
            self.dynamic = _IMMEDIATE
        elif token.word == "FOR" and self.opens and not self._is_query(at + 1):
            self._close(at)
            self.dynamic, self.opens = _OPENED, False
        elif after not in _PATH and not (after == "(" and token.text not in _NO_FUNCTION):
            # else part of a longer name, or a function: its value comes with the closing parenthesis
            self._operand(None, at)

    def _is_query(self, at: int) -> bool:
        while self._text(at) == "(":
            at += 1
        return self._text(at) in {"SELECT", "WITH"} and self.tokens[at].kind is TokenKind.WORD

    def _sign(self, at: int, sign: str) -> int:
        frame = self.stack[-1]
        if sign in _PATH:
            return 1
        if sign == "(":
            self._push(at)
        elif sign == ")":
            self._pop(at)
        elif sign == "||":
            frame.open = frame.open or _Chain([None])
            frame.join = True
        elif sign in _SUMS and self._reckon(frame, sign, at):
            return 2
        else:
            self._close(at)
            self.opens = self.opens and sign != ";"
            if sign == ",":
                frame.arguments.append([])
            elif sign != "=>":
                frame.arguments[-1].append(_Chain([None]))  # an operator: what it makes is not worked out
        return 1

    def _reckon(self, frame: _Frame, sign: str, at: int) -> bool:
        """Put `60 + 8` together; only small whole numbers, as CHR takes them."""
        number = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        if (
            number is None
            or number.kind is not TokenKind.NUMBER
            or frame.open is None
            or frame.open.reckoned
            or len(frame.open.parts) != 1
        ):
            return False
        before = frame.open.parts[0]
        if before is None or not (before + number.text).isdecimal() or len(before) + len(number.text) > 12:
            return False
        a, b = int(before), int(number.text)
        frame.open.parts[0] = str(_SUMS[sign](a, b))
        frame.open.reckoned = True  # of `2 + 3 * 4` only the first would be right
        return True

    def _text(self, at: int) -> str:
        if not 0 <= at < len(self.tokens):
            return ""
        token = self.tokens[at]
        return token.text if token.kind in (TokenKind.WORD, TokenKind.SIGN) else ""

    # -- chains -------------------------------------------------------------------------------------------------
    def _operand(self, value: str | None, at: int) -> None:
        frame = self.stack[-1]
        if frame.join and frame.open is not None:
            frame.open.parts.append(value)
            frame.join = False
            return
        self._close(at)
        frame.open = _Chain([value], self._text(at - 1) in _COMPARES, self.dynamic, frame.parameter)
        self.dynamic = frame.parameter = ""

    def _close(self, at: int) -> None:
        """End the chain that is open; `at` is the place behind it."""
        frame = self.stack[-1]
        chain, frame.open, frame.join = frame.open, None, False
        if chain is None:
            return
        if self._text(at) == "=>":
            frame.parameter = self._text(at - 1) or "?"
            return
        chain.compared = chain.compared or self._text(at) in _COMPARES
        if len(self.stack) == 1:
            self._emit(chain, code=self.program)
        else:
            frame.arguments[-1].append(chain)

    # -- parentheses --------------------------------------------------------------------------------------------
    def _push(self, at: int) -> None:
        before = self.tokens[at - 1] if at else Token(TokenKind.SIGN, "")
        named = before.kind is TokenKind.NAME or (
            before.kind is TokenKind.WORD and before.text not in _NO_FUNCTION
        )
        package = self.tokens[at - 3] if named and at >= 3 and self._text(at - 2) == "." else None
        frame = _Frame(
            call=named,
            function=before.text.upper() if named else "",
            package=package.text.upper() if package is not None else "",
            listed=before.kind is TokenKind.WORD and before.text == "IN",
            dynamic=self.dynamic,
        )
        self.dynamic = ""
        if not named and self.stack[-1].open is not None and not self.stack[-1].join:
            self._close(at)
        frame.runs = named and (
            bool(frame.package) or before.kind is TokenKind.NAME or not self._is_value(frame.function)
        )
        self.calls += frame.runs
        self.stack.append(frame)

    def _pop(self, at: int) -> None:
        if len(self.stack) == 1:
            self._close(at)
            return
        self._close(at)
        frame = self.stack.pop()
        value = self._value(frame)
        if value is None:
            self._say_unseen(frame)
            self._emit_all(frame)
        self.calls -= frame.runs
        self.dynamic = frame.dynamic
        self._operand(value, at)
        self.dynamic = ""

    def _is_value(self, function: str) -> bool:
        return function in _VALUES and function not in self.declared

    def _value(self, frame: _Frame) -> str | None:
        """Return the value of what parentheses hold: a group of one constant, or a function of constants."""
        chains = [argument[0] for argument in frame.arguments if argument]
        values = [constant for chain in chains if (constant := chain.constant()) is not None]
        alone = all(len(argument) == 1 for argument in frame.arguments)
        if not chains or not alone or len(values) != len(chains) or frame.listed:
            return None
        if frame.call:
            ours = frame.function in self.declared  # a function of the block's own may be called like one of SQL's
            value = None if ours else fold(frame.package, frame.function, values, self.result.budget)
        else:
            value = values[0] if len(frame.arguments) == 1 and len(values[0]) <= self.result.budget else None
        self.result.budget -= len(value) if value is not None else 0
        return value

    def _say_unseen(self, frame: _Frame) -> None:
        """Say so where a program of Oracle's that may run a text is given one that is not known."""
        if _XML.match(frame.function) and any(map(_READS_BY_TEXT.search, _literals(frame))):
            self.result.unseen.append(f"{frame.function} reads tables or documents by a text")
        if _reads_unknown(frame):
            self.result.unseen.append(f"{frame.function} is given a text that may read tables or documents")
        if frame.package == "DBMS_SCHEDULER" and frame.function in _JOBS and not _is_readable(frame):
            self.result.unseen.append("a job runs a program, or what is in no PL/SQL, which cannot be read here")
        if not programs().may_run_text(frame.package) or any(
            one.holds(frame.package) for one in licences().values()
        ):
            return
        if any(chain.constant() is None for chain in self._run(frame)):
            self.result.unseen.append(f"{frame.package}.{frame.function} is given text built at run time")

    def _run(self, frame: _Frame) -> Iterator[_Chain]:
        """Yield what a program of Oracle's may run of its arguments."""
        texts = programs().texts
        known = texts.get(f"{frame.package}.{frame.function}")
        if known is None and any(name.startswith(f"{frame.package}.") for name in texts):
            return
        for place, argument in enumerate(frame.arguments):
            for chain in argument:
                if known is None or any(chain.name == name if chain.name else place == at for at, name in known):
                    yield chain

    def _emit_all(self, frame: _Frame) -> None:
        for argument in frame.arguments:
            for chain in argument:
                self._emit(chain, code=self.program or self.calls > 0, listed=frame.listed)

    def _emit(self, chain: _Chain, *, code: bool, listed: bool = False) -> None:
        if chain.dynamic and None in chain.parts:
            self.result.unseen.append(chain.dynamic)
        harmless = not chain.dynamic and (chain.compared or listed or not code)
        run: list[str] = []
        for part in [*chain.parts, None]:
            if part is not None:
                run.append(part)
            elif run:
                self._constant("".join(run), harmless=harmless)
                run = []

    def _constant(self, text: str, *, harmless: bool) -> None:
        self.result.constants.add(text.strip().upper()[:60])
        if not harmless and any(map(str.isalpha, text)):
            self.result.codes.append(text)


def _reads_unknown(frame: _Frame) -> bool:
    """Tell whether a function of XML is given a style sheet or path that is not known."""
    method = bool(frame.package) and frame.function in _TEXT_OF_METHOD
    place = 0 if method and len(frame.arguments) == 1 else _TEXT_AT.get(frame.function)
    if place is None or place >= len(frame.arguments):
        return False
    return any(chain.constant() is None for chain in frame.arguments[place])


def _is_readable(frame: _Frame) -> bool:
    """Tell whether a job's type says that its action is PL/SQL, which is looked at as any text that is run."""
    kinds = [
        chain.constant()
        for place, argument in enumerate(frame.arguments)
        for chain in argument
        if chain.name in {"JOB_TYPE", "PROGRAM_TYPE"} or (place == 1 and not chain.name)
    ]
    named = {chain.name for argument in frame.arguments for chain in argument}
    return (
        bool(kinds)
        and all(kind is not None and kind.strip().upper() in _READABLE_JOBS for kind in kinds)
        and "PROGRAM_NAME" not in named
    )


def _literals(frame: _Frame) -> Iterator[str]:
    return (part for argument in frame.arguments for chain in argument for part in chain.parts if part is not None)
