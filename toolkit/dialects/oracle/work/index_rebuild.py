"""ALTER INDEX REBUILD, whole or partition by partition; degree and logging are put back as they were.

ALTER INDEX COALESCE merges blocks that are next to each other where they are: half-empty ones go to the free list
of the index, which gives no space back. Source: SQL Language Reference, ALTER INDEX (COALESCE with a parallel
clause, of a partition by modify_index_partition; not for an index that is unusable, a bitmap join or a domain
index); Administrator's Guide, "Costs and Benefits of Coalescing or Rebuilding Indexes".
"""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from dataclasses import replace

from toolkit.dialects.oracle import index_facts, spelling, taking
from toolkit.dialects.oracle.work import indexes
from toolkit.dialects.oracle.work.base import former_degree, restored, restoring, segment_bytes
from toolkit.dialects.oracle.work.indexes import no
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Attribute, Takes
from toolkit.model.values import Row, Support
from toolkit.model.words import Effect, Mode, Role

_SUB = "subpartition"


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Make a copy of what is unusable unusable again, so that every trial does the work that the job would.

    A usable index is rebuilt from itself, an unusable one from its table (VLDBG, rebuilding index partitions):
    both kinds in one sweep would not compare.
    """
    if not work.object.scratch or _usable(work):
        return ()
    return (_attribute(work, "UNUSABLE"),)


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the rebuild."""
    part = work.part
    if _coalesces(work):
        return (_coalesce(work, facts),)
    values: dict[str, ContextValue] = {
        "index": work.object.name,
        "level": part.level.upper() if part else None,
        "part": part.name if part else None,
        "parallel": spelling.parallel_clause(work),
        **indexes.storage(work),
    }
    if part is not None and part.level == _SUB:
        values["logging"] = None  # ORA-14189: a subpartition takes its place, ONLINE and a degree, nothing else
    call = Call("index_rebuild", values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object)
    if not work.object.scratch:
        call = replace(call, undo=settle(work, facts), overwrites=_overwrites(work, facts))
    return (call,)


def _coalesces(work: Work) -> bool:
    return bool(work.option("coalesce"))


def _coalesce(work: Work, facts: Facts) -> Call:
    part, serial = work.part, spelling.is_serial(work)
    values: dict[str, ContextValue] = {
        "index": work.object.name,
        "level": part.level.upper() if part else None,
        "part": part.name if part else None,
        "parallel": None if serial else spelling.parallel_clause(work),
    }
    degree = None if serial else restoring(_former_degree(work, facts), spelling.parallel_clause(work))
    return Call(
        "index_coalesce", values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object,
        undo=settle(work, facts), overwrites=() if degree is None else (degree,),
    )  # fmt: skip


def _overwrites(work: Work, facts: Facts) -> tuple[Attribute, ...]:
    """Return degree and logging as the rebuild sets them; also where they stay as they were."""
    former = _former_logging(work, facts)
    part = work.part.name if work.part else None
    found = (
        restoring(_former_degree(work, facts), spelling.parallel_clause(work)),
        None if former is None else restoring(former, spelling.logging_word(work), part),
    )
    return tuple(each for each in found if each is not None)


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Measure the index."""
    return (segment_bytes(work.object, facts),)


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Restore degree and logging as read from the catalogue: a degree of the index, logging of its part."""
    if _coalesces(work) and spelling.is_serial(work):
        return ()
    degree = spelling.parallel_clause(work)
    if _coalesces(work):  # whether the clause stays with the index is not documented
        return (indexes.attribute(work.object, _former_degree(work, facts), instead_of=degree),)
    calls = [indexes.attribute(work.object, _former_degree(work, facts), instead_of=degree)]
    former = _former_logging(work, facts)
    set_to = spelling.logging_word(work)
    if former not in (None, set_to):
        calls.append(_attribute(work, former, instead_of=set_to))
    return tuple(calls)


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Say what the second segment and the sorted keys take."""
    if _coalesces(work):
        return ()
    return taking.of_rebuild(work, facts)


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge the kind of index, its parts, compression and ONLINE."""
    return (
        _coalescing(work)
        or _kind(work, facts)
        or _part(work, facts)
        or _equal_work(work)
        or indexes.judge(work, facts)
    )


def _coalescing(work: Work) -> Support | None:
    """Refuse to coalesce what is unusable, or more than once: the second time there is nothing to merge."""
    if not _coalesces(work):
        return None
    if work.mode is Mode.MEASUREMENT:
        return no("an index is coalesced once: the second time there is nothing to merge; omit --repeat")
    if not _usable(work):
        return no(f"`{work.part or work.object.name}` is unusable: omit --coalesce to rebuild it")
    if work.part is not None and work.part.level == _SUB:
        return no("a subpartition of an index has no COALESCE: omit --coalesce to rebuild it")
    if work.part is not None and not spelling.is_serial(work):
        return no("a partition of an index is coalesced serially: the clause takes no degree")
    return None


def _attribute(work: Work, word: str, instead_of: str | None = None) -> Call:
    level, name = (work.part.level, work.part.name) if work.part else (None, None)
    return indexes.attribute(work.object, word, level, name, instead_of=instead_of)


def _usable(work: Work) -> bool:
    if work.part is not None:
        return work.part.valid
    return work.index is None or work.index.valid


def _former_degree(work: Work, facts: Facts) -> str:
    return restored(former_degree(index_facts.row_of(facts, work.object.name).get("degree")), work)


def _former_logging(work: Work, facts: Facts) -> str | None:
    if work.part is not None and work.part.level == _SUB:
        return None
    row = _part_row(work, facts) if work.part else index_facts.row_of(facts, work.object.name)
    return restored("NOLOGGING" if str(row.get("logging") or "YES").strip().upper() == "NO" else "LOGGING", work)


def _part_row(work: Work, facts: Facts) -> Row:
    rows = index_facts.details(facts, "index_partitions", work.object.name)
    return next((row for row in rows if work.part and row.get("part_name") == work.part.name), {})


def _kind(work: Work, facts: Facts) -> Support | None:
    name = index_facts.original(work)
    row = index_facts.row_of(facts, name)
    why = index_facts.not_rebuilt(row)
    if why is None and work.object.scratch and row:
        why = index_facts.not_copied(row, facts)
    if why is not None:
        return no(f"`{name}` is not rebuilt: {why}")
    if work.part is None and index_facts.is_partitioned(row):
        return no(
            f"the index `{name}` is partitioned: it is rebuilt partition by partition (ORA-14086), but its "
            "partitions are unknown"
        )
    return None


def _part(work: Work, facts: Facts) -> Support | None:
    """Judge what one partition cannot take although a whole index can."""
    if work.part is None:
        return None
    name = index_facts.original(work)
    row = index_facts.row_of(facts, name)
    if work.object.scratch and index_facts.is_local(row) and not index_facts.copied_alike(row, facts):
        return no(
            f"`{name}` is local, and its table cannot be copied with the same partitions here: "
            "measure with --table, or with --on-live-objects"
        )
    level = spelling.text_option(work, "compression")
    if work.part.level == _SUB:
        asked = next((each for each in ("compression", "pctfree") if work.option(each) is not None), None)
        asked = asked or ("nologging" if work.option("logging") == "nologging" else None)
        if asked is not None:
            return no(f"a subpartition of an index cannot be rebuilt with `{asked}` (ORA-14189)")
    elif level not in (None, "none") and index_facts.compression_of(row) is None:
        return no(f"a partition cannot be compressed if its index `{name}` is not (ORA-28659)")
    return None


def _equal_work(work: Work) -> Support | None:
    """Refuse to measure on a live index that is unusable: the first trial mends it, the others do another work."""
    if work.mode is Mode.MEASUREMENT and not work.object.scratch and not _usable(work):
        what = f"{work.part} of `{work.object.name}`" if work.part else f"`{work.object.name}`"
        return no(
            f"{what} is unusable: the first trial would repair it and the others would do different work; "
            "measure on a copy, or rebuild it as a job"
        )
    return None
