"""What is asked of the scratch server, and what the answers mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from types import ModuleType

from toolkit.dialects import restores
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Kept
from toolkit.dialects.postgresql.backup.basebackup import ACCESS
from toolkit.dialects.postgresql.restore import server
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.records import Metric
from toolkit.model.steps import content_of, path_of
from toolkit.model.words import Effect

_STATE, _TARGET, _LOG = "restored_state", "target_state", "server_log"
_LAST = re.compile(r"last completed transaction was at log time (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\+00")
_BEGUN = re.compile(r"START TIME: (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC")
_DONE = re.compile(r"redo done at ([0-9A-F]+/[0-9A-F]+)")
_COLUMNS = {"identity": 0, "now": 1, "position": 2}


def calls(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Ask what was restored, compare tables, and run the user's check."""
    read = f"{path_of(work.object)}/server.log", f"{content_of(work.object)}/backup_label.old"
    log = server.command("server_log", ("cat", *read), work, facts, Effect.READS, _LOG)
    found = [server.ask_copy("restore_state", {}, work, facts, _STATE), log]
    found.append(server.ask_target("restore_target", {}, work, facts, _TARGET, ACCESS))
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
    text = _column(kept, _STATE, "now")
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


def recovery_point(kept: Kept) -> datetime | None:
    """Return the last commit that was replayed; where none was, when the backup began: it has all before that."""
    lines = [str(row.get("line") or "") for row in kept.get(_LOG, ())]
    last = [match[1] for line in lines if (match := _LAST.search(line))]
    begun = [match[1] for line in lines if (match := _BEGUN.search(line))]
    found = last or begun
    return datetime.fromisoformat(found[-1]).replace(tzinfo=UTC) if found else None


def another_cluster(kept: Kept) -> str | None:
    """Say that the backup is not of the target."""
    here, there = _column(kept, _STATE, "identity"), _column(kept, _TARGET, "identity")
    if here is None or there is None or here == there:
        return None
    return f"the backup is of another cluster (system identifier {here}) than the target ({there})"


def tell(work: Work, kept: Kept, took: Mapping[str, float], by: ModuleType) -> TrialFindings:
    """Tell phases, recovery time and point, and how much log the target has written since."""
    del work
    found = restores.findings(kept, took, str(by.PROGRAM), recovery_point(kept), now(kept), str(by.proof(kept)))
    replayed = [m[1] for row in kept.get(_LOG, ()) if (m := _DONE.search(str(row.get("line") or "")))]
    here, there = _position(replayed[-1] if replayed else None), _position(_column(kept, _TARGET, "position"))
    if here is None or there is None or there < here:
        return found
    behind = Metric("log_behind_bytes", float(there - here), "bytes", "write-ahead log of the target")
    return TrialFindings((*found.metrics, behind), found.sentences, items=found.items)


def _column(kept: Kept, key: str, name: str) -> str | None:
    rows = restores.records(kept, key)
    place = _COLUMNS[name]
    return rows[0][place] or None if rows and len(rows[0]) > place else None


def _position(text: str | None) -> int | None:
    if text is None:
        return None
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) + int(low, 16)
