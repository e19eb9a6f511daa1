"""Copies of the user's tables and indexes that measurements work on: made in setup, dropped in cleanup."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.work import Call
from toolkit.errors import ToolkitError
from toolkit.model.experiment import mark_of
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import ObjectKind
from toolkit.operations.base import Planner


@dataclass(frozen=True, slots=True)
class Copies:
    """What was copied, and the calls that make and remove it."""

    tables: Mapping[QualifiedName, ObjectRef]
    indexes: Mapping[QualifiedName, tuple[ObjectRef, IndexDefinition]]
    setup: tuple[Call, ...]
    cleanup: tuple[Call, ...]


def refuse_kinds(planner: Planner, kinds: Collection[str], why: str, hint: str) -> None:
    """Refuse a relation of a kind that the work cannot be done on, or not be measured on by a copy of it.

    Args:
        planner: whose `target` was read.
        kinds: as `relation.sql` of the engine names them.
        why: what follows the kind in the sentence.
        hint: what to do instead.

    Raises:
        ToolkitError: TK-0304.
    """
    kind = str(planner.facts.value("target", "kind", ""))
    if kind in kinds:
        raise ToolkitError(f"`{planner.spec.text('table')}` is a {kind}, {why}", code="TK-0304", hint=hint)


def copies_of(
    planner: Planner,
    tables: Iterable[QualifiedName],
    indexes: Iterable[IndexDefinition] = (),
    named: Callable[[int], str] | None = None,
) -> Copies:
    """Plan a copy of each table and, on the copies, of each index.

    Args:
        planner: names and dialect.
        tables: the user's tables, in the order in which they are copied.
        indexes: indexes on those tables.
        named: names the copies by their number; by default they live for the whole run.
    """
    named = named or planner.naming.run_object
    made: dict[QualifiedName, ObjectRef] = {}
    setup: list[Call] = []
    number, degree, unlogged = 0, planner.highest_degree, planner.asks_for("logging", "nologging")
    for table in tables:
        number += 1
        copy = planner.scratch(ObjectKind.TABLE, named(number), table)
        made[table] = copy
        mark = mark_of(planner.naming.key)
        setup += planner.dialect.copy_table(table, copy, mark, planner.facts, degree, nologging=unlogged)
    built: dict[QualifiedName, tuple[ObjectRef, IndexDefinition]] = {}
    for index in indexes:
        number += 1
        on = made[index.table].name
        ref = planner.scratch(ObjectKind.INDEX, named(number), index.table, table=on)
        copied = replace(index, name=ref.name, table=on, of=index.name)
        built[index.name] = (ref, copied)
        setup += planner.dialect.build_index_copy(copied, ref, on, planner.facts, degree, nologging=unlogged)
    # An index goes with its table, so only the tables are dropped.
    cleanup = tuple(call for copy in reversed(made.values()) for call in planner.dialect.drop(copy))
    return Copies(made, built, tuple(setup), cleanup)
