"""ALTER INDEX REBUILD; degree and logging are put back as they were."""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from toolkit.dialects.base import Call, ContextValue, Work
from toolkit.dialects.oracle import objects, spelling
from toolkit.dialects.oracle.catalog import fact_about
from toolkit.dialects.oracle.work import indexes
from toolkit.dialects.oracle.work.base import former_logging, segment_bytes
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import Effect, Role, SupportState


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing."""
    return ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the rebuild."""
    values: dict[str, ContextValue] = {
        "index": work.object.name,
        "parallel": spelling.parallel_clause(work),
        **indexes.storage(work),
    }
    undo = () if work.object.ours else settle(work, facts)
    call = Call("index_rebuild", values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object, undo=undo)
    return (call,)


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Measure the index."""
    return (segment_bytes(work.object, facts),)


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Put degree and logging back as the catalogue told them."""
    calls = [objects.index_attribute(work.object, _former_degree(work, facts))]
    if former_logging(work, facts) != spelling.logging_word(work):
        calls.append(objects.index_attribute(work.object, former_logging(work, facts)))
    return tuple(calls)


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge compression, ONLINE, partitions and the kind of index."""
    return indexes.judge(work, facts) or _kind(work, facts)


def _former_degree(work: Work, facts: Facts) -> str:
    degree = str(fact_about(facts, work.object.name, "degree") or "1").strip().upper()
    if degree == "DEFAULT":
        return "PARALLEL"
    return f"PARALLEL {int(degree)}" if degree not in ("0", "1") else "NOPARALLEL"


def _kind(work: Work, facts: Facts) -> Support | None:
    if str(fact_about(facts, work.object.name, "partitioned") or "NO") == "YES":
        return _no(
            f"the index `{work.object.name}` is partitioned: it is rebuilt partition by partition (ORA-14086)"
        )
    kind = str(fact_about(facts, work.object.name, "index_type") or "NORMAL")
    if kind.startswith(("DOMAIN", "IOT", "LOB", "CLUSTER")):
        return _no(f"an index of type {kind} is not rebuilt this way")
    if work.option("online") and "BITMAP" in kind and not facts.release.number >= (12,):
        return _no("a bitmap index cannot be rebuilt ONLINE in this release")
    return None


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)
