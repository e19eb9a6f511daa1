"""All that a user wrote into an experiment that a database reads as SQL, found by the kinds of its options.

An operation that takes SQL by an option of one of these kinds is looked at without a word about it elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.model.experiment import Experiment, queries_of
from toolkit.model.operations import options_of
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import EngineName

_ROWS_OF = frozenset({"source", "table", "archive_to"})
"""Names of objects whose rows are read or written: what a synonym or view of that name leads to counts, too."""


def user_texts(experiment: Experiment, engine: EngineName) -> Iterator[str]:
    """Yield queries, conditions, statements, expressions, names of tables, and the SQL of factors."""
    levels = {factor.name: factor.levels for factor in experiment.factors}
    for option in options_of(experiment.operation):
        given = experiment.options.get(option.name)
        # of several queries the option holds the texts, and the levels are what they are called
        for value in levels.get(option.name, ()) if given is None else (given,):
            yield from _texts(option, value, engine)
    yield from factor_texts(experiment)


def factor_texts(experiment: Experiment) -> Iterator[str]:
    """Yield the SQL by which factors are read, applied and undone."""
    for factor in experiment.factors:
        if factor.command is not None:
            how = factor.command
            yield from filter(None, (how.read_sql, how.apply_sql, how.undo_sql))


def _texts(option: Option, value: object, engine: EngineName) -> Iterator[str]:
    match option.kind:
        case OptionKind.QUERY:
            yield from queries_of({"query": value}).values() if isinstance(value, tuple) else (str(value),)
        case OptionKind.PREDICATE:
            yield str(value)
        case OptionKind.ASSIGNMENTS | OptionKind.EXPRESSIONS:
            yield from map(str, value if isinstance(value, tuple) else (value,))
        case OptionKind.TRANSACTIONS:
            yield from _of_transactions(str(value), engine)
        case OptionKind.NAME if option.name in _ROWS_OF:
            yield str(value)


def _of_transactions(text: str, engine: EngineName) -> Iterator[str]:
    from toolkit.design.transactions import parse_transactions, statements_of

    for one in parse_transactions(text):
        yield from statements_of(one, engine)
        yield from (read.table for read in one.columns.values())
