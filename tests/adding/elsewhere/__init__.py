"""An engine from outside, which has no database: this folder and its target are all there is of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from toolkit import resources
from toolkit.model.engines import EngineDeclaration, SqlClient, registered

DECLARATION = EngineDeclaration(
    name="elsewhere",
    title="Elsewhere",
    package="tests.adding.elsewhere",
    target="tests.adding.elsewhere.target",
    schemes=("elsewhere",),
    url_form="`elsewhere://`",
    client=SqlClient("a shell"),
    embedded=True,
)


@contextmanager
def added() -> Iterator[None]:
    """Add the engine until the block ends."""
    with ExitStack() as stack:
        stack.enter_context(registered(DECLARATION))
        stack.enter_context(resources.added(Path(__file__).parent))
        yield
