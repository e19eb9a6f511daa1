"""Loops in a server: blocks in its own language that run many transactions of users for one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolkit.design.transactions import gives_rows, with_variables
from toolkit.dialects.work import Call, ContextValue
from toolkit.model.words import EngineName
from toolkit.model.workload import Drawn, Transaction


@dataclass(frozen=True, slots=True)
class Loop:
    """How the server runs many transactions for one call, each with a commit of its own.

    Attributes:
        sets_up: what each session runs first.
        calls: what it then runs all the time, as its kind of session (`UserSession`) knows it.
    """

    sets_up: tuple[Call, ...]
    calls: tuple[Call, ...]


def looped(
    transactions: Sequence[Transaction], engine: EngineName, type_of: Callable[[Drawn], str]
) -> tuple[Call, ...]:
    """Return the transactions of a loop, as blocks of their own with a variable for each parameter.

    Args:
        transactions: of the workload.
        engine: how it reads a text.
        type_of: the type of the values of a parameter.
    """
    return tuple(_block(one, engine, type_of) for one in transactions)


def _block(one: Transaction, engine: EngineName, type_of: Callable[[Drawn], str]) -> Call:
    # thirty bytes at most: longer names came with Oracle 12.2
    variables = {each.name: f"dbatk_{n}_{each.name[:20]}" for n, each in enumerate(one.parameters, 1)}
    values: dict[str, ContextValue] = {
        "variables": tuple(variables.values()),
        "types": tuple(map(type_of, one.parameters)),
        "texts": tuple(with_variables(text, engine, variables) for text in one.statements),
        "queries": tuple(gives_rows(text, engine) for text in one.statements),
    }
    return Call("loop_transaction", values)
