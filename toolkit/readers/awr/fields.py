"""What a section of a report is declared by: the headings its values stand under, and what each of them is.

A heading is compared reduced (`tables.reduce`): lower case, no punctuation but `%` and `#`. RAC reports print two
rows of headings, which arrive joined (`Wait Time Total(s)`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from toolkit.readers.awr.forms import FieldKind


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A value of a row: its name, the headings it stands under, what it is, and its unit where none is printed."""

    name: str
    heading: str
    kind: FieldKind = FieldKind.NUMBER
    unit: str | None = None


Naming = Callable[[str], tuple[str, FieldKind]]
"""Names a column by its heading as printed, and tells what it holds."""


@dataclass(frozen=True, slots=True, eq=False)
class SectionSpec:
    """A section: its fields, which of them must be there, and what headings must or must not contain.

    Two are the same when they are one object: they serve as keys, and to compare them by content is slow.

    Attributes:
        words: What the words around the table must contain, where headings alone do not tell.
        rest: Names the columns that no field has, and a row has those of them in which something stands; where
            nothing names them, the reduced heading is the name.
        labels: The table has no headings: a label stands in its first column and a value in its second, which the
            first two fields are.
    """

    name: str
    fields: tuple[Field, ...]
    needs: tuple[str, ...]
    forbids: str = ""
    words: str = ""
    rest: Naming | None = None
    labels: bool = False
