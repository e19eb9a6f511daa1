"""What one operation is in Oracle's words, and the calls that several of them share."""

from __future__ import annotations

from typing import Protocol

from toolkit.dialects.oracle import archiving, spelling
from toolkit.dialects.oracle.catalog import fact_about, same_schema
from toolkit.dialects.oracle.findings import EVIDENCE
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Attribute, ObjectRef, Takes
from toolkit.model.values import Row, Scalar, Support
from toolkit.model.words import Effect, Restored, Role

COLUMNS, INDEXES = "doctor_object_columns", "doctor_object_indexes"
"""Files about the columns and indexes of a table, which the checks before a work read."""

# No evidence is no failure: the view may not be granted (ORA-00942, ORA-01031).
NOT_GRANTED = frozenset({"ORA-00942", "ORA-01031"})


class OperationWords(Protocol):
    """What each module of this package answers about its operation; see `Dialect` for the stages."""

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Do what must come just before the clock."""
        ...

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Spell the work that is on the clock."""
        ...

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Ask for what was made; the granted degree was asked for before."""
        ...

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Leave an object as it should be."""
        ...

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        """Say how much space the timed work takes, and where."""
        ...

    def judge(self, work: Work, facts: Facts) -> Support | None:
        """Say what of its own options stands in the way; None when nothing does."""
        ...


def asks_nologging(work: Work) -> bool:
    """Tell whether the work is asked to write no redo."""
    return spelling.logging_word(work) == "NOLOGGING"


def tablespace(work: Work) -> ContextValue:
    """Return the tablespace asked for, as the catalogue spells it."""
    text = spelling.text_option(work, "tablespace")
    return parse_name(text).name if text else None


def former_logging(work: Work, facts: Facts) -> str:
    """Spell how an object was logged before; of a partitioned table: NOLOGGING where one of its partitions was.

    ALL_TABLES has null for a partitioned table, which is no default: its partitions have each their own.
    """
    parts = parts_of(work, facts)
    if parts:
        return "NOLOGGING" if any(_is_off(part.get("logging")) for part in parts) else "LOGGING"
    known = fact_about(facts, work.object.name, "logging")
    return "NOLOGGING" if _is_off(known) else "LOGGING"


def named_part(work: Work, facts: Facts) -> tuple[str, str] | None:
    """Return level and name of the partition that is filled alone; None where the whole table is.

    A name that both levels have is the partition's.
    """
    text = spelling.text_option(work, "partition")
    if text is None:
        return None
    name = parse_name(text).name
    whole = {row.get("part_name") for row in facts.rows("partitions")}
    below = {row.get("part_name") for row in facts.rows("subpartitions")}
    return "SUBPARTITION" if name in below - whole else "PARTITION", name


def parts_of(work: Work, facts: Facts) -> tuple[Row, ...]:
    """Return the partitions of the user's table that is filled; none of a copy, or where it has none."""
    partitioned = str(facts.value("target", "partitioned") or "NO").strip().upper() == "YES"
    parts = facts.rows("partitions") if partitioned and not work.object.scratch else ()
    named = named_part(work, facts)
    return tuple(part for part in parts if named in (None, ("PARTITION", part.get("part_name")))) or parts


def logged_parts(work: Work, facts: Facts) -> tuple[str, ...]:
    """Name the partitions that write redo: the ones that NOLOGGING changes, and that are put back one by one."""
    return tuple(str(part["part_name"]) for part in parts_of(work, facts) if not _is_off(part.get("logging")))


def _is_off(logging: Scalar) -> bool:
    return str(logging or "YES").strip().upper() == "NO"


USUAL = {"degree": "1", "logging": "YES"}
"""What a table or an index has unless somebody said otherwise, in the terms of ALL_TABLES and ALL_INDEXES."""


def restored(word: str, work: Work) -> str:
    """Return the word of an ALTER that restores what was found; where that was asked for, the default instead."""
    if work.option("restore") != Restored.DEFAULT:
        return word
    return "LOGGING" if word.endswith("LOGGING") else "NOPARALLEL"


def table_attribute(
    ref: ObjectRef,
    word: str,
    part: str | None = None,
    *,
    instead_of: str | None = None,
    undo: tuple[Call, ...] = (),
    overwrites: tuple[Attribute, ...] = (),
) -> Call:
    """Set one attribute of a table or a partition: degree or logging; `instead_of` is what the work set."""
    return Call(
        "table_attribute",
        {"table": ref.name, "part": part, "attribute": word},
        effect=Effect.CHANGES,
        object=ref,
        redo_bytes=archiving.DICTIONARY,
        undo=undo,
        restores=restoring(word, instead_of, part),
        overwrites=overwrites,
    )


def restoring(word: str, instead_of: str | None, part: str | None = None) -> Attribute | None:
    """Say what a word of an ALTER restores, in the terms of ALL_TABLES and ALL_INDEXES."""
    if instead_of is None:
        return None
    name = "logging" if word.endswith("LOGGING") else "degree"
    return Attribute(name, _in_catalogue(instead_of), _in_catalogue(word), part)


def _in_catalogue(word: str) -> str:
    """Return how the catalogue shows LOGGING, PARALLEL 8 and their like."""
    known = {"LOGGING": "YES", "NOLOGGING": "NO", "NOPARALLEL": "1", "PARALLEL": "DEFAULT"}
    return known.get(word) or word.removeprefix("PARALLEL ").removeprefix("(DEGREE ").removesuffix(")")


def former_degree(value: Scalar) -> str:
    """Spell the clause that gives an object the degree that the catalogue showed: `4`, `DEFAULT`, `4 INSTANCES 2`.

    The form with INSTANCES is superseded and still accepted (SQL Language Reference, parallel_clause): objects of
    old scripts have it, and PARALLEL 4 would set their INSTANCES to 1.
    """
    degree = str(value or "1").strip().upper()
    if "INSTANCES" in degree:
        return f"PARALLEL (DEGREE {degree})"
    if degree == "DEFAULT":
        return "PARALLEL"
    return f"PARALLEL {int(degree)}" if degree not in ("0", "1") else "NOPARALLEL"


def count_rows(work: Work) -> Call:
    """Count what a load left, at the degree of the load."""
    values: dict[str, ContextValue] = {"table": work.object.name, "hint": spelling.degree_hint(work, "t")}
    return Call("count_rows", values, session=Role.WORKER, keep_as="rows")


def segment_bytes(ref: ObjectRef, facts: Facts) -> Call:
    """Ask for the bytes and extents of an object, in the USER_ views where it is the session's own."""
    owned = same_schema(facts, ref.name.schema)
    binds: dict[str, str | None] = {"name": ref.name.name}
    if not owned:
        binds["schema"] = ref.name.schema
    return shared("segment_bytes_own" if owned else "segment_bytes", **binds)


def shared(file: str, **binds: Scalar) -> Call:
    """Ask for one of the things that are read right after the clock in one statement."""
    return Call(file, file=True, session=Role.WORKER, keep_as=EVIDENCE, binds=binds)
