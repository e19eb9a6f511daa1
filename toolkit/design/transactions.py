"""Transactions as a user writes them: a TOML file with the SQL, weight and parameters of each.

```toml
[[transaction]]
name = "pay"
weight = 3
file = "pay.sql"                                  # or sql = '''...'''
[transaction.parameters]
account = {uniform = [1, 100000]}
item = {zipf = [1, 5000], skew = 1.2}             # the lowest number is the most frequent
number = {sequence = 1}                           # or {after = "id", of = "crm.orders"}
city = {choice = ["Rome", "Oslo"]}                # or {column = "city", of = "crm.customers"}
```

The files that it names are read once: what is kept of an experiment is the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolkit.design.lexis import Token, TokenKind, syntax_of, tokens
from toolkit.design.statements import split
from toolkit.design.user_sql import check_query
from toolkit.documents import TomlDocument, check_no_secret, did_you_mean, parse_document, read_utf8
from toolkit.errors import ToolkitError
from toolkit.model.words import EngineName
from toolkit.model.workload import Draw, Drawn

_TABLE = "transaction"
_KEYS = ("name", "weight", "sql", "file", "parameters")
_KINDS = ("uniform", "zipf", "sequence", "choice", "column", "after")
_MORE = {"zipf": ("skew",), "column": ("of",), "after": ("of",)}
_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}", re.ASCII)
_MOST = 100
_ONE_STRING = "write all statements of a transaction in one, with `;` between them"
_LARGEST = 10**15
_CONTROLS = frozenset(
    {"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE", "DECLARE", "SET"}
)
"""First words of statements that begin or end transactions, or change what a session is."""
_WORK = frozenset(
    {"SELECT", "WITH", "VALUES", "TABLE", "FROM", "INSERT", "UPDATE", "DELETE", "MERGE", "CALL", "LOCK"}
)
"""First words of what users do. Anything else may change objects: Oracle runs DDL when it is only parsed."""
_Bad = Callable[[str], ToolkitError]
_EXAMPLE = "write `aid = {uniform = [1, 100000]}`; also zipf, sequence, choice, column and after (docs/files.md)"


@dataclass(frozen=True, slots=True)
class ReadFrom:
    """A column from which values are read before the users begin; `last` for its highest value alone."""

    column: str
    table: str
    last: bool = False


@dataclass(frozen=True, slots=True)
class WrittenTransaction:
    """A transaction as it was written; what is read from columns is by the name of the parameter."""

    name: str
    weight: float
    sql: str
    parameters: tuple[Drawn, ...]
    columns: Mapping[str, ReadFrom]


def read_transactions(path: Path) -> str:
    """Read a file of transactions, and the SQL files that it names, into one text.

    Raises:
        ToolkitError: TK-0106 with file and line; TK-0108 for a secret.
    """
    import tomli_w

    document = parse_document(read_utf8(path), str(path))
    check_no_secret(document)
    given = [dict(each) for each in _tables(document)]
    for number, each in enumerate(given):
        if "file" in each and "sql" not in each:
            name = each.pop("file")
            if not isinstance(name, str):
                raise _bad(document, number, "file", "`file` must be the path of a SQL file")
            each["sql"] = read_utf8(path.parent / name)
    _written(given, document)
    return tomli_w.dumps({_TABLE: given}, multiline_strings=True)


def check_transactions(text: str) -> str:
    """Return the text of transactions, or refuse it.

    Raises:
        ToolkitError: TK-0106.
    """
    parse_transactions(text)
    return text


def parse_transactions(text: str) -> tuple[WrittenTransaction, ...]:
    """Read the text of transactions.

    Raises:
        ToolkitError: TK-0106.
    """
    document = parse_document(text, "transactions")
    return _written(_tables(document), document)


def _written(given: Sequence[Mapping[str, object]], document: TomlDocument) -> tuple[WrittenTransaction, ...]:
    found = tuple(_one(document, number, each) for number, each in enumerate(given))
    names = [one.name for one in found]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise _bad(document, number, "name", f"two transactions are called `{name}`")
    return found


def _tables(document: TomlDocument) -> list[Mapping[str, object]]:
    document.refuse_other_tables((_TABLE,), f"transactions stand in `[[{_TABLE}]]`")
    given = document.data.get(_TABLE)
    if not isinstance(given, list) or not given or not all(isinstance(each, dict) for each in given):
        raise document.error("there is no transaction", table="", hint=f"begin with `[[{_TABLE}]]`")
    if len(given) > _MOST:
        raise document.error(f"there are more than {_MOST} transactions", table=_TABLE, hint="leave some out")
    return given


def _one(document: TomlDocument, number: int, given: Mapping[str, object]) -> WrittenTransaction:
    for key in given:
        if key not in _KEYS:
            raise _bad(document, number, key, f"unknown key `{key}`", did_you_mean(key, _KEYS))
    name = given.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise _bad(
            document,
            number,
            "name",
            "`name` must be a word of small letters, digits and `_`",
            'write name = "pay"',
        )
    weight = given.get("weight", 1)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < _LARGEST:
        raise _bad(
            document, number, "weight", f"the weight of `{name}` must be a number above 0",
            "leave a transaction out that is never to run",
        )  # fmt: skip
    sql = given.get("sql", "")
    if not isinstance(sql, str):
        raise _bad(document, number, "sql", f"the SQL of `{name}` must be a string", _ONE_STRING)
    if not sql.strip():
        raise _bad(document, number, "sql", f"`{name}` has no SQL", "give `sql` or `file`")
    table = given.get("parameters", {})
    if not isinstance(table, dict):
        raise _bad(document, number, "parameters", "`parameters` must be a table", _EXAMPLE)
    drawn, columns = list[Drawn](), dict[str, ReadFrom]()
    for key, how in table.items():
        one, read = _parameter(document, number, key, how)
        drawn.append(one)
        if read is not None:
            columns[key] = read
    return WrittenTransaction(name, float(weight), sql, tuple(drawn), columns)


def _parameter(document: TomlDocument, number: int, name: str, how: object) -> tuple[Drawn, ReadFrom | None]:
    """Read how a parameter is drawn."""

    def bad(sentence: str) -> ToolkitError:
        return _bad(document, number, "parameters", f"parameter `{name}`: {sentence}", _EXAMPLE)

    if not _NAME.fullmatch(name):
        raise bad("its name must be a word of small letters, digits and `_`")
    kinds = [key for key in how if key in _KINDS] if isinstance(how, dict) else []
    if not isinstance(how, dict) or len(kinds) != 1:
        raise bad("say how it is drawn")
    kind = kinds[0]
    if more := set(how) - {kind, *_MORE.get(kind, ())}:
        raise bad(f"unknown key `{min(more)}`")
    value = how[kind]
    if kind in ("uniform", "zipf"):
        low, high = _range(value, bad)
        skew = how.get("skew", 1.0)
        if isinstance(skew, bool) or not isinstance(skew, int | float) or not 0 < skew <= 10:
            raise bad("`skew` must be above 0 and at most 10")
        return Drawn(name, Draw(kind), low, high, float(skew)), None
    if kind == "choice":
        return Drawn(name, Draw.CHOICE, values=_values(value, bad)), None
    if kind == "sequence":
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _LARGEST:
            raise bad("`sequence` must be the whole number that it begins with")
        return Drawn(name, Draw.SEQUENCE, low=value), None
    of = how.get("of")
    if not isinstance(value, str) or not value or not isinstance(of, str) or not of:
        raise bad(f'write {{{kind} = "COLUMN", of = "TABLE"}}')
    draw = Draw.SEQUENCE if kind == "after" else Draw.CHOICE
    return Drawn(name, draw), ReadFrom(value, of, last=kind == "after")


def _range(value: object, bad: _Bad) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2 or not all(type(each) is int for each in value):
        raise bad("it takes two whole numbers: the lowest and the highest")
    low, high = value
    if not -_LARGEST <= low <= high <= _LARGEST:
        raise bad(f"{low} to {high} is not a range")
    return low, high


def _values(value: object, bad: _Bad) -> tuple[str | int, ...]:
    if not isinstance(value, list) or not value or not all(type(each) in (str, int) for each in value):
        raise bad("`choice` takes a list of texts or whole numbers")
    return tuple(value)


def _bad(document: TomlDocument, number: int, key: str, sentence: str, hint: str | None = None) -> ToolkitError:
    return document.error(sentence, table=_TABLE, key=key, number=number, hint=hint)


# -- for one engine -----------------------------------------------------------------------------------------------
def statements_of(one: WrittenTransaction, engine: EngineName) -> tuple[str, ...]:
    """Return the statements of a transaction.

    Raises:
        ToolkitError: TK-0105 for one that begins or ends transactions itself, for a quote that is not closed, and
            where the parameters are not those that are written in the statements.
    """
    found = split(one.sql, engine)
    if not found:
        raise _wrong(one, "holds no statement", "give at least one")
    for statement in found:
        word = next((token.word for token in _plain(statement, engine)), "")
        if word in _CONTROLS:
            raise _wrong(
                one, f"has `{word}`, which dbatk does itself",
                "leave it out: several statements are one transaction, which is committed at their end",
            )  # fmt: skip
        if word and word not in _WORK:
            raise _wrong(
                one, f"has `{word}`, which users do not do", f"leave it out: {', '.join(sorted(_WORK))} are theirs"
            )
        if any(token.kind is TokenKind.BROKEN for token in _plain(statement, engine)):
            raise _wrong(one, "has a quote or comment that is not closed", "close it")
    used = set().union(*(_names(statement, engine) for statement in found))
    declared = {each.name for each in one.parameters}
    if missing := sorted(used - declared):
        raise _wrong(one, f"uses `:{missing[0]}`, which is no parameter of it", _EXAMPLE)
    if unused := sorted(declared - used):
        raise _wrong(one, f"has a parameter `{unused[0]}` that its SQL does not use", f"write `:{unused[0]}`")
    return found


def only_reads(statements: tuple[str, ...], engine: EngineName) -> bool:
    """Tell whether statements change nothing, as far as can be told from their words."""
    try:
        for statement in statements:
            check_query(_without_binds(statement, engine), engine)
    except ToolkitError:
        return False
    return True


def _wrong(one: WrittenTransaction, sentence: str, hint: str) -> ToolkitError:
    return ToolkitError(f"the transaction `{one.name}` {sentence}", code="TK-0105", hint=hint)


def _plain(text: str, engine: EngineName) -> Iterator[Token]:
    return (token for token in tokens(text, syntax_of(engine)) if token.kind is not TokenKind.COMMENT)


def _names(text: str, engine: EngineName) -> set[str]:
    """Return the parameters in a statement."""
    found, before = set[str](), -1
    for token in tokens(text, syntax_of(engine)):
        if token.word and token.begin == before:
            found.add(text[token.begin : token.end])
        before = token.end if token.sign == ":" else -1
    return found


def _without_binds(text: str, engine: EngineName) -> str:
    parts, at = list[str](), 0
    for token in tokens(text, syntax_of(engine)):
        if token.sign == ":":
            parts.append(text[at : token.begin])
            at = token.end
    return "".join((*parts, text[at:]))


# -- for a loop in the server -------------------------------------------------------------------------------------
def with_variables(text: str, engine: EngineName, variables: Mapping[str, str]) -> str:
    """Return a statement with the variables of a block in the place of its parameters."""
    parts, at, colon = list[str](), 0, -1
    for token in tokens(text, syntax_of(engine)):
        if token.word and token.begin == colon:
            parts += text[at : colon - 1], variables[text[token.begin : token.end]]
            at = token.end
        colon = token.end if token.sign == ":" else -1
    return "".join((*parts, text[at:]))


def gives_rows(text: str, engine: EngineName) -> bool:
    """Tell whether a statement gives rows, which a block has to take."""
    outermost = [token.word for token in _plain(text, engine) if token.depth == 0 and token.word]
    verb = next((word for word in outermost if word in _VERBS), "")
    return verb in _QUERIES or "RETURNING" in outermost


_QUERIES = frozenset({"SELECT", "VALUES", "TABLE", ""})
"""First words of queries, behind those of WITH; one in parentheses has none."""
_VERBS = _WORK - {"WITH", "FROM"}
