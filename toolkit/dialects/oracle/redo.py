"""NOLOGGING: when it saves redo, when it saves nothing, and who would miss what it does not write.

Redo is left out only by a direct load into a NOLOGGING object of an ARCHIVELOG database (in NOARCHIVELOG every
direct load leaves it out), and only where FORCE LOGGING is off for database, container and tablespace. 18c knows
`STANDBY NOLOGGING ...` besides YES and NO, by which the blocks reach the standbys without redo (Data Guard
Concepts, logging modes).
"""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.oracle.work.base import asks_nologging
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import SupportState

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
        f"this primary ships its redo to {count}, which would lack every block of a NOLOGGING load (ORA-26040); "
        "load with LOGGING",
    )


def remarks(work: Work, facts: Facts) -> Iterator[str]:
    """Say what NOLOGGING does here."""
    if not asks_nologging(work):
        return
    if work.operation == "insert" and work.option("load") == "conventional":
        yield "a conventional insert writes its redo whatever the table's attribute says: NOLOGGING saves nothing"
        return
    mode = facts.value(_KEY, "log_mode")
    if _forced(facts):
        yield f"FORCE LOGGING is {_forced(facts)}: NOLOGGING saves no redo here"
    elif mode == "NOARCHIVELOG":
        yield "the database is in NOARCHIVELOG mode: a direct load writes no redo with LOGGING either"


def _forced(facts: Facts) -> str | None:
    """Return where logging is forced, or None."""
    said = str(facts.value(_KEY, "force_logging", "NO") or "NO").strip().upper()
    return None if said == "NO" else said
