"""What is asked of the scratch server: its state, the tables that are compared, and the user's own check."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from toolkit.dialects import restores
from toolkit.dialects.implementations import Kept
from toolkit.dialects.postgresql.backup.basebackup import ACCESS
from toolkit.dialects.postgresql.restore import server
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts

_NOW = 1
_STATE, _ROLE = "restore_state", "restore_asker"


def calls(work: Work, facts: Facts, *, as_it_was: bool) -> tuple[Call, ...]:
    """Ask what was restored, compare tables, and run the user's check.

    Args:
        work: the restore.
        facts: of the server.
        as_it_was: whether the copy has the roles of the target only.
    """
    asked = tuple(_asked(work, facts))
    if not as_it_was or server.trusted(work):
        return (server.ask_copy(_STATE, {}, work, facts, server.STATE), *asked)
    values: dict[str, ContextValue] = {
        "login": server.asker(work, facts), "database": str(facts.value("server", "database_name") or "postgres"),
    }  # fmt: skip
    role = (server.run_as_superuser(_ROLE, values, work, facts),) if asked else ()
    return (server.ask_as_superuser(_STATE, work, facts, server.STATE), *role, *asked)


def _asked(work: Work, facts: Facts) -> Iterator[Call]:
    names = restores.tables_of(work)
    if names:
        values: dict[str, ContextValue] = {"tables": work.tables, "labels": names}
        yield server.ask_target("restore_tables", values, work, facts, restores.SOURCE, ACCESS)
        yield server.ask_copy("restored_tables", values, work, facts, restores.RESTORED)
    query = work.option("check")
    if query is not None:
        yield server.ask_copy("restore_check", {"query": str(query)}, work, facts, restores.CHECKED)


def now(kept: Kept) -> datetime | None:
    """Return when the scratch server was asked, by the clock of this host."""
    text = restores.cell(kept, server.STATE, _NOW)
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)
