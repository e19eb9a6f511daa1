"""Scripts that redefine a table while others change it: what is asked, and what an engine says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from toolkit.dialects.auxiliaries import Auxiliaries
from toolkit.dialects.work import Call
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.values import QualifiedName


class RowIdentity(StrEnum):
    """By what a row of the table is found again in the interim table."""

    KEY = "key"
    ROWID = "rowid"


@dataclass(frozen=True, slots=True)
class RedefinitionRequest:
    """What table is redefined, and how it is stored afterwards.

    Attributes:
        table: with its schema.
        partitioning: its clause, checked; empty for none; None to say nothing of it.
        compression: a level of tables; None for that of the table.
        tablespace: as typed; None for that of the table.
        degree: at which rows are copied and statistics gathered.
        lock_wait_seconds: how long the last step waits for changes of others.
        by: how rows are found again; None for the key where there is one.
        interim: name of the interim table, as typed; None for one of the table's.
    """

    table: QualifiedName
    partitioning: str | None = None
    compression: str | None = None
    tablespace: str | None = None
    degree: int = 1
    lock_wait_seconds: int = 60
    by: RowIdentity | None = None
    interim: str | None = None


@dataclass(frozen=True, slots=True)
class GuidedScript:
    """One script of a chain: its file, what is said at its head, and its statements in order."""

    file: str
    head: tuple[str, ...]
    calls: tuple[Call, ...]


class Redefinitions(Protocol):
    """How an engine redefines a table by scripts."""

    def reads(self, request: RedefinitionRequest, release: Release) -> tuple[Query, ...]:
        """Say what must be read of the table."""
        ...

    def assumed(self, request: RedefinitionRequest, facts: Facts) -> Facts:
        """Put stand-ins in place of what would be read: the scripts are to be looked at, and refuse to run.

        Raises:
            ToolkitError: TK-0107 where the request does not tell enough.
        """
        ...

    def check(self, request: RedefinitionRequest, facts: Facts) -> None:
        """Refuse a table that cannot be redefined, and names that are taken.

        Raises:
            ToolkitError: TK-0102, TK-0107, TK-0204 or TK-0305.
        """
        ...

    def scripts(self, request: RedefinitionRequest, facts: Facts) -> tuple[GuidedScript, ...]:
        """Spell the scripts, in their order; the last one ends it all without its result."""
        ...

    def steps(self, request: RedefinitionRequest, facts: Facts) -> tuple[str, ...]:
        """Say, in order, what a person does with them."""
        ...

    def remarks(self, request: RedefinitionRequest, facts: Facts) -> tuple[str, ...]:
        """Say what is not taken along, and what could not be checked."""
        ...


class WithScripts(Protocol):
    """The part of a dialect that writes scripts which a person runs; None where there are none."""

    auxiliary: Auxiliaries | None
    """How a copy of the whole database is made."""
    redefinition: Redefinitions | None
    """How a table is redefined while others change it."""
