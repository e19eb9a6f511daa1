"""NOLOGGING: which work leaves blocks that the redo log lacks, and what to say about its object afterwards.

Redo is left out only by direct path, into an object that is NOLOGGING, where nothing forces logging (SQL Language
Reference, logging_clause). Media recovery then finds the blocks corrupt (ORA-26040) until a backup holds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from toolkit.dialects.oracle.work.base import asks_nologging, former_logging
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.values import Row, Scalar
from toolkit.model.words import Effect

_BUILDS = frozenset({"ctas", "index-build", "index-rebuild"})
_FORCED = "YES"
"""V$DATABASE.FORCE_LOGGING may also be a text (18c: STANDBY NOLOGGING ...): then redo is left out all the same."""


def marked(calls: tuple[Call, ...], work: Work, facts: Facts) -> tuple[Call, ...]:
    """Mark the calls whose blocks the redo log will lack."""
    if not _leaves_out_redo(work, facts):
        return calls
    changing = (Effect.CREATES, Effect.CHANGES)
    return tuple(replace(call, unlogged=True) if call.effect in changing else call for call in calls)


def _leaves_out_redo(work: Work, facts: Facts) -> bool:
    if work.operation in _BUILDS:
        return asks_nologging(work)
    if work.operation != "insert" or work.option("load") == "conventional":
        return False
    return asks_nologging(work) or former_logging(work, facts) == "NOLOGGING"


def reads(since: Scalar) -> Call:
    """Ask what V$DATAFILE records since an instant, in the terms of `instant`."""
    return Call("unrecoverable", file=True, binds={"since": since})


def sentence(what: str, since: Scalar, rows: Sequence[Row] | None) -> str | None:
    """Say that an object needs a backup, since when, and what the server itself records.

    Args:
        what: the object.
        since: when it was begun, in the terms of `instant`.
        rows: the answer to `reads`; None when it was refused.

    Returns:
        None where the database forces logging, so that redo was written all the same.
    """
    if rows and str(rows[0].get("force_logging")).upper() == _FORCED:
        return None
    if since is None:
        when = ""
    else:
        when = f" since {datetime.fromtimestamp(float(since), UTC):%Y-%m-%d %H:%M:%S} (the database's clock)"
    return (
        f"{what} needs a backup{when}: it was written NOLOGGING, so until then media recovery and standbys lose it"
        f" (ORA-26040); {_record(rows)}"
    )


def _record(rows: Sequence[Row] | None) -> str:
    if rows is None:
        return "V$DATAFILE may not be read, so the server's own record is not known"
    files = [f"{row['file_name']} at {row['unrecoverable_at']}" for row in rows if row.get("file_name")]
    if not files:
        return "V$DATAFILE records no unrecoverable change since then"
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    return f"V$DATAFILE records unrecoverable changes in {', '.join(files[-3:])}{more}"
