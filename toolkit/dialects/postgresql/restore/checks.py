"""What is asked of the scratch server: its state, the tables that are compared, and the user's own check."""

from __future__ import annotations

from datetime import UTC, datetime

from toolkit.dialects import restores
from toolkit.dialects.implementations import Kept
from toolkit.dialects.postgresql.backup.basebackup import ACCESS
from toolkit.dialects.postgresql.restore import server
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts

_NOW = 1


def calls(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Ask what was restored, compare tables, and run the user's check."""
    found = [server.ask_copy("restore_state", {}, work, facts, server.STATE)]
    names = restores.tables_of(work)
    if names:
        values: dict[str, ContextValue] = {"tables": work.tables, "labels": names}
        found.append(server.ask_target("restore_tables", values, work, facts, restores.SOURCE, ACCESS))
        found.append(server.ask_copy("restore_tables", values, work, facts, restores.RESTORED))
    query = work.option("check")
    if query is not None:
        found.append(server.ask_copy("restore_check", {"query": str(query)}, work, facts, restores.CHECKED))
    return tuple(found)


def now(kept: Kept) -> datetime | None:
    """Return when the scratch server was asked, by the clock of this host."""
    text = restores.cell(kept, server.STATE, _NOW)
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)
