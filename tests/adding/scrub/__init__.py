"""A scrub of a table (by VACUUM), as an operation from outside: this folder is all there is of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from toolkit import resources
from toolkit.model.operations import OperationDeclaration, registered
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

DECLARATION = OperationDeclaration(
    name="scrub",
    command=("scrub", "table"),
    help="Scrub a table, once or as a measurement.",
    group="Scrub things.",
    options=(shared.DEGREE, shared.TABLE),
    planned_by="tests.adding.scrub.plan",
    required=(("table",),),
    object=ObjectKind.TABLE,
)


@contextmanager
def added(*, implemented: bool = True) -> Iterator[None]:
    """Add the operation, and its implementations, until the block ends."""
    from tests.adding.scrub.plan import ScrubBySql
    from toolkit.dialects.registry import dialect_of

    with ExitStack() as stack:
        stack.enter_context(registered(DECLARATION))
        stack.enter_context(resources.added(Path(__file__).parent))
        for engine in ("duckdb", "postgresql") if implemented else ():
            stack.enter_context(dialect_of(engine).work.registered(DECLARATION.name, ScrubBySql()))
        yield
