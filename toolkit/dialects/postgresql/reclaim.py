"""What `doctor` says of space and age: which tables are worth a VACUUM or a rewrite, and what that would lock."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from toolkit.dialects.answers import Check
from toolkit.dialects.postgresql.names import quote
from toolkit.model.facts import Facts
from toolkit.model.values import Row
from toolkit.units import byte_size, count, percent, seconds

FILE, WASTED, BLOAT, HORIZON = "doctor_reclaim", "doctor_wasted", "doctor_bloat", "vacuum_horizon"
_ESTIMATE = "estimated from the column widths and rows of the last ANALYZE; pgstattuple_approx would measure it"
_PLAIN = re.compile(r"[a-z_][a-z0-9_$]*", re.ASCII)
_WORTH = 0.3
"""Of a table's bytes: below this share a rewrite hardly pays, and the estimate is not exact enough to tell."""
_LONG_HELD_SECONDS = 60.0
_WORTH_BYTES = 16 * 2**20


def checks(facts: Facts) -> Iterator[Check]:
    """Judge the tables with most dead rows, most wasted space and the oldest rows, and the one that was named."""
    for row in facts.rows(FILE):
        yield _old(row) if row["kind"] == "age" else _dead(row)
    named = {(row["schema_name"], row["table_name"]): row for row in facts.rows(BLOAT)}
    worst = {(row["schema_name"], row["table_name"]): row for row in facts.rows(WASTED)}
    for row in (worst | named).values():
        yield from _bloat(row)
    for sentence in held(facts):
        yield Check(
            "vacuum horizon", "warning", sentence, "dead rows that are younger stay, whatever vacuums them"
        )


def held(facts: Facts) -> Iterator[str]:
    """Say what keeps VACUUM from removing dead rows: a session, a slot, a prepared transaction."""
    for row in facts.rows(HORIZON):
        since = row.get("held_seconds")
        if isinstance(since, int | float) and since < _LONG_HELD_SECONDS:
            continue
        lasted = f" for {seconds(float(since))}" if isinstance(since, int | float) else ""
        age = count(int(str(row["transaction_age"] or 0)))
        yield f"{row['holder']} holds back what VACUUM may remove{lasted} ({age} transactions): {row['remedy']}"


def _dead(row: Row) -> Check:
    dead, live = _number(row, "amount") or 0.0, _number(row, "beside") or 0.0
    share = percent(100 * dead / (dead + live)) if dead + live else ""
    return Check(
        f"dead rows of {row['name']}", "note",
        f"{count(int(dead))}, {share} of all rows (server statistics); {byte_size(_number(row, 'byte_count'))}",
        "scans read them; VACUUM makes their space reusable and blocks neither reads nor writes",
        f"dbatk vacuum --table {shlex.quote(str(row['name']))}",
    )  # fmt: skip


def _old(row: Row) -> Check:
    age, limit = _number(row, "amount") or 0.0, _number(row, "beside") or 0.0
    state = "problem" if age > 1_500_000_000 else "warning" if age > limit else "note"
    return Check(
        f"age of {row['name']}", state,
        f"{count(int(age))} transactions; autovacuum_freeze_max_age is {count(int(limit))}",
        "near 2,000 million the server takes no more writes; the autovacuum against it yields to nobody",
        f"dbatk vacuum --freeze --table {shlex.quote(str(row['name']))}",
    )  # fmt: skip


def _bloat(row: Row) -> Iterator[Check]:
    name = f"{row['schema_name']}.{row['table_name']}"
    size, expected = _number(row, "byte_count"), _number(row, "expected_bytes")
    if size is None or expected is None:
        yield Check(f"wasted space of {name}", "note", "unknown: it has no statistics, or not of every column",
                    "", f"dbatk stats gather --table {_typed(row)}")  # fmt: skip
        return
    wasted = max(0.0, size - expected)
    worth = wasted > _WORTH_BYTES and wasted > _WORTH * size
    yield Check(
        f"wasted space of {name}", "warning" if worth else "ok",
        f"{byte_size(wasted)} of {byte_size(size)} ({_ESTIMATE})",
        "a rewrite gives it back, and lets nobody read or write the table while it lasts" if worth else "",
        f"measure how long: dbatk table move --table {_typed(row)} --repeat 3" if worth else "",
    )  # fmt: skip


def _typed(row: Row) -> str:
    """Return the name of a table as a shell must be given it."""
    parts = (str(row["schema_name"]), str(row["table_name"]))
    return shlex.quote(".".join(part if _PLAIN.fullmatch(part) else quote(part) for part in parts))


def _number(row: Row, column: str) -> float | None:
    value = row.get(column)
    return float(value) if isinstance(value, int | float) else None
