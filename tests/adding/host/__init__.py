"""An engine from outside: this host, which has no database. This folder and its target are all there is of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from toolkit import resources
from toolkit.model.engines import EngineDeclaration, SqlClient, registered

DECLARATION = EngineDeclaration(
    name="host",
    title="This host",
    package="tests.adding.host",
    target="tests.adding.host.target",
    schemes=("host",),
    url_form="`host://`",
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
