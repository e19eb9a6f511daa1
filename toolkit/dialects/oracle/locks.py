"""What a work on a live object does to those who work with its table: locks, queues, new statistics.

Sources: SQL Language Reference, ALTER INDEX (REBUILD, ONLINE), CREATE INDEX (ONLINE; statistics are collected
during creation and rebuild), INSERT (direct-path: exclusive lock until the transaction ends); Database Reference,
DDL_LOCK_TIMEOUT (bounds the wait for DML locks of a DDL statement). That a load which names a partition locks it
alone is seen in practice, and documented nowhere that was found.
"""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.answers import EndlessWait
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.oracle.session import lock_wait_seconds
from toolkit.dialects.work import Call, Work

_INDEXES = frozenset({"index-build", "index-rebuild"})
_ONLINE = frozenset({*_INDEXES, "table-move"})


def remarks(work: Work) -> Iterator[str]:
    """Say before it begins what others will notice; nothing of a work on scratch objects."""
    if work.object.scratch:
        return
    if work.operation in _INDEXES:
        yield from _of_index(work)
    if work.operation == "index-rebuild":
        yield (
            "a rebuild gathers new statistics of its index (unless they are locked): plans that use it may change "
            "afterwards"
        )
    if _loads_directly(work):
        part = work.option("partition")
        what, of = (
            (f"partition {parse_name(str(part)).name} of ", "partition") if part is not None else ("", "table")
        )
        yield (
            f"a direct-path load locks {what}`{work.object.name}` exclusively until its COMMIT, at degree 1 too: "
            f"nobody else can change rows of the {of} meanwhile; it waits for open transactions on it, which no "
            f"parameter bounds, so dbatk cancels it after {lock_wait_seconds(work.options)} s of that "
            "(--lock-wait), and changes that come later queue behind it"
        )


def _loads_directly(work: Work) -> bool:
    return work.operation == "insert" and work.option("load") != "conventional"


def endless_wait(work: Work) -> EndlessWait | None:
    """Bound what waits for transactions on a user's table without a parameter that would bound it.

    That is a direct-path load, which waits before its work, and an ONLINE build, rebuild or move. The last wait of
    these comes when the index is built: cancelled there, hours of work are lost, so only who asks has it.
    """
    live = work.option("on_live_objects") or not work.object.scratch
    if live and _loads_directly(work):
        return EndlessWait(Call("load_waits", file=True), lock_wait_seconds(work.options), ends_late=True)
    if work.operation not in _ONLINE or not work.option("online") or not live:
        return None
    asked = work.options.get("lock_wait") is not None
    return EndlessWait(Call("transaction_waits", file=True), lock_wait_seconds(work.options), ends_late=asked)


def _of_index(work: Work) -> Iterator[str]:
    table = f"`{work.index.table}`" if work.index is not None else "the table"
    wait = lock_wait_seconds(work.options)
    if work.option("online"):
        late = (
            "at the end too, where the whole build is lost"
            if work.options.get("lock_wait") is not None
            else "at the end it only warns (an explicit --lock-wait cancels there, too)"
        )
        yield (
            f"ONLINE waits for open transactions on {table} when it begins and before it ends; DDL_LOCK_TIMEOUT "
            f"does not bound that wait, so dbatk cancels the build after {wait} s of it (--lock-wait): {late}"
        )
        return
    yield (
        f"without ONLINE nobody can change rows of {table} until the index is done, at degree 1 too; it waits "
        f"up to {wait} s for open transactions (--lock-wait), and changes that come later queue behind it"
    )
