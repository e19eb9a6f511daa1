"""What limits the workers of a statement before it runs: the size of its table, and the memory of a build.

`parallel_workers` of a table overrides both rules (`compute_parallel_worker` in optimizer/path/allpaths.c,
`plan_create_index_workers` in optimizer/plan/planner.c); a run may set it for as long as it lasts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from toolkit.dialects.postgresql import index_methods
from toolkit.dialects.postgresql.granted import WORKER_KILOBYTES, workers_by_memory, workers_by_size
from toolkit.dialects.postgresql.names import quote
from toolkit.dialects.postgresql.objects import index_row, name_binds
from toolkit.dialects.postgresql.support import refused
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Attribute, ObjectRef
from toolkit.model.values import QualifiedName, Row, Scalar, Support
from toolkit.model.words import Effect, ObjectKind, Restored
from toolkit.units import byte_size, counted

ATTRIBUTE = "parallel_workers"
UNSET = "unset"
_BLOCK_BYTES = 8192
_SCAN_BLOCKS = 1024
"""Default of min_parallel_table_scan_size, in blocks."""
_MEMORY_KILOBYTES = 65536
"""Default of maintenance_work_mem."""
_LEAST_KILOBYTES = 64


# -- memory -----------------------------------------------------------------------------------------------------
def _kilobytes(level: object) -> int:
    """Read a size as levels spell it: `64M`, `1G`; without a letter bytes."""
    text = str(level)
    unit = {"K": 1, "M": 1024, "G": 1024 * 1024}.get(text[-1:])
    return int(text) // 1024 if unit is None else int(text[:-1]) * unit


def memory(work: Work, name: str) -> dict[str, Scalar]:
    """Return a setting of memory as the session takes it; nothing where the work does not say it."""
    level = work.option(name)
    return {} if level is None else {name: f"{_kilobytes(level)}kB"}


def share(work: Work, name: str) -> int | None:
    """Return the kilobytes of a setting for each of the sessions of a work; None where it does not say it."""
    level = work.option(name)
    return None if level is None else max(_LEAST_KILOBYTES, _kilobytes(level) // work.degree)


def judge_memory(work: Work, name: str) -> Support | None:
    """Refuse what the server would not take."""
    level = work.option(name)
    if level is None or _kilobytes(level) >= _LEAST_KILOBYTES:
        return None
    return refused(f"{name} is at least {_LEAST_KILOBYTES} kB; give it with a unit, such as `64M`")


def memory_cap(work: Work, facts: Facts, row: Row) -> str | None:
    """Say that maintenance_work_mem limits the degree of an index build; None where it does not.

    Args:
        work: what is built.
        facts: with the answer of `settings`.
        row: what the catalogue says of the table.

    Every process of a build, the leader too, must have 32 MB of it (manual, CREATE INDEX). The table's own
    `parallel_workers` is obeyed without a look at memory.
    """
    if work.degree < 2 or "settings" not in facts.answers or _fixed(work, row) is not None:
        return None
    if index_methods.serial_build(work, facts) is not None:
        return None
    level = work.option("maintenance_work_mem")
    given = _setting(facts, "maintenance_work_mem", _MEMORY_KILOBYTES)
    kilobytes = given if level is None else _kilobytes(level)
    workers = workers_by_memory(kilobytes, work.degree - 1)
    if workers == work.degree - 1:
        return None
    return (
        f"maintenance_work_mem of {byte_size(kilobytes * 1024)} limits an index build to degree {workers + 1}: "
        f"each process needs {WORKER_KILOBYTES // 1024} MB of it (--maintenance-work-mem sets it for the run)"
    )


def _setting(facts: Facts, name: str, default: int) -> int:
    """Return a setting in its unit; only those that differ from their default are read."""
    found = next((row["value"] for row in facts.rows("settings") if row["name"] == name), None)
    return default if found is None else int(str(found))


# -- size -------------------------------------------------------------------------------------------------------
def _fixed(work: Work, row: Row) -> int | None:
    """Return the workers that do not depend on size: asked for, or those of the table itself, not of its copy."""
    asked = work.option(ATTRIBUTE)
    if asked is not None:
        return int(str(asked))
    known = None if work.operation != "ctas" and work.object.scratch else row.get(ATTRIBUTE)
    return int(known) if isinstance(known, int) else None


def size_cap(work: Work, facts: Facts, row: Row) -> Iterator[str]:
    """Say that the size of the table read limits the degree, and what overrides that.

    Args:
        work: what is done.
        facts: with the answer of `settings`.
        row: what the catalogue says of the table, as `relation` answers.
    """
    blocks = row.get("block_count")
    if work.degree < 2 or not isinstance(blocks, int) or _fixed(work, row) is not None:
        return
    workers = workers_by_size(blocks, _setting(facts, "min_parallel_table_scan_size", _SCAN_BLOCKS))
    if workers >= work.degree - 1:
        return
    name = ".".join(quote(str(row[part])) for part in ("schema_name", "table_name"))
    # The same words for every degree of a sweep: what differs in a number only would be said once for each.
    yield (
        f"a table of {byte_size(blocks * _BLOCK_BYTES)} gets at most {counted(workers, 'worker')} (degree "
        f"{workers + 1}), one more for every threefold size; --parallel-workers N overrides that for the "
        f"run, ALTER TABLE {name} SET (parallel_workers = N) for good, where N is the degree less 1"
    )


# -- the storage parameter --------------------------------------------------------------------------------------
def table_of_index(work: Work, facts: Facts) -> Row:
    """Return what the catalogue says of the table of an index to rebuild, as `relation` answers."""
    row = index_row(work, facts)
    if not row:
        return {}
    return {"schema_name": row["table_schema"], "table_name": row["table_name"], "kind": row.get("table_kind"),
            "owned": row.get("table_owned"), ATTRIBUTE: row.get("table_workers")}  # fmt: skip


def judge_workers(work: Work, facts: Facts, row: Row, *, copied: bool) -> Support | None:
    """Judge whether `parallel_workers` of the table read, of which `row` tells, can be set and put back."""
    if work.option(ATTRIBUTE) is None or copied or facts.assumed:
        return None
    if row.get("partitioned") == "yes" or row.get("kind") not in ("table", "materialized view"):
        kind = "partitioned table" if row.get("partitioned") == "yes" else row.get("kind")
        return refused(f"a {kind} has no storage parameter parallel_workers")
    if row.get("owned") == "no":
        return refused(f"only the owner of `{row.get('table_name')}` may set its parallel_workers")
    return None


def set_workers(work: Work, row: Row, table: QualifiedName, *, copied: bool) -> tuple[Call, ...]:
    """Set `parallel_workers` of a table for the run; of a table that is not ours it is put back.

    Args:
        work: what is done.
        row: what the catalogue says of the user's table.
        table: the table read: the user's, or a copy of it.
        copied: whether it is a copy.
    """
    asked = work.option(ATTRIBUTE)
    if asked is None:
        return ()
    before = row.get(ATTRIBUTE)
    former = int(before) if isinstance(before, int) else None
    if former == asked and not copied:
        return ()
    ref = ObjectRef(ObjectKind.TABLE, table, scratch=copied)
    spelled = Attribute(ATTRIBUTE, str(asked), UNSET if former is None else str(former))
    restored = None if work.option("restore") == Restored.DEFAULT else former
    kept = spelled if restored is not None else replace(spelled, back=UNSET)
    back = Call("table_workers", {"table": table, "workers": restored}, effect=Effect.CHANGES, object=ref,
                restores=kept)  # fmt: skip
    return (
        Call(
            "table_workers", {"table": table, "workers": int(str(asked))}, effect=Effect.CHANGES, object=ref,
            undo=() if copied else (back,), before=None if copied else kept.back,
            overwrites=() if copied else (spelled,),
        ),
    )  # fmt: skip


def set_for_the_run(work: Work, row: Row, *, copied: bool) -> Iterator[str]:
    """Say that a table of the user's is changed for as long as the run lasts."""
    asked = work.option(ATTRIBUTE)
    if asked is not None and not copied and row and row.get(ATTRIBUTE) != asked:
        before = row.get(ATTRIBUTE)
        back = "reset" if before is None or work.option("restore") == Restored.DEFAULT else f"set back to {before}"
        yield f"parallel_workers of `{row.get('table_name')}` is {asked} during the run, and {back} when it ends"


def attributes(ref: ObjectRef) -> Call | None:
    """Ask what `parallel_workers` of a table is now."""
    return Call("attributes", file=True, binds=name_binds(ref.name)) if ref.kind is ObjectKind.TABLE else None
