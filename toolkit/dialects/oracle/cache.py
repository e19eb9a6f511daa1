"""What of the source is in the buffer cache when a trial begins: as it is, nothing (flushed), or read before.

Sources: SQL Language Reference, ALTER SYSTEM (FLUSH BUFFER_CACHE: for test databases, needs ALTER SYSTEM, of one
instance). A full scan of a segment that is large beside the cache goes past it, so a read does not warm every
table: what a trial found in the cache is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.oracle.places import ServiceLimit, service_of
from toolkit.dialects.oracle.support import lacking
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName, Support
from toolkit.model.words import Effect, Mode, SupportState


def judge(work: Work, facts: Facts) -> Support | None:
    """Say why the cache cannot be brought into this state here; None where it can, or is left alone."""
    level = _level(work)
    if level is None:
        return None
    if work.mode is Mode.JOB:
        return _no("a job leaves the buffer cache alone; `--cache` is for measurements", "omit --cache")
    if level == "warm":
        known = _table(work) is not None
        return (
            None if known else _no("only the table of --source is read before a trial, no query", "omit --cache")
        )
    barred = service_of(facts).barred.get(ServiceLimit.ALTER_SYSTEM)
    if barred is not None:
        return _no(f"the buffer cache cannot be flushed here: {barred}", "use --cache warm")
    return lacking("ALTER SYSTEM", "flush the buffer cache", "use --cache warm", facts)


def prepare(work: Work) -> tuple[Call, ...]:
    """Bring the cache into its state just before the clock."""
    level, table = _level(work), _table(work)
    if level == "cold":
        return (Call("cache_flush", effect=Effect.CHANGES),)
    return (Call("cache_warm", {"table": table}),) if level == "warm" and table is not None else ()


def remarks(work: Work, facts: Facts) -> Iterator[str]:
    """Say what the state of the cache does not mean."""
    if _level(work) == "cold":
        many = len(facts.rows("doctor_instances")) > 1
        what = "this instance's buffer cache" if many else "the buffer cache"
        yield f"{what} is emptied before each cold trial, for everybody; caches of host and storage are not"
    if _level(work) == "warm":
        yield (
            "a table that is large beside the buffer cache is read past it, also before a warm trial: see the "
            "blocks found in the cache"
        )


def _level(work: Work) -> str | None:
    level = work.option("cache")
    return None if level in (None, "as_is") else str(level)


def _table(work: Work) -> QualifiedName | None:
    return work.object.table if work.operation == "index-build" else work.source


def _no(sentence: str, hint: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence, hint)
