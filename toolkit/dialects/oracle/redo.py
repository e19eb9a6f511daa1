"""NOLOGGING: when it saves redo, who lacks what is not written, and what to say about the object afterwards.

Redo is left out only by direct path into a NOLOGGING object of an ARCHIVELOG database (in NOARCHIVELOG every
direct load leaves it out), and only where FORCE LOGGING is off for database, container and tablespace (SQL
Language Reference, logging_clause). 18c knows `STANDBY NOLOGGING ...` besides YES and NO, by which the blocks
reach the standbys without redo (Data Guard Concepts, logging modes). Media recovery finds such blocks corrupt
(ORA-26040) until a backup holds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from toolkit.dialects.oracle.work.base import asks_nologging, former_logging
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.values import Row, Scalar, Support
from toolkit.model.words import Effect, SupportState

_BUILDS = frozenset({"ctas", "index-build", "index-rebuild"})
_KEY = "redo_rules"


def judge(work: Work, facts: Facts) -> Support | None:
    """Refuse NOLOGGING on a primary whose standbys would lack the blocks (ORA-26040 when they are read)."""
    standbys = facts.value(_KEY, "standby_count")
    if not asks_nologging(work) or not isinstance(standbys, int | float) or standbys <= 0:
        return None
    if _forced(facts):
        return None
    count = "a standby database" if standbys == 1 else f"{int(standbys)} standby databases"
    return Support(
        SupportState.UNSUPPORTED,
        f"this primary ships its redo to {count}, where every block of a NOLOGGING load would be missing "
        "(ORA-26040); load with LOGGING",
    )


def remarks(work: Work, facts: Facts) -> Iterator[str]:
    """Say what NOLOGGING does here."""
    if not asks_nologging(work):
        return
    if work.operation == "insert" and work.option("load") == "conventional":
        yield "a conventional insert writes redo regardless of the table's attribute: NOLOGGING saves nothing"
        return
    mode = facts.value(_KEY, "log_mode")
    if _forced(facts):
        yield f"FORCE LOGGING is {_forced(facts)}: NOLOGGING saves no redo here"
    elif mode == "NOARCHIVELOG":
        yield "the database is in NOARCHIVELOG mode: a direct load writes no redo even with LOGGING"


def _forced(facts: Facts) -> str | None:
    """Return where logging is forced, or None."""
    mode = str(facts.value(_KEY, "force_logging", "NO") or "NO").strip().upper()
    return None if mode == "NO" else mode


# -- the object afterwards --------------------------------------------------------------------------------------
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


def backup_reads(since: Scalar) -> Call:
    """Ask what V$DATAFILE records since an instant, in the terms of `instant`."""
    return Call("unrecoverable", file=True, binds={"since": since})


def backup_sentence(what: str, since: Scalar, rows: Sequence[Row] | None) -> str | None:
    """Say that an object needs a backup, since when, and what the server itself records.

    Args:
        what: the object.
        since: when it was begun, in the terms of `instant`.
        rows: the answer to `backup_reads`; None when it was refused.

    Returns:
        None where the database forces logging, so that redo was written all the same.
    """
    # FORCE_LOGGING may also be a text (18c: STANDBY NOLOGGING ...): then redo is left out all the same.
    if rows and str(rows[0].get("force_logging")).upper() == "YES":
        return None
    when = ""
    if since is not None:
        when = f" since {datetime.fromtimestamp(float(since), UTC):%Y-%m-%d %H:%M:%S} (the database's clock)"
    return (
        f"{what} needs a backup{when}: it was written NOLOGGING, so until then media recovery and standbys lose it"
        f" (ORA-26040); {_record(rows)}"
    )


def _record(rows: Sequence[Row] | None) -> str:
    if rows is None:
        return "V$DATAFILE cannot be read, so the server's own record is unknown"
    files = [f"{row['file_name']} at {row['unrecoverable_at']}" for row in rows if row.get("file_name")]
    if not files:
        return "V$DATAFILE records no unrecoverable change since then"
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    return f"V$DATAFILE records unrecoverable changes in {', '.join(files[-3:])}{more}"
