"""An INSERT ... SELECT by n sessions: each loads a range of the source's blocks, in one transaction of its own.

All read one exported snapshot (manual, "Snapshot Synchronization Functions"), each its range by a TID range scan
(from PostgreSQL 14). The last range has no end: what the source grew by since it was measured is in it. The number
of each transaction is noted before its COMMIT, as that of every load (`toolkit.runner.commits`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolkit.dialects.postgresql.names import quote
from toolkit.dialects.postgresql.objects import name_binds
from toolkit.dialects.postgresql.support import refused
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.operations import degree_level
from toolkit.model.steps import AWAITED
from toolkit.model.values import QualifiedName, Row, Scalar, Support
from toolkit.model.words import Effect, Mode, Role

SNAPSHOT = "snapshot"
_ASSUMED_BLOCKS = 1_000_000
_DIVIDED = frozenset({"table", "materialized view"})


def sessions_of(work: Work) -> int:
    """Return how many sessions a load was asked for."""
    level = degree_level(work.options)
    return int(level) if isinstance(level, int | float) else 1


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge whether the source can be read in ranges of blocks, and the table loaded by several transactions."""
    if sessions_of(work) < 2:
        return None
    divided = "PostgreSQL divides an INSERT ... SELECT among sessions by the blocks of its source"
    if work.source is None:
        return refused(f"{divided}, and a query has none", "name its table with --source, or use degree 1")
    if work.option("sample") is not None:
        return refused(f"{divided}, and a sample reads all of them in every session", "use degree 1")
    row = facts.first("source")
    kind = "partitioned table" if row.get("partitioned") == "yes" else str(row.get("kind") or "table")
    if kind not in _DIVIDED:
        each = "load each partition by itself (--source)" if row.get("partitioned") == "yes" else "use degree 1"
        return refused(f"{divided}, and a {kind} has none", each)
    if work.mode is Mode.JOB and work.option("identity") == "keep":
        return refused("sequences are moved in one transaction with the rows: `--identity keep` takes one session")
    return None


def remarks(work: Work, facts: Facts) -> tuple[str, ...]:
    """Say what several transactions mean, and how far their ranges are known."""
    sessions = sessions_of(work)
    if sessions < 2:
        return ()
    said = []
    if facts.assumed and not facts.rows("source"):
        said.append(f"the ranges shown are of a source of {_ASSUMED_BLOCKS} blocks: its own are read when it runs")
    if work.mode is Mode.JOB:
        said.append(
            f"{sessions} sessions load in {sessions} transactions, all from one snapshot: a failure leaves what "
            "others have committed, and `dbatk runs resume` loads the rest"
        )
    return tuple(said)


def snapshot(work: Work) -> tuple[Call, ...]:
    """Export a snapshot in a session that holds it; nothing for one session."""
    if work.blocks is None or work.source is None:
        return ()
    return (
        Call("begin_repeatable_read", session=Role.HOLDER),
        Call("export_snapshot", session=Role.HOLDER, file=True, binds=name_binds(work.source), keep_as=SNAPSHOT),
    )


def one_transaction(load: Call) -> tuple[Call, ...]:
    """Put a part into a transaction that reads the snapshot."""
    begin = Call("begin_repeatable_read", session=Role.WORKER)
    share = Call("import_snapshot", {"snapshot": AWAITED}, session=Role.WORKER, awaits=SNAPSHOT)
    return (begin, share, load, Call("commit", session=Role.WORKER, effect=Effect.COMMITS))


class BlockRanges:
    """Divides a load by the blocks of its source."""

    even_alone = False

    def divided(self, work: Work, sessions: int, facts: Facts) -> tuple[tuple[str, Work], ...]:
        blocks = facts.value("source", "block_count")
        if facts.assumed and not facts.rows("source"):
            blocks = _ASSUMED_BLOCKS
        if sessions < 2 or work.source is None or not isinstance(blocks, int):
            return (("", work),)
        parts = max(1, min(sessions, blocks))
        edges = [blocks * part // parts for part in range(parts)]
        ranges = zip(edges, (*edges[1:], None), strict=True)
        return tuple((_spelled(first, end), replace(work, blocks=(first, end))) for first, end in ranges)

    def as_begun(self, facts: Facts, recorded: Facts) -> Facts:
        blocks = recorded.value("source", "block_count")
        row: Row = {**facts.first("source"), "block_count": blocks}
        return replace(facts, answers={**facts.answers, "source": (row,)}) if isinstance(blocks, int) else facts

    def source_changed(self, source: QualifiedName, proof: Mapping[str, Scalar]) -> Call:
        since = {name: proof.get(name) for name in ("snapshot", "filenode")}
        return Call("source_changed", {"source": source, "source_text": _text(source), **since})

    def still_there(self, table: QualifiedName, noted: Sequence[Mapping[str, Scalar]]) -> Call | None:
        known = _ids(noted)
        return Call("has_loaded", {"table": table, "transactions": _array(known)}) if known else None

    def delete_by_hand(self, table: QualifiedName, noted: Sequence[Mapping[str, Scalar]]) -> Call | None:
        """Return nothing unless all that loaded rows are known: what is deleted in part is taken for deleted."""
        loaded = [each for each in noted if each.get("rows") != 0]
        known = _ids(loaded)
        whole = 0 < len(known) == len(loaded)
        return Call("delete_loaded", {"table": table, "transactions": _array(known)}) if whole else None


def _ids(noted: Sequence[Mapping[str, Scalar]]) -> list[int]:
    """Return the transactions that the server told, as `xmin` holds them."""
    told = (each.get("transaction_id") for each in noted)
    return [int(str(one)) % 2**32 for one in told if one is not None]


def _array(ids: Sequence[int]) -> str:
    return f"{{{','.join(map(str, ids))}}}"


def _spelled(first: int, end: int | None) -> str:
    return f"from blocks {first} on" if end is None else f"from blocks {first} to {end - 1}"


def _text(name: QualifiedName) -> str:
    return ".".join(quote(part) for part in (name.schema, name.name) if part)
