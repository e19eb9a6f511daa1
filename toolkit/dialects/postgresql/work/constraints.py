"""ALTER TABLE VALIDATE CONSTRAINT of one constraint, several tables at once.

Manual, ALTER TABLE: SHARE UPDATE EXCLUSIVE on the table, and ROW SHARE on the one that a foreign key refers to;
rows that come meanwhile are checked already.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.postgresql import support
from toolkit.dialects.postgresql.names import parse_name
from toolkit.dialects.postgresql.work.base import InSession, change
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Mode

CONSTRAINTS = "unvalidated"


class ValidateConstraint(InSession):
    """Constraints that are NOT VALID."""

    table_files = (CONSTRAINTS,)
    sizes = ()
    serial = "one process checks a constraint; `--concurrency` checks several tables at once"

    def judge(self, work: Work, facts: Facts) -> Support | None:
        if work.mode is Mode.MEASUREMENT:
            return support.refused(
                "a constraint is validated once: a second time there is nothing to check", "omit --repeat"
            )
        name, rows = work.object.name, rows_of(work.object.name, facts)
        if rows and all(row.get("inherited") == "yes" for row in rows):
            return support.refused(_inherited(name), "give the table that it is a partition or child of")
        why = self.left_out(work, facts)
        return None if why is None else support.refused(why, "ask its owner, or connect as a member of that role")

    def idle(self, work: Work, facts: Facts) -> str | None:
        name = work.object.name
        if facts.assumed or not any(key.partition(":")[0] == CONSTRAINTS for key in facts.answers):
            return None
        rows = rows_of(name, facts)
        if not rows:
            return f"`{name}` has no constraint that waits to be validated"
        if all(row.get("inherited") == "yes" for row in rows):
            return None if work.option("table") is not None else _inherited(name)
        off = all(row.get("enforced") == "no" for row in rows)
        return f"the constraints of `{name}` are NOT ENFORCED: nothing validates them" if off else None

    def left_out(self, work: Work, facts: Facts) -> str | None:
        rows = rows_of(work.object.name, facts)
        return f"this user does not own `{work.object.name}`" if rows and rows[0].get("owned") == "no" else None

    def parts_of(self, work: Work, facts: Facts) -> tuple[IndexPart, ...]:
        """Return the constraints, those of the biggest tables first."""
        given = work.option("constraint")
        asked = tuple(parse_name(str(each)).name for each in given) if isinstance(given, tuple | list) else None
        if facts.assumed and CONSTRAINTS not in facts.answers:
            return tuple(IndexPart(name, "constraint") for name in asked or ())
        return tuple(
            IndexPart(str(row["constraint_name"]), "constraint", float(row.get("table_bytes") or 0))
            for row in rows_of(work.object.name, facts)
            if row.get("enforced") != "no"
            and row.get("inherited") != "yes"
            and (asked is None or row["constraint_name"] in asked)
        )

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        name = work.part.name if work.part else ""
        return (change("constraint_validate", {"table": work.object.name, "constraint": name}, work),)

    def ended_before(self, work: Work, begun: Facts, now: Facts) -> bool:
        """Tell whether the constraint waited when the job began, and does not any more."""
        name, table = work.part.name if work.part else "", work.object.name
        were, are = ({row["constraint_name"] for row in rows_of(table, facts)} for facts in (begun, now))
        return name in were and name not in are

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return tuple(_remarks(work, facts))


def _inherited(name: QualifiedName) -> str:
    return f"what waits to be validated of `{name}` it inherits: that is validated with its parent"


def rows_of(name: QualifiedName, facts: Facts) -> tuple[Row, ...]:
    """Return what was read of the constraints of a table."""
    return tuple(
        row
        for key, found in facts.answers.items()
        if key.partition(":")[0] == CONSTRAINTS
        for row in found
        if (row["schema_name"], row["table_name"]) == (name.schema, name.name)
    )


def _remarks(work: Work, facts: Facts) -> Iterator[str]:
    name = work.object.name
    referred = {str(row["refers_to"]) for row in rows_of(name, facts) if row.get("refers_to")}
    also = f", and ROW SHARE on {', '.join(f'`{each}`' for each in sorted(referred))}" if referred else ""
    yield (
        f"locks: SHARE UPDATE EXCLUSIVE on `{name}`{also}: rows are read and changed meanwhile, other "
        "DDL and VACUUM of the table wait"
    )
    yield "a row that violates a constraint ends its validation and leaves it as it was; there is no undo"
