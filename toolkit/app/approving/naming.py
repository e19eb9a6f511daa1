"""What the names of a plan lead to: approved, as search paths, synonyms, folders and others change it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import islice, pairwise

from toolkit.design.lexis import POSTGRESQL, Token, TokenKind, syntax_of, tokens
from toolkit.design.mix import AROUND, mix_of
from toolkit.design.transactions import parse_transactions
from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.model.audit import Value
from toolkit.model.engines import engine
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.facts import Facts, Query
from toolkit.model.operations import declaration
from toolkit.model.words import OperationName

SQL_KEYS = frozenset(
    {"query", "where", "set", "columns", "expression", "include", "sql", "read_sql", "apply_sql", "undo_sql"}
    | {"source", "table", "archive_to", "with_table", "index", "order_by_index", "directory"}
)
"""The last part of the keys whose values hold SQL, or the name of what is read, filled, indexed or analysed."""
TRANSACTIONS = "transactions"
"""The same of a key whose value is the text of a file of transactions."""
_SCHEMA = "options.schema"
_TABLE = "options.table"
_OF_SESSIONS = (["SET"], ["RESET"], ["PRAGMA"], ["USE"], ["DISCARD"], ["ALTER", "SESSION"])
_MADE_KINDS = ("table", "partitioned table", "index")
_LONGEST = 3000
"""Characters of a value that is bound: Oracle takes 4,000 bytes."""
_OPENING = re.compile(r"['\"$]|/\*|--")


def queries_of(file: str, values: Mapping[str, Value], dialect: Dialect) -> list[Query]:
    """Return the reads that resolve the names in a plan or an experiment.

    Args:
        file: the engine's query, with `:words`; empty where names cannot lead elsewhere.
        values: of the plan or experiment.
        dialect: whose quotes and letter case count.
    """
    words = {word for text in _texts(values) for word in _words(text, dialect)}
    words |= {f"{name}.*" for name in _schemas(values, dialect)}
    found, line = [], ""
    for word in sorted(words) if file else ():
        if len(line) + len(word) > _LONGEST:
            found.append(line)
            line = ""
        line += f"{word}|"
    lines = [each for each in (*found, line) if each]
    return [Query(f"names_{at}", file, {"words": f"|{each}"}, optional=True) for at, each in enumerate(lines)]


def meanings(
    facts: Facts, queries: Iterable[Query], made: Container[str], behind: Mapping[str, str]
) -> dict[str, str]:
    """Return what each name leads to, as parts of a database's identity.

    Args:
        facts: with the answers.
        queries: as `queries_of` gave them.
        made: what is left out, as `made_by` gave it: it comes with the work.
        behind: marks of what stands behind objects, where a read of its own told it.
    """
    found: dict[str, set[str]] = {}
    for row in (row for query in queries for row in facts.rows(query.key) if row["name"]):
        mark = behind.get(str(row.get("behind")))
        leads_to = str(row["leads_to"]) + (f", behind it {mark}" if mark else "")
        if leads_to not in made:
            found.setdefault(str(row["name"]), set()).add(leads_to)
    return {f"name `{name}`": "; ".join(sorted(places)) for name, places in found.items()}


def roots_of(facts: Facts, queries: Iterable[Query]) -> dict[str, str]:
    """Return the objects behind which one has to look, each with what its name leads to."""
    rows = (row for query in queries for row in facts.rows(query.key))
    return {str(row["behind"]): str(row["leads_to"]) for row in rows if row.get("behind")}


def not_shown(facts: Facts, queries: Iterable[Query]) -> Iterator[str]:
    """Yield what the catalogue does not show to this user: these are its rows without a name."""
    yield from dict.fromkeys(
        str(row["leads_to"]) for query in queries for row in facts.rows(query.key) if not row["name"]
    )


def words_of(text: str, dialect: Dialect) -> Iterator[str]:
    """Yield the names in a text of the catalogue, as `queries_of` reads those of a plan."""
    return _words(text, dialect)


def made_by(values: Mapping[str, Value], dialect: Dialect, schema: str) -> frozenset[str]:
    """Return what the tables and indexes that the work makes lead to, as long as they are nothing but that.

    A view in the place of one of them, or a table with triggers, rules or defaults, leads elsewhere.

    Args:
        values: of the plan or experiment.
        dialect: whose quotes and letter case count.
        schema: of names without one.
    """
    names = [dialect.parse_name(text) for text in _made(values)]
    places = [f"{name.schema or schema}.{name.name}" for name in names]
    return frozenset(f"{kind} {place}" for kind in _MADE_KINDS for place in places)


def refuse_session_statements(experiment: Experiment, dialect: Dialect) -> None:
    """Refuse to approve factors that set something of a session by a statement: it could lead names elsewhere.

    Raises:
        ToolkitError: TK-0313.
    """
    for factor in experiment.factors:
        how = factor.command
        if how is None or not any(_of_a_session(text, dialect) for text in (how.apply_sql, how.undo_sql)):
            continue
        raise ToolkitError(
            f"no approval holds what names mean where factor `{factor.name}` ran its own statement",
            code="TK-0313",
            hint="vary it as a setting of the catalogue, in `[factors.setting]`",
        )


def _of_a_session(text: str, dialect: Dialect) -> bool:
    """Tell whether a statement works on a session, or a level decides whether it does."""
    found = (each for each in tokens(text, syntax_of(dialect.engine)) if each.kind is not TokenKind.COMMENT)
    words = [each.text for each in islice(found, 3)]
    return words[:1] in _OF_SESSIONS or words[:2] in _OF_SESSIONS or "{" in words


def begins_here(experiment: Experiment) -> bool:
    """Tell whether a program begins in the folder of this process: what it runs may be there, whatever it says."""
    if any(factor.command is not None and factor.command.runs_commands for factor in experiment.factors):
        return True
    return declaration(experiment.operation).runs_programs and not all(
        place.startswith("/") for place in _places(experiment)
    )


def _places(experiment: Experiment) -> Iterator[str]:
    """Yield the folder of each program as it is written; empty for none."""
    mix = mix_of(experiment.operation, experiment.options)
    if mix is None:
        yield str(experiment.options.get("cwd", ""))
        return
    around: tuple[dict[str, OptionValue], ...] = ({},) if any(mix.options.get(key) for key in AROUND) else ()
    for each in (*around, *(job.options for job in mix.jobs)):
        yield str({**mix.options, **each}.get("cwd", ""))


def _texts(values: Mapping[str, Value]) -> Iterator[str]:
    for key, value in values.items():
        last = key.rpartition(".")[2]
        if last in SQL_KEYS:
            yield from (str(one) for one in (value if isinstance(value, tuple) else (value,)))
        elif last == TRANSACTIONS:
            for one in parse_transactions(str(value)):
                yield one.sql
                yield from (f"{read.table} {read.column}" for read in one.columns.values())


def _schemas(values: Mapping[str, Value], dialect: Dialect) -> Iterator[str]:
    """Yield the schemas that are worked on as a whole."""
    for key, value in values.items():
        if key.endswith(_SCHEMA):
            given = value if isinstance(value, tuple) else (value,)
            yield from (dialect.parse_name(str(one)).name for one in given)


def _made(values: Mapping[str, Value]) -> Iterator[str]:
    """Yield the names of the tables and indexes that the work itself makes."""
    for key, value in values.items():
        operation = values.get(f"{key.removesuffix(_TABLE)}operation") if key.endswith(_TABLE) else None
        makes = operation is not None and declaration(OperationName(str(operation))).makes_table
        if makes or key.endswith(".index_name"):
            yield str(value)


def _words(text: str, dialect: Dialect) -> Iterator[str]:
    """Yield the names that stand alone or begin a dotted one, and each two with a dot between: nothing is parsed.

    Names of columns are among them, and aliases; so are those in literals, which functions take for names and
    queries (`query_table('a')`, `nextval('a')`). One after a dot may be a function, `o.total` for `total(o)`: it
    is yielded as `.total`.

    Raises:
        ToolkitError: TK-0313 for `UESCAPE`, which hides names.
    """
    syntax = syntax_of(dialect.engine)
    found = [each for each in tokens(text, syntax) if each.kind is not TokenKind.COMMENT]
    start = Token(TokenKind.SIGN, "")
    owner = ""
    for before, token in pairwise((start, *found)):
        if token.kind is TokenKind.STRING:
            yield from _words(token.text, dialect)
        elif token.kind is TokenKind.BROKEN:
            # of a literal that is no SQL, such as `it's`
            yield from _words(_OPENING.sub(" ", token.text), dialect)
        elif token.word == "UESCAPE" and syntax is POSTGRESQL:
            raise ToolkitError(
                "no approval holds names that `UESCAPE` hides", code="TK-0313", hint="write the name itself"
            )
        name = _name(dialect, token, text)
        if before.sign != "." and name:
            yield name
        elif owner and name:
            yield from (f"{owner}.{name}", f".{name}")
        elif name:
            yield f".{name}"
        owner = owner if token.sign == "." else name


def _name(dialect: Dialect, token: Token, text: str) -> str:
    """Return a name in the letters of the catalogue; nothing for what is none."""
    if token.kind not in (TokenKind.WORD, TokenKind.NAME):
        return ""
    written = token.text if token.kind is TokenKind.NAME else text[token.begin : token.end]
    if most := engine(dialect.engine).cuts_names_at:
        written = written.encode()[:most].decode(errors="ignore")
    if token.kind is TokenKind.NAME:
        return written
    try:
        return dialect.parse_name(written).name
    except ToolkitError:
        return _folded(written) if dialect.upper_names else written


def _folded(name: str) -> str:
    """Fold letters beyond ASCII, which `parse_name` refuses, one by one: a sharp s stays."""
    return "".join(each.upper() if len(each.upper()) == 1 else each for each in name)
