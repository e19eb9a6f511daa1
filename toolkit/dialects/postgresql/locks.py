"""How long statements wait for locks of others: `lock_timeout`, one minute where nothing else is said.

A role or database that sets its own keeps it (`sql/postgresql/session_begin.sql`), unless `--lock-wait` is given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from toolkit.dialects.answers import BlockedBy, LockWaits
from toolkit.dialects.locks import asked_seconds, tries
from toolkit.dialects.work import Call
from toolkit.model.experiment import OptionValue
from toolkit.model.values import Row, Scalar
from toolkit.model.words import Effect, Role
from toolkit.units import counted, seconds

_BUSY = frozenset({"55P03"})
_PREPARED = "0"
_CLIENT = "client backend"
_KIND = re.compile(
    r"(?>(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/|(?:BEGIN|START)\b[\w\s,]*;)*)([A-Z]{1,20})\b", re.DOTALL | re.IGNORECASE
)
"""The first word of a statement, past comments and a BEGIN sent with it; atomic, for the text is foreign."""
_LONGEST_NAME = 63


def timeout(options: Mapping[str, OptionValue]) -> dict[str, Scalar]:
    """Return the session's setting that was asked for, in milliseconds; nothing without `--lock-wait`."""
    asked = asked_seconds(options)
    # 0 would mean without end
    return {} if asked is None else {"lock_timeout": max(1, round(1000 * asked))}


def lock_waits(options: Mapping[str, OptionValue]) -> LockWaits:
    """Let the control session wait as the workers do, and try again.

    Sizes of a table and texts of its indexes are read under a lock of it, so queries wait for who has it alone.
    """
    begin = tuple(
        Call("set", {"name": name, "value": value}, session=Role.CONTROL, effect=Effect.CHANGES)
        for name, value in timeout(options).items()
    )
    return LockWaits(begin, _BUSY, tries(options), reads=True, blocked_by=_BLOCKED_BY)


def _blocked_by(rows: Sequence[Row]) -> str:
    """Say who a session waits for: the first of `sql/postgresql/blocked_by.sql`, and how many others there are."""
    first, others = rows[0], len({row["blocker"] for row in rows} - {rows[0]["blocker"]})
    more = f" and {counted(others, 'other session')}" if others else ""
    if first["blocker"] == _PREPARED:
        return f"a prepared transaction (pg_prepared_xacts){more}"
    return f"pid {first['blocker']} ({', '.join(_told(first))}){more}"


def _told(row: Row) -> list[str]:
    """Return what is known of a session: who it is, since when its transaction is open, and what it does."""
    what = str(row["backend_type"] or "") or "what it is, is not shown to this user"
    told = [] if what == _CLIENT else [what]
    told += [f"user `{_shown(row['user_name'])}`"] if row["user_name"] else []
    told += [f"application `{_shown(row['application_name'])}`"] if row["application_name"] else []
    spent = row["transaction_seconds"]
    if not isinstance(spent, int | float):
        return [*told, "what it does is shown with pg_read_all_stats"]
    kind = _KIND.match(str(row["statement"] or ""))
    word = "" if kind is None else f", {'running' if row['state'] == 'active' else 'idle after'} {kind[1].upper()}"
    return [*told, f"in a transaction for {seconds(max(0.0, spent))}{word}"]


def _shown(name: object) -> str:
    text = str(name)[:_LONGEST_NAME]
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")


_BLOCKED_BY = BlockedBy(Call("blocked_by", file=True), _blocked_by)
