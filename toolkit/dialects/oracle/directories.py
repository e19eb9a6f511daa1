"""Directory objects, by which the server reads and writes files of its own host."""

from __future__ import annotations

from toolkit.dialects.oracle.names import parse_name
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import SupportState

DIRECTORIES = "directories"
"""The read that lists them."""


def directory_name(text: object) -> str:
    """Return the name of a directory object as the catalogue spells it; it belongs to no schema."""
    return parse_name(str(text)).name


def unseen(name: str | None, facts: Facts) -> Support | None:
    """Say that the user may not use a directory; None where it may, or where that was not asked."""
    if DIRECTORIES not in facts.answers or name in {row["directory_name"] for row in facts.rows(DIRECTORIES)}:
        return None
    user = facts.value("server", "user_name") or "this_user"
    return Support(
        SupportState.NEEDS_PRIVILEGE,
        f"directory `{name}` does not exist in the database, or is not visible to {user}",
        f'CREATE DIRECTORY, or GRANT READ, WRITE ON DIRECTORY "{name}" TO {user}',
    )
