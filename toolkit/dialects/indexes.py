"""An index as the catalogue describes it, its parts, and the key of one to build."""

from __future__ import annotations

from dataclasses import dataclass

from toolkit.model.values import QualifiedName


@dataclass(frozen=True, slots=True)
class IndexKey:
    """One part of an index's key: a column or an expression, spelled for a statement (names quoted)."""

    text: str
    column: str | None = None
    """The column's name; None for an expression."""
    descending: bool = False

    @property
    def spelled(self) -> str:
        """The key as CREATE INDEX takes it."""
        return f"{self.text} DESC" if self.descending else self.text


@dataclass(frozen=True, slots=True)
class IndexPart:
    """A partition or subpartition of an index, where an engine rebuilds each by a statement of its own."""

    name: str
    level: str
    """`partition` or `subpartition`."""
    bytes: float = 0.0
    valid: bool = True

    def __str__(self) -> str:
        return f"{self.level} {self.name}"


@dataclass(frozen=True, slots=True)
class IndexDefinition:
    """An index as the catalogue describes it, enough to build the same one on a copy of its table.

    `definition` is the engine's own text after the table's name (PostgreSQL: `USING btree (a) WHERE ...`);
    where an engine has none, `columns` (already quoted where needed) serve. `leftover` says that an online rebuild
    of an index of this table failed before and left an invalid index there.
    """

    name: QualifiedName
    table: QualifiedName
    unique: bool = False
    columns: tuple[str, ...] = ()
    definition: str | None = None
    bytes: float = 0.0
    valid: bool = True
    leftover: bool = False
    parts: tuple[IndexPart, ...] = ()
    """What is rebuilt one by one; empty for an index that one statement rebuilds."""
    of: QualifiedName | None = None
    """The user's index that a copy stands for."""
