"""What a server recovered from files says of itself: until when it has data, and of which cluster they are."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from toolkit.dialects import restores
from toolkit.dialects.implementations import Kept
from toolkit.dialects.postgresql.backup.basebackup import ACCESS
from toolkit.dialects.postgresql.restore import server
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.records import Metric
from toolkit.model.steps import content_of, path_of
from toolkit.model.words import Effect

_TARGET, _LOG = "target_state", "server_log"
_LAST = re.compile(r"last completed transaction was at log time (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\+00")
_BEGUN = re.compile(r"START TIME: (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC")
_DONE = re.compile(r"redo done at ([0-9A-F]+/[0-9A-F]+)")
_IDENTITY, _POSITION = 0, 2


def calls(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Ask which cluster the target is, and read what the scratch server wrote into its log."""
    read = f"{path_of(work.object)}/server.log", f"{content_of(work.object)}/backup_label.old"
    return (
        server.command("server_log", ("cat", *read), work, facts, Effect.READS, _LOG),
        server.ask_target("restore_target", {}, work, facts, _TARGET, ACCESS),
    )


def point(kept: Kept) -> datetime | None:
    """Return the last commit that was replayed; where none was, when the backup began: it has all before that."""
    lines = [str(row.get("line") or "") for row in kept.get(_LOG, ())]
    last = [match[1] for line in lines if (match := _LAST.search(line))]
    begun = [match[1] for line in lines if (match := _BEGUN.search(line))]
    found = last or begun
    return datetime.fromisoformat(found[-1]).replace(tzinfo=UTC) if found else None


def another(kept: Kept) -> str | None:
    """Say that the backup is not of the target."""
    here, there = (restores.cell(kept, key, _IDENTITY) for key in (server.STATE, _TARGET))
    if here is None or there is None or here == there:
        return None
    return f"the backup is of another cluster (system identifier {here}) than the target ({there})"


def left_out(work: Work, kept: Kept) -> tuple[str, ...]:
    """Tell nothing: files are restored whole."""
    del work, kept
    return ()


def behind(kept: Kept) -> tuple[Metric, ...]:
    """Tell how much log the target has written since."""
    replayed = [m[1] for row in kept.get(_LOG, ()) if (m := _DONE.search(str(row.get("line") or "")))]
    here, there = _number(replayed[-1] if replayed else None), _number(restores.cell(kept, _TARGET, _POSITION))
    if here is None or there is None or there < here:
        return ()
    return (Metric("log_behind_bytes", float(there - here), "bytes", "write-ahead log of the target"),)


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) + int(low, 16)
