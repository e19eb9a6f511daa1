"""Scripts that make a copy of a whole database from its backups: what is asked, and what an engine says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from toolkit.dialects.work import Call
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.values import QualifiedName
from toolkit.model.words import CopyForm


@dataclass(frozen=True, slots=True)
class AuxiliaryRequest:
    """What copy is wanted.

    Attributes:
        form: what it is beside the database.
        name: of the auxiliary instance.
        folder: for all its files.
        channels: how many read backups at once.
        until: instant that is restored, as `YYYY-MM-DD HH:MM:SS` of the server; None for all there is.
        tables: whose rows are counted on the copy.
        memory_bytes: of the instance.
    """

    form: CopyForm
    name: str
    folder: str
    channels: int = 1
    until: str | None = None
    tables: tuple[QualifiedName, ...] = ()
    memory_bytes: int = 2 * 2**30


class Auxiliaries(Protocol):
    """How an engine makes such a copy."""

    def reads(self, release: Release) -> tuple[Query, ...]:
        """Say what must be read of the database."""
        ...

    def check(self, request: AuxiliaryRequest, facts: Facts) -> None:
        """Refuse names and folders that the copy must not have.

        Raises:
            ToolkitError: TK-0102, TK-0107, TK-0203 or TK-0305.
        """
        ...

    def needs_bytes(self, facts: Facts) -> int:
        """Return how many bytes its files have."""
        ...

    def scripts(self, request: AuxiliaryRequest, facts: Facts) -> Mapping[str, Call]:
        """Spell the scripts, by the names of their files."""
        ...

    def steps(self, request: AuxiliaryRequest, facts: Facts) -> tuple[str, ...]:
        """Say, in order, what a person does with them."""
        ...
