"""ALTER TABLE MODIFY CONSTRAINT ENABLE VALIDATE of one constraint, at the degree that its table has meanwhile.

Sources: Administrator's Guide, "Managing Integrity Constraints" (the way in steps: ENABLE NOVALIDATE holds for new
rows at once, ENABLE VALIDATE after it locks nobody out; a constraint of a table with a degree is checked in
parallel); SQL Language Reference, constraint; Database Error Messages: ORA-02293, ORA-02298, ORA-02299.
"""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.oracle import archiving, spelling
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.oracle.work.base import former_degree, restored, segment_bytes, table_attribute
from toolkit.dialects.oracle.work.indexes import no
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Effect, Mode, Role, StepKind

CONSTRAINTS = "unvalidated"
_KEYS = ("P", "U")


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Give the table the degree."""
    back = settle(work, facts)
    overwrites = tuple(each.restores for each in back if each.restores is not None)
    degree = spelling.parallel_clause(work)
    return (table_attribute(work.object, degree, undo=back, overwrites=overwrites),) if back else ()


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Give the table its own degree back."""
    row = next(iter(rows_of(work.object.name, facts)), {})
    degree, former = spelling.parallel_clause(work), restored(former_degree(row.get("degree")), work)
    if spelling.is_serial(work) or degree == former:
        return ()
    return (table_attribute(work.object, former, instead_of=degree),)


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the validation; of a disabled constraint after it holds for new rows."""
    row = _row_of(work, facts)
    enabled = (_state(work, "ENABLE NOVALIDATE", (_back(work),)),) if row.get("status") == "DISABLED" else ()
    return (*enabled, _state(work, "ENABLE VALIDATE"))


def _back(work: Work) -> Call:
    """Disable it again, unless it was validated: one that fails has no say in those that were validated before."""
    values: dict[str, ContextValue] = {
        "schema": work.object.name.schema, "constraint": work.part.name if work.part else "",
    }  # fmt: skip
    return Call(
        "constraint_back", values, kind=StepKind.BLOCK, effect=Effect.CHANGES, object=work.object,
        inside=(_state(work, "DISABLE"),),
    )  # fmt: skip


def _state(work: Work, state: str, undo: tuple[Call, ...] = ()) -> Call:
    name = work.part.name if work.part else ""
    values: dict[str, ContextValue] = {"table": work.object.name, "constraint": name, "state": state}
    return Call(
        "constraint_state", values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object, undo=undo,
        before="DISABLED" if undo else None, redo_bytes=archiving.DICTIONARY,
    )  # fmt: skip


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Measure the table."""
    return (segment_bytes(work.object, facts),)


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Nothing that stays; the sort or hash of a foreign key's query takes temporary space that is not known."""
    return ()


def parts_of(work: Work, facts: Facts) -> tuple[IndexPart, ...]:
    """Return the constraints that are validated: those that are enabled, and where asked those that are not."""
    given = work.option("constraint")
    asked = tuple(parse_name(str(each)).name for each in given) if isinstance(given, tuple | list) else None
    if facts.assumed and CONSTRAINTS not in facts.answers:
        return tuple(IndexPart(name, "constraint") for name in asked or ())
    return tuple(
        IndexPart(str(row["constraint_name"]), "constraint")
        for row in rows_of(work.object.name, facts)
        if _is_validated(row, work) and (asked is None or row["constraint_name"] in asked)
    )


def _is_validated(row: Row, work: Work) -> bool:
    if row.get("status") == "ENABLED":
        return True
    return bool(work.option("disabled")) and row.get("constraint_type") not in _KEYS


def ended_before(work: Work, begun: Facts, now: Facts) -> bool:
    """Tell whether the constraint waited when the job began, and does not any more."""
    name, table = work.part.name if work.part else "", work.object.name
    were, are = ({row["constraint_name"] for row in rows_of(table, facts)} for facts in (begun, now))
    return name in were and name not in are


def rows_of(name: QualifiedName, facts: Facts) -> tuple[Row, ...]:
    """Return what was read of the constraints of a table."""
    return tuple(
        row
        for key, found in facts.answers.items()
        if key.partition(":")[0] == CONSTRAINTS
        for row in found
        if (row["schema_name"], row["table_name"]) == (name.schema, name.name)
    )


def _row_of(work: Work, facts: Facts) -> Row:
    rows = rows_of(work.object.name, facts)
    return next((row for row in rows if work.part and row["constraint_name"] == work.part.name), {})


# -- what stands in the way -------------------------------------------------------------------------------------
def judge(work: Work, facts: Facts) -> Support | None:
    """Refuse a measurement, and a table without such constraints."""
    if work.mode is Mode.MEASUREMENT:
        return no("a constraint is validated once: nothing is left to measure; omit --repeat, give one level")
    name = work.object.name
    off = [row for row in rows_of(name, facts) if row.get("status") == "DISABLED"]
    return None if parts_of(work, facts) or not off else no(_of_disabled(name, off))


def idle(work: Work, facts: Facts) -> str | None:
    """Say why nothing of a table is validated: one that was named and has disabled ones is refused instead."""
    name = work.object.name
    if facts.assumed or not any(key.partition(":")[0] == CONSTRAINTS for key in facts.answers):
        return None
    off = [row for row in rows_of(name, facts) if row.get("status") == "DISABLED"]
    if parts_of(work, facts) or (off and work.option("table") is not None):
        return None
    return _of_disabled(name, off) if off else f"`{name}` has no constraint that waits to be validated"


def _of_disabled(name: QualifiedName, off: Sequence[Row]) -> str:
    if all(row.get("constraint_type") in _KEYS for row in off):
        return (
            f"the constraints of `{name}` that are not validated are disabled keys, which need an index: build it "
            "(`dbatk index build`), then enable them by hand"
        )
    return f"the constraints of `{name}` that are not validated are disabled: add --disabled to enable them"


# -- what to know before ----------------------------------------------------------------------------------------
def remarks(work: Work, facts: Facts) -> Iterator[str]:
    """Say what is locked, what is left out, and what stays when rows violate a constraint."""
    name = work.object.name
    row = _row_of(work, facts)
    if row.get("status") == "DISABLED":
        yield (
            f"locks: enabling a constraint of `{name}` for new rows waits for open transactions on it; checking "
            "the rows that are there afterwards lets others read and change them"
        )
    else:
        yield f"locks: rows of `{name}` are read and changed by others while they are checked"
    if work.option("disabled"):
        keys = [str(each["constraint_name"]) for each in rows_of(name, facts)
                if each.get("status") == "DISABLED" and each.get("constraint_type") in _KEYS]  # fmt: skip
        if keys:
            yield f"left out: {', '.join(f'`{key}`' for key in keys)}, disabled keys, which need an index first"
    yield (
        "a row that violates a constraint ends its validation (ORA-02293, ORA-02298) and leaves it as it was, "
        "also disabled; there is no undo of a validation"
    )
    if not spelling.is_serial(work):
        yield f"`{name}` has the degree until the run ends: other statements on it may run in parallel, too"
